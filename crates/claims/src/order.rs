//! The running order of a campaign, drawn from its seed.
//!
//! The runner draws it before the first trial, and whoever checks a journal draws it again: both must
//! use one rule. The same seed gives the same order on every machine and in every version, so the
//! generator and the shuffle are spelled out here rather than left to a library's choice.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

use fwdlab_results::{Campaign, Grouping};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// One place in the running order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Block, from 1.
    pub block: u32,
    /// Index of the traffic.
    pub traffic: usize,
    /// Index of the variant.
    pub variant: usize,
}

impl Draw {
    /// The running order: in each block every variant with every traffic once. The order of a block
    /// does not depend on how many blocks follow it.
    pub fn turns(self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for block in 1..=self.blocks {
            let mut generator = Pcg64::new(u128::from(self.seed), u128::from(block));
            let pairs = self.block_order(&mut generator);
            turns.extend(pairs.into_iter().map(|(traffic, variant)| Turn {
                block,
                traffic,
                variant,
            }));
        }
        turns
    }

    /// The (traffic, variant) pairs of a block in running order.
    fn block_order(self, generator: &mut Pcg64) -> Vec<(usize, usize)> {
        let Self { traffics, variants, .. } = self;
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

/// The ids that the record of a campaign must list, drawn again from its seed.
pub fn ids(campaign: &Campaign) -> Vec<String> {
    let draw = Draw {
        seed: campaign.seed,
        grouping: campaign.grouping,
        blocks: campaign.blocks,
        traffics: campaign.traffics.len(),
        variants: campaign.variants.len(),
    };
    let id = |turn: Turn| {
        id(turn.block, &campaign.traffics[turn.traffic], &campaign.variants[turn.variant])
    };
    draw.turns().into_iter().map(id).collect()
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
