//! The stages between receiving and sending: they turn a row of frames into a row of fates.
//!
//! ```text
//! load     headers into columns of words                    (touches the frames' first line)
//! sort     by family
//! check    all conditions, edits and destinations, on the columns
//! lookup   one call per family and chunk
//! rewrite  the frames that go on                            (touches them again, now in L1)
//! general  what the fast path left over
//! ```
//!
//! A chunk is small enough that its frames' first cache lines are still in L1 when `rewrite`
//! comes to them; while one chunk is worked on, the next one is prefetched, to be written: frames
//! that another core has written travel once.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use fwdlab_fib::{Inet, Inet6};
use fwdlab_port::{Batch, Frame, Heads, Pool, wide};
use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::facts::PortFacts;
use crate::fast::CHUNK;
use crate::fate::{DROPPED, GENERAL, Hop, MAX_PORTS, Split};
use crate::interface::{MAX_MTU, PortConfig};
use crate::knobs::Knobs;
use crate::limits::TokenBucket;
use crate::own::Own;
use crate::reassembly::{Reassembly, Whole};
use crate::rows::{Lazy, OfBatch, Row, sort};
use crate::tables::View;
use crate::waiting::Waiting;

/// Least MTU that a port may come to have while it is used (RFC 791, section 3.2), bytes.
const LEAST_MTU: usize = 68;

/// A worker's forwarding plane without its ports.
pub(crate) struct Plane {
    ports: Box<[PortFacts; MAX_PORTS]>,
    configs: Box<[PortConfig]>,
    pub(crate) inet: Vec<View<Inet>>,
    pub(crate) inet6: Vec<View<Inet6>>,
    pub(crate) counters: Arc<Counters>,
    heads: Heads,
    row: Row<u32>,
    row6: Row<u128>,
    has_fast_path: bool,
    has_batches: bool,
    /// A host answers what is for the router itself.
    pub(crate) has_host: bool,
    pub(crate) has_redirects: bool,
    pub(crate) has_redirects6: bool,
    /// The VLANs: port by (parent, identifier).
    pub(crate) vlans: BTreeMap<(u8, u16), u8>,
    /// What becomes of each frame of the batch: a port number, or one of the fates above.
    pub(crate) fates: [u8; Batch::CAPACITY],
    /// Where frames that the router makes come from, and dropped ones go.
    pub(crate) pool: Option<Pool>,
    /// Time of this poll, from any fixed start.
    pub(crate) now_ns: u64,
    pub(crate) slow_path: TokenBucket,
    pub(crate) icmp_limit: TokenBucket,
    pub(crate) icmp6_limit: TokenBucket,
    /// What the held frames wait for, in the order of their [`HELD`](crate::fate::HELD) fates.
    pub(crate) waiting: VecDeque<Waiting>,
    /// What became of the frames with the fate [`SPLIT`](crate::fate::SPLIT), in order.
    pub(crate) splits: VecDeque<Split>,
    /// Frames that the router made, with their fates.
    pub(crate) made: Vec<(u8, Frame)>,
    own: Own,
    /// Fragments to the router itself.
    pub(crate) reassembly: Reassembly,
    /// What they have become, until the worker keeps house.
    pub(crate) whole: Vec<Whole>,
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
static NO_CONFIG: PortConfig = PortConfig {
    mac: MacAddr::ZERO,
    mtu: 0,
    vlan: None,
    fib: 0,
    inet: Vec::new(),
    inet6: Vec::new(),
};

impl Plane {
    #[cold]
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { ports, configs, inet, inet6, counters } = parts;
        let vlans = (0..).zip(&configs).filter_map(|(number, config): (u8, &PortConfig)| {
            let vlan = config.vlan?;
            Some(((vlan.parent as u8, vlan.identifier), number))
        });
        let (vlans, own) = (vlans.collect(), Own::new(&configs));
        Self {
            ports,
            configs,
            inet,
            inet6,
            counters,
            heads: Heads::new(),
            row: Row::new(),
            row6: Row::new(),
            has_fast_path: true,
            has_batches: true,
            has_host: false,
            has_redirects: false,
            has_redirects6: false,
            vlans,
            fates: [DROPPED; Batch::CAPACITY],
            pool: None,
            now_ns: 0,
            slow_path: TokenBucket::new(0),
            icmp_limit: TokenBucket::new(0),
            icmp6_limit: TokenBucket::new(0),
            waiting: VecDeque::new(),
            splits: VecDeque::new(),
            made: Vec::new(),
            own,
            reassembly: Reassembly::default(),
            whole: Vec::new(),
        }
    }

    pub(crate) fn facts(&self, port: u8) -> &PortFacts {
        &self.ports[usize::from(port)]
    }

    pub(crate) fn config(&self, port: u8) -> &PortConfig {
        self.configs.get(usize::from(port)).unwrap_or(&NO_CONFIG)
    }

    /// Whether this is an address of any port.
    pub(crate) fn is_ours_inet(&self, address: u32) -> bool {
        self.configs.iter().any(|config| config.inet.iter().any(|at| at.address == address))
    }

    /// Whether this is an address of any port.
    pub(crate) fn is_ours_inet6(&self, address: u128) -> bool {
        self.configs.iter().any(|config| config.inet6.iter().any(|at| at.address == address))
    }

