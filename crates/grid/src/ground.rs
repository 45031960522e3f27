//! What nothing gives: numbers of a sentence that are no figure of what it names, and no difference, sum, mean, change or
//! ratio of such; orders that are so of no pair of what it names. No shape of a sentence is asked for, only what it names,
//! so that what is found here is at most to be looked at.

mod beyond;
mod claim;
mod end;
mod facts;
mod order;
mod scope;
mod size;
mod state;
mod way;
mod words;

use std::ops::Range;

pub use facts::{Sentence, Ungrounded};

/// The first claim of a sentence that nothing bears out, of those that begin in a part of it.
pub fn ungrounded(sentence: &Sentence<'_>, part: &Range<usize>) -> Option<Ungrounded> {
    let scope = scope::Scope::of(sentence);
    size::check(&scope, part).or_else(|| order::check(&scope, part))
}
