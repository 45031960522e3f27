//! [`Frame`]: the owned handle of one slot of a [`Pool`](crate::Pool).

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::slots::{self, Slot};

/// A frame in memory: unique access to one slot of a [`Pool`](crate::Pool).
///
/// The handle has 16 bytes and derefs to the frame's bytes, from the destination MAC address to
/// the end of the payload, **without** the 4-byte FCS. All bytes of the slot are initialised, so
/// lengthening a frame shows old contents of the slot, never undefined ones.
///
/// Frames circulate: a received frame is sent on or reused. Dropping one gives its slot back to
/// the pool, which takes a lock and is meant for set-up, errors and shutdown; to give back many,
/// use [`Pool::put`](crate::Pool::put).
///
/// ```
/// use fwdlab_port::{Frame, Pool};
/// let pool = Pool::with_frames(4)?;
/// let mut frame = pool.take().expect("four frames are free");
/// frame.set_len(60);
/// frame[12..14].copy_from_slice(&[0x08, 0x00]);
/// assert_eq!((frame.len(), frame[12]), (60, 0x08));
/// assert_eq!(std::mem::size_of::<Frame>(), 16);
/// drop(frame);
/// assert_eq!(pool.available(), 4);
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
#[repr(C, align(8))]
pub struct Frame {
    /// The first byte of the frame.
    data: NonNull<u8>,
    /// Bytes of the frame.
    len: u16,
    /// Bytes from `data` to the end of the slot; `len <= room`.
    room: u16,
    /// Bytes of the slot before `data`.
    headroom: u8,
    /// Which pool the slot belongs to.
    pool: u8,
    /// Free for the owner of the frame.
    mark: u16,
}

const _: () = assert!(std::mem::size_of::<Frame>() == 16);
const _: () = assert!(std::mem::size_of::<Option<Frame>>() == 16);
// `extent`: length and room as halves of a word, and four bytes more.
const _: () = assert!(std::mem::offset_of!(Frame, len) == 8);
const _: () = assert!(std::mem::offset_of!(Frame, room) == 10);

// SAFETY: a frame is the only handle of its slot (see `pool`), so moving it moves all access.
unsafe impl Send for Frame {}
// SAFETY: a shared frame only allows reading.
unsafe impl Sync for Frame {}

impl Frame {
    /// Makes the handle of a slot.
    ///
    /// # Safety
    /// `data - headroom .. data + room` must be one slot of pool number `pool`, initialised,
    /// alive until the frame is given back, and without any other handle.
    pub(super) unsafe fn from_slot(data: NonNull<u8>, headroom: u8, room: u16, pool: u8) -> Self {
        Self { data, len: 0, room, headroom, pool, mark: 0 }
    }

    /// The slot that this is the handle of.
    pub(super) fn slot(&self) -> Slot {
        let address = self.data.as_ptr() as usize - usize::from(self.headroom);
        Slot { address, pool: self.pool }
    }

    /// Gives up the handle: the caller takes the slot home.
    pub(super) fn into_slot(self) -> Slot {
        let slot = self.slot();
        std::mem::forget(self);
        slot
    }

