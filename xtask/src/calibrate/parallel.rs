//! Many campaigns on all cores, the same whatever their order.

use std::thread;

use super::noise::{Noise, Random};

/// The seed of everything.
pub const SEED: u64 = 0x5eed_0f1a_b000_0004;

/// How many campaigns are simulated.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Per noise model without an effect.
    pub without_effect: u64,
    /// Per noise model and effect.
    pub with_effect: u64,
    /// Per row of the table of trust, without an effect and with one at the margin.
    pub trust: u64,
    /// So many times that for a row of which a figure exceeds its promise, which then counts alone; 0
    /// leaves it as it is.
    pub again: u64,
    /// Whether what nothing is held to is simulated too: the usual tests, what lost blocks would do if they were
    /// left out.
    pub is_whole: bool,
}

/// The seed of a campaign depends on noise and effect, not on the method: all see the same noise.
pub fn random_of(noise: Noise, effect: f64, campaign: u64) -> Random {
    Random::of(SEED ^ ((noise as u64) << 56) ^ effect.to_bits().rotate_left(17), campaign)
}

/// Sums `one` over all campaigns. The sums are of whole numbers, hence the same in any order.
pub fn in_parallel<const N: usize>(count: u64, one: impl Fn(u64) -> [f64; N] + Sync) -> [f64; N] {
    let threads = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    thread::scope(|scope| {
        let one = &one;
        let jobs: Vec<_> = (0..threads)
            .map(|first| {
                scope.spawn(move || {
                    (first..count).step_by(threads as usize).map(one).fold([0.0; N], add)
                })
            })
            .collect();
        jobs.into_iter()
            .map(|job| job.join().expect("invariant: simulation does not panic"))
            .fold([0.0; N], add)
    })
}

fn add<const N: usize>(mut a: [f64; N], b: [f64; N]) -> [f64; N] {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}
