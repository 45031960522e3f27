//! Tables with a head: CSV, and JSON arrays of records.
//!
//! A column called `variant` splits the rows into series (with `block` they are blocks, with
//! `traffic` they are groups); without one every column of numbers is a series of its own, or the
//! chosen column is the one series of the file. `block` says which rows belong together in either
//! form; `run`, `trial` and the like only number them.

use std::collections::HashSet;
use std::path::Path;

use crate::{CompareError, Options};
use fwdlab_claims::runs::Series;

/// A table of text.
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    /// Each with its line in the file.
    pub(crate) rows: Vec<(usize, Vec<String>)>,
}

/// Whether a file looks like CSV: by its name, or a comma in its first line.
pub(crate) fn is_table(path: &Path, text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    path.extension().is_some_and(|extension| extension == "csv")
        || first.is_some_and(|line| line.contains(','))
}

/// Reads CSV (RFC 4180) with or without a head.
pub(crate) fn read_csv(
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<Vec<Series>, CompareError> {
    let mut rows: Vec<(usize, Vec<String>)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(index, line)| (index + 1, cells(line)))
        .collect();
    let Some((_, first)) = rows.first() else {
        return Err(CompareError::Empty { path: path.to_owned(), detail: String::new() });
    };
    let is_head = first.iter().any(|cell| cell.parse::<f64>().is_err());
    if options.column.is_none() {
        no_decimal_commas(path, &rows, is_head)?;
    }
    let head =
        if is_head { rows.remove(0).1 } else { (1..=first.len()).map(|n| n.to_string()).collect() };
    series(path, &Table { head, rows }, options)
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
        return Err(wrong(*line, first, "a number, where a decimal comma makes two"));
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

/// The cells of a line; a cell in quotes may hold commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(character),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}

/// Names of a column that says which figures were taken together, and of one that only numbers rows: runs of
/// one number need not have been beside each other.
const BLOCK: [&str; 2] = ["block", "round"];
const NUMBER: [&str; 5] = ["run", "trial", "iteration", "index", "#"];

/// The series of a table.
pub(crate) fn series(
    path: &Path,
    table: &Table,
    options: &Options,
) -> Result<Vec<Series>, CompareError> {
    let find = |name: &str| table.head.iter().position(|head| head.eq_ignore_ascii_case(name));
    let chosen = chosen_column(table, options)?;
    let block = BLOCK.into_iter().find_map(find).filter(|block| chosen != Some(*block));
    let mut beside: Vec<usize> = NUMBER.into_iter().filter_map(find).chain(block).collect();
    let Some(variant) = find("variant") else {
        let columns = match chosen {
            Some(column) => vec![column],
            None => numeric_columns(table, &beside),
        };
        let is_only = columns.len() == 1;
        return columns
            .into_iter()
            .map(|column| whole_column(path, table, Column { column, is_only, block }, options))
            .collect();
    };
    let keys = [Some(variant), block, find("traffic"), find("group")];
    beside.extend(keys.iter().flatten());
    let numeric = numeric_columns(table, &beside);
    let value = match (chosen, &numeric[..]) {
        (Some(column), _) => column,
        (None, [column]) => *column,
        (None, []) => {
            return Err(CompareError::Empty {
                path: path.to_owned(),
                detail: " in any column".to_owned(),
            });
        }
        (None, several) => {
            let known = several.iter().map(|column| table.head[*column].clone()).collect();
            return Err(CompareError::Ambiguous { path: path.to_owned(), known });
        }
    };
    by_variant(path, table, (&keys, value), options)
}

fn chosen_column(table: &Table, options: &Options) -> Result<Option<usize>, CompareError> {
    let Some(wanted) = &options.column else { return Ok(None) };
    let by_name = table.head.iter().position(|head| head == wanted);
    let by_number = || {
        wanted.parse().ok().and_then(|n: usize| n.checked_sub(1)).filter(|n| *n < table.head.len())
    };
    by_name.or_else(by_number).map(Some).ok_or_else(|| CompareError::Unknown {
        what: "column",
        name: wanted.clone(),
        known: table.head.clone(),
    })
}

/// Columns in which every cell is a number or empty, and one at least is a number.
fn numeric_columns(table: &Table, keys: &[usize]) -> Vec<usize> {
    let is_numeric = |column: &usize| {
        let cells = || {
            table
                .rows
                .iter()
                .filter_map(|(_, row)| row.get(*column))
                .filter(|cell| !cell.is_empty())
        };
        cells().next().is_some() && cells().all(|cell| cell.parse::<f64>().is_ok())
    };
    (0..table.head.len()).filter(|column| !keys.contains(column)).filter(is_numeric).collect()
}

fn number(path: &Path, line: usize, cell: &str) -> Result<f64, CompareError> {
    cell.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| CompareError::Line {
        path: path.to_owned(),
        line,
        got: cell.chars().take(40).collect(),
        wanted: "a number",
        remedy: "choose another column with --column, or leave the cell empty",
    })
}

