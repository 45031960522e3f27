//! The same frames through the kernel and through the built-in router: what leaves must be alike.
//!
//! What may differ, because the RFCs leave it open, is taken out by [`comparable`]: in ICMP errors
//! and answers the identification, TTL or hop limit, traffic class and DF of the router's own
//! packet, and how much of the offending packet is quoted beyond what each has (RFC 1812 section
//! 4.3.2.3: as much as fits 576 bytes; RFC 792: 8 bytes). Frames in [`Frame::differs`] are handled
//! differently, each for the reason that stands there.

use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use fwdlab_fib::{Inet, Inet6, Nexthop, Prefix};
use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Pool, Port, ring};
use fwdlab_router::{InterfaceAddress, PortConfig, Router};
use fwdlab_wire::{checksum, ethernet, ipv4, ipv6};

use super::host;
use super::setup::{self, BACK, DEVICE, OUT, RECEIVER, RouteTables, SENDER};
use crate::settings::LinuxSettings;
use fwdlab_experiment::Experiment;
use fwdlab_topology::{Testbed, Topology};
use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};

/// MTU of port 1; that of port 0 is 1500.
const SMALL_MTU: usize = 1280;

/// How long the kernel may take to answer a frame.
const PATIENCE: Duration = Duration::from_millis(40);

/// A frame to send into port 0.
struct Frame {
    name: &'static str,
    bytes: Vec<u8>,
    /// Why the two may handle it differently.
    differs: Option<&'static str>,
}

const SOURCE: u32 = u32::from_be_bytes([198, 18, 10, 1]);
const DESTINATION: u32 = u32::from_be_bytes([198, 19, 10, 1]);
const SOURCE_6: u128 = 0x2001_0002_0000_0010_0000_0000_0000_0001;
const DESTINATION_6: u128 = 0x2001_0002_0000_8010_0000_0000_0000_0001;

fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [&DEVICE_MACS[0].0[..], &TESTER_MACS[0].0[..]].concat();
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().max(60), 0);
    bytes
}

/// An IPv4 packet with options, a protocol and a payload; `edit` may spoil it before (true) or
/// after (false) its checksum is made.
struct Inet4<'a> {
    ttl: u8,
    source: u32,
    destination: u32,
    protocol: u8,
    fragment: u16,
    options: &'a [u8],
    payload: Vec<u8>,
}

impl Inet4<'_> {
    fn plain() -> Self {
        let payload = vec![
            7, 208, 7, 208, 0, 26, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
            18,
        ];
        Self {
            ttl: 64,
            source: SOURCE,
            destination: DESTINATION,
            protocol: 17,
            fragment: 0,
            options: &[],
            payload,
        }
    }

    fn packet(&self) -> Vec<u8> {
        let header = 20 + self.options.len();
        let total = (header + self.payload.len()) as u16;
        let mut bytes = vec![0x40 | (header / 4) as u8, 0];
        bytes.extend(total.to_be_bytes());
        bytes.extend([0x12, 0x34]);
        bytes.extend(self.fragment.to_be_bytes());
        bytes.extend([self.ttl, self.protocol, 0, 0]);
        bytes.extend(self.source.to_be_bytes());
        bytes.extend(self.destination.to_be_bytes());
        bytes.extend(self.options);
        let sum = checksum::finish(checksum::sum(&bytes));
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    fn frame(&self) -> Vec<u8> {
        ethernet(ethernet::TYPE_IPV4, &self.packet())
    }
}

fn packet6(hop_limit: u8, ends: (u128, u128), next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next, hop_limit]);
    bytes.extend(ends.0.to_be_bytes());
    bytes.extend(ends.1.to_be_bytes());
    bytes.extend(payload);
    ethernet(ethernet::TYPE_IPV6, &bytes)
}

