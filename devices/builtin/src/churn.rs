//! Routes that change while frames flow: a thread beside the device's makes the changes at their
//! rate, and notes when packets meet them. They are made as `fwdlab route` makes those of a routing
//! daemon: all that are due as a batch, and a [`Keeper`] with a thread of its own rebuilds what has to
//! wait, by the sync policy. Both threads share the core that is left.
//!
//! The route by which the measured frames go changes, too, at even intervals: to a second gateway at
//! the same place and back. What went to the old one afterwards is counted by the router's counters of
//! nexthops.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_device::turns::Turns;
use fwdlab_experiment::{ChurnSource, Experiment, Route, Traffic};
use fwdlab_fib::{Applied, Family, Inet, Inet6, Nexthop, Update};
use fwdlab_results::Churned;
use fwdlab_router::{Keeper, Kept, Routed, Router, RouterError};
use fwdlab_routes::{Prefix, RoutesError, number, read_updates};
use fwdlab_traffic::TESTER_MACS;
use fwdlab_wire::MacAddr;

/// How often the route of the measured frames changes.
const SWITCH_EVERY: Duration = Duration::from_millis(20);
/// Longest rest between two looks at what is due.
const LONGEST_REST: Duration = Duration::from_millis(1);
/// Rests shorter than this are not worth a system call.
const SHORTEST_REST: Duration = Duration::from_micros(20);
/// Changes that are made before the tables are looked at again.
const MOST_AT_ONCE: u64 = 256;
/// The port on the side of the destinations.
const DESTINATIONS: u16 = 1;

/// A change of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    prefix: Prefix,
    /// `None` withdraws the route.
    gateway: Option<IpAddr>,
}

/// The changes of an experiment.
#[derive(Debug)]
pub(super) struct Churning {
    steps: Vec<Step>,
    /// When each is due, where a list says so.
    times: Option<Vec<Duration>>,
}

/// The route of measured frames, and where it leads in turn.
struct Switch {
    prefix: Prefix,
    gateways: [IpAddr; 2],
    now: usize,
    /// Frames that had followed the old gateway when it was left last.
    left_at: Option<u64>,
}

/// When changes are due.
enum Pace {
    PerSecond(f64),
    Listed(Vec<Duration>),
}

impl Churning {
    /// The changes of `experiment`, if it has some.
    ///
    /// # Errors
    /// When its file of updates cannot be read.
    pub(super) fn of(experiment: &Experiment) -> Result<Option<Self>, RoutesError> {
        let Some(churn) = &experiment.churn else { return Ok(None) };
        let (steps, times) = match &churn.source {
            ChurnSource::Flap(count) => (flaps(experiment, *count as usize), None),
            ChurnSource::File(_) => {
                let file = experiment.updates_file().unwrap_or_default();
                (recorded(experiment, &read_updates(&file)?), None)
            }
            ChurnSource::Listed(listed) => {
                let step = |change: &fwdlab_experiment::ListedChange| Step {
                    prefix: change.prefix,
                    gateway: change.gateway,
                };
                let times = listed.iter().map(|change| change.at).collect();
                (listed.iter().map(step).collect(), Some(times))
            }
        };
        Ok(Some(Self { steps, times }))
    }

    /// Makes ready what changes need before workers run: the second gateways and their neighbours.
    ///
    /// # Errors
    /// When the router refuses them.
    pub(super) fn prepare(
        &self,
        router: &mut Router,
        (experiment, traffic): (&Experiment, &Traffic),
    ) -> Result<Vec<SwitchOf>, RouterError> {
        let mac = TESTER_MACS[usize::from(DESTINATIONS)];
        let gateways: HashSet<IpAddr> = self.steps.iter().filter_map(|step| step.gateway).collect();
        let switches: Vec<Switch> = match traffic.changes_per_s {
            Some(0) => Vec::new(),
            _ if self.times.is_some() => Vec::new(),
            _ => traffic.ends().filter_map(|ends| Switch::of(experiment, &ends.1)).collect(),
        };
        let second = switches.iter().map(|switch| switch.gateways[1]);
        for gateway in gateways.into_iter().chain(second) {
            neighbour(router, gateway, mac)?;
        }
        // Held, so that their numbers, and with them the counters, stay theirs.
        for gateway in switches.iter().flat_map(|switch| switch.gateways) {
            match gateway {
                IpAddr::V4(at) => hold::<Inet>(router, at.to_bits())?,
                IpAddr::V6(at) => hold::<Inet6>(router, at.to_bits())?,
            }
        }
        Ok(switches.into_iter().map(SwitchOf).collect())
    }

