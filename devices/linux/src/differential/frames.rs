//! Frames that the kernel and the router are shown one by one.

use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};
use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4, ipv6, ndisc};

use super::SMALL_MTU;

/// A frame to send into port 0.
pub(super) struct Frame {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    /// Why the two may handle it differently.
    pub(super) differs: Option<&'static str>,
}

pub(super) const SOURCE: u32 = u32::from_be_bytes([198, 18, 10, 1]);
pub(super) const DESTINATION: u32 = u32::from_be_bytes([198, 19, 10, 1]);
pub(super) const SOURCE_6: u128 = 0x2001_0002_0000_0010_0000_0000_0000_0001;
/// The router's addresses on port 0.
pub(super) const ROUTER: u32 = u32::from_be_bytes([198, 18, 0, 254]);
pub(super) const ROUTER_6: u128 = (0x2001_0002_u128 << 96) | 0xffff_ffff_ffff_fffe;
pub(super) const DESTINATION_6: u128 = 0x2001_0002_0000_8010_0000_0000_0000_0001;

fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [&DEVICE_MACS[0].0[..], &TESTER_MACS[0].0[..]].concat();
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().max(60), 0);
    bytes
}

/// An IPv4 packet with options, a protocol and a payload; `edit` may spoil it before (true) or
/// after (false) its checksum is made.
pub(super) struct Inet4<'a> {
    pub(super) ttl: u8,
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) protocol: u8,
    pub(super) fragment: u16,
    pub(super) options: &'a [u8],
    pub(super) payload: Vec<u8>,
}

impl Inet4<'_> {
    pub(super) fn plain() -> Self {
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

    pub(super) fn frame(&self) -> Vec<u8> {
        ethernet(ethernet::TYPE_IPV4, &self.packet())
    }
}

pub(super) fn packet6(hop_limit: u8, ends: (u128, u128), next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next, hop_limit]);
    bytes.extend(ends.0.to_be_bytes());
    bytes.extend(ends.1.to_be_bytes());
    bytes.extend(payload);
    ethernet(ethernet::TYPE_IPV6, &bytes)
}

