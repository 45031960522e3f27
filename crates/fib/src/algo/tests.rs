//! What holds for every algorithm beside right answers.

use super::{Change, Response};
use crate::epoch::Grace;
use crate::family::Family;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::random::Random;
use crate::registry::Registry;
use crate::rib::{DUMPS, Rib};
use crate::{Inet, Inet6};

fn asks_cheaply<F: Family>() {
    let mut random = Random::new(64);
    let mut rib = Rib::<F>::new();
    while rib.len() < 3000 {
        rib.set(Prefix::covering(random.addr::<F>(), 20), NexthopId(1 + random.below(9) as u32));
    }
    let mut asked = 0;
    for algorithm in Registry::<F>::standard().all() {
        let mut module = algorithm.build(&rib.dump()).unwrap();
        let prefix = Prefix::covering(random.addr::<F>(), 24);
        let new = NexthopId(3);
        let mut changed = rib.clone();
        let old = changed.set(prefix, new);
        let before = DUMPS.get();
        let change = Change { prefix, old, new };
        if let Response::Rebuild { .. } =
            module.apply(&[change], &changed, &Grace::without_readers())
        {
            asked += 1;
            assert_eq!(DUMPS.get(), before, "{} dumps the table to say so", algorithm.name());
        }
    }
    assert!(asked >= 5, "only {asked} algorithms of {} ask for a rebuild", F::NAME);
}

#[test]
fn who_asks_for_a_rebuild_does_not_dump_the_table_first() {
    asks_cheaply::<Inet>();
    asks_cheaply::<Inet6>();
}
