//! Trials on the running kernel. They need root, XDP and veth, and say so when they cannot run.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fwdlab_experiment::{Experiment, Schema};
use fwdlab_results::{Busy, BusyBy, Queue};
use fwdlab_topology::{Testbed, Topology, TopologyError, port_name};
use fwdlab_xdp::Shared;
use fwdlab_xdp::device::{self, Input};

use super::figures::{self, Cost, device_share, own_frames, queues, worked_on};
use super::*;
use crate::LinuxError;
use crate::counters::Change;
use crate::object::Object;
use crate::probe::try_live_frames;
use crate::settings::{LinuxSettings, Xdp};
use crate::setup::{self, DEVICE};
use crate::tester::{Sent, Tester};
use crate::{BUILTIN_VETH, LINUX};

const TRAFFIC: &str = r#"
    [[traffic]]
    name = "inet"
    source = "198.18.10.1-198.18.10.20:2000"
    destination = "198.19.10.1-198.19.10.100:2000"
    load = "max"
    [[traffic]]
    name = "inet6"
    source = "[2001:2:0:10::1]-[2001:2:0:10::14]:2000"
    destination = "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000-2001"
    load = "max"
    [routes]
    static = [
        "198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203",
        "2001:2::/49 via 2001:2::203", "2001:2:0:8000::/49 via 2001:2:0:8000::203",
    ]"#;

/// Held during trials: several at once would take each other's processors.
pub(super) static ALONE: Mutex<()> = Mutex::new(());

/// One variant after the other, 200 ms each, with both families; what was measured by variant and
/// traffic. Nothing, and a line that says why, when this machine cannot.
fn trials(test: &str, variants: &str) -> Option<Vec<(String, Measured)>> {
    trials_on("linux", "max", Path::new("t.toml"), test, variants)
}

fn trials_on(
    device: &str,
    load: &str,
    file: &Path,
    test: &str,
    variants: &str,
) -> Option<Vec<(String, Measured)>> {
    let head = format!(
        "title = \"t\"\ndevice = \"{device}\"\nbaseline = \"one\"\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n"
    );
    let traffic = TRAFFIC.replace("\"max\"", &format!("\"{load}\""));
    trials_of(device, &format!("{head}{variants}{traffic}"), file, test)
}

/// The trials of an experiment.
pub(super) fn trials_of(
    device: &str,
    text: &str,
    file: &Path,
    test: &str,
) -> Option<Vec<(String, Measured)>> {
    first_trials_of(device, text, file, test, usize::MAX)
}

/// Those of its first variants.
pub(super) fn first_trials_of(
    device: &str,
    text: &str,
    file: &Path,
    test: &str,
    variants: usize,
) -> Option<Vec<(String, Measured)>> {
    let devices: [&dyn Schema; 2] = [&LINUX, &BUILTIN_VETH];
    let experiment = Experiment::of_text(file, text, &devices).expect("a right experiment");
    trials_with(device, experiment, test, variants)
}

/// What a search says that found no load which goes through without a loss.
const CROWDED: &str = "frames are lost even at";

