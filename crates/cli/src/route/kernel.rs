//! The kernel's routes as the router's: what BIRD or FRR leave in the namespace's main table.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use fwdlab_fib::{Inet, Inet6, Nexthop, NexthopKind, Target, Update};
use fwdlab_router::{Routed, Router, RouterError};
use fwdlab_routes::Prefix;
use fwdlab_stats::plural;
use fwdlab_topology::{KernelRoute, KernelTarget, KernelWay, RouteNotice, RouteWatch};
use hdrhistogram::Histogram;
use serde_json::json;

use super::orders::is_of_a_port;
use super::show::Shown;
use super::ways::of_family;
use crate::family::Picked;

/// A notice and when it was read.
pub(super) type Noticed = (Instant, RouteNotice);

/// Longest time that is told apart, µs.
const LONGEST_US: u64 = 3_600_000_000;

/// Reads notices on a thread of its own and hands them over, until the router ends.
/// `deliver` says false when it has.
pub(super) fn watch(
    mut watch: RouteWatch,
    deliver: impl Fn(io::Result<Vec<Noticed>>) -> bool + Send + 'static,
) -> io::Result<()> {
    std::thread::Builder::new().name("kernel routes".to_owned()).spawn(move || {
        loop {
            let mut notices = Vec::new();
            let read = watch.read(&mut |notice| notices.push((Instant::now(), notice)));
            let is_last = read.is_err();
            if notices.is_empty() && !is_last {
                continue;
            }
            if !deliver(read.map(|()| notices)) || is_last {
                return;
            }
        }
    })?;
    Ok(())
}

/// The kernel's routes as they were told, and what came of them.
pub(super) struct KernelRoutes {
    /// Ports by the kernel's numbers of interfaces.
    ports: HashMap<u32, u16>,
    /// By prefix, by metric.
    routes: HashMap<Prefix, Vec<(u32, Arc<KernelTarget>)>>,
    /// While all routes are told: which were not yet.
    untold: Option<HashSet<Prefix>>,
    /// When the changes were read that packets do not meet yet, by family.
    waiting: [Vec<Instant>; 2],
    /// From reading a change until packets follow it, µs.
    until_visible: Histogram<u64>,
    changes: u64,
    rounds: u64,
    /// Prefixes that lead over interfaces that are not ports, or in a way that the router cannot.
    elsewhere: HashSet<Prefix>,
    /// It has been said that IPv4 does not go by gateways of IPv6.
    has_said: bool,
}

/// The updates for both tables.
#[derive(Default)]
struct Updates {
    inet: Vec<Update<Inet>>,
    inet6: Vec<Update<Inet6>>,
    /// Some of them were written by hand, so that packets meet them at once.
    is_by_hand: [bool; 2],
}

/// A prefix whose routes have changed.
struct Changed {
    at: Instant,
    prefix: Prefix,
    is_static: bool,
}

impl KernelRoutes {
    pub(super) fn new(ports: HashMap<u32, u16>) -> Self {
        Self {
            ports,
            routes: HashMap::new(),
            untold: None,
            waiting: [Vec::new(), Vec::new()],
            until_visible: Histogram::new_with_bounds(1, LONGEST_US, 3)
                .expect("invariant: bounds and digits that the crate takes"),
            changes: 0,
            rounds: 0,
            elsewhere: HashSet::new(),
            has_said: false,
        }
    }

    /// Takes up notices in order, and changes the router's tables once.
    ///
    /// # Errors
    /// When a table refuses its routes.
    pub(super) fn take(
        &mut self,
        router: &mut Router,
        notices: Vec<Noticed>,
    ) -> anyhow::Result<()> {
        let mut changed = Vec::with_capacity(notices.len());
        for (at, notice) in notices {
            match notice {
                RouteNotice::Begin => {
                    self.untold = Some(self.routes.keys().copied().collect());
                    self.rounds += 1;
                }
                RouteNotice::Set(route) => {
                    if self.set(&route) {
                        changed.push(Changed::by(at, &route));
                    }
                }
                RouteNotice::Gone(route) => {
                    if self.remove(&route) {
                        changed.push(Changed::by(at, &route));
                    }
                }
                RouteNotice::End => {
                    for prefix in self.untold.take().into_iter().flatten() {
                        self.routes.remove(&prefix);
                        changed.push(Changed { at, prefix, is_static: false });
                    }
                }
            }
        }
        self.change(router, &changed)
    }

