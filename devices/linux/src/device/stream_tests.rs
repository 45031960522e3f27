//! Streams through the running kernel, with truths planted in its rules and offloads. Skipped without root
//! or nft.

use std::path::Path;

use fwdlab_experiment::{Experiment, Schema};
use fwdlab_results::{Benchmark, Measured, Streams};

use super::tests::trials_of;
use crate::{BUILTIN_VETH, LINUX};

const INET: &str = "[[traffic]]\nname = \"t\"\nkind = \"tcp\"\n\
    source = \"198.18.10.1-198.18.10.2:2000-2001\"\ndestination = \"198.19.10.1:5001\"\n";
const INET6: &str = "[[traffic]]\nname = \"six\"\nkind = \"tcp\"\nframe = 700\ncongestion = \"reno\"\n\
    source = \"[2001:2:0:10::1]:2000-2001\"\ndestination = \"[2001:2:0:8010::1]:5001-5002\"\n";
/// A congestion control that every kernel has, and that slows down when frames are lost; BBR does not.
const RENO: &str = "congestion = \"reno\"\n";
const ROUTES: &str = "[routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \
    \"198.19.0.0/16 via 198.19.0.203\", \"2001:2::/49 via 2001:2::203\", \
    \"2001:2:0:8000::/49 via 2001:2:0:8000::203\"]\n";

fn experiment(measure: &str, sets: &[(&str, &str)], traffic: &str) -> String {
    let variants: String =
        sets.iter().map(|(name, set)| format!("[[variant]]\nname = \"{name}\"\n{set}\n")).collect();
    format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"{}\"\nduration = \"200ms\"\n\
         warmup = \"0ms\"\ninterval = \"20ms\"\nmeasure = {measure}\n{variants}{traffic}{ROUTES}",
        sets[0].0
    )
}

fn rules(text: &str) -> String {
    let text = text.trim_end_matches([';', ' ']);
    let table = format!(
        "table inet f {{ chain c {{ type filter hook forward priority 0; policy accept; {text}; }}; }}"
    );
    format!("set = {{ nftables = {table:?} }}")
}

fn trials(test: &str, text: &str) -> Option<Vec<(String, Measured)>> {
    if !fwdlab_topology::has_nftables() {
        eprintln!("SKIPPED {test}: nft is not installed");
        return None;
    }
    trials_of("linux", text, Path::new("t.toml"), test)
}

fn streams(measured: &Measured) -> &Streams {
    match measured.benchmark.as_ref().expect("observations") {
        Benchmark::Goodput(own) | Benchmark::ByteCost(own) => own,
        other => panic!("{other:?}"),
    }
}

#[test]
fn segments_of_the_stacks_are_the_frames_of_the_device_in_both_families() {
    let test = "segments_of_the_stacks_are_the_frames";
    let sets = [("plain", "set = { gro = \"off\", tso = \"off\" }"), ("other", "")];
    let text = experiment("[\"goodput\", \"byte-cost\"]", &sets, &format!("{INET}{INET6}"));
    let Some(list) = trials(test, &text) else { return };
    assert_eq!(list.len(), 8, "two variants, two families, two measures");
    for (name, measured) in &list {
        let own = streams(measured);
        assert_eq!(own.streams.len(), 4, "{name}");
        assert!(own.streams.iter().all(|stream| stream.bytes > 0), "{name}: {own:?}");
        assert_eq!(measured.flows_seen, Some(4), "{name}");
        assert_eq!(measured.device_received, measured.sent, "{name}: {measured:?}");
        assert_eq!(measured.device_sent, Some(measured.received), "{name}: {measured:?}");
        assert_eq!(own.device_frames, measured.sent, "{name}");
        assert_eq!(measured.drops.as_ref().map(|drops| drops.len()), Some(0), "{name}");
        let payload = if name.contains("six") { 700 - 18 - 60 } else { 1518 - 18 - 40 };
        // Without options, of which there may be 12 bytes.
        assert!((payload - 12..=payload).contains(&own.segment_bytes), "{name}: {own:?}");
        let wanted = if name.contains("six") { "reno" } else { own.congestion.as_str() };
        assert_eq!(own.congestion, wanted, "{name}");
        assert!(own.goodput_bits_per_s().is_some() && own.fairness().is_some(), "{name}");
        assert_eq!(own.past.is_empty(), name.contains("goodput"), "{name}");
        let bytes: u64 = own.through.iter().map(|slice| slice.bytes).sum();
        let read: u64 = own.streams.iter().map(|stream| stream.bytes).sum();
        assert!(bytes > 0 && bytes <= read, "{name}: {bytes} of {read}");
    }
    let answered = |name: &str| list.iter().find(|(own, _)| own.contains(name)).expect("there");
    assert_eq!(answered("plain").1.proof["tso"], "off");
}

