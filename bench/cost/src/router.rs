//! The router between the two ends of one ring: what leaves through port 1 comes in through port 0.
//! Frames are made anew before their time to live ends.

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Pool, Port, ring};
use fwdlab_router::{Overflow, PortConfig, Router, Worker};
use fwdlab_wire::lab::DEVICE_MACS;
use fwdlab_wire::{MacAddr, ethernet, ipv4, ipv6, udp};

use crate::case::{AnyError, Case, Loop};

const ROUTER: MacAddr = DEVICE_MACS[0];
const OUTPUT: MacAddr = DEVICE_MACS[1];
/// Frames in the ring; no multiple of a batch, so that batches are not always the same frames.
const FLOWS: u32 = 2000;
/// Times that a frame may pass, less than the largest time to live.
const LAPS: usize = 250;
/// Routes of the larger table.
const ROUTES: u32 = 2000;
const GATEWAYS: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Inet,
    Inet6,
}

/// A table and how it is looked up.
#[derive(Clone, Copy)]
struct Table {
    name: &'static str,
    /// Values of `net.route.algo.inet.algo` and its twin.
    algorithms: [&'static str; 2],
    /// Value of `fwdlab.device.batch_lookups`.
    batches: &'static str,
    is_large: bool,
}

/// The variants of `examples/modular-fib.toml`, and the last of them with many routes.
const TABLES: [Table; 4] = [
    Table { name: "fwdlab", algorithms: ["auto", "auto"], batches: "1", is_large: false },
    Table {
        name: "modular",
        algorithms: ["bsearch4", "radix6_lockless"],
        batches: "0",
        is_large: false,
    },
    Table { name: "radix", algorithms: ["radix4", "radix6"], batches: "0", is_large: false },
    Table {
        name: "fwdlab, many routes",
        algorithms: ["auto", "auto"],
        batches: "1",
        is_large: true,
    },
];

/// All loops of the router.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    let families = [("inet", Family::Inet), ("inet6", Family::Inet6)];
    families.into_iter().flat_map(|(name, family)| {
        TABLES.into_iter().map(move |table| Case {
            name: format!("router {name} {}", table.name),
            make: Box::new(move || forwarding(family, table)),
        })
    })
}

fn forwarding(family: Family, table: Table) -> Result<Loop, AnyError> {
    let mut router = configured(table)?;
    let (one, two) = ring::pair(FLOWS as usize + Batch::CAPACITY);
    let worker = router.worker([(0, one), (1, two)])?.with_overflow(Overflow::Wait);
    let mut loop_ = Forwarding {
        worker: Some(worker),
        router,
        pool: Pool::with_frames(FLOWS as usize)?,
        family,
        left: 0,
    };
    loop_.refill()?;
    Ok(Box::new(move |frames| loop_.forward(frames)))
}

struct Forwarding {
    worker: Option<Worker<RingPort>>,
    router: Router,
    pool: Pool,
    family: Family,
    /// Frames that may be forwarded before they are made anew.
    left: usize,
}

impl Forwarding {
    fn forward(&mut self, frames: usize) -> usize {
        let mut done = 0;
        while done < frames {
            if self.left < Batch::CAPACITY {
                self.refill().expect("invariant: it worked before");
            }
            let worker = self.worker.as_mut().expect("invariant: only refill takes it");
            let count = worker.poll();
            done += count;
            self.left -= count;
        }
        let now = self.router.counters();
        assert_eq!(now.sent, now.received, "a frame was dropped");
        done
    }

    /// Puts fresh frames into the ring.
    #[cold]
    fn refill(&mut self) -> Result<(), AnyError> {
        let worker = self.worker.take().expect("invariant: always put back");
        let mut ports = worker.into_ports().into_iter().map(|(_, port)| port);
        let (Some(mut one), Some(mut two)) = (ports.next(), ports.next()) else {
            return Err("a worker of two ports".into());
        };
        let mut batch = Batch::new();
        while one.receive(&mut batch) > 0 {
            self.pool.put(&mut batch);
        }
        for flow in 0..FLOWS {
            let mut frame = self.pool.take().ok_or("frames got lost")?;
            match self.family {
                Family::Inet => write_inet(&mut frame, flow)?,
                Family::Inet6 => write_inet6(&mut frame, flow)?,
            }
            batch.push(frame).map_err(|_| "invariant: sent at once")?;
            two.send(&mut batch);
        }
        let worker = self.router.worker([(0, one), (1, two)])?.with_overflow(Overflow::Wait);
        self.worker = Some(worker);
        self.left = FLOWS as usize * LAPS;
        Ok(())
    }
}

