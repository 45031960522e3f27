//! A reset under load (RFC 2544, section 26.6; the reset of a process in the words of RFC 6201): the network of the
//! device begins anew while the tester goes on.

use std::time::{Duration, Instant};

use fwdlab_device::turns::{Turns, Use, least, own_share_since};
use fwdlab_port::PortError;
use fwdlab_procedures::Unfound;
use fwdlab_results::Reset;
use fwdlab_topology::Restart;

use super::live::LiveTester;
use super::offering::Offering;
use crate::LinuxError;
use crate::setup::DEVICE;

/// The load, as a share of the maximum receive rate: loss is the reset's.
const LOAD: f64 = 0.5;
/// No device takes longer to come back.
const LONGEST: Duration = Duration::from_secs(120);
/// Between two looks at the counters.
const LOOK: Duration = Duration::from_micros(200);

/// What had come by a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    at: Duration,
    received: u64,
}

/// What was seen of a reset.
struct Seen {
    /// When it began and when it had been made, since the beginning.
    made: (Duration, Duration),
    looks: Vec<Look>,
    /// The share of the time in which the thread that made it could run, and ran.
    share: Option<f64>,
}

impl Offering<'_, '_> {
    /// Resets the device after `each`, and sends on for as long once it is back.
    ///
    /// # Errors
    /// The kernel refuses what it had, the device does not come back, or the campaign was stopped.
    pub(in super::super) fn reset(
        &mut self,
        mrr_pps: f64,
        each: Duration,
    ) -> Result<Reset, LinuxError> {
        let load_pps = mrr_pps * LOAD;
        loop {
            let (reset, share) = self.reset_once(load_pps, each)?;
            // Frames are always lost in it: the gap is what it is about.
            match self.again.judge(share.map(of_three), 2 * each, false) {
                Use::Counts => return Ok(reset),
                Use::Again => {}
                Use::Crowded(share) => {
                    let what = "the device was reset".to_owned();
                    return Err(LinuxError::Crowded { what, share });
                }
            }
        }
    }

    /// Resets the device once; with what was seen of it, the share that tester, device and who resets it had
    /// of their processors.
    fn reset_once(
        &mut self,
        load_pps: f64,
        each: Duration,
    ) -> Result<(Reset, Option<f64>), LinuxError> {
        let shared = self.shared()?;
        let tester = self.tester(&shared, Some(load_pps))?.in_short_runs();
        let mut restart = self.testbed.restart(DEVICE)?;
        let stop = || self.watch.is_stopped();
        let waited = self.workers.waited_ns();
        let (seen, _, share) = tester.while_sending(self.testbed, self.core, |is_running| {
            let goes_on = || is_running() && !stop();
            if !tester.begins(&goes_on) {
                return Ok(None);
            }
            watch(&tester, &mut restart, each, &goes_on).map(Some)
        })?;
        let seen = seen?;
        tester.drain();
        if stop() {
            return Err(LinuxError::Stopped);
        }
        let what = || Unfound { what: "the kernel did not begin to send".to_owned() };
        let seen = seen.ok_or_else(what)?;
        let took = seen.looks.last().map_or(each, |look| look.at);
        let share = least(least(share, seen.share), self.workers.share_since(&waited, took));
        let (begun, done) = seen.made;
        let gap = gap_over(&seen.looks, seen.made).ok_or_else(|| Unfound {
            what: format!(
                "no frame came through in {} s after the network of the device had begun anew",
                LONGEST.as_secs()
            ),
        })?;
        let reset = Reset {
            load_pps,
            gap_ns: gap.as_nanos() as u64,
            start_ns: (done - begun).as_nanos() as u64,
            lost: tester.sent().saturating_sub(tester.received()),
        };
        Ok((reset, share))
    }
}

/// A share of processors that sender, device and whoever resets it have between them: on two, two thirds are all
/// that each can count on when nobody else runs.
fn of_three(share: f64) -> f64 {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (share * (3.0 / processors as f64).max(1.0)).min(1.0)
}

/// Looks at what comes; after `each`, begins the network anew.
fn watch(
    tester: &LiveTester<'_>,
    restart: &mut Restart,
    each: Duration,
    goes_on: &dyn Fn() -> bool,
) -> Result<Seen, LinuxError> {
    let start = Instant::now();
    let mut looks = Vec::new();
    let mut look = || {
        std::thread::sleep(LOOK);
        let received = tester.received();
        let now = Look { at: start.elapsed(), received };
        looks.push(now);
        now
    };
    let (made, share) = std::thread::scope(|scope| {
        while look().at < each && goes_on() {}
        let changer = std::thread::Builder::new().name("reset".to_owned());
        let changer = changer.spawn_scoped(scope, || {
            let (begun, turns) = (start.elapsed(), Turns::own());
            restart.run()?;
            let share = own_share_since(turns);
            Ok::<_, LinuxError>(((begun, start.elapsed()), share))
        });
        let changer = changer.map_err(|source| PortError::Thread { source })?;
        while !changer.is_finished() {
            look();
        }
        let panicked = |_| LinuxError::Thread { what: "the reset panicked".to_owned() };
        changer.join().map_err(panicked)?
    })?;
    let before = look();
    let mut now = before;
    while now.received == before.received && now.at < before.at + LONGEST && goes_on() {
        now = look();
    }
    let back = now.at;
    while look().at < back + each && goes_on() {}
    Ok(Seen { made, looks, share })
}

/// The longest time without an arrival that lies in part between two times; nothing where none came after
/// them. A reset too short to be seen is as long as one look.
fn gap_over(looks: &[Look], (begun, done): (Duration, Duration)) -> Option<Duration> {
    let last = looks.last()?;
    let at_end = looks.iter().find(|look| look.at >= done)?;
    if last.received == at_end.received {
        return None;
    }
    let mut longest = LOOK;
    let mut since = looks.first()?;
    for (before, look) in looks.iter().zip(looks.iter().skip(1)) {
        if look.received == before.received {
            continue;
        }
        if look.at >= begun && since.at <= done {
            longest = longest.max(look.at - since.at);
        }
        since = look;
    }
    Some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn looks(received: &[u64]) -> Vec<Look> {
        (0..).zip(received).map(|(at, &received)| Look { at: ms(at), received }).collect()
    }

    #[test]
    fn the_gap_of_a_reset_is_the_one_that_it_made() {
        // Three ms without arrivals before it, four in it, five after it.
        let all = looks(&[1, 2, 2, 2, 3, 4, 5, 5, 5, 5, 6, 7, 8, 8, 8, 8, 8, 9]);
        assert_eq!(gap_over(&all, (ms(6), ms(8))), Some(ms(4)));
        // It is over before all was made.
        assert_eq!(gap_over(&all, (ms(6), ms(11))), Some(ms(4)));
        // What comes no more is no gap.
        assert_eq!(gap_over(&all[..10], (ms(6), ms(8))), None);
        // Too short to be seen.
        assert_eq!(gap_over(&looks(&[1, 2, 3, 4]), (ms(1), ms(1))), Some(ms(1)));
    }
}
