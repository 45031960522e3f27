//! [`Pool`]: frames of one size in one piece of memory.
//!
//! The pool is not on the hot path: a trial takes its frames once and lets them circulate.
//! Slots know nothing of their pool; a frame carries the pool's number, and a small registry
//! leads from there to the free list. So slots can be 64 bytes apart as well as 9 KiB.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use super::frame::Frame;
use super::memory::Memory;
use crate::Batch;
use crate::error::PortError;

/// Cache line in bytes.
const LINE: usize = 64;
/// A frame carries its pool's number in 8 bits.
const MAX_POOLS: usize = 256;

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
    shared: Arc<Shared>,
}

struct Shared {
    number: u8,
    config: PoolConfig,
    memory: Memory,
    home: Mutex<Home>,
}

/// The frames that are in the pool.
struct Home {
    /// Slot indices; the next to be taken is the last.
    slots: Vec<u32>,
    /// Keeps the pool alive while frames are out.
    keep_alive: Option<Arc<Shared>>,
}

static REGISTRY: RwLock<[Weak<Shared>; MAX_POOLS]> =
    RwLock::new([const { Weak::new() }; MAX_POOLS]);

impl Pool {
    /// Allocates the frames: zero-filled, in huge pages where the system has them.
    ///
    /// # Errors
    /// A shape out of range, no memory, or more than 256 pools alive.
    pub fn new(config: PoolConfig) -> Result<Self, PortError> {
        config.check()?;
        let memory = Memory::new(config.frames * config.stride())?;
        let slots = (0..config.frames as u32).rev().collect();
        let home = Mutex::new(Home { slots, keep_alive: None });
        let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = registry.iter().position(|pool| pool.strong_count() == 0) else {
            return Err(PortError::TooManyPools { limit: MAX_POOLS });
        };
        let shared = Arc::new(Shared { number: number as u8, config, memory, home });
        registry[number] = Arc::downgrade(&shared);
        Ok(Self { shared })
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
        self.shared.config
    }

    /// How many frames are free.
    pub fn available(&self) -> usize {
        self.shared.home().slots.len()
    }

    /// Takes one frame, of length 0; `None` when all are out.
    #[cold]
    pub fn take(&self) -> Option<Frame> {
        let mut home = self.shared.home();
        let index = home.slots.pop()?;
        home.keep_alive.get_or_insert_with(|| Arc::clone(&self.shared));
        Some(self.shared.frame(index))
    }

    /// Takes up to `count` frames into the batch; returns how many. One lock for all of them.
    pub fn take_batch(&self, batch: &mut Batch, count: usize) -> usize {
        let mut home = self.shared.home();
        let count = count.min(batch.room()).min(home.slots.len());
        if count > 0 {
            home.keep_alive.get_or_insert_with(|| Arc::clone(&self.shared));
        }
        for _ in 0..count {
            let index = home.slots.pop().expect("invariant: count <= slots.len()");
            batch.push(self.shared.frame(index)).expect("invariant: count <= room");
        }
        count
    }

    /// Gives back all frames of a batch, with one lock; frames of other pools go to theirs.
    pub fn put(&self, batch: &mut Batch) {
        let mut keep_alive = None;
        let mut home = self.shared.home();
        let mut foreign = None;
        for frame in batch.drain() {
            if frame.slot().1 == self.shared.number {
                home.slots.push(self.shared.index(&frame));
                std::mem::forget(frame);
            } else {
                // Almost never; `give_back` must not run under our lock.
                foreign.get_or_insert_with(Vec::new).push(frame);
            }
        }
        if home.slots.len() == self.shared.config.frames {
            keep_alive = home.keep_alive.take();
        }
        drop(home);
        drop(keep_alive);
        drop(foreign);
    }

    /// Puts the free frames in the order of a fresh pool, so that the next trial uses the same
    /// memory in the same order; returns whether all frames are home.
    pub fn restore(&self) -> bool {
        let mut home = self.shared.home();
        home.slots.sort_unstable_by(|a, b| b.cmp(a));
        home.slots.len() == self.shared.config.frames
    }
}

impl Shared {
    fn home(&self) -> MutexGuard<'_, Home> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle of a slot whose index has just left the free list.
    fn frame(&self, index: u32) -> Frame {
        let stride = self.config.stride();
        let headroom = self.config.headroom.next_multiple_of(LINE);
        let start = index as usize * stride;
        debug_assert!(start + stride <= self.memory.len());
        // SAFETY: start + stride lies inside the memory, and headroom < stride.
        let data: NonNull<u8> = unsafe { self.memory.base().add(start + headroom) };
        let room = self.config.capacity.min(stride - headroom) as u16;
        // SAFETY: the slot is inside the zero-filled memory, which `keep_alive` holds while
        // frames are out; each index is in the free list or in one frame, never in both.
        unsafe { Frame::from_slot(data, headroom as u8, room, self.number) }
    }

    fn index(&self, frame: &Frame) -> u32 {
        ((frame.slot().0 - self.memory.base().as_ptr() as usize) / self.config.stride()) as u32
    }
}

/// The end of a frame that is dropped.
#[cold]
#[inline(never)]
pub(super) fn give_back(frame: &mut Frame) {
    let number = usize::from(frame.slot().1);
    let pool = {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry[number].upgrade().expect("invariant: a pool outlives its frames")
    };
    let mut home = pool.home();
    home.slots.push(pool.index(frame));
    let all_home = home.slots.len() == pool.config.frames;
    let keep_alive = if all_home { home.keep_alive.take() } else { None };
    drop(home);
    drop(keep_alive);
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("config", &self.shared.config)
            .field("available", &self.available())
            .finish()
    }
}
