//! What sections are made from.

use fwdlab_claims::claim::{Cell, Claims};
use fwdlab_results::Results;

use super::drawings::Drawings;
use super::flame::Flames;
use super::notes::Notes;
use fwdlab_profiles::Changes;

/// The claims, and what a report holds beside them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// What the results say.
    pub claims: &'a Claims,
    /// The trials.
    pub results: &'a Results,
    /// What lies beside the journal.
    pub extras: &'a Extras,
}

/// What a report holds beside the claims; a short rendering has the functions alone.
#[derive(Default)]
pub struct Extras {
    /// The user's words.
    pub notes: Notes,
    /// Functions that differ.
    pub changes: Vec<Changes>,
    /// Flame graphs.
    pub flames: Flames,
    /// The figures as elements of a page.
    pub drawings: Drawings,
}

impl<'a> Source<'a> {
    /// The traffics with their cells, in the experiment's order.
    pub fn cells(&self) -> Vec<(&'a str, Vec<&'a Cell>)> {
        let Self { claims, results, .. } = *self;
        let of = |traffic: &'a String| {
            let cells = claims.cells.iter().filter(|cell| cell.traffic == *traffic);
            (traffic.as_str(), cells.collect::<Vec<_>>())
        };
        results.campaign.traffics.iter().map(of).filter(|(_, cells)| !cells.is_empty()).collect()
    }
}
