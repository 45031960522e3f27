//! loom's atomics in place of the standard library's.

pub(super) use loom::sync::Arc;
pub(super) use loom::sync::atomic::{AtomicUsize, Ordering};

/// One tracked cell for each place: two accesses that are not ordered fail the model.
pub(super) struct Watch(Vec<loom::cell::UnsafeCell<()>>);

impl Watch {
    pub(super) fn new(places: usize) -> Self {
        Self((0..places).map(|_| loom::cell::UnsafeCell::new(())).collect())
    }

    pub(super) fn access(&self, index: usize, count: usize) {
        for at in index..index + count {
            self.0[at % self.0.len()].with_mut(|_| ());
        }
    }
}
