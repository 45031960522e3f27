//! A clause of a sentence: the rows and the columns that it names, and the numbers that are left.

use std::collections::BTreeSet;

pub(crate) use crate::clause::{Claimed, Piece};
use crate::model::{Column, Grid, is_of, is_same_number};
use crate::names::{Phrase, is_column, phrases, place_in_parts, said_of};
use crate::refer::refer;
use crate::token::{Seat, Token, Unit};

/// Words that part a sentence, beside commas.
const JOINTS: &str = "but while whereas whilst although though yet";

/// The clauses of a sentence as a grid has their words, `said` those of the sentence before.
pub(crate) fn pieces(grid: &Grid, tokens: &[Token], said: &[Piece]) -> Vec<Piece> {
    let mut parts: Vec<Vec<Token>> = vec![Vec::new()];
    for (at, token) in tokens.iter().enumerate() {
        let ends = token.is_first && at > 0 || token.is(JOINTS);
        let is_and = token.is("and or")
            && has_claim(&parts)
            && has_number(&tokens[at..])
            && !is_list(tokens, at);
        if (ends || is_and) && parts.last().is_some_and(|own| !own.is_empty()) {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
    }
    let mut found: Vec<Piece> = Vec::new();
    for part in parts.into_iter().filter(|own| !own.is_empty()) {
        let mut piece = bound(grid, part);
        refer(&mut piece, said, &found);
        if let Some(before) = found.last() {
            narrow(&mut piece, before);
            if piece.rows.is_empty() && !before.rows.is_empty() {
                piece.is_group = before.is_group;
                piece.rows = before.rows.iter().map(|(row, _)| (*row, 0)).collect();
                // "at 90 % load, ..." says of what the rest is
                let is_short = |own: &Piece| own.claimed.is_empty() && own.tokens.len() < 8;
                let is_lead = found.iter().all(is_short);
                piece.has_taken_rows = !is_lead;
            }
            if piece.columns.is_empty() && !before.columns.is_empty() {
                piece.columns = before.columns.iter().map(|(column, _)| (*column, 0)).collect();
                piece.has_taken_columns = true;
            }
        }
        found.push(piece);
    }
    gather(&mut found);
    found
}

/// "For 64-byte IPv4 frames, four queues ...": of the rows that both clauses name.
fn narrow(piece: &mut Piece, before: &Piece) {
    let is_name = before.claimed.is_empty() && before.is_group && piece.is_group;
    let earlier: BTreeSet<usize> = before.rows.iter().map(|own| own.0).collect();
    let shared = |(row, _): &(usize, usize)| earlier.contains(row);
    if is_name && piece.rows.iter().any(shared) {
        piece.rows.retain(shared);
        piece.is_group = piece.own_rows().len() > 2;
    }
}

/// "Deepest drop: mlx5, IPv6, four queues": clauses that only name what the one before them is of.
fn gather(all: &mut Vec<Piece>) {
    const MOST_TOKENS: usize = 7;
    const MOST: &str = "best biggest largest highest greatest deepest worst steepest fastest slowest lowest smallest";
    let is_name = |own: &Piece| {
        let is_bare =
            own.claimed.is_empty() && !own.has(MOST) && !own.has("is are was were has have");
        is_bare && !own.rows.is_empty() && own.tokens.len() < MOST_TOKENS
    };
    let is_of_rest = |at: &usize| {
        let own = &all[*at];
        let is_open = own.rows.is_empty() && own.claimed.is_empty() && own.has(MOST);
        is_open && all[at + 1..].iter().all(is_name)
    };
    let Some(at) = (0..all.len().saturating_sub(1)).find(is_of_rest) else { return };
    let Some(last) = all.last().cloned() else { return };
    let end = all[at].tokens.len();
    all[at].rows = last.rows.iter().map(|(row, _)| (*row, end)).collect();
    all[at].is_group = last.own_rows().len() > 1;
    all.truncate(at + 1);
}

fn has_claim(parts: &[Vec<Token>]) -> bool {
    let is_one = |own: &Token| own.number.is_some_and(|own| own.unit != Unit::Plain);
    parts.last().is_some_and(|part| part.iter().any(is_one))
}

fn has_number(tokens: &[Token]) -> bool {
    tokens.iter().take(12).any(|own| own.number.is_some_and(|own| own.unit != Unit::Plain))
}

/// "Between 64 and 128", "both 4 and 8".
fn is_list(tokens: &[Token], at: usize) -> bool {
    let before = tokens[..at].iter().rev().take(4);
    before.into_iter().any(|own| own.is("between both from"))
}

/// What of a clause is taken by names.
struct Naming<'a> {
    grid: &'a Grid,
    tokens: &'a [Token],
    phrases: Vec<Phrase>,
    /// Tokens that are names, so that a number among them is no claim.
    used: Vec<bool>,
    rows: Vec<(usize, usize)>,
    columns: Vec<(usize, usize)>,
}

