//! Changes for modules that write one after another.

use super::Change;
use crate::family::Family;
use crate::rib::{Rib, WALKS};

/// The ways of so few changes are still in the caches, to which the routing table brought them for itself.
const NEAR: usize = 512;

/// Changes one after another, of many each with its way through the routing table fetched before.
pub(crate) fn fetched<'a, F: Family>(
    changes: &'a [Change<F>],
    rib: &'a Rib<F>,
) -> impl Iterator<Item = &'a Change<F>> {
    let is_far = changes.len() > NEAR;
    changes.chunks(WALKS).flat_map(move |some| {
        if is_far {
            rib.fetch(some.iter().map(|change| change.prefix));
        }
        some
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inet, Inet6, NexthopId, Prefix, Random};

    /// Also of those whose prefixes are not in the table.
    fn none_is_left_out<F: Family>(seed: u64) {
        let mut random = Random::new(seed);
        let mut rib = Rib::<F>::new();
        for count in [0, 1, WALKS + 1, NEAR, NEAR + 1] {
            let draw = |_| {
                let len = [0, 1, 7, 8, 9, F::BITS][random.below(6) as usize];
                let prefix = Prefix::covering(random.addr::<F>(), len);
                Change { prefix, old: NexthopId::NONE, new: NexthopId(1) }
            };
            let changes: Vec<Change<F>> = (0..count).map(draw).collect();
            assert!(fetched(&changes, &rib).eq(&changes));
            changes.iter().for_each(|change| _ = rib.set(change.prefix, change.new));
            assert!(fetched(&changes, &rib).eq(&changes));
        }
    }

    #[test]
    fn a_fetch_leaves_no_change_out() {
        for seed in 0..8 {
            none_is_left_out::<Inet>(seed);
            none_is_left_out::<Inet6>(seed);
        }
    }
}
