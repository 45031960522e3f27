//! Tables with a head: CSV, and JSON arrays of records. Every column of figures is read, or refused with its line:
//! one that was left out for a single cell would leave out a variant.
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
    // A second one of them, as rounds of blocks, is no variant either.
    let mut beside: Vec<usize> = BLOCK.into_iter().chain(NUMBER).filter_map(find).collect();
    let Some(variant) = find("variant") else {
        let columns = match chosen {
            Some(column) => vec![column],
            None => distinct(path, table, figures(path, table, &beside)?)?,
        };
        let is_only = columns.len() == 1;
        return columns
            .into_iter()
            .map(|column| whole_column(path, table, Column { column, is_only, block }, options))
            .collect();
    };
    let keys = [Some(variant), block, find("traffic"), find("group")];
    beside.extend(keys.iter().flatten());
    let value = match chosen {
        Some(column) => column,
        None => only_figures(path, table, &beside)?,
    };
    by_variant(path, table, (&keys, value), options)
}

/// The one column of figures beside these.
fn only_figures(path: &Path, table: &Table, beside: &[usize]) -> Result<usize, CompareError> {
    match &figures(path, table, beside)?[..] {
        [column] => Ok(*column),
        [] => {
            Err(CompareError::Empty { path: path.to_owned(), detail: " in any column".to_owned() })
        }
        several => {
            let known = several.iter().map(|column| table.head[*column].clone()).collect();
            Err(CompareError::Ambiguous { path: path.to_owned(), known })
        }
    }
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

/// Columns of figures beside these: those in which at least half of the cells that are not empty are numbers, or
/// are written like some. All of them have to be numbers then.
fn figures(path: &Path, table: &Table, beside: &[usize]) -> Result<Vec<usize>, CompareError> {
    let mut found = Vec::new();
    for column in (0..table.head.len()).filter(|column| !beside.contains(column)) {
        let cells = || {
            let all = table.rows.iter().filter_map(|(line, row)| Some((*line, row.get(column)?)));
            all.filter(|(_, cell)| !cell.is_empty())
        };
        let is_figure = |cell: &str| cell.parse::<f64>().is_ok() || is_marked(cell);
        let count = cells().filter(|(_, cell)| is_figure(cell)).count();
        if count == 0 || 2 * count < cells().count() {
            continue;
        }
        for (line, cell) in cells() {
            number(path, line, cell)?;
        }
        found.push(column);
    }
    Ok(found)
}

/// Whether a cell is a number with a decimal comma or marks of thousands: `1,099.5`, `1 099`, `1.099,5`. Dots alone
/// make versions and addresses.
fn is_marked(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['-', '+']);
    let is_mark =
        |c: char| matches!(c, ',' | '.' | ' ' | '_' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}');
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || is_mark(c))
        && digits.chars().any(|c| is_mark(c) && c != '.')
}

/// Refuses two variants of one name: a sentence about them would name neither.
fn distinct(path: &Path, table: &Table, columns: Vec<usize>) -> Result<Vec<usize>, CompareError> {
    let mut names = HashSet::new();
    match columns.iter().find(|column| !names.insert(&table.head[**column])) {
        Some(twice) => {
            Err(CompareError::Twice { path: path.to_owned(), name: table.head[*twice].clone() })
        }
        None => Ok(columns),
    }
}

pub(super) fn number(path: &Path, line: usize, cell: &str) -> Result<f64, CompareError> {
    cell.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| CompareError::Line {
        path: path.to_owned(),
        line,
        got: cell.chars().take(40).collect(),
        wanted: "a number",
        remedy: match is_marked(cell) {
            true => "write numbers with a decimal point and without marks of thousands",
            false => {
                "leave the cell empty where a trial has no figure, or choose another column with \
                 --column"
            }
        },
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
        let own = block.and_then(|block| row.get(block)).map_or("", String::as_str);
        match (cell, block) {
            ("", None) => {}
            ("", Some(_)) => fail(&mut series, path, *line, own)?,
            (cell, _) => {
                series.values.push(number(path, *line, cell)?);
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

/// Notes a row without a figure, and its block where the table has blocks.
fn fail(series: &mut Series, path: &Path, line: usize, cell: &str) -> Result<(), CompareError> {
    if series.blocks.is_none() {
        series.failed.push(format!("line {line}"));
        return Ok(());
    }
    let block = block_number(path, line, cell)?;
    series.failed.push(format!("block {block} in line {line}"));
    series.failed_blocks.push(block);
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
            fail(&mut all[at], path, *line, cell(keys[1]))?;
            continue;
        }
        all[at].values.push(number(path, *line, text)?);
        join_block((&mut all[at], &mut seen[at]), path, *line, cell(keys[1]))?;
    }
    Ok(all)
}

/// The number of a block: two that are told apart in the file are told apart here.
pub(super) fn block_number(path: &Path, line: usize, cell: &str) -> Result<u32, CompareError> {
    let is_block =
        |value: &f64| value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(value);
    match cell.parse().ok().filter(is_block) {
        Some(value) => Ok(value as u32),
        None => Err(CompareError::Line {
            path: path.to_owned(),
            line,
            got: cell.chars().take(40).collect(),
            wanted: "the number of a block, a whole one from 0 to 4294967295",
            remedy: "number the blocks in the order in which they ran",
        }),
    }
}

/// `rate [frames/s]` and `rate (frames/s)` to name and unit.
fn name_and_unit(head: &str) -> (&str, &str) {
    let split = |open: char, close: char| {
        let (name, rest) = head.split_once(open)?;
        Some((name.trim(), rest.trim_end().strip_suffix(close)?.trim()))
    };
    split('[', ']').or_else(|| split('(', ')')).unwrap_or((head, ""))
}
