//! VLAN ports (IEEE 802.1Q), jumbo frames, and counters per port and per nexthop.

use fwdlab_fib::{Inet, Inet6, Nexthop};
use fwdlab_router::{DropReason, PortConfig, Router, RouterError};
use fwdlab_wire::{arp, icmpv4, ipv4};

use crate::rig::*;

/// Ports 0 and 1 as in the rig; port 2 is VLAN 7 on port 0, port 3 VLAN 9 on port 1.
fn router_with_vlans() -> Router {
    let mut router = router();
    let vlan = PortConfig::new(INSIDE).address("198.18.7.1/24".parse().unwrap()).vlan(0, 7);
    assert_eq!(router.add_port(vlan.mtu(9216)).unwrap(), 2);
    let vlan = PortConfig::new(OUTSIDE).address("198.19.9.1/24".parse().unwrap()).vlan(1, 9);
    assert_eq!(router.add_port(vlan.mtu(9216)).unwrap(), 3);
    let gateway = 0xc613_09cb; // 198.19.9.203
    router.add_route::<Inet>("198.19.128.0/17".parse().unwrap(), Nexthop::via(gateway, 3)).unwrap();
    router.add_neighbour::<Inet>(3, gateway, FAR).unwrap();
    router.add_neighbour::<Inet>(2, 0xc612_07cb, NEAR).unwrap();
    router
}

fn tagged(frame: &[u8], control: u16) -> Vec<u8> {
    let mut tagged = frame[..12].to_vec();
    tagged.extend([0x81, 0, (control >> 8) as u8, control as u8]);
    tagged.extend(&frame[12..]);
    tagged
}

fn untagged(frame: &[u8]) -> (u16, Vec<u8>) {
    assert_eq!(frame[12..14], [0x81, 0]);
    let control = u16::from_be_bytes([frame[14], frame[15]]);
    (control, [&frame[..12], &frame[16..]].concat())
}

const INTO_VLAN_9: u32 = 0xc613_8001;

#[test]
fn frames_lose_their_tag_where_they_come_in_and_get_one_where_they_leave() {
    let mut rig = Rig::with(router_with_vlans());
    let plain = Rig::new().forwarded(inet(60));
    // Into a VLAN, out of one, from one into another; a priority is not part of the VLAN.
    let into = inet_with(|packet| packet.set_destination(INTO_VLAN_9));
    let (control, out) = untagged(&rig.forwarded(into.clone()));
    assert_eq!((control, out[22], &out[..6]), (9, 63, &FAR.0[..]));
    assert_eq!(rig.forwarded(tagged(&inet(60), 7)), plain);
    assert_eq!(rig.forwarded(tagged(&inet(60), 0xe007)), plain);
    assert_eq!(untagged(&rig.forwarded(tagged(&into, 7))), (9, out));
    assert_eq!(rig.pool.available(), 1024);
}

#[test]
fn a_tag_of_vlan_0_is_only_a_priority() {
    let mut rig = Rig::with(router_with_vlans());
    let plain = rig.forwarded(inet(60));
    assert_eq!(rig.forwarded(tagged(&inet(60), 0x6000)), plain);
    // Of either kind, and several of them; what is behind counts.
    let of_service = |frame: &[u8], control: u16| {
        let mut frame = tagged(frame, control);
        frame[12..14].copy_from_slice(&[0x88, 0xa8]);
        frame
    };
    assert_eq!(rig.forwarded(of_service(&inet(60), 0)), plain);
    assert_eq!(rig.forwarded(tagged(&tagged(&inet(60), 0), 0x6000)), plain);
    assert_eq!(rig.forwarded(of_service(&tagged(&inet(60), 7), 0)), plain);
    assert_eq!(rig.dropped(of_service(&inet(60), 7)), DropReason::UnknownVlan);
}

#[test]
fn tags_of_other_vlans_and_of_other_ports_are_dropped() {
    let mut rig = Rig::with(router_with_vlans());
    for control in [9, 8, 4095] {
        assert_eq!(rig.dropped(tagged(&inet(60), control)), DropReason::UnknownVlan);
    }
    assert_eq!(rig.dropped(tagged(&tagged(&inet(60), 7), 7)), DropReason::UnknownVlan);
    assert_eq!(rig.dropped(tagged(&inet(60), 7)[..17].to_vec()), DropReason::FrameTooShort);
}

