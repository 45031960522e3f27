//! Blocks of any number of words.

use std::collections::BTreeMap;

use super::fresh::{Fresh, Full, Offset};

/// Words of a cache line.
const LINE: usize = 8;

/// Free blocks by their words. Those of a line or less lie within one line; longer ones begin with a
/// line, and have whole ones.
#[derive(Debug, Default)]
pub(super) struct Tight(BTreeMap<usize, Vec<Offset>>);

impl Tight {
    /// A free block of just this size, or a new one, or a part of a larger one.
    pub(super) fn take(&mut self, words: usize, fresh: &mut Fresh) -> Result<Offset, Full> {
        let words = whole(words);
        if let Some(offset) = self.pop(words) {
            return Ok(offset);
        }
        if words < LINE {
            return self.take_part(words, fresh);
        }
        fresh.take(words, LINE).or_else(|Full| {
            let (&larger, _) =
                self.0.range(words + 1..).find(|(_, l)| !l.is_empty()).ok_or(Full)?;
            self.cut(larger, words).ok_or(Full)
        })
    }

    /// A part of a line. What is left over should be of use: few blocks have one word.
    fn take_part(&mut self, words: usize, fresh: &mut Fresh) -> Result<Offset, Full> {
        let parts = (words + 2..LINE).chain([words + 1]);
        for larger in parts.filter(|larger| *larger < LINE) {
            if let Some(offset) = self.cut(larger, words) {
                return Ok(offset);
            }
        }
        let line = self.take(LINE, fresh)?;
        self.give(line, LINE);
        self.cut(LINE, words).ok_or(Full)
    }

    /// The first words of a free block of this size, if there is one.
    fn cut(&mut self, larger: usize, words: usize) -> Option<Offset> {
        let offset = self.pop(larger)?;
        self.give(offset + words as Offset, larger - words);
        Some(offset)
    }

    fn pop(&mut self, words: usize) -> Option<Offset> {
        self.0.get_mut(&words)?.pop()
    }

    /// Takes back a block of so many words.
    pub(super) fn give(&mut self, offset: Offset, words: usize) {
        self.0.entry(whole(words)).or_default().push(offset);
    }

    /// Bytes of the lists.
    pub(super) fn bytes(&self) -> usize {
        self.0.values().map(|list| list.capacity() * size_of::<Offset>()).sum()
    }
}

/// The words that a block of so many takes: none, parts of a line, or whole lines.
fn whole(words: usize) -> usize {
    match words {
        0..=LINE => words.max(1),
        _ => words.next_multiple_of(LINE),
    }
}
