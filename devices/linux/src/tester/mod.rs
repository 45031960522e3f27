//! The testers on veth pairs: what makes the frames, and what receives and checks them.
//!
//! [`live`] is taken wherever the kernel has it: its frames go straight into the device's stack,
//! unless a variant changes how they come in by its port; then they come over a veth pair. [`ports`]
//! drives the tester of every other device through AF_XDP or packet sockets. With all of them the
//! sender's system calls do the device's work, on one processor, before they return.

mod bursts;
mod live;
mod offering;
mod ports;
mod reset;
mod sent;
mod sessions;

pub(super) use self::bursts::MOST as MOST_BURST;
use self::live::LiveTester;
pub(super) use self::live::worked;
pub(super) use self::offering::{Offering, check_latency, is_timed};
use self::ports::PortTester;
pub(super) use self::ports::{open, plan};
pub(super) use self::sent::{Sent, Tracking, attach};
use self::sessions::SessionTester;
pub(super) use self::sessions::check as check_sessions;
use crate::LinuxError;
use crate::settings::TesterKind;
use fwdlab_device::pulse::Pulse;
use fwdlab_device::{Request, Watch};
use fwdlab_topology::Testbed;
use fwdlab_xdp::Shared;

/// What a tester is called in reports.
pub(super) const fn title(kind: TesterKind) -> &'static str {
    match kind {
        TesterKind::Inject => {
            "XDP live frames put into the device's stack, batches of 16; received and checked by XDP"
        }
        TesterKind::Live => "XDP live frames, batches of 64; received and checked by XDP",
        TesterKind::AfXdp => "AF_XDP sockets in copy mode",
        TesterKind::AfPacket => "packet sockets, 64 frames a system call",
        TesterKind::Naive => "packet sockets, veth pairs as the kernel makes them, no XDP program",
    }
}

/// A tester that is ready to send.
pub(super) enum Tester<'a> {
    Live(Box<LiveTester<'a>>),
    Ports(Box<PortTester>),
    Sessions(Box<SessionTester>),
}

impl<'a> Tester<'a> {
    /// Makes the frames and opens the interfaces.
    ///
    /// # Errors
    /// The kernel cannot do it.
    pub(super) fn new(
        kind: TesterKind,
        testbed: &mut Testbed,
        shared: &'a Shared,
        request: &Request<'_>,
    ) -> Result<Self, LinuxError> {
        let Request { experiment, variant, traffic } = *request;
        if let Some(own) = traffic.sessions {
            let tester = SessionTester::new(testbed, experiment, variant, (traffic, own))?;
            return Ok(Self::Sessions(Box::new(tester)));
        }
        Ok(match kind {
            TesterKind::Inject | TesterKind::Live => {
                let timed = (traffic, is_timed(request));
                Self::Live(Box::new(LiveTester::new(kind, testbed, shared, timed)?))
            }
            _ => Self::Ports(Box::new(PortTester::new(kind, testbed, request)?)),
        })
    }

    /// What it is, by the place where it sends and the sockets that it opened.
    pub(super) fn kind(&self) -> TesterKind {
        match self {
            Self::Live(tester) => tester.kind(),
            Self::Ports(tester) => tester.kind(),
            Self::Sessions(_) => TesterKind::Inject,
        }
    }

    /// Sends for as long as the experiment says, on the processor `core`, and calls
    /// `watch.on_interval` at the end of each interval.
    ///
    /// # Errors
    /// The kernel cannot run the sender, or the campaign was stopped.
    pub(super) fn run(
        self,
        testbed: &Testbed,
        request: &Request<'_>,
        core: Option<usize>,
        [in_program, in_thread]: &mut [Pulse; 2],
        watch: &mut Watch<'_>,
    ) -> Result<Sent, LinuxError> {
        match self {
            Self::Live(tester) => tester.run(testbed, request.experiment, core, in_program, watch),
            Self::Ports(tester) => tester.run(core, in_thread, watch),
            Self::Sessions(tester) => {
                tester.run(testbed, request.experiment, core, in_program, watch)
            }
        }
    }
}
