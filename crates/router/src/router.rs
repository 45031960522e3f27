//! The control side: ports, routes, neighbours, control words.

use std::sync::Arc;

use fwdlab_fib::{Fib, Nexthop, Prefix};
use fwdlab_port::{Clock, Port};
use fwdlab_wire::MacAddr;

use crate::counters::{Counters, Snapshot};
use crate::error::RouterError;
use crate::interface::{MAX_MTU, MIN_MTU, PortConfig};
use crate::knobs::Knobs;
use crate::neighbours::NeighbourState;
use crate::plane::{MAX_PORTS, PORT_LIMIT, Parts, Plane, PortFacts};
use crate::tables::{FibTables, Routed, Tables};
use crate::worker::Worker;

/// A router: its configuration and tables. Workers, made with [`Router::worker`], forward.
///
/// Everything here may be changed while workers run on other threads; they take no lock.
pub struct Router {
    ports: Vec<PortConfig>,
    pub(crate) fibs: Vec<FibTables>,
    pub(crate) knobs: Arc<Knobs>,
    workers: Vec<Arc<Counters>>,
    clock: Clock,
}

impl Router {
    /// A router without ports and routes, with FIB 0.
    ///
    /// # Errors
    /// [`RouterError::Fib`] when no lookup structure could be built.
    pub fn new() -> Result<Self, RouterError> {
        let mut router = Self {
            ports: Vec::new(),
            fibs: Vec::new(),
            knobs: Arc::default(),
            workers: Vec::new(),
            clock: Clock::new(),
        };
        router.add_fib()?;
        Ok(router)
    }

    /// Adds an empty FIB and returns its number. FIB 0 exists from the start.
    ///
    /// # Errors
    /// [`RouterError::Fib`] when no lookup structure could be built.
    pub fn add_fib(&mut self) -> Result<u16, RouterError> {
        let number = self.fibs.len() as u16;
        self.fibs.push(FibTables { inet: Tables::new(number)?, inet6: Tables::new(number)? });
        Ok(number)
    }

    /// Adds a port and returns its number, counted from 0. Its addresses bring routes: the
    /// networks (connected), the addresses (local), IPv4 broadcast addresses (dropped).
    ///
    /// # Errors
    /// A group MAC address, an MTU out of range, an unknown FIB, too many ports, or an address
    /// whose network has a route already.
    pub fn add_port(&mut self, config: PortConfig) -> Result<u16, RouterError> {
        let port = self.ports.len() as u16;
        if self.ports.len() >= PORT_LIMIT {
            return Err(RouterError::TooManyPorts { limit: PORT_LIMIT });
        }
        if config.mac.is_multicast() {
            return Err(RouterError::GroupMac { port, mac: config.mac });
        }
        if !(MIN_MTU..=MAX_MTU).contains(&config.mtu) {
            return Err(RouterError::Mtu { port, mtu: config.mtu });
        }
        let fib = self.fib_tables(config.fib)?;
        for &address in &config.inet {
            fib.inet.add_interface(port, address)?;
        }
        for &address in &config.inet6 {
            fib.inet6.add_interface(port, address)?;
        }
        self.ports.push(config);
        Ok(port)
    }

    /// The ports, by number.
    pub fn ports(&self) -> &[PortConfig] {
        &self.ports
    }

