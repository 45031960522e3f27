//! Attaching, feeding, replacing and leaving out algorithms.

use std::time::Duration;

use super::attached::{Attached, Errored, beyond, facts};
use super::{Choice, Fib, Synced, View};
use crate::algo::{Algorithm, AlgorithmError, Change, Response, TableFacts};
use crate::error::FibError;
use crate::family::Family;
use crate::log::Action;
use crate::lookup::Lookup;
use crate::sync::Ordering;

/// Another algorithm takes over when its preference is higher by more than this: 5 % of the scale,
/// as in FreeBSD.
const WORTH_SWITCHING: u8 = 12;
/// For how long an algorithm is left out after its first failure; doubles with each more.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// After so many failures in a row (the last one a minute after the first) it is not tried again, as
/// in FreeBSD until it is taken out and added anew, or somebody chooses an algorithm. Only where
/// nobody else can serve a table is it tried once that has changed.
const MOST_FAILURES: u32 = 7;
const NEVER: Duration = Duration::MAX;
/// Between two parts of what a module has left for quiet moments.
const BETWEEN_PARTS: Duration = Duration::from_millis(10);
/// Until a table that nobody can serve is tried again, once it has changed.
const HOPELESS_RETRY: Duration = Duration::from_secs(64);

impl<F: Family> Fib<F> {
    /// Chooses the algorithm. Failures of the past are forgotten. Readers see all changes at return.
    ///
    /// # Errors
    /// [`FibError::UnknownAlgorithm`], or [`FibError::Algorithm`] when it cannot serve the table;
    /// the old one stays then.
    pub fn set_algorithm(&mut self, choice: Choice) -> Result<(), FibError> {
        if let Choice::Fixed(name) = &choice {
            let algorithm = self.registry.named(name)?;
            let name = algorithm.name();
            if let Some(error) = beyond(algorithm, self.rib.len(), self.nexthops.highest().0) {
                return Err(FibError::Algorithm { name, error });
            }
            if name != self.attached.name() || !self.is_synced() {
                let built = Attached::build(algorithm, &self.rib)?;
                self.take_over(built);
            }
        }
        self.errors.clear();
        self.choice = choice;
        // Readers are told whose choice it is.
        self.publish(self.published.clone());
        if self.choice == Choice::Auto {
            self.attach_preferred();
        }
        Ok(())
    }

    /// Adds an algorithm to those that the table can choose from; it takes over at once where it is
    /// better than the present one.
    ///
    /// # Errors
    /// [`FibError::AlgorithmExists`] when there is one of its name.
    pub fn attach(&mut self, algorithm: &'static dyn Algorithm<F>) -> Result<(), FibError> {
        self.registry.attach(algorithm)?;
        self.errors.remove(algorithm.name());
        self.evaluate(false);
        Ok(())
    }

    /// Takes an algorithm out of those that the table can choose from.
    ///
    /// # Errors
    /// [`FibError::UnknownAlgorithm`], or [`FibError::AlgorithmBusy`] while it serves the table or
    /// is the one that was chosen by name.
    pub fn detach(&mut self, name: &str) -> Result<(), FibError> {
        self.check_idle(name)?;
        self.errors.remove(name);
        self.registry.detach(name)
    }

    /// Whether an algorithm could be taken out.
    ///
    /// # Errors
    /// As [`Fib::detach`].
    pub(crate) fn check_idle(&self, name: &str) -> Result<(), FibError> {
        let name = self.registry.named(name)?.name();
        let is_chosen = matches!(&self.choice, Choice::Fixed(chosen) if chosen == name);
        if is_chosen || name == self.attached.name() {
            return Err(FibError::AlgorithmBusy { name });
        }
        Ok(())
    }

    /// Attaches the preferred algorithm, be it ever so little better.
    fn attach_preferred(&mut self) {
        let preferred = self.preferred().filter(|best| best.name() != self.attached.name());
        match preferred.map(|algorithm| Attached::build(algorithm, &self.rib)) {
            Some(Ok(built)) => self.take_over(built),
            Some(Err(FibError::Algorithm { name, error })) => {
                self.leave_out(name, error);
                self.rebuild();
            }
            _ => self.flush(),
        }
    }

