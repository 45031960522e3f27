//! Rare slow runs: how often a slow state of one side is called "equivalent", and how often noise
//! that both sides have alike keeps the word from those who deserve it.

use std::fmt::Write;

use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{Direction, paired, unpaired};

use super::Claim;
use super::methods::{MARGIN, Said, said};
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

/// Log speed of a run 58 % slower.
const SLOW: f64 = -0.457;
/// Coefficient of variation of all other noise.
const CV: f64 = 0.005;
/// Share of trials in the slow state, where states stick.
const STATE: f64 = 0.2;
/// Share of blocks in the slow state of the variant, where it comes in bursts.
const BURSTS: f64 = 1.0 / 11.0;
/// How far the level of the machine drifts, or its standard deviation from block to block.
const LEVEL: f64 = 0.1;
/// Chance of leaving the slow state from one trial to the next, where states stick.
const LEAVES: f64 = 0.1;

/// A way to a verdict.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// So many blocks.
    Blocks(usize),
    /// At most 40 blocks.
    UntilDecided,
    /// So many runs of each, without blocks.
    Runs(usize),
}

const WAYS: [Way; 5] =
    [Way::Blocks(20), Way::Blocks(40), Way::Blocks(100), Way::UntilDecided, Way::Runs(40)];

impl Way {
    fn name(self) -> String {
        match self {
            Self::Blocks(count) => format!("{count} blocks"),
            Self::UntilDecided => "until decided".to_owned(),
            Self::Runs(count) => format!("`compare`, {count} + {count} runs"),
        }
    }

    /// The most blocks, or runs of each.
    fn most(self) -> usize {
        match self {
            Self::Blocks(count) | Self::Runs(count) => count,
            Self::UntilDecided => Rule::default().most_blocks,
        }
    }

    /// Whether these blocks are called equivalent, and how many of them were looked at.
    fn judge(self, blocks: &[paired::Block]) -> (bool, usize) {
        let direction = Direction::HigherIsBetter;
        let (compared, count) = match self {
            Self::Blocks(count) => (paired::compare(blocks, direction), count),
            Self::UntilDecided => {
                let rule = Rule { margin: MARGIN, ..Rule::default() };
                let state = sequential::first_decision_at(blocks, direction, &rule);
                let count = state.map_or(blocks.len(), |state| state.blocks);
                (sequential::compare(&blocks[..count], direction, &rule), count)
            }
            Self::Runs(count) => {
                let side =
                    |of: fn(&paired::Block) -> f64| -> Vec<f64> { blocks.iter().map(of).collect() };
                let (b, v) = (side(|own| own.baseline), side(|own| own.variant));
                (unpaired::compare(&b, &v, direction).map(|own| own.comparison), count)
            }
        };
        (compared.is_ok_and(|own| said(&own) == Said::Equivalent), count)
    }
}

/// Rare runs of the baseline while the variant is slow in one run of ten, or of both sides alike.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The baseline is slow in this share of its runs, the variant in twice as many.
    HalfAsOften(f64),
    /// The variant is 5 % slower in one run of five, which is the margin on average.
    AtMargin,
    /// One run of the baseline lies so far off.
    Stray(f64),
    /// One run in ten of the variant is 11 % slower while the level of the machine drifts by 10 %.
    Drift,
    /// The same while its level differs by 10 % from block to block.
    Levels,
    /// The variant is 20 % slower for five blocks on average, once in 50.
    Bursts,
    /// A state hardly apart from all other noise, or that half of the runs are in.
    Near(Near),
    /// One run in ten of the variant is slower, by Pareto's tail 1.5 with a mean of 20 %.
    Tail,
    /// The variant's rare runs are as often faster as slower; one stray of the baseline.
    BothEnds,
    /// This share of the runs of either side is slow.
    Alike(f64),
    /// The machine is slow in a fifth of the trials, several after each other.
    Sticky,
    /// 8 % of the runs of either side are slower by a further |N(0, 5 %)|.
    Strays,
}

/// A slow state of the variant near its other runs, which costs a little more than the margin.
#[derive(Debug, Clone, Copy)]
struct Near {
    /// Share of the variant's runs.
    share: f64,
    /// By so much they are slower, in per cent of the log scale.
    percent: f64,
    /// Coefficient of variation of all other noise, in per cent.
    cv: f64,
}

const fn near(share: f64, percent: f64, cv: f64) -> Kind {
    Kind::Near(Near { share, percent, cv })
}

