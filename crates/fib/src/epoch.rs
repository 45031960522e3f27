//! Epochs: how a writer learns that no reader can still look at what it has unlinked.
//!
//! Each reader owns a slot. While it looks things up, the slot holds the number of the epoch in
//! which it began; otherwise 0. A writer unlinks something, begins a new epoch, and may free the
//! thing as soon as no slot holds an older epoch (K. Fraser, "Practical lock-freedom", 2004, §5.2.3,
//! with one global list of slots).
//!
//! The two sides meet in a pair of sequentially consistent fences: reader: *store slot, fence, load
//! pointer*; writer: *store pointer, fence, load slots*. At least one of the two sees the other's
//! store: the writer sees the slot and waits, or the reader sees the new pointer. The reader's fence is
//! the writer's to pay for, where the system can do that ([`crate::barrier`]).

use crate::barrier::Fences;
use crate::sync::{Arc, AtomicU64, Mutex, Ordering};

const IDLE: u64 = 0;

/// The readers of one table.
pub(crate) struct Epochs {
    current: AtomicU64,
    pub(crate) fences: Fences,
    slots: Mutex<Slots>,
}

/// What writers know of readers.
struct Slots {
    all: Vec<Arc<Slot>>,
    /// The epoch in which the last fence began: what was unlinked before it is behind a fence.
    fenced: u64,
}

/// One reader's announcement. Aligned so that readers do not share a cache line (or the pair of
/// lines that the adjacent-line prefetcher fetches).
#[repr(align(128))]
pub(crate) struct Slot {
    epoch: AtomicU64,
}

/// A moment: everything unlinked before it was taken is free for reuse once it has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Epochs {
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Self::with_fences(Fences::new())
    }

    pub(crate) fn with_fences(fences: Fences) -> Self {
        let slots = Mutex::new(Slots { all: Vec::new(), fenced: 0 });
        Self { current: AtomicU64::new(1), fences, slots }
    }

    /// Adds a reader.
    pub(crate) fn register(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot { epoch: AtomicU64::new(IDLE) });
        self.lock().all.push(slot.clone());
        slot
    }

    /// Removes a reader that is not pinned.
    pub(crate) fn deregister(&self, slot: &Arc<Slot>) {
        self.lock().all.retain(|other| !Arc::ptr_eq(other, slot));
    }

    /// Marks the slot's reader as looking at the table.
    #[inline]
    pub(crate) fn pin(&self, slot: &Slot) {
        // Acquire: a reader of this epoch must also see what was unlinked before it began; there may be no
        // fence of ours to see to it.
        let epoch = self.current.load(Ordering::Acquire);
        // Release: a writer that reads this value must also see the end of the read before.
        slot.epoch.store(epoch, Ordering::Release);
        self.fences.light();
    }

    /// Marks the slot's reader as idle.
    #[inline]
    pub(crate) fn unpin(&self, slot: &Slot) {
        slot.epoch.store(IDLE, Ordering::Release);
    }

    /// Begins a new epoch; call it after unlinking.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp(self.current.fetch_add(1, Ordering::SeqCst) + 1)
    }

    /// Whether every reader that was pinned when the stamp was taken has gone on since.
    pub(crate) fn has_passed(&self, stamp: Stamp) -> bool {
        let mut slots = self.lock();
        if slots.all.is_empty() {
            // Whoever comes to be registered has this lock after us, and sees what we have done.
            return true;
        }
        if slots.fenced < stamp.0 {
            // Whoever is seen in an older epoch is there, with or without a fence.
            if self.fences.is_asymmetric() && !slots.have_passed(stamp) {
                return false;
            }
            let now = self.current.load(Ordering::SeqCst);
            if !self.fences.heavy() {
                return false;
            }
            slots.fenced = now;
        }
        slots.have_passed(stamp)
    }

    fn lock(&self) -> crate::sync::MutexGuard<'_, Slots> {
        // Nothing panics while it is held, and the list is sound at each moment anyway.
        self.slots.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Slots {
    fn have_passed(&self, stamp: Stamp) -> bool {
        self.all.iter().all(|slot| {
            let epoch = slot.epoch.load(Ordering::Acquire);
            epoch == IDLE || epoch >= stamp.0
        })
    }
}

/// What a [`Module`](crate::algo::Module) may ask about readers while it applies changes. It comes
/// from the framework, which knows them.
pub struct Grace<'a> {
    epochs: Option<&'a Epochs>,
}

impl<'a> Grace<'a> {
    pub(crate) fn of(epochs: &'a Epochs) -> Self {
        Self { epochs: Some(epochs) }
    }

    /// For structures without concurrent readers: every stamp has passed at once. Only for the conformance
    /// suite: whoever says so to a module has it reuse what a reader may look at.
    #[cfg(any(test, feature = "conformance"))]
    pub fn without_readers() -> Grace<'static> {
        Grace { epochs: None }
    }

    /// A stamp for what the caller has unlinked until now. A few ns; one stamp can serve many
    /// things unlinked together.
    pub fn stamp(&self) -> Stamp {
        self.epochs.map_or(Stamp(0), Epochs::stamp)
    }

    /// Whether no reader can look any more at what was unlinked before the stamp was taken. Costs
    /// one cache line read for each reader, and the first time for a stamp a fence on all threads of the
    /// process, a microsecond: ask once for many things.
    pub fn has_passed(&self, stamp: Stamp) -> bool {
        self.epochs.is_none_or(|epochs| epochs.has_passed(stamp))
    }
}

/// A writer that pays for both fences, with membarrier as `barrier::model` has it.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::barrier::model::Model;

    /// A reader follows a number to one of two blocks; the writer leads it to the other one, and uses the
    /// first anew.
    fn follow_while_it_is_changed(is_broken: bool) {
        loom::model(move || {
            let epochs = Epochs::with_fences(Fences { model: Some(Model::new(is_broken)) });
            let slot = epochs.register();
            let at = AtomicU64::new(0);
            let blocks = [10, 11].map(AtomicU64::new);
            let shared = Arc::new((epochs, at, blocks));
            let reader = loom::thread::spawn({
                let shared = shared.clone();
                move || {
                    let (epochs, at, blocks) = &*shared;
                    let model = epochs.fences.model.as_ref().unwrap();
                    model.may_interrupt();
                    epochs.pin(&slot);
                    let at = at.load(Ordering::Acquire);
                    model.may_interrupt();
                    let block = blocks[at as usize].load(Ordering::Relaxed);
                    assert_eq!(block, 10 + at, "used anew while pinned");
                    epochs.unpin(&slot);
                    model.end();
                }
            });
            let (epochs, at, blocks) = &*shared;
            at.store(1, Ordering::Release);
            let stamp = epochs.stamp();
            if epochs.has_passed(stamp) {
                blocks[0].store(99, Ordering::Relaxed);
            }
            reader.join().unwrap();
        });
    }

    #[test]
    fn loom_a_block_is_not_used_anew_when_the_writer_fences_for_both() {
        follow_while_it_is_changed(false);
    }

    #[test]
    #[should_panic(expected = "used anew while pinned")]
    fn loom_without_the_writer_s_fence_the_model_finds_the_fault() {
        follow_while_it_is_changed(true);
    }
}