    /// Notes a route; whether anything is new.
    fn set(&mut self, route: &KernelRoute) -> bool {
        if !route.prefix.is_forwarded() {
            return false;
        }
        let KernelRoute { prefix, metric, ref target, .. } = *route;
        let of_prefix = self.routes.entry(prefix).or_default();
        if self.untold.as_mut().is_some_and(|untold| untold.remove(&prefix)) {
            // The first of this round: what else there was is gone unless it is told, too.
            let was = std::mem::replace(of_prefix, vec![(metric, Arc::new(target.clone()))]);
            return was.len() != 1 || was[0].0 != metric || *was[0].1 != *target;
        }
        match of_prefix.binary_search_by_key(&metric, |(metric, _)| *metric) {
            Ok(place) if *of_prefix[place].1 == *target => return false,
            Ok(place) => of_prefix[place].1 = Arc::new(target.clone()),
            Err(place) => of_prefix.insert(place, (metric, Arc::new(target.clone()))),
        }
        true
    }

    /// Forgets a route; whether it was known.
    fn remove(&mut self, route: &KernelRoute) -> bool {
        let Some(of_prefix) = self.routes.get_mut(&route.prefix) else { return false };
        let before = of_prefix.len();
        of_prefix.retain(|(metric, _)| *metric != route.metric);
        let is_changed = of_prefix.len() != before;
        if of_prefix.is_empty() {
            self.routes.remove(&route.prefix);
        }
        is_changed
    }

    fn change(&mut self, router: &mut Router, changed: &[Changed]) -> anyhow::Result<()> {
        let mut updates = Updates::default();
        for &Changed { at, prefix, is_static } in changed {
            self.changes += 1;
            let inet = self.update::<Inet>(router, prefix)?;
            let inet6 = self.update::<Inet6>(router, prefix)?;
            if inet.is_some() || inet6.is_some() {
                self.waiting[usize::from(!prefix.is_ipv4())].push(at);
                updates.is_by_hand[usize::from(!prefix.is_ipv4())] |= is_static;
            }
            updates.inet.extend(inet);
            updates.inet6.extend(inet6);
        }
        if !updates.inet.is_empty() {
            edit(router, &updates.inet, updates.is_by_hand[0])?;
        }
        if !updates.inet6.is_empty() {
            edit(router, &updates.inet6, updates.is_by_hand[1])?;
        }
        self.note_visible(router)
    }

    /// What a change of a prefix means for the router; `None` for other families, and where the
    /// router's own ports lead.
    fn update<F: Routed + Picked>(
        &mut self,
        router: &Router,
        prefix: Prefix,
    ) -> anyhow::Result<Option<Update<F>>> {
        let Some(own) = of_family::<F>(prefix) else { return Ok(None) };
        if is_of_a_port(router.fib::<F>(0)?, own) || super::ways::is_network(router.ports(), prefix)
        {
            return Ok(None);
        }
        let best = self.routes.get(&prefix).and_then(|of_prefix| of_prefix.first());
        let Some(best) = best.map(|(_, target)| Arc::clone(target)) else {
            self.elsewhere.remove(&prefix);
            return Ok(Some(Update::Delete(own)));
        };
        let target = self.target::<F>(&best);
        match target.is_some() {
            true => self.elsewhere.remove(&prefix),
            false => self.elsewhere.insert(prefix),
        };
        if target.is_none() && is_by_other_family(&best, prefix) && !self.has_said {
            self.has_said = true;
            fwdlab_guard::say!(
                "warning: the kernel sends {prefix} by a gateway of IPv6, which is not supported for \
                 IPv4: packets by this and such routes are dropped; give their peers addresses of IPv4"
            );
        }
        // Not left out: a shorter prefix would send its packets a way that the kernel does not.
        let nowhere = || Nexthop::special(NexthopKind::Blackhole).into();
        Ok(Some(Update::Set(own, target.unwrap_or_else(nowhere))))
    }

