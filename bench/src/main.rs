//! `fwdlab-bench fib`: route lookup rates of all algorithms and their peers, from interleaved
//! rounds of one run. `fwdlab-bench forward`: the router against a DPDK forwarder.

mod compare;
mod contender;
mod forward;
mod keys;
mod machine;
mod output;
mod peers;
mod rounds;
mod tables;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};
use fwdlab_fib::{Inet, Inet6};

use crate::compare::Plan;
use crate::keys::Drawable;
use crate::output::Output;
use crate::peers::Recipe;
use crate::rounds::{Effort, Mode};
use crate::tables::Table;

#[derive(Parser)]
#[command(name = "fwdlab-bench", about = "Benchmarks of fwdlab against its peers")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Route lookup, against DPDK and the Rust crates
    Fib(FibArguments),
    /// Forwarding on one core, against DPDK with the same checks
    Forward(forward::Arguments),
}

#[derive(clap::Args)]
struct FibArguments {
    /// A list of prefixes (may be gzipped) to use as the real table
    #[arg(long)]
    routes: Option<PathBuf>,
    /// Text table, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Few rounds, batch mode only
    #[arg(long)]
    quick: bool,
    /// Write the comparison to this Markdown file as well
    #[arg(long)]
    write: Option<PathBuf>,
    /// Only this family: inet or inet6
    #[arg(long)]
    family: Option<String>,
    /// Only these tables: 2, 8, 1000, real
    #[arg(long, value_delimiter = ',')]
    tables: Vec<String>,
    /// Only contenders whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Addresses of one batch call
    #[arg(long, default_value_t = 256)]
    burst: usize,
    /// Rounds of each comparison
    #[arg(long)]
    rounds: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// A small table by its name, made when it is wanted.
type SmallTable<F> = (&'static str, fn() -> Table<F>);

fn main() -> Result<()> {
    let arguments = match Arguments::parse().command {
        Command::Fib(arguments) => arguments,
        Command::Forward(arguments) => return forward::run(&arguments),
    };
    let plan = Plan {
        effort: Effort {
            keys: if arguments.quick { 1 << 20 } else { 4 << 20 },
            rounds: arguments.rounds.unwrap_or(if arguments.quick { 3 } else { 7 }),
            burst: arguments.burst.clamp(1, 1024),
        },
        only: arguments.only.clone(),
        modes: if arguments.quick { vec![Mode::Batch] } else { Mode::ALL.to_vec() },
        caches: machine::caches(),
    };
    let mut output = Output::new(arguments.format == Format::Json, &plan);
    let cpu = machine::last_cpu();
    family::<Inet>(&arguments, &plan, |routes| peers::inet(routes, cpu), &mut output)?;
    family::<Inet6>(&arguments, &plan, |routes| peers::inet6(routes, cpu), &mut output)?;
    output.finish(arguments.write.as_deref())
}

fn family<F: Drawable>(
    arguments: &FibArguments,
    plan: &Plan,
    peers: impl Fn(usize) -> Vec<Recipe<F>>,
    output: &mut Output,
) -> Result<()> {
    if arguments.family.as_deref().is_some_and(|name| name != F::NAME) {
        return Ok(());
    }
    let wanted = |name: &str| {
        arguments.tables.is_empty() || arguments.tables.iter().any(|table| table == name)
    };
    let mut tables = Vec::new();
    let small: [SmallTable<F>; 3] =
        [("2", Table::two), ("8", Table::eight), ("1000", Table::thousand)];
    tables.extend(small.iter().filter(|(name, _)| wanted(name)).map(|(_, make)| make()));
    if let Some(path) = arguments.routes.as_deref().filter(|_| wanted("real")) {
        tables.push(Table::read("real", path)?);
    }
    for table in tables.iter().filter(|table| !table.dump.is_empty()) {
        let recipes = peers(table.dump.len());
        compare::table(table, recipes, plan, &mut |figures| output.add(figures))?;
    }
    Ok(())
}
