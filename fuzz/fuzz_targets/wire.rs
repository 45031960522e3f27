//! Headers of frames.
#![no_main]

use fwdlab_wire::{arp, ethernet, icmpv4, icmpv6, ipv4, ipv6, udp, vlan};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ethernet::Frame::parse(bytes);
    let _ = vlan::Tag::parse(bytes);
    let _ = arp::Packet::parse(bytes);
    let _ = ipv4::Packet::parse(bytes);
    let _ = ipv6::Packet::parse(bytes);
    let _ = icmpv4::Packet::parse(bytes);
    let _ = icmpv6::Packet::parse(bytes);
    let _ = udp::Datagram::parse(bytes);
});
