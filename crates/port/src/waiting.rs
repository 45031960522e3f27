//! [`wait`]: rest until a port has frames.

use std::time::Duration;

use crate::interface::Port;

/// Sleeps until one of the ports has received something, at most for `longest`; returns at once
/// when a port has nothing to wait for, as memory rings do. May return earlier.
pub fn wait<'a, P: Port + ?Sized + 'a>(ports: impl IntoIterator<Item = &'a P>, longest: Duration) {
    let descriptors: Option<Vec<_>> = ports.into_iter().map(Port::descriptor).collect();
    if let Some(descriptors) = descriptors {
        crate::sys::wait::wait(descriptors.into_iter(), longest);
    }
}
