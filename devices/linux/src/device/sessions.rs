//! Sessions on the running kernel, with truths planted in its rules. Skipped without root, nft or
//! connection tracking.

use std::path::Path;
use std::sync::Arc;

use fwdlab_device::Request;
use fwdlab_experiment::{Experiment, Schema};
use fwdlab_results::{Benchmark, Measured, Sessions};
use fwdlab_topology::tracking;

use super::Namespaces;
use super::tests::{first_trials_of, trials_of};
use crate::LINUX;
use crate::settings::TesterKind;
use crate::setup::{RECEIVER, SENDER};
use crate::tester::Tester;
use fwdlab_xdp::Shared;

const TRAFFIC: &str = "[[traffic]]\nname = \"t\"\nkind = \"sessions\"\nlifetime = 6\n\
    source = \"198.18.10.1-198.18.10.20:2000\"\ndestination = \"198.19.10.1-198.19.10.100:2000\"\n";
const ROUTES: &str = "[routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \
    \"198.19.0.0/16 via 198.19.0.203\"]\n";

fn experiment(measures: &str, variants: &str, traffic: &str) -> String {
    format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"plain\"\nduration = \"100ms\"\n\
         warmup = \"0ms\"\ninterval = \"10ms\"\nmeasure = {measures}\n{variants}{traffic}{ROUTES}"
    )
}

fn variant(name: &str, rules: &str) -> String {
    format!("[[variant]]\nname = \"{name}\"\nset = {{ nftables = {rules:?} }}\n")
}

/// Rules that track, with others that only packets of new sessions meet.
fn tracking(more: &str) -> String {
    format!(
        "table ip f {{ chain c {{ type filter hook forward priority 0; policy accept; \
         ct state established accept; {more} }}; }}"
    )
}

fn trials(test: &str, text: &str) -> Option<Vec<(String, Measured)>> {
    if tracking::room().is_err() {
        eprintln!("SKIPPED {test}: this kernel tracks no connections");
        return None;
    }
    trials_of("linux", text, Path::new("t.toml"), test)
}

fn sessions(measured: &Measured) -> &Sessions {
    match measured.benchmark.as_ref().expect("observations") {
        Benchmark::Insertion(own) | Benchmark::Lookup(own) | Benchmark::FullTable(own) => own,
        other => panic!("{other:?}"),
    }
}

/// The least that a frame of the counted part cost: what disturbs a busy machine only adds to it.
fn least_cost(measured: &Measured) -> f64 {
    let cost = |round: &fwdlab_results::SessionRound| round.busy_ns as f64 / round.sent as f64;
    sessions(measured).rounds.iter().map(cost).fold(f64::INFINITY, f64::min)
}

/// Every frame came back, in rounds that begin with an empty table.
fn assert_whole(name: &str, measured: &Measured) {
    assert_eq!(measured.sent, Some(measured.received), "{name}: {measured:?}");
    assert_eq!(measured.device_sent, Some(measured.received), "{name}: {measured:?}");
    assert_eq!(measured.device_received, measured.sent, "{name}: {measured:?}");
    let checks = measured.checks.expect("checks");
    assert_eq!(checks.misrouted + checks.bad_ttl + checks.bad_checksum + checks.bad_mac, 0);
    assert_eq!(measured.proof["sessions in the table, emptied"], "0", "{name}");
    assert!(measured.intervals.iter().all(|interval| interval.rx > 0), "{name}");
}

