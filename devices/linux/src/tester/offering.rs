//! Loads on the running kernel, as the procedures of RFC 2544 ask for them: live frames over the veth pair,
//! and the device on another processor than the tester, with the backlog of that processor in front of it.

use std::time::Duration;

use fwdlab_device::turns::{Again, Use, Workers, least};
use fwdlab_device::{Request, Watch};
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_procedures::{LATENCY_SHARES, Offered, Offers, Order, Unfound, offered};
use fwdlab_results::{Family, LatencyAt};
use fwdlab_topology::{Testbed, TopologyError};
use fwdlab_traffic::Load;

use super::live::{LiveTester, Watched};
use crate::LinuxError;
use crate::settings::TesterKind;
use fwdlab_xdp::tester::Pace;
use fwdlab_xdp::{STAMP_BYTES, Shared};

/// Between two looks at the counters where losses are not dated.
const LOOK: Duration = Duration::from_millis(10);

/// Bytes in front of the payload of IPv6, FCS included.
const INET6_BYTES: u16 = 14 + 40 + 8 + 4;

/// Whether the frames of a trial bear the time at which they were sent.
pub(in super::super) fn is_timed(request: &Request<'_>) -> bool {
    let measure = request.traffic.measure;
    request.experiment.latency && measure.loss_ratio().is_some() && !measure.is_benchmark()
}

/// Whether frames have room for a time, where it is asked how long they take: those of IPv4 always have.
///
/// # Errors
/// They have not; the error names the line.
pub(in super::super) fn check_latency(experiment: &Experiment) -> Result<(), LinuxError> {
    let least = INET6_BYTES + STAMP_BYTES as u16;
    let complaint = |traffic: &Traffic| {
        let is_short = traffic.family != Family::Inet && traffic.frame_bytes < least;
        let what = format!("frames of {} bytes have no room for a time stamp", traffic.frame_bytes);
        let wanted = format!("{least} bytes or more of IPv6 beside latency");
        let remedy = format!("write frame = {least}, or remove latency");
        is_short.then(|| ("frame", Complaint::new(what, wanted, remedy)))
    };
    let problems = experiment.complaints_about_traffics(complaint).filter(|_| experiment.latency);
    problems.map_or(Ok(()), |problems| Err(fwdlab_experiment::Error::from(problems).into()))
}

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
        let Watched { counts, share } = came.ok_or_else(what)?;
        let share = least(share, self.workers.share_since(&waited, duration));
        Ok((offered(&counts, order), share))
    }

    /// Latency at shares of a rate that was found, each for as long as a trial.
    ///
    /// # Errors
    /// A load could not be offered.
    pub(in super::super) fn latency_at_shares(
        &mut self,
        rate_pps: f64,
    ) -> Result<Vec<LatencyAt>, LinuxError> {
        let duration = self.request.experiment.duration;
        let mut found = Vec::new();
        for share in LATENCY_SHARES {
            let shared = self.shared()?;
            let tester = self.tester(&shared, Some(rate_pps * share))?.in_short_runs();
            let waited = self.workers.waited_ns();
            let came = tester.offer(self.testbed, self.core, (duration, LOOK, None), self.watch)?;
            if self.watch.is_stopped() {
                return Err(LinuxError::Stopped);
            }
            let own = came.and_then(|came| came.share);
            self.again.note(least(own, self.workers.share_since(&waited, duration)));
            found.extend(tester.latency().map(|figures| LatencyAt { share, figures }));
        }
        Ok(found)
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
        let timed = (&traffic, is_timed(self.request));
        LiveTester::new(TesterKind::Live, self.testbed, shared, timed)
    }
}

/// More than a processor sends.
const MOST_PPS: f64 = 1e9;
