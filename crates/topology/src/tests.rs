//! Tests of the topology. Those that need root say so when they cannot run.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fwdlab_wire::MacAddr;

use super::*;
use fwdlab_routes::Prefix;

fn end(namespace: &str, interface: &str, number: u8, address: Option<&str>) -> CableEnd {
    let address = address.map(|text| text.parse::<IpAddr>().expect("an address"));
    CableEnd {
        namespace: namespace.to_owned(),
        interface: interface.to_owned(),
        mac: MacAddr([2, 0, 0, 0, 0, number]),
        mtu: None,
        addresses: address
            .map(|address| InterfaceAddress { address, prefix_length: 24 })
            .into_iter()
            .collect(),
    }
}

fn route(third: u8, fourth: u8) -> StaticRoute {
    let network = IpAddr::from([198, 19, third, fourth]);
    StaticRoute {
        prefix: Prefix::covering(network, 32),
        gateway: IpAddr::from([198, 18, 0, 203]),
        port: 0,
    }
}

/// Two namespaces, a cable, a neighbour, routes and a sysctl of each kind.
fn small() -> Topology {
    let mut wanted = Topology::default();
    wanted.namespace("tester");
    let device = wanted.namespace("device");
    device.sysctls.insert("net.ipv4.ip_forward".to_owned(), "1".to_owned());
    device.sysctls.insert("net.ipv4.conf.port0.rp_filter".to_owned(), "2".to_owned());
    device.neighbours.insert(Neighbour {
        interface: "port0".to_owned(),
        address: IpAddr::from([198, 18, 0, 203]),
        mac: MacAddr([2, 0, 0, 0, 0, 9]),
    });
    device.routes = Arc::new(vec![route(0, 1), route(0, 2), route(1, 0)]);
    let ends = [end("tester", "out", 1, None), end("device", "port0", 2, Some("198.18.0.254"))];
    wanted.cables.push(Cable::new(ends));
    wanted
}

/// Every kind of difference from [`small`].
fn others() -> Vec<Topology> {
    let mut list = vec![Topology::default(), small()];
    let mut change = |edit: &dyn Fn(&mut Topology)| {
        let mut topology = small();
        edit(&mut topology);
        list.push(topology);
    };
    change(&|t| t.namespace("device").sysctls.clear());
    change(&|t| t.namespace("device").rules = Some("table inet filter {}".to_owned()));
    change(&|t| t.namespace("device").neighbours.clear());
    change(&|t| t.namespace("device").routes = Arc::new(vec![route(0, 2), route(7, 7)]));
    change(&|t| {
        t.cables[0].ends[1].addresses[0].address = IpAddr::from([198, 18, 0, 253]);
    });
    change(&|t| {
        t.namespace("device")
            .sysctls
            .insert("net.ipv4.conf.port0.rp_filter".to_owned(), "1".to_owned());
    });
    change(&|t| {
        t.namespaces.remove("tester");
        t.cables.clear();
        t.namespace("device").neighbours.clear();
        t.namespace("device").routes = Arc::default();
        t.namespace("device").sysctls.clear();
    });
    list
}

#[test]
fn a_full_table_goes_with_its_namespace() {
    let mut full = small();
    let numbers = 0..=diff::MOST_REMOVED as u32;
    let routes = numbers.map(|number| StaticRoute {
        prefix: Prefix::covering(IpAddr::from((0x0a00_0000 + number).to_be_bytes()), 32),
        ..route(0, 1)
    });
    full.namespace("device").routes = Arc::new(routes.collect());
    let list = actions(&full, &small());
    assert!(!list.iter().any(|action| matches!(action, Action::RemoveRoutes { .. })), "{list:?}");
    let mut topology = full.clone();
    list.iter().for_each(|action| topology.after(action));
    assert_eq!(topology, small());
    assert_eq!(actions(&small(), &full).len(), 2, "the old routes go one by one");
}

#[test]
fn actions_lead_from_every_topology_to_every_other_and_then_there_are_none() {
    for from in others() {
        for to in others() {
            let mut topology = from.clone();
            for action in actions(&from, &to) {
                topology.after(&action);
            }
            assert_eq!(topology, to, "from {from:?}");
            assert_eq!(actions(&topology, &to), []);
        }
    }
}