#[test]
fn a_slowdown_in_insertion_is_found_there_and_not_in_lookup() {
    let test = "a_slowdown_in_insertion_is_found_there";
    // 3000 rules of which none applies: tens of microseconds, and only for what is not established.
    let slow = tracking(&"ip saddr 10.9.8.7 drop; ".repeat(3000));
    let variants = variant("plain", &tracking("")) + &variant("slow", &slow);
    let both = TRAFFIC.to_owned() + "direction = \"both\"\n";
    let text = experiment("[\"insertion\", \"lookup\"]", &variants, &both);
    let Some(list) = trials(test, &text) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
        let is_lookup = name.ends_with("lookup");
        for round in &sessions(measured).rounds {
            // The table is read: what insertion counts is inserted, what lookup counts was there.
            assert_eq!(round.emptied, 0, "{name}");
            assert_eq!((round.before, round.after), (u64::from(is_lookup) * 2000, 2000), "{name}");
            assert_eq!(round.sent, if is_lookup { 8000 } else { 2000 }, "{name}");
        }
    }
    let cost = |at: usize| least_cost(&list[at].1);
    let (insertion, lookup) = (cost(2) / cost(0), cost(3) / cost(1));
    assert!(insertion > 2.0, "the rules made insertion {insertion} times as dear");
    assert!(lookup < 1.5, "and left lookup alone: {lookup}");
}

/// Only the first frame of a session meets the rules of a nat chain.
fn new_translations_are_slow(test: &str, hook: &str, rule: &str, traffic: &str) {
    let nat = |more: &str| {
        let chain = format!("type nat hook {hook}; policy accept;");
        format!("table ip n {{ chain p {{ {chain} {more} {rule}; }}; }}")
    };
    let slow = nat(&"ip saddr 10.9.8.7 accept; ".repeat(3000));
    let variants = variant("plain", &nat("")) + &variant("slow", &slow) + &variant("none", "");
    let text = experiment("[\"insertion\", \"lookup\"]", &variants, traffic);
    let Some(list) = trials(test, &text) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
        let translated = measured.proof.get("frames with other addresses");
        let all = measured.received.to_string();
        let wanted = (!name.starts_with("none")).then_some(&all);
        assert_eq!(translated, wanted, "{name}: each frame was translated, or none");
        let is_lookup = name.ends_with("lookup");
        for round in sessions(measured).rounds.iter().filter(|_| !name.starts_with("none")) {
            assert_eq!((round.before, round.after), (u64::from(is_lookup) * 2000, 2000), "{name}");
        }
    }
    let cost = |at: usize| least_cost(&list[at].1);
    let (insertion, lookup) = (cost(2) / cost(0), cost(3) / cost(1));
    println!("{rule}: {:.0} {:.0} ns, none {:.0} {:.0} ns", cost(0), cost(1), cost(4), cost(5));
    assert!(insertion > 2.0, "the rules made insertion {insertion} times as dear");
    assert!(lookup < 1.5, "and left lookup alone: {lookup}");
    assert!(cost(0) > 1.1 * cost(1), "a translation costs more when it is made");
}

#[test]
fn a_slowdown_of_new_translations_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_translations_is_found_in_insertion";
    new_translations_are_slow(test, "postrouting priority 100", "masquerade", TRAFFIC);
}

#[test]
fn a_slowdown_of_new_sources_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_sources_is_found_in_insertion";
    new_translations_are_slow(test, "postrouting priority 100", "snat to 198.19.0.9", TRAFFIC);
}

/// All sessions go to one address, so that their sources tell them apart.
#[test]
fn a_slowdown_of_new_destinations_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_destinations_is_found_in_insertion";
    let to_one = TRAFFIC.replace(".20:2000", ".20:2000-2099").replace("-198.19.10.100", "");
    let rule = "dnat to 198.19.10.7";
    new_translations_are_slow(test, "prerouting priority -100", rule, &to_one);
}

#[test]
fn sessions_that_come_and_go_stay_in_the_table_and_those_of_no_rules_do_not() {
    let test = "sessions_that_come_and_go";
    let variants = variant("plain", "") + &variant("tracks", &tracking(""));
    let traffic = TRAFFIC.to_owned() + "concurrent = 100\nload = \"500kpps\"\n";
    let text = experiment("\"rate\"", &variants, &traffic);
    let Some(list) = trials(test, &text) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
        assert_eq!(measured.benchmark, None, "{name}");
        assert_eq!(measured.sent.map(|sent| sent % (2000 * 6)), Some(0), "{name}: whole lives");
    }
    assert_eq!(list[0].1.proof["sessions in the table, most"], "0");
    assert!(list[0].1.warnings.iter().any(|said| said.contains("tracked no session")));
    assert_eq!(list[1].1.proof["sessions in the table, most"], "2000");
}

