//! Intervals of two hosts on one clock: those of the receiver stay as they are, and what was sent in
//! each of them is read off the sender's count, which grows evenly within each of its own intervals.

use fwdlab_results::Interval;

/// Counts of one host, one interval after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostCounts {
    /// When the first interval began, in ns of a clock that both hosts share.
    pub began_ns: i128,
    /// Length in ns, and frames.
    pub intervals: Vec<(u64, u64)>,
}

impl HostCounts {
    /// Frames up to a moment.
    fn count_at(&self, moment: i128) -> f64 {
        let (mut begin, mut sum) = (self.began_ns, 0.0);
        for &(ns, frames) in &self.intervals {
            let end = begin + i128::from(ns);
            if moment < end {
                let share = (moment - begin).max(0) as f64 / ns.max(1) as f64;
                return sum + frames as f64 * share;
            }
            sum += frames as f64;
            begin = end;
        }
        sum
    }
}

/// The receiver's intervals with what was sent in each, where the sender counted it.
pub fn aligned(sender: &HostCounts, receiver: &HostCounts) -> Vec<Interval> {
    let is_counted = !sender.intervals.is_empty();
    let mut moment = receiver.began_ns;
    let mut before = sender.count_at(moment).round();
    let mut intervals = Vec::with_capacity(receiver.intervals.len());
    for &(ns, rx) in &receiver.intervals {
        moment += i128::from(ns);
        let now = sender.count_at(moment).round();
        let tx = is_counted.then(|| (now - before).max(0.0) as u64);
        before = now;
        intervals.push(Interval { ms: ns as f64 / 1e6, tx, rx, ..Interval::default() });
    }
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_read_off_on_the_receivers_clock() {
        let sender = HostCounts { began_ns: 1_000, intervals: vec![(100, 50), (100, 100)] };
        let receiver = HostCounts {
            began_ns: 950,
            intervals: vec![(100, 25), (100, 75), (100, 50), (100, 0)],
        };
        let tx: Vec<u64> = aligned(&sender, &receiver).iter().filter_map(|i| i.tx).collect();
        assert_eq!(tx, [25, 75, 50, 0]);
        assert_eq!(tx.iter().sum::<u64>(), 150, "nothing is lost or made up");
        let uncounted = aligned(&HostCounts::default(), &receiver);
        assert!(uncounted.iter().all(|i| i.tx.is_none()), "not counted is not 0: {uncounted:?}");
    }
}