    /// Changes routes until the trial is over.
    ///
    /// # Errors
    /// When there is no thread for the tables.
    pub(super) fn run(
        &self,
        router: Router,
        (switches, rate): (Vec<SwitchOf>, Option<u32>),
        is_over: &AtomicBool,
    ) -> io::Result<Churned> {
        let pace = match (&self.times, rate) {
            (Some(times), _) => Pace::Listed(times.clone()),
            (None, rate) => Pace::PerSecond(f64::from(rate.unwrap_or(0))),
        };
        let switches = switches.into_iter().map(|switch| switch.0).collect();
        let mut run = Run::new(router, &self.steps, switches)?;
        let start = Instant::now();
        let mut next_switch = SWITCH_EVERY;
        while !is_over.load(Ordering::Relaxed) {
            let now = start.elapsed();
            let due = pace.due(now);
            let until = due.min(run.made + MOST_AT_ONCE);
            run.steps_until(until);
            if now >= next_switch && !run.switches.is_empty() {
                run.switch();
                // What could not be done in time is not made up for.
                next_switch = start.elapsed() + SWITCH_EVERY;
            }
            if until == due {
                let now = start.elapsed();
                let rest = pace.next(run.made).saturating_sub(now).min(LONGEST_REST);
                if rest >= SHORTEST_REST {
                    std::thread::sleep(rest);
                }
            }
        }
        let asked = match pace {
            Pace::PerSecond(rate) => Some(rate),
            Pace::Listed(_) => None,
        };
        Ok(run.end(start.elapsed(), asked))
    }
}

/// A [`Switch`] that is ready.
pub(super) struct SwitchOf(Switch);

impl Switch {
    /// The route of the frames to `destination`, if one route takes them all.
    fn of(experiment: &Experiment, destination: &fwdlab_experiment::Endpoint) -> Option<Self> {
        let (first, last) = destination.bounds();
        let overlaps = |route: &&Route| {
            let (low, high) = route.prefix.bounds();
            route.prefix.is_ipv4() == is_ipv4(destination) && low <= last && first <= high
        };
        let touched: Vec<&Route> = experiment.routes.fixed.iter().filter(overlaps).collect();
        let longest = touched.iter().max_by_key(|route| route.prefix.length())?;
        let (low, high) = longest.prefix.bounds();
        (low <= first && last <= high).then(|| Self {
            prefix: longest.prefix,
            gateways: [longest.gateway, second(longest.gateway)],
            now: 0,
            left_at: None,
        })
    }
}

fn is_ipv4(destination: &fwdlab_experiment::Endpoint) -> bool {
    destination.family() == fwdlab_results::Family::Inet
}

/// A gateway beside another that no table has: learned ones have the first 200 addresses, the device
/// one of the last.
fn second(gateway: IpAddr) -> IpAddr {
    match gateway {
        IpAddr::V4(gateway) => Ipv4Addr::from_bits(gateway.to_bits() & !0xff | 251).into(),
        IpAddr::V6(gateway) => Ipv6Addr::from_bits(gateway.to_bits() >> 64 << 64 | 0xfbfb).into(),
    }
}

fn hold<F: Routed>(router: &mut Router, gateway: F::Addr) -> Result<(), RouterError> {
    router.edit_fib::<F>(0, |fib| {
        fib.hold(Nexthop::via(gateway, DESTINATIONS))?;
        Ok(())
    })
}

