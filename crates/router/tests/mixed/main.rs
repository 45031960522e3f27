//! Everything at once on real interfaces: traffic of all lengths, mutated frames, fragments, floods of
//! ARP, neighbour discovery and of destinations that nobody has, while routes flap, MTUs change and a
//! link goes up and down. No frame is lost without being counted: from the wire in, through the
//! router, to the wire out.
//!
//! `FWDLAB_MIXED_SECONDS` says for how long with each kind of socket (default 4), `FWDLAB_MIXED_SEED`
//! where it begins. As root; else skipped.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "../device/rig.rs"]
#[allow(dead_code)]
mod rig;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_fib::{Inet, Inet6, Nexthop, NexthopKind, Prefix, Random, Target};
use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Counters, Pool, PoolConfig, Port, SocketKind};
use fwdlab_router::{PortConfig, Router};
use fwdlab_wire::{MacAddr, icmpv6, ipv4, ipv6, ndisc};

use rig::*;

/// Set for the process that runs the test inside its namespace, to the kind of socket.
const INSIDE: &str = "FWDLAB_MIXED_INSIDE";
/// Patience with a busy machine; never what is measured.
const PATIENCE: Duration = Duration::from_secs(60);

/// A namespace that goes when this does.
struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

fn ip(words: &str) {
    let output = Command::new("ip").args(words.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {words}: {}", String::from_utf8_lossy(&output.stderr));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What the kernel has counted of an interface.
fn statistic(interface: &str, name: &str) -> u64 {
    let file = format!("/sys/class/net/{interface}/statistics/{name}");
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// Runs this program once more, in a namespace of its own.
fn inside(test: &str, kind: SocketKind) {
    if std::env::var(INSIDE).is_ok_and(|inside| inside == kind.name()) {
        return mixed(kind);
    }
    let namespace = Namespace(format!("mixed-{}-{}", std::process::id(), kind.name()));
    let made = Command::new("ip").args(["netns", "add", &namespace.0]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED {test}: no network namespace (root and iproute2 are needed)");
    }
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &namespace.0]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, kind.name());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ledger = String::from_utf8_lossy(&output.stdout);
    eprint!("{said}{ledger}");
    assert!(output.status.success(), "{said}{ledger}");
}

#[test]
fn every_frame_is_accounted_for_with_packet_sockets() {
    inside("every_frame_is_accounted_for_with_packet_sockets", SocketKind::Packet);
}

#[test]
fn every_frame_is_accounted_for_with_af_xdp() {
    inside("every_frame_is_accounted_for_with_af_xdp", SocketKind::Xdp);
}

/// Both ends outside the router.
struct Ends {
    pool: Pool,
    near: PacketPort,
    far: PacketPort,
    random: Random,
    /// The router's MAC address.
    mac: MacAddr,
    seeds: Vec<Vec<u8>>,
}

impl Ends {
    /// Sends frames to the router.
    fn send(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let mut batch = Batch::new();
        for mut bytes in frames {
            if bytes[0] & 1 == 0 {
                bytes[..6].copy_from_slice(&self.mac.0);
            }
            let Some(mut frame) = self.pool.take() else { continue };
            frame.set_len(bytes.len());
            frame.copy_from_slice(&bytes);
            let _ = batch.push(frame);
        }
        self.near.send(&mut batch);
        self.pool.put(&mut batch);
        self.drain();
    }

    /// Takes what has come out.
    fn drain(&mut self) {
        let mut batch = Batch::new();
        while self.near.receive(&mut batch) + self.far.receive(&mut batch) > 0 {
            self.pool.put(&mut batch);
        }
    }

    /// One burst of some kind.
    fn burst(&mut self) {
        let kind = self.random.below(8);
        let frames: Vec<_> = (0..1 + self.random.below(64)).map(|_| self.frame(kind)).collect();
        self.send(frames);
    }

    fn frame(&mut self, kind: u64) -> Vec<u8> {
        let word = self.random.next_u64();
        let lengths = [60, 61, 128, 590, 1294, 1500, 1514];
        let len = lengths[self.random.below(7) as usize];
        match kind {
            0 => inet(len),
            1 => inet6(len.max(62)),
            // A host of the far network that nobody has: 100,000 of them.
            2 => inet_with(|packet| packet.set_destination(0x0a00_0000 + (word % 100_000) as u32)),
            // The route that flaps.
            3 => inet_with(|packet| packet.set_destination(0xcb00_7100 + (word % 256) as u32)),
            4 => arp(0xc612_0000 + (word % 60_000) as u32, word),
            5 => solicitation(word),
            6 => {
                fragment(INSIDE_ADDRESS, word as u16 % 64, (word >> 16) as u16 % 3, word >> 63 == 0)
            }
            _ => {
                let mut frame = self.seeds[word as usize % self.seeds.len()].clone();
                let at = 12 + self.random.below(frame.len().min(60) as u64 - 12) as usize;
                frame[at] = word as u8;
                if let Ok(mut packet) = ipv4::Packet::parse(&mut frame[14..])
                    && word >> 62 > 0
                {
                    packet.fill_checksum();
                }
                frame
            }
        }
    }
}

/// Somebody asks for the router, or tells of itself.
fn arp(sender: u32, word: u64) -> Vec<u8> {
    let mut bytes = vec![0xff; 6];
    let mac = [2, 1, (sender >> 24) as u8, (sender >> 16) as u8, (sender >> 8) as u8, sender as u8];
    bytes.extend(mac);
    bytes.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1 + (word >> 60 == 0) as u8]);
    bytes.extend(mac);
    bytes.extend(sender.to_be_bytes());
    bytes.extend([0; 6]);
    let target = if word >> 61 == 0 { sender } else { INSIDE_ADDRESS };
    bytes.extend(target.to_be_bytes());
    bytes.resize(60, 0);
    bytes
}

