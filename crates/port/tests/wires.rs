//! Packet sockets between the two ends of a cable in a network namespace of their own; as root,
//! else they are skipped.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::net::UdpSocket;
use std::process::Command;

use fwdlab_port::offloads::{self, Offload};
use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Frame, Pool, PoolConfig, Port, PortError, SocketKind};
use fwdlab_wire::{checksum, ipv4, ipv6, udp};

/// Set for the process that runs a test inside its namespace.
const INSIDE: &str = "FWDLAB_TEST_INSIDE";
/// An EtherType for local experiments (IEEE 802).
const OURS: [u8; 2] = [0x88, 0xb5];

/// A namespace that goes when this does.
struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// Runs `ip` with these words; whether it did what was asked.
fn ip(words: &str) -> bool {
    let output = Command::new("ip").args(words.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs a test in a namespace with a cable from `p0` to `p1`: this program once more.
fn inside(test: &str, body: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        for file in ["all", "default"] {
            let file = format!("/proc/sys/net/ipv6/conf/{file}/disable_ipv6");
            let _ = std::fs::write(file, "1");
        }
        assert!(ip("link add name p0 type veth peer name p1") && ip("link set p0 up"));
        assert!(ip("link set p1 up"));
        return body();
    }
    let namespace = Namespace(format!("wires-{}-{test}", std::process::id()));
    if !ip(&format!("netns add {}", namespace.0)) {
        return eprintln!("SKIPPED {test}: no network namespace (root and iproute2 are needed)");
    }
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &namespace.0]).arg(program);
    let output = command.args(["--exact", test, "--nocapture"]).env(INSIDE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
}

fn pool() -> Pool {
    Pool::with_frames(256).unwrap()
}

/// Frames of these lengths, each with its number behind the EtherType.
fn frames(pool: &Pool, lengths: &[usize]) -> Batch {
    let mut batch = Batch::new();
    for (number, &len) in lengths.iter().enumerate() {
        let mut frame = pool.take().unwrap();
        frame.set_len(len);
        frame.fill(0xff);
        frame[12..14].copy_from_slice(&OURS);
        frame[14] = number as u8;
        batch.push(frame).unwrap();
    }
    batch
}

/// What arrives until `enough` frames are such, or nothing more comes.
fn receive(port: &mut dyn Port, enough: usize, is_such: impl Fn(&Frame) -> bool) -> Vec<Vec<u8>> {
    let (mut batch, mut found) = (Batch::new(), Vec::new());
    for _ in 0..200_000 {
        port.receive(&mut batch);
        found.extend(batch.drain().filter(|frame| is_such(frame)).map(|frame| frame.to_vec()));
        if found.len() >= enough {
            break;
        }
    }
    found
}

fn is_ours(frame: &Frame) -> bool {
    frame.windows(2).skip(12).take(5).any(|pair| pair == OURS)
}

#[test]
fn a_frame_that_can_never_leave_does_not_stop_those_behind_it() {
    inside("a_frame_that_can_never_leave_does_not_stop_those_behind_it", || {
        let pool = pool();
        let mut near = PacketPort::open("p0", pool.clone()).unwrap();
        let mut far = PacketPort::open("p1", pool.clone()).unwrap();
        let mut batch = frames(&pool, &[60, 1600, 70, 1600, 1600, 80]);
        for _ in 0..100 {
            near.send(&mut batch);
        }
        assert!(batch.is_empty(), "{} frames are stuck", batch.len());
        let counters = near.counters();
        assert_eq!((counters.tx_frames, counters.tx_dropped), (3, 3));
        let lengths: Vec<_> = receive(&mut far, 3, is_ours).iter().map(Vec::len).collect();
        assert_eq!(lengths, [60, 70, 80]);
    });
}

#[test]
fn frames_for_a_link_that_is_down_are_dropped_and_counted() {
    inside("frames_for_a_link_that_is_down_are_dropped_and_counted", || {
        let pool = pool();
        let mut near = PacketPort::open("p0", pool.clone()).unwrap();
        assert!(ip("link set p0 down"));
        let mut batch = frames(&pool, &[60, 60]);
        near.send(&mut batch);
        assert_eq!((batch.len(), near.counters().tx_dropped), (0, 2));
        // And it goes on when the link comes back.
        assert!(ip("link set p0 up"));
        let mut far = PacketPort::open("p1", pool.clone()).unwrap();
        let mut batch = frames(&pool, &[60]);
        while !batch.is_empty() {
            near.send(&mut batch);
        }
        assert_eq!(receive(&mut far, 1, is_ours).len(), 1);
        near.look().unwrap();
    });
}

