//! The running order of a campaign, drawn from its seed.
//!
//! The runner draws it before the first trial, and whoever checks a journal draws it again: both must
//! use one rule. The same campaign has the same order on every machine and in every version, so the
//! generator and the shuffle are spelled out here rather than left to a library's choice.
//!
//! Rule 1 shuffled each block for itself. With four blocks one variant then runs first in all of them
//! once in eight campaigns, and a cost of the first place (a cold process) looks like its own. Rule 2
//! shuffles four blocks together, two orders and their mirrors: each block taken alone is in any order
//! with equal chance, and after four each of two variants ran before the other equally often. It also
//! draws from the experiment file and the number of blocks, so that neither can be changed afterwards
//! without another order.
//!
//! By rule 2 the orders of four blocks lean against each other. Where the machine has states that come and
//! go with the trials (one that takes turns every four of them), the signs of the differences then do not
//! fall like those of a coin, which is all that a test by signs or ranks asks for: 11 % of campaigns of six
//! blocks named a winner that there was not. Rule 3 draws each block for itself, so that those tests hold
//! whatever the machine does, a cold first place included. Fewer blocks than those tests need are judged by
//! t, to which one variant that always runs first looks slower: these are drawn again while one runs before the
//! baseline in all of them, or in none.

mod pairs;
mod shuffle;

#[cfg(test)]
mod tests;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

use fwdlab_guard::digest;
use fwdlab_results::{Campaign, Grouping, Truth};
use pairs::{Pair, Pairs};
use shuffle::below;

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// What it is drawn from.
    pub key: Key,
    /// Which trials of a block follow each other.
    pub grouping: Grouping,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of traffics.
    pub traffics: usize,
    /// Number of variants.
    pub variants: usize,
    /// Index of the baseline.
    pub baseline: usize,
    /// Share of the trials that prove the lab itself.
    pub share: f64,
    /// Index of the traffic of each truth that these ask for in turn.
    pub truths: Vec<usize>,
}

/// What an order is drawn from, by which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Rule 1: the seed; each block for itself.
    Free(u64),
    /// Rule 2: a digest of seed, experiment and number of blocks; four blocks together.
    Fours(u128),
    /// Rule 3: the same digest; each block for itself, but so many from the first on not all alike.
    Coins {
        /// The digest.
        key: u128,
        /// How many.
        guarded: u32,
    },
}

/// Fewest blocks that signs and ranks judge at 95 %: fewer are judged by t, and so is each of these few where
/// somebody looks after every block.
const BY_SIGNS: u32 = 6;

/// Fewest blocks that they judge at 99.9 %.
const BY_SIGNS_SURELY: u32 = 11;

/// The blocks of which no variant runs before the baseline in all, or in none.
const fn guarded(blocks: u32, until_decided: bool) -> u32 {
    if until_decided || blocks < BY_SIGNS {
        4
    } else if blocks < BY_SIGNS_SURELY {
        blocks
    } else {
        0
    }
}

/// Draws of these blocks, of which the last is taken as it comes: with very many variants one of
/// them always lies aside.
const ATTEMPTS: usize = 1_000;

impl Key {
    fn of(campaign: &Campaign) -> Self {
        let Campaign { seed, blocks, experiment_sha256, .. } = campaign;
        if campaign.order_version < 2 {
            return Self::Free(*seed);
        }
        let digits = digest::of(format!("{seed} {blocks} {experiment_sha256}").as_bytes());
        // 32 hexadecimal digits are a number of 128 bits
        let key = u128::from_str_radix(&digits[..32], 16).unwrap_or_default();
        match campaign.order_version {
            2 => Self::Fours(key),
            _ => Self::Coins { key, guarded: guarded(*blocks, campaign.until_decided) },
        }
    }

    fn stream(self, stream: u128) -> Pcg64 {
        match self {
            Self::Free(seed) => Pcg64::new(u128::from(seed), stream),
            Self::Fours(key) | Self::Coins { key, .. } => Pcg64::new(key, stream),
        }
    }
}

/// One place in the running order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Block, from 1.
    pub block: u32,
    /// Index of the traffic.
    pub traffic: usize,
    /// What runs.
    pub who: Who,
}

/// What runs in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The variant of that index.
    Variant(usize),
    /// What the truth of that index compares with the baseline.
    Known(usize),
}

/// The streams of trials whose answer is known, apart from those of blocks.
const KNOWN: u128 = 2 << 64;

/// The streams of the side on which they stand, one for each truth.
const SIDES: u128 = 3 << 64;

