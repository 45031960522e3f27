//! What runs while frames are sent.

use std::collections::BTreeMap;

use fwdlab_port::bpf::{Program, XdpLink};

use crate::embedded::Embedded;
use crate::object::Object;
use crate::tester::Tester;

/// What runs while frames are sent, and what it answered; gone when dropped.
pub(super) struct Standing<'a> {
    pub(super) tester: Tester<'a>,
    pub(super) embedded: Option<Embedded>,
    pub(super) input: Option<Guard>,
    pub(super) proof: BTreeMap<String, String>,
}

/// What stands on the device's input; taken off when dropped.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) _link: XdpLink,
    pub(super) _program: Program,
    pub(super) object: Option<Object>,
    /// What it does with the frames, in the words of the control word `xdp`.
    pub(super) work: String,
}

/// What runs in a trial, from which it is read back what a variant set.
pub(super) struct Running<'a> {
    pub(super) tester: &'a Tester<'a>,
    pub(super) embedded: Option<&'a Embedded>,
    pub(super) input: Option<&'a Guard>,
}
