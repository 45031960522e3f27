//! Comparison of whatever measurements there are: results directories, `.pps` and ministat files,
//! CSV, JSON, Go benchmark output.
//!
//! Sources become [`Series`] of values, series of the same metric become a [`Group`], and every
//! series of a group is judged against its baseline. Blocks are used where the source knows them (a
//! results directory); everything else is compared without blocks, and the output says so. Logs
//! that lie beside a `.pps` file are read for what makes a comparison meaningless: saturation, other
//! flows, another tester.

mod context;
mod doubts;
mod error;
mod group;
mod input;
mod judge;
mod render;
mod series;

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::PathBuf;

use fwdlab_stats::validity::Finding;
use fwdlab_stats::{Comparison, Direction, Verdict, unpaired};
use serde::Serialize;

use fwdlab_results::Results;

pub use error::CompareError;
pub use render::{Format, render};
pub use series::Series;

/// What to compare, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Sources in order; `-` is standard input.
    pub sources: Vec<PathBuf>,
    /// Name of the baseline; the first series otherwise.
    pub baseline: Option<String>,
    /// Metric to compare: `rate` or `cost` of results directories, or the unit of a Go benchmark.
    pub metric: Option<String>,
    /// Column to read, by number from 1 or by name.
    pub column: Option<String>,
    /// Whether lower values are better, where the source does not say.
    pub is_lower_better: bool,
    /// The margin as a ratio: 0.01 is 1 %.
    pub margin: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sources: Vec::new(),
            baseline: None,
            metric: None,
            column: None,
            is_lower_better: false,
            margin: 0.01,
        }
    }
}

/// Everything that was compared.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// The margin as a ratio.
    pub margin: f64,
    /// One group per metric, traffic or benchmark.
    pub groups: Vec<Group>,
}

/// Series of one metric, the baseline first.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// Name of the traffic or benchmark; empty when there is but one.
    pub name: String,
    /// The metric in words.
    pub metric: String,
    /// Its unit; empty when the source names none.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The series, the baseline first.
    pub series: Vec<Series>,
    /// One judgement per series behind the baseline, in their order.
    pub judgements: Vec<Judgement>,
}

/// A series against the baseline of its group.
#[derive(Debug, Clone, Serialize)]
pub struct Judgement {
    /// Name of the series.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// The comparison; absent when it cannot be computed.
    pub comparison: Option<Comparison>,
    /// The rank test beside it, without blocks.
    pub rank: Option<unpaired::RankTest>,
    /// What is wrong or doubtful, the invalidating findings first.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words.
    pub sentence: String,
}

/// Judges published runs, which have no blocks, against their baseline: what `fwdlab compare` says
/// of them and what a report says is the same.
pub(crate) fn published(results: &Results, traffic: &str, variant: &str) -> Judgement {
    let campaign = &results.campaign;
    let side = |name: &str| input::rates(results, traffic, name);
    judge::without_blocks((&side(&campaign.baseline), &side(variant)), campaign.margin)
}

/// Reads all sources and judges them.
///
/// # Errors
/// When a source cannot be read or understood, a name is not found, or there is nothing to compare.
pub fn compare(options: &Options, stdin: &mut dyn Read) -> Result<Compared, CompareError> {
    let series = input::read_all(options, stdin)?;
    let groups = group::arrange(series, options)?;
    let terms = judge::Terms { margin: options.margin, questions: judge::questions(&groups) };
    Ok(Compared {
        margin: options.margin,
        groups: groups.into_iter().map(|group| judge::judge(group, terms)).collect(),
    })
}
