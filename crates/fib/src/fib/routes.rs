//! Changes of routes and nexthop groups, one at a time, in batches, and as a full load.

use super::Fib;
use crate::algo::{Change, Dump};
use crate::error::FibError;
use crate::family::Family;
use crate::nexthop::{Nexthop, NexthopId, Target};
use crate::prefix::Prefix;
use crate::rib::{Rib, WALKS};

/// A batch with more changes than this, and than a quarter of the table, leads to a rebuild.
const LARGE_BATCH: usize = 1024;

/// A change of a route, for [`Fib::apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update<F: Family> {
    /// Adds a route, or gives it another target.
    Set(Prefix<F>, Target<F>),
    /// Deletes a route.
    Delete(Prefix<F>),
}

impl<F: Family> Update<F> {
    fn prefix(&self) -> Prefix<F> {
        match self {
            Self::Set(prefix, _) | Self::Delete(prefix) => *prefix,
        }
    }
}

/// What came of a batch of updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applied {
    /// New routes.
    pub added: usize,
    /// Routes with another target than before.
    pub changed: usize,
    /// Deleted routes.
    pub deleted: usize,
    /// Updates that changed nothing: deletions of what is not there, the same target again.
    pub unchanged: usize,
}

/// What came of a full load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Loaded {
    /// Routes in the table.
    pub routes: usize,
    /// Routes of the input that a later one with the same prefix has replaced.
    pub duplicates: usize,
}

impl<F: Family> Fib<F> {
    /// Adds a route to a nexthop, a group, or a number that the table knows.
    ///
    /// # Errors
    /// [`FibError::Exists`] when the prefix has a route, [`FibError::Group`] and
    /// [`FibError::UnknownNexthop`] for a bad target.
    pub fn add(
        &mut self,
        prefix: Prefix<F>,
        target: impl Into<Target<F>>,
    ) -> Result<NexthopId, FibError> {
        if !self.rib.exact(prefix).is_none() {
            return Err(FibError::Exists { prefix: prefix.to_string() });
        }
        self.set(prefix, &target.into())
    }

    /// Gives a route another target.
    ///
    /// # Errors
    /// [`FibError::Missing`] when the prefix has no route, [`FibError::Group`] and
    /// [`FibError::UnknownNexthop`] for a bad target.
    pub fn change(
        &mut self,
        prefix: Prefix<F>,
        target: impl Into<Target<F>>,
    ) -> Result<NexthopId, FibError> {
        if self.rib.exact(prefix).is_none() {
            return Err(FibError::Missing { prefix: prefix.to_string() });
        }
        self.set(prefix, &target.into())
    }

    /// Deletes a route.
    ///
    /// # Errors
    /// [`FibError::Missing`] when the prefix has no route.
    pub fn delete(&mut self, prefix: Prefix<F>) -> Result<(), FibError> {
        match self.record(prefix, NexthopId::NONE) {
            Some(change) => self.deliver(&[change]),
            None => return Err(FibError::Missing { prefix: prefix.to_string() }),
        }
        Ok(())
    }

    /// Edits routes that somebody wrote by hand: readers see them at return, whatever the algorithm
    /// and the [`SyncPolicy`](super::SyncPolicy), as FreeBSD has it for static routes. A batch costs
    /// one rebuild at most.
    pub fn by_hand<R>(&mut self, edit: impl FnOnce(&mut Self) -> R) -> R {
        let result = edit(self);
        if !self.is_synced() {
            self.rebuild();
        }
        result
    }

    /// Applies updates in order, as one batch: readers see it in any order, but each route either
    /// before or after. Many changes at once lead to a rebuild instead, which is quicker.
    ///
    /// # Errors
    /// [`FibError::Group`] and [`FibError::UnknownNexthop`] for a bad target: then the updates
    /// before it have been applied.
    pub fn apply(&mut self, updates: &[Update<F>]) -> Result<Applied, FibError> {
        let mut applied = Applied::default();
        let mut changes = Vec::with_capacity(updates.len());
        let mut result = Ok(());
        for (i, update) in updates.iter().enumerate() {
            if i % WALKS == 0 && updates.len() > 1 {
                self.rib.fetch(updates[i..].iter().map(Update::prefix));
            }
            let change = match update {
                Update::Delete(prefix) => self.record(*prefix, NexthopId::NONE),
                Update::Set(prefix, target) => match self.acquire(target) {
                    Ok(id) => self.record(*prefix, id),
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                },
            };
            applied.count(change.as_ref());
            changes.extend(change);
        }
        self.publish_groups();
        if changes.len() > LARGE_BATCH.max(self.rib.len() / 4) {
            self.note_changes(changes.len());
            self.rebuild();
        } else {
            self.deliver(&changes);
        }
        result.map(|()| applied)
    }

    /// Adds many routes at once; routes that are there get the new target. Sorts the input if need
    /// be, builds the lookup structure once, and looks for a better algorithm. O(n log n), O(n) for
    /// sorted input into an empty table.
    ///
    /// # Errors
    /// [`FibError::Group`] and [`FibError::UnknownNexthop`] for a bad target: then nothing has been
    /// loaded.
    pub fn load<T: Into<Target<F>>>(
        &mut self,
        routes: impl IntoIterator<Item = (Prefix<F>, T)>,
    ) -> Result<Loaded, FibError> {
        let routes = self.acquire_all(routes)?;
        let count = routes.len();
        let duplicates = if self.rib.is_empty() {
            self.load_into_empty(routes)
        } else {
            self.load_into_full(routes)
        };
        self.note_changes(count);
        self.rebuild();
        Ok(Loaded { routes: self.rib.len(), duplicates })
    }

