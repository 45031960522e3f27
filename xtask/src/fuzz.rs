//! `cargo xtask fuzz`: every fuzz target for a while, coverage-guided, on the stable compiler.
//!
//! libFuzzer needs nothing of a nightly compiler but its counters, and the pass that inserts those
//! is an ordinary pass of LLVM: `-Cpasses=sancov-module` is stable. What is given up against
//! `cargo fuzz` is the address sanitizer, which has little to find in crates that forbid unsafe
//! code. Overflow and debug assertions are on.

mod fed;
mod hours;

use anyhow::{Context, Result, bail};
use fed::Fed;
use hours::Hours;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::TempDir;

/// Compiler flags that give libFuzzer its counters.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cdebug-assertions -Coverflow-checks";
/// Longest input in bytes.
const LONGEST: u32 = 8192;

/// What to fuzz, and how long.
#[derive(clap::Args)]
pub struct Args {
    /// Targets; all of them without any
    targets: Vec<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Targets at a time; two on each processor without it
    #[arg(long)]
    jobs: Option<usize>,
    /// Where the random inputs begin, for a run that can be repeated; without it each run has its own
    #[arg(long)]
    seed: Option<u32>,
    /// Add what each target was fed to this ledger, the project's own is fuzz/hours.tsv
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Only say what each target of this ledger lacks to an hour of the processor
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seconds", "jobs", "seed", "record"])]
    remaining: Option<PathBuf>,
}

impl Args {
    /// Every target for this long.
    pub fn all(seconds: u32, seed: Option<u32>) -> Self {
        Self { targets: Vec::new(), seconds, jobs: None, seed, record: None, remaining: None }
    }
}

/// Builds and runs the targets, prints a line for each, and returns whether none broke.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    if let Some(ledger) = &arguments.remaining {
        println!("{}", Hours::read(ledger)?.remaining(&wanted(root, &arguments.targets)?));
        return Ok(true);
    }
    let mut record =
        arguments.record.as_deref().map(|file| Record::open(root, file)).transpose()?;
    let (mut targets, mut total, mut is_well) = (0, 0, true);
    feed(root, arguments, |outcome| {
        println!("{}", outcome.line());
        targets += 1;
        total += outcome.executions;
        is_well &= outcome.fault.is_none();
        record.as_mut().map_or(Ok(()), |record| record.add(&outcome))
    })?;
    println!("{total} inputs in {targets} targets");
    if let Some(record) = record {
        let all = wanted(root, &[])?;
        println!("{}: {}", record.file.display(), record.hours.remaining(&all));
    }
    Ok(is_well)
}

/// A ledger that is written after each target.
struct Record {
    file: PathBuf,
    hours: Hours,
    day: String,
    commit: String,
}

impl Record {
    fn open(root: &Path, file: &Path) -> Result<Self> {
        if crate::steps::worked().is_none() {
            bail!(
                "this system does not tell what time of the processor a program took; leave --record out"
            );
        }
        let hours = Hours::read(file)?;
        // Before an hour of work is lost to a directory that is not there.
        hours.write(file)?;
        let said = |command: &mut Command| -> Result<String> {
            let output = command.current_dir(root).output();
            let output = output.with_context(|| format!("cannot start {command:?}"))?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let day = said(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
        let commit = said(Command::new("git").args(["rev-parse", "--short=8", "HEAD"]))?;
        let code =
            ["--", "Cargo.toml", "crates", "devices", "fuzz/Cargo.lock", "fuzz/fuzz_targets"];
        let changed = said(Command::new("git").args(["diff", "--name-only", "HEAD"]).args(code))?;
        let commit = match (commit.is_empty(), changed.is_empty()) {
            (true, _) => "-".to_owned(),
            (false, true) => commit,
            (false, false) => commit + "-changed",
        };
        Ok(Self { file: file.to_owned(), hours, day, commit })
    }

    fn add(&mut self, fed: &Fed) -> Result<()> {
        self.hours.add(fed, &self.day, &self.commit);
        self.hours.write(&self.file)
    }
}

/// Builds and runs the targets.
pub fn outcomes(root: &Path, arguments: &Args) -> Result<Vec<Fed>> {
    let mut outcomes = Vec::new();
    feed(root, arguments, |outcome| {
        outcomes.push(outcome);
        Ok(())
    })?;
    Ok(outcomes)
}

/// Builds and runs the targets; hands on what came of each as it ends.
fn feed(root: &Path, arguments: &Args, mut each: impl FnMut(Fed) -> Result<()>) -> Result<()> {
    let targets = wanted(root, &arguments.targets)?;
    let programs = build(root)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(2 * processors).max(1);
    for chunk in targets.chunks(jobs) {
        let running: Result<Vec<Running>> =
            chunk.iter().map(|target| Running::start(root, &programs, target, arguments)).collect();
        for run in running? {
            each(run.finish()?)?;
        }
    }
    Ok(())
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
    /// Gone with it.
    _files: TempDir,
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
        let files = scratch()?;
        command.env("TMPDIR", files.path());
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { target: target.to_owned(), log, child, _files: files })
    }

