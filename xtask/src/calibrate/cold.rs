//! A place in the block that costs time of its own: the first trial, whose process is cold.
//!
//! It is no noise: it comes in every block, always for whatever runs first.

use std::fmt::Write;

use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{Comparison, Confidence, Direction, model, paired};

use super::Claim;
use super::methods::{FAMILY, MARGIN, Said, by_column, pairs, said};
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

const DIRECTION: Direction = Direction::HigherIsBetter;

/// By how much the first trial of a block is slower.
const SIZES: [f64; 2] = [0.02, 0.05];
/// Coefficients of variation of all other noise.
const SPREADS: [f64; 2] = [0.0005, 0.005];
/// Levels.
const LEVELS: [f64; 2] = [0.95, 0.999];

/// How long a campaign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Blocks(usize),
    Several(usize),
    UntilDecided,
}

const LENGTHS: [Length; 5] = [
    Length::Blocks(4),
    Length::Blocks(8),
    Length::UntilDecided,
    Length::Several(4),
    Length::Several(8),
];

impl Length {
    fn name(self) -> String {
        match self {
            Self::Blocks(n) => format!("{n} blocks"),
            Self::Several(n) => format!("{FAMILY} variants, {n} blocks"),
            Self::UntilDecided => "until decided".to_owned(),
        }
    }

    /// The comparisons of one campaign, in which nothing differs.
    fn compare(self, (size, cv): (f64, f64), level: f64, random: &mut Random) -> Vec<Comparison> {
        let rule = Rule { margin: MARGIN, alpha: 1.0 - level, ..Rule::default() };
        let (blocks, columns) = match self {
            Self::Blocks(n) => (n, 2),
            Self::Several(n) => (n, FAMILY + 1),
            Self::UntilDecided => (rule.most_blocks, 2),
        };
        let cost = |at: usize| if at.is_multiple_of(columns) { size.ln_1p() } else { 0.0 };
        let stream: Vec<f64> =
            (0..blocks * columns).map(|at| cv * random.normal() - cost(at)).collect();
        let figures = |row: Vec<f64>| row.into_iter().map(|noise| 1e6 * noise.exp()).collect();
        let rows: Vec<Vec<f64>> =
            by_column(&stream, columns, random).into_iter().map(figures).collect();
        let confidence = Confidence::new(level).unwrap_or_default();
        match self {
            Self::Blocks(_) => {
                paired::compare_at(&pairs(&rows), DIRECTION, confidence).into_iter().collect()
            }
            Self::Several(_) => model::compare_at(&rows, DIRECTION, confidence).unwrap_or_default(),
            Self::UntilDecided => {
                let pairs = pairs(&rows);
                let stopped = sequential::first_decision_at(&pairs, DIRECTION, &rule);
                let compared =
                    stopped.and_then(|s| sequential::compare(&pairs[..s.blocks], DIRECTION, &rule));
                compared.into_iter().collect()
            }
        }
    }
}

/// One length, size, spread and level.
pub struct Row {
    length: Length,
    size: f64,
    cv: f64,
    level: f64,
    campaigns: u64,
    /// "Faster" or "slower".
    false_winners: f64,
    /// Intervals without "no change".
    missed: f64,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let Self { size, cv, campaigns, .. } = *self;
        let place =
            format!("{}, first trial {} % slower, CV {} %", self.name(), size * 100.0, cv * 100.0);
        let alpha = 1.0 - self.level;
        let claim =
            |what: &str, rate, most| (format!("{what}, {place}"), Claim { rate, most, campaigns });
        vec![
            claim("false winners", self.false_winners, alpha),
            claim("truths missed", self.missed, 1.2 * alpha),
        ]
    }

    fn name(&self) -> String {
        format!("{}, {} %", self.length.name(), self.level * 100.0)
    }
}

/// All of them.
pub fn simulate(size: Size) -> Vec<Row> {
    let sizes = SIZES.iter().flat_map(|size| SPREADS.map(|cv| (*size, cv)));
    let all = LENGTHS.into_iter().flat_map(|length| LEVELS.map(|level| (length, level)));
    let all = all.flat_map(|(length, level)| sizes.clone().map(move |own| (length, level, own)));
    all.enumerate().map(|(place, own)| row(place as u64, own, size.trust)).collect()
}

fn row(place: u64, (length, level, (size, cv)): (Length, f64, (f64, f64)), campaigns: u64) -> Row {
    let sums = in_parallel(campaigns, |campaign| {
        let mut random = Random::of(SEED ^ (place << 40) ^ 0xc01d, campaign);
        let compared = length.compare((size, cv), level, &mut random);
        let is_winner = compared.iter().any(|own| said(own) == Said::Difference);
        [is_winner, compared.iter().any(|own| own.interval95.excludes_no_change())].map(f64::from)
    });
    let [false_winners, missed] = sums.map(|sum| sum / campaigns as f64);
    Row { length, size, cv, level, campaigns, false_winners, missed }
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    let _ = write!(
        text,
        "\n## A cold first trial\n\n\
         Nothing differs, but the first trial of every block is slower, whichever variant runs there. With\n\
         orders drawn freely 4 blocks named a winner in 11 to 14 % of such campaigns, those until decided in\n\
         7 to 14 %: so no variant runs before the baseline in all of so few blocks, or in none, that t judges\n\
         them. Signs and ranks, to which such a cost is noise like any other, judge six and more, at 99.9 %\n\
         eleven and more. First trial slower by, and CV of all other noise:\n\n\
         | false winners % (coverage %) |"
    );
    let columns = SIZES.len() * SPREADS.len();
    for row in &rows[..columns] {
        let _ = write!(text, " {} %, CV {} % |", row.size * 100.0, row.cv * 100.0);
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(columns));
    for rows in rows.chunks(columns) {
        let cell = |row: &Row| {
            format!(" {:.2} ({:.2}) |", row.false_winners * 100.0, (1.0 - row.missed) * 100.0)
        };
        let cells: String = rows.iter().map(cell).collect();
        let _ = writeln!(text, "| {} |{cells}", rows[0].name());
    }
}