#[test]
fn answers_go_back_into_the_vlan_that_was_asked() {
    let mut rig = Rig::with(router_with_vlans());
    let mut request = inet(60);
    request[..6].fill(0xff);
    request[12..14].copy_from_slice(&[8, 6]);
    let mut packet = arp::Packet::prepare(&mut request[14..]).unwrap();
    packet.set_operation(arp::REQUEST);
    packet.set_sender(NEAR, 0xc612_07cb);
    packet.set_target(fwdlab_wire::MacAddr::ZERO, 0xc612_0701);
    let (back, _) = rig.pass(tagged(&request, 7));
    let (control, reply) = untagged(&back[0]);
    assert_eq!((control, arp::Packet::parse(&reply[14..]).unwrap().sender_mac()), (7, INSIDE));

    let mut asked = echo(0xc612_0701, b"vlan");
    ipv4::Packet::parse(&mut asked[14..]).unwrap().set_source(0xc612_07cb);
    ipv4::Packet::parse(&mut asked[14..]).unwrap().fill_checksum();
    let (back, _) = rig.pass(tagged(&asked, 7));
    let (control, reply) = untagged(&back[0]);
    assert_eq!((control, reply[34]), (7, icmpv4::ECHO_REPLY));
}

#[test]
fn vlans_that_cannot_be_are_refused_with_the_reason() {
    let mut router = router_with_vlans();
    for (parent, identifier) in [(0, 0), (0, 4095), (0, 7), (2, 5), (9, 5)] {
        let port = PortConfig::new(INSIDE).vlan(parent, identifier);
        let error = router.add_port(port).unwrap_err();
        assert!(matches!(error, RouterError::Vlan { port: 4, .. }), "{error}");
    }
    let (port, _other) = fwdlab_port::ring::pair(8);
    assert!(matches!(router.worker([(2, port)]), Err(RouterError::Vlan { port: 2, .. })));
}

#[test]
fn jumbo_frames_are_forwarded_whole_tagged_or_not() {
    let mut router = Router::new().unwrap();
    for (mac, address) in [(INSIDE, "198.18.0.1/24"), (OUTSIDE, "198.19.0.1/24")] {
        let port = PortConfig::new(mac).address(address.parse().unwrap()).mtu(9216);
        router.add_port(port).unwrap();
    }
    add_gateways(&mut router);
    let mut rig = Rig::with(router);
    for len in [1515, 4096, 9014, 9216 + 14] {
        for frame in [inet(len), inet6(len)] {
            let out = rig.forwarded(frame.clone());
            assert_eq!((out.len(), &out[54..]), (len, &frame[54..]));
        }
    }
    let mut too_long = inet(9216 + 15);
    too_long[20] = 0x40;
    ipv4::Packet::parse(&mut too_long[14..]).unwrap().fill_checksum();
    assert_eq!(rig.refused(too_long).0, DropReason::TooBig);
    let mut rig = Rig::with(router_with_vlans());
    let mut frame = inet(9216 + 14);
    let mut packet = ipv4::Packet::parse(&mut frame[14..]).unwrap();
    packet.set_destination(INTO_VLAN_9);
    packet.fill_checksum();
    assert_eq!(rig.forwarded(tagged(&frame, 7)).len(), 9216 + 18);
}

#[test]
fn packets_are_counted_by_port_and_by_nexthop_on_both_paths() {
    let mut rig = Rig::new();
    for path in ["1", "0"] {
        rig.router.set("fwdlab.device.fast_path", path).unwrap();
        rig.inject(0, &vec![inet(60); 30]);
        rig.inject(0, &vec![inet6(62); 20]);
        rig.inject(0, &vec![inet_with(|packet| packet.set_ttl(1)); 10]);
        rig.poll();
    }
    let inside = rig.router.port_counters(0);
    let outside = rig.router.port_counters(1);
    assert_eq!((inside.rx_frames, inside.tx_frames), (120, 20));
    assert_eq!(inside.rx_bytes, 80 * 60 + 40 * 62);
    assert_eq!((outside.rx_frames, outside.tx_frames), (0, 100));
    let to = |port: u16| {
        let counts = rig.router.nexthop_counts::<Inet>(0);
        let of_port = |count: &&fwdlab_router::NexthopCount<Inet>| {
            count.nexthop.is_some_and(|nexthop| nexthop.port == port)
        };
        counts.iter().filter(of_port).map(|count| count.packets).sum::<u64>()
    };
    // The expired ones were looked up, too, and each error found its way back.
    assert_eq!((to(1), to(0)), (60 + 20, 20));
    let counts = rig.router.nexthop_counts::<Inet6>(0);
    assert_eq!(counts.iter().map(|count| count.packets).collect::<Vec<_>>(), [40]);
}