#[test]
fn frames_that_the_device_loses_are_sent_again_and_cost_goodput() {
    let test = "frames_that_the_device_loses";
    let lossy = rules("tcp dport 5001 numgen inc mod 10 == 0 drop");
    let text =
        experiment("\"goodput\"", &[("plain", ""), ("lossy", &lossy)], &format!("{INET}{RENO}"));
    let goodput = |measured: &Measured| streams(measured).goodput_bits_per_s().expect("bytes");
    // What else runs here costs the one without losses more.
    let mut left = 5;
    let list = loop {
        let Some(list) = trials(test, &text) else { return };
        left -= 1;
        if left == 0 || goodput(&list[1].1) < goodput(&list[0].1) / 2.0 {
            break list;
        }
    };
    let [(_, plain), (_, lossy)] = &list[..] else { panic!("two trials") };
    let share = |measured: &Measured| streams(measured).again_share().expect("segments");
    assert!(share(plain) < 0.01, "{}", share(plain));
    assert!((0.05..0.3).contains(&share(lossy)), "one in ten is lost: {}", share(lossy));
    assert!(goodput(lossy) < goodput(plain), "{} {}", goodput(plain), goodput(lossy));
    let lost = lossy.drops.as_ref().expect("counted")["rules or program"];
    let [sent, received] = [lossy.sent.expect("counted"), lossy.received];
    assert_eq!(sent - received, lost, "{lossy:?}");
    assert!(lost > 0 && lossy.device_received == lossy.sent, "{lossy:?}");
}

#[test]
fn one_stream_that_loses_frames_is_seen_in_the_fairness() {
    let test = "one_stream_that_loses_frames";
    let unfair =
        rules("ip saddr 198.18.10.1 tcp sport 2000 tcp dport 5001 numgen inc mod 5 == 0 drop");
    let text =
        experiment("\"goodput\"", &[("plain", ""), ("unfair", &unfair)], &format!("{INET}{RENO}"));
    let Some(list) = trials(test, &text) else { return };
    let own = streams(&list[1].1);
    let victim = own.streams[0];
    assert!(victim.again > 0, "{own:?}");
    assert!(own.streams[1..].iter().all(|other| other.bytes > victim.bytes * 2), "{own:?}");
    // Three of four that carry the same would have 0.75.
    let fairness = own.fairness().expect("bytes");
    assert!(fairness < 0.95, "{fairness}");
}

#[test]
fn rules_that_each_frame_meets_are_found_in_the_cost_of_a_byte_and_not_past_the_device() {
    let test = "rules_that_each_frame_meets";
    let slow = rules(&"udp dport 1 drop; ".repeat(1000));
    let text = experiment("\"byte-cost\"", &[("plain", ""), ("slow", &slow)], INET);
    // What else runs here may cost more than the device without rules.
    let mut left = 5;
    let (list, [device, past]) = loop {
        let Some(list) = trials(test, &text) else { return };
        let [plain, slow] = [streams(&list[0].1), streams(&list[1].1)];
        let ratio = |of: fn(&Streams) -> Option<f64>| Some(of(slow)? / of(plain)?);
        let of_both = ratio(Streams::device_ns_per_byte).zip(ratio(Streams::past_ns_per_byte));
        left -= 1;
        match of_both {
            Some((device, past)) if left == 0 || (device > 3.0 && past * 2.0 < device) => {
                break (list, [device, past]);
            }
            _ => assert!(left > 0, "five times no cost of the device: {plain:?} {slow:?}"),
        }
    };
    assert!(device > 3.0, "the rules made a byte {device} times as dear: {list:?}");
    assert!(past * 2.0 < device, "and left the way past the device alone: {past} beside {device}");
}

#[test]
fn streams_go_through_a_device_that_translates_their_addresses() {
    let test = "streams_go_through_a_device_that_translates";
    let nat = "set = { nftables = \"table ip n { chain c { type nat hook postrouting priority 100; \
               oifname port1 masquerade; }; }\" }";
    let text = experiment("[\"goodput\", \"byte-cost\"]", &[("nat", nat), ("plain", "")], INET);
    if fwdlab_topology::tracking::room().is_err() {
        eprintln!("SKIPPED {test}: this kernel tracks no connections");
        return;
    }
    let Some(list) = trials(test, &text) else { return };
    for (name, measured) in &list {
        assert!(streams(measured).streams.iter().all(|stream| stream.bytes > 0), "{name}");
        assert_eq!(measured.device_sent, Some(measured.received), "{name}: {measured:?}");
    }
}

