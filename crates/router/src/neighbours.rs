//! Neighbours: which MAC address an IP address on a port's link has, and which nexthops depend
//! on it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fwdlab_fib::{Family, NexthopId};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, AdjacencyTable, Kind};

/// One neighbour.
#[derive(Debug, Default)]
struct Entry {
    mac: Option<MacAddr>,
    /// Nexthops whose gateway this is.
    users: Vec<NexthopId>,
}

/// The neighbours of one table and family.
pub(crate) struct Neighbours<F: Family> {
    entries: BTreeMap<(u8, F::Addr), Entry>,
    adjacencies: AdjacencyTable,
}

impl<F: Family> Neighbours<F> {
    fn new(adjacencies: AdjacencyTable) -> Self {
        Self { entries: BTreeMap::new(), adjacencies }
    }

    /// Makes nexthop `id` follow the neighbour `gateway` on `port`.
    pub(crate) fn follow(&mut self, port: u8, gateway: F::Addr, id: NexthopId) {
        let entry = self.entries.entry((port, gateway)).or_default();
        if !entry.users.contains(&id) {
            entry.users.push(id);
        }
        self.adjacencies.set(id, adjacency(port, entry.mac));
    }

    /// Sets a MAC address by hand; it does not age.
    pub(crate) fn set_static(&mut self, port: u8, address: F::Addr, mac: MacAddr) {
        let entry = self.entries.entry((port, address)).or_default();
        entry.mac = Some(mac);
        for &id in &entry.users {
            self.adjacencies.set(id, adjacency(port, Some(mac)));
        }
    }

    /// The MAC address of a neighbour.
    pub(crate) fn mac(&self, port: u8, address: F::Addr) -> Option<MacAddr> {
        self.entries.get(&(port, address)).and_then(|entry| entry.mac)
    }
}

fn adjacency(port: u8, mac: Option<MacAddr>) -> Adjacency {
    match mac {
        Some(mac) => Adjacency::new(Kind::Forward, port, mac),
        None => Adjacency::new(Kind::Unresolved, port, MacAddr::ZERO),
    }
}

/// The neighbours as control side and workers share them. The fast path never takes the lock:
/// it reads adjacencies.
#[derive(Clone)]
pub(crate) struct SharedNeighbours<F: Family>(Arc<Mutex<Neighbours<F>>>);

impl<F: Family> SharedNeighbours<F> {
    pub(crate) fn new(adjacencies: AdjacencyTable) -> Self {
        Self(Arc::new(Mutex::new(Neighbours::new(adjacencies))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Neighbours<F>> {
        // Each method leaves the table sound, even if another one has panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::Inet;

    const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

    #[test]
    fn a_nexthop_resolves_when_its_neighbour_does() {
        let table = AdjacencyTable::new();
        let reader = table.reader();
        let neighbours = SharedNeighbours::<Inet>::new(table);
        neighbours.lock().follow(1, 7, NexthopId(3));
        assert_eq!(reader.of(NexthopId(3)).kind(), Kind::Unresolved);
        neighbours.lock().set_static(1, 7, MAC);
        assert_eq!(reader.of(NexthopId(3)), Adjacency::new(Kind::Forward, 1, MAC));
        assert_eq!(neighbours.lock().mac(1, 7), Some(MAC));
        assert_eq!(neighbours.lock().mac(0, 7), None);
    }

    #[test]
    fn a_later_nexthop_finds_a_known_neighbour() {
        let table = AdjacencyTable::new();
        let reader = table.reader();
        let neighbours = SharedNeighbours::<Inet>::new(table);
        neighbours.lock().set_static(1, 7, MAC);
        neighbours.lock().follow(1, 7, NexthopId(3));
        assert!(reader.of(NexthopId(3)).is_forward());
    }
}
