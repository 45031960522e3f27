//! What rare runs cost one side beside the other, on average over all its runs.
//!
//! The cost of a side is a sum of few large losses over many runs: the total of a compound Poisson
//! process. Its interval is the gamma interval of Fay and Feuer ("Confidence intervals for directly
//! standardized rates", Statistics in Medicine 16 (1997)): exact for losses of one size, where it is that of
//! Garwood (Biometrika 28 (1936)) for a count, and its upper end allows for one more loss as large as
//! the largest seen, so that it holds with one loss and with none. The interval of the difference of
//! two such costs is put together of theirs: Zou and Donner's MOVER ("Construction of confidence
//! limits about effect measures", Statistics in Medicine 27 (2008)).
//!
//! In blocks the two are the blocks in which the variant loses more than the baseline, and those in
//! which it loses less: a state that both sides share within a block costs neither. The numbers of
//! both are independent there as they are Poisson's.
//!
//! Losses that follow each other are one event, as large as all of them: a slow state that lasts for
//! five runs comes a fifth as often as its runs, and five runs of it say no more than one. Where losses
//! differ in size, the one that was not seen may be larger than the largest seen, by as much as that
//! exceeds their mean.
//!
//! Note: we tried each loss as an event of its own (a state of 5 % that held whole processes: silent in
//! 16 to 26 % of campaigns of 100 blocks, and 65 % of the intervals held the truth), and the largest
//! loss seen as the largest there is (losses of Pareto's tail 1.5: silent in 8 to 14 %).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Gamma};

use crate::distribution::normal_quantile;
use crate::effect::{Effect, signed_change};

/// Losses below this, on the log scale, are the arithmetic's own.
const NO_LOSS: f64 = 1e-9;
/// Most blocks that are counted.
const MOST_BLOCKS: u64 = 1 << 32;

/// What rare runs of both sides cost the variant beside the baseline, averaged over all runs: speed
/// with them : speed without them, for the variant beside the baseline. Below 1 they cost it speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RareCost {
    /// As seen.
    pub estimate: Effect,
    /// Lower end: the most that the variant loses by them.
    pub low: Effect,
    /// Upper end.
    pub high: Effect,
}

/// What blocks are to show of rare runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// They cost less than this (a fraction).
    pub margin: f64,
    /// Chance with which each end of that is missed.
    pub alpha: f64,
    /// Probability of showing it.
    pub power: f64,
}

/// Losses of one side: how many events, their sum, sum of squares and the largest, on the log scale, the
/// largest of a single run, and the number of runs among which they fell.
#[derive(Clone, Copy)]
struct Losses {
    events: f64,
    sum: f64,
    squares: f64,
    worst: f64,
    worst_run: f64,
    runs: f64,
}

/// A mean with its ends.
#[derive(Clone, Copy)]
struct Mean {
    own: f64,
    low: f64,
    high: f64,
}

impl RareCost {
    /// Of the losses of both sides, block by block; 0 where the run is typical.
    pub(super) fn of_blocks(baseline: &[f64], variant: &[f64], alpha: f64) -> Option<Self> {
        let seen = baseline.iter().chain(variant).any(|own| *own > NO_LOSS);
        seen.then(|| {
            Self::of([Losses::more(baseline, variant), Losses::more(variant, baseline)], alpha)
        })
    }

    /// The fewest blocks that show what is wanted of losses like these, of which neither side truly has
    /// more; 0 when there are none.
    pub(super) fn blocks_needed([baseline, variant]: [&[f64]; 2], wanted: Wanted) -> u64 {
        let Wanted { margin, alpha, power } = wanted;
        let margin = margin.ln_1p();
        let [b, v] = [Losses::more(baseline, variant), Losses::more(variant, baseline)];
        let runs = b.runs;
        if b.sum + v.sum <= 0.0 || runs < 1.0 {
            return 0;
        }
        // either side as both on average; both ends must hold, and both of the typical run's interval, each
        // with a quarter of what may fail
        let z = normal_quantile(1.0 - (1.0 - power) / 4.0);
        let is_enough = |blocks: u64| {
            let n = blocks as f64;
            let side = Losses {
                sum: f64::midpoint(b.sum, v.sum) * n / runs,
                squares: f64::midpoint(b.squares, v.squares) * n / runs,
                events: f64::midpoint(b.events, v.events) * n / runs,
                worst: b.worst.max(v.worst),
                worst_run: b.worst_run.max(v.worst_run),
                runs: n,
            };
            // so many more of them on one side as a campaign may have by chance
            let more = z * (2.0 * side.squares).sqrt();
            let unlucky =
                Losses { sum: side.sum + more, squares: side.squares + more * side.worst, ..side };
            -Self::of([side, unlucky], alpha).low.ln() < margin
        };
        let most = MOST_BLOCKS;
        let (mut few, mut enough) = (0, 1);
        while enough < most && !is_enough(enough) {
            (few, enough) = (enough, 2 * enough);
        }
        while enough - few > 1 {
            let middle = u64::midpoint(few, enough);
            if is_enough(middle) { enough = middle } else { few = middle }
        }
        enough
    }