    /// Adds a route to FIB 0.
    ///
    /// # Errors
    /// An unknown port, a prefix that has a route, a table that its algorithm cannot hold.
    pub fn add_route<F: Routed>(
        &mut self,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<(), RouterError> {
        self.add_route_to(0, prefix, nexthop)
    }

    /// Adds a route to the FIB of this number.
    ///
    /// # Errors
    /// As [`Router::add_route`], or an unknown FIB.
    pub fn add_route_to<F: Routed>(
        &mut self,
        fib: u16,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<(), RouterError> {
        self.check_port(nexthop.port)?;
        F::tables_mut(self.fib_tables(fib)?).add(prefix, nexthop)
    }

    /// Gives a route of FIB 0 another nexthop.
    ///
    /// # Errors
    /// An unknown port, or a prefix without a route.
    pub fn change_route<F: Routed>(
        &mut self,
        prefix: Prefix<F>,
        nexthop: Nexthop<F>,
    ) -> Result<(), RouterError> {
        self.check_port(nexthop.port)?;
        F::tables_mut(self.fib_tables(0)?).change(prefix, nexthop)
    }

    /// Deletes a route of FIB 0.
    ///
    /// # Errors
    /// A prefix without a route.
    pub fn delete_route<F: Routed>(&mut self, prefix: Prefix<F>) -> Result<(), RouterError> {
        Ok(F::tables_mut(self.fib_tables(0)?).fib.delete(prefix)?)
    }

    /// Edits a table directly, for example to load many routes at once; afterwards every
    /// nexthop gets its adjacency. Nexthops must name ports of this router: packets to others
    /// are dropped as `no-such-port`.
    ///
    /// # Errors
    /// An unknown FIB, or what `edit` returns.
    pub fn edit_fib<F: Routed>(
        &mut self,
        fib: u16,
        edit: impl FnOnce(&mut Fib<F>) -> Result<(), RouterError>,
    ) -> Result<(), RouterError> {
        let tables = F::tables_mut(self.fib_tables(fib)?);
        let result = edit(&mut tables.fib);
        tables.install_all();
        result
    }

    /// A table, to be read.
    ///
    /// # Errors
    /// An unknown FIB.
    pub fn fib<F: Routed>(&self, fib: u16) -> Result<&Fib<F>, RouterError> {
        let fibs = self.fibs.len();
        let tables = self.fibs.get(usize::from(fib)).ok_or(RouterError::NoSuchFib { fib, fibs })?;
        Ok(&F::tables(tables).fib)
    }

    /// Sets the MAC address of a neighbour on a port; it does not age.
    ///
    /// # Errors
    /// An unknown port or a group address.
    pub fn add_neighbour<F: Routed>(
        &mut self,
        port: u16,
        address: F::Addr,
        mac: MacAddr,
    ) -> Result<(), RouterError> {
        self.check_port(port)?;
        if mac.is_multicast() {
            return Err(RouterError::GroupMac { port, mac });
        }
        for tables in &self.fibs {
            F::tables(tables).neighbours.lock().set_static(port as u8, address, mac);
        }
        Ok(())
    }

    /// The neighbours on the ports of FIB 0: port, address, MAC address if known, state.
    pub fn neighbours<F: Routed>(&self) -> Vec<(u16, F::Addr, Option<MacAddr>, NeighbourState)> {
        F::tables(&self.fibs[0]).neighbours.lock().list()
    }

    /// A worker that forwards between `ports`, given as (port number, this worker's queue of
    /// that port). Packets to a port that is not among them are dropped as `no-such-port`.
    ///
    /// # Errors
    /// An unknown port.
    pub fn worker<P: Port>(
        &mut self,
        ports: impl IntoIterator<Item = (u16, P)>,
    ) -> Result<Worker<P>, RouterError> {
        let mut facts = Box::new([PortFacts::ABSENT; MAX_PORTS]);
        let mut lanes = Vec::new();
        for (number, port) in ports {
            self.check_port(number)?;
            facts[usize::from(number)] = PortFacts::new(&self.ports[usize::from(number)]);
            lanes.push((number as u8, port));
        }
        let counters = Arc::new(Counters::new(self.clock));
        self.workers.push(counters.clone());
        let inet = self.fibs.iter().map(|fib| fib.inet.view()).collect();
        let inet6 = self.fibs.iter().map(|fib| fib.inet6.view()).collect();
        let configs = self.ports.clone().into_boxed_slice();
        let plane = Plane::new(Parts { ports: facts, configs, inet, inet6, counters });
        Ok(Worker::new(lanes, plane, self.knobs.clone(), self.clock))
    }

    /// The sum of all workers' counters.
    pub fn counters(&self) -> Snapshot {
        self.workers.iter().fold(Snapshot::default(), |sum, worker| sum.plus(&worker.snapshot()))
    }

    fn fib_tables(&mut self, fib: u16) -> Result<&mut FibTables, RouterError> {
        let fibs = self.fibs.len();
        self.fibs.get_mut(usize::from(fib)).ok_or(RouterError::NoSuchFib { fib, fibs })
    }

    fn check_port(&self, port: u16) -> Result<(), RouterError> {
        let ports = self.ports.len();
        if usize::from(port) < ports {
            Ok(())
        } else {
            Err(RouterError::NoSuchPort { port, ports })
        }
    }
}