    /// Does what is due at `now`, a time since any fixed moment: rebuilds when changes are pending,
    /// looks for a better algorithm, frees memory that readers have left.
    pub fn sync(&mut self, now: Duration) -> Synced {
        self.now = now;
        self.publisher.collect();
        let (builds, name) = (self.builds, self.attached.name());
        let is_due = self.pending.tick(now, &self.policy);
        if is_due || self.evaluation.tick(now) || self.is_retry_due() {
            self.evaluate(is_due);
        }
        if self.is_synced() {
            self.do_some();
            self.nexthops.settle(&self.publisher.grace());
        }
        let pending = self.pending.due().filter(|due| *due != NEVER);
        let has_left = self.is_synced() && self.attached.module.has_left_some();
        let left = has_left.then_some(self.next_part);
        let next = [pending, self.evaluation.due(), self.retry_due(), left];
        Synced {
            rebuilt: self.builds != builds,
            switched: self.attached.name() != name,
            next: next.into_iter().flatten().min(),
        }
    }

    /// Has the module do a part of what it has left, at most so often that one core has 99 % of its time.
    fn do_some(&mut self) {
        // A clock that went back is not waited for.
        let is_due = self.now >= self.next_part || self.now + BETWEEN_PARTS < self.next_part;
        if is_due && self.attached.module.has_left_some() {
            self.attached.module.do_some(&self.rib, &self.publisher.grace());
            self.next_part = self.now + BETWEEN_PARTS;
        }
    }

    /// Makes all changes visible to readers now, and looks for a better algorithm.
    pub fn flush(&mut self) {
        let is_pending = !self.is_synced();
        self.evaluate(is_pending);
    }

    /// Applies changes that the RIB holds already.
    pub(super) fn deliver(&mut self, changes: &[Change<F>]) {
        if changes.is_empty() {
            return;
        }
        self.note_changes(changes.len());
        let is_immediate = changes.iter().any(|change| self.needs_immediate_sync(change));
        if self.pending.is_pending() {
            self.pending.note(changes.len() as u64);
            self.hope_again();
            if is_immediate {
                self.rebuild();
            }
            return;
        }
        let nexthops = changes.iter().map(|change| change.new.0).max().unwrap_or(0);
        let outcome = match beyond(self.attached.algorithm, self.rib.len(), nexthops) {
            Some(error) => Response::Failed(error),
            None => self.attached.apply(changes, &self.rib, &self.publisher.grace()),
        };
        match outcome {
            Response::Applied => self.settle(),
            Response::Replaced(lookup) => {
                self.publish(lookup);
                self.settle();
            }
            Response::Rebuild { reason } => {
                self.pending.note(changes.len() as u64);
                self.tell(Action::RebuildScheduled { reason });
                if is_immediate {
                    self.rebuild();
                }
            }
            Response::Failed(error) => {
                self.leave_out(self.attached.name(), error);
                self.rebuild();
            }
        }
    }

    /// Whether a change is not to wait for a rebuild: routes to networks of this machine's own, as in
    /// FreeBSD. What they lead to is expected to answer at once, and they are few.
    fn needs_immediate_sync(&self, change: &Change<F>) -> bool {
        let id = if change.new.is_none() { change.old } else { change.new };
        self.nexthops.nexthop(id).is_some_and(|nexthop| nexthop.gateway.is_none())
    }

    pub(super) fn note_changes(&mut self, count: usize) {
        self.generation += count as u64;
        self.evaluation.note(count as u64);
    }

