//! Many campaigns of each kind, counted.

use super::methods::{BLOCKS, DEFAULTS, Default, ORDERS, Order, PEERS, Peer, Said};
use super::noise::{ALL, Noise};
use super::parallel::{Size, in_parallel, random_of};
use super::{between, cold, rare, trust};

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
    pub cold: Vec<cold::Row>,
    pub rare: Vec<rare::Row>,
}

/// Runs everything on all cores. The result depends on nothing but [`SEED`] and `size`.
pub fn simulate(size: Size) -> Simulated {
    let mut defaults = Vec::new();
    for default in DEFAULTS {
        for noise in ALL {
            let by_effect = EFFECTS
                .iter()
                .map(|effect| default_shares(default, noise, *effect, size))
                .collect();
            defaults.push(DefaultRow { default, noise, by_effect });
        }
    }
    let mut peers = Vec::new();
    for order in ORDERS.into_iter().filter(|_| size.has_peers) {
        for peer in PEERS {
            for noise in ALL {
                let by_effect = EFFECTS
                    .iter()
                    .map(|effect| peer_share((peer, order), noise, *effect, size))
                    .collect();
                peers.push(PeerRow { peer, order, by_effect });
            }
        }
    }
    let (trust, between) = (trust::simulate(size), between::simulate(size));
    let (cold, rare) = (cold::simulate(size), rare::simulate(size));
    Simulated { size, defaults, peers, trust, between, cold, rare }
}

fn campaigns(effect: f64, size: Size) -> u64 {
    // at the margin itself false "equivalent" verdicts are counted, as rare as false differences
    if effect == 0.0 || effect == EFFECTS[1] { size.without_effect } else { size.with_effect }
}

fn default_shares(default: Default, noise: Noise, effect: f64, size: Size) -> Shares {
    let count = campaigns(effect, size);
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
