//! The same frames through the kernel and through the built-in router: what leaves must be alike.
//!
//! What may differ, because the RFCs leave it open, is taken out by [`comparable`]: in ICMP errors
//! and answers the identification, TTL or hop limit, traffic class and DF of the router's own
//! packet, and how much of the offending packet is quoted beyond what each has (RFC 1812 section
//! 4.3.2.3: as much as fits 576 bytes; RFC 792: 8 bytes). Frames in [`frames::Frame::differs`] are handled
//! differently, each for the reason that stands there.

mod crafted;
mod frames;
mod mutated;

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Pool, Port, affinity, ring};
use fwdlab_router::{InterfaceAddress, PortConfig, Router, Worker};
use fwdlab_wire::ethernet;

use frames::Inet4;

use super::setup::{self, BACK, DEVICE, OUT, RECEIVER, RouteTables, SENDER};
use crate::settings::LinuxSettings;
use fwdlab_device::host;
use fwdlab_experiment::Experiment;
use fwdlab_topology::{Testbed, Topology};
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// MTU of port 1; that of port 0 is 1500.
const SMALL_MTU: usize = 1280;

/// How long the kernel may take for some frames, on whatever machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Frames that left, with the port by which they did.
type Left = Vec<(usize, Vec<u8>)>;

/// What is left of a frame once everything that may differ is taken out.
fn comparable(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let kind = bytes.get(12..14).map(|b| u16::from_be_bytes([b[0], b[1]]));
    match kind {
        Some(ethernet::TYPE_IPV4) => {
            let total = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
            bytes.truncate(14 + total);
            let is_own = bytes[23] == 1 && matches!(bytes.get(34), Some(0 | 3 | 5 | 11 | 12));
            if is_own {
                bytes.truncate(14 + 20 + 8 + 28);
                // Class, length, identification, flags, TTL; both checksums.
                for at in [15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 36, 37] {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = 0;
                    }
                }
            }
        }
        // Padding.
        Some(ethernet::TYPE_ARP) => bytes.truncate(42),
        Some(ethernet::TYPE_IPV6) => {
            let length = usize::from(u16::from_be_bytes([bytes[18], bytes[19]]));
            bytes.truncate(14 + 40 + length);
            let is_own = bytes[20] == 58 && bytes.get(54).is_some_and(|&t| t < 128 || t == 129);
            if is_own {
                for at in [14, 15, 16, 17, 21, 56, 57] {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = 0;
                    }
                }
            }
        }
        _ => {}
    }
    bytes
}

fn experiment() -> Experiment {
    let text = r#"
        title = "t"
        device = "linux"
        baseline = "a"
        [[variant]]
        name = "a"
        set = { "net.ipv4.icmp_ratelimit" = 0, "net.ipv6.icmp.ratelimit" = 0 }
        [[variant]]
        name = "b"
        [[traffic]]
        name = "inet"
        source = "198.18.10.1:1"
        destination = "198.19.10.1:1"
        [[traffic]]
        name = "inet6"
        source = "[2001:2:0:10::1]:1"
        destination = "[2001:2:0:8010::1]:1"
        [routes]
        static = [
            "198.18.10.0/24 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203",
            "2001:2:0:10::/64 via 2001:2::203", "2001:2:0:8010::/64 via 2001:2:0:8000::203",
        ]"#;
    Experiment::parse(Path::new("t.toml"), text, &[&crate::LINUX]).expect("a right experiment")
}

/// The kernel's topology for [`experiment`].
fn topology(experiment: &Experiment) -> Topology {
    let variant = &experiment.variants[0];
    let settings = LinuxSettings::of(variant);
    let mut tables = RouteTables::default();
    let mut wanted =
        setup::topology(experiment, variant, &settings, &mut tables).expect("a topology");
    for end in &mut wanted.cables[1].ends {
        end.mtu = Some(SMALL_MTU as u32);
    }
    wanted
}

