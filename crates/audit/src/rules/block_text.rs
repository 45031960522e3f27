//! Whole blocks against ministat's output for the same values, byte for byte,
//! and the points that its drawing drops.

use fwdlab_stats::ministat::{Confidence, Dataset, Options, Version, render};

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::block::MinistatBlock;
use fwdlab_results::units;

/// How close a block is to ministat's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Byte for byte, by this version.
    Exact(&'static str),
    /// But for white space and blank lines.
    Spaced(&'static str),
    /// But for the last digits of its figures, as another build prints them.
    Rounded(&'static str),
    /// Different from this line of the page on.
    Differs(usize),
}

/// Text and lost points of every block whose values are at hand.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    for (index, block) in around.page.blocks.iter().enumerate() {
        let Some(fidelity) = fidelity(around, index) else { continue };
        // a fence closed too late makes the last line differ, and is named itself
        if !around.page.late_fences.contains(&block.last_line) {
            report(around, block, &fidelity, findings);
        }
        check_points(around, index, findings);
    }
}

fn report(
    around: &Surroundings<'_>,
    block: &MinistatBlock,
    fidelity: &Fidelity,
    findings: &mut AuditFindings,
) {
    let (severity, line, data) = match fidelity {
        Fidelity::Exact(_) => return,
        Fidelity::Spaced(version) => (
            Severity::Info,
            block.first_line,
            format!("it is ministat's output ({version}) but for white space or blank lines"),
        ),
        Fidelity::Rounded(version) => (
            Severity::Info,
            block.first_line,
            format!("it is ministat's output ({version}) but for last digits: an older build"),
        ),
        Fidelity::Differs(line) => (
            Severity::Check,
            *line,
            "from here on it is not what any known ministat prints for these values".to_owned(),
        ),
    };
    let claim = around.page.lines.get(line - 1).cloned().unwrap_or_default();
    let text = Text::new(claim, data, "paste the block as it was printed");
    findings.add(Rule::BlockText, severity, line, text);
}

/// Compares a block with what ministat prints; `None` when some values are not
/// at hand or the block holds no plot and no comparison to compare.
pub fn fidelity(around: &Surroundings<'_>, index: usize) -> Option<Fidelity> {
    let block = &around.page.blocks[index];
    let datasets = datasets(around, index)?;
    let shown = &around.page.lines[block.first_line - 1..block.last_line];
    let border = shown.iter().find(|l| l.trim_start().starts_with("+--"));
    let width = border.map_or(74, |l| l.trim().len().saturating_sub(2));
    let compared = around.sets[index].iter().find_map(|s| s.set.comparison.as_ref());
    let percent = compared.map_or(95.0, |c| c.confidence);
    let mut nearest = None;
    for (version, name) in [
        (Version::V3, "current version"),
        (Version::Compat2016, "version of 2016"),
        (Version::Compat2015, "version 20150715"),
    ] {
        for has_separate_bars in [true, false] {
            let options = Options {
                version,
                has_separate_bars,
                confidence: Confidence::from_percent(percent).unwrap_or_default(),
                has_plot: border.is_some(),
                is_vitals_only: compared.is_none() && border.is_none(),
                width: width.clamp(2, 1000),
                ..Options::default()
            };
            let printed = String::from_utf8_lossy(&render(&datasets, &options)).into_owned();
            match compare(shown, &printed) {
                Match::Exact => return Some(Fidelity::Exact(name)),
                Match::Spaced => nearest = Some(Fidelity::Spaced(name)),
                Match::Rounded if !matches!(nearest, Some(Fidelity::Spaced(_))) => {
                    nearest = Some(Fidelity::Rounded(name));
                }
                Match::Until(lines)
                    if !matches!(nearest, Some(Fidelity::Spaced(_) | Fidelity::Rounded(_))) =>
                {
                    let line = block.first_line + lines.min(shown.len() - 1);
                    let best = match nearest {
                        Some(Fidelity::Differs(best)) => best.max(line),
                        _ => line,
                    };
                    nearest = Some(Fidelity::Differs(best));
                }
                Match::Rounded | Match::Until(_) => {}
            }
        }
    }
    nearest
}

/// How far a block agrees with printed text.
enum Match {
    Exact,
    Spaced,
    /// Words and drawing agree, and numbers but for their last digits.
    Rounded,
    /// The first so many lines agree but for white space.
    Until(usize),
}

fn compare(shown: &[String], printed: &str) -> Match {
    if shown.iter().map(String::as_str).eq(printed.lines()) {
        return Match::Exact;
    }
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wanted = printed.lines().map(squeeze).filter(|l| !l.is_empty());
    let mut first_off = None;
    let mut is_alike = true;
    for (index, line) in shown.iter().enumerate() {
        let line = squeeze(line);
        if line.is_empty() {
            continue;
        }
        let next = wanted.next();
        if next.as_ref() != Some(&line) {
            first_off = first_off.or(Some(index));
            is_alike &= next.is_some_and(|next| differs_in_digits(&line, &next));
        }
    }
    let is_whole = wanted.next().is_none();
    match first_off {
        None if is_whole => Match::Spaced,
        None => Match::Until(shown.len()),
        Some(_) if is_alike && is_whole => Match::Rounded,
        Some(index) => Match::Until(index),
    }
}

