//! Readers while batches of changes are applied: each route is seen before or after its changes, in any
//! order, and an address never loses its route unless the changes themselves, one after the other, take it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::thread;

use fwdlab_fib::{Family, Fib, FibError, NexthopId, Prefix, Reader, Registry, Target, Update};

use crate::checker::{Checker, Mode, Violation};
use crate::churn::{BATCH, Churn, Churned, Script, Stage, joined};

/// Addresses that are asked for.
const PROBES: usize = 400;

impl Churn {
    /// As [`Churn::check`], with `at_once` changes in each batch.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn check_batches<F: Family>(
        &self,
        algorithm: &'static str,
        at_once: usize,
    ) -> Result<Churned, Violation> {
        let name = format!("batches of {at_once}, {} routes, seed {}", self.routes, self.seed);
        let checker = Checker { algorithm, case: &name };
        let script = Script::new(self, &Registry::<F>::standard(), algorithm);
        let mut script = script.map_err(|error| checker.fib(error))?;
        let values = Values::new(&script);
        let (stage, values, checker) = (&Stage::default(), &values, &checker);
        let readers = [(Mode::Single, 1), (Mode::Batch, BATCH)].map(|(mode, count)| Asker {
            reader: script.fib.reader(),
            mode,
            count,
            values,
            checker,
        });
        thread::scope(|scope| {
            let [single, batch] = readers.map(|asker| scope.spawn(move || asker.run(stage)));
            while stage.ready.load(Ordering::Acquire) < 2 {
                thread::yield_now();
            }
            let run = play(&mut script.fib, &script.cycle, stage, (self.changes, at_once));
            stage.is_over.store(true, Ordering::Release);
            let (single, batch) = (joined(single)?, joined(batch)?);
            run.map_err(|error| checker.fib(error))?;
            Ok(Churned {
                lookups: single.lookups + batch.lookups,
                contested: single.contested + batch.contested,
            })
        })
    }
}

fn play<F: Family>(
    fib: &mut Fib<F>,
    cycle: &[Update<F>],
    stage: &Stage,
    (changes, at_once): (usize, usize),
) -> Result<(), FibError> {
    let mut made = 0;
    for batch in cycle.chunks(at_once).cycle() {
        if stage.is_enough(made, changes) {
            break;
        }
        made += batch.len();
        stage.begun.store(made, Ordering::SeqCst);
        fib.apply(batch)?;
        if !fib.is_synced() {
            fib.flush();
        }
        stage.done.store(made, Ordering::SeqCst);
    }
    Ok(())
}

/// What the routes to some addresses lead to in each state of a cycle of changes.
struct Values<F: Family> {
    probes: Vec<F::Addr>,
    states: usize,
    /// By probe, the longest prefix first: nexthops by state, or one for all.
    routes: Vec<Vec<Vec<NexthopId>>>,
}

impl<F: Family> Values<F> {
    fn new(script: &Script<F>) -> Self {
        let prefix_of = |update: &Update<F>| match update {
            Update::Set(prefix, _) | Update::Delete(prefix) => *prefix,
        };
        let changing: BTreeSet<Prefix<F>> = script.cycle.iter().map(prefix_of).collect();
        let rib = script.fib.rib();
        let values = |prefix: Prefix<F>| {
            let mut now = rib.exact(prefix);
            if !changing.contains(&prefix) {
                return vec![now];
            }
            let before = script.cycle.iter().map(|update| {
                let before = now;
                if prefix_of(update) == prefix {
                    now = match update {
                        Update::Set(_, Target::Known(id)) => *id,
                        _ => NexthopId::NONE,
                    };
                }
                before
            });
            before.collect()
        };
        let is_used = |values: &Vec<NexthopId>| values.iter().any(|id| !id.is_none());
        let routes = |addr: &F::Addr| {
            let lengths = (0..=F::BITS).rev();
            lengths.map(|len| values(Prefix::covering(*addr, len))).filter(is_used).collect()
        };
        let all = &script.history.probes;
        let step = all.len().div_ceil(PROBES).max(1);
        let probes: Vec<F::Addr> = all.iter().copied().step_by(step).collect();
        Self { routes: probes.iter().map(routes).collect(), states: script.cycle.len(), probes }
    }