fn solicitation(word: u64) -> Vec<u8> {
    let source = 0x2001_0002 << 96 | u128::from(word % 100_000 + 0x100);
    let group = ipv6::to_solicited_node(INSIDE_ADDRESS6);
    let mut bytes = message6(group, ndisc::SOLICITATION, &[0; 24]);
    bytes[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(group).0);
    let mut packet = ipv6::Packet::parse(&mut bytes[14..]).unwrap();
    packet.set_hop_limit(255);
    packet.set_source(source);
    let pseudo = packet.pseudo_sum();
    ndisc::Message::prepare(packet.payload_mut(), ndisc::SOLICITATION, INSIDE_ADDRESS6, NEAR)
        .unwrap();
    icmpv6::Packet::parse(packet.payload_mut()).unwrap().fill_checksum(pseudo);
    bytes
}

/// The router on `r0` and `r1`, as the rig has it, with a large network behind port 1.
fn configured(ports: &[(u16, Box<dyn Port>)]) -> Router {
    let mut router = Router::new().unwrap();
    // What is dropped as `slow-path-full` then came while 256 waited for the table of neighbours.
    router.set("fwdlab.device.slow_path_pps", "1000000").unwrap();
    let inside = PortConfig::new(ports[0].1.mac())
        .address("198.18.0.1/16".parse().unwrap())
        .address6("2001:2::1/64".parse().unwrap());
    let outside = PortConfig::new(ports[1].1.mac())
        .address("198.19.0.1/24".parse().unwrap())
        .address("10.0.0.1/8".parse().unwrap())
        .address6("2001:2:0:8000::1/64".parse().unwrap());
    router.add_port(inside).unwrap();
    router.add_port(outside).unwrap();
    let (gateway, gateway6) = (0xc613_00cb, 0x2001_0002_0000_8000 << 64 | 0xcb);
    let to = |text: &str| text.parse::<Prefix<Inet>>().unwrap();
    router.add_route::<Inet>(to("198.19.0.0/16"), Nexthop::via(gateway, 1)).unwrap();
    let far6 = "2001:2:0:8000::/49".parse().unwrap();
    router.add_route::<Inet6>(far6, Nexthop::via(gateway6, 1)).unwrap();
    router.add_neighbour::<Inet>(1, gateway, FAR).unwrap();
    router.add_neighbour::<Inet6>(1, gateway6, FAR).unwrap();
    router.add_neighbour::<Inet>(0, SOURCE, NEAR).unwrap();
    router
}

/// Gives the route that flaps another target.
fn flap(router: &mut Router, random: &mut Random) {
    let prefix = "203.0.113.0/24".parse::<Prefix<Inet>>().unwrap();
    let way = Nexthop::via(0xc613_00cb, 1);
    let target: Target<Inet> = match random.below(5) {
        0 => {
            let _ = router.delete_route(prefix);
            return;
        }
        1 => Nexthop::special(NexthopKind::Blackhole).into(),
        2 => Nexthop::special(NexthopKind::Reject).into(),
        3 => Target::Group(vec![(way, 1), (Nexthop::connected(1), 2)]),
        _ => way.into(),
    };
    if router.change_route(prefix, target.clone()).is_err() {
        router.add_route(prefix, target).unwrap();
    }
}

