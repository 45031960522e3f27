//! A pair of fences of which one side pays for both.
//!
//! Two threads meet by storing each its own number and loading the other's; with a full fence in
//! between on either side, at least one of the two sees the other's store. One side does it millions of
//! times a second here, the other seldom. membarrier(2) runs a fence on all threads of the process at
//! once, so that the frequent side, the reader, needs none of its own: it only keeps the compiler from
//! moving the two. A fence there takes some 5 ns, the system call a microsecond of the other side. Where the
//! kernel has no membarrier (before Linux 4.14, other systems), both sides fence.
//!
//! Whatever point of its program a reader has come to when its fence runs, all is well: what it stored
//! before that, the caller sees when the call returns; what it loads after that, it loads after the
//! caller's stores. A thread that does not run at the time has a fence before it goes on.
//!
//! A fenced file: the system call.
#![allow(unsafe_code)]

use crate::sync::{Ordering, fence};

/// The two fences.
pub(crate) struct Fences {
    /// The heavy one does for both.
    #[cfg(not(loom))]
    is_asymmetric: bool,
    #[cfg(loom)]
    pub(crate) model: Option<model::Model>,
}

#[cfg(not(loom))]
impl Fences {
    pub(crate) fn new() -> Self {
        Self { is_asymmetric: call::is_available() }
    }

    /// Both sides fence, as where there is no membarrier.
    #[cfg(test)]
    pub(crate) fn symmetric() -> Self {
        Self { is_asymmetric: false }
    }

    /// Whether the heavy one takes much longer than a fence.
    #[inline]
    pub(crate) fn is_asymmetric(&self) -> bool {
        self.is_asymmetric
    }

    /// Between a store and a load of the side that does it often.
    #[inline(always)]
    pub(crate) fn light(&self) {
        if self.is_asymmetric {
            // The processor's part is the other side's.
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Between a store and a load of the other side. False when it could not be: what the other side has
    /// stored may not be seen then.
    #[must_use]
    pub(crate) fn heavy(&self) -> bool {
        let is_done = !self.is_asymmetric || call::on_all_threads();
        fence(Ordering::SeqCst);
        is_done
    }
}

#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod call {
    use std::sync::OnceLock;

    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes two numbers, and changes nothing but the order of memory accesses.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0) == 0 }
    }

    /// Asked once, of a process that has not given up the call: then it cannot fail later
    /// (membarrier(2)), unless a filter of system calls comes to forbid it.
    pub(super) fn is_available() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED
            .get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED))
    }

    pub(super) fn on_all_threads() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }
}

#[cfg(all(not(all(target_os = "linux", not(miri))), not(loom)))]
mod call {
    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn on_all_threads() -> bool {
        false
    }
}

/// The model checker knows no membarrier: both sides fence, unless a test has the call modelled.
#[cfg(loom)]
impl Fences {
    pub(crate) fn new() -> Self {
        Self { model: None }
    }

    pub(crate) fn is_asymmetric(&self) -> bool {
        self.model.is_some()
    }

    pub(crate) fn light(&self) {
        match &self.model {
            Some(model) => model.may_interrupt(),
            None => fence(Ordering::SeqCst),
        }
    }

    #[must_use]
    pub(crate) fn heavy(&self) -> bool {
        if let Some(model) = &self.model {
            model.call();
        }
        fence(Ordering::SeqCst);
        true
    }
}

/// membarrier as an interrupt: the caller asks for it and waits, and the one thread that there is beside
/// it fences at the next point where the model lets it be interrupted. Points lie before, within and after the
/// light fence's place, so that every order of the interrupt and of the reader's accesses occurs.
#[cfg(loom)]
pub(crate) mod model {
    use crate::sync::{AtomicU64, Ordering, fence};

    pub(crate) struct Model {
        asked: AtomicU64,
        answered: AtomicU64,
        /// The call does nothing, to see that tests find it.
        pub(crate) is_broken: bool,
    }

    impl Model {
        pub(crate) fn new(is_broken: bool) -> Self {
            Self { asked: AtomicU64::new(0), answered: AtomicU64::new(0), is_broken }
        }

        /// A point at which the reader may be interrupted.
        pub(crate) fn may_interrupt(&self) {
            let asked = self.asked.load(Ordering::Relaxed);
            if asked != self.answered.load(Ordering::Relaxed) {
                fence(Ordering::SeqCst);
                self.answered.store(asked, Ordering::Release);
            }
        }

        /// The reader's thread runs no more.
        pub(crate) fn end(&self) {
            fence(Ordering::SeqCst);
            self.answered.store(u64::MAX, Ordering::Release);
        }

        pub(super) fn call(&self) {
            if self.is_broken {
                return;
            }
            fence(Ordering::SeqCst);
            let number = self.asked.load(Ordering::Relaxed) + 1;
            self.asked.store(number, Ordering::Relaxed);
            while self.answered.load(Ordering::Acquire) < number {
                loom::thread::yield_now();
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    #[test]
    fn of_two_threads_that_store_and_load_one_sees_the_other() {
        for fences in [Fences::new(), Fences::symmetric()] {
            let rounds = if cfg!(miri) { 20 } else { 20_000 };
            let [one, other, seen] = [0, 0, 0].map(AtomicU64::new);
            let turn = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for round in 1..=rounds {
                        turn.wait();
                        one.store(round, Relaxed);
                        fences.light();
                        seen.store(other.load(Relaxed), Relaxed);
                        turn.wait();
                    }
                });
                for round in 1..=rounds {
                    turn.wait();
                    other.store(round, Relaxed);
                    assert!(fences.heavy());
                    let saw = one.load(Relaxed);
                    turn.wait();
                    assert!(saw == round || seen.load(Relaxed) == round, "round {round}");
                }
            });
        }
    }
}
