//! `fwdlab route` as a user starts it: captures in, captures and counters out.
//!
//! The captures are golden files: tests/golden/route/*.pcap, to be looked at with tcpdump.
//! BLESS=1 writes them anew.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fwdlab_port::pcap::{PcapReader, PcapWriter};
use fwdlab_wire::lab::DEVICE_MACS;
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv4, ipv4, ipv6, udp};

const ROUTES: &str = "\
198.18.0.0/16 via 198.18.0.203
198.19.0.0/16 via 198.19.0.203
2001:2::/49 via 2001:2::cb
2001:2:0:8000::/49 via 2001:2:0:8000::cb
";

const ROUTER: MacAddr = DEVICE_MACS[0];
const TESTER: MacAddr = MacAddr([2, 1, 198, 18, 0, 203]);
const SECOND: u64 = 1_000_000_000;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/route").join(name)
}

/// An IPv4 frame with a UDP datagram of zeros.
fn inet(len: usize, edit: impl FnOnce(&mut ipv4::Packet<&mut [u8]>)) -> Vec<u8> {
    let mut bytes = frame(len, ethernet::TYPE_IPV4);
    let mut packet = ipv4::Packet::prepare(&mut bytes[14..], (len - 14) as u16).unwrap();
    packet.set_ttl(64);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(0xc612_0a01); // 198.18.10.1
    packet.set_destination(0xc613_0a01); // 198.19.10.1
    let mut datagram = udp::Datagram::prepare(packet.payload_mut(), (len - 34) as u16).unwrap();
    datagram.set_ports(2000, 2000);
    edit(&mut packet);
    packet.fill_checksum();
    bytes
}

/// An IPv6 frame likewise.
fn inet6(len: usize, edit: impl FnOnce(&mut ipv6::Packet<&mut [u8]>)) -> Vec<u8> {
    let mut bytes = frame(len, ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(&mut bytes[14..], (len - 54) as u16).unwrap();
    packet.set_hop_limit(64);
    packet.set_next_header(udp::PROTOCOL);
    packet.set_source(0x2001_0002_0000_0001 << 64 | 0x0a01);
    packet.set_destination(0x2001_0002_0000_8001 << 64 | 0x0a01);
    let pseudo = packet.pseudo_sum();
    let mut datagram = udp::Datagram::prepare(packet.payload_mut(), (len - 54) as u16).unwrap();
    datagram.set_ports(2000, 2000);
    datagram.fill_checksum(pseudo);
    edit(&mut packet);
    bytes
}

fn frame(len: usize, ether_type: u16) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).unwrap();
    frame.set_destination(ROUTER);
    frame.set_source(TESTER);
    frame.set_ether_type(ether_type);
    bytes
}

fn arp(operation: u16, (mac, sender): (MacAddr, u32), target: u32) -> Vec<u8> {
    let mut bytes = frame(60, ethernet::TYPE_ARP);
    if operation == arp::REQUEST {
        bytes[..6].fill(0xff);
    }
    bytes[6..12].copy_from_slice(&mac.0);
    let mut packet = arp::Packet::prepare(&mut bytes[14..]).unwrap();
    packet.set_operation(operation);
    packet.set_sender(mac, sender);
    packet.set_target(MacAddr::ZERO, target);
    bytes
}

fn echo(destination: u32) -> Vec<u8> {
    inet(60, |packet| {
        packet.set_protocol(icmpv4::PROTOCOL);
        packet.set_destination(destination);
        let mut message = icmpv4::Packet::parse(packet.payload_mut()).unwrap();
        message.set_kind(icmpv4::ECHO, 0);
        message.fill_checksum();
    })
}

/// One frame of each kind of fate.
fn every_fate() -> Vec<Vec<u8>> {
    let mut bad_checksum = inet(60, |_| {});
    bad_checksum[24] ^= 1;
    let mut stranger = inet(60, |_| {});
    stranger[5] = 0x99;
    let mut tagged = frame(60, ethernet::TYPE_VLAN);
    tagged[14..18].copy_from_slice(&[0, 7, 8, 0]);
    vec![
        inet(60, |_| {}),
        inet(1514, |_| {}),
        inet6(62, |_| {}),
        inet(60, |packet| packet.set_ttl(1)),
        inet6(62, |packet| packet.set_hop_limit(1)),
        inet(60, |packet| packet.set_destination(0x0a00_0001)),
        inet(1600, |packet| packet.set_fragment(0x4000)),
        inet6(1600, |_| {}),
        inet(60, |packet| packet.set_destination(0xe000_0001)),
        inet(60, |packet| packet.set_source(0x7f00_0001)),
        bad_checksum,
        stranger,
        tagged,
        echo(0xc612_0001),
        arp(arp::REQUEST, (TESTER, 0xc612_00cb), 0xc612_0001),
        inet(60, |_| {}),
    ]
}