impl Draw {
    /// The running order: in each block every variant with every traffic once.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (block, pairs) in (1..=self.blocks).zip(self.orders()) {
            let turn = |(traffic, variant)| Turn { block, traffic, who: Who::Variant(variant) };
            let mut own: Vec<Turn> = pairs.into_iter().map(turn).collect();
            self.hide(block, &mut own);
            turns.extend(own);
        }
        turns
    }

    /// The order of one block after the other, without end.
    fn orders(&self) -> Box<dyn Iterator<Item = Vec<Pair>>> {
        let Self { key, grouping, traffics, variants, baseline, .. } = *self;
        let pairs = Pairs { grouping, traffics, variants };
        let free = move |block: u32| pairs.free(&mut key.stream(u128::from(block)));
        match key {
            Key::Free(_) => Box::new((1..).map(free)),
            Key::Fours(_) => {
                let first = |four: u32| 4 * u128::from(four) + 1;
                Box::new((0..).flat_map(move |four| pairs.four(&mut key.stream(first(four)))))
            }
            Key::Coins { guarded, .. } => {
                let generator = &mut key.stream(1);
                let mut drawn = || (0..guarded).map(|_| pairs.free(generator)).collect::<Vec<_>>();
                let mut orders = drawn();
                for _ in 1..ATTEMPTS {
                    if guarded == 0 || !pairs.is_one_sided(&orders, baseline) {
                        break;
                    }
                    orders = drawn();
                }
                Box::new(orders.into_iter().chain((guarded + 1..).map(free)))
            }
        }
    }

    /// Puts the trials of a block whose answer is known among its others, at random places: beside the
    /// variants of their traffic, or where setting up takes long, between variants.
    fn hide(&self, block: u32, turns: &mut Vec<Turn>) {
        let mut generator = self.key.stream(KNOWN + u128::from(block));
        for (truth, time) in self.known_of(block) {
            let traffic = self.truths[truth];
            let is_beside = |turn: &Turn| self.grouping.is_traffic() && turn.traffic == traffic;
            let first = turns.iter().position(is_beside).unwrap_or(0);
            let last = turns.iter().rposition(is_beside).map_or(turns.len(), |last| last + 1);
            let (first, last) =
                self.side(truth, time, turns).map_or((first, last), |side| match side {
                    Side::Before(baseline) => (first, baseline),
                    Side::After(baseline) => (baseline + 1, last),
                });
            let at = first + below((last - first) as u64 + 1, &mut generator) as usize;
            turns.insert(at, Turn { block, traffic, who: Who::Known(truth) });
        }
    }

    /// On which side of its baseline a truth stands when it comes for the `time`th time, from 0; `None`
    /// by a rule that leaves it to chance. By rule 2 the first of two times is drawn, the second is the other;
    /// by rule 3 each is drawn.
    fn side(&self, truth: usize, time: usize, turns: &[Turn]) -> Option<Side> {
        let (draw, is_second) = match self.key {
            Key::Free(_) => return None,
            Key::Fours(_) => (time / 2, time % 2 == 1),
            Key::Coins { .. } => (time, false),
        };
        let who = Who::Variant(self.baseline);
        let is_baseline = |turn: &Turn| turn.traffic == self.truths[truth] && turn.who == who;
        let baseline = turns.iter().position(is_baseline)?;
        let stream = SIDES + ((truth as u128) << 32) + draw as u128;
        let is_after = below(2, &mut self.key.stream(stream)) == 1;
        Some(if is_after != is_second { Side::After(baseline) } else { Side::Before(baseline) })
    }

    /// The truths of a block, and which time it is for each. They take turns over all blocks, and none
    /// comes twice in one.
    fn known_of(&self, block: u32) -> impl Iterator<Item = (usize, usize)> + use<> {
        let each = self.share / (1.0 - self.share) * (self.traffics * self.variants) as f64;
        let before = |block: u32| (each * f64::from(block)) as usize;
        let (first, last) = (before(block.saturating_sub(1)), before(block));
        let truths = self.truths.len();
        (first..last).take(truths).map(move |number| (number % truths, number / truths))
    }
}

/// Where a truth stands beside the baseline at that place.
enum Side {
    Before(usize),
    After(usize),
}

/// The stable id of a trial: `b01-inet-radix`.
pub fn id(block: u32, traffic: &str, variant: &str) -> String {
    format!("b{block:02}-{traffic}-{variant}")
}

/// What is drawn for a campaign that is recorded so.
pub fn drawn(campaign: &Campaign) -> Draw {
    let truths = campaign.calibration.iter().flat_map(|own| &own.truths);
    let index = |truth: &Truth| campaign.traffics.iter().position(|name| *name == truth.traffic);
    Draw {
        key: Key::of(campaign),
        grouping: campaign.grouping,
        blocks: campaign.blocks,
        traffics: campaign.traffics.len(),
        variants: campaign.variants.len(),
        baseline: campaign.variants.iter().position(|own| *own == campaign.baseline).unwrap_or(0),
        share: campaign.calibration.as_ref().map_or(0.0, |own| own.share.clamp(0.0, 0.5)),
        truths: truths.filter_map(index).collect(),
    }
}

/// The ids that the record of a campaign must list, drawn again from its seed.
pub fn ids(campaign: &Campaign) -> Vec<String> {
    let truths = campaign.calibration.as_ref().map_or(&[][..], |own| &own.truths);
    let id = |turn: Turn| {
        let name = match turn.who {
            Who::Variant(variant) => campaign.variants[variant].as_str(),
            Who::Known(truth) => truths.get(truth).map_or("", |truth| truth.kind.variant()),
        };
        id(turn.block, &campaign.traffics[turn.traffic], name)
    };
    drawn(campaign).turns().into_iter().map(id).collect()
}

/// The streams of layouts, apart from those of blocks.
const LAYOUTS: u128 = 1 << 64;

/// From what the process of that number draws where its memory lies, in a campaign of that seed.
pub fn layout(seed: u64, process: u32) -> u64 {
    Pcg64::new(u128::from(seed), LAYOUTS + u128::from(process)).next_u64()
}
