//! `route` with VLANs on real interfaces, by both kinds of sockets: tags that come, go, stay and change,
//! as crafted frames see them at the far ends of the cables. As root; else skipped. The running kernel,
//! or that of a guest, is asked the same.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

mod guest;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Pool, PoolConfig, Port};
use fwdlab_wire::{MacAddr, arp, ethernet, ipv4, udp};
use serde_json::Value;

/// Set for the process that runs a test inside its namespace.
const INSIDE: &str = "FWDLAB_TEST_INSIDE";
/// The testers' MAC addresses.
const NEAR: MacAddr = MacAddr::numbered(0xa0);
const FAR: MacAddr = MacAddr::numbered(0xb0);
/// The router's.
const P0: MacAddr = MacAddr::numbered(0x10);
const P1: MacAddr = MacAddr::numbered(0x11);
/// Hosts behind port 1, and behind VLAN 9 on it.
const NATIVE: u32 = 0xc613_0002;
const IN_NINE: u32 = 0x0a09_0002;
/// How long anybody waits.
const PATIENCE: Duration = Duration::from_secs(20);

struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

fn ip(words: &str) -> bool {
    let output = Command::new("ip").args(words.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// The cables from `q0` to `p0` and from `q1` to `p1`, in a namespace of their own.
fn lay_cables() {
    for file in ["all", "default"] {
        let file = format!("/proc/sys/net/ipv6/conf/{file}/disable_ipv6");
        let _ = std::fs::write(file, "1");
    }
    for (number, mac) in [(0, P0), (1, P1)] {
        let link = format!("link add name q{number} numrxqueues 1 numtxqueues 1 type veth");
        let end = format!("peer name p{number} address {mac} numrxqueues 1 numtxqueues 1");
        assert!(ip(&format!("{link} {end}")), "{link} {end}");
        assert!(ip(&format!("link set q{number} up")) && ip(&format!("link set p{number} up")));
    }
}

/// Runs a test in a namespace with cables: this program again.
fn inside(test: &str, body: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        lay_cables();
        return body();
    }
    let namespace = Namespace(format!("vlans-{}-{}", std::process::id(), &test[..8]));
    if !ip(&format!("netns add {}", namespace.0)) {
        return eprintln!("SKIPPED {test}: no network namespace (root and iproute2 are needed)");
    }
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &namespace.0]).arg(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let output = command.output().expect("it starts");
    let [said, printed] =
        [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{said}{printed}");
}

/// What forwards: fwdlab's router, or the kernel.
enum Device {
    Router(Child, BufReader<std::process::ChildStdout>),
    Kernel,
}

/// The device, and what lies at the other ends of its cables.
struct Rig {
    device: Device,
    pool: Pool,
    ends: [PacketPort; 2],
}

impl Rig {
    fn new(socket: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        let words = "route --port p0,198.18.0.1/24 --port p1,198.19.0.1/24 --port vlan=7@0,10.7.0.1/24 \
                     --port vlan=9@1,10.9.0.1/24 --format json --every 0.05 --socket";
        command.args(words.split_whitespace()).arg(socket);
        for (address, mac) in [("198.19.0.2", FAR), ("10.9.0.2", FAR), ("10.7.0.2", NEAR)] {
            command.args(["--neighbour", &format!("{address}={mac}")]);
        }
        let mut router =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(router.stdout.take().expect("piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("readable");
        if line.is_empty() {
            let mut said = String::new();
            router.stderr.take().expect("piped").read_to_string(&mut said).expect("readable");
            panic!("it ended: {said}");
        }
        Self::of(Device::Router(router, lines))
    }

    /// The kernel with the same ports, addresses, VLANs and neighbours.
    fn of_kernel() -> Self {
        for (port, number, vlan) in [("p0", 7, "p0.7"), ("p1", 9, "p1.9")] {
            assert!(ip(&format!("link add link {port} name {vlan} type vlan id {number}")));
            assert!(ip(&format!("link set {vlan} up")));
        }
        for (port, address) in
            [("p0", "198.18.0.1"), ("p1", "198.19.0.1"), ("p0.7", "10.7.0.1"), ("p1.9", "10.9.0.1")]
        {
            assert!(ip(&format!("address add {address}/24 dev {port}")));
        }
        for (port, address, mac) in
            [("p1", "198.19.0.2", FAR), ("p1.9", "10.9.0.2", FAR), ("p0.7", "10.7.0.2", NEAR)]
        {
            assert!(ip(&format!("neighbour replace {address} lladdr {mac} dev {port}")));
        }
        // Forwards; asks no source for its way back; answers on each port for that port's addresses.
        for (word, value) in [
            ("ip_forward", "1"),
            ("conf/all/rp_filter", "0"),
            ("conf/default/rp_filter", "0"),
            ("conf/all/arp_ignore", "1"),
        ] {
            std::fs::write(format!("/proc/sys/net/ipv4/{word}"), value).expect("writable");
        }
        for port in ["p0", "p1", "p0.7", "p1.9"] {
            let file = format!("/proc/sys/net/ipv4/conf/{port}/rp_filter");
            std::fs::write(file, "0").expect("writable");
        }
        Self::of(Device::Kernel)
    }

    fn of(device: Device) -> Self {
        let pool = Pool::new(PoolConfig { frames: 256, capacity: 2048, ..PoolConfig::default() });
        let pool = pool.expect("memory");
        let ends = ["q0", "q1"].map(|name| PacketPort::open(name, pool.clone()).expect("a socket"));
        Self { device, pool, ends }
    }

    fn send(&mut self, end: usize, bytes: &[u8]) {
        let mut frame = self.pool.take().expect("a frame");
        frame.set_len(bytes.len());
        frame.copy_from_slice(bytes);
        let mut batch = Batch::new();
        assert!(batch.push(frame).is_ok());
        while !batch.is_empty() {
            self.ends[end].send(&mut batch);
        }
    }

    /// The next frame from the router at an end.
    fn next(&mut self, end: usize) -> Vec<u8> {
        let (mut batch, start) = (Batch::new(), Instant::now());
        while start.elapsed() < PATIENCE {
            self.ends[end].receive(&mut batch);
            let mut frames = batch.drain().map(|frame| frame.to_vec());
            let from_router = |frame: &Vec<u8>| frame[6..12] == [P0, P1][end].0;
            if let Some(found) = frames.find(from_router) {
                return found;
            }
        }
        panic!("nothing came at end {end}");
    }

    /// Sends a frame in at port 0; what comes out at port 1 next.
    fn passes(&mut self, frame: &[u8]) -> Vec<u8> {
        self.send(0, frame);
        self.next(1)
    }

    /// The router's final counters; the kernel has none.
    fn end(self) -> Option<Value> {
        let Device::Router(mut router, lines) = self.device else { return None };
        let number = router.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().expect("kill").success());
        let last = lines.lines().map_while(Result::ok).last().expect("a line");
        assert!(router.wait().expect("it ends").success());
        Some(serde_json::from_str(&last).expect("JSON"))
    }
}

/// A UDP packet in a frame to the router, `len` bytes without a tag.
fn packet(destination: u32, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).expect("long enough");
    frame.set_destination(P0);
    frame.set_source(NEAR);
    frame.set_ether_type(ethernet::TYPE_IPV4);
    let mut packet =
        ipv4::Packet::prepare(frame.payload_mut(), (len - 14) as u16).expect("long enough");
    packet.set_ttl(64);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(0xc612_0002);
    packet.set_destination(destination);
    packet.fill_checksum();
    let mut datagram =
        udp::Datagram::prepare(packet.payload_mut(), (len - 34) as u16).expect("long enough");
    datagram.set_ports(7, 7);
    bytes
}

/// The frame with this tag: four bytes behind the MAC addresses.
fn tagged(mut frame: Vec<u8>, tag: [u8; 4]) -> Vec<u8> {
    frame.splice(12..12, tag);
    frame
}

fn vlan(identifier: u16) -> [u8; 4] {
    let [high, low] = identifier.to_be_bytes();
    [0x81, 0, high, low]
}

/// What the router makes of `packet`: other MAC addresses, one hop less.
fn forwarded(mut frame: Vec<u8>) -> Vec<u8> {
    frame[..6].copy_from_slice(&FAR.0);
    frame[6..12].copy_from_slice(&P1.0);
    let mut packet = ipv4::Packet::parse(&mut frame[14..]).expect("a packet");
    packet.set_ttl(63);
    packet.fill_checksum();
    frame
}

/// One truth for both devices.
fn tags(mut rig: Rig) {
    let (native, nine) = (packet(NATIVE, 60), packet(IN_NINE, 60));
    let (native_out, nine_out) = (forwarded(native.clone()), forwarded(nine.clone()));
    // Neither, added, taken off, another one.
    assert_eq!(rig.passes(&native), native_out);
    assert_eq!(rig.passes(&nine), tagged(nine_out.clone(), vlan(9)));
    assert_eq!(rig.passes(&tagged(native.clone(), vlan(7))), native_out);
    assert_eq!(rig.passes(&tagged(nine.clone(), vlan(7))), tagged(nine_out, vlan(9)));
    // A priority alone is no VLAN.
    assert_eq!(rig.passes(&tagged(native.clone(), [0x81, 0, 0xa0, 0])), native_out);
    // Frames of full length have room for the tag.
    let long = packet(IN_NINE, 1514);
    let long_out = tagged(forwarded(long.clone()), vlan(9));
    assert_eq!(rig.passes(&tagged(long, vlan(7))), long_out);
    // Other VLANs are nobody's: that of the other port, unknown ones, the reserved one, service tags.
    let service = [0x88, 0xa8, 0, 7];
    let strange = [vlan(9), vlan(666), vlan(4095), service].map(|tag| tagged(native.clone(), tag));
    strange.iter().for_each(|frame| rig.send(0, frame));
    assert_eq!(rig.passes(&native), native_out, "nothing of these came before it");
    // An answer goes back into the VLAN that asked, and only its own addresses are answered there.
    let ask = |target: u32| {
        let mut bytes = vec![0; 60];
        let mut frame = ethernet::Frame::parse(&mut bytes[..]).expect("long enough");
        frame.set_destination(MacAddr::BROADCAST);
        frame.set_source(NEAR);
        frame.set_ether_type(ethernet::TYPE_ARP);
        let mut request = arp::Packet::prepare(frame.payload_mut()).expect("long enough");
        request.set_operation(arp::REQUEST);
        request.set_sender(NEAR, 0x0a07_0002);
        request.set_target(MacAddr::ZERO, target);
        tagged(bytes, vlan(7))
    };
    rig.send(0, &ask(0xc612_0001));
    rig.send(0, &ask(0x0a07_0001));
    let answer = rig.next(0);
    assert_eq!(answer[12..16], vlan(7));
    let answer = arp::Packet::parse(&answer[18..]).expect("an ARP packet");
    assert_eq!((answer.sender_mac(), answer.sender_address()), (P0, 0x0a07_0001));
    if let Some(last) = rig.end() {
        assert_eq!(last["drops"]["unknown-vlan"], 4, "{last}");
    }
}

#[test]
fn packet_sockets_keep_add_remove_and_refuse_tags() {
    inside("packet_sockets_keep_add_remove_and_refuse_tags", || tags(Rig::new("af_packet")));
}

#[test]
fn af_xdp_sockets_keep_add_remove_and_refuse_tags() {
    inside("af_xdp_sockets_keep_add_remove_and_refuse_tags", || tags(Rig::new("af_xdp")));
}

/// What the router is held to is what Linux does: in a guest, as this machine's kernel may have no 802.1Q.
#[test]
fn the_kernel_keeps_adds_removes_and_refuses_tags_alike() {
    let test = "the_kernel_keeps_adds_removes_and_refuses_tags_alike";
    if std::env::var_os(INSIDE).is_some() {
        lay_cables();
        return tags(Rig::of_kernel());
    }
    if let Err(missing) = guest::run(test) {
        eprintln!("SKIPPED {test}: {missing}");
    }
}
