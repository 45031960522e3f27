//! From an experiment and a variant to the topology that is wanted, without touching anything.

use std::collections::{BTreeMap, BTreeSet};
use std::{net::IpAddr, path::Path, sync::Arc};

use fwdlab_traffic::{DEVICE_MACS, TESTER_MACS, mac_of};

use crate::LinuxError;
use crate::settings::{LinuxSettings, MoreRoutes, TesterKind};
use fwdlab_experiment::{
    Experiment, Route, Variant, inputs, network_length, untranslatable, with_file, with_generated,
};
use fwdlab_routes::Prefix;
use fwdlab_topology::{
    Cable, CableEnd, InterfaceAddress, Neighbour, StaticRoute, Topology, TopologyError, end_name,
    port_name, translation,
};

/// Roles of the namespaces.
pub(super) const SENDER: &str = "sender";
pub(super) const DEVICE: &str = "device";
pub(super) const RECEIVER: &str = "receiver";

/// The tester's interfaces in its two namespaces.
pub(super) const OUT: &str = "out";
pub(super) const BACK: &str = "back";

/// The file system in which BPF maps have names.
pub(super) const PINS: &str = "/sys/fs/bpf";

/// Sysctls that make a router of the device's namespace, and a quiet one.
const ROUTER: [(&str, &str); 8] = [
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv6.conf.all.forwarding", "1"),
    ("net.ipv6.conf.default.forwarding", "1"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    // No link-local addresses: nothing but the measured traffic.
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
];

/// Sysctls that keep the tester's namespaces from sending anything of their own.
const SILENT: [(&str, &str); 2] =
    [("net.ipv6.conf.all.disable_ipv6", "1"), ("net.ipv6.conf.default.disable_ipv6", "1")];

/// Sysctls of the device's namespace where fwdlab's router forwards.
const BYSTANDER: [(&str, &str); 4] = [
    ("net.ipv4.ip_forward", "0"),
    ("net.ipv6.conf.all.forwarding", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
];

/// Tables of routes by variant: a full one is made only once.
#[derive(Debug, Default)]
pub(super) struct RouteTables {
    by_variant: BTreeMap<String, Arc<Vec<StaticRoute>>>,
}

impl RouteTables {
    /// The routes of a variant, in ascending order.
    fn of(
        &mut self,
        experiment: &Experiment,
        name: &str,
        settings: &LinuxSettings,
    ) -> Result<Arc<Vec<StaticRoute>>, fwdlab_experiment::Error> {
        // Variants without routes of their own share one table.
        let key = if settings.routes.is_some() { name } else { "" };
        if let Some(table) = self.by_variant.get(key) {
            return Ok(table.clone());
        }
        let all = match &settings.routes {
            None | Some(MoreRoutes::Generate(0)) => experiment.routes.fixed.clone(),
            Some(MoreRoutes::Generate(count)) => with_generated(experiment, *count)?,
            Some(MoreRoutes::File(file)) => with_file(experiment, &beside(&experiment.path, file))?,
        };
        let mut table: Vec<StaticRoute> = all
            .into_iter()
            .map(|Route { prefix, gateway, port }| StaticRoute { prefix, gateway, port })
            .collect();
        table.sort_unstable();
        let table = Arc::new(table);
        self.by_variant.insert(key.to_owned(), table.clone());
        Ok(table)
    }
}

/// Those of some sysctls that this kernel has: one without IPv6 has none of IPv6.
pub(crate) fn of_this_kernel(sysctls: &[(&str, &str)]) -> impl Iterator<Item = (String, String)> {
    let has_inet6 = Path::new("/proc/sys/net/ipv6").exists();
    let usable = sysctls.iter().filter(move |(name, _)| has_inet6 || !name.starts_with("net.ipv6"));
    usable.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
}

/// What the variant wants.
pub(super) fn topology(
    experiment: &Experiment,
    variant: &Variant,
    settings: &LinuxSettings,
    tables: &mut RouteTables,
) -> Result<Topology, LinuxError> {
    let mut wanted = Topology::default();
    for role in [SENDER, RECEIVER] {
        wanted.namespace(role).sysctls.extend(of_this_kernel(&SILENT));
    }
    if settings.is_embedded {
        // The kernel only hands the frames over.
        wanted.namespace(DEVICE).sysctls.extend(of_this_kernel(&BYSTANDER));
        wanted.cables = cables(experiment, settings, &BTreeSet::new());
        return Ok(wanted);
    }
    let device = wanted.namespace(DEVICE);
    device.sysctls.extend(of_this_kernel(&ROUTER));
    device.sysctls.extend(settings.sysctls.clone());
    device.rules = rules(experiment, settings)?;
    let translates = device.rules.as_deref().and_then(translation);
    let mut sessions = experiment.traffics.iter().filter(|traffic| traffic.sessions.is_some());
    if let Some(word) = translates
        && let Some((why, remedy)) = sessions.find_map(|traffic| untranslatable(word, traffic))
    {
        let what = format!(
            "{}: variant {}: its rules translate addresses ({word}), and {why}: {remedy}",
            experiment.path.display(),
            variant.name
        );
        return Err(LinuxError::Setup { what });
    }
    device.routes = tables.of(experiment, &variant.name, settings)?;
    let gateways: BTreeSet<(u16, IpAddr)> =
        device.routes.iter().map(|route| (route.port, route.gateway)).collect();
    for &(port, address) in &gateways {
        let mac = TESTER_MACS[mac_of(experiment.ports(), port)];
        device.neighbours.insert(Neighbour { interface: port_name(port), address, mac });
    }
    wanted.cables = cables(experiment, settings, &gateways);
    Ok(wanted)
}

/// The cables from the tester to the device's ports.
fn cables(
    experiment: &Experiment,
    settings: &LinuxSettings,
    gateways: &BTreeSet<(u16, IpAddr)>,
) -> Vec<Cable> {
    let has_one_queue = settings.tester != Some(TesterKind::Naive);
    let cable = |port: u16| {
        let (role, interface) = tester_end(port);
        let mac = mac_of(experiment.ports(), port);
        let near = CableEnd {
            namespace: role.to_owned(),
            interface,
            mac: TESTER_MACS[mac],
            mtu: None,
            addresses: Vec::new(),
        };
        let far = CableEnd {
            namespace: DEVICE.to_owned(),
            interface: port_name(port),
            mac: DEVICE_MACS[mac],
            mtu: None,
            addresses: addresses(gateways, port),
        };
        Cable { ends: [near, far], has_one_queue }
    };
    (0..experiment.ports()).map(cable).collect()
}

/// Where the tester's end of a port's cable is: the namespace's role, and the interface.
pub(super) fn tester_end(port: u16) -> (&'static str, String) {
    let role = if port.is_multiple_of(2) { SENDER } else { RECEIVER };
    (role, end_name([OUT, BACK], port))
}

/// A file that the experiment names.
pub(super) fn beside(experiment: &Path, file: &Path) -> std::path::PathBuf {
    inputs::place(experiment, file)
}

/// Whether a variant's rules translate addresses; what cannot be read says so when it is applied.
pub(super) fn has_translation(experiment: &Experiment, variant: &Variant) -> bool {
    let rules = rules(experiment, &LinuxSettings::of(variant)).ok().flatten();
    rules.as_deref().and_then(translation).is_some()
}

/// The text of a variant's rules; nothing for none.
fn rules(
    experiment: &Experiment,
    settings: &LinuxSettings,
) -> Result<Option<String>, TopologyError> {
    let Some(rules) = &settings.rules else { return Ok(None) };
    let text = rules.text(|file| beside(&experiment.path, file))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// The addresses of a port: in the /24 or /64 of each gateway on its side, the last one (which is
/// the broadcast address in IPv4) less one, or less two when that is the gateway itself.
fn addresses(gateways: &BTreeSet<(u16, IpAddr)>, port: u16) -> Vec<InterfaceAddress> {
    let mut networks: BTreeSet<Prefix> = BTreeSet::new();
    let mut addresses = Vec::new();
    for &(_, gateway) in gateways.iter().filter(|(of, _)| *of == port) {
        let prefix_length = network_length(gateway);
        let network = Prefix::covering(gateway, prefix_length);
        if !networks.insert(network) {
            continue;
        }
        let taken: BTreeSet<IpAddr> = gateways.iter().map(|(_, address)| *address).collect();
        let (_, last) = network.bounds();
        let own = (1..).map(|back| address(last - back, gateway)).find(|own| !taken.contains(own));
        addresses.extend(own.map(|address| InterfaceAddress { address, prefix_length }));
    }
    addresses
}

/// A number as an address of the family of `like`.
fn address(number: u128, like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::V4((number as u32).into()),
        IpAddr::V6(_) => IpAddr::V6(number.into()),
    }
}

/// Where an experiment's file sets a key to a text: path and line; the path alone where that is not found.
pub(super) fn place_of(experiment: &Experiment, key: &str, text: &str) -> String {
    let path = experiment.path.display();
    let quoted = [format!("\"{text}\""), format!("'{text}'")];
    let is_it = |line: &str| {
        let rest = line.split_once(key).map_or("", |(_, rest)| rest.trim_start_matches(['"', ' ']));
        rest.starts_with('=') && quoted.iter().any(|text| rest.contains(text))
    };
    match experiment.text.lines().position(is_it) {
        Some(at) => format!("{path}:{}", at + 1),
        None => path.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_one_free_address_in_each_network_of_its_gateways() {
        let gateways: BTreeSet<(u16, IpAddr)> = [
            (0, "198.18.0.203"),
            (0, "198.18.0.254"),
            (1, "198.19.0.203"),
            (1, "2001:2:0:8000::203"),
        ]
        .into_iter()
        .map(|(port, text)| (port, text.parse().expect("an address")))
        .collect();
        let own = |port| {
            let list = addresses(&gateways, port);
            list.iter().map(|a| format!("{}/{}", a.address, a.prefix_length)).collect::<Vec<_>>()
        };
        assert_eq!(own(0), ["198.18.0.253/24"]);
        assert_eq!(own(1), ["198.19.0.254/24", "2001:2:0:8000:ffff:ffff:ffff:fffe/64"]);
    }
}
