//! One million values against one million without blocks: seconds, and the memory at its peak.

use std::time::Instant;

use fwdlab_stats::{Direction, unpaired};

const VALUES: usize = 1_000_000;

fn main() {
    let (baseline, variant) = (values(1, 4.80), values(2, 4.79));
    let begin = Instant::now();
    let result = unpaired::compare(&baseline, &variant, Direction::LowerIsBetter);
    let seconds = begin.elapsed().as_secs_f64();
    let comparison =
        result.expect("invariant: a million positive values on either side").comparison;
    println!(
        "{VALUES} + {VALUES} values: {seconds:.2} s, faster by {:.3} % [{:.3}, {:.3}]",
        comparison.estimate.percent(),
        comparison.interval95.low.percent(),
        comparison.interval95.high.percent()
    );
    // Linux only; elsewhere the time alone
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("peak memory:{}", peak.trim_start_matches("VmHWM:"));
    }
}

/// Uniform around a level, 2 % wide (Knuth's multiplier).
fn values(seed: u64, level: f64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..VALUES).map(|_| level * (0.99 + 0.02 * next())).collect()
}
