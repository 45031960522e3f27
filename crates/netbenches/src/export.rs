//! fwdlab results as a netbenches-style directory, for the scripts, ministat
//! and gnuplot files that people have.
//!
//! What is written is read again by `fwdlab import` as what it was: the same trials, of the same family,
//! flows, frames and rates, failed ones for the same reason.

mod command;
mod info;
mod kept;
mod log;
mod page;
mod search;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::import::{DEVICE, safe_name};
use super::number::format_g8;
use fwdlab_results::{Error, Result};
use fwdlab_results::{Results, Trial};
use kept::Kept;

/// The outcome of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Series written.
    pub series: usize,
    /// Runs in them.
    pub runs: usize,
    /// Failed trials; their logs say why.
    pub failed: usize,
    /// Call graphs written.
    pub graphs: usize,
    /// Profiles whose call graphs the results do not keep, so that none is written.
    pub profiles_left_out: usize,
}

/// Writes `results` to the directory `to`, which must be absent or empty.
///
/// # Errors
/// When `to` holds something or cannot be written.
pub fn export(results: &Results, to: &Path) -> Result<Exported> {
    if fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Occupied { dir: to.to_owned(), state: "other" });
    }
    let raw = to.join("RAW");
    fs::create_dir_all(&raw).map_err(Error::io("create", &raw))?;
    let kept = Kept::read(&results.dir);
    let is_imported = results.campaign.device == DEVICE;
    let mut exported = Exported::default();
    let mut rows = String::from("#index median minimum maximum\n");
    let mut summaries = Vec::new();
    let mut by_name = BTreeMap::new();
    for (prefix, trials) in configurations(results, &kept) {
        let mut medians = Vec::new();
        for trial in &trials {
            medians.extend(log::write_run(&raw, &prefix, trial, is_imported)?);
        }
        if let Some(text) = info::text(&prefix, &trials, kept.names(&prefix)) {
            kept::write(&raw.join(format!("bench.{prefix}.info")), text.as_bytes())?;
        }
        exported.series += 1;
        exported.runs += medians.len();
        exported.failed += trials.len() - medians.len();
        if medians.is_empty() {
            continue;
        }
        if search::write(to, &prefix, &trials, &kept)? {
            // what was searched for stands in files of its own
        } else if let Some((name, bytes)) = kept.medians(&prefix, &trials) {
            medians = super::series::Series::parse(bytes).values;
            kept::write(&kept::place(to, &name), bytes)?;
        } else {
            let lines: String = medians.iter().map(|m| format!("{}\n", format_g8(*m))).collect();
            kept::write(&to.join(format!("{prefix}.pps")), lines.as_bytes())?;
        }
        let summary = summary(&medians);
        rows.push_str(&graph_row(&prefix, summary));
        summaries.push(summary);
        if let Some(first) = trials.first() {
            by_name.insert((first.variant.clone(), first.traffic.clone()), medians);
        }
    }
    let graphs = kept.graphs(&summaries);
    for (name, bytes) in graphs.iter().copied().chain(kept.scripts()).chain(kept.pages()) {
        kept::write(&kept::place(to, name), bytes)?;
    }
    if graphs.is_empty() {
        kept::write(&to.join("gnuplot.data"), rows.as_bytes())?;
    }
    if kept.scripts().next().is_none() {
        kept::write(&to.join("gnuplot.plt"), page::script(results).as_bytes())?;
    }
    if kept.pages().next().is_none() {
        kept::write(&to.join("README.md"), page::page(results, &by_name).as_bytes())?;
    }
    exported.graphs = kept.write_call_graphs(to)?;
    if exported.graphs == 0 {
        exported.profiles_left_out = kept::profiles(&results.dir);
    }
    Ok(exported)
}

/// Trials by prefix, each prefix a name that is safe in a file name.
fn configurations<'r>(results: &'r Results, kept: &Kept) -> BTreeMap<String, Vec<&'r Trial>> {
    let mut configurations: BTreeMap<String, Vec<&'r Trial>> = BTreeMap::new();
    for trial in &results.trials {
        let prefix = match kept.prefix(trial) {
            Some("") => String::new(),
            Some(prefix) => safe_name(prefix),
            None => safe_name(&format!("{}.{}", trial.variant, trial.traffic)).replace(' ', "_"),
        };
        configurations.entry(prefix).or_default().push(trial);
    }
    for trials in configurations.values_mut() {
        trials.sort_by_key(|t| t.block);
    }
    configurations
}

/// Median, minimum and maximum.
fn summary(medians: &[f64]) -> [f64; 3] {
    let mut sorted = medians.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    [(sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0, sorted[0], sorted[n - 1]]
}

fn graph_row(prefix: &str, summary: [f64; 3]) -> String {
    let [median, low, high] = summary.map(format_g8);
    format!("{prefix} {median} {low} {high}\n")
}

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import;
    use crate::reproduction::reproduce;
    use crate::tests::published;

    #[test]
    fn what_is_exported_is_reproduced_by_the_published_pipeline() {
        let Some(root) = published("what_is_exported_is_reproduced_by_the_published_pipeline")
        else {
            return;
        };
        let dir = "Xeon_E5-2650_8Cores/Chelsio_T540-CR/firewalls/results/fbsd13-r368606.D27401v3";
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        import(&root.join(dir), one.path()).unwrap();
        let results = Results::read(one.path()).unwrap();
        let exported = export(&results, two.path()).unwrap();
        assert_eq!((exported.series, exported.runs, exported.failed), (4, 20, 0));
        let rows = reproduce(two.path()).unwrap();
        assert_eq!(rows.len(), 20);
        for row in &rows {
            assert!(row.is_reproduced(), "{row:?}");
            let trial = results.trials.iter().find(|t| {
                t.block == row.iteration && row.prefix == format!("{}.{}", t.variant, t.traffic)
            });
            let median = &trial.unwrap().measured.proof["netbenches.median"];
            assert_eq!(format_g8(row.published.unwrap()), *median, "{row:?}");
        }
    }
}
