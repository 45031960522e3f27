//! What a difference is in nanoseconds: saved on this device, and what that would mean on others.
//!
//! A speed ratio depends on how fast the rest of the device is: 12 ns saved are 14 % where a frame
//! costs 100 ns and 1 % where it costs 1000. So the nanoseconds are said first. They are the ratio's
//! estimate and interval at the baseline's median time per frame (b - b / ratio), so that sign,
//! interval and verdict agree: the interval leaves out 0 exactly when the ratio's leaves out 1.

use fwdlab_results::Tick;
use fwdlab_stats::{Comparison, Effect, Verdict};
use serde::Serialize;

/// Devices on which a saving is imagined, by their ns per frame.
const DEVICES_NS: [f64; 3] = [100.0, 300.0, 1000.0];

/// The nanoseconds per frame of a proven difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saved {
    /// The baseline's time per frame in ns, the median of its runs: its device cost, or 1 s / its
    /// forwarding rate where that decides.
    pub baseline_ns: f64,
    /// What the variant saves of it, in ns per frame; negative when it takes more.
    pub ns: f64,
    /// The interval of that, at the comparison's confidence.
    pub interval_ns: [f64; 2],
    /// What the same nanoseconds would be elsewhere; nothing where the clock counts something else.
    pub on_devices: Vec<OnDevice>,
    /// What is counted in the place of nanoseconds.
    #[serde(skip_serializing_if = "Tick::is_nanosecond")]
    pub tick: Tick,
}

/// A saving on a device of another speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OnDevice {
    /// The device's time per frame in ns, without the change.
    pub ns_per_frame: f64,
    /// The speed ratio; absent when the device does not take so long as is saved.
    pub ratio: Option<Effect>,
}

impl Saved {
    /// Of a proven difference, from the ns per frame of the baseline's runs; `None` for any other
    /// verdict.
    pub fn of(
        verdict: &Verdict,
        comparison: &Comparison,
        (baseline_ns, tick): (&[f64], Tick),
    ) -> Option<Self> {
        let is_proven = matches!(verdict, Verdict::Faster { .. } | Verdict::Slower { .. });
        if !is_proven || baseline_ns.is_empty() {
            return None;
        }
        let baseline_ns = fwdlab_stats::median(baseline_ns);
        let saved = |effect: Effect| baseline_ns - baseline_ns / effect.ratio();
        let ns = saved(comparison.estimate);
        let interval = comparison.interval95;
        let devices = if tick.is_nanosecond() { &DEVICES_NS[..] } else { &[] };
        Some(Self {
            baseline_ns,
            ns,
            interval_ns: [saved(interval.low), saved(interval.high)],
            on_devices: devices.iter().map(|device| OnDevice::of(*device, ns)).collect(),
            tick,
        })
    }
}

impl OnDevice {
    fn of(ns_per_frame: f64, saved_ns: f64) -> Self {
        let left = ns_per_frame - saved_ns;
        Self { ns_per_frame, ratio: (left > 0.0).then(|| Effect::from_ratio(ns_per_frame / left)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_stats::Direction;
    use fwdlab_stats::paired::{self, Block};

    fn saved(variant: f64) -> Option<Saved> {
        let blocks: Vec<Block> = (0..8)
            .map(|i| f64::from(i * 5 % 8) * 0.01)
            .map(|noise| Block::new(50.0 + noise, variant - noise))
            .collect();
        let own = paired::compare(&blocks, Direction::LowerIsBetter).unwrap();
        let costs: Vec<f64> = blocks.iter().map(|block| block.baseline).collect();
        Saved::of(&Verdict::judge(&own, 0.01, &[]), &own, (&costs, Tick::Nanosecond))
    }

    #[test]
    fn nanoseconds_are_those_of_the_ratio_at_the_baselines_cost() {
        let own = saved(40.0).unwrap();
        assert!((own.ns - 10.07).abs() < 0.02 && (own.baseline_ns - 50.035).abs() < 1e-9);
        let [low, high] = own.interval_ns;
        assert!(0.0 < low && low <= own.ns && own.ns <= high);
        // 100 / (100 - 10.07): 11.2 % faster
        let percent: Vec<f64> =
            own.on_devices.iter().map(|device| device.ratio.unwrap().percent()).collect();
        assert!((percent[0] - 11.2).abs() < 0.05, "{percent:?}");
        assert!(percent.is_sorted_by(|a, b| a > b), "{percent:?}");
    }

    #[test]
    fn a_slower_variant_takes_more_and_no_difference_has_no_nanoseconds() {
        let own = saved(60.0).unwrap();
        assert!(own.ns < -9.0 && own.interval_ns[1] < 0.0);
        assert!(own.on_devices[0].ratio.unwrap().percent() < 0.0);
        assert_eq!(saved(50.035), None);
    }

    #[test]
    fn a_device_cannot_save_more_than_it_takes() {
        assert_eq!(OnDevice::of(100.0, 120.0).ratio, None);
    }
}
