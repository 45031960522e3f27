//! The network inside the guest: tester and device, and a place for the other end of a cable.
//!
//! ```text
//! tester        device
//!   out  ------  port0
//!   back ------  port1
//!               far
//!   near ------  far
//! ```
//!
//! With more than two ports `out2` is joined to `port2`, `back3` to `port3`, `near2` to `far3`, and so on.
//!
//! The tester's interfaces have other MAC addresses than its frames: what arrives is seen by the
//! tester's packet sockets and then dropped by the kernel at once, because it is for another host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS, mac_of};
use fwdlab_wire::MacAddr;

use super::{Result, words};
use crate::channel::Counted;
use crate::task::{Task, TaskRoute};
use fwdlab_results::counter;
use fwdlab_routes::Prefix;
use fwdlab_topology::{
    Cable, CableEnd, InterfaceAddress, NFTABLES, Neighbour, NetNamespace, StaticRoute, Testbed,
    Topology, end_name, port_name,
};

/// Namespace and interface by which the tester sends to the device and receives from it.
pub(super) const BY_DEVICE: [(&str, &str); 2] = [(TESTER, "out"), (TESTER, "back")];

/// Namespace and interface by which the tester sends into a cable and receives from it.
pub(super) const BY_CABLE: [(&str, &str); 2] = [(TESTER, "near"), (FAR, "far")];

/// Namespace and interface by which the device receives.
pub(super) const DEVICE_INPUT: (&str, &str) = (DEVICE, "port0");

pub(super) const DEVICE: &str = "device";
const TESTER: &str = "tester";
const FAR: &str = "far";

/// What every device is: a router that answers nobody on its own.
const ROUTER: [(&str, &str); 7] = [
    ("net.ipv4.ip_forward", "1"),
    // In a mesh a frame may leave by the port by which it came.
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
];

/// The tester's kernel has no part in the traffic.
const BYSTANDER: [(&str, &str); 2] =
    [("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];

/// How long the kernel is left alone before anything is counted: joining multicast groups is
/// announced within a second. Virtual time passes at once when there is nothing to do.
const SETTLING: Duration = Duration::from_secs(3);

/// The network, removed when dropped.
pub(super) struct Network {
    testbed: std::cell::RefCell<Testbed>,
    ports: u16,
}

/// Namespaces and interfaces of so many ends of cables, of which these are the first of either side.
pub(super) fn ends<'a>(by: [(&'a str, &str); 2], ports: u16) -> Vec<(&'a str, String)> {
    let names = by.map(|(_, name)| name);
    let end = |port: u16| (by[usize::from(port % 2)].0, end_name(names, port));
    (0..ports).map(end).collect()
}

/// What the device's kernel has counted so far.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceCounters {
    /// Frames received and sent by each port.
    ports: Vec<[u64; 2]>,
    drops: BTreeMap<String, u64>,
}

/// What happened between two instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Change {
    /// Frames received and sent of each way.
    ways: Vec<[u64; 2]>,
    /// Frames dropped, by reason; what has no reason of its own was dropped elsewhere, for example by a
    /// rule.
    drops: BTreeMap<String, u64>,
}

/// Frames that were dropped for no reason that the kernel counts.
const ELSEWHERE: &str = "elsewhere in the kernel";

impl Change {
    /// With so many frames of those dropped elsewhere known to have had no room for their session.
    pub(super) fn refusing(mut self, refused: u64) -> Self {
        let elsewhere = self.drops.remove(ELSEWHERE).unwrap_or(0);
        let refused = refused.min(elsewhere);
        let reasons = [("no room to track the session", refused), (ELSEWHERE, elsewhere - refused)];
        let some = reasons.into_iter().filter(|(_, count)| *count > 0);
        self.drops.extend(some.map(|(reason, count)| (reason.to_owned(), count)));
        self
    }

    /// With so many frames of one way that left by the side of their senders: the device sent them, too.
    pub(super) fn returning(mut self, returned: u64) -> Self {
        if let [[_, sent]] = &mut self.ways[..] {
            *sent += returned;
            let elsewhere = self.drops.remove(ELSEWHERE).unwrap_or(0).saturating_sub(returned);
            let some = (elsewhere > 0).then(|| (ELSEWHERE.to_owned(), elsewhere));
            self.drops.extend(some);
        }
        self
    }

