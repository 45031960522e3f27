//! `fwdlab fib bench`: the lookup algorithms on a user's routing table.

use fwdlab_routes as routes;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Inet, Inet6, NexthopId, Prefix};
use fwdlab_lookups::{BenchPlan, Benched, Effort, Figure, Mode, UpdatePlan};
use fwdlab_port::beat;
use fwdlab_routes::LearnedRoute;
use fwdlab_stats::plural;

use crate::family::Picked;
use crate::output;

/// Nexthops for the routes of a file that names none.
const MADE_UP_NEXTHOPS: u64 = 100;

#[derive(clap::Args)]
pub struct Bench {
    /// Routes: a prefix list, `ip route`, `netstat -rn`, BIRD's `show route`, or an MRT dump
    #[arg(long, value_name = "FILE")]
    routes: PathBuf,
    /// Only this family: inet or inet6
    #[arg(long, value_parser = ["inet", "inet6"])]
    family: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only algorithms whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Few rounds of few keys, batches only
    #[arg(long)]
    quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Markdown tables
    Text,
    /// One object a line for each figure
    Json,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read or has no routes of the family.
pub fn execute(arguments: &Bench) -> anyhow::Result<ExitCode> {
    let table = routes::read(&arguments.routes)?.routes;
    let wants = |family: &str| arguments.family.as_deref().is_none_or(|only| only == family);
    let ipv4 = if wants("inet") { family::<Inet>(arguments, &table)? } else { None };
    let ipv6 = if wants("inet6") { family::<Inet6>(arguments, &table)? } else { None };
    match (ipv4, ipv6) {
        (None, None) => {
            bail!("{} has no routes of that family to look up", arguments.routes.display())
        }
        (None | Some(0), None | Some(0)) => bail!(
            "no algorithm has {:?} in its name; `fwdlab fib show --routes FILE` lists them",
            arguments.only.join(", ")
        ),
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one family, and counts its figures; `None` without routes of it.
fn family<F: Picked + Benched>(
    arguments: &Bench,
    table: &[LearnedRoute],
) -> anyhow::Result<Option<usize>> {
    let dump = dump::<F>(table);
    if dump.is_empty() {
        return Ok(None);
    }
    let quick = arguments.quick;
    let plan = BenchPlan {
        effort: Effort {
            keys: if quick { 1 << 20 } else { 4 << 20 },
            rounds: if quick { 3 } else { 7 },
            beat: beat::now,
        },
        only: arguments.only.clone(),
        modes: match quick {
            true => vec![Mode::Batch(256)],
            false => vec![Mode::Batch(256), Mode::Single, Mode::Dependent],
        },
    };
    let name = format!("of {}", plural(dump.len(), "route"));
    let mut figures: Vec<Figure> = Vec::new();
    F::table(&name, &dump, Vec::new(), &plan, &mut |some| {
        if let Some(figure) = some.first() {
            fwdlab_guard::say!("{} {} {}: done", figure.family, figure.stream, figure.mode);
        }
        figures.extend_from_slice(some);
    })?;
    if figures.is_empty() {
        return Ok(Some(0));
    }
    let updates = match quick {
        true => None,
        false => {
            let plan = UpdatePlan { single: 20_000, rush: 50_000, phases: 3, place: |_| {} };
            Some(F::updates(&name, &dump, None, &plan)?)
        }
    };
    let mut text = String::new();
    match arguments.format {
        Format::Json => {
            figures.iter().try_for_each(|figure| writeln!(text, "{}", figure.to_json()))?;
            updates.iter().try_for_each(|figure| writeln!(text, "{}", figure.to_json()))?;
        }
        Format::Text => {
            for mode in &plan.modes {
                let of: Vec<Figure> = figures.iter().filter(|f| f.mode == *mode).cloned().collect();
                writeln!(text, "{}", fwdlab_lookups::lookup_section(&of))?;
            }
            text.push_str(&fwdlab_lookups::update_section(updates.as_slice()));
            writeln!(text, "M lookups/s on one core; `*`: what the framework chooses by itself\n")?;
        }
    }
    output::print(&text)?;
    Ok(Some(figures.len()))
}

/// The family's routes, with a nexthop number for each gateway. Where a route has none, its prefix
/// draws one of a hundred: a list of prefixes that all go the same way would be one route.
fn dump<F: Picked>(table: &[LearnedRoute]) -> Dump<F> {
    let mut numbers: HashMap<IpAddr, u32> = HashMap::new();
    let mut routes = Vec::new();
    for route in table {
        let Some(address) = F::of_ip(route.prefix.address()) else { continue };
        let prefix = Prefix::<F>::covering(address, route.prefix.length());
        let next = numbers.len() as u32 + 1;
        let id = match route.gateway {
            Some(gateway) => *numbers.entry(gateway).or_insert(next),
            None => fwdlab_lookups::spread_nexthop(prefix, MADE_UP_NEXTHOPS),
        };
        routes.push((prefix, NexthopId(id)));
    }
    Dump::new(routes)
}
