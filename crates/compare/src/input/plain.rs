//! One number a line, as in `.pps` files and what ministat reads.

use std::path::Path;

use crate::{CompareError, Options};
use fwdlab_claims::runs::Context;
use fwdlab_claims::runs::{Series, direction_of};

/// Reads a column of numbers; empty lines and comments are skipped.
pub(crate) fn read(path: &Path, text: &str, options: &Options) -> Result<Series, CompareError> {
    let column = column_number(options)?;
    let is_rate = path.extension().is_some_and(|extension| extension == "pps");
    let (mut values, mut unit) = (Vec::new(), None);
    only_column(
        path,
        text.lines().map(|line| line.split('#').next().unwrap_or_default()),
        options,
    )?;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let Some(token) = line.split_whitespace().nth(column - 1) else { continue };
        let value: f64 =
            token.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
                CompareError::Line {
                    path: path.to_owned(),
                    line: index + 1,
                    got: token.chars().take(40).collect(),
                    wanted: "a number",
                    remedy: "mark the line with #, or choose another column with --column",
                }
            })?;
        values.push(value);
        let behind =
            line.split_whitespace().nth(column).filter(|word| direction_of(word).is_some());
        let is_known = |word: &str| !is_rate || ["pps", "frames/s", "packets/s"].contains(&word);
        let own = *unit.get_or_insert(behind);
        if own != behind || !behind.is_none_or(is_known) {
            return Err(CompareError::Line {
                path: path.to_owned(),
                line: index + 1,
                got: line.trim().chars().take(40).collect(),
                wanted: if is_rate {
                    "a number of frames/s"
                } else {
                    "a number in the unit of the first line"
                },
                remedy: "write all figures in one unit",
            });
        }
    }
    let series = Series::plain(path, values, options.is_lower_better);
    if let Some(unit) = unit.flatten().filter(|_| !is_rate) {
        return Ok(series.of_metric("", unit));
    }
    if is_rate {
        let context = Context::beside(path);
        return Ok(Series { context, ..series.of_metric("forwarding rate", "frames/s") });
    }
    Ok(series)
}

/// Refuses several numbers a line where nobody says which of them is meant: the first may be their own number.
fn only_column<'a>(
    path: &Path,
    lines: impl Iterator<Item = &'a str>,
    options: &Options,
) -> Result<(), CompareError> {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let mut columns: Option<usize> = None;
    for line in lines {
        match line.split_whitespace().take_while(|word| is_number(word)).count() {
            0 if line.trim().is_empty() => {}
            own => columns = Some(columns.map_or(own, |least: usize| least.min(own))),
        }
    }
    match columns {
        Some(count) if count > 1 && options.column.is_none() => {
            let known = (1..=count).map(|column| column.to_string()).collect();
            Err(CompareError::Columns { path: path.to_owned(), known })
        }
        _ => Ok(()),
    }
}

fn column_number(options: &Options) -> Result<usize, CompareError> {
    let Some(column) = &options.column else { return Ok(1) };
    column.parse().ok().filter(|number| *number > 0).ok_or_else(|| CompareError::Unknown {
        what: "column",
        name: column.clone(),
        known: vec!["numbers from 1, in files without a head".to_owned()],
    })
}
