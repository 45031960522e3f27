//! The frames of a chunk by family: rows of places, headers, addresses and answers, and the stages
//! over them.

use fwdlab_fib::{Address, Family, NexthopId, Pinned, Reader, RouteCache};
use fwdlab_port::{Frame, Heads, Tails};

use crate::adjacency::AdjacencyReader;
use crate::checks::L3;
use crate::facts::PortFacts;
use crate::fast::{CHUNK, Checked, macs};
use crate::fast_family::FastFamily;
use crate::fate::{GENERAL, MAX_PORTS};
use crate::own::Own;
use crate::tables::View;
use crate::tally::Tally;

/// EtherTypes as a little-endian load of their two bytes gives them.
const INET: u16 = fwdlab_wire::ethernet::TYPE_IPV4.swap_bytes();
const INET6: u16 = fwdlab_wire::ethernet::TYPE_IPV6.swap_bytes();

/// The EtherType in word 2 of a frame, as [`INET`] and [`INET6`] have it.
#[inline(always)]
fn ether_type(word: u32) -> u16 {
    (word >> 16) as u16
}

/// One family's frames of a chunk, in order: place in the chunk, checked, address, answer.
pub(crate) struct Row<A> {
    checked: Checked,
    pub(crate) len: usize,
    places: [u8; CHUNK],
    /// Headers of this family's frames alone; used when a chunk holds others, too.
    own: Heads,
    tails: Tails,
    addresses: [A; CHUNK],
    nexthops: [NexthopId; CHUNK],
}

/// How a row edits one frame.
trait Write: Fn(&Checked, usize, &mut Frame, (u64, u32)) {}
impl<T: Fn(&Checked, usize, &mut Frame, (u64, u32))> Write for T {}

/// What the rewrite needs besides the row.
struct Way<'a> {
    adjacencies: &'a AdjacencyReader,
    tally: &'a Tally,
    ports: &'a [PortFacts; MAX_PORTS],
}

impl<A: Address> Row<A> {
    #[cold]
    pub(crate) fn new() -> Self {
        Self {
            len: 0,
            places: [0; CHUNK],
            checked: Checked::new(),
            own: Heads::new(),
            tails: Tails::new(),
            addresses: [A::ZERO; CHUNK],
            nexthops: [NexthopId::NONE; CHUNK],
        }
    }

    /// Notes a place and keeps it if `is_kept`: a store that always happens is cheaper than a
    /// branch that mixed traffic would mispredict.
    #[inline(always)]
    fn offer(&mut self, place: usize, is_kept: bool) {
        self.places[self.len % CHUNK] = place as u8;
        self.len += usize::from(is_kept);
    }

    /// Edits the frames and notes their fates; returns how many were left over. In the usual cases,
    /// decided by a few vectors, all frames are right and leave through one port: then there is no
    /// branch for each of them.
    #[inline(always)]
    fn rewrite(
        &mut self,
        way: &Way<'_>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        write: impl Write,
    ) -> usize {
        // The compiler knows what a minimum is below, and tests no index in the loops.
        let len = self.len.min(CHUNK);
        let ids = &self.nexthops[..len];
        let first = ids.first().copied().unwrap_or(NexthopId::NONE);
        let is_one_hop = ids.iter().fold(0, |differences, id| differences | (id.0 ^ first.0)) == 0;
        let (hop, mut done) = (way.adjacencies.of(first), 0);
        // A copy, so that the compiler knows that writing frames does not change it.
        let output = way.ports[usize::from(hop.port())];
        if chunk.len() == len && !self.checked.unfit(len, output.fast_mtu()) {
            if !is_one_hop {
                done = self.rewrite_through(way, (hop.port(), output), chunk, &write);
            } else if hop.is_not_forward_by(hop.port()) == 0 {
                self.rewrite_alike(macs(hop, &output), chunk, &write);
                way.tally.all().count(first, len as u64);
                done = len;
            }
            fates[..done].fill(hop.port());
        }
        if done == len { 0 } else { self.rewrite_each(way, done, chunk, fates, write) }
    }

    /// Edits the frames of a chunk, none of them unfit, up to the first one that does not leave through
    /// this port; returns how many.
    #[inline(never)]
    fn rewrite_through(
        &self,
        way: &Way<'_>,
        (port, output): (u8, PortFacts),
        chunk: &mut [Frame],
        write: &impl Write,
    ) -> usize {
        let (checked, len) = (&self.checked, chunk.len().min(CHUNK));
        let (chunk, ids) = (&mut chunk[..len], &self.nexthops[..len]);
        let (adjacencies, counts) = (way.adjacencies.all(), way.tally.all());
        for at in 0..len {
            let hop = adjacencies.of(ids[at]);
            if hop.is_not_forward_by(port) != 0 {
                return at;
            }
            write(checked, at, &mut chunk[at], macs(hop, &output));
            counts.count(ids[at], 1);
        }
        len
    }

