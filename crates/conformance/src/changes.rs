//! Sequences of changes, checked after each step.

use std::sync::Arc;

use fwdlab_fib::algo::{Algorithm, Change, Module, Response};
use fwdlab_fib::{Address, Family, Grace, Lookup, NexthopId, Prefix, Random, Rib};

use crate::cases::{random_prefix, random_table};
use crate::checker::{Checker, Passed, Violation};
use crate::oracle::{edges, oracle};

/// A sequence: how large its table starts, how dense it is, how many changes come at once.
struct Course {
    start: usize,
    spread: u8,
    steps: usize,
    at_once: u64,
}

pub(super) fn check<F: Family>(
    algorithm: &dyn Algorithm<F>,
    seed: u64,
    passed: &mut Passed,
) -> Result<(), Violation> {
    let courses = [
        Course { start: 0, spread: 4, steps: 300, at_once: 1 },
        Course { start: 20, spread: 10, steps: 400, at_once: 1 },
        Course { start: 200, spread: F::BITS / 2 + 10, steps: 400, at_once: 1 },
        Course { start: 100, spread: 16, steps: 60, at_once: 40 },
    ];
    for (number, course) in courses.iter().enumerate() {
        let mut random = Random::new(seed ^ (number as u64 + 1));
        Sequence::start(algorithm, course, number, &mut random)?.run(
            course,
            &mut random,
            passed,
        )?;
    }
    Ok(())
}

struct Sequence<'a, F: Family> {
    algorithm: &'a dyn Algorithm<F>,
    rib: Rib<F>,
    module: Box<dyn Module<F>>,
    lookup: Arc<dyn Lookup<F>>,
    name: String,
}

impl<'a, F: Family> Sequence<'a, F> {
    fn start(
        algorithm: &'a dyn Algorithm<F>,
        course: &Course,
        number: usize,
        random: &mut Random,
    ) -> Result<Self, Violation> {
        let mut rib = Rib::new();
        for (prefix, nexthop) in random_table(course.start, course.spread, random) {
            rib.set(prefix, nexthop);
        }
        let name = format!("change sequence {number}");
        let checker = Checker { algorithm: algorithm.name(), case: &name };
        let module = algorithm.build(&rib.dump()).map_err(|error| checker.failed(error))?;
        let lookup = module.lookup();
        Ok(Self { algorithm, rib, module, lookup, name })
    }

    fn run(
        mut self,
        course: &Course,
        random: &mut Random,
        passed: &mut Passed,
    ) -> Result<(), Violation> {
        for step in 0..course.steps {
            // In the last third deletions prevail, until nothing is left.
            let shrinking = step > course.steps * 2 / 3;
            let count = 1 + random.below(course.at_once);
            let changes: Vec<_> =
                (0..count).filter_map(|_| self.change(course.spread, shrinking, random)).collect();
            self.apply(&changes, step)?;
            passed.lookups += self.compare(&changes, step, random)?;
            passed.steps += 1;
        }
        let rest: Vec<_> = self.rib.iter().collect();
        for (prefix, old) in rest {
            self.rib.set(prefix, NexthopId::NONE);
            let change = Change { prefix, old, new: NexthopId::NONE };
            self.apply(&[change], course.steps)?;
            passed.lookups += self.compare(&[change], course.steps, random)?;
            passed.steps += 1;
        }
        Ok(())
    }

    /// Changes the RIB: a deletion, another nexthop, or a new route.
    fn change(&mut self, spread: u8, shrinking: bool, random: &mut Random) -> Option<Change<F>> {
        let kind = random.below(if shrinking { 10 } else { 6 });
        let new = NexthopId(1 + random.below(60) as u32);
        // In some tables a short route takes as long as thousands of others.
        let is_short = random.below(4) == 0;
        let existing = || {
            let at = random.clone().below(self.rib.len() as u64);
            self.rib.iter().nth(at as usize).map(|route| route.0)
        };
        let (prefix, new) = match kind {
            0 => (random_prefix(if is_short { spread.min(2) } else { spread }, random), new),
            1 => (existing()?, new),
            2 | 3 => (random_prefix(spread, random), new),
            4 if !shrinking => (random_prefix(spread, random), new),
            _ => (existing()?, NexthopId::NONE),
        };
        let old = self.rib.set(prefix, new);
        Some(Change { prefix, old, new })
    }

    fn apply(&mut self, changes: &[Change<F>], step: usize) -> Result<(), Violation> {
        let name = format!("{}, step {step}", self.name);
        let checker = Checker { algorithm: self.algorithm.name(), case: &name };
        match self.module.apply(changes, &self.rib, &Grace::without_readers()) {
            Response::Applied => {}
            Response::Replaced(lookup) => self.lookup = lookup,
            Response::Rebuild { .. } => {
                let built = self.algorithm.build(&self.rib.dump());
                self.module = built.map_err(|error| checker.failed(error))?;
                self.lookup = self.module.lookup();
            }
            Response::Failed(error) => return Err(checker.failed(error)),
        }
        Ok(())
    }

    fn compare(
        &self,
        changes: &[Change<F>],
        step: usize,
        random: &mut Random,
    ) -> Result<usize, Violation> {
        let routes: Vec<(Prefix<F>, NexthopId)> = self.rib.iter().collect();
        let mut probes = vec![F::Addr::ZERO, F::Addr::MAX, random.addr::<F>()];
        for change in changes {
            probes.extend(edges(&change.prefix, random));
            probes.push(random.addr_in(&change.prefix));
        }
        if step % 50 == 49 {
            probes.extend(routes.iter().flat_map(|(prefix, _)| edges(prefix, random)));
        }
        let want: Vec<_> = probes.iter().map(|&addr| oracle(&routes, addr)).collect();
        let name = format!("{}, step {step}, changed {changes:?}", self.name);
        let checker = Checker { algorithm: self.algorithm.name(), case: &name };
        checker.compare(&*self.lookup, &probes, &want)?;
        Ok(2 * probes.len())
    }
}
