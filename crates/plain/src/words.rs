//! Clauses of words of which each is understood, and the sets that these name.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;

use crate::lexicon::Lex;
use crate::sets::{Places, Sets};

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
    /// "Two of the three".
    Count {
        some: usize,
        of: usize,
    },
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
pub(crate) fn phrase(sets: &Sets<'_>, words: &[Word]) -> Phrase {
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