/// The built-in router with the same addresses, neighbours and routes.
fn router(wanted: &Topology) -> Router {
    let mut router = Router::new().expect("a router");
    for (cable, mac) in wanted.cables.iter().zip(DEVICE_MACS) {
        let end = &cable.ends[1];
        let mut config = PortConfig::new(mac).mtu(end.mtu.unwrap_or(1500) as usize);
        for own in &end.addresses {
            match own.address {
                IpAddr::V4(address) => {
                    let address = address.to_bits();
                    let network = Prefix::<Inet>::covering(address, own.prefix_length);
                    config = config.address(InterfaceAddress { address, network });
                }
                IpAddr::V6(address) => {
                    let address = address.to_bits();
                    let network = Prefix::<Inet6>::covering(address, own.prefix_length);
                    config = config.address6(InterfaceAddress { address, network });
                }
            }
        }
        router.add_port(config).expect("a port");
    }
    let device = &wanted.namespaces[DEVICE];
    for route in device.routes.iter() {
        let (length, port) = (route.prefix.length(), route.port);
        let mac = TESTER_MACS[usize::from(port)];
        match (route.prefix.address(), route.gateway) {
            (IpAddr::V4(address), IpAddr::V4(gateway)) => {
                let prefix = Prefix::<Inet>::covering(address.to_bits(), length);
                let nexthop = Nexthop::via(gateway.to_bits(), port);
                router.add_route(prefix, nexthop).expect("a route");
                router.add_neighbour::<Inet>(port, gateway.to_bits(), mac).expect("a neighbour");
            }
            (IpAddr::V6(address), IpAddr::V6(gateway)) => {
                let prefix = Prefix::<Inet6>::covering(address.to_bits(), length);
                let nexthop = Nexthop::via(gateway.to_bits(), port);
                router.add_route(prefix, nexthop).expect("a route");
                router.add_neighbour::<Inet6>(port, gateway.to_bits(), mac).expect("a neighbour");
            }
            _ => unreachable!("a validated experiment mixes no families"),
        }
    }
    router.flush();
    router
}

fn put(pool: &Pool, bytes: &[u8]) -> Batch {
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 1);
    for frame in batch.iter_mut() {
        frame.set_len(bytes.len());
        frame.copy_from_slice(bytes);
    }
    batch
}

fn take(pool: &Pool, port: &mut dyn Port, number: usize, left: &mut Left) {
    let mut batch = Batch::new();
    while port.receive(&mut batch) > 0 {
        left.extend(batch.iter().map(|frame| (number, frame.to_vec())));
        pool.put(&mut batch);
    }
}

/// The kernel and the router with the same addresses, neighbours and routes.
struct Both {
    pool: Pool,
    _testbed: Testbed,
    sockets: [PacketPort; 2],
    testers: [ring::RingPort; 2],
    worker: Worker<ring::RingPort>,
    /// Goes behind frames: once it has come out, so has all that the kernel makes of those before it.
    marker: Inet4<'static>,
    /// Polls of the router, a second each: no rate limit of ICMP.
    turn: u64,
}

impl Both {
    /// `None`, and a line that says so, where there are no namespaces.
    fn new(test: &str) -> Option<Self> {
        let experiment = experiment();
        let wanted = topology(&experiment);
        let skipped = |error| eprintln!("SKIPPED {test}: {error}");
        let mut testbed = Testbed::new().map_err(skipped).ok()?;
        testbed.change_to(&wanted).map_err(skipped).ok()?;
        // The kernel takes frames in turn only where they come by one processor.
        if let Some(core) = affinity::allowed_cores().first() {
            affinity::pin_current_thread(*core).expect("a core that is allowed");
        }
        let pool = Pool::with_frames(2048).expect("memory");
        let open = |role: &str, interface: &str| {
            let namespace = testbed.namespace(role).expect("a namespace");
            let opened = namespace.run(|| PacketPort::open(interface, pool.clone()));
            opened.expect("enterable").expect("an interface")
        };
        let mut sockets = [open(SENDER, OUT), open(RECEIVER, BACK)];
        let mut router = router(&wanted);
        let (in_0, port_0) = ring::pair(256);
        let (in_1, port_1) = ring::pair(256);
        let worker =
            router.worker([(0, port_0), (1, port_1)]).expect("a worker").with_pool(pool.clone());
        // What the kernel says of itself when interfaces come up.
        std::thread::sleep(Duration::from_millis(200));
        for (number, socket) in sockets.iter_mut().enumerate() {
            take(&pool, socket, number, &mut Vec::new());
        }
        let mut marker = Inet4::plain();
        (marker.protocol, marker.payload) = (253, frames::echo());
        marker.destination = frames::DESTINATION + 1;
        marker.payload.extend([0xaa; 40]);
        let testers = [in_0, in_1];
        Some(Self { pool, _testbed: testbed, sockets, testers, worker, marker, turn: 0 })
    }

