//! What the parts of forwarding cost by themselves, on the frames and the table of a case: the
//! rings, the lookups, the memory. What is left of the router's time is checks, rewrite and
//! bookkeeping.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use fwdlab_fib::{Family, Fib, Nexthop, NexthopId, Prefix};
use fwdlab_port::{Batch, Frame, Heads, Pool, Port, ring};

use super::case::{Case, Contender, FamilyName};
use super::memory::Memory;
use super::table::Routes;

/// Addresses of one lookup call, as the router has them.
const CHUNK: usize = 64;
/// Frames of one measurement.
const FRAMES: usize = 2_000_000;

/// What the section says.
pub const EXPLANATION: &str = "Each part by itself, the least of five measurements, and the router \
    as a whole, the median: `rings` from one end to the other and back, `heads` the headers turned \
    into columns of words, `lookup` by the framework's own choice, as the router does without its route \
    cache; what is left are checks, rewrite and counters. Parts overlap in a whole router, so that the rest may be smaller than it is by \
    itself.";

/// Nanoseconds per frame of each part.
pub struct Stages {
    pub rings: f64,
    pub heads: f64,
    pub lookup: f64,
    pub memory: f64,
}

impl Stages {
    /// Measures the parts of a case, each the best of five.
    ///
    /// # Errors
    /// When there is no memory, or the table refuses a route.
    pub fn measure(case: &Case, routes: &Routes, frames: &[Vec<u8>]) -> Result<Self> {
        let mut memory = Memory::new(case)?;
        let laps = FRAMES.div_ceil(frames.len()).min(250);
        let memory_ns = best(|| {
            memory.fill(frames);
            memory.laps(laps) as f64 / (laps * frames.len()) as f64
        });
        let lookup = match case.family {
            FamilyName::Inet => {
                let address = |bytes: &Vec<u8>| {
                    u32::from_be_bytes([bytes[30], bytes[31], bytes[32], bytes[33]])
                };
                let addresses: Vec<u32> = frames.iter().map(address).collect();
                let table = table(routes.hops_inet())?;
                best(|| lookups(&table, &addresses))
            }
            FamilyName::Inet6 => {
                let address = |bytes: &Vec<u8>| {
                    let mut address = [0; 16];
                    address.copy_from_slice(&bytes[38..54]);
                    u128::from_be_bytes(address)
                };
                let addresses: Vec<u128> = frames.iter().map(address).collect();
                let table = table(routes.hops_inet6())?;
                best(|| lookups(&table, &addresses))
            }
        };
        let (rings, heads) = (rings(case)?, heads(case)?);
        Ok(Self { rings, heads, lookup, memory: memory_ns })
    }
}

/// The least of five times: what the part costs when nothing disturbs it.
fn best(mut once: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn table<F: Family>(routes: impl Iterator<Item = (Prefix<F>, Nexthop<F>)>) -> Result<Fib<F>> {
    let mut fib = Fib::<F>::new(0)?;
    fib.load(routes)?;
    Ok(fib)
}

fn lookups<F: Family>(table: &Fib<F>, addresses: &[F::Addr]) -> f64 {
    let mut reader = table.reader();
    let mut answers = [NexthopId::NONE; CHUNK];
    let rounds = FRAMES.div_ceil(addresses.len());
    let start = Instant::now();
    for _ in 0..rounds {
        for chunk in addresses.chunks(CHUNK) {
            reader.lookup_batch(chunk, &mut answers[..chunk.len()]);
            black_box(&answers);
        }
    }
    start.elapsed().as_nanos() as f64 / (rounds * addresses.len()) as f64
}

/// Frames from one end of a ring to the other and back, untouched.
fn rings(case: &Case) -> Result<f64> {
    let pool = Pool::new(case.pool())?;
    let (mut one, mut two) = ring::pair(case.flows);
    let mut batch = Batch::new();
    while pool.take_batch(&mut batch, Batch::CAPACITY) > 0 {
        two.send(&mut batch);
    }
    let (mut moved, start) = (0, Instant::now());
    while moved < FRAMES {
        moved += one.receive(&mut batch);
        two.send(&mut batch);
    }
    Ok(start.elapsed().as_nanos() as f64 / moved as f64)
}

/// The headers of frames turned into columns, a chunk after the other.
fn heads(case: &Case) -> Result<f64> {
    let pool = Pool::new(case.pool())?;
    let frames: Vec<Frame> = (0..case.flows).filter_map(|_| pool.take()).collect();
    let mut heads = Heads::new();
    let rounds = FRAMES.div_ceil(frames.len());
    Ok(best(|| {
        let start = Instant::now();
        for _ in 0..rounds {
            for chunk in frames.chunks(Heads::FRAMES) {
                heads.load(chunk);
                black_box(&heads);
            }
        }
        start.elapsed().as_nanos() as f64 / (rounds * frames.len()) as f64
    }))
}