    pub(super) fn write_into(self, counted: &mut Counted) {
        let [received, sent] = self.total();
        (counted.device_received, counted.device_sent) = (received, sent);
        counted.drops = self.drops;
        if self.ways.len() > 1 {
            counted.device_ways = self.ways;
        }
    }

    fn total(&self) -> [u64; 2] {
        [0, 1].map(|at| self.ways.iter().map(|way| way[at]).sum())
    }
}

/// What was added to the counter of that name.
///
/// # Errors
/// It went backwards: nobody knows what it counted.
pub(super) fn added(name: &str, before: u64, after: u64) -> Result<u64> {
    counter::added(before, after).ok_or_else(|| {
        format!("the counter {name} went back from {before} to {after}: it began anew in the trial")
    })
}

impl DeviceCounters {
    /// What was added since `before`, of frames to the destinations or of both ways.
    ///
    /// # Errors
    /// A counter that went backwards.
    pub(super) fn since(&self, before: &Self, both_ways: bool) -> Result<Change> {
        let mut change = Change::default();
        let mut sides = [[0; 2]; 2];
        for (number, (now, then)) in self.ports.iter().zip(&before.ports).enumerate() {
            for (at, what) in ["received", "sent"].into_iter().enumerate() {
                let name = format!("of frames {what} by port {number}");
                sides[number % 2][at] += added(&name, then[at], now[at])?;
            }
        }
        let [near, far] = sides;
        let ways = [[near[0], far[1]], [far[0], near[1]]];
        change.ways.extend(ways.into_iter().take(if both_ways { 2 } else { 1 }));
        let [received, sent] = change.total();
        let drops = &mut change.drops;
        for (reason, count) in &self.drops {
            let then = before.drops.get(reason).copied().unwrap_or(0);
            drops.insert(reason.clone(), added(reason, then, *count)?);
        }
        drops.retain(|_, count| *count > 0);
        let known = drops.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let unexplained = received.saturating_sub(sent).saturating_sub(known);
        if unexplained > 0 {
            drops.insert(ELSEWHERE.to_owned(), unexplained);
        }
        Ok(change)
    }
}

impl Network {
    pub(super) fn build(task: &Task) -> Result<Self> {
        let mut testbed = Testbed::of_machine().map_err(words)?;
        testbed.change_to(&topology(task)).map_err(words)?;
        if !task.is_rehearsal || !task.from_state.is_empty() {
            std::thread::sleep(SETTLING);
        }
        Ok(Self { testbed: testbed.into(), ports: task.ports() })
    }

