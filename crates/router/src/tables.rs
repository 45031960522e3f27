//! The routes of one family in one FIB, with what a worker needs to use them.

use fwdlab_fib::{
    Address, Family, Fib, Inet, Inet6, Nexthop, NexthopId, NexthopKind, Prefix, Reader,
};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, AdjacencyReader, AdjacencyTable, Kind};
use crate::error::RouterError;
use crate::interface::InterfaceAddress;
use crate::neighbours::SharedNeighbours;

/// The control side: routes, and the adjacency of each nexthop.
pub struct Tables<F: Family> {
    pub(crate) fib: Fib<F>,
    adjacencies: AdjacencyTable,
    pub(crate) neighbours: SharedNeighbours<F>,
}

/// A worker's view of the same.
pub(crate) struct View<F: Family> {
    pub(crate) reader: Reader<F>,
    pub(crate) adjacencies: AdjacencyReader,
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

impl<F: Family> Tables<F> {
    pub(crate) fn new(number: u16) -> Result<Self, RouterError> {
        let adjacencies = AdjacencyTable::new();
        let neighbours = SharedNeighbours::new(adjacencies.clone());
        Ok(Self { fib: Fib::new(number.into())?, adjacencies, neighbours })
    }

    pub(crate) fn view(&self) -> View<F> {
        View {
            reader: self.fib.reader(),
            adjacencies: self.adjacencies.reader(),
            neighbours: self.neighbours.clone(),
            recent: Box::new([Recent::default(); RECENT]),
        }
    }

    /// Adds a route and gives its nexthop an adjacency.
    pub(crate) fn add(
        &mut self,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<(), RouterError> {
        let id = self.fib.add(prefix, nexthop)?;
        self.install(id, nexthop);
        Ok(())
    }

    /// Gives a route another nexthop.
    pub(crate) fn change(
        &mut self,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<(), RouterError> {
        let id = self.fib.change(prefix, nexthop)?;
        self.install(id, nexthop);
        Ok(())
    }

    /// Adds the routes that an interface address brings: its network, itself, and (IPv4) the
    /// network's broadcast address, which is not forwarded to (RFC 2644).
    pub(crate) fn add_interface(
        &mut self,
        port: u16,
        at: InterfaceAddress<F>,
    ) -> Result<(), RouterError> {
        let host = Prefix::host(at.address);
        if at.network != host {
            self.add(at.network, Nexthop::connected(port))?;
        }
        self.add(host, Nexthop { gateway: None, port, kind: NexthopKind::Local })?;
        if F::BITS == Inet::BITS && at.network.len() <= 30 {
            let all = at.network.last_addr();
            // A gateway tells it from the black holes that a user may add.
            self.add(
                Prefix::host(all),
                Nexthop { gateway: Some(all), port, kind: NexthopKind::Blackhole },
            )?;
        }
        Ok(())
    }

    /// Installs the adjacency of every nexthop of the FIB, after it was edited directly.
    pub(crate) fn install_all(&mut self) {
        for number in 1.. {
            let id = NexthopId(number);
            let Some(&nexthop) = self.fib.nexthop(id) else { break };
            self.install(id, nexthop);
        }
    }

    fn install(&mut self, id: NexthopId, nexthop: Nexthop<F>) {
        let port = nexthop.port as u8;
        let mut neighbours = self.neighbours.lock();
        let kind = match (nexthop.kind, nexthop.gateway) {
            (NexthopKind::Unicast, Some(gateway)) => {
                return neighbours.follow(port, gateway, id);
            }
            (NexthopKind::Unicast, None) => Kind::Connected,
            (NexthopKind::Local, _) => Kind::Local,
            (NexthopKind::Blackhole, Some(_)) => Kind::Broadcast,
            (NexthopKind::Reject, _) => Kind::Reject,
            _ => Kind::Blackhole,
        };
        neighbours.unfollow(id);
        self.adjacencies.set(id, Adjacency::new(kind, port, MacAddr::ZERO));
    }
}

/// Both families of one FIB.
pub struct FibTables {
    pub(crate) inet: Tables<Inet>,
    pub(crate) inet6: Tables<Inet6>,
}

/// A family that the router routes: [`Inet`] or [`Inet6`]. Sealed: its methods name types that
/// only this crate can name.
pub trait Routed: Family {
    #[doc(hidden)]
    fn tables(fib: &FibTables) -> &Tables<Self>;
    #[doc(hidden)]
    fn tables_mut(fib: &mut FibTables) -> &mut Tables<Self>;
}

impl Routed for Inet {
    fn tables(fib: &FibTables) -> &Tables<Self> {
        &fib.inet
    }
    fn tables_mut(fib: &mut FibTables) -> &mut Tables<Self> {
        &mut fib.inet
    }
}

impl Routed for Inet6 {
    fn tables(fib: &FibTables) -> &Tables<Self> {
        &fib.inet6
    }
    fn tables_mut(fib: &mut FibTables) -> &mut Tables<Self> {
        &mut fib.inet6
    }
}
