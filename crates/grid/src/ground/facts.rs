//! What rows and columns give: their values, what these are apart, to each other, together and in the mean.

use std::collections::BTreeSet;

use crate::bound::value;
use crate::model::{Grid, Measure, Place};
use crate::token::{Number, Unit};

/// A sentence and what stands around it.
#[derive(Clone, Copy, Debug)]
pub struct Sentence<'a> {
    /// The tables, blocks and lists that it may be of.
    pub grids: &'a [&'a Grid],
    /// The words by which each of them is told from the others: of its heading, and those that all of its rows have.
    pub heads: &'a [&'a BTreeSet<String>],
    /// Numbers that the page states of what was done: loads, line rates, what headings and captions say.
    pub stated: &'a [Number],
    /// What stands before it in its paragraph.
    pub before: &'a str,
    /// The sentence.
    pub text: &'a str,
}

/// What is not so of a sentence: where, and what comes nearest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ungrounded {
    /// Where it begins in the sentence.
    pub at: usize,
    /// What the data gives.
    pub data: String,
}

/// Where a fact is from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Cell(usize, Place),
    Pair((usize, Place), (usize, Place)),
    Together,
    /// A ratio that stands there as one.
    Shown(Option<(usize, Place)>),
    Stated,
}

/// A figure that the data gives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    pub(crate) value: f64,
    pub(crate) half: f64,
    pub(crate) from: Source,
}

/// Rows and columns of one grid to which a sentence is held.
#[derive(Clone, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) number: usize,
    pub(crate) grid: &'a Grid,
    /// Rows that are named, or all.
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    /// Rows that nothing can name, so that they may be meant beside these.
    pub(crate) nameless: Vec<usize>,
    /// Rows that these may be held against.
    pub(crate) partners: Vec<usize>,
    /// Whether rows are named, so that others are only what these are held against.
    pub(crate) has_rows: bool,
    pub(crate) has_columns: bool,
}

/// Pairs of one grid up to which they are made: work grows with the square of its cells, and so does what agrees by
/// chance.
const MOST_PAIRS: usize = 20_000;

impl Part<'_> {
    /// Whether it has more pairs than are looked at.
    pub(crate) fn is_large(&self) -> bool {
        let cells = self.rows.len() * self.columns.len();
        cells * (self.partners.len() + self.columns.len()) > MOST_PAIRS
    }

    /// The cells that are spoken of.
    pub(crate) fn places(&self) -> Vec<Place> {
        let of =
            |row: &usize| self.columns.iter().map(|column| (*row, *column)).collect::<Vec<_>>();
        self.rows.iter().flat_map(of).filter(|place| self.grid.at(*place).is_some()).collect()
    }

    /// Each cell that is spoken of with those that differ from it by row or by column only; of several rows, or columns,
    /// that are named each with the others.
    pub(crate) fn pairs(&self) -> Vec<(Place, Place)> {
        let grid = self.grid;
        let unit = |column: usize| grid.columns[column].unit;
        let is_several = |has: bool, own: &[usize]| has && own.len() > 1;
        let rows = &self.partners;
        let columns: Vec<usize> = match is_several(self.has_columns, &self.columns) || grid.is_block
        {
            true => self.columns.clone(),
            false => (0..grid.columns.len()).collect(),
        };
        let mut found = Vec::new();
        for one in self.places() {
            let beside = rows.iter().filter(|row| **row != one.0).map(|row| (*row, one.1));
            let is_like = |at: &usize| *at != one.1 && unit(*at) == unit(one.1);
            let along = columns.iter().copied().filter(is_like).map(|column| (one.0, column));
            // "the worst run of one and the best of the other"
            let is_across = is_several(self.has_columns, &self.columns);
            let across = rows.iter().filter(|row| is_across && **row != one.0);
            let across = across.flat_map(|row| {
                let own = self.columns.iter().filter(|at| is_like(at));
                own.map(|column| (*row, *column)).collect::<Vec<_>>()
            });
            for other in beside.chain(along).chain(across) {
                let is_first = one < other || !self.places_have(other);
                if is_first && grid.at(other).is_some() && found.len() < MOST_PAIRS {
                    found.push((one, other));
                }
            }
        }
        found
    }

    fn places_have(&self, (row, column): Place) -> bool {
        self.rows.contains(&row) && self.columns.contains(&column)
    }
}

