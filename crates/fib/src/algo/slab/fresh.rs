//! Words that were never handed out.

/// Offset of a block in words.
pub(crate) type Offset = u32;

/// The region is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// Words that were never part of a block.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) limit: usize,
    pub(super) end: usize,
}

impl Fresh {
    pub(super) fn take(&mut self, words: usize, alignment: usize) -> Result<Offset, Full> {
        let offset = self.end.next_multiple_of(alignment);
        if words > self.limit || offset > self.limit - words {
            return Err(Full);
        }
        self.end = offset + words;
        Ok(offset as Offset)
    }
}
