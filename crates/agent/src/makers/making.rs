//! What every program that makes frames does.

use crate::order::TrafficOrder;
use crate::{Result, words};

/// A program that sends.
pub(super) trait Making {
    /// Begins to send.
    fn start(&mut self) -> Result<()>;
    /// Whether it has sent all that it was to send, or has failed.
    fn is_over(&mut self) -> bool;
    /// Ends it; how many frames it has sent, as it says.
    fn end(&mut self) -> Result<u64>;
    /// Its name.
    fn name(&self) -> &'static str;
}

/// Frames of a rate that is asked for.
pub(super) fn frames(order: &TrafficOrder) -> Option<u64> {
    let seconds = order.duration_ns as f64 / 1e9;
    order.traffic.pps.map(|pps| ((pps * seconds).round() as u64).max(1))
}

/// The addresses of its frames: their source, and the device.
pub(super) fn macs(order: &TrafficOrder) -> Result<[fwdlab_wire::MacAddr; 2]> {
    let mac = |text: &str| text.parse().map_err(words);
    Ok([mac(&order.source_mac)?, mac(&order.device_mac)?])
}
