//! Trials on the running kernel. They need root, XDP and veth, and say so when they cannot run.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::device::Request;

/// One variant after the other, 200 ms each, with both families; what was measured by variant and
/// traffic. Nothing, and a line that says why, when this machine cannot.
fn trials(test: &str, variants: &str) -> Option<Vec<(String, Measured)>> {
    const TRAFFIC: &str = r#"
        [[traffic]]
        name = "inet"
        source = "198.18.10.1-198.18.10.20:2000"
        destination = "198.19.10.1-198.19.10.100:2000"
        [[traffic]]
        name = "inet6"
        source = "[2001:2:0:10::1]-[2001:2:0:10::14]:2000"
        destination = "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000-2001"
        [routes]
        static = [
            "198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203",
            "2001:2::/49 via 2001:2::203", "2001:2:0:8000::/49 via 2001:2:0:8000::203",
        ]"#;
    let head = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\n\
                duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n";
    let text = format!("{head}{variants}{TRAFFIC}");
    let experiment = Experiment::parse(Path::new("t.toml"), &text).expect("a right experiment");
    let mut linux = match Linux::new(&experiment) {
        Ok(linux) => linux,
        Err(error) => {
            eprintln!("SKIPPED {test}: {error}");
            return None;
        }
    };
    if let Err(error) = try_live_frames() {
        eprintln!("SKIPPED {test}: {error}");
        return None;
    }
    let stop = AtomicBool::new(false);
    let mut list = Vec::new();
    for variant in &experiment.variants {
        for traffic in &experiment.traffics {
            let request = Request { experiment: &experiment, variant, traffic };
            let mut watch = Watch { on_interval: &mut |_| (), stop: &stop };
            match linux.run(&request, &mut watch) {
                Ok(measured) => list.push((format!("{}-{}", variant.name, traffic.name), measured)),
                Err(error @ DeviceError::Topology(TopologyError::NftMissing { .. })) => {
                    eprintln!("SKIPPED {test}: {error}");
                    return None;
                }
                Err(error) => panic!("{}-{}: {error}", variant.name, traffic.name),
            }
        }
    }
    Some(list)
}

/// Every frame that was sent came back, right in every field that was checked.
fn assert_whole(name: &str, measured: &Measured) {
    let Measured { sent, received, device_received, device_sent, .. } = *measured;
    assert!(sent > 1_000, "{name}: {sent} frames sent");
    assert_eq!((sent, received), (device_received, device_sent), "{name}: {measured:?}");
    assert_eq!(sent, received, "{name}: {measured:?}");
    assert!(measured.drops.is_empty(), "{name}: {:?}", measured.drops);
    let checks = measured.checks;
    assert!(checks.checked >= received / 17, "{name}: {checks:?}");
    let faults = checks.misrouted + checks.bad_ttl + checks.bad_checksum + checks.bad_mac;
    assert_eq!(faults, 0, "{name}: {checks:?}");
    let flows = if name.ends_with("inet6") { 4000 } else { 2000 };
    assert_eq!(measured.flows_seen, flows, "{name}");
    assert!(measured.intervals.len() >= 9, "{name}: {:?}", measured.intervals.len());
    assert!(measured.busy_ns > 0 && measured.busy_frames > 0, "{name}");
}

#[test]
fn stack_and_xdp_forwarder_return_every_frame_with_its_fields_right() {
    let test = "stack_and_xdp_forwarder_return_every_frame";
    let variants = "[[variant]]\nname = \"one\"\n\
                    [[variant]]\nname = \"xdp\"\nset = { xdp = \"forward\" }\n";
    let Some(list) = trials(test, variants) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
    }
    assert_eq!(list[2].1.proof["xdp"], "forward");
}

#[test]
fn settings_are_read_back_and_a_later_variant_is_free_of_them() {
    let test = "settings_are_read_back";
    let variants = "[[variant]]\nname = \"one\"\n\
         set = { \"net.ipv4.conf.all.rp_filter\" = 1, routes = 1000, gro = \"on\", \
         nftables = \"table inet f { chain c { type filter hook forward priority 0; }; }\" }\n\
         [[variant]]\nname = \"plain\"\n\
         set = { \"net.ipv4.conf.all.rp_filter\" = 0, routes = 0, gro = \"off\", nftables = \"\" }\n";
    let Some(list) = trials(test, variants) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
    }
    let proof = |at: usize, word: &str| list[at].1.proof[word].clone();
    assert_eq!(proof(0, "net.ipv4.conf.all.rp_filter"), "1");
    assert_eq!(proof(0, "routes"), "1000");
    assert_eq!(proof(0, "gro"), "on");
    assert!(proof(0, "nftables ruleset").contains("hook forward"));
    assert_eq!(proof(2, "net.ipv4.conf.all.rp_filter"), "0");
    assert_eq!(proof(2, "routes in the kernel"), "2 IPv4 and 2 IPv6 routes");
    assert_eq!(proof(2, "nftables ruleset"), "");
}

#[test]
fn what_rules_drop_is_accounted_for() {
    let test = "what_rules_drop_is_accounted_for";
    let variants = "[[variant]]\nname = \"one\"\nset = { nftables = \"table inet f { chain c { \
         type filter hook forward priority 0; ip saddr 198.18.10.1 drop; \
         ip6 saddr 2001:2:0:10::1 drop; }; }\" }\n[[variant]]\nname = \"b\"\n";
    let Some(list) = trials(test, variants) else { return };
    let (_, measured) = &list[0];
    assert_eq!(measured.flows_seen, 1900);
    let dropped: u64 = measured.drops.values().sum();
    assert!(dropped > 0);
    assert_eq!(measured.sent, measured.received + dropped, "{measured:?}");
}
