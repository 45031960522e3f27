//! A router between two memory ports, and frames to send through it.

use fwdlab_fib::{Inet, Inet6, Nexthop};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Pool, PoolConfig, Port, ring};
use fwdlab_router::{DropReason, PortConfig, Router, Snapshot, Worker};
use fwdlab_wire::lab::DEVICE_MACS;
use fwdlab_wire::{MacAddr, ethernet, icmpv4, icmpv6, ipv4, ipv6, udp};

/// The router's MAC address on port 0 and 1.
pub const INSIDE: MacAddr = DEVICE_MACS[0];
pub const OUTSIDE: MacAddr = DEVICE_MACS[1];
/// The tester's: gateway behind each port.
pub const NEAR: MacAddr = MacAddr::numbered(0xf0);
pub const FAR: MacAddr = MacAddr::numbered(0xf1);

pub const SOURCE: u32 = 0xc612_0a01; // 198.18.10.1
pub const DESTINATION: u32 = 0xc613_0a01; // 198.19.10.1
pub const INSIDE_ADDRESS: u32 = 0xc612_0001; // 198.18.0.1
pub const OUTSIDE_ADDRESS: u32 = 0xc613_0001;
pub const SOURCE6: u128 = 0x2001_0002_0000_0001 << 64 | 0x0a01; // 2001:2:0:1::a01
pub const DESTINATION6: u128 = 0x2001_0002_0000_8001 << 64 | 0x0a01; // 2001:2:0:8001::a01
pub const INSIDE_ADDRESS6: u128 = 0x2001_0002 << 96 | 1;
pub const SECOND: u64 = 1_000_000_000;

pub struct Rig {
    pub router: Router,
    pub worker: Worker<RingPort>,
    pub pool: Pool,
    testers: [RingPort; 2],
    pub now_ns: u64,
}

pub fn router() -> Router {
    let mut router = Router::new().unwrap();
    let inside = PortConfig::new(INSIDE)
        .address("198.18.0.1/24".parse().unwrap())
        .address6("2001:2::1/64".parse().unwrap());
    let outside = PortConfig::new(OUTSIDE)
        .address("198.19.0.1/24".parse().unwrap())
        .address6("2001:2:0:8000::1/64".parse().unwrap());
    router.add_port(inside).unwrap();
    router.add_port(outside).unwrap();
    add_gateways(&mut router);
    router
}

/// Routes of both families to a gateway behind each of ports 0 and 1.
pub fn add_gateways(router: &mut Router) {
    let gateway = |port: u32| 0xc612_00cb + (port << 16);
    let gateway6 = |port: u128| 0x2001_0002 << 96 | port << 79 | 0xcb;
    let route = |router: &mut Router, prefix: &str, port| {
        router
            .add_route::<Inet>(prefix.parse().unwrap(), Nexthop::via(gateway(port), port as u16))
            .unwrap();
    };
    route(router, "198.18.0.0/16", 0);
    route(router, "198.19.0.0/16", 1);
    let route = |router: &mut Router, prefix: &str, port| {
        router
            .add_route::<Inet6>(prefix.parse().unwrap(), Nexthop::via(gateway6(port), port as u16))
            .unwrap();
    };
    route(router, "2001:2::/49", 0);
    route(router, "2001:2:0:8000::/49", 1);
    for (port, mac) in [(0, NEAR), (1, FAR)] {
        router.add_neighbour::<Inet>(port, gateway(port.into()), mac).unwrap();
        router.add_neighbour::<Inet6>(port, gateway6(port.into()), mac).unwrap();
    }
}

impl Rig {
    pub fn new() -> Self {
        Self::with(router())
    }

    pub fn with(router: Router) -> Self {
        Self::with_pool(
            router,
            PoolConfig { frames: 1024, capacity: 9600, ..PoolConfig::default() },
        )
    }

    pub fn with_pool(mut router: Router, config: PoolConfig) -> Self {
        let pool = Pool::new(config).unwrap();
        let (near, inside) = ring::pair(512);
        let (far, outside) = ring::pair(512);
        let worker = router.worker([(0, inside), (1, outside)]).unwrap().with_pool(pool.clone());
        Self { router, worker, pool, testers: [near, far], now_ns: SECOND }
    }

