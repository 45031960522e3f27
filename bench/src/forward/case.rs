//! The cases: family, table, flows, distance of buffers.

use fwdlab_fib::Random;
use fwdlab_port::PoolConfig;
use fwdlab_wire::lab::DEVICE_MACS;
use fwdlab_wire::{MacAddr, ethernet, ipv4, ipv6, udp};

use super::table::Routes;

/// The router's address on the input port, and its next hop's on the output port: frames that
/// leave are for the router again.
pub const ROUTER_MAC: MacAddr = DEVICE_MACS[0];
/// The router's address on the output port.
pub const OUTPUT_MAC: MacAddr = DEVICE_MACS[1];

/// Frames that a peer takes at a time: DPDK's own examples', and as many as the router's.
pub const BURSTS: [usize; 2] = [32, 256];
/// With two cores: places in a ring.
pub const PLACES: usize = 4096;
/// With two cores: frames of one measurement, some 100 ms.
pub const PAIR_FRAMES: u64 = 4_000_000;

/// Address family of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FamilyName {
    Inet,
    Inet6,
}

impl FamilyName {
    /// As in the control words.
    pub fn name(self) -> &'static str {
        match self {
            FamilyName::Inet => "inet",
            FamilyName::Inet6 => "inet6",
        }
    }
}

/// Which routes a case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The two of the main experiment.
    Two,
    /// All of a list.
    Full,
    /// Those of the list that are no longer than [`SHORT`], which all peers can hold.
    Short,
}

/// The longest prefix of a short table: 1-byte entries have no more than 127 groups for longer ones.
pub const SHORT: u8 = 24;

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Two => "2 routes",
            Self::Full => "full table",
            Self::Short => "full table up to /24",
        }
    }
}

/// A forwarder that is measured.
pub trait Contender {
    /// Name in the results.
    fn name(&self) -> &str;
    /// "fwdlab" or "peer".
    fn origin(&self) -> &'static str;
    /// Writes fresh frames into its buffers and puts them into the input queue, in order.
    fn fill(&mut self, frames: &[Vec<u8>]);
    /// Forwards all frames so many times; returns the nanoseconds that it took.
    fn laps(&mut self, laps: usize) -> u64;
    /// What is in the input queue after [`Contender::laps`].
    fn frames(&mut self) -> Vec<Vec<u8>>;
}

/// What is forwarded, by which table, from which buffers.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub family: FamilyName,
    pub table: Table,
    pub flows: usize,
    /// Bytes from one buffer to the next.
    pub stride: usize,
}

impl Case {
    /// All cases; those with a full table only when there is one.
    pub fn all(has_full: bool) -> Vec<Case> {
        let mut cases = Vec::new();
        for family in [FamilyName::Inet, FamilyName::Inet6] {
            for stride in [2048, 2112, 64] {
                cases.push(Case { family, table: Table::Two, flows: 2000, stride });
                if has_full {
                    cases.push(Case { family, table: Table::Full, flows: 2000, stride });
                }
            }
            if has_full {
                cases.push(Case { family, table: Table::Full, flows: 60_000, stride: 64 });
            }
        }
        if has_full {
            let short = |flows, stride| {
                let family = FamilyName::Inet;
                Case { family, table: Table::Short, flows, stride }
            };
            cases.extend([short(2000, 2112), short(60_000, 64)]);
        }
        cases
    }

    /// The shape of a pool with the case's buffers.
    pub fn pool(&self) -> PoolConfig {
        PoolConfig {
            frames: self.flows,
            capacity: if self.stride == 64 { 64 } else { 1984 },
            headroom: if self.stride == 64 { 0 } else { 64 },
            spread: self.stride == 2112,
        }
    }

    /// Name in the results.
    pub fn name(&self) -> String {
        let (family, table) = (self.family.name(), self.table.name());
        format!("{family}, {table}, {} flows, {} bytes apart", self.flows, self.stride)
    }

    /// One frame for each flow. With two routes 20 sources times 100 destinations, as in the main
    /// experiment; with a full table random addresses in random prefixes of it.
    pub fn frames(&self, routes: &Routes) -> Vec<Vec<u8>> {
        let mut random = Random::new(7);
        let mut frames = Vec::with_capacity(self.flows);
        let mut flow = 0;
        while frames.len() < self.flows {
            match self.family {
                FamilyName::Inet => frames.extend(self.frame_inet(flow, &mut random, routes)),
                FamilyName::Inet6 => frames.push(self.frame_inet6(flow, &mut random, routes)),
            }
            flow += 1;
        }
        frames
    }

    /// `None` for a random address that no router forwards to.
    fn frame_inet(&self, flow: u32, random: &mut Random, routes: &Routes) -> Option<Vec<u8>> {
        if self.table == Table::Two {
            return Some(inet(0xc612_0a01 + flow % 20, 0xc613_0a01 + flow / 20 % 100));
        }
        let destination = random_inet(random, routes);
        let first = destination >> 24;
        ((1..=223).contains(&first) && first != 127).then(|| inet(0xc612_0a01, destination))
    }

    fn frame_inet6(&self, flow: u32, random: &mut Random, routes: &Routes) -> Vec<u8> {
        let net = 0x2001_0002_u128 << 96;
        if self.table != Table::Two {
            return inet6(net | 0xa01, random_inet6(random, routes));
        }
        let destination = net | 0x8000 << 64 | (0xa01 + u128::from(flow / 20 % 100));
        inet6(net | (0xa01 + u128::from(flow % 20)), destination)
    }
}

fn random_inet(random: &mut Random, routes: &Routes) -> u32 {
    let prefix = routes.inet[random.below(routes.inet.len() as u64) as usize];
    prefix.addr() | (random.next_u64() as u32 & (prefix.last_addr() ^ prefix.addr()))
}

fn random_inet6(random: &mut Random, routes: &Routes) -> u128 {
    let prefix = routes.inet6[random.below(routes.inet6.len() as u64) as usize];
    let bits = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
    prefix.addr() | (bits & (prefix.last_addr() ^ prefix.addr()))
}

fn header(len: usize, ether_type: u16) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut frame = ethernet::Frame::parse(&mut bytes[..]).expect("invariant: 14 bytes");
    frame.set_destination(ROUTER_MAC);
    frame.set_source(OUTPUT_MAC);
    frame.set_ether_type(ether_type);
    bytes
}

/// The smallest UDP frame over IPv4: 64 bytes with FCS. TTL 255 lasts for 254 laps.
fn inet(source: u32, destination: u32) -> Vec<u8> {
    let mut bytes = header(60, ethernet::TYPE_IPV4);
    let mut packet = ipv4::Packet::prepare(&mut bytes[14..], 46).expect("invariant: 46 bytes");
    packet.set_ttl(255);
    packet.set_protocol(udp::PROTOCOL);
    packet.set_source(source);
    packet.set_destination(destination);
    packet.fill_checksum();
    bytes
}

/// The smallest UDP frame over IPv6: 66 bytes with FCS.
fn inet6(source: u128, destination: u128) -> Vec<u8> {
    let mut bytes = header(62, ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(&mut bytes[14..], 8).expect("invariant: 48 bytes");
    packet.set_hop_limit(255);
    packet.set_next_header(udp::PROTOCOL);
    packet.set_source(source);
    packet.set_destination(destination);
    bytes
}