    /// Runs something on a thread in a namespace.
    pub(super) fn within<T: Send>(
        &self,
        role: &str,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> Result<T> {
        enter(self.testbed.borrow().namespace(role).map_err(words)?, work)
    }

    /// Frames that an interface has received so far.
    pub(super) fn received(&self, (role, interface): (&str, &str)) -> Result<u64> {
        let counters = self.testbed.borrow_mut().counters(role, interface).map_err(words)?;
        Ok(counters.rx_frames)
    }

    pub(super) fn device_counters(&self) -> Result<DeviceCounters> {
        let mut testbed = self.testbed.borrow_mut();
        let of = |port| {
            let own = testbed.counters(DEVICE, &port_name(port)).map_err(words)?;
            Ok([own.rx_frames, own.tx_frames])
        };
        let ports = (0..self.ports).map(of).collect::<Result<_>>()?;
        let device = testbed.namespace(DEVICE).map_err(words)?;
        let drops = enter(device, || Ok(drop_counters()))?;
        Ok(DeviceCounters { ports, drops })
    }

    /// What the guest answers when asked for everything that a variant can set.
    pub(super) fn proof(&self, task: &Task) -> Result<BTreeMap<String, String>> {
        let testbed = self.testbed.borrow();
        let mut proof = BTreeMap::new();
        let line = |path: &str| {
            fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        proof.insert("kernel".to_owned(), line("/proc/version"));
        proof.insert("cmdline".to_owned(), line("/proc/cmdline"));
        for name in task.sysctl.keys() {
            proof.insert(name.clone(), testbed.sysctl(DEVICE, name).map_err(words)?);
        }
        if task.rules.is_some() {
            proof.insert(NFTABLES.to_owned(), testbed.rules(DEVICE).map_err(words)?);
        }
        for word in &task.read {
            let read = match word.as_str() {
                NFTABLES => testbed.rules(DEVICE),
                name => testbed.sysctl(DEVICE, name),
            };
            proof.extend(read.ok().map(|value| (word.clone(), value)));
        }
        Ok(proof)
    }
}

fn enter<T: Send>(namespace: &NetNamespace, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    namespace.run(work).map_err(|error| format!("cannot enter {}: {error}", namespace.name()))?
}

fn topology(task: &Task) -> Topology {
    let mut wanted = Topology::default();
    let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    for role in [TESTER, FAR] {
        wanted.namespace(role).sysctls.extend(BYSTANDER.map(text));
    }
    let device = wanted.namespace(DEVICE);
    device.sysctls.extend(ROUTER.map(text));
    device.sysctls.extend(task.sysctl.clone());
    let ports = task.ports();
    device.neighbours = neighbours(&task.routes, ports);
    device.routes = Arc::new(routes(&task.routes));
    device.rules = task.rules.clone();
    let to_device = |(number, (role, name)): (u16, (&str, String))| {
        let own = MacAddr::numbered([0xa1, 0xb1][usize::from(number % 2)]);
        let mac = DEVICE_MACS[mac_of(ports, number)];
        let mut port = end((DEVICE, &port_name(number)), mac);
        port.addresses = addresses(&task.routes, number);
        Cable::new([end((role, &name), own), port])
    };
    wanted.cables = (0..).zip(ends(BY_DEVICE, ports)).map(to_device).collect();
    // Past the device each port on the side of the sources is joined to one of the destinations.
    let past = ends(BY_CABLE, ports);
    let macs = [0xc0, 0xc1].map(MacAddr::numbered);
    wanted.cables.extend(
        past.chunks_exact(2)
            .map(|pair| Cable::new([0, 1].map(|at| end((pair[at].0, &pair[at].1), macs[at])))),
    );
    wanted
}

fn end((namespace, interface): (&str, &str), mac: MacAddr) -> CableEnd {
    let (namespace, interface) = (namespace.to_owned(), interface.to_owned());
    CableEnd { namespace, interface, mac, mtu: None, addresses: Vec::new() }
}

fn routes(routes: &[TaskRoute]) -> Vec<StaticRoute> {
    let mut list: Vec<StaticRoute> = routes
        .iter()
        .map(|route| StaticRoute {
            prefix: Prefix::covering(route.destination, route.length),
            gateway: route.gateway,
            port: route.port,
        })
        .collect();
    list.sort();
    list.dedup();
    list
}

/// Every gateway is a neighbour that the tester answers for.
fn neighbours(routes: &[TaskRoute], ports: u16) -> BTreeSet<Neighbour> {
    let neighbour = |route: &TaskRoute| {
        let mac = TESTER_MACS[mac_of(ports, route.port)];
        Neighbour { interface: port_name(route.port), address: route.gateway, mac }
    };
    routes.iter().map(neighbour).collect()
}

/// An address in the /24, or /64, of each gateway on this side.
fn addresses(routes: &[TaskRoute], port: u16) -> Vec<InterfaceAddress> {
    let on_this_side = routes.iter().filter(|route| route.port == port);
    let networks: BTreeMap<Prefix, IpAddr> = on_this_side
        .map(|route| {
            let length = if route.gateway.is_ipv4() { 24 } else { 64 };
            (Prefix::covering(route.gateway, length), route.gateway)
        })
        .collect();
    let address = |(network, gateway): (&Prefix, &IpAddr)| InterfaceAddress {
        address: own_address(network.bounds().1, *gateway),
        prefix_length: network.length(),
    };
    networks.iter().map(address).collect()
}

/// The last address of a network but one (the last is IPv4's broadcast address) that is not the
/// gateway's.
fn own_address(last: u128, gateway: IpAddr) -> IpAddr {
    match gateway {
        IpAddr::V4(gateway) => {
            let own = last as u32 - 1;
            IpAddr::from((if own == gateway.to_bits() { own - 1 } else { own }).to_be_bytes())
        }
        IpAddr::V6(gateway) => {
            let own = last - 1;
            IpAddr::from((if own == gateway.to_bits() { own - 1 } else { own }).to_be_bytes())
        }
    }
}

/// The counters of the Internet protocols that stand for a dropped frame (RFC 4293), of the
/// calling thread's namespace.
fn drop_counters() -> BTreeMap<String, u64> {
    const REASONS: [&str; 6] =
        ["InHdrErrors", "InAddrErrors", "InDiscards", "OutDiscards", "OutNoRoutes", "InNoRoutes"];
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let inet = paired_lines(&read("/proc/thread-self/net/snmp"), "Ip:");
    let inet6 = read("/proc/thread-self/net/snmp6");
    let inet6 = inet6.lines().filter_map(|line| {
        let (name, count) = line.strip_prefix("Ip6")?.split_once(char::is_whitespace)?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    });
    let mut drops = BTreeMap::new();
    for (name, count) in inet.into_iter().chain(inet6) {
        if REASONS.contains(&name.as_str()) {
            *drops.entry(name).or_default() += count;
        }
    }
    drops
}

/// Names on one line, values on the next, both after the same word.
fn paired_lines(text: &str, word: &str) -> Vec<(String, u64)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(word));
    let (names, values) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let pairs = names.split_whitespace().zip(values.split_whitespace());
    pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{GuestClock, GuestTester, TaskTraffic};

