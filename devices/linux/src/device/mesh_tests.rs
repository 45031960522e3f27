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
        let (misrouted, received) =
            (measured.checks.expect("checked").misrouted, measured.received);
        assert!(misrouted > 0, "{name}");
        let share = misrouted as f64 / received as f64;
        assert!((0.08..0.18).contains(&share), "{name}: {misrouted} of {received}");
    }
}
