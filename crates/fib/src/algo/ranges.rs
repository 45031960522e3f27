//! Prefixes as disjoint address ranges: what remains of nesting when only answers count.

use super::Dump;
use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;

/// The ranges of a table: each starts at its address and ends before the next one's start. The
/// first starts at 0, neighbours differ in nexthop. At most 2n + 1 ranges for n routes; O(n).
pub fn ranges<F: Family>(dump: &Dump<F>) -> Vec<(F::Addr, NexthopId)> {
    let mut sweep = Sweep::<F> { ranges: vec![(F::Addr::ZERO, NexthopId::NONE)], open: Vec::new() };
    for &(prefix, nexthop) in dump.routes() {
        sweep.close_before(prefix.addr());
        sweep.start(prefix.addr(), nexthop);
        sweep.open.push((prefix, nexthop));
    }
    sweep.close_all();
    sweep.ranges
}

struct Sweep<F: Family> {
    ranges: Vec<(F::Addr, NexthopId)>,
    /// The prefixes around the current address, outermost first.
    open: Vec<(Prefix<F>, NexthopId)>,
}

impl<F: Family> Sweep<F> {
    /// Ends the open prefixes that do not reach `addr`.
    fn close_before(&mut self, addr: F::Addr) {
        while let Some((prefix, _)) = self.open.pop_if(|(prefix, _)| !prefix.contains(addr)) {
            self.resume_after(prefix);
        }
    }

    fn close_all(&mut self) {
        while let Some((prefix, _)) = self.open.pop() {
            self.resume_after(prefix);
        }
    }

    /// After `prefix`, the one around it shines through again.
    fn resume_after(&mut self, prefix: Prefix<F>) {
        if let Some(next) = prefix.last_addr().successor() {
            let outer = self.open.last().map_or(NexthopId::NONE, |(_, nexthop)| *nexthop);
            self.start(next, outer);
        }
    }

    fn start(&mut self, addr: F::Addr, nexthop: NexthopId) {
        // A range of no length: something else starts at the same address.
        if self.ranges.last().is_some_and(|last| last.0 == addr) {
            self.ranges.pop();
        }
        if self.ranges.last().is_none_or(|last| last.1 != nexthop) {
            self.ranges.push((addr, nexthop));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inet;

    fn of(routes: &[(&str, u32)]) -> Vec<(u32, u32)> {
        let routes = routes.iter().map(|(p, n)| (p.parse().unwrap(), NexthopId(*n))).collect();
        ranges(&Dump::<Inet>::new(routes)).into_iter().map(|(a, n)| (a, n.0)).collect()
    }

    #[test]
    fn an_empty_table_is_one_range_without_route() {
        assert_eq!(of(&[]), [(0, 0)]);
        assert_eq!(of(&[("0.0.0.0/0", 5)]), [(0, 5)]);
    }

    #[test]
    fn nested_prefixes_shine_through_after_their_inner_ones() {
        let table = of(&[("10.0.0.0/8", 1), ("10.0.0.0/16", 2), ("10.255.0.0/16", 3)]);
        let (ten, eleven) = (10 << 24, 11 << 24);
        assert_eq!(
            table,
            [(0, 0), (ten, 2), (ten + 0x1_0000, 1), (ten + 0xff_0000, 3), (eleven, 0)]
        );
    }

    #[test]
    fn neighbours_with_one_nexthop_become_one_range() {
        assert_eq!(of(&[("0.0.0.0/1", 4), ("128.0.0.0/1", 4), ("128.0.0.0/9", 4)]), [(0, 4)]);
        assert_eq!(of(&[("255.255.255.255/32", 4)]), [(0, 0), (u32::MAX, 4)]);
    }
}
