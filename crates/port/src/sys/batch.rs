//! [`Batch`]: up to 256 frames in a row, moved by plain copies of their handles.

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use super::frame::Frame;

/// A row of up to [`Batch::CAPACITY`] frames; derefs to `[Frame]`. Never allocates.
///
/// ```
/// use fwdlab_port::{Batch, Pool};
/// let pool = Pool::with_frames(8)?;
/// let mut batch = Batch::new();
/// assert_eq!(pool.take_batch(&mut batch, 5), 5);
/// for frame in batch.iter_mut() {
///     frame.set_len(60);
/// }
/// let mut first = Batch::new();
/// batch.move_front(&mut first, 2);
/// assert_eq!((first.len(), batch.len()), (2, 3));
/// for frame in batch.drain() {
///     assert_eq!(frame.len(), 60);
/// }
/// assert_eq!(pool.available(), 6);
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
pub struct Batch {
    /// `frames[..len]` are initialised.
    frames: [MaybeUninit<Frame>; Batch::CAPACITY],
    len: usize,
}

impl Batch {
    /// The largest number of frames.
    pub const CAPACITY: usize = 256;

    /// An empty batch.
    pub const fn new() -> Self {
        Self { frames: [const { MaybeUninit::uninit() }; Self::CAPACITY], len: 0 }
    }

    /// How many more frames fit.
    #[inline]
    pub fn room(&self) -> usize {
        Self::CAPACITY - self.len
    }

    /// Whether no more frame fits.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len == Self::CAPACITY
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// Gives the frame back when the batch is full.
    #[inline]
    pub fn push(&mut self, frame: Frame) -> Result<(), Frame> {
        match self.frames.get_mut(self.len) {
            Some(place) => {
                place.write(frame);
                self.len += 1;
                Ok(())
            }
            None => Err(frame),
        }
    }

    /// Takes the last frame.
    #[inline]
    pub fn pop(&mut self) -> Option<Frame> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: frames[..old len] were initialised; the last has just left that range.
        Some(unsafe { self.frames[self.len].assume_init_read() })
    }

    /// Takes frame `index` and puts the last frame in its place; `None` when out of range.
    #[inline]
    pub fn swap_remove(&mut self, index: usize) -> Option<Frame> {
        if index >= self.len {
            return None;
        }
        let last = self.len - 1;
        self.swap(index, last);
        self.pop()
    }

    /// Moves up to `count` frames from the front of this batch to the end of `other`, as many as
    /// fit; returns how many.
    #[inline]
    pub fn move_front(&mut self, other: &mut Batch, count: usize) -> usize {
        let count = count.min(self.len).min(other.room());
        other.fill_from(count, |place| {
            // SAFETY: `count <= self.len` initialised handles are copied into `count` free
            // places of another batch; `forget_front` then gives up the originals.
            unsafe { std::ptr::copy_nonoverlapping(self.frames.as_ptr(), place, count) };
        });
        // SAFETY: the first `count` handles have just been moved out.
        unsafe { self.forget_front(count) };
        count
    }

    /// Takes all frames out, in order. Frames that the iterator has not given out when it is
    /// dropped go back to their pool.
    #[inline]
    pub fn drain(&mut self) -> Drain<'_> {
        let end = std::mem::take(&mut self.len);
        Drain { frames: &mut self.frames, next: 0, end }
    }

    /// Gives all frames back to their pools.
    pub fn clear(&mut self) {
        drop(self.drain());
    }

    /// Lets `fill` write `count` frames behind the last one.
    #[inline]
    pub(super) fn fill_from(&mut self, count: usize, fill: impl FnOnce(*mut MaybeUninit<Frame>)) {
        debug_assert!(count <= self.room());
        fill(self.frames[self.len..].as_mut_ptr());
        self.len += count;
    }

    /// The frames as ring slots are copied: a pointer to the first handle.
    #[inline]
    pub(super) fn as_slots(&self) -> *const MaybeUninit<Frame> {
        self.frames.as_ptr()
    }

    /// Removes the first `count` handles without running their destructors.
    ///
    /// # Safety
    /// `count <= len`, and the caller has copied these handles to another owner.
    #[inline]
    pub(super) unsafe fn forget_front(&mut self, count: usize) {
        self.len -= count;
        if self.len > 0 {
            let first = self.frames.as_mut_ptr();
            // SAFETY: source and destination lie inside the array; handles are moved, not doubled.
            unsafe { std::ptr::copy(first.add(count), first, self.len) };
        }
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Batch {
    type Target = [Frame];

    #[inline]
    fn deref(&self) -> &[Frame] {
        // SAFETY: frames[..len] are initialised.
        unsafe { std::slice::from_raw_parts(self.frames.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Batch {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Frame] {
        // SAFETY: frames[..len] are initialised, and we hold the batch exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.frames.as_mut_ptr().cast(), self.len) }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.clear();
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("len", &self.len).finish()
    }
}

/// The frames of a batch by value, in order; made by [`Batch::drain`].
pub struct Drain<'a> {
    /// `frames[next..end]` are initialised and belong to the iterator.
    frames: &'a mut [MaybeUninit<Frame>; Batch::CAPACITY],
    next: usize,
    end: usize,
}

impl Iterator for Drain<'_> {
    type Item = Frame;

    #[inline]
    fn next(&mut self) -> Option<Frame> {
        if self.next == self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        // SAFETY: index < end, initialised, and `next` has moved past it: read once only.
        Some(unsafe { self.frames[index].assume_init_read() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl ExactSizeIterator for Drain<'_> {}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
