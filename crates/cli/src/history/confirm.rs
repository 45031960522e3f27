//! A change is measured again before it is reported: a command measures both revisions in a process of
//! its own, and what its results say is kept in the store.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use fwdlab_compare::{self as compare, Judgement, Options};
use fwdlab_history::History;
use fwdlab_history::find::Alert;
use fwdlab_history::store::Store;
use fwdlab_stats::{Confidence, Verdict};

/// How sure the second measurement has to be.
const CONFIDENCE: f64 = 0.99;

/// Has every open alert and every suspicion that was not measured again measured again; returns how many there were.
/// The store keeps what they say, but of those that show the opposite.
///
/// # Errors
/// When the command fails or leaves no results with both revisions, or the store cannot be written.
pub fn confirm(
    command: &str,
    history: &History,
    store: &mut Store,
    path: &Path,
) -> anyhow::Result<usize> {
    let all = history.alerts.iter().chain(&history.suspects);
    // where one revision was measured twice there are no two to compare
    let is_of_two = |alert: &Alert| {
        let (before, after) = history.sides(&alert.moved[0]);
        before.revision != after.revision
    };
    let is_asked =
        |alert: &&Alert| alert.is_open() && alert.confirmed.is_none() && is_of_two(alert);
    let open: Vec<&Alert> = all.filter(is_asked).collect();
    for alert in &open {
        let judged = again(command, history, alert, path)?;
        let way = match judged.verdict {
            Verdict::Slower { .. } => Some(alert.is_regression),
            Verdict::Faster { .. } => Some(!alert.is_regression),
            _ => None,
        };
        let reason = format!("measured again: {}", judged.sentence);
        let word = match way {
            Some(true) => "is confirmed",
            // what shows the opposite settles nothing
            Some(false) => {
                fwdlab_guard::say!(
                    "{} is contradicted, and stays as it is: {reason}; look at both measurements",
                    alert.id
                );
                continue;
            }
            None => "is not confirmed",
        };
        fwdlab_guard::say!("{} {word}: {reason}", alert.id);
        store.acknowledge(path, history.acknowledgement(alert, reason, Some(way.is_some())))?;
    }
    Ok(open.len())
}

fn again(
    command: &str,
    history: &History,
    alert: &Alert,
    path: &Path,
) -> anyhow::Result<Judgement> {
    let (before, after) = history.sides(&alert.moved[0]);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let parent = parent.with_context(|| format!("cannot find the place of {}", path.display()))?;
    let results = parent.join("confirm").join(&alert.id);
    if results.exists() {
        // left by a measurement that was interrupted
        std::fs::remove_dir_all(&results)
            .with_context(|| format!("cannot remove {}", results.display()))?;
    }
    let name = history.series[alert.moved[0].series].key.name();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::null());
    shell.env("FWDLAB_SERIES", name).env("FWDLAB_RESULTS", &results);
    shell.env("FWDLAB_BEFORE", &before.revision).env("FWDLAB_AFTER", &after.revision);
    let status = shell.status().context("cannot start sh")?;
    // exit code 1 of a run says that a trial failed: its results say which
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("--confirm ended with {status} for {}", alert.id);
    }
    judged(&results, [&before.revision, &after.revision])
}

/// What results say of two revisions, the later against the earlier: whichever of them the results take as their
/// baseline.
fn judged(results: &Path, revisions: [&str; 2]) -> anyhow::Result<Judgement> {
    let read = |baseline: Option<String>| -> anyhow::Result<Vec<Judgement>> {
        let options = Options {
            sources: vec![results.to_owned()],
            confidence: Confidence::new(CONFIDENCE).unwrap_or_default(),
            baseline,
            ..Options::default()
        };
        let compared = compare::compare(&options, &mut std::io::empty())
            .with_context(|| format!("--confirm left no results in {}", results.display()))?;
        Ok(compared.groups.into_iter().flat_map(|own| own.judgements).collect())
    };
    let all = read(None)?;
    let names: BTreeSet<&str> =
        all.iter().flat_map(|own| [own.baseline.as_str(), own.variant.as_str()]).collect();
    if names.is_empty() {
        bail!("{} compares nothing", results.display());
    }
    let [Some(before), Some(after)] = revisions.map(|own| named(&names, own)) else {
        let names: Vec<&str> = names.into_iter().collect();
        bail!(
            "{} has results of '{}', and which of them is the revision before the change, and which after it, is not \
             to be told; name the variants '{}' ($FWDLAB_BEFORE) and '{}' ($FWDLAB_AFTER)",
            results.display(),
            names.join("' and '"),
            revisions[0],
            revisions[1],
        );
    };
    let is_it = |own: &Judgement| own.baseline == before && own.variant == after;
    let own = match all.iter().find(|own| is_it(own)) {
        Some(own) => Some(own.clone()),
        None => read(Some(before.to_owned()))?.into_iter().find(is_it),
    };
    own.with_context(|| format!("{} does not compare {before} with {after}", results.display()))
}

/// The variant of a revision: called so, or so and a configuration (`r312205.pf`).
fn named<'a>(names: &BTreeSet<&'a str>, revision: &str) -> Option<&'a str> {
    let is_of = |name: &&&str| {
        name.strip_prefix(revision).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // the shortest is first
    names.iter().find(is_of).copied()
}