/// A capture with a frame each `gap_ns`.
fn capture(frames: &[Vec<u8>], gap_ns: u64) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (number, frame) in (0..).zip(frames) {
        writer.write(frame, SECOND + number * gap_ns).unwrap();
    }
    writer.into_inner().unwrap()
}

fn packets(capture: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut reader = PcapReader::new(capture).unwrap();
    let (mut packets, mut bytes) = (Vec::new(), Vec::new());
    while let Some(time_ns) = reader.next_packet(&mut bytes).unwrap() {
        packets.push((time_ns, bytes.clone()));
    }
    packets
}

/// Runs `fwdlab route` in a fresh directory that holds `table.txt` and `in.pcap`.
fn route(input: &[u8], arguments: &[&str]) -> (tempfile::TempDir, Output) {
    route_by(ROUTES, input, arguments)
}

/// The same with other routes.
fn route_by(routes: &str, input: &[u8], arguments: &[&str]) -> (tempfile::TempDir, Output) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("table.txt"), routes).unwrap();
    fs::write(dir.path().join("in.pcap"), input).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fwdlab"))
        .args(["route", "--routes", "table.txt", "--pcap-in", "in.pcap"])
        .args(arguments)
        .current_dir(dir.path())
        .output()
        .unwrap();
    (dir, output)
}

fn assert_golden(name: &str, got: &[u8]) {
    let path = golden(name);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, got).unwrap();
    }
    let wanted = fs::read(&path).unwrap();
    assert!(
        wanted == got,
        "{name} differs; look at it, then BLESS=1 accepts it. Got:\n{}",
        String::from_utf8_lossy(got)
    );
}

