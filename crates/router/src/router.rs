//! The control side: ports, routes, neighbours, control words.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fwdlab_fib::{Fib, Fibs, Prefix, Target};
use fwdlab_port::{Clock, Counters as PortCounters, Port};
use fwdlab_wire::{MacAddr, vlan};

use crate::counters::{Counted, Counters, NexthopCount, Snapshot};
use crate::error::RouterError;
use crate::facts::PortFacts;
use crate::fate::{MAX_PORTS, PORT_LIMIT};
use crate::interface::{MAX_MTU, MIN_MTU, PortConfig, Vlan};
use crate::keeper::Kept;
use crate::knobs::Knobs;
use crate::neighbours::NeighbourState;
use crate::plane::{Parts, Plane};
use crate::tables::{FibLinks, NextMacs, Routed, View};
use crate::worker::Worker;

/// A router: its configuration and tables. Workers, made with [`Router::worker`], forward.
///
/// Everything here may be changed while workers run on other threads; they take no lock.
pub struct Router {
    ports: Vec<PortConfig>,
    pub(crate) fibs: Fibs,
    links: Vec<FibLinks>,
    pub(crate) knobs: Arc<Knobs>,
    workers: Vec<Arc<Counters>>,
    clock: Clock,
}

impl Router {
    /// A router without ports and routes, with one FIB, number 0.
    ///
    /// # Errors
    /// [`RouterError::Fib`] when no lookup structure could be built.
    pub fn new() -> Result<Self, RouterError> {
        Self::with_fibs(1)
    }

    /// A router without ports and routes, with FIBs 0 to `fibs - 1`.
    ///
    /// # Errors
    /// [`RouterError::Fib`] when no lookup structure could be built.
    pub fn with_fibs(fibs: u16) -> Result<Self, RouterError> {
        let mut tables = Fibs::new(fibs.into())?;
        Ok(Self {
            ports: Vec::new(),
            links: (0..fibs).map_while(|number| FibLinks::of(&mut tables, number)).collect(),
            fibs: tables,
            knobs: Arc::default(),
            workers: Vec::new(),
            clock: Clock::new(),
        })
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
        if let Some(vlan) = config.vlan {
            self.check_vlan(port, vlan)?;
        }
        for &address in &config.inet {
            let (fib, links) = self.table(config.fib)?;
            links.add_interface(fib, port, address)?;
        }
        for &address in &config.inet6 {
            let (fib, links) = self.table(config.fib)?;
            links.add_interface(fib, port, address)?;
        }
        self.ports.push(config);
        Ok(port)
    }

    /// The ports, by number.
    pub fn ports(&self) -> &[PortConfig] {
        &self.ports
    }

    /// Adds a static route to FIB 0: to a nexthop, or to a group of them with weights, of which each
    /// flow takes one. Packets follow it at return, as they do what else is changed route by route;
    /// many routes at once, and those of a routing protocol, go through [`Router::edit_fib`].
    ///
    /// # Errors
    /// An unknown port, a prefix that has a route, a table that its algorithm cannot hold.
    pub fn add_route<F: Routed>(
        &mut self,
        prefix: Prefix<F>,
        target: impl Into<Target<F>>,
    ) -> Result<(), RouterError> {
        self.add_route_to(0, prefix, target)
    }

    /// Adds a route to the FIB of this number.
    ///
    /// # Errors
    /// As [`Router::add_route`], or an unknown FIB.
    pub fn add_route_to<F: Routed>(
        &mut self,
        fib: u16,
        prefix: Prefix<F>,
        target: impl Into<Target<F>>,
    ) -> Result<(), RouterError> {
        let target = target.into();
        self.check_target(&target)?;
        self.table::<F>(fib)?.0.by_hand(|fib| fib.add(prefix, target))?;
        Ok(())
    }

    /// Gives a route of FIB 0 another target.
    ///
    /// # Errors
    /// An unknown port, or a prefix without a route.
    pub fn change_route<F: Routed>(
        &mut self,
        prefix: Prefix<F>,
        target: impl Into<Target<F>>,
    ) -> Result<(), RouterError> {
        let target = target.into();
        self.check_target(&target)?;
        self.table::<F>(0)?.0.by_hand(|fib| fib.change(prefix, target))?;
        Ok(())
    }

