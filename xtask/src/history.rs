//! `cargo xtask history`: simulates long series with a known truth and holds the methods that find
//! changes to it. Writes the table of docs/history.md; `--quick` only checks the bounds, `--choose` says by other
//! series which bound the evidence of the last points gets.

mod alerts;
mod archive;
mod choose;
mod last;
mod nightly;
mod noise;

use nightly::{By, MOST_FALSE, NEAR, last_points, nightly, stepped};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use fwdlab_stats::change::{self, Settings, divisive, watch};
use noise::{Kind, POINTS, Simulated};

/// Share of the steps that must be found within three points, in per cent.
const FEWEST_FOUND: f64 = 90.0;

const DOCUMENT: &str = "docs/history.md";
const BEGIN: &str = "<!-- written by cargo xtask history -->\n";
const END: &str = "<!-- end -->";

/// What to simulate.
#[derive(clap::Args)]
pub struct Args {
    /// Fewer series, nothing written: checks the bounds
    #[arg(long)]
    quick: bool,

    /// Other seeds than those of the table, nothing written: to choose settings by
    #[arg(long)]
    tune: bool,

    /// Only what is used and not its rivals, nothing written
    #[arg(long)]
    used: bool,

    /// Which bound the rule gives to the evidence of the last points, by other seeds again, nothing written
    #[arg(long)]
    choose: bool,

    /// Only the line of series of a thousand commits, written where it stands
    #[arg(long, conflicts_with_all = ["quick", "tune", "used", "choose"])]
    commits: bool,

    /// Only the tables of the archive's noise, nothing written
    #[arg(long, conflicts_with_all = ["tune", "used", "choose", "commits"])]
    archive: bool,

    /// Only what the last points alone say on the archive's noise, nothing written
    #[arg(long, conflicts_with_all = ["tune", "used", "choose", "commits", "archive"])]
    last: bool,
}

/// A way to find changes.
#[derive(Clone, Copy)]
enum Method {
    /// What `fwdlab history` uses.
    Levels,
    /// The same, asked after each point.
    Nightly,
    /// What Hunter and Otava use, at a level of significance.
    Divisive(f64),
    /// The watch, asked after each point.
    Watch,
    /// The last points against what those before them expect, asked after each point.
    Today,
}

impl Method {
    const ALL: [Self; 6] = [
        Self::Levels,
        Self::Divisive(0.05),
        Self::Divisive(0.005),
        Self::Nightly,
        Self::Today,
        Self::Watch,
    ];

    fn name(self) -> String {
        match self {
            Self::Levels => "**levels, moderated test** (used)".to_owned(),
            Self::Nightly => "**the same or the last points, each night** (used)".to_owned(),
            Self::Divisive(alpha) => format!("e-divisive, permutation p ≤ {alpha}"),
            Self::Today => "the last points alone, each night".to_owned(),
            Self::Watch => "watch of ranks, after each point".to_owned(),
        }
    }

    /// Where it says that changes are.
    fn found(self, own: &Simulated) -> Vec<usize> {
        match self {
            Self::Levels => {
                let found = change::changes(&own.values, own.noise, &Settings::default());
                found.iter().map(|change| change.at).collect()
            }
            Self::Nightly => nightly(own, POINTS).iter().map(|own| own.night).collect(),
            Self::Divisive(alpha) => divisive::changes(&own.values, alpha, own.seed),
            Self::Today => last_points(own),
            Self::Watch => {
                watch::alarms(&own.values, watch::EVERY).iter().map(|a| a.raised).collect()
            }
        }
    }

    /// Whether a change at `truth` counts as found; an alarm must come after it.
    fn is_hit(self, found: usize, truth: usize) -> bool {
        match self {
            Self::Watch | Self::Nightly | Self::Today => (truth..=truth + NEAR).contains(&found),
            _ => found.abs_diff(truth) <= NEAR,
        }
    }
}

/// The outcome for one noise and one method.
struct Row {
    kind: Kind,
    method: Method,
    false_in_1000: f64,
    found_percent: f64,
    /// Points without a change that were simulated.
    points: usize,
    /// By what the false ones of each night were raised: the last points alone, a level of three to six points,
    /// a look back otherwise.
    by: [usize; 3],
}

impl Row {
    fn of(kind: Kind, method: Method, seeds: std::ops::Range<u64>) -> Self {
        let mut silent = 0;
        let mut by = [0; 3];
        for seed in seeds.clone() {
            let own = noise::series(kind, None, seed, POINTS);
            if matches!(method, Method::Nightly) {
                let raised = nightly(&own, POINTS);
                silent += raised.len();
                for (count, what) in by.iter_mut().zip(By::ALL) {
                    *count += raised.iter().filter(|own| own.by == what).count();
                }
            } else {
                silent += method.found(&own).len();
            }
        }
        let series = seeds.end - seeds.start;
        let is_found = |seed: &u64| {
            let (at, own) = stepped(kind, *seed);
            method.found(&own).iter().any(|&found| method.is_hit(found, at))
        };
        let found = seeds.filter(is_found).count();
        Self {
            kind,
            method,
            false_in_1000: silent as f64 * 1_000.0 / (series as usize * POINTS) as f64,
            points: series as usize * POINTS,
            by,
            found_percent: found as f64 * 100.0 / series as f64,
        }
    }

