//! Frames that somebody made to do harm or to find out what a router is: source routes, options that do
//! not end, header lengths that do not fit, fragments that overlap, chains of extension headers.

use fwdlab_wire::ipv4;

use super::frames::{
    DESTINATION, DESTINATION_6, Frame, Inet4, ROUTER, ROUTER_6, SOURCE_6, echo6, packet6,
};

/// Linux writes into some options.
const WRITES: &str =
    "the kernel writes its address, the time or zeroes into it; the router leaves it as it is";
const LEAVES_ALONE: &str = "RFC 8200 section 4: a router may leave hop-by-hop options alone; ours does \
     unless the packet is for it";
const TELLS: &str =
    "RFC 1812 section 5.2.4.1 wants an error; the kernel drops source routes silently";

/// All of IPv4.
pub(super) fn crafted_inet() -> Vec<Frame> {
    let mut list = Vec::new();
    let mut add = |name, differs, edit: &dyn Fn(&mut Inet4<'static>)| {
        let mut packet = Inet4::plain();
        edit(&mut packet);
        list.push(Frame { name, bytes: packet.frame(), differs });
    };
    const LOOSE: &[u8] = &[131, 7, 4, 198, 19, 10, 1, 0];
    const STRICT: &[u8] = &[137, 7, 4, 198, 19, 10, 1, 0];
    const SPENT: &[u8] = &[131, 7, 8, 198, 19, 10, 1, 0];
    for (name, options) in [
        ("loose source route through", LOOSE),
        ("strict source route through", STRICT),
        ("loose source route at its end", SPENT),
    ] {
        add(name, Some(TELLS), &|p| p.options = options);
    }
    add("loose source route to the router", Some(TELLS), &|p| {
        (p.options, p.destination) = (LOOSE, ROUTER);
    });
    add("record route", Some(WRITES), &|p| p.options = &[7, 7, 4, 0, 0, 0, 0, 0]);
    add("timestamp", Some(WRITES), &|p| p.options = &[68, 8, 5, 0, 0, 0, 0, 0]);
    add("router alert", None, &|p| p.options = &[148, 4, 0, 0]);
    add("option of length 0", None, &|p| p.options = &[7, 0, 0, 0]);
    add("option of length 1", None, &|p| p.options = &[7, 1, 0, 0]);
    add("option beyond the header", None, &|p| p.options = &[7, 40, 4, 0]);
    add("option without its length", None, &|p| p.options = &[1, 1, 1, 7]);
    add("rubbish behind the end of options", Some(WRITES), &|p| p.options = &[0, 7, 99, 1]);
    add("unknown option", None, &|p| p.options = &[0x1e, 4, 1, 2]);
    add("40 bytes of padding", None, &|p| p.options = &[1; 40]);
    // Through, fragments are packets like any other, whatever they make of each other.
    const MORE: u16 = ipv4::MORE_FRAGMENTS;
    for (name, fragment, len) in [
        ("fragment of a first fragment of 8 bytes", MORE, 8),
        ("fragment that overlaps it", MORE, 24),
        ("fragment within it", 1, 8),
        ("fragment beyond 65,535 bytes", 0x1fff, 24),
        ("first fragment of odd length", MORE, 9),
        ("fragment with DF", MORE | ipv4::DONT_FRAGMENT, 16),
        ("fragment with the reserved bit", MORE | 0x8000, 16),
    ] {
        add(name, None, &|p| (p.fragment, p.payload) = (fragment, vec![7; len]));
    }
    add("fragment to the router beyond 65,535 bytes", None, &|p| {
        (p.destination, p.fragment) = (ROUTER, 0x1fff);
    });
    let mut spoilt = |name, edit: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Inet4::plain().frame();
        edit(&mut bytes);
        if let Ok(mut packet) = ipv4::Packet::parse(&mut bytes[14..]) {
            packet.fill_checksum();
        }
        list.push(Frame { name, bytes, differs: None });
    };
    spoilt("header length of 60 in a packet of 46", &|b| b[14] = 0x4f);
    spoilt("header length of 0", &|b| b[14] = 0x40);
    spoilt("header length that takes in the payload", &|b| b[14] = 0x47);
    spoilt("total length below the header's", &|b| b[16..18].copy_from_slice(&[0, 19]));
    spoilt("total length of 0", &|b| b[16..18].copy_from_slice(&[0, 0]));
    spoilt("nothing but a header", &|b| b[16..18].copy_from_slice(&[0, 20]));
    spoilt("source and destination the same", &|b| {
        b[26..30].copy_from_slice(&DESTINATION.to_be_bytes());
    });
    list
}

