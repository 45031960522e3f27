//! The routes of one family in one FIB, with what a worker needs to use them.

use fwdlab_fib::{
    Address, Family, Fib, Fibs, Inet, Inet6, Nexthop, NexthopId, NexthopKind, Numbered, Prefix,
    Reader,
};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, AdjacencyReader, AdjacencyTable, Kind};
use crate::counters::Counters;
use crate::error::RouterError;
use crate::interface::InterfaceAddress;
use crate::neighbours::{Heard, SharedNeighbours};
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
        let (id, adjacency) = self.way(destination, flow);
        self.tally.all().count(id, 1);
        (id, adjacency)
    }

    /// The same without counting.
    pub(crate) fn way(&mut self, destination: F::Addr, flow: u32) -> (NexthopId, Adjacency) {
        let table = self.reader.pin();
        let id = table.lookup(destination);
        if id.index() >= self.adjacencies.len() {
            // It came while this poll's frames were being forwarded.
            self.adjacencies.refresh();
            self.tally.grow(self.adjacencies.len());
        }
        let id = if self.adjacencies.of(id).is_group() { table.member(id, flow) } else { id };
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

    /// Takes up what a neighbour says; whether it is known now. `None` when somebody else has the
    /// table.
    pub(crate) fn hear(&self, key: (u8, F::Addr), heard: Heard, now_ns: u64) -> Option<bool> {
        Some(self.neighbours.try_lock()?.heard(key, heard, now_ns))
    }
}

impl<F: Family> NextMacs<F> {
    /// Gives each nexthop of the table its adjacency, now and whenever one gets a number: before a
    /// worker can meet it.
    fn of(fib: &mut Fib<F>) -> Self {
        let adjacencies = AdjacencyTable::new();
        let neighbours = SharedNeighbours::new(adjacencies.clone());
        let (own, followed) = (adjacencies.clone(), neighbours.clone());
        fib.set_number_sink(Box::new(move |id, what| install(&own, &followed, id, what)));
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
        let mut add = |prefix, nexthop| fib.add(prefix, nexthop);
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
}

/// Gives a number the adjacency of what it stands for.
fn install<F: Family>(
    adjacencies: &AdjacencyTable,
    neighbours: &SharedNeighbours<F>,
    id: NexthopId,
    what: Numbered<'_, F>,
) {
    let mut neighbours = neighbours.lock();
    let (kind, port) = match what {
        Numbered::Group(_) => (Kind::Group, 0),
        Numbered::Nexthop(nexthop) => {
            let port = nexthop.port as u8;
            let kind = match (nexthop.kind, nexthop.gateway) {
                (NexthopKind::Unicast, Some(gateway)) => {
                    return neighbours.follow(port, gateway, id);
                }
                (NexthopKind::Unicast, None) => Kind::Connected,
                (NexthopKind::Local, _) => Kind::Local,
                (NexthopKind::Blackhole, Some(_)) => Kind::Broadcast,
                (NexthopKind::Reject, _) => Kind::Reject,
                (NexthopKind::Prohibit, _) => Kind::Prohibit,
                _ => Kind::Blackhole,
            };
            (kind, port)
        }
    };
    neighbours.unfollow(id);
    adjacencies.set(id, Adjacency::new(kind, port, MacAddr::ZERO));
}

/// The links of both families of one FIB.
pub struct FibLinks {
    pub(crate) inet: NextMacs<Inet>,
    pub(crate) inet6: NextMacs<Inet6>,
}

impl FibLinks {
    /// Those of the FIB of this number; `None` when there is none.
    pub(crate) fn of(fibs: &mut Fibs, number: u16) -> Option<Self> {
        let inet = NextMacs::of(fibs.inet_mut(number.into())?);
        Some(Self { inet, inet6: NextMacs::of(fibs.inet6_mut(number.into())?) })
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

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::Update;

    /// More nexthops than the table of adjacencies had room for at the last poll.
    #[test]
    fn a_nexthop_that_comes_in_the_middle_of_a_poll_is_followed() {
        let mut fib = Fib::<Inet>::new(0).unwrap();
        let macs = NextMacs::of(&mut fib);
        let mut view = macs.view(&fib);
        view.refresh();
        let prefix = |i: u32| Prefix::covering(i << 8, 24);
        let connected = |i: u32| Nexthop::<Inet>::connected((i % 200) as u16);
        let via = |i: u32| Nexthop::via(i, connected(i).port);
        let routes: Vec<_> = (1..3000).map(|i| Update::Set(prefix(i), via(i).into())).collect();
        fib.apply(&routes).unwrap();
        fib.flush();
        assert_eq!(view.adjacencies.of(NexthopId(2500)), Adjacency::NONE, "no test otherwise");
        for i in 1..3000 {
            let (id, adjacency) = view.nexthop(i << 8, 0);
            assert_eq!(fib.nexthop(id), Some(&via(i)));
            assert_eq!((adjacency.kind(), adjacency.port()), (Kind::Unresolved, (i % 200) as u8));
        }
        let mut counted = 0;
        view.tally.reader().for_each(|_, packets| counted += packets);
        assert_eq!(counted, 2999);
    }
}
