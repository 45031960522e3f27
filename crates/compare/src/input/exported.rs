//! What `fwdlab export` writes: a row for each interval of a trial, the columns of the trial repeated in each.
//!
//! The figure that decides between two variants is chosen as in a results directory ([`Metric::deciding`]); its
//! blocks, FAILED trials and clock are in the file. What is not is said ([`Exported`]).

use std::collections::BTreeMap;
use std::path::Path;

use fwdlab_claims::runs::{SaidBy, Series};
use fwdlab_results::{Measure, Metric, Tick};

use super::table::{self, Table, block_number, number};
use crate::{CompareError, Exported, Options};

/// Columns by which an export is known.
const KNOWN: [&str; 8] = [
    "trial",
    "block",
    "variant",
    "is_baseline",
    "traffic",
    "status",
    "trial_rate_pps",
    "trial_cost_ns",
];

/// The series of a table, which may be an export.
pub(super) fn read(
    path: &Path,
    table: Table,
    options: &Options,
    exports: &mut Vec<Exported>,
) -> Result<Vec<Series>, CompareError> {
    if !KNOWN.iter().all(|known| table.head.iter().any(|own| own == known)) {
        return table::series(path, &table, options);
    }
    let trials = trials(path, &table, exports)?;
    match options.column {
        Some(_) => table::series(path, &trials, options),
        None => series(path, &trials, options),
    }
}

/// The first row of each trial; those that ran again and do not count are left out.
fn trials(path: &Path, table: &Table, exports: &mut Vec<Exported>) -> Result<Table, CompareError> {
    let at = |name: &str| table.head.iter().position(|own| own == name);
    let [trial, status, started, warnings] = ["trial", "status", "started", "warnings"].map(at);
    let mut export =
        Exported { source: path.to_string_lossy().into_owned(), ..Exported::default() };
    let mut seen: BTreeMap<(bool, &str), &str> = BTreeMap::new();
    let mut rows = Vec::new();
    for (line, row) in &table.rows {
        let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).map_or("", String::as_str);
        let (is_repeated, begun) = (cell(status) == "repeated", cell(started));
        match seen.insert((is_repeated, cell(trial)), begun) {
            Some(first) if first == begun => continue,
            Some(_) if !is_repeated => {
                return Err(CompareError::Line {
                    path: path.to_owned(),
                    line: *line,
                    got: cell(trial).chars().take(40).collect(),
                    wanted: "a trial that was not there yet: this is of another campaign",
                    remedy: "export each results directory into a file of its own",
                });
            }
            _ => {}
        }
        if is_repeated {
            export.repeated += 1;
            continue;
        }
        export.trials += 1;
        export.failed += usize::from(cell(status) == "failed");
        export.warned += usize::from(!cell(warnings).is_empty());
        rows.push((*line, row.clone()));
    }
    exports.push(export);
    Ok(Table { head: table.head.clone(), rows })
}

/// A trial of the file.
struct Trial<'t> {
    line: usize,
    name: &'t str,
    block: u32,
    variant: &'t str,
    is_baseline: bool,
    traffic: &'t str,
    is_ok: bool,
    /// Whether nothing but the device bounded its rate.
    is_device_alone: bool,
    /// The measure that has a figure of its own.
    measure: Option<Measure>,
    /// Rate, cost, and the figure of its own.
    figures: [&'t str; 3],
    tick: Tick,
}

impl Trial<'_> {
    fn figure(&self, metric: Metric) -> &str {
        let place = match metric {
            Metric::Rate => 0,
            Metric::Cost => 1,
            Metric::Own(_) => 2,
        };
        self.figures[place]
    }
}

fn trial<'t>(path: &Path, table: &'t Table, place: usize) -> Result<Trial<'t>, CompareError> {
    let (line, row) = &table.rows[place];
    let cell = |name: &str| {
        let at = table.head.iter().position(|own| own == name);
        at.and_then(|at| row.get(at)).map_or("", String::as_str)
    };
    let has_own = !cell("figure_unit").is_empty();
    let measure = Measure::ALL.into_iter().find(|own| own.name() == cell("measure"));
    let is_counted = cell("clock") == Tick::Instruction.name();
    Ok(Trial {
        line: *line,
        name: cell("trial"),
        block: block_number(path, *line, cell("block"))?,
        variant: cell("variant"),
        is_baseline: cell("is_baseline") == "true",
        traffic: cell("traffic"),
        is_ok: cell("status") == "ok",
        is_device_alone: cell("limited_by") == "device",
        measure: measure.filter(|own| has_own && own.is_benchmark()),
        figures: ["trial_rate_pps", "trial_cost_ns", "figure"].map(cell),
        tick: if is_counted { Tick::Instruction } else { Tick::Nanosecond },
    })
}

