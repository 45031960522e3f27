//! Carries out what the diff says, on this machine.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::diff::{Action, actions};
use super::error::TopologyError;
use super::host::{self, Host};
use super::links::{self, LinkCounters};
use super::model::{Cable, CableEnd, Neighbour, StaticRoute, Topology, port_name};
use super::namespace::{NetNamespace, remove_leftovers};
use super::netlink::Netlink;
use super::restart::Restart;
use super::routes::refused_route;
use super::{nftables, routes, sysctl};

/// The namespaces of one run and what is in them. Removed when dropped.
#[derive(Debug, Default)]
pub struct Testbed {
    present: Topology,
    places: BTreeMap<String, Place>,
    /// Values of sysctls before they were first set, by role and name.
    originals: HashMap<(String, String), String>,
    /// The machine is there for nothing else: what a namespace cannot set is set for all of them.
    has_machine: bool,
}

/// A namespace and the socket to its part of the kernel.
#[derive(Debug)]
struct Place {
    namespace: NetNamespace,
    netlink: Netlink,
}

impl Testbed {
    /// An empty testbed. Removes what earlier runs left that were killed; nothing that does not
    /// carry fwdlab's mark is touched.
    ///
    /// # Errors
    /// When leftovers cannot be removed.
    pub fn new() -> Result<Self, TopologyError> {
        remove_leftovers()?;
        Ok(Self::default())
    }

    /// A testbed in a machine that is there for nothing else, as a guest is: a sysctl that a namespace lacks, or can
    /// only read, is set and read in the namespace of the calling thread.
    ///
    /// # Errors
    /// When leftovers cannot be removed.
    pub fn of_machine() -> Result<Self, TopologyError> {
        let mut own = Self::new()?;
        own.has_machine = true;
        Ok(own)
    }

    /// What is there now.
    pub fn present(&self) -> &Topology {
        &self.present
    }

    /// Changes what is there into `wanted`. When a step fails, those done before are taken back.
    ///
    /// # Errors
    /// The first step that failed.
    pub fn change_to(&mut self, wanted: &Topology) -> Result<(), TopologyError> {
        let before = self.present.clone();
        for action in actions(&before, wanted) {
            let done = self.remember(&action, wanted).and_then(|()| self.apply(&action));
            if let Err(error) = done {
                for undo in actions(&self.present, &before) {
                    // The first error is the one to report; what resists goes with its namespace.
                    let _ = self.apply(&undo);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// The namespace of a role.
    ///
    /// # Errors
    /// When there is none.
    pub fn namespace(&self, role: &str) -> Result<&NetNamespace, TopologyError> {
        let place = self.places.get(role).map(|place| &place.namespace);
        place.ok_or_else(|| unknown("namespace", role))
    }

    /// The number of an interface of a namespace.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn interface_index(&mut self, role: &str, interface: &str) -> Result<u32, TopologyError> {
        links::index(&mut self.place(role)?.netlink, interface)
            .map_err(TopologyError::kernel(format!("find interface {interface}")))
    }

    /// The number of the XDP program on an interface, if there is one.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn xdp_program(&mut self, role: &str, port: &str) -> Result<Option<u32>, TopologyError> {
        links::xdp_program(&mut self.place(role)?.netlink, port)
            .map_err(TopologyError::kernel(format!("look for an XDP program on {port}")))
    }

    /// What an interface has counted so far.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn counters(&mut self, role: &str, port: &str) -> Result<LinkCounters, TopologyError> {
        links::counters(&mut self.place(role)?.netlink, port)
            .map_err(TopologyError::kernel(format!("read the counters of {port}")))
    }

    /// How many static routes the kernel has in a namespace: IPv4, IPv6. Takes about a second for
    /// a million.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn count_routes(&mut self, role: &str) -> Result<(usize, usize), TopologyError> {
        routes::count(&mut self.place(role)?.netlink)
            .map_err(TopologyError::kernel(format!("list the routes of namespace {role}")))
    }

