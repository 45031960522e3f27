//! The kernel with more than two ports.

use std::path::Path;

use super::tests::trials_of;
use super::*;

fn text(traffic: &str, routes: &str) -> String {
    format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nduration = \"200ms\"\n\
         warmup = \"0ms\"\ninterval = \"20ms\"\n\
         [[variant]]\nname = \"one\"\n[[variant]]\nname = \"packets\"\n\
         set = {{ tester = \"af_packet\" }}\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.0-198.19.10.7:7\"\nload = \"20kpps\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
         \"198.18.0.0/16 via 198.18.0.203\"{routes}]\n"
    )
}

fn trials(test: &str, traffic: &str, routes: &str) -> Option<Vec<(String, Measured)>> {
    trials_of("linux", &text(traffic, routes), Path::new("t.toml"), test)
}

#[test]
fn the_kernel_forwards_between_four_ports_and_each_frame_comes_by_the_right_one() {
    let test = "the_kernel_forwards_between_four_ports";
    let Some(list) = trials(test, "direction = \"mesh\"", "") else { return };
    for (name, measured) in &list {
        let checks = measured.checks.expect("checked");
        assert_eq!((checks.misrouted, checks.bad_mac, checks.bad_ttl), (0, 0, 0), "{name}");
        assert_eq!(measured.queues.len(), 4, "{name}: {:?}", measured.queues);
        assert_eq!(measured.flows_seen, Some(192), "{name}");
    }
    let Some(list) = trials(test, "ports = 4\ndirection = \"both\"", "") else { return };
    for (name, measured) in &list {
        let [ahead, back] = &measured.ways[..] else { panic!("{name}: two ways") };
        assert!(ahead.received > 0 && back.received > 0, "{name}");
        assert_eq!(measured.checks.expect("checked").misrouted, 0, "{name}");
    }
}

/// After some 1000 frames were lost none was sent any more, and of frames that went both ways few the way on which
/// they were lost.
#[test]
fn losses_do_not_keep_the_tester_from_sending() {
    let test = "losses_do_not_keep_the_tester_from_sending";
    let drops = "table ip f { chain c { type filter hook forward priority 0; \
                 ip daddr 198.18.10.0/24 numgen inc mod 2 == 0 drop; }; }";
    for traffic in ["direction = \"mesh\"", "direction = \"both\""] {
        let text = text(traffic, "").replace("\"200ms\"", "\"2s\"").replace(
            "set = { tester = \"af_packet\" }",
            &format!("set = {{ nftables = '{drops}' }}"),
        );
        let Some(list) = trials_of("linux", &text, Path::new("t.toml"), test) else { return };
        let (name, measured) = &list[1];
        let lost = measured.sent.expect("counted") - measured.received;
        assert!(lost > 4000, "{traffic} {name}: {lost} lost of {:?}", measured.sent);
        let last = measured.intervals.iter().rev().take(10).filter_map(|own| own.tx).sum::<u64>();
        assert!(last > 0, "{traffic} {name}: {:?}", measured.intervals);
    }
}

#[test]
fn a_route_to_another_port_of_the_kernel_is_found() {
    let wrong = ", \"198.19.10.6/32 via 198.19.0.203\"";
    let Some(list) = trials("a_route_to_another_port", "ports = 4", wrong) else { return };
    for (name, measured) in &list {
        let (misrouted, sent) =
            (measured.checks.expect("checked").misrouted, measured.sent.expect("counted"));
        assert!(misrouted > 0, "{name}");
        let share = misrouted as f64 / sent as f64;
        assert!((0.08..0.18).contains(&share), "{name}: {misrouted} of {sent}");
        assert_eq!(sent, measured.received + misrouted, "{name}");
    }
}

/// Leads frames to two destinations back to the side of the sources, one of them by the port by which it came.
const U_TURN: &str = "table ip u { \
    chain pre { type filter hook prerouting priority -150; \
    ip daddr 198.19.10.6 meta mark set 1 ip daddr set 198.18.10.5; \
    ip daddr 198.19.10.2 meta mark set 2 ip daddr set 198.18.10.1; }; \
    chain post { type filter hook postrouting priority 150; \
    meta mark 1 ip daddr set 198.19.10.6; meta mark 2 ip daddr set 198.19.10.2; }; \
    chain onward { type filter hook forward priority 0; ip saddr 198.18.10.3 drop; }; }";

