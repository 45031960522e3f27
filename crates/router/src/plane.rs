//! The stages between receiving and sending: they turn a row of frames into a row of fates.
//!
//! ```text
//! sort     by family, prefetch the next chunk
//! gather   headers and destination addresses into arrays   (touches the frames' first line)
//! lookup   one call per family and chunk
//! check    all conditions and edits, on the arrays
//! rewrite  the frames that go on                            (touches them again, now in L1)
//! general  what the fast path left over
//! ```
//!
//! A chunk is small enough that its frames' first cache lines are still in L1 when `rewrite`
//! comes to them; while one chunk is sorted, the next one is prefetched.

use std::collections::VecDeque;
use std::sync::Arc;

use fwdlab_fib::{Address, Family, Inet, Inet6, NexthopId};
use fwdlab_port::{Batch, Frame, Pool, wide};
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, pack_mac};
use crate::counters::Counters;
use crate::fast::{HEAD, Headers};
use crate::flow;
use crate::general::{Hop, L3};
use crate::interface::PortConfig;
use crate::knobs::Knobs;
use crate::limits::TokenBucket;
use crate::resolve::Waiting;
use crate::tables::View;

/// Most ports of a router; the numbers above are fates.
pub(crate) const MAX_PORTS: usize = 256;
/// Port numbers are below this, so that a fate is one byte.
pub(crate) const PORT_LIMIT: usize = 250;
/// Fate: not decided by the fast path.
pub(crate) const GENERAL: u8 = 253;
/// Fate: kept until a MAC address is known; noted in [`Plane::waiting`] in order.
pub(crate) const HELD: u8 = 254;
/// Fate: was for the router and is done with; the frame goes back to its pool.
pub(crate) const CONSUMED: u8 = 252;
/// Fate: dropped and counted; the frame goes back to its pool.
pub(crate) const DROPPED: u8 = 255;

/// Frames per chunk.
pub(crate) const CHUNK: usize = 64;

/// EtherTypes as a little-endian load of their two bytes gives them.
const INET: u16 = fwdlab_wire::ethernet::TYPE_IPV4.swap_bytes();
const INET6: u16 = fwdlab_wire::ethernet::TYPE_IPV6.swap_bytes();

/// What the stages must know of a port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortFacts {
    /// As [`pack_mac`] packs it.
    mac: u64,
    /// Bytes; 0 where there is no port, so that nothing fits it.
    mtu: u32,
    fib: u16,
}

impl PortFacts {
    pub(crate) const ABSENT: PortFacts = PortFacts { mac: 0, mtu: 0, fib: 0 };

    pub(crate) fn new(config: &PortConfig) -> Self {
        Self { mac: pack_mac(config.mac), mtu: config.mtu as u32, fib: config.fib }
    }

    #[inline(always)]
    pub(crate) fn packed_mac(&self) -> u64 {
        self.mac
    }

    #[inline(always)]
    pub(crate) fn mtu(&self) -> u32 {
        self.mtu
    }

    pub(crate) fn is_present(&self) -> bool {
        self.mtu > 0
    }
}

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
struct Row<A> {
    headers: Headers,
    len: usize,
    places: [u8; CHUNK],
    addresses: [A; CHUNK],
    nexthops: [NexthopId; CHUNK],
}