/// Rules that let nothing pass but what goes on in a session, and a SYN that begins one.
fn strict(more: &str) -> String {
    format!(
        "table ip f {{ chain c {{ type filter hook forward priority 0; policy drop; \
         ct state invalid drop; ct state established accept; {more} \
         tcp flags & (fin | syn | rst | ack) == syn ct state new accept; }}; }}"
    )
}

#[test]
fn sessions_of_tcp_are_opened_established_and_closed() {
    let test = "sessions_of_tcp_are_opened_established_and_closed";
    let slow = strict(&"ip saddr 10.9.8.7 drop; ".repeat(3000));
    let variants = variant("plain", &strict("")) + &variant("slow", &slow);
    let tcp = TRAFFIC.to_owned() + "direction = \"both\"\nprotocol = \"tcp\"\n";
    let text = experiment("[\"insertion\", \"lookup\", \"rate\"]", &variants, &tcp);
    let Some(list) = trials(test, &text) else { return };
    assert_eq!(list.len(), 6);
    for (name, measured) in &list {
        // The rules drop whatever is out of its place: all that came through was in it.
        assert_whole(name, measured);
        let wanted = match name {
            name if name.ends_with("insertion") => "2000 SYN_SENT",
            name if name.ends_with("lookup") => "2000 ESTABLISHED",
            _ => "2000 TIME_WAIT",
        };
        let states = &measured.proof["sessions in the table, states"];
        assert!(states == wanted || states == "unknown", "{name}: {states}");
    }
    for (name, measured) in list.iter().filter(|(name, _)| !name.ends_with("rate")) {
        let is_lookup = name.ends_with("lookup");
        for round in &sessions(measured).rounds {
            assert_eq!((round.before, round.after), (u64::from(is_lookup) * 2000, 2000), "{name}");
            assert_eq!(round.sent, if is_lookup { 6000 } else { 2000 }, "{name}");
        }
    }
    let cost = |at: usize| least_cost(&list[at].1);
    let (insertion, lookup) = (cost(3) / cost(0), cost(4) / cost(1));
    println!("tcp: {:.0} {:.0} ns; slow: {insertion:.2} {lookup:.2}", cost(0), cost(1));
    assert!(insertion > 2.0, "the rules made insertion {insertion} times as dear");
    assert!(lookup < 1.5, "and left lookup alone: {lookup}");
}

#[test]
fn sessions_of_tcp_come_and_go_at_a_rate_in_ipv6_too() {
    let test = "sessions_of_tcp_come_and_go_at_a_rate_in_ipv6_too";
    let rules = strict("").replace("table ip f", "table inet f");
    let text = experiment(
        "\"rate\"",
        &(variant("plain", &rules) + &variant("other", "")),
        "[[traffic]]\nname = \"t\"\nkind = \"sessions\"\nprotocol = \"tcp\"\nlifetime = 7\n\
         direction = \"both\"\nconcurrent = 200\nframe = 82\nload = \"100kpps\"\n\
         source = \"[2001:2:0:1::10]-[2001:2:0:1::13]:2000\"\n\
         destination = \"[2001:2:0:8001::10]:2000-2499\"\n",
    );
    let routes = "[routes]\nstatic = [\"2001:2:0:1::/64 via 2001:2::203\", \
                  \"2001:2:0:8001::/64 via 2001:2:0:8000::203\"]\n";
    let Some(list) = trials(test, &text.replace(ROUTES, routes)) else { return };
    for (name, measured) in &list {
        assert_whole(name, measured);
        assert_eq!(measured.sent.map(|sent| sent % (2000 * 7)), Some(0), "{name}: whole lives");
    }
    let states = &list[0].1.proof["sessions in the table, states"];
    assert!(states == "2000 TIME_WAIT" || states == "unknown", "{states}");
    assert_eq!(list[1].1.proof["sessions in the table, states"], "none");
}

