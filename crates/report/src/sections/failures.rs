//! Trials that failed.

use fwdlab_claims::alike::Alike;
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
    let reasons = cells.iter().flat_map(|cell| {
        let own = cell.failed.iter();
        own.map(|failure| (&*failure.reason, &*cell.variant, &*failure.trial))
    });
    let groups = Alike::groups(reasons);
    let texts: Vec<String> = groups.iter().map(|own| text(&own.text(), &own.items)).collect();
    if texts.is_empty() { Vec::new() } else { vec![Block::Failures(texts)] }
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

    /// Nineteen paragraphs of one text took three screens.
    #[test]
    fn a_reason_stands_once_with_the_trials_that_have_it() {
        let all = ["b01", "b02", "b03", "b04", "b05", "b06"];
        assert_eq!(text("it cannot", &all[..1]), "FAILED: b01: it cannot");
        assert_eq!(text("it cannot", &all), "FAILED: b01, b02, b03, b04 and 2 more: it cannot");
    }
}