    /// Deletes a route of FIB 0.
    ///
    /// # Errors
    /// A prefix without a route.
    pub fn delete_route<F: Routed>(&mut self, prefix: Prefix<F>) -> Result<(), RouterError> {
        Ok(self.table::<F>(0)?.0.by_hand(|fib| fib.delete(prefix))?)
    }

    /// Edits a table directly, for example to load many routes at once. A packet in the middle of it
    /// goes the old or the new way: no worker meets a nexthop before its adjacency is there, or what had
    /// its number before. Nexthops must name ports of this router: packets to others are dropped as
    /// `no-such-port`.
    ///
    /// # Errors
    /// An unknown FIB, or what `edit` returns.
    pub fn edit_fib<F: Routed>(
        &mut self,
        fib: u16,
        edit: impl FnOnce(&mut Fib<F>) -> Result<(), RouterError>,
    ) -> Result<(), RouterError> {
        edit(self.table::<F>(fib)?.0)
    }

    /// A table, to be read.
    ///
    /// # Errors
    /// An unknown FIB.
    pub fn fib<F: Routed>(&self, fib: u16) -> Result<&Fib<F>, RouterError> {
        let fibs = self.links.len();
        F::fib(&self.fibs, fib).ok_or(RouterError::NoSuchFib { fib, fibs })
    }

    /// Does what is due in all tables at `now`, a time since any fixed moment: rebuilds after
    /// changes, looks for better algorithms. Returns when to call again, if that is known. Who gives
    /// the router to a [`Keeper`](crate::Keeper) need not call it.
    pub fn sync(&mut self, now: Duration) -> Option<Duration> {
        self.fibs.sync(now)
    }

    /// Makes all changes of routes visible to the workers now.
    pub fn flush(&mut self) {
        self.fibs.flush();
    }

    /// Sets the MAC address of a neighbour on a port; it does not age.
    ///
    /// # Errors
    /// An unknown port, or a MAC address of a group or of nobody.
    pub fn add_neighbour<F: Routed>(
        &mut self,
        port: u16,
        address: F::Addr,
        mac: MacAddr,
    ) -> Result<(), RouterError> {
        self.check_port(port)?;
        if mac.is_multicast() || mac == MacAddr::ZERO {
            return Err(RouterError::GroupMac { port, mac });
        }
        for links in &self.links {
            F::links(links).neighbours.lock().set_static(port as u8, address, mac);
        }
        Ok(())
    }

    /// Forgets a neighbour, be it set or learned; a packet that needs it asks for it anew. False when
    /// nothing was known of it.
    ///
    /// # Errors
    /// An unknown port.
    pub fn forget_neighbour<F: Routed>(
        &mut self,
        port: u16,
        address: F::Addr,
    ) -> Result<bool, RouterError> {
        self.check_port(port)?;
        let forget = |links| F::links(links).neighbours.lock().forget((port as u8, address));
        Ok(self.links.iter().fold(false, |was_known, links| forget(links) | was_known))
    }

    /// The neighbours on the ports of FIB 0: port, address, MAC address if known, state.
    pub fn neighbours<F: Routed>(&self) -> Vec<(u16, F::Addr, Option<MacAddr>, NeighbourState)> {
        self.links.first().map_or_else(Vec::new, |links| F::links(links).neighbours.lock().list())
    }