/// New sessions of which half of each 64 were dropped were "faster by 39.7 %": batches that were dropped whole cost no
/// time, and their frames counted all the same.
#[test]
fn sessions_that_are_dropped_make_none_cheaper() {
    let test = "sessions_that_are_dropped_make_none_cheaper";
    let half = tracking("ct state new numgen inc mod 64 < 32 drop;");
    let variants = variant("plain", &tracking("")) + &variant("half", &half);
    let text = experiment("\"insertion\"", &variants, TRAFFIC);
    let Some(list) = trials(test, &text) else { return };
    let [plain, half] = [&list[0].1, &list[1].1];
    assert!(half.received < half.sent.unwrap_or(0) * 6 / 10, "{half:?}");
    assert!(half.refused_share().is_some_and(|share| (share - 0.5).abs() < 0.1));
    // A batch has 16 frames, so that of half of them none came, and of the others all.
    let (plain, half) = (least_cost(plain), least_cost(half));
    assert!(half > 0.75 * plain, "{half} ns a session, {plain} without drops");
}

#[test]
fn what_a_full_table_does_with_more_sessions_is_counted() {
    let test = "what_a_full_table_does";
    let Ok(room) = tracking::room() else {
        eprintln!("SKIPPED {test}: this kernel tracks no connections");
        return;
    };
    let variants = variant("plain", &tracking("")) + &variant("other", "");
    let few = experiment("\"full-table\"", &variants, TRAFFIC);
    let devices: [&dyn Schema; 1] = [&LINUX];
    let parsed = Experiment::of_text(Path::new("t.toml"), &few, &devices).expect("right");
    let said = Namespaces::new(parsed.into(), false).err().map(|error| error.to_string());
    // Ports make the sessions that are more than the room and a tenth of it.
    let ports = (room + room / 10) / 2000 + 1;
    if ports > 300 {
        eprintln!("SKIPPED {test}: {room} sessions are too many for a test");
        return;
    }
    let wide = TRAFFIC.replace(".100:2000", &format!(".100:2000-{}", 1999 + ports));
    let said = said.expect("2000 sessions fill no table");
    assert!(said.contains("t.toml") && said.contains("do not fill a table"), "{said}");
    let more = 2000 * ports - room;
    // Both ways each that fills the table is answered; one frame of each was sent.
    for (direction, of_each) in [("one", 1), ("both", 2)] {
        let keys = format!("lifetime = 3\ndirection = \"{direction}\"");
        let text = experiment("\"full-table\"", &variants, &wide.replace("lifetime = 6", &keys));
        // Each takes seconds: the first variant says it all.
        let Some((_, full)) = first_trials_of("linux", &text, Path::new("t.toml"), test, 1)
            .and_then(|list| list.into_iter().next())
        else {
            return;
        };
        let rounds = &sessions(&full).rounds;
        let all = rounds.len() as u64 * (of_each * room + more);
        assert_eq!(full.sent, Some(all), "{direction}");
        for round in rounds {
            assert_eq!((round.emptied, round.before, round.sent), (0, room, more));
            // What came is in the table, was refused, or made room for others.
            assert_eq!(round.after + round.refused + round.evicted, room + more, "{round:?}");
            assert!(round.after <= room && round.refused + round.evicted >= more, "{round:?}");
            assert_eq!(round.received, more - round.refused, "{round:?}");
        }
    }
}