    /// Notes a change that readers see at once although the routes stay.
    pub(super) fn note_group_change(&mut self) {
        self.generation += 1;
        if self.is_synced() {
            self.settle();
        } else {
            // Readers see it, though routes still wait.
            self.visible.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// When a table that nobody could serve has changed, sets a time to try again.
    fn hope_again(&mut self) {
        if self.errors.is_empty() || self.pending.due() != Some(NEVER) {
            return;
        }
        let until = self.now + HOPELESS_RETRY;
        self.errors.values_mut().for_each(|errored| errored.until = errored.until.min(until));
        self.pending.postpone(self.now, until);
    }

    /// Builds a structure from the RIB with the algorithm that is best now. When none can, readers
    /// keep what they have, and it is tried again later.
    pub(super) fn rebuild(&mut self) {
        self.pending.note(0);
        // Each failure leaves one algorithm out.
        for _ in 0..self.registry.len() {
            let Some(algorithm) = self.best() else { break };
            match self.attached.rebuild(algorithm, &self.rib) {
                Ok(built) => return self.take_over(built),
                Err(FibError::Algorithm { name, error }) => self.leave_out(name, error),
                Err(_) => break,
            }
        }
        let is_banned = self.errors.values().any(|errored| errored.until == NEVER);
        let soon = if is_banned { NEVER } else { self.now + FIRST_RETRY };
        let until = self.retry_due().unwrap_or(soon);
        self.pending.postpone(self.now, until);
        self.tell(Action::NoAlgorithm);
    }

    /// Gives readers the groups as they are now, with the structure that they have: to be done
    /// before they meet the number of a new group, or a former group's number anew.
    pub(super) fn publish_groups(&mut self) {
        if !self.nexthops.reader_groups().is_same(&self.published_groups) {
            let lookup = self.published.clone();
            self.publish(lookup);
        }
    }

    fn publish(&mut self, lookup: std::sync::Arc<dyn Lookup<F>>) {
        let groups = self.nexthops.reader_groups().clone();
        self.published_groups = groups.clone();
        self.published = lookup.clone();
        let is_automatic = self.choice == Choice::Auto;
        let default = self.attached.default.clone();
        self.publisher.replace(View { lookup, default, groups, is_automatic });
    }

    /// Tells everybody that readers see all changes.
    fn settle(&mut self) {
        self.visible.store(self.generation, Ordering::Release);
        self.nexthops.settle(&self.publisher.grace());
    }

    fn evaluate(&mut self, must_rebuild: bool) {
        self.evaluation.clear();
        let best = self.best().map(|algorithm| algorithm.name());
        if must_rebuild || best.is_some_and(|best| best != self.attached.name()) {
            self.rebuild();
        }
        // Who could have been tried again and was not wanted begins afresh.
        self.errors.retain(|_, errored| errored.until > self.now);
    }

    fn take_over(&mut self, built: Attached<F>) {
        if built.name() != self.attached.name() {
            self.tell(Action::Switching { to: built.name() });
        }
        self.errors.remove(built.name());
        self.attached = built;
        self.rib.hide_default(self.attached.default.is_some());
        self.builds += 1;
        let lookup = self.attached.lookup();
        let bytes = lookup.memory_bytes();
        self.publish(lookup);
        self.settle();
        self.pending.clear();
        self.evaluation.clear();
        let (prefixes, nexthops) = (self.rib.len(), self.nexthops.highest().0);
        self.tell(Action::Built { prefixes, nexthops, bytes });
    }

    fn leave_out(&mut self, name: &'static str, error: AlgorithmError) {
        let failures = self.errors.get(name).map_or(0, |errored| errored.failures) + 1;
        let retry = FIRST_RETRY * 2u32.saturating_pow(failures.min(MOST_FAILURES) - 1);
        let retry = (failures < MOST_FAILURES).then_some(retry);
        let until = retry.map_or(NEVER, |retry| self.now + retry);
        self.errors.insert(name, Errored { failures, until });
        let retry_ms = retry.map_or(0, |retry| retry.as_millis() as u64);
        self.tell(Action::Failed { name, error, failures, retry_ms });
    }

    /// The algorithm to use now: the fixed one if it can serve, otherwise the preferred one, unless
    /// that is hardly better than the attached one.
    fn best(&self) -> Option<&'static dyn Algorithm<F>> {
        if let Choice::Fixed(name) = &self.choice {
            let fixed = self.registry.find(name).filter(|algorithm| self.can_serve(*algorithm));
            if fixed.is_some() {
                return fixed;
            }
        }
        let attached = self.attached.algorithm;
        let preferred = self.preferred()?;
        if !self.can_serve(attached) {
            return Some(preferred);
        }
        let facts = self.facts();
        let gain = preferred.preference(&facts).saturating_sub(attached.preference(&facts));
        Some(if gain > WORTH_SWITCHING { preferred } else { attached })
    }

    /// The algorithm with the highest preference of those that can serve the table; the first of
    /// equals.
    fn preferred(&self) -> Option<&'static dyn Algorithm<F>> {
        let facts = self.facts();
        let able = self.registry.all().filter(|algorithm| self.can_serve(*algorithm));
        able.rev().max_by_key(|algorithm| algorithm.preference(&facts))
    }

    fn can_serve(&self, algorithm: &dyn Algorithm<F>) -> bool {
        let is_left_out =
            self.errors.get(algorithm.name()).is_some_and(|errored| self.now < errored.until);
        !is_left_out && beyond(algorithm, self.rib.len(), self.nexthops.highest().0).is_none()
    }

    fn facts(&self) -> TableFacts {
        facts(&self.rib, self.nexthops.highest().0, self.caches)
    }

    fn is_retry_due(&self) -> bool {
        self.retry_due().is_some_and(|due| self.now >= due)
    }

    /// When the next left-out algorithm may be tried again, if that would be of use.
    fn retry_due(&self) -> Option<Duration> {
        self.errors.values().map(|errored| errored.until).filter(|until| *until != NEVER).min()
    }
}
