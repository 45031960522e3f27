//! Forwards between network interfaces until it is told to stop.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anyhow::{Context, bail};
use fwdlab_port::{Pool, PoolConfig, Port, packet};
use fwdlab_router::{MAX_MTU, Router, Worker};
use fwdlab_topology::RouteWatch;

use super::Args;
use super::config::Identified;
use super::spec::PortSpec;

/// Bytes around a packet: Ethernet header and a VLAN tag.
const HEADER_AND_TAG: usize = 18;

/// Interfaces that are open, before there is a router.
pub(super) struct Interfaces {
    pool: Pool,
    /// By port number; VLANs have none of their own.
    ports: Vec<(u16, Box<dyn Port>)>,
    /// Addresses that the kernel has on them, if the router is to have them, too.
    addresses: BTreeMap<u16, Vec<(IpAddr, u8)>>,
}

impl Interfaces {
    /// Opens the interfaces that the ports name.
    pub(super) fn open(
        arguments: &Args,
        mut watch: Option<&mut RouteWatch>,
    ) -> anyhow::Result<Self> {
        let names = arguments.port.iter().filter_map(PortSpec::interface);
        let mtus = names.map(packet::mtu).collect::<Result<Vec<_>, _>>()?;
        let usual = PoolConfig::default();
        let longest = mtus.into_iter().max().unwrap_or(0).min(MAX_MTU) + HEADER_AND_TAG;
        let pool = Pool::new(PoolConfig { capacity: usual.capacity.max(longest), ..usual })?;
        let (mut ports, mut addresses) = (Vec::new(), BTreeMap::new());
        for (number, spec) in (0..).zip(&arguments.port).filter(|(_, spec)| !spec.is_vlan()) {
            let Some(name) = spec.interface() else {
                bail!("--port {number} names no interface, but others do: name one for each");
            };
            ports.push((number, arguments.socket.open(name, pool.clone())?));
            if let Some(watch) = &mut watch {
                let found = watch.addresses(name);
                addresses.insert(number, found.with_context(|| format!("addresses of {name}"))?);
            }
        }
        for family in ["ipv4", "ipv6"] {
            let file = format!("/proc/sys/net/{family}/conf/all/forwarding");
            if std::fs::read_to_string(file).is_ok_and(|text| text.trim() == "1") {
                fwdlab_guard::say!(
                    "warning: the kernel forwards {family} here as well, so that packets are \
                     forwarded twice; sysctl -w net.{family}.conf.all.forwarding=0"
                );
            }
        }
        Ok(Self { pool, ports, addresses })
    }

    /// What the interface of a port has.
    pub(super) fn identity(&self, number: usize) -> Option<Identified> {
        let (number, port) = self.ports.iter().find(|(own, _)| usize::from(*own) == number)?;
        let addresses = self.addresses.get(number).cloned().unwrap_or_default();
        Some(Identified { mac: port.mac(), mtu: port.mtu(), addresses })
    }

    /// Gives the router a worker between the interfaces.
    pub(super) fn worker(self, router: &mut Router) -> anyhow::Result<Worker<Box<dyn Port>>> {
        Ok(router.worker(self.ports).context("between interfaces")?.with_pool(self.pool))
    }
}