#[test]
fn what_changes_the_way_into_the_stack_is_refused_beside_sessions() {
    let devices: [&dyn Schema; 2] = [&LINUX, &crate::BUILTIN_VETH];
    let text = |word: &str| {
        let two = format!(
            "[[variant]]\nname = \"plain\"\n[[variant]]\nname = \"b\"\nset = {{ {word} }}\n"
        );
        experiment("\"lookup\"", &two, TRAFFIC)
    };
    for word in ["tester = \"live\"", "xdp = \"forward\"", "gro = \"on\"", "rps = \"2\""] {
        let said = Experiment::parse(Path::new("t.toml"), &text(word), &devices).expect_err(word);
        let said = said.to_string();
        assert!(said.contains("t.toml:12") && said.contains("sessions"), "{word}: {said}");
    }
    let parse = |text: &str| Experiment::parse(Path::new("t.toml"), text, &devices);
    let rules =
        |word: &str| text(&format!("nftables = \"table ip n {{ chain c {{ {word}; }}; }}\""));
    let both =
        |text: String| text.replace("lifetime = 6\n", "lifetime = 6\ndirection = \"both\"\n");
    for word in ["masquerade", "snat to 198.19.0.9", "dnat to 198.19.10.7"] {
        assert!(parse(&rules(word)).is_ok(), "{word}");
    }
    for (text, why) in
        [(rules("redirect"), "end at the device"), (both(rules("masquerade")), "frames back")]
    {
        let said = parse(&text).expect_err(why).to_string();
        assert!(said.contains("t.toml:12") && said.contains(why), "{said}");
    }
    let right = text("tester = \"inject\", gro = \"off\"");
    assert!(Experiment::parse(Path::new("t.toml"), &right, &devices).is_ok());
    let veth = right.replace("\"linux\"", "\"builtin-veth\"");
    let said = Experiment::parse(Path::new("t.toml"), &veth, &devices).expect_err("no sessions");
    assert!(said.to_string().contains("device = \"linux\" for it"), "{said}");
}

/// The sessions that did not fill the table of the whole machine were told, and not the word that had no effect.
#[test]
fn room_that_a_namespace_cannot_set_is_refused_before_sessions_that_do_not_fill_it() {
    let word = "set = { \"net.netfilter.nf_conntrack_max\" = 500 }\n";
    let two = variant("plain", &tracking("")) + "[[variant]]\nname = \"small\"\n" + word;
    let open = |two: &str| {
        let text = experiment("\"full-table\"", two, TRAFFIC);
        let devices: [&dyn Schema; 1] = [&LINUX];
        let parsed = Experiment::of_text(Path::new("t.toml"), &text, &devices).expect("right");
        Namespaces::new(Arc::new(parsed), false).map(drop).map_err(|why| why.to_string())
    };
    let other = variant("plain", &tracking("")) + &variant("other", "");
    let (Ok(room), Err(too_few)) = (tracking::room(), open(&other)) else {
        eprintln!("SKIPPED room_that_a_namespace_cannot_set: no table, or a small one");
        return;
    };
    if !too_few.contains(&format!("a table of {room} sessions")) {
        eprintln!("SKIPPED room_that_a_namespace_cannot_set: {too_few}");
        return;
    }
    let said = open(&two).expect_err("a namespace cannot set it");
    assert!(said.starts_with("t.toml:13: variant \"small\" cannot be set up"), "{said}");
    assert!(said.contains("can only read this sysctl"), "{said}");
}

#[test]
fn the_sender_stays_known_to_the_kernel_from_run_to_run() {
    let test = "the_sender_stays_known";
    let two = variant("plain", &tracking("")) + &variant("other", "");
    let both = TRAFFIC.to_owned() + "direction = \"both\"\n";
    let text = experiment("\"insertion\"", &two, &both);
    if tracking::room().is_err() {
        eprintln!("SKIPPED {test}: this kernel tracks no connections");
        return;
    }
    let Some(_) = first_trials_of("linux", &text, Path::new("t.toml"), test, 1) else { return };
    let devices: [&dyn Schema; 1] = [&LINUX];
    let parsed = Experiment::of_text(Path::new("t.toml"), &text, &devices).expect("right");
    let parsed = Arc::new(parsed);
    let mut linux = Namespaces::new(parsed.clone(), false).expect("as before");
    linux.set_up(&parsed.variants[0]).expect("set up");
    let (variant, traffic) = (&parsed.variants[0], &parsed.traffics[0]);
    let request = Request { experiment: &parsed, variant, traffic };
    let shared = Shared::new().expect("a map");
    let tester = Tester::new(TesterKind::Inject, &mut linux.testbed, &shared, &request);
    let tester = tester.expect("a tester");
    for role in [SENDER, RECEIVER] {
        let program = linux.testbed.xdp_program(role, "lo").expect("the kernel says");
        assert!(program.is_some(), "{role}: each run would wait for two grace periods");
    }
    drop(tester);
    assert_eq!(linux.testbed.xdp_program(SENDER, "lo").expect("the kernel says"), None);
}