/// They were counted as misrouted and as dropped, 1024 of them at the most, and twice between more than two ports.
#[test]
fn frames_that_come_back_to_their_senders_are_counted_once_each() {
    let test = "frames_that_come_back_to_their_senders";
    let [packets, xdp] = ["tester = \"af_packet\", ", ""];
    for (traffic, tester) in [
        // By XDP live frames: "rules or program" was said of them.
        ("ports = 2", xdp),
        ("ports = 2", packets),
        ("ports = 4", packets),
        ("ports = 4", xdp),
        ("ports = 4\ndirection = \"both\"", xdp),
    ] {
        let text = text(traffic, "")
            .replace("\"20kpps\"", "\"40kpps\"")
            .replace("tester = \"af_packet\"", &format!("{tester}nftables = '{U_TURN}'"));
        // Of a busy machine a trial may have few frames.
        let mut found = None;
        for _ in 0..5 {
            let Some(list) = trials_of("linux", &text, Path::new("t.toml"), test) else { return };
            let own = list.into_iter().nth(1).expect("two variants");
            let is_enough = own.1.checks.expect("checked").misrouted > 1024;
            found = Some(own).filter(|_| is_enough);
            if is_enough {
                break;
            }
        }
        let Some((name, measured)) = &found else {
            eprintln!("SKIPPED {test}: {traffic}: this machine sends too few frames in 200 ms");
            continue;
        };
        let (sent, checks) = (measured.sent.expect("counted"), measured.checks.expect("checked"));
        // An eighth of the frames is dropped, of the others a quarter comes back; of those both ways half as many.
        let share = |count: u64| count as f64 / sent as f64;
        let is_as_ruled = (0.05..0.3).contains(&share(checks.misrouted));
        assert!(is_as_ruled && share(checks.lost) > 0.03, "{traffic} {name}: {sent} {checks:?}");
        let sum = measured.received + checks.misrouted + checks.lost;
        assert_eq!(sent, sum, "{traffic} {name}: {checks:?}");
        assert_eq!(measured.dropped(), Some(checks.lost), "{traffic}: {measured:?}");
        let [left, came] = [measured.device_sent, measured.device_received];
        assert_eq!(left, Some(measured.received + checks.misrouted), "{traffic} {name}");
        assert_eq!(came, Some(sent), "{traffic} {name}");
        for way in &measured.ways {
            let sum = way.received + way.checks.misrouted + way.checks.lost;
            assert_eq!(way.sent, sum, "{traffic}: {way:?}");
        }
        let of_ways: u64 = measured.ways.iter().map(|way| way.checks.misrouted).sum();
        assert!(measured.ways.is_empty() || of_ways == checks.misrouted, "{traffic}: {of_ways}");
    }
}

/// Leads frames to some of either side's addresses back to it: of the sources an eighth, of the destinations more.
const BOTH_TURNS: &str = "table ip u { \
    chain pre { type filter hook prerouting priority -150; \
    ip daddr 198.19.10.2-198.19.10.3 meta mark set 1 ip daddr set 198.18.10.1; \
    ip daddr 198.18.10.6 meta mark set 2 ip daddr set 198.19.10.1; }; \
    chain post { type filter hook postrouting priority 150; \
    meta mark 1 ip daddr set 198.19.10.2; meta mark 2 ip daddr set 198.18.10.6; }; }";

/// The ports of the device tell by how many more one way has, and of as many both ways nothing.
#[test]
fn frames_that_come_back_both_ways_are_counted_of_each() {
    let test = "frames_that_come_back_both_ways";
    let alike = BOTH_TURNS.replace("198.19.10.2-198.19.10.3", "198.19.10.2");
    for (rules, is_alike) in [(BOTH_TURNS, false), (&*alike, true)] {
        let text = text("direction = \"both\"", "")
            .replace("tester = \"af_packet\"", &format!("nftables = '{rules}'"));
        let Some(list) = trials_of("linux", &text, Path::new("t.toml"), test) else { return };
        let (_, measured) = &list[1];
        let [ahead, back] = &measured.ways[..] else { panic!("two ways") };
        let returned = [ahead, back].map(|way| way.checks.returned);
        assert!(returned.iter().all(|count| *count > 50), "{returned:?}");
        for way in [ahead, back] {
            assert_eq!(way.checks.returned, way.checks.astray, "{way:?}");
            assert_eq!(way.sent, way.received + way.checks.returned + way.checks.lost, "{way:?}");
        }
        let share = returned[0] as f64 / returned[1] as f64;
        let wanted = if is_alike { 0.8..1.25 } else { 1.6..2.5 };
        assert!(wanted.contains(&share), "{returned:?}");
    }
}
