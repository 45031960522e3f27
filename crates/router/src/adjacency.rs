//! What the fast path needs of a nexthop, packed into one 64-bit word.
//!
//! ```text
//!  63    60 59     48 47                                            0
//! +--------+---------+-----------------------------------------------+
//! |  kind  |  port   | MAC address, first byte on the wire lowest    |
//! +--------+---------+-----------------------------------------------+
//! ```
//!
//! One word because one atomic load gives a whole, never a torn, answer: the control side and
//! the neighbour table rewrite entries while workers read them, and nobody waits. The source
//! MAC address and the MTU belong to the output port and are found there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fwdlab_fib::NexthopId;
use fwdlab_wire::MacAddr;

/// Entries that a table starts with. It doubles as needed.
const FIRST_CAPACITY: usize = 1024;
const MAC_BITS: u32 = 48;
const MAC_MASK: u64 = (1 << MAC_BITS) - 1;
const KIND_SHIFT: u32 = 60;

/// What to do with a packet that follows a nexthop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// No such nexthop.
    None = 0,
    /// Send to the MAC address through the port.
    Forward = 1,
    /// The gateway on the port has no known MAC address.
    Unresolved = 2,
    /// The destination itself is a neighbour on the port.
    Connected = 3,
    /// For the router itself.
    Local = 4,
    /// Drop.
    Blackhole = 5,
    /// Drop and say so.
    Reject = 6,
    /// A directed broadcast of the port's network.
    Broadcast = 7,
    /// One of several nexthops, by the flow.
    Group = 8,
    /// Drop and say that it is forbidden.
    Prohibit = 9,
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Adjacency(u64);

impl Adjacency {
    pub(crate) const NONE: Adjacency = Adjacency(0);

    pub(crate) fn new(kind: Kind, port: u8, mac: MacAddr) -> Self {
        Adjacency((kind as u64) << KIND_SHIFT | u64::from(port) << MAC_BITS | pack_mac(mac))
    }

    #[inline(always)]
    pub(crate) fn is_forward(self) -> bool {
        self.0 >> KIND_SHIFT == Kind::Forward as u64
    }

    /// 0 when packets are forwarded through this port, without a branch.
    #[inline(always)]
    pub(crate) fn is_not_forward_by(self, port: u8) -> u64 {
        (self.0 >> MAC_BITS) ^ ((Kind::Forward as u64) << (KIND_SHIFT - MAC_BITS) | u64::from(port))
    }

    #[inline(always)]
    pub(crate) fn is_group(self) -> bool {
        self.0 >> KIND_SHIFT == Kind::Group as u64
    }

    /// The MAC address in the low 48 bits, zeros above.
    #[inline(always)]
    pub(crate) fn packed_mac(self) -> u64 {
        self.0 & MAC_MASK
    }

    #[inline(always)]
    pub(crate) fn port(self) -> u8 {
        (self.0 >> MAC_BITS) as u8
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0 >> KIND_SHIFT {
            1 => Kind::Forward,
            2 => Kind::Unresolved,
            3 => Kind::Connected,
            4 => Kind::Local,
            5 => Kind::Blackhole,
            6 => Kind::Reject,
            7 => Kind::Broadcast,
            8 => Kind::Group,
            9 => Kind::Prohibit,
            _ => Kind::None,
        }
    }
}