    /// The address of ours in the network that has this subnet-router anycast address; `None` for
    /// addresses of any other kind.
    pub(crate) fn unicast_for(&self, anycast: u128) -> Option<u128> {
        let mut all = self.configs.iter().flat_map(|config| &config.inet6);
        let own = all.find(|at| at.anycast() == Some(anycast))?.address;
        (!self.is_ours_inet6(anycast)).then_some(own)
    }

    /// Takes up another MTU of a port, which that of its VLANs may not exceed.
    pub(crate) fn set_mtu(&mut self, port: u8, bytes: usize) {
        let bytes = bytes.clamp(LEAST_MTU, MAX_MTU);
        self.ports[usize::from(port)].set_mtu(bytes);
        for (&(parent, _), &vlan) in &self.vlans {
            if parent == port {
                let most = self.configs[usize::from(vlan)].mtu;
                self.ports[usize::from(vlan)].set_mtu(bytes.min(most));
            }
        }
    }

    pub(crate) fn inet_view(&mut self, input: u8) -> &mut View<Inet> {
        let fib = usize::from(self.facts(input).fib());
        &mut self.inet[fib]
    }

    pub(crate) fn inet6_view(&mut self, input: u8) -> &mut View<Inet6> {
        let fib = usize::from(self.facts(input).fib());
        &mut self.inet6[fib]
    }

    /// Queues a frame that the router made.
    pub(crate) fn originate(&mut self, mut frame: Frame, hop: Hop) {
        let fate = self.address(&mut frame, hop);
        self.counters.originated.add(1);
        self.made.push((fate, frame));
    }

    /// Begins a poll: takes up what the control side has changed.
    pub(crate) fn begin(&mut self, now_ns: u64, knobs: &Knobs) {
        self.now_ns = now_ns;
        self.has_fast_path = knobs.has_fast_path.value() != 0.0;
        self.has_batches = knobs.has_batches.value() != 0.0;
        self.has_host = knobs.has_host.value() != 0.0;
        self.has_redirects = knobs.has_redirects.value() != 0.0;
        self.has_redirects6 = knobs.has_redirects6.value() != 0.0;
        self.slow_path.set_rate(knobs.slow_path_pps.value() as u64);
        self.icmp_limit.set_rate(knobs.icmp_pps.value() as u64);
        self.icmp6_limit.set_rate(knobs.icmp6_pps.value() as u64);
        self.inet.iter_mut().for_each(View::refresh);
        self.inet6.iter_mut().for_each(View::refresh);
    }

    /// Decides the fate of each frame that came in on port `input`, and rewrites those that go
    /// on. At most [`Batch::CAPACITY`] frames.
    pub(crate) fn process(&mut self, input: u8, frames: &mut [Frame]) {
        let left = if self.has_fast_path {
            // What would leave through the port that it came from must go the general way.
            let facts = &mut self.ports[usize::from(input)];
            let fast_mtu = facts.fast_mtu();
            if self.has_redirects | self.has_redirects6 {
                facts.set_fast_mtu(0);
            }
            let left = wide(
                #[inline(always)]
                || self.forward(input, frames),
            );
            self.ports[usize::from(input)].set_fast_mtu(fast_mtu);
            left
        } else {
            self.fates[..frames.len()].fill(GENERAL);
            frames.len()
        };
        if left > 0 {
            self.finish(input, frames);
        }
    }

    /// Sends all frames through the stages of the fast path, a chunk at a time; returns how many
    /// it left over.
    #[inline(always)]
    fn forward(&mut self, input: u8, frames: &mut [Frame]) -> usize {
        let facts = self.ports[usize::from(input)];
        let (mac, fib) = (facts.packed_mac(), facts.fib());
        let context =
            OfBatch { mac, own: &self.own, ports: &self.ports, has_batches: self.has_batches };
        let mut view = Lazy::new(&mut self.inet[usize::from(fib)]);
        let mut view6 = Lazy::new(&mut self.inet6[usize::from(fib)]);
        let (row, row6) = (&mut self.row, &mut self.row6);
        frames.iter().take(CHUNK).for_each(Frame::prefetch_write);
        let (mut rest, mut fates, mut left) = (frames, &mut self.fates[..], 0);
        while !rest.is_empty() {
            let count = CHUNK.min(rest.len());
            let (chunk, next) = rest.split_at_mut(count);
            let (chunk_fates, next_fates) = fates.split_at_mut(count);
            next.iter().take(count).for_each(Frame::prefetch_write);
            self.heads.load(chunk);
            let heads = &self.heads;
            let others = sort(heads, count, row, row6);
            if others > 0 {
                chunk_fates.fill(GENERAL);
                left += others;
            }
            if row.len > 0 {
                left += row.forward_inet(&mut view, (&mut *chunk, heads), chunk_fates, &context);
            }
            if row6.len > 0 {
                left += row6.forward_inet6(&mut view6, (&mut *chunk, heads), chunk_fates, &context);
            }
            (rest, fates) = (next, next_fates);
        }
        left
    }

    /// Sends what is left through the general path, in order.
    #[cold]
    fn finish(&mut self, input: u8, frames: &mut [Frame]) {
        for (place, frame) in frames.iter_mut().enumerate() {
            if self.fates[place] == GENERAL {
                self.fates[place] = self.general(input, frame);
            }
        }
    }
}
