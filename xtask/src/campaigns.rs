//! Real campaigns with a known truth: the same variant twice, on the built-in device and on the
//! running kernel, and variants slowed down by a known time; and one experiment several times, each of
//! which says what the next will show. Writes docs/campaigns.md.

mod next;
mod summary;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const DOCUMENT: &str = "docs/campaigns.md";

/// Which campaigns to run.
#[derive(clap::Args)]
pub struct Args {
    /// What is known about the truth
    #[arg(value_enum)]
    truth: Truth,
    /// Campaigns to run
    #[arg(long, default_value_t = 10)]
    count: usize,
    /// Another experiment file, such as a shorter one
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Keep every core busy meanwhile, at the same priority
    #[arg(long)]
    busy: bool,
    /// Print the section only
    #[arg(long)]
    no_document: bool,
    /// The program that runs them, instead of one that is built now
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Where their results go; finished ones found there are not run again
    #[arg(long, default_value = "results/campaigns")]
    directory: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Truth {
    /// The same variant twice: examples/a-a.toml
    #[value(name = "a-a")]
    AA,
    /// The main experiment, run after run: does each lie where the others expect the next?
    Next,
    /// The same variant twice on the running kernel, as root: examples/linux-a-a.toml
    Kernel,
    /// The same variant twice in each measure that has a figure of its own; some of them as root:
    /// xtask/campaigns/measures-*.toml
    Measures,
    /// Slowdowns of known size: examples/injected-slowdown.toml
    Injected,
}

impl Truth {
    const fn experiment(self) -> &'static str {
        match self {
            Self::AA => "a-a",
            Self::Next => "modular-fib",
            Self::Kernel => "linux-a-a",
            Self::Measures => "measures",
            Self::Injected => "injected-slowdown",
        }
    }
}

/// What is run for [`Truth::Measures`], with what stands above its section.
const MEASURES: [(&str, &str); 6] = [
    ("measures-rfc2544", "The same variant twice: loss curve, bursts, recovery, reset, soak"),
    ("measures-rfc2544-kernel", "The same variant twice: the same on the running kernel"),
    ("measures-both-ways", "The same variant twice: frames both ways"),
    ("measures-convergence", "The same variant twice: convergence"),
    ("measures-sessions", "The same variant twice: sessions"),
    ("measures-streams", "The same variant twice: streams"),
];

/// Runs the campaigns that are missing and writes what all of them say; false when more verdicts
/// are wrong than their level allows.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let program = arguments.program.clone().map_or_else(|| build(root), Ok)?;
    if arguments.truth != Truth::Measures {
        let name = arguments.truth.experiment();
        let usual = || root.join("examples").join(name).with_extension("toml");
        let experiment = arguments.experiment.clone().unwrap_or_else(usual);
        return run_one(root, arguments, &program, (name, "", &experiment));
    }
    let stem = arguments.experiment.as_deref().and_then(Path::file_stem);
    let asked = |name: &str| stem.is_none_or(|stem| stem == name);
    let mut is_good = true;
    for (name, title) in MEASURES.into_iter().filter(|(name, _)| asked(name)) {
        let experiment = root.join("xtask/campaigns").join(name).with_extension("toml");
        is_good &= run_one(root, arguments, &program, (name, title, &experiment))?;
    }
    Ok(is_good)
}

/// Runs the campaigns of one experiment, and writes their section.
fn run_one(
    root: &Path,
    arguments: &Args,
    program: &Path,
    (name, title, experiment): (&str, &str, &Path),
) -> Result<bool> {
    let load = arguments.busy.then(Load::begin);
    let name = if arguments.busy { format!("{name}-busy") } else { name.to_owned() };
    let name = name.as_str();
    let mut reports = Vec::new();
    for number in 1..=arguments.count {
        let dir = arguments.directory.join(format!("{name}-{number:02}"));
        let report = match report(program, &dir) {
            Ok(report) if !report["progress"]["finished"].is_null() => report,
            _ => {
                let status = Command::new(program)
                    .args(["run", "--quiet"])
                    .arg(experiment)
                    .arg("-o")
                    .arg(&dir)
                    // What they say of this machine is theirs.
                    .arg("--state")
                    .arg(arguments.directory.join("state"))
                    .status()
                    .with_context(|| format!("cannot start {}", program.display()))?;
                if !status.success() {
                    bail!("campaign {number} ended with {status}");
                }
                report(program, &dir)?
            }
        };
        println!("{}", summary::line(number, &report));
        reports.push(report);
    }
    let (section, is_good) = match arguments.truth {
        Truth::AA if arguments.busy => {
            summary::same(&reports, "a-a --busy", "The same variant twice beside other work")
        }
        Truth::AA => summary::same(&reports, "a-a", "The same variant twice"),
        Truth::Next => next::each_in_the_others(&reports),
        Truth::Kernel => {
            summary::same(&reports, "kernel", "The same variant twice on the running kernel")
        }
        Truth::Measures => {
            let command = format!("measures --experiment {name}.toml");
            summary::same(&reports, &command, title)
        }
        Truth::Injected => summary::slowed(&reports),
    };
    drop(load);
    println!("\n{section}");
    if arguments.no_document {
        return Ok(is_good);
    }
    write_section(&root.join(DOCUMENT), name, &section)?;
    println!("{DOCUMENT} written");
    Ok(is_good)
}

/// Threads that keep every core busy until they are dropped.
struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || {
            let is_over = is_over.clone();
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..count).map(|_| spin()).collect();
        Self { is_over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that only spins does not panic.
            let _ = thread.join();
        }
    }
}

/// Builds the program as a user would and says where it is.
fn build(root: &Path) -> Result<PathBuf> {
    let status = crate::workspace::cargo()
        .current_dir(root)
        .args(["build", "--release", "--package", "fwdlab"])
        .status()?;
    if !status.success() {
        bail!("fwdlab does not build");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/fwdlab"))
}

/// The report of a results directory, as data.
fn report(program: &Path, dir: &Path) -> Result<Value> {
    let output =
        Command::new(program).arg("report").arg(dir).args(["--format", "json"]).output()?;
    if !output.status.success() {
        bail!("no report of {}: {}", dir.display(), String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("the report is no JSON")
}

/// Replaces the part of the document between the two marks of `name`, or adds it at the end.
fn write_section(path: &Path, name: &str, section: &str) -> Result<()> {
    let (begin, end) = (format!("<!-- {name} -->"), format!("<!-- end of {name} -->"));
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| summary::HEAD.to_owned());
    let fresh = format!("{begin}\n{section}{end}\n");
    let text = match (text.find(&begin), text.find(&end)) {
        (Some(from), Some(to)) => {
            format!("{}{fresh}{}", &text[..from], text[to + end.len()..].trim_start_matches('\n'))
        }
        _ => format!("{text}\n{fresh}"),
    };
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
