//! Headers of frames: what `parse` lets pass is read to the last field, followed to the header within,
//! and written anew.
#![no_main]

use std::hint::black_box;

use fwdlab_wire::{MacAddr, arp, checksum, ethernet, icmpv4, icmpv6, ipv4, ipv6, ndisc, tcp, udp, vlan};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    frame(bytes);
    // Each header also by itself, so that none waits for the one around it to be right.
    tag(bytes);
    arp_packet(bytes);
    packet_v4(bytes);
    packet_v6(bytes);
    message_v4(bytes);
    message_v6(bytes, 0);
    datagram(bytes, 0);
    text(bytes);
});

/// What lies in an Ethernet frame or behind a tag, by its type.
fn payload_of(ether_type: u16, payload: &[u8]) {
    match ether_type {
        ethernet::TYPE_ARP => arp_packet(payload),
        ethernet::TYPE_IPV4 => packet_v4(payload),
        ethernet::TYPE_IPV6 => packet_v6(payload),
        ethernet::TYPE_VLAN => tag(payload),
        _ => {}
    }
}

fn frame(bytes: &[u8]) {
    let Ok(own) = ethernet::Frame::parse(bytes) else { return };
    let mut copy = vec![0xa5; bytes.len()];
    let mut new = ethernet::Frame::parse(&mut copy[..]).expect("as long as the first");
    new.set_destination(own.destination());
    new.set_source(own.source());
    new.set_ether_type(own.ether_type());
    new.payload_mut().copy_from_slice(own.payload());
    assert!(copy == bytes, "a frame that is written anew is the same");
    payload_of(own.ether_type(), own.payload());
}

fn tag(bytes: &[u8]) {
    let Ok(own) = vlan::Tag::parse(bytes) else { return };
    let mut copy = bytes.to_vec();
    copy[..vlan::TAG_LEN].fill(0xa5);
    let mut new = vlan::Tag::parse(&mut copy[..]).expect("as long as the first");
    new.set_control(own.priority(), own.is_drop_eligible(), own.identifier());
    new.set_ether_type(own.ether_type());
    assert!(copy == bytes, "a tag that is written anew is the same");
    payload_of(own.ether_type(), own.payload());
}

fn arp_packet(bytes: &[u8]) {
    let Ok(own) = arp::Packet::parse(bytes) else { return };
    let mut copy = bytes.to_vec();
    copy[..arp::PACKET_LEN].fill(0xa5);
    let mut new = arp::Packet::prepare(&mut copy[..]).expect("as long as the first");
    new.set_operation(own.operation());
    new.set_sender(own.sender_mac(), own.sender_address());
    new.set_target(own.target_mac(), own.target_address());
    assert!(copy == bytes, "a packet that is written anew is the same");
    let mac = own.sender_mac();
    assert_eq!(mac.to_string().parse(), Ok(mac));
    black_box((mac.is_broadcast(), mac.is_multicast(), mac.to_u64(), mac.to_interface_identifier()));
}

fn packet_v4(bytes: &[u8]) {
    let Ok(own) = ipv4::Packet::parse(bytes) else { return };
    assert!(own.header_len() + own.payload().len() == usize::from(own.total_length()));
    assert!(own.header().len() == ipv4::HEADER_LEN + own.options().len());
    black_box((own.has_valid_checksum(), own.checksum(), ipv4::is_multicast(own.destination())));
    rewrite_v4(bytes);
    match own.protocol() {
        _ if own.fragment_offset() > 0 => {}
        icmpv4::PROTOCOL => message_v4(own.payload()),
        udp::PROTOCOL => datagram(own.payload(), own.pseudo_sum()),
        tcp::PROTOCOL => segment(own.payload(), own.pseudo_sum()),
        _ => {}
    }
}

/// The same fields in a header without options read back as they were, under a checksum that is right.
fn rewrite_v4(bytes: &[u8]) {
    let own = ipv4::Packet::parse(bytes).expect("it was read before");
    let length = ipv4::HEADER_LEN + own.payload().len();
    let mut copy = vec![0xa5; length];
    let mut new = ipv4::Packet::prepare(&mut copy[..], length as u16).expect("room for all");
    new.set_traffic_class(own.traffic_class());
    new.set_identification(own.identification());
    let mut bits = (own.fragment_offset() / 8) as u16;
    bits |= if own.is_dont_fragment() { ipv4::DONT_FRAGMENT } else { 0 };
    bits |= if own.has_more_fragments() { ipv4::MORE_FRAGMENTS } else { 0 };
    new.set_fragment(bits);
    new.set_ttl(own.ttl());
    new.set_protocol(own.protocol());
    new.set_source(own.source());
    new.set_destination(own.destination());
    new.payload_mut().copy_from_slice(own.payload());
    new.fill_checksum();
    assert!(new.has_valid_checksum() && new.payload() == own.payload());
    assert_eq!(new.pseudo_sum(), own.pseudo_sum());
    let stored = new.checksum();
    let (old, less) = (u16::from(new.ttl()) << 8, u16::from(new.ttl() ^ 1) << 8);
    new.set_ttl(new.ttl() ^ 1);
    new.set_checksum(checksum::update_u16(stored, old, less));
    assert!(new.has_valid_checksum(), "RFC 1624: as if it were computed anew");
}

