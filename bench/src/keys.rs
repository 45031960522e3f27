//! The addresses to look up: four streams, each from a fixed seed.

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Address, Family, Inet, Inet6};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Addresses in both forms that contenders want.
pub struct Keys<F: Family> {
    native: Vec<F::Addr>,
    wire: Vec<[u8; 16]>,
}

impl<F: Family> Keys<F> {
    fn new(native: Vec<F::Addr>) -> Self {
        let wire = match F::BITS {
            128 => native.iter().map(|addr| addr.to_u128().to_be_bytes()).collect(),
            _ => Vec::new(),
        };
        Self { native, wire }
    }

    /// As numbers in host order.
    pub fn native(&self) -> &[F::Addr] {
        &self.native
    }

    /// As bytes in network order; filled for IPv6 only.
    pub fn wire(&self) -> &[[u8; 16]] {
        &self.wire
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

    /// Draws `n` keys. The same table, stream and number always give the same keys.
    pub fn draw<F: Drawable>(self, dump: &Dump<F>, n: usize) -> Keys<F> {
        let mut rng = Pcg64::seed_from_u64(0x2024_0718 + self as u64);
        let native = match self {
            Self::Table => (0..n).map(|_| in_table(dump, &mut rng)).collect(),
            Self::Uniform => (0..n).map(|_| F::anywhere(&mut rng)).collect(),
            Self::Flows => {
                let flows: Vec<_> = (0..2000).map(|_| in_table(dump, &mut rng)).collect();
                (0..n).map(|_| flows[rng.random_range(0..flows.len())]).collect()
            }
            Self::Zipf => {
                let flows: Vec<_> = (0..1_000_000).map(|_| in_table(dump, &mut rng)).collect();
                (0..n).map(|_| flows[zipf_rank(flows.len(), &mut rng)]).collect()
            }
        };
        Keys::new(native)
    }
}

/// A rank from 0 with probability proportional to 1/(rank + 1), by inversion of the continuous
/// distribution on [1, n + 1): exact enough for a bench, and no table of sums.
fn zipf_rank(n: usize, rng: &mut Pcg64) -> usize {
    let u: f64 = rng.random();
    let rank = ((n as f64 + 1.0).ln() * u).exp() as usize;
    rank.clamp(1, n) - 1
}

fn in_table<F: Drawable>(dump: &Dump<F>, rng: &mut Pcg64) -> F::Addr {
    let (prefix, _) = dump.routes()[rng.random_range(0..dump.len())];
    let host = F::Addr::truncate((u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64()));
    prefix.addr() | (host & !F::Addr::mask(prefix.len()))
}

/// A family that uniform addresses can be drawn of.
pub trait Drawable: Family {
    /// A random address of the unicast space in use.
    fn anywhere(rng: &mut Pcg64) -> Self::Addr;
}

impl Drawable for Inet {
    fn anywhere(rng: &mut Pcg64) -> u32 {
        rng.next_u32()
    }
}

impl Drawable for Inet6 {
    fn anywhere(rng: &mut Pcg64) -> u128 {
        let value = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
        (1 << 125) | (value >> 3)
    }
}
