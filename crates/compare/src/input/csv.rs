//! Tables in text: cells between commas, semicolons or tabs.

use std::path::Path;

use super::exported;
use super::table::Table;
use crate::{CompareError, Exported, Options};
use fwdlab_claims::runs::Series;

/// Whether a file looks like CSV: by its name, or what separates the cells of its first line.
pub(super) fn is_table(path: &Path, text: &str) -> bool {
    path.extension().is_some_and(|extension| extension == "csv" || extension == "tsv")
        || separator(text).is_some()
}

/// What separates the cells, by the first line that is no comment: a comma; without one, as in spreadsheets of
/// countries with a decimal comma, a semicolon; or tabs between the names of a head. Tabs between numbers are those
/// of a file without a head.
fn separator(text: &str) -> Option<char> {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    let has_tabs = first.trim_end().contains('\t');
    let is_name = |cell: &str| cell.trim().parse::<f64>().is_err();
    match first {
        line if line.contains(',') => Some(','),
        line if line.contains(';') => Some(';'),
        line if has_tabs && line.split('\t').all(is_name) => Some('\t'),
        _ => None,
    }
}

/// Reads CSV (RFC 4180) with or without a head.
pub(super) fn read(
    path: &Path,
    text: &str,
    options: &Options,
    exports: &mut Vec<Exported>,
) -> Result<Vec<Series>, CompareError> {
    let separator = separator(text).unwrap_or(',');
    let mut rows: Vec<(usize, Vec<String>)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(index, line)| (index + 1, cells(line, separator)))
        .collect();
    let Some((_, first)) = rows.first() else {
        return Err(CompareError::Empty { path: path.to_owned(), detail: String::new() });
    };
    let is_head = first.iter().any(|cell| cell.parse::<f64>().is_err());
    if options.column.is_none() && separator == ',' {
        no_decimal_commas(path, &rows, is_head)?;
    }
    let head =
        if is_head { rows.remove(0).1 } else { (1..=first.len()).map(|n| n.to_string()).collect() };
    exported::read(path, Table { head, rows }, options, exports)
}

/// Refuses figures with decimal commas, which would fall apart into two columns: pairs of whole
/// numbers in a table without a head, cells such as `5;2`, and rows with more cells than the head.
fn no_decimal_commas(
    path: &Path,
    rows: &[(usize, Vec<String>)],
    is_head: bool,
) -> Result<(), CompareError> {
    let Some((line, first)) = rows.first() else { return Ok(()) };
    let wrong = |line: usize, cells: &[String], wanted: &'static str| CompareError::Line {
        path: path.to_owned(),
        line,
        got: cells.join(",").chars().take(40).collect(),
        wanted,
        remedy: "write numbers with a decimal point; columns of whole numbers need a head or --column",
    };
    let is_whole = |cell: &String| {
        let digits = cell.trim_start_matches(['-', '+']);
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    let is_pair =
        |(_, cells): &(usize, Vec<String>)| cells.len() == 2 && cells.iter().all(is_whole);
    if !is_head && rows.iter().all(is_pair) {
        return Err(wrong(*line, first, "a number (a decimal comma makes two of it)"));
    }
    let is_torn = |cell: &String| {
        let mut parts = cell.split([';', ' ', '\t']);
        cell.contains([';', ' ', '\t']) && parts.all(|part| is_whole(&part.to_owned()))
    };
    if first.iter().any(is_torn) {
        return Err(wrong(*line, first, "numbers between commas"));
    }
    let longer = rows.iter().skip(1).find(|(_, cells)| is_head && cells.len() > first.len());
    match longer {
        Some((line, cells)) => Err(wrong(*line, cells, "no more cells than the head has")),
        None => Ok(()),
    }
}

/// The cells of a line; a cell in quotes may hold separators and doubled quotes.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => {
                cells.push(std::mem::take(&mut cell).trim().to_owned())
            }
            _ => cell.push(character),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}
