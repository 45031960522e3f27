//! Neighbours: which MAC address an IP address on a port's link has, and which nexthops depend
//! on it.
//!
//! The states are those of RFC 4861, section 7.3.2, for both families, with one difference: the
//! fast path does not report which neighbours it uses, so a stale neighbour is probed after the
//! delay whether used or not, and a gateway never goes stale unnoticed.
//!
//! ```text
//! incomplete --answer--> reachable --30 s--> stale --5 s--> probe --answer--> reachable
//!     |                                                       |
//!     +--------------- 3 queries, 1 s apart, no answer -------+--> forgotten
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use fwdlab_fib::{Family, NexthopId};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, AdjacencyTable, Kind};

const SECOND: u64 = 1_000_000_000;
/// RFC 4861, section 10: REACHABLE_TIME, ns.
const REACHABLE_NS: u64 = 30 * SECOND;
/// DELAY_FIRST_PROBE_TIME, ns.
const DELAY_NS: u64 = 5 * SECOND;
/// RETRANS_TIMER, ns.
const RETRANSMIT_NS: u64 = SECOND;
/// MAX_MULTICAST_SOLICIT and MAX_UNICAST_SOLICIT.
const MAX_QUERIES: u8 = 3;
/// Learned neighbours per table; more are not looked for, so that a scan of a large network
/// cannot fill the memory.
const MAX_LEARNED: usize = 4096;

/// What is known of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NeighbourState {
    /// Not asked for yet.
    #[default]
    Unknown,
    /// Asked, no answer yet.
    Incomplete,
    /// Has answered within 30 s.
    Reachable,
    /// Its answer is old; about to be asked again.
    Stale,
    /// Asked again.
    Probe,
    /// Set by hand; does not age.
    Static,
}

/// A query to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query<A> {
    pub(crate) port: u8,
    pub(crate) target: A,
    /// Where to ask; `None` for everybody.
    pub(crate) mac: Option<MacAddr>,
}

/// What a neighbour says of its MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It asks for us, by ARP or a solicitation.
    Asked(MacAddr),
    /// It answers us by ARP.
    Answer(MacAddr),
    /// It speaks to others by ARP, or to everybody.
    Moved(MacAddr),
    /// A neighbour advertisement.
    Advertised(Advertised),
}

/// A neighbour advertisement (RFC 4861, section 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advertised {
    /// In the option, if it is there.
    pub(crate) mac: Option<MacAddr>,
    pub(crate) is_solicited: bool,
    pub(crate) is_override: bool,
}

/// What an entry becomes.
struct Learned {
    state: NeighbourState,
    mac: MacAddr,
}

/// One neighbour.
#[derive(Debug, Default)]
struct Entry {
    mac: Option<MacAddr>,
    state: NeighbourState,
    /// Queries sent in this state.
    queries: u8,
    /// When the state next changes or a query repeats, ns.
    due_ns: u64,
    /// Nexthops whose gateway this is.
    users: Vec<NexthopId>,
}

/// The neighbours of one table and family.
pub(crate) struct Neighbours<F: Family> {
    entries: BTreeMap<(u8, F::Addr), Entry>,
    /// The gateway of each nexthop that has one.
    gateways: BTreeMap<NexthopId, (u8, F::Addr)>,
    adjacencies: AdjacencyTable,
    /// Changes with every MAC address: what workers have cached is then old.
    generation: Arc<AtomicU64>,
    /// Nothing is due before, ns.
    next_due_ns: u64,
}

impl<F: Family> Neighbours<F> {
    fn new(adjacencies: AdjacencyTable) -> Self {
        Self {
            entries: BTreeMap::new(),
            gateways: BTreeMap::new(),
            adjacencies,
            generation: Arc::default(),
            next_due_ns: u64::MAX,
        }
    }

    /// Makes nexthop `id` follow the neighbour `gateway` on `port`.
    pub(crate) fn follow(&mut self, port: u8, gateway: F::Addr, id: NexthopId) {
        self.unfollow(id);
        self.gateways.insert(id, (port, gateway));
        let entry = self.entries.entry((port, gateway)).or_default();
        entry.users.push(id);
        self.adjacencies.set(id, adjacency(port, entry.mac));
    }

    /// Nexthop `id` has no gateway any more: its number is free for another use.
    pub(crate) fn unfollow(&mut self, id: NexthopId) {
        if let Some(key) = self.gateways.remove(&id)
            && let Some(entry) = self.entries.get_mut(&key)
        {
            entry.users.retain(|&user| user != id);
        }
    }