/// The cells of a part as a unit has them.
pub(crate) fn cells(part: &Part<'_>, unit: Unit) -> Vec<Fact> {
    let one = |place: Place| {
        let (value, half) = value(part.grid, place, unit)?;
        Some(Fact { value, half, from: Source::Cell(part.number, place) })
    };
    part.places().into_iter().filter_map(one).collect()
}

/// What cells of a part are apart.
pub(crate) fn steps(part: &Part<'_>, unit: Unit) -> Vec<Fact> {
    let one = |(one, other): (Place, Place)| {
        let (a, b) = (value(part.grid, one, unit)?, value(part.grid, other, unit)?);
        let from = Source::Pair((part.number, one), (part.number, other));
        Some(Fact { value: (a.0 - b.0).abs(), half: a.1 + b.1, from })
    };
    let mut found: Vec<Fact> = part.pairs().into_iter().filter_map(one).collect();
    // from the least to the most of its runs
    if part.grid.is_block {
        let of = |measure: Measure| part.grid.columns.iter().position(|own| own.measure == measure);
        if let (Some(least), Some(most)) = (of(Measure::Least), of(Measure::Most)) {
            found.extend(part.rows.iter().filter_map(|row| one(((*row, least), (*row, most)))));
        }
    }
    found
}

/// Cells of two grids that are of rows, or of columns, that are called alike; of blocks those of one measure.
pub(crate) fn across(one: &Part<'_>, other: &Part<'_>) -> Vec<((usize, Place), (usize, Place))> {
    let is_alike = |a: Place, b: Place| {
        let (first, second) = (one.grid, other.grid);
        let rows = [&first.rows[a.0].words, &second.rows[b.0].words];
        let columns = [&first.columns[a.1].name.words, &second.columns[b.1].name.words];
        let is_unit = first.columns[a.1].unit == second.columns[b.1].unit;
        let is_block = first.is_block && second.is_block;
        let is_column = columns[0] == columns[1] && !columns[0].is_empty();
        let is_row = rows[0] == rows[1] && !is_block;
        is_unit && (is_column || is_row)
    };
    let mut found = Vec::new();
    for a in one.places() {
        for b in other.places() {
            if is_alike(a, b) && found.len() < MOST_PAIRS {
                found.push(((one.number, a), (other.number, b)));
            }
        }
    }
    found
}

/// Sums and means of columns, over the rows that are spoken of and over all, and of named columns over rows.
pub(crate) fn together(part: &Part<'_>, unit: Unit) -> Vec<Fact> {
    let all: Vec<usize> = (0..part.grid.rows.len()).collect();
    let columns = part.columns.iter().copied();
    let down = columns.flat_map(|column| {
        [&part.rows, &all].map(|rows| rows.iter().map(|row| (*row, column)).collect::<Vec<Place>>())
    });
    let rows = part.rows.iter().filter(|_| part.has_columns && part.columns.len() > 1);
    let along = rows.map(|row| part.columns.iter().map(|column| (*row, *column)).collect());
    let mut found = Vec::new();
    for places in down.chain(along) {
        let own: Vec<(f64, f64)> =
            places.iter().filter_map(|place| value(part.grid, *place, unit)).collect();
        if own.len() < 2 {
            continue;
        }
        let sum: f64 = own.iter().map(|own| own.0).sum();
        let half: f64 = own.iter().map(|own| own.1).sum();
        let count = f64::from(u32::try_from(own.len()).unwrap_or(u32::MAX));
        found.push(Fact { value: sum, half, from: Source::Together });
        found.push(Fact { value: sum / count, half: half / count, from: Source::Together });
    }
    found
}

/// The ratios of cells, of the larger to the smaller one.
pub(crate) fn ratios(part: &Part<'_>) -> Vec<Fact> {
    let one = |(one, other): (Place, Place)| {
        let (a, b) = (part.grid.at(one)?, part.grid.at(other)?);
        ratio(a, b, Source::Pair((part.number, one), (part.number, other)))
    };
    part.pairs().into_iter().filter_map(one).collect()
}

/// The larger of two numbers to the smaller one.
pub(crate) fn ratio(a: Number, b: Number, from: Source) -> Option<Fact> {
    if a.value <= 0.0 || b.value <= 0.0 {
        return None;
    }
    let value = (a.value / b.value).max(b.value / a.value);
    Some(Fact { value, half: (a.half / a.value + b.half / b.value) * value, from })
}
