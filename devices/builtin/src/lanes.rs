//! The tester between the device's rings: one way, both at once, or between many ports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fwdlab_port::ring::RingPort;
use fwdlab_port::{Pool, Port};
use fwdlab_traffic::{
    AnyDuplex, AnyTester, Behind, Came, Duplex, Fans, IntervalCounts, Outcome, Tester,
    TrafficError, TrafficPlan,
};

/// The tester's ends of the rings.
pub(super) enum Ends {
    /// On the side of the sources, and on that of the destinations.
    Two(Box<[RingPort; 2]>),
    /// In the order of the device's ports.
    Many(Vec<RingPort>, Behind),
}

impl Ends {
    /// Frames that wait in front of each of the device's ports.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Two(both) => both[0].capacity(),
            Self::Many(ports, _) => ports.first().map_or(0, RingPort::capacity),
        }
    }
}

/// One of the testers.
pub(super) enum Lanes {
    One(Box<Tester<RingPort, RingPort>>),
    Both(Box<Duplex<RingPort, RingPort>>),
    OneOfMany(Box<AnyTester>, Arc<Came>),
    BothOfMany(Box<AnyDuplex>, Arc<Came>),
}

impl Lanes {
    /// The tester that the plan needs.
    ///
    /// # Errors
    /// A field of the plan is out of range, or the pool has too few or too small frames.
    pub(super) fn new(plan: &TrafficPlan, pool: &Pool, ends: Ends) -> Result<Self, TrafficError> {
        Ok(match ends {
            Ends::Two(both) => {
                let [near, far] = *both;
                match plan.way_back {
                    None => Self::One(Box::new(Tester::new(plan, pool, near, far)?)),
                    Some(_) => Self::Both(Box::new(Duplex::new(plan, pool, near, far)?)),
                }
            }
            Ends::Many(ports, behind) => {
                let ports = ports.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect();
                Self::of_many(plan, pool, ports, behind)?
            }
        })
    }

    fn of_many(
        plan: &TrafficPlan,
        pool: &Pool,
        ports: Vec<Box<dyn Port>>,
        behind: Behind,
    ) -> Result<Self, TrafficError> {
        let fans = if plan.is_mesh { Fans::mesh } else { Fans::sides };
        let Fans { near, far, came } = fans(ports, behind);
        Ok(match plan.way_back {
            None => Self::OneOfMany(Box::new(AnyTester::new(plan, pool, near, far)?), came),
            Some(_) => Self::BothOfMany(Box::new(AnyDuplex::new(plan, pool, near, far)?), came),
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
            Self::OneOfMany(tester, came) => tester.run_any(stop, on_interval).with(came),
            Self::BothOfMany(tester, came) => tester.run_any(stop, on_interval).with(came),
        }
    }
}
