//! JSON: an array of numbers, an object of such arrays, an array of records or a record a line, or hyperfine's export.

use std::path::Path;

use serde_json::Value;

use super::exported;
use super::table::Table;
use crate::{CompareError, Exported, Options};
use fwdlab_claims::runs::Series;

/// Reads a JSON document.
pub(crate) fn read(
    path: &Path,
    text: &str,
    options: &Options,
    exports: &mut Vec<Exported>,
) -> Result<Vec<Series>, CompareError> {
    let wrong = |reason: String| CompareError::Json { path: path.to_owned(), reason };
    let value = match serde_json::from_str(text) {
        Ok(Value::Object(own)) if own.keys().any(|name| name == "trial") => {
            Value::Array(vec![Value::Object(own)])
        }
        Ok(value) => value,
        Err(error) => lines(text).unwrap_or_else(|| Err(error.to_string())).map_err(wrong)?,
    };
    match &value {
        Value::Array(items) if items.iter().all(Value::is_number) => {
            Ok(vec![Series::plain(path, numbers(items), options.is_lower_better)])
        }
        Value::Array(items) => records(path, items, options, exports),
        Value::Object(members) => {
            if let Some(Value::Array(results)) = members.get("results") {
                return hyperfine(path, results, options)
                    .ok_or_else(|| wrong("results without `times`".to_owned()));
            }
            members
                .iter()
                .map(|(name, value)| match value {
                    Value::Array(items) if items.iter().all(Value::is_number) => Ok(Series {
                        name: name.clone(),
                        ..Series::plain(path, numbers(items), options.is_lower_better)
                    }),
                    _ => Err(wrong(format!("member `{name}` is no array of numbers"))),
                })
                .collect()
        }
        _ => Err(wrong("a single value".to_owned())),
    }
}

/// The records of a text with one in each line; `None` of other texts.
fn lines(text: &str) -> Option<Result<Value, String>> {
    let mut items = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(item @ Value::Object(_)) => items.push(item),
            _ if items.is_empty() => return None,
            Ok(_) => return Some(Err(format!("line {} is no record", index + 1))),
            Err(error) => return Some(Err(format!("line {}: {error}", index + 1))),
        }
    }
    Some(Ok(Value::Array(items)))
}

fn numbers(items: &[Value]) -> Vec<f64> {
    items.iter().filter_map(Value::as_f64).collect()
}

/// An array of objects is a table whose head is the union of their members.
fn records(
    path: &Path,
    items: &[Value],
    options: &Options,
    exports: &mut Vec<Exported>,
) -> Result<Vec<Series>, CompareError> {
    let mut head: Vec<String> = Vec::new();
    for member in items.iter().filter_map(Value::as_object).flat_map(|record| record.keys()) {
        if !head.contains(member) {
            head.push(member.clone());
        }
    }
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let mut rows = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(record) = item.as_object() else {
            let reason = format!("element {} is no record", index + 1);
            return Err(CompareError::Json { path: path.to_owned(), reason });
        };
        rows.push((index + 1, head.iter().map(|name| cell(record.get(name))).collect()));
    }
    exported::read(path, Table { head, rows }, options, exports)
}

/// hyperfine's `--export-json`: one result per command with its times in seconds. A run that ended with another
/// exit code than 0 (none: a signal ended it) did not do its work, however fast: it FAILED.
fn hyperfine(path: &Path, results: &[Value], options: &Options) -> Option<Vec<Series>> {
    results
        .iter()
        .map(|result| {
            let times = result.get("times")?.as_array()?;
            let codes =
                result.get("exit_codes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let is_failed =
                |at: &usize| codes.get(*at).is_some_and(|code| code.as_i64() != Some(0));
            let (failed, ended): (Vec<usize>, Vec<usize>) = (0..times.len()).partition(is_failed);
            let values = ended.into_iter().filter_map(|at| times[at].as_f64()).collect();
            let failed = failed.into_iter().map(|at| format!("run {}", at + 1)).collect();
            let name = result.get("command")?.as_str()?.to_owned();
            let plain = Series::plain(path, values, options.is_lower_better);
            Some(Series { name, failed, ..plain }.of_metric("time", "s"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_hyperfine_that_failed_is_no_fast_run() {
        let text = r#"{"results": [{"command": "a", "times": [1.0, 0.1, 1.1, 0.2], "exit_codes": [0, 1, 0, null]},
            {"command": "b", "times": [2.0, 2.1]}]}"#;
        let found = read(Path::new("h.json"), text, &Options::default(), &mut Vec::new()).unwrap();
        assert_eq!(
            (&found[0].values, &found[0].failed),
            (&vec![1.0, 1.1], &vec!["run 2".into(), "run 4".into()])
        );
        assert_eq!((&found[1].values, found[1].failed.len()), (&vec![2.0, 2.1], 0));
    }
}
