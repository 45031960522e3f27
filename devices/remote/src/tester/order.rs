//! Which testers send flows in the order that an experiment asks for, and which replay captures.

use fwdlab_agent::order::Maker;
use fwdlab_agent::{pktgen_sends, trafgen};
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_traffic::{FlowSet, Order};

use super::command::ORDER;
use crate::testbed::{Generator, GeneratorKind, TestPort, Testbed};
use crate::{RemoteError, Result};
use fwdlab_results::FailureKind;

/// Whether the testbed's tester sends the flows of each traffic in the order that the experiment asks for.
///
/// # Errors
/// When it does not; the error names each line.
pub fn check_order(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    let Generator { kind, send, .. } = &testbed.generator;
    let takes_order = send.iter().any(|word| word.contains(ORDER));
    let (is_able, remedy) = match kind {
        GeneratorKind::Fwdlab => (true, ""),
        GeneratorKind::PktGen | GeneratorKind::Pktgen | GeneratorKind::Trafgen => {
            (false, "remove order, or write kind = \"fwdlab\" in [tester]")
        }
        GeneratorKind::Command => {
            (takes_order, "remove order, or give it to the command as {order} in send of [tester]")
        }
    };
    let complaint = |order: &str| {
        let what =
            format!("the tester {:?} of testbed {:?} takes no order", kind.name(), testbed.name);
        let is_usual = order == Order::Sequential.to_string() && *kind != GeneratorKind::Command;
        (!is_able && !is_usual).then(|| Complaint::new(what, "no order beside it", remedy))
    };
    experiment.complaints_about("order", complaint).map_or(Ok(()), |problems| Err(problems.into()))
}

/// Whether the testbed's tester can send these frames, where it is another's program.
///
/// # Errors
/// When it cannot; the error names each line.
pub fn check_makers(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    let kind = testbed.generator.kind;
    let Some(maker) = kind.maker() else { return Ok(()) };
    let remedy = "change the traffic, or write kind = \"fwdlab\" in [tester]";
    let complaint = |traffic: &Traffic| {
        // Streams are iperf3's, whatever makes frames.
        let refusal = match maker {
            _ if traffic.streams.is_some() => return None,
            Maker::Pktgen => by_pktgen(traffic),
            Maker::Trafgen => by_trafgen(traffic),
        };
        let (key, found, wanted) = refusal.err()?;
        let what = format!("{} cannot send traffic {:?}: {found}", kind.name(), traffic.name);
        Some((key, Complaint::new(what, wanted, remedy)))
    };
    let problems = experiment.complaints_about_traffics(complaint);
    problems.map_or(Ok(()), |problems| Err(problems.into()))
}

