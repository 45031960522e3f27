//! Changes for modules that write one after another.

use super::Change;
use crate::family::Family;
use crate::rib::{Rib, WALKS};

/// Changes one after another, each with its way through the routing table fetched before.
pub(crate) fn fetched<'a, F: Family>(
    changes: &'a [Change<F>],
    rib: &'a Rib<F>,
) -> impl Iterator<Item = &'a Change<F>> {
    let is_batch = changes.len() > 1;
    changes.chunks(WALKS).flat_map(move |some| {
        if is_batch {
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
        for count in [0, 1, WALKS, 3 * WALKS + 1] {
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