/// Share of a number by which builds of ministat print it differently: sums lose digits, and the
/// half width of a percentage was once computed otherwise.
const DIGITS_LOST: f64 = 2e-4;
const WIDTH_CHANGED: f64 = 0.05;

/// Whether two lines are the same but for what builds of ministat compute differently.
fn differs_in_digits(shown: &str, wanted: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (shown.split(' ').collect(), wanted.split(' ').collect());
    let is_number_alike = |index: usize| {
        let number = |word: &str| word.trim_end_matches(['%', ')']).parse::<f64>().ok();
        let (Some(x), Some(y)) = (number(a[index]), number(b[index])) else { return false };
        let is_width = a[index].ends_with('%') && index > 0 && a[index - 1] == "+/-";
        let most = if is_width { WIDTH_CHANGED } else { DIGITS_LOST };
        (x - y).abs() <= most * y.abs()
    };
    !shown.contains('|')
        && a.len() == b.len()
        && (0..a.len()).all(|index| a[index] == b[index] || is_number_alike(index))
}

/// The values behind the sets of a block under the legends of the page.
fn datasets(around: &Surroundings<'_>, index: usize) -> Option<Vec<Dataset>> {
    let block = &around.page.blocks[index];
    let sets = around.sets.get(index)?;
    if sets.is_empty() || sets.len() > 7 || sets.len() != block.sets.len() {
        return None;
    }
    sets.iter().map(|set| Dataset::new(set.set.legend.clone(), around.values(set)?).ok()).collect()
}

/// ministat's drawing is as high as the last set's tallest stack; what earlier
/// sets stack above that is cut, and erased where a later set is taller again.
fn check_points(around: &Surroundings<'_>, index: usize, findings: &mut AuditFindings) {
    let block = &around.page.blocks[index];
    let lines = &around.page.lines[block.first_line - 1..block.last_line];
    let Some(border) = lines.iter().position(|l| l.trim_start().starts_with("+--")) else { return };
    let width = lines[border].trim().len().saturating_sub(2);
    let sets: Option<Vec<Vec<f64>>> = around.sets[index].iter().map(|s| around.values(s)).collect();
    let Some(sets) = sets.filter(|_| width > 2) else { return };
    let total: usize = sets.iter().map(Vec::len).sum();
    let lost = lost_points(&sets, width);
    if lost == 0 {
        return;
    }
    findings.add(
        Rule::BlockPoints,
        Severity::Info,
        block.first_line + border,
        Text::new(
            format!("a plot of {}", units::plural(total, "run")),
            format!(
                "it shows {} of them: ministat cuts stacks higher than those of the last set",
                total - lost
            ),
            "draw the points with another tool, or name the number of runs",
        ),
    );
}

fn lost_points(sets: &[Vec<f64>], width: usize) -> usize {
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for values in sets {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        for edge in values.iter().copied().chain([mean - sd, mean + sd]) {
            low = low.min(edge);
            high = high.max(edge);
        }
    }
    let step = (high - low) / (width - 1) as f64;
    if step.is_nan() || step <= 0.0 {
        return 0;
    }
    let stacks: Vec<Vec<usize>> = sets
        .iter()
        .map(|values| {
            let mut stack = vec![0; width + 1];
            for value in values {
                let column = ((value - (low - step / 2.0)) / step) as usize;
                stack[column.min(width)] += 1;
            }
            stack
        })
        .collect();
    let height = |s: &Vec<usize>| s.iter().max().copied().unwrap_or(0);
    let mut lost = 0;
    for (index, stack) in stacks.iter().enumerate() {
        let room = stacks[index + 1..].iter().map(height).min().unwrap_or(usize::MAX);
        lost += stack.iter().map(|points| points.saturating_sub(room)).sum::<usize>();
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_told_from_content() {
        let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert!(matches!(compare(&shown("a\n\tb"), "a\n\tb\n"), Match::Exact));
        assert!(matches!(compare(&shown("a\n\n        b  "), "a\n\tb\n"), Match::Spaced));
        assert!(matches!(compare(&shown("a\nc"), "a\nb\n"), Match::Until(1)));
        assert!(matches!(compare(&shown("a"), "a\nb\n"), Match::Until(1)));
        let printed = "x 5 1000\n17.46% +/- 0.759%\n";
        assert!(matches!(
            compare(&shown("x 5 1000.01\n17.46% +/- 0.73%"), printed),
            Match::Rounded
        ));
        for other in ["x 5 1001\n17.46% +/- 0.759%", "y 5 1000\n17.46% +/- 0.759%"] {
            assert!(matches!(compare(&shown(other), printed), Match::Until(0)), "{other}");
        }
    }

    #[test]
    fn stacks_above_the_last_sets_are_lost() {
        assert_eq!(lost_points(&[vec![1.0, 1.0, 1.0, 5.0], vec![9.0, 10.0, 11.0]], 74), 2);
        assert_eq!(lost_points(&[vec![1.0, 3.0, 5.0], vec![9.0, 9.0, 11.0]], 74), 0);
        assert_eq!(lost_points(&[vec![1.0, 1.0], vec![1.0, 1.0]], 74), 0);
    }
}
