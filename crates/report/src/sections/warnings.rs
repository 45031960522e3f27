//! Doubts about single trials and the campaign.

use fwdlab_claims::claim::Warning;
use fwdlab_results::units;

use crate::block::Block;
use crate::source::Source;

/// All of them.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let warnings = &source.claims.warnings;
    if warnings.is_empty() {
        return Vec::new();
    }
    vec![Block::Warnings(warnings.iter().map(text).collect())]
}

/// A warning with the trials that it concerns, a long list cut short.
fn text(warning: &Warning) -> String {
    const SHOWN: usize = 4;
    let ids = &warning.trials;
    match ids.len() {
        0 => format!("warning: {}", warning.text),
        n if n <= SHOWN => format!("warning: {} ({})", warning.text, ids.join(", ")),
        n => format!(
            "warning: {} ({} and {})",
            warning.text,
            ids[..SHOWN].join(", "),
            units::plural(n - SHOWN, "more trial")
        ),
    }
}