impl Naming<'_> {
    /// Whether a token is not part of the whole name of something else.
    fn is_free(&self, at: usize, row: Option<usize>, column: Option<usize>) -> bool {
        let is_own = |own: &Phrase| own.row == row && own.column == column;
        self.phrases.iter().all(|own| !own.tokens.contains(&at) || is_own(own))
    }

    fn take_columns(&mut self) {
        let (grid, tokens) = (self.grid, self.tokens);
        let of = |index: usize| -> Vec<usize> {
            let is_it = |at: &usize| {
                self.is_free(*at, None, Some(index)) && is_column(grid, tokens, *at, index)
            };
            (0..tokens.len()).filter(is_it).collect()
        };
        let all: Vec<Vec<usize>> = (0..grid.columns.len()).map(of).collect();
        for (index, own) in all.iter().enumerate() {
            // "idle power" is of the column that has both words
            let is_more = |other: &Vec<usize>| {
                other.len() > own.len() && own.iter().all(|at| other.contains(at))
            };
            let is_phrase = self.phrases.iter().any(|phrase| phrase.column == Some(index));
            if !is_phrase && all.iter().any(is_more) {
                continue;
            }
            for at in own {
                self.columns.push((index, *at));
                self.used[*at] |=
                    is_of(&tokens[*at], &grid.columns[index].name) || tokens[*at].number.is_some();
            }
        }
    }

    /// What is named by its place; whether it is open which column that is.
    fn take_seats(&mut self) -> bool {
        let mut is_open = false;
        for (at, token) in self.tokens.iter().enumerate() {
            match &token.seat {
                Some(Seat::Row(row)) => self.rows.push((*row, at)),
                Some(Seat::Columns(all)) => {
                    self.columns.extend(all.iter().map(|own| (*own, at)));
                    is_open |= all.len() > 1;
                }
                None => continue,
            }
            self.used[at] = true;
        }
        is_open
    }

    fn take_phrases(&mut self) {
        for phrase in &self.phrases {
            self.rows.extend(phrase.row.map(|row| (row, phrase.tokens[0])));
            self.columns.extend(phrase.column.map(|column| (column, phrase.tokens[0])));
            phrase.tokens.iter().for_each(|at| self.used[*at] = true);
        }
    }

    fn take_rows(&mut self, said: &[BTreeSet<&str>]) {
        for (index, own) in said.iter().enumerate() {
            let is_more =
                |other: &BTreeSet<&str>| other.len() > own.len() && other.is_superset(own);
            let is_phrase = self.phrases.iter().any(|phrase| phrase.row == Some(index));
            if !own.is_empty() && !is_phrase && !said.iter().any(is_more) {
                self.take_row(index, own);
            }
        }
    }

    fn take_row(&mut self, index: usize, said: &BTreeSet<&str>) {
        let (grid, tokens) = (self.grid, self.tokens);
        let is_own = |own: &Token| {
            said.contains(own.root.as_str())
                || said.contains(own.text.as_str())
                || said.iter().any(|word| is_same_number(own, word))
                || own.parts.iter().any(|part| said.contains(part.as_str()))
                || !own.parts.is_empty() && said.contains(own.text.replace('-', "").as_str())
        };
        if !tokens.iter().any(is_own)
            && let Some(at) = place_in_parts(said, tokens)
        {
            self.rows.push((index, at));
            self.used[at] = true;
        }
        for (at, token) in tokens.iter().enumerate() {
            if !is_own(token) || !self.is_free(at, Some(index), None) {
                continue;
            }
            self.used[at] |= is_of(token, &grid.rows[index]);
            let is_denied = tokens[at.saturating_sub(3)..at].iter().any(|own| own.is("without"));
            let row = if is_denied { without(grid, index, token) } else { Some(index) };
            self.rows.extend(row.map(|row| (row, at)));
        }
    }
}