/// All of IPv6.
pub(super) fn crafted_inet6() -> Vec<Frame> {
    let ends = (SOURCE_6, DESTINATION_6);
    let itself = (SOURCE_6, ROUTER_6);
    let datagram = [7, 208, 7, 208, 0, 12, 0xab, 0xcd, 1, 2, 3, 4];
    let mut list = Vec::new();
    let mut add = |name, differs, ends, next: u8, headers: &[[u8; 8]], rest: &[u8]| {
        let payload = [headers.as_flattened(), rest].concat();
        list.push(Frame { name, bytes: packet6(64, ends, next, &payload), differs });
    };
    let padding = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
    let routing = |next: u8, kind: u8, left: u8| [next, 0, kind, left, 0, 0, 0, 0];
    add("hop-by-hop twice", None, ends, 0, &[padding(0), padding(17)], &datagram);
    add(
        "hop-by-hop behind destination options",
        None,
        ends,
        60,
        &[padding(0), padding(17)],
        &datagram,
    );
    let chain: Vec<[u8; 8]> = (0..20).map(|i| padding(if i < 19 { 60 } else { 17 })).collect();
    add("20 headers of destination options", None, ends, 60, &chain, &datagram);
    add("routing header of type 0", None, ends, 43, &[routing(17, 0, 1)], &datagram);
    add("routing header with nothing left", None, ends, 43, &[routing(17, 0, 0)], &datagram);
    add("hop-by-hop, router alert", None, ends, 0, &[[17, 0, 5, 2, 0, 0, 1, 0]], &datagram);
    add(
        "hop-by-hop longer than the packet",
        Some(LEAVES_ALONE),
        ends,
        0,
        &[[17, 9, 1, 4, 0, 0, 0, 0]],
        &datagram,
    );
    add(
        "hop-by-hop, option beyond its header",
        Some(LEAVES_ALONE),
        ends,
        0,
        &[[17, 0, 1, 40, 0, 0, 0, 0]],
        &datagram,
    );
    add(
        "hop-by-hop, jumbo payload",
        Some(LEAVES_ALONE),
        ends,
        0,
        &[[17, 0, 0xc2, 4, 0, 1, 0, 0]],
        &datagram,
    );
    // A ping to the router behind the same chains.
    let ping = echo6(itself);
    add("ping behind hop-by-hop twice", None, itself, 0, &[padding(0), padding(58)], &ping);
    add(
        "ping behind a routing header with segments left",
        None,
        itself,
        43,
        &[routing(58, 0, 1)],
        &ping,
    );
    add(
        "ping behind a routing header with nothing left",
        None,
        itself,
        43,
        &[routing(58, 0, 0)],
        &ping,
    );
    add(
        "ping behind an unknown option to be skipped",
        None,
        itself,
        60,
        &[[58, 0, 0x1e, 4, 0, 0, 0, 0]],
        &ping,
    );
    add(
        "ping behind an unknown option to be dropped",
        None,
        itself,
        60,
        &[[58, 0, 0x5e, 4, 0, 0, 0, 0]],
        &ping,
    );
    add(
        "ping behind an unknown option to be answered",
        None,
        itself,
        60,
        &[[58, 0, 0x9e, 4, 0, 0, 0, 0]],
        &ping,
    );
    add(
        "ping behind options that do not end",
        None,
        itself,
        60,
        &[[58, 9, 1, 4, 0, 0, 0, 0]],
        &ping,
    );
    add("nothing behind options to the router", None, itself, 60, &[padding(59)], &[]);
    add(
        "unknown protocol behind options to the router",
        None,
        itself,
        60,
        &[padding(60), padding(253)],
        &datagram,
    );
    list
}