impl<A: Address> Row<A> {
    fn new() -> Self {
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

    #[inline(always)]
    fn lookup<F: Family<Addr = A>>(&mut self, view: &mut View<F>) {
        view.reader.lookup_batch(&self.addresses[..self.len], &mut self.nexthops[..self.len]);
    }

    /// Rewrites the frames with `rewrite`, which returns a fate; returns how many were left over.
    #[inline(always)]
    fn rewrite<F: Family<Addr = A>>(
        &self,
        view: &View<F>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        rewrite: impl Fn(&Headers, usize, &mut Frame, Adjacency) -> u8,
    ) -> usize {
        let mut left = 0;
        for (at, (&place, &id)) in self.places[..self.len].iter().zip(&self.nexthops).enumerate() {
            let place = usize::from(place);
            let fate = rewrite(&self.headers, at, &mut chunk[place], view.adjacencies.of(id));
            fates[place] = fate;
            left += usize::from(fate == GENERAL);
        }
        left
    }

    /// Forwards those of the frames left over whose nexthop is a group, by the member for their
    /// flow.
    #[cold]
    fn rewrite_groups<F: Family<Addr = A>>(
        &self,
        view: &mut View<F>,
        chunk: &mut [Frame],
        fates: &mut [u8],
        (flow, rewrite): (fn(&[u8]) -> u32, impl Fn(&Headers, usize, &mut Frame, Adjacency) -> u8),
    ) {
        let table = view.reader.pin();
        for (at, (&place, &id)) in self.places[..self.len].iter().zip(&self.nexthops).enumerate() {
            let place = usize::from(place);
            if fates[place] == GENERAL && view.adjacencies.of(id).is_group() {
                let member = table.member(id, flow(chunk[place].get(L3..).unwrap_or(&[])));
                fates[place] =
                    rewrite(&self.headers, at, &mut chunk[place], view.adjacencies.of(member));
            }
        }
    }
}

/// A worker's forwarding plane without its ports.
pub(crate) struct Plane {
    ports: Box<[PortFacts; MAX_PORTS]>,
    configs: Box<[PortConfig]>,
    pub(crate) inet: Vec<View<Inet>>,
    pub(crate) inet6: Vec<View<Inet6>>,
    pub(crate) counters: Arc<Counters>,
    row: Row<u32>,
    row6: Row<u128>,
    has_fast_path: bool,
    /// What becomes of each frame of the batch: a port number, or one of the fates above.
    pub(crate) fates: [u8; Batch::CAPACITY],
    /// Where frames that the router makes come from, and dropped ones go.
    pub(crate) pool: Option<Pool>,
    /// Time of this poll, from any fixed start.
    pub(crate) now_ns: u64,
    pub(crate) slow_path: TokenBucket,
    pub(crate) icmp_limit: TokenBucket,
    pub(crate) icmp6_limit: TokenBucket,
    /// What the held frames wait for, in the order of their [`HELD`] fates.
    pub(crate) waiting: VecDeque<Waiting>,
    /// Frames that the router made, with the ports to send them through.
    pub(crate) made: Vec<(u8, Frame)>,
}

/// What [`Plane::new`] is made of.
pub(crate) struct Parts {
    pub(crate) ports: Box<[PortFacts; MAX_PORTS]>,
    pub(crate) configs: Box<[PortConfig]>,
    pub(crate) inet: Vec<View<Inet>>,
    pub(crate) inet6: Vec<View<Inet6>>,
    pub(crate) counters: Arc<Counters>,
}

/// Stands in for a port that was added after the worker.
static NO_CONFIG: PortConfig =
    PortConfig { mac: MacAddr::ZERO, mtu: 0, fib: 0, inet: Vec::new(), inet6: Vec::new() };

impl Plane {
    #[cold]
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { ports, configs, inet, inet6, counters } = parts;
        Self {
            ports,
            configs,
            inet,
            inet6,
            counters,
            row: Row::new(),
            row6: Row::new(),
            has_fast_path: true,
            fates: [DROPPED; Batch::CAPACITY],
            pool: None,
            now_ns: 0,
            slow_path: TokenBucket::new(0),
            icmp_limit: TokenBucket::new(0),
            icmp6_limit: TokenBucket::new(0),
            waiting: VecDeque::new(),
            made: Vec::new(),
        }
    }

    pub(crate) fn facts(&self, port: u8) -> &PortFacts {
        &self.ports[usize::from(port)]
    }

    pub(crate) fn config(&self, port: u8) -> &PortConfig {
        self.configs.get(usize::from(port)).unwrap_or(&NO_CONFIG)
    }

    pub(crate) fn inet_view(&mut self, input: u8) -> &mut View<Inet> {
        let fib = usize::from(self.facts(input).fib);
        &mut self.inet[fib]
    }

    pub(crate) fn inet6_view(&mut self, input: u8) -> &mut View<Inet6> {
        let fib = usize::from(self.facts(input).fib);
        &mut self.inet6[fib]
    }

    /// Queues a frame that the router made.
    pub(crate) fn originate(&mut self, mut frame: Frame, hop: Hop) {
        let port = self.address(&mut frame, hop);
        self.counters.originated.add(1);
        self.made.push((port, frame));
    }

    /// Begins a poll: takes up what the control side has changed.
    pub(crate) fn begin(&mut self, now_ns: u64, knobs: &Knobs) {
        self.now_ns = now_ns;
        self.has_fast_path = knobs.has_fast_path.value() != 0.0;
        self.slow_path.set_rate(knobs.slow_path_pps.value() as u64);
        self.icmp_limit.set_rate(knobs.icmp_pps.value() as u64);
        self.icmp6_limit.set_rate(knobs.icmp6_pps.value() as u64);
        self.inet.iter_mut().for_each(|view| view.adjacencies.refresh());
        self.inet6.iter_mut().for_each(|view| view.adjacencies.refresh());
    }