    /// Sends frames into a port, without polling the router.
    pub fn inject(&mut self, port: usize, frames: &[Vec<u8>]) {
        let mut batch = Batch::new();
        for bytes in frames {
            let mut frame = self.pool.take().unwrap();
            frame.set_len(bytes.len());
            frame.copy_from_slice(bytes);
            batch.push(frame).unwrap();
            self.testers[port].send(&mut batch);
        }
    }

    pub fn poll(&mut self) {
        while self.worker.poll_at(self.now_ns) > 0 {}
    }

    /// What has come out of a port.
    pub fn take(&mut self, port: usize) -> Vec<Vec<u8>> {
        let mut batch = Batch::new();
        let mut frames = Vec::new();
        while self.testers[port].receive(&mut batch) > 0 {
            frames.extend(batch.drain().map(|frame| frame.to_vec()));
        }
        frames
    }

    /// Sends one frame into port 0 and returns what comes out of port 0 and port 1.
    pub fn pass(&mut self, frame: Vec<u8>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        self.inject(0, &[frame]);
        self.poll();
        self.assert_balance();
        (self.take(0), self.take(1))
    }

    /// Sends one frame into port 0, which must come out of port 1.
    pub fn forwarded(&mut self, frame: Vec<u8>) -> Vec<u8> {
        let (back, mut out) = self.pass(frame);
        assert_eq!((back.len(), out.len()), (0, 1), "drops: {:?}", self.drops());
        out.remove(0)
    }

    /// Sends one frame into port 0, which must be dropped silently; returns why.
    pub fn dropped(&mut self, frame: Vec<u8>) -> DropReason {
        let before = self.counters();
        let (back, out) = self.pass(frame);
        assert_eq!((back.len(), out.len()), (0, 0));
        self.reason_since(&before)
    }

    /// Sends one frame into port 0, which must be answered on port 0 with an error; returns why
    /// it was dropped, and the answer.
    pub fn refused(&mut self, frame: Vec<u8>) -> (DropReason, Vec<u8>) {
        let before = self.counters();
        let (mut back, out) = self.pass(frame);
        assert_eq!((back.len(), out.len()), (1, 0), "drops: {:?}", self.drops());
        (self.reason_since(&before), back.remove(0))
    }

    pub fn counters(&self) -> Snapshot {
        self.router.counters()
    }

    pub fn drops(&self) -> Vec<(DropReason, u64)> {
        self.counters().drop_counts().collect()
    }

    fn reason_since(&self, before: &Snapshot) -> DropReason {
        let since: Vec<_> = self.counters().since(before).drop_counts().collect();
        assert_eq!(since.len(), 1, "{since:?}");
        since[0].0
    }

    /// Every frame in, or made, is a frame out, dropped, consumed or held.
    pub fn assert_balance(&self) {
        let now = self.counters();
        assert_eq!(
            now.received + now.originated,
            now.sent + now.dropped() + now.consumed + self.worker.held() as u64,
            "{now:?}"
        );
    }
}

/// A good UDP frame of `len` bytes without FCS, to be edited.
pub fn inet(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).unwrap();
    frame.set_destination(INSIDE);
    frame.set_source(NEAR);
    frame.set_ether_type(ethernet::TYPE_IPV4);
    let mut packet = ipv4::Packet::prepare(frame.payload_mut(), (len - 14) as u16).unwrap();
    packet.set_ttl(64);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(SOURCE);
    packet.set_destination(DESTINATION);
    packet.fill_checksum();
    let pseudo = packet.pseudo_sum();
    let mut datagram = udp::Datagram::prepare(packet.payload_mut(), (len - 34) as u16).unwrap();
    datagram.set_ports(2000, 2000);
    datagram.fill_checksum(pseudo);
    bytes
}

/// A good frame whose IPv4 header `edit` changes; the checksum is right afterwards.
pub fn inet_with(edit: impl FnOnce(&mut ipv4::Packet<&mut [u8]>)) -> Vec<u8> {
    let mut bytes = inet(60);
    let mut packet = ipv4::Packet::parse(&mut bytes[14..]).unwrap();
    edit(&mut packet);
    packet.fill_checksum();
    bytes
}