/// A router of two ports, whose next hops are all itself.
fn configured(table: Table) -> Result<Router, AnyError> {
    let mut router = Router::new()?;
    router.add_port(PortConfig::new(ROUTER))?;
    router.add_port(PortConfig::new(OUTPUT))?;
    router.set("net.route.algo.inet.algo", table.algorithms[0])?;
    router.set("net.route.algo.inet6.algo", table.algorithms[1])?;
    router.set("fwdlab.device.batch_lookups", table.batches)?;
    let mut inet = vec![("198.18.0.0/16".parse()?, 1), ("198.19.0.0/16".parse()?, 1)];
    let mut inet6 = vec![("2001:2::/49".parse()?, 1), ("2001:2:0:8000::/49".parse()?, 1)];
    if table.is_large {
        for route in 0..ROUTES {
            // Fibonacci hashing (Knuth, vol. 3, section 6.4), so that neighbours differ.
            let gateway = 1 + (route.wrapping_mul(0x9e37_79b9) >> 16) % GATEWAYS;
            // Longer than the two: what the frames are for is split into many prefixes.
            inet.push((Prefix::covering(0xc613_0000 | route << 5, 27), gateway));
            let net = 0x2001_0002_0000_8000_u128 << 64 | u128::from(route) << 68;
            inet6.push((Prefix::covering(net, 60), gateway));
        }
    }
    router.edit_fib::<Inet>(0, |fib| {
        let routes = inet.iter().map(|&(prefix, gateway)| (prefix, Nexthop::via(gateway, 1)));
        Ok(fib.load(routes).map(drop)?)
    })?;
    router.edit_fib::<Inet6>(0, |fib| {
        let via = |gateway: u32| Nexthop::via(gateway.into(), 1);
        Ok(fib.load(inet6.iter().map(|&(prefix, gateway)| (prefix, via(gateway)))).map(drop)?)
    })?;
    router.flush();
    for gateway in 1..=GATEWAYS {
        router.add_neighbour::<Inet>(1, gateway, ROUTER)?;
        router.add_neighbour::<Inet6>(1, gateway.into(), ROUTER)?;
    }
    Ok(router)
}

/// The smallest UDP frame over IPv4, of 20 sources and 100 destinations.
fn write_inet(frame: &mut fwdlab_port::Frame, flow: u32) -> Result<(), AnyError> {
    frame.set_len(60);
    header(frame, ethernet::TYPE_IPV4)?;
    let mut packet = ipv4::Packet::prepare(&mut frame[14..], 46)?;
    packet.set_ttl(255);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(0xc612_0a01 + flow % 20);
    packet.set_destination(0xc613_0a01 + flow / 20 * 32);
    packet.fill_checksum();
    Ok(())
}

/// The same over IPv6.
fn write_inet6(frame: &mut fwdlab_port::Frame, flow: u32) -> Result<(), AnyError> {
    frame.set_len(62);
    header(frame, ethernet::TYPE_IPV6)?;
    let net = 0x2001_0002_u128 << 96;
    let mut packet = ipv6::Packet::prepare(&mut frame[14..], 8)?;
    packet.set_hop_limit(255);
    packet.set_next_header(udp::PROTOCOL);
    packet.set_source(net | (0xa01 + u128::from(flow % 20)));
    packet.set_destination(net | 0x8000 << 64 | u128::from(flow / 20) << 68 | 1);
    Ok(())
}

fn header(frame: &mut fwdlab_port::Frame, ether_type: u16) -> Result<(), AnyError> {
    let mut header = ethernet::Frame::parse(&mut frame[..])?;
    header.set_destination(ROUTER);
    header.set_source(OUTPUT);
    header.set_ether_type(ether_type);
    Ok(())
}
