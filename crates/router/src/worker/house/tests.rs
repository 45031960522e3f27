//! Packets that come while somebody else has the table of neighbours.

use fwdlab_fib::{Inet, Inet6, Nexthop};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Pool, PoolConfig, Port, ring};
use fwdlab_wire::{MacAddr, arp, ethernet, icmpv6, ipv4, ipv6, ndisc, udp};

use crate::drops::DropReason;
use crate::interface::PortConfig;
use crate::neighbours::SharedNeighbours;
use crate::router::Router;
use crate::worker::Worker;

const INSIDE: MacAddr = MacAddr::numbered(1);
const OUTSIDE: MacAddr = MacAddr::numbered(2);
const HOST: MacAddr = MacAddr::numbered(3);
const SOURCE: u32 = 0xc612_0002; // 198.18.0.2
const DESTINATION: u32 = 0xc613_0002; // 198.19.0.2
const OUTSIDE_ADDRESS: u32 = 0xc613_0001;
const SOURCE6: u128 = 0x2001_0002 << 96 | 2;
const DESTINATION6: u128 = 0x2001_0002_0000_8000 << 64 | 2;
const OUTSIDE_ADDRESS6: u128 = 0x2001_0002_0000_8000 << 64 | 1;
/// Behind gateways of port 1.
const BEYOND: u32 = 0x0a00_0001;
const SECOND: u64 = 1_000_000_000;

struct Rig {
    router: Router,
    worker: Worker<RingPort>,
    pool: Pool,
    testers: [RingPort; 2],
    now_ns: u64,
}

impl Rig {
    fn new() -> Self {
        let mut router = Router::new().unwrap();
        let inside = PortConfig::new(INSIDE)
            .address("198.18.0.1/24".parse().unwrap())
            .address6("2001:2::1/64".parse().unwrap());
        let outside = PortConfig::new(OUTSIDE)
            .address("198.19.0.1/24".parse().unwrap())
            .address6("2001:2:0:8000::1/64".parse().unwrap());
        router.add_port(inside).unwrap();
        router.add_port(outside).unwrap();
        let via = Nexthop::via(DESTINATION, 1);
        router.add_route::<Inet>("10.0.0.0/8".parse().unwrap(), via).unwrap();
        let config = PoolConfig { frames: 1024, ..PoolConfig::default() };
        let pool = Pool::new(config).unwrap();
        let (near, inside) = ring::pair(512);
        let (far, outside) = ring::pair(512);
        let worker = router.worker([(0, inside), (1, outside)]).unwrap().with_pool(pool.clone());
        Self { router, worker, pool, testers: [near, far], now_ns: SECOND }
    }

    fn know_hosts(&mut self) {
        self.router.add_neighbour::<Inet>(1, DESTINATION, HOST).unwrap();
        self.router.add_neighbour::<Inet6>(1, DESTINATION6, HOST).unwrap();
    }

    fn neighbours(&self) -> (SharedNeighbours<Inet>, SharedNeighbours<Inet6>) {
        let plane = &self.worker.plane;
        (plane.inet[0].neighbours.clone(), plane.inet6[0].neighbours.clone())
    }

    fn send(&mut self, port: usize, bytes: &[u8]) {
        let mut frame = self.pool.take().unwrap();
        frame.set_len(bytes.len());
        frame.copy_from_slice(bytes);
        let mut batch = Batch::new();
        batch.push(frame).unwrap();
        assert_eq!(self.testers[port].send(&mut batch), 1);
    }

    fn poll(&mut self) {
        for _ in 0..4 {
            self.worker.poll_at(self.now_ns);
        }
        let now = self.router.counters();
        let ends = now.sent + now.dropped() + now.consumed + self.worker.held() as u64;
        assert_eq!(now.received + now.originated, ends, "{now:?}");
    }

    /// What has come out of port 1.
    fn take(&mut self) -> Vec<Vec<u8>> {
        let mut batch = Batch::new();
        let mut frames = Vec::new();
        while self.testers[1].receive(&mut batch) > 0 {
            frames.extend(batch.drain().map(|frame| frame.to_vec()));
        }
        frames
    }

    fn drops(&self) -> Vec<(DropReason, u64)> {
        self.router.counters().drop_counts().collect()
    }
}

fn framed(destination: MacAddr, ether_type: u16) -> Vec<u8> {
    let mut bytes = vec![0; 90];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).unwrap();
    frame.set_destination(destination);
    frame.set_source(HOST);
    frame.set_ether_type(ether_type);
    bytes
}

fn inet(destination: u32) -> Vec<u8> {
    let mut bytes = framed(INSIDE, ethernet::TYPE_IPV4);
    let mut packet = ipv4::Packet::prepare(&mut bytes[14..], 46).unwrap();
    packet.set_ttl(64);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(SOURCE);
    packet.set_destination(destination);
    packet.fill_checksum();
    bytes
}