/// Routes that go and come back: those of the gateway that has most of them first.
fn flaps(experiment: &Experiment, count: usize) -> Vec<Step> {
    let mut routes: Vec<&Route> =
        experiment.routes.fixed.iter().filter(|route| is_free(experiment, &route.prefix)).collect();
    let mut users = std::collections::HashMap::new();
    for route in &routes {
        *users.entry(route.gateway).or_insert(0_usize) += 1;
    }
    routes.sort_by_key(|route| (usize::MAX - users[&route.gateway], route.gateway));
    routes.truncate(count);
    let gone = routes.iter().map(|route| Step { prefix: route.prefix, gateway: None });
    let back =
        routes.iter().map(|route| Step { prefix: route.prefix, gateway: Some(route.gateway) });
    gone.chain(back).collect()
}

/// Recorded updates, their gateways mapped to those of the experiment's routes.
fn recorded(experiment: &Experiment, updates: &[fwdlab_routes::RouteUpdate]) -> Vec<Step> {
    let own = |is_ipv4: bool| {
        let of_family =
            |route: &&Route| route.port == DESTINATIONS && route.prefix.is_ipv4() == is_ipv4;
        let mut all: Vec<IpAddr> =
            experiment.routes.fixed.iter().filter(of_family).map(|route| route.gateway).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (inet, inet6) = (own(true), own(false));
    let mut numbers = std::collections::HashMap::new();
    let mut steps = Vec::with_capacity(updates.len());
    for update in updates.iter().filter(|update| is_free(experiment, &update.prefix)) {
        let gateways = if update.prefix.is_ipv4() { &inet } else { &inet6 };
        if gateways.is_empty() {
            continue;
        }
        let next = numbers.len();
        let gateway = update
            .gateway
            .map(|gateway| gateways[*numbers.entry(gateway).or_insert(next) % gateways.len()]);
        steps.push(Step { prefix: update.prefix, gateway });
    }
    steps
}

/// Whether no measured frame goes by a route to this prefix.
fn is_free(experiment: &Experiment, prefix: &Prefix) -> bool {
    let (low, high) = prefix.bounds();
    let meets = |address: IpAddr, last: IpAddr| {
        address.is_ipv4() == prefix.is_ipv4() && low <= number(last) && number(address) <= high
    };
    !meets_traffic(experiment, &meets)
}

fn meets_traffic(experiment: &Experiment, meets: &impl Fn(IpAddr, IpAddr) -> bool) -> bool {
    experiment.traffics.iter().flat_map(Traffic::ends).any(|(_, destination)| {
        let (first, last) = destination.bounds();
        let ip = |address: u128| match is_ipv4(&destination) {
            true => IpAddr::V4(Ipv4Addr::from_bits(address as u32)),
            false => IpAddr::V6(Ipv6Addr::from_bits(address)),
        };
        meets(ip(first), ip(last))
    })
}

impl Pace {
    /// How many changes are due by now.
    fn due(&self, now: Duration) -> u64 {
        match self {
            Self::PerSecond(rate) => (now.as_secs_f64() * rate) as u64,
            Self::Listed(times) => times.partition_point(|at| *at <= now) as u64,
        }
    }

    /// When the next change is due after so many.
    fn next(&self, made: u64) -> Duration {
        match self {
            Self::PerSecond(rate) if *rate > 0.0 => {
                Duration::from_secs_f64((made + 1) as f64 / rate)
            }
            Self::PerSecond(_) => Duration::MAX,
            Self::Listed(times) => times.get(made as usize).copied().unwrap_or(Duration::MAX),
        }
    }
}

/// A router's tables whose routes somebody changes, kept as a routing daemon's.
pub(super) struct Changer(Keeper<Waiting>);

/// Tables, and how long the thread that keeps them waited for its processor while changes waited for it.
struct Waiting {
    tables: Tables,
    turns: Option<Turns>,
    waited: Duration,
}

impl Kept for Waiting {
    fn sync(&mut self, now: Duration) -> Option<Duration> {
        let is_behind = self.tables.waiting.iter().any(|waiting| !waiting.is_empty());
        let next = self.tables.sync(now);
        self.note(Turns::own(), is_behind);
        next
    }
}

impl Waiting {
    /// Takes note of the thread's turns so far; what it waited since the last time counts when changes did.
    fn note(&mut self, turns: Option<Turns>, is_behind: bool) {
        if let (true, Some(before), Some(now)) = (is_behind, self.turns, turns) {
            self.waited += now.waited_since(&before);
        }
        self.turns = turns;
    }
}

impl Changer {
    /// Takes the router's tables over; the thread that keeps them may use the processors of the calling one.
    ///
    /// # Errors
    /// When there is no thread for them.
    pub(super) fn new(router: Router) -> io::Result<Self> {
        let tables = Tables::of(router);
        Ok(Self(Keeper::new(Waiting { tables, turns: None, waited: Duration::ZERO })?))
    }

    /// How long changes waited because others had the processor of the thread that syncs the tables.
    pub(super) fn waited(&self) -> Duration {
        self.0.look(|own| own.waited)
    }

    /// Adds these routes, or withdraws them, as one batch.
    pub(super) fn change(&self, routes: &[Route], are_there: bool) {
        let gateway = |route: &Route| are_there.then_some(route.gateway);
        let step = |route: &Route| Step { prefix: route.prefix, gateway: gateway(route) };
        let steps: Vec<Step> = routes.iter().map(step).collect();
        self.0.edit(|own| own.tables.change(&steps));
    }
}

/// Makes a gateway on the side of the destinations known by its address.
///
/// # Errors
/// When the router refuses it.
pub(super) fn neighbour(
    router: &mut Router,
    gateway: IpAddr,
    mac: MacAddr,
) -> Result<(), RouterError> {
    match gateway {
        IpAddr::V4(at) => router.add_neighbour::<Inet>(DESTINATIONS, at.to_bits(), mac),
        IpAddr::V6(at) => router.add_neighbour::<Inet6>(DESTINATIONS, at.to_bits(), mac),
    }
}

/// Changes under way.
struct Run<'a> {
    tables: Keeper<Tables>,
    steps: &'a [Step],
    switches: Vec<Switch>,
    made: u64,
    switched: u64,
    stale: u64,
    builds_before: u64,
}