/// A good UDP frame over IPv6.
pub fn inet6(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).unwrap();
    frame.set_destination(INSIDE);
    frame.set_source(NEAR);
    frame.set_ether_type(ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(frame.payload_mut(), (len - 54) as u16).unwrap();
    packet.set_hop_limit(64);
    packet.set_next_header(udp::PROTOCOL);
    packet.set_source(SOURCE6);
    packet.set_destination(DESTINATION6);
    let pseudo = packet.pseudo_sum();
    let mut datagram = udp::Datagram::prepare(packet.payload_mut(), (len - 54) as u16).unwrap();
    datagram.set_ports(2000, 2000);
    datagram.fill_checksum(pseudo);
    bytes
}

/// A good frame whose IPv6 header `edit` changes.
pub fn inet6_with(edit: impl FnOnce(&mut ipv6::Packet<&mut [u8]>)) -> Vec<u8> {
    let mut bytes = inet6(62);
    edit(&mut ipv6::Packet::parse(&mut bytes[14..]).unwrap());
    bytes
}

/// An echo request to an IPv4 address, with `data` behind its header.
pub fn echo(destination: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = inet((42 + data.len()).max(60));
    let mut packet = ipv4::Packet::prepare(&mut bytes[14..], (28 + data.len()) as u16).unwrap();
    packet.set_ttl(64);
    packet.set_protocol(icmpv4::PROTOCOL);
    packet.set_source(SOURCE);
    packet.set_destination(destination);
    packet.fill_checksum();
    let mut message = icmpv4::Packet::parse(packet.payload_mut()).unwrap();
    message.set_kind(icmpv4::ECHO, 0);
    message.set_rest(0x1234_0001);
    message.payload_mut().copy_from_slice(data);
    message.fill_checksum();
    bytes
}

/// An ICMPv6 frame of this type to an address; `body` follows the type's 8 bytes.
pub fn message6(destination: u128, kind: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = inet6(62 + body.len());
    let mut packet = ipv6::Packet::parse(&mut bytes[14..]).unwrap();
    packet.set_next_header(icmpv6::NEXT_HEADER);
    packet.set_destination(destination);
    let pseudo = packet.pseudo_sum();
    let mut message = icmpv6::Packet::parse(packet.payload_mut()).unwrap();
    message.set_kind(kind, 0);
    message.set_rest(0x1234_0001);
    message.payload_mut().copy_from_slice(body);
    message.fill_checksum(pseudo);
    bytes
}

/// Fragment number `at` of an echo request of 8 or 16 more bytes of data each, and a last one of 8.
pub fn fragment(destination: u32, identification: u16, at: u16, has_more: bool) -> Vec<u8> {
    let whole = echo(destination, &[9; 40]);
    let (start, len) = (34 + usize::from(at) * 16, if has_more { 16 } else { 8 });
    cut(&whole, identification, (start, len), has_more)
}

/// A piece of an IPv4 frame without options: from byte `start` of the frame, `len` long.
pub fn cut(
    whole: &[u8],
    identification: u16,
    (start, len): (usize, usize),
    has_more: bool,
) -> Vec<u8> {
    let mut bytes = [&whole[..34], &whole[start..start + len]].concat();
    bytes.resize(bytes.len().max(60), 0);
    bytes[16..18].copy_from_slice(&(20 + len as u16).to_be_bytes());
    let mut packet = ipv4::Packet::parse(&mut bytes[14..]).unwrap();
    packet.set_identification(identification);
    let more = if has_more { ipv4::MORE_FRAGMENTS } else { 0 };
    packet.set_fragment(((start - 34) / 8) as u16 | more);
    packet.fill_checksum();
    bytes
}

/// As [`fragment`], of IPv6.
pub fn fragment6(destination: u128, identification: u32, at: u16, has_more: bool) -> Vec<u8> {
    let whole = message6(destination, icmpv6::ECHO_REQUEST, &[9; 40]);
    let (start, len) = (54 + usize::from(at) * 16, if has_more { 16 } else { 8 });
    cut6(&whole, identification, (start, len), has_more)
}

/// As [`cut`], of IPv6.
pub fn cut6(
    whole: &[u8],
    identification: u32,
    (start, len): (usize, usize),
    has_more: bool,
) -> Vec<u8> {
    let word = (start - 54) as u16 | u16::from(has_more);
    let mut bytes = whole[..54].to_vec();
    bytes[18..20].copy_from_slice(&(8 + len as u16).to_be_bytes());
    bytes[20] = 44;
    bytes.extend([whole[20], 0]);
    bytes.extend(word.to_be_bytes());
    bytes.extend(identification.to_be_bytes());
    bytes.extend(&whole[start..start + len]);
    bytes
}
