//! One campaign in several processes: what the next run of the experiment will show.
//!
//! Processes are draws of memory layout, page colours and neighbours; the next run draws as many
//! anew. Its figure, a mean over m processes, differs from this one's by the errors of both, so that it
//! lies within t of m - 1 degrees of freedom times s sqrt(2 / m) of this one's, s the standard
//! deviation of the means of processes: a prediction interval, exact for normal means of one spread
//! (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, take the same levels).
//! What changes from campaign to campaign and not from process to process is not in it; several
//! campaigns tell ([`crate::campaigns`]).

use serde::{Deserialize, Serialize};

use crate::campaigns::{Campaign, Levels};
use crate::comparison::{Confidence, ConfidenceInterval};
use crate::dataset;
use crate::distribution::t_critical;

/// Fewest processes that tell how much processes differ.
pub const LEAST_PROCESSES: usize = 3;

/// What the next run of an experiment will show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NextRun {
    /// Where its figure lies.
    pub interval: ConfidenceInterval,
    /// Processes of this run.
    pub processes: usize,
    /// Standard deviation of log ratios between processes: with that of blocks, where each had one.
    pub between: f64,
    /// Standard deviation of log ratios of blocks within processes; `None` where each had one.
    pub within: Option<f64>,
}

impl NextRun {
    /// From the log ratios of the blocks of each process. `own` is the interval that is quoted for this
    /// run; nobody knows of the next what is not known of this one, so that the interval holds it. `None`
    /// with fewer than [`LEAST_PROCESSES`] processes, or with a ratio that is not a number.
    pub fn of(
        processes: &[Vec<f64>],
        own: ConfidenceInterval,
        confidence: Confidence,
    ) -> Option<Self> {
        let filled: Vec<&Vec<f64>> = processes.iter().filter(|own| !own.is_empty()).collect();
        let is_finite = filled.iter().all(|own| own.iter().all(|gain| gain.is_finite()));
        if filled.len() < LEAST_PROCESSES || !is_finite {
            return None;
        }
        let means: Vec<f64> = filled.iter().map(|own| dataset::mean(own)).collect();
        let m = means.len() as f64;
        let error = (2.0 * dataset::variance(&means) / m).sqrt();
        let reach = t_critical(confidence.share(), m - 1.0) * error;
        let levels = Levels::of(&[Campaign::of_processes(processes.to_vec())]);
        let has_within = filled.iter().any(|own| own.len() > 1);
        Some(Self {
            interval: ConfidenceInterval::around_ln(dataset::mean(&means), reach).hull(own),
            processes: means.len(),
            between: levels.process.unwrap_or(0.0).sqrt(),
            within: has_within.then(|| levels.block.sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splitmix64.
    struct Generator(u64);

    impl Generator {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    /// A standard normal number, from twelve uniform ones.
    fn normal(generator: &mut Generator) -> f64 {
        (0..12).map(|_| generator.next() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
    }

    /// Gains of blocks in processes, of an experiment whose true gain is 0.1.
    fn run(generator: &mut Generator, processes: usize, blocks: usize) -> Vec<Vec<f64>> {
        let one = |generator: &mut Generator| {
            let own = 0.1 + 0.03 * normal(generator);
            (0..blocks).map(|_| own + 0.01 * normal(generator)).collect()
        };
        (0..processes).map(|_| one(generator)).collect()
    }

    /// An interval of no width.
    fn point(gain: f64) -> ConfidenceInterval {
        ConfidenceInterval::around_ln(gain, 0.0)
    }

    fn figure(run: &[Vec<f64>]) -> f64 {
        dataset::mean(&run.iter().map(|own| dataset::mean(own)).collect::<Vec<_>>())
    }

    #[test]
    fn the_next_run_lies_within_in_95_of_100_and_the_interval_of_blocks_does_not_hold_it() {
        for (processes, blocks) in [(8, 1), (4, 2), (3, 4)] {
            let mut generator = Generator(16 + processes as u64);
            let mut held = 0;
            for _ in 0..4000 {
                let (this, next) = (
                    run(&mut generator, processes, blocks),
                    run(&mut generator, processes, blocks),
                );
                let found = NextRun::of(&this, point(figure(&this)), Confidence::USUAL).unwrap();
                let next = figure(&next);
                held += usize::from(
                    found.interval.low.ln() <= next && next <= found.interval.high.ln(),
                );
                assert_eq!(found.within.is_some(), blocks > 1);
            }
            let share = held as f64 / 4000.0;
            assert!((0.935..=0.965).contains(&share), "{processes} x {blocks}: {share}");
        }
    }

    #[test]
    fn the_levels_are_told_apart_by_several_blocks_in_each_process() {
        let mut generator = Generator(17);
        let many = run(&mut generator, 400, 4);
        let found = NextRun::of(&many, point(0.1), Confidence::USUAL).unwrap();
        assert!((found.between - 0.03).abs() < 0.004, "{found:?}");
        assert!((found.within.unwrap() - 0.01).abs() < 0.001, "{found:?}");
    }

    #[test]
    fn two_processes_tell_nothing() {
        let of = |list: &[Vec<f64>]| NextRun::of(list, point(0.0), Confidence::USUAL);
        assert_eq!(of(&[vec![0.1], vec![0.2], vec![]]), None);
        assert_eq!(of(&[vec![0.1], vec![f64::NAN], vec![0.1]]), None);
        assert!(of(&[vec![0.1], vec![0.1], vec![0.1]]).is_some());
    }

    proptest! {
        #[test]
        fn the_interval_of_this_run_lies_inside_and_more_spread_means_a_wider_one(
            gains in proptest::collection::vec(-0.5f64..0.5, 3..12), estimate in -0.5f64..0.5,
            half in 0.0f64..0.5,
        ) {
            let this = ConfidenceInterval::around_ln(estimate, half);
            let of = |scale: f64| {
                let each: Vec<Vec<f64>> = gains.iter().map(|gain| vec![gain * scale]).collect();
                NextRun::of(&each, this, Confidence::USUAL).unwrap()
            };
            let (one, two) = (of(1.0), of(2.0));
            for found in [&one, &two] {
                prop_assert!(found.interval.low <= this.low && this.high <= found.interval.high);
            }
            prop_assert!(two.between >= one.between);
        }
    }
}