/// "Without the series": the other of two rows, or the one that is called as this one but for that word.
fn without(grid: &Grid, index: usize, token: &Token) -> Option<usize> {
    if grid.is_block && grid.rows.len() == 2 {
        return Some(1 - index);
    }
    let is_rest = |other: &usize| {
        let own = &grid.rows[*other].words;
        *other != index && own.is_subset(&grid.rows[index].words) && !own.contains(&token.root)
    };
    (0..grid.rows.len()).find(is_rest)
}

/// Finds what a clause names.
fn bound(grid: &Grid, tokens: Vec<Token>) -> Piece {
    let said: Vec<BTreeSet<&str>> =
        grid.rows.iter().map(|row| said_of(grid, &row.words, &tokens)).collect();
    let mut naming = Naming {
        grid,
        tokens: &tokens,
        phrases: phrases(grid, &tokens),
        used: vec![false; tokens.len()],
        rows: Vec::new(),
        columns: Vec::new(),
    };
    naming.take_columns();
    naming.take_phrases();
    naming.take_rows(&said);
    let is_open = naming.take_seats();
    let Naming { used, rows, columns, .. } = naming;
    let mut piece = Piece { rows, columns, has_taken_columns: is_open, ..Piece::default() };
    let named = piece.own_rows().into_iter().map(|row| &said[row]).filter(|own| !own.is_empty());
    let named: Vec<&BTreeSet<&str>> = named.collect();
    piece.is_group = named.iter().enumerate().any(|(at, own)| named[at + 1..].contains(own));
    states(grid, &tokens, &mut piece);
    piece.rows.sort_by_key(|(_, at)| *at);
    piece.columns.sort_by_key(|(_, at)| *at);
    let is_claim = |(at, own): (usize, &Token)| {
        let number = own.number.filter(|_| !used[at])?;
        let is_scaled = number.unit != Unit::Plain || own.text.ends_with(['k', 'm']);
        // "50,000 insertions" of a column of insertions
        let counts = tokens.get(at + 1).filter(|_| !own.is_last && number.value >= 100.0);
        let is_counted = counts.is_some_and(|next| {
            let is_own = |column: &Column| column.unit == Unit::Plain && is_of(next, &column.name);
            grid.columns.iter().any(is_own)
        });
        (is_scaled || is_counted).then_some(Claimed { number, at, side: own.side })
    };
    piece.claimed = tokens.iter().enumerate().filter_map(is_claim).collect();
    piece.tokens = tokens;
    piece
}

/// Which of two rows of a block, or of two columns of a table, is meant by what was before and after something.
fn states(grid: &Grid, tokens: &[Token], piece: &mut Piece) {
    const BEFORE: &str =
        "before unpatched vanilla baseline stock original unmodified release old older";
    const AFTER: &str = "after patched new newer";
    let is_of_two = match grid.is_block {
        true => piece.rows.is_empty() && grid.rows.len() == 2,
        false => piece.columns.is_empty() && is_of_states(grid),
    };
    if !is_of_two {
        return;
    }
    for (at, token) in tokens.iter().enumerate() {
        let follows = tokens.get(at + 1).is_some_and(|own| own.is("it the this that"));
        let (first, second) = (token.is(BEFORE), token.is(AFTER));
        let is_end = grid.is_block && at + 1 == tokens.len() && token.is("without with");
        let is_without = grid.is_block && token.is("without") && follows;
        let side = match () {
            () if first || is_without || is_end && token.is("without") => 0,
            () if second || is_end => 1,
            () => continue,
        };
        let to = if grid.is_block { &mut piece.rows } else { &mut piece.columns };
        to.push((side, at));
    }
}

/// A table of two columns of one unit, in the second of which something is added to what is in the first.
fn is_of_states(grid: &Grid) -> bool {
    let [first, second] = grid.columns.as_slice() else { return false };
    let has = |words: &[&str]| words.iter().any(|word| second.name.words.contains(*word));
    let is_more = second.name.words.is_superset(&first.name.words);
    first.unit == second.unit && (is_more || has(&["patched", "after", "new", "patch", "serie"]))
}