    /// Decides the fate of each frame that came in on port `input`, and rewrites those that go
    /// on. At most [`Batch::CAPACITY`] frames.
    pub(crate) fn process(&mut self, input: u8, frames: &mut [Frame]) {
        if !self.has_fast_path {
            self.fates[..frames.len()].fill(GENERAL);
            return self.finish(input, frames, 0);
        }
        frames.iter().take(CHUNK).for_each(Frame::prefetch);
        let mut start = 0;
        while start < frames.len() {
            let rest = &mut frames[start..];
            let (chunk, next) = rest.split_at_mut(CHUNK.min(rest.len()));
            if self.forward(input, chunk, next, start) > 0 {
                self.finish(input, chunk, start);
            }
            start += chunk.len();
        }
    }

    /// Sends a chunk through the stages of the fast path; returns how many frames it left over.
    fn forward(&mut self, input: u8, chunk: &mut [Frame], next: &[Frame], start: usize) -> usize {
        self.sort(chunk, next);
        let mut left = chunk.len() - self.row.len - self.row6.len;
        if left > 0 {
            self.fates[start..start + chunk.len()].fill(GENERAL);
        }
        if self.row.len > 0 {
            left += wide(
                #[inline(always)]
                || self.forward_inet(input, chunk, start),
            );
        }
        if self.row6.len > 0 {
            left += wide(
                #[inline(always)]
                || self.forward_inet6(input, chunk, start),
            );
        }
        left
    }

    /// Splits a chunk by family; prefetches the next one.
    #[inline(always)]
    fn sort(&mut self, chunk: &[Frame], next: &[Frame]) {
        next.iter().take(chunk.len()).for_each(Frame::prefetch);
        (self.row.len, self.row6.len) = (0, 0);
        match common_type(chunk) {
            Some(INET) => self.row.take_all(chunk.len()),
            Some(INET6) => self.row6.take_all(chunk.len()),
            Some(_) => {}
            None => self.split(chunk),
        }
    }

    /// Splits a chunk whose frames are of several types.
    fn split(&mut self, chunk: &[Frame]) {
        for (place, frame) in chunk.iter().enumerate() {
            if frame.capacity() >= HEAD {
                let ether_type = ether_type(frame);
                self.row.offer(place, ether_type == INET);
                self.row6.offer(place, ether_type == INET6);
            }
        }
    }

    #[inline(always)]
    fn forward_inet(&mut self, input: u8, chunk: &mut [Frame], start: usize) -> usize {
        let PortFacts { mac, fib, .. } = self.ports[usize::from(input)];
        let (row, view) = (&mut self.row, &mut self.inet[usize::from(fib)]);
        let fates = &mut self.fates[start..start + chunk.len()];
        row.gather(chunk, |headers, at, frame| headers.gather_inet(at, frame));
        row.lookup(view);
        row.headers.check_inet(row.len, mac);
        let ports = &self.ports;
        let rewrite = |headers: &Headers, at: usize, frame: &mut Frame, adjacency: Adjacency| {
            headers.rewrite_inet(at, frame, adjacency, ports)
        };
        let left = row.rewrite(view, chunk, fates, rewrite);
        if left > 0 {
            row.rewrite_groups(view, chunk, fates, (flow::inet, rewrite));
        }
        left
    }

    #[inline(always)]
    fn forward_inet6(&mut self, input: u8, chunk: &mut [Frame], start: usize) -> usize {
        let PortFacts { mac, fib, .. } = self.ports[usize::from(input)];
        let (row, view) = (&mut self.row6, &mut self.inet6[usize::from(fib)]);
        let fates = &mut self.fates[start..start + chunk.len()];
        row.gather(chunk, |headers, at, frame| headers.gather_inet6(at, frame));
        row.lookup(view);
        row.headers.check_inet6(row.len, mac);
        let ports = &self.ports;
        let rewrite = |headers: &Headers, at: usize, frame: &mut Frame, adjacency: Adjacency| {
            headers.rewrite_inet6(at, frame, adjacency, ports)
        };
        let left = row.rewrite(view, chunk, fates, rewrite);
        if left > 0 {
            row.rewrite_groups(view, chunk, fates, (flow::inet6, rewrite));
        }
        left
    }

    /// Sends what is left through the general path, in order.
    #[cold]
    fn finish(&mut self, input: u8, chunk: &mut [Frame], start: usize) {
        for (place, frame) in chunk.iter_mut().enumerate() {
            if self.fates[start + place] == GENERAL {
                self.fates[start + place] = self.general(input, frame);
            }
        }
    }
}