const KINDS: [Kind; 21] = [
    Kind::HalfAsOften(0.1),
    Kind::HalfAsOften(0.05),
    Kind::AtMargin,
    Kind::Stray(-0.02),
    Kind::Stray(-0.06),
    Kind::Stray(0.06),
    Kind::Stray(SLOW),
    Kind::BothEnds,
    Kind::Drift,
    Kind::Levels,
    Kind::Bursts,
    near(0.15, 7.0, 1.5),
    near(0.15, 7.0, 1.0),
    near(0.3, 3.5, 1.0),
    near(0.5, 2.02, 0.5),
    near(0.5, 2.02, 0.3),
    Kind::Tail,
    Kind::Alike(0.2),
    Kind::Alike(0.05),
    Kind::Sticky,
    Kind::Strays,
];

/// Log speeds of a block, and whether the variant's state showed in it.
struct Drawn {
    speeds: [f64; 2],
    has_shown: bool,
}

impl Kind {
    fn name(self) -> String {
        match self {
            Self::HalfAsOften(share) => {
                let [b, v] = [share, 2.0 * share].map(|share| share * 100.0);
                format!("{b:.0} % of the baseline's as slow, {v:.0} % of the variant's")
            }
            Self::AtMargin => "20 % of the variant's 5 % slower, 1 % on average".to_owned(),
            Self::Stray(SLOW) => "one run of the baseline as slow".to_owned(),
            Self::Stray(by) => format!("one run of the baseline {:+.0} %", by * 100.0),
            Self::Drift => "10 % of the variant's 11 % slower, the level drifts by 10 %".to_owned(),
            Self::Levels => "the same, the level differs by 10 % between blocks".to_owned(),
            Self::Bursts => "the variant 20 % slower for 5 blocks, once in 50".to_owned(),
            Self::Near(Near { share, percent, cv }) => {
                format!("{:.0} % of the variant's {percent:.1} % slower, CV {cv} %", share * 100.0)
            }
            Self::Tail => {
                "10 % of the variant's slower by Pareto's 1.5, 20 % on average".to_owned()
            }
            Self::BothEnds => "the variant's as often faster; one of the baseline -2 %".to_owned(),
            Self::Alike(share) => format!("{:.0} % of either side as slow", share * 100.0),
            Self::Sticky => "sticky states of the machine, as above".to_owned(),
            Self::Strays => "stray runs of either side, as above".to_owned(),
        }
    }

    fn is_equal(self) -> bool {
        matches!(self, Self::Alike(_) | Self::Sticky | Self::Strays)
    }

    /// So many blocks.
    fn blocks(self, count: usize, random: &mut Random) -> Vec<Drawn> {
        let struck = random.below(count);
        let share = if matches!(self, Self::Bursts) { BURSTS } else { STATE };
        let mut is_slow = random.unit() < share;
        let block = |at: usize| {
            let mut drawn = self.block(at == struck, &mut is_slow, random);
            let level = match self {
                Self::Drift => LEVEL * at as f64 / count as f64,
                Self::Levels => LEVEL * random.normal(),
                _ => 0.0,
            };
            drawn.speeds = drawn.speeds.map(|own| own + level);
            drawn
        };
        (0..count).map(block).collect()
    }

    /// A block; `is_struck` is the one with the baseline's stray, `is_slow` the state of the machine
    /// in the trial before.
    fn block(self, is_struck: bool, is_slow: &mut bool, random: &mut Random) -> Drawn {
        let mut has_shown = false;
        let [mut b, mut v] = [(); 2].map(|()| CV * random.normal());
        match self {
            Self::HalfAsOften(share) => {
                has_shown = random.unit() < 2.0 * share;
                v += if has_shown { SLOW } else { 0.0 };
                b += if random.unit() < share { SLOW } else { 0.0 };
            }
            Self::AtMargin => {
                has_shown = random.unit() < 0.2;
                v += if has_shown { 5.0 * (1.0 - MARGIN).ln() } else { 0.0 };
            }
            Self::Drift | Self::Levels => {
                has_shown = random.unit() < 0.1;
                v += if has_shown { (1.0f64 - 0.1).ln() } else { 0.0 };
            }
            Self::Bursts => {
                let turns = if *is_slow { 0.2 } else { 0.02 };
                *is_slow ^= random.unit() < turns;
                has_shown = *is_slow;
                v += if has_shown { (1.0f64 - 0.2).ln() } else { 0.0 };
            }
            Self::Near(Near { share, percent, cv }) => {
                [b, v] = [b, v].map(|own| own * (cv / 100.0 / CV));
                has_shown = random.unit() < share;
                v += if has_shown { -percent / 100.0 } else { 0.0 };
            }
            Self::Tail => {
                has_shown = random.unit() < 0.1;
                let loss = 0.2 / 3.0 * random.unit().powf(-1.0 / 1.5);
                v -= if has_shown { loss } else { 0.0 };
            }
            Self::Stray(_) | Self::BothEnds => {
                let (stray, is_mixed) = match self {
                    Self::Stray(by) => (by, false),
                    _ => (-0.02, true),
                };
                b += if is_struck { stray } else { 0.0 };
                let is_faster = random.unit() < 0.5;
                let by = if is_mixed && is_faster { -SLOW } else { SLOW };
                has_shown = random.unit() < 0.1;
                v += if has_shown { by } else { 0.0 };
            }
            Self::Alike(share) => {
                for own in [&mut b, &mut v] {
                    *own += if random.unit() < share { SLOW } else { 0.0 };
                }
            }
            Self::Sticky => {
                let is_turned = random.unit() < 0.5;
                for own in if is_turned { [&mut v, &mut b] } else { [&mut b, &mut v] } {
                    let enters = LEAVES * STATE / (1.0 - STATE);
                    let leaves = if *is_slow { LEAVES } else { enters };
                    *is_slow ^= random.unit() < leaves;
                    *own += if *is_slow { SLOW } else { 0.0 };
                }
            }
            Self::Strays => {
                for own in [&mut b, &mut v] {
                    let by = -0.05 * random.normal().abs();
                    *own += if random.unit() < 0.08 { by } else { 0.0 };
                }
            }
        }
        Drawn { speeds: [b, v], has_shown }
    }
}

