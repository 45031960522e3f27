//! A routing table as algorithms get it for a full build: a sorted list.

use crate::family::Family;
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;

/// Routes sorted by (address, length), each prefix once, none with [`NexthopId::NONE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump<F: Family> {
    routes: Vec<(Prefix<F>, NexthopId)>,
    highest_nexthop: u32,
}

impl<F: Family> Dump<F> {
    /// Takes routes in any order. Of several with the same prefix the last one counts; routes
    /// without nexthop are left out. O(n log n), O(n) when sorted already.
    pub fn new(mut routes: Vec<(Prefix<F>, NexthopId)>) -> Self {
        if !routes.is_sorted_by(|a, b| a.0 < b.0) {
            routes.sort_by_key(|route| route.0);
            // dedup_by drops the later element of a pair, so carry its value over to the earlier.
            routes.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    earlier.1 = later.1;
                }
                same
            });
        }
        routes.retain(|route| !route.1.is_none());
        let highest_nexthop = routes.iter().map(|route| route.1.0).max().unwrap_or(0);
        Self { routes, highest_nexthop }
    }

    /// The routes in order.
    pub fn routes(&self) -> &[(Prefix<F>, NexthopId)] {
        &self.routes
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// Highest nexthop number in the table; 0 when it is empty.
    pub fn highest_nexthop(&self) -> u32 {
        self.highest_nexthop
    }
}
