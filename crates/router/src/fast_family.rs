//! What the stages over a row of frames do in each family its own way.

use fwdlab_fib::{Family, Inet, Inet6};
use fwdlab_port::{Frame, Heads, Tails};

use crate::fast::{CHUNK, Checked};
use crate::flow;
use crate::own::Own;

/// A family whose frames take the fast path.
pub(crate) trait FastFamily: Family {
    /// Whether answers are kept, see [`crate::route_cache`]: where a lookup takes longer than a look there.
    const KEEPS: bool;

    /// Loads what the columns do not have, if anything: of all frames of a chunk, or of those at these
    /// places.
    fn load(
        tails: &mut Tails,
        destinations: &mut [Self::Addr; CHUNK],
        chunk: &[Frame],
        places: Option<&[u8]>,
    );

    /// Checks the headers of the first `count` frames and notes destinations that it finds; true when a source
    /// may be one of the router's own addresses. `mac` is the input port's.
    fn check(
        checked: &mut Checked,
        heads: (&Heads, &Tails),
        destinations: &mut [Self::Addr; CHUNK],
        of: (usize, u64, &Own),
    ) -> bool;

    /// Marks the first `count` frames whose source may be ours.
    fn mark(own: &Own, bad: &mut [u32; CHUNK], heads: (&Heads, &Tails), count: usize);

    /// Edits the frame of element `at`, of which nothing is bad, for this next hop.
    fn write(checked: &Checked, at: usize, frame: &mut Frame, macs: (u64, u32));

    /// Hash of the flow of a packet.
    fn flow(packet: &[u8]) -> u32;
}

impl FastFamily for Inet {
    const KEEPS: bool = false;

    #[inline(always)]
    fn load(_: &mut Tails, _: &mut [u32; CHUNK], _: &[Frame], _: Option<&[u8]>) {}

    #[inline(always)]
    fn check(
        checked: &mut Checked,
        heads: (&Heads, &Tails),
        destinations: &mut [u32; CHUNK],
        (count, mac, own): (usize, u64, &Own),
    ) -> bool {
        checked.check_inet(heads.0, destinations, (count, mac, own.inet_likeness))
    }

    #[inline(always)]
    fn mark(own: &Own, bad: &mut [u32; CHUNK], heads: (&Heads, &Tails), count: usize) {
        own.mark_inet(bad, heads.0, count);
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
    const KEEPS: bool = true;

    #[inline(always)]
    fn load(
        tails: &mut Tails,
        destinations: &mut [u128; CHUNK],
        chunk: &[Frame],
        places: Option<&[u8]>,
    ) {
        let Some(places) = places else { return tails.load(chunk, destinations) };
        for (at, &place) in places.iter().enumerate() {
            tails.load_one(at, &chunk[usize::from(place)], destinations);
        }
    }

    #[inline(always)]
    fn check(
        checked: &mut Checked,
        heads: (&Heads, &Tails),
        _: &mut [u128; CHUNK],
        (count, mac, own): (usize, u64, &Own),
    ) -> bool {
        checked.check_inet6(heads, (count, mac, own.inet6_likeness))
    }

    #[inline(always)]
    fn mark(own: &Own, bad: &mut [u32; CHUNK], heads: (&Heads, &Tails), count: usize) {
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
