use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use fwdlab_results::Error;

/// Every `NAME.toml` of tests/golden/experiment-errors is refused with the
/// text of `NAME.expected`; `BLESS=1 cargo test` writes the texts anew.
#[test]
fn every_broken_experiment_gets_its_message() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/experiment-errors");
    let mut cases: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    cases.sort();
    assert!(cases.len() > 60, "only {} cases found", cases.len());
    // the list grows; the messages stay
    let algorithms: Vec<_> =
        fwdlab_fib::Fib::<fwdlab_fib::Inet>::new(0).unwrap().algorithms().collect();
    let algorithms = algorithms.join(", ");
    let mut wrong = Vec::new();
    for case in cases {
        let text = fs::read_to_string(&case).unwrap();
        let name = Path::new(case.file_name().unwrap());
        let got = match Experiment::parse(name, &text) {
            Ok(_) => "accepted\n".to_owned(),
            Err(problems) => format!("{problems}\n").replace(&algorithms, "(the algorithms)"),
        };
        let expected = case.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if got != wanted || got == "accepted\n" {
            wrong.push(format!("{}: got\n{got}wanted\n{wanted}", name.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The experiment files shipped in examples/.
fn example(name: &str) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Experiment::read(&path).unwrap()
}

#[test]
fn the_modular_fib_experiment_is_what_the_published_reports_ran() {
    let experiment = example("modular-fib.toml");
    assert_eq!(experiment.baseline, "radix");
    assert_eq!(experiment.blocks, Blocks::Fixed(8));
    assert_eq!(experiment.margin, 0.01);
    let shapes: Vec<(&str, u64, u16)> =
        experiment.traffics.iter().map(|t| (t.name.as_str(), t.flows(), t.frame_bytes)).collect();
    assert_eq!(shapes, [("inet", 2_000, 64), ("inet6", 2_000, 66)]);
    let ports: Vec<u16> = experiment.routes.fixed.iter().map(|route| route.port).collect();
    assert_eq!(ports, [0, 1, 0, 1]);
}

#[test]
fn the_compiled_in_experiment_is_the_example() {
    let inside = Experiment::modular_fib().unwrap();
    let outside = example("modular-fib.toml");
    assert_eq!((inside.stem(), &inside.sha256), (outside.stem(), &outside.sha256));
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

/// The shortest experiment, with more top-level keys in front.
fn minimal(keys: &str, traffic: &str, routes: &str) -> Result<Experiment, Problems> {
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n{traffic}\n\
         [routes]\n{routes}\n"
    );
    Experiment::parse(Path::new("lab/minimal.toml"), &text)
}

const ROUTE: &str = "static = [\"198.19.0.0/16 via 198.19.0.2\"]";

#[test]
fn defaults_are_those_of_the_documentation() {
    let experiment = minimal("", "", ROUTE).unwrap();
    assert_eq!(experiment.device, DeviceKind::Builtin);
    assert_eq!(experiment.blocks, Blocks::Fixed(8));
    assert_eq!(experiment.margin, 0.01);
    assert_eq!(experiment.seed, None);
    assert_eq!(experiment.duration.as_millis(), 1_000);
    assert_eq!(experiment.warmup.as_millis(), 100);
    assert_eq!(experiment.interval.as_millis(), 100);
    assert_eq!(experiment.traffics[0].load, Load::Max);
    assert_eq!(experiment.traffics[0].frame_bytes, 64);
}

#[test]
fn until_decided_takes_a_cap() {
    let blocks = |keys| minimal(keys, "", ROUTE).unwrap().blocks;
    assert_eq!(blocks("blocks = \"until-decided\""), Blocks::UntilDecided { cap: 40 });
    assert_eq!(blocks("blocks = \"until-decided\"\ncap = 9"), Blocks::UntilDecided { cap: 9 });
}

#[test]
fn a_line_rate_counts_preamble_and_gap() {
    let load =
        |load: &str| minimal("", &format!("load = \"{load}\""), ROUTE).unwrap().traffics[0].load;
    assert_eq!(load("1Gbps").pps(64).unwrap().floor(), 1_488_095.0);
    assert_eq!(load("1Gbps").pps(66).unwrap().floor(), 1_453_488.0);
    assert_eq!(load("500kpps"), Load::Pps(500_000.0));
    assert_eq!(load("1.5 Mpps"), Load::Pps(1_500_000.0));
    for text in ["max", "500kpps", "1.5Mpps", "10Gbps", "100Mbps", "7pps"] {
        assert_eq!(load(text).to_string(), text);
    }
}

#[test]
fn ports_and_orders_are_read() {
    let text = |port: &str| format!("198.18.0.1-198.18.0.4:{port}");
    let range = Endpoint::parse(&text("2000-2009")).unwrap();
    assert_eq!((range.count(), range.port(), range.last_port()), (40, 2_000, 2_009));
    assert_eq!(range.to_string(), text("2000-2009"));
    let traffic = minimal("", "order = \"zipf(1.2)\"", ROUTE).unwrap().traffics.remove(0);
    assert_eq!(traffic.order, fwdlab_traffic::Order::Zipf { exponent: 1.2 });
}

#[test]
fn a_default_route_reaches_every_destination() {
    let route = minimal("", "", "static = [\"0.0.0.0/0 via 198.19.0.2\"]").unwrap().routes.fixed[0];
    assert_eq!(route.port, 1);
}

#[test]
fn a_named_port_overrides_the_side_of_the_gateway() {
    let routes = "static = [\"198.19.0.0/16 via 198.18.0.2 port 1\", \"10.0.0.0/8 via 10.0.0.1\"]";
    let ports: Vec<u16> =
        minimal("", "", routes).unwrap().routes.fixed.iter().map(|r| r.port).collect();
    assert_eq!(ports, [1, 1]);
}

#[test]
fn drops_for_want_of_a_route_can_be_wanted() {
    assert!(minimal("", "", "").is_err());
    assert!(minimal("allow = [\"no-route\"]", "", "").is_ok());
}

#[test]
fn a_file_of_routes_is_found_beside_the_experiment() {
    let experiment = minimal("", "", "file = \"view.txt\"").unwrap();
    assert_eq!(experiment.routes_file(), Some(PathBuf::from("lab/view.txt")));
    let experiment = minimal("", "", "generate = 900000").unwrap();
    assert_eq!(experiment.routes.source, Some(RouteSource::Generate(900_000)));
}

#[test]
fn a_file_that_is_no_text_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    fs::write(&path, b"title = \"\xff\"").unwrap();
    let text = Experiment::read(&path).unwrap_err().to_string();
    assert!(text.contains("x.toml") && text.contains("not UTF-8"), "{text}");
    let missing = Experiment::read(&dir.path().join("none.toml"));
    assert!(matches!(missing, Err(Error::Io { .. })));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Experiment::parse(Path::new("x.toml"), &text);
    }

    #[test]
    fn no_damage_to_an_example_makes_the_reader_panic(
        start in 0usize..1_500, length in 0usize..20, put in "[\\[\\]{}=\",.:/0-9a-z\\-\n]{0,6}",
    ) {
        let text = include_str!("../../../../examples/modular-fib.toml");
        let start = start.min(text.len());
        let end = (start + length).min(text.len());
        let damaged = format!("{}{put}{}", &text[..start], &text[end..]);
        if let Err(problems) = Experiment::parse(Path::new("x.toml"), &damaged) {
            prop_assert!(!problems.list.is_empty());
        }
    }

    #[test]
    fn endpoints_are_shown_as_they_are_read(first: u32, more in 0u32..1_000, port in 1u16..) {
        let last = first.saturating_add(more);
        let (first, last) = (std::net::Ipv4Addr::from_bits(first), std::net::Ipv4Addr::from_bits(last));
        if let Ok(endpoint) = Endpoint::parse(&format!("{first}-{last}:{port}")) {
            prop_assert_eq!(endpoint.count(), u64::from(last.to_bits() - first.to_bits()) + 1);
            prop_assert_eq!(Endpoint::parse(&endpoint.to_string()).unwrap(), endpoint);
        }
    }

    #[test]
    fn prefixes_are_shown_as_they_are_read(address: u128, length in 0u8..=128) {
        let text = format!("{}/{length}", std::net::Ipv6Addr::from_bits(address));
        let prefix = match text.parse::<Prefix>() {
            Ok(prefix) => prefix,
            Err(prefix::NotAPrefix::HostBits(meant)) => meant,
            Err(other) => panic!("{other:?}"),
        };
        prop_assert_eq!(prefix.to_string().parse::<Prefix>(), Ok(prefix));
        let (low, high) = prefix.bounds();
        prop_assert!(low <= address && address <= high);
    }
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
    let text = include_str!("../../../../examples/ndr.toml").replacen(
        "flows = 2000",
        "flows = 2000\nload = \"1Mpps\"",
        1,
    );
    let problems = Experiment::parse(Path::new("ndr.toml"), &text).unwrap_err().to_string();
    assert!(problems.contains("asks for a load of 1Mpps"), "{problems}");
    let plain = include_str!("../../../../examples/ndr.toml").replace("\"ndr\"", "\"throughput\"");
    let experiment = Experiment::parse(Path::new("ndr.toml"), &plain).unwrap();
    assert_eq!(experiment.measure, Measure::Throughput);
    let text = text.replace("measure = \"ndr\"", "measure = \"nrd\"");
    let problems = Experiment::parse(Path::new("ndr.toml"), &text).unwrap_err().to_string();
    assert!(problems.contains("there is no measure \"nrd\""), "{problems}");
}

#[test]
fn a_traffic_of_both_families_has_a_list_of_two_ranges_at_each_end() {
    let experiment = example("dual-stack.toml");
    let both = &experiment.traffics[0];
    assert_eq!((both.family, both.flows(), both.frame_bytes), (Family::Dual, 4000, 65));
    let families: Vec<_> = both.ends().map(|(from, to)| (from.family(), to.family())).collect();
    assert_eq!(families, [(Family::Inet, Family::Inet), (Family::Inet6, Family::Inet6)]);
    let text = include_str!("../../../../examples/dual-stack.toml");
    let lacking = text.replace("source = [\"198.18.10.1-198.18.10.20:2000\", ", "source = [");
    let problems = Experiment::parse(Path::new("x.toml"), &lacking).unwrap_err().to_string();
    assert!(problems.contains("IPv4, then IPv6"), "{problems}");
    let unrouted = text.replace("\"2001:2:0:8000::/49 via", "\"2001:2:1::/48 via");
    let problems = Experiment::parse(Path::new("x.toml"), &unrouted).unwrap_err().to_string();
    assert!(problems.contains("no route covers 2001:2:0:8010::1"), "{problems}");
}