    /// The gateway's address of a nexthop.
    pub(crate) fn gateway(&self, id: NexthopId) -> Option<F::Addr> {
        self.gateways.get(&id).map(|&(_, address)| address)
    }

    /// Sets a MAC address by hand; it does not age.
    pub(crate) fn set_static(&mut self, port: u8, address: F::Addr, mac: MacAddr) {
        let entry = self.entries.entry((port, address)).or_default();
        (entry.state, entry.due_ns) = (NeighbourState::Static, u64::MAX);
        self.set_mac((port, address), Some(mac));
    }

    /// Forgets a neighbour, whoever told of it; false when it was not known.
    pub(crate) fn forget(&mut self, key: (u8, F::Addr)) -> bool {
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        let was_known = entry.state != NeighbourState::Unknown;
        (entry.state, entry.due_ns) = (NeighbourState::Unknown, u64::MAX);
        let is_unused = entry.users.is_empty();
        self.set_mac(key, None);
        if is_unused {
            self.entries.remove(&key);
        }
        was_known
    }

    /// The MAC address of a neighbour.
    pub(crate) fn mac(&self, port: u8, address: F::Addr) -> Option<MacAddr> {
        self.entries.get(&(port, address)).and_then(|entry| entry.mac)
    }

    /// All neighbours with their states.
    pub(crate) fn list(&self) -> Vec<(u16, F::Addr, Option<MacAddr>, NeighbourState)> {
        let row = |(&(port, address), entry): (&(u8, F::Addr), &Entry)| {
            (port.into(), address, entry.mac, entry.state)
        };
        self.entries.iter().map(row).collect()
    }

    /// A packet needs this neighbour: the query to send, if one is due now.
    pub(crate) fn resolve(
        &mut self,
        port: u8,
        address: F::Addr,
        now_ns: u64,
    ) -> Option<Query<F::Addr>> {
        if !self.entries.contains_key(&(port, address)) && self.entries.len() >= MAX_LEARNED {
            return None;
        }
        let entry = self.entries.entry((port, address)).or_default();
        if entry.state != NeighbourState::Unknown {
            return None;
        }
        (entry.state, entry.queries, entry.due_ns) =
            (NeighbourState::Incomplete, 1, now_ns + RETRANSMIT_NS);
        self.next_due_ns = self.next_due_ns.min(entry.due_ns);
        Some(Query { port, target: address, mac: None })
    }

    /// What a neighbour has said of its MAC address; whether it is known now.
    pub(crate) fn heard(&mut self, key: (u8, F::Addr), heard: Heard, now_ns: u64) -> bool {
        let is_new = !self.entries.contains_key(&key);
        // Only who speaks to us makes an entry (RFC 826; RFC 4861, sections 7.2.3 and 7.2.5).
        let may_enter = matches!(heard, Heard::Asked(_)) && self.entries.len() < MAX_LEARNED;
        if is_new && !may_enter {
            return false;
        }
        let entry = self.entries.entry(key).or_default();
        if entry.state == NeighbourState::Static {
            return true;
        }
        let Some(learned) = entry.learn(heard) else { return true };
        match learned.state {
            NeighbourState::Reachable => entry.due_ns = now_ns + REACHABLE_NS,
            NeighbourState::Stale => entry.due_ns = now_ns + DELAY_NS,
            _ => {}
        }
        entry.state = learned.state;
        self.next_due_ns = self.next_due_ns.min(entry.due_ns);
        self.set_mac(key, Some(learned.mac));
        true
    }

    /// Moves on all neighbours whose time has come; appends the queries to send.
    pub(crate) fn tick(&mut self, now_ns: u64, queries: &mut Vec<Query<F::Addr>>) {
        if now_ns < self.next_due_ns {
            return;
        }
        let mut lost = Vec::new();
        self.next_due_ns = u64::MAX;
        for (&(port, target), entry) in &mut self.entries {
            if now_ns >= entry.due_ns && entry.state != NeighbourState::Unknown {
                match entry.step(now_ns) {
                    Step::Wait => {}
                    Step::Ask(mac) => queries.push(Query { port, target, mac }),
                    Step::Forget => lost.push((port, target)),
                }
            }
            if !matches!(entry.state, NeighbourState::Unknown | NeighbourState::Static) {
                self.next_due_ns = self.next_due_ns.min(entry.due_ns);
            }
        }
        for key in lost {
            self.set_mac(key, None);
            if self.entries.get(&key).is_some_and(|entry| entry.users.is_empty()) {
                self.entries.remove(&key);
            }
        }
    }