#[test]
fn vlan_tags_are_in_the_frame() {
    inside("vlan_tags_are_in_the_frame", || {
        let pool = pool();
        let mut near = PacketPort::open("p0", pool.clone()).unwrap();
        let mut far = PacketPort::open("p1", pool.clone()).unwrap();
        let tags: [[u8; 4]; 4] =
            [[0x81, 0, 0x02, 0x9a], [0x81, 0, 0x0f, 0xff], [0x81, 0, 0x60, 0], [0x88, 0xa8, 0, 7]];
        let mut batch = frames(&pool, &[64; 5]);
        for (frame, tag) in batch.iter_mut().zip(tags) {
            frame[12..16].copy_from_slice(&tag);
            frame[16..18].copy_from_slice(&OURS);
        }
        let sent: Vec<Vec<u8>> = batch.iter().map(|frame| frame.to_vec()).collect();
        while !batch.is_empty() {
            near.send(&mut batch);
        }
        assert_eq!(receive(&mut far, 5, is_ours), sent, "the last has no tag");
    });
}

#[test]
fn checksums_that_the_sender_left_to_its_interface_are_completed() {
    inside("checksums_that_the_sender_left_to_its_interface_are_completed", || {
        completed(SocketKind::Packet);
    });
}

/// Beside which the kernel says nothing of checksums.
#[test]
fn checksums_that_the_sender_left_to_its_interface_are_completed_by_af_xdp() {
    inside("checksums_that_the_sender_left_to_its_interface_are_completed_by_af_xdp", || {
        completed(SocketKind::Xdp);
    });
}

fn completed(kind: SocketKind) {
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/p0/disable_ipv6", "0");
    assert!(ip("addr add 198.18.0.1/24 dev p0"));
    assert!(ip("-6 addr add 2001:2::1/64 dev p0 nodad"));
    assert!(ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev p0"));
    assert!(ip("-6 neigh add 2001:2::2 lladdr 02:00:00:00:00:02 dev p0"));
    offloads::write("p0", Offload::SendChecksum, true).unwrap();
    let mut far = match kind.open("p1", pool()) {
        Ok(port) => port,
        Err(error) => return eprintln!("SKIPPED {kind}: {error}"),
    };
    for (own, to) in [("198.18.0.1:0", "198.18.0.2:2000"), ("[2001:2::1]:0", "[2001:2::2]:2000")] {
        let socket = UdpSocket::bind(own).unwrap();
        for len in [1, 18, 700, 1400] {
            socket.send_to(&vec![0x5a; len], to).unwrap();
        }
    }
    let is_udp = |frame: &Frame| {
        (frame[12..14] == [8, 0] && frame[23] == udp::PROTOCOL)
            || (frame[12..14] == [0x86, 0xdd] && frame[20] == udp::PROTOCOL)
    };
    let found = receive(far.as_mut(), 8, is_udp);
    assert_eq!(found.len(), 8);
    for frame in found {
        let (pseudo, datagram) = match ipv4::Packet::parse(&frame[14..]) {
            Ok(packet) => (packet.pseudo_sum(), packet.payload().to_vec()),
            Err(_) => {
                let packet = ipv6::Packet::parse(&frame[14..]).unwrap();
                (packet.pseudo_sum(), packet.payload().to_vec())
            }
        };
        let sum = checksum::fold(checksum::sum(&datagram) + pseudo);
        assert_eq!(sum, 0xffff, "{} bytes", frame.len());
    }
}

#[test]
fn jumbo_frames_come_whole_or_are_counted() {
    inside("jumbo_frames_come_whole_or_are_counted", || {
        assert!(ip("link set p0 mtu 9000") && ip("link set p1 mtu 9000"));
        assert_eq!(fwdlab_port::packet::mtu("p1").unwrap(), 9000);
        let large = PoolConfig { frames: 256, capacity: 9018, ..PoolConfig::default() };
        let large = Pool::new(large).unwrap();
        let mut near = PacketPort::open("p0", large.clone()).unwrap();
        let mut far = PacketPort::open("p1", large.clone()).unwrap();
        let mut small = PacketPort::open("p1", pool()).unwrap();
        let mut batch = frames(&large, &[60, 9014, 2049, 70]);
        while !batch.is_empty() {
            near.send(&mut batch);
        }
        let lengths = |port: &mut PacketPort, enough| -> Vec<_> {
            receive(port, enough, is_ours).iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(&mut far, 4), [60, 9014, 2049, 70]);
        assert_eq!(lengths(&mut small, 2), [60, 70]);
        assert_eq!(small.counters().rx_too_long, 2);
        assert_eq!(small.counters().rx_frames, 2);
    });
}

#[test]
fn another_mtu_is_seen_and_an_interface_that_goes_away_is_an_error() {
    inside("another_mtu_is_seen_and_an_interface_that_goes_away_is_an_error", || {
        let mut port = PacketPort::open("p0", pool()).unwrap();
        assert_eq!(port.mtu(), 1500);
        assert!(ip("link set p0 mtu 1400"));
        port.look().unwrap();
        assert_eq!(port.mtu(), 1400);
        assert!(ip("link set p0 down") && ip("link set p0 name elsewhere"));
        port.look().unwrap();
        assert!(ip("link del elsewhere"));
        let error = port.look().unwrap_err();
        assert!(matches!(error, PortError::Gone { .. }), "{error}");
        assert!(error.to_string().starts_with("interface p0 has gone"), "{error}");
    });
}
