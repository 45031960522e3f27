//! `fwdlab-bench fib`: which tables and modes are measured, and where the figures go.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use fwdlab_fib::{Inet, Inet6, Registry, Vectors};
use fwdlab_lookups::{BenchPlan, Benched, Effort, Figure, Mode, Part, Recipe, UpdatePlan};
use fwdlab_port::{affinity, beat};

use crate::output::Output;
use crate::tables::Table;
use crate::{Format, machine, peers};

/// The real table of the checkout that this project is developed in.
const REAL_TABLE: &str = "../shared/data/bgp-table.txt.gz";

#[derive(clap::Args)]
pub struct Arguments {
    /// A list of prefixes (may be gzipped) to use as the real table [default: the one beside the
    /// checkout, if there is one]
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
    /// Text tables, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Few rounds of few keys
    #[arg(long)]
    quick: bool,
    /// Put the tables into this Markdown file: measured ones replace their sections, others stay
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Only this family: inet or inet6
    #[arg(long)]
    family: Option<String>,
    /// Only these tables
    #[arg(long, value_delimiter = ',', value_enum)]
    tables: Vec<TableName>,
    /// Only these modes [default: all; batch with --quick]
    #[arg(long, value_delimiter = ',', value_enum)]
    modes: Vec<ModeName>,
    /// Only contenders whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Addresses of one batch call, each of these; at most 1024
    #[arg(long, value_delimiter = ',', default_values_t = [32, 64, 256])]
    bursts: Vec<usize>,
    /// Rounds of each comparison
    #[arg(long)]
    rounds: Option<usize>,
    /// Our lookups use these vector units at most; the peers use what they were compiled for
    #[arg(long, value_enum)]
    vectors: Option<VectorsName>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VectorsName {
    /// What the compiler takes for granted: SSE2, or NEON
    Portable,
    Avx2,
    Avx512,
}

impl VectorsName {
    /// # Errors
    /// Where this processor does not have them.
    fn limit(self) -> Result<()> {
        let most = match self {
            Self::Portable => Vectors::Portable,
            Self::Avx2 => Vectors::Avx2,
            Self::Avx512 => Vectors::Avx512,
        };
        let used = Vectors::limit(most);
        ensure!(used == most, "--vectors: this processor has {used:?} at best");
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableName {
    #[value(name = "2")]
    Two,
    #[value(name = "8")]
    Eight,
    #[value(name = "1000")]
    Thousand,
    Real,
    /// The real table without IPv4 prefixes longer than /24 and IPv6 ones longer than /64, which not
    /// all peers can hold
    RealShort,
    Generated,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Batch,
    Single,
    Dependent,
    /// What changes of routes cost
    Updates,
}

/// Runs the comparison.
///
/// # Errors
/// A table that cannot be read, contenders that disagree, a document that cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
    let wants = |mode| match (arguments.modes.is_empty(), arguments.quick) {
        (false, _) => arguments.modes.contains(&mode),
        (true, quick) => !quick || mode == ModeName::Batch,
    };
    arguments.vectors.map_or(Ok(()), VectorsName::limit)?;
    let bursts = arguments.bursts.iter().map(|burst| burst.clamp(&1, &1024));
    let modes = bursts
        .map(|burst| (ModeName::Batch, Mode::Batch(*burst)))
        .chain([(ModeName::Single, Mode::Single), (ModeName::Dependent, Mode::Dependent)]);
    let plan = BenchPlan {
        effort: Effort {
            keys: if arguments.quick { 1 << 20 } else { 4 << 20 },
            rounds: arguments.rounds.unwrap_or(if arguments.quick { 3 } else { 7 }),
            beat: beat::now,
        },
        only: arguments.only.clone(),
        modes: modes.filter(|(name, _)| wants(*name)).map(|(_, mode)| mode).collect(),
    };
    let mut output = Output::new(arguments.format == Format::Json, &plan, arguments.write.clone())?;
    let cpu = machine::last_cpu();
    let updates = wants(ModeName::Updates);
    let mut run = Run { arguments, plan: &plan, updates, output: &mut output };
    run.family::<Inet>(|routes| peers::inet(routes, cpu))?;
    run.family::<Inet6>(|routes| peers::inet6(routes, cpu))?;
    output.finish()
}

struct Run<'a> {
    arguments: &'a Arguments,
    plan: &'a BenchPlan,
    updates: bool,
    output: &'a mut Output,
}

impl Run<'_> {
    fn family<F: Benched>(&mut self, peers: impl Fn(usize) -> Vec<Recipe<F>>) -> Result<()> {
        if self.arguments.family.as_deref().is_some_and(|name| name != F::NAME) {
            return Ok(());
        }
        let all = [
            TableName::Two,
            TableName::Eight,
            TableName::Thousand,
            TableName::Real,
            TableName::RealShort,
            TableName::Generated,
        ];
        let wanted = |name: &TableName| {
            self.arguments.tables.is_empty() || self.arguments.tables.contains(name)
        };
        for name in all.into_iter().filter(wanted).collect::<Vec<_>>() {
            let Some(table) = self.table::<F>(name)? else { continue };
            if table.dump.is_empty() {
                continue;
            }
            let recipes = peers(table.dump.len());
            self.measure(&table, recipes)?;
        }
        Ok(())
    }

