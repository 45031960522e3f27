//! A change is measured again before it is reported: a command measures both revisions in a process of
//! its own, and what its results say is kept in the store.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use fwdlab_compare::{self as compare, Judgement, Options};
use fwdlab_history::History;
use fwdlab_history::find::Alert;
use fwdlab_history::store::{Acknowledged, Store};
use fwdlab_stats::{Confidence, Verdict};

/// How sure the second measurement has to be.
const CONFIDENCE: f64 = 0.99;

/// Has every open alert and every suspicion that was not measured again measured again; returns how many there were.
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
    let open: Vec<&Alert> =
        all.filter(|alert| alert.is_open() && alert.confirmed.is_none()).collect();
    for alert in &open {
        let own = again(command, history, alert, path)?;
        let word = if own.is_confirmed == Some(true) { "confirmed" } else { "not confirmed" };
        fwdlab_guard::say!("{} is {word}: {}", alert.id, own.reason);
        store.acknowledge(path, own)?;
    }
    Ok(open.len())
}

fn again(
    command: &str,
    history: &History,
    alert: &Alert,
    path: &Path,
) -> anyhow::Result<Acknowledged> {
    let (before, after) = history.ends(&alert.moved[0]);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let parent = parent.with_context(|| format!("cannot find the place of {}", path.display()))?;
    let results = parent.join("confirm").join(&alert.id);
    if results.exists() {
        // left by a measurement that was interrupted
        std::fs::remove_dir_all(&results)
            .with_context(|| format!("cannot remove {}", results.display()))?;
    }
    let name = |series: usize| history.series[series].key.name();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::null());
    shell.env("FWDLAB_SERIES", name(alert.moved[0].series)).env("FWDLAB_RESULTS", &results);
    shell.env("FWDLAB_BEFORE", &before.revision).env("FWDLAB_AFTER", &after.revision);
    let status = shell.status().context("cannot start sh")?;
    // exit code 1 of a run says that a trial failed: its results say which
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("--confirm ended with {status} for {}", alert.id);
    }
    let options = Options {
        sources: vec![results.clone()],
        confidence: Confidence::new(CONFIDENCE).unwrap_or_default(),
        ..Options::default()
    };
    let compared = compare::compare(&options, &mut std::io::empty())
        .with_context(|| format!("--confirm left no results in {}", results.display()))?;
    let all: Vec<&Judgement> = compared.groups.iter().flat_map(|own| &own.judgements).collect();
    let is_of = |own: &&&Judgement| own.variant == after.revision;
    let Some(own) = all.iter().find(is_of).or(all.first()) else {
        bail!("{} compares nothing", results.display());
    };
    let is_same = match own.verdict {
        Verdict::Slower { .. } => alert.is_regression,
        Verdict::Faster { .. } => !alert.is_regression,
        _ => false,
    };
    Ok(Acknowledged {
        id: alert.id.clone(),
        reason: format!("measured again: {}", own.sentence),
        series: alert.moved.iter().map(|moved| name(moved.series)).collect(),
        last_before: before.revision.clone(),
        first_changed: after.revision.clone(),
        is_confirmed: Some(is_same),
    })
}
