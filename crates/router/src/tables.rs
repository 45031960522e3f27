//! The routes of one family in one FIB, with what a worker needs to use them.

use fwdlab_fib::{
    Address, Family, Fib, FibError, Fibs, Inet, Inet6, Nexthop, NexthopId, NexthopKind, Prefix,
    Reader, Target,
};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, AdjacencyReader, AdjacencyTable, Kind};
use crate::counters::Counters;
use crate::error::RouterError;
use crate::interface::InterfaceAddress;
use crate::neighbours::SharedNeighbours;
use crate::tally::{Tally, TallyReader};

/// What leads from the nexthops of one table to MAC addresses: the control side.
pub struct NextMacs<F: Family> {
    adjacencies: AdjacencyTable,
    pub(crate) neighbours: SharedNeighbours<F>,
}

/// A worker's view of the same.
pub(crate) struct View<F: Family> {
    pub(crate) reader: Reader<F>,
    pub(crate) adjacencies: AdjacencyReader,
    /// Packets by the nexthop that they followed.
    pub(crate) tally: Tally,
    pub(crate) neighbours: SharedNeighbours<F>,
    /// Neighbours on connected networks that this worker has used lately.
    recent: Box<[Recent<F::Addr>; RECENT]>,
}

/// Entries of a worker's cache of neighbours, a power of two.
const RECENT: usize = 256;

/// One remembered neighbour; right as long as the generation is.
#[derive(Clone, Copy, Default)]
struct Recent<A> {
    generation: u64,
    address: A,
    port: u8,
    mac: Option<MacAddr>,
}

impl<F: Family> View<F> {
    /// Begins a poll: takes up longer tables if there are any.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        self.adjacencies.refresh();
        self.tally.grow(self.adjacencies.len());
    }

    /// The nexthop for a destination, of a group the member for this flow, with its adjacency.
    /// Counts the packet.
    pub(crate) fn nexthop(&mut self, destination: F::Addr, flow: u32) -> (NexthopId, Adjacency) {
        let table = self.reader.pin();
        let id = table.lookup(destination);
        let id = if self.adjacencies.of(id).is_group() { table.member(id, flow) } else { id };
        self.tally.count(id, 1);
        (id, self.adjacencies.of(id))
    }

    /// The MAC address of a neighbour. Usually from this worker's own memory, without a lock;
    /// `None` also when somebody else holds the table just now.
    pub(crate) fn known_mac(&mut self, port: u8, address: F::Addr) -> Option<MacAddr> {
        // Counted from 1, so that an empty entry is never right.
        let generation = self.neighbours.generation() + 1;
        // Fibonacci hashing (Knuth, vol. 3, section 6.4).
        let hash = (address.to_u128() as u64 ^ u64::from(port)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let recent = &mut self.recent[(hash >> 56) as usize % RECENT];
        if (recent.generation, recent.address, recent.port) != (generation, address, port) {
            let mac = self.neighbours.try_lock()?.mac(port, address);
            *recent = Recent { generation, address, port, mac };
        }
        recent.mac
    }
}

impl<F: Family> NextMacs<F> {
    fn new() -> Self {
        let adjacencies = AdjacencyTable::new();
        let neighbours = SharedNeighbours::new(adjacencies.clone());
        Self { adjacencies, neighbours }
    }

    pub(crate) fn view(&self, fib: &Fib<F>) -> View<F> {
        let adjacencies = self.adjacencies.reader();
        View {
            reader: fib.reader(),
            tally: Tally::new(adjacencies.len()),
            adjacencies,
            neighbours: self.neighbours.clone(),
            recent: Box::new([Recent::default(); RECENT]),
        }
    }

    /// Adds the routes that an interface address brings: its network, itself, and (IPv4) the
    /// network's broadcast address, which is not forwarded to (RFC 2644).
    pub(crate) fn add_interface(
        &self,
        fib: &mut Fib<F>,
        port: u16,
        at: InterfaceAddress<F>,
    ) -> Result<(), RouterError> {
        let host = Prefix::host(at.address);
        let mut add = |prefix, nexthop: Nexthop<F>| -> Result<(), RouterError> {
            self.prepare(fib, nexthop.into(), |fib, id| fib.add(prefix, id))
        };
        if at.network != host {
            add(at.network, Nexthop::connected(port))?;
        }
        add(host, Nexthop { gateway: None, port, kind: NexthopKind::Local })?;
        if F::BITS == Inet::BITS && at.network.len() <= 30 {
            let all = at.network.last_addr();
            // A gateway tells it from the black holes that a user may add.
            add(
                Prefix::host(all),
                Nexthop { gateway: Some(all), port, kind: NexthopKind::Blackhole },
            )?;
        }
        Ok(())
    }

    /// Gives a target its adjacencies, and then lets `route` make a route to its number: a worker
    /// may meet the number as soon as the route is there.
    pub(crate) fn prepare(
        &self,
        fib: &mut Fib<F>,
        target: Target<F>,
        route: impl FnOnce(&mut Fib<F>, NexthopId) -> Result<NexthopId, FibError>,
    ) -> Result<(), RouterError> {
        let id = fib.hold(target)?;
        self.install(fib, id);
        let result = route(fib, id);
        fib.release(id);
        result?;
        Ok(())
    }