#[test]
fn every_frame_of_a_capture_has_its_golden_fate() {
    let input = capture(&every_fate(), SECOND / 100);
    assert_golden("in.pcap", &input);
    let (dir, output) = route(&input, &["--pcap-out", "out.pcap"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_golden("out.pcap", &fs::read(dir.path().join("out.pcap")).unwrap());
    assert_golden("out.txt", &output.stdout);
    assert_golden("err.txt", &output.stderr);
    let (_, output) = route(&input, &["--format", "json"]);
    assert_golden("out.json", &output.stdout);
}

#[test]
fn each_port_has_its_own_capture_when_several_are_named() {
    let input = capture(&every_fate(), SECOND / 100);
    let (dir, output) = route(&input, &["--pcap-out", "a.pcap", "--pcap-out", "b.pcap"]);
    assert!(output.status.success());
    let [a, b, all] = ["a.pcap", "b.pcap"]
        .map(|name| fs::read(dir.path().join(name)).unwrap())
        .map(|file| packets(&file))
        .into_iter()
        .chain([packets(&fs::read(golden("out.pcap")).unwrap())])
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert!(a.iter().all(|(_, frame)| frame[6..12] == [2, 0, 0, 0, 0, 0x10]));
    assert!(b.iter().all(|(_, frame)| frame[6..12] == [2, 0, 0, 0, 0, 0x11]));
    assert_eq!(a.len() + b.len(), all.len());
}

#[test]
fn a_vlan_is_a_port_that_takes_and_gives_tagged_frames() {
    let near = ["--port", "02:00:00:00:00:10"];
    let far = ["--port", "02:00:00:00:00:11"];
    let inside = ["--port", "vlan=7@0,198.18.0.1/24,2001:2::1/64"];
    let outside = ["--port", "vlan=9@1,198.19.0.1/24,2001:2:0:8000::1/64"];
    let mut tagged = inet(60, |_| {});
    tagged.splice(12..12, [0x81, 0, 0, 7]);
    let input = capture(&[tagged, inet(60, |_| {})], SECOND);
    let arguments = [&near[..], &far, &inside, &outside, &["--pcap-out", "out.pcap"]].concat();
    let (dir, output) = route(&input, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = packets(&fs::read(dir.path().join("out.pcap")).unwrap());
    // The second frame is looked up as well: a port without an address forwards.
    assert_eq!(out.len(), 2);
    for (_, frame) in &out {
        assert_eq!(frame[6..18], [2, 0, 0, 0, 0, 0x11, 0x81, 0, 0, 9, 8, 0]);
        assert_eq!((frame.len(), frame[26]), (64, 63), "{frame:02x?}");
    }
}

#[test]
fn a_captured_answer_lets_the_waiting_packet_go() {
    let gateway = (MacAddr([2, 0, 0, 0, 0, 0xbb]), 0xc613_00cb);
    let dir = tempfile::tempdir().unwrap();
    let answers = dir.path().join("answers.pcap");
    let mut answer = arp(arp::REPLY, gateway, 0xc613_0001);
    answer[5] = 0x11;
    // Half a second after the packet that asks.
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    writer.write(&answer, SECOND * 3 / 2).unwrap();
    fs::write(&answers, writer.into_inner().unwrap()).unwrap();
    let input = capture(&[inet(60, |_| {})], SECOND);
    let arguments = ["--resolve", "--pcap-in", answers.to_str().unwrap(), "--pcap-out", "out.pcap"];
    let (dir, output) = route(&input, &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = packets(&fs::read(dir.path().join("out.pcap")).unwrap());
    let [(asked_ns, query), (sent_ns, packet)] = &out[..] else { panic!("{out:?}") };
    assert_eq!((*asked_ns, &query[12..14]), (SECOND, &[8, 6][..]));
    assert_eq!((*sent_ns, &packet[..6]), (SECOND * 3 / 2, &gateway.0.0[..]));
}

#[test]
fn a_silent_gateway_is_asked_three_times_and_the_sender_told() {
    let input = capture(&[inet(60, |_| {})], SECOND);
    let neighbour = "198.18.0.203=02:01:c6:12:00:cb";
    let arguments = ["--resolve", "--neighbour", neighbour, "--pcap-out", "out.pcap"];
    let (dir, output) = route(&input, &arguments);
    assert!(output.status.success());
    let out = packets(&fs::read(dir.path().join("out.pcap")).unwrap());
    let queries = out.iter().filter(|(_, frame)| frame[12..14] == [8, 6]).count();
    assert_eq!((queries, out.len()), (3, 4));
    assert_eq!(out[3].1[34..36], [icmpv4::UNREACHABLE, icmpv4::CODE_HOST]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("unresolved"));
}

/// Where each frame that left went: MAC address and port, by the router's.
fn ways_out(dir: &tempfile::TempDir) -> Vec<(MacAddr, u8)> {
    let out = packets(&fs::read(dir.path().join("out.pcap")).unwrap());
    out.iter()
        .map(|(_, frame)| (MacAddr(frame[..6].try_into().unwrap()), frame[11] - 0x10))
        .collect()
}

#[test]
fn a_group_in_a_file_shares_flows_by_its_weights() {
    let frames: Vec<_> = (0..400)
        .map(|host| inet(60, |packet| packet.set_destination(0xc613_0a00 + host)))
        .collect();
    let routes = "198.19.0.0/16 proto static metric 20\n\tnexthop via 198.18.0.7 dev eth0 weight 1\n\
                  \tnexthop via 198.19.0.203 dev eth1 weight 3\n";
    let arguments = ["--pcap-out", "out.pcap"];
    let (dir, output) = route_by(routes, &capture(&frames, SECOND / 1000), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ways = ways_out(&dir);
    assert_eq!(ways.len(), 400);
    let near = ways.iter().filter(|way| **way == (MacAddr([2, 1, 198, 18, 0, 7]), 0)).count();
    let far = ways.iter().filter(|way| **way == (MacAddr([2, 1, 198, 19, 0, 203]), 1)).count();
    assert!(near + far == 400 && (40..180).contains(&near), "{near} and {far}");
}

#[test]
fn of_two_routes_to_one_prefix_the_first_counts_and_it_is_said() {
    let routes = "10.0.0.0/8 via 198.19.0.7\n10.0.0.0/8 via 198.19.0.8\n";
    let (_, output) = route_by(routes, &capture(&[], 0), &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the first counts; 1 are left out"), "{said}");
    let (_, output) = route_by("10.0.0.0/8 via 198.19.0.7\n", &capture(&[], 0), &[]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("the first counts"));
}

#[test]
fn routes_that_refuse_drop_and_say_why() {
    let to = |destination| inet(60, move |packet| packet.set_destination(destination));
    let frames = [to(0x0a00_0001), to(0x0a01_0001), to(0x0a02_0001)];
    let routes = "198.18.0.0/16 via 198.18.0.203\nblackhole 10.0.0.0/16\nunreachable 10.1.0.0/16\n\
                  prohibit 10.2.0.0/16\n";
    let arguments = ["--pcap-out", "out.pcap", "--format", "json"];
    let (dir, output) = route_by(routes, &capture(&frames, SECOND), &arguments);
    let out = packets(&fs::read(dir.path().join("out.pcap")).unwrap());
    let errors: Vec<_> = out.iter().map(|(_, frame)| (frame[34], frame[35])).collect();
    assert_eq!(errors, [(3, icmpv4::CODE_HOST), (3, icmpv4::CODE_PROHIBITED)]);
    let counters: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for reason in ["blackhole", "reject", "prohibited"] {
        assert_eq!(counters["drops"][reason], 1, "{counters}");
    }
}

#[test]
fn a_link_local_gateway_goes_to_the_port_that_it_names() {
    let routes = "2001:2:0:8000::/49 via fe80::c%1\n";
    let arguments = ["--pcap-out", "out.pcap", "--neighbour", "fe80::c%1=02:00:00:00:00:0c"];
    let (dir, output) = route_by(routes, &capture(&[inet6(62, |_| {})], SECOND), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(ways_out(&dir), [(MacAddr([2, 0, 0, 0, 0, 0x0c]), 1)]);
}

#[test]
fn routes_that_lead_nowhere_are_refused_with_their_line() {
    let input = capture(&[inet(60, |_| {})], SECOND);
    for (routes, wanted) in [
        (
            "# two\n2001:db8::/32 via fe80::1\n",
            "table.txt:2: route 2001:db8::/32 via fe80::1: a link-local gateway needs",
        ),
        (
            "10.0.0.0/8 via inet6 fe80::1 dev eth0\n",
            "table.txt:1: route 10.0.0.0/8 via fe80::1: a gateway of IPv6 for IPv4",
        ),
        ("\n10.0.0.0/8\n", "table.txt:2: route 10.0.0.0/8: it names no gateway"),
        (
            "10.0.0.0/8\n\tnexthop via 198.18.0.7\n\tnexthop via 203.0.113.1\n",
            "table.txt:1: route 10.0.0.0/8 via 203.0.113.1",
        ),
    ] {
        let (_, output) = route_by(routes, &input, &[]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{routes}: {message}");
        assert!(message.contains(wanted), "{routes}: {message}");
    }
}

#[test]
fn without_routes_there_are_the_networks_of_the_ports() {
    let dir = tempfile::tempdir().unwrap();
    let near = inet(60, |packet| packet.set_destination(0xc613_0007));
    fs::write(dir.path().join("in.pcap"), capture(&[near, inet(60, |_| {})], SECOND)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fwdlab"))
        .args(["route", "--pcap-in", "in.pcap", "--pcap-out", "out.pcap"])
        .args(["--neighbour", "198.19.0.7=02:00:00:00:00:07"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(ways_out(&dir), [(MacAddr([2, 0, 0, 0, 0, 7]), 1)]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("no-route"));
}

#[test]
fn a_capture_is_not_written_over_one_that_is_read() {
    let input = capture(&[inet(60, |_| {})], SECOND);
    for arguments in [["--pcap-out", "in.pcap"], ["--pcap-out", "./in.pcap"]] {
        let (dir, output) = route(&input, &arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("is also read with --pcap-in"), "{message}");
        assert_eq!(fs::read(dir.path().join("in.pcap")).unwrap(), input);
    }
    let (_, output) = route(&input, &["--pcap-out", "a.pcap", "--pcap-out", "a.pcap"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a.pcap twice"));
}

#[test]
fn a_cut_capture_is_named_and_what_was_read_is_counted() {
    let input = capture(&[inet(60, |_| {}), inet(60, |_| {})], SECOND);
    let (_, output) = route(&input[..input.len() - 1], &[]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("(in.pcap): capture file: it was cut, it ends within packet 2"),
        "{message}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("1 frame received, 1 sent"));
    // The second frame had 1514 bytes when it was captured.
    let mut snapped = input.clone();
    let original = snapped.len() - 60 - 4;
    snapped[original..original + 4].copy_from_slice(&1514_u32.to_le_bytes());
    let (_, output) = route(&snapped, &[]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    assert!(
        message.contains("in.pcap: captured without their ends: 1 frame, the first is packet 2;"),
        "{message}"
    );
}

#[test]
fn refusals_name_what_is_wrong_and_what_to_do() {
    let input = capture(&[inet(60, |_| {})], SECOND);
    for (arguments, wanted) in [
        (vec!["--port", "02:00:00:00:00:10,198.18.0.1/24"], "route 198.19.0.0/16 via 198.19.0.203"),
        (vec!["--port", "12nonsense"], "neither a MAC address"),
        (vec!["--port", "vlan=7,198.18.0.1/24"], "write vlan=7@0 for VLAN 7 on port 0"),
        (vec!["--set", "net.nosuch=1"], "unknown control word"),
        (vec!["--neighbour", "10.0.0.1=02:00:00:00:00:01"], "in no port's network"),
        (vec!["--pcap-in", "in.pcap", "--pcap-in", "in.pcap"], "add --port"),
        (vec!["--pcap-in", "table.txt"], "table.txt"),
        (vec!["--every", "0"], "choose 0.001 to 86400 seconds"),
    ] {
        let (_, output) = route(&input, &arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(wanted), "{arguments:?}: {message}");
    }
}