    /// The value of a sysctl in a namespace, as the kernel shows it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn sysctl(&self, role: &str, name: &str) -> Result<String, TopologyError> {
        let doing = format!("read {name} in namespace {role}");
        let read = self.namespace(role)?.run(|| sysctl::read(name)).and_then(|value| value);
        let read = read.or_else(|error| match self.is_elsewhere(&error) {
            true => sysctl::read(name),
            false => Err(error),
        });
        read.map_err(TopologyError::kernel(doing))
    }

    /// The nftables rules of a namespace, as nft prints them.
    ///
    /// # Errors
    /// When nft is not there or refuses.
    pub fn rules(&self, role: &str) -> Result<String, TopologyError> {
        let list = self.namespace(role)?.run(|| nftables::list(role));
        list.map_err(TopologyError::kernel(format!("enter namespace {role}")))?
    }

    /// Tells a namespace the address of a neighbour, beside what [`change_to`](Self::change_to) wanted.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn know(&mut self, role: &str, neighbour: &Neighbour) -> Result<(), TopologyError> {
        let doing = format!("add neighbour {}", neighbour.address);
        let netlink = &mut self.place(role)?.netlink;
        links::index(netlink, &neighbour.interface)
            .and_then(|index| links::add_neighbour(netlink, index, neighbour))
            .map_err(TopologyError::kernel(doing))
    }

    /// Adds routes beside what [`change_to`](Self::change_to) wanted, in the place of those that have the same
    /// prefix: to be [taken](Self::take_routes) away again by whoever put them.
    ///
    /// # Errors
    /// When the kernel refuses one.
    pub fn put_routes(&mut self, role: &str, routes: &[StaticRoute]) -> Result<(), TopologyError> {
        let indices = self.port_indices(role, routes)?;
        routes::replace(&mut self.place(role)?.netlink, routes, &indices)
            .map_err(|refused| refused_route("put", routes, refused))
    }

    /// Removes routes that were [put](Self::put_routes).
    ///
    /// # Errors
    /// When the kernel refuses one.
    pub fn take_routes(&mut self, role: &str, routes: &[StaticRoute]) -> Result<(), TopologyError> {
        self.remove_routes(role, routes)
    }

    /// Makes a namespace a host that sends and receives by its own stack, beside what
    /// [`change_to`](Self::change_to) wanted.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn host(&mut self, role: &str, host: &Host) -> Result<(), TopologyError> {
        let doing = format!("make namespace {role} a host behind {}", host.interface);
        host::make(&mut self.place(role)?.netlink, host)
            .map_err(|refused| TopologyError::kernel(doing)(refused.source))
    }

    /// What it takes to begin the network of a namespace anew while frames are sent through it.
    ///
    /// # Errors
    /// There is no such namespace, or no socket.
    pub fn restart(&self, role: &str) -> Result<Restart, TopologyError> {
        let opened = self.namespace(role)?.run(Netlink::open).and_then(|opened| opened);
        let netlink = opened.map_err(TopologyError::kernel("open a netlink socket"))?;
        let ends = self.present.cables.iter().flat_map(|cable| &cable.ends);
        let ends = ends.filter(|end| end.namespace == role).cloned().collect();
        let namespace = self.present.namespaces.get(role).cloned().unwrap_or_default();
        Ok(Restart { netlink, ends, namespace })
    }

    fn place(&mut self, role: &str) -> Result<&mut Place, TopologyError> {
        self.places.get_mut(role).ok_or_else(|| unknown("namespace", role))
    }

    fn apply(&mut self, action: &Action) -> Result<(), TopologyError> {
        match action {
            Action::AddNamespace { role } => self.add_namespace(role)?,
            Action::RemoveNamespace { role } => {
                self.places.remove(role);
                self.originals.retain(|(of, _), _| of != role);
            }
            Action::AddCable(cable) => self.add_cable(cable)?,
            Action::RemoveCable(cable) => self.remove_cable(cable)?,
            Action::SetSysctl { role, name, value } => self.set_sysctl(role, name, value)?,
            Action::ResetSysctl { role, name } => self.reset_sysctl(role, name)?,
            Action::AddNeighbour { role, neighbour } => self.know(role, neighbour)?,
            Action::RemoveNeighbour { role, neighbour } => {
                let doing = format!("remove neighbour {}", neighbour.address);
                let netlink = &mut self.place(role)?.netlink;
                links::index(netlink, &neighbour.interface)
                    .and_then(|index| links::remove_neighbour(netlink, index, neighbour))
                    .map_err(TopologyError::kernel(doing))?;
            }
            Action::AddRoutes { role, routes } => self.add_routes(role, routes)?,
            Action::RemoveRoutes { role, routes } => self.remove_routes(role, routes)?,
            Action::SetRules { role, rules } => {
                let replaced = self.namespace(role)?.run(|| nftables::replace(role, rules));
                replaced.map_err(TopologyError::kernel(format!("enter namespace {role}")))??;
            }
            Action::ClearRules { role } => {
                let cleared = self.namespace(role)?.run(|| nftables::clear(role));
                cleared.map_err(TopologyError::kernel(format!("enter namespace {role}")))??;
            }
        }
        self.present.after(action);
        Ok(())
    }

    fn add_namespace(&mut self, role: &str) -> Result<(), TopologyError> {
        let namespace = NetNamespace::create(role)?;
        let netlink = namespace
            .run(Netlink::open)
            .and_then(|opened| opened)
            .map_err(TopologyError::kernel("open a netlink socket"))?;
        let mut place = Place { namespace, netlink };
        let loopback = links::index(&mut place.netlink, "lo")
            .and_then(|index| links::set_up(&mut place.netlink, index));
        loopback.map_err(TopologyError::kernel("set interface lo up"))?;
        self.places.insert(role.to_owned(), place);
        Ok(())
    }

    fn add_cable(&mut self, cable: &Cable) -> Result<(), TopologyError> {
        let [near, far] = &cable.ends;
        let doing = format!("make a veth pair {} - {}", near.interface, far.interface);
        // The socket may lie in either namespace; that of the caller's own would do as well.
        let mut place = self.places.remove(&near.namespace);
        let made = match (&mut place, self.places.get(&far.namespace)) {
            (Some(near), Some(far)) => {
                let namespaces = [&near.namespace, &far.namespace];
                links::add_cable(&mut near.netlink, cable, namespaces)
                    .map_err(TopologyError::kernel(doing))
            }
            _ => Err(unknown("two namespaces for", &doing)),
        };
        if let Some(place) = place {
            self.places.insert(near.namespace.clone(), place);
        }
        made?;
        let mut configured = cable.ends.iter().try_for_each(|end| self.configure(end));
        for end in &cable.ends {
            configured = configured.and_then(|()| {
                links::wait_until_up(&mut self.place(&end.namespace)?.netlink, &end.interface)
                    .map_err(TopologyError::kernel(format!("put {} into service", end.interface)))
            });
        }
        if configured.is_err() {
            let _ = self.remove_cable(cable);
        }
        configured
    }

    /// Gives an end of a cable its addresses and puts it into service.
    fn configure(&mut self, end: &CableEnd) -> Result<(), TopologyError> {
        let doing = format!("configure interface {}", end.interface);
        let netlink = &mut self.place(&end.namespace)?.netlink;
        let mut work = || {
            let index = links::index(netlink, &end.interface)?;
            links::set_up(netlink, index)?;
            end.addresses.iter().try_for_each(|a| links::add_address(netlink, index, a))
        };
        work().map_err(TopologyError::kernel(doing))
    }

    fn remove_cable(&mut self, cable: &Cable) -> Result<(), TopologyError> {
        let CableEnd { namespace, interface, .. } = &cable.ends[0];
        links::remove(&mut self.place(namespace)?.netlink, interface)
            .map_err(TopologyError::kernel(format!("remove interface {interface}")))
    }

    fn set_sysctl(&mut self, role: &str, name: &str, value: &str) -> Result<(), TopologyError> {
        let set = self.namespace(role)?.run(|| sysctl::write(name, value)).and_then(|set| set);
        let set = set.or_else(|error| match self.is_elsewhere(&error) {
            true => sysctl::write(name, value),
            false => Err(error),
        });
        set.map_err(|source| TopologyError::Sysctl {
            namespace: role.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
            has_machine: self.has_machine,
            source,
        })
    }

    /// Whether a sysctl that a namespace refused so may be one of the whole machine, which is the testbed's.
    fn is_elsewhere(&self, error: &io::Error) -> bool {
        use io::ErrorKind::{NotFound, PermissionDenied};
        self.has_machine && matches!(error.kind(), NotFound | PermissionDenied)
    }

    /// Before a sysctl of a namespace is set, notes the values of all that are going to be: some
    /// change others (`conf.all` changes `conf.default`).
    fn remember(&mut self, action: &Action, wanted: &Topology) -> Result<(), TopologyError> {
        let Action::SetSysctl { role, .. } = action else { return Ok(()) };
        let is_new =
            |name: &&String| !self.originals.contains_key(&(role.clone(), (*name).clone()));
        let sysctls = wanted.namespaces.get(role).map(|namespace| &namespace.sysctls);
        let names: Vec<String> =
            sysctls.into_iter().flatten().map(|(name, _)| name).filter(is_new).cloned().collect();
        if names.is_empty() {
            return Ok(());
        }
        let read = || names.iter().map(|name| sysctl::read(name).ok()).collect::<Vec<_>>();
        let values = self
            .namespace(role)?
            .run(read)
            .map_err(TopologyError::kernel(format!("enter namespace {role}")))?;
        for (name, value) in names.into_iter().zip(values) {
            // Those of interfaces that are not there yet are noted in their turn.
            if let Some(value) = value {
                self.originals.insert((role.clone(), name), value);
            }
        }
        Ok(())
    }

    fn reset_sysctl(&mut self, role: &str, name: &str) -> Result<(), TopologyError> {
        let key = (role.to_owned(), name.to_owned());
        let Some(original) = self.originals.get(&key).cloned() else { return Ok(()) };
        let reset = self.namespace(role)?.run(|| sysctl::write(name, &original));
        reset.and_then(|result| result).map_err(|source| TopologyError::Sysctl {
            namespace: role.to_owned(),
            name: name.to_owned(),
            value: original,
            has_machine: self.has_machine,
            source,
        })?;
        self.originals.remove(&key);
        Ok(())
    }

    fn add_routes(&mut self, role: &str, wanted: &[StaticRoute]) -> Result<(), TopologyError> {
        let indices = self.port_indices(role, wanted)?;
        let netlink = &mut self.place(role)?.netlink;
        let added = routes::add(netlink, wanted, &indices);
        added.map_err(|refused| {
            // Those before it went in.
            let _ = routes::remove(netlink, &wanted[..refused.index.min(wanted.len())], &indices);
            refused_route("add", wanted, refused)
        })
    }

    fn remove_routes(&mut self, role: &str, unwanted: &[StaticRoute]) -> Result<(), TopologyError> {
        let indices = self.port_indices(role, unwanted)?;
        routes::remove(&mut self.place(role)?.netlink, unwanted, &indices)
            .map_err(|refused| refused_route("remove", unwanted, refused))
    }

    /// The interface numbers of all ports that the routes name.
    fn port_indices(
        &mut self,
        role: &str,
        routes: &[StaticRoute],
    ) -> Result<Vec<u32>, TopologyError> {
        let ports = routes.iter().map(|route| route.port + 1).max().unwrap_or(0);
        (0..ports).map(|port| self.interface_index(role, &port_name(port))).collect()
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        // Namespaces take everything inside with them.
        self.places.clear();
    }
}

fn unknown(what: &str, name: &str) -> TopologyError {
    TopologyError::Unknown { what: format!("{what} {name}") }
}
