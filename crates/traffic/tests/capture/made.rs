//! Captures made here: the one that ships as `examples/capture.pcap`, and broken ones.

use fwdlab_wire::checksum;

/// What `tcpdump -s 96` keeps of a frame.
const SNAP: usize = 96;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Frames for a capture file, with their times.
#[derive(Default)]
pub struct Made {
    pub frames: Vec<(u64, Vec<u8>)>,
    now_us: u64,
    random: u64,
}

/// An address of either family.
#[derive(Clone, Copy)]
pub enum At {
    V4([u8; 4]),
    V6([u8; 16]),
}

/// The k-th host of a documentation network.
pub fn host4(network: u8, k: u8) -> At {
    At::V4(match network {
        0 => [192, 0, 2, k],
        1 => [198, 51, 100, k],
        _ => [203, 0, 113, k],
    })
}

pub fn host6(network: u8, k: u8) -> At {
    let mut address = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, 0];
    address[15] = k;
    At::V6(address)
}

impl Made {
    fn random(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    fn at(&mut self, us: u64) {
        self.now_us += us;
    }

    pub fn push(&mut self, kind: u16, packet: &[u8], tag: Option<u16>) {
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];
        if let Some(tag) = tag {
            frame.extend([0x81, 0]);
            frame.extend(tag.to_be_bytes());
        }
        frame.extend(kind.to_be_bytes());
        frame.extend(packet);
        frame.resize(frame.len().max(60), 0);
        self.frames.push((self.now_us, frame));
    }

    /// One IP packet with this above it.
    pub fn packet(&mut self, (from, to): (At, At), protocol: u8, ttl: u8, mut segment: Vec<u8>) {
        let sum_at = match protocol {
            TCP => Some(16),
            UDP => Some(6),
            1 | 58 => Some(2),
            _ => None,
        };
        match (from, to) {
            (At::V4(from), At::V4(to)) => {
                fill(&mut segment, sum_at, protocol, [&from[..], &to[..]].concat(), protocol != 1);
                let id = self.random(65_536) as u16;
                let packet = inet((from, to), (protocol, ttl), (id, 0x4000), &segment);
                self.push(0x0800, &packet, None);
            }
            (At::V6(from), At::V6(to)) => {
                fill(&mut segment, sum_at, protocol, [&from[..], &to[..]].concat(), true);
                let mut packet = vec![0x60, 0, 0, 0];
                packet.extend((segment.len() as u16).to_be_bytes());
                packet.extend([protocol, ttl]);
                packet.extend(from.iter().chain(&to));
                packet.extend(&segment);
                self.push(0x86dd, &packet, None);
            }
            _ => panic!("one family"),
        }
    }

    pub fn udp(&mut self, ends: (At, At), ports: (u16, u16), payload: usize) {
        let mut segment = Vec::new();
        segment.extend(ports.0.to_be_bytes());
        segment.extend(ports.1.to_be_bytes());
        segment.extend((8 + payload as u16).to_be_bytes());
        segment.extend([0, 0]);
        segment.extend((0..payload).map(|k| k as u8));
        self.packet(ends, UDP, 64, segment);
    }

    pub fn tcp(&mut self, ends: (At, At), ports: (u16, u16), flags: u8, payload: usize) {
        let sequence = self.random(1 << 31) as u32;
        let mut segment = Vec::new();
        segment.extend(ports.0.to_be_bytes());
        segment.extend(ports.1.to_be_bytes());
        segment.extend(sequence.to_be_bytes());
        segment.extend([0, 0, 0, 1, 0x50, flags, 0xff, 0, 0, 0, 0, 0]);
        segment.extend((0..payload).map(|k| (k * 7) as u8));
        self.packet(ends, TCP, 58, segment);
    }

    /// The capture in pcap format, frames cut after `snap` bytes.
    pub fn pcap(&self, snap: usize) -> Vec<u8> {
        let mut file = Vec::new();
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, snap as u32, 1] {
            file.extend(word.to_le_bytes());
        }
        for (us, frame) in &self.frames {
            let kept = frame.len().min(snap);
            for word in [us / 1_000_000, us % 1_000_000, kept as u64, frame.len() as u64] {
                file.extend((word as u32).to_le_bytes());
            }
            file.extend(&frame[..kept]);
        }
        file
    }
}

fn inet(
    (from, to): ([u8; 4], [u8; 4]),
    (protocol, ttl): (u8, u8),
    (id, fragment): (u16, u16),
    segment: &[u8],
) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend((20 + segment.len() as u16).to_be_bytes());
    packet.extend(id.to_be_bytes());
    packet.extend(fragment.to_be_bytes());
    packet.extend([ttl, protocol, 0, 0]);
    packet.extend(from.iter().chain(&to));
    let sum = checksum::finish(checksum::sum(&packet));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend(segment);
    packet
}

