//! `fwdlab bisect`: which step of a chain of variants, images or commits changed the figure.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};
use clap::{Parser, ValueEnum};
use fwdlab_campaign::bisect::{BisectError, Header, Journal, bisect, derive, ratio, variants};
use fwdlab_stats::bisect::{Answer, Step, Terms};

use crate::output;

/// Arguments of `fwdlab bisect`.
#[derive(Parser)]
#[command(
    after_help = "Both ends are measured again first. The answers: one culprit, several changes, \
                  changes that take each other back, no single culprit, or a difference that is \
                  gone (the lab or the machine changed).\nThe same command goes on where it was \
                  interrupted. docs/history.md has the method."
)]
pub struct Args {
    /// Experiment file; its variants are the chain, unless --list or --git says another
    experiment: PathBuf,

    /// The state without the change
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    good: Option<String>,

    /// The state with it
    #[arg(long, value_name = "STATE", required_unless_present = "lab")]
    bad: Option<String>,

    /// A file with one state a line, oldest first; the variant called "{}" is made of each
    #[arg(long, value_name = "FILE", conflicts_with = "git")]
    list: Option<PathBuf>,

    /// A git repository whose commits between the ends (first parents) are the states; each is
    /// checked out before --command
    #[arg(long, value_name = "REPOSITORY", requires = "command")]
    git: Option<PathBuf>,

    /// What makes a state ready (builds a kernel), run once for each by sh with its name in
    /// FWDLAB_STATE
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// Vary fwdlab itself at a fixed device: NAME=PROGRAM, twice, the older first
    #[arg(long, value_name = "NAME=PROGRAM", num_args = 1, conflicts_with_all = ["list", "git"])]
    lab: Vec<String>,

    /// The traffic to look at [default: the first]
    #[arg(long, value_name = "NAME")]
    traffic: Option<String>,

    /// Blocks of each comparison
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    blocks: u32,

    /// Most comparisons
    #[arg(long, default_value_t = 200)]
    most: usize,

    /// Where the comparisons go [default: results/bisect-<name of the experiment file>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Forms of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The answer in words
    Text,
    /// The answer in base units
    Json,
}