    /// Whether the bounds hold, where they are asked for.
    fn is_good(&self) -> bool {
        let is_used = match self.method {
            Method::Divisive(_) => false,
            Method::Watch => self.kind.is_exchangeable(),
            Method::Levels | Method::Nightly | Method::Today => true,
        };
        let is_quick_enough = match self.method {
            Method::Levels | Method::Nightly if self.kind.is_clear() => {
                self.found_percent >= FEWEST_FOUND
            }
            _ => true,
        };
        // what is simulated may be off by chance
        let most = MOST_FALSE + 2.0 * (MOST_FALSE * 1_000.0 / self.points as f64).sqrt();
        !is_used || (self.false_in_1000 <= most && is_quick_enough)
    }
}

/// Runs it; false when a bound is broken.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    if arguments.choose {
        return Ok(choose::choose());
    }
    if arguments.archive {
        archive::simulate(if arguments.quick { 50 } else { 500 });
        return Ok(true);
    }
    if arguments.last {
        last::simulate(if arguments.quick { 200 } else { 1_000 });
        return Ok(true);
    }
    let path = root.join(DOCUMENT);
    if arguments.commits {
        let outcome = alerts::simulate(alerts::SERIES, alerts::COMMITS, 0);
        let line = of_alerts(&outcome, alerts::SERIES, alerts::COMMITS);
        println!("{line}");
        let written = read(&path)?;
        let (rows, _) = written.rows.rsplit_once("\n\n").context("no line below the table")?;
        let (rows, _) = rows.rsplit_once("\n\n").context("no line below the table")?;
        write(&path, &written, &format!("{rows}\n\n{line}"))?;
        return Ok(outcome.alerts <= 1);
    }
    let series = if arguments.quick { 100 } else { 500 };
    let first = if arguments.tune { 50_000 } else { 0 };
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for method in Method::ALL {
            let is_used = matches!(method, Method::Levels | Method::Nightly | Method::Today);
            if arguments.used && !is_used {
                continue;
            }
            let row = Row::of(kind, method, first..first + series);
            println!(
                "{:19} {:50} {:6.2} false in 1,000 points {:?}, {:5.1} % found{}",
                row.kind.name(),
                row.method.name(),
                row.false_in_1000,
                row.by,
                row.found_percent,
                if row.is_good() { "" } else { "  OUT OF BOUNDS" }
            );
            rows.push(row);
        }
    }
    let (count, commits) =
        if arguments.quick { (20, 200) } else { (alerts::SERIES, alerts::COMMITS) };
    let outcome = alerts::simulate(count, commits, first);
    println!("{}", of_alerts(&outcome, count, commits));
    let is_good = rows.iter().all(Row::is_good) && outcome.alerts <= 1;
    if !arguments.quick && !arguments.tune && !arguments.used {
        let alerts = of_alerts(&outcome, count, commits);
        write(&path, &read(&path)?, &format!("{}\n{alerts}", table(&rows, series)))?;
    }
    Ok(is_good)
}

fn table(rows: &[Row], series: u64) -> String {
    let mut text = format!(
        "\n{series} series of {POINTS} points without a step and {series} with one of 3 %, a noise each.\n\n\
         | noise | method | false in 1,000 points | found within three points |\n|---|---|---:|---:|\n"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {:.1} % |",
            row.kind.name(),
            row.method.name(),
            row.false_in_1000,
            row.found_percent
        );
    }
    text
}

fn of_alerts(own: &alerts::Watched, series: u64, commits: usize) -> String {
    format!(
        "{series} series of {commits} commits without a change, a third each steady, with strays and with two \
         states, each night the last 60 points: {} suspected ({:.2} in 1,000 points), of which measuring both \
         sides again in ten blocks (99 %) confirmed {}. Of {} steps of 3 % that looked like that {:.1} % were \
         found within three points, and {:.1} % found and confirmed.\n",
        own.suspected,
        own.suspected as f64 * 1_000.0 / own.points as f64,
        own.alerts,
        own.steps,
        own.found,
        own.confirmed,
    )
}

/// The document: what is before what this program writes, that, and what is behind it.
struct Document {
    head: String,
    rows: String,
    tail: String,
}

fn read(path: &Path) -> Result<Document> {
    let old = std::fs::read_to_string(path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let (head, rest) =
        old.split_once(BEGIN).with_context(|| format!("{DOCUMENT} lacks {BEGIN}"))?;
    let (rows, tail) = rest.split_once(END).with_context(|| format!("{DOCUMENT} lacks {END}"))?;
    Ok(Document { head: head.to_owned(), rows: rows.to_owned(), tail: tail.to_owned() })
}

fn write(path: &Path, Document { head, tail, .. }: &Document, rows: &str) -> Result<()> {
    std::fs::write(path, format!("{head}{BEGIN}{rows}\n{END}{tail}"))?;
    println!("{DOCUMENT} is written");
    Ok(())
}
