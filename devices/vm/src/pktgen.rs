//! What the kernel's generator can send (Documentation/networking/pktgen.rst and
//! net/core/pktgen.c of Linux): an experiment that asks for more is refused, so that every report
//! says what was sent.

use crate::settings::VmMachine;
use fwdlab_agent::task::GuestTester;
use fwdlab_agent::{Refusal, pktgen_sends};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{Traffic, TrafficPlace};
use fwdlab_results::Family;
use fwdlab_traffic::FlowSet;

/// Refuses traffic that pktgen cannot send, if it is the tester.
pub(super) fn abilities(
    machine: &VmMachine,
    placed: &[(Traffic, TrafficPlace)],
    complaints: &mut Complaints<'_>,
) {
    if machine.tester != GuestTester::Pktgen {
        return;
    }
    for (traffic, place) in placed {
        if let (Family::Inet6, Some((at, field))) = (traffic.family, place.key("order")) {
            let complaint = Complaint::new(
                "pktgen draws the destination of each IPv6 frame, whatever the order",
                "no order beside tester = \"pktgen\" and IPv6",
                "remove order, or write tester = \"fwdlab\"",
            );
            complaints.add(at, field, complaint);
        }
        if let (true, Some((at, field))) = (traffic.capture.is_some(), place.key("capture")) {
            let complaint = Complaint::new(
                "pktgen makes its own frames",
                "no capture beside tester = \"pktgen\"",
                "remove capture, or write tester = \"fwdlab\"",
            );
            complaints.add(at, field, complaint);
            continue;
        }
        if let Err((key, (found, wanted))) = sendable(traffic) {
            let remedy = "change the traffic, or write tester = \"fwdlab\"";
            let complaint = Complaint::new(
                format!("pktgen cannot send traffic {:?}: {found}", traffic.name),
                wanted,
                remedy,
            );
            let (at, field) = place.key_or_ends(key);
            complaints.add(at, field, complaint);
        }
    }
}

/// What cannot be sent of a traffic, with the key that asks for it.
fn sendable(traffic: &Traffic) -> Result<(), (&'static str, Refusal)> {
    if traffic.sessions.is_some() {
        return Err(("kind", ("it is of sessions".to_owned(), "frames that go on and on")));
    }
    if traffic.direction.is_both() {
        let found = "its frames go both ways".to_owned();
        return Err(("direction", (found, "frames to the destinations")));
    }
    if traffic.ports > 2 {
        return Err(("ports", (format!("it has {} ports", traffic.ports), "two ports")));
    }
    if traffic.family == Family::Inet && traffic.order.to_string() != "sequential" {
        return Err((
            "order",
            (format!("its order is {}", traffic.order), "order = \"sequential\""),
        ));
    }
    // That only the built-in device mixes families is said for all others.
    let ends = [traffic.source, traffic.destination].map(|end| end.to_string());
    let flows = FlowSet::parse(&ends[0], &ends[1]);
    let sends = flows.map_or(Ok(()), |flows| pktgen_sends(&flows, traffic.frame_bytes));
    sends.map_err(|refusal| {
        let is_of = |word: &str| refusal.1.contains(word);
        let key = if is_of("bytes") {
            "frame"
        } else if is_of("one source") {
            "source"
        } else {
            "destination"
        };
        (key, refusal)
    })
}

#[cfg(test)]
mod tests {
    use fwdlab_experiment::Experiment;

    use crate::Vm;

    fn read(tester: &str, traffic: &str) -> Result<Experiment, String> {
        let text = format!(
            "title = \"t\"\ndevice = \"vm\"\nbaseline = \"a\"\n\
             [vm]\nkernel = \"k\"\ntester = \"{tester}\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
             [[traffic]]\nname = \"t\"\n{traffic}\n\
             [routes]\nstatic = [\"198.18.0.0/15 via 198.19.0.2\", \"2001:2:0:8000::/49 via 2001:2:0:8000::2\"]\n"
        );
        let path = std::path::Path::new("x.toml");
        Experiment::parse(path, &text, &[&Vm]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn the_flows_of_published_ipv4_results_can_be_sent() {
        let published = "source = \"198.18.10.1-198.18.10.20:2000\"\n\
                         destination = \"198.19.10.1-198.19.10.100:2000\"";
        let experiment = read("pktgen", published).expect("a good experiment");
        assert_eq!(experiment.traffics[0].flows(), 2000);
        let refused = read("pktgen", &format!("{published}\norder = \"random\""));
        assert!(refused.expect_err("refused").contains("order is random"));
    }

    /// Whatever was wrong, the line of the destinations was named.
    #[test]
    fn what_pktgen_cannot_send_is_refused_where_it_stands() {
        let ends =
            "source = \"198.18.10.1-198.18.10.4:7\"\ndestination = \"198.19.10.1-198.19.10.4:7\"";
        for (keys, place) in [
            ("ports = 4", "x.toml:15:9: traffic[1].ports: pktgen cannot send"),
            ("direction = \"both\"", "x.toml:15:13: traffic[1].direction: pktgen cannot send"),
            ("kind = \"sessions\"", "x.toml:15:8: traffic[1].kind: pktgen cannot send"),
            ("order = \"random\"", "x.toml:15:9: traffic[1].order: pktgen cannot send"),
        ] {
            let said = read("pktgen", &format!("{ends}\n{keys}")).expect_err("refused");
            assert!(said.contains(place), "{keys}: {said}");
        }
    }

    #[test]
    fn a_capture_needs_our_own_tester() {
        let capture =
            "capture = \"x.pcap\"\nsource = \"198.18.10.1\"\ndestination = \"198.19.10.1\"";
        let refused = read("pktgen", capture).expect_err("refused");
        assert!(refused.starts_with("x.toml:13:11: traffic[1].capture: pktgen makes"), "{refused}");
        read("fwdlab", capture).expect("our own tester can");
    }

    #[test]
    fn ipv6_needs_one_source_a_block_and_room() {
        let traffic = |source: &str, last: &str, frame: u16| {
            format!(
                "source = \"[2001:2:0:10::1]{source}:2000\"\n\
                 destination = \"[2001:2:0:8010::40]-[2001:2:0:8010::{last}]:2000\"\n\
                 frame = {frame}"
            )
        };
        read("pktgen", &traffic("", "7f", 82)).expect("a block of 64");
        let refusal = |traffic: String| read("pktgen", &traffic).expect_err("refused");
        for order in ["sequential", "random"] {
            let ordered = refusal(format!("{}\norder = \"{order}\"", traffic("", "7f", 82)));
            assert!(ordered.contains("x.toml:16:9: traffic[1].order: "), "{ordered}");
            assert!(ordered.contains("remove order"), "{ordered}");
        }
        assert!(refusal(traffic("", "7f", 66)).contains("82 bytes"));
        assert!(refusal(traffic("", "64", 82)).contains("no block"));
        assert!(refusal(traffic("-[2001:2:0:10::14]", "7f", 82)).contains("20 IPv6 sources"));
        read("fwdlab", &traffic("-[2001:2:0:10::14]", "64", 66)).expect("our own tester can");
        assert!(read("pktgenn", "").expect_err("refused").contains("did you mean"));
    }
}