    /// Edits all frames of a chunk, none of them unfit, for one next hop.
    #[inline(always)]
    fn rewrite_alike(&self, macs: (u64, u32), chunk: &mut [Frame], write: &impl Write) {
        let (checked, len) = (&self.checked, chunk.len().min(CHUNK));
        let chunk = &mut chunk[..len];
        #[expect(clippy::needless_range_loop, reason = "an iterator takes three instructions more")]
        for at in 0..len {
            write(checked, at, &mut chunk[at], macs);
        }
    }

    /// As `rewrite`, a decision for each frame from element `from` on.
    #[inline(never)]
    fn rewrite_each(
        &self,
        way: &Way<'_>,
        from: usize,
        chunk: &mut [Frame],
        fates: &mut [u8],
        write: impl Write,
    ) -> usize {
        let mut left = 0;
        for at in from..self.len {
            let (place, id) = (usize::from(self.places[at]), self.nexthops[at]);
            fates[place] = self.fate(at, &mut chunk[place], way, &write);
            if fates[place] == GENERAL {
                left += 1; // the general path looks up again and counts
            } else {
                way.tally.all().count(id, 1);
            }
        }
        left
    }

    /// As `rewrite`, for frames that were left over, after their next hops have changed.
    #[cold]
    fn rewrite_left(
        &mut self,
        way: &Way<'_>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        write: impl Write,
    ) -> usize {
        let mut left = 0;
        for at in 0..self.len {
            let (place, id) = (usize::from(self.places[at]), self.nexthops[at]);
            if fates[place] == GENERAL {
                fates[place] = self.fate(at, &mut chunk[place], way, &write);
                if fates[place] == GENERAL {
                    left += 1;
                } else {
                    way.tally.all().count(id, 1);
                }
            }
        }
        left
    }

    /// Edits the frame of element `at` if all is well; returns its output port, or [`GENERAL`] and
    /// leaves it alone.
    #[inline(always)]
    fn fate(&self, at: usize, frame: &mut Frame, way: &Way<'_>, write: &impl Write) -> u8 {
        let at = at % CHUNK;
        let hop = way.adjacencies.of(self.nexthops[at]);
        let output = &way.ports[usize::from(hop.port())];
        let is_short = self.checked.total[at] <= output.fast_mtu();
        if (self.checked.bad[at] != 0) | !hop.is_forward() | !is_short {
            return GENERAL;
        }
        write(&self.checked, at, frame, macs(hop, output));
        hop.port()
    }

    /// Finds the nexthop of each address.
    #[inline(always)]
    fn look_up<F: FastFamily<Addr = A>>(
        &mut self,
        table: &Pinned<'_, F>,
        cache: Option<&mut RouteCache>,
        has_batches: bool,
    ) {
        if let Some(cache) = cache
            && cache.look_up(table, &self.addresses[..self.len], &mut self.nexthops[..self.len])
        {
            return;
        }
        let (addresses, nexthops) = (&self.addresses[..self.len], &mut self.nexthops[..self.len]);
        if has_batches {
            table.lookup_batch(addresses, nexthops);
        } else {
            look_up_singly(table, addresses, nexthops);
        }
    }

    /// Replaces nexthops that are groups by their members for the flows, of the frames that were
    /// left over; false when there is no group.
    #[cold]
    fn choose_members<F: FastFamily<Addr = A>>(
        &mut self,
        table: &Pinned<'_, F>,
        (adjacencies, chunk): (&AdjacencyReader, &[Frame]),
    ) -> bool {
        let mut has_group = false;
        for (&place, id) in self.places[..self.len].iter().zip(&mut self.nexthops) {
            if adjacencies.of(*id).is_group() {
                *id =
                    table.member(*id, F::flow(chunk[usize::from(place)].get(L3..).unwrap_or(&[])));
                has_group = true;
            }
        }
        has_group
    }
}

/// As [`Pinned::lookup_batch`], a call for each address. Cold, or it would cost those who look up
/// batches.
#[cold]
#[inline(never)]
fn look_up_singly<F: Family>(
    table: &Pinned<'_, F>,
    addresses: &[F::Addr],
    nexthops: &mut [NexthopId],
) {
    for (address, nexthop) in addresses.iter().zip(nexthops) {
        *nexthop = table.lookup(*address);
    }
}