    /// Of the losses of both sides, run by run.
    pub(super) fn of_runs(baseline: &[f64], variant: &[f64], alpha: f64) -> Option<Self> {
        let [b, v] = [baseline, variant].map(Losses::in_order);
        let seen = b.sum + v.sum > 0.0;
        seen.then(|| Self::of([b, v], alpha))
    }

    /// Of the losses of both sides, run by run, in campaigns of so many runs: each an event.
    pub(super) fn of_campaigns(
        losses: [&[f64]; 2],
        counts: [&[usize]; 2],
        alpha: f64,
    ) -> Option<Self> {
        let [b, v] = [0, 1].map(|side| {
            let mut rest = losses[side];
            let sums = counts[side].iter().map(|count| {
                let (own, others) = rest.split_at((*count).min(rest.len()));
                rest = others;
                own.iter().sum()
            });
            Losses::of(sums, losses[side].len())
        });
        let seen = b.sum + v.sum > 0.0;
        seen.then(|| Self::of([b, v], alpha))
    }

    fn of(sides: [Losses; 2], alpha: f64) -> Self {
        let [b, v] = sides;
        let worst = b.worst.max(v.worst);
        let mean = (b.sum + v.sum) / (b.events + v.events).max(1.0);
        // as large as this may be the one that was not seen
        let next = worst + (worst - mean).max(0.0);
        let worst_run = b.worst_run.max(v.worst_run);
        let [b, v] = sides.map(|own| own.mean((next, worst_run), alpha));
        let cost = v.own - b.own;
        let least = cost - (v.own - v.low).hypot(b.high - b.own);
        let most = cost + (v.high - v.own).hypot(b.own - b.low);
        let [estimate, low, high] = [cost, most, least].map(|own| Effect::from_ln(-own));
        Self { estimate, low, high }
    }

    /// The cost of losses whose sign was turned: what is gained by faster runs.
    pub(super) fn turned(self) -> Self {
        let turn = |own: Effect| Effect::from_ln(-own.ln());
        Self { estimate: turn(self.estimate), low: turn(self.high), high: turn(self.low) }
    }

    /// The sum of both, whose ends are put together of theirs as those of a difference are.
    pub(super) fn with(&self, other: &Self) -> Self {
        let ln = |of: fn(&Self) -> Effect| [self, other].map(|own| of(own).ln());
        let [own, low, high] = [ln(|c| c.estimate), ln(|c| c.low), ln(|c| c.high)];
        let reach = |end: [f64; 2]| (end[0] - own[0]).hypot(end[1] - own[1]);
        let sum = own[0] + own[1];
        let [estimate, low, high] = [sum, sum - reach(low), sum + reach(high)].map(Effect::from_ln);
        Self { estimate, low, high }
    }

    /// Whether the whole interval lies strictly within +-`margin` (a fraction: 0.01 for 1 %).
    pub fn is_within(&self, margin: f64) -> bool {
        self.low.ratio() > 1.0 - margin && self.high.ratio() < 1.0 + margin
    }
}

impl Losses {
    fn of(events: impl Iterator<Item = f64>, runs: usize) -> Self {
        let none = Self {
            events: 0.0,
            sum: 0.0,
            squares: 0.0,
            worst: 0.0,
            worst_run: 0.0,
            runs: runs as f64,
        };
        events.filter(|own| *own > NO_LOSS).fold(none, |all, own| Self {
            events: all.events + 1.0,
            sum: all.sum + own,
            squares: all.squares + own * own,
            worst: all.worst.max(own),
            worst_run: all.worst_run.max(own),
            ..all
        })
    }