fn echo() -> Vec<u8> {
    let mut bytes = vec![8, 0, 0, 0, 0, 1, 0, 2, b'p', b'i', b'n', b'g'];
    let sum = checksum::finish(checksum::sum(&bytes));
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn echo6(ends: (u128, u128)) -> Vec<u8> {
    let mut bytes = vec![128, 0, 0, 0, 0, 1, 0, 2, b'p', b'i', b'n', b'g'];
    let pseudo = checksum::pseudo_v6(ends.0, ends.1, 58, bytes.len() as u32);
    let sum = checksum::finish(pseudo + checksum::sum(&bytes));
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn frames_inet() -> Vec<Frame> {
    let mut list = Vec::new();
    let mut add = |name, edit: &dyn Fn(&mut Inet4<'_>)| {
        let mut packet = Inet4::plain();
        edit(&mut packet);
        list.push(Frame { name, bytes: packet.frame(), differs: None });
    };
    add("plain", &|_| ());
    for (name, ttl) in [("TTL 2", 2), ("TTL 1", 1), ("TTL 0", 0)] {
        add(name, &|p| p.ttl = ttl);
    }
    add("first fragment", &|p| p.fragment = ipv4::MORE_FRAGMENTS);
    add("later fragment", &|p| p.fragment = 3);
    add("later fragment with TTL 1", &|p| (p.fragment, p.ttl) = (3, 1));
    add("unknown protocol", &|p| p.protocol = 253);
    add("no options, four bytes", &|p| p.options = &[1, 1, 1, 0]);
    // From a host of its own: the kernel counts all errors to one host against one limit.
    add("no route", &|p| {
        p.source = u32::from_be_bytes([198, 18, 10, 77]);
        p.destination = u32::from_be_bytes([203, 0, 113, 1]);
    });
    for (name, source) in [
        ("source 127.0.0.1", [127, 0, 0, 1]),
        ("source 0.0.0.0", [0; 4]),
        ("source 224.0.0.1", [224, 0, 0, 1]),
        ("source 255.255.255.255", [255; 4]),
    ] {
        add(name, &|p| p.source = u32::from_be_bytes(source));
    }
    for (name, destination) in
        [("destination 127.0.0.1", [127, 0, 0, 1]), ("destination 0.0.0.0", [0; 4])]
    {
        add(name, &|p| p.destination = u32::from_be_bytes(destination));
    }
    // From a host of its own, see above.
    add("destination 240.0.0.1", &|p| {
        p.source = u32::from_be_bytes([198, 18, 10, 78]);
        p.destination = u32::from_be_bytes([240, 0, 0, 1]);
    });
    for (name, router) in [
        ("closed port of the router", [198, 18, 0, 254]),
        ("closed port of its other address", [198, 19, 0, 254]),
    ] {
        add(name, &|p| p.destination = u32::from_be_bytes(router));
    }
    add("error with TTL 1", &|p| {
        let mut error = vec![3, 1, 0, 0, 0, 0, 0, 0];
        error.extend(Inet4::plain().packet());
        let sum = checksum::finish(checksum::sum(&error));
        error[2..4].copy_from_slice(&sum.to_be_bytes());
        (p.protocol, p.payload, p.ttl) = (1, error, 1);
    });
    add("fits the small MTU", &|p| p.payload.resize(SMALL_MTU - 20, 0));
    add("too big with DF", &|p| {
        p.payload.resize(1400, 0);
        p.fragment = ipv4::DONT_FRAGMENT;
    });
    add("too big without DF", &|p| p.payload.resize(1400, 0));
    add("ping to the router", &|p| {
        (p.destination, p.protocol, p.payload) = (u32::from_be_bytes([198, 18, 0, 254]), 1, echo());
    });
    add("ping through", &|p| (p.protocol, p.payload) = (1, echo()));
    add("ping through with TTL 1", &|p| (p.protocol, p.payload, p.ttl) = (1, echo(), 1));
    let mut spoilt = |name, edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Inet4::plain().frame();
        edit(&mut bytes);
        list.push(Frame { name, bytes, differs: None });
    };
    spoilt("bad checksum", &|b| b[24] ^= 1);
    spoilt("version 5", &|b| b[14] = 0x55);
    spoilt("header length 16", &|b| b[14] = 0x44);
    spoilt("longer than its frame", &|b| b[16] = 4);
    spoilt("for another station", &|b| b[5] ^= 0x40);
    spoilt("unknown EtherType", &|b| b[12] = 0x99);
    for (name, tag) in
        [("tag of VLAN 666", [0x81, 0, 2, 154]), ("tag of VLAN 4095", [0x81, 0, 15, 255])]
    {
        spoilt(name, &|b| {
            b.splice(12..12, tag);
        });
    }
    let mut own = Inet4::plain();
    own.source = u32::from_be_bytes([198, 18, 0, 254]);
    list.push(Frame {
        name: "the router's own address as source",
        bytes: own.frame(),
        differs: Some("the kernel takes it for a martian; the router does not look"),
    });
    list
}

fn frames_inet6() -> Vec<Frame> {
    let ends = (SOURCE_6, DESTINATION_6);
    let datagram = [7, 208, 7, 208, 0, 12, 0xab, 0xcd, 1, 2, 3, 4];
    let mut list = Vec::new();
    let mut add = |name, bytes: Vec<u8>| list.push(Frame { name, bytes, differs: None });
    add("IPv6", packet6(64, ends, 17, &datagram));
    for (name, limit) in [("hop limit 2", 2), ("hop limit 1", 1), ("hop limit 0", 0)] {
        add(name, packet6(limit, ends, 17, &datagram));
    }
    let behind = |header: [u8; 8]| [&header[..], &datagram[..]].concat();
    add("destination options", packet6(64, ends, 60, &behind([17, 0, 1, 4, 0, 0, 0, 0])));
    add("hop-by-hop, padding", packet6(64, ends, 0, &behind([17, 0, 1, 4, 0, 0, 0, 0])));
    add("fragment header", packet6(64, ends, 44, &behind([17, 0, 0, 1, 0, 0, 0, 9])));
    add("unknown next header", packet6(64, ends, 253, &datagram));
    add("no next header", packet6(64, ends, 59, &[]));
    let nowhere = 0x2001_0db8 << 96 | 1;
    add("no IPv6 route", packet6(64, (SOURCE_6, nowhere), 17, &datagram));
    for (name, source) in [("source ::1", 1), ("source ::", 0), ("source ff02::1", ipv6::ALL_NODES)]
    {
        add(name, packet6(64, (source, DESTINATION_6), 17, &datagram));
    }
    add("destination ::1", packet6(64, (SOURCE_6, 1), 17, &datagram));
    let mut large = datagram.to_vec();
    large.resize(1400, 0);
    add("IPv6 too big", packet6(64, ends, 17, &large));
    let router = (SOURCE_6, (0x2001_0002_u128 << 96) | 0xffff_ffff_ffff_fffe);
    add("IPv6 ping to the router", packet6(64, router, 58, &echo6(router)));
    add("IPv6 ping through with hop limit 1", packet6(1, ends, 58, &echo6(ends)));
    // The first address of a connected network is every router's on it.
    let anycast = (SOURCE_6, 0x2001_0002_u128 << 96);
    add(
        "IPv6 ping to the subnet-router anycast address",
        packet6(64, anycast, 58, &echo6(anycast)),
    );
    let error = [60, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    add("IPv6 error behind options with hop limit 1", packet6(1, ends, 60, &error[8..]));
    for (name, option) in [("option to be discarded", 0x5e), ("option to be answered", 0x9e)] {
        list.push(Frame {
            name,
            bytes: packet6(64, ends, 0, &behind([17, 0, option, 4, 0, 0, 0, 0])),
            differs: Some(
                "RFC 8200 section 4: a router may leave hop-by-hop options alone; ours does unless \
                 the packet is for it",
            ),
        });
    }
    list.push(Frame {
        name: "destination ::",
        bytes: packet6(64, (SOURCE_6, 0), 17, &datagram),
        differs: Some(
            "RFC 4291 section 2.5.2: never a destination; the kernel says that it has no route to \
             it, the router drops the packet without a word",
        ),
    });
    list
}

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
            let is_own = bytes[23] == 1 && matches!(bytes[34], 0 | 3 | 5 | 11 | 12);
            if is_own {
                bytes.truncate(14 + 20 + 8 + 28);
                // Class, length, identification, flags, TTL; both checksums.
                for at in [15, 16, 17, 18, 19, 20, 21, 22, 24, 25, 36, 37] {
                    bytes[at] = 0;
                }
            }
        }
        Some(ethernet::TYPE_IPV6) => {
            let length = usize::from(u16::from_be_bytes([bytes[18], bytes[19]]));
            bytes.truncate(14 + 40 + length);
            let is_own = bytes[20] == 58 && bytes.get(54).is_some_and(|&t| t < 128 || t == 129);
            if is_own {
                for at in [14, 15, 16, 17, 21, 56, 57] {
                    bytes[at] = 0;
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

#[test]
fn kernel_and_router_treat_every_frame_alike() {
    let experiment = experiment();
    let wanted = topology(&experiment);
    let mut testbed = match Testbed::new() {
        Ok(testbed) => testbed,
        Err(error) => return eprintln!("SKIPPED kernel_and_router: {error}"),
    };
    if let Err(error) = testbed.change_to(&wanted) {
        return eprintln!("SKIPPED kernel_and_router: {error}");
    }
    let pool = Pool::with_frames(2048).expect("memory");
    let open = |role: &str, interface: &str| {
        let namespace = testbed.namespace(role).expect("a namespace");
        let opened = namespace.run(|| PacketPort::open(interface, pool.clone()));
        opened.expect("enterable").expect("an interface")
    };
    let mut sockets = [open(SENDER, OUT), open(RECEIVER, BACK)];
    let mut router = router(&wanted);
    let (mut in_0, port_0) = ring::pair(64);
    let (mut in_1, port_1) = ring::pair(64);
    let mut worker =
        router.worker([(0, port_0), (1, port_1)]).expect("a worker").with_pool(pool.clone());
    // What the kernel says of itself when interfaces come up.
    std::thread::sleep(Duration::from_millis(200));
    for (number, socket) in sockets.iter_mut().enumerate() {
        take(&pool, socket, number, &mut Vec::new());
    }
    let mut faults = Vec::new();
    let frames = frames_inet().into_iter().chain(frames_inet6());
    for (turn, frame) in frames.enumerate() {
        let mut kernel = Left::new();
        sockets[0].send(&mut put(&pool, &frame.bytes));
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            for (number, socket) in sockets.iter_mut().enumerate() {
                take(&pool, socket, number, &mut kernel);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut ours = Left::new();
        in_0.send(&mut put(&pool, &frame.bytes));
        // Each frame a second after the one before: no rate limit of ICMP.
        worker.poll_at((turn as u64 + 1) * 1_000_000_000);
        take(&pool, &mut in_0, 0, &mut ours);
        take(&pool, &mut in_1, 1, &mut ours);
        // Reports that the kernel multicasts by itself are no answers.
        kernel.retain(|(_, bytes)| bytes[0] & 1 == 0);
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
    let host: Vec<_> =
        host::settings().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert!(
        faults.is_empty(),
        "{} frames:\n{}\non a host with {}",
        faults.len(),
        faults.join("\n"),
        host.join(", ")
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
