//! One number a line, as in `.pps` files and what ministat reads.

use std::path::Path;

use crate::{CompareError, Options};
use fwdlab_claims::runs::Context;
use fwdlab_claims::runs::Series;

/// Reads a column of numbers; empty lines and comments are skipped.
pub(crate) fn read(path: &Path, text: &str, options: &Options) -> Result<Series, CompareError> {
    let column = column_number(options)?;
    let mut values = Vec::new();
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
    }
    let series = Series::plain(path, values, options.is_lower_better);
    if path.extension().is_some_and(|extension| extension == "pps") {
        let context = Context::beside(path);
        return Ok(Series { context, ..series.of_metric("forwarding rate", "frames/s") });
    }
    Ok(series)
}

fn column_number(options: &Options) -> Result<usize, CompareError> {
    let Some(column) = &options.column else { return Ok(1) };
    column.parse().ok().filter(|number| *number > 0).ok_or_else(|| CompareError::Unknown {
        what: "column",
        name: column.clone(),
        known: vec!["numbers from 1, in files without a head".to_owned()],
    })
}
