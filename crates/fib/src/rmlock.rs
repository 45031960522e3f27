//! A lock whose readers write nothing that others read: after FreeBSD's rmlock(9), which guarded the
//! radix tree before D27401.
//!
//! Each reading thread has a mark of its own, on a cache line of its own. A reader sets its mark and
//! looks whether anybody writes; a writer says that it writes and waits until no mark is set. The two
//! meet as in [`crate::epoch`], where the fence of the readers is paid by the writer, too, as in
//! FreeBSD, which interrupts all processors for it: see [`crate::barrier`].
//!
//! A fenced file: the lock gives out references to what it guards.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use crate::barrier::Fences;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Threads that read at a time without a lock; others take the writers'.
const MARKS: usize = 64;

/// Guards a value that is read often and seldom changed.
pub(crate) struct RmLock<T> {
    value: UnsafeCell<T>,
    /// 1 while somebody writes.
    writing: AtomicU64,
    writers: Mutex<()>,
    marks: Box<[Mark]>,
    /// Of which writers pay for the readers', too.
    fences: Fences,
}

/// How many reads one thread is in. Aligned like a reader's slot, so that readers share no line.
#[repr(align(128))]
struct Mark(AtomicU64);

// SAFETY: the lock is what makes sharing sound: many look at the value by reference (Sync), and one at
// a time changes it, on any thread (Send).
unsafe impl<T: Send + Sync> Sync for RmLock<T> {}

impl<T> RmLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            writing: AtomicU64::new(0),
            writers: Mutex::new(()),
            marks: (0..MARKS).map(|_| Mark(AtomicU64::new(0))).collect(),
            fences: Fences::new(),
        }
    }

    /// Looks at the value. Calls within `look` do not wait for writers.
    #[inline]
    pub(crate) fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        match self.marks.get(number::own()) {
            Some(mark) => self.read_marked(mark, look),
            None => self.read_first(look),
        }
    }

    #[inline]
    fn read_marked<R>(&self, mark: &Mark, look: impl FnOnce(&T) -> R) -> R {
        // Nobody else writes the mark.
        let before = mark.0.load(Ordering::Relaxed);
        self.set(mark, before + 1);
        if before == 0 && self.writing.load(Ordering::Acquire) != 0 {
            self.wait_for_turn(mark);
        }
        let _marked = Marked { mark, before };
        // SAFETY: the mark was set before `writing` was seen to be 0. A writer sets `writing` before
        // it looks at the marks, with a fence in between on both sides (the readers' is the writer's
        // membarrier); so it sees the mark, and waits until `_marked` is dropped. A call within `look`
        // finds the mark set.
        look(unsafe { &*self.value.get() })
    }

    /// Says that a read begins.
    #[inline]
    fn set(&self, mark: &Mark, reads: u64) {
        mark.0.store(reads, Ordering::Relaxed);
        self.fences.light();
    }

    /// Gives the mark back, waits for the writer, and sets it again, until nobody writes. Never
    /// inlined: its registers would be saved by every read, and in a build without link-time
    /// optimisation more of them.
    #[cold]
    #[inline(never)]
    fn wait_for_turn(&self, mark: &Mark) {
        loop {
            mark.0.store(0, Ordering::Release);
            drop(self.wait_for_writers());
            self.set(mark, 1);
            if self.writing.load(Ordering::Acquire) == 0 {
                return;
            }
        }
    }

    /// The first read of a thread, and all of those for which there is no mark. Never inlined, as
    /// [`wait_for_turn`](Self::wait_for_turn).
    #[cold]
    #[inline(never)]
    fn read_first<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        match self.marks.get(number::take()) {
            Some(mark) => self.read_marked(mark, look),
            None => {
                let _alone = self.wait_for_writers();
                // SAFETY: writers hold the same mutex, and other readers only look.
                look(unsafe { &*self.value.get() })
            }
        }
    }

    /// Changes the value, once nobody looks at it.
    pub(crate) fn write<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let _alone = self.wait_for_writers();
        self.writing.store(1, Ordering::SeqCst);
        let _writing = Writing(&self.writing);
        // It was registered, after which it cannot fail (membarrier(2)).
        assert!(self.fences.heavy(), "membarrier failed although it was registered");
        for mark in &self.marks {
            while mark.0.load(Ordering::Acquire) != 0 {
                pause();
            }
        }
        // SAFETY: no mark is set, and who sets one now sees `writing`, gives its mark back and waits
        // for the mutex; who has no mark waits for the mutex, too.
        change(unsafe { &mut *self.value.get() })
    }

    fn wait_for_writers(&self) -> MutexGuard<'_, ()> {
        // The mutex guards no value, and `Writing` ends a write that panicked.
        self.writers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A read under way.
struct Marked<'a> {
    mark: &'a Mark,
    before: u64,
}

impl Drop for Marked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.mark.0.store(self.before, Ordering::Release);
    }
}

/// A write under way.
struct Writing<'a>(&'a AtomicU64);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