    /// Of runs in the order in which they ran: those that follow each other are one event.
    fn in_order(runs: &[f64]) -> Self {
        let worst_run = runs.iter().copied().fold(0.0, f64::max);
        let events = runs.chunk_by(|a, b| (*a > NO_LOSS) == (*b > NO_LOSS));
        Self { worst_run, ..Self::of(events.map(|runs| runs.iter().sum()), runs.len()) }
    }

    /// What `a` loses more than `b`, block by block.
    fn more(a: &[f64], b: &[f64]) -> Self {
        let more: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).max(0.0)).collect();
        Self::in_order(&more)
    }

    /// The loss of a run on average, each end of which is missed with a chance of `alpha`; no event is
    /// worse than `next`, and no run than `worst_run`.
    fn mean(&self, (next, worst_run): (f64, f64), alpha: f64) -> Mean {
        if next <= 0.0 || self.runs <= 0.0 {
            return Mean { own: 0.0, low: 0.0, high: 0.0 };
        }
        // in units of the worst, so that nothing overflows
        let (sum, squares) = (self.sum / next, self.squares / (next * next));
        let low = if sum > 0.0 { gamma_quantile(sum, squares, alpha) } else { 0.0 };
        // not every run can lose more than the worst did
        let most = (self.runs * worst_run / next).max(sum);
        let high = gamma_quantile(sum + 1.0, squares + 1.0, 1.0 - alpha).min(most);
        let [own, low, high] = [sum, low, high].map(|own| own * next / self.runs);
        Mean { own, low: low.min(own), high: high.max(own) }
    }
}

/// What rare runs cost, in words: `-4.47 % [-14.0 %, +8.53 %]`.
pub(crate) fn rare_cost(cost: &RareCost) -> String {
    signed_change(cost.estimate, [cost.low, cost.high]).join(" ")
}

