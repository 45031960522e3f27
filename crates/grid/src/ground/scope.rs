//! What a sentence is held against: of each table that it may be of, the rows and columns that its clauses name.

use std::collections::BTreeSet;

use crate::ground::facts::{Part, Sentence};
use crate::judge::said_before;
use crate::model::{Grid, Measure};
use crate::piece::{Piece, pieces};
use crate::place;
use crate::token::{Number, Token, tokens};

/// Grids with which one is compared.
const MOST_OTHERS: usize = 6;

/// The clauses of a sentence as one grid has them.
pub(crate) struct Seen<'a> {
    pub(crate) number: usize,
    pub(crate) grid: &'a Grid,
    pub(crate) pieces: Vec<Piece>,
    /// Where it is named as a whole.
    pub(crate) heads: Vec<usize>,
    /// Several rows are named by the same words.
    is_group: bool,
    /// Rows and columns that any of its clauses names.
    rows: BTreeSet<usize>,
    columns: BTreeSet<usize>,
}

/// A sentence as all grids have it.
pub(crate) struct Scope<'a> {
    pub(crate) text: &'a str,
    pub(crate) stated: &'a [Number],
    pub(crate) seen: Vec<Seen<'a>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn of(sentence: &Sentence<'a>) -> Self {
        let see = |(number, grid): (usize, &&'a Grid)| {
            let mut own = tokens(sentence.text);
            place::mark(grid, &mut own);
            let pieces = pieces(grid, &own, &said_before(grid, sentence.before));
            let rows = pieces.iter().flat_map(|own| &own.rows).map(|own| own.0).collect();
            let columns = pieces.iter().flat_map(|own| &own.columns).map(|own| own.0).collect();
            let is_head = |token: &&Token| {
                let own = sentence.heads.get(number);
                own.is_some_and(|own| {
                    own.contains(&token.root) || token.parts.iter().any(|part| own.contains(part))
                })
            };
            let heads = pieces
                .iter()
                .flat_map(|own| &own.tokens)
                .filter(is_head)
                .map(|own| own.at)
                .collect();
            let is_group = pieces.iter().any(|own| own.is_group);
            Seen { number, grid, pieces, heads, is_group, rows, columns }
        };
        let seen = sentence.grids.iter().enumerate().map(see).collect();
        Self { text: sentence.text, stated: sentence.stated, seen }
    }

    /// Whether anything is named, or a measurement spoken of.
    pub(crate) fn is_of_any(&self) -> bool {
        const MEASURES: &str = "packet packets rate rates throughput forwarding forwards performance speed latency frames pps \
            original traffic bandwidth";
        let is_named = |own: &Seen<'_>| {
            !own.rows.is_empty() || !own.columns.is_empty() || !own.heads.is_empty()
        };
        let is_measured = |own: &Seen<'_>| own.pieces.iter().any(|piece| piece.has(MEASURES));
        self.seen.iter().any(|own| is_named(own) || is_measured(own))
    }

    /// The grids that a clause is of: those of which it names rows, else columns, else those that the sentence names,
    /// else all.
    pub(crate) fn meant(&self, at: usize) -> Vec<(&Seen<'a>, &Piece)> {
        let all: Vec<(&Seen<'a>, &Piece)> =
            self.seen.iter().filter_map(|own| Some((own, own.piece_at(at)?))).collect();
        let ranks: [fn(&Seen<'_>, &Piece) -> bool; 3] = [
            |_, piece| !piece.rows.is_empty() && !piece.has_taken_rows,
            |_, piece| !piece.columns.is_empty() && !piece.has_taken_columns,
            |seen, _| !seen.rows.is_empty() || !seen.columns.is_empty(),
        ];
        for is_named in ranks {
            let is_own = |(seen, piece): &(&Seen<'a>, &Piece)| {
                is_named(seen, piece) || !seen.heads.is_empty()
            };
            if all.iter().any(|(seen, piece)| is_named(seen, piece)) {
                return all.into_iter().filter(is_own).collect();
            }
        }
        // the one beside which it stands
        let is_first =
            |own: &Seen<'a>| self.seen.first().is_some_and(|first| first.number == own.number);
        all.into_iter().filter(|(seen, _)| is_first(seen) || !seen.heads.is_empty()).collect()
    }

    /// The other grids that a clause may compare with.
    pub(crate) fn others(&self, at: usize, than: usize) -> Vec<(&Seen<'a>, &Piece)> {
        let is_other = |own: &&Seen<'a>| own.number != than;
        let all = self.seen.iter().filter(is_other).take(MOST_OTHERS);
        all.filter_map(|own| Some((own, own.piece_at(at)?))).collect()
    }
}

impl<'a> Seen<'a> {
    /// The clause in which something stands.
    pub(crate) fn piece_at(&self, at: usize) -> Option<&Piece> {
        self.pieces.iter().find(|own| own.tokens.iter().any(|token| token.at == at))
    }

    /// What a clause is held against: rows and columns that it names, else those that the sentence does, else all.
    pub(crate) fn part(&self, piece: &Piece, is_own: impl Fn(usize) -> bool) -> Part<'a> {
        let named = |own: Vec<usize>, taken: bool, all: &BTreeSet<usize>| match () {
            () if !own.is_empty() && !taken => own,
            () => all.iter().copied().collect(),
        };
        let rows = named(piece.own_rows(), piece.has_taken_rows, &self.rows);
        let columns = named(piece.own_columns(), piece.has_taken_columns, &self.columns);
        let columns: Vec<usize> = columns.into_iter().filter(|at| is_own(*at)).collect();
        // of a block medians and means are meant, where nothing says otherwise
        let is_told =
            |at: &usize| !self.grid.is_block || self.grid.columns[*at].measure == Measure::Middle;
        let all =
            || (0..self.grid.columns.len()).filter(|at| is_own(*at)).filter(is_told).collect();
        let (has_rows, has_columns) = (!rows.is_empty(), !columns.is_empty());
        let whole: Vec<usize> = (0..self.grid.rows.len()).collect();
        let rows = if has_rows { rows } else { whole.clone() };
        let is_of_two = has_rows && rows.len() > 1 && !self.is_group;
        let is_partner = |row: &usize| !is_of_two || rows.contains(row) || self.is_nameless(*row);
        Part {
            number: self.number,
            grid: self.grid,
            nameless: whole.iter().copied().filter(|row| self.is_nameless(*row)).collect(),
            partners: whole.into_iter().filter(is_partner).collect(),
            rows,
            columns: if has_columns { columns } else { all() },
            has_rows,
            has_columns,
        }
    }

    /// All of its rows.
    pub(crate) fn whole(&self, piece: &Piece, is_own: impl Fn(usize) -> bool) -> Part<'a> {
        let own = self.part(piece, is_own);
        Part { rows: (0..self.grid.rows.len()).collect(), ..own }
    }

    /// Whether a row has no word that others lack, as "forwarding" beside "forwarding, pf": nothing can name it.
    fn is_nameless(&self, row: usize) -> bool {
        let own = &self.grid.rows[row].words;
        let is_within = |other: usize| other != row && own.is_subset(&self.grid.rows[other].words);
        (0..self.grid.rows.len()).any(is_within)
    }
}