/// Runs the command.
///
/// # Errors
/// When a comparison cannot be made; what was measured stays.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let path = &arguments.experiment;
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the experiment {}", path.display()))?;
    let labs = labs(&arguments.lab)?;
    let chain = match &labs {
        Some([old, new]) => vec![old.name.clone(), new.name.clone()],
        None => chain(arguments, &text)?,
    };
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("results").join(format!("bisect-{stem}")));
    let header =
        Header { chain: chain.clone(), blocks: arguments.blocks, experiment: text.clone() };
    let mut journal = Journal::open(&dir, header)?;
    let earlier = journal.measured().len();
    if earlier > 0 {
        fwdlab_guard::say!("going on in {}: {earlier} comparisons are recorded", dir.display());
    }
    let mut probe = Probe { arguments, text: &text, dir: &dir, number: earlier };
    let terms = Terms { most: arguments.most, ..Terms::default() };
    let measure = |state: usize| match &labs {
        Some(both) => probe.compare_labs(both),
        None => probe.compare(&chain[0], &chain[state]),
    };
    let answer = bisect(&mut journal, terms, measure, |own| {
        fwdlab_guard::say!("{}: {:+.2} % beside {}", own.name, (own.ratio - 1.0) * 100.0, chain[0]);
    })?;
    let count = journal.measured().len();
    output::print(&match arguments.format {
        Format::Text => words(&answer, &chain, count),
        Format::Json => json(&answer, &chain, count)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The states from the good end to the bad one.
fn chain(arguments: &Args, text: &str) -> anyhow::Result<Vec<String>> {
    let (Some(good), Some(bad)) = (&arguments.good, &arguments.bad) else {
        bail!("--good and --bad name the ends of the chain");
    };
    let all = if let Some(repository) = &arguments.git {
        commits(repository, good, bad)?
    } else if let Some(list) = &arguments.list {
        let text = std::fs::read_to_string(list)
            .with_context(|| format!("cannot read the list {}", list.display()))?;
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        lines.map(str::to_owned).collect()
    } else {
        variants(&arguments.experiment, text)?
    };
    let known = || all.join(", ");
    let place = |name: &String| {
        let found = all.iter().position(|own| own == name);
        found.ok_or_else(|| BisectError::NoState { name: name.clone(), known: known() })
    };
    if arguments.git.is_some() {
        return Ok(all);
    }
    let (first, last) = (place(good)?, place(bad)?);
    if first >= last {
        return Err(BisectError::Order { good: good.clone(), bad: bad.clone() }.into());
    }
    Ok(all[first..=last].to_vec())
}

/// The commits from `good` to `bad`, both included, along first parents.
fn commits(repository: &Path, good: &str, bad: &str) -> anyhow::Result<Vec<String>> {
    let git = |arguments: &[&str]| -> anyhow::Result<String> {
        let mut command = Command::new("git");
        let output = command.arg("-C").arg(repository).args(arguments).output().context("git")?;
        if !output.status.success() {
            bail!(
                "git {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let first = git(&["rev-parse", "--verify", &format!("{good}^{{commit}}")])?;
    let range = format!("{first}..{bad}");
    let listed = git(&["rev-list", "--reverse", "--first-parent", "--ancestry-path", &range])?;
    if listed.is_empty() {
        return Err(BisectError::Order { good: good.to_owned(), bad: bad.to_owned() }.into());
    }
    Ok(std::iter::once(first).chain(listed.lines().map(str::to_owned)).collect())
}

/// A build of fwdlab.
struct Lab {
    name: String,
    program: PathBuf,
}

fn labs(given: &[String]) -> anyhow::Result<Option<[Lab; 2]>> {
    let read = |text: &String| -> anyhow::Result<Lab> {
        let (name, program) = text
            .split_once('=')
            .with_context(|| format!("--lab {text}: write it as NAME=PROGRAM"))?;
        let program = Path::new(program)
            .canonicalize()
            .with_context(|| format!("--lab {name}: there is no program {program}"))?;
        Ok(Lab { name: name.to_owned(), program })
    };
    match given {
        [] => Ok(None),
        [old, new] => Ok(Some([read(old)?, read(new)?])),
        _ => bail!("--lab is given {} times: name two builds, the older first", given.len()),
    }
}

/// Makes comparisons, each in a process of its own.
struct Probe<'a> {
    arguments: &'a Args,
    text: &'a str,
    dir: &'a Path,
    number: usize,
}

impl Probe<'_> {
    /// How well a state does beside the good end.
    fn compare(&mut self, good: &str, state: &str) -> anyhow::Result<f64> {
        self.prepare(good)?;
        self.prepare(state)?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let dir = self.run(&program, good, state, "")?;
        Ok(ratio(&dir, good, state, self.arguments.traffic.as_deref())?)
    }

    /// How well one variant does under the newer lab beside the older one, one after the other.
    fn compare_labs(&mut self, [old, new]: &[Lab; 2]) -> anyhow::Result<f64> {
        let names = variants(&self.arguments.experiment, self.text)?;
        let name = |asked: &Option<String>, at: usize| {
            asked
                .clone()
                .or_else(|| names.get(at).cloned())
                .context("the experiment has no variant")
        };
        let (one, other) = (name(&self.arguments.good, 0)?, name(&self.arguments.bad, 1)?);
        let figure = |probe: &mut Self, lab: &Lab| -> anyhow::Result<Vec<f64>> {
            let dir = probe.run(&lab.program, &one, &other, &format!("-{}", lab.name))?;
            probe.figures(&dir, &one)
        };
        // the order alternates, so that neither is always the first
        let (of_old, of_new) = if self.number.is_multiple_of(2) {
            let first = figure(self, old)?;
            (first, figure(self, new)?)
        } else {
            let first = figure(self, new)?;
            (figure(self, old)?, first)
        };
        Ok(fwdlab_stats::median(&of_new) / fwdlab_stats::median(&of_old))
    }

    /// Rates of a variant.
    fn figures(&self, dir: &Path, variant: &str) -> anyhow::Result<Vec<f64>> {
        use fwdlab_results::{Metric, Results};
        let results = Results::read(dir)?;
        let first = results.campaign.traffics.first().cloned().unwrap_or_default();
        let traffic = self.arguments.traffic.clone().unwrap_or(first);
        let rates = results.figures(Metric::Rate, variant, &traffic);
        if rates.is_empty() {
            bail!("{}: no good trial of {variant} under {traffic}", dir.display());
        }
        Ok(rates.into_iter().map(|(_, rate)| rate).collect())
    }

    /// Runs one comparison and returns its results.
    fn run(
        &mut self,
        program: &Path,
        good: &str,
        state: &str,
        mark: &str,
    ) -> anyhow::Result<PathBuf> {
        let experiment = &self.arguments.experiment;
        let text = derive(experiment, self.text, good, state, self.arguments.blocks)?;
        self.number += 1;
        let safe: String = state
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(40)
            .collect();
        let dir = self.dir.join(format!("{:03}-{safe}{mark}", self.number));
        if dir.exists() {
            // left by a comparison that was interrupted
            std::fs::remove_dir_all(&dir)
                .with_context(|| format!("cannot remove {}", dir.display()))?;
        }
        // beside the original: paths in it are relative to where it stands
        let name = experiment.file_name().map(|n| n.to_string_lossy().into_owned());
        let derived = experiment.with_file_name(format!(
            ".{}.bisect-{}.toml",
            name.unwrap_or_default(),
            std::process::id()
        ));
        std::fs::write(&derived, text)
            .with_context(|| format!("cannot write {}", derived.display()))?;
        let mut command = Command::new(program);
        command.arg("run").arg(&derived).arg("--quiet").arg("--output").arg(&dir);
        let ran = command.stdout(Stdio::null()).output();
        std::fs::remove_file(&derived)
            .with_context(|| format!("cannot remove {}", derived.display()))?;
        let ran = ran.with_context(|| format!("cannot start {}", program.display()))?;
        // exit code 1 says that a trial failed: its block is left out
        if !matches!(ran.status.code(), Some(0 | 1)) {
            bail!(
                "the comparison of {state} with {good} did not end well:\n{}",
                String::from_utf8_lossy(&ran.stderr).trim()
            );
        }
        Ok(dir)
    }

    /// Makes a state ready, once.
    fn prepare(&self, state: &str) -> anyhow::Result<()> {
        let Some(command) = &self.arguments.command else { return Ok(()) };
        let ready = self.dir.join("ready");
        let mark = ready.join(state.replace('/', "_"));
        if mark.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&ready)
            .with_context(|| format!("cannot create {}", ready.display()))?;
        if let Some(repository) = &self.arguments.git {
            let mut git = Command::new("git");
            git.arg("-C").arg(repository).args(["checkout", "--quiet", "--detach", state]);
            if !git.status().context("git")?.success() {
                bail!("git cannot check out {state} in {}", repository.display());
            }
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).env("FWDLAB_STATE", state).stdout(Stdio::null());
        let status = shell.status().context("cannot start sh")?;
        if !status.success() {
            bail!("--command ended with {status} for {state}");
        }
        std::fs::write(&mark, "").with_context(|| format!("cannot write {}", mark.display()))
    }
}

fn of_step(step: &Step, chain: &[String]) -> String {
    format!(
        "{} ({:+.1} %, {:+.1} to {:+.1}, beside {})",
        chain[step.at],
        step.ratio * 100.0,
        step.low * 100.0,
        step.high * 100.0,
        chain[step.at - 1],
    )
}

fn words(answer: &Answer, chain: &[String], count: usize) -> String {
    let all = |steps: &[Step]| {
        let lines: Vec<String> =
            steps.iter().map(|step| format!("  {}", of_step(step, chain))).collect();
        lines.join("\n")
    };
    let (good, bad) = (&chain[0], &chain[chain.len() - 1]);
    let text = match answer {
        Answer::Culprit { step, probability } => format!(
            "the culprit is {}; probability {:.1} %",
            of_step(step, chain),
            probability * 100.0
        ),
        Answer::Several(steps) => format!("several changes:\n{}", all(steps)),
        Answer::Cancelled(steps) => {
            format!(
                "{good} and {bad} are alike, but one change takes back another:\n{}",
                all(steps)
            )
        }
        Answer::Gone { ratio, low, high } => format!(
            "{bad} does not differ from {good} today ({:+.1} %, {:+.1} to {:+.1}): the lab or the \
             machine changed since, not the software",
            ratio * 100.0,
            low * 100.0,
            high * 100.0
        ),
        Answer::NoCulprit => format!(
            "no single culprit: {good} and {bad} differ, but no step does by enough; more --blocks \
             make each comparison sharper"
        ),
        Answer::TooNoisy { noise } => format!(
            "too noisy: one comparison varies by {:.1} %, so that no answer is sure; more --blocks, \
             or a machine that has nothing else to do",
            noise * 100.0
        ),
    };
    format!("{text}\n{} states, {count} comparisons\n", chain.len())
}

fn json(answer: &Answer, chain: &[String], count: usize) -> anyhow::Result<String> {
    use serde_json::json;
    let of = |step: &Step| {
        json!({
            "first_changed": chain[step.at],
            "last_before": chain[step.at - 1],
            "percent": step.ratio * 100.0,
            "low": step.low * 100.0,
            "high": step.high * 100.0,
        })
    };
    let (kind, steps, probability) = match answer {
        Answer::Culprit { step, probability } => ("culprit", vec![of(step)], Some(*probability)),
        Answer::Several(steps) => ("several changes", steps.iter().map(of).collect(), None),
        Answer::Cancelled(steps) => ("changes that cancel", steps.iter().map(of).collect(), None),
        Answer::Gone { .. } => ("lab or machine changed", Vec::new(), None),
        Answer::NoCulprit => ("no single culprit", Vec::new(), None),
        Answer::TooNoisy { .. } => ("too noisy", Vec::new(), None),
    };
    let value = json!({
        "answer": kind,
        "steps": steps,
        "probability": probability,
        "states": chain.len(),
        "comparisons": count,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}
