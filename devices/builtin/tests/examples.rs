//! The shipped experiments of the built-in device, and what its profiles show.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fwdlab_builtin::Builtin;
use fwdlab_device::{Kind, Place, Request, Watch};
use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_results::{Checks, Family, Measure};
use fwdlab_router::EXTRA_NS_PER_FRAME;

/// The experiment files shipped in examples/.
fn example(name: &str) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Experiment::read(&path, &[&Builtin]).unwrap()
}

#[test]
fn the_modular_fib_experiment_is_what_the_published_reports_ran() {
    let experiment = example("modular-fib.toml");
    assert_eq!(experiment.baseline, "radix");
    assert_eq!(experiment.blocks, Blocks::Fixed(8));
    assert_eq!(experiment.margin, 0.01);
    let names: Vec<&str> = experiment.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["radix", "modular", "fwdlab"]);
    // FreeBSD looks up one packet at a time, before D27401 and with it.
    let batches = |variant: &fwdlab_experiment::Variant| {
        variant.set.get("fwdlab.device.batch_lookups").map(ToString::to_string)
    };
    let batches: Vec<_> = experiment.variants.iter().map(batches).collect();
    assert_eq!(batches, [Some("0".into()), Some("0".into()), None]);
    let shapes: Vec<(&str, u64, u16)> =
        experiment.traffics.iter().map(|t| (t.name.as_str(), t.flows(), t.frame_bytes)).collect();
    assert_eq!(shapes, [("inet", 2_000, 64), ("inet6", 2_000, 66)]);
    let ports: Vec<u16> = experiment.routes.fixed.iter().map(|route| route.port).collect();
    assert_eq!(ports, [0, 1, 0, 1]);
}

#[test]
fn the_a_a_experiment_sets_both_variants_alike() {
    let experiment = example("a-a.toml");
    assert_eq!(experiment.variants[0].set, experiment.variants[1].set);
}

#[test]
fn the_injected_slowdowns_differ_by_their_knob_only() {
    let experiment = example("injected-slowdown.toml");
    let mut sets: Vec<_> = experiment.variants.iter().map(|variant| variant.set.clone()).collect();
    let knobs: Vec<_> = sets.iter_mut().filter_map(|set| set.remove(EXTRA_NS_PER_FRAME)).collect();
    assert_eq!(knobs.len(), experiment.variants.len());
    assert!(sets.iter().all(|set| *set == sets[0]));
}

#[test]
fn rates_latency_and_mixes_are_read_from_the_shipped_examples() {
    let experiment = example("ndr.toml");
    assert_eq!((experiment.measure, experiment.latency), (Measure::Ndr, false));
    let experiment = example("latency.toml");
    assert_eq!((experiment.measure, experiment.latency), (Measure::Ndr, true));
    let experiment = example("frame-sizes.toml");
    let lengths: Vec<u16> = experiment.traffics.iter().map(|t| t.frame_bytes).collect();
    // (7 x 64 + 4 x 594 + 1518) / 12
    assert_eq!(lengths, [64, 128, 256, 512, 1024, 1280, 1518, 362]);
    assert_eq!(experiment.traffics[7].sizes, "imix".parse().unwrap());
}

#[test]
fn a_rate_that_is_searched_for_cannot_be_asked_for() {
    let text = include_str!("../../../examples/ndr.toml").replacen(
        "flows = 2000",
        "flows = 2000\nload = \"1Mpps\"",
        1,
    );
    let problems =
        Experiment::parse(Path::new("ndr.toml"), &text, &[&Builtin]).unwrap_err().to_string();
    assert!(problems.contains("asks for a load of 1Mpps"), "{problems}");
    let plain = include_str!("../../../examples/ndr.toml").replace("\"ndr\"", "\"throughput\"");
    let experiment = Experiment::parse(Path::new("ndr.toml"), &plain, &[&Builtin]).unwrap();
    assert_eq!(experiment.measure, Measure::Throughput);
    let text = text.replace("measure = \"ndr\"", "measure = \"nrd\"");
    let problems =
        Experiment::parse(Path::new("ndr.toml"), &text, &[&Builtin]).unwrap_err().to_string();
    assert!(problems.contains("there is no measure \"nrd\""), "{problems}");
}

