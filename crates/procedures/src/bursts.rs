//! Bursts of growing length: RFC 2544, section 26.4, and RFC 9004.

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

/// The longest burst without loss of at most `most` frames, searched for [`BURST_SEARCHES`] times; `send`
/// sends one and waits until nothing more comes of it.
///
/// # Errors
/// What `send` returns.
pub fn bursts<E>(
    most: u64,
    send: &mut dyn FnMut(u64) -> Result<BurstOutcome, E>,
) -> Result<Vec<Burst>, E> {
    let search = |_| {
        let longest = longest_burst(most, send)?;
        Ok(Burst { frames: longest.frames, ns: longest.ns })
    };
    (0..BURST_SEARCHES).map(search).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn each_search_finds_the_burst_that_still_fits() {
        let mut sent = 0;
        let mut send = |frames: u64| {
            sent += 1;
            let received = frames.min(777);
            Ok::<_, Infallible>(BurstOutcome { frames, taken: frames, received, ns: 10 * frames })
        };
        let Ok(found) = bursts(1 << 16, &mut send);
        assert_eq!(found.len(), BURST_SEARCHES);
        // To 1/256.
        assert!(found.iter().all(|own| (774..=777).contains(&own.frames)), "{found:?}");
        assert!(found.iter().all(|own| own.ns == 10 * own.frames));
        assert!(sent < 20 * BURST_SEARCHES, "{sent}");
    }
}