/// What all frames of a batch have in common.
pub(crate) struct OfBatch<'a> {
    /// The input port's MAC address, packed.
    pub(crate) mac: u64,
    /// The router's own addresses.
    pub(crate) own: &'a Own,
    pub(crate) ports: &'a [PortFacts; MAX_PORTS],
    /// Routes are looked up a batch at a time.
    pub(crate) has_batches: bool,
    /// Answers are kept for destinations that come again.
    pub(crate) has_route_cache: bool,
}

/// A view whose table is pinned at its first use in a batch: a pin costs a fence.
pub(crate) struct Lazy<'a, F: Family> {
    reader: Option<&'a mut Reader<F>>,
    table: Option<(Pinned<'a, F>, &'a mut RouteCache)>,
    adjacencies: &'a AdjacencyReader,
    tally: &'a Tally,
}

impl<'a, F: Family> Lazy<'a, F> {
    #[inline(always)]
    pub(crate) fn new(view: &'a mut View<F>) -> Self {
        let View { reader, adjacencies, tally, .. } = view;
        Self { reader: Some(reader), table: None, adjacencies, tally }
    }

    #[inline(always)]
    fn pin(&mut self, batch: &OfBatch<'a>) -> (&Pinned<'a, F>, &mut RouteCache, Way<'a>) {
        if let Some(reader) = self.reader.take() {
            self.table = Some(reader.pin_with_cache());
        }
        let Self { adjacencies, tally, .. } = *self;
        let (table, cache) =
            self.table.as_mut().expect("invariant: pinned when the reader was taken");
        (table, cache, Way { adjacencies, tally, ports: batch.ports })
    }
}

impl Row<u128> {
    /// Loads the headers of a chunk, and of all its frames what IPv6 has behind them.
    #[inline(always)]
    pub(crate) fn load(&mut self, heads: &mut Heads, chunk: &[Frame]) {
        heads.load_with_tails(chunk, &mut self.tails, &mut self.addresses);
    }
}

impl<A: Address> Row<A> {
    /// Checks, looks up and rewrites; returns how many frames are left over.
    #[inline(always)]
    pub(crate) fn forward<'a, F: FastFamily<Addr = A>>(
        &mut self,
        view: &mut Lazy<'a, F>,
        (chunk, (heads, has_tails)): (&mut [Frame], (&Heads, bool)),
        fates: &mut [u8],
        batch: &OfBatch<'a>,
    ) -> usize {
        let (table, cache, way) = view.pin(batch);
        let is_all = self.len == chunk.len();
        let places = &self.places[..self.len.min(CHUNK)];
        if !(is_all && has_tails) {
            F::load(&mut self.tails, &mut self.addresses, chunk, (!is_all).then_some(places));
        }
        let heads = (if is_all { heads } else { &self.own }, &self.tails);
        let all = (self.len, batch.mac, batch.own);
        if F::check(&mut self.checked, heads, &mut self.addresses, all) {
            F::mark(batch.own, &mut self.checked.bad, heads, self.len);
        }
        let may_keep = batch.has_batches && batch.has_route_cache && table.is_automatic();
        let cache = (F::KEEPS && may_keep).then_some(cache);
        self.look_up(table, cache, batch.has_batches);
        let left = self.rewrite(
            &way,
            chunk,
            fates,
            #[inline(always)]
            |checked: &Checked, at, frame: &mut Frame, macs| F::write(checked, at, frame, macs),
        );
        if left > 0 && self.choose_members(table, (way.adjacencies, &*chunk)) {
            return self.rewrite_left(&way, chunk, fates, F::write);
        }
        left
    }
}

/// 0, 1, 2, ...
const EVERY_PLACE: [u8; CHUNK] = {
    let mut places = [0; CHUNK];
    let mut at = 0;
    while at < CHUNK {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// Splits a chunk of `count` frames by family; returns how many are of neither. Usually all are of
/// the same one, and then nothing has to be sorted.
#[inline(always)]
pub(crate) fn sort(heads: &Heads, count: usize, row: &mut Row<u32>, row6: &mut Row<u128>) -> usize {
    (row.len, row6.len) = (0, 0);
    let words = &heads.word::<2>()[..count];
    let first = words.first().copied().unwrap_or(0);
    let differences = words.iter().fold(0, |differences, word| differences | (word ^ first));
    if ether_type(differences) == 0 {
        match ether_type(first) {
            INET => (row.len, row.places) = (count, EVERY_PLACE),
            INET6 => (row6.len, row6.places) = (count, EVERY_PLACE),
            _ => {}
        }
        return count - row.len - row6.len;
    }
    for (place, &word) in words.iter().enumerate() {
        let ether_type = ether_type(word);
        row.offer(place, ether_type == INET);
        row6.offer(place, ether_type == INET6);
    }
    row.own.pick(heads, &row.places[..row.len]);
    row6.own.pick(heads, &row6.places[..row6.len]);
    count - row.len - row6.len
}
