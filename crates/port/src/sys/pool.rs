//! [`Pool`]: frames of one size in one piece of memory.
//!
//! The pool is not on the hot path: a trial takes its frames once and lets them circulate.
//! Slots know nothing of their pool; a frame carries the pool's number, and a small registry
//! (`slots`) leads from there to the free list. So slots can be 64 bytes apart as well as 9 KiB.

use std::ptr::NonNull;
use std::sync::Arc;

use super::frame::Frame;
use super::slots::Slots;
use crate::Batch;
use crate::error::PortError;

/// Cache line in bytes.
const LINE: usize = 64;

/// Shape of a [`Pool`].
///
/// ```
/// use fwdlab_port::PoolConfig;
/// // The default: slots of 33 cache lines. An odd number of lines spreads the frames over all
/// // cache sets; at exactly 2048 bytes all headers would compete for 2 of the 64 sets of L1.
/// assert_eq!(PoolConfig::default().stride(), 33 * 64);
/// // Frames side by side, as small as they get.
/// let dense = PoolConfig { capacity: 64, headroom: 0, ..PoolConfig::default() };
/// assert_eq!(dense.stride(), 64);
/// // Exactly 2 KiB apart, to compare with forwarders that do so.
/// let even = PoolConfig { capacity: 1984, spread: false, ..PoolConfig::default() };
/// assert_eq!(even.stride(), 2048);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Number of frames.
    pub frames: usize,
    /// Largest frame in bytes, without FCS.
    pub capacity: usize,
    /// Free bytes in front of a fresh frame, at most 192; rounded up to a cache line.
    pub headroom: usize,
    /// Make the distance between slots an odd number of cache lines.
    pub spread: bool,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { frames: 4096, capacity: 2048, headroom: LINE, spread: true }
    }
}

impl PoolConfig {
    /// Distance from one slot to the next in bytes.
    pub fn stride(&self) -> usize {
        let lines = (self.headroom.next_multiple_of(LINE) + self.capacity).div_ceil(LINE).max(1);
        let odd = usize::from(self.spread && lines.is_multiple_of(2));
        (lines + odd) * LINE
    }

    fn check(&self) -> Result<(), PortError> {
        let wrong = |field, got, wanted| Err(PortError::PoolConfig { field, got, wanted });
        if self.frames == 0 || self.frames > 1 << 24 {
            return wrong("frames", self.frames, "1 to 16777216");
        }
        if !(LINE..=65_000).contains(&self.capacity) {
            return wrong("capacity", self.capacity, "64 to 65000 bytes");
        }
        if self.headroom > 192 {
            return wrong("headroom", self.headroom, "0 to 192 bytes");
        }
        Ok(())
    }
}

/// A number of equal frames in one mapping, taken and given back; clones share it.
///
/// The memory lives until the last handle is gone and every frame is home.
#[derive(Clone)]
pub struct Pool {
    config: PoolConfig,
    slots: Arc<Slots>,
}

impl Pool {
    /// Allocates the frames: zero-filled, in huge pages where the system has them.
    ///
    /// # Errors
    /// A shape out of range, no memory, or more than 256 pools alive.
    pub fn new(config: PoolConfig) -> Result<Self, PortError> {
        config.check()?;
        Ok(Self { config, slots: Slots::new(config.frames, config.stride())? })
    }

    /// A pool of the default shape with this many frames.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_frames(frames: usize) -> Result<Self, PortError> {
        Self::new(PoolConfig { frames, ..PoolConfig::default() })
    }

    /// The shape.
    pub fn config(&self) -> PoolConfig {
        self.config
    }

    /// How many frames are free.
    pub fn available(&self) -> usize {
        self.slots.home().len()
    }

    /// Takes one frame, of length 0; `None` when all are out.
    #[cold]
    pub fn take(&self) -> Option<Frame> {
        let index = self.slots.home().take(&self.slots)?;
        Some(self.frame(index))
    }

    /// Takes up to `count` frames into the batch; returns how many. One lock for all of them.
    pub fn take_batch(&self, batch: &mut Batch, count: usize) -> usize {
        let mut home = self.slots.home();
        let count = count.min(batch.room()).min(home.len());
        for _ in 0..count {
            let index = home.take(&self.slots).expect("invariant: count <= len");
            batch.push(self.frame(index)).expect("invariant: count <= room");
        }
        count
    }

    /// Gives back all frames of a batch, with one lock; frames of other pools go to theirs.
    pub fn put(&self, batch: &mut Batch) {
        let mut home = self.slots.home();
        let mut foreign = None;
        for frame in batch.drain() {
            if frame.slot().pool == self.slots.number() {
                home.put(&self.slots, frame.into_slot());
            } else {
                // Almost never; it must not go home under our lock.
                foreign.get_or_insert_with(Vec::new).push(frame);
            }
        }
        let last = home.release(&self.slots);
        drop(home);
        drop(last);
        drop(foreign);
    }

    /// Puts the free frames in the order of a fresh pool, so that the next trial uses the same
    /// memory in the same order; returns whether all frames are home.
    pub fn restore(&self) -> bool {
        let mut home = self.slots.home();
        home.sort();
        home.is_complete(&self.slots)
    }

    /// The handle of a slot whose index has just left the free list.
    fn frame(&self, index: u32) -> Frame {
        let stride = self.slots.stride();
        let headroom = self.config.headroom.next_multiple_of(LINE);
        let start = index as usize * stride;
        debug_assert!(start + stride <= self.slots.memory().len());
        // SAFETY: start + stride lies inside the memory, and headroom < stride.
        let data: NonNull<u8> = unsafe { self.slots.memory().base().add(start + headroom) };
        let room = self.config.capacity.min(stride - headroom) as u16;
        // SAFETY: the slot is inside the zero-filled memory, which the home holds while frames are
        // out; each index is in the free list or in one frame, never in both.
        unsafe { Frame::from_slot(data, headroom as u8, room, self.slots.number()) }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("config", &self.config)
            .field("available", &self.available())
            .finish()
    }
}