    #[test]
    fn the_device_has_an_address_beside_each_gateway() {
        let route = |gateway: &str, port| TaskRoute {
            destination: "198.19.0.0".parse().expect("an address"),
            length: 16,
            gateway: gateway.parse().expect("an address"),
            port,
        };
        let list = [route("198.18.0.203", 0), route("198.19.0.254", 1), route("2001:2::203", 0)];
        let own = |port| {
            let found = addresses(&list, port).into_iter().map(|own| own.address.to_string());
            found.collect::<Vec<_>>()
        };
        assert_eq!(own(0), ["198.18.0.254", "2001:2::ffff:ffff:ffff:fffe"]);
        assert_eq!(own(1), ["198.19.0.253"]);
    }

    #[test]
    fn counters_of_ipv4_stand_below_their_names() {
        let text = "Ip: Forwarding InHdrErrors\nIp: 1 7\nIcmp: InMsgs\nIcmp: 0\n";
        let pairs = paired_lines(text, "Ip:");
        assert_eq!(pairs, [("Forwarding".to_owned(), 1), ("InHdrErrors".to_owned(), 7)]);
    }

    #[test]
    fn a_counter_that_went_backwards_is_said_and_no_number() {
        let of = |received, sent| DeviceCounters {
            ports: vec![[received, 0], [0, sent]],
            ..DeviceCounters::default()
        };
        let (before, after) = (of(10, 10), of(12, 3));
        let why = after.since(&before, false).expect_err("it went back");
        assert!(why.contains("frames sent by port 1 went back from 10 to 3"), "{why}");
        let of =
            |n| DeviceCounters { drops: [("InDiscards".to_owned(), n)].into(), ..before.clone() };
        let why = of(1).since(&of(2), false).expect_err("it went back");
        assert!(why.contains("InDiscards went back from 2 to 1"), "{why}");
    }

