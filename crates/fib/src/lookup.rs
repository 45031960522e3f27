//! What readers see of a lookup algorithm.

use crate::family::Family;
use crate::nexthop::NexthopId;

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
