//! What the stages over a row of frames do in each family its own way.

use fwdlab_fib::{Family, Inet, Inet6};
use fwdlab_port::{Frame, Heads};

use crate::fast::{CHUNK, Checked};
use crate::flow;
use crate::own::Own;

/// A family whose frames take the fast path.
pub(crate) trait FastFamily: Family {
    /// Checks the headers of the first `count` frames and notes their destinations; true when a source
    /// may be one of the router's own addresses. `mac` is the input port's.
    fn check(
        checked: &mut Checked,
        heads: &Heads,
        destinations: &mut [Self::Addr; CHUNK],
        of: (usize, u64, &Own),
    ) -> bool;

    /// Marks the first `count` frames whose source may be ours.
    fn mark(own: &Own, bad: &mut [u64; CHUNK], heads: &Heads, count: usize);

    /// Edits the frame of element `at`, of which nothing is bad, for this next hop.
    fn write(checked: &Checked, at: usize, frame: &mut Frame, macs: (u64, u32));

    /// Hash of the flow of a packet.
    fn flow(packet: &[u8]) -> u32;
}

impl FastFamily for Inet {
    #[inline(always)]
    fn check(
        checked: &mut Checked,
        heads: &Heads,
        destinations: &mut [u32; CHUNK],
        (count, mac, own): (usize, u64, &Own),
    ) -> bool {
        checked.check_inet(heads, destinations, (count, mac, own.inet_likeness))
    }

    #[inline(always)]
    fn mark(own: &Own, bad: &mut [u64; CHUNK], heads: &Heads, count: usize) {
        own.mark_inet(bad, heads, count);
    }

    #[inline(always)]
    fn write(checked: &Checked, at: usize, frame: &mut Frame, macs: (u64, u32)) {
        checked.write_inet(at, frame, macs);
    }

    fn flow(packet: &[u8]) -> u32 {
        flow::inet(packet)
    }
}

impl FastFamily for Inet6 {
    #[inline(always)]
    fn check(
        checked: &mut Checked,
        heads: &Heads,
        destinations: &mut [u128; CHUNK],
        (count, mac, own): (usize, u64, &Own),
    ) -> bool {
        checked.check_inet6(heads, destinations, (count, mac, own.inet6_likeness))
    }

    #[inline(always)]
    fn mark(own: &Own, bad: &mut [u64; CHUNK], heads: &Heads, count: usize) {
        own.mark_inet6(bad, heads, count);
    }

    #[inline(always)]
    fn write(checked: &Checked, at: usize, frame: &mut Frame, macs: (u64, u32)) {
        checked.write_inet6(at, frame, macs);
    }

    fn flow(packet: &[u8]) -> u32 {
        flow::inet6(packet)
    }
}
