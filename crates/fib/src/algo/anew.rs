//! Modules that cannot be changed: small tables are built anew with each change, larger ones by the
//! framework, which waits for more.

use std::sync::Arc;

use super::{AlgorithmError, Change, Dump, Module, Response, SMALL_TABLE};
use crate::epoch::Grace;
use crate::family::Family;
use crate::lookup::Lookup;
use crate::rib::Rib;

/// A structure that is made of a whole table.
pub(super) trait OfDump<F: Family>: Lookup<F> + Sized + 'static {
    /// The most routes with which it is built anew at once.
    const MOST: usize = SMALL_TABLE;
    /// Why it cannot be changed, for the log.
    const REASON: &'static str = "ranges move";

    /// # Errors
    /// When the table is beyond what the structure can hold.
    fn of_dump(dump: &Dump<F>) -> Result<Self, AlgorithmError>;
}

struct Anew<T>(Arc<T>);

/// The module of a table.
///
/// # Errors
/// When the table is beyond what the structure can hold.
pub(super) fn build<F: Family, T: OfDump<F>>(
    dump: &Dump<F>,
) -> Result<Box<dyn Module<F>>, AlgorithmError> {
    Ok(Box::new(Anew(Arc::new(T::of_dump(dump)?))))
}

impl<F: Family, T: OfDump<F>> Module<F> for Anew<T> {
    fn lookup(&self) -> Arc<dyn Lookup<F>> {
        self.0.clone()
    }

    fn apply(&mut self, _changes: &[Change<F>], rib: &Rib<F>, _grace: &Grace<'_>) -> Response<F> {
        if rib.len() > T::MOST {
            return Response::Rebuild { reason: T::REASON };
        }
        match T::of_dump(&rib.dump()) {
            Ok(table) => {
                self.0 = Arc::new(table);
                Response::Replaced(self.0.clone())
            }
            Err(error) => Response::Failed(error),
        }
    }
}
