//! Who is told of the numbers of nexthops.

use super::{Nexthop, NexthopGroup, NexthopId};
use crate::family::Family;

/// What a number was given to.
#[derive(Debug, Clone, Copy)]
pub enum Numbered<'a, F: Family> {
    /// One nexthop.
    Nexthop(&'a Nexthop<F>),
    /// Several, whose numbers were told before.
    Group(&'a NexthopGroup),
}

/// Told of a number and what it was given to, for those who keep what belongs to a nexthop in an array
/// of their own.
pub type NumberSink<F> = Box<dyn FnMut(NexthopId, Numbered<'_, F>) + Send>;