fn packet_v6(bytes: &[u8]) {
    let Ok(own) = ipv6::Packet::parse(bytes) else { return };
    assert!(own.payload().len() == usize::from(own.payload_length()));
    let length = ipv6::HEADER_LEN + own.payload().len();
    let mut copy = vec![0xa5; length];
    let mut new = ipv6::Packet::prepare(&mut copy[..], own.payload_length()).expect("room for all");
    new.set_class_and_flow(own.traffic_class(), own.flow_label());
    new.set_next_header(own.next_header());
    new.set_hop_limit(own.hop_limit());
    new.set_source(own.source());
    new.set_destination(own.destination());
    new.payload_mut().copy_from_slice(own.payload());
    assert!(copy == bytes[..length], "a packet that is written anew is the same");
    match own.next_header() {
        icmpv6::NEXT_HEADER => message_v6(own.payload(), own.pseudo_sum()),
        udp::PROTOCOL => datagram(own.payload(), own.pseudo_sum()),
        tcp::PROTOCOL => segment(own.payload(), own.pseudo_sum()),
        _ => {}
    }
}

fn message_v4(bytes: &[u8]) {
    let Ok(own) = icmpv4::Packet::parse(bytes) else { return };
    black_box((own.has_valid_checksum(), own.checksum()));
    let mut copy = bytes.to_vec();
    let mut new = icmpv4::Packet::parse(&mut copy[..]).expect("as long as the first");
    new.set_kind(own.kind(), own.code());
    new.set_rest(own.rest());
    new.fill_checksum();
    assert!(new.has_valid_checksum() && new.payload() == own.payload());
    // An error quotes the packet that it is about.
    packet_v4_quoted(own.payload());
}

/// A packet within a message; one within that is not followed.
fn packet_v4_quoted(bytes: &[u8]) {
    if let Ok(own) = ipv4::Packet::parse(bytes) {
        black_box((own.source(), own.destination(), own.payload().len()));
    }
}

fn message_v6(bytes: &[u8], pseudo: u64) {
    if let Ok(own) = icmpv6::Packet::parse(bytes) {
        black_box((own.has_valid_checksum(pseudo), own.checksum()));
        let mut copy = bytes.to_vec();
        let mut new = icmpv6::Packet::parse(&mut copy[..]).expect("as long as the first");
        new.set_kind(own.kind(), own.code());
        new.set_rest(own.rest());
        new.fill_checksum(pseudo);
        assert!(new.has_valid_checksum(pseudo) && new.payload() == own.payload());
    }
    let Ok(own) = ndisc::Message::parse(bytes) else { return };
    let options = [ndisc::OPTION_SOURCE_MAC, ndisc::OPTION_TARGET_MAC];
    let macs = options.map(|option| own.link_layer_address(option));
    black_box(own.flags());
    let mac = macs[usize::from(own.kind() == ndisc::ADVERTISEMENT)].unwrap_or(MacAddr::ZERO);
    let mut copy = [0xa5; ndisc::MESSAGE_LEN];
    let mut new = ndisc::Message::prepare(&mut copy[..], own.kind(), own.target(), mac)
        .expect("a kind that was read, and room");
    new.set_flags(own.flags());
    assert_eq!((new.kind(), new.target(), new.flags()), (own.kind(), own.target(), own.flags()));
}

fn datagram(bytes: &[u8], pseudo: u64) {
    let Ok(own) = udp::Datagram::parse(bytes) else { return };
    assert!(udp::HEADER_LEN + own.payload().len() == usize::from(own.length()));
    black_box((own.checksum(), own.has_valid_checksum(pseudo, false)));
    let mut copy = bytes.to_vec();
    let mut new = udp::Datagram::prepare(&mut copy[..], own.length()).expect("as long as the first");
    new.set_ports(own.source_port(), own.destination_port());
    new.payload_mut().copy_from_slice(own.payload());
    new.fill_checksum(pseudo);
    assert!(new.has_valid_checksum(pseudo, false), "no datagram goes out without its checksum");
    assert_eq!((new.source_port(), new.payload()), (own.source_port(), own.payload()));
}

fn segment(bytes: &[u8], pseudo: u64) {
    let Ok(own) = tcp::Segment::parse(bytes) else { return };
    assert!(own.header_len() + own.payload().len() == bytes.len());
    black_box((own.window(), own.has_valid_checksum(pseudo)));
    let mut copy = bytes.to_vec();
    let mut new = tcp::Segment::prepare(&mut copy[..]).expect("as long as the first");
    new.set_ports(own.source_port(), own.destination_port());
    new.set_numbers(own.sequence(), own.acknowledgement());
    new.set_flags(own.flags());
    new.fill_checksum(pseudo);
    assert!(new.has_valid_checksum(pseudo), "no segment goes out without its checksum");
    assert_eq!((new.sequence(), new.acknowledgement()), (own.sequence(), own.acknowledgement()));
    assert_eq!((new.destination_port(), new.flags()), (own.destination_port(), own.flags()));
}

/// Addresses as text.
fn text(bytes: &[u8]) {
    let Some(mac) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<MacAddr>().ok())
    else {
        return;
    };
    assert_eq!(mac.to_string().parse(), Ok(mac));
}
