//! Trials that failed.

use fwdlab_claims::claim::Cell;

use crate::block::Block;
use crate::source::Source;

/// So many trials that failed for one reason are named.
const NAMED: usize = 4;

/// All of them.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    of(&source.claims.cells.iter().collect::<Vec<_>>())
}

/// Those of some cells: each reason once, in the order of their first trials.
pub fn of<'a>(cells: &[&Cell]) -> Vec<Block<'a>> {
    let failed = cells.iter().flat_map(|cell| &cell.failed);
    let texts = texts(failed.map(|own| (own.reason.as_str(), own.trial.as_str())));
    if texts.is_empty() { Vec::new() } else { vec![Block::Failures(texts)] }
}

/// A text for each cause: reasons that differ in their figures alone are of one.
fn texts<'a>(failures: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (reason, trial) in failures {
        let words = || reason.split(is_of_figure).filter(|word| !word.is_empty());
        let is_it = |own: &&mut (Vec<&str>, Vec<&str>)| {
            own.0[0].split(is_of_figure).filter(|word| !word.is_empty()).eq(words())
        };
        match groups.iter_mut().find(is_it) {
            Some((reasons, trials)) => {
                reasons.push(reason);
                trials.push(trial);
            }
            None => groups.push((vec![reason], vec![trial])),
        }
    }
    let one = |(reasons, trials): &(Vec<&str>, Vec<&str>)| {
        let first = reasons[0];
        let is_same = reasons.iter().all(|own| *own == first);
        let whose = format!("{first} (of {}; of the others with other figures)", trials[0]);
        text(if is_same { first } else { &whose }, trials)
    };
    groups.iter().map(one).collect()
}

fn is_of_figure(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

fn text(reason: &str, trials: &[&str]) -> String {
    let named = trials[..trials.len().min(NAMED)].join(", ");
    let more = match trials.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("FAILED: {named}{more}: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One cause with other percentages made a paragraph for each trial.
    #[test]
    fn reasons_that_differ_in_figures_are_one() {
        let all =
            [("2.1 % lost", "b01"), ("bad MAC", "b02"), ("12 % lost", "b03"), ("7 % late", "b04")];
        let said = texts(all.into_iter());
        let wanted = [
            "FAILED: b01, b03: 2.1 % lost (of b01; of the others with other figures)",
            "FAILED: b02: bad MAC",
            "FAILED: b04: 7 % late",
        ];
        assert_eq!(said, wanted);
    }

    /// Nineteen paragraphs of one text took three screens.
    #[test]
    fn a_reason_stands_once_with_the_trials_that_have_it() {
        let all = ["b01", "b02", "b03", "b04", "b05", "b06"];
        assert_eq!(text("it cannot", &all[..1]), "FAILED: b01: it cannot");
        assert_eq!(text("it cannot", &all), "FAILED: b01, b02, b03, b04 and 2 more: it cannot");
    }
}
