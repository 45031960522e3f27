//! The right answers, and addresses worth asking about.

use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::random::Random;

/// Routes in any order.
pub type Routes<F> = Vec<(Prefix<F>, NexthopId)>;

/// The right answer by linear search: the longest of all routes that contain the address.
pub fn oracle<F: Family>(routes: &[(Prefix<F>, NexthopId)], addr: F::Addr) -> NexthopId {
    let matching = routes.iter().filter(|(prefix, _)| prefix.contains(addr));
    matching.max_by_key(|(prefix, _)| prefix.len()).map_or(NexthopId::NONE, |route| route.1)
}

/// Addresses worth asking about a prefix: its ends, their outer neighbours, one inside.
pub fn edges<F: Family>(prefix: &Prefix<F>, random: &mut Random) -> [F::Addr; 5] {
    let (first, last) = (prefix.addr(), prefix.last_addr());
    let after = last.successor().unwrap_or(F::Addr::ZERO);
    // a - 1 = !(!a + 1) in two's complement; before the first address comes the last one.
    let before = (!first).successor().map_or(F::Addr::MAX, |next| !next);
    [first, last, before, after, random.addr_in(prefix)]
}
