//! `fwdlab-bench forward`: the router against a DPDK forwarder with the same checks, with frames
//! that circulate in memory: on one core, on two; what the parts cost; and the tester beside it.
//!
//! Both do what RFC 1812 and RFC 8200 ask: destination MAC, version, lengths, checksum, TTL,
//! address classes, MTU; then lookup and rewrite. Contenders take turns in rounds, the ratio of
//! each round counts, and all must turn the same frames into the same frames. The router runs as
//! it is used, worker, rings and counters included; the peer's queues are plain arrays.

mod arguments;
mod case;
#[cfg_attr(not(dpdk), path = "dpdk/left_out.rs")]
mod dpdk;
mod memory;
mod ours;
mod pair;
mod report;
mod stages;
mod table;
mod tester;
mod turn;
mod workers;

use crate::machine;
pub use arguments::Arguments;
use arguments::Part;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fwdlab_lookups::{Ratio, median};
use fwdlab_port::{affinity, beat};

use case::{Case, Contender, FamilyName, SHORT, Table};
use report::{Figure, HEADINGS, Report};
use table::Routes;
use turn::{LAPS, ns_per_frame};

/// How long processors are warmed up.
const WARM_UP: Duration = Duration::from_secs(1);
/// Frames of one measurement, at least: some 20 ms.
const FRAMES: usize = 2_000_000;

/// Runs the parts and prints their results.
///
/// # Errors
/// An unreadable list of routes, contenders that disagree, a document that cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut report = Report::new(arguments.format, arguments.write.clone())?;
    let is_wanted = |part: &Part| arguments.parts.is_empty() || arguments.parts.contains(part);
    let full = match [Part::OneCore, Part::Stages].iter().any(is_wanted) {
        true => arguments.full()?,
        false => None,
    };
    // Before anything pins this thread.
    let cores = affinity::allowed_cores();
    machine::last_cpu();
    warm_up();
    for (part, heading) in Part::ALL.into_iter().zip(HEADINGS).filter(|(part, _)| is_wanted(part)) {
        report.begin(heading);
        match part {
            Part::OneCore => each_case(arguments, full.as_ref(), &mut report, measure)?,
            Part::TwoCores => pair::run(arguments, &cores, &mut report)?,
            Part::Workers => workers::run(arguments, &cores, &mut report)?,
            Part::Stages => {
                report.note(stages::EXPLANATION.to_owned());
                each_case(arguments, full.as_ref(), &mut report, measure_stages)?;
            }
            Part::Tester => tester::run(arguments, &cores, &mut report)?,
        }
        report.end()?;
    }
    Ok(())
}

/// Works for a while: processors start slowly.
fn warm_up() {
    let start = Instant::now();
    let mut sum = 0_u64;
    while start.elapsed() < WARM_UP {
        sum = black_box(sum.wrapping_mul(3).wrapping_add(1));
    }
}

type Measure = fn(&Case, &Routes, &Arguments, &mut Report) -> Result<()>;

fn each_case(
    arguments: &Arguments,
    full: Option<&Routes>,
    report: &mut Report,
    measure: Measure,
) -> Result<()> {
    let two = Routes::two();
    let short = full.map(|routes| routes.up_to(SHORT));
    for case in Case::all(full.is_some()).iter().filter(|case| arguments.wants(&case.name())) {
        let routes = match case.table {
            Table::Two => Some(&two),
            Table::Full => full,
            Table::Short => short.as_ref(),
        };
        if let Some(routes) = routes {
            measure(case, routes, arguments, report)?;
        }
    }
    Ok(())
}

/// The router and, unless it is to be alone, its peers.
fn contenders(case: &Case, routes: &Routes, is_alone: bool) -> Result<Vec<Box<dyn Contender>>> {
    let mut contenders: Vec<Box<dyn Contender>> =
        vec![Box::new(ours::Router::new(case, routes, true)?)];
    if case.family == FamilyName::Inet6 && case.table != Table::Two {
        contenders.push(Box::new(ours::Router::new(case, routes, false)?));
    }
    if is_alone {
        return Ok(contenders);
    }
    contenders.push(Box::new(memory::Memory::new(case)?));
    if cfg!(dpdk) {
        contenders.extend(dpdk::forwarders(case, routes)?);
    }
    Ok(contenders)
}

fn measure(case: &Case, routes: &Routes, arguments: &Arguments, report: &mut Report) -> Result<()> {
    let mut contenders = contenders(case, routes, arguments.alone)?;
    let frames = case.frames(routes);
    let expected = check(&mut contenders, &frames)?;
    ensure!(
        expected == frames.len(),
        "case {}: {expected} of {} frames came out",
        case.name(),
        frames.len()
    );
    let mut turns = vec![Vec::new(); contenders.len()];
    for round in 0..=arguments.rounds {
        for turn in 0..contenders.len() {
            let which = (turn + round) % turns.len();
            let taken = turn::of(beat::now, || timed(contenders[which].as_mut(), &frames));
            if round > 0 {
                turns[which].push(taken);
            }
        }
    }
    for (contender, of_this) in contenders.iter().zip(&turns) {
        report.figure(Figure {
            case: case.name(),
            family: case.family.name(),
            origin: contender.origin(),
            name: contender.name().to_owned(),
            ns_per_frame: ns_per_frame(of_this),
            ratio: Ratio::of(&turns[0], of_this),
            beats_ns: of_this.iter().map(|turn| turn.beat_ns).collect(),
        });
    }
    Ok(())
}

/// The router's time, and that of its parts by themselves.
fn measure_stages(
    case: &Case,
    routes: &Routes,
    arguments: &Arguments,
    report: &mut Report,
) -> Result<()> {
    let frames = case.frames(routes);
    let parts = stages::Stages::measure(case, routes, &frames)?;
    // Lookups are measured by themselves, so the router looks up every address, too.
    let mut router = ours::Router::new(case, routes, false)?;
    let times = (0..=arguments.rounds).map(|_| timed(&mut router, &frames)).skip(1);
    let router_ns = median(&times.collect::<Vec<_>>());
    let rest = router_ns - parts.rings - parts.heads - parts.lookup;
    report.line(&serde_json::json!({
        "case": case.name(), "family": case.family.name(), "origin": "fwdlab", "name": "parts",
        "router_ns": router_ns, "rings_ns": parts.rings, "heads_ns": parts.heads,
        "lookup_ns": parts.lookup, "rest_ns": rest, "memory_ns": parts.memory,
    }));
    report.note(format!(
        "- {}: {router_ns:.2} ns = rings {:.2} + heads {:.2} + lookup {:.2} + checks, rewrite, \
         counters {rest:.2}; header rewrite alone {:.2}",
        case.name(),
        parts.rings,
        parts.heads,
        parts.lookup,
        parts.memory
    ));
    Ok(())
}

/// Nanoseconds per frame, from several renewals of the frames.
fn timed(contender: &mut dyn Contender, frames: &[Vec<u8>]) -> f64 {
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
