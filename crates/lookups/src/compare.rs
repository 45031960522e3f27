//! Builds the contenders of a table and measures every stream and mode.

use std::sync::Arc;
use std::time::Instant;

use crate::automatic::{Automatic, facts};
use crate::rounds::{self, Rates, Ratio};
use crate::{BenchFamily, Contender, Effort, Mode, Origin, Ours, Stream};
use fwdlab_fib::algo::{Dump, TableFacts};
use fwdlab_fib::{FibError, Listed, Lookup, Registry};

/// One figure of a comparison.
#[derive(Debug, Clone)]
pub struct Figure {
    /// `inet` or `inet6`.
    pub family: &'static str,
    /// Name of the table.
    pub table: String,
    /// Name of the stream.
    pub stream: &'static str,
    /// How they were looked up.
    pub mode: Mode,
    /// Who wrote the contender.
    pub origin: Origin,
    /// Name of the contender.
    pub name: String,
    /// Bits of the nexthop numbers that it stores.
    pub nexthop_bits: u32,
    /// Median over the rounds, M lookups/s.
    pub mlps: f64,
    /// The core's beat in each round, in ns; 0 where it was not measured.
    pub beats_ns: Vec<f64>,
    /// Bytes of the lookup structure; 0 when it does not say.
    pub bytes: usize,
    /// Time to build it from the sorted table.
    pub build_s: f64,
    /// To the best peer of at least as many nexthops (16-bit numbers against 15 bits or more, 8-bit
    /// numbers against 7 or more); None for peers and without one.
    pub ratio: Option<Ratio>,
    /// Name of that peer.
    pub best_peer: String,
    /// Whether the framework chooses this algorithm for the table by itself.
    pub auto: bool,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct BenchPlan {
    /// How much.
    pub effort: Effort,
    /// Only contenders whose name contains one of these; all when empty.
    pub only: Vec<String>,
    /// Only these modes.
    pub modes: Vec<Mode>,
}

/// A peer that can be built: its name and how; `None` when it cannot hold the table.
pub type Recipe<F> = (&'static str, Box<dyn Fn(&Dump<F>) -> Option<Box<dyn Contender<F>>>>);

/// A contender with what is known of its building.
struct Entry {
    build_s: f64,
    auto: bool,
}

/// Measures one table; `report` gets the figures of each stream and mode as they come.
///
/// # Errors
/// [`FibError::Disagree`] when contenders disagree on an answer.
pub(crate) fn table<F: BenchFamily>(
    name: &str,
    dump: &Dump<F>,
    peers: Vec<Recipe<F>>,
    plan: &BenchPlan,
    report: &mut dyn FnMut(&[Figure]),
) -> Result<(), FibError> {
    let (mut contenders, entries) = build_all(dump, peers, plan);
    for stream in Stream::ALL {
        let keys = stream.draw(dump, plan.effort.keys);
        for &mode in &plan.modes {
            let rates = rounds::run(&mut contenders, &keys, mode, plan.effort)
                .map_err(|(one, other)| FibError::Disagree { one, other })?;
            let figure = |index: usize| {
                let contender: &dyn Contender<F> = contenders[index].as_ref();
                let base = best_peer(&contenders, &rates, contender.nexthop_bits());
                let base = base.filter(|_| contender.origin() == Origin::Fwdlab);
                Figure {
                    family: F::NAME,
                    table: name.to_string(),
                    stream: stream.name(),
                    mode,
                    origin: contender.origin(),
                    name: contender.name().to_string(),
                    nexthop_bits: contender.nexthop_bits(),
                    mlps: rounds::rate(&rates[index]),
                    beats_ns: rates[index].iter().map(|run| run.beat_ns).collect(),
                    bytes: contender.memory_bytes(),
                    build_s: entries[index].build_s,
                    ratio: base.and_then(|peer| Ratio::of(&rates[index], &rates[peer])),
                    best_peer: base.map_or_else(String::new, |p| contenders[p].name().to_string()),
                    auto: entries[index].auto,
                }
            };
            report(&(0..contenders.len()).map(figure).collect::<Vec<_>>());
        }
    }
    Ok(())
}

fn build_all<F: BenchFamily>(
    dump: &Dump<F>,
    peers: Vec<Recipe<F>>,
    plan: &BenchPlan,
) -> (Vec<Box<dyn Contender<F>>>, Vec<Entry>) {
    let mut contenders: Vec<Box<dyn Contender<F>>> = Vec::new();
    let mut entries = Vec::new();
    let wanted = |name: &str| {
        plan.only.is_empty() || plan.only.iter().any(|part| name.contains(part.as_str()))
    };
    let facts = facts(dump);
    let registry = Registry::<F>::standard();
    let auto = registry.iter().rev().max_by_key(|algorithm| algorithm.preference(&facts));
    let auto = auto.map(|algorithm| algorithm.name());
    for algorithm in registry.iter() {
        // What is never chosen looks at every route: minutes for a large table.
        let hopeless = algorithm.preference(&facts) == 0 && dump.len() > 10;
        if hopeless || !wanted(algorithm.name()) {
            continue;
        }
        for ((name, bits, lookup), build_s) in forms(algorithm, dump, &facts) {
            entries.push(Entry { build_s, auto: auto == Some(algorithm.name()) });
            contenders.push(Box::new(Ours::new(name, bits, lookup)));
        }
        let start = Instant::now();
        if auto == Some(algorithm.name())
            && let Some(table) = Automatic::new(dump)
        {
            entries.push(Entry { build_s: start.elapsed().as_secs_f64(), auto: false });
            contenders.push(Box::new(table));
        }
    }
    for (_, build) in peers.iter().filter(|(name, _)| wanted(name)) {
        let start = Instant::now();
        let Some(peer) = build(dump) else { continue };
        entries.push(Entry { build_s: start.elapsed().as_secs_f64(), auto: false });
        contenders.push(peer);
    }
    (contenders, entries)
}

/// A form of an algorithm: its name, bits of its nexthops, and the built table.
type Form<F> = (String, u32, Arc<dyn Lookup<F>>);

/// The forms of an algorithm, and the time to build each.
fn forms<F: BenchFamily>(
    algorithm: Listed<F>,
    dump: &Dump<F>,
    facts: &TableFacts,
) -> Vec<(Form<F>, f64)> {
    let name = algorithm.name();
    let bits = algorithm.nexthop_bits(facts);
    let nexthops = algorithm.limits().nexthops;
    let wide_bits = algorithm.nexthop_bits(&TableFacts { nexthops, ..*facts });
    let mut forms = Vec::new();
    let mut label = name.to_string();
    let start = Instant::now();
    if let Some(Ok(wide)) = algorithm.build_wide(dump) {
        let form = (format!("{name}, {wide_bits}-bit cells"), wide_bits, wide);
        forms.push((form, start.elapsed().as_secs_f64()));
        label = format!("{name}, {bits}-bit cells");
    }
    let start = Instant::now();
    if let Ok(lookup) = algorithm.build(dump) {
        let build_s = start.elapsed().as_secs_f64();
        forms.push(((label, bits, lookup), build_s));
    }
    forms
}

/// The fastest peer with nexthop numbers of at least so many bits, less the one that marks groups.
fn best_peer<F: BenchFamily>(
    contenders: &[Box<dyn Contender<F>>],
    rates: &Rates,
    bits: u32,
) -> Option<usize> {
    let capacity = bits.min(16) - 1;
    (0..contenders.len())
        .filter(|&i| contenders[i].origin() == Origin::Peer)
        .filter(|&i| contenders[i].nexthop_bits() >= capacity)
        .max_by(|&a, &b| rounds::rate(&rates[a]).total_cmp(&rounds::rate(&rates[b])))
}