fn inet6(destination: u128) -> Vec<u8> {
    let mut bytes = framed(INSIDE, ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(&mut bytes[14..], 8).unwrap();
    packet.set_hop_limit(64);
    packet.set_next_header(udp::PROTOCOL);
    packet.set_source(SOURCE6);
    packet.set_destination(destination);
    bytes
}

fn request() -> Vec<u8> {
    let mut bytes = framed(MacAddr::BROADCAST, ethernet::TYPE_ARP);
    let mut packet = arp::Packet::prepare(&mut bytes[14..]).unwrap();
    packet.set_operation(arp::REQUEST);
    packet.set_sender(HOST, DESTINATION);
    packet.set_target(MacAddr::ZERO, OUTSIDE_ADDRESS);
    bytes
}

fn solicitation() -> Vec<u8> {
    let mut bytes = framed(OUTSIDE, ethernet::TYPE_IPV6);
    let len = ndisc::MESSAGE_LEN as u16;
    let mut packet = ipv6::Packet::prepare(&mut bytes[14..], len).unwrap();
    packet.set_hop_limit(ndisc::HOP_LIMIT);
    packet.set_next_header(icmpv6::NEXT_HEADER);
    packet.set_source(DESTINATION6);
    packet.set_destination(OUTSIDE_ADDRESS6);
    let pseudo = packet.pseudo_sum();
    let body = packet.payload_mut();
    ndisc::Message::prepare(&mut *body, ndisc::SOLICITATION, OUTSIDE_ADDRESS6, HOST).unwrap();
    icmpv6::Packet::parse(body).unwrap().fill_checksum(pseudo);
    bytes
}

#[test]
fn packets_to_known_hosts_wait_while_the_control_side_has_the_table() {
    let mut rig = Rig::new();
    rig.know_hosts();
    let (neighbours, neighbours6) = rig.neighbours();
    let (held, held6) = (neighbours.lock(), neighbours6.lock());
    // More than wait for one neighbour that does not answer.
    for _ in 0..6 {
        rig.send(0, &inet(DESTINATION));
        rig.send(0, &inet6(DESTINATION6));
    }
    rig.poll();
    assert_eq!((rig.worker.held(), rig.take().len(), rig.drops()), (12, 0, vec![]));
    drop((held, held6));
    rig.poll();
    let out = rig.take();
    assert_eq!((rig.worker.held(), out.len(), rig.drops()), (0, 12, vec![]));
    for frame in out {
        assert_eq!((&frame[..6], &frame[6..12]), (&HOST.0[..], &OUTSIDE.0[..]));
        let hops = if frame[12..14] == [8, 0] { frame[22] } else { frame[21] };
        assert_eq!(hops, 63, "taken off once");
    }
    let counted: u64 = rig.router.nexthop_counts::<Inet>(0).iter().map(|one| one.packets).sum();
    assert_eq!(counted, 6, "each packet is counted once");
}

#[test]
fn hosts_are_asked_for_once_the_table_is_free() {
    let mut rig = Rig::new();
    let (neighbours, neighbours6) = rig.neighbours();
    let (held, held6) = (neighbours.lock(), neighbours6.lock());
    rig.send(0, &inet(DESTINATION));
    rig.send(0, &inet6(DESTINATION6));
    rig.send(0, &inet(BEYOND));
    rig.poll();
    assert_eq!((rig.worker.held(), rig.take().len(), rig.drops()), (3, 0, vec![]));
    drop((held, held6));
    rig.poll();
    let kinds: Vec<_> = rig.take().iter().map(|frame| frame[12..14].to_vec()).collect();
    assert_eq!(kinds, [[8, 6], [0x86, 0xdd]], "a query for each host");
    assert_eq!((rig.worker.held(), rig.drops()), (3, vec![]));
    rig.know_hosts();
    rig.poll();
    assert_eq!((rig.worker.held(), rig.take().len(), rig.drops()), (0, 3, vec![]));
}

#[test]
fn what_neighbours_say_is_taken_up_once_the_table_is_free() {
    let mut rig = Rig::new();
    let (neighbours, neighbours6) = rig.neighbours();
    let (held, held6) = (neighbours.lock(), neighbours6.lock());
    rig.send(1, &request());
    rig.send(1, &solicitation());
    rig.poll();
    assert_eq!((rig.worker.held(), rig.take().len(), rig.drops()), (2, 0, vec![]));
    drop((held, held6));
    rig.poll();
    let out = rig.take();
    assert_eq!((rig.worker.held(), out.len(), rig.drops()), (0, 2, vec![]));
    assert_eq!(arp::Packet::parse(&out[0][14..]).unwrap().operation(), arp::REPLY);
    assert_eq!(out[1][54], ndisc::ADVERTISEMENT);
    assert_eq!(neighbours.lock().mac(1, DESTINATION), Some(HOST));
    assert_eq!(neighbours6.lock().mac(1, DESTINATION6), Some(HOST));
}

#[test]
fn a_packet_that_waited_follows_the_route_of_now() {
    let mut rig = Rig::new();
    let (neighbours, _) = rig.neighbours();
    let held = neighbours.lock();
    rig.send(0, &inet(BEYOND));
    rig.poll();
    drop(held);
    let other = Nexthop::via(DESTINATION + 1, 1);
    rig.router.change_route::<Inet>("10.0.0.0/8".parse().unwrap(), other).unwrap();
    rig.router.add_neighbour::<Inet>(1, DESTINATION + 1, INSIDE).unwrap();
    rig.poll();
    let out = rig.take();
    assert_eq!((rig.worker.held(), out.len(), rig.drops()), (0, 1, vec![]));
    assert_eq!(out[0][..6], INSIDE.0);
}

#[test]
fn no_more_wait_than_a_batch_and_none_for_ever() {
    let mut rig = Rig::new();
    rig.know_hosts();
    let (neighbours, _) = rig.neighbours();
    let held = neighbours.lock();
    let sent = Batch::CAPACITY + 20;
    for _ in 0..sent {
        rig.send(0, &inet(DESTINATION));
    }
    rig.poll();
    assert_eq!(rig.worker.held(), Batch::CAPACITY);
    assert_eq!(rig.drops(), [(DropReason::SlowPathFull, 20)]);
    for _ in 0..40 {
        rig.now_ns += SECOND / 10;
        rig.poll();
    }
    drop(held);
    assert_eq!((rig.worker.held(), rig.take().len()), (0, 0));
    assert_eq!(rig.drops(), [(DropReason::SlowPathFull, sent as u64)]);
}
