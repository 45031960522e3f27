//! Many campaigns of each kind, counted.

use super::methods::{BLOCKS, DEFAULTS, Default, ORDERS, Order, PEERS, Peer, Said};
use super::noise::{ALL, Noise};
use super::parallel::{Size, in_parallel, random_of};
use super::section::Section;
use super::{between, cold, lost, machines, rare, trust, wild};

/// Sizes of the injected effects; the first is none.
pub const EFFECTS: [f64; 4] = [0.0, 0.01, 0.02, 0.05];

/// Shares over the campaigns of one cell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shares {
    /// "Faster" or "slower".
    pub difference: f64,
    /// "Equivalent".
    pub equivalent: f64,
    /// Mean number of blocks.
    pub blocks: f64,
}

/// One of fwdlab's defaults under one noise model.
pub struct DefaultRow {
    pub default: Default,
    pub noise: Noise,
    /// By [`EFFECTS`].
    pub by_effect: Vec<Shares>,
}

/// One of the usual tests under one noise model and order of runs: shares of differences. Rows
/// follow each other in the order of the noise models.
pub struct PeerRow {
    pub peer: Peer,
    pub order: Order,
    /// By [`EFFECTS`].
    pub by_effect: Vec<f64>,
}

/// All that was simulated.
pub struct Simulated {
    pub size: Size,
    pub defaults: Vec<DefaultRow>,
    pub peers: Vec<PeerRow>,
    pub trust: Vec<trust::Row>,
    pub between: Vec<between::Row>,
    pub machines: Vec<machines::Row>,
    pub cold: Vec<cold::Row>,
    pub rare: Vec<rare::Row>,
    pub wild: Vec<wild::Row>,
    pub lost: Vec<lost::Row>,
}

/// Runs everything, or one section, on all cores. The result depends on nothing but [`SEED`](super::SEED)
/// and `size`.
pub fn simulate(size: Size, only: Option<Section>) -> Simulated {
    let wants = |section: Section| only.is_none_or(|only| only == section);
    Simulated {
        size,
        defaults: if only.is_none() { defaults(size) } else { Vec::new() },
        peers: if only.is_none() && size.is_whole { peers(size) } else { Vec::new() },
        trust: if wants(Section::Trust) { trust::simulate(size) } else { Vec::new() },
        between: if wants(Section::Between) { between::simulate(size) } else { Vec::new() },
        machines: if wants(Section::Machines) { machines::simulate(size) } else { Vec::new() },
        cold: if wants(Section::Cold) { cold::simulate(size) } else { Vec::new() },
        rare: if wants(Section::Rare) { rare::simulate(size) } else { Vec::new() },
        wild: if wants(Section::Wild) { wild::simulate(size) } else { Vec::new() },
        lost: if wants(Section::Lost) { lost::simulate(size) } else { Vec::new() },
    }
}

fn defaults(size: Size) -> Vec<DefaultRow> {
    let row = |default: Default, noise: Noise| {
        let shares = |effect: &f64| default_shares(default, noise, *effect, size);
        DefaultRow { default, noise, by_effect: EFFECTS.iter().map(shares).collect() }
    };
    DEFAULTS.into_iter().flat_map(|default| ALL.map(|noise| row(default, noise))).collect()
}

fn peers(size: Size) -> Vec<PeerRow> {
    let row = |order: Order, peer: Peer, noise: Noise| {
        let share = |effect: &f64| peer_share((peer, order), noise, *effect, size);
        PeerRow { peer, order, by_effect: EFFECTS.iter().map(share).collect() }
    };
    let both = ORDERS.into_iter().flat_map(|order| PEERS.map(|peer| (order, peer)));
    both.flat_map(|(order, peer)| ALL.map(|noise| row(order, peer, noise))).collect()
}

fn campaigns(effect: f64, size: Size) -> u64 {
    // at the margin itself false "equivalent" verdicts are counted, as rare as false differences
    if effect == 0.0 || effect == EFFECTS[1] { size.without_effect } else { size.with_effect }
}

fn default_shares(default: Default, noise: Noise, effect: f64, size: Size) -> Shares {
    let count = campaigns(effect, size);
    // The looks of a sequence take their time, and it errs the least.
    let is_short = default == Default::UntilDecided && !size.is_whole;
    let count = if is_short { count / 2 } else { count };
    let sums = in_parallel(count, |campaign| {
        let (said, blocks) = default.run(noise, effect, &mut random_of(noise, effect, campaign));
        [f64::from(said == Said::Difference), f64::from(said == Said::Equivalent), blocks as f64]
    });
    let [difference, equivalent, blocks] = sums.map(|sum| sum / count as f64);
    Shares { difference, equivalent, blocks }
}

fn peer_share((peer, order): (Peer, Order), noise: Noise, effect: f64, size: Size) -> f64 {
    let count = campaigns(effect, size);
    let [differences, _, _] = in_parallel(count, |campaign| {
        let mut random = random_of(noise, effect, campaign);
        let (a, b) = order.runs(noise, effect, &mut random);
        debug_assert_eq!(a.len(), BLOCKS);
        [f64::from(peer.differs(&a, &b, &mut random)), 0.0, 0.0]
    });
    differences / count as f64
}
