//! The frames of a chunk by family: rows of places, headers, addresses and answers, and the stages
//! over them.

use fwdlab_fib::{Address, Family, Inet, Inet6, NexthopId, Pinned, Reader};
use fwdlab_port::Frame;

use crate::adjacency::{Adjacency, AdjacencyReader};
use crate::fast::{HEAD, Headers};
use crate::flow;
use crate::general::L3;
use crate::plane::{GENERAL, MAX_PORTS, PortFacts};
use crate::tables::View;
use crate::tally::Tally;

/// Frames per chunk.
pub(crate) const CHUNK: usize = 64;

/// EtherTypes as a little-endian load of their two bytes gives them.
const INET: u16 = fwdlab_wire::ethernet::TYPE_IPV4.swap_bytes();
const INET6: u16 = fwdlab_wire::ethernet::TYPE_IPV6.swap_bytes();

/// The EtherType of a frame whose slot holds [`HEAD`] bytes, as [`INET`] and [`INET6`] have it.
#[inline(always)]
fn ether_type(frame: &Frame) -> u16 {
    let head = frame.head::<HEAD>();
    u16::from_le_bytes([head[12], head[13]])
}

/// The EtherType of all frames, if it is the same and all slots hold [`HEAD`] bytes. The usual
/// case: then nothing has to be sorted.
#[inline(always)]
fn common_type(chunk: &[Frame]) -> Option<u16> {
    let first = chunk.first().filter(|frame| frame.capacity() >= HEAD).map(ether_type)?;
    let mut differences = 0;
    for frame in chunk {
        if frame.capacity() < HEAD {
            return None;
        }
        differences |= ether_type(frame) ^ first;
    }
    (differences == 0).then_some(first)
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

/// One family's frames of a chunk, in order: place in the chunk, header, address, answer.
pub(crate) struct Row<A> {
    headers: Headers,
    pub(crate) len: usize,
    places: [u8; CHUNK],
    addresses: [A; CHUNK],
    nexthops: [NexthopId; CHUNK],
}

impl<A: Address> Row<A> {
    #[cold]
    pub(crate) fn new() -> Self {
        Self {
            len: 0,
            places: [0; CHUNK],
            headers: Headers::new(),
            addresses: [A::ZERO; CHUNK],
            nexthops: [NexthopId::NONE; CHUNK],
        }
    }

    /// Takes the first `count` places.
    #[inline(always)]
    fn take_all(&mut self, count: usize) {
        self.places = EVERY_PLACE;
        self.len = count;
    }

    /// Notes a place and keeps it if `is_kept`: a store that always happens is cheaper than a
    /// branch that mixed traffic would mispredict.
    #[inline(always)]
    fn offer(&mut self, place: usize, is_kept: bool) {
        self.places[self.len % CHUNK] = place as u8;
        self.len += usize::from(is_kept);
    }

    /// Loads the headers with `gather`.
    #[inline(always)]
    fn gather(&mut self, chunk: &[Frame], gather: impl Fn(&mut Headers, usize, &Frame) -> A) {
        for (at, (&place, address)) in
            self.places[..self.len].iter().zip(&mut self.addresses).enumerate()
        {
            *address = gather(&mut self.headers, at, &chunk[usize::from(place)]);
        }
    }

    /// Rewrites the frames with `rewrite`, which returns a fate; returns how many were left over.
    #[inline(always)]
    fn rewrite(
        &self,
        (adjacencies, tally): (&AdjacencyReader, &Tally),
        chunk: &mut [Frame],
        fates: &mut [u8],
        rewrite: impl Fn(&Headers, usize, &mut Frame, Adjacency) -> u8,
    ) -> usize {
        let mut left = 0;
        for (at, (&place, &id)) in self.places[..self.len].iter().zip(&self.nexthops).enumerate() {
            let place = usize::from(place);
            let fate = rewrite(&self.headers, at, &mut chunk[place], adjacencies.of(id));
            fates[place] = fate;
            if fate == GENERAL {
                left += 1; // the general path looks up again and counts
            } else {
                tally.count(id);
            }
        }
        left
    }

    /// As `rewrite`, for frames that were left over.
    #[cold]
    fn rewrite_left(
        &self,
        (adjacencies, tally): (&AdjacencyReader, &Tally),
        chunk: &mut [Frame],
        fates: &mut [u8],
        rewrite: impl Fn(&Headers, usize, &mut Frame, Adjacency) -> u8,
    ) -> usize {
        let mut left = 0;
        for (at, (&place, &id)) in self.places[..self.len].iter().zip(&self.nexthops).enumerate() {
            let place = usize::from(place);
            if fates[place] == GENERAL {
                fates[place] = rewrite(&self.headers, at, &mut chunk[place], adjacencies.of(id));
                if fates[place] == GENERAL {
                    left += 1;
                } else {
                    tally.count(id);
                }
            }
        }
        left
    }

    /// Replaces nexthops that are groups by their members for the flows, of the frames that were
    /// left over; false when there is no group.
    #[cold]
    fn choose_members<F: Family<Addr = A>>(
        &mut self,
        (table, adjacencies): (&Pinned<'_, F>, &AdjacencyReader),
        chunk: &[Frame],
        flow: fn(&[u8]) -> u32,
    ) -> bool {
        let mut has_group = false;
        for (&place, id) in self.places[..self.len].iter().zip(&mut self.nexthops) {
            if adjacencies.of(*id).is_group() {
                *id = table.member(*id, flow(chunk[usize::from(place)].get(L3..).unwrap_or(&[])));
                has_group = true;
            }
        }
        has_group
    }
}

/// What all frames of a batch have in common.
pub(crate) struct Context<'a> {
    /// The input port's MAC address, packed.
    pub(crate) mac: u64,
    pub(crate) ports: &'a [PortFacts; MAX_PORTS],
}

/// A view whose table is pinned at its first use in a batch: a pin costs a fence.
pub(crate) struct Lazy<'a, F: Family> {
    reader: Option<&'a mut Reader<F>>,
    table: Option<Pinned<'a, F>>,
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
    fn pin(&mut self) -> (&Pinned<'a, F>, (&'a AdjacencyReader, &'a Tally)) {
        if let Some(reader) = self.reader.take() {
            self.table = Some(reader.pin());
        }
        (
            self.table.as_ref().expect("invariant: pinned when the reader was taken"),
            (self.adjacencies, self.tally),
        )
    }
}