/// The tables, and what came of the changes.
struct Tables {
    router: Router,
    /// When the changes were made that packets do not meet yet: IPv4, IPv6.
    waiting: [Vec<Instant>; 2],
    visible_ns: Vec<u64>,
    changed: u64,
    refused: u64,
}

impl Kept for Tables {
    fn sync(&mut self, now: Duration) -> Option<Duration> {
        let next = self.router.sync(now);
        self.note_visible();
        next
    }
}

impl Tables {
    fn of(router: Router) -> Self {
        let waiting = [Vec::new(), Vec::new()];
        Self { router, waiting, visible_ns: Vec::new(), changed: 0, refused: 0 }
    }

    /// Makes some changes as one batch, as routes that a routing daemon learns: what has to wait waits
    /// by the sync policy.
    fn change(&mut self, steps: &[Step]) {
        let begin = Instant::now();
        let (inet, inet6) = (updates::<Inet>(steps, inet), updates::<Inet6>(steps, inet6));
        self.apply(&inet, (begin, 0));
        self.apply(&inet6, (begin, 1));
        self.note_visible();
    }

    fn apply<F: Routed>(&mut self, updates: &[Update<F>], (begin, family): (Instant, usize)) {
        if updates.is_empty() {
            return;
        }
        let mut applied = Applied::default();
        let done = self.router.edit_fib::<F>(0, |fib| {
            applied = fib.apply(updates)?;
            Ok(())
        });
        match done {
            Ok(()) => {
                self.changed += updates.len() as u64;
                // Withdrawals of what is not there, as recorded updates have them, change nothing.
                let count = updates.len() - applied.unchanged;
                self.waiting[family].extend(std::iter::repeat_n(begin, count));
            }
            Err(_) => self.refused += updates.len() as u64,
        }
    }

    /// Notes how long the changes took that packets meet now.
    fn note_visible(&mut self) {
        let synced = [is_synced::<Inet>(&self.router), is_synced::<Inet6>(&self.router)];
        for (waiting, _) in self.waiting.iter_mut().zip(synced).filter(|(_, synced)| *synced) {
            self.visible_ns
                .extend(waiting.drain(..).map(|begin| begin.elapsed().as_nanos() as u64));
        }
    }
}

