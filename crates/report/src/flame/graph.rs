//! Flame graphs, drawn by inferno.

use inferno::flamegraph::{self, Options};

use super::Job;
use crate::ReportError;
use fwdlab_figures::FigureError;

/// Draws a graph, without frames narrower than so many per cent.
pub fn svg(job: &Job<'_>, narrowest: f64) -> Result<String, ReportError> {
    let wrong = |e: std::io::Error| FigureError::Wrong {
        name: "a flame graph",
        detail: format!("{}: {e}", job.title()),
    };
    let mut options = Options::default();
    let lines = match job.changes {
        Some(changes) => {
            // They are in the order of the tree; by letters, `a;b-c` would come between `a;b` and `a;b;c`. A chart
            // takes lines as they are, from the last.
            options.flame_chart = true;
            options.count_name = changes.count().to_owned();
            changes.lines().into_iter().rev().collect()
        }
        None => job.profile.lines(),
    };
    options.title = job.title();
    // The picture has room for 160 characters; the page says all of it.
    let mut note = job.note();
    if let Some((head, _)) = note.split_once(", in a trial").filter(|_| note.len() > 155) {
        note = format!("{head}.");
    }
    // So it has for the first sentences of how to read a difference.
    if let Some((head, _)) =
        note.rsplit_once(". ").filter(|_| job.changes.is_some() && note.len() > 130)
    {
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