fn trials_with(
    device: &str,
    experiment: Experiment,
    test: &str,
    variants: usize,
) -> Option<Vec<(String, Measured)>> {
    let experiment = Arc::new(experiment);
    let mut linux = match Namespaces::new(experiment.clone(), device == BUILTIN_VETH.name()) {
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
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stop = AtomicBool::new(false);
    let mut list = Vec::new();
    for variant in experiment.variants.iter().take(variants) {
        for traffic in &experiment.traffics {
            let request = Request { experiment: &experiment, variant, traffic };
            let mut watch = Watch { on_interval: &mut |_| (), stop: &stop };
            let mut trial = || {
                linux.set_up(variant)?;
                if !experiment.warmup.is_zero() {
                    linux.warm_up(&request, &mut watch).expect("warmed up");
                }
                linux.trial(&request, &mut watch)
            };
            // While others have the processors, no load goes through without a loss.
            let is_crowded = |made: &Result<Measured, LinuxError>| {
                made.as_ref().is_err_and(|error| {
                    matches!(error, LinuxError::Crowded { .. })
                        || error.to_string().contains(CROWDED)
                })
            };
            let mut made = trial();
            for _ in 0..3 {
                if is_crowded(&made) {
                    made = trial();
                }
            }
            if let (true, Err(error)) = (is_crowded(&made), &made) {
                eprintln!("SKIPPED {test}: other programs have the processors: {error}");
                return None;
            }
            match made {
                Ok(measured) => list.push((format!("{}-{}", variant.name, traffic.name), measured)),
                Err(error @ LinuxError::Topology(TopologyError::NftMissing { .. })) => {
                    eprintln!("SKIPPED {test}: {error}");
                    return None;
                }
                Err(error) => panic!("{}-{}: {error}", variant.name, traffic.name),
            }
        }
    }
    Some(list)
}

/// A program that is made known to all processors only when it runs begins 20 ms later, and on a busy
/// machine half a second: the trial is over then.
#[test]
fn a_trial_that_is_shorter_than_the_kernel_takes_to_begin_measures_all_the_same() {
    let test = "a_trial_that_is_shorter_than_the_kernel_takes_to_begin_measures_all_the_same";
    for (load, router) in [("max", ""), ("max", "router = \"fwdlab\""), ("1kpps", "")] {
        let text = format!(
            "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nwarmup = \"0ms\"\n\
             [[variant]]\nname = \"one\"\nset = {{ {router} }}\n[[variant]]\nname = \"two\"\n{}",
            TRAFFIC.replace("\"max\"", &format!("\"{load}\""))
        );
        let read = Experiment::of_text(Path::new("t.toml"), &text, &[&LINUX]);
        let mut experiment = read.expect("a right experiment");
        // Shorter than files may ask for.
        experiment.duration = Duration::from_millis(8);
        experiment.interval = Duration::from_millis(4);
        let within = |measured: &Measured| -> u64 {
            measured.intervals.iter().filter_map(|interval| interval.tx).sum()
        };
        // Eight frames at a given rate, or the first run of frames at full rate, may come late where
        // others have the processor.
        let mut left = 5;
        let list = loop {
            let again = experiment.clone();
            let Some(list) = trials_with("linux", again, test, 1) else { return };
            left -= 1;
            if left == 0 || list.iter().all(|one| within(&one.1) > 0) {
                break list;
            }
        };
        for (name, measured) in list {
            assert!(measured.intervals.len() >= 2, "{name}: {measured:?}");
            let is_measured = within(&measured) > 0 && measured.received > 0;
            assert!(is_measured, "{name}, {load}: {measured:?}");
        }
    }
}

/// Why the first trial of an experiment cannot be made.
pub(super) fn error_of(text: &str, test: &str) -> Option<String> {
    let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&LINUX]).expect("right");
    let experiment = Arc::new(experiment);
    let mut linux = match Namespaces::new(experiment.clone(), false) {
        Ok(linux) => linux,
        Err(error) => {
            eprintln!("SKIPPED {test}: {error}");
            return None;
        }
    };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
    let request = Request { experiment: &experiment, variant, traffic };
    let stop = AtomicBool::new(false);
    let mut watch = Watch { on_interval: &mut |_| (), stop: &stop };
    linux.set_up(variant).expect("set up");
    Some(linux.trial(&request, &mut watch).expect_err("a trial that cannot be").to_string())
}

/// Every frame that was sent came back, right in every field that was checked.
fn assert_whole(name: &str, measured: &Measured) {
    let Measured { sent, received, device_received, device_sent, .. } = *measured;
    let (sent, device_received) = (sent.unwrap_or(0), device_received.unwrap_or(0));
    let device_sent = device_sent.unwrap_or(0);
    assert!(sent > 100, "{name}: {sent} frames sent");
    assert_eq!((sent, received), (device_received, device_sent), "{name}: {measured:?}");
    assert_eq!(sent, received, "{name}: {measured:?}");
    assert_eq!(measured.dropped(), Some(0), "{name}: {:?}", measured.drops);
    let checks = measured.checks.expect("checks");
    assert!(checks.checked >= received / 17, "{name}: {checks:?}");
    let faults = checks.misrouted + checks.bad_ttl + checks.bad_checksum + checks.bad_mac;
    assert_eq!(faults, 0, "{name}: {checks:?}");
    let flows = if name.ends_with("inet6") { 4000 } else { 2000 };
    assert_eq!(measured.flows_seen, Some(flows), "{name}");
    assert!(measured.intervals.len() >= 9, "{name}: {:?}", measured.intervals.len());
    // Of a trial as short as these no tick need be counted.
    let is_sampled = measured.busy_by == Some(BusyBy::Ticks);
    let has_cost = measured.busy.is_some_and(|busy| busy.ns > 0 && busy.frames > 0);
    assert!(has_cost || is_sampled, "{name}");
}

/// Of eight trials five had none of the ticks by which the cost of the others was told, and did not count.
#[test]
fn a_few_ticks_are_no_cost() {
    let of = |ticks: u64| {
        let cost = Cost::Softirq { ns: ticks * 10_000_000, frames: 6_000 };
        let sent = Sent { sent: 6_000, received: 6_000, ..Sent::default() };
        figures::measured(sent, Change::default(), &LinuxSettings::default(), cost)
    };
    assert_eq!(of(100).busy, Some(Busy { ns: 1_000_000_000, frames: 6_000 }));
    for ticks in [0, 1, 99] {
        let own = of(ticks);
        assert_eq!((own.busy, own.busy_by), (None, Some(BusyBy::Ticks)));
        let said = "fewer than 100 are no figure: make duration longer";
        assert!(own.warnings.concat().contains(said), "{:?}", own.warnings);
    }
}

