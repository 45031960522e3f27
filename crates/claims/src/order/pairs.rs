//! The (traffic, variant) pairs of one block.

use rand_pcg::Pcg64;

use super::shuffle::shuffled;
use fwdlab_results::Grouping;

/// A pair.
pub(super) type Pair = (usize, usize);

/// What a block runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    /// Which trials of a block follow each other.
    pub grouping: Grouping,
    /// Number of traffics.
    pub traffics: usize,
    /// Number of variants.
    pub variants: usize,
}

impl Pairs {
    /// The pairs in an order that knows of no other block.
    pub fn free(self, generator: &mut Pcg64) -> Vec<Pair> {
        let Self { traffics, variants, .. } = self;
        let mut pairs = Vec::with_capacity(traffics * variants);
        match self.grouping {
            Grouping::Traffic => {
                for traffic in shuffled(traffics, generator) {
                    let variants = shuffled(variants, generator).into_iter();
                    pairs.extend(variants.map(|variant| (traffic, variant)));
                }
            }
            Grouping::Variant => {
                for variant in shuffled(variants, generator) {
                    let traffics = shuffled(traffics, generator).into_iter();
                    pairs.extend(traffics.map(|traffic| (traffic, variant)));
                }
            }
        }
        pairs
    }

    /// The orders of four blocks that follow each other: two free ones and their mirrors, shuffled.
    /// What a place costs of its own then cancels between two variants.
    pub fn four(self, generator: &mut Pcg64) -> [Vec<Pair>; 4] {
        let [first, second] = [self.free(generator), self.free(generator)];
        let all = [self.mirror(&first), first, self.mirror(&second), second];
        let order = shuffled(all.len(), generator);
        std::array::from_fn(|at| all[order[at]].clone())
    }

    /// Whether with some traffic a variant stands before the baseline in all of some orders, or in none.
    pub fn is_one_sided(self, orders: &[Vec<Pair>], baseline: usize) -> bool {
        let place = |order: &[Pair], pair: Pair| order.iter().position(|own| *own == pair);
        let others = (0..self.variants).filter(|variant| *variant != baseline);
        let mut pairs =
            others.flat_map(|variant| (0..self.traffics).map(move |own| (own, variant)));
        pairs.any(|(traffic, variant)| {
            let is_before = |order: &&Vec<Pair>| {
                place(order, (traffic, variant)) < place(order, (traffic, baseline))
            };
            let before = orders.iter().filter(is_before).count();
            before == 0 || before == orders.len()
        })
    }

    /// The same traffics at the same places, with the variants in reverse.
    fn mirror(self, pairs: &[Pair]) -> Vec<Pair> {
        let length = match self.grouping {
            Grouping::Traffic => self.variants,
            Grouping::Variant => pairs.len(),
        };
        let reversed = |pairs: &[Pair]| -> Vec<Pair> {
            let variants = pairs.iter().rev().map(|(_, variant)| *variant);
            pairs.iter().map(|(traffic, _)| *traffic).zip(variants).collect()
        };
        pairs.chunks(length.max(1)).flat_map(reversed).collect()
    }
}
