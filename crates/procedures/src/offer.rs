//! A load that is offered, and what came of it.

use fwdlab_results::Loss;
use fwdlab_traffic::{Load, LoadChange};

/// A load for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Of each way.
    pub load: Load,
    /// How long.
    pub duration_ns: u64,
    /// Another load after some time.
    pub change: Option<LoadChange>,
    /// Losses are dated at least to so many ns, those of the device's own doing, too; nothing where only
    /// frames that are given up are.
    pub dated_ns: Option<u64>,
}

impl Order {
    /// One load, without dates.
    pub fn of(load: Load, seconds: f64) -> Self {
        Self { load, duration_ns: (seconds * 1e9) as u64, change: None, dated_ns: None }
    }
}

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offered {
    /// How long it was offered.
    pub duration_ns: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that came back.
    pub received: u64,
    /// Of these, those that came while the load was offered.
    pub received_in_time: u64,
    /// Since the load began, when the last frame had come back, in ns; absent where one did not, or nobody knows.
    pub all_back_ns: Option<u64>,
    /// Frames sent that did not come back.
    pub lost: u64,
    /// Frames that fell due and were given up, beside those sent.
    pub given_up: u64,
    /// Frames that may be due at the end without being lost.
    pub still_due: u64,
    /// 1, or 2 where frames went both ways.
    pub ways: u64,
    /// Frames lost and given up, by the time when they were, in order.
    pub losses: Vec<Loss>,
}

impl Offered {
    /// Frames that fell due by a load and were never sent, but for those that may still be due.
    pub fn unsent(&self, load: Load) -> u64 {
        let Load::Pps(pps) = load else { return 0 };
        let missing = self.behind(pps);
        if missing <= self.still_due { 0 } else { missing }
    }

    /// Frames that fell due by a load and were never sent.
    fn behind(&self, pps: f64) -> u64 {
        let due = (pps * self.duration_ns as f64 / 1e9) as u64;
        due.saturating_sub(self.sent)
    }

    /// Frames that still waited when a load ended: to be sent, though not lost for that, or to come back.
    pub(crate) fn waited(&self, pps: f64) -> u64 {
        let behind = Some(self.behind(pps)).filter(|behind| *behind <= self.still_due);
        self.received.saturating_sub(self.received_in_time) + behind.unwrap_or(0)
    }
}

/// Something that sends frames through a device.
pub trait Offers {
    /// Why it could not.
    type Error: From<Unfound>;

    /// Offers a load.
    ///
    /// # Errors
    /// The load could not be offered, or the campaign was stopped.
    fn offer(&mut self, order: &Order) -> Result<Offered, Self::Error>;

    /// The shortest time in s for which a load says something about the device: in a shorter one a single
    /// interrupt says more.
    fn shortest_s(&self) -> f64 {
        0.02
    }
}

/// A search that came to no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unfound {
    /// What is known about it.
    pub what: String,
}