    fn table<F: Benched>(&self, name: TableName) -> Result<Option<Table<F>>> {
        Ok(Some(match name {
            TableName::Two => Table::two(),
            TableName::Eight => Table::eight(),
            TableName::Thousand => Table::thousand(),
            TableName::Generated => Table::generated(),
            TableName::Real | TableName::RealShort => {
                let beside = Some(PathBuf::from(REAL_TABLE)).filter(|path| path.exists());
                match self.arguments.routes.clone().or(beside) {
                    Some(path) if name == TableName::Real => Table::read("real", &path, F::BITS)?,
                    Some(path) => {
                        Table::read("real-short", &path, if F::BITS == 32 { 24 } else { 64 })?
                    }
                    None => {
                        eprintln!("no real table: name a file with --routes");
                        return Ok(None);
                    }
                }
            }
        }))
    }

    fn measure<F: Benched>(&mut self, table: &Table<F>, peers: Vec<Recipe<F>>) -> Result<()> {
        if !self.plan.modes.is_empty() {
            let mut figures: Vec<Figure> = Vec::new();
            F::table(&table.name, &table.dump, peers, self.plan, &mut |some| {
                self.output.progress(some);
                figures.extend_from_slice(some);
            })?;
            self.output.lookups(&figures, table.dump.len())?;
        }
        // In small tables an update is a build.
        if self.updates && table.dump.len() > 100 {
            let plan = match self.arguments.quick {
                true => UpdatePlan { single: 5_000, rush: 20_000, phases: 1, place },
                false => UpdatePlan { single: 50_000, rush: 300_000, phases: 5, place },
            };
            let mut figures = Vec::new();
            for name in updatable::<F>(table.dump.len()) {
                let figure = F::updates(&table.name, &table.dump, Some(name), &plan)?;
                eprintln!("{} {} {name} updates: done", F::NAME, table.name);
                figures.push(figure);
            }
            self.output.updates(&figures, table.dump.len())?;
        }
        Ok(())
    }
}

/// Puts the reader of an update measurement on the first core and the writer on the last, whatever
/// the calling thread was bound to before. With one core both stay where they are.
fn place(part: Part) {
    let last = machine::last_cpu() as usize;
    let core = if part == Part::Reader { 0 } else { last };
    if last > 0
        && let Err(error) = affinity::pin_current_thread(core)
    {
        eprintln!("{part:?} is not bound to a core, times may be those of the scheduler: {error}");
    }
}

/// The algorithms that apply changes at once; the others wait for a rebuild. Small tables are built
/// anew by `tree6`.
fn updatable<F: Benched>(routes: usize) -> impl Iterator<Item = &'static str> {
    let names = ["direct", "bitruns", "dpdk_lpm", if routes < 1366 { "tree" } else { "direct" }];
    Registry::<F>::standard()
        .names()
        .filter(move |name| names.iter().any(|part| name.starts_with(part)))
}
