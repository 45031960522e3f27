//! What the tables by traffic and variant share: the kept trials, medians over them, and how figures
//! stand in a column.

use fwdlab_results::{Results, Trial};

use crate::block::Block;

pub use fwdlab_figures::observed::{middle, none, shown};

/// The kept trials of a variant with a traffic.
pub struct Kept<'a> {
    pub traffic: &'a str,
    pub variant: &'a str,
    pub trials: Vec<&'a Trial>,
}

/// All that there are, in the order of the experiment.
pub fn cells(results: &Results) -> impl Iterator<Item = Kept<'_>> {
    let of = |traffic, variant| {
        let mut trials = results.trials_of(variant, traffic);
        trials.retain(|trial| trial.is_ok());
        (!trials.is_empty()).then_some(Kept { traffic, variant, trials })
    };
    results.campaign.traffics.iter().flat_map(move |traffic| {
        results.campaign.variants.iter().filter_map(move |variant| of(traffic, variant))
    })
}

/// What a table shows, and the table; nothing without rows.
pub fn table<'a>(note: &str, head: &str, rows: &str) -> Vec<Block<'a>> {
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Paragraph(note.to_owned()), Block::Preformatted(format!("{head}\n{rows}"))]
}
