//! Flame graphs, drawn by inferno.

use inferno::differential;
use inferno::flamegraph::{self, Options};

use super::Job;
use crate::ReportError;
use fwdlab_figures::FigureError;
use fwdlab_profiles::Profile;

/// Draws a graph, without frames narrower than so many per cent.
pub fn svg(job: &Job<'_>, narrowest: f64) -> Result<String, ReportError> {
    let wrong = |e: std::io::Error| FigureError::Wrong {
        name: "a flame graph",
        detail: format!("{}: {e}", job.title()),
    };
    let lines = match job.before {
        Some(before) => difference(before, job.profile).map_err(wrong)?,
        None => job.profile.lines(),
    };
    let mut options = Options::default();
    options.title = job.title();
    // The picture has room for 160 characters; the page says all of it.
    let mut note = job.note();
    if let Some((head, _)) = note.split_once(", in a trial").filter(|_| note.len() > 155) {
        note = format!("{head}.");
    }
    options.subtitle = Some(note);
    options.deterministic = true;
    options.min_width = narrowest;
    options.font_type = "monospace".to_owned();
    options.bgcolors = "#e6eaee".parse().ok();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .map_err(wrong)?;
    Ok(String::from_utf8_lossy(&svg).into_owned())
}

/// Folded lines with two counts each, the first scaled to the second's total.
fn difference(before: &Profile, after: &Profile) -> std::io::Result<Vec<String>> {
    let options = differential::Options { normalize: true, ..Default::default() };
    let mut out = Vec::new();
    let (before, after) = (before.lines().join("\n"), after.lines().join("\n"));
    differential::from_readers(options, before.as_bytes(), after.as_bytes(), &mut out)?;
    let mut lines: Vec<String> = String::from_utf8_lossy(&out).lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}
