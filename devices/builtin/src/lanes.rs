//! The tester between the device's two rings: one way, or both at once.

use std::sync::atomic::AtomicBool;

use fwdlab_port::Pool;
use fwdlab_port::ring::RingPort;
use fwdlab_traffic::{Duplex, IntervalCounts, Outcome, Tester, TrafficError, TrafficPlan};

/// One of the two testers.
pub(super) enum Lanes {
    One(Box<Tester<RingPort, RingPort>>),
    Both(Box<Duplex<RingPort, RingPort>>),
}

impl Lanes {
    /// The tester that the plan needs.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool has too few or too small frames.
    pub(super) fn new(
        plan: &TrafficPlan,
        pool: &Pool,
        (near, far): (RingPort, RingPort),
    ) -> Result<Self, TrafficError> {
        Ok(match plan.way_back {
            None => Self::One(Box::new(Tester::new(plan, pool, near, far)?)),
            Some(_) => Self::Both(Box::new(Duplex::new(plan, pool, near, far)?)),
        })
    }

    pub(super) fn run(
        &mut self,
        stop: &AtomicBool,
        on_interval: &mut dyn FnMut(&IntervalCounts),
    ) -> Outcome {
        match self {
            Self::One(tester) => tester.run(stop, on_interval),
            Self::Both(tester) => tester.run(stop, on_interval),
        }
    }
}