#[test]
fn merging_changes_what_a_frame_is_and_is_read_back() {
    let test = "merging_changes_what_a_frame_is";
    let sets = [
        ("plain", "set = { gro = \"off\" }"),
        ("merged", "set = { gro = \"on\", gso = \"on\" }"),
        ("large", "set = { \"ends.tso\" = \"on\", \"ends.gso\" = \"on\" }"),
        ("again", "set = { gro = \"off\", \"ends.tso\" = \"off\" }"),
    ];
    let text = experiment("\"byte-cost\"", &sets, INET);
    let Some(list) = trials(test, &text) else { return };
    let each = |at: usize| {
        let (own, sent) = (streams(&list[at].1), list[at].1.sent.expect("counted"));
        sent as f64 / own.device_packets.expect("told") as f64
    };
    assert_eq!((each(0), each(3)), (1.0, 1.0), "neither merged nor uncut");
    assert!(each(1) > 1.5, "the device merges what it receives: {}", each(1));
    assert!(each(2) > 4.0, "senders leave large packets uncut: {}", each(2));
    let merged = &list[1].1;
    assert_eq!((merged.proof["gro"].as_str(), merged.proof["gso"].as_str()), ("on", "on"));
    assert_eq!(list[2].1.proof["ends.tso"], "on");
    assert_eq!(merged.device_received, None, "frames and segments are not the same");
}

#[test]
fn what_is_no_way_for_streams_is_said() {
    let test = "what_is_no_way_for_streams";
    let devices: [&dyn Schema; 2] = [&LINUX, &BUILTIN_VETH];
    let said = |set: &str, traffic: &str| {
        let text = experiment("\"goodput\"", &[("plain", ""), ("b", set)], traffic);
        Experiment::parse(Path::new("t.toml"), &text, &devices).expect_err(set).to_string()
    };
    for word in ["tester = \"live\"", "xdp = \"forward\"", "router = \"fwdlab\"", "rps = \"2\""] {
        let problems = said(&format!("set = {{ {word} }}"), INET);
        assert!(problems.contains("t.toml:13") && problems.contains("streams"), "{problems}");
    }
    let frames = INET.replace("kind = \"tcp\"\n", "");
    let text =
        experiment("\"rate\"", &[("plain", ""), ("b", "set = { \"ends.gro\" = \"on\" }")], &frames);
    let problems = Experiment::parse(Path::new("t.toml"), &text, &devices).expect_err("no ends");
    assert!(
        problems.to_string().contains("no traffic of this experiment has streams"),
        "{problems}"
    );
    let veth = experiment("\"goodput\"", &[("plain", ""), ("b", "")], INET)
        .replace("\"linux\"", "\"builtin-veth\"");
    let problems = Experiment::parse(Path::new("t.toml"), &veth, &devices).expect_err("no streams");
    assert!(problems.to_string().contains("device = \"linux\" for it"), "{problems}");
    // What only the kernel knows is said by the trial.
    let closed = rules("tcp dport 5001 drop");
    let text = experiment("\"goodput\"", &[("plain", &closed), ("b", "")], INET);
    let Some(error) = super::tests::error_of(&text, test) else { return };
    assert!(error.contains("0 of 4 streams came about"), "{error}");
}

/// It was once said by each of ten trials, after six seconds, without a line.
#[test]
fn a_way_of_avoiding_congestion_that_is_not_there_is_refused_at_its_line_before_all_trials() {
    let devices: [&dyn Schema; 2] = [&LINUX, &BUILTIN_VETH];
    let check = |name: &str| {
        let traffic = INET.to_owned() + &format!("congestion = \"{name}\"\n");
        let text = experiment("\"goodput\"", &[("plain", ""), ("b", "")], &traffic);
        let line = text.lines().position(|line| line.starts_with("congestion")).expect("a line");
        let read = Experiment::parse(Path::new("t.toml"), &text, &devices).expect("it can be read");
        (crate::streams::check(&read).map_err(|error| error.to_string()), line + 1)
    };
    assert_eq!(check("reno").0, Ok(()));
    let (said, line) = check("nonsense");
    let said = said.expect_err("no such way");
    assert!(said.starts_with(&format!("t.toml:{line}: congestion = \"nonsense\"")), "{said}");
    assert!(said.contains("write one of them"), "{said}");
}

#[test]
fn processors_that_are_not_there_take_no_frames_over() {
    assert!(super::names_absent(0xf, "0-1") && !super::names_absent(3, "0-1"));
    assert!(!super::names_absent(1, "0") && !super::names_absent(u64::MAX, "0-63"));
    assert!(!super::names_absent(0xf, ""));
}
