//! What was compared, in six forms.

mod brief;
mod columns;
mod data;
mod ministat;
mod text;

use crate::{CompareError, Compared};

/// How to show a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people and commit messages: 72 columns, no colour.
    Text,
    /// The same where it is short; of many variants, the largest differences of each group.
    Brief,
    /// A Markdown table with sentences.
    Markdown,
    /// Everything, in base units.
    Json,
    /// One line per judgement, in base units.
    Csv,
    /// Columns like benchstat's.
    Benchstat,
    /// ministat's plot and table, current version, with `-s`.
    Ministat,
}

/// Renders it.
///
/// # Errors
/// [`CompareError::NotForMinistat`] from the ministat form when a series is too short for it.
pub fn render(compared: &Compared, format: Format) -> Result<Vec<u8>, CompareError> {
    Ok(match format {
        Format::Text => text::text(compared).into_bytes(),
        Format::Brief => brief::brief(compared).into_bytes(),
        Format::Markdown => text::markdown(compared).into_bytes(),
        Format::Json => data::json(compared).into_bytes(),
        Format::Csv => data::csv(compared).into_bytes(),
        Format::Benchstat => columns::benchstat(compared).into_bytes(),
        Format::Ministat => ministat::ministat(compared)?,
    })
}
