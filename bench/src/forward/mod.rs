//! `fwdlab-bench forward`: the router against a DPDK forwarder with the same checks, on one core,
//! with frames that circulate in memory.
//!
//! Both do what RFC 1812 and RFC 8200 ask: destination MAC, version, lengths, checksum, TTL,
//! address classes, MTU; then lookup and rewrite. Contenders take turns in rounds, the ratio of
//! each round counts, and all must turn the same frames into the same frames. The router runs as
//! it is used, worker, rings and counters included; the peer's queues are plain arrays.

mod case;
#[cfg(dpdk)]
mod dpdk;
/// Without libdpdk-dev there are no peers.
#[cfg(not(dpdk))]
mod dpdk {
    use super::{Case, Contender, Result, Routes};

    pub fn forwarders(_: &Case, _: &Routes) -> Result<Vec<Box<dyn Contender>>> {
        Ok(Vec::new())
    }

    pub fn pair(_: &Case, _: (usize, usize)) -> Result<f64> {
        Ok(f64::NAN)
    }
}
mod memory;
mod ours;
mod pair;
mod stages;
mod table;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use case::{Case, Contender};
use table::Routes;

use crate::Format;

/// What to run.
#[derive(clap::Args)]
pub struct Arguments {
    /// A list of prefixes (may be gzipped) to use as the full table
    #[arg(long)]
    routes: Option<PathBuf>,
    /// Text table, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Rounds of each case
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Only cases whose names contain all of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only the router
    #[arg(long)]
    alone: bool,
    /// What the parts of forwarding cost by themselves, instead of the comparison
    #[arg(long)]
    stages: bool,
    /// Two cores: the tester on one, the forwarder on the other, rings between
    #[arg(long)]
    pair: bool,
}

/// Frames of one measurement, at least: some 20 ms.
const FRAMES: usize = 2_000_000;
/// Laps that a frame can make before its TTL has to be renewed.
const LAPS: usize = 250;

/// Runs all cases and prints their results.
///
/// # Errors
/// An unreadable list of routes, or contenders that disagree.
pub fn run(arguments: &Arguments) -> Result<()> {
    let full = arguments.routes.as_deref().map(Routes::read).transpose()?;
    if arguments.pair {
        return pair::run(arguments);
    }
    if arguments.format == Format::Text {
        println!(
            "{:<46} {:<22} {:>9} {:>9} {:>7}",
            "case", "name", "Mframes/s", "ns/frame", "ratio"
        );
    }
    for case in Case::all(full.is_some()) {
        if arguments.only.iter().all(|part| case.name().contains(part.as_str())) {
            let measure = if arguments.stages { measure_stages } else { measure };
            measure(&case, full.as_ref(), arguments)?;
        }
    }
    Ok(())
}

/// The router and, unless it is to be alone, its peers.
fn contenders(case: &Case, routes: &Routes, is_alone: bool) -> Result<Vec<Box<dyn Contender>>> {
    let mut contenders: Vec<Box<dyn Contender>> = vec![Box::new(ours::Router::new(case, routes)?)];
    if is_alone {
        return Ok(contenders);
    }
    contenders.push(Box::new(memory::Memory::new(case)?));
    if cfg!(dpdk) {
        contenders.extend(dpdk::forwarders(case, routes)?);
    }
    Ok(contenders)
}

fn measure(case: &Case, full: Option<&Routes>, arguments: &Arguments) -> Result<()> {
    let two = Routes::two();
    let routes = if case.is_full { full.unwrap_or(&two) } else { &two };
    let mut contenders = contenders(case, routes, arguments.alone)?;
    let frames = case.frames(routes);
    let expected = check(&mut contenders, &frames)?;
    ensure!(
        expected == frames.len(),
        "case {}: {expected} of {} frames came out",
        case.name(),
        frames.len()
    );
    let mut times = vec![Vec::new(); contenders.len()];
    for round in 0..=arguments.rounds {
        for turn in 0..contenders.len() {
            let which = (turn + round) % times.len();
            let ns = sample(contenders[which].as_mut(), &frames);
            if round > 0 {
                times[which].push(ns);
            }
        }
    }
    for (contender, of_this) in contenders.iter().zip(&times) {
        let ratios = of_this.iter().zip(&times[0]).map(|(peer, ours)| peer / ours).collect();
        report(case, contender.as_ref(), median(of_this.clone()), median(ratios), arguments.format);
    }
    Ok(())
}

/// The router's time, and that of its parts by themselves.
fn measure_stages(case: &Case, full: Option<&Routes>, arguments: &Arguments) -> Result<()> {
    let two = Routes::two();
    let routes = if case.is_full { full.unwrap_or(&two) } else { &two };
    let frames = case.frames(routes);
    let parts = stages::Stages::measure(case, routes, &frames)?;
    let mut router = ours::Router::new(case, routes)?;
    let times = (0..=arguments.rounds).map(|_| sample(&mut router, &frames)).skip(1).collect();
    let router_ns = median(times);
    let rest = router_ns - parts.rings - parts.lookup - parts.memory;
    if arguments.format == Format::Json {
        let line = serde_json::json!({
            "case": case.name(), "family": case.family.name(), "router_ns": router_ns,
            "rings_ns": parts.rings, "lookup_ns": parts.lookup, "memory_ns": parts.memory,
            "rest_ns": rest,
        });
        println!("{line}");
    } else {
        println!(
            "{:<46} router {router_ns:>6.2} ns = rings {:>5.2} + lookup {:>5.2} + memory {:>5.2} + \
             checks, rewrite, counters {rest:>5.2}",
            case.name(),
            parts.rings,
            parts.lookup,
            parts.memory
        );
    }
    Ok(())
}

/// Nanoseconds per frame, from several renewals of the frames.
fn sample(contender: &mut dyn Contender, frames: &[Vec<u8>]) -> f64 {
    let laps = LAPS.min(FRAMES.div_ceil(frames.len()));
    let rounds = FRAMES.div_ceil(frames.len() * laps);
    let ns: u64 = (0..rounds)
        .map(|_| {
            contender.fill(frames);
            contender.laps(laps)
        })
        .sum();
    ns as f64 / (rounds * laps * frames.len()) as f64
}

/// Laps of the comparison of outputs: a multiple of the router's batches of 256 frames for all
/// numbers of flows, so that all frames have made the same number of laps.
const CHECK_LAPS: usize = 16;

/// Runs some laps and compares what came out; returns how many frames did.
fn check(contenders: &mut [Box<dyn Contender>], frames: &[Vec<u8>]) -> Result<usize> {
    let mut first: Option<Vec<Vec<u8>>> = None;
    for contender in contenders {
        contender.fill(frames);
        contender.laps(CHECK_LAPS);
        let mut out = contender.frames();
        out.sort();
        match &first {
            None => first = Some(out),
            Some(first) => {
                ensure!(*first == out, "{} forwards other frames than the router", contender.name())
            }
        }
    }
    Ok(first.map_or(0, |out| out.len()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn report(case: &Case, contender: &dyn Contender, ns: f64, ratio: f64, format: Format) {
    let mpps = 1000.0 / ns;
    if format == Format::Json {
        let line = serde_json::json!({
            "case": case.name(), "family": case.family.name(), "origin": contender.origin(), "name": contender.name(),
            "mpps": mpps, "ns_per_frame": ns, "router_is_faster_by": ratio,
        });
        println!("{line}");
    } else {
        println!("{:<46} {:<22} {mpps:>9.1} {ns:>9.2} {ratio:>7.2}", case.name(), contender.name());
    }
}
