//! Comparison of whatever measurements there are: results directories, `.pps` and ministat files,
//! CSV, JSON, Go benchmark output.
//!
//! A results directory says what its report says: the same code judges it. Two of them are before and
//! after a change, three or more are campaigns of one experiment. Everything else becomes [`Series`]
//! of values; series of the same metric become a [`Group`], and every series of a group is judged
//! against its baseline, by blocks where a table has them, else without, and the output says so.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod apart;
mod asked;
mod campaigns;
mod compared;
mod directories;
mod error;
mod group;
mod input;
mod judge;
mod render;
mod sides;

#[cfg(test)]
mod tests;

pub use apart::Apart;
use compared::MARGIN;
pub use compared::{
    Compared, Exported, Group, Judgement, LeftOut, OneCampaign, Options, Several, Unfinished,
};
use std::io::Read;

pub use error::CompareError;
pub use fwdlab_claims::runs::Series;
pub use render::{Format, render};

/// Reads all sources and judges them.
///
/// # Errors
/// When a source cannot be read or understood, a name is not found, or there is nothing to compare.
pub fn compare(options: &Options, stdin: &mut dyn Read) -> Result<Compared, CompareError> {
    if let Some(compared) = directories::compare(options)? {
        return Ok(compared);
    }
    let (series, exports) = input::read_all(options, stdin)?;
    let (groups, left_out) = group::arrange(series, options)?;
    let judged = judge::judge(groups, options);
    let compared = Compared {
        confidence: options.confidence,
        groups: judged,
        apart: Vec::new(),
        debug_builds: Vec::new(),
        exports,
        left_out,
        unfinished: Vec::new(),
    };
    directories::as_reported(compared, options)
}