#[test]
fn only_what_differs_is_touched() {
    let mut wanted = small();
    wanted.namespace("device").routes = Arc::new(vec![route(0, 1), route(1, 0), route(1, 1)]);
    let role = || "device".to_owned();
    let expected = [
        Action::RemoveRoutes { role: role(), routes: Arc::new(vec![route(0, 2)]) },
        Action::AddRoutes { role: role(), routes: Arc::new(vec![route(1, 1)]) },
    ];
    assert_eq!(actions(&small(), &wanted), expected);
}

#[test]
fn sysctls_of_an_interface_come_after_it_and_the_others_before() {
    let list = actions(&Topology::default(), &small());
    let place = |wanted: &dyn Fn(&Action) -> bool| list.iter().position(wanted).expect("there");
    let cable = place(&|action| matches!(action, Action::AddCable(_)));
    let sysctl = |wanted: &'static str| {
        place(&move |action| matches!(action, Action::SetSysctl { name, .. } if name == wanted))
    };
    assert!(sysctl("net.ipv4.ip_forward") < cable);
    assert!(sysctl("net.ipv4.conf.port0.rp_filter") > cable);
}

/// A testbed, or nothing and a line that says why this test was skipped.
fn testbed(test: &str) -> Option<Testbed> {
    let tried = Testbed::new().and_then(|mut testbed| {
        let mut probe = Topology::default();
        probe.namespace("probe");
        testbed.change_to(&probe)?;
        testbed.change_to(&Topology::default())?;
        Ok(testbed)
    });
    tried.inspect_err(|error| eprintln!("SKIPPED {test}: {error}")).ok()
}

#[test]
fn a_testbed_goes_through_every_topology_and_leaves_nothing() {
    let Some(mut testbed) = testbed("a_testbed_goes_through_every_topology") else { return };
    for wanted in others() {
        if wanted.namespaces.values().any(|namespace| namespace.rules.is_some()) && !has_nftables()
        {
            eprintln!("SKIPPED a_testbed_goes_through_every_topology, rules: nft is not installed");
            continue;
        }
        testbed.change_to(&wanted).expect("the change works");
        if let Some(device) = wanted.namespaces.get("device") {
            let routes = testbed.count_routes("device").expect("routes can be listed");
            assert_eq!(routes, (device.routes.len(), 0));
            for (name, value) in &device.sysctls {
                assert_eq!(testbed.sysctl("device", name).expect("readable"), *value);
            }
            if device.rules.is_some() {
                assert!(testbed.rules("device").expect("rules").contains("table inet filter"));
            }
        }
    }
    let names: Vec<String> = ["tester", "device"]
        .iter()
        .filter_map(|role| Some(testbed.namespace(role).ok()?.name().to_owned()))
        .collect();
    drop(testbed);
    for name in names {
        assert!(!Path::new("/run/netns").join(name).exists());
    }
}

/// What a shaper dropped was in no counter: "the device sent or dropped 3082 frames, but it received 3149".
#[test]
fn what_a_queueing_discipline_drops_is_counted() {
    let test = "what_a_queueing_discipline_drops_is_counted";
    let Some(mut testbed) = testbed(test) else { return };
    testbed.change_to(&small()).expect("the change works");
    let device = testbed.namespace("device").expect("there");
    let tc = "qdisc add dev port0 root tbf rate 8kbit burst 1600 limit 2000";
    let add = || std::process::Command::new("tc").args(tc.split(' ')).status();
    match device.run(add).expect("a thread") {
        Ok(status) => assert!(status.success(), "tc {tc}"),
        Err(error) => return eprintln!("SKIPPED {test}: tc: {error}"),
    }
    let counters = |testbed: &mut Testbed| testbed.counters("device", "port0").expect("counters");
    let before = counters(&mut testbed);
    let send = || {
        let socket = std::net::UdpSocket::bind("198.18.0.254:0").expect("a socket");
        let sent = |_: &u32| socket.send_to(&[0; 1000], "198.18.0.203:9").is_ok();
        (0..50).filter(sent).count()
    };
    testbed.namespace("device").expect("there").run(send).expect("a thread");
    let after = counters(&mut testbed);
    let [dropped, went] =
        [after.tx_queue_dropped - before.tx_queue_dropped, after.tx_frames - before.tx_frames];
    // One and a half fit into the burst, two into the queue.
    assert!(dropped >= 40 && dropped + went <= 50 + 4, "{before:?} {after:?}");
    assert_eq!((after.tx_dropped, after.rx_queue_dropped), (0, 0));
}

