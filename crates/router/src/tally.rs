//! How many packets have followed each nexthop: a worker's array of counters by nexthop number,
//! readable by any thread.
//!
//! The array is the worker's own, so counting is an addition in its first-level cache. It grows
//! with the table of adjacencies, between polls; readers find the new one under a lock that no
//! packet ever takes.

use std::sync::{Arc, Mutex, PoisonError};

use fwdlab_fib::NexthopId;

use crate::counter::Counter;

type Cells = Arc<[Counter]>;

/// The worker's end.
#[derive(Debug)]
pub(crate) struct Tally {
    cells: Cells,
    shared: TallyReader,
}

/// The end of everybody else.
#[derive(Debug, Clone)]
pub struct TallyReader(Arc<Mutex<Cells>>);

impl Tally {
    pub(crate) fn new(len: usize) -> Self {
        let cells: Cells = (0..len).map(|_| Counter::default()).collect();
        Self { shared: TallyReader(Arc::new(Mutex::new(cells.clone()))), cells }
    }

    /// The counters of all nexthops, as a value: what is written meanwhile cannot change where they lie.
    #[inline(always)]
    pub(crate) fn all(&self) -> Counts<'_> {
        Counts(&self.cells)
    }

    /// Makes room for at least `len` numbers; what was counted stays.
    #[inline]
    pub(crate) fn grow(&mut self, len: usize) {
        if len > self.cells.len() {
            self.replace(len);
        }
    }

    #[cold]
    fn replace(&mut self, len: usize) {
        let longer = Self::new(len).cells;
        for (new, old) in longer.iter().zip(self.cells.iter()) {
            new.add(old.value());
        }
        *self.shared.0.lock().unwrap_or_else(PoisonError::into_inner) = longer.clone();
        self.cells = longer;
    }

    pub(crate) fn reader(&self) -> TallyReader {
        self.shared.clone()
    }
}

/// The counters of a [`Tally`].
#[derive(Clone, Copy)]
pub(crate) struct Counts<'a>(&'a [Counter]);

impl Counts<'_> {
    /// Counts some packets; none for a number beyond the table, which no lookup answers with.
    #[inline(always)]
    pub(crate) fn count(self, id: NexthopId, packets: u64) {
        if let Some(cell) = self.0.get(id.index()) {
            cell.add(packets);
        }
    }
}

impl TallyReader {
    /// Calls `each` with every number that packets have followed, and how many.
    pub(crate) fn for_each(&self, mut each: impl FnMut(NexthopId, u64)) {
        let cells = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (number, cell) in (0..).zip(cells.iter()) {
            if cell.value() > 0 {
                each(NexthopId(number), cell.value());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_growth_and_strangers_are_not_counted() {
        let mut tally = Tally::new(4);
        let reader = tally.reader();
        tally.all().count(NexthopId(3), 1);
        tally.all().count(NexthopId(4), 1);
        tally.grow(2);
        tally.grow(8);
        tally.all().count(NexthopId(3), 1);
        tally.all().count(NexthopId(7), 1);
        let mut seen = Vec::new();
        reader.for_each(|id, count| seen.push((id.0, count)));
        assert_eq!(seen, [(3, 2), (7, 1)]);
    }
}