    fn finish(mut self) -> Result<Fed> {
        // The system counts a child's time when it is waited for, and nothing else is meanwhile.
        let before = crate::steps::worked();
        let status = self.child.wait()?;
        let worked = before.zip(crate::steps::worked());
        let text = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        Ok(Fed {
            target: self.target,
            executions: after(&text, "stat::number_of_executed_units:").unwrap_or(0),
            edges: text.lines().filter_map(|line| after(line, " cov: ")).max().unwrap_or(0),
            cpu_s: worked.map_or(0.0, |(before, after)| after - before),
            fault: (!status.success()).then(|| end_of(&text)),
        })
    }
}

/// Where a target writes its files: in memory where the system has a place there. On a disk, what is written anew for
/// each input goes to the disk each time (`journal`: 150 inputs a second, half of the time in the file system).
fn scratch() -> Result<TempDir> {
    let mut wanted = tempfile::Builder::new();
    wanted.prefix("fwdlab-fuzz-");
    let made = wanted.tempdir_in("/dev/shm").or_else(|_| wanted.tempdir());
    made.context("no place for the files of a fuzz target")
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
    #[cfg(unix)]
    fn a_target_has_its_own_time_and_a_place_for_files_that_goes_with_it() {
        let root = tempfile::tempdir().unwrap();
        // By a process of its own: a file that this one wrote is busy while another test starts a program.
        let program = |name: &str, text: &str| {
            let text = format!("#!/bin/sh\n{text}\n");
            let write = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
            let mut sh = Command::new("sh");
            sh.args(["-c", write, "sh", &text]).arg(root.path().join(name));
            assert!(sh.status().unwrap().success());
        };
        program(
            "busy",
            "echo $$ > $TMPDIR/file; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo '#2 cov:' 7 $TMPDIR",
        );
        program("idle", "echo stat::number_of_executed_units: 5 >&2; exit 1");
        let arguments = Args::all(1, None);
        let run = |name: &str| Running::start(root.path(), root.path(), name, &arguments).unwrap();
        let [busy, idle] = ["busy", "idle"].map(run);
        let [busy, idle] = [busy, idle].map(|run| run.finish().unwrap());
        assert_eq!((busy.edges, busy.fault.as_deref()), (7, None));
        assert_eq!(idle.executions, 5);
        assert!(idle.fault.is_some_and(|log| log.contains("executed_units")));
        assert!(!cfg!(target_os = "linux") || busy.cpu_s > idle.cpu_s);
        let log = fs::read_to_string(root.path().join("target/fuzz-corpus/busy.log")).unwrap();
        let place = log.split_whitespace().last().map(Path::new);
        assert!(place.is_some_and(|place| place.is_absolute() && !place.exists()), "{log}");
    }

    #[test]
    fn every_target_is_told_of() {
        let root = crate::root();
        let page = fs::read_to_string(root.join("fuzz/README.md")).unwrap();
        let told: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
            .flat_map(|names| names.split('`').skip(1).step_by(2))
            .collect();
        for target in wanted(&root, &[]).unwrap() {
            assert!(told.contains(&target.as_str()), "fuzz/README.md does not tell of `{target}`");
        }
    }

    #[test]
    fn every_target_is_known_and_no_other() {
        let root = crate::root();
        let all = wanted(&root, &[]).unwrap();
        assert!(all.contains(&"pktgen".to_owned()) && all.contains(&"page".to_owned()));
        assert!(wanted(&root, &["nothing".to_owned()]).is_err());
    }
}
