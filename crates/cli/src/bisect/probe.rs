//! The comparisons of a bisection, each in a process of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use fwdlab_campaign::bisect::{BisectError, Compared, derive, ratio, variants};
use fwdlab_results::{Metric, Results, Trial};

use super::Args;
use super::derived::{self, Derived, Told};
use super::repository::Repository;

/// A build of fwdlab.
pub struct Lab {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub program: PathBuf,
}

/// What a command ends with where its state cannot be measured, as for `git bisect run`.
const UNTESTABLE: i32 = 125;

/// Somebody asked the bisection to stop.
#[derive(Debug)]
pub struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped; the same command goes on")
    }
}

impl std::error::Error for Stopped {}

/// Makes comparisons.
pub struct Probe<'a> {
    /// What was asked.
    pub arguments: &'a Args,
    /// The experiment.
    pub text: &'a str,
    /// Where the comparisons go.
    pub dir: &'a Path,
    /// Where commits are checked out.
    pub repository: Option<&'a Repository>,
    /// Whether to stop.
    pub stop: Arc<AtomicBool>,
    /// The highest number of a directory of results: of each run of a comparison, also of those of which nothing came.
    pub number: usize,
    /// Comparisons so far.
    pub compared: usize,
    /// Those of them, since this program began, in which a trial lost its cores to others.
    pub disturbed: usize,
}

impl Probe<'_> {
    /// How well a state does beside the good end; nothing where no block has a good trial of both.
    ///
    /// # Errors
    /// When the good end cannot be made ready, or the comparison does not end well.
    pub fn compare(&mut self, good: &str, state: &str) -> anyhow::Result<Compared> {
        let mut settings = BTreeMap::new();
        for own in [good, state] {
            match self.prepare(own)? {
                Some(made) => settings.insert(own, made),
                None if own == good => {
                    bail!(
                        "--command ended with {UNTESTABLE} for {good}, which all are compared with: name another --good"
                    )
                }
                None => {
                    fwdlab_guard::say!("{state} is left out: --command ended with {UNTESTABLE}");
                    return Ok(Compared::Untestable(format!("--command ended with {UNTESTABLE}")));
                }
            };
        }
        let program = std::env::current_exe().context("cannot find this program")?;
        let dir = self.run(&program, [good, state], "", &settings)?;
        self.note(&[&Results::read(&dir)?]);
        match ratio(&dir, good, state, self.arguments.traffic.as_deref()) {
            Err(error @ BisectError::NoBlock { .. }) => {
                fwdlab_guard::say!("{error}; it is compared again");
                Ok(Compared::Nothing)
            }
            ratio => Ok(Compared::Ratio(ratio?)),
        }
    }

    /// How well one variant does under the newer lab beside the older one, one after the other; nothing where one
    /// of them has no good trial of it.
    ///
    /// # Errors
    /// When a build does not run to its end.
    pub fn compare_labs(&mut self, [old, new]: &[Lab; 2]) -> anyhow::Result<Compared> {
        let names = variants(&self.arguments.experiment, self.text)?;
        let name = |asked: &Option<String>, at: usize| {
            asked
                .clone()
                .or_else(|| names.get(at).cloned())
                .context("the experiment has fewer than two variants, which every run compares: add a [[variant]]; --lab varies the first")
        };
        let (one, other) = (name(&self.arguments.good, 0)?, name(&self.arguments.bad, 1)?);
        let results = |probe: &mut Self, lab: &Lab| -> anyhow::Result<Results> {
            let mark = format!("-{}", lab.name);
            let dir = probe.run(&lab.program, [&one, &other], &mark, &BTreeMap::new())?;
            Ok(Results::read(&dir)?)
        };
        // the order alternates, so that neither is always the first
        self.compared += 1;
        let (of_old, of_new) = if !self.compared.is_multiple_of(2) {
            let first = results(self, old)?;
            (first, results(self, new)?)
        } else {
            let first = results(self, new)?;
            (results(self, old)?, first)
        };
        self.note(&[&of_old, &of_new]);
        Ok(self.ratio_of([&of_old, &of_new], &one).map_or(Compared::Nothing, Compared::Ratio))
    }

    /// Counts a comparison that others disturbed: of a few short trials it may say anything.
    fn note(&mut self, of: &[&Results]) {
        let mut trials = of.iter().flat_map(|results| &results.trials);
        self.disturbed += usize::from(trials.any(Trial::was_away));
    }

    /// How well a variant does in the second of two results, by the figure that decides in both: where a
    /// tester bounds the rate, its rate says who else was on the machine.
    fn ratio_of(&self, both: [&Results; 2], variant: &str) -> Option<f64> {
        let first = both[0].campaign.traffics.first().cloned().unwrap_or_default();
        let traffic = self.arguments.traffic.clone().unwrap_or(first);
        let trials = both.into_iter().flat_map(|own| own.trials_of(variant, &traffic));
        let metric = Metric::deciding(trials.filter(|trial| trial.is_ok()));
        let median = |own: &Results| {
            let figures = own.figures(metric, variant, &traffic).into_iter();
            let figures: Vec<f64> = figures.map(|(_, figure)| figure).collect();
            if figures.is_empty() {
                let dir = own.dir.display();
                fwdlab_guard::say!(
                    "{dir}: no good trial of {variant} under {traffic}; it is compared again"
                );
                return None;
            }
            Some(fwdlab_stats::median(&figures))
        };
        let (old, new) = (median(both[0])?, median(both[1])?);
        Some(metric.direction().log_gain(old, new).exp())
    }

    /// Runs one comparison and returns its results.
    fn run(
        &mut self,
        program: &Path,
        [good, state]: [&str; 2],
        mark: &str,
        settings: &BTreeMap<&str, String>,
    ) -> anyhow::Result<PathBuf> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped.into());
        }
        let experiment = &self.arguments.experiment;
        let blocks = self.arguments.blocks;
        let text = derive(experiment, self.text, [good, state], blocks, settings)?;
        self.number += 1;
        let dir = self.dir.join(format!("{:03}-{}{}", self.number, safe(state), safe(mark)));
        let derived = Derived::write(experiment, &text)?;
        // through this program, so that a comparison never outlives the bisect that asked for it
        let own = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(own);
        command.arg("launch").arg(std::process::id().to_string()).arg(program);
        command.arg("run").arg(derived.path()).arg("--quiet").arg("--output").arg(&dir);
        let ran = command.stdout(Stdio::null()).output();
        let hidden = derived.path().to_owned();
        drop(derived);
        let ran = ran.with_context(|| format!("cannot start {}", program.display()))?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped.into());
        }
        // exit code 1 says that a trial failed: its block is left out
        if !matches!(ran.status.code(), Some(0 | 1)) {
            bail!(
                "the comparison of {state} with {good} did not end well:\n{}\n(a state between the ends that cannot be \
                 measured is left out with --skip STATE)",
                derived::of_original(
                    String::from_utf8_lossy(&ran.stderr).trim(),
                    Told { path: &hidden, text: &text },
                    Told { path: experiment, text: self.text },
                )
            );
        }
        Ok(dir)
    }

    /// Makes a state ready, once, and returns the settings that the command wrote for it; `None` where it says that
    /// the state cannot be measured.
    fn prepare(&self, state: &str) -> anyhow::Result<Option<String>> {
        let Some(command) = &self.arguments.command else { return Ok(Some(String::new())) };
        let ready = self.dir.join("ready");
        std::fs::create_dir_all(&ready)
            .with_context(|| format!("cannot create {}", ready.display()))?;
        let ready =
            ready.canonicalize().with_context(|| format!("cannot find {}", ready.display()))?;
        let mark = ready.join(file_name(state));
        if let Ok(settings) = std::fs::read_to_string(&mark) {
            return Ok(Some(settings));
        }
        if let Some(repository) = self.repository {
            repository.check_out(state)?;
        }
        // no state's file is called so
        let settings = ready.join(format!("{}%new", file_name(state)));
        std::fs::write(&settings, "")
            .with_context(|| format!("cannot write {}", settings.display()))?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdout(Stdio::null());
        shell.env("FWDLAB_STATE", state).env("FWDLAB_VARIANT", &settings);
        let status = shell.status().context("cannot start sh")?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped.into());
        }
        if status.code() == Some(UNTESTABLE) {
            return Ok(None);
        }
        if !status.success() {
            bail!(
                "--command ended with {status} for {state}; mend it, or, of a state between the ends that cannot be \
                 measured, have it end with {UNTESTABLE}, or name the state with --skip"
            );
        }
        std::fs::rename(&settings, &mark)
            .with_context(|| format!("cannot write {}", mark.display()))?;
        let made = std::fs::read_to_string(&mark);
        made.map(Some).with_context(|| format!("cannot read {}", mark.display()))
    }
}

