//! `cargo xtask fuzz`: every fuzz target for a while, coverage-guided, on the stable compiler.
//!
//! libFuzzer needs nothing of a nightly compiler but its counters, and the pass that inserts those
//! is an ordinary pass of LLVM: `-Cpasses=sancov-module` is stable. What is given up against
//! `cargo fuzz` is the address sanitizer, which has little to find in crates that forbid unsafe
//! code. Overflow and debug assertions are on.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Compiler flags that give libFuzzer its counters.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=16 -Cdebug-assertions -Coverflow-checks";
/// Longest input in bytes.
const LONGEST: u32 = 8192;

/// What to fuzz, and how long.
#[derive(clap::Args)]
pub struct Args {
    /// Targets; all of them without any
    targets: Vec<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Targets at a time; two on each processor without it
    #[arg(long)]
    jobs: Option<usize>,
    /// Where the random inputs begin, for a run that can be repeated; without it each run has its own
    #[arg(long)]
    seed: Option<u32>,
}

impl Args {
    /// Every target for this long.
    pub fn all(seconds: u32, seed: Option<u32>) -> Self {
        Self { targets: Vec::new(), seconds, jobs: None, seed }
    }
}

/// How one target went.
pub struct Fed {
    /// Its name.
    pub target: String,
    /// Inputs tried.
    pub executions: u64,
    /// Coverage reached: edges, as libFuzzer counts them.
    pub edges: u64,
    /// What it broke on, if it did: the end of the log.
    pub fault: Option<String>,
}

/// Builds and runs the targets, prints a line for each, and returns whether none broke.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let outcomes = outcomes(root, arguments)?;
    for outcome in &outcomes {
        println!("{}", outcome.line());
    }
    let total: u64 = outcomes.iter().map(|o| o.executions).sum();
    println!("{total} inputs in {} targets", outcomes.len());
    Ok(outcomes.iter().all(|outcome| outcome.fault.is_none()))
}

impl Fed {
    /// The outcome for people.
    pub fn line(&self) -> String {
        let Self { target, executions, edges, fault } = self;
        match fault {
            None => format!("fuzz {target}: {executions} inputs, {edges} edges, no fault"),
            Some(fault) => format!("fuzz {target}: FAILED after {executions} inputs\n{fault}"),
        }
    }
}

/// Builds and runs the targets.
pub fn outcomes(root: &Path, arguments: &Args) -> Result<Vec<Fed>> {
    let targets = wanted(root, &arguments.targets)?;
    let programs = build(root)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(2 * processors).max(1);
    let mut outcomes = Vec::new();
    for chunk in targets.chunks(jobs) {
        let running: Result<Vec<Running>> =
            chunk.iter().map(|target| Running::start(root, &programs, target, arguments)).collect();
        for run in running? {
            outcomes.push(run.finish()?);
        }
    }
    Ok(outcomes)
}

/// The names of the targets, from the manifest that lists them.
fn wanted(root: &Path, asked: &[String]) -> Result<Vec<String>> {
    let manifest = root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    let listed: toml::Table =
        text.parse().with_context(|| format!("cannot parse {}", manifest.display()))?;
    let programs = listed.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let mut all: Vec<String> =
        programs.filter_map(|own| own.get("name")?.as_str().map(str::to_owned)).collect();
    all.sort();
    if let Some(unknown) = asked.iter().find(|name| !all.contains(name)) {
        bail!("no fuzz target `{unknown}`; there are {}", all.join(", "));
    }
    Ok(if asked.is_empty() { all } else { asked.to_vec() })
}

/// Builds all targets; returns the folder of their programs.
fn build(root: &Path) -> Result<PathBuf> {
    let host = host()?;
    let target = root.join("target/fuzz");
    let status = crate::workspace::cargo()
        .current_dir(root.join("fuzz"))
        // with --target the flags stay away from build scripts and macros
        // its lock file is part of the checkout, which tests leave as it is
        .args(["build", "--locked", "--release", "--quiet", "--bins", "--target", &host])
        .arg("--target-dir")
        .arg(&target)
        .env("RUSTFLAGS", FLAGS)
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!(
            "the fuzz targets do not build; after a change of dependencies, run `cargo metadata` in fuzz/"
        );
    }
    Ok(target.join(host).join("release"))
}

/// The compiler's own platform.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc -vV names no host")
}

/// A target under way.
struct Running {
    target: String,
    log: PathBuf,
    child: Child,
}

impl Running {
    fn start(root: &Path, programs: &Path, target: &str, arguments: &Args) -> Result<Self> {
        let place = root.join("target/fuzz-corpus").join(target);
        fs::create_dir_all(&place)?;
        let log = place.with_extension("log");
        let mut command = Command::new(programs.join(target));
        command
            .arg(&place)
            .args(seeds(root, target))
            .arg(format!("-max_total_time={}", arguments.seconds))
            .args(arguments.seed.map(|seed| format!("-seed={seed}")))
            .arg(format!("-max_len={LONGEST}"))
            .args(["-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"])
            .arg(format!("-artifact_prefix={}/", root.join("target").display()))
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let dictionary = root.join("fuzz/words.dict");
        if dictionary.is_file() {
            command.arg(format!("-dict={}", dictionary.display()));
        }
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { target: target.to_owned(), log, child })
    }

    fn finish(mut self) -> Result<Fed> {
        let status = self.child.wait()?;
        let text = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        Ok(Fed {
            target: self.target,
            executions: after(&text, "stat::number_of_executed_units:").unwrap_or(0),
            edges: text.lines().filter_map(|line| after(line, " cov: ")).max().unwrap_or(0),
            fault: (!status.success()).then(|| end_of(&text)),
        })
    }
}

/// The folder of examples to begin with, where there is one.
fn seeds(root: &Path, target: &str) -> Option<PathBuf> {
    Some(root.join("fuzz/seeds").join(target)).filter(|path| path.is_dir())
}

/// The number behind `key`.
fn after(text: &str, key: &str) -> Option<u64> {
    text.split_once(key)?.1.split_whitespace().next()?.parse().ok()
}

/// The last lines of a log: the panic, and how to see it again.
fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.contains("DEDUP_TOKEN")).collect();
    lines[lines.len().saturating_sub(25)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_log_are_read() {
        let log = "#2 INITED cov: 12 ft: 13\n#9 NEW    cov: 40 ft: 99\n\
                   stat::number_of_executed_units: 4711\n";
        assert_eq!(after(log, "stat::number_of_executed_units:"), Some(4711));
        assert_eq!(log.lines().filter_map(|l| after(l, " cov: ")).max(), Some(40));
        assert_eq!(after("nothing", " cov: "), None);
    }

    #[test]
    fn every_target_is_known_and_no_other() {
        let root = crate::root();
        let all = wanted(&root, &[]).unwrap();
        assert!(all.contains(&"pktgen".to_owned()) && all.contains(&"page".to_owned()));
        assert!(wanted(&root, &["nothing".to_owned()]).is_err());
    }
}