#[cfg(not(loom))]
fn pause() {
    std::thread::yield_now();
}

#[cfg(loom)]
fn pause() {
    loom::thread::yield_now();
}

/// Numbers of threads, small ones first, given back when a thread ends.
mod number {
    use std::cell::Cell;
    use std::sync::{Mutex, PoisonError};

    static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));

    /// No thread's number.
    const NONE: usize = usize::MAX;

    struct Own(usize);

    impl Drop for Own {
        fn drop(&mut self) {
            NUMBER.set(NONE);
            FREE.lock().unwrap_or_else(PoisonError::into_inner).0.push(self.0);
        }
    }

    thread_local! {
        // Always there, so that a read looks for nothing else.
        static NUMBER: Cell<usize> = const { Cell::new(NONE) };
        static OWN: Own = Own({
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.0.pop().unwrap_or_else(|| {
                free.1 += 1;
                free.1 - 1
            })
        });
    }

    /// The number of the calling thread; one that nobody has before it took one, and while it ends.
    #[inline]
    pub(super) fn own() -> usize {
        // `get` would be a call where nothing is optimised across crates.
        NUMBER.try_with(Cell::get).unwrap_or(NONE)
    }

    /// Gives the calling thread a number, unless it ends.
    pub(super) fn take() -> usize {
        let number = OWN.try_with(|own| own.0).unwrap_or(NONE);
        NUMBER.set(number);
        number
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn readers_see_whole_changes_only() {
        let lock = Arc::new(RmLock::new([0_u64; 8]));
        let is_over = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (lock, is_over) = (lock.clone(), is_over.clone());
                std::thread::spawn(move || {
                    let mut last = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let seen = lock.read(|values| *values);
                        assert!(seen.iter().all(|value| *value == seen[0]), "{seen:?}");
                        assert!(seen[0] >= last);
                        last = seen[0];
                    }
                })
            })
            .collect();
        for round in 1..=2_000 {
            lock.write(|values| values.iter_mut().for_each(|value| *value = round));
        }
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        assert_eq!(lock.read(|values| values[7]), 2_000);
    }

    #[test]
    fn a_read_within_a_read_does_not_wait_for_a_writer() {
        let lock = Arc::new(RmLock::new(1));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let writer = lock.read(|outer| {
            let own = lock.clone();
            let writer = std::thread::spawn(move || {
                begun.send(()).unwrap();
                own.write(|value| *value = 2);
            });
            has_begun.recv().unwrap();
            for _ in 0..1_000 {
                assert_eq!(lock.read(|inner| *inner), *outer);
                std::thread::yield_now();
            }
            writer
        });
        writer.join().unwrap();
        assert_eq!(lock.read(|value| *value), 2);
    }

    #[test]
    fn more_threads_than_marks_read_and_write_soundly() {
        let lock = RmLock::new([0_u64; 2]);
        let barrier = std::sync::Barrier::new(MARKS + 8);
        std::thread::scope(|scope| {
            for _ in 0..MARKS + 8 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..10 {
                        assert!(lock.read(|values| values[0] == values[1]));
                        lock.write(|values| values.iter_mut().for_each(|value| *value += 1));
                    }
                });
            }
        });
        assert_eq!(lock.read(|values| values[0]), 10 * (MARKS as u64 + 8));
    }

    #[test]
    fn a_panic_within_leaves_the_lock_usable() {
        let lock = RmLock::new(1);
        let caught = |work: &dyn Fn()| {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_err();
        };
        caught(&|| lock.read(|_| panic!("while reading")));
        caught(&|| lock.write(|_| panic!("while writing")));
        lock.write(|value| *value = 2);
        assert_eq!(lock.read(|value| *value), 2);
    }
}

/// All interleavings of a reader and a writer, by the model checker, which knows no membarrier: both
/// sides fence.
#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::cell::UnsafeCell as Checked;
    use std::sync::Arc;

    /// A value of which loom reports every access that overlaps with a write.
    struct Value(Checked<u64>);

    // SAFETY: loom reports any access to the cell that overlaps with a write.
    unsafe impl Sync for Value {}

    #[test]
    fn loom_no_reader_looks_while_somebody_writes() {
        loom::model(|| {
            let lock = RmLock {
                value: UnsafeCell::new(Value(Checked::new(0))),
                writing: AtomicU64::new(0),
                writers: Mutex::new(()),
                marks: Box::new([Mark(AtomicU64::new(0))]),
                fences: Fences::new(),
            };
            let lock = Arc::new(lock);
            let own = lock.clone();
            let reading = loom::thread::spawn(move || {
                // SAFETY: reading within the lock; loom checks that nobody writes.
                own.read_marked(&own.marks[0], |value| value.0.with(|at| unsafe { *at }))
            });
            // SAFETY: alone within the lock; loom checks it.
            lock.write(|value| value.0.with_mut(|at| unsafe { *at = 1 }));
            let seen = reading.join().unwrap();
            assert!(seen <= 1);
        });
    }
}