/// A column that is a series.
#[derive(Clone, Copy)]
struct Column {
    column: usize,
    /// Whether it is the only one of the file.
    is_only: bool,
    /// The column that says which rows are blocks.
    block: Option<usize>,
}

/// A column as a series: named after the column, or after the file when it is the only one.
fn whole_column(
    path: &Path,
    table: &Table,
    Column { column, is_only, block }: Column,
    options: &Options,
) -> Result<Series, CompareError> {
    let plain = Series::plain(path, Vec::new(), options.is_lower_better);
    let mut series = Series { blocks: block.map(|_| Vec::new()), ..plain };
    let mut seen = HashSet::new();
    for (line, row) in &table.rows {
        let cell = row.get(column).map_or("", String::as_str);
        match (cell, block) {
            ("", None) => {}
            ("", Some(_)) => series.failed.push(format!("line {line}")),
            (cell, _) => {
                series.values.push(number(path, *line, cell)?);
                let own = block.and_then(|block| row.get(block)).map_or("", String::as_str);
                join_block((&mut series, &mut seen), path, *line, own)?;
            }
        }
    }
    let (name, unit) = name_and_unit(&table.head[column]);
    Ok(if is_only {
        series.of_metric(name, unit)
    } else {
        Series { name: name.to_owned(), ..series }.of_metric("", unit)
    })
}

/// Notes the block of a series' last value, where the table has blocks: one that has none of it yet.
fn join_block(
    (series, seen): (&mut Series, &mut HashSet<u32>),
    path: &Path,
    line: usize,
    cell: &str,
) -> Result<(), CompareError> {
    let Some(blocks) = &mut series.blocks else { return Ok(()) };
    let block = block_number(path, line, cell)?;
    if !seen.insert(block) {
        return Err(CompareError::Line {
            path: path.to_owned(),
            line,
            got: format!("block {block}"),
            wanted: "a block that has no value of this variant yet",
            remedy: "give every trial one row; number the blocks of several campaigns on, \
                     or compare their files as campaigns",
        });
    }
    blocks.push(block);
    Ok(())
}

fn by_variant(
    path: &Path,
    table: &Table,
    (keys, value): (&[Option<usize>; 4], usize),
    options: &Options,
) -> Result<Vec<Series>, CompareError> {
    let (metric, unit) = name_and_unit(&table.head[value]);
    let mut all: Vec<Series> = Vec::new();
    let mut seen: Vec<HashSet<u32>> = Vec::new();
    for (line, row) in &table.rows {
        let cell = |column: Option<usize>| {
            column.and_then(|column| row.get(column)).map_or("", String::as_str)
        };
        let name = cell(keys[0]).to_owned();
        let group = [cell(keys[2]), cell(keys[3])].map(str::trim);
        let group =
            group.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" / ");
        let at = all.iter().position(|own| own.name == name && own.group == group).unwrap_or_else(
            || {
                let fresh = Series::plain(path, Vec::new(), options.is_lower_better)
                    .of_metric(metric, unit);
                all.push(Series { name, group, blocks: keys[1].map(|_| Vec::new()), ..fresh });
                seen.push(HashSet::new());
                all.len() - 1
            },
        );
        let text = row.get(value).map_or("", String::as_str);
        if text.is_empty() {
            all[at].failed.push(format!("line {line}"));
            continue;
        }
        all[at].values.push(number(path, *line, text)?);
        join_block((&mut all[at], &mut seen[at]), path, *line, cell(keys[1]))?;
    }
    Ok(all)
}

/// The number of a block: two that are told apart in the file are told apart here.
fn block_number(path: &Path, line: usize, cell: &str) -> Result<u32, CompareError> {
    let value = number(path, line, cell)?;
    if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
        return Ok(value as u32);
    }
    Err(CompareError::Line {
        path: path.to_owned(),
        line,
        got: cell.chars().take(40).collect(),
        wanted: "the number of a block, a whole one from 0 to 4294967295",
        remedy: "number the blocks in the order in which they ran",
    })
}

/// `rate [frames/s]` and `rate (frames/s)` to name and unit.
fn name_and_unit(head: &str) -> (&str, &str) {
    let split = |open: char, close: char| {
        let (name, rest) = head.split_once(open)?;
        Some((name.trim(), rest.trim_end().strip_suffix(close)?.trim()))
    };
    split('[', ']').or_else(|| split('(', ')')).unwrap_or((head, ""))
}