fn arrived(counters: &Counters) -> u64 {
    counters.rx_frames + counters.rx_dropped + counters.rx_too_long
}

/// Waits until all that went in and out is counted on both sides.
fn settle(router: &Router, ends: &mut Ends) {
    let start = Instant::now();
    loop {
        ends.drain();
        let (port_0, port_1) = (router.port_counters(0), router.port_counters(1));
        let sent = statistic("r1", "tx_packets");
        let pairs = [
            ("in", statistic("t0", "tx_packets"), arrived(&port_0)),
            ("out", port_1.tx_frames, sent + statistic("r1", "tx_dropped")),
            ("taken", sent, arrived(&ends.far.counters())),
        ];
        if pairs.iter().all(|(_, here, there)| here == there) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{pairs:?}: {port_0:?}, {port_1:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn mixed(kind: SocketKind) {
    for file in ["all", "default"] {
        let file = format!("/proc/sys/net/ipv6/conf/{file}/disable_ipv6");
        let _ = std::fs::write(file, "1");
    }
    for cable in ["0", "1"] {
        let queues = "numrxqueues 1 numtxqueues 1";
        ip(&format!("link add t{cable} {queues} type veth peer name r{cable} {queues}"));
        ip(&format!("link set t{cable} up"));
        ip(&format!("link set r{cable} up"));
    }
    let seed = number("FWDLAB_MIXED_SEED").unwrap_or(23);
    let duration = Duration::from_secs(number("FWDLAB_MIXED_SECONDS").unwrap_or(4));
    let pool = || Pool::new(PoolConfig { frames: 4096, ..PoolConfig::default() }).unwrap();
    let (inner, outer) = (pool(), pool());
    let open = |interface| kind.open(interface, inner.clone());
    let ports = match (open("r0"), open("r1")) {
        (Ok(near), Ok(far)) => vec![(0, near), (1, far)],
        (Err(error), _) | (_, Err(error)) => return eprintln!("SKIPPED {kind}: {error}"),
    };
    let mut router = configured(&ports);
    let mut ends = Ends {
        near: PacketPort::open("t0", outer.clone()).unwrap(),
        far: PacketPort::open("t1", outer.clone()).unwrap(),
        pool: outer,
        random: Random::new(seed),
        mac: ports[0].1.mac(),
        seeds: vec![inet(60), inet(1514), inet6(62), echo(INSIDE_ADDRESS, &[1; 18])],
    };
    let mut worker = router.worker(ports).unwrap().with_pool(inner);
    let stop = AtomicBool::new(false);
    println!("{kind}, seed {seed}, {} s", duration.as_secs());
    let held = std::thread::scope(|scope| {
        let thread = scope.spawn(|| worker.forward(&stop));
        // Also when something is not as it should be.
        let _stopped = Stop(&stop);
        let start = Instant::now();
        let mut turn = 0_u64;
        while start.elapsed() < duration {
            turn += 1;
            ends.burst();
            if turn.is_multiple_of(8) {
                flap(&mut router, &mut ends.random);
            }
            if turn.is_multiple_of(512) {
                let mtu = 1280 + ends.random.below(221);
                ip(&format!("link set r1 mtu {mtu}"));
            }
            if turn.is_multiple_of(1024) {
                // What is under way when a link goes down is nobody's to count.
                settle(&router, &mut ends);
                ip("link set r0 down");
                ends.burst();
                ip("link set r0 up");
            }
        }
        settle(&router, &mut ends);
        stop.store(true, Ordering::Relaxed);
        thread.join().unwrap() as u64
    });
    let (now, sum) = (router.counters(), router.port_counters(0).plus(&router.port_counters(1)));
    assert_eq!(now.received, sum.rx_frames, "seed {seed}: {now:?}");
    assert_eq!(now.sent, sum.tx_frames + sum.tx_dropped, "seed {seed}: {now:?}");
    assert_eq!(
        now.received + now.originated,
        now.sent + now.dropped() + now.consumed + held,
        "seed {seed}: {now:?}"
    );
    assert!(now.sent > 0 && now.consumed > 0 && now.dropped() > 0, "{now:?}");
    println!(
        "{} frames in, {} made, {} out, {} consumed, {held} held, {} not read, dropped {:?}",
        now.received,
        now.originated,
        now.sent,
        now.consumed,
        sum.rx_dropped,
        now.drop_counts().map(|(reason, count)| (reason.name(), count)).collect::<Vec<_>>()
    );
}

/// Ends the worker when it is dropped.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
