//! `fwdlab fib`: what the modular FIB makes of a routing table.

mod bench;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use fwdlab_fib::control::Word;
use fwdlab_fib::{Fib, Fibs, Nexthop, Prefix};
use fwdlab_lookups::Benched;
use fwdlab_routes::{self as routes, LearnedRoute};
use fwdlab_stats::plural;

use crate::family::Picked;
use crate::output;

/// Arguments of `fwdlab fib`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(clap::Subcommand)]
enum Task {
    /// Load a table and show which lookup algorithm serves it, its size, and the control words
    ///
    /// Example: fwdlab fib show --routes table.txt net.route.algo.inet.algo=radix4_lockless
    Show(Show),
    /// Measure every lookup algorithm on a routing table, and what changes of routes cost
    ///
    /// Example: fwdlab fib bench --routes table.txt --quick
    Bench(bench::Bench),
}

#[derive(clap::Args)]
struct Show {
    /// Routes: a prefix list, `ip route`, `netstat -rn`, BIRD's `show route`, or an MRT dump
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
    /// Control words to set before the table is loaded: net.route.algo.inet.algo=NAME
    #[arg(value_name = "WORD=VALUE")]
    set: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read, a control word or value that is refused, a table that the chosen
/// algorithm cannot hold.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    match &arguments.task {
        Task::Show(arguments) => show(arguments),
        Task::Bench(arguments) => bench::execute(arguments),
    }
}

fn show(show: &Show) -> anyhow::Result<ExitCode> {
    let mut fibs = Fibs::new(1)?;
    fibs.set_log(|event| fwdlab_guard::say!("{event}"));
    for setting in &show.set {
        let (word, value) = setting
            .split_once('=')
            .with_context(|| format!("\"{setting}\" is no setting: write WORD=VALUE, and --routes FILE for a routing table"))?;
        fibs.set_word(0, word, value)?;
    }
    let table = match &show.routes {
        Some(path) => routes::read(path)?.routes,
        None => Vec::new(),
    };
    let mut text = String::new();
    let inet = fibs.inet_mut(0).context("invariant: fib 0 exists")?;
    load(inet, &table, &mut text)?;
    let inet6 = fibs.inet6_mut(0).context("invariant: fib 0 exists")?;
    load(inet6, &table, &mut text)?;
    text += &words(&fibs)?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Every control word with its value.
fn words(fibs: &Fibs) -> anyhow::Result<String> {
    let mut text = String::new();
    for word in Word::ALL.map(Word::name) {
        writeln!(text, "{word}: {}", fibs.word(0, word)?)?;
    }
    Ok(text)
}

/// Loads the family's routes and describes the table.
fn load<F: Picked + Benched>(
    fib: &mut Fib<F>,
    table: &[LearnedRoute],
    text: &mut String,
) -> anyhow::Result<()> {
    let routes = table.iter().filter_map(|route| {
        let address = F::of_ip(route.prefix.address())?;
        let nexthop = match route.gateway.and_then(F::of_ip) {
            Some(gateway) => Nexthop::via(gateway, 0),
            None => Nexthop::connected(0),
        };
        Some((Prefix::covering(address, route.prefix.length()), nexthop))
    });
    let took = F::load(fib, routes.collect())?;
    let stats = fib.stats();
    let (routes, nexthops) = (plural(stats.routes, "route"), plural(stats.nexthops, "nexthop"));
    writeln!(text, "{}.0: {routes}, {nexthops}", F::NAME)?;
    writeln!(
        text,
        "  algorithm {}, lookup memory {} bytes ({:.1} a route), RIB {} bytes, loaded in {:.0} ms",
        stats.algorithm,
        stats.lookup_bytes,
        stats.lookup_bytes as f64 / stats.routes.max(1) as f64,
        stats.rib_bytes,
        took.as_secs_f64() * 1e3,
    )?;
    let lengths: Vec<String> = (0..)
        .zip(&stats.lengths)
        .filter(|(_, n)| **n > 0)
        .map(|(len, n): (u32, _)| format!("/{len} {n}"))
        .collect();
    writeln!(
        text,
        "  lengths: {}",
        if lengths.is_empty() { "none".to_owned() } else { lengths.join(", ") }
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_word_is_shown_with_its_value() {
        let mut fibs = Fibs::new(1).unwrap();
        fibs.set_word(0, "net.route.algo.debug_level", "7").unwrap();
        let text = words(&fibs).unwrap();
        assert_eq!(text.lines().count(), Word::ALL.len(), "{text}");
        assert!(text.contains("net.route.algo.debug_level: 7\n"), "{text}");
        assert!(text.contains("net.route.algo.inet6.algo_list: "), "{text}");
    }
}