/// A rule that dropped each second 512 frames made the device "faster by 88.7 %".
#[test]
fn frames_of_batches_that_are_dropped_whole_are_in_no_cost() {
    let test = "frames_of_batches_that_are_dropped_whole";
    let rule = |what: &str| {
        format!("table ip f {{ chain c {{ type filter hook forward priority 0; {what} }}; }}")
    };
    let [none, half] = ["udp dport 9 drop;", "numgen inc mod 1024 < 512 drop;"].map(rule);
    let variants = format!(
        "[[variant]]\nname = \"one\"\nset = {{ nftables = {none:?} }}\n\
         [[variant]]\nname = \"half\"\nset = {{ nftables = {half:?} }}\n"
    );
    let Some(list) = trials(test, &variants) else { return };
    for (name, measured) in list.iter().filter(|(name, _)| !name.ends_with("inet6")) {
        let (Some(busy), Some(sent)) = (measured.busy, measured.sent) else {
            panic!("{name}: {measured:?}")
        };
        let came = measured.received;
        assert!(busy.frames > 0 && busy.frames <= sent, "{name}: {busy:?} of {sent}");
        if name.starts_with("half") {
            assert!(came < sent * 6 / 10, "{name}: {came} of {sent}");
            // Beside those that came there are those of batches that were dropped in part: one in 32.
            assert!(busy.frames < came + sent / 10, "{name}: {busy:?}, {came} of {sent}");
        }
    }
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
         set = { \"net.ipv4.conf.all.rp_filter\" = 0, routes = 0, gro = \"off\", nftables = \"\" }\n\
         [[variant]]\nname = \"bare\"\n";
    let Some(list) = trials(test, variants) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
    }
    let proof = |at: usize, word: &str| list[at].1.proof[word].clone();
    // What it leaves alone is as the namespace had it before anybody set it.
    let inherited = std::fs::read_to_string("/proc/sys/net/ipv4/conf/all/rp_filter");
    let inherited = inherited.expect("readable").trim().to_owned();
    for (word, value) in [
        ("net.ipv4.conf.all.rp_filter", inherited.as_str()),
        ("routes", "2 IPv4 and 2 IPv6 routes"),
        ("gro", "off"),
        ("nftables", "none"),
    ] {
        assert_eq!(proof(4, word), value, "{word}");
    }
    assert_eq!(proof(0, "net.ipv4.conf.all.rp_filter"), "1");
    assert_eq!(proof(0, "routes"), "1000");
    assert_eq!(proof(0, "gro"), "on");
    assert!(proof(0, "nftables ruleset").contains("hook forward"));
    assert_eq!(proof(2, "net.ipv4.conf.all.rp_filter"), "0");
    assert_eq!(proof(2, "routes in the kernel"), "2 IPv4 and 2 IPv6 routes");
    assert_eq!(proof(2, "nftables ruleset"), "");
}

#[test]
fn frames_go_both_ways_and_what_is_dropped_one_way_is_that_ways_loss() {
    let test = "frames_go_both_ways";
    let head = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"xdp\"\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n";
    let drops_back = "table inet f { chain c { type filter hook forward priority 0; \
         ip daddr 198.18.10.1-198.18.10.5 drop; ip6 daddr 2001:2:0:10::1-2001:2:0:10::5 drop; }; }";
    let variants = format!(
        "[[variant]]\nname = \"xdp\"\n[[variant]]\nname = \"packet\"\n\
         set = {{ tester = \"af_packet\" }}\n[[variant]]\nname = \"drops\"\n\
         set = {{ nftables = {drops_back:?} }}\n"
    );
    let traffic = TRAFFIC.replace("load = \"max\"", "direction = \"both\"");
    let text = format!("{head}{variants}{traffic}");
    let Some(list) = trials_of("linux", &text, Path::new("t.toml"), test) else { return };
    for (name, measured) in &list {
        let [ahead, back] = &measured.ways[..] else { panic!("{name}: two ways") };
        assert!(ahead.sent > 100 && back.sent > 100, "{name}");
        assert_eq!(measured.sent, Some(ahead.sent + back.sent), "{name}");
        assert_eq!(measured.device_received, measured.sent, "{name}: {measured:?}");
        let checks = measured.checks.expect("checks");
        let faults = checks.misrouted + checks.bad_ttl + checks.bad_checksum + checks.bad_mac;
        assert_eq!(faults, 0, "{name}: {checks:?}");
        assert_eq!(ahead.checks.lost, 0, "{name}: {ahead:?}");
        let is_told = back.device_received.is_some();
        for way in measured.ways.iter().filter(|_| is_told) {
            assert_eq!(
                (way.device_received, way.device_sent),
                (Some(way.sent), Some(way.received))
            );
        }
        // 5 of 20 sources get nothing back; flows take turns.
        let lost = if name.starts_with("drops") { back.sent / 4 } else { 0 };
        assert!(back.checks.lost.abs_diff(lost) <= 4000 / 4, "{name}: {back:?}");
        assert!(lost > 0 || back.checks.lost == 0, "{name}: {back:?}");
        assert_eq!(measured.dropped(), Some(back.checks.lost), "{name}: {:?}", measured.drops);
    }
}