/// Fills the checksum in.
fn fill(segment: &mut [u8], at: Option<usize>, protocol: u8, addresses: Vec<u8>, has_pseudo: bool) {
    let Some(at) = at else { return };
    let pseudo = checksum::sum(&addresses) + u64::from(protocol) + segment.len() as u64;
    let sum = checksum::sum(segment) + if has_pseudo { pseudo } else { 0 };
    segment[at..at + 2].copy_from_slice(&checksum::finish(sum).to_be_bytes());
}

/// A small mix as a site's uplink shows it: names looked up, pages loaded over TCP and QUIC, both
/// directions, both families, some pings, a fragmented datagram, a VLAN tag, an ARP frame.
pub fn mix() -> Made {
    let mut made = Made { random: 23, ..Made::default() };
    for k in 0..26_u8 {
        let is_inet6 = k % 3 == 2;
        let host = |network, k| if is_inet6 { host6(network, k) } else { host4(network, k) };
        let (client, resolver, server) = (host(0, 10 + k), host(1, 53), host(2, 80 + k % 7));
        let port = 40_000 + 17 * u16::from(k);
        let wait = made.random(300);
        made.at(wait);
        made.udp((client, resolver), (port, 53), 34);
        made.at(120);
        made.udp((resolver, client), (53, port), 90);
        made.at(200);
        if k % 4 == 3 {
            quic(&mut made, (client, server), port);
        } else {
            page(&mut made, (client, server), port);
        }
        if k % 5 == 0 {
            let (code, answer) = if is_inet6 { (128, 129) } else { (8, 0) };
            let protocol = if is_inet6 { 58 } else { 1 };
            let echo = |kind| {
                let mut echo = vec![kind, 0, 0, 0, 0, k, 0, 1];
                echo.extend([0x61; 56]);
                echo
            };
            made.packet((client, server), protocol, 64, echo(code));
            made.at(800);
            made.packet((server, client), protocol, 57, echo(answer));
        }
    }
    oddities(&mut made);
    made
}

/// A page over TCP: handshake, request, answer with acknowledgements, end.
fn page(made: &mut Made, (client, server): (At, At), port: u16) {
    let (to, back) = ((client, server), (server, client));
    made.tcp(to, (port, 443), 2, 0);
    made.at(400);
    made.tcp(back, (443, port), 0x12, 0);
    made.at(30);
    made.tcp(to, (port, 443), 0x10, 0);
    made.tcp(to, (port, 443), 0x18, 300 + usize::from(port % 200));
    for burst in 0..1 + made.random(3) {
        made.at(350 + burst);
        for _ in 0..2 {
            made.at(12);
            made.tcp(back, (443, port), 0x10, 1440);
        }
        made.at(20);
        made.tcp(to, (port, 443), 0x10, 0);
    }
    made.at(50);
    made.tcp(back, (443, port), 0x19, 211);
    made.at(40);
    made.tcp(to, (port, 443), 0x11, 0);
}

/// The same over QUIC.
fn quic(made: &mut Made, (client, server): (At, At), port: u16) {
    made.udp((client, server), (port, 443), 1200);
    made.at(380);
    made.udp((server, client), (443, port), 1200);
    for _ in 0..2 + made.random(4) {
        made.at(15);
        made.udp((server, client), (443, port), 1350);
        made.at(25);
        made.udp((client, server), (port, 443), 33);
    }
}

/// What makes captures hard to replay.
fn oddities(made: &mut Made) {
    let (from, to) = ([192, 0, 2, 77], [203, 0, 113, 78]);
    made.at(100);
    // A datagram of two fragments: its checksum stands in the first and covers both.
    let mut datagram = vec![0x13, 0x88, 0x13, 0x89, 0x07, 0xd8, 0, 0];
    datagram.extend((0..2000_u32).map(|k| k as u8));
    fill(&mut datagram, Some(6), UDP, [&from[..], &to[..]].concat(), true);
    made.push(0x0800, &inet((from, to), (UDP, 64), (7, 0x2000), &datagram[..1480]), None);
    made.push(0x0800, &inet((from, to), (UDP, 64), (7, 185), &datagram[1480..]), None);
    // One hop left: it would end at the device.
    made.at(10);
    made.packet(
        (host4(0, 99), host4(2, 5)),
        UDP,
        1,
        vec![0x82, 0x9b, 0x82, 0x9b, 0, 12, 0, 0, 1, 2, 3, 4],
    );
    // A tagged frame, and one that is not IP.
    made.at(10);
    let tagged = inet((from, to), (47, 64), (9, 0x4000), &[0; 64]);
    made.push(0x0800, &tagged, Some(42));
    made.push(0x0806, &[0, 1, 8, 0, 6, 4, 0, 1], None);
    // A datagram whose sender left the checksum out, short enough to be padded.
    made.at(10);
    let bare = inet(
        (from, to),
        (UDP, 64),
        (10, 0x4000),
        &[0, 5, 0, 6, 0, 17, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
    made.push(0x0800, &bare, None);
}

/// The file that ships.
pub fn shipped() -> Vec<u8> {
    mix().pcap(SNAP)
}