/// The key that asks for what cannot be sent, what was found there, and what was wanted.
type Refusal = (&'static str, String, String);

fn flows(traffic: &Traffic) -> Result<FlowSet, Refusal> {
    let (source, destination) = (traffic.source.to_string(), traffic.destination.to_string());
    FlowSet::parse(&source, &destination)
        .map_err(|error| ("destination", error.to_string(), "fewer flows".to_owned()))
}

fn by_pktgen(traffic: &Traffic) -> Result<(), Refusal> {
    pktgen_sends(&flows(traffic)?, traffic.frame_bytes)
        .map_err(|(found, wanted)| ("destination", found, wanted.to_owned()))
}

fn by_trafgen(traffic: &Traffic) -> Result<(), Refusal> {
    let flows = flows(traffic)?.count();
    if flows > trafgen::MOST_FLOWS {
        let wanted = format!("at most {} flows", trafgen::MOST_FLOWS);
        return Err(("destination", format!("it has {flows} flows"), wanted));
    }
    match traffic.offered_pps() {
        Some(pps) if pps > trafgen::MOST_PPS => {
            let found =
                format!("it waits between frames by sleeping, and {pps:.0} pps is too fast");
            let wanted = format!("at most {:.0} pps, or load = \"max\"", trafgen::MOST_PPS);
            Err(("load", found, wanted))
        }
        _ => Ok(()),
    }
}

/// Whether the testbed's tester replays captures, where a traffic has one.
///
/// # Errors
/// When it does not; the error names each line.
pub fn check_captures(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    let kind = &testbed.generator.kind;
    let complaint = |_: &str| {
        let what = format!(
            "the tester {:?} of testbed {:?} replays no capture",
            kind.name(),
            testbed.name
        );
        let remedy = "remove capture, or write kind = \"fwdlab\" in [tester]";
        (*kind != GeneratorKind::Fwdlab).then(|| Complaint::new(what, "flows in its place", remedy))
    };
    experiment
        .complaints_about("capture", complaint)
        .map_or(Ok(()), |problems| Err(problems.into()))
}

/// Whether the time of frames can be taken, where the experiment asks for it: by stamps on both sides, which
/// must be of one host.
///
/// # Errors
/// When it cannot.
pub fn check_latency(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    if !experiment.latency {
        return Ok(());
    }
    let is_datagram = || testbed.hosts().any(|host| host.ports.iter().any(TestPort::is_datagram));
    let is_capture = || experiment.traffics.iter().any(|traffic| traffic.capture.is_some());
    let why = if testbed.generator.kind != GeneratorKind::Fwdlab {
        "latency is taken by fwdlab's own tester only"
    } else if testbed.receiver.is_some() {
        "latency is taken where one host sends and receives: the clocks of two do not fit"
    } else if is_datagram() {
        "latency is taken on interfaces, not on datagram sockets"
    } else if is_capture() {
        "latency is taken of flows, not of captures"
    } else {
        return Ok(());
    };
    let remedy = "remove latency from the experiment, or use another testbed";
    Err(RemoteError::failed(FailureKind::Misconfigured, testbed.tester.role, why, remedy))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use fwdlab_device::Request;

    use super::*;
    use crate::tester::Task;

    fn testbed(tester: &str) -> Testbed {
        let host = |name: &str, first: u8| {
            format!(
                "[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [\
                 {{ name = \"a\", mac = \"02:00:00:00:00:0{first}\" }}, \
                 {{ name = \"b\", mac = \"02:00:00:00:00:0{}\" }}]\n",
                first + 1
            )
        };
        let text = format!("name = \"bed\"\n{}{}{tester}", host("dut", 1), host("tester", 3));
        Testbed::parse(Path::new("bed.toml"), &text).expect("a valid testbed")
    }

    fn experiment(order: &str) -> Experiment {
        with_ends(order, "198.18.0.1:7", "198.19.0.1:7")
    }

    fn with_ends(order: &str, source: &str, destination: &str) -> Experiment {
        let text = format!(
            "title = \"t\"\ndevice = \"remote\"\nbaseline = \"a\"\nwarmup = \"300ms\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n{order}\n\
             source = \"{source}\"\ndestination = \"{destination}\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
             \"2001:2:0:8000::/49 via 2001:2:0:8000::2\"]\n"
        );
        Experiment::parse(Path::new("x.toml"), &text, &[&crate::Remote]).expect("an experiment")
    }

    #[test]
    fn what_a_program_of_others_cannot_send_is_refused_at_its_line() {
        let check = |kind: &str, more: &str, source: &str, destination: &str| {
            let testbed = testbed(&format!("[tester]\nkind = \"{kind}\"\n"));
            let checked = check_makers(&with_ends(more, source, destination), &testbed);
            checked.map_or_else(|problems| problems.to_string(), |()| "taken".to_owned())
        };
        let (source, destination) = ("198.18.10.1-198.18.10.20:7", "198.19.10.1-198.19.10.100:7");
        let (source6, block6) = ("[2001:2::1]:7", "[2001:2:0:8010::40]-[2001:2:0:8010::7f]:7");
        for kind in ["pktgen", "trafgen", "fwdlab"] {
            assert_eq!(check(kind, "", source, destination), "taken");
            assert_eq!(check(kind, "frame = 82", source6, block6), "taken");
        }
        let said = check("trafgen", "load = \"20kpps\"", source, destination);
        assert!(said.starts_with("x.toml:11:8: traffic[1].load: trafgen cannot send"), "{said}");
        assert_eq!(check("trafgen", "load = \"5kpps\"", source, destination), "taken");
        assert_eq!(check("pktgen", "load = \"20kpps\"", source, destination), "taken");
        let many = "198.19.0.1-198.19.3.240:7";
        for kind in ["pktgen", "trafgen"] {
            let said = check(kind, "", source, many);
            assert!(said.starts_with("x.toml:13:15: traffic[1].destination: "), "{said}");
            assert!(said.contains("at most 16384 flows"), "{said}");
        }
        let ports = "198.19.10.1:7-9";
        assert!(check("pktgen", "", source, ports).contains("a range of ports"));
        assert_eq!(check("trafgen", "", source, ports), "taken");
        let said = check("pktgen", "", "[2001:2::1]-[2001:2::2]:7", block6);
        assert!(said.contains("2 IPv6 sources") && said.contains("kind = \"fwdlab\""), "{said}");
    }

    #[test]
    fn an_order_that_a_tester_does_not_take_is_refused_at_its_line() {
        let check = |order: &str, tester: &str| {
            let checked = check_order(&experiment(order), &testbed(tester));
            checked.map_or_else(|problems| problems.to_string(), |()| "taken".to_owned())
        };
        let command = |words: &str| format!("[tester]\nkind = \"command\"\nsend = [{words}]\n");
        let pktgen = "[tester]\nkind = \"pkt-gen\"\n";
        let random = "order = \"random\"";
        assert_eq!(check(random, ""), "taken");
        assert_eq!(check("", pktgen), "taken");
        assert_eq!(check("", &command("\"./send\"")), "taken");
        assert_eq!(check(random, &command("\"./send\", \"-o{order}\"")), "taken");
        for tester in [pktgen.to_owned(), command("\"./send\"")] {
            let said = check(random, &tester);
            assert!(said.starts_with("x.toml:11:9: traffic[1].order: the tester "), "{said}");
            assert!(
                said.contains("takes no order") && said.contains("; remove order, or"),
                "{said}"
            );
        }
    }

    #[test]
    fn latency_is_asked_for_only_where_its_stamps_can_be_had() {
        let check = |latency: &str, testbed: &Testbed| {
            let text = format!(
                "title = \"t\"\ndevice = \"remote\"\nbaseline = \"a\"\n{latency}\n\
                 [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
                 source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
                 [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
            );
            let experiment = Experiment::parse(Path::new("x.toml"), &text, &[&crate::Remote]);
            let checked = check_latency(&experiment.expect("an experiment"), testbed);
            checked.map_or_else(|error| error.to_string(), |()| "taken".to_owned())
        };
        let (asked, own) = ("latency = true", testbed(""));
        assert_eq!(check(asked, &own), "taken");
        let pktgen = testbed("[tester]\nkind = \"pkt-gen\"\n");
        assert_eq!(check("", &pktgen), "taken");
        assert!(check(asked, &pktgen).contains("fwdlab's own tester only"));
        let mut two = own.clone();
        two.receiver = Some(own.tester.clone());
        assert!(check(asked, &two).contains("the clocks of two do not fit"));
        let mut guest = own.clone();
        guest.tester.ports[0].name = "udp:127.0.0.1:30201-127.0.0.1:30101".to_owned();
        assert!(check(asked, &guest).contains("not on datagram sockets"));
    }

    #[test]
    fn a_capture_needs_a_tester_that_replays_it() {
        let check = |tester: &str| {
            let text = "title = \"t\"\ndevice = \"remote\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n\
                 [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\ncapture = \"x.pcap\"\n\
                 source = \"198.18.0.1\"\ndestination = \"198.19.0.1\"\n\
                 [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n";
            let read = Experiment::parse(Path::new("x.toml"), text, &[&crate::Remote]);
            let checked = check_captures(&read.expect("an experiment"), &testbed(tester));
            checked.map_or_else(|problems| problems.to_string(), |()| "taken".to_owned())
        };
        assert_eq!(check(""), "taken");
        let said = check("[tester]\nkind = \"pkt-gen\"\n");
        assert!(said.starts_with("x.toml:10:11: traffic[1].capture: the tester "), "{said}");
        assert!(said.contains("replays no capture") && said.contains("; remove capture"), "{said}");
    }

    #[test]
    fn the_warm_up_is_no_part_of_what_a_tester_is_asked_to_count() {
        let (experiment, testbed) = (experiment(""), testbed(""));
        let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
        let task = Task::of(&testbed, &Request { experiment: &experiment, variant, traffic });
        assert_eq!(task.duration, Duration::from_secs(1));
        let warm = task.of_warm_up(experiment.warmup);
        assert_eq!((warm.duration.as_millis(), warm.interval.as_millis()), (300, 100));
    }
}
