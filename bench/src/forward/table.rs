//! The routes of a case, for both families.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use fwdlab_fib::{Address as _, Family, Inet, Inet6, Nexthop, Prefix};

/// Gateways of a full table, all at the same MAC address. With a single one, tables that keep runs
/// of equal nexthops would collapse.
pub const GATEWAYS: u32 = 16;

/// Prefixes of both families.
pub struct Routes {
    /// IPv4.
    pub inet: Vec<Prefix<Inet>>,
    /// IPv6.
    pub inet6: Vec<Prefix<Inet6>>,
    /// Over how many gateways they are spread.
    gateways: u32,
}

impl Routes {
    /// The two routes of the main experiment.
    pub fn two() -> Self {
        let inet = ["198.18.0.0/16", "198.19.0.0/16"]
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        let inet6 = ["2001:2::/49", "2001:2:0:8000::/49"]
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        Self { inet, inet6, gateways: 1 }
    }

    /// A list of prefixes, one a line, possibly gzipped; others are skipped.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let context = || format!("cannot read {}, give a list of prefixes", path.display());
        let file = File::open(path).with_context(context)?;
        let reader: Box<dyn Read> = match path.extension() {
            Some(suffix) if suffix == "gz" => Box::new(flate2::read::GzDecoder::new(file)),
            _ => Box::new(file),
        };
        let mut routes = Self { inet: Vec::new(), inet6: Vec::new(), gateways: GATEWAYS };
        for line in BufReader::new(reader).lines() {
            let line = line.with_context(context)?;
            let text = line.split_whitespace().next().unwrap_or("");
            if let Ok(prefix) = Prefix::parse_lenient(text) {
                routes.inet.push(prefix);
            } else if let Ok(prefix) = Prefix::parse_lenient(text) {
                routes.inet6.push(prefix);
            }
        }
        Ok(routes)
    }

    /// Without prefixes longer than `longest`.
    pub fn up_to(&self, longest: u8) -> Self {
        Self {
            inet: self.inet.iter().copied().filter(|prefix| prefix.len() <= longest).collect(),
            inet6: self.inet6.iter().copied().filter(|prefix| prefix.len() <= longest).collect(),
            gateways: self.gateways,
        }
    }

    /// The number of a prefix's gateway, from 1: a hash (Knuth, vol. 3, section 6.4), so that
    /// neighbours differ.
    pub fn gateway<F: Family>(&self, prefix: Prefix<F>) -> u32 {
        let bits = prefix.addr().to_u128();
        let hash = ((bits >> 64) as u64 ^ bits as u64 ^ u64::from(prefix.len()))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        1 + (hash >> 32) as u32 % self.gateways
    }

    /// IPv4 routes through port 1.
    pub fn hops_inet(&self) -> impl Iterator<Item = (Prefix<Inet>, Nexthop<Inet>)> + '_ {
        self.inet.iter().map(|&prefix| (prefix, Nexthop::via(self.gateway(prefix), 1)))
    }

    /// IPv6 routes through port 1.
    pub fn hops_inet6(&self) -> impl Iterator<Item = (Prefix<Inet6>, Nexthop<Inet6>)> + '_ {
        self.inet6.iter().map(|&prefix| (prefix, Nexthop::via(self.gateway(prefix).into(), 1)))
    }

    /// Numbers of all gateways.
    pub fn gateways(&self) -> std::ops::RangeInclusive<u32> {
        1..=self.gateways
    }
}
