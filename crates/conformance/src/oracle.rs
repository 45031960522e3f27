//! The right answers, and addresses worth asking about.

use fwdlab_fib::{Address, Family, NexthopId, Prefix, Random};

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

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::Inet;

    #[test]
    fn the_edges_of_a_prefix_wrap_around() {
        let [first, last, before, after, inside] =
            edges(&Prefix::<Inet>::DEFAULT, &mut Random::new(1));
        assert_eq!((first, last, before, after), (0, u32::MAX, u32::MAX, 0));
        let _any_address_is_inside = inside;
        let net: Prefix<Inet> = "10.0.0.0/8".parse().unwrap();
        let [_, _, before, after, inside] = edges(&net, &mut Random::new(1));
        assert_eq!((before, after), (0x09ff_ffff, 0x0b00_0000));
        assert!(net.contains(inside));
    }
}
