//! Synthetic routing tables of any size that look like real ones: for tests, benches, and users
//! without a dump.
//!
//! The generator divides the wanted number of routes among the blocks of the address space, from the
//! registries' large blocks down to single routes, as a real table does: at each prefix length a block
//! with routes inside is itself a route, or has all of them in one half, or divides them more or less
//! evenly, with shares measured at that length for blocks of that many routes (a conservative cascade
//! on the binary trie). So prefix lengths, nesting and clustering come out as in the real
//! table, and grow as tables grow: denser, not longer. The same seed gives the same table everywhere:
//! only integers and one comparison of a fraction are used.

mod model;

use fwdlab_fib::{Address, Family, NexthopId, Prefix, Random};
use model::{CLASSES, Model, Step};

/// Routes in a full IPv4 table as measured (the model's source).
pub const FULL_INET: usize = 901_899;
/// Routes in a full IPv6 table as measured (the model's source).
pub const FULL_INET6: usize = 160_147;
/// Unusually long routes come in groups of about this size.
const DEEP_CLUSTER: u64 = 6;

/// A description of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synth {
    /// Number of routes.
    pub routes: usize,
    /// Nexthop numbers go from 1 to this.
    pub nexthops: u32,
    /// Probability that a route has the nexthop of the route before it; 0 draws each at random, which
    /// is the hardest case for algorithms that join equal neighbours.
    pub locality: f64,
    /// The same seed gives the same table.
    pub seed: u64,
}

impl Synth {
    /// A table of random nexthops.
    pub fn new(routes: usize, nexthops: u32, seed: u64) -> Self {
        Self { routes, nexthops, locality: 0.0, seed }
    }

    /// The table: sorted by (address, length), each prefix once. O(routes).
    ///
    /// It has exactly the wanted number of routes up to 20 million for IPv4 and 4 billion for IPv6,
    /// where the usual prefix lengths are used up.
    pub fn table<F: Family>(&self) -> Vec<(Prefix<F>, NexthopId)> {
        let model = if F::BITS == 32 { &model::INET } else { &model::INET6 };
        let mut random = Random::new(self.seed);
        let deep = self.routes * model.deep_permyriad / 10_000;
        let mut prefixes = Vec::with_capacity(self.routes);
        let mut cascade = Cascade { model, random: &mut random, prefixes: &mut prefixes };
        for (root, routes) in cascade.roots(self.routes - deep) {
            cascade.fill(root, routes);
        }
        add_deep(model, deep, &mut random, &mut prefixes);
        self.with_nexthops(prefixes, &mut random)
    }

    fn with_nexthops<F: Family>(
        &self,
        prefixes: Vec<Prefix<F>>,
        random: &mut Random,
    ) -> Vec<(Prefix<F>, NexthopId)> {
        let mut last = NexthopId::NONE;
        let mut next = || {
            if last.is_none() || random.unit() >= self.locality {
                last = NexthopId(1 + random.below(u64::from(self.nexthops.max(1))) as u32);
            }
            last
        };
        prefixes.into_iter().map(|prefix| (prefix, next())).collect()
    }
}

struct Cascade<'a, F: Family> {
    model: &'static Model,
    random: &'a mut Random,
    prefixes: &'a mut Vec<Prefix<F>>,
}