/// One kind of rare runs.
pub struct Row {
    kind: Kind,
    /// For each way.
    cells: [Cell; WAYS.len()],
}

/// What was said of the campaigns that count: where "equivalent" is false, those in which the state
/// showed.
#[derive(Debug, Clone, Copy)]
struct Cell {
    campaigns: u64,
    equivalents: f64,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let all = WAYS.into_iter().zip(self.cells).filter(|_| !self.kind.is_equal());
        all.map(|(way, Cell { campaigns, equivalents })| {
            let place = format!("false \"equivalent\", {}, {}", way.name(), self.kind.name());
            (place, Claim { rate: equivalents, most: 0.05, campaigns })
        })
        .collect()
    }
}

/// All of them.
pub fn simulate(size: Size) -> Vec<Row> {
    (0..).zip(KINDS).map(|(place, kind)| row(place, kind, size.trust)).collect()
}

fn row(place: u64, kind: Kind, campaigns: u64) -> Row {
    let cell = |(column, way): (u64, Way)| {
        let [equivalents, counted] = in_parallel(campaigns, |campaign| {
            let seed = SEED ^ (place << 40) ^ (column << 20) ^ 0x4a4e;
            let drawn = kind.blocks(way.most(), &mut Random::of(seed, campaign));
            let block = |own: &Drawn| {
                let [b, v] = own.speeds.map(|own| 1e6 * own.exp());
                paired::Block::new(b, v)
            };
            let blocks: Vec<paired::Block> = drawn.iter().map(block).collect();
            let (is_equivalent, looked_at) = way.judge(&blocks);
            let counts = kind.is_equal() || drawn[..looked_at].iter().any(|own| own.has_shown);
            [f64::from(is_equivalent && counts), f64::from(counts)]
        });
        Cell { campaigns: counted as u64, equivalents: equivalents / counted.max(1.0) }
    };
    let mut columns = (0..).zip(WAYS).map(cell);
    let cells = WAYS.map(|_| columns.next().expect("invariant: a cell for each way"));
    Row { kind, cells }
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    text.push_str(
        "\n## Rare slow runs\n\n\
         The typical run is the same on both sides, CV 0.5 %. First the variant is 58 % slower in one run of ten\n\
         (or as the row says), so that each \"equivalent\" is false; the baseline has such runs half as often, or one\n\
         run that lies off. Only the campaigns count in which the variant's state showed (of 20 blocks 12 % do\n\
         not see a state of one run in ten at all), and at most 5 % are promised. Then both sides have rare runs\n\
         alike, all campaigns count, and \"equivalent\" is right: it asks for as many runs as tell what they cost.\n\n\
         | \"equivalent\" % |",
    );
    for way in WAYS {
        let _ = write!(text, " {} |", way.name());
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(WAYS.len()));
    for row in rows {
        let word = if row.kind.is_equal() { "right" } else { "false" };
        let _ = write!(text, "| {word}: {} |", row.kind.name());
        for cell in row.cells {
            let _ = write!(text, " {:.1} |", cell.equivalents * 100.0);
        }
        text.push('\n');
    }
}
