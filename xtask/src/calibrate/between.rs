//! Campaigns that differ from each other: what one of them says, and what several say.

use std::fmt::Write;

use fwdlab_stats::campaigns::{self, Campaign, Terms};
use fwdlab_stats::paired::Block;
use fwdlab_stats::{Direction, Effect, paired};

use super::Claim;
use super::methods::BLOCKS;
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

/// CV of a run.
const CV: f64 = 0.005;
/// Processes of a campaign, where it has several.
const PROCESSES: usize = 4;

/// How campaigns differ.
#[derive(Debug, Clone, Copy)]
struct World {
    /// Standard deviation of a campaign's own effect on the log ratio.
    campaign: f64,
    /// The same of a process within a campaign; `None` when all blocks run in one.
    process: Option<f64>,
}

const WORLDS: [World; 4] = [
    World { campaign: 0.0, process: None },
    World { campaign: 0.005, process: None },
    World { campaign: 0.10, process: None },
    World { campaign: 0.01, process: Some(0.01) },
];

/// Numbers of campaigns.
const COUNTS: [usize; 4] = [3, 4, 5, 10];

impl World {
    fn name(self) -> String {
        let own = format!("campaigns {} % apart", self.campaign * 100.0);
        match self.process {
            Some(sd) => format!("{own}, {PROCESSES} processes {} % apart", sd * 100.0),
            None => own,
        }
    }

    /// The log ratios of one campaign without any true effect, by process.
    fn campaign(self, random: &mut Random) -> Vec<Vec<f64>> {
        let own = self.campaign * random.normal();
        let (processes, sd) = self.process.map_or((1, 0.0), |sd| (PROCESSES, sd));
        let blocks = BLOCKS / processes;
        (0..processes)
            .map(|_| {
                let level = own + sd * random.normal();
                (0..blocks).map(|_| level + CV * (random.normal() - random.normal())).collect()
            })
            .collect()
    }
}

/// One world and number of campaigns.
pub struct Row {
    world: World,
    count: usize,
    campaigns: u64,
    /// "No change" left out by the interval of a single campaign.
    single: f64,
    /// The next campaign's figure missed by that interval.
    single_next: f64,
    /// "No change" left out by the interval of all campaigns.
    together: f64,
    /// The next campaign's figure missed by the interval for it.
    next: f64,
    /// A difference called between two sides of so many campaigns.
    sides: f64,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let place = format!("{} campaigns, {}", self.count, self.world.name());
        let claim = |what: &str, rate: f64, most: f64| {
            (format!("{what}, {place}"), Claim { rate, most, campaigns: self.campaigns })
        };
        vec![
            claim("false winners", self.together, 0.05),
            claim("next campaigns missed", self.next, 0.06),
            claim("false winners between two sides", self.sides, 0.05),
        ]
    }
}

/// All worlds and numbers of campaigns.
pub fn simulate(size: Size) -> Vec<Row> {
    let all = WORLDS.into_iter().flat_map(|world| COUNTS.map(|count| (world, count)));
    all.enumerate().map(|(i, (world, count))| row(i as u64, world, count, size.trust)).collect()
}

fn row(place: u64, world: World, count: usize, campaigns: u64) -> Row {
    let sums = in_parallel(campaigns, |campaign| {
        let mut random = Random::of(SEED ^ (place << 40) ^ 0xbe, campaign);
        one(world, count, &mut random).map(f64::from)
    });
    let [single, single_next, together, next, sides] = sums.map(|sum| sum / campaigns as f64);
    Row { world, count, campaigns, single, single_next, together, next, sides }
}

/// Whether each of a [`Row`]'s errors happens.
fn one(world: World, count: usize, random: &mut Random) -> [bool; 5] {
    let mut draw = |count: usize| -> Vec<Campaign> {
        (0..count).map(|_| Campaign::of_processes(world.campaign(random))).collect()
    };
    let (ours, theirs) = (draw(count), draw(count));
    let first = world.campaign(random).concat();
    let next = world.campaign(random);
    let next = Effect::from_ln(mean(next.iter().map(|gains| mean(gains.iter().copied()))));
    let blocks: Vec<Block> = first.iter().map(|gain| Block::new(1.0, gain.exp())).collect();
    let single = paired::compare(&blocks, Direction::HigherIsBetter).map(|own| own.interval95);
    let together = campaigns::together(&ours, Terms::default());
    let sides = campaigns::compare(&ours, &theirs, Terms::default());
    [
        single.as_ref().is_ok_and(|own| own.excludes_no_change()),
        single.is_ok_and(|own| !own.covers(next)),
        together.as_ref().is_ok_and(|own| own.comparison.interval95.excludes_no_change()),
        together.is_ok_and(|own| !own.next.covers(next)),
        sides.is_ok_and(|own| own.interval95.excludes_no_change()),
    ]
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    let _ = write!(
        text,
        "\n## Between campaigns: what one says, and what several say\n\n\
         Blocks of one campaign share what its process was dealt; no analysis of them can see it. Here\n\
         nothing differs, but each campaign of {BLOCKS} blocks has an effect of its own. **One alone**: how often its\n\
         own 95 % interval leaves out \"no change\", and how often it misses the figure of the next campaign.\n\
         **Together**: the same of the interval of all campaigns and of the interval for the next one (5 % are\n\
         promised). **Two sides**: a difference called between two sides of so many campaigns each.\n\n\
         | campaigns | one alone: false winners % | one alone: next missed % | together: false winners % | together: next missed % | two sides: false winners % |\n\
         |---|---:|---:|---:|---:|---:|\n"
    );
    for row in rows {
        let shares = [row.single, row.single_next, row.together, row.next, row.sides]
            .map(|share| format!("{:.1}", share * 100.0));
        let _ = writeln!(text, "| {}, {} | {} |", row.count, row.world.name(), shares.join(" | "));
    }
}