#[test]
fn a_million_routes_go_in_and_out_in_seconds() {
    let Some(mut testbed) = testbed("a_million_routes_go_in_and_out") else { return };
    let mut wanted = small();
    let many = |number: u32| {
        let network = IpAddr::V4((0x0b00_0000 + number * 16).into());
        StaticRoute { prefix: Prefix::covering(network, 28), ..route(0, 0) }
    };
    wanted.namespace("device").routes = Arc::new((0..1_000_000).map(many).collect());
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("a million routes, {what}: {seconds:.2} s");
        assert!(seconds < 60.0, "{what}");
    };
    timed("set up", &mut || testbed.change_to(&wanted).expect("the change works"));
    timed("counted", &mut || {
        assert_eq!(testbed.count_routes("device").expect("routes"), (1_000_000, 0));
    });
    timed("removed one by one", &mut || testbed.change_to(&small()).expect("the change works"));
    testbed.change_to(&wanted).expect("the change works");
    timed("removed with its namespace", &mut || {
        testbed.change_to(&Topology::default()).expect("the change works");
    });
}

#[test]
fn sysctls_that_change_others_are_reset_with_them() {
    let Some(mut testbed) = testbed("sysctls_that_change_others_are_reset") else { return };
    let with = |value: Option<&str>| {
        let mut wanted = Topology::default();
        let device = wanted.namespace("device");
        for name in ["net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6"] {
            device.sysctls.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        }
        wanted
    };
    testbed.change_to(&with(Some("1"))).expect("the change works");
    testbed.change_to(&with(None)).expect("the change works");
    let value = testbed.sysctl("device", "net.ipv6.conf.default.disable_ipv6");
    assert_eq!(value.expect("there"), "0");
}

#[test]
fn a_change_that_fails_is_taken_back() {
    let Some(mut testbed) = testbed("a_change_that_fails_is_taken_back") else { return };
    testbed.change_to(&small()).expect("the change works");
    let mut wrong = small();
    let device = wrong.namespace("device");
    device.sysctls.insert("net.ipv4.conf.all.rp_filter".to_owned(), "1".to_owned());
    let mut stray = route(9, 9);
    stray.gateway = IpAddr::from([10, 99, 99, 99]);
    device.routes = Arc::new(vec![route(0, 1), route(8, 8), stray]);
    let error = testbed.change_to(&wrong).expect_err("no such gateway can be reached");
    assert!(error.to_string().contains("198.19.9.9/32 via 10.99.99.99"), "{error}");
    assert_eq!(*testbed.present(), small());
    assert_eq!(testbed.count_routes("device").expect("routes"), (3, 0));
    assert_eq!(testbed.sysctl("device", "net.ipv4.conf.all.rp_filter").expect("there"), "0");
}

#[test]
fn wrong_sysctls_and_rules_name_themselves() {
    let Some(mut testbed) = testbed("wrong_sysctls_and_rules_name_themselves") else { return };
    let mut wrong = small();
    wrong.namespace("device").sysctls.insert("net.ipv4.nonsense".to_owned(), "1".to_owned());
    let error = testbed.change_to(&wrong).expect_err("there is no such sysctl").to_string();
    assert!(error.contains("net.ipv4.nonsense = 1 in namespace device"), "{error}");
    assert_eq!(*testbed.present(), Topology::default());
    if !has_nftables() {
        eprintln!("SKIPPED wrong_sysctls_and_rules_name_themselves, rules: nft is not installed");
        return;
    }
    let mut wrong = small();
    wrong.namespace("device").rules = Some("table inet filter { nonsense }".to_owned());
    let error = testbed.change_to(&wrong).expect_err("no rule set").to_string();
    // The line and column, not the text: rules may name files that others must not read.
    assert!(
        error.contains("the nftables rules of namespace device: line 1, column 21 of the rules: "),
        "{error}"
    );
}

