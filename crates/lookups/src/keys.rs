//! The addresses to look up: four streams, each from a fixed seed.

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Address, Family, Inet, Inet6, Inlined, Prefix, Random};

/// Addresses in the forms that contenders want.
pub struct Keys<F: Family> {
    native: Vec<F::Addr>,
    wire: Vec<[u8; 16]>,
    upper: Vec<u64>,
}

impl<F: Family> Keys<F> {
    fn new(native: Vec<F::Addr>) -> Self {
        let wide: Vec<u128> = match F::BITS {
            128 => native.iter().map(|addr| addr.to_u128()).collect(),
            _ => Vec::new(),
        };
        let wire = wide.iter().map(|addr| addr.to_be_bytes()).collect();
        let upper = wide.iter().map(|addr| (addr >> 64) as u64).collect();
        Self { native, wire, upper }
    }

    /// As numbers in host order.
    pub fn native(&self) -> &[F::Addr] {
        &self.native
    }

    /// As bytes in network order; filled for IPv6 only.
    pub fn wire(&self) -> &[[u8; 16]] {
        &self.wire
    }

    /// The upper halves, in host order; filled for IPv6 only.
    pub fn upper(&self) -> &[u64] {
        &self.upper
    }

    /// Each key by itself.
    pub fn one_by_one(&self) -> impl Iterator<Item = Self> + '_ {
        self.native.iter().map(|addr| Self::new(vec![*addr]))
    }

    /// The first `n` keys.
    pub fn head(&self, n: usize) -> Self {
        Self::new(self.native[..n.min(self.native.len())].to_vec())
    }
}

/// How addresses are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A random address in a random prefix of the table.
    Table,
    /// Uniformly random; IPv6 in 2000::/3.
    Uniform,
    /// 2000 destinations in prefixes of the table, each packet to a random one of them.
    Flows,
    /// 1M destinations in prefixes of the table, the k-th with a weight of 1/k.
    Zipf,
}

impl Stream {
    /// All streams, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Table, Self::Uniform, Self::Flows, Self::Zipf];

    /// Name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table-random",
            Self::Uniform => "uniform",
            Self::Flows => "flows-2000",
            Self::Zipf => "zipf-1M",
        }
    }

    /// Draws `n` keys for a table with routes. The same table, stream and number always give the
    /// same keys.
    pub fn draw<F: BenchFamily>(self, dump: &Dump<F>, n: usize) -> Keys<F> {
        let mut random = Random::new(0x2024_0718 + self as u64);
        let native = match self {
            Self::Table => (0..n).map(|_| in_table(dump, &mut random)).collect(),
            Self::Uniform => (0..n).map(|_| F::anywhere(&mut random)).collect(),
            Self::Flows => {
                let flows: Vec<_> = (0..2000).map(|_| in_table(dump, &mut random)).collect();
                (0..n).map(|_| flows[random.below(flows.len() as u64) as usize]).collect()
            }
            Self::Zipf => {
                let flows: Vec<_> = (0..1_000_000).map(|_| in_table(dump, &mut random)).collect();
                (0..n).map(|_| flows[zipf_rank(flows.len(), &mut random)]).collect()
            }
        };
        Keys::new(native)
    }
}

/// A rank from 0 with probability proportional to 1/(rank + 1), by inversion of the continuous
/// distribution on [1, n + 1): exact enough for a bench, and no table of sums.
fn zipf_rank(n: usize, random: &mut Random) -> usize {
    let rank = ((n as f64 + 1.0).ln() * random.unit()).exp() as usize;
    rank.clamp(1, n) - 1
}

fn in_table<F: Family>(dump: &Dump<F>, random: &mut Random) -> F::Addr {
    match dump.routes().get(random.below(dump.len() as u64) as usize) {
        Some((prefix, _)) => random.addr_in(prefix),
        None => random.addr::<F>(),
    }
}

/// A nexthop number from 1 to `nexthops` for a prefix, spread evenly and the same in every run.
pub fn spread_nexthop<F: Family>(prefix: Prefix<F>, nexthops: u64) -> u32 {
    let addr = prefix.addr().to_u128();
    let seed = (addr ^ (addr >> 64)) as u64 ^ (u64::from(prefix.len()) << 56);
    1 + Random::new(seed).below(nexthops) as u32
}

/// A family that can be measured.
pub trait BenchFamily: Inlined {
    /// A random address of the unicast space in use.
    fn anywhere(random: &mut Random) -> Self::Addr;
}

impl BenchFamily for Inet {
    fn anywhere(random: &mut Random) -> u32 {
        random.addr::<Self>()
    }
}

impl BenchFamily for Inet6 {
    fn anywhere(random: &mut Random) -> u128 {
        (1 << 125) | (random.addr::<Self>() >> 3)
    }
}