    /// A worker that forwards between `ports`, given as (port number, this worker's queue of
    /// that port), and their VLANs. Packets to a port that is not among them are dropped as
    /// `no-such-port`.
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
            if let Some(Vlan { parent, identifier }) = self.ports[usize::from(number)].vlan {
                let why = "a VLAN has no queue of its own, give the worker its port's";
                return Err(RouterError::Vlan { port: number, parent, identifier, why });
            }
            facts[usize::from(number)] = PortFacts::new(&self.ports[usize::from(number)]);
            lanes.push((number as u8, port));
        }
        for (number, config) in self.ports.iter().enumerate() {
            if config.vlan.is_some_and(|vlan| facts[usize::from(vlan.parent)].is_present()) {
                facts[number] = PortFacts::new(config);
            }
        }
        let (inet, inet6): (Vec<View<_>>, Vec<View<_>>) = (self.views(), self.views());
        let counters = Arc::new(Counters::new(Counted {
            clock: self.clock,
            ports: self.ports.len(),
            nexthops: inet.iter().map(|view| view.tally.reader()).collect(),
            nexthops6: inet6.iter().map(|view| view.tally.reader()).collect(),
        }));
        self.workers.push(counters.clone());
        let configs = self.ports.clone().into_boxed_slice();
        let plane = Plane::new(Parts { ports: facts, configs, inet, inet6, counters });
        Ok(Worker::new(lanes, plane, self.knobs.clone(), self.clock))
    }

    /// The sum of all workers' counters.
    pub fn counters(&self) -> Snapshot {
        self.workers.iter().fold(Snapshot::default(), |sum, worker| sum.plus(&worker.snapshot()))
    }

    /// What a port has moved, all workers together.
    pub fn port_counters(&self, port: u16) -> PortCounters {
        let counts = self.workers.iter().map(|worker| worker.port(port));
        counts.fold(PortCounters::default(), |sum, one| sum.plus(&one))
    }

    /// How many packets have followed each nexthop of a FIB, all workers together, by number;
    /// nexthops without a packet are left out. Readable while workers run.
    pub fn nexthop_counts<F: Routed>(&self, fib: u16) -> Vec<NexthopCount<F>> {
        let mut counts = BTreeMap::new();
        for worker in &self.workers {
            if let Some(tally) = F::tallies(worker).get(usize::from(fib)) {
                tally.for_each(|id, packets| *counts.entry(id).or_insert(0) += packets);
            }
        }
        let table = F::fib(&self.fibs, fib);
        let counts = counts.into_iter().filter(|(id, _)| !id.is_none());
        let nexthop = |id| table.and_then(|table| table.nexthop(id)).copied();
        counts.map(|(id, packets)| NexthopCount { id, nexthop: nexthop(id), packets }).collect()
    }

    fn views<F: Routed>(&self) -> Vec<View<F>> {
        let tables = (0..).map_while(|number| F::fib(&self.fibs, number)).zip(&self.links);
        tables.map(|(fib, links)| F::links(links).view(fib)).collect()
    }

    fn table<F: Routed>(&mut self, fib: u16) -> Result<(&mut Fib<F>, &NextMacs<F>), RouterError> {
        let missing = RouterError::NoSuchFib { fib, fibs: self.links.len() };
        match (F::fib_mut(&mut self.fibs, fib), self.links.get(usize::from(fib))) {
            (Some(table), Some(links)) => Ok((table, F::links(links))),
            _ => Err(missing),
        }
    }

    fn check_target<F: Routed>(&self, target: &Target<F>) -> Result<(), RouterError> {
        match target {
            Target::Nexthop(nexthop) => self.check_port(nexthop.port),
            Target::Group(members) => {
                members.iter().try_for_each(|(member, _)| self.check_port(member.port))
            }
            _ => Ok(()),
        }
    }

    fn check_vlan(&self, port: u16, vlan: Vlan) -> Result<(), RouterError> {
        let Vlan { parent, identifier } = vlan;
        let why = if !(1..=vlan::MAX_IDENTIFIER).contains(&identifier) {
            "identifiers are 1 to 4094"
        } else if self.ports.get(usize::from(parent)).is_none_or(|port| port.vlan.is_some()) {
            "add its port first, which must not be a VLAN itself"
        } else if self.ports.iter().any(|port| port.vlan == Some(vlan)) {
            "the port has that VLAN already"
        } else {
            return Ok(());
        };
        Err(RouterError::Vlan { port, parent, identifier, why })
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

impl Kept for Router {
    fn sync(&mut self, now: Duration) -> Option<Duration> {
        Router::sync(self, now)
    }
}
