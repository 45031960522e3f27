//! A sentence cut into clauses, each with what it has from the one before.

use crate::lexicon::Lex;
use crate::meaning::{raw, understood};
use crate::sets::Sets;
use crate::words::{Clause, Phrase, Unit, Word, phrase};

/// The clauses of a sentence; `None` where some word of it is not understood.
pub(crate) fn clauses(sets: &Sets<'_>, sentence: &str) -> Option<Vec<Clause>> {
    let mut parts: Vec<Vec<Word>> = Vec::new();
    let (plain, inner) = without_parentheses(sentence);
    let mut is_noted = false;
    for part in split(&plain).into_iter().chain(inner) {
        let own = understood(sets, &raw(part))?;
        // "(5.42 Mpps)" is for other readers
        is_noted |= matches!(own.as_slice(), [Word::Amount(own)] if own.unit != Unit::Plain);
        if !own.is_empty() && !matches!(own.as_slice(), [Word::Amount(_)]) {
            parts.push(own);
        }
    }
    let mut found: Vec<Clause> = Vec::new();
    let mut lead: Vec<Word> = Vec::new();
    for own in parts {
        let says = own.iter().any(is_saying);
        if let Some(last) =
            found.last_mut().filter(|last| last.amounts().is_empty() && is_number_of_it(&own))
        {
            last.words.extend(own);
            continue;
        }
        match (says, found.last_mut()) {
            (true, _) => {
                let words: Vec<Word> = lead.drain(..).chain(own).collect();
                found.push(Clause { words, ..Clause::default() });
            }
            (false, Some(last)) => last.words.extend(own),
            (false, None) => lead.extend(own),
        }
    }
    let mut before = Phrase::default();
    for clause in &mut found {
        let own = phrase(sets, &clause.words);
        let families = if own.families.is_empty() { before.families } else { own.families };
        let names = own.names.or(before.names);
        clause.families.clone_from(&families);
        clause.names.clone_from(&names);
        before = Phrase { names, families };
    }
    // what it notes beside is not known
    found.extend(is_noted.then(Clause::default));
    (!found.is_empty()).then_some(found)
}

/// "... , more than 5 %", "(1.3 % between them)": by how much.
fn is_number_of_it(own: &[Word]) -> bool {
    let is_light = |word: &Word| match word {
        Word::Amount(_) => true,
        Word::Lex(lex) => matches!(
            lex,
            Lex::Light
                | Lex::One
                | Lex::Over
                | Lex::Under
                | Lex::Within
                | Lex::Little
                | Lex::Between
                | Lex::Run
                | Lex::Only
        ),
        _ => false,
    };
    let has_bound =
        own.iter().any(|word| matches!(word, Word::Lex(Lex::Over | Lex::Under | Lex::Between)));
    has_bound && own.iter().any(|word| matches!(word, Word::Amount(_))) && own.iter().all(is_light)
}

/// Whether a word says more than what it is of.
fn is_saying(word: &Word) -> bool {
    match word {
        Word::Name(_) | Word::Family(_) => false,
        Word::Amount(own) => own.unit != Unit::Plain,
        Word::Count { .. } => true,
        Word::Lex(lex) => !matches!(
            lex,
            Lex::Light
                | Lex::One
                | Lex::Thing
                | Lex::Stays
                | Lex::Family
                | Lex::Patch
                | Lex::With
                | Lex::Without
                | Lex::And
                | Lex::All
                | Lex::Both
                | Lex::Last
                | Lex::First
                | Lex::To
                | Lex::From
                | Lex::Run
        ),
    }
}

/// A sentence without what stands in parentheses, and that.
fn without_parentheses(sentence: &str) -> (String, Vec<&str>) {
    let (mut plain, mut inner) = (String::new(), Vec::new());
    let mut rest = sentence;
    while let Some((before, behind)) = rest.split_once('(') {
        plain.push_str(before);
        let (within, after) = behind.split_once(')').unwrap_or((behind, ""));
        inner.push(within);
        plain.push(' ');
        rest = after;
    }
    plain.push_str(rest);
    (plain, inner)
}

/// The parts of a sentence between its marks.
fn split(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let bytes = sentence.as_bytes();
    for (at, c) in sentence.char_indices() {
        let next = bytes.get(at + c.len_utf8()).copied().unwrap_or(b' ');
        let is_end = match c {
            ';' | '!' => true,
            ',' | ':' | '.' => next.is_ascii_whitespace() || next == b'\'' || next == b')',
            _ => false,
        };
        if is_end {
            found.push(&sentence[from..at]);
            from = at + 1;
        }
    }
    found.push(&sentence[from..]);
    const JOINTS: [&str; 5] = [" but ", " while ", " whereas ", " although ", " though "];
    let but = |part: &'_ str| -> Vec<(usize, usize)> {
        let lower = part.to_ascii_lowercase();
        let all = JOINTS.iter().filter_map(|own| Some((lower.find(own)?, own.len())));
        match all.min() {
            Some((at, len)) => vec![(0, at), (at + len, part.len())],
            None => vec![(0, part.len())],
        }
    };
    let parts = found.into_iter();
    parts.flat_map(|part| but(part).into_iter().map(move |(a, b)| &part[a..b])).collect()
}