#[test]
fn what_stands_on_one_port_only_is_refused_beside_both_ways() {
    let text = |word: &str| {
        let variants = format!(
            "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\nset = {{ {word} }}\n"
        );
        let traffic = TRAFFIC.replace("load = \"max\"", "direction = \"both\"");
        format!("title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\n{variants}{traffic}")
    };
    let devices: [&dyn Schema; 2] = [&LINUX, &BUILTIN_VETH];
    let parse = |text: &str| Experiment::parse(Path::new("t.toml"), text, &devices);
    for word in
        ["xdp = \"forward\"", "tester = \"live\"", "threaded = \"on\"", "router = \"fwdlab\""]
    {
        let said = parse(&text(word)).expect_err(word).to_string();
        assert!(said.contains("direction") && said.contains("t.toml:8"), "{word}: {said}");
    }
    assert!(parse(&text("tester = \"af_packet\", gro = \"on\"")).is_ok());
    let veth = text("").replace("\"linux\"", "\"builtin-veth\"");
    let said = parse(&veth).expect_err("one way only").to_string();
    assert!(said.contains("cannot send frames both ways"), "{said}");
}

#[test]
fn what_rules_drop_is_accounted_for() {
    let test = "what_rules_drop_is_accounted_for";
    let variants = "[[variant]]\nname = \"one\"\nset = { nftables = \"table inet f { chain c { \
         type filter hook forward priority 0; ip saddr 198.18.10.1 drop; \
         ip6 saddr 2001:2:0:10::1 drop; }; }\" }\n[[variant]]\nname = \"b\"\n";
    let Some(list) = trials(test, variants) else { return };
    let (_, measured) = &list[0];
    assert_eq!(measured.flows_seen, Some(1900));
    let dropped = measured.dropped().expect("counted");
    assert!(dropped > 0);
    assert!(is_counted(measured.sent, Some(measured.received), dropped), "{measured:?}");
}

/// Whether what came in left or was dropped. A namespace's own packets (neighbour and group
/// membership messages) that it discards while a trial lasts are among its drops.
fn is_counted(came: Option<u64>, left: Option<u64>, dropped: u64) -> bool {
    let own = left.and_then(|left| (left + dropped).checked_sub(came?));
    own.is_some_and(|own| own <= 4)
}

/// What was sent came back or was dropped for a reason, right in every field; the counters of both
/// sides agree.
fn assert_accounted(name: &str, measured: &Measured) {
    let Measured { sent, received, device_received, device_sent, .. } = *measured;
    let dropped = measured.dropped().expect("counted");
    // On a busy machine a tester on sockets may get a few hundred through in its 200 ms.
    assert!(received > 100, "{name}: {received} frames received, {:?}", measured.drops);
    assert_eq!(sent, device_received, "{name}: {measured:?}");
    assert!(is_counted(device_received, device_sent, dropped), "{name}: {measured:?}");
    assert_eq!(device_sent, Some(received), "{name}: {measured:?}");
    let checks = measured.checks.expect("checks");
    assert!(checks.checked > 0, "{name}: {checks:?}");
    let faults = checks.misrouted + checks.bad_ttl + checks.bad_checksum + checks.bad_mac;
    assert_eq!(faults, 0, "{name}: {checks:?}");
}

#[test]
fn every_tester_measures_the_kernel_and_is_named() {
    let test = "every_tester_measures_the_kernel";
    let variant = |name: &str, tester: &str| {
        format!("[[variant]]\nname = \"{name}\"\nset = {{ tester = \"{tester}\" }}\n")
    };
    let variants = variant("one", "live") + &variant("xdp", "af_xdp");
    let variants = variants + &variant("packet", "af_packet") + &variant("plain", "naive");
    let variants = variants + &variant("stack", "inject") + &variant("auto", "auto");
    let Some(list) = trials(test, &variants) else { return };
    for (name, measured) in &list {
        assert_accounted(name, measured);
        let flows = if name.ends_with("inet6") { 4000 } else { 2000 };
        assert_eq!(measured.flows_seen, Some(flows), "{name}");
        eprintln!("{name}: {:.0} frames/s", measured.received as f64 / 0.2);
    }
    assert!(list[2].1.proof["tester used"].contains("AF_XDP"));
    assert!(list[0].1.proof["tester used"].starts_with("XDP live frames, "));
    assert_eq!(list[10].1.proof["tester used"], list[8].1.proof["tester used"]);
}

#[test]
fn frames_come_by_the_port_where_a_variant_changes_its_input() {
    let test = "frames_come_by_the_port";
    let plain = "[[variant]]\nname = \"one\"\n";
    let xdp = |more: &str| {
        format!("{plain}[[variant]]\nname = \"xdp\"\nset = {{ xdp = \"forward\"{more} }}\n")
    };
    let Some(list) = trials(test, &xdp("")) else { return };
    for (name, measured) in &list {
        assert!(measured.proof["tester used"].starts_with("XDP live frames, "), "{name}");
    }
    let text = xdp(", tester = \"inject\"");
    let text = format!("title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\n{text}{TRAFFIC}");
    let experiment = Experiment::parse(Path::new("t.toml"), &text, &[&LINUX]);
    let experiment = Arc::new(experiment.expect("a right experiment"));
    let error =
        Namespaces::new(experiment, false).expect_err("its frames would go past the program");
    let said = error.to_string();
    assert!(said.starts_with("t.toml:8: variant \"xdp\" cannot be set up"), "{said}");
    assert!(said.contains("tester = \"inject\" puts frames past"), "{said}");
}

