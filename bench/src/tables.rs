//! The routing tables of the comparison.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Address, Family, NexthopId, Prefix};
use fwdlab_routes::synth::{FULL_INET, FULL_INET6, Synth};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Nexthops of the large tables: few enough for the 1-byte peer, enough that neighbouring
/// prefixes rarely share one.
const NEXTHOPS: u64 = 100;

/// A named table.
pub struct Table<F: Family> {
    /// Name in the results.
    pub name: String,
    /// Its routes.
    pub dump: Dump<F>,
}

impl<F: Family> Table<F> {
    fn new(name: &str, prefixes: Vec<Prefix<F>>) -> Self {
        let routes = prefixes
            .into_iter()
            .map(|prefix| (prefix, NexthopId(fwdlab_lookups::spread_nexthop(prefix, NEXTHOPS))))
            .collect();
        Self { name: name.to_string(), dump: Dump::new(routes) }
    }

    /// Two prefixes of RFC 2544 / RFC 5180, one to each side of a device under test.
    pub fn two() -> Self {
        let texts = match F::BITS {
            32 => ["198.18.0.0/16", "198.19.0.0/16"],
            _ => ["2001:2::/49", "2001:2:0:8000::/49"],
        };
        Self::new("2", parse_all(&texts))
    }

    /// Eight routes of a small site: default, loopback, local networks, the test networks.
    pub fn eight() -> Self {
        let texts = match F::BITS {
            32 => [
                "0.0.0.0/0",
                "127.0.0.1/32",
                "10.0.0.0/8",
                "192.168.1.0/24",
                "192.168.1.1/32",
                "198.18.0.0/16",
                "198.19.0.0/16",
                "203.0.113.0/24",
            ],
            _ => [
                "::/0",
                "::1/128",
                "fe80::/10",
                "2001:db8:1::/64",
                "2001:db8:1::1/128",
                "2001:2::/49",
                "2001:2:0:8000::/49",
                "2001:db8:ffff::/48",
            ],
        };
        Self::new("8", parse_all(&texts))
    }

    /// 1,000 routes of a larger site: a default, and prefixes drawn from a few blocks, most of
    /// them of the lengths that networks are announced with.
    pub fn thousand() -> Self {
        let mut rng = Pcg64::seed_from_u64(1000);
        let (lens, block_len): (&[u8], u8) = match F::BITS {
            32 => (&[16, 20, 22, 24, 24, 24, 24, 24, 27, 30, 32], 12),
            _ => (&[32, 40, 44, 48, 48, 48, 56, 64, 64, 128], 28),
        };
        let blocks: Vec<F::Addr> = (0..40).map(|_| public_addr::<F>(&mut rng)).collect();
        let mut prefixes = vec![Prefix::DEFAULT];
        while prefixes.len() < 1000 {
            let block = blocks[rng.random_range(0..blocks.len())] & F::Addr::mask(block_len);
            let addr = block | (public_addr::<F>(&mut rng) & !F::Addr::mask(block_len));
            let prefix = Prefix::covering(addr, lens[rng.random_range(0..lens.len())]);
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
        }
        Self::new("1000", prefixes)
    }

    /// A synthetic full table in the shape of a measured one.
    pub fn generated() -> Self {
        let routes = if F::BITS == 32 { FULL_INET } else { FULL_INET6 };
        let table = Synth::new(routes, 1, 1).table::<F>();
        Self::new("generated", table.into_iter().map(|route| route.0).collect())
    }

    /// All prefixes of the family in a file: one a line, anything after a blank is ignored, `#`
    /// begins a comment; a name that ends in `.gz` is decompressed. Prefixes longer than `longest`
    /// are left out.
    ///
    /// # Errors
    /// When the file cannot be read or a line has no prefix of either family.
    pub fn read(name: &str, path: &Path, longest: u8) -> Result<Self> {
        let file = File::open(path)
            .with_context(|| format!("cannot read {}, give a list of prefixes", path.display()))?;
        let reader: Box<dyn Read> = match path.extension() {
            Some(suffix) if suffix == "gz" => Box::new(GzDecoder::new(file)),
            _ => Box::new(file),
        };
        let mut prefixes = Vec::new();
        for (index, line) in BufReader::new(reader).lines().enumerate() {
            let line = line.with_context(|| format!("cannot read {}", path.display()))?;
            let Some(text) = line.split('#').next().and_then(|l| l.split_whitespace().next())
            else {
                continue;
            };
            if text.contains(':') != (F::BITS == 128) {
                continue;
            }
            match Prefix::parse_lenient(text) {
                Ok(prefix) if prefix.len() > longest => {}
                Ok(prefix) => prefixes.push(prefix),
                Err(error) => bail!("{}, line {}: {error}", path.display(), index + 1),
            }
        }
        Ok(Self::new(name, prefixes))
    }
}

fn parse_all<F: Family>(texts: &[&str]) -> Vec<Prefix<F>> {
    texts.iter().filter_map(|text| Prefix::parse_lenient(text).ok()).collect()
}

fn public_addr<F: Family>(rng: &mut Pcg64) -> F::Addr {
    let value = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
    match F::BITS {
        32 => F::Addr::truncate(value % 0xdf00_0000),
        _ => F::Addr::truncate((1 << 125) | (value >> 3)),
    }
}