pub(super) fn echo() -> Vec<u8> {
    let mut bytes = vec![8, 0, 0, 0, 0, 1, 0, 2, b'p', b'i', b'n', b'g'];
    let sum = checksum::finish(checksum::sum(&bytes));
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

pub(super) fn echo6(ends: (u128, u128)) -> Vec<u8> {
    let mut bytes = vec![128, 0, 0, 0, 0, 1, 0, 2, b'p', b'i', b'n', b'g'];
    let pseudo = checksum::pseudo_v6(ends.0, ends.1, 58, bytes.len() as u32);
    let sum = checksum::finish(pseudo + checksum::sum(&bytes));
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

pub(super) fn frames_inet() -> Vec<Frame> {
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
    for (name, own) in [
        ("the router's own address as source", [198, 18, 0, 254]),
        ("its other address as source", [198, 19, 0, 254]),
    ] {
        let mut packet = Inet4::plain();
        packet.source = u32::from_be_bytes(own);
        list.push(Frame { name, bytes: packet.frame(), differs: None });
    }
    list.extend(fragments_inet());
    list
}

pub(super) fn frames_inet6() -> Vec<Frame> {
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
    let router = (SOURCE_6, ROUTER_6);
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
        name: "the router's own IPv6 address as source",
        bytes: packet6(64, (router.1, DESTINATION_6), 17, &datagram),
        differs: Some("Linux looks at IPv4 sources alone"),
    });
    list.extend(fragments_inet6(router));
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

/// A ping to the router in two fragments, one in fragments that overlap, and a datagram in two.
fn fragments_inet() -> Vec<Frame> {
    let router = u32::from_be_bytes([198, 18, 0, 254]);
    let mut ping = echo();
    ping.resize(40, 0x61);
    ping[2..4].fill(0);
    let sum = checksum::finish(checksum::sum(&ping));
    ping[2..4].copy_from_slice(&sum.to_be_bytes());
    let piece = |name, (protocol, source): (u8, u8), fragment, payload: &[u8]| {
        let mut packet = Inet4::plain();
        packet.source = u32::from_be_bytes([198, 18, 10, source]);
        (packet.destination, packet.protocol, packet.fragment) = (router, protocol, fragment);
        packet.payload = payload.to_vec();
        Frame { name, bytes: packet.frame(), differs: None }
    };
    const MORE: u16 = ipv4::MORE_FRAGMENTS;
    let datagram = Inet4::plain().payload;
    vec![
        piece("ping to the router, first fragment", (1, 1), MORE, &ping[..24]),
        piece("ping to the router, last fragment", (1, 1), 3, &ping[24..]),
        piece("ping to the router, later fragment first", (1, 2), 3, &ping[24..]),
        piece("ping to the router, first fragment last", (1, 2), MORE, &ping[..24]),
        piece("overlap, first fragment", (1, 3), MORE, &ping[..24]),
        piece("overlap, fragment that overlaps", (1, 3), MORE | 2, &ping[16..32]),
        piece("overlap, last fragment", (1, 3), 4, &ping[32..]),
        piece("copy, first fragment", (1, 4), MORE, &ping[..24]),
        piece("copy, the same again", (1, 4), MORE, &ping[..24]),
        piece("copy, last fragment", (1, 4), 3, &ping[24..]),
        piece("datagram to the router, first fragment", (17, 5), MORE, &datagram[..16]),
        piece("datagram to the router, last fragment", (17, 5), 2, &datagram[16..]),
    ]
}

/// The same of IPv6.
fn fragments_inet6((source, router): (u128, u128)) -> Vec<Frame> {
    let mut ping = vec![128, 0, 0, 0, 0, 1, 0, 2];
    ping.resize(40, 0x61);
    let piece = |name, host: u128, word: u16, part: std::ops::Range<usize>| {
        let ends = (source + host, router);
        let mut whole = ping.clone();
        let pseudo = checksum::pseudo_v6(ends.0, ends.1, 58, whole.len() as u32);
        let sum = checksum::finish(pseudo + checksum::sum(&whole));
        whole[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut payload = vec![58, 0];
        payload.extend(word.to_be_bytes());
        payload.extend([0, 0, 0, 77]);
        payload.extend(&whole[part]);
        Frame { name, bytes: packet6(64, ends, 44, &payload), differs: None }
    };
    vec![
        piece("IPv6 ping to the router, first fragment", 1, 1, 0..24),
        piece("IPv6 ping to the router, last fragment", 1, 24, 24..40),
        piece("IPv6 ping to the router, fragment header alone", 2, 0, 0..40),
        piece("IPv6 overlap, first fragment", 3, 1, 0..24),
        piece("IPv6 overlap, fragment that overlaps", 3, 17, 16..32),
        piece("IPv6 overlap, last fragment", 3, 32, 32..40),
        piece("IPv6 first fragment of odd length", 4, 1, 0..21),
    ]
}

/// Who asks for the router, and who only tells: ARP (RFC 826, RFC 5227) and neighbour discovery (RFC
/// 4861).
pub(super) fn neighbours() -> Vec<Frame> {
    let own = [198, 18, 0, 254];
    let all = MacAddr::BROADCAST;
    let arp = |name, to: MacAddr, operation: u8, sender: [u8; 4], target: [u8; 4]| Frame {
        name,
        bytes: arp_frame(to, operation, sender, target),
        differs: None,
    };
    let host = [198, 18, 0, 77];
    let mut list = vec![
        arp("ARP request", all, 1, host, own),
        arp("ARP request to our MAC address", DEVICE_MACS[0], 1, host, own),
        arp("ARP probe", all, 1, [0; 4], own),
        arp("ARP probe for another address", all, 1, [0; 4], host),
        arp("ARP request for another address", all, 1, host, [198, 18, 0, 78]),
        arp("gratuitous ARP request", all, 1, host, host),
        arp("gratuitous ARP reply", all, 2, host, host),
        arp("ARP reply to us", DEVICE_MACS[0], 2, host, own),
        arp("ARP for the address of the other port", all, 1, host, [198, 19, 0, 254]),
        arp("ARP in the name of the router", all, 1, own, own),
    ];
    list[8].differs = Some("Linux answers for all its addresses on every port (arp_ignore = 0)");
    let (router, near) = (ROUTER_6, (0x2001_0002_u128 << 96) | 0x77);
    let solicit =
        |name, ends, limit| Frame { name, bytes: solicitation(ends, limit), differs: None };
    list.push(solicit("neighbour solicitation", (near, router), 255));
    list.push(solicit("neighbour solicitation from afar", (near, router), 254));
    list.push(solicit("neighbour solicitation for another", (near, near + 1), 255));
    list.push(solicit("probe for a duplicate of another", (0, near + 1), 255));
    list
}

fn arp_frame(to: MacAddr, operation: u8, sender: [u8; 4], target: [u8; 4]) -> Vec<u8> {
    let mut bytes = [&to.0[..], &TESTER_MACS[0].0[..]].concat();
    bytes.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, operation]);
    bytes.extend(TESTER_MACS[0].0);
    bytes.extend(sender);
    bytes.extend([0; 6]);
    bytes.extend(target);
    bytes.resize(60, 0);
    bytes
}

/// The first asks for the second.
fn solicitation((source, target): (u128, u128), limit: u8) -> Vec<u8> {
    let group = ipv6::to_solicited_node(target);
    let mut body = vec![ndisc::SOLICITATION, 0, 0, 0, 0, 0, 0, 0];
    body.extend(target.to_be_bytes());
    if source != 0 {
        body.extend([1, 1]);
        body.extend(TESTER_MACS[0].0);
    }
    let pseudo = checksum::pseudo_v6(source, group, 58, body.len() as u32);
    let sum = checksum::finish(pseudo + checksum::sum(&body));
    body[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut bytes = packet6(limit, (source, group), 58, &body);
    bytes[..6].copy_from_slice(&MacAddr::of_ipv6_multicast(group).0);
    bytes
}
