//! The network of a namespace begun anew, as a service that sets it up does: what RFC 6201 calls the reset of a
//! process. Its interfaces go out of service, and with them addresses of IPv6, neighbours and routes; then all of
//! that is set as it was. Sysctls, rules and programs on interfaces stay.

use std::io;

use super::error::TopologyError;
use super::links;
use super::model::{CableEnd, Namespace, port_name};
use super::netlink::Netlink;
use super::routes::{self, refused_route};

/// What it takes to begin the network of one namespace anew, from any thread and beside a testbed in use.
#[derive(Debug)]
pub struct Restart {
    pub(super) netlink: Netlink,
    /// Its ends of cables.
    pub(super) ends: Vec<CableEnd>,
    /// What hangs on them.
    pub(super) namespace: Namespace,
}

impl Restart {
    /// Takes all interfaces out of service and sets everything as it was.
    ///
    /// # Errors
    /// The kernel refuses a step; those before it are done.
    pub fn run(&mut self) -> Result<(), TopologyError> {
        for end in &self.ends {
            links::index(&mut self.netlink, &end.interface)
                .and_then(|index| links::set_down(&mut self.netlink, index))
                .map_err(TopologyError::kernel(format!("take {} out of service", end.interface)))?;
        }
        for end in &self.ends {
            configure(&mut self.netlink, end).map_err(TopologyError::kernel(format!(
                "put {} into service again",
                end.interface
            )))?;
        }
        for end in &self.ends {
            links::wait_for_carrier(&mut self.netlink, &end.interface)
                .map_err(TopologyError::kernel(format!("put {} into service", end.interface)))?;
        }
        self.furnish()
    }

    /// Neighbours and routes.
    fn furnish(&mut self) -> Result<(), TopologyError> {
        let netlink = &mut self.netlink;
        for neighbour in &self.namespace.neighbours {
            links::index(netlink, &neighbour.interface)
                .and_then(|index| links::add_neighbour(netlink, index, neighbour))
                .map_err(TopologyError::kernel(format!("add neighbour {}", neighbour.address)))?;
        }
        let list = &self.namespace.routes;
        let ports = list.iter().map(|route| route.port + 1).max().unwrap_or(0);
        let find = |port| links::index(netlink, &port_name(port));
        let indices: io::Result<Vec<u32>> = (0..ports).map(find).collect();
        let indices = indices.map_err(TopologyError::kernel("find the ports of routes"))?;
        routes::replace(netlink, list, &indices)
            .map_err(|refused| refused_route("put", list, refused))
    }
}

/// Puts an end of a cable into service with its addresses, of which those of IPv4 are still there.
fn configure(netlink: &mut Netlink, end: &CableEnd) -> io::Result<()> {
    let index = links::index(netlink, &end.interface)?;
    links::set_up(netlink, index)?;
    for address in &end.addresses {
        match links::add_address(netlink, index, address) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
