//! The routes of a case, for both families.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use fwdlab_fib::{Inet, Inet6, Prefix};

/// Prefixes of both families; all lead to the same gateway.
pub struct Routes {
    /// IPv4.
    pub inet: Vec<Prefix<Inet>>,
    /// IPv6.
    pub inet6: Vec<Prefix<Inet6>>,
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
        Self { inet, inet6 }
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
        let mut routes = Self { inet: Vec::new(), inet6: Vec::new() };
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
}
