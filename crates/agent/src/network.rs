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
//! The tester's interfaces have other MAC addresses than its frames: what arrives is seen by the
//! tester's packet sockets and then dropped by the kernel at once, because it is for another host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS};
use fwdlab_wire::MacAddr;

use super::{Result, words};
use crate::channel::Counted;
use crate::task::{Task, TaskRoute};
use fwdlab_results::counter;
use fwdlab_routes::Prefix;
use fwdlab_topology::{
    Cable, CableEnd, InterfaceAddress, NFTABLES, Neighbour, NetNamespace, StaticRoute, Testbed,
    Topology,
};

/// Namespace and interface by which the tester sends to the device and receives from it.
pub(super) const BY_DEVICE: [(&str, &str); 2] = [(TESTER, "out"), (TESTER, "back")];

/// Namespace and interface by which the tester sends into a cable and receives from it.
pub(super) const BY_CABLE: [(&str, &str); 2] = [(TESTER, "near"), (FAR, "far")];

/// Namespace and interface by which the device receives.
pub(super) const DEVICE_INPUT: (&str, &str) = (DEVICE, PORTS[0]);

const PORTS: [&str; 2] = ["port0", "port1"];
pub(super) const DEVICE: &str = "device";
const TESTER: &str = "tester";
const FAR: &str = "far";

/// What every device is: a router that answers nobody on its own.
const ROUTER: [(&str, &str); 5] = [
    ("net.ipv4.ip_forward", "1"),
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
}

/// What the device's kernel has counted so far.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceCounters {
    /// Of each port.
    received: [u64; 2],
    sent: [u64; 2],
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
        for from in 0..if both_ways { 2 } else { 1 } {
            let to = 1 - from;
            let received = added("of frames received", before.received[from], self.received[from])?;
            change.ways.push([received, added("of frames sent", before.sent[to], self.sent[to])?]);
        }
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
        let mut testbed = Testbed::new().map_err(words)?;
        testbed.change_to(&topology(task)).map_err(words)?;
        if !task.is_rehearsal || !task.from_state.is_empty() {
            std::thread::sleep(SETTLING);
        }
        Ok(Self { testbed: testbed.into() })
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
        let first = testbed.counters(DEVICE, PORTS[0]).map_err(words)?;
        let second = testbed.counters(DEVICE, PORTS[1]).map_err(words)?;
        let device = testbed.namespace(DEVICE).map_err(words)?;
        let drops = enter(device, || Ok(drop_counters()))?;
        let received = [first.rx_frames, second.rx_frames];
        Ok(DeviceCounters { received, sent: [first.tx_frames, second.tx_frames], drops })
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
    device.neighbours = neighbours(&task.routes);
    device.routes = Arc::new(routes(&task.routes));
    device.rules = task.rules.clone();
    let port = |index: usize| {
        let mut end = end((DEVICE, PORTS[index]), DEVICE_MACS[index]);
        end.addresses = addresses(&task.routes, index);
        end
    };
    wanted.cables = vec![
        Cable::new([end(BY_DEVICE[0], MacAddr::numbered(0xa1)), port(0)]),
        Cable::new([end(BY_DEVICE[1], MacAddr::numbered(0xb1)), port(1)]),
        Cable::new([
            end(BY_CABLE[0], MacAddr::numbered(0xc0)),
            end(BY_CABLE[1], MacAddr::numbered(0xc1)),
        ]),
    ];
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
fn neighbours(routes: &[TaskRoute]) -> BTreeSet<Neighbour> {
    let neighbour = |route: &TaskRoute| {
        let port = usize::from(route.port.min(1));
        let interface = PORTS[port].to_owned();
        Neighbour { interface, address: route.gateway, mac: TESTER_MACS[port] }
    };
    routes.iter().map(neighbour).collect()
}

/// An address in the /24, or /64, of each gateway on this side.
fn addresses(routes: &[TaskRoute], port: usize) -> Vec<InterfaceAddress> {
    let on_this_side = routes.iter().filter(|route| usize::from(route.port) == port);
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
            received: [received, 0],
            sent: [0, sent],
            ..DeviceCounters::default()
        };
        let (before, after) = (of(10, 10), of(12, 3));
        let why = after.since(&before, false).expect_err("it went back");
        assert!(why.contains("frames sent went back from 10 to 3"), "{why}");
        let of =
            |n| DeviceCounters { drops: [("InDiscards".to_owned(), n)].into(), ..before.clone() };
        let why = of(1).since(&of(2), false).expect_err("it went back");
        assert!(why.contains("InDiscards went back from 2 to 1"), "{why}");
    }

    #[test]
    fn drops_without_a_reason_are_counted_too() {
        let drops = [("InHdrErrors".to_owned(), 5)].into();
        let before = DeviceCounters { received: [10, 50], sent: [50, 10], drops };
        let drops = [("InHdrErrors".to_owned(), 7)].into();
        let after = DeviceCounters { received: [30, 60], sent: [59, 25], drops };
        let change = after.since(&before, false).expect("none went back");
        assert_eq!((change.drops["InHdrErrors"], change.drops[ELSEWHERE]), (2, 3));
        let refusing = change.clone().refusing(2).drops;
        assert_eq!((refusing["no room to track the session"], refusing[ELSEWHERE]), (2, 1));
        assert!(!change.refusing(3).drops.contains_key(ELSEWHERE));
        let both = after.since(&before, true).expect("none went back");
        assert_eq!((&both.ways[..], both.drops[ELSEWHERE]), (&[[20, 15], [10, 9]][..], 4));
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
        task.sysctl.insert("net.ipv4.of_another_kernel".to_owned(), "1".to_owned());
        let why = Network::build(&task).err().expect("it cannot be set");
        assert!(why.contains("net.ipv4.of_another_kernel"), "{why}");
    }
}
