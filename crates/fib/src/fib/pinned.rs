//! A table as a reader sees it at a moment.

use super::default_route::{DefaultRoute, With};
use crate::family::Family;
use crate::inlined::{Inlined, Singly};
use crate::lookup::Lookup;
use crate::nexthop::{NexthopGroup, NexthopGroups, NexthopId};
use crate::publish::{self, Subscriber};
use crate::sync::{AtomicU64, Ordering};

/// What readers see at a moment.
pub(super) struct View<F: Family> {
    pub(super) lookup: std::sync::Arc<dyn Lookup<F>>,
    /// Its default route, where it has none in itself.
    pub(super) default: Option<DefaultRoute>,
    pub(super) groups: NexthopGroups,
    /// Whether the framework chose the algorithm.
    pub(super) is_automatic: bool,
}

/// A table held still: what it answers with stays valid as long as this lives. Not to be kept
/// longer than a batch, since the memory of replaced tables is not freed meanwhile.
pub struct Pinned<'a, F: Family> {
    view: publish::Pinned<'a, View<F>>,
    generation: u64,
}

impl<'a, F: Family> Pinned<'a, F> {
    /// Pins what a reader has subscribed to.
    #[inline]
    pub(super) fn new(subscriber: &'a mut Subscriber<View<F>>, generation: &AtomicU64) -> Self {
        // First the number, then the table: answers may be newer than it says, never older. And the
        // number only once the slot is pinned: a nexthop of the generation that it names can then not
        // be given away until the end, so answers of that generation may be used that were kept.
        let (view, generation) = subscriber.pin_after(|| generation.load(Ordering::Acquire));
        Self { view, generation }
    }
}

impl<F: Family> Pinned<'_, F> {
    /// Longest match of one address.
    #[inline]
    pub fn lookup(&self, addr: F::Addr) -> NexthopId {
        match &self.view.default {
            None => self.view.lookup.lookup(addr),
            Some(default) => default.answer(|| self.view.lookup.lookup(addr)),
        }
    }

    /// Longest match of an address of the standard library.
    #[inline]
    pub fn lookup_ip(&self, ip: F::Ip) -> NexthopId {
        self.lookup(ip.into())
    }

    /// Longest matches of many addresses, see [`Reader::lookup_batch`].
    #[inline]
    pub fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        match &self.view.default {
            None => self.view.lookup.lookup_batch(addrs, answers),
            Some(default) => default.batch(&*self.view.lookup, addrs, answers),
        }
    }

    /// The longest match of all addresses that share the first half of their bits with this one, where they
    /// have one and the algorithm tells (`direct6` does).
    #[inline]
    pub fn lookup_half(&self, addr: F::Addr) -> Option<NexthopId> {
        match &self.view.default {
            None => self.view.lookup.lookup_half(addr),
            Some(default) => default.half(&*self.view.lookup, addr),
        }
    }

    /// Whether the framework chose the algorithm. Of one that was named no answers should be kept.
    #[inline]
    pub fn is_automatic(&self) -> bool {
        self.view.is_automatic
    }

    /// The nexthop for a flow: the member that a group has for it, or `id` when that is no group.
    #[inline]
    pub fn member(&self, id: NexthopId, flow_hash: u32) -> NexthopId {
        self.nexthop_group(id).map_or(id, |group| group.member(flow_hash))
    }

    /// The group of a number, unless it is a single nexthop's.
    #[inline]
    pub fn nexthop_group(&self, id: NexthopId) -> Option<&NexthopGroup> {
        self.view.groups.nexthop_group(id)
    }

    /// Generation of the table: the number of changes that readers saw when it was pinned. An answer
    /// looked up in this table may be used while one of the same generation is pinned.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl<F: Inlined> Pinned<'_, F> {
    /// Runs a loop of single lookups, compiled for the table's algorithm: a call by pointer for each can take as
    /// long as the lookup. For addresses that are at hand together, [`Pinned::lookup_batch`] is faster.
    #[inline]
    pub fn singly<W: Singly<F>>(&self, work: W) -> W::Output {
        match &self.view.default {
            None => F::singly(&*self.view.lookup, work),
            Some(default) => F::singly(&*self.view.lookup, With(work, default)),
        }
    }
}
