//! What a clause takes from the sentence before it: "it", "the latter", "both", "the same", "that is half of what ...".

use std::collections::BTreeSet;

use crate::clause::{Claimed, Piece};
use crate::token::Unit;

const SUBJECTS: &str = "it that this they";
const PRONOUNS: &str = "it its it's they their them that's there";

/// Gives a clause what it refers to: of the sentence before, and of the clauses before it in its own. Beside "the former"
/// and "the latter" of two things, what is taken so is in doubt.
pub(crate) fn refer(piece: &mut Piece, said: &[Piece], own: &[Piece]) {
    let all: Vec<&Piece> = said.iter().chain(own).collect();
    if all.is_empty() {
        return;
    }
    order_of_two(piece, &all);
    if piece.find("both").is_some_and(|at| is_alone(piece, at)) && piece.rows.is_empty() {
        let rows = distinct(&all, |own| &own.rows);
        if rows.len() == 2 {
            piece.rows = rows.iter().map(|row| (*row, 0)).collect();
            piece.is_referring = true;
        }
    }
    same(piece, &all);
    if piece.has("them")
        || piece.find("same").is_some_and(|at| is_next(piece, at, "range span interval step steps"))
    {
        repeated(piece, &all);
    }
    if own.is_empty() {
        subject(piece, &all);
    }
}

/// "Both draw 61 W", and not "both AES and DES".
fn is_alone(piece: &Piece, at: usize) -> bool {
    !piece.tokens[at..].iter().skip(1).take(4).any(|own| own.is("and"))
}

/// What clauses name, in the order of the text, each once.
fn distinct(all: &[&Piece], of: impl Fn(&Piece) -> &Vec<(usize, usize)>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let named = all.iter().filter(|own| !own.has("latter former"));
    let named = named.flat_map(|own| of(own)).map(|(own, _)| *own);
    named.filter(|own| seen.insert(*own)).collect()
}

/// "The former", "the latter": of the last two that were named.
fn order_of_two(piece: &mut Piece, before: &[&Piece]) {
    for (word, back) in [("former", 2), ("latter", 1)] {
        let Some(at) = piece.find(word) else { continue };
        let rows = distinct(before, |own| &own.rows);
        let columns = distinct(before, |own| &own.columns);
        let (own, other, to) = match (rows.len() > 1, columns.len() > 1) {
            (true, _) => (&rows, columns.len() > 1, &mut piece.rows),
            (false, true) => (&columns, false, &mut piece.columns),
            _ => continue,
        };
        let Some(meant) = own.len().checked_sub(back).map(|at| own[at]) else { continue };
        to.push((meant, at));
        to.sort_by_key(|(_, at)| *at);
        piece.is_referring |= own.len() > 2 || other;
    }
}

/// "It has the same": the figure of the sentence before, of what is named here.
fn same(piece: &mut Piece, before: &[&Piece]) {
    let Some(last) = before.last() else { return };
    let Some(at) = piece.find("same") else { return };
    let is_end = at + 1 == piece.tokens.len() || piece.tokens[at].is_last;
    let is_level = |own: &&Claimed| !matches!(own.number.unit, Unit::Percent | Unit::Times);
    if !is_end || !piece.claimed.is_empty() || piece.own_rows().len() != 1 {
        return;
    }
    let stated = last.claimed.iter().filter(is_level);
    piece.claimed = stated.map(|own| Claimed { at, side: None, ..*own }).collect();
    take_columns(piece, last);
    piece.is_referring |= !piece.claimed.is_empty();
}

fn is_next(piece: &Piece, at: usize, words: &str) -> bool {
    piece.tokens.get(at + 1).is_some_and(|own| own.is(words))
}

/// "Over the same range", "150 times as many of them": the rows, or the column, of the clauses before.
fn repeated(piece: &mut Piece, before: &[&Piece]) {
    let named = |of: fn(&Piece) -> &Vec<(usize, usize)>| {
        before.iter().rev().find(|own| !of(own).is_empty()).map(|own| of(own).clone())
    };
    if piece.has("them") {
        if let Some(columns) = named(|own| &own.columns).filter(|_| piece.columns.is_empty()) {
            piece.columns = columns.iter().map(|(column, _)| (*column, 0)).collect();
            piece.is_referring = true;
        }
    } else if let Some(rows) = named(|own| &own.rows).filter(|_| piece.rows.is_empty()) {
        piece.rows = rows.iter().map(|(row, _)| (*row, 0)).collect();
        piece.is_referring = true;
    }
}

fn take_columns(piece: &mut Piece, last: &Piece) {
    if piece.columns.is_empty() {
        piece.columns = last.columns.iter().map(|(column, _)| (*column, 0)).collect();
        piece.has_taken_columns = !piece.columns.is_empty();
    }
}

/// "It reaches 9 Mpps", "that is a quarter of what X has": of the one thing that the sentence before names.
fn subject(piece: &mut Piece, before: &[&Piece]) {
    let Some(last) = before.last() else { return };
    let is_subject = piece.tokens.iter().take(2).any(|own| own.is(SUBJECTS));
    // "the tail ...; it is four times as long with sixteen queues as with two"
    if is_subject && piece.columns.is_empty() && distinct(&[last], |own| &own.columns).len() == 1 {
        take_columns(piece, last);
        piece.is_referring = true;
    }
    let [row] = distinct(before, |own| &own.rows)[..] else { return };
    let own = piece.own_rows();
    match own.as_slice() {
        [] if piece.has(PRONOUNS) || is_subject => piece.rows.push((row, 0)),
        [one] if *one != row && is_subject => piece.rows.insert(0, (row, 0)),
        _ => return,
    }
    piece.has_taken_rows = true;
    piece.is_referring = true;
    if piece.has("there")
        || is_subject && piece.tokens.iter().take(3).any(|own| own.is("is was makes that's"))
    {
        take_columns(piece, last);
    }
}
