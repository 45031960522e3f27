//! One trial of a search.

/// One trial at a constant load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The load asked for in frames/s.
    pub load: f64,
    /// How long it was offered, in s.
    pub duration_s: f64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that did not come back; also those that the tester could not send in time.
    pub lost: u64,
}

impl Trial {
    /// Lost of sent, 0 to 1; a trial that sent nothing lost everything.
    pub fn loss_ratio(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.lost as f64 / self.sent as f64 }
    }

    /// Frames forwarded per second.
    pub fn forwarding_rate(&self) -> f64 {
        self.load * (1.0 - self.loss_ratio())
    }
}
