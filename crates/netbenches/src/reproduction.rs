//! Published medians beside what the logs give: by the published pipeline with
//! both median rules, and by the steady window.

use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use super::archive::{Archive, ResultsDir};
use super::pipeline::{MedianRule, Published};
use super::pktgen::PktgenLog;
use super::runs::{read_bounded, read_configurations};
use super::series::{MAX_TABLE_BYTES, Series};
use fwdlab_results::Result;

/// One run: what was published and what its log gives, in packets/s.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The directory below the root.
    pub directory: String,
    /// The prefix.
    pub prefix: String,
    /// The run.
    pub iteration: u32,
    /// The value in the `.pps` file that this run stands for.
    pub published: Option<f64>,
    /// The published pipeline, median the mean of two, as printed.
    pub mean_of_two: Option<String>,
    /// The published pipeline, upper median, as printed.
    pub upper: Option<String>,
    /// Readings that the published pipeline dropped at start and end.
    pub dropped: [usize; 2],
    /// Median of the steady window.
    pub steady: Option<f64>,
    /// Readings left out of the steady window at start and end.
    pub trimmed: [usize; 2],
    /// Why the run has no figure.
    pub reason: Option<String>,
}

impl Row {
    /// True when the published value is that of the log by either rule.
    pub fn is_reproduced(&self) -> bool {
        let agrees = |text: &Option<String>| {
            let value = text.as_ref().and_then(|t| t.parse::<f64>().ok());
            value.zip(self.published).is_some_and(|(a, b)| (a - b).abs() <= 1e-7 * b.abs())
        };
        agrees(&self.mean_of_two) || agrees(&self.upper)
    }
}

/// The rows of every run below `root`.
///
/// # Errors
/// When `root` cannot be read.
pub fn reproduce(root: &Path) -> Result<Vec<Row>> {
    let archive = Archive::scan(root)?;
    let rows: Vec<Vec<Row>> = archive.dirs.par_iter().map(reproduce_dir).collect();
    Ok(rows.into_iter().flatten().collect())
}

fn reproduce_dir(dir: &ResultsDir) -> Vec<Row> {
    let mut rows = Vec::new();
    for (prefix, configuration) in read_configurations(dir) {
        let mut own: Vec<Row> = configuration
            .runs
            .iter()
            .map(|(&iteration, run)| {
                let mut row = match (run.good_receiver(), &run.receiver) {
                    (Some(log), _) => figures(log),
                    (None, Some(Ok(log))) => failed(log.failure().map(ToString::to_string)),
                    (None, Some(Err(why))) => failed(Some(why.clone())),
                    (None, None) => failed(Some("no receiver log".to_owned())),
                };
                row.directory.clone_from(&dir.relative);
                row.prefix.clone_from(&prefix);
                row.iteration = iteration;
                row
            })
            .collect();
        let bytes = dir.pps.get(&prefix).and_then(|path| read_bounded(path, MAX_TABLE_BYTES).ok());
        if let Some(bytes) = bytes {
            assign(&mut own, Series::parse(&bytes).values);
        }
        rows.extend(own);
    }
    rows
}

fn failed(reason: Option<String>) -> Row {
    Row { reason, ..Row::default() }
}

fn figures(log: &PktgenLog) -> Row {
    let published = Published::of(log);
    let rates: Vec<f64> = log.readings.iter().map(|s| s.pps as f64).collect();
    let window = fwdlab_stats::steady::window(&rates);
    Row {
        mean_of_two: published.printed(MedianRule::MeanOfTwo),
        upper: published.printed(MedianRule::Upper),
        dropped: [published.trimmed_head, published.trimmed_tail],
        steady: window.figure(&rates),
        trimmed: [window.trimmed_head, window.trimmed_tail],
        ..Row::default()
    }
}

/// Gives each published value to the run that yields it; values that no run
/// yields go to the runs left over, in order.
fn assign(rows: &mut [Row], values: Vec<f64>) {
    let mut left = Vec::new();
    for value in values {
        let fits = |row: &&mut Row| {
            row.published.is_none()
                && Row { published: Some(value), ..(**row).clone() }.is_reproduced()
        };
        match rows.iter_mut().find(fits) {
            Some(row) => row.published = Some(value),
            None => left.push(value),
        }
    }
    for (row, value) in rows.iter_mut().filter(|r| r.published.is_none()).zip(left) {
        row.published = Some(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::published;

    #[test]
    fn values_find_their_runs_in_any_order() {
        let row = |text: &str| Row { mean_of_two: Some(text.to_owned()), ..Row::default() };
        let mut rows = [row("10"), row("20"), row("30")];
        assign(&mut rows, vec![30.0, 99.0, 10.0]);
        let found: Vec<Option<f64>> = rows.iter().map(|r| r.published).collect();
        assert_eq!(found, [Some(10.0), Some(99.0), Some(30.0)]);
        assert!(!rows[1].is_reproduced());
    }

    #[test]
    fn all_published_values_are_reproduced() {
        let Some(root) = published("all_published_values_are_reproduced") else { return };
        let rows = reproduce(&root).unwrap();
        assert_eq!(rows.len(), 150);
        assert!(rows.iter().all(|r| r.is_reproduced() && r.steady.is_some()));
    }
}
