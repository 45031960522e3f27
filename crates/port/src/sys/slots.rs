//! The slots of a pool: their memory, which of them are free, and the registry that leads from a
//! pool's number to them. It knows nothing of frames: these come home as raw slots.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use super::memory::Memory;
use crate::error::PortError;

/// A frame carries its pool's number in 8 bits.
const MAX_POOLS: usize = 256;

/// Most bytes of a pool: whatever is longer cannot be addressed, or rounded up to whole pages.
const MOST_BYTES: usize = isize::MAX as usize / 2;

/// A slot that comes home: the address of its first byte, and its pool's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) address: usize,
    pub(super) pool: u8,
}

/// All slots of a pool.
pub(super) struct Slots {
    number: u8,
    /// Distance from one slot to the next, bytes.
    stride: usize,
    count: usize,
    memory: Memory,
    home: Mutex<Home>,
}

/// The slots that are in no frame.
pub(super) struct Home {
    /// Their indices; the next to be taken is the last.
    free: Vec<u32>,
    /// Keeps the memory alive while frames are out.
    keep_alive: Option<Arc<Slots>>,
}

static REGISTRY: RwLock<[Weak<Slots>; MAX_POOLS]> = RwLock::new([const { Weak::new() }; MAX_POOLS]);

impl Slots {
    /// Maps `count` slots and registers them.
    pub(super) fn new(count: usize, stride: usize) -> Result<Arc<Self>, PortError> {
        // On 32 bit, more than there is address space for.
        let bytes = count.checked_mul(stride).filter(|bytes| *bytes <= MOST_BYTES);
        let (Some(bytes), Ok(last)) = (bytes, u32::try_from(count)) else {
            let source = std::io::Error::from(std::io::ErrorKind::OutOfMemory);
            return Err(PortError::Memory { bytes: count.saturating_mul(stride), source });
        };
        let memory = Memory::new(bytes)?;
        let free = (0..last).rev().collect();
        let home = Mutex::new(Home { free, keep_alive: None });
        let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = registry.iter().position(|pool| pool.strong_count() == 0) else {
            return Err(PortError::TooManyPools { limit: MAX_POOLS });
        };
        let slots = Arc::new(Self { number: number as u8, stride, count, memory, home });
        registry[number] = Arc::downgrade(&slots);
        Ok(slots)
    }

    pub(super) fn number(&self) -> u8 {
        self.number
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    pub(super) fn home(&self) -> MutexGuard<'_, Home> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index(&self, slot: Slot) -> u32 {
        ((slot.address - self.memory.base().as_ptr() as usize) / self.stride) as u32
    }
}

impl Home {
    /// How many slots are free.
    pub(super) fn len(&self) -> usize {
        self.free.len()
    }

    /// Takes the next free slot of `slots`, whose home this is; its index.
    pub(super) fn take(&mut self, slots: &Arc<Slots>) -> Option<u32> {
        let index = self.free.pop()?;
        self.keep_alive.get_or_insert_with(|| Arc::clone(slots));
        Some(index)
    }

    /// Takes a slot of `slots`, whose home this is, back.
    pub(super) fn put(&mut self, slots: &Slots, slot: Slot) {
        self.free.push(slots.index(slot));
    }

    /// What may be dropped, once the lock is released: the last hold on the memory, when all slots
    /// are home.
    #[must_use]
    pub(super) fn release(&mut self, slots: &Slots) -> Option<Arc<Slots>> {
        if self.is_complete(slots) { self.keep_alive.take() } else { None }
    }

    /// Whether all slots are free.
    pub(super) fn is_complete(&self, slots: &Slots) -> bool {
        self.free.len() == slots.count
    }

    /// Puts the free slots in the order of a fresh pool.
    pub(super) fn sort(&mut self) {
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// Takes the slot of a dropped frame home.
#[cold]
#[inline(never)]
pub(super) fn give_back(slot: Slot) {
    let slots = {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry[usize::from(slot.pool)].upgrade().expect("invariant: a pool outlives its frames")
    };
    let mut home = slots.home();
    home.put(&slots, slot);
    let last = home.release(&slots);
    drop(home);
    drop(last);
}
