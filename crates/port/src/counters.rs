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
    /// Frames that arrived but could not be taken whole: longer than the pool's slots, or merged
    /// by an offload (sockets only).
    pub rx_too_long: u64,
    /// Frames sent.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Frames that did not fit when they were offered, each time counted.
    pub tx_refused: u64,
    /// Frames that the system refused for good, for example as longer than the interface's MTU
    /// (sockets only).
    pub tx_dropped: u64,
}

impl Counters {
    /// What was added since `earlier`, field by field.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        self.combine(earlier, u64::wrapping_sub)
    }

    /// Sum of these and the counters of another queue of the port.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        self.combine(other, u64::wrapping_add)
    }

    fn combine(&self, other: &Counters, with: impl Fn(u64, u64) -> u64) -> Counters {
        Counters {
            rx_frames: with(self.rx_frames, other.rx_frames),
            rx_bytes: with(self.rx_bytes, other.rx_bytes),
            rx_dropped: with(self.rx_dropped, other.rx_dropped),
            rx_too_long: with(self.rx_too_long, other.rx_too_long),
            tx_frames: with(self.tx_frames, other.tx_frames),
            tx_bytes: with(self.tx_bytes, other.tx_bytes),
            tx_refused: with(self.tx_refused, other.tx_refused),
            tx_dropped: with(self.tx_dropped, other.tx_dropped),
        }
    }
}
