//! What a page shows in rows and columns: a Markdown table, or the figures of a block of ministat's.

use std::collections::BTreeSet;

use fwdlab_netbenches::page::Item;

use crate::token::{Number, Token, Unit, root_of, tokens, unit_of, value_of_word};

/// What the values of a column are of their measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Least,
    Most,
    Middle,
    Spread,
    Open,
}

/// What a row or a column is called.
#[derive(Clone, Debug, Default)]
pub struct Name {
    pub text: String,
    /// Words and numbers, folded.
    pub words: BTreeSet<String>,
}

impl Name {
    pub fn of(text: &str) -> Self {
        // "1,000" is one word
        let bare = without_commas(text);
        let parts = bare.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '%'));
        let words = parts.map(|own| own.trim_matches('.')).filter(|own| !own.is_empty());
        // "guest.vtnet", and not "6.9" or "a.4"
        let parts = |own: &'_ str| -> Vec<String> {
            // "r368606.inet4.pps" is a file
            let is_file = own.ends_with(".pps");
            let is_name =
                is_file || own.contains('.') && !own.contains(|c: char| c.is_ascii_digit());
            let parts = own.split('.').filter(|part| is_name && part.len() > 2);
            parts.map(root_of).chain([root_of(own)]).collect()
        };
        Self { text: text.trim().to_owned(), words: words.flat_map(parts).collect() }
    }
}

/// A text without the commas that part the thousands of its numbers.
fn without_commas(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let parts_thousands = |at: usize| {
        at > 0 && is_digit(at - 1) && (at + 1..at + 4).all(is_digit) && !is_digit(at + 4)
    };
    let kept = text.char_indices().filter(|(at, c)| *c != ',' || !parts_thousands(*at));
    kept.map(|(_, c)| c).collect()
}

/// A column of values.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: Name,
    pub unit: Unit,
    pub measure: Measure,
}

/// Rows and columns with their values in base units.
#[derive(Clone, Debug)]
pub struct Grid {
    pub rows: Vec<Name>,
    pub columns: Vec<Column>,
    pub values: Vec<Vec<Option<Number>>>,
    /// What heads the names of rows, folded.
    pub head: BTreeSet<String>,
    /// Words that all rows have, and by which none is told from another.
    pub shared: BTreeSet<String>,
    /// First and last line.
    pub lines: (usize, usize),
    /// A block of sets; the first is what the others are held against.
    pub is_block: bool,
    /// A list of figures.
    pub is_list: bool,
}

/// A cell by its row and its column.
pub type Place = (usize, usize);

impl Grid {
    pub fn at(&self, (row, column): Place) -> Option<Number> {
        *self.values.get(row)?.get(column)?
    }

    /// "x has y under z", for people.
    pub fn shown(&self, (row, column): Place) -> String {
        let Some(own) = self.at((row, column)) else { return String::new() };
        let (value, unit) = match self.columns[column].unit {
            Unit::Packets if own.value >= 1e6 => (own.value / 1e6, " Mpps"),
            Unit::Packets => (own.value / 1e3, " kpps"),
            Unit::Bits => (own.value / 1e9, " Gb/s"),
            Unit::Seconds if own.value < 1e-6 => (own.value * 1e9, " ns"),
            Unit::Seconds if own.value >= 1.0 => (own.value, " s"),
            Unit::Seconds if own.value >= 1e-3 => (own.value * 1e3, " ms"),
            Unit::Seconds => (own.value * 1e6, " us"),
            Unit::Percent => (own.value, " %"),
            Unit::Watts => (own.value, " W"),
            _ => (own.value, ""),
        };
        let value = (value * 1e4).round() / 1e4;
        let column = self.columns[column].name.text.as_str();
        let joint = if column.is_empty() { "" } else { ", " };
        format!("'{}'{joint}{column}: {value}{unit}", self.rows[row].text)
    }

    /// The table that some rows of a page are; `about` is what stands above it.
    pub fn of_table(rows: &[&Item], about: &str) -> Option<Self> {
        let is_rule = |row: &Item| row.text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        let [header, rule, body @ ..] = rows else { return None };
        if !is_rule(rule) || body.is_empty() || body.len() > MOST_ROWS {
            return None;
        }
        let mut cells: Vec<Vec<&str>> = vec![cells_of(&header.text)];
        cells.extend(body.iter().map(|row| cells_of(&row.text)));
        if is_numbered(&cells) {
            for row in &mut cells {
                row.remove(0);
            }
        }
        if has_units_of_rows(&cells) {
            cells = turned(&cells);
        }
        Self::of_cells(&cells, (header.line, rows.last()?.line), about)
    }

