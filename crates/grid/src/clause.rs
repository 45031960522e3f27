//! A clause with the rows and columns that it names, and the numbers that it claims.

use std::collections::BTreeSet;

use crate::token::{Number, Token};

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
    /// What it is of is taken from the sentence before.
    pub(crate) is_referring: bool,
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
