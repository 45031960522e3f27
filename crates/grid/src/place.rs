//! Rows and columns that are named by where they stand ("the last row", "the line above it"), and rows by how large
//! that is which heads them ("the shortest frames").

use crate::model::{Grid, Name};
use crate::token::{Seat, Token};

const ROWS: &str = "row rows line lines entry case item record";
const SETS: &str = "set file series";

/// Marks the tokens of a sentence that name a row or a column by its place.
pub(crate) fn mark(grid: &Grid, tokens: &mut [Token]) {
    let nouns = if grid.is_block { SETS } else { ROWS };
    for at in 0..tokens.len() {
        let seat = row_by_order(grid, tokens, at, nouns)
            .or_else(|| row_beside(grid, tokens, at, nouns))
            .or_else(|| row_by_size(grid, tokens, at))
            .or_else(|| row_of_none(grid, tokens, at))
            .map(Seat::Row)
            .or_else(|| column_by_order(grid, tokens, at));
        tokens[at].seat = seat;
    }
}

/// "First", "third", "last but one" of so many.
fn order(tokens: &[Token], at: usize, count: usize) -> Option<usize> {
    const FIRST: [&str; 9] = [
        "first top topmost uppermost 1st leftmost",
        "second 2nd",
        "third 3rd",
        "fourth 4th",
        "fifth 5th",
        "sixth 6th",
        "seventh 7th",
        "eighth 8th",
        "ninth 9th",
    ];
    let token = &tokens[at];
    let is_but_one = tokens.get(at + 1).is_some_and(|own| own.is("but"));
    let from_below = match () {
        () if token.is("penultimate second-last") || token.is("last") && is_but_one => 2,
        () if token.is("last bottom bottommost final lowermost rightmost") => 1,
        () => {
            let own = FIRST.iter().position(|words| token.is(words))?;
            return (own < count).then_some(own);
        }
    };
    count.checked_sub(from_below)
}

fn row_by_order(grid: &Grid, tokens: &[Token], at: usize, nouns: &str) -> Option<usize> {
    if tokens[at].is("leftmost rightmost") {
        return None;
    }
    let row = order(tokens, at, grid.rows.len())?;
    let next = tokens.get(at + 1).filter(|_| !tokens[at].is_last);
    let is_noun = |own: &&Token| own.is(nouns);
    // "the bottom line is that ..." is none of a table
    let is_saying = tokens[at].is("bottom")
        && (tokens.get(at + 2).is_some_and(|own| own.is("is"))
            || next.is_some_and(|own| own.is_last));
    if next.filter(is_noun).is_some() {
        return (!is_saying).then_some(row);
    }
    // "from the second row to the third"
    let is_bare = at > 0
        && tokens[at - 1].is("the")
        && next.is_none_or(|own| {
            own.is("one the is has it by with at in to and") || own.number.is_some()
        });
    let is_of_rows = tokens[..at].iter().any(|own| matches!(own.seat, Some(Seat::Row(_))));
    (is_bare && is_of_rows).then_some(row)
}

/// "The row above it", "the previous line".
fn row_beside(grid: &Grid, tokens: &[Token], at: usize, nouns: &str) -> Option<usize> {
    let token = &tokens[at];
    let behind = |k: usize| tokens.get(at + k);
    let is_noun = token.is(nouns) || token.is("one");
    let has_it = is_noun && behind(2).is_some_and(|own| own.is("it that this"));
    let is_next_noun = behind(1).is_some_and(|own| own.is(nouns));
    let is_back = has_it && behind(1).is_some_and(|own| own.is("above before preceding"))
        || is_next_noun && token.is("previous preceding");
    let is_on = has_it && behind(1).is_some_and(|own| own.is("below after following"))
        || is_next_noun && token.is("next following");
    let seats = tokens[..at].iter().rev();
    let own = seats.into_iter().find_map(|own| match own.seat {
        Some(Seat::Row(row)) => Some(row),
        _ => None,
    })?;
    match (is_back, is_on) {
        (true, _) => own.checked_sub(1),
        (_, true) => Some(own + 1).filter(|row| *row < grid.rows.len()),
        _ => None,
    }
}

const LEAST: &str = "smallest shortest fewest tiniest least";
const MOST: &str = "largest biggest longest greatest most";

/// "The shortest frames" of rows that are called by their sizes.
fn row_by_size(grid: &Grid, tokens: &[Token], at: usize) -> Option<usize> {
    let is_least = tokens[at].is(LEAST);
    if grid.is_block || !is_least && !tokens[at].is(MOST) || tokens[at].is_last {
        return None;
    }
    let is_head = |own: &Token| {
        let is_own = |word: &str| grid.head.contains(word) || grid.shared.contains(word);
        is_own(&own.root) || own.is("frame frames packets") && is_own("byte")
    };
    let next = tokens.get(at + 1)?;
    // "between the smallest and the largest ring"
    let is_first = next.is("and to") && {
        let rest = tokens[at + 2..].iter().position(|own| own.is(LEAST) || own.is(MOST));
        rest.is_some_and(|own| own < 2 && tokens.get(at + own + 3).is_some_and(is_head))
    };
    (is_head(next) || is_first).then_some(())?;
    let keys: Vec<f64> = grid.rows.iter().map(key).collect::<Option<_>>()?;
    let of = |all: &mut dyn Iterator<Item = (usize, f64)>| all.min_by(|a, b| a.1.total_cmp(&b.1));
    let sign = if is_least { 1.0 } else { -1.0 };
    of(&mut keys.iter().map(|own| sign * own).enumerate()).map(|(row, _)| row)
}

/// The number that a name begins with: "1,000", "16 KiB", "1 M".
fn key(name: &Name) -> Option<f64> {
    let text = name.text.replace(',', "");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let mut rest = text[end..].trim_start().chars();
    let scale = match rest.next().map(|c| c.to_ascii_lowercase()) {
        Some('k') => 1e3,
        Some('m') => 1e6,
        Some('g') => 1e9,
        _ => return Some(value),
    };
    let is_scale = rest.next().is_none_or(|c| !c.is_alphabetic() || matches!(c, 'i' | 'b' | 'B'));
    Some(if is_scale { value * scale } else { value })
}

/// "With no rules at all" of a row that is called 0 or none.
fn row_of_none(grid: &Grid, tokens: &[Token], at: usize) -> Option<usize> {
    let is_none = |name: &Name| matches!(name.text.as_str(), "0" | "none" | "None");
    let next = tokens.get(at + 1).filter(|_| tokens[at].is("no without zero"))?;
    let is_head = grid.head.contains(&next.root) && !grid.is_block;
    is_head.then(|| grid.rows.iter().position(is_none)).flatten()
}

/// "The second column": whether that of names is counted is open.
fn column_by_order(grid: &Grid, tokens: &[Token], at: usize) -> Option<Seat> {
    let next = tokens.get(at + 1).filter(|_| !tokens[at].is_last)?;
    if grid.is_block || grid.is_list || !next.is("column columns figure value") {
        return None;
    }
    let is_side = tokens[at].is("leftmost rightmost");
    if !next.is("column columns") && !is_side {
        return None;
    }
    let count = grid.columns.len();
    let own = order(tokens, at, count + 1)?;
    let all: Vec<usize> = match own {
        0 => vec![0],
        own if own == count => vec![count - 1],
        own => [own - 1, own].into_iter().filter(|own| *own < count).collect(),
    };
    Some(Seat::Columns(all))
}
