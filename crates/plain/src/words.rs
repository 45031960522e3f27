//! A sentence as clauses of words of which each is understood.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::{NamedFamily, family_word};

use crate::lexicon::{Lex, lex};
use crate::sets::{Places, Sets, is_patch};

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Rate,
    Percent,
    Times,
    Plain,
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(crate) value: f64,
    /// One of its last digit.
    pub(crate) step: f64,
    pub(crate) unit: Unit,
}

/// What a word, or a number, of a clause is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Lex(Lex),
    Amount(Amount),
    /// It names some sets, and not others.
    Name(Places),
    Family(NamedFamily),
}

/// A clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clause {
    pub(crate) words: Vec<Word>,
    /// What it names, and else what the clause before does.
    pub(crate) families: BTreeSet<NamedFamily>,
    pub(crate) names: Option<Places>,
}

impl Clause {
    pub(crate) fn has(&self, wanted: impl Fn(Lex) -> bool) -> bool {
        self.at(wanted).is_some()
    }

    /// Where the first word of a kind stands.
    pub(crate) fn at(&self, wanted: impl Fn(Lex) -> bool) -> Option<usize> {
        self.words.iter().position(|word| matches!(word, Word::Lex(lex) if wanted(*lex)))
    }

    pub(crate) fn is(&self, at: usize, wanted: Lex) -> bool {
        self.words.get(at) == Some(&Word::Lex(wanted))
    }

    /// Its numbers with a unit, and where they stand.
    pub(crate) fn amounts(&self) -> Vec<(usize, Amount)> {
        let own = self.words.iter().enumerate();
        let amount = own.filter_map(|(at, word)| match word {
            Word::Amount(own) if own.unit != Unit::Plain => Some((at, *own)),
            _ => None,
        });
        amount.collect()
    }

    /// Whether what it says is denied: by one word, or by three.
    pub(crate) fn is_denied(&self) -> bool {
        let is_no = |word: &&Word| matches!(word, Word::Lex(Lex::No | Lex::Neither));
        let count = self.words.iter().filter(is_no).count();
        let has_neither = self.has(|lex| lex == Lex::Neither);
        if has_neither { true } else { count % 2 == 1 }
    }

    /// Whether it speaks of each of several, or of each run.
    pub(crate) fn is_of_all(&self) -> bool {
        self.has(|lex| matches!(lex, Lex::All | Lex::Both | Lex::No | Lex::Neither))
    }

    /// The sets that some of its words name; all where they name none.
    pub(crate) fn named(&self, sets: &Sets<'_>, from: usize, to: usize) -> Phrase {
        phrase(sets, &self.words[from..to])
    }

    /// The sets that it is of.
    pub(crate) fn scope(&self, sets: &Sets<'_>) -> Places {
        let own = self.names.clone().unwrap_or_else(|| sets.places());
        in_families(sets, own, &self.families)
    }
}

/// Those of some sets that are of some families, where such are named.
pub(crate) fn in_families(
    sets: &Sets<'_>,
    own: Places,
    families: &BTreeSet<NamedFamily>,
) -> Places {
    if families.is_empty() {
        return own;
    }
    let each = families.iter().flat_map(|family| sets.of_family(&own, *family));
    each.collect()
}

/// What some words name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phrase {
    pub(crate) names: Option<Places>,
    pub(crate) families: BTreeSet<NamedFamily>,
}

impl Phrase {
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_none() && self.families.is_empty()
    }

    pub(crate) fn places(&self, sets: &Sets<'_>) -> Places {
        let own = self.names.clone().unwrap_or_else(|| sets.places());
        in_families(sets, own, &self.families)
    }
}

/// Names that follow each other tell one thing more exactly, where they have something in common; else they are several.
fn phrase(sets: &Sets<'_>, words: &[Word]) -> Phrase {
    let mut own = Phrase::default();
    let mut is_joined = false;
    let mut before: Option<Places> = None;
    for word in words {
        match word {
            Word::Family(family) => _ = own.families.insert(*family),
            Word::Lex(Lex::And) => is_joined = true,
            Word::Name(named) => {
                let names = own.names.take();
                own.names = Some(match names {
                    None => named.clone(),
                    // "ipfw stateful and stateless"
                    Some(names) if is_joined => {
                        let both: Places = before.iter().flat_map(|own| own & named).collect();
                        let rest = if both.is_empty() { named } else { &both };
                        &names | rest
                    }
                    Some(names) => {
                        let both: Places = &names & named;
                        before = Some(names.clone());
                        if both.is_empty() { &names | named } else { both }
                    }
                });
                is_joined = false;
            }
            _ => {}
        }
    }
    own.names = own.names.map(|names| sets.alone(&names));
    own
}

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
    let but = |part: &'_ str| -> Vec<(usize, usize)> {
        let lower = part.to_ascii_lowercase();
        match lower.find(" but ") {
            Some(at) => vec![(0, at), (at + 5, part.len())],
            None => vec![(0, part.len())],
        }
    };
    let parts = found.into_iter();
    parts.flat_map(|part| but(part).into_iter().map(move |(a, b)| &part[a..b])).collect()
}

