//! Loads on the running kernel, as the procedures of RFC 2544 ask for them: live frames over the veth pair,
//! and the device on another processor than the tester, with the backlog of that processor in front of it.

use std::time::Duration;

use fwdlab_device::{Request, Watch};
use fwdlab_experiment::Traffic;
use fwdlab_procedures::{Offered, Offers, Order, Unfound};
use fwdlab_topology::{Testbed, TopologyError};
use fwdlab_traffic::Load;

use super::live::LiveTester;
use super::loads::offered;
use super::turns::{Again, Use, Workers, least};
use crate::LinuxError;
use crate::settings::TesterKind;
use fwdlab_xdp::Shared;
use fwdlab_xdp::tester::Pace;

/// Between two looks at the counters where losses are not dated.
const LOOK: Duration = Duration::from_millis(10);

/// The device and its tester, with the frames of one traffic.
pub(in super::super) struct Offering<'a, 'w> {
    pub(in super::super) testbed: &'a mut Testbed,
    pub(in super::super) request: &'a Request<'a>,
    pub(in super::super) core: Option<usize>,
    pub(in super::super) watch: &'a Watch<'w>,
    /// Who works for the device.
    pub(in super::super) workers: Workers,
    pub(in super::super) again: Again,
}

impl Offers for Offering<'_, '_> {
    type Error = LinuxError;

    fn offer(&mut self, order: &Order) -> Result<Offered, LinuxError> {
        loop {
            let (offered, share) = self.once(order)?;
            let took = Duration::from_nanos(order.duration_ns);
            let has_lost = offered.lost > 0 || offered.unsent(order.load) > 0;
            match self.again.judge(share, took, has_lost) {
                Use::Counts => return Ok(offered),
                Use::Again => {}
                Use::Crowded(share) => {
                    let what = match order.load {
                        Load::Pps(pps) => format!("{pps:.0} frames/s were offered"),
                        _ => "all that it can send was offered".to_owned(),
                    };
                    return Err(LinuxError::Crowded { what, share });
                }
            }
        }
    }

    /// A load begins and ends within a fraction of a millisecond.
    fn shortest_s(&self) -> f64 {
        0.05
    }
}

impl Offering<'_, '_> {
    /// Offers a load once; with what came of it, the share that tester and device had of their processors.
    fn once(&mut self, order: &Order) -> Result<(Offered, Option<f64>), LinuxError> {
        let shared = self.shared()?;
        let pps = match order.load {
            Load::Max => None,
            load => load.frames_per_second(f64::from(self.request.traffic.frame_bytes)),
        };
        let tester = self.tester(&shared, pps)?.in_short_runs();
        let change = order
            .change
            .map(|change| (Duration::from_nanos(change.after_ns), Pace::new(change.pps)));
        let look = order.dated_ns.map_or(LOOK, Duration::from_nanos);
        let duration = Duration::from_nanos(order.duration_ns);
        let waited = self.workers.waited_ns();
        let came = tester.offer(self.testbed, self.core, (duration, look, change), self.watch)?;
        if self.watch.is_stopped() {
            return Err(LinuxError::Stopped);
        }
        let what = || Unfound { what: "the kernel did not begin to send".to_owned() };
        let (samples, share) = came.ok_or_else(what)?;
        let share = least(share, self.workers.share_since(&waited, duration));
        Ok((offered(&samples, order), share))
    }

    /// What the programs of one load share.
    pub(super) fn shared(&self) -> Result<Shared, LinuxError> {
        Ok(Shared::new().map_err(TopologyError::kernel("make a map that programs share"))?)
    }

    /// A tester of so many frames a second. Without a limit, too, it is paced: so that no load is made by
    /// another program.
    pub(super) fn tester<'s>(
        &mut self,
        shared: &'s Shared,
        pps: Option<f64>,
    ) -> Result<LiveTester<'s>, LinuxError> {
        let load = Load::Pps(pps.unwrap_or(MOST_PPS));
        let traffic = Traffic { load, ..self.request.traffic.clone() };
        LiveTester::new(TesterKind::Live, self.testbed, shared, &traffic)
    }
}

/// More than a processor sends.
const MOST_PPS: f64 = 1e9;