    /// The table of some cells, the first row of which are the heads of columns.
    fn of_cells(cells: &[Vec<&str>], lines: (usize, usize), about: &str) -> Option<Self> {
        let (names, body) = cells.split_first()?;
        let units = units_of(names, body, about);
        let column = |(name, unit): (&&str, &Option<(Unit, f64)>)| {
            let name = Name::of(name);
            let measure = measure_of(&name);
            Column { name, unit: unit.map_or(Unit::Plain, |own| own.0), measure }
        };
        let mut grid = Self {
            rows: Vec::new(),
            columns: names.iter().skip(1).zip(&units).map(column).collect(),
            values: Vec::new(),
            head: Name::of(names.first()?).words,
            shared: BTreeSet::new(),
            lines,
            is_block: false,
            is_list: false,
        };
        // where the first column repeats itself, the second tells its rows apart
        let keys: BTreeSet<&str> = body.iter().filter_map(|row| row.first().copied()).collect();
        let is_double = keys.len() < body.len() && names.len() > 3;
        if is_double {
            grid.head.extend(Name::of(names[1]).words);
        }
        for row in body {
            let (key, values) = row.split_first()?;
            let second = values.first().filter(|_| is_double).map_or("", |own| *own);
            grid.rows.push(Name::of(&format!("{key} {second}")));
            let value = |at: usize| {
                let cell = values.get(at).filter(|_| at > 0 || !is_double)?;
                value_of(cell, units[at].map_or(1.0, |own| own.1))
            };
            grid.values.push((0..grid.columns.len()).map(value).collect());
        }
        grid.take_units_of_cells();
        grid.shared = shared(&grid.rows);
        Some(grid)
    }

    /// The sets of a block with what ministat prints of them; what stands above it may name their unit.
    pub fn of_block(lines: (usize, usize), sets: &[(&str, [f64; 5])], above: &str) -> Self {
        const NAMES: [&str; 5] = ["Min", "Max", "Median", "Avg", "Stddev"];
        let largest = sets.iter().map(|(_, values)| values[1]).fold(0.0, f64::max);
        let (unit, scale) = unit_above(above, largest).unwrap_or((Unit::Packets, 1.0));
        let column = |name: &&str| {
            let name = Name::of(name);
            Column { measure: measure_of(&name), name, unit }
        };
        let number = |value: &f64| Some(Number { value: *value * scale, half: 0.0, unit });
        let rows: Vec<Name> = sets.iter().map(|(legend, _)| Name::of(legend)).collect();
        Self {
            shared: shared(&rows),
            rows,
            columns: NAMES.iter().map(column).collect(),
            values: sets.iter().map(|(_, values)| values.iter().map(number).collect()).collect(),
            head: BTreeSet::new(),
            lines,
            is_block: true,
            is_list: false,
        }
    }

    /// Where the head of a column has no unit, its cells may have one.
    fn take_units_of_cells(&mut self) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let mut own = self.values.iter().filter_map(|row| row[at]).map(|own| own.unit);
            if let Some(unit) = own.next()
                && (column.unit == Unit::Plain || unit == Unit::Percent)
                && own.all(|other| other == unit)
            {
                column.unit = unit;
            }
        }
    }
}

/// Rows of a table up to which its sentences are read: work grows with rows and sentences.
pub(crate) const MOST_ROWS: usize = 512;

/// Whether the first column only counts rows: "#", 1, 2, ...
fn is_numbered(cells: &[Vec<&str>]) -> bool {
    let Some((names, body)) = cells.split_first() else { return false };
    let is_count = |(at, row): (usize, &Vec<&str>)| row[0].parse() == Ok(at + 1);
    let is_word = |row: &Vec<&str>| row.get(1).is_some_and(|own| own.contains(char::is_alphabetic));
    names.len() > 2 && body.iter().all(is_word) && body.iter().enumerate().all(is_count)
}

/// Whether what is measured stands in the first column, and what it is measured of above: "Throughput (Gbit/s)" of a
/// row, and no unit in the heads of columns.
fn has_units_of_rows(cells: &[Vec<&str>]) -> bool {
    let Some((names, body)) = cells.split_first() else { return false };
    let has_unit = |name: &&str| unit_within(name).is_some();
    let of_rows = body.iter().filter_map(|row| row.first()).filter(|own| has_unit(own)).count();
    2 * of_rows > body.len() && !names.iter().skip(1).any(has_unit)
}

/// Rows as columns; what a short row lacks is empty.
fn turned<'a>(cells: &[Vec<&'a str>]) -> Vec<Vec<&'a str>> {
    let width = cells.first().map_or(0, Vec::len);
    let column = |at: usize| cells.iter().map(|row| row.get(at).copied().unwrap_or("")).collect();
    (0..width).map(column).collect()
}

