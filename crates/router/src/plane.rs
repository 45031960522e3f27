//! What a worker knows and keeps while it forwards: its ports, tables, limits and columns.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use fwdlab_fib::{Inet, Inet6};
use fwdlab_port::{Batch, Frame, Heads, Pool};
use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::facts::PortFacts;
use crate::fate::{DROPPED, MAX_PORTS, Split};
use crate::interface::{MAX_MTU, PortConfig};
use crate::knobs::Knobs;
use crate::limits::TokenBucket;
use crate::own::Own;
use crate::reassembly::{Reassembly, Whole};
use crate::rows::Row;
use crate::tables::View;
use crate::waiting::Waiting;

/// Least MTU that a port may come to have while it is used (RFC 791, section 3.2), bytes.
const LEAST_MTU: usize = 68;

/// A worker's forwarding plane without its ports.
pub(crate) struct Plane {
    pub(crate) ports: Box<[PortFacts; MAX_PORTS]>,
    pub(crate) configs: Box<[PortConfig]>,
    pub(crate) inet: Vec<View<Inet>>,
    pub(crate) inet6: Vec<View<Inet6>>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) heads: Heads,
    pub(crate) row: Row<u32>,
    pub(crate) row6: Row<u128>,
    pub(crate) has_fast_path: bool,
    pub(crate) has_batches: bool,
    pub(crate) has_route_cache: bool,
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
    pub(crate) own: Own,
    /// Fragments to the router itself.
    pub(crate) reassembly: Reassembly,
    /// What they have become, until the worker keeps house.
    pub(crate) whole: Vec<Whole>,
    /// Of the last packet that the router itself has cut.
    pub(crate) identification: u32,
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
            has_route_cache: true,
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
            identification: 0,
        }
    }

    pub(crate) fn facts(&self, port: u8) -> &PortFacts {
        &self.ports[usize::from(port)]
    }

    pub(crate) fn config(&self, port: u8) -> &PortConfig {
        self.configs.get(usize::from(port)).unwrap_or(&NO_CONFIG)
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

    /// Begins a poll: takes up what the control side has changed.
    pub(crate) fn begin(&mut self, now_ns: u64, knobs: &Knobs) {
        self.now_ns = now_ns;
        self.has_fast_path = knobs.has_fast_path.value() != 0.0;
        self.has_batches = knobs.has_batches.value() != 0.0;
        self.has_route_cache = knobs.has_route_cache.value() != 0.0;
        self.has_host = knobs.has_host.value() != 0.0;
        self.has_redirects = knobs.has_redirects.value() != 0.0;
        self.has_redirects6 = knobs.has_redirects6.value() != 0.0;
        self.slow_path.set_rate(knobs.slow_path_pps.value() as u64);
        self.icmp_limit.set_rate(knobs.icmp_pps.value() as u64);
        self.icmp6_limit.set_rate(knobs.icmp6_pps.value() as u64);
        self.inet.iter_mut().for_each(View::refresh);
        self.inet6.iter_mut().for_each(View::refresh);
    }
}
