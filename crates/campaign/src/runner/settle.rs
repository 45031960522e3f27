//! From raw counts to a trial's record: do the counters of both sides agree, what bounded the
//! rate, which intervals are steady.

use fwdlab_stats::steady;

use fwdlab_experiment::{Traffic, Variant};
use fwdlab_results::Measured;
use fwdlab_results::{Interval, LimitedBy, Status, Steady, Trial};

/// A device that had nothing to do for more than this share of a trial was waiting for frames.
/// Below it, the rate that was lost by waiting is smaller than the usual margin of 1 %.
const IDLE_SHARE: f64 = 0.01;

/// Where tester and device share a core, the device bounds the rate from this share on.
const DEVICE_SHARE: f64 = 2.0 / 3.0;

/// A load counts as forwarded in full from this share on (METHOD: saturation).
const FORWARDED_SHARE: f64 = 0.995;

/// Fewest intervals from which the figure of a trial is taken when the others do not count.
pub(super) const FEWEST: usize = 4;

/// Fills the figures of `trial` from what was counted.
pub(super) fn settle(trial: &mut Trial, measured: Measured, variant: &Variant, traffic: &Traffic) {
    let (rate_pps, steady) = figure(&measured.intervals);
    trial.rate_pps = rate_pps;
    trial.steady = steady;
    trial.limited_by = limited_by(&measured, trial.rate_pps, traffic);
    trial.reason = fault(&measured, variant);
    trial.status = if trial.reason.is_some() { Status::Failed } else { Status::Ok };
    trial.measured = measured;
}

/// The trial's rate and the window that it is taken from. Intervals in which the processor was slow
/// do not count, as long as enough others remain.
fn figure(intervals: &[Interval]) -> (Option<f64>, Option<Steady>) {
    let fast: Vec<usize> = (0..intervals.len()).filter(|at| !intervals[*at].is_slow()).collect();
    let is_enough = fast.len() >= FEWEST;
    let kept: Vec<usize> = if is_enough { fast } else { (0..intervals.len()).collect() };
    let rates: Vec<f64> = kept.iter().map(|at| intervals[*at].rx_pps()).collect();
    let window = steady::window(&rates);
    let inside = kept.get(window.first..window.first + window.count).unwrap_or_default();
    let steady = inside.first().zip(inside.last()).map(|(&first, &last)| {
        let skipped: Vec<usize> =
            (first..=last).filter(|at| inside.binary_search(at).is_err()).collect();
        let mut why = window.why.clone();
        if kept.len() < intervals.len() {
            let slow = intervals.len() - kept.len();
            why.push_str(&format!("; {slow} left out because the processor was slow"));
        }
        Steady {
            first,
            count: last + 1 - first,
            trimmed_head: first,
            trimmed_tail: intervals.len() - last - 1,
            skipped,
            why,
        }
    });
    (window.figure(&rates), steady)
}

/// Why the trial's figures may not be used, or nothing.
fn fault(measured: &Measured, variant: &Variant) -> Option<String> {
    let received = measured.received;
    if received == 0 {
        let sent = measured.sent.map_or("an unknown number".to_owned(), |n| n.to_string());
        let dropped = measured.dropped();
        return Some(format!(
            "no frame came back of {sent} sent: check the routes; the device dropped {dropped}"
        ));
    }
    if let Some(why) = imbalance(measured) {
        return Some(why);
    }
    let unproven = variant.set.iter().find(|(word, wanted)| {
        measured.proof.get(*word).is_none_or(|found| !is_proof(wanted, found))
    });
    unproven.map(|(word, wanted)| {
        let found = measured.proof.get(word).map_or("nothing", String::as_str);
        format!("{word} was set to {wanted}, but the device answers {found}")
    })
}

/// Two counts of the same frames that do not agree as exactly as the ledger demands.
fn imbalance(measured: &Measured) -> Option<String> {
    let Measured { sent, device_received, device_sent, ledger, .. } = *measured;
    let left = device_sent.map(|sent| sent + measured.dropped());
    let sides = [
        ("the device received", device_received, "the tester sent", sent),
        ("the device sent or dropped", left, "it received", device_received),
        ("the tester received", Some(measured.received), "the device sent", device_sent),
    ];
    sides.into_iter().find_map(|(a, one, b, other)| {
        let (one, other) = (one?, other?);
        let differ = !ledger.allows(one, other);
        differ.then(|| format!("counters disagree: {a} {one} frames, but {b} {other}"))
    })
}

/// Whether the device's answer shows that a setting took. Asked to choose for itself (`auto`), it
/// answers with its choice.
fn is_proof(wanted: &str, found: &str) -> bool {
    let numbers = || Some(wanted.parse::<f64>().ok()? == found.parse::<f64>().ok()?);
    match wanted {
        "auto" => !found.is_empty(),
        _ => wanted.eq_ignore_ascii_case(found) || numbers().unwrap_or(false),
    }
}

fn limited_by(measured: &Measured, rate_pps: Option<f64>, traffic: &Traffic) -> LimitedBy {
    if measured.search.is_some() {
        return LimitedBy::Device; // the load is the one that the device bears
    }
    let asked = traffic.load.frames_per_second(f64::from(traffic.frame_bytes));
    if let (Some(asked), Some(rate)) = (asked, rate_pps)
        && rate >= asked * FORWARDED_SHARE
    {
        return LimitedBy::Load;
    }
    if measured.environment.device_share.is_some_and(|share| share < DEVICE_SHARE) {
        return LimitedBy::Core;
    }
    if measured.idle_share.is_some_and(|share| share > IDLE_SHARE) {
        LimitedBy::Generator
    } else {
        LimitedBy::Device
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of 1 ms with so many frames; a share of slow time above 4 % leaves one out.
    fn intervals(list: &[(u64, f64)]) -> Vec<Interval> {
        let one =
            |&(rx, slow)| Interval { ms: 1.0, rx, slow_share: Some(slow), ..Interval::default() };
        list.iter().map(one).collect()
    }

    #[test]
    fn slow_intervals_do_not_count_as_long_as_four_others_remain() {
        let mixed = intervals(&[
            (10, 0.0),
            (70, 1.0),
            (100, 0.0),
            (101, 0.04),
            (72, 0.9),
            (99, 0.01),
            (100, 0.0),
            (100, 0.02),
            (71, 0.05),
        ]);
        let (rate, steady) = figure(&mixed);
        assert_eq!(rate, Some(100_000.0));
        let steady = steady.expect("a window");
        // The first is start-up, the last is slow.
        assert_eq!((steady.first, steady.count), (2, 6));
        assert_eq!((steady.trimmed_head, steady.trimmed_tail), (2, 1));
        assert_eq!(steady.skipped, [4]);
        assert!(steady.why.contains("3 left out because the processor was slow"), "{}", steady.why);
    }

    #[test]
    fn a_trial_that_was_slow_nearly_throughout_counts_as_a_whole() {
        let slow = intervals(&[(70, 1.0), (71, 1.0), (100, 0.0), (70, 0.8), (70, 1.0), (69, 1.0)]);
        let (rate, steady) = figure(&slow);
        assert_eq!(rate, Some(70_000.0));
        assert!(steady.expect("a window").skipped.is_empty());
        assert_eq!(figure(&[]), (None, None));
    }
}
