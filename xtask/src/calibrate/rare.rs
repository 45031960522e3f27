//! Rare slow runs: how often a slow state of one side is called "equivalent", and how often noise
//! that both sides have alike keeps the word from those who deserve it.

use std::fmt::Write;

use fwdlab_stats::{Direction, paired};

use super::Claim;
use super::methods::{Said, said};
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

/// Log speed of a run 58 % slower.
const SLOW: f64 = -0.457;
/// Coefficient of variation of all other noise.
const CV: f64 = 0.005;
/// Numbers of blocks.
const BLOCKS: [usize; 3] = [20, 40, 100];
/// From so many blocks on a state of one run in ten stays unseen in less than 2 % of campaigns.
const ENOUGH: usize = 40;

/// Rare runs of the baseline while the variant is slow in one run of ten, or of both sides alike.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// One run of the baseline lies so far off.
    Stray(f64),
    /// The variant's rare runs are as often faster as slower; one stray of the baseline.
    BothEnds,
    /// This share of the runs of either side is slow.
    Alike(f64),
    /// 8 % of the runs of either side are slower by a further |N(0, 5 %)|.
    Strays,
}

const KINDS: [Kind; 8] = [
    Kind::Stray(-0.02),
    Kind::Stray(-0.06),
    Kind::Stray(0.06),
    Kind::Stray(SLOW),
    Kind::BothEnds,
    Kind::Alike(0.2),
    Kind::Alike(0.05),
    Kind::Strays,
];

impl Kind {
    fn name(self) -> String {
        match self {
            Self::Stray(SLOW) => "one run of the baseline as slow".to_owned(),
            Self::Stray(by) => format!("one run of the baseline {:+.0} %", by * 100.0),
            Self::BothEnds => "the variant's as often faster; one of the baseline -2 %".to_owned(),
            Self::Alike(share) => format!("{:.0} % of either side as slow", share * 100.0),
            Self::Strays => "stray runs of either side, as above".to_owned(),
        }
    }

    fn is_equal(self) -> bool {
        matches!(self, Self::Alike(_) | Self::Strays)
    }

    /// The log speeds of a block; `is_struck` is the one with the baseline's stray.
    fn block(self, is_struck: bool, random: &mut Random) -> [f64; 2] {
        let [mut b, mut v] = [(); 2].map(|()| CV * random.normal());
        match self {
            Self::Stray(_) | Self::BothEnds => {
                let (stray, is_mixed) = match self {
                    Self::Stray(by) => (by, false),
                    _ => (-0.02, true),
                };
                b += if is_struck { stray } else { 0.0 };
                let is_faster = random.unit() < 0.5;
                let by = if is_mixed && is_faster { -SLOW } else { SLOW };
                v += if random.unit() < 0.1 { by } else { 0.0 };
            }
            Self::Alike(share) => {
                for own in [&mut b, &mut v] {
                    *own += if random.unit() < share { SLOW } else { 0.0 };
                }
            }
            Self::Strays => {
                for own in [&mut b, &mut v] {
                    let by = -0.05 * random.normal().abs();
                    *own += if random.unit() < 0.08 { by } else { 0.0 };
                }
            }
        }
        [b, v]
    }
}

/// One kind of rare runs.
pub struct Row {
    kind: Kind,
    campaigns: u64,
    /// "Equivalent", for each number of blocks.
    equivalents: [f64; BLOCKS.len()],
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let is_promised = !self.kind.is_equal() && !matches!(self.kind, Kind::Stray(SLOW));
        let all = BLOCKS.into_iter().zip(self.equivalents);
        all.filter(|(blocks, _)| is_promised && *blocks >= ENOUGH)
            .map(|(blocks, rate)| {
                let place = format!("false \"equivalent\", {blocks} blocks, {}", self.kind.name());
                (place, Claim { rate, most: 0.05, campaigns: self.campaigns })
            })
            .collect()
    }
}

/// All of them.
pub fn simulate(size: Size) -> Vec<Row> {
    (0..).zip(KINDS).map(|(place, kind)| row(place, kind, size.trust)).collect()
}

fn row(place: u64, kind: Kind, campaigns: u64) -> Row {
    let sums = in_parallel(campaigns, |campaign| {
        BLOCKS.map(|count| {
            let mut random =
                Random::of(SEED ^ (place << 40) ^ ((count as u64) << 20) ^ 0x4a4e, campaign);
            let struck = random.below(count);
            let blocks: Vec<paired::Block> = (0..count)
                .map(|at| {
                    let [b, v] = kind.block(at == struck, &mut random).map(|own| 1e6 * own.exp());
                    paired::Block::new(b, v)
                })
                .collect();
            let compared = paired::compare(&blocks, Direction::HigherIsBetter);
            f64::from(compared.is_ok_and(|own| said(&own) == Said::Equivalent))
        })
    });
    Row { kind, campaigns, equivalents: sums.map(|sum| sum / campaigns as f64) }
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    text.push_str(
        "\n## Rare slow runs\n\n\
         The typical run is the same on both sides, CV 0.5 %. First the variant is 58 % slower in one run of ten,\n\
         so that each \"equivalent\" is false; the baseline has one run that lies off. From 40 blocks on at\n\
         most 5 % are promised, unless that one is as slow; of 20 blocks 12 % do not see the state at all.\n\
         Then both sides have rare runs alike, and \"equivalent\" is right.\n\n\
         | \"equivalent\" % |",
    );
    for blocks in BLOCKS {
        let _ = write!(text, " {blocks} blocks |");
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(BLOCKS.len()));
    for row in rows {
        let word = if row.kind.is_equal() { "right" } else { "false" };
        let _ = write!(text, "| {word}: {} |", row.kind.name());
        for share in row.equivalents {
            let _ = write!(text, " {:.1} |", share * 100.0);
        }
        text.push('\n');
    }
}