    /// Whether an answer is right for a probe while states `first` to `last` may be seen.
    fn is_right(&self, probe: usize, got: NexthopId, [first, last]: [usize; 2]) -> bool {
        let states = first..=last.min(first + self.states);
        let at = |values: &[NexthopId], state: usize| values[state % values.len()];
        if got.is_none() {
            let is_empty =
                |state| self.routes[probe].iter().all(|values| at(values, state).is_none());
            return states.into_iter().any(is_empty);
        }
        for values in &self.routes[probe] {
            let mut may_be_absent = false;
            for state in states.clone() {
                let value = at(values, state);
                if value == got {
                    return true;
                }
                may_be_absent |= value.is_none();
            }
            if !may_be_absent {
                return false;
            }
        }
        false
    }
}

/// A reader that checks what it reads.
struct Asker<'a, F: Family> {
    reader: Reader<F>,
    mode: Mode,
    count: usize,
    values: &'a Values<F>,
    checker: &'a Checker<'a>,
}

impl<F: Family> Asker<'_, F> {
    fn run(mut self, stage: &Stage) -> Result<Churned, Violation> {
        let mut churned = Churned::default();
        stage.ready.fetch_add(1, Ordering::AcqRel);
        let mut start = 0;
        while !stage.is_over.load(Ordering::Acquire) {
            let end = (start + self.count).min(self.values.probes.len());
            if let Err(violation) = self.ask(stage, start..end, &mut churned) {
                stage.is_over.store(true, Ordering::Release);
                return Err(violation);
            }
            start = end % self.values.probes.len();
        }
        Ok(churned)
    }

    fn ask(
        &mut self,
        stage: &Stage,
        range: Range<usize>,
        churned: &mut Churned,
    ) -> Result<(), Violation> {
        let addrs = &self.values.probes[range.clone()];
        let mut answers = [NexthopId::NONE; BATCH];
        let first = stage.done.load(Ordering::SeqCst);
        match self.mode {
            Mode::Single | Mode::Half => answers[0] = self.reader.lookup(addrs[0]),
            Mode::Batch => self.reader.lookup_batch(addrs, &mut answers),
        }
        let last = stage.begun.load(Ordering::SeqCst);
        churned.lookups += addrs.len();
        if last > first {
            churned.contested += addrs.len();
            stage.contested.fetch_add(addrs.len(), Ordering::Relaxed);
        }
        for (probe, got) in range.zip(answers) {
            if !self.values.is_right(probe, got, [first, last]) {
                let routes = &self.values.routes[probe];
                let now = routes.iter().map(|values| values[first % values.len()]);
                let want = now.into_iter().find(|id| !id.is_none()).unwrap_or_default();
                self.checker.answer::<F>(self.mode, self.values.probes[probe], got, want)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::{Inet, Inet6};

    fn check<F: Family>(routes: usize, changes: usize) {
        for algorithm in Registry::<F>::standard().iter() {
            for at_once in [3, 40] {
                let churn = Churn { routes, changes, seed: 43 };
                let churned = churn.check_batches::<F>(algorithm.name(), at_once).unwrap();
                println!("{} of {}, {at_once}: {churned:?}", algorithm.name(), F::NAME);
                assert!(churned.lookups > 0, "{}: {churned:?}", algorithm.name());
            }
        }
    }

    #[test]
    fn no_address_loses_its_route_while_batches_change_it() {
        check::<Inet>(20, 300);
        check::<Inet6>(20, 300);
        check::<Inet>(1000, 120);
        check::<Inet6>(1000, 120);
    }

    #[test]
    fn an_answer_of_another_state_or_none_is_found() {
        let churn = Churn { routes: 50, changes: 0, seed: 9 };
        let script = Script::new(&churn, &Registry::<Inet>::standard(), "linear").unwrap();
        let values = Values::new(&script);
        let mut reader = script.fib.reader();
        let (mut found, mut others) = (0, 0);
        for (probe, &addr) in values.probes.iter().enumerate() {
            let got = reader.lookup(addr);
            assert!(values.is_right(probe, got, [0, 0]));
            found += usize::from(!got.is_none());
            // Nobody may lose what it has before and after.
            assert_eq!(values.is_right(probe, NexthopId::NONE, [0, 0]), got.is_none());
            others += (1..values.states).filter(|s| !values.is_right(probe, got, [*s, *s])).count();
        }
        assert!(found > 50 && others > 50, "{found} {others}");
    }
}