#[test]
fn a_trial_goes_on_until_enough_of_it_was_undisturbed() {
    let test = "a_trial_goes_on";
    let variants = "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"b\"\n";
    let Some(list) = trials(test, variants) else { return };
    for (name, measured) in &list {
        let shares: Vec<Option<f64>> = measured.intervals.iter().map(|i| i.slow_share).collect();
        // Another thread may have the processor for a whole interval.
        let known: Vec<f64> = shares.iter().copied().flatten().collect();
        assert!(!known.is_empty() && known.iter().all(|s| (0.0..=1.0).contains(s)), "{shares:?}");
        let (all, slow) = (shares.len(), measured.intervals.iter().filter(|i| i.is_slow()).count());
        // 200 ms in intervals of 20 ms, at most four times as many.
        assert!(all <= 40 && (all - slow >= 10 || all == 40), "{name}: {slow} slow of {all}");
        assert!(measured.environment.device_share.is_some_and(|share| share > 0.1), "{name}");
    }
}

#[test]
fn a_paced_load_is_sent_at_its_rate_by_every_tester() {
    let test = "a_paced_load_is_sent_at_its_rate";
    let variants = "[[variant]]\nname = \"one\"\n\
                    [[variant]]\nname = \"sockets\"\nset = { tester = \"af_packet\" }\n";
    let found = trials_on("linux", "20kpps", Path::new("t.toml"), test, variants);
    for (name, measured) in found.iter().flatten() {
        assert_accounted(name, measured);
        // Less what a busy machine takes away, which may be most, and with what is sent beyond the
        // last interval.
        let ms: f64 = measured.intervals.iter().map(|interval| interval.ms).sum();
        let due = 20.0 * ms;
        let sent = measured.sent.unwrap_or(0) as f64;
        assert!((0.1 * due..=1.1 * due + 100.0).contains(&sent), "{name}: {sent} sent in {ms} ms");
        assert!(measured.proof["tester pacing"].contains("ns at most"), "{name}");
    }
}

#[test]
fn frames_of_the_devices_own_are_told_from_forwarded_ones() {
    // seen by the tester; after the tester had gone; seen before anybody counted
    assert_eq!(own_frames((Some(100), 102), 0, 100, 2), 2);
    assert_eq!(own_frames((Some(100), 101), 0, 100, 0), 1);
    assert_eq!(own_frames((Some(100), 100), 0, 100, 3), 0);
    // lost behind the device, and sent twice: neither is the device's own
    assert_eq!(own_frames((Some(100), 100), 0, 99, 0), 0);
    assert_eq!(own_frames((Some(100), 200), 0, 200, 0), 0);
    // beyond what was dropped of 100, unseen by a tester whose device began anew; or lost behind it
    assert_eq!(own_frames((Some(100), 61), 40, 60, 0), 1);
    assert_eq!(own_frames((Some(100), 60), 40, 59, 0), 0);
    // so many are no one's own
    assert_eq!(own_frames((Some(1000), 700), 400, 500, 0), 0);
    // Nobody counted what came in.
    assert_eq!(own_frames((None, 102), 0, 100, 0), 0);
}

#[test]
fn frames_moved_to_other_processors_are_accounted_for() {
    let test = "frames_moved_to_other_processors";
    let variants = "[[variant]]\nname = \"one\"\nset = { rps = \"1\" }\n\
                    [[variant]]\nname = \"threaded\"\nset = { threaded = \"on\" }\n\
                    [[variant]]\nname = \"filtered\"\n\
                    set = { \"net.ipv4.conf.all.rp_filter\" = 1, gro = \"on\" }\n";
    let Some(list) = trials(test, variants) else { return };
    for (name, measured) in &list {
        assert_accounted(name, measured);
    }
    assert_eq!(list[0].1.proof["rps"], "1");
    assert_eq!(list[2].1.proof["threaded"], "on");
    // What its threads cost is in no counter; a part of it would be called the whole.
    for (name, measured) in &list[2..4] {
        assert_eq!(measured.busy, None, "{name}");
        assert!(measured.intervals.iter().all(|interval| interval.busy.is_none()), "{name}");
        let is_said = |text: &String| text.contains("device cost: not counted");
        assert!(measured.warnings.iter().any(is_said), "{name}: {:?}", measured.warnings);
    }
    assert_eq!(list[4].1.proof["gro"], "on");
}

#[test]
fn frames_for_which_nothing_had_room_do_not_make_the_others_cheaper() {
    let sent = Sent { sent: 800_000, ..none_sent() };
    let of = |packets, xdp| {
        let change = Change { packets, ..Change::default() };
        worked_on(&sent, &change, &LinuxSettings { xdp, ..LinuxSettings::default() })
    };
    assert_eq!(of(Some(30_000), Xdp::None), 30_000);
    assert_eq!(of(Some(900_000), Xdp::None), 800_000, "others' packets beside them");
    assert_eq!(of(None, Xdp::None), 800_000);
    assert_eq!(of(Some(30), Xdp::Forward), 800_000, "a program worked on them before IP");
}

