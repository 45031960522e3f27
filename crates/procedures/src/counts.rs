//! What came of a load, from counters that were looked at again and again.

use fwdlab_results::Loss;
use fwdlab_traffic::Load;

use crate::offer::{Offered, Order};

/// The counters at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountsAt {
    /// Since the load began.
    pub at_ns: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames that came back.
    pub received: u64,
    /// Frames for which a processor's backlog had no room.
    pub dropped: u64,
}

/// Frames may be late by so many ns, and catch up.
const LATE_NS: f64 = 2e6;
/// The sender hands on so many frames at once.
const AT_ONCE: u64 = 128;

/// What came of an order; the last sample is from when nothing more came.
pub fn offered(counts: &[CountsAt], order: &Order) -> Offered {
    let Some((end, inside)) = counts.split_last() else { return Offered::default() };
    let (first, last) = (inside.first().copied(), inside.last().copied().unwrap_or_default());
    let first = first.unwrap_or_default();
    let pps = match order.load {
        Load::Pps(pps) => pps,
        _ => 0.0,
    };
    Offered {
        duration_ns: last.at_ns - first.at_ns,
        sent: end.sent,
        received: end.received,
        received_in_time: last.received - first.received,
        all_back_ns: None,
        lost: end.sent.saturating_sub(end.received),
        given_up: 0,
        still_due: AT_ONCE + (pps * LATE_NS / 1e9) as u64,
        ways: 1,
        losses: losses(counts, order.change.map(|change| change.after_ns)),
    }
}

/// When frames were lost. Sent and not received are those that were lost and those that are on their way;
/// of the lost ones those without room in a backlog are counted at once. Of the others no more can have
/// been lost by a time than are missing at any later one. A loss that goes on when the load changes is two: one
/// of each load.
fn losses(counts: &[CountsAt], change_ns: Option<u64>) -> Vec<Loss> {
    let Some(start) = counts.first() else { return Vec::new() };
    let dropped = |at: &CountsAt| at.dropped.saturating_sub(start.dropped);
    let missing = |at: &CountsAt| at.sent.saturating_sub(at.received);
    let all = counts.last().map_or(0, missing);
    let mut others: Vec<u64> =
        counts.iter().map(|at| missing(at).saturating_sub(dropped(at))).collect();
    for at in (1..others.len()).rev() {
        others[at - 1] = others[at - 1].min(others[at]);
    }
    let lost: Vec<u64> =
        counts.iter().zip(&others).map(|(at, others)| (dropped(at) + others).min(all)).collect();
    let mut losses: Vec<Loss> = Vec::new();
    for (pair, lost) in counts.windows(2).zip(lost.windows(2)) {
        let frames = lost[1].saturating_sub(lost[0]);
        let (at_ns, end) = (pair[0].at_ns, pair[1].at_ns);
        match losses.last_mut() {
            _ if frames == 0 => {}
            Some(before)
                if before.at_ns + before.ns == at_ns
                    && change_ns.is_none_or(|change| before.at_ns >= change || at_ns < change) =>
            {
                before.frames += frames;
                before.ns = end - before.at_ns;
            }
            _ => losses.push(Loss { at_ns, ns: end - at_ns, frames }),
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_traffic::LoadChange;

    fn sample(at_ms: u64, sent: u64, received: u64, dropped: u64) -> CountsAt {
        CountsAt { at_ns: at_ms * 1_000_000, sent, received, dropped }
    }

    #[test]
    fn frames_on_their_way_are_not_lost_and_each_loss_has_its_time() {
        // 500 wait, 40 without room between 1 and 2 ms, 7 by rules between 3 and 4.
        let counts = [
            sample(0, 0, 0, 100),
            sample(1, 1000, 500, 100),
            sample(2, 2000, 1460, 140),
            sample(3, 3000, 2960, 140),
            sample(4, 4000, 3953, 140),
            sample(9, 4000, 3953, 140),
        ];
        let ms = 1_000_000;
        let found = losses(&counts, None);
        let loss = |at, frames| Loss { at_ns: at * ms, ns: ms, frames };
        assert_eq!(found, [loss(1, 40), loss(3, 7)]);
        let offered = offered(&counts, &Order::of(Load::Pps(1e6), 0.004));
        assert_eq!((offered.sent, offered.lost, offered.duration_ns), (4000, 47, 4 * ms));
    }

    /// A loss of 60 ms after an overload had no frame: all of them counted as lost in it.
    #[test]
    fn a_loss_that_outlasts_an_overload_is_counted_on_both_sides() {
        let counts = [
            sample(0, 0, 0, 0),
            sample(1, 1000, 1000, 0),
            sample(2, 2000, 1900, 0),
            sample(3, 2500, 2350, 0),
            sample(4, 3000, 2820, 0),
            sample(5, 3000, 2820, 0),
        ];
        let change = Some(LoadChange { after_ns: 2_000_000, pps: 5e5 });
        let order = Order { change, ..Order::of(Load::Pps(1e6), 0.004) };
        let found: Vec<(u64, u64)> =
            offered(&counts, &order).losses.iter().map(|loss| (loss.at_ns, loss.frames)).collect();
        assert_eq!(found, [(1_000_000, 100), (2_000_000, 80)]);
        let one = offered(&counts, &Order { change: None, ..order }).losses;
        assert_eq!((one.len(), one[0].frames), (1, 180));
    }

    #[test]
    fn drops_of_others_are_none_of_the_devices() {
        let counts = [sample(0, 0, 0, 0), sample(1, 1000, 990, 900), sample(2, 1000, 990, 900)];
        let frames: u64 = losses(&counts, None).iter().map(|loss| loss.frames).sum();
        assert_eq!(frames, 10);
    }
}
