//! Sentences in plain words: of each word of them something is known, so that what they claim is known as well.
//!
//! A sentence with a word that is in no list, and names no measured set, is not judged. One that is made of bounds,
//! ranks, spreads, quantifiers and comparisons only is held against the sets in each of its readings.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod against;
mod amounts;
mod bounds;
mod changes;
mod clauses;
mod compare;
mod counts;
mod factor;
mod lexicon;
mod likeness;
mod meaning;
mod of_each;
mod pairs;
mod ranks;
mod sets;
mod sides;
mod spreads;
mod steps;
mod untouched;
mod verdict;
mod words;

pub use verdict::PlainVerdict;

use fwdlab_reading::Facts;

use crate::clauses::clauses;
use crate::lexicon::Lex;
use crate::sets::Sets;
use crate::words::Clause;

/// Longest sentence that is read, in bytes: no plain one is longer.
const MOST_BYTES: usize = 300;

/// Most sets of a page: of more it is not told which ones are meant.
const MOST_SETS: usize = 64;

/// The blocks that a sentence stands by.
#[derive(Clone, Debug, Default)]
pub struct Near {
    /// The one that it is taken to be of, and the one above it.
    pub blocks: Vec<usize>,
    /// The sentence stands at the end of the page, so that it may be of all of it.
    pub is_last: bool,
    /// It is beyond doubt that the sentence is of that block, or of none.
    pub is_sure: bool,
}

/// Holds a sentence against the sets of a page, and of the block that it stands by.
pub fn read(facts: &Facts, near: &Near, sentence: &str) -> PlainVerdict {
    if sentence.len() > MOST_BYTES || facts.cells.len() > MOST_SETS {
        return PlainVerdict::Open;
    }
    // of several machines it is of that by whose blocks it stands; at the end of the page it is not told which one
    let is_of_machines = facts.parts.len() > 1 && !facts.is_of_topics;
    let part = match is_of_machines {
        true => part_of(facts, near),
        false => Some(None),
    };
    let Some(part) = part else { return PlainVerdict::Open };
    let whole = Sets::of(facts, |cell| part.is_none_or(|part| cell.part == part));
    let page = judged(&whole, sentence);
    if facts.blocks() < 2 || near.blocks.is_empty() {
        return PlainVerdict::all(page);
    }
    let of = |block: &usize| judged(&Sets::of(facts, |cell| cell.block == *block), sentence);
    let blocks: Vec<Vec<PlainVerdict>> = near.blocks.iter().map(of).collect();
    let beside = |of: &dyn Fn(&Vec<PlainVerdict>) -> PlainVerdict| {
        blocks.iter().map(of).reduce(PlainVerdict::or).unwrap_or(PlainVerdict::Open)
    };
    // a clause that is so beside it is not contradicted by the page, whatever the next one says
    if blocks.iter().all(|own| own.len() == page.len()) {
        let each = page.iter().enumerate().map(|(at, page)| {
            together(near, sentence, beside(&|own| own[at].clone()), page.clone())
        });
        return PlainVerdict::all(each.collect());
    }
    let whole = beside(&|own| PlainVerdict::all(own.clone()));
    together(near, sentence, whole, PlainVerdict::all(page))
}

/// The machine of the blocks that a sentence stands by, if these are of one.
fn part_of(facts: &Facts, near: &Near) -> Option<Option<usize>> {
    let of_block = |block: &usize| facts.cells.iter().find(|cell| cell.block == *block);
    let mut parts = near.blocks.iter().map(|block| of_block(block).map(|cell| cell.part));
    let first = parts.next().flatten().filter(|_| !near.is_last)?;
    parts.all(|own| own == Some(first)).then_some(Some(first))
}

/// What stands beside a sentence, and the page, say together of it or of one of its clauses.
fn together(near: &Near, sentence: &str, beside: PlainVerdict, page: PlainVerdict) -> PlainVerdict {
    match (beside, page) {
        (PlainVerdict::Holds, PlainVerdict::Fails(data)) if near.is_last => {
            PlainVerdict::Asked(data)
        }
        (PlainVerdict::Holds, PlainVerdict::Fails(_)) if is_of_page(sentence) => PlainVerdict::Open,
        // what stands beside it contradicts it, and it is of that beyond doubt
        (PlainVerdict::Fails(data), PlainVerdict::Doubtful(_)) if near.is_sure && !near.is_last => {
            PlainVerdict::Fails(data)
        }
        (PlainVerdict::Open, PlainVerdict::Fails(data)) if !near.is_sure => {
            PlainVerdict::Asked(data)
        }
        (beside, page) => beside.or(page),
    }
}

/// "For all the tests": of more than what stands beside it.
fn is_of_page(sentence: &str) -> bool {
    const PAGE: [&str; 6] = ["tests", "cases", "everywhere", "overall", "page", "always"];
    let lower = sentence.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| PAGE.contains(&word))
}

/// Whether a sentence is of how runs scatter, so that no word of it is of a rate: "more stable", "varies less than".
pub fn is_of_spread(sentence: &str) -> bool {
    let words: Vec<String> = sentence
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let lex = |at: usize| words.get(at).and_then(|word| lexicon::lex(word));
    let is_graded = |at: usize| {
        let before = (1..=2).filter_map(|k| at.checked_sub(k)).map(lex);
        let behind = (1..=4).map(|k| lex(at + k));
        let is_grade = |own| {
            matches!(own, Some(Lex::More | Lex::Less | Lex::Most | Lex::Least | Lex::Factor(_)))
        };
        before.into_iter().any(is_grade)
            || behind.into_iter().any(is_grade) && matches!(lex(at), Some(Lex::Varies(true)))
    };
    (0..words.len()).any(|at| matches!(lex(at), Some(Lex::Varies(_))) && is_graded(at))
}

/// What is known of each clause of a sentence; nothing where it is not understood.
fn judged(sets: &Sets<'_>, sentence: &str) -> Vec<PlainVerdict> {
    let clauses = clauses(sets, sentence).unwrap_or_default();
    clauses.iter().map(|clause| of_clause(sets, clause)).collect()
}

fn of_clause(sets: &Sets<'_>, clause: &Clause) -> PlainVerdict {
    type Reader = fn(&Sets<'_>, &Clause) -> Option<PlainVerdict>;
    const READERS: [Reader; 8] = [
        counts::check,
        spreads::check,
        untouched::check,
        changes::check,
        ranks::check,
        bounds::check,
        pairs::check,
        compare::check,
    ];
    READERS.iter().find_map(|read| read(sets, clause)).unwrap_or(PlainVerdict::Open)
}

#[cfg(test)]
mod tests;