impl Row<u32> {
    /// Gathers, looks up, checks and rewrites; returns how many frames are left over.
    #[inline(always)]
    pub(crate) fn forward_inet(
        &mut self,
        view: &mut Lazy<'_, Inet>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        context: &Context<'_>,
    ) -> usize {
        let (table, links) = view.pin();
        self.gather(chunk, |headers, at, frame| headers.gather_inet(at, frame));
        table.lookup_batch(&self.addresses[..self.len], &mut self.nexthops[..self.len]);
        self.headers.check_inet(self.len, context.mac);
        let rewrite = |headers: &Headers, at: usize, frame: &mut Frame, adjacency: Adjacency| {
            headers.rewrite_inet(at, frame, adjacency, context.ports)
        };
        let left = self.rewrite(links, chunk, fates, rewrite);
        if left > 0 && self.choose_members((table, links.0), chunk, flow::inet) {
            return self.rewrite_left(links, chunk, fates, rewrite);
        }
        left
    }
}

impl Row<u128> {
    /// Gathers, looks up, checks and rewrites; returns how many frames are left over.
    #[inline(always)]
    pub(crate) fn forward_inet6(
        &mut self,
        view: &mut Lazy<'_, Inet6>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        context: &Context<'_>,
    ) -> usize {
        let (table, links) = view.pin();
        self.gather(chunk, |headers, at, frame| headers.gather_inet6(at, frame));
        table.lookup_batch(&self.addresses[..self.len], &mut self.nexthops[..self.len]);
        self.headers.check_inet6(self.len, context.mac);
        let rewrite = |headers: &Headers, at: usize, frame: &mut Frame, adjacency: Adjacency| {
            headers.rewrite_inet6(at, frame, adjacency, context.ports)
        };
        let left = self.rewrite(links, chunk, fates, rewrite);
        if left > 0 && self.choose_members((table, links.0), chunk, flow::inet6) {
            return self.rewrite_left(links, chunk, fates, rewrite);
        }
        left
    }
}

/// Splits a chunk by family; returns how many frames are of neither.
#[inline(always)]
pub(crate) fn sort(chunk: &[Frame], row: &mut Row<u32>, row6: &mut Row<u128>) -> usize {
    (row.len, row6.len) = (0, 0);
    match common_type(chunk) {
        Some(INET) => row.take_all(chunk.len()),
        Some(INET6) => row6.take_all(chunk.len()),
        Some(_) => {}
        None => {
            for (place, frame) in chunk.iter().enumerate() {
                if frame.capacity() >= HEAD {
                    let ether_type = ether_type(frame);
                    row.offer(place, ether_type == INET);
                    row6.offer(place, ether_type == INET6);
                }
            }
        }
    }
    chunk.len() - row.len - row6.len
}