/// A MAC address as the number that a little-endian load of its six bytes gives.
pub(crate) fn pack_mac(mac: MacAddr) -> u64 {
    let [a, b, c, d, e, f] = mac.0;
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

/// The reverse of [`pack_mac`].
pub(crate) fn unpack_mac(packed: u64) -> MacAddr {
    let [a, b, c, d, e, f, _, _] = packed.to_le_bytes();
    MacAddr([a, b, c, d, e, f])
}

type Entries = Arc<[AtomicU64]>;

struct Shared {
    /// Changes when `entries` is replaced by a longer array.
    generation: AtomicU64,
    entries: Mutex<Entries>,
}

impl Shared {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        // The array is sound at each moment, even if a holder of the lock has panicked.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The writer's end: entries by nexthop number.
#[derive(Clone)]
pub(crate) struct AdjacencyTable {
    shared: Arc<Shared>,
}

impl AdjacencyTable {
    pub(crate) fn new() -> Self {
        let entries = Mutex::new(empty(FIRST_CAPACITY));
        Self { shared: Arc::new(Shared { generation: AtomicU64::new(0), entries }) }
    }

    /// Sets one entry; workers see it at their next packet, or at their next poll if the table
    /// had to grow.
    pub(crate) fn set(&self, id: NexthopId, adjacency: Adjacency) {
        let mut entries = self.shared.entries();
        if id.index() >= entries.len() {
            let longer = empty((id.index() + 1).next_power_of_two());
            for (new, old) in longer.iter().zip(entries.iter()) {
                new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            *entries = longer;
            self.shared.generation.fetch_add(1, Ordering::Release);
        }
        // Not written where it stays: workers would fetch the line anew.
        if entries[id.index()].load(Ordering::Relaxed) != adjacency.0 {
            entries[id.index()].store(adjacency.0, Ordering::Release);
        }
    }

    pub(crate) fn reader(&self) -> AdjacencyReader {
        // The generation is read first: if the table grows in between, refresh sees it.
        let generation = self.shared.generation.load(Ordering::Acquire);
        let entries = self.shared.entries().clone();
        AdjacencyReader { shared: self.shared.clone(), generation, entries }
    }
}

fn empty(len: usize) -> Entries {
    (0..len).map(|_| AtomicU64::new(Adjacency::NONE.0)).collect()
}

/// A worker's end.
pub(crate) struct AdjacencyReader {
    shared: Arc<Shared>,
    generation: u64,
    entries: Entries,
}

impl AdjacencyReader {
    /// Takes up a longer table if there is one; call once per poll.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        if self.shared.generation.load(Ordering::Acquire) != self.generation {
            self.reload();
        }
    }

    #[cold]
    fn reload(&mut self) {
        self.generation = self.shared.generation.load(Ordering::Acquire);
        self.entries = self.shared.entries().clone();
    }

    /// Numbers that there are entries for.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry of a nexthop; [`Adjacency::NONE`] when it has none.
    #[inline(always)]
    pub(crate) fn of(&self, id: NexthopId) -> Adjacency {
        self.all().of(id)
    }

    /// The entries of all nexthops, as a value: what is written meanwhile cannot change where they lie, as
    /// the compiler must assume of a reference.
    #[inline(always)]
    pub(crate) fn all(&self) -> Adjacencies<'_> {
        Adjacencies(&self.entries)
    }
}

/// The entries of an [`AdjacencyReader`].
#[derive(Clone, Copy)]
pub(crate) struct Adjacencies<'a>(&'a [AtomicU64]);

impl Adjacencies<'_> {
    /// The entry of a nexthop; [`Adjacency::NONE`] when it has none.
    #[inline(always)]
    pub(crate) fn of(self, id: NexthopId) -> Adjacency {
        self.0.get(id.index()).map_or(Adjacency::NONE, |e| Adjacency(e.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: MacAddr = MacAddr([2, 1, 2, 3, 4, 0xff]);

    #[test]
    fn an_entry_keeps_its_parts() {
        let entry = Adjacency::new(Kind::Forward, 200, MAC);
        assert!(entry.is_forward());
        assert_eq!((entry.kind(), entry.port()), (Kind::Forward, 200));
        assert_eq!(unpack_mac(entry.packed_mac()), MAC);
        for kind in [Kind::None, Kind::Unresolved, Kind::Connected, Kind::Local, Kind::Broadcast] {
            let entry = Adjacency::new(kind, 1, MacAddr::ZERO);
            assert!(entry.kind() == kind && !entry.is_forward());
        }
    }

    #[test]
    fn readers_see_changes_and_growth() {
        let table = AdjacencyTable::new();
        let mut reader = table.reader();
        let entry = Adjacency::new(Kind::Forward, 3, MAC);
        table.set(NexthopId(7), entry);
        assert_eq!(reader.of(NexthopId(7)), entry);
        table.set(NexthopId(5000), entry);
        assert_eq!(reader.of(NexthopId(5000)), Adjacency::NONE);
        reader.refresh();
        assert_eq!((reader.of(NexthopId(5000)), reader.of(NexthopId(7))), (entry, entry));
        assert_eq!(reader.of(NexthopId(u32::MAX)), Adjacency::NONE);
    }
}
