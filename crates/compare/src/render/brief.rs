//! Many variants, as year directories of an archive hold them: what fits on a few screens.

use std::fmt::Write;

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
    if let Some(more @ 1..) = compared.groups.len().checked_sub(groups) {
        let _ = writeln!(text, "{} left out\n", units::plural(more, "more group"));
    }
    if let Some(count @ 1..) = Some(compared.unfinished.len()) {
        let _ = writeln!(text, "{} left out\n", units::plural(count, "warning"));
    }
    let source = compared.groups.first().and_then(|group| group.series.first());
    let _ = writeln!(
        text,
        "verdicts in words, and all variants: --all, or --format json\n\
         as series over images and dates, with what changed when: fwdlab history {}",
        source.map_or("DIR", |own| own.source.as_str())
    );
    text
}

/// The variants of a group that are proven different, the largest differences first, then others; in the
/// order of the group.
fn few(group: &Group, rows: usize, text: &mut String) {
    let mut order: Vec<usize> = (0..group.judgements.len()).collect();
    order.sort_by(|a, b| {
        let [a, b] = [*a, *b].map(|at| weight(&group.judgements[at]));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
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
            units::plural(left_out.len(), "smaller difference")
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