    fn set_mac(&mut self, key: (u8, F::Addr), mac: Option<MacAddr>) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if entry.mac == mac {
            return;
        }
        entry.mac = mac;
        for &id in &entry.users {
            self.adjacencies.set(id, adjacency(key.0, mac));
        }
        self.generation.fetch_add(1, Ordering::Release);
    }
}

/// What a due neighbour asks for.
enum Step {
    Wait,
    Ask(Option<MacAddr>),
    Forget,
}

impl Entry {
    /// What an entry becomes by what its neighbour says; `None` when it stays as it is.
    fn learn(&self, heard: Heard) -> Option<Learned> {
        let is_asked = matches!(self.state, NeighbourState::Incomplete | NeighbourState::Probe);
        match heard {
            Heard::Advertised(said) => self.learn_advertised(said),
            // An answer that nobody asked for tells as much as an announcement.
            Heard::Answer(mac) if is_asked => {
                Some(Learned { state: NeighbourState::Reachable, mac })
            }
            // RFC 4861, section 7.2.3: what is known already stays as sure as it is.
            Heard::Asked(mac) | Heard::Answer(mac) | Heard::Moved(mac) => {
                let is_told = self.mac != Some(mac) || self.state == NeighbourState::Unknown;
                is_told.then_some(Learned { state: NeighbourState::Stale, mac })
            }
        }
    }

    /// RFC 4861, section 7.2.5.
    fn learn_advertised(&self, said: Advertised) -> Option<Learned> {
        let fresh = match said.is_solicited {
            true => NeighbourState::Reachable,
            false => NeighbourState::Stale,
        };
        let Some(old) = self.mac else {
            // Without the option nothing is known now either.
            let is_wanted = self.state == NeighbourState::Incomplete || !self.users.is_empty();
            let mac = said.mac.filter(|_| is_wanted)?;
            return Some(Learned { state: fresh, mac });
        };
        let mac = said.mac.unwrap_or(old);
        match (said.is_override, mac == old) {
            // I: another address without the right to replace the old one only makes it doubtful.
            (false, false) if self.state == NeighbourState::Reachable => {
                Some(Learned { state: NeighbourState::Stale, mac: old })
            }
            (false, false) => None,
            // II: a solicited one confirms, with or without the option.
            (_, true) if !said.is_solicited => None,
            _ => Some(Learned { state: fresh, mac }),
        }
    }

    fn step(&mut self, now_ns: u64) -> Step {
        match self.state {
            NeighbourState::Reachable => {
                (self.state, self.due_ns) = (NeighbourState::Stale, now_ns + DELAY_NS);
                Step::Wait
            }
            NeighbourState::Stale => {
                (self.state, self.queries, self.due_ns) =
                    (NeighbourState::Probe, 1, now_ns + RETRANSMIT_NS);
                Step::Ask(self.mac)
            }
            NeighbourState::Incomplete | NeighbourState::Probe if self.queries < MAX_QUERIES => {
                self.queries += 1;
                self.due_ns = now_ns + RETRANSMIT_NS;
                Step::Ask(if self.state == NeighbourState::Probe { self.mac } else { None })
            }
            _ => {
                (self.state, self.due_ns) = (NeighbourState::Unknown, u64::MAX);
                Step::Forget
            }
        }
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
pub(crate) struct SharedNeighbours<F: Family> {
    neighbours: Arc<Mutex<Neighbours<F>>>,
    generation: Arc<AtomicU64>,
}

impl<F: Family> SharedNeighbours<F> {
    pub(crate) fn new(adjacencies: AdjacencyTable) -> Self {
        let neighbours = Neighbours::new(adjacencies);
        let generation = neighbours.generation.clone();
        Self { neighbours: Arc::new(Mutex::new(neighbours)), generation }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Neighbours<F>> {
        // Each method leaves the table sound, even if another one has panicked.
        self.neighbours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table, if nobody else has it now: for work that can wait for the next poll.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Neighbours<F>>> {
        match self.neighbours.try_lock() {
            Ok(neighbours) => Some(neighbours),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Changes whenever some MAC address does.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests;