    /// The kernel's target on the router's ports.
    fn target<F: Routed + Picked>(&self, target: &KernelTarget) -> Option<Target<F>> {
        let special = |kind| Some(Nexthop::special(kind).into());
        let ways = match target {
            KernelTarget::Blackhole => return special(NexthopKind::Blackhole),
            KernelTarget::Unreachable => return special(NexthopKind::Reject),
            KernelTarget::Prohibit => return special(NexthopKind::Prohibit),
            KernelTarget::Ways(ways) => ways,
        };
        let nexthop = |way: &KernelWay| {
            let port = *self.ports.get(&way.interface)?;
            match way.gateway {
                None => Some(Nexthop::connected(port)),
                Some(gateway) => Some(Nexthop::via(F::of_ip(gateway)?, port)),
            }
        };
        let members: Vec<_> =
            ways.iter().filter_map(|way| Some((nexthop(way)?, way.weight))).collect();
        match &members[..] {
            [] => None,
            [(only, _)] => Some((*only).into()),
            _ => Some(Target::Group(members)),
        }
    }

    /// Whether changes wait that packets do not meet yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_empty())
    }

    /// Notes how long changes have waited that packets meet now.
    pub(super) fn note_visible(&mut self, router: &Router) -> anyhow::Result<()> {
        let synced = [router.fib::<Inet>(0)?.is_synced(), router.fib::<Inet6>(0)?.is_synced()];
        for (waiting, _) in self.waiting.iter_mut().zip(synced).filter(|(_, synced)| *synced) {
            for since in waiting.drain(..) {
                let us = since.elapsed().as_micros().clamp(1, LONGEST_US.into()) as u64;
                self.until_visible.saturating_record(us);
            }
        }
        Ok(())
    }

    /// What there is to say of them.
    pub(super) fn show(&self) -> Shown {
        let at = |quantile| self.until_visible.value_at_quantile(quantile);
        let (p50, p99, max) = (at(0.5), at(0.99), self.until_visible.max());
        let waiting = self.waiting[0].len() + self.waiting[1].len();
        let (routes, elsewhere) = (self.routes.len(), self.elsewhere.len());
        let Self { changes, rounds, .. } = *self;
        Shown {
            text: format!(
                "{} of the kernel, {elsewhere} of them in no way that the router's ports have; {}, all read {}; \
                 until packets follow a change: {p50} us (median), {p99} us (99 %), {max} us (longest); not \
                 visible yet: {}\n",
                plural(routes, "route"),
                plural(changes, "change"),
                plural(rounds, "time"),
                plural(waiting, "change")
            ),
            json: json!({
                "routes": routes, "elsewhere": elsewhere, "changes": changes, "rounds": rounds,
                "waiting": waiting,
                "visible_us": {
                    "count": self.until_visible.len(), "p50": p50, "p99": p99, "max": max,
                },
            }),
        }
    }
}

/// Whether a way of the route leads to a gateway of the other family.
fn is_by_other_family(target: &KernelTarget, prefix: Prefix) -> bool {
    let KernelTarget::Ways(ways) = target else { return false };
    let mut gateways = ways.iter().filter_map(|way| way.gateway);
    gateways.any(|gateway| gateway.is_ipv4() != prefix.is_ipv4())
}

impl Changed {
    fn by(at: Instant, route: &KernelRoute) -> Self {
        Self { at, prefix: route.prefix, is_static: route.is_static }
    }
}

/// Changes a table by a batch; packets meet it at return when some of it was written by hand.
fn edit<F: Routed>(
    router: &mut Router,
    updates: &[Update<F>],
    is_by_hand: bool,
) -> Result<(), RouterError> {
    router.edit_fib::<F>(0, |fib| {
        let applied = match is_by_hand {
            true => fib.by_hand(|fib| fib.apply(updates)),
            false => fib.apply(updates),
        };
        Ok(applied.map(drop)?)
    })
}