    /// What the kernel sends since it was last asked. Reports that it multicasts by itself are no
    /// answers, nor is what it asks its neighbours.
    fn of_kernel(&mut self, left: &mut Left) {
        for (number, socket) in self.sockets.iter_mut().enumerate() {
            take(&self.pool, socket, number, left);
        }
        left.retain(|(_, bytes)| bytes[0] & 1 == 0 && !is_query(bytes));
    }

    /// What both send when they get these frames.
    fn send(&mut self, frames: &[&[u8]]) -> (Left, Left) {
        let at = self.marker.payload.len() - 8;
        self.marker.payload[at..].copy_from_slice(&self.turn.to_be_bytes());
        let marker = self.marker.frame();
        let mut kernel = Left::new();
        for frame in frames.iter().copied().chain([&marker[..]]) {
            let mut batch = put(&self.pool, frame);
            while !batch.is_empty() {
                self.sockets[0].send(&mut batch);
            }
        }
        let start = Instant::now();
        let is_marker =
            |(port, bytes): &(usize, Vec<u8>)| *port == 1 && bytes.get(42..) == marker.get(42..);
        while !kernel.iter().any(is_marker) {
            self.of_kernel(&mut kernel);
            assert!(start.elapsed() < PATIENCE, "the kernel forwards nothing");
        }
        // The other way may have been read before the marker came.
        self.of_kernel(&mut kernel);
        kernel.retain(|one| !is_marker(one));
        (kernel, self.of_router(frames))
    }

    /// What the router sends when it gets these frames at once.
    fn of_router(&mut self, frames: &[&[u8]]) -> Left {
        let mut left = Left::new();
        for bytes in frames {
            self.testers[0].send(&mut put(&self.pool, bytes));
        }
        self.turn += 1;
        self.worker.poll_at(self.turn * 1_000_000_000);
        for (number, tester) in self.testers.iter_mut().enumerate() {
            take(&self.pool, tester, number, &mut left);
        }
        left.retain(|(_, bytes)| bytes[0] & 1 == 0 && !is_query(bytes));
        left
    }
}

/// Whether this asks for a neighbour.
fn is_query(bytes: &[u8]) -> bool {
    let is_request = bytes.get(12..22).is_some_and(|b| b[..2] == [8, 6] && b[8..] == [0, 1]);
    let is_solicitation = bytes.get(12..55).is_some_and(|b| b[..2] == [0x86, 0xdd] && b[8] == 58)
        && bytes[54] == fwdlab_wire::ndisc::SOLICITATION;
    is_request || is_solicitation
}

/// The settings of the host that change what a namespace does.
fn settings_of_host() -> String {
    let all = host::settings();
    all.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn kernel_and_router_treat_every_frame_alike() {
    let Some(mut both) = Both::new("kernel_and_router_treat_every_frame_alike") else { return };
    let mut faults = Vec::new();
    let mut list = frames::frames_inet();
    list.extend(frames::frames_inet6());
    list.extend(crafted::crafted_inet());
    list.extend(crafted::crafted_inet6());
    list.extend(frames::neighbours());
    for frame in list {
        let (mut kernel, mut ours) = both.send(&[&frame.bytes]);
        // What all namespaces of an old kernel share limits its errors; a little later there is room.
        let is_limited = |kernel: &Left, ours: &Left| {
            let is_silent = kernel.is_empty() && !ours.is_empty() && frame.differs.is_none();
            is_silent && ours.iter().all(|(_, bytes)| mutated::is_error(bytes))
        };
        for _ in 0..10 {
            if is_limited(&kernel, &ours) {
                std::thread::sleep(Duration::from_millis(100));
                (kernel, ours) = both.send(&[&frame.bytes]);
            }
        }
        let plain = |left: &Left| -> Left {
            left.iter().map(|(port, bytes)| (*port, comparable(bytes))).collect()
        };
        // A listed difference that is gone must leave the list.
        if (plain(&kernel) != plain(&ours)) != frame.differs.is_some() {
            faults.push(format!(
                "{}:\n  kernel {}\n  router {}",
                frame.name,
                shown(&kernel),
                shown(&ours)
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} frames:\n{}\non a host with {}",
        faults.len(),
        faults.join("\n"),
        settings_of_host()
    );
}

fn shown(left: &Left) -> String {
    let hex = |bytes: &[u8]| -> String {
        bytes.iter().skip(12).take(80).map(|byte| format!("{byte:02x}")).collect()
    };
    let one = |(port, bytes): &(usize, Vec<u8>)| {
        format!("port {port}, {} bytes: {}", bytes.len(), hex(bytes))
    };
    if left.is_empty() {
        "nothing".to_owned()
    } else {
        left.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}