    /// Deletes all routes.
    pub fn clear(&mut self) {
        let count = self.rib.len();
        let rib = std::mem::take(&mut self.rib);
        rib.iter().for_each(|(_, nexthop)| self.nexthops.release(nexthop));
        self.note_changes(count);
        self.rebuild();
    }

    /// Gives a nexthop group other members. Its number and its routes stay, and so do the flows of
    /// members that stay, as far as the weights allow.
    ///
    /// # Errors
    /// [`FibError::Group`] without members, [`FibError::UnknownNexthop`] when the number is no
    /// group's.
    pub fn change_nexthop_group(
        &mut self,
        id: NexthopId,
        members: &[(Nexthop<F>, u32)],
    ) -> Result<(), FibError> {
        let changed = self.nexthops.change_nexthop_group(id, members, &self.publisher.grace());
        self.nexthops.tell(self.numbers.as_mut());
        if !changed? {
            return Err(FibError::UnknownNexthop { number: id.0 });
        }
        self.publish_groups();
        self.note_group_change();
        Ok(())
    }

    /// The number of a target, which stays its number until [`Fib::release`]: for those who prepare
    /// what belongs to a nexthop before readers can meet it. Routes take it as they take any target.
    ///
    /// # Errors
    /// [`FibError::Group`] and [`FibError::UnknownNexthop`] for a bad target.
    pub fn hold(&mut self, target: impl Into<Target<F>>) -> Result<NexthopId, FibError> {
        let id = self.acquire(&target.into())?;
        *self.held.entry(id).or_default() += 1;
        Ok(id)
    }

    /// Ends one [`Fib::hold`]; routes that have taken the number keep it. A number that nobody holds
    /// stays as it is.
    pub fn release(&mut self, id: NexthopId) {
        let Some(held) = self.held.get_mut(&id) else { return };
        *held -= 1;
        if *held == 0 {
            self.held.remove(&id);
        }
        self.nexthops.release(id);
    }

    fn set(&mut self, prefix: Prefix<F>, target: &Target<F>) -> Result<NexthopId, FibError> {
        let id = self.acquire(target)?;
        self.publish_groups();
        if let Some(change) = self.record(prefix, id) {
            self.deliver(&[change]);
        }
        Ok(id)
    }

    /// Changes the RIB only. The route takes over one user of `new`. `None` when nothing changes.
    fn record(&mut self, prefix: Prefix<F>, new: NexthopId) -> Option<Change<F>> {
        let old = self.rib.set(prefix, new);
        self.nexthops.release(old);
        (old != new).then_some(Change { prefix, old, new })
    }

    /// The number of a target with one user more.
    fn acquire(&mut self, target: &Target<F>) -> Result<NexthopId, FibError> {
        let id = self.nexthops.acquire(target, &self.publisher.grace());
        // Also of the members of a group that was refused.
        self.nexthops.tell(self.numbers.as_mut());
        match (id?, target) {
            (Some(id), _) => Ok(id),
            (None, Target::Known(id)) => Err(FibError::UnknownNexthop { number: id.0 }),
            (None, _) => Err(FibError::UnknownNexthop { number: 0 }),
        }
    }

    fn acquire_all<T: Into<Target<F>>>(
        &mut self,
        routes: impl IntoIterator<Item = (Prefix<F>, T)>,
    ) -> Result<Vec<(Prefix<F>, NexthopId)>, FibError> {
        let mut acquired = Vec::new();
        // Neighbours often share their target.
        let mut last: Option<(Target<F>, NexthopId)> = None;
        for (prefix, target) in routes {
            let target = target.into();
            let target = match &last {
                Some((known, id)) if *known == target => Target::Known(*id),
                _ => target,
            };
            match self.acquire(&target) {
                Ok(id) => {
                    acquired.push((prefix, id));
                    if !matches!(target, Target::Known(_)) {
                        last = Some((target, id));
                    }
                }
                Err(error) => {
                    acquired.iter().for_each(|(_, id)| self.nexthops.release(*id));
                    return Err(error);
                }
            }
        }
        Ok(acquired)
    }

    fn load_into_empty(&mut self, mut routes: Vec<(Prefix<F>, NexthopId)>) -> usize {
        let given = routes.len();
        if !routes.is_sorted_by(|a, b| a.0 < b.0) {
            routes.sort_by_key(|route| route.0);
            let nexthops = &mut self.nexthops;
            // The later one of equal prefixes wins, as if they were added one after another.
            routes.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    nexthops.release(earlier.1);
                    earlier.1 = later.1;
                }
                same
            });
        }
        let duplicates = given - routes.len();
        self.rib = Rib::from_dump(&Dump::new(routes));
        duplicates
    }

    fn load_into_full(&mut self, routes: Vec<(Prefix<F>, NexthopId)>) -> usize {
        let (before, given) = (self.rib.len(), routes.len());
        for some in routes.chunks(WALKS) {
            self.rib.fetch(some.iter().map(|route| route.0));
            some.iter().for_each(|(prefix, id)| _ = self.record(*prefix, *id));
        }
        given - (self.rib.len() - before)
    }
}

impl Applied {
    fn count<F: Family>(&mut self, change: Option<&Change<F>>) {
        let count = match change {
            None => &mut self.unchanged,
            Some(change) if change.old.is_none() => &mut self.added,
            Some(change) if change.new.is_none() => &mut self.deleted,
            Some(_) => &mut self.changed,
        };
        *count += 1;
    }
}
