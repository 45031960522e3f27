//! Bursts of growing length: RFC 2544, section 26.4, and RFC 9004.

use std::time::Duration;

use fwdlab_results::Burst;
use fwdlab_traffic::{BurstOutcome, Load, longest_burst};

use crate::offer::{Offers, Order};
use crate::search::received_pps;

/// Searches for the longest burst in one trial: RFC 2544, section 26.4, asks for 50 at the least.
pub const BURST_SEARCHES: usize = 50;

/// What comes of all that a tester can send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Most {
    /// What the device forwards of it, in frames/s: the maximum receive rate.
    pub received_pps: f64,
    /// What the tester sends, in frames/s.
    pub sent_pps: f64,
}

impl Most {
    /// Of a load without a limit, offered for so many seconds.
    ///
    /// # Errors
    /// Nothing came back in time, or the load could not be offered.
    pub fn of<O: Offers>(bench: &mut O, seconds: f64) -> Result<Self, O::Error> {
        let all = bench.offer(&Order::of(Load::Max, seconds))?;
        let sent_pps = all.sent as f64 * 1e9 / all.duration_ns.max(1) as f64;
        Ok(Self { received_pps: received_pps(&all)?, sent_pps })
    }
}

/// From one burst to the next: what a backlog takes, and what a device takes that counts time, a policer or a
/// shaper, until it lets as much through again.
const RESTS_MS: [u64; 3] = [2, 20, 200];
/// After so long every device has rested.
const LONG_REST: Duration = Duration::from_secs(1);
/// A device had not rested when with a longer rest all bursts are longer than all but one by more than this, as of
/// bursts that only scatter one set in 42 is, or those in the middle by more than that.
const LONGER: [f64; 2] = [1.02, 1.5];
/// Searches that tell how long it has to rest.
const TRIED: usize = 5;
/// All searches of a trial rest for so long together, but for the few that there are at least.
const MOST_RESTING: Duration = Duration::from_secs(10);
const FEWEST: usize = 5;
/// Bursts of one search, roughly.
const BURSTS_OF_SEARCH: u32 = 14;

/// What was found of bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Bursts {
    /// The longest of each search.
    pub found: Vec<Burst>,
    /// How long the device rested between two.
    pub rest: Duration,
    /// Whether a longer rest would not have made them longer.
    pub is_rested: bool,
}

/// The longest burst without loss of at most `most` frames, searched for [`BURST_SEARCHES`] times, or as often as
/// the rest that the device takes allows; `send` sends one, waits until nothing more comes of it, and rests.
///
/// # Errors
/// What `send` returns.
pub fn bursts<E>(
    most: u64,
    send: &mut dyn FnMut(u64, Duration) -> Result<BurstOutcome, E>,
) -> Result<Bursts, E> {
    let rests = RESTS_MS.map(Duration::from_millis);
    let (mut rest, mut held) = (rests[0], tried(most, rests[0], send)?);
    let mut is_rested = false;
    for longer in rests.into_iter().skip(1) {
        let now = tried(most, longer, send)?;
        is_rested = !are_longer(&now, &held);
        if is_rested {
            break;
        }
        (rest, held) = (longer, now);
    }
    if !is_rested {
        send(1, LONG_REST)?;
        let longest = held[TRIED - 1];
        let more = longest + longest / 10 + 1;
        is_rested = longest >= most || !send(more.min(most), rest)?.is_whole();
    }
    let searches = MOST_RESTING.as_millis() / (rest * BURSTS_OF_SEARCH).as_millis().max(1);
    let searches = (searches as usize).clamp(FEWEST, BURST_SEARCHES);
    let found = (0..searches).map(|_| {
        let longest = longest_burst(most, &mut |frames| send(frames, rest))?;
        Ok(Burst { frames: longest.frames, ns: longest.ns })
    });
    Ok(Bursts { found: found.collect::<Result<_, E>>()?, rest, is_rested })
}

fn are_longer(now: &[u64; TRIED], before: &[u64; TRIED]) -> bool {
    let [apart, middle] = LONGER;
    now[0] as f64 > before[TRIED - 2] as f64 * apart
        || now[TRIED / 2] as f64 > before[TRIED / 2] as f64 * middle
}

/// What a few searches with such a rest find, in order. The one before them is none of them: it began with what the
/// device had rested before.
fn tried<E>(
    most: u64,
    rest: Duration,
    send: &mut dyn FnMut(u64, Duration) -> Result<BurstOutcome, E>,
) -> Result<[u64; TRIED], E> {
    longest_burst(most, &mut |frames| send(frames, rest))?;
    let mut found = [0; TRIED];
    for own in &mut found {
        *own = longest_burst(most, &mut |frames| send(frames, rest))?.frames;
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn each_search_finds_the_burst_that_still_fits() {
        let mut sent = 0;
        let mut send = |frames: u64, _| {
            sent += 1;
            let received = frames.min(777);
            Ok::<_, Infallible>(BurstOutcome { frames, taken: frames, received, ns: 10 * frames })
        };
        let Ok(Bursts { found, rest, is_rested }) = bursts(1 << 16, &mut send);
        assert_eq!((found.len(), is_rested), (BURST_SEARCHES, true));
        assert_eq!(rest, Duration::from_millis(2));
        // To 1/256.
        assert!(found.iter().all(|own| (774..=777).contains(&own.frames)), "{found:?}");
        assert!(found.iter().all(|own| own.ns == 10 * own.frames));
        assert!(sent < 20 * (BURST_SEARCHES + 2 * (TRIED + 1)), "{sent}");
    }

    /// Rules that let so many frames through at once, and so many a second: a bucket that fills while time passes.
    fn policer(at_once: f64, pps: f64) -> Bursts {
        let mut left = at_once;
        let mut send = |frames: u64, rest: Duration| {
            let ns = frames * 500;
            let through = frames.min((left + ns as f64 * pps / 1e9) as u64);
            // A burst with a loss is over when nothing came for 10 ms.
            let patience_s = if through < frames { 0.01 } else { 0.0 };
            left += ns as f64 * pps / 1e9 - through as f64;
            left = (left + (patience_s + rest.as_secs_f64()) * pps).min(at_once);
            Ok::<_, Infallible>(BurstOutcome { frames, taken: frames, received: through, ns })
        };
        let Ok(found) = bursts(1 << 16, &mut send);
        found
    }

    /// With 2 ms between bursts 123 of 700 frames were found at 20,000 a second, and 21 at 2,000.
    #[test]
    fn a_device_that_counts_time_rests_until_it_lets_as_much_through_again() {
        let middle = |own: &Bursts| {
            let mut all: Vec<u64> = own.found.iter().map(|burst| burst.frames).collect();
            all.sort_unstable();
            all[all.len() / 2]
        };
        for pps in [1e6, 200e3, 20e3] {
            let own = policer(700.0, pps);
            // What is let through meanwhile comes on top.
            let frames = middle(&own) as f64;
            assert!(
                (0.95 * 700.0..=1.05 * 700.0 + 1e-3 * pps).contains(&frames),
                "{pps}: {frames}"
            );
            assert!(own.is_rested && own.found.len() >= FEWEST, "{pps}: {own:?}");
        }
        let slow = policer(700.0, 500.0);
        assert!(!slow.is_rested && middle(&slow) < 700, "{slow:?}");
    }
}