/// The words and numbers of a part, in lower case.
fn raw(part: &str) -> Vec<String> {
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '\'' | '%' | '/' | '+' | '_' | '=');
    let lower = part.to_lowercase().replace(['’', '`', '"'], "'").replace("=>", " ");
    let own =
        lower.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '\'', '/', '=']));
    own.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn understood(sets: &Sets<'_>, raw: &[String]) -> Option<Vec<Word>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let text = raw[at].as_str();
        let next = raw.get(at + 1).map_or("", String::as_str);
        if let Some(family) = family_word(text) {
            found.push(Word::Family(family));
            at += 1;
        } else if let Some((word, end)) = state(sets, raw, at) {
            found.push(word);
            at = end;
        } else if let Some((amount, end)) =
            amount(raw, at).filter(|(own, _)| own.unit != Unit::Plain && !is_name(sets, text))
        {
            found.push(Word::Amount(amount));
            at = end;
        } else if let Some((value, end)) = fraction(text, next) {
            found.push(Word::Amount(Amount { value, step: 0.05, unit: Unit::Times }));
            at += end;
        } else if let Some(value) = worded(raw, at) {
            found.push(Word::Amount(Amount { value, step: 1.0, unit: Unit::Plain }));
            at += 1;
        } else if let Some(word) = named(sets, text) {
            found.push(word);
            at += 1;
        } else if let Some((amount, end)) = amount(raw, at) {
            found.push(Word::Amount(amount));
            at = end;
        } else {
            // "ahead of", "behind": than what follows
            let is_joint = text == "ahead" && next == "of" || text == "behind" && !next.is_empty();
            if is_joint {
                found.extend([Word::Lex(Lex::Better(text == "ahead")), Word::Lex(Lex::Than)]);
                at += 1;
                continue;
            }
            found.push(Word::Lex(lex(text).or_else(|| is_patch(text).then_some(Lex::Patch))?));
            at += 1;
        }
    }
    Some(turned(found))
}

/// "More than two", "by three".
fn worded(raw: &[String], at: usize) -> Option<f64> {
    let before = at.checked_sub(1).map_or("", |at| raw[at].as_str());
    let value = match raw[at].as_str() {
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "ten" => 10.0,
        _ => return None,
    };
    matches!(before, "than" | "by").then_some(value)
}

/// "One third", "two thirds", "a quarter", and of how many words it is.
fn fraction(text: &str, next: &str) -> Option<(f64, usize)> {
    let part = |word: &str| match word {
        "third" | "thirds" => Some(3.0),
        "quarter" | "quarters" => Some(4.0),
        _ => None,
    };
    let many = match text {
        "one" | "a" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        _ => return Some((1.0 / part(text)?, 1)),
    };
    Some((many / part(next)?, 2))
}

/// "A lot more", "at least", "at most", "up to", "less than": what several words say together.
fn turned(words: Vec<Word>) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let lex = |word: Option<&Word>| match word {
        Some(Word::Lex(lex)) => Some(*lex),
        _ => None,
    };
    let mut at = 0;
    while at < words.len() {
        let two = (lex(words.get(at)), lex(words.get(at + 1)));
        if let Some(Lex::Scatters(is_more)) = two.0 {
            found.extend([Word::Lex(Lex::More), Word::Lex(Lex::Varies(is_more))]);
            at += 1;
            continue;
        }
        let is_amount = |at: usize| matches!(words.get(at), Some(Word::Amount(_)));
        match two {
            (Some(Lex::More), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Over));
                at += 2;
            }
            (Some(Lex::Less | Lex::Better(false)), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Under));
                at += 2;
            }
            (Some(Lex::Better(true)), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Over));
                at += 2;
            }
            (Some(Lex::Least), _) if is_amount(at + 1) => {
                found.push(Word::Lex(Lex::Over));
                at += 1;
            }
            // "only slightly better" leaves nothing out
            (Some(Lex::Only), Some(Lex::Little | Lex::Over | Lex::Under)) => at += 1,
            (Some(Lex::Only), _) if is_amount(at + 1) => at += 1,
            (Some(Lex::Most), _) if is_amount(at + 1) => {
                found.push(Word::Lex(Lex::Under));
                at += 1;
            }
            _ => {
                found.push(words[at].clone());
                at += 1;
            }
        }
    }
    found
}

