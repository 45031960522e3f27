//! What is said about a simulated campaign: by fwdlab's defaults and by the usual tests.

use fwdlab_stats::ministat::{Dataset, Options, render};
use fwdlab_stats::paired::Block;
use fwdlab_stats::sequential::{Decision, Rule};
use fwdlab_stats::{
    Comparison, Direction, Verdict, mann_whitney, model, paired, sequential, unpaired,
};

use super::noise::{Noise, Random};

/// The margin of all verdicts.
pub const MARGIN: f64 = 0.01;
/// Planned blocks, and values of each variant for the other tests.
pub const BLOCKS: usize = 8;
/// Variants beside the baseline in the campaign of several.
pub const FAMILY: usize = 3;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;

/// What was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Difference,
    Equivalent,
    Nothing,
}

/// fwdlab's own ways to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    Planned,
    UntilDecided,
    Family,
}

pub const DEFAULTS: [Default; 3] = [Default::Planned, Default::UntilDecided, Default::Family];

impl Default {
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "8 blocks",
            Self::UntilDecided => "until decided",
            Self::Family => "3 variants, 8 blocks",
        }
    }

    /// Simulates one campaign and judges it: what was said, and after how many blocks. In the
    /// family the first variant alone has the effect, and without one any difference counts.
    pub fn run(self, noise: Noise, effect: f64, random: &mut Random) -> (Said, usize) {
        match self {
            Self::Planned => {
                let rows = blocks(noise, effect, (BLOCKS, 1), random);
                let Ok(comparison) = paired::compare(&pairs(&rows), Direction::HigherIsBetter)
                else {
                    return (Said::Nothing, BLOCKS);
                };
                (said(&comparison), BLOCKS)
            }
            Self::UntilDecided => until_decided(noise, effect, random),
            Self::Family => (family(noise, effect, random), BLOCKS),
        }
    }
}

fn until_decided(noise: Noise, effect: f64, random: &mut Random) -> (Said, usize) {
    let rule = Rule { margin: MARGIN, ..Rule::default() };
    let rows = blocks(noise, effect, (rule.most_blocks, 1), random);
    let Ok(state) = sequential::first_decision_at(&pairs(&rows), Direction::HigherIsBetter, &rule)
    else {
        return (Said::Nothing, rule.most_blocks);
    };
    // the verdict is that of the comparison over the blocks run, as a report shows it
    let compared =
        sequential::compare(&pairs(&rows)[..state.blocks], Direction::HigherIsBetter, &rule);
    let said = compared.map_or(Said::Nothing, |comparison| said(&comparison));
    debug_assert!(state.decision != Decision::Continue);
    (said, state.blocks)
}

fn family(noise: Noise, effect: f64, random: &mut Random) -> Said {
    let rows = blocks(noise, effect, (BLOCKS, FAMILY), random);
    let compared = model::compare(&rows, Direction::HigherIsBetter).unwrap_or_default();
    if effect != 0.0 {
        return compared.first().map_or(Said::Nothing, said);
    }
    let is_any = compared.iter().any(|comparison| said(comparison) == Said::Difference);
    if is_any { Said::Difference } else { Said::Nothing }
}

pub fn said(comparison: &Comparison) -> Said {
    match Verdict::judge(comparison, MARGIN, &[]) {
        Verdict::Faster { .. } | Verdict::Slower { .. } => Said::Difference,
        Verdict::Equivalent => Said::Equivalent,
        _ => Said::Nothing,
    }
}

/// Randomised complete blocks of the baseline and `variants` variants, the first of which has the
/// effect: one row a block.
pub fn blocks(
    kind: Noise,
    effect: f64,
    (blocks, variants): (usize, usize),
    random: &mut Random,
) -> Vec<Vec<f64>> {
    let columns = variants + 1;
    let stream = kind.stream(random, blocks * columns);
    let gain = |column: usize| if column == 1 { effect } else { 0.0 };
    let figure = |(column, noise): (usize, f64)| kind.figure(column, gain(column), noise);
    let rows = by_column(&stream, columns, random).into_iter();
    rows.map(|row| row.into_iter().enumerate().map(figure).collect()).collect()
}