/// The quantile of the gamma distribution with this mean and variance.
fn gamma_quantile(mean: f64, variance: f64, probability: f64) -> f64 {
    Gamma::new(mean * mean / variance, mean / variance)
        .map_or(mean, |gamma| gamma.inverse_cdf(probability))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Garwood's limits of a count (Biometrika 28 (1936), table): one-sided 5 % of 0, 1, 3 and 10.
    #[test]
    fn losses_of_one_size_have_the_limits_of_a_count() {
        for (count, low, high) in
            [(0, 0.0, 2.9957), (1, 0.0513, 4.7439), (3, 0.8177, 7.7537), (10, 5.4254, 16.9622)]
        {
            let of = Losses::of(vec![0.4; count].into_iter(), 100);
            let mean = of.mean((0.4, 0.4), 0.05);
            assert!((mean.low / 0.004 - low).abs() < 1e-3, "{count}: {}", mean.low);
            assert!((mean.high / 0.004 - high).abs() < 1e-3, "{count}: {}", mean.high);
        }
    }

    /// One loss of 0.4 among 100 runs may be 4.74 of them, and one of 10 runs cannot be more than 10.
    #[test]
    fn one_loss_alone_is_known_to_within_its_count() {
        let of = |runs: usize| {
            let mut losses = vec![0.0; runs];
            losses[3] = 0.4;
            RareCost::of_blocks(&vec![0.0; runs], &losses, 0.05).unwrap()
        };
        assert!((of(100).low.ln() + 4.7439 * 0.004).abs() < 1e-5, "{:?}", of(100));
        assert!((of(100).estimate.ln() + 0.004).abs() < 1e-12);
        // as it may be that the baseline just had none of as many: 2.9957 of them
        let least = 1.0 - (1.0f64 - 0.0513).hypot(2.9957);
        assert!((of(100).high.ln() + least * 0.004).abs() < 1e-5, "{:?}", of(100));
        assert!(of(4).low.ln() >= -0.4 - 1e-9, "{:?}", of(4));
        assert!(!of(100).is_within(0.01) && of(1000).is_within(0.01));
    }

    /// Ten slow runs after each other were ten proofs that they cost no more.
    #[test]
    fn losses_that_follow_each_other_are_one_event() {
        let of = |is_slow: fn(usize) -> bool| {
            let losses: Vec<f64> = (0..100).map(|i| if is_slow(i) { 0.03 } else { 0.0 }).collect();
            RareCost::of_blocks(&[0.0; 100], &losses, 0.05).unwrap()
        };
        let (apart, together) = (of(|i| i % 10 == 0), of(|i| i < 10));
        assert!((apart.estimate.ln() - together.estimate.ln()).abs() < 1e-12);
        assert!(apart.is_within(0.01) && !together.is_within(0.01), "{apart:?} {together:?}");
        assert!((together.low.ln() + 4.7439 * 0.003).abs() < 1e-5, "one of 30 %: {together:?}");
    }

    /// Of losses of 2, 3 and 10 % the next may be 15 %.
    #[test]
    fn the_loss_that_was_not_seen_may_be_larger_than_all() {
        let of = |sizes: [f64; 3]| {
            let mut losses = vec![0.0; 100];
            sizes.iter().zip([10, 40, 70]).for_each(|(own, at)| losses[at] = *own);
            RareCost::of_blocks(&[0.0; 100], &losses, 0.05).unwrap().low.ln()
        };
        let (alike, unlike) = (of([0.05, 0.05, 0.05]), of([0.02, 0.03, 0.10]));
        assert!((alike + 7.7537 * 0.0005).abs() < 1e-5, "Garwood's of three: {alike}");
        assert!(unlike < 1.5 * alike, "{unlike} {alike}");
    }

    #[test]
    fn a_state_that_both_share_within_the_block_costs_neither() {
        let slow: Vec<f64> = (0..40).map(|i| if i % 5 == 0 { 0.46 } else { 0.0 }).collect();
        let shifted: Vec<f64> = (1..41).map(|i| if i % 5 == 0 { 0.46 } else { 0.0 }).collect();
        assert!(RareCost::of_blocks(&slow, &slow, 0.05).unwrap().is_within(1e-6));
        assert!(!RareCost::of_blocks(&slow, &shifted, 0.05).unwrap().is_within(0.01));
        assert!(!RareCost::of_runs(&slow, &slow, 0.05).unwrap().is_within(0.01));
        assert_eq!(RareCost::of_runs(&[0.0; 9], &[0.0; 9], 0.05), None);
    }

    /// Eight slow runs in one campaign are one event, in eight campaigns eight.
    #[test]
    fn slow_runs_of_one_campaign_are_one_event() {
        let counts = vec![8; 8];
        let at = |is_slow: fn(usize) -> bool| {
            let losses: Vec<f64> = (0..64).map(|i| if is_slow(i) { 0.1 } else { 0.0 }).collect();
            let own = RareCost::of_campaigns([&[0.0; 64], &losses], [&counts, &counts], 0.05);
            own.unwrap()
        };
        let (one, each) = (at(|i| i < 8), at(|i| i % 8 == 0));
        assert!((one.estimate.ln() - each.estimate.ln()).abs() < 1e-12);
        assert!(one.low.ln() < 2.0 * each.low.ln(), "{one:?} {each:?}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_its_estimate_and_turns_round(
            losses in prop::collection::vec((0.0..30.0f64, 0.0..30.0f64), 1..30),
            tiny in 0.0..1e-12f64,
            alpha in 0.001..0.1f64,
        ) {
            let losses = losses.iter().map(|(b, v)| [b, v].map(|own| if *own < 20.0 { tiny } else { own - 20.0 }));
            let (b, v): (Vec<f64>, Vec<f64>) = losses.map(|[b, v]| (b, v)).unzip();
            for of in [RareCost::of_blocks, RareCost::of_runs] {
                let (Some(own), Some(other)) = (of(&b, &v, alpha), of(&v, &b, alpha)) else { continue };
                prop_assert!(own.low <= own.estimate && own.estimate <= own.high, "{own:?}");
                prop_assert!((own.low.ln() + other.high.ln()).abs() < 1e-9, "{own:?} {other:?}");
                prop_assert!((own.estimate.ln() + other.estimate.ln()).abs() < 1e-9);
            }
        }
    }
}
