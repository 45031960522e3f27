//! How long frames take from the tester through the device and back.

use hdrhistogram::Histogram;

/// Latencies in ticks, in a histogram with three significant digits (hdrhistogram).
#[derive(Clone)]
pub(crate) struct Latency {
    ticks: Histogram<u64>,
}

/// Latencies of the frames of one trial, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySummary {
    /// Frames with a time stamp.
    pub frames: u64,
    /// The shortest.
    pub minimum_ns: u64,
    /// Half the frames took no longer.
    pub median_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1,000.
    pub p99_9_ns: u64,
    /// 9,999 of 10,000.
    pub p99_99_ns: u64,
    /// The longest.
    pub maximum_ns: u64,
}

impl Latency {
    pub(crate) fn new() -> Self {
        let ticks = Histogram::new(3).expect("invariant: 3 significant digits are allowed");
        Self { ticks }
    }

    /// Takes the stamps of frames that arrived together. Those that left together have the same
    /// stamp, so most of the histogram's work is done once for many frames.
    pub(crate) fn record(&mut self, stamps: impl Iterator<Item = u64>, now: u64) {
        let (mut last, mut count) = (0, 0);
        for stamp in stamps {
            if stamp != last {
                self.record_many(last, count, now);
                (last, count) = (stamp, 0);
            }
            count += 1;
        }
        self.record_many(last, count, now);
    }

    fn record_many(&mut self, stamp: u64, count: u64, now: u64) {
        if count == 0 {
            return;
        }
        // The histogram grows by itself; recording cannot fail.
        let _ = self.ticks.record_n(now.saturating_sub(stamp), count);
    }

    /// Adds those of another lane.
    pub(crate) fn add(&mut self, other: &Self) {
        // The histogram grows by itself; adding cannot fail.
        let _ = self.ticks.add(&other.ticks);
    }

    pub(crate) fn summary(&self, to_ns: impl Fn(u64) -> u64) -> LatencySummary {
        let at = |quantile| to_ns(self.ticks.value_at_quantile(quantile));
        LatencySummary {
            frames: self.ticks.len(),
            minimum_ns: to_ns(self.ticks.min()),
            median_ns: at(0.5),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            maximum_ns: to_ns(self.ticks.max()),
        }
    }
}