fn none_sent() -> Sent {
    Sent {
        intervals: Vec::new(),
        pinned: true,
        sent: 0,
        received: 0,
        strays: 0,
        flows_seen: 0,
        checks: fwdlab_results::Checks::default(),
        ways: Vec::new(),
        waiting_share: 0.0,
        core_share: None,
        pacing: None,
        unread: 0,
        by_pair: Vec::new(),
        tracking: None,
        latency: None,
    }
}

/// One report of a multicast listener that the tester did not see was a frame less that rules had dropped.
#[test]
fn what_a_namespace_says_of_itself_is_no_frame_that_went_through_rules() {
    let settings = LinuxSettings { xdp: Xdp::Forward, ..LinuxSettings::default() };
    let dropped = |own| {
        let change =
            Change { received: Some(100), sent: 61, own, has_reasons: true, ..Change::default() };
        let sent = Sent { sent: 100, received: 60, ..none_sent() };
        let measured = figures::measured(sent, change, &settings, Cost::Untold);
        (measured.device_sent, measured.dropped())
    };
    assert_eq!(dropped(1), (Some(60), Some(40)));
    // More than left beyond what came is none.
    assert_eq!(dropped(9), (Some(60), Some(40)));
    assert_eq!(dropped(0), (Some(61), Some(39)));
}

#[test]
fn processors_that_share_the_frames_count_them_unless_others_do_too() {
    let change = |processed: &[(u32, u64)]| Change {
        received: Some(1000),
        processed: processed.to_vec(),
        ..Change::default()
    };
    let named = |queues: Vec<Queue>| -> Vec<(String, u64)> {
        queues.into_iter().map(|queue| (queue.name, queue.frames)).collect()
    };
    let all = [(0, 5), (1, 300), (2, 702), (70, 1)];
    assert_eq!(
        named(queues(&change(&all), 6).expect("they agree")),
        [("cpu1".into(), 300), ("cpu2".into(), 702)]
    );
    // Frames of others, and frames that others took.
    assert!(queues(&change(&[(1, 300), (2, 900)]), 6).is_err());
    // A backlog had no room for half of them: no processor took those.
    let full =
        Change { drops: [("port0.rx_dropped".to_owned(), 500)].into(), ..change(&[(1, 500)]) };
    assert_eq!(named(queues(&full, 6).expect("they agree")), [("cpu1".to_owned(), 500)]);
    assert!(queues(&change(&[(0, 700), (1, 300)]), 2).is_err());
}

#[test]
fn one_flow_goes_to_one_of_two_processors_and_that_is_found() {
    let test = "one_flow_goes_to_one_of_two_processors";
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED {test}: needs two processors");
        return;
    }
    let head = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n";
    let variants = "[[variant]]\nname = \"one\"\nset = { rps = \"3\" }\n\
                    [[variant]]\nname = \"two\"\nset = { rps = \"0\" }\n";
    let traffic = "[[traffic]]\nname = \"many\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\nload = \"20kpps\"\n\
         [[traffic]]\nname = \"single\"\nsource = \"198.18.10.1:2000\"\n\
         destination = \"198.19.10.1:2000\"\nload = \"20kpps\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n";
    let text = format!("{head}{variants}{traffic}");
    let Some(list) = trials_of("linux", &text, Path::new("t.toml"), test) else { return };
    assert!(list[2].1.queues.is_empty() && list[3].1.queues.is_empty(), "nothing is shared");
    for (name, measured) in &list[..2] {
        if measured.queues.is_empty() {
            eprintln!(
                "SKIPPED {test}: {name}: other frames on this machine are among those counted"
            );
            continue;
        }
        let found = Queue::warning(&measured.queues).is_some();
        assert_eq!(found, name.ends_with("single"), "{name}: {:?}", measured.queues);
    }
}

#[test]
fn the_routers_ports_are_af_xdp_or_packet_sockets() {
    let test = "the_routers_ports_are_af_xdp_or_packet_sockets";
    let variants = "[[variant]]\nname = \"one\"\nset = { ports = \"af_xdp\" }\n\
                    [[variant]]\nname = \"packet\"\nset = { ports = \"af_packet\" }\n";
    let found = trials_on("builtin-veth", "20kpps", Path::new("t.toml"), test, variants);
    for (name, measured) in found.iter().flatten() {
        assert_accounted(name, measured);
        assert!(measured.busy.is_some_and(|busy| busy.ns > 0), "{name}");
    }
    let found = trials_on("builtin-veth", "max", Path::new("t.toml"), test, variants);
    for (name, measured) in found.iter().flatten() {
        assert_accounted(name, measured);
        eprintln!("{name}: {:.0} frames/s", measured.received as f64 / 0.2);
    }
}

