//! Bursts of live frames: as many as are asked for, one after the other as fast as the kernel sends them.
//!
//! They come to rest in the backlog of the device's processor (`net.core.netdev_max_backlog`), which works on
//! them meanwhile.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fwdlab_port::{PortError, affinity};
use fwdlab_procedures::bursts;
use fwdlab_results::Burst;
use fwdlab_topology::TopologyError;
use fwdlab_traffic::BurstOutcome;

use super::live::LiveTester;
use super::loads::backlog_drops;
use super::offering::Offering;
use crate::LinuxError;

/// The longest burst that is tried, in frames.
pub(crate) const MOST: u64 = 1 << 16;
/// A frame that has not come so long after the last one is lost.
const PATIENCE: Duration = Duration::from_millis(10);
/// The same where the kernel says that a backlog had no room.
const SHORT_PATIENCE: Duration = Duration::from_millis(2);
/// From one burst to the next: what the device does at its leisure is done then.
const REST: Duration = Duration::from_millis(2);
/// Times that a burst which a signal cut short is sent again.
const ATTEMPTS: usize = 8;

impl Offering<'_, '_> {
    /// Bursts of growing length, many times; `sent_pps` is how fast they are sent.
    ///
    /// # Errors
    /// The kernel cannot send them, or the campaign was stopped.
    pub(in super::super) fn bursts(&mut self, sent_pps: f64) -> Result<Vec<Burst>, LinuxError> {
        let shared = self.shared()?;
        let tester = self.tester(&shared, None)?;
        let namespace = self.testbed.namespace(tester.role())?;
        let (core, stop) = (self.core, self.watch.stop);
        let ns_of = |frames: u64| (frames as f64 * 1e9 / sent_pps.max(1.0)) as u64;
        let mut send = |frames: u64| {
            if stop.load(Ordering::Relaxed) {
                return Err(LinuxError::Stopped);
            }
            burst(&tester, frames).map(|own| BurstOutcome { ns: ns_of(frames), ..own })
        };
        std::thread::scope(|scope| {
            let sender = std::thread::Builder::new().name("tester".to_owned());
            let sender = sender.spawn_scoped(scope, move || {
                namespace.enter().map_err(TopologyError::kernel("enter a namespace"))?;
                let _ = core.is_some_and(|core| affinity::pin_current_thread(core).is_ok());
                bursts(MOST, &mut send)
            });
            let sender = sender.map_err(|source| PortError::Thread { source })?;
            let panicked = |_| LinuxError::Thread { what: "the tester panicked".to_owned() };
            sender.join().map_err(panicked)?
        })
    }
}

/// Sends one burst and waits until nothing more comes of it.
fn burst(tester: &LiveTester<'_>, frames: u64) -> Result<BurstOutcome, LinuxError> {
    let failed = |source| TopologyError::kernel("send XDP live frames")(source);
    for _ in 0..ATTEMPTS {
        let (received, dropped) = (tester.received(), backlog_drops());
        let sent = tester.send_burst(frames as u32).map_err(failed)?;
        let received = wait(tester, (received, sent), dropped);
        std::thread::sleep(REST);
        if sent == frames {
            return Ok(BurstOutcome { frames, taken: sent, received, ns: 0 });
        }
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
