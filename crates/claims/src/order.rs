//! The running order of a campaign, drawn from its seed.
//!
//! The runner draws it before the first trial, and whoever checks a journal draws it again: both must
//! use one rule. The same seed gives the same order on every machine and in every version, so the
//! generator and the shuffle are spelled out here rather than left to a library's choice.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

use fwdlab_results::{Campaign, Grouping, Truth};

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The seed.
    pub seed: u64,
    /// Which trials of a block follow each other.
    pub grouping: Grouping,
    /// Number of blocks.
    pub blocks: u32,
    /// Number of traffics.
    pub traffics: usize,
    /// Number of variants.
    pub variants: usize,
    /// Share of the trials that prove the lab itself.
    pub share: f64,
    /// Index of the traffic of each truth that these ask for in turn.
    pub truths: Vec<usize>,
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

impl Draw {
    /// The running order: in each block every variant with every traffic once. The order of a block
    /// does not depend on how many blocks follow it.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for block in 1..=self.blocks {
            let mut generator = Pcg64::new(u128::from(self.seed), u128::from(block));
            let pairs = self.block_order(&mut generator);
            let turn = |(traffic, variant)| Turn { block, traffic, who: Who::Variant(variant) };
            let mut own: Vec<Turn> = pairs.into_iter().map(turn).collect();
            self.hide(block, &mut own);
            turns.extend(own);
        }
        turns
    }

    /// Puts the trials of a block whose answer is known among its others, at random places: beside the
    /// variants of their traffic, or where setting up takes long, between variants.
    fn hide(&self, block: u32, turns: &mut Vec<Turn>) {
        let mut generator = Pcg64::new(u128::from(self.seed), KNOWN + u128::from(block));
        for truth in self.known_of(block) {
            let traffic = self.truths[truth];
            let is_beside = |turn: &Turn| self.grouping.is_traffic() && turn.traffic == traffic;
            let first = turns.iter().position(is_beside).unwrap_or(0);
            let last = turns.iter().rposition(is_beside).map_or(turns.len(), |last| last + 1);
            let at = first + below((last - first) as u64 + 1, &mut generator) as usize;
            turns.insert(at, Turn { block, traffic, who: Who::Known(truth) });
        }
    }

    /// The truths of a block. They take turns over all blocks, and none comes twice in one.
    fn known_of(&self, block: u32) -> impl Iterator<Item = usize> + use<> {
        let each = self.share / (1.0 - self.share) * (self.traffics * self.variants) as f64;
        let before = |block: u32| (each * f64::from(block)) as usize;
        let (first, last) = (before(block.saturating_sub(1)), before(block));
        let truths = self.truths.len();
        (first..last).take(truths).map(move |number| number % truths)
    }

    /// The (traffic, variant) pairs of a block in running order.
    fn block_order(&self, generator: &mut Pcg64) -> Vec<(usize, usize)> {
        let Self { traffics, variants, .. } = *self;
        let mut shuffled = |count: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            shuffle(&mut order, generator);
            order
        };
        let mut pairs = Vec::with_capacity(traffics * variants);
        match self.grouping {
            Grouping::Traffic => {
                for traffic in shuffled(traffics) {
                    pairs.extend(shuffled(variants).into_iter().map(|variant| (traffic, variant)));
                }
            }
            Grouping::Variant => {
                for variant in shuffled(variants) {
                    pairs.extend(shuffled(traffics).into_iter().map(|traffic| (traffic, variant)));
                }
            }
        }
        pairs
    }
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
        seed: campaign.seed,
        grouping: campaign.grouping,
        blocks: campaign.blocks,
        traffics: campaign.traffics.len(),
        variants: campaign.variants.len(),
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

/// Fisher-Yates: every order is equally likely.
fn shuffle<T>(items: &mut [T], generator: &mut Pcg64) {
    for last in (1..items.len()).rev() {
        let other = below(last as u64 + 1, generator) as usize;
        items.swap(last, other);
    }
}

/// A number from 0 to `bound - 1`, each equally likely: draws from the
/// incomplete last multiple of `bound` below 2^64 are thrown away.
fn below(bound: u64, generator: &mut Pcg64) -> u64 {
    let incomplete = (u64::MAX % bound + 1) % bound;
    loop {
        let drawn = generator.next_u64();
        if drawn <= u64::MAX - incomplete {
            return drawn % bound;
        }
    }
}