    #[test]
    fn drops_without_a_reason_are_counted_too() {
        let drops = [("InHdrErrors".to_owned(), 5)].into();
        let before = DeviceCounters { ports: vec![[10, 50], [50, 10]], drops };
        let drops = [("InHdrErrors".to_owned(), 7)].into();
        let after = DeviceCounters { ports: vec![[30, 59], [60, 25]], drops };
        let change = after.since(&before, false).expect("none went back");
        assert_eq!((change.drops["InHdrErrors"], change.drops[ELSEWHERE]), (2, 3));
        let refusing = change.clone().refusing(2).drops;
        assert_eq!((refusing["no room to track the session"], refusing[ELSEWHERE]), (2, 1));
        assert!(!change.clone().refusing(3).drops.contains_key(ELSEWHERE));
        let returning = change.clone().returning(2);
        assert_eq!((&returning.ways[..], returning.drops[ELSEWHERE]), (&[[20, 17]][..], 1));
        assert!(!change.returning(3).drops.contains_key(ELSEWHERE));
        let both = after.since(&before, true).expect("none went back");
        assert_eq!(both.clone().returning(2), both, "counted where it left");
        assert_eq!((&both.ways[..], both.drops[ELSEWHERE]), (&[[20, 15], [10, 9]][..], 4));
    }

    /// None of 128 frames came back, and it was said that none ever would.
    fn keeps_its_first_frames(task: &Task) {
        let route = |destination: [u8; 4], gateway: [u8; 4], port| TaskRoute {
            destination: IpAddr::from(destination),
            length: 16,
            gateway: IpAddr::from(gateway),
            port,
        };
        let rules = "table ip f { chain c { type filter hook forward priority 0; \
                     numgen inc mod 1000000 < 300 drop; }; }";
        let task = Task {
            sysctl: BTreeMap::new(),
            rules: Some(rules.to_owned()),
            routes: vec![route([198, 19, 0, 0], [198, 19, 0, 203], 1)],
            duration_ns: 1_000_000,
            interval_ns: 1_000_000,
            clock: GuestClock::Wall,
            ..task.clone()
        };
        let network = match Network::build(&task) {
            Ok(network) => network,
            Err(why) => {
                eprintln!("SKIPPED keeps_its_first_frames: {why}");
                return;
            }
        };
        let [[sent, received]] = crate::a_few_frames(&[task], &network).expect("tried")[..] else {
            panic!("one traffic")
        };
        assert!(received > 0 && sent > 300, "{received} of {sent}");
    }

    /// What two kernels are compared with may be a word that one of them does not have: there it has no
    /// value, which is no reason to stop. One that the variant itself sets is.
    #[test]
    fn a_word_of_another_variant_that_this_kernel_lacks_is_absent() {
        let mut task = Task {
            modules: Vec::new(),
            sysctl: [("net.ipv4.conf.all.rp_filter".to_owned(), "1".to_owned())].into(),
            read: ["net.ipv4.of_another_kernel", "net.ipv4.ip_forward"].map(str::to_owned).to_vec(),
            rules: None,
            routes: Vec::new(),
            traffic: TaskTraffic {
                source: "198.18.10.1:7".to_owned(),
                destination: "198.19.10.1:7".to_owned(),
                frame_bytes: 64,
                order: "random".to_owned(),
                pps: None,
                capture: None,
            },
            warmup_ns: 0,
            duration_ns: 0,
            cable_ns: 0,
            interval_ns: 1,
            profile_ns: None,
            tester: GuestTester::default(),
            clock: GuestClock::default(),
            is_rehearsal: true,
            from_state: Vec::new(),
            both_ways: false,
            mesh: None,
            sessions: None,
        };
        let network = match Network::build(&task) {
            Ok(network) => network,
            Err(why) => {
                eprintln!("SKIPPED a_word_of_another_variant: {why}");
                return;
            }
        };
        let proof = network.proof(&task).expect("a word of others stops nothing");
        assert_eq!(proof["net.ipv4.ip_forward"], "1");
        assert_eq!(proof["net.ipv4.conf.all.rp_filter"], "1");
        assert!(!proof.contains_key("net.ipv4.of_another_kernel"), "{proof:?}");
        drop(network);
        keeps_its_first_frames(&task);
        task.sysctl.insert("net.ipv4.of_another_kernel".to_owned(), "1".to_owned());
        let why = Network::build(&task).err().expect("it cannot be set");
        assert!(why.contains("net.ipv4.of_another_kernel"), "{why}");
    }
}