/// Only a testbed that has the machine for itself looks beyond the namespace; what is read here is left alone.
#[test]
fn a_sysctl_of_the_whole_machine_is_one_of_a_testbed_that_has_it_for_itself() {
    let test = "a_sysctl_of_the_whole_machine";
    const WORD: &str = "net.core.netdev_budget";
    let Some(mut own) = testbed(test) else { return };
    own.change_to(&small()).expect("a network");
    let Some(role) = own.present().namespaces.keys().next().cloned() else { return };
    assert!(own.sysctl(&role, WORD).is_err(), "a namespace has none");
    let mut whole = Testbed::of_machine().expect("as the other one");
    whole.change_to(&small()).expect("a network");
    assert_eq!(whole.sysctl(&role, WORD).ok(), sysctl::read(WORD).ok());
    let said = |kind: std::io::ErrorKind, has_machine| {
        let (name, value) = ("net.netfilter.nf_conntrack_max".to_owned(), "300".to_owned());
        let (namespace, source) = ("device".to_owned(), kind.into());
        TopologyError::Sysctl { namespace, name, value, has_machine, source }.to_string()
    };
    let denied = std::io::ErrorKind::PermissionDenied;
    assert!(said(denied, false).contains("`sysctl -w` for all of them"));
    let guest = said(denied, true);
    assert!(guest.contains("`cmdline`") && !guest.contains("sysctl -w"), "{guest}");
}

#[test]
fn leftovers_of_a_killed_run_are_removed_and_nothing_else() {
    let Some(testbed) = testbed("leftovers_of_a_killed_run_are_removed") else { return };
    drop(testbed);
    let directory = Path::new("/run/netns");
    // A namespace in use, one whose process is gone (a file without lock), a stranger's.
    let used = NetNamespace::create("used").expect("a namespace");
    let (left, foreign) = (directory.join("fwdlab-0-0-test"), directory.join("other-test"));
    std::fs::write(&left, "").expect("writable");
    // Somebody's own, whose name begins alike.
    let alike = directory.join("fwdlab-of-mine");
    std::fs::write(&foreign, "").expect("writable");
    std::fs::write(&alike, "").expect("writable");
    let removed = remove_leftovers().expect("removable");
    assert!(!removed.contains(&used.name().to_owned()));
    assert!(!left.exists() && foreign.exists() && directory.join(used.name()).exists());
    assert!(alike.exists());
    std::fs::remove_file(&foreign).expect("removable");
    std::fs::remove_file(&alike).expect("removable");
}

/// `ip netns add` mounts the directory over itself unless it is shared already: what lay in it before
/// could then not be removed, and no later run could begin.
#[test]
fn namespaces_are_removed_although_others_made_theirs_meanwhile() {
    let Some(testbed) = testbed("namespaces_are_removed_although_others") else { return };
    drop(testbed);
    let with_own_mounts = || {
        use nix::mount::{MsFlags, mount};
        let (none, rec) = (None::<&str>, MsFlags::MS_REC);
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).expect("own mounts");
        mount(none, "/", none, MsFlags::MS_PRIVATE | rec, none).expect("private mounts");
        mount(Some("test"), "/run", Some("tmpfs"), MsFlags::empty(), none).expect("an empty /run");
        let own = NetNamespace::create("own").expect("a namespace");
        let file = Path::new("/run/netns").join(own.name());
        // As ip-netns(8) does.
        let share = || mount(none, "/run/netns", none, MsFlags::MS_SHARED | rec, none);
        if share().is_err() {
            let directory = Some("/run/netns");
            mount(directory, "/run/netns", none, MsFlags::MS_BIND | rec, none).expect("a mount");
            share().expect("a shared mount");
        }
        assert!(file.exists());
        drop(own);
        assert!(!file.exists(), "{}", file.display());
        assert_eq!(remove_leftovers().expect("removable"), Vec::<String>::new());
    };
    std::thread::scope(|scope| scope.spawn(with_own_mounts).join()).expect("no panic");
}
