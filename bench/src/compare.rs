//! Builds the contenders of a table and measures every stream and mode.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use fwdlab_fib::algo::{Dump, TableFacts};
use serde::Serialize;

use crate::contender::{Contender, Origin, Ours};
use crate::keys::{Drawable, Stream};
use crate::peers::Recipe;
use crate::rounds::{self, Effort, Mode, Rates};
use crate::tables::Table;

/// One figure, as the JSON output has it.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// `inet` or `inet6`.
    pub family: &'static str,
    /// Name of the table.
    pub table: String,
    /// Name of the stream.
    pub stream: &'static str,
    /// `batch`, `single` or `dependent`.
    pub mode: &'static str,
    /// Who wrote the contender.
    pub origin: Origin,
    /// Name of the contender.
    pub name: String,
    /// Bits of its nexthop numbers.
    pub nexthop_bits: u32,
    /// Median over the rounds, M lookups/s.
    pub mlps: f64,
    /// Bytes of the lookup structure; 0 when it does not say.
    pub bytes: usize,
    /// Time to build it from the sorted table.
    pub build_s: f64,
    /// Median over the rounds of the ratio to the best peer of at least as many nexthops
    /// (algorithms count as 15 bits or more); 0 for peers.
    pub ratio: f64,
    /// Name of that peer.
    pub best_peer: String,
    /// Whether the framework chooses this algorithm for the table by itself.
    pub auto: bool,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How much.
    pub effort: Effort,
    /// Only contenders whose name contains one of these; all when empty.
    pub only: Vec<String>,
    /// Only these modes.
    pub modes: Vec<Mode>,
    /// What the algorithms' preferences may know of this machine.
    pub caches: TableFacts,
}

/// Nexthop bits that a peer needs at least, to be held against 16-bit nexthops.
const CAPACITY_BITS: u32 = 15;

struct Entry {
    build_s: f64,
    auto: bool,
}

/// Measures one table; `report` gets the figures of each stream and mode as they come.
///
/// # Errors
/// When contenders disagree on an answer.
pub fn table<F: Drawable>(
    table: &Table<F>,
    peers: Vec<Recipe<F>>,
    plan: &Plan,
    report: &mut dyn FnMut(&[Figure]),
) -> Result<()> {
    let (mut contenders, entries) = build_all(&table.dump, peers, plan);
    for stream in Stream::ALL {
        let keys = stream.draw(&table.dump, plan.effort.keys);
        for &mode in &plan.modes {
            let rates = rounds::run(&mut contenders, &keys, mode, plan.effort)?;
            let base = best_peer(&contenders, &rates);
            let figure = |index: usize| {
                let contender: &dyn Contender<F> = contenders[index].as_ref();
                let ours = contender.origin() == Origin::Fwdlab;
                Figure {
                    family: F::NAME,
                    table: table.name.clone(),
                    stream: stream.name(),
                    mode: mode.name(),
                    origin: contender.origin(),
                    name: contender.name().to_string(),
                    nexthop_bits: contender.nexthop_bits(),
                    mlps: rounds::median(&rates[index]),
                    bytes: contender.memory_bytes(),
                    build_s: entries[index].build_s,
                    ratio: base
                        .filter(|_| ours)
                        .map_or(0.0, |peer| rounds::ratio(&rates[index], &rates[peer])),
                    best_peer: base.map_or_else(String::new, |p| contenders[p].name().to_string()),
                    auto: entries[index].auto,
                }
            };
            report(&(0..contenders.len()).map(figure).collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn build_all<F: Drawable>(
    dump: &Dump<F>,
    peers: Vec<Recipe<F>>,
    plan: &Plan,
) -> (Vec<Box<dyn Contender<F>>>, Vec<Entry>) {
    let mut contenders: Vec<Box<dyn Contender<F>>> = Vec::new();
    let mut entries = Vec::new();
    let wanted = |name: &str| {
        plan.only.is_empty() || plan.only.iter().any(|part| name.contains(part.as_str()))
    };
    let facts = TableFacts {
        prefixes: dump.len(),
        nexthops: dump.highest_nexthop(),
        longest: dump.routes().iter().map(|r| r.0.len()).max().unwrap_or(0),
        ..plan.caches
    };
    let auto = F::algorithms()
        .iter()
        .rev()
        .max_by_key(|algorithm| algorithm.preference(&facts))
        .map(|algorithm| algorithm.name());
    for algorithm in F::algorithms() {
        let name = algorithm.name();
        // What is never chosen looks at every route: minutes for a large table.
        let hopeless = algorithm.preference(&facts) == 0 && dump.len() > 10;
        if !wanted(name) || hopeless {
            continue;
        }
        let start = Instant::now();
        let Ok(module) = algorithm.build(dump) else { continue };
        entries.push(Entry { build_s: start.elapsed().as_secs_f64(), auto: auto == Some(name) });
        let bits = 32 - algorithm.limits().nexthops.leading_zeros();
        contenders.push(Box::new(Ours::new(name, bits, Arc::clone(&module.lookup()))));
    }
    for (_, build) in peers.iter().filter(|(name, _)| wanted(name)) {
        let start = Instant::now();
        let Some(peer) = build(dump) else { continue };
        entries.push(Entry { build_s: start.elapsed().as_secs_f64(), auto: false });
        contenders.push(peer);
    }
    (contenders, entries)
}

fn best_peer<F: Drawable>(contenders: &[Box<dyn Contender<F>>], rates: &Rates) -> Option<usize> {
    (0..contenders.len())
        .filter(|&i| contenders[i].origin() == Origin::Peer)
        .filter(|&i| contenders[i].nexthop_bits() >= CAPACITY_BITS)
        .max_by(|&a, &b| rounds::median(&rates[a]).total_cmp(&rounds::median(&rates[b])))
}
