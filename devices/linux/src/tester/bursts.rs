//! Bursts of live frames: as many as are asked for, one after the other as fast as the kernel sends them.
//!
//! They come to rest in the backlog of the device's processor (`net.core.netdev_max_backlog`), which works on
//! them meanwhile.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fwdlab_device::turns::{Turns, Workers, least, own_share_since};
use fwdlab_port::{PortError, affinity};
use fwdlab_procedures::{Bursts, bursts};
use fwdlab_results::TrialEnvironment;
use fwdlab_topology::TopologyError;
use fwdlab_traffic::BurstOutcome;

use super::live::{LiveTester, backlog_drops};
use super::offering::Offering;
use crate::LinuxError;

/// The longest burst that is tried, in frames.
pub(crate) const MOST: u64 = 1 << 16;
/// A frame that has not come so long after the last one is lost.
const PATIENCE: Duration = Duration::from_millis(10);
/// The same where the kernel says that a backlog had no room.
const SHORT_PATIENCE: Duration = Duration::from_millis(2);
/// Times that a burst is sent until no signal cut it short and nobody else had the processors.
const ATTEMPTS: usize = 8;

impl Offering<'_, '_> {
    /// Bursts of growing length, many times; `sent_pps` is how fast they are sent.
    ///
    /// # Errors
    /// The kernel cannot send them, or the campaign was stopped.
    pub(in super::super) fn bursts(&mut self, sent_pps: f64) -> Result<Bursts, LinuxError> {
        let shared = self.shared()?;
        let tester = self.tester(&shared, None)?;
        let namespace = self.testbed.namespace(tester.role())?;
        let (core, stop, workers) = (self.core, self.watch.stop, &self.workers);
        let mut kept = Kept::default();
        let ns_of = |frames: u64| (frames as f64 * 1e9 / sent_pps.max(1.0)) as u64;
        let mut send = |frames: u64, rest: Duration| {
            if stop.load(Ordering::Relaxed) {
                return Err(LinuxError::Stopped);
            }
            let (own, took) = burst(&tester, workers, frames)?;
            std::thread::sleep(rest);
            kept.add(took);
            Ok(BurstOutcome { ns: ns_of(frames), ..own })
        };
        let found = std::thread::scope(|scope| {
            let sender = std::thread::Builder::new().name("tester".to_owned());
            let sender = sender.spawn_scoped(scope, move || {
                namespace.enter().map_err(TopologyError::kernel("enter a namespace"))?;
                let _ = core.is_some_and(|core| affinity::pin_current_thread(core).is_ok());
                bursts(MOST, &mut send)
            });
            let sender = sender.map_err(|source| PortError::Thread { source })?;
            let panicked = |_| LinuxError::Thread { what: "the tester panicked".to_owned() };
            sender.join().map_err(panicked)?
        })?;
        match kept.share() {
            Some(share) if share < TrialEnvironment::LEAST_CORE_SHARE => {
                Err(LinuxError::Crowded { what: "bursts were sent".to_owned(), share })
            }
            share => {
                self.again.note(share);
                Ok(found)
            }
        }
    }
}

/// How long bursts took, and for how much of that tester or device waited for a processor, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    passed_ns: f64,
    waited_ns: f64,
}

impl Kept {
    fn add(&mut self, other: Self) {
        self.passed_ns += other.passed_ns;
        self.waited_ns += other.waited_ns;
    }

    /// The share of the time in which nobody waited.
    fn share(&self) -> Option<f64> {
        (self.passed_ns > 0.0).then(|| (1.0 - self.waited_ns / self.passed_ns).max(0.0))
    }
}

/// Sends one burst and waits until nothing more comes of it; again when a signal cut it short or others had the
/// processors meanwhile. With what came of it, how long it took.
fn burst(
    tester: &LiveTester<'_>,
    workers: &Workers,
    frames: u64,
) -> Result<(BurstOutcome, Kept), LinuxError> {
    let failed = |source| TopologyError::kernel("send XDP live frames")(source);
    for attempt in 1..=ATTEMPTS {
        let (received, dropped) = (tester.received(), backlog_drops());
        let (start, own, theirs) = (Instant::now(), Turns::own(), workers.waited_ns());
        let sent = tester.send_burst(frames as u32).map_err(failed)?;
        let sender = own_share_since(own);
        let received = wait(tester, (received, sent), dropped);
        let passed = start.elapsed();
        let share = least(sender, workers.share_since(&theirs, passed)).unwrap_or(1.0);
        let is_disturbed = share < TrialEnvironment::LEAST_CORE_SHARE;
        if sent == frames && (!is_disturbed || attempt == ATTEMPTS) {
            let passed_ns = passed.as_nanos() as f64;
            let kept = Kept { passed_ns, waited_ns: (1.0 - share) * passed_ns };
            return Ok((BurstOutcome { frames, taken: sent, received, ns: 0 }, kept));
        }
        std::thread::sleep(SHORT_PATIENCE);
    }
    let what = format!("signals cut a burst of {frames} frames short again and again");
    Err(LinuxError::Thread { what })
}

/// Waits until `sent` frames have come since there were `before`, or no more come; how many did.
fn wait(tester: &LiveTester<'_>, (before, sent): (u64, u64), dropped: u64) -> u64 {
    let came = || tester.received() - before;
    let (mut last, mut seen) = (Instant::now(), came());
    while seen < sent {
        std::thread::sleep(Duration::from_micros(50));
        let now = came();
        if now > seen {
            (last, seen) = (Instant::now(), now);
            continue;
        }
        let quiet = last.elapsed();
        if quiet > PATIENCE || quiet > SHORT_PATIENCE && backlog_drops() > dropped {
            break;
        }
    }
    seen
}
