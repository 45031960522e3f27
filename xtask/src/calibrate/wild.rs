//! One wild value: a single run of one side is many times off, and nothing else differs.

use std::fmt::Write;

use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{Comparison, Direction, model, paired, unpaired};

use super::Claim;
use super::methods::{FAMILY, MARGIN, Said, said};
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

const DIRECTION: Direction = Direction::HigherIsBetter;
/// Coefficient of variation of all other noise.
const CV: f64 = 0.005;

/// The wild run's speed : that of the others.
const FACTORS: [f64; 6] = [1.0 / 100.0, 1.0 / 5.0, 1.0 / 2.0, 2.0, 5.0, 100.0];

/// A way to a verdict.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// So many blocks.
    Blocks(usize),
    /// So many at most, until decided.
    UntilDecided(usize),
    /// Several variants in so many blocks.
    Several(usize),
    /// So many runs of each, without blocks.
    Runs(usize),
}

const WAYS: [Way; 11] = [
    Way::Blocks(5),
    Way::Blocks(8),
    Way::Blocks(20),
    Way::Blocks(40),
    Way::UntilDecided(8),
    Way::UntilDecided(20),
    Way::UntilDecided(40),
    Way::Several(8),
    Way::Runs(8),
    Way::Runs(20),
    Way::Runs(40),
];

impl Way {
    fn name(self) -> String {
        match self {
            Self::Blocks(count) => format!("{count} blocks"),
            Self::UntilDecided(most) => format!("until decided, at most {most}"),
            Self::Several(count) => format!("{FAMILY} variants, {count} blocks"),
            Self::Runs(count) => format!("`compare`, {count} + {count} runs"),
        }
    }

    /// The most blocks, or runs of each, and how many variants stand beside the baseline.
    fn size(self) -> (usize, usize) {
        match self {
            Self::Several(count) => (count, FAMILY),
            Self::Blocks(count) | Self::UntilDecided(count) | Self::Runs(count) => (count, 1),
        }
    }

    fn compare(self, rows: &[Vec<f64>]) -> Vec<Comparison> {
        let pairs: Vec<paired::Block> =
            rows.iter().map(|row| paired::Block::new(row[0], row[1])).collect();
        match self {
            Self::Blocks(_) => paired::compare(&pairs, DIRECTION).into_iter().collect(),
            Self::UntilDecided(most_blocks) => {
                let rule = Rule { margin: MARGIN, most_blocks, ..Rule::default() };
                let stopped = sequential::first_decision_at(&pairs, DIRECTION, &rule);
                let compared =
                    stopped.and_then(|s| sequential::compare(&pairs[..s.blocks], DIRECTION, &rule));
                compared.into_iter().collect()
            }
            Self::Several(_) => model::compare(rows, DIRECTION).unwrap_or_default(),
            Self::Runs(_) => {
                let side = |at: usize| -> Vec<f64> { rows.iter().map(|row| row[at]).collect() };
                let compared = unpaired::compare(&side(0), &side(1), DIRECTION);
                compared.map(|own| own.comparison).into_iter().collect()
            }
        }
    }
}

/// One factor.
pub struct Row {
    factor: f64,
    campaigns: u64,
    /// "Faster" or "slower", by way.
    false_winners: [f64; WAYS.len()],
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let claim = |(way, rate): (Way, f64)| {
            let place = format!("false winners, {}, one run {}", way.name(), self.name());
            (place, Claim { rate, most: 0.05, campaigns: self.campaigns })
        };
        WAYS.into_iter().zip(self.false_winners).map(claim).collect()
    }

    fn name(&self) -> String {
        match self.factor {
            factor if factor < 1.0 => format!("{:.0} times slower", 1.0 / factor),
            factor => format!("{factor:.0} times faster"),
        }
    }
}

/// All of them.
pub fn simulate(size: Size) -> Vec<Row> {
    FACTORS.into_iter().enumerate().map(|(place, factor)| row(place, factor, size.trust)).collect()
}

fn row(place: usize, factor: f64, campaigns: u64) -> Row {
    let rate = |(column, way): (u64, Way)| {
        let seed = SEED ^ ((place as u64) << 40) ^ (column << 20) ^ 0x3717d;
        let [winners] = in_parallel(campaigns, |campaign| {
            let mut random = Random::of(seed, campaign);
            let (blocks, variants) = way.size();
            let wild = random.below(blocks);
            let mut figure = || 1e6 * (CV * random.normal()).exp();
            let mut rows: Vec<Vec<f64>> =
                (0..blocks).map(|_| (0..=variants).map(|_| figure()).collect()).collect();
            rows[wild][1] *= factor;
            [f64::from(way.compare(&rows).iter().any(|own| said(own) == Said::Difference))]
        });
        winners / campaigns as f64
    };
    let mut columns = (0..).zip(WAYS).map(rate);
    let false_winners = WAYS.map(|_| columns.next().expect("invariant: a cell for each way"));
    Row { factor, campaigns, false_winners }
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    text.push_str(
        "\n## One wild value\n\n\
         Nothing differs, CV 0.5 %, but one run of one variant, in any block, is many times slower or faster than\n\
         all others (a lost link, a counter that wrapped). At most 5 % false winners are promised.\n\n\
         | false winners % |",
    );
    for row in rows {
        let _ = write!(text, " {} |", row.name());
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(rows.len()));
    for (at, way) in WAYS.into_iter().enumerate() {
        let cell = |row: &Row| format!(" {:.1} |", row.false_winners[at] * 100.0);
        let cells: String = rows.iter().map(cell).collect();
        let _ = writeln!(text, "| {} |{cells}", way.name());
    }
}