    /// Gives a nexthop, or a group and its members, their adjacencies.
    pub(crate) fn install(&self, fib: &Fib<F>, id: NexthopId) {
        if let Some(&nexthop) = fib.nexthop(id) {
            self.install_nexthop(id, nexthop);
        } else if let Some(group) = fib.nexthop_group(id) {
            for &(member, _) in group.members() {
                self.install(fib, member);
            }
            self.neighbours.lock().unfollow(id);
            self.adjacencies.set(id, Adjacency::new(Kind::Group, 0, MacAddr::ZERO));
        }
    }

    /// Lets `edit` change the FIB, whose routes may be visible at once, and then gives every
    /// nexthop its adjacency.
    ///
    /// A number that is given away during the edit has no adjacency yet: those that are vacant
    /// lose what their last nexthop left behind, and none becomes vacant meanwhile.
    pub(crate) fn edit(
        &self,
        fib: &mut Fib<F>,
        edit: impl FnOnce(&mut Fib<F>) -> Result<(), RouterError>,
    ) -> Result<(), RouterError> {
        self.clear_vacant(fib);
        let nexthops = fib.nexthops();
        let known =
            nexthops.iter().map(|(id, _)| id).chain(nexthops.nexthop_groups().map(|(id, _)| id));
        let known: Vec<NexthopId> = known.collect();
        for &id in &known {
            fib.hold(Target::Known(id))?;
        }
        let result = edit(fib);
        self.install_all(fib);
        known.into_iter().for_each(|id| fib.release(id));
        result
    }

    /// Takes the adjacencies of numbers away that no nexthop has, and no reader can hold.
    fn clear_vacant(&self, fib: &Fib<F>) {
        let mut neighbours = self.neighbours.lock();
        for id in (1..self.adjacencies.len() as u32).map(NexthopId) {
            if fib.nexthop(id).is_none() && fib.nexthop_group(id).is_none() {
                neighbours.unfollow(id);
                self.adjacencies.set(id, Adjacency::NONE);
            }
        }
    }

    /// Installs the adjacency of every nexthop of the FIB, after it was edited directly.
    pub(crate) fn install_all(&self, fib: &Fib<F>) {
        let nexthops = fib.nexthops();
        nexthops.iter().for_each(|(id, &nexthop)| self.install_nexthop(id, nexthop));
        nexthops.nexthop_groups().for_each(|(id, _)| self.install(fib, id));
    }

    fn install_nexthop(&self, id: NexthopId, nexthop: Nexthop<F>) {
        let port = nexthop.port as u8;
        let mut neighbours = self.neighbours.lock();
        let kind = match (nexthop.kind, nexthop.gateway) {
            (NexthopKind::Unicast, Some(gateway)) => return neighbours.follow(port, gateway, id),
            (NexthopKind::Unicast, None) => Kind::Connected,
            (NexthopKind::Local, _) => Kind::Local,
            (NexthopKind::Blackhole, Some(_)) => Kind::Broadcast,
            (NexthopKind::Reject, _) => Kind::Reject,
            (NexthopKind::Prohibit, _) => Kind::Prohibit,
            _ => Kind::Blackhole,
        };
        neighbours.unfollow(id);
        self.adjacencies.set(id, Adjacency::new(kind, port, MacAddr::ZERO));
    }
}

/// The links of both families of one FIB.
pub struct FibLinks {
    pub(crate) inet: NextMacs<Inet>,
    pub(crate) inet6: NextMacs<Inet6>,
}

impl FibLinks {
    pub(crate) fn new() -> Self {
        Self { inet: NextMacs::new(), inet6: NextMacs::new() }
    }
}

/// A family that the router routes: [`Inet`] or [`Inet6`]. Sealed: its methods name types that
/// only this crate can name.
pub trait Routed: Family {
    #[doc(hidden)]
    fn fib(fibs: &Fibs, number: u16) -> Option<&Fib<Self>>;
    #[doc(hidden)]
    fn fib_mut(fibs: &mut Fibs, number: u16) -> Option<&mut Fib<Self>>;
    #[doc(hidden)]
    fn links(links: &FibLinks) -> &NextMacs<Self>;
    #[doc(hidden)]
    fn tallies(counters: &Counters) -> &[TallyReader];
}

impl Routed for Inet {
    fn fib(fibs: &Fibs, number: u16) -> Option<&Fib<Self>> {
        fibs.inet(number.into())
    }
    fn fib_mut(fibs: &mut Fibs, number: u16) -> Option<&mut Fib<Self>> {
        fibs.inet_mut(number.into())
    }
    fn links(links: &FibLinks) -> &NextMacs<Self> {
        &links.inet
    }
    fn tallies(counters: &Counters) -> &[TallyReader] {
        &counters.nexthops
    }
}

impl Routed for Inet6 {
    fn fib(fibs: &Fibs, number: u16) -> Option<&Fib<Self>> {
        fibs.inet6(number.into())
    }
    fn fib_mut(fibs: &mut Fibs, number: u16) -> Option<&mut Fib<Self>> {
        fibs.inet6_mut(number.into())
    }
    fn links(links: &FibLinks) -> &NextMacs<Self> {
        &links.inet6
    }
    fn tallies(counters: &Counters) -> &[TallyReader] {
        &counters.nexthops6
    }
}
