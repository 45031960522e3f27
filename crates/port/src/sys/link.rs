//! Two queues of frames in opposite directions; batches in, batches out.

use super::batch::Batch;
use super::frame::Frame;
use super::spsc::{self, Consumer, Producer};

/// One end of a two-way connection.
pub(crate) struct Link {
    out: Producer<Frame>,
    into: Consumer<Frame>,
}

impl Link {
    /// Two connected ends, of which the first sends `there` frames before it has to wait, the
    /// second `back`.
    pub(crate) fn pair(there: usize, back: usize) -> (Self, Self) {
        let (out_a, into_b) = spsc::channel(there);
        let (out_b, into_a) = spsc::channel(back);
        (Self { out: out_a, into: into_a }, Self { out: out_b, into: into_b })
    }

    /// Sends from the front of the batch as many frames as fit; returns how many.
    #[inline]
    pub(crate) fn send(&mut self, batch: &mut Batch) -> usize {
        // SAFETY: the batch holds `len` initialised frames; those that moved are forgotten below.
        let count = unsafe { self.out.push(batch.as_slots(), batch.len()) };
        // SAFETY: `count <= len`, and the queue owns these frames now.
        unsafe { batch.forget_front(count) };
        count
    }

    /// Appends to the batch what has arrived, as much as fits but at most `most` frames; returns how
    /// many.
    #[inline]
    pub(crate) fn receive(&mut self, batch: &mut Batch, most: usize) -> usize {
        let count = self.into.ready(batch.room().min(most));
        batch.fill_from(count, |place| {
            // SAFETY: `place` has room for `count <= batch.room()` frames, and as many are ready,
            // so that all of them are written.
            unsafe { self.into.pop(place, count) };
        });
        count
    }

    /// How many of `wanted` frames fit now.
    #[inline]
    pub(crate) fn room(&mut self, wanted: usize) -> usize {
        self.out.free(wanted)
    }

    /// How many frames the direction out of this end holds.
    pub(crate) fn capacity(&self) -> usize {
        self.out.capacity()
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("capacity", &self.capacity()).finish()
    }
}
