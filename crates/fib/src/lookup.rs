//! What readers see of a lookup algorithm.

use crate::family::Family;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::level::{self, Kernel};

/// A built lookup structure: longest prefix match for many readers at once.
///
/// It may be updated in place by its [`Module`](crate::algo::Module) while readers use it; then
/// each single answer is right before or after each change, never in between.
pub trait Lookup<F: Family>: Send + Sync {
    /// Longest match of one address; [`NexthopId::NONE`] when nothing matches.
    fn lookup(&self, addr: F::Addr) -> NexthopId;

    /// Longest matches of many addresses: `answers[i]` belongs to `addrs[i]`. When the slices
    /// differ in length, the shorter one counts.
    fn lookup_batch(&self, addrs: &[F::Addr], answers: &mut [NexthopId]) {
        for (addr, answer) in addrs.iter().zip(answers) {
            *answer = self.lookup(*addr);
        }
    }

    /// As [`lookup_batch`](Self::lookup_batch), with `default` where nothing matches: where it is put while answers
    /// are at hand anyway, it costs nothing.
    fn lookup_batch_or(&self, addrs: &[F::Addr], answers: &mut [NexthopId], default: NexthopId) {
        self.lookup_batch(addrs, answers);
        put_default(answers, addrs.len(), default);
    }

    /// The longest match of all addresses that share the first half of their bits with this one; `None` where
    /// they have several, and from algorithms that do not tell.
    fn lookup_half(&self, _addr: F::Addr) -> Option<NexthopId> {
        None
    }

    /// Itself, for [`Inlined`](crate::Inlined), where the algorithm is one of this crate's.
    #[doc(hidden)]
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }

    /// Bytes that lookups may touch (not what the builder keeps for itself).
    fn memory_bytes(&self) -> usize;
}

/// Puts a default route's nexthop, if there is one, where the first `count` answers are none.
pub(crate) fn put_default(answers: &mut [NexthopId], count: usize, default: NexthopId) {
    if !default.is_none() {
        let count = count.min(answers.len());
        level::run(Fill(&mut answers[..count], default));
    }
}

/// Puts a nexthop where there is none.
struct Fill<'a>(&'a mut [NexthopId], NexthopId);

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Count>(self) {
        let Self(answers, nexthop) = self;
        for answer in answers {
            *answer = if answer.0 == 0 { nexthop } else { *answer };
        }
    }
}