impl<F: Family> Cascade<'_, F> {
    /// Divides all routes among the roots in the measured proportion, by largest remainders.
    fn roots(&mut self, routes: usize) -> Vec<(Prefix<F>, usize)> {
        let len = self.model.root_len;
        let total: u64 = self.model.roots.iter().map(|root| u64::from(root.1)).sum();
        let exact = |weight: u32| routes as u64 * u64::from(weight);
        let most = capacity(self.model.steps.len());
        let mut shares: Vec<usize> = self
            .model
            .roots
            .iter()
            .map(|root| ((exact(root.1) / total) as usize).min(most))
            .collect();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(exact(self.model.roots[i].1) % total));
        let mut missing = routes - shares.iter().sum::<usize>();
        while missing > 0 && shares.iter().any(|&share| share < most) {
            for &i in &order {
                if missing > 0 && shares[i] < most {
                    shares[i] += 1;
                    missing -= 1;
                }
            }
        }
        let shift = u32::from(F::BITS - len);
        let prefix =
            |bits: u32| Prefix::covering(F::Addr::truncate(u128::from(bits)) << shift, len);
        self.model.roots.iter().zip(shares).map(|(root, share)| (prefix(root.0), share)).collect()
    }

    /// Puts routes into a block, in order. Recurses once for each bit of the usual lengths.
    fn fill(&mut self, block: Prefix<F>, mut routes: usize) {
        if routes == 0 {
            return;
        }
        let depth = usize::from(block.len() - self.model.root_len);
        let step = &self.model.steps[depth];
        let inside = capacity(self.model.steps.len() - depth) - 1;
        if routes > inside || self.draw(step.here[class(routes)]) {
            self.prefixes.push(block);
            routes -= 1;
        }
        if routes == 0 {
            return;
        }
        let (low, high) = self.divide(step, routes, inside / 2);
        let middle = F::Addr::truncate(1) << u32::from(F::BITS - block.len() - 1);
        self.fill(Prefix::covering(block.addr(), block.len() + 1), low);
        self.fill(Prefix::covering(block.addr() | middle, block.len() + 1), high);
    }

    /// Divides routes between the halves of a block, each of which can hold `most`.
    fn divide(&mut self, step: &Step, routes: usize, most: usize) -> (usize, usize) {
        let class = class(routes);
        if routes <= most && self.draw(step.one_side[class]) {
            return if self.draw(step.low) { (routes, 0) } else { (0, routes) };
        }
        let quantiles = step.difference[class];
        let difference = usize::from(quantiles[self.random.below(quantiles.len() as u64) as usize]);
        // (routes + routes * difference) / 2, rounded
        let larger = (routes * (100 + difference) + 100) / 200;
        let larger = larger.min(most).min(routes - 1).max(routes - routes / 2);
        let smaller = routes - larger;
        if self.draw(500) { (smaller, larger) } else { (larger, smaller) }
    }

    fn draw(&mut self, permille: u16) -> bool {
        self.random.below(1000) < u64::from(permille)
    }
}

/// How many prefixes a block can hold, itself included, when `levels` lengths are allowed.
fn capacity(levels: usize) -> usize {
    (1usize << levels.min(40)) - 1
}

/// The class of a block with this many routes (at least one).
fn class(routes: usize) -> usize {
    CLASSES.partition_point(|&least| least <= routes) - 1
}

/// Adds routes that are longer than usual, in clusters inside routes of the usual lengths.
fn add_deep<F: Family>(
    model: &Model,
    count: usize,
    random: &mut Random,
    prefixes: &mut Vec<Prefix<F>>,
) {
    let usual = prefixes.len();
    if usual == 0 {
        return;
    }
    let wanted = usual + count;
    let total: u64 = model.deep_lengths.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let longest = model.root_len + model.steps.len() as u8 - 1;
    while prefixes.len() < wanted {
        let missing = (wanted - prefixes.len()) as u64;
        for cluster in 0..missing.div_ceil(DEEP_CLUSTER) {
            let around = prefixes[random.below(usual as u64) as usize];
            let around = Prefix::<F>::covering(random.addr_in(&around), longest);
            for _ in 0..DEEP_CLUSTER.min(missing - cluster * DEEP_CLUSTER) {
                let len = weighted(model.deep_lengths, random.below(total));
                prefixes.push(Prefix::covering(random.addr_in(&around), len));
            }
        }
        prefixes.sort_unstable();
        prefixes.dedup();
    }
}

fn weighted(weights: &[(u8, u32)], mut at: u64) -> u8 {
    for &(value, weight) in weights {
        if at < u64::from(weight) {
            return value;
        }
        at -= u64::from(weight);
    }
    weights.last().map_or(0, |last| last.0)
}

#[cfg(test)]
mod tests;
