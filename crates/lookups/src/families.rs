//! The measurements for each family, as functions of one type: they are compiled here, with this
//! crate's optimisation, and not anew in every program that calls them.

use std::time::{Duration, Instant};

use crate::compare::{self, BenchPlan, Figure, Recipe};
use crate::keys::BenchFamily;
use crate::updates::{self, UpdateFigure, UpdatePlan};
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Fib, FibError, Inet, Inet6, Nexthop, Prefix};

/// A family with its measurements.
pub trait Benched: BenchFamily {
    /// Measures one table; `report` gets the figures of each stream and mode as they come.
    ///
    /// # Errors
    /// [`FibError::Disagree`] when contenders disagree on an answer.
    fn table(
        name: &str,
        dump: &Dump<Self>,
        peers: Vec<Recipe<Self>>,
        plan: &BenchPlan,
        report: &mut dyn FnMut(&[Figure]),
    ) -> Result<(), FibError>;

    /// Measures changes of a table with the named algorithm, or with the one that is chosen.
    ///
    /// # Errors
    /// When the algorithm cannot serve the table.
    fn updates(
        table: &str,
        dump: &Dump<Self>,
        algorithm: Option<&str>,
        plan: &UpdatePlan,
    ) -> Result<UpdateFigure, FibError>;

    /// Loads routes; returns how long that took.
    ///
    /// # Errors
    /// As [`Fib::load`].
    fn load(
        fib: &mut Fib<Self>,
        routes: Vec<(Prefix<Self>, Nexthop<Self>)>,
    ) -> Result<Duration, FibError>;
}

macro_rules! benched {
    ($family:ty) => {
        impl Benched for $family {
            fn table(
                name: &str,
                dump: &Dump<Self>,
                peers: Vec<Recipe<Self>>,
                plan: &BenchPlan,
                report: &mut dyn FnMut(&[Figure]),
            ) -> Result<(), FibError> {
                compare::table(name, dump, peers, plan, report)
            }

            fn updates(
                table: &str,
                dump: &Dump<Self>,
                algorithm: Option<&str>,
                plan: &UpdatePlan,
            ) -> Result<UpdateFigure, FibError> {
                updates::updates(table, dump, algorithm, plan)
            }

            fn load(
                fib: &mut Fib<Self>,
                routes: Vec<(Prefix<Self>, Nexthop<Self>)>,
            ) -> Result<Duration, FibError> {
                let start = Instant::now();
                fib.load(routes)?;
                Ok(start.elapsed())
            }
        }
    };
}

benched!(Inet);
benched!(Inet6);
