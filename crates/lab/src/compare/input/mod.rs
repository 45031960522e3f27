//! Sources to series.

mod directory;
mod go_bench;
mod json;
mod plain;
mod table;

pub(super) use directory::rates;

use std::io::Read;
use std::path::Path;

use fwdlab_stats::Direction;
use serde::Serialize;

use super::context::Context;
use super::judge::direction_of;
use super::{CompareError, Options};

/// Values of one variant from one source.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Name of the variant.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Traffic or benchmark; empty when the source knows none.
    pub group: String,
    /// The metric in words; empty when the source names none.
    pub metric: String,
    /// Its unit; empty when the source names none.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The values in the order of the source, in base units.
    pub values: Vec<f64>,
    /// The block of each value, from a source with randomised blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<u32>>,
    /// Planned values without a figure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// What the logs beside it say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

impl Series {
    /// A series of nothing but values.
    fn plain(path: &Path, values: Vec<f64>, options: &Options) -> Self {
        let lossy = |text: Option<&std::ffi::OsStr>| {
            text.map(|t| t.to_string_lossy().into_owned()).unwrap_or_default()
        };
        Self {
            name: if path.as_os_str() == "-" {
                "stdin".to_owned()
            } else {
                lossy(path.file_stem())
            },
            source: path.to_string_lossy().into_owned(),
            group: String::new(),
            metric: String::new(),
            unit: String::new(),
            direction: if options.is_lower_better {
                Direction::LowerIsBetter
            } else {
                Direction::HigherIsBetter
            },
            values,
            blocks: None,
            failed: Vec::new(),
            context: None,
        }
    }

    /// The series with a metric and a unit; the unit decides which way is better if it can.
    fn of_metric(mut self, metric: &str, unit: &str) -> Self {
        self.direction = direction_of(unit).unwrap_or(self.direction);
        (self.metric, self.unit) = (metric.to_owned(), unit.to_owned());
        self
    }

    /// Whether two series measure the same.
    pub(super) fn is_comparable(&self, other: &Self) -> bool {
        self.group == other.group && self.unit == other.unit && self.metric == other.metric
    }

    /// Whether `name` names this series: its variant, its source, or both.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.source == name || format!("{}:{}", self.source, self.name) == name
    }

    /// What it is, for messages.
    pub(super) fn describe(&self) -> String {
        let group =
            if self.group.is_empty() { String::new() } else { format!(" of {}", self.group) };
        format!("`{}`{group} in {}", self.name, self.source)
    }

    /// Number of values that there should be.
    pub(super) fn planned(&self) -> usize {
        self.values.len() + self.failed.len()
    }

    /// The value of a block.
    pub(super) fn of_block(&self, block: u32) -> Option<f64> {
        let at = self.blocks.as_ref()?.iter().position(|own| *own == block)?;
        self.values.get(at).copied()
    }
}

/// Reads every source in order.
pub(super) fn read_all(
    options: &Options,
    stdin: &mut dyn Read,
) -> Result<Vec<Series>, CompareError> {
    let mut all = Vec::new();
    for path in &options.sources {
        let found =
            if path.is_dir() { directory::read(path)? } else { read_text(path, options, stdin)? };
        if found.iter().all(|series| series.values.is_empty()) {
            return Err(CompareError::Empty { path: path.clone(), detail: String::new() });
        }
        all.extend(found);
    }
    Ok(all)
}

fn read_text(
    path: &Path,
    options: &Options,
    stdin: &mut dyn Read,
) -> Result<Vec<Series>, CompareError> {
    let failed = |reason| CompareError::Read { path: path.to_owned(), reason };
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        stdin.read_to_end(&mut bytes).map_err(failed)?;
        bytes
    } else {
        std::fs::read(path).map_err(failed)?
    };
    let text = String::from_utf8_lossy(&bytes);
    let start = text.trim_start();
    if start.starts_with('{') || start.starts_with('[') {
        json::read(path, &text, options)
    } else if go_bench::is_go_bench(&text) {
        go_bench::read(path, &text, options)
    } else if table::is_table(path, &text) {
        table::read_csv(path, &text, options)
    } else {
        plain::read(path, &text, options).map(|series| vec![series])
    }
}
