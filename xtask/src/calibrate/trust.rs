//! Every way to a verdict under every noise at many numbers of runs: how often it is wrong.

use std::fmt::Write;
use std::ops::Range;

use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{Comparison, Confidence, Direction, Effect, model, paired, shared, unpaired};

use super::Claim;
use super::methods::{FAMILY, MARGIN, Said, blocks, pairs, said};
use super::noise::{ALL, Noise, Random};
use super::parallel::{Size, in_parallel, random_of};

const DIRECTION: Direction = Direction::HigherIsBetter;

/// A way to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// So many randomised blocks.
    Blocks(usize),
    /// The same at 99.9 %.
    SureBlocks(usize),
    /// Blocks until decided.
    UntilDecided,
    /// Three variants in so many blocks.
    Several(usize),
    /// So many blocks with so many traffics, which share the level.
    Traffics(usize, usize),
    /// So many runs of either side in random order without blocks, as `fwdlab compare` judges
    /// imported figures.
    Groups(usize, usize),
    /// The same at 99.9 %.
    SureGroups(usize, usize),
}

pub const WAYS: [Approach; 21] = [
    Approach::Blocks(3),
    Approach::Blocks(4),
    Approach::Blocks(5),
    Approach::Blocks(6),
    Approach::Blocks(8),
    Approach::Blocks(12),
    Approach::Blocks(20),
    Approach::Blocks(40),
    Approach::SureBlocks(8),
    Approach::SureBlocks(20),
    Approach::UntilDecided,
    Approach::Several(8),
    Approach::Several(20),
    Approach::Traffics(6, 2),
    Approach::Traffics(8, 4),
    Approach::Groups(3, 3),
    Approach::Groups(5, 5),
    Approach::Groups(10, 10),
    Approach::Groups(40, 40),
    Approach::Groups(5, 20),
    Approach::SureGroups(10, 10),
];

/// What a simulated campaign came to.
struct Judged {
    is_winner: bool,
    is_equivalent: bool,
    /// Whether the intervals that decide "faster" and "slower" hold the truth.
    is_covered: bool,
}

impl Judged {
    /// Of the comparisons of a campaign, the first of which has the effect.
    fn of(comparisons: &[Comparison], effect: f64) -> Self {
        let is = |word: Said| comparisons.iter().any(|own| said(own) == word);
        let truth = |i: usize| Effect::from_ratio(if i == 0 { 1.0 + effect } else { 1.0 });
        let is_covered =
            comparisons.iter().enumerate().all(|(i, own)| own.interval95.covers(truth(i)));
        let is_equivalent = comparisons.first().is_some_and(|own| said(own) == Said::Equivalent);
        Self { is_winner: is(Said::Difference), is_equivalent, is_covered }
    }
}

impl Approach {
    fn name(self) -> String {
        match self {
            Self::Blocks(n) => format!("{n} blocks"),
            Self::SureBlocks(n) => format!("{n} blocks, 99.9 %"),
            Self::UntilDecided => "until decided".to_owned(),
            Self::Several(n) => format!("{FAMILY} variants, {n} blocks"),
            Self::Traffics(n, traffics) => format!("{traffics} traffics, {n} blocks"),
            Self::Groups(n, m) => format!("`compare`, {n} + {m} runs"),
            Self::SureGroups(n, m) => format!("`compare`, {n} + {m} runs, 99.9 %"),
        }
    }

    fn confidence(self) -> Confidence {
        match self {
            Self::SureBlocks(_) | Self::SureGroups(..) => {
                Confidence::new(0.999).unwrap_or_default()
            }
            _ => Confidence::USUAL,
        }
    }

    fn judge(self, noise: Noise, effect: f64, random: &mut Random) -> Judged {
        let confidence = self.confidence();
        let comparisons = match self {
            Self::Blocks(n) | Self::SureBlocks(n) => {
                let rows = blocks(noise, effect, (n, 1), random);
                paired::compare_at(&pairs(&rows), DIRECTION, confidence).into_iter().collect()
            }
            Self::UntilDecided => until_decided(noise, effect, random).into_iter().collect(),
            Self::Several(n) => {
                let rows = blocks(noise, effect, (n, FAMILY), random);
                model::compare_at(&rows, DIRECTION, confidence).unwrap_or_default()
            }
            Self::Traffics(n, traffics) => several_traffics((n, traffics), noise, effect, random),
            Self::Groups(n, m) | Self::SureGroups(n, m) => {
                let (a, b) = groups(noise, effect, (n, m), random);
                let compared = unpaired::compare_at(&a, &b, DIRECTION, confidence);
                compared.map(|own| own.comparison).into_iter().collect()
            }
        };
        Judged::of(&comparisons, effect)
    }
}

/// A comparison for each traffic, the first of which has the effect.
fn several_traffics(
    (n, traffics): (usize, usize),
    noise: Noise,
    effect: f64,
    random: &mut Random,
) -> Vec<Comparison> {
    let of = |traffic: usize| {
        let rows = blocks(noise, if traffic == 0 { effect } else { 0.0 }, (n, 1), random);
        let pairs = pairs(&rows);
        let at = |level| paired::compare_at(&pairs, DIRECTION, level).map(|own| vec![own]);
        shared::compare(traffics, Confidence::USUAL, at).unwrap_or_default()
    };
    (0..traffics).flat_map(of).collect()
}

