//! The routing table: every prefix with its nexthop.

use std::collections::BTreeMap;

use crate::algo::Dump;
use crate::family::Family;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;

/// A routing table: each prefix once, with its nexthop.
#[derive(Debug, Clone)]
pub struct Rib<F: Family> {
    routes: BTreeMap<Prefix<F>, NexthopId>,
    by_len: Vec<usize>,
}

impl<F: Family> Default for Rib<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Family> Rib<F> {
    /// An empty table.
    pub fn new() -> Self {
        Self { routes: BTreeMap::new(), by_len: vec![0; usize::from(F::BITS) + 1] }
    }

    /// Sets the nexthop of a prefix and returns the one before ([`NexthopId::NONE`] when the
    /// route is new). Setting [`NexthopId::NONE`] deletes the route.
    pub fn set(&mut self, prefix: Prefix<F>, nexthop: NexthopId) -> NexthopId {
        let old = if nexthop.is_none() {
            self.routes.remove(&prefix)
        } else {
            self.routes.insert(prefix, nexthop)
        };
        let count = &mut self.by_len[usize::from(prefix.len())];
        match (old, nexthop.is_none()) {
            (None, false) => *count += 1,
            (Some(_), true) => *count -= 1,
            _ => {}
        }
        old.unwrap_or_default()
    }

    /// The nexthop of exactly this prefix.
    pub fn exact(&self, prefix: Prefix<F>) -> NexthopId {
        self.routes.get(&prefix).copied().unwrap_or_default()
    }

    /// The longest route that matches an address.
    pub fn longest_match(&self, addr: F::Addr) -> Option<(Prefix<F>, NexthopId)> {
        self.longest_up_to(addr, F::BITS)
    }

    /// The longest route that contains `prefix` and is shorter than it: what shines through when
    /// `prefix` is deleted.
    pub fn covering(&self, prefix: Prefix<F>) -> Option<(Prefix<F>, NexthopId)> {
        self.longest_up_to(prefix.addr(), prefix.len().checked_sub(1)?)
    }

    /// The longest route of at most `max_len` bits that matches an address.
    pub fn longest_up_to(&self, addr: F::Addr, max_len: u8) -> Option<(Prefix<F>, NexthopId)> {
        (0..=max_len.min(F::BITS)).rev().filter(|&len| self.by_len[usize::from(len)] > 0).find_map(
            |len| {
                let prefix = Prefix::covering(addr, len);
                self.routes.get(&prefix).map(|&nexthop| (prefix, nexthop))
            },
        )
    }

    /// All routes inside `prefix`, the prefix itself included, in order.
    pub fn covered(
        &self,
        prefix: Prefix<F>,
    ) -> impl Iterator<Item = (Prefix<F>, NexthopId)> + use<'_, F> {
        let end = Prefix::host(prefix.last_addr());
        self.routes.range(prefix..=end).map(|(&prefix, &nexthop)| (prefix, nexthop))
    }

    /// All routes in order of (address, length).
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<F>, NexthopId)> + use<'_, F> {
        self.routes.iter().map(|(&prefix, &nexthop)| (prefix, nexthop))
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// Number of routes of each prefix length, from 0 to the family's width.
    pub fn lengths(&self) -> &[usize] {
        &self.by_len
    }

    /// All routes as a sorted list.
    pub fn dump(&self) -> Dump<F> {
        Dump::new(self.iter().collect())
    }
}
