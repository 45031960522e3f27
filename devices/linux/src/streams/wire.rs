//! What the hosts at both ends need beside the cables to the device.

use std::net::{IpAddr, SocketAddr};

use fwdlab_experiment::{Endpoint, Experiment, Traffic};
use fwdlab_results::{Family, Measure};
use fwdlab_routes::Prefix;
use fwdlab_topology::{Cable, CableEnd, Host, Testbed, Topology, TopologyError, port_name};
use fwdlab_traffic::DEVICE_MACS;
use fwdlab_wire::MacAddr;

use crate::setup::{BACK, DEVICE, OUT, RECEIVER, SENDER, of_this_kernel};

/// The interfaces of the cable that leads past the device.
pub(crate) const PAST: &str = "past";
const PAST_MACS: [MacAddr; 2] = [MacAddr::numbered(0xa2), MacAddr::numbered(0xb2)];

/// Addresses of the cable's ends (RFC 5737, RFC 3849).
const PAST_INET: [&str; 2] = ["192.0.2.1", "192.0.2.2"];
const PAST_INET6: [&str; 2] = ["2001:db8::1", "2001:db8::2"];
/// Ports of the streams past the device: the first at the near end, and the one at the far end.
const PAST_PORTS: [u16; 2] = [20_000, 10_000];

/// Sysctls of both ends: addresses of their own are no interface's; no trial knows what an earlier one
/// has learned, and streams that pause while others are carried go on as they were.
const SYSCTLS: [(&str, &str); 7] = [
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.ipv6.ip_nonlocal_bind", "1"),
];

/// Whether an experiment has streams: then the ends are hosts.
pub(crate) fn has_streams(experiment: &Experiment) -> bool {
    experiment.traffics.iter().any(|traffic| traffic.streams.is_some())
}

/// Makes the tester's namespaces fit for hosts, with a cable between them where the experiment asks what a byte
/// costs. Nothing is changed where it has no streams.
pub(crate) fn furnish(wanted: &mut Topology, experiment: &Experiment) {
    if !has_streams(experiment) {
        return;
    }
    for role in [SENDER, RECEIVER] {
        wanted.namespace(role).sysctls = of_this_kernel(&SYSCTLS).collect();
    }
    if experiment.traffics.iter().any(|traffic| traffic.measure == Measure::ByteCost) {
        let end = |(role, mac): (&str, MacAddr)| CableEnd {
            namespace: role.to_owned(),
            interface: PAST.to_owned(),
            mac,
            mtu: None,
            addresses: Vec::new(),
        };
        let ends = [(SENDER, PAST_MACS[0]), (RECEIVER, PAST_MACS[1])].map(end);
        wanted.cables.push(Cable::new(ends));
    }
}

/// From where to where each stream goes.
pub(super) type Pairs = Vec<[SocketAddr; 2]>;

/// Makes hosts of both ends; the streams through the device, and past it where that is asked for.
///
/// # Errors
/// The kernel refuses.
pub(super) fn join(
    testbed: &mut Testbed,
    traffic: &Traffic,
) -> Result<(Pairs, Pairs), TopologyError> {
    let (near, far) = (addresses(traffic.source), addresses(traffic.destination));
    for (role, interface, own, port) in [(SENDER, OUT, &near, 0), (RECEIVER, BACK, &far, 1)] {
        let device = device_address(testbed, traffic.family, port);
        let host = Host {
            interface: interface.to_owned(),
            own: own.clone(),
            // Whatever a device makes of addresses, it leads back through it.
            others: vec![Prefix::everything(device)],
            gateway: device,
            mac: DEVICE_MACS[usize::from(port)],
        };
        testbed.host(role, &host)?;
    }
    let sockets = |end: Endpoint| {
        let ports = move || end.port()..=end.last_port();
        addresses(end)
            .into_iter()
            .flat_map(move |address| ports().map(move |port| SocketAddr::new(address, port)))
    };
    let through: Pairs = sockets(traffic.destination)
        .flat_map(|to| sockets(traffic.source).map(move |from| [from, to]))
        .collect();
    let past = match traffic.measure {
        Measure::ByteCost => past(testbed, traffic.family, through.len())?,
        _ => Vec::new(),
    };
    Ok((through, past))
}

fn past(testbed: &mut Testbed, family: Family, count: usize) -> Result<Pairs, TopologyError> {
    let texts = if family == Family::Inet { PAST_INET } else { PAST_INET6 };
    let ends: Vec<IpAddr> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    let &[near, far] = &ends[..] else { return Ok(Vec::new()) };
    for (role, own, other, mac) in
        [(SENDER, near, far, PAST_MACS[1]), (RECEIVER, far, near, PAST_MACS[0])]
    {
        let interface = PAST.to_owned();
        let others = vec![Prefix::covering(other, u8::MAX)];
        let host = Host { interface, own: vec![own], others, gateway: other, mac };
        testbed.host(role, &host)?;
    }
    let pair = |at: usize| {
        let from = SocketAddr::new(near, PAST_PORTS[0].saturating_add(at as u16));
        [from, SocketAddr::new(far, PAST_PORTS[1])]
    };
    Ok((0..count).map(pair).collect())
}

/// An address that the device has on a port, in the family; where routes name no gateway there, any.
fn device_address(testbed: &Testbed, family: Family, port: u16) -> IpAddr {
    let ends = testbed.present().cables.iter().flat_map(|cable| &cable.ends);
    let own = ends.filter(|end| end.namespace == DEVICE && end.interface == port_name(port));
    let mut all = own.flat_map(|end| &end.addresses).map(|own| own.address);
    all.find(|address| Family::of(*address) == family).unwrap_or(match family {
        Family::Inet => IpAddr::from([192, 0, 2, 5]),
        Family::Inet6 | Family::Dual => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 5]),
    })
}

/// All addresses of a range; a traffic of streams has few.
fn addresses(end: Endpoint) -> Vec<IpAddr> {
    let (first, last) = end.bounds();
    let of = |number: u128| match end.family() {
        Family::Inet => IpAddr::V4((number as u32).into()),
        Family::Inet6 | Family::Dual => IpAddr::V6(number.into()),
    };
    (first..=last).map(of).collect()
}