fn until_decided(noise: Noise, effect: f64, random: &mut Random) -> Option<Comparison> {
    let rule = Rule { margin: MARGIN, ..Rule::default() };
    let rows = blocks(noise, effect, (rule.most_blocks, 1), random);
    let pairs = pairs(&rows);
    let stopped = sequential::first_decision_at(&pairs, DIRECTION, &rule).ok()?.blocks;
    sequential::compare(&pairs[..stopped], DIRECTION, &rule).ok()
}

/// Runs of either side in one random order.
fn groups(
    noise: Noise,
    effect: f64,
    (n, m): (usize, usize),
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    let stream = noise.stream(random, n + m);
    let order = random.shuffled(n + m);
    let (a, b) = order.split_at(n);
    let figures = |of: &[usize], column: usize, gain: f64| {
        of.iter().map(|at| noise.figure(column, gain, stream[*at])).collect()
    };
    (figures(a, 0, 0.0), figures(b, 1, effect))
}

/// One way under one noise.
pub struct Row {
    way: Approach,
    noise: Noise,
    campaigns: u64,
    /// "Faster" or "slower" where nothing differs.
    false_winners: f64,
    /// Intervals that miss the truth, where nothing differs and at the margin.
    missed: [f64; 2],
    /// "Equivalent" where the truth lies at the margin.
    false_equivalents: f64,
    /// Whether it is the second look at a row of which a figure exceeded its promise.
    is_again: bool,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let place = format!("{}, {} noise", self.way.name(), self.noise.name());
        let alpha = self.way.confidence().alpha();
        let claim = |what: &str, rate: f64, most: f64| {
            let campaigns = self.campaigns;
            (format!("{what}, {place}"), Claim { rate, most, campaigns })
        };
        vec![
            claim("false winners", self.false_winners, alpha),
            claim("truths missed without a difference", self.missed[0], 1.2 * alpha),
            claim("truths missed at the margin", self.missed[1], 1.2 * alpha),
            claim("false \"equivalent\"", self.false_equivalents, alpha),
        ]
    }
}

/// All ways under all noises.
pub fn simulate(size: Size) -> Vec<Row> {
    WAYS.into_iter().flat_map(|way| ALL.map(|noise| settled_row(way, noise, size))).collect()
}

/// A row, looked at closer where one of its figures exceeds its promise: by chance, or not.
fn settled_row(way: Approach, noise: Noise, size: Size) -> Row {
    let first = row(way, noise, 0..size.trust);
    let is_beyond = first.claims().iter().any(|(_, claim)| claim.rate > claim.most);
    if !is_beyond || size.again == 0 {
        return first;
    }
    // Other campaigns than those that made it stand out.
    let again = row(way, noise, size.trust..size.trust * (size.again + 1));
    Row { is_again: true, ..again }
}

fn row(way: Approach, noise: Noise, range: Range<u64>) -> Row {
    let campaigns = range.end - range.start;
    let sums = |effect: f64| {
        in_parallel(campaigns, |campaign| {
            let random = &mut random_of(noise, effect, range.start + campaign);
            let judged = way.judge(noise, effect, random);
            [judged.is_winner, judged.is_equivalent, !judged.is_covered].map(f64::from)
        })
        .map(|sum| sum / campaigns as f64)
    };
    let ([false_winners, _, equal], [_, false_equivalents, at_margin]) = (sums(0.0), sums(MARGIN));
    let missed = [equal, at_margin];
    Row { way, noise, campaigns, false_winners, missed, false_equivalents, is_again: false }
}

/// The table.
pub fn write(rows: &[Row], size: Size, text: &mut String) {
    let error = |campaigns: u64| 100.0 * (0.05 * 0.95 / campaigns as f64).sqrt();
    let (first, more) = (size.trust, size.trust * size.again);
    let (error, finer) = (error(first), error(more));
    let _ = write!(
        text,
        "\n## Trust: every way to a verdict under every noise\n\n\
         Promised are at most 5 % false winners and false \"equivalent\" (0.1 % where 99.9 % stands), and\n\
         intervals that hold the truth in 94 % of campaigns at least (99.88 %); {first} campaigns a figure, so\n\
         that 5 % are known to +-{error:.2} points (one standard error). Among so many figures some exceed\n\
         their promise by chance: each row with one that did was simulated again, {more} other campaigns,\n\
         and these alone count; it is marked with * and its 5 % are known to +-{finer:.2} points.\n\
         Columns:\n\n\
         - **false winners**: \"faster\" or \"slower\" where nothing differs\n\
         - **coverage, equal**: the interval holds \"no change\" where nothing differs. What it misses are\n  \
           the winners before \"equivalent\", which is looked at first, takes some of them\n\
         - **coverage, 1 %**: the interval holds the truth where the variant is 1 % faster\n\
         - **false \"equivalent\"**: within +-1 % where the truth is 1 %\n"
    );
    for rows in rows.chunks(ALL.len()) {
        let _ = write!(
            text,
            "\n| {} | false winners % | coverage, equal % | coverage, 1 % % | false \"equivalent\" % |\n\
             |---|---:|---:|---:|---:|\n",
            rows[0].way.name()
        );
        for row in rows {
            let percent = [
                row.false_winners,
                1.0 - row.missed[0],
                1.0 - row.missed[1],
                row.false_equivalents,
            ]
            .map(|share| format!("{:.1}", share * 100.0));
            let mark = if row.is_again { " *" } else { "" };
            let _ = writeln!(text, "| {}{mark} | {} |", row.noise.name(), percent.join(" | "));
        }
    }
}