/// Words that all of several names have.
pub(crate) fn shared(names: &[Name]) -> BTreeSet<String> {
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return BTreeSet::new();
    };
    first
        .words
        .iter()
        .filter(|word| rest.iter().all(|own| own.words.contains(*word)))
        .cloned()
        .collect()
}

/// The last unit of a text. A per cent sign beside digits is part of a name: "99.9 %".
fn unit_within(text: &str) -> Option<(Unit, f64)> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ',');
    if text.contains("(s)") || text.contains("[s]") {
        return Some((Unit::Seconds, 1.0));
    }
    let has_digits = text.contains(|c: char| c.is_ascii_digit());
    let is_unit = |own: &&str| *own != "x" && (*own != "%" || !has_digits);
    text.split(is_end).filter(is_unit).rev().find_map(unit_of)
}

/// The unit at the end of what stands above a block, and what it is in base units: "AES-GCM, Mbit/s", "raw rate, Mpps".
/// That of a number is of a link; and where values are as large as packets/s are, they are that.
pub fn unit_above(text: &str, largest: f64) -> Option<(Unit, f64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (last, before) = words.split_last()?;
    let is_of_number = before.last().is_some_and(|own| own.ends_with(|c: char| c.is_ascii_digit()));
    let is_own = |(unit, scale): &(Unit, f64)| match unit {
        Unit::Bits => true,
        Unit::Packets => largest * scale < MOST_PACKETS,
        _ => false,
    };
    unit_of(last).filter(is_own).filter(|_| !is_of_number)
}

/// More packets/s than anything forwards.
const MOST_PACKETS: f64 = 1e10;

/// The units of columns: what their heads say, else what stands above the table.
fn units_of(names: &[&str], body: &[Vec<&str>], above: &str) -> Vec<Option<(Unit, f64)>> {
    let of_all = unit_within(above);
    let mut units: Vec<Option<(Unit, f64)>> =
        names.iter().skip(1).map(|name| unit_within(name)).collect();
    let is_plain = |at: usize| {
        let cell = |row: &Vec<&str>| row.get(at + 1).is_some_and(|own| tokens(own).len() <= 1);
        body.iter().all(cell)
    };
    let is_none = units.iter().all(Option::is_none);
    // what is counted has no unit from above
    const COUNTS: [&str; 9] =
        ["run", "n", "queue", "core", "flow", "count", "number", "trial", "bench"];
    let counts = |at: usize| {
        let words = Name::of(names[at + 1]).words;
        COUNTS.iter().any(|word| words.contains(*word))
    };
    for (at, own) in units.iter_mut().enumerate() {
        let is_measured = is_none && names.len() == 2 || !counts(at);
        if own.is_none() && is_measured && (is_none || is_plain(at)) {
            *own = of_all;
        }
    }
    units
}

/// The one number of a cell, `scale` times as large where it has no unit of its own.
fn value_of(cell: &str, scale: f64) -> Option<Number> {
    // "+16.9 % ± 0.7 %"
    let cell = cell.split('±').next().and_then(|own| own.split("+/-").next()).unwrap_or(cell);
    let own = tokens(cell);
    let mut numbers = own.iter().filter_map(|own| own.number);
    let (number, None) = (numbers.next()?, numbers.next()) else { return None };
    let scale = if number.unit == Unit::Plain { scale } else { 1.0 };
    let sign = if cell.trim_start().starts_with(['-', '−']) { -1.0 } else { 1.0 };
    Some(Number {
        value: number.value * scale * sign,
        half: number.half * scale,
        unit: number.unit,
    })
}

pub fn cells_of(row: &str) -> Vec<&str> {
    row.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
}

/// What a column measures, by its name.
pub fn measure_of(name: &Name) -> Measure {
    let has = |words: &[&str]| name.words.iter().any(|own| words.contains(&own.as_str()));
    match () {
        () if has(&["min", "minimum", "lowest"]) => Measure::Least,
        () if has(&["max", "maximum", "peak", "highest"]) => Measure::Most,
        () if has(&["avg", "average", "mean", "median"]) => Measure::Middle,
        () if has(&["stddev", "sd", "deviation", "spread", "sigma", "jitter"]) => Measure::Spread,
        () => Measure::Open,
    }
}

/// Whether a token is a word or a number of a name.
pub fn is_of(token: &Token, name: &Name) -> bool {
    name.words.contains(&token.root)
        || name.words.contains(&token.text)
        || name.words.iter().any(|word| is_same_number(token, word))
}

/// Whether a token is the number that a word of a name is, however both are written: "a million", "1M".
pub fn is_same_number(token: &Token, word: &str) -> bool {
    let said = token.number.filter(|own| own.unit == Unit::Plain && own.value >= 100.0);
    said.is_some_and(|own| value_of_word(word) == Some(own.value))
}