impl<'a> Run<'a> {
    fn new(router: Router, steps: &'a [Step], switches: Vec<Switch>) -> io::Result<Self> {
        let builds_before = builds(&router);
        let tables = Keeper::new(Tables::of(router))?;
        Ok(Self { tables, steps, switches, made: 0, switched: 0, stale: 0, builds_before })
    }

    /// Makes the next changes, up to this number, at once: all that were due, as a router takes up all
    /// that it was told meanwhile.
    fn steps_until(&mut self, until: u64) {
        let all = self.steps.len().max(1) as u64;
        let due = (self.made..until).filter_map(|made| self.steps.get((made % all) as usize));
        let due: Vec<Step> = due.copied().collect();
        self.made = self.made.max(until);
        if !due.is_empty() {
            self.tables.edit(|tables| tables.change(&due));
        }
    }

    /// Gives the routes of the measured frames their other gateway.
    fn switch(&mut self) {
        for place in 0..self.switches.len() {
            let Switch { prefix, gateways, now, left_at } = self.switches[place];
            // What has followed the gateway that was left last, since then.
            let other = self.packets(gateways[1 - now]);
            self.stale += left_at.map_or(0, |before| other.saturating_sub(before));
            let old = self.packets(gateways[now]);
            let step = Step { prefix, gateway: Some(gateways[1 - now]) };
            self.tables.edit(|tables| tables.change(&[step]));
            self.switches[place].now = 1 - now;
            self.switches[place].left_at = Some(old);
            self.switched += 1;
        }
    }

    /// Frames that have followed a gateway.
    fn packets(&self, gateway: IpAddr) -> u64 {
        self.tables.look(|Tables { router, .. }| match gateway {
            IpAddr::V4(at) => packets::<Inet>(router, at.to_bits()),
            IpAddr::V6(at) => packets::<Inet6>(router, at.to_bits()),
        })
    }

    fn end(mut self, took: Duration, asked_per_s: Option<f64>) -> Churned {
        for Switch { gateways, now, left_at, .. } in &self.switches {
            let other = self.packets(gateways[1 - now]);
            self.stale += left_at.map_or(0, |before| other.saturating_sub(before));
        }
        let Self { tables, switched, stale, builds_before, .. } = self;
        let Tables { router, mut visible_ns, changed, refused, .. } = tables.into_inner();
        visible_ns.sort_unstable();
        let at = |share: f64| {
            let last = visible_ns.len().saturating_sub(1);
            visible_ns.get((last as f64 * share).round() as usize).copied().unwrap_or(0)
        };
        Churned {
            asked_per_s,
            changes: changed,
            ns: took.as_nanos() as u64,
            refused,
            visible: visible_ns.len() as u64,
            visible_p50_ns: at(0.5),
            visible_p99_ns: at(0.99),
            visible_max_ns: at(1.0),
            switches: switched,
            stale_frames: stale,
            builds: builds(&router) - builds_before,
        }
    }
}

/// The steps of a family as its table takes them.
fn updates<F: Routed>(steps: &[Step], own: fn(IpAddr) -> Option<F::Addr>) -> Vec<Update<F>> {
    let update = |step: &Step| {
        let prefix =
            fwdlab_fib::Prefix::covering(own(step.prefix.address())?, step.prefix.length());
        match step.gateway {
            None => Some(Update::Delete(prefix)),
            Some(gateway) => {
                let via = Nexthop::via(own(gateway)?, DESTINATIONS);
                Some(Update::Set(prefix, via.into()))
            }
        }
    };
    steps.iter().filter_map(update).collect()
}

fn inet(ip: IpAddr) -> Option<u32> {
    match ip {
        IpAddr::V4(ip) => Some(ip.to_bits()),
        IpAddr::V6(_) => None,
    }
}

fn inet6(ip: IpAddr) -> Option<u128> {
    match ip {
        IpAddr::V4(_) => None,
        IpAddr::V6(ip) => Some(ip.to_bits()),
    }
}

