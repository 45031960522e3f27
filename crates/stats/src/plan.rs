//! How many blocks a wanted certainty needs, from the spread seen in a pilot.
//!
//! Normal theory with Guenther's correction for Student's t ("Sample size formulas for normal
//! theory t tests", Am. Stat. 35 (1981)): n = (z_a + z_b)^2 (sd / delta)^2 + z_a^2 / 2 for n blocks
//! with sd of the paired log differences, which is the usual 2 (z_a + z_b)^2 (CV / delta)^2 +
//! z_a^2 / 4 per variant when nothing is paired.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::distribution::normal_quantile;

/// What the campaign is to find out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "goal", rename_all = "kebab-case")]
pub enum Goal {
    /// Call a difference of this size (a fraction: 0.01 for 1 %) "faster" or "slower".
    Difference {
        /// Size of the difference.
        size: f64,
    },
    /// Prove variants equivalent within this margin (a fraction) when they are equal.
    Equivalence {
        /// The margin.
        margin: f64,
    },
}

/// The number of blocks for a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// Blocks with the pilot's spread taken at its value.
    pub blocks: u64,
    /// Blocks with the spread at the upper end of its 80 % range: the pilot may have been lucky.
    pub blocks_if_unlucky: u64,
}

/// Blocks that reach `goal` with probability `power` (0.80 is usual), given the standard deviation
/// of log differences within blocks from a pilot of `pilot_blocks` >= 2 blocks.
pub fn blocks(goal: Goal, sd_of_difference: f64, pilot_blocks: usize, power: f64) -> Forecast {
    let degrees = pilot_blocks.saturating_sub(1).max(1) as f64;
    // P(s < sigma sqrt(chi_20% / v)) = 20 %
    let lucky = ChiSquared::new(degrees).map_or(1.0, |chi| chi.inverse_cdf(0.20) / degrees);
    Forecast {
        blocks: needed(goal, sd_of_difference, power),
        blocks_if_unlucky: needed(goal, sd_of_difference / lucky.sqrt(), power),
    }
}

fn needed(goal: Goal, sd: f64, power: f64) -> u64 {
    let (z_alpha, z_beta, size) = match goal {
        Goal::Difference { size } => {
            (normal_quantile(0.975), normal_quantile(power), size.abs().ln_1p())
        }
        // both ends must hold, each with the half of what may fail
        Goal::Equivalence { margin } => (
            normal_quantile(0.95),
            normal_quantile(f64::midpoint(1.0, power)),
            margin.abs().ln_1p(),
        ),
    };
    if size <= 0.0 {
        return u64::MAX;
    }
    let n = ((z_alpha + z_beta) * sd / size).powi(2) + z_alpha * z_alpha / 2.0;
    // a paired comparison needs two blocks at least, the first look is after the third
    (n.ceil() as u64).max(3)
}

/// The largest |log gain|, as a fraction, that `blocks` blocks detect with probability `power`.
pub fn detectable(sd_of_difference: f64, blocks: usize, power: f64) -> f64 {
    let z_alpha = normal_quantile(0.975);
    let effective = (blocks as f64 - z_alpha * z_alpha / 2.0).max(0.1);
    ((z_alpha + normal_quantile(power)) * sd_of_difference / effective.sqrt()).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact power by the noncentral t (statsmodels' and G*Power's): a paired t test with 80 %
    /// power at sd / delta = 1 needs 10 pairs, at 2 it needs 34, at 0.5 it needs 5 (power 0.78 at
    /// 4.5).
    #[test]
    fn numbers_of_pairs_equal_the_exact_ones() {
        let pairs =
            |ratio: f64| needed(Goal::Difference { size: 0.01 }, ratio * 0.01_f64.ln_1p(), 0.80);
        assert_eq!(pairs(1.0), 10);
        assert_eq!(pairs(2.0), 34);
        assert!((4..=5).contains(&pairs(0.5)), "{}", pairs(0.5));
    }

    #[test]
    fn an_unlucky_pilot_asks_for_more() {
        let forecast = blocks(Goal::Equivalence { margin: 0.01 }, 0.01, 4, 0.80);
        assert!(forecast.blocks_if_unlucky > 2 * forecast.blocks, "{forecast:?}");
        let forecast = blocks(Goal::Equivalence { margin: 0.01 }, 0.01, 40, 0.80);
        assert!(forecast.blocks_if_unlucky < 3 * forecast.blocks / 2, "{forecast:?}");
    }

    #[test]
    fn what_is_detectable_is_what_was_planned_for() {
        let blocks = needed(Goal::Difference { size: 0.01 }, 0.02, 0.80);
        let size = detectable(0.02, blocks as usize, 0.80);
        assert!((size - 0.01).abs() < 2e-4, "{size}");
    }

    #[test]
    fn a_difference_of_nothing_is_never_found() {
        assert_eq!(needed(Goal::Difference { size: 0.0 }, 0.01, 0.80), u64::MAX);
    }
}