/// The noise of trials in running order, given to the columns in the order that a campaign draws: one
/// row a block, each shuffled for itself. Fewer blocks than signs and ranks need are drawn again while a variant
/// ran before the baseline in all of them or in none; of those that somebody looks at one by one, the first four.
pub fn by_column(stream: &[f64], columns: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let blocks = stream.len() / columns;
    let guarded = match blocks {
        _ if blocks < BY_SIGNS || blocks == Rule::default().most_blocks => 4,
        _ if blocks < BY_SIGNS_SURELY => blocks,
        _ => 0,
    };
    let mut orders: Vec<Vec<usize>> = (0..blocks).map(|_| random.shuffled(columns)).collect();
    while (1..=blocks).contains(&guarded) && is_one_sided(&orders[..guarded]) {
        for order in &mut orders[..guarded] {
            *order = random.shuffled(columns);
        }
    }
    let row = |(noise, order): (&[f64], &Vec<usize>)| {
        let mut row = vec![0.0; columns];
        for (noise, column) in noise.iter().zip(order) {
            row[*column] = *noise;
        }
        row
    };
    stream.chunks(columns).zip(&orders).map(row).collect()
}

/// Fewest blocks that signs and ranks judge at 95 and at 99.9 %.
const BY_SIGNS: usize = 6;
const BY_SIGNS_SURELY: usize = 11;

/// Whether some variant runs before the baseline in all of some blocks, or in none.
fn is_one_sided(orders: &[Vec<usize>]) -> bool {
    let place = |order: &[usize], column| order.iter().position(|own| *own == column);
    (1..orders[0].len()).any(|variant| {
        let is_before = |order: &&Vec<usize>| place(order, variant) < place(order, 0);
        let before = orders.iter().filter(is_before).count();
        before == 0 || before == orders.len()
    })
}

pub fn pairs(rows: &[Vec<f64>]) -> Vec<Block> {
    rows.iter().map(|row| Block::new(row[0], row[1])).collect()
}

/// The usual tests, which know no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    PooledT,
    Welch,
    MannWhitney,
    Bootstrap,
}

pub const PEERS: [Peer; 4] = [Peer::PooledT, Peer::Welch, Peer::MannWhitney, Peer::Bootstrap];

/// The order in which the runs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// All runs of the baseline, then all of the variant: published practice.
    OneAfterTheOther,
    /// Randomised blocks, analysed as if there were none.
    Randomised,
}

pub const ORDERS: [Order; 2] = [Order::OneAfterTheOther, Order::Randomised];

impl Order {
    pub fn name(self) -> &'static str {
        match self {
            Self::OneAfterTheOther => "all A, then all B",
            Self::Randomised => "randomised",
        }
    }

    /// Eight runs of each.
    pub fn runs(self, noise: Noise, effect: f64, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::OneAfterTheOther => {
                let stream = noise.stream(random, 2 * BLOCKS);
                let (a, b) = stream.split_at(BLOCKS);
                let figures = |z: &[f64], column: usize, gain: f64| {
                    z.iter().map(|z| noise.figure(column, gain, *z)).collect()
                };
                (figures(a, 0, 0.0), figures(b, 1, effect))
            }
            Self::Randomised => blocks(noise, effect, (BLOCKS, 1), random)
                .into_iter()
                .map(|row| (row[0], row[1]))
                .unzip(),
        }
    }
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Self::PooledT => "pooled t (ministat)",
            Self::Welch => "Welch",
            Self::MannWhitney => "Mann-Whitney",
            Self::Bootstrap => "bootstrap",
        }
    }

    /// Whether the test calls a difference at 5 %.
    pub fn differs(self, a: &[f64], b: &[f64], random: &mut Random) -> bool {
        match self {
            Self::PooledT => ministat_differs(a, b),
            Self::Welch => unpaired::compare(a, b, Direction::HigherIsBetter)
                .is_ok_and(|result| result.welch_p < 0.05),
            Self::MannWhitney => mann_whitney::test(a, b).p < 0.05,
            Self::Bootstrap => bootstrap_differs(a, b, random),
        }
    }
}

fn ministat_differs(a: &[f64], b: &[f64]) -> bool {
    let sets: Result<Vec<Dataset>, _> = [("a", a), ("b", b)]
        .map(|(name, values)| Dataset::new(name, values.to_vec()))
        .into_iter()
        .collect();
    let options = Options { has_plot: false, ..Options::default() };
    let needle = b"Difference at";
    sets.is_ok_and(|sets| {
        render(&sets, &options).windows(needle.len()).any(|window| window == needle)
    })
}

/// Percentile bootstrap of the ratio of means (Efron 1979).
fn bootstrap_differs(a: &[f64], b: &[f64], random: &mut Random) -> bool {
    let mut resampled = |values: &[f64]| -> f64 {
        (0..values.len()).map(|_| values[random.below(values.len())]).sum()
    };
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| resampled(b) / resampled(a)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let tail = RESAMPLES / 40;
    ratios[tail] > 1.0 || ratios[RESAMPLES - 1 - tail] < 1.0
}
