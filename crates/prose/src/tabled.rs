//! The rates of a page's tables as sets, each of which is called by its row and its column.

use std::collections::BTreeSet;

use fwdlab_grid::{Grid, Unit};
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_reading::{Cell, Change, Facts, Part, label_words};

use crate::grids::Grids;

/// Most cells of a page: of more it is not told which ones a sentence means.
const MOST: usize = 64;

impl Grids {
    /// The rates of all tables.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::of_parts(vec![Part::default()]);
        for (table, grid) in self.tables().enumerate() {
            add(&mut facts, table, grid);
        }
        if facts.cells.len() > MOST {
            facts.cells.clear();
        }
        changes(&mut facts);
        facts
    }
}

fn add(facts: &mut Facts, table: usize, grid: &Grid) {
    let columns: Vec<usize> = (0..grid.columns.len()).filter(|at| is_of_rates(grid, *at)).collect();
    let families: Vec<Option<NamedFamily>> =
        columns.iter().map(|at| family_of(&grid.columns[*at].name.text)).collect();
    // columns of one family are what is compared, else rows
    let is_of_columns = (1..families.len()).any(|at| families[..at].contains(&families[at]));
    for (row, name) in grid.rows.iter().enumerate() {
        for (place, column) in columns.iter().enumerate() {
            let Some(number) = grid.at((row, *column)) else { continue };
            let head = grid.columns[*column].name.text.as_str();
            let alike = families[..place].iter().filter(|own| **own == families[place]).count();
            let (block, role) =
                if is_of_columns { (1000 * table + row, alike) } else { (1000 * table, row) };
            let of_row = label_words(&name.text.replace('-', " "));
            let names = &of_row | &label_words(head);
            facts.cells.push(Cell {
                part: 0,
                family: families[place].or_else(|| family_of(&name.text)),
                block,
                role,
                names,
                topics: BTreeSet::new(),
                shared: BTreeSet::new(),
                legend: format!("{}, {head}", name.text),
                runs: 1,
                values: [number.value, number.value, number.value, number.value, 0.0],
                all: Vec::new(),
            });
        }
    }
}

/// From the first of each row, or column, to each other one.
fn changes(facts: &mut Facts) {
    let mut found = Vec::new();
    // of more than two it is not said which is the first
    let is_third = |cell: &Cell| {
        let of_block = |own: &&Cell| own.block == cell.block && own.family == cell.family;
        facts.cells.iter().filter(of_block).nth(2).is_some()
    };
    for (variant, cell) in facts.cells.iter().enumerate() {
        if cell.role == 0 || is_third(cell) {
            continue;
        }
        let is_base =
            |own: &Cell| own.role == 0 && own.block == cell.block && own.family == cell.family;
        let Some(base) = facts.cells.iter().position(is_base) else { continue };
        let percent = (cell.mean() / facts.cells[base].mean() - 1.0) * 100.0;
        let (median_percent, half, is_proven) = (percent, 0.0, true);
        found.push(Change { base, variant, percent, median_percent, half, is_proven });
    }
    facts.changes = found;
}

fn family_of(text: &str) -> Option<NamedFamily> {
    text.split(|c: char| !c.is_alphanumeric()).find_map(family_word)
}

/// Whether a column holds packets/s: its unit says so, or its numbers are none of anything else.
fn is_of_rates(grid: &Grid, column: usize) -> bool {
    const LEAST: f64 = 10_000.0;
    let values: Vec<f64> = (0..grid.rows.len())
        .filter_map(|row| grid.at((row, column)))
        .map(|own| own.value)
        .collect();
    match grid.columns[column].unit {
        Unit::Packets => true,
        Unit::Plain => {
            let is_named = family_of(&grid.columns[column].name.text).is_some();
            is_named && !values.is_empty() && values.iter().all(|value| *value > LEAST)
        }
        _ => false,
    }
}