/// The highest number that a directory of results has: what was measured stays, whichever comparison it was of.
pub fn highest(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| -> Option<usize> {
        entry.file_name().to_str()?.split_once('-')?.0.parse().ok()
    };
    entries.filter_map(number).max().unwrap_or(0)
}

/// A name for people in that of a directory; others may have the same.
fn safe(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().map(plain).take(40).collect()
}

/// The name of a file that is of this state and of no other: what a name may not hold is written out.
fn file_name(state: &str) -> String {
    const LONGEST: usize = 200;
    let mut name = String::new();
    for (at, byte) in state.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if is_plain || byte == b'.' && at > 0 {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST - 64);
        name.push_str(&fwdlab_guard::digest::of(state.as_bytes()));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers began behind the recorded comparisons: those of two runs, or of which nothing came, lost their results
    /// to the next.
    #[test]
    fn a_bisection_that_goes_on_leaves_earlier_results_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(highest(&dir.path().join("none")), 0);
        for name in ["001-s05-old", "012-s05-new", "ready", "bisect.jsonl"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        assert_eq!(highest(dir.path()), 12);
    }

    /// `a/b` and `a_b` were one: the second was measured with what the command had written for the first.
    #[test]
    fn two_states_never_share_a_file() {
        let long = |end: &str| "x".repeat(400) + end;
        let states =
            ["a/b", "a_b", "a%2fb", "..", ".", "x", "x.new", "x%new", "ü", &long("a"), &long("b")];
        let names: std::collections::BTreeSet<String> =
            states.iter().map(|own| file_name(own)).collect();
        assert_eq!(names.len(), states.len(), "{names:?}");
        assert!(
            names
                .iter()
                .all(|name| name.len() < 250 && !name.contains('/') && !name.starts_with('.'))
        );
        assert_eq!(file_name("r368606D27401v4"), "r368606D27401v4");
        assert_eq!(safe("../../x"), "______x");
    }
}