    /// Where the frame's first byte lies.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn start(&self) -> *const u8 {
        self.data.as_ptr()
    }

    /// Where eight bytes lie that hold the length in the lowest 16 bits, and then the room.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn extent(&self) -> *const u64 {
        std::ptr::from_ref(self).cast::<u64>().wrapping_add(1)
    }

    /// Length in bytes, without FCS.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether the frame has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets the length in bytes, at most [`capacity`](Self::capacity).
    ///
    /// # Panics
    /// When `len` is larger than the capacity.
    #[inline]
    pub fn set_len(&mut self, len: usize) {
        if len > usize::from(self.room) {
            too_long(len);
        }
        self.len = len as u16;
    }

    /// The largest length that this frame can have, in bytes without FCS.
    #[inline]
    pub fn capacity(&self) -> usize {
        usize::from(self.room)
    }

    /// Bytes that are free in front of the frame.
    #[inline]
    pub fn headroom(&self) -> usize {
        usize::from(self.headroom)
    }

    /// Grows the frame by `bytes` at its front (to push a header); false when the
    /// headroom is too small, and then nothing has changed.
    #[inline]
    pub fn push_front(&mut self, bytes: usize) -> bool {
        if bytes > usize::from(self.headroom) {
            return false;
        }
        // SAFETY: `bytes <= headroom`, so the new start still lies inside the slot.
        self.data = unsafe { self.data.sub(bytes) };
        self.headroom -= bytes as u8;
        self.len += bytes as u16;
        self.room += bytes as u16;
        true
    }

    /// Cuts `bytes` off the front of the frame (to pull a header); false when the frame is
    /// shorter or the headroom would exceed 255 bytes, and then nothing has changed.
    #[inline]
    pub fn pull_front(&mut self, bytes: usize) -> bool {
        if bytes > usize::from(self.len) || bytes + usize::from(self.headroom) > 255 {
            return false;
        }
        // SAFETY: `bytes <= len <= room`, so the new start still lies inside the slot.
        self.data = unsafe { self.data.add(bytes) };
        self.headroom += bytes as u8;
        self.len -= bytes as u16;
        self.room -= bytes as u16;
        true
    }

    /// A number that travels with the frame; free for its owner, 0 when fresh from the pool.
    #[inline]
    pub fn mark(&self) -> u16 {
        self.mark
    }

    /// Sets the [`mark`](Self::mark).
    #[inline]
    pub fn set_mark(&mut self, mark: u16) {
        self.mark = mark;
    }

    /// The first `N` bytes of the frame's room as an array, whatever its length: one comparison
    /// instead of a bounds check for each access.
    ///
    /// # Panics
    /// When `N` is larger than the capacity.
    #[inline]
    pub fn head<const N: usize>(&self) -> &[u8; N] {
        assert!(N <= usize::from(self.room));
        // SAFETY: `N <= room` bytes from `data` on belong to our slot and are initialised; the
        // shared borrow of the frame keeps writers away.
        unsafe { self.data.cast::<[u8; N]>().as_ref() }
    }

    /// As [`head`](Self::head), for writing.
    ///
    /// # Panics
    /// When `N` is larger than the capacity.
    #[inline]
    pub fn head_mut<const N: usize>(&mut self) -> &mut [u8; N] {
        assert!(N <= usize::from(self.room));
        // SAFETY: as in `head`, and the unique borrow of the only handle makes access unique.
        unsafe { self.data.cast::<[u8; N]>().as_mut() }
    }

    /// Asks the processor to fetch the first cache line of the frame, to be read soon.
    #[inline(always)]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch is a hint; it accesses nothing and cannot fault. SSE is part of x86-64.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.data.as_ptr().cast());
        }
    }

    /// As [`prefetch`](Self::prefetch), but to be written soon: the line comes without other
    /// owners. A frame that another core has written travels once instead of twice (fetch, then
    /// the invalidation of the other copy), so use this one wherever the frame gets edited.
    #[inline(always)]
    pub fn prefetch_write(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: PREFETCHW is a hint; it accesses nothing and cannot fault, and processors
        // without it treat its encoding as a no-op. It changes neither registers nor flags.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) self.data.as_ptr(), options(nostack, preserves_flags, readonly));
        }
    }
}

/// Out of line, so that the message costs the callers nothing.
#[cold]
#[inline(never)]
fn too_long(len: usize) -> ! {
    panic!("a frame of {len} bytes does not fit its slot");
}

impl Deref for Frame {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `len <= room` bytes from `data` on belong to our slot and are initialised.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), usize::from(self.len)) }
    }
}

impl DerefMut for Frame {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; this frame is the only handle of the slot.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), usize::from(self.len)) }
    }
}

impl AsRef<[u8]> for Frame {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for Frame {
    #[inline]
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl Drop for Frame {
    #[inline(always)]
    fn drop(&mut self) {
        slots::give_back(self.slot());
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("len", &self.len).field("mark", &self.mark).finish()
    }
}