#[test]
fn a_traffic_of_both_families_has_a_list_of_two_ranges_at_each_end() {
    let experiment = example("dual-stack.toml");
    let both = &experiment.traffics[0];
    assert_eq!((both.family, both.flows(), both.frame_bytes), (Family::Dual, 4000, 65));
    let families: Vec<_> = both.ends().map(|(from, to)| (from.family(), to.family())).collect();
    assert_eq!(families, [(Family::Inet, Family::Inet), (Family::Inet6, Family::Inet6)]);
    let text = include_str!("../../../examples/dual-stack.toml");
    let lacking = text.replace("source = [\"198.18.10.1-198.18.10.20:2000\", ", "source = [");
    let problems =
        Experiment::parse(Path::new("x.toml"), &lacking, &[&Builtin]).unwrap_err().to_string();
    assert!(problems.contains("IPv4, then IPv6"), "{problems}");
    let unrouted = text.replace("\"2001:2:0:8000::/49 via", "\"2001:2:1::/48 via");
    let problems =
        Experiment::parse(Path::new("x.toml"), &unrouted, &[&Builtin]).unwrap_err().to_string();
    assert!(problems.contains("no route covers 2001:2:0:8010::1"), "{problems}");
}

#[test]
fn the_full_view_experiment_has_many_routes_under_its_traffic() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/modular-fib-fullview.toml");
    let experiment = fwdlab_experiment::Experiment::read(&path, &[&Builtin]).unwrap();
    assert!(experiment.routes.fixed.len() > 895_000);
    let (first, last) = experiment.traffics[0].destination.bounds();
    let within = |route: &&fwdlab_experiment::Route| {
        let (low, high) = route.prefix.bounds();
        first <= low && high <= last
    };
    let count = experiment.routes.fixed.iter().filter(within).count();
    assert!(count > 5_000, "{count}");
}

#[test]
fn built_in_device_profiles_itself_without_privileges() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED built_in_device_profiles_itself_without_privileges: needs two cores");
        return;
    }
    if cfg!(not(feature = "sampler")) {
        eprintln!(
            "SKIPPED built_in_device_profiles_itself_without_privileges: the sampler was left out of \
             this build (--features sampler)"
        );
        return;
    }
    let experiment = Arc::new(Experiment {
        duration: std::time::Duration::from_millis(200),
        ..example("modular-fib.toml")
    });
    let mut device = Builtin.open(&experiment, &Place::default()).unwrap();
    let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
    let request = Request { experiment: &experiment, variant, traffic };
    let mut watch = Watch { on_interval: &mut |_| {}, stop: &AtomicBool::new(false) };
    device.apply(variant, &mut watch).unwrap();
    let profiled = device.profile(&request, 997, &mut watch).unwrap();
    assert!(profiled.stacks.values().sum::<u64>() > 20, "{:?}", profiled.stacks);
    let names = profiled.stacks.keys().filter(|s| s.contains("poll")).count();
    assert!(2 * names > profiled.stacks.len(), "{:?}", profiled.stacks);
}

#[test]
fn a_recorded_mix_goes_through_the_device_without_a_fault() {
    let mut experiment = example("capture.toml");
    let [both, inet] = &experiment.traffics[..] else { panic!("two traffics") };
    assert_eq!((both.family, inet.family), (Family::Dual, Family::Inet));
    assert!(both.flows() > inet.flows() && inet.flows() > 30, "{} {}", both.flows(), inet.flows());
    experiment.duration = std::time::Duration::from_millis(300);
    for load in ["max", "200kpps", "recorded"] {
        experiment.traffics[0].load = load.parse().unwrap();
        let experiment = Arc::new(experiment.clone());
        let mut device = Builtin.open(&experiment, &Place::default()).unwrap();
        let stop = AtomicBool::new(false);
        let mut watch = Watch { on_interval: &mut |_| {}, stop: &stop };
        let variant = &experiment.variants[1];
        device.apply(variant, &mut watch).unwrap();
        let traffic = &experiment.traffics[0];
        let request = Request { experiment: &experiment, variant, traffic };
        let measured = device.measure(&request, &mut watch).unwrap();
        let checks = measured.checks.unwrap();
        assert!(checks.checked > 0);
        assert_eq!(checks, Checks { checked: checks.checked, ..Checks::default() }, "{load}");
        assert!(measured.sent.is_some_and(|sent| sent > 0));
        assert_eq!(measured.sent, Some(measured.received), "{load}: {:?}", measured.drops);
        let flows = measured.flows_seen;
        assert!(flows.is_none_or(|seen| seen > 0 && seen <= traffic.flows()), "{flows:?}");
        if load == "max" {
            assert_eq!(flows, Some(traffic.flows()));
        }
    }
}
