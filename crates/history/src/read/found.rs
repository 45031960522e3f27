//! What was read, and what a patched image is called.

use fwdlab_netbenches::revision::Revision;

use crate::point::Point;

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The points, in no particular order.
    pub points: Vec<Point>,
    /// What was left out, with the reason.
    pub skipped: Vec<String>,
    /// What tells the campaign of one directory from all others, where that is known: a copy of it has the same.
    pub(super) campaign: Option<String>,
}

/// What a revision is called in a series, and what it adds to the configuration: a patched image is
/// no point of the line that it was patched on.
pub(super) fn patched(configuration: &str, revision: Option<&Revision>) -> String {
    match revision {
        Some(own) if !own.is_plain() && own.line != fwdlab_netbenches::revision::Line::Release => {
            format!("{configuration} +{}", own.patch).trim_start().to_owned()
        }
        _ => configuration.to_owned(),
    }
}