/// The series of each traffic, the baseline first: of the figure that decides between it and each variant, or where
/// there are other sources or a figure is asked for, of all that the trials have.
fn series(path: &Path, table: &Table, options: &Options) -> Result<Vec<Series>, CompareError> {
    let all: Result<Vec<Trial<'_>>, CompareError> =
        (0..table.rows.len()).map(|place| trial(path, table, place)).collect();
    let all = all?;
    let named = options.baseline.as_deref();
    let baseline = all.iter().find(|own| named.is_some_and(|name| own.variant == name));
    let baseline = baseline.or_else(|| all.iter().find(|own| own.is_baseline));
    let Some(baseline) = baseline.or(all.first()).map(|own| own.variant) else {
        return Err(CompareError::Empty { path: path.to_owned(), detail: String::new() });
    };
    let variants = distinct(all.iter().map(|own| own.variant));
    let is_alone = options.sources.len() == 1 && options.metric.is_none();
    let mut found: Vec<Series> = Vec::new();
    for traffic in distinct(all.iter().map(|own| own.traffic)) {
        let of = |variant: &str| -> Vec<&Trial<'_>> {
            all.iter().filter(|own| own.traffic == traffic && own.variant == variant).collect()
        };
        let base = of(baseline);
        let mut begun: Vec<Metric> = Vec::new();
        let others = variants.iter().filter(|name| **name != baseline);
        for variant in others.map(|name| of(name)).filter(|own| !own.is_empty()) {
            let both: Vec<&Trial<'_>> = base.iter().chain(&variant).copied().collect();
            let metrics = if is_alone { vec![deciding(&both)] } else { every(&both) };
            for metric in metrics {
                if !begun.contains(&metric) && !base.is_empty() {
                    begun.push(metric);
                    found.push(one(path, &base, metric)?);
                }
                found.push(one(path, &variant, metric)?);
            }
        }
        if begun.is_empty() && variants == [baseline] {
            for metric in every(&base) {
                found.push(one(path, &base, metric)?);
            }
        }
    }
    Ok(found)
}

fn distinct<'t>(all: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut found = Vec::new();
    for own in all {
        if !found.contains(&own) {
            found.push(own);
        }
    }
    found
}

/// As [`Metric::deciding`].
fn deciding(trials: &[&Trial<'_>]) -> Metric {
    let kept = || trials.iter().filter(|own| own.is_ok);
    if let Some(measure) = kept().find_map(|own| own.measure) {
        return Metric::Own(measure);
    }
    let has_cost = kept().all(|own| !own.figure(Metric::Cost).is_empty());
    let is_bounded = kept().any(|own| !own.is_device_alone);
    if is_bounded && has_cost { Metric::Cost } else { Metric::Rate }
}

/// The figures that say something about the device: a rate that something else bounded does not where there is a cost.
fn every(trials: &[&Trial<'_>]) -> Vec<Metric> {
    let has_cost = trials.iter().all(|own| !own.is_ok || !own.figure(Metric::Cost).is_empty());
    match deciding(trials) {
        Metric::Rate if has_cost => vec![Metric::Rate, Metric::Cost],
        metric => vec![metric],
    }
}

/// The figures of one variant with one traffic.
fn one(path: &Path, trials: &[&Trial<'_>], metric: Metric) -> Result<Series, CompareError> {
    let first = trials[0];
    let mut own = Series {
        name: first.variant.to_owned(),
        group: first.traffic.to_owned(),
        metric: metric.title().to_owned(),
        unit: metric.unit_in(first.tick).to_owned(),
        direction: metric.direction(),
        said_by: SaidBy::Source,
        ..Series::plain(path, Vec::new(), false)
    };
    let mut blocks = Vec::new();
    for trial in trials {
        match trial.figure(metric) {
            text if trial.is_ok && !text.is_empty() => {
                own.values.push(number(path, trial.line, text)?);
                blocks.push(trial.block);
            }
            _ => {
                own.failed.push(trial.name.to_owned());
                own.failed_blocks.push(trial.block);
            }
        }
    }
    own.blocks = Some(blocks);
    Ok(own)
}