fn packets<F: Routed>(router: &Router, gateway: F::Addr) -> u64 {
    let Ok(fib) = router.fib::<F>(0) else { return 0 };
    let Some(id) = fib.nexthops().number(&Nexthop::via(gateway, DESTINATIONS)) else { return 0 };
    let counts = router.nexthop_counts::<F>(0);
    counts.iter().filter(|count| count.id == id).map(|count| count.packets).sum()
}

fn is_synced<F: Routed>(router: &Router) -> bool {
    router.fib::<F>(0).is_ok_and(fwdlab_fib::Fib::is_synced)
}

/// How often lookup structures were built.
fn builds(router: &Router) -> u64 {
    fn of<F: Routed + Family>(router: &Router) -> u64 {
        router.fib::<F>(0).map_or(0, |fib| fib.builds())
    }
    of::<Inet>(router) + of::<Inet6>(router)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_due_at_their_rate_or_time() {
        let pace = Pace::PerSecond(1000.0);
        assert_eq!(pace.due(Duration::from_millis(2500)), 2500);
        assert_eq!(pace.next(2500), Duration::from_millis(2501));
        assert_eq!(Pace::PerSecond(0.0).next(0), Duration::MAX);
        let times = vec![Duration::ZERO, Duration::from_millis(5)];
        let pace = Pace::Listed(times);
        assert_eq!((pace.due(Duration::ZERO), pace.due(Duration::from_secs(1))), (1, 2));
        assert_eq!((pace.next(1), pace.next(2)), (Duration::from_millis(5), Duration::MAX));
    }

    /// A delay of 20 ms was 200 on two cores: the thread waited for the tester's, and no badge said so.
    #[test]
    fn a_keeper_that_waits_for_its_processor_while_changes_wait_is_counted() {
        let turns = |waited_ms: u64| Turns::parse(&format!("5 {} 3", waited_ms * 1_000_000));
        let tables = Tables::of(Router::new().unwrap());
        let mut own = Waiting { tables, turns: None, waited: Duration::ZERO };
        own.note(turns(7), true);
        assert_eq!(own.waited, Duration::ZERO, "it was before");
        own.note(turns(8), true);
        own.note(turns(90), false);
        own.note(turns(95), true);
        assert_eq!(own.waited, Duration::from_millis(6));
        own.note(None, true);
        own.note(turns(99), true);
        assert_eq!(own.waited, Duration::from_millis(6));
    }

    /// Changes wait for the sync policy, as those of a routing daemon do, and are one batch each time.
    #[test]
    fn changes_of_a_table_that_is_built_anew_wait_for_each_other() {
        let mut router = Router::new().unwrap();
        let mac = TESTER_MACS[0];
        for _ in 0..2 {
            router.add_port(fwdlab_router::PortConfig::new(mac)).unwrap();
        }
        router.set("net.route.algo.inet.algo", "bsearch4").unwrap();
        let step = |i: u32, last: u8| Step {
            prefix: format!("10.{}.{}.0/24", i / 256, i % 256).parse().unwrap(),
            gateway: Some(Ipv4Addr::new(198, 19, 0, last).into()),
        };
        let routes: Vec<Step> = (0..200).map(|i| step(i, 1)).collect();
        let waiting = [Vec::new(), Vec::new()];
        let mut tables = Tables { router, waiting, visible_ns: Vec::new(), changed: 0, refused: 0 };
        tables.change(&routes);
        tables.router.flush();
        tables.note_visible();
        let built = builds(&tables.router);
        for i in 0..50 {
            tables.change(&[step(i, 2)]);
        }
        assert_eq!(builds(&tables.router), built, "each change was built by itself");
        assert_eq!((tables.changed, tables.refused, tables.visible_ns.len()), (250, 0, 200));
        tables.sync(Duration::from_secs(1));
        tables.sync(Duration::from_secs(3));
        assert_eq!((builds(&tables.router), tables.visible_ns.len()), (built + 1, 250));
        // A withdrawal of what is not there changes nothing.
        tables.change(&[Step { prefix: step(999, 1).prefix, gateway: None }]);
        assert_eq!((tables.changed, tables.waiting[0].len()), (251, 0));
    }
}
