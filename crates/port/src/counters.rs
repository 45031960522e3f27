//! What a port has moved since it was made.

/// Counters of one port. Bytes are without FCS.
///
/// What a port could not send stays with the caller, so it is not a loss of the port;
/// `tx_refused` counts how often that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames handed to the owner of the port.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames lost by the port before its owner could receive them (sockets only).
    pub rx_dropped: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that did not fit when they were offered, each time counted.
    pub tx_refused: u64,
}

impl Counters {
    /// What was added since `earlier`, field by field.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            rx_frames: self.rx_frames.wrapping_sub(earlier.rx_frames),
            rx_bytes: self.rx_bytes.wrapping_sub(earlier.rx_bytes),
            rx_dropped: self.rx_dropped.wrapping_sub(earlier.rx_dropped),
            tx_frames: self.tx_frames.wrapping_sub(earlier.tx_frames),
            tx_bytes: self.tx_bytes.wrapping_sub(earlier.tx_bytes),
            tx_refused: self.tx_refused.wrapping_sub(earlier.tx_refused),
        }
    }
}