fn is_name(sets: &Sets<'_>, text: &str) -> bool {
    sets.named(text).is_some()
}

/// A word that names sets, where it does not name all of them; one that names all says nothing.
fn named(sets: &Sets<'_>, text: &str) -> Option<Word> {
    let own = sets.named(text)?;
    if own.len() < sets.all.len() {
        return Some(Word::Name(own));
    }
    lex(text).is_none().then_some(Word::Lex(Lex::Light))
}

/// "With the patch", "without D27401", "patched", "the base".
fn state(sets: &Sets<'_>, raw: &[String], at: usize) -> Option<(Word, usize)> {
    let text = raw[at].as_str();
    let own =
        |places: Places| (!places.is_empty() && places.len() < sets.all.len()).then_some(places);
    let is_light = |word: &str| matches!(word, "the" | "this" | "that" | "any" | "a" | "diff");
    let next = (at + 1..raw.len()).find(|at| !is_light(&raw[*at]));
    let is_patch_word = |word: &str| lex(word) == Some(Lex::Patch) || is_patch(word);
    let states = match lex(text) {
        Some(Lex::Patched) => Some(sets.patched(true)),
        Some(Lex::Unpatched) => Some(sets.patched(false)),
        Some(Lex::Base) => Some(sets.bases()),
        Some(Lex::First) => Some(sets.of_place(false)),
        Some(Lex::Last) => Some(sets.of_place(true)),
        Some(Lex::Firewall) => Some(sets.firewalled()),
        _ => None,
    };
    if let Some(places) = states {
        let end = next.filter(|next| is_patch_word(&raw[*next])).map_or(at + 1, |next| next + 1);
        return Some((Word::Name(own(places)?), end));
    }
    let next = next?;
    let word = |at: usize| raw.get(at).map_or("", String::as_str);
    match lex(text) {
        Some(Lex::With) if word(next) == "or" || word(next) == "and" => {
            // "with or without the patch"
            let is_both = word(next + 1) == "without";
            let end = (next + 2..raw.len()).find(|at| !is_light(&raw[*at]))?;
            is_both.then(|| (Word::Lex(Lex::Both), end + 1))
        }
        Some(Lex::With) if lex(word(next)) == Some(Lex::Patch) => {
            Some((Word::Name(own(sets.patched(true))?), next + 1))
        }
        Some(Lex::Without) if is_patch_word(word(next)) => {
            Some((Word::Name(own(sets.patched(false))?), next + 1))
        }
        Some(Lex::Without) if lex(word(next)) == Some(Lex::Firewall) => {
            let rest = sets.places().difference(&sets.firewalled()).copied().collect();
            Some((Word::Name(own(rest)?), next + 1))
        }
        Some(Lex::Without | Lex::No) if sets.without(word(next)).is_some() => {
            Some((Word::Name(own(sets.without(word(next))?)?), next + 1))
        }
        Some(Lex::Without) => {
            let named = sets.named(word(next))?;
            let rest: Places = sets.places().difference(&named).copied().collect();
            Some((Word::Name(own(rest)?), next + 1))
        }
        _ => None,
    }
}

/// A number with what it is of.
fn amount(raw: &[String], at: usize) -> Option<(Amount, usize)> {
    let text = raw[at].trim_start_matches('+');
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let value: f64 = text.get(..digits)?.parse().ok()?;
    let decimals = text[..digits].split_once('.').map_or(0, |(_, own)| own.len());
    let behind = &text[digits..];
    let next = raw.get(at + 1).map_or("", String::as_str);
    let (unit, is_next) = if behind.is_empty() { (next, true) } else { (behind, false) };
    let (unit, scale) = match unit {
        "mpps" | "m" => (Unit::Rate, 1e6),
        "kpps" | "k" => (Unit::Rate, 1e3),
        "pps" => (Unit::Rate, 1.0),
        "%" | "percent" => (Unit::Percent, 1.0),
        "times" | "x" => (Unit::Times, 1.0),
        _ if behind.is_empty() => (Unit::Plain, 1.0),
        _ => return None,
    };
    let step = scale * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let end = at + 1 + usize::from(is_next && unit != Unit::Plain);
    Some((Amount { value: value * scale, step, unit }, end))
}