#[test]
fn an_object_file_forwards_in_the_kernels_place() {
    let test = "an_object_file_forwards";
    if cfg!(not(feature = "xdp-object")) {
        eprintln!("SKIPPED {test}: left out of this build (--features xdp-object)");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/xdp-static.c");
    let headers = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let compiled = std::process::Command::new("clang")
        .args(["-O2", "-g", "-target", "bpf", &headers, "-c"])
        .arg(&source)
        .arg("-o")
        .arg(dir.path().join("own.o"))
        .status();
    match compiled {
        Ok(status) => assert!(status.success(), "clang refuses {}", source.display()),
        Err(error) => return eprintln!("SKIPPED {test}: no clang: {error}"),
    }
    std::fs::write(dir.path().join("broken.o"), "no object").expect("written");
    let file = dir.path().join("t.toml");
    let variants = "[[variant]]\nname = \"one\"\nset = { xdp = \"own.o\" }\n\
                    [[variant]]\nname = \"stack\"\nset = { xdp = \"none\" }\n";
    let Some(list) = trials_on("linux", "max", &file, test, variants) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
    }
    assert_eq!(list[0].1.proof["xdp program"], "forward");
    let mut testbed = Testbed::new().expect("possible a moment ago");
    let mut wanted = Topology::default();
    wanted.namespace(DEVICE);
    testbed.change_to(&wanted).expect("possible a moment ago");
    let error = Object::load(&mut testbed, &dir.path().join("missing.o")).expect_err("not there");
    assert!(error.to_string().contains("missing.o"), "{error}");
}

#[test]
fn frames_of_a_warm_up_are_in_no_count() {
    let head = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nduration = \"100ms\"\n\
                warmup = \"300ms\"\ninterval = \"20ms\"\n[[variant]]\nname = \"one\"\n\
                [[variant]]\nname = \"two\"\nset = { \"tester\" = \"af_packet\" }\n";
    let text = head.to_owned()
        + "[[traffic]]\nname = \"inet\"\nload = \"10kpps\"\nsource = \"198.18.10.1:7\"\n\
           destination = \"198.19.10.1-198.19.10.9:7\"\n\
           [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n";
    let Some(trials) = trials_of("linux", &text, Path::new("t.toml"), "a warm-up") else { return };
    for (name, measured) in trials {
        // A trial that others disturb goes on for four times its length.
        assert!(measured.intervals.len() <= 21, "{name}: {} of 5", measured.intervals.len());
        let ms: f64 = measured.intervals.iter().map(|interval| interval.ms).sum();
        // The last interval is cut off, and paced frames that are late come in a burst.
        let most = ms * 10.0 + 1_500.0;
        assert!(measured.sent.is_some_and(|sent| sent as f64 <= most), "{name}: {measured:?}");
        let device = measured.device_received;
        assert_eq!(device, measured.sent, "{name}: the ledger adds up");
    }
}

/// A measurement, not a test: `cargo test -p fwdlab-linux --lib rates_of_testers -- --ignored
/// --nocapture`, on a machine that does nothing else.
#[test]
#[ignore = "a measurement of some seconds"]
fn rates_of_testers_on_veth_with_frames_dropped_at_the_devices_input() {
    const TEXT: &str = r#"
        title = "t"
        device = "linux"
        baseline = "one"
        duration = "1s"
        warmup = "0ms"
        [[variant]]
        name = "one"
        [[variant]]
        name = "two"
        [[traffic]]
        name = "inet"
        source = "198.18.10.1-198.18.10.20:2000"
        destination = "198.19.10.1-198.19.10.100:2000"
        [routes]
        static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]"#;
    let experiment = Experiment::parse(Path::new("t.toml"), TEXT, &[&LINUX]);
    let experiment = Arc::new(experiment.expect("a right experiment"));
    let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
    let request = Request { experiment: &experiment, variant, traffic };
    let mut linux = Namespaces::new(experiment.clone(), false).expect("root");
    let stop = AtomicBool::new(false);
    // Frames that are put into the stack do not come by the port.
    for kind in TesterKind::ALL.into_iter().filter(|kind| *kind != TesterKind::Inject) {
        let settings = LinuxSettings { tester: Some(kind), ..LinuxSettings::of(variant) };
        let wanted = setup::topology(&experiment, variant, &settings, &mut linux.tables);
        linux.testbed.change_to(&wanted.expect("a topology")).expect("possible");
        linux.tuning.change_to(&mut linux.testbed, &settings, false).expect("possible");
        let shared = Shared::new().expect("a map");
        let tester = Tester::new(kind, &mut linux.testbed, &shared, &request).expect("a tester");
        let port = linux.testbed.interface_index(DEVICE, &port_name(0)).expect("there");
        let program = device::load(&shared, Input::Drop).expect("loaded");
        let _link = tester::attach(&linux.testbed, DEVICE, port, &program).expect("attached");
        let mut watch = Watch { on_interval: &mut |_| (), stop: &stop };
        let sent = tester
            .run(&linux.testbed, &request, linux.core, &mut linux.pulses, &mut watch)
            .expect("sent");
        let ms: f64 = sent.intervals.iter().map(|interval| interval.ms).sum();
        eprintln!("{}: {:.3} Mframes/s", kind.name(), sent.sent as f64 / ms / 1e3);
    }
}

