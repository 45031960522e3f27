//! Sources to series.

mod csv;
mod exported;
mod go_bench;
mod json;
mod plain;
mod table;

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use crate::{CompareError, Exported, Options};
use fwdlab_claims::judge;
use fwdlab_claims::runs::{self, Series};
use fwdlab_claims::setting::Setting;
use fwdlab_guard::input as guard;
use fwdlab_results::Error::{NoDirectory, NoResults};
use fwdlab_results::{JOURNAL_FILE, Metric, Results};

/// Longest input.
const MOST_BYTES: u64 = 1 << 30;

/// Reads every source in order, with what is to be said of exports.
pub(crate) fn read_all(
    options: &Options,
    stdin: &mut dyn Read,
) -> Result<(Vec<Series>, Vec<Exported>), CompareError> {
    let (mut all, mut exports) = (Vec::new(), Vec::new());
    for path in &options.sources {
        let found = if path.is_dir() {
            let results = results(path)?;
            if let Some(line) = results.changed {
                return Err(CompareError::Changed { path: path.clone(), line });
            }
            with_doubts(runs::all(&results), &results)?
        } else {
            read_text(path, options, stdin, &mut exports)?
        };
        if found.iter().all(|series| series.values.is_empty()) {
            return Err(CompareError::Empty { path: path.clone(), detail: String::new() });
        }
        all.extend(found);
    }
    Ok((go_bench::without_nothing(all), exports))
}

/// What a results directory holds.
pub(crate) fn results(dir: &Path) -> Result<Results, CompareError> {
    Results::read(dir).map_err(|error| {
        let is_figures = |entry: std::fs::DirEntry| {
            entry.path().extension().is_some_and(|ending| ending == "pps")
        };
        let mut entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        match matches!(error, NoResults { .. }) && entries.any(is_figures) {
            true => CompareError::FilesOfFigures { dir: dir.to_owned() },
            false => error.into(),
        }
    })
}

/// Series of a campaign with what its own checks say of each: beside another source these were lost.
fn with_doubts(mut all: Vec<Series>, results: &Results) -> Result<Vec<Series>, CompareError> {
    if !results.campaign.is_blocked() {
        return Ok(all); // what logs say stands in the context
    }
    let setting = Setting::read(results)?;
    for own in &mut all {
        let Some(metric) = metric_of(own) else { continue };
        let trials = results.trials_of(&own.name, &own.group);
        let kept = trials.into_iter().filter(|trial| trial.is_ok()).collect();
        let found = judge::checks(&[kept, Vec::new()], metric).into_iter();
        own.doubts = found.map(|own| judge::permitted(own, &setting.allow)).collect();
    }
    Ok(all)
}

/// The figure of a campaign's series.
pub(crate) fn metric_of(series: &Series) -> Option<Metric> {
    let title = series.metric.strip_prefix("sampled ").unwrap_or(&series.metric);
    Metric::named(title)
}

fn read_text(
    path: &Path,
    options: &Options,
    stdin: &mut dyn Read,
    exports: &mut Vec<Exported>,
) -> Result<Vec<Series>, CompareError> {
    if path.file_name().is_some_and(|name| name == JOURNAL_FILE) {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = Some(dir.unwrap_or(Path::new(".")).to_owned());
        return Err(NoDirectory { path: path.to_owned(), dir }.into());
    }
    let failed = |reason| CompareError::Read { path: path.to_owned(), reason };
    let bytes = if path.as_os_str() == "-" {
        guard::limited(stdin, MOST_BYTES).map_err(failed)?
    } else {
        guard::named_bytes(path, MOST_BYTES).map_err(failed)?
    };
    let text = decoded(path, &bytes)?;
    let start = text.trim_start();
    if start.starts_with('{') || start.starts_with('[') {
        json::read(path, &text, options, exports)
    } else if go_bench::is_go_bench(&text) {
        go_bench::read(path, &text, options)
    } else if csv::is_table(path, &text) {
        csv::read(path, &text, options, exports)
    } else {
        plain::read(path, &text, options).map(|series| vec![series])
    }
}

/// The text of a file, without the mark of byte order that spreadsheets put in front of it, by which the first name
/// of a head would be another one; lines that end with a carriage return alone are lines.
fn decoded<'b>(path: &Path, bytes: &'b [u8]) -> Result<Cow<'b, str>, CompareError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(CompareError::Line {
            path: path.to_owned(),
            line: 1,
            got: "UTF-16".to_owned(),
            wanted: "text in UTF-8",
            remedy: "save it as CSV in UTF-8, or convert it: iconv -f UTF-16 -t UTF-8",
        });
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    Ok(match text.contains('\r') && !text.contains('\n') {
        true => text.replace('\r', "\n").into(),
        false => text,
    })
}
