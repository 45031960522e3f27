//! Many variants, as year directories of an archive hold them: what fits on a few screens.

use std::fmt::Write;
use std::path::Path;

use fwdlab_stats::{Comparison, Verdict};

use super::text::{text, title, write_rows};
use crate::{Compared, Group, Judgement};
use fwdlab_results::units;

/// Most lines of a text for people.
const MOST_LINES: usize = 200;
/// Lines of a group around its variants: title, head, baseline, what is left out, a gap.
const AROUND: usize = 5;
/// Most variants that are shown of a group.
const MOST_VARIANTS: usize = 20;

/// The whole text where that is short; else the largest differences of each group, and where the rest is.
pub(super) fn brief(compared: &Compared) -> String {
    let whole = text(compared);
    if whole.lines().count() <= MOST_LINES {
        return whole;
    }
    let room = MOST_LINES - AROUND;
    let groups = compared.groups.len().clamp(1, room / (AROUND + 1));
    let rows = (room / groups - AROUND).clamp(1, MOST_VARIANTS);
    let mut text = String::new();
    for group in compared.groups.iter().take(groups) {
        few(group, rows, &mut text);
    }
    let more = compared.groups.len() - groups.min(compared.groups.len());
    if more > 0 {
        let _ = writeln!(text, "{} left out\n", units::plural(more, "more group"));
    }
    if !compared.unfinished.is_empty() {
        let warnings = units::plural(compared.unfinished.len(), "warning");
        let _ = writeln!(text, "{warnings} of campaigns that were stopped left out\n");
    }
    let _ = writeln!(
        text,
        "verdicts in words, and all variants: --all, or --format json\n\
         as series over images and dates, with what changed when: fwdlab history {}",
        directory(compared)
    );
    text
}

/// Where the first series is from.
fn directory(compared: &Compared) -> String {
    let series = compared.groups.first().and_then(|group| group.series.first());
    let source = series.map_or(Path::new("DIR"), |own| Path::new(&own.source));
    let directory = if source.is_file() { source.parent() } else { None };
    match directory.unwrap_or(source).to_string_lossy() {
        here if here.is_empty() => ".".to_owned(),
        there => there.into_owned(),
    }
}

/// The variants of a group that are proven different, those with the largest differences, then others, and
/// the last; in the order of the group.
fn few(group: &Group, rows: usize, text: &mut String) {
    let mut order: Vec<usize> = (0..group.judgements.len()).collect();
    order.sort_by(|a, b| {
        let [a, b] = [*a, *b].map(|at| weight(&group.judgements[at]));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    // images stand in the order of their dates: the newest is shown, whatever its difference is
    if let Some(newest) = order.iter().position(|at| at + 1 == order.len())
        && newest >= rows
    {
        order[rows - 1..=newest].rotate_right(1);
    }
    let mut shown: Vec<usize> = order.iter().copied().take(rows).collect();
    shown.sort_unstable();
    let _ = writeln!(text, "{}", title(group));
    let series: Vec<usize> = std::iter::once(0).chain(shown.iter().map(|at| at + 1)).collect();
    write_rows(group, &series, text);
    let left_out: Vec<&Judgement> =
        order.iter().skip(rows).map(|at| &group.judgements[*at]).collect();
    if !left_out.is_empty() {
        let proven = left_out.iter().filter(|own| is_different(own)).count();
        let _ = writeln!(
            text,
            "{} left out, {proven} of them proven different",
            units::plural(left_out.len(), "variant")
        );
    }
    text.push('\n');
}

fn is_different(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Faster { .. } | Verdict::Slower { .. })
}

/// Whether it is proven, and how large it is.
fn weight(judgement: &Judgement) -> (bool, f64) {
    let size = |own: &Comparison| own.estimate.ln().abs();
    let size = judgement.comparison.as_ref().map_or(0.0, size);
    (is_different(judgement), if size.is_finite() { size } else { 0.0 })
}