/// What is asked for is no proof: in these experiments another answer than the request is right.
#[test]
fn router_tester_and_ports_are_read_back_from_what_runs() {
    let test = "router_tester_and_ports_are_read_back_from_what_runs";
    let variants = r#"
        [[variant]]
        name = "one"
        set = { router = "kernel", tester = "auto", ports = "auto", "net.route.algo.inet.algo" = "auto" }
        [[variant]]
        name = "two"
        set = { ports = "af_packet", "net.route.algo.inet.algo" = "radix4" }"#;
    let file = Path::new("t.toml");
    let Some(list) = trials_on("builtin-veth", "max", file, test, variants) else { return };
    let proof = |at: usize, word: &str| list[at].1.proof.get(word).map(String::as_str);
    // The embedded router forwards on this device, whatever the file says.
    assert_eq!(proof(0, "router"), Some("fwdlab"));
    assert_eq!(proof(0, "tester"), Some("live"));
    assert!(matches!(proof(0, "ports"), Some("af_xdp" | "af_packet")), "{:?}", proof(0, "ports"));
    let algorithm = proof(0, "net.route.algo.inet.algo");
    assert!(algorithm.is_some_and(|answer| answer != "auto" && !answer.is_empty()));
    assert_eq!(proof(2, "ports"), Some("af_packet"));
    assert_eq!(proof(2, "net.route.algo.inet.algo"), Some("radix4"));
    assert_eq!(proof(2, "router"), Some("fwdlab"), "the other variant names it");

    let variants = r#"
        [[variant]]
        name = "one"
        set = { router = "kernel", tester = "auto", xdp = "none" }
        [[variant]]
        name = "two"
        set = { tester = "af_packet", xdp = "forward" }"#;
    let Some(list) = trials(test, variants) else { return };
    let proof = |at: usize, word: &str| list[at].1.proof.get(word).map(String::as_str);
    assert_eq!(proof(0, "router"), Some("kernel"));
    assert!(matches!(proof(0, "tester"), Some("inject" | "live")), "{:?}", proof(0, "tester"));
    assert_eq!((proof(0, "xdp"), proof(2, "xdp")), (Some("none"), Some("forward")));
    assert_eq!(proof(2, "tester"), Some("af_packet"));
    assert_eq!(proof(2, "router"), Some("kernel"), "the other variant names it");
}

/// The kernel and the router forward the frames of a capture whole, by either kind of sockets.
#[test]
fn a_recorded_mix_comes_back_whole() {
    let test = "a_recorded_mix_comes_back_whole";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/t.toml");
    for device in ["linux", "builtin-veth"] {
        let text = format!(
            r#"
            title = "t"
            device = "{device}"
            baseline = "one"
            duration = "200ms"
            warmup = "0ms"
            interval = "20ms"
            [[variant]]
            name = "one"
            [[variant]]
            name = "two"
            set = {{ tester = "af_packet" }}
            [[traffic]]
            name = "mix"
            capture = "capture.pcap"
            source = "198.18.10.1-198.18.10.40"
            destination = "198.19.10.1-198.19.10.40"
            load = "20kpps"
            [routes]
            static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]"#
        );
        let Some(list) = trials_of(device, &text, &file, test) else { return };
        for (name, measured) in &list {
            let name = format!("{device} {name}");
            assert!(measured.sent.is_some_and(|sent| sent > 100), "{name}: {measured:?}");
            assert_eq!(measured.sent, Some(measured.received), "{name}: {measured:?}");
            let checks = measured.checks.expect("checks");
            let faults = checks.lost + checks.duplicated + checks.reordered + checks.misrouted;
            let spoilt = checks.bad_ttl + checks.bad_checksum + checks.bad_mac;
            assert_eq!((faults, spoilt), (0, 0), "{name}: {checks:?}");
            assert!(measured.flows_seen.is_some_and(|flows| flows > 30), "{name}");
        }
    }
}

#[test]
fn a_capture_and_a_tester_without_room_for_it_are_told_apart() {
    let text = r#"
        title = "t"
        device = "linux"
        baseline = "one"
        [[variant]]
        name = "one"
        [[variant]]
        name = "two"
        set = { tester = "live" }
        [[traffic]]
        name = "mix"
        capture = "capture.pcap"
        source = "198.18.10.1"
        destination = "198.19.10.1"
        [routes]
        static = ["198.19.0.0/16 via 198.19.0.203"]"#;
    let problems = Experiment::parse(Path::new("t.toml"), text, &[&LINUX]).unwrap_err();
    let shown = problems.to_string();
    assert!(shown.contains("no room for the frames of a capture"), "{shown}");
    assert!(shown.contains("variant[2].set.tester") || shown.contains("tester"), "{shown}");
}

#[test]
fn the_tester_is_not_blamed_for_stolen_time() {
    // The device works 60 ms of 100, the tester 10; 30 were stolen from both.
    let share = device_share(60_000_000, 100e6, Some(0.7)).expect("a share");
    assert!((share - 6.0 / 7.0).abs() < 1e-12);
    assert_eq!(device_share(60_000_000, 100e6, None), Some(0.6));
    assert_eq!(device_share(60_000_000, 100e6, Some(0.5)), Some(1.0), "clocks differ a little");
    assert_eq!(device_share(60, 0.0, Some(1.0)), None);
}
