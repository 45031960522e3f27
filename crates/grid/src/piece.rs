//! A clause of a sentence: the rows and the columns that it names, and the numbers that are left.

use std::collections::BTreeSet;

use crate::model::{Column, Grid, is_of, is_same_number};
use crate::names::{Phrase, is_column, phrases, place_in_parts, said_of};
use crate::token::{Number, Token, Unit};

/// A number that is claimed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claimed {
    pub(crate) number: Number,
    /// Its place among the tokens.
    pub(crate) at: usize,
    /// Of before or of after, where the sentence says so.
    pub(crate) side: Option<usize>,
}

/// A clause with what it names of a grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) tokens: Vec<Token>,
    /// Rows with the place at which each is named, in the order of the text.
    pub(crate) rows: Vec<(usize, usize)>,
    pub(crate) columns: Vec<(usize, usize)>,
    /// Rows or columns are those of the clause before.
    pub(crate) has_taken_rows: bool,
    pub(crate) has_taken_columns: bool,
    pub(crate) claimed: Vec<Claimed>,
    /// Several rows are named by the same words, so that one of them may be meant.
    pub(crate) is_group: bool,
}

impl Piece {
    pub(crate) fn has(&self, words: &str) -> bool {
        self.tokens.iter().any(|own| own.is(words))
    }

    pub(crate) fn find(&self, words: &str) -> Option<usize> {
        self.tokens.iter().position(|own| own.is(words))
    }

    /// Each named row once.
    pub(crate) fn own_rows(&self) -> Vec<usize> {
        once(&self.rows)
    }

    /// Each named column once.
    pub(crate) fn own_columns(&self) -> Vec<usize> {
        once(&self.columns)
    }
}

fn once(all: &[(usize, usize)]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    all.iter().map(|(own, _)| *own).filter(|own| seen.insert(*own)).collect()
}

/// Words that part a sentence, beside commas.
const JOINTS: &str = "but while whereas whilst although though yet";

/// The clauses of a sentence as a grid has their words.
pub(crate) fn pieces(grid: &Grid, tokens: &[Token]) -> Vec<Piece> {
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
        if let Some(before) = found.last() {
            if piece.rows.is_empty() && !before.rows.is_empty() {
                piece.is_group = before.is_group;
                piece.rows = before.rows.iter().map(|(row, _)| (*row, 0)).collect();
                // "at 90 % load, ..." says of what the rest is
                let is_lead =
                    found.len() == 1 && before.claimed.is_empty() && before.tokens.len() < 8;
                piece.has_taken_rows = !is_lead;
            }
            if piece.columns.is_empty() && !before.columns.is_empty() {
                piece.columns = before.columns.iter().map(|(column, _)| (*column, 0)).collect();
                piece.has_taken_columns = true;
            }
        }
        found.push(piece);
    }
    found
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
    let Naming { used, rows, columns, .. } = naming;
    let mut piece = Piece { rows, columns, ..Piece::default() };
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

/// Which of two rows or two columns is meant by what was before and after something.
fn states(grid: &Grid, tokens: &[Token], piece: &mut Piece) {
    const BEFORE: &str = "before unpatched vanilla baseline stock original unmodified";
    const AFTER: &str = "after patched";
    if !piece.rows.is_empty() || !grid.is_block || grid.rows.len() != 2 {
        return;
    }
    for (at, token) in tokens.iter().enumerate() {
        let follows = tokens.get(at + 1).is_some_and(|own| own.is("it the this that"));
        let (first, second) = (token.is(BEFORE), token.is(AFTER));
        let is_end = at + 1 == tokens.len() && token.is("without with");
        if first || (token.is("without") && (follows || is_end)) {
            piece.rows.push((0, at));
        } else if second || (token.is("with") && is_end) {
            piece.rows.push((1, at));
        }
    }
}
