//! Devices with more than two ports.

use std::path::Path;

use fwdlab_builtin::Builtin;
use fwdlab_device::Place;
use fwdlab_experiment::Experiment;
use fwdlab_results::Trial;

/// Eight sources and eight destinations: two or four behind each port.
fn text(keys: &str, traffic: &str, routes: &str) -> String {
    format!(
        "title = \"t\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"20ms\"\n\
         interval = \"20ms\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.0-198.19.10.7:7\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
         \"198.18.0.0/16 via 198.18.0.203\"{routes}]\n"
    )
}

fn trial(text: &str) -> Option<Trial> {
    // A trial leaves its thread on one core, on which there is no other trial.
    let alone = || crate::trial(text, Place::default(), &mut || {});
    let trial = std::thread::scope(|scope| scope.spawn(alone).join().expect("it ended"))?;
    match &trial.reason {
        // Others had the device's core for all of its 100 ms.
        Some(reason) if reason.contains("none within a counting interval") => {
            eprintln!("SKIPPED a trial: {reason}");
            None
        }
        _ => Some(trial),
    }
}

/// Ports by which frames came back, and how many in all.
fn by_port(trial: &Trial) -> (Vec<&str>, u64) {
    let queues = &trial.measured.queues;
    (
        queues.iter().map(|own| own.name.as_str()).collect(),
        queues.iter().map(|own| own.frames).sum(),
    )
}

#[test]
fn in_a_full_mesh_every_port_sends_to_every_other() {
    let Some(trial) = trial(&text("", "direction = \"mesh\"", "")) else { return };
    assert_eq!(trial.reason, None);
    let measured = &trial.measured;
    // Four groups of four addresses, each to the twelve of the others.
    assert_eq!(measured.flows_seen, Some(192));
    let checks = measured.checks.expect("checked");
    assert_eq!((checks.lost, checks.misrouted, checks.bad_mac), (0, 0, 0));
    let (ports, frames) = by_port(&trial);
    assert_eq!(ports, ["port0", "port1", "port2", "port3"]);
    assert_eq!(frames, measured.received);
    // Streams take turns, so that each port gets a quarter but for what ends within a turn.
    for queue in &measured.queues {
        let share = queue.frames as f64 / measured.received as f64;
        assert!((0.2..0.3).contains(&share), "{:?}", measured.queues);
    }
}

#[test]
fn in_a_partial_mesh_each_side_sends_to_all_ports_of_the_other() {
    let Some(one) = trial(&text("", "ports = 4", "")) else { return };
    assert_eq!(one.reason, None);
    assert_eq!(by_port(&one), (vec!["port1", "port3"], one.measured.received));
    assert_eq!(one.measured.flows_seen, Some(64));
    let Some(both) = trial(&text("", "ports = 8\ndirection = \"both\"", "")) else { return };
    assert_eq!(both.reason, None);
    assert_eq!(by_port(&both).0.len(), 8);
    assert_eq!(both.measured.flows_seen, Some(128));
    for way in &both.measured.ways {
        // By the counters of four ports each.
        assert_eq!((way.device_received, way.device_sent), (Some(way.sent), Some(way.received)));
    }
}

#[test]
fn a_route_to_another_port_is_found_to_the_frame() {
    // One of the eight destinations, which lies behind port 3, is sent to by port 1.
    let wrong = ", \"198.19.10.6/32 via 198.19.0.203\"";
    let Some(trial) = trial(&text("", "ports = 4", wrong)) else { return };
    let measured = &trial.measured;
    let checks = measured.checks.expect("checked");
    assert_eq!(trial.reason, None, "the counts of both sides add up");
    assert_eq!((checks.lost, checks.astray), (0, checks.misrouted));
    // Nobody received them where they were sent to.
    assert_eq!(measured.sent, Some(measured.received + checks.misrouted));
    // Flows take turns: an eighth, but for what ends within a turn.
    let eighth = measured.sent.expect("counted") / 8;
    assert!(checks.misrouted.abs_diff(eighth) <= 64, "{} of {eighth}", checks.misrouted);
}

/// The misrouted of the ways were none, those of the whole an eighth.
#[test]
fn what_goes_astray_one_way_is_counted_on_that_way() {
    let wrong = ", \"198.19.10.6/32 via 198.19.0.203\"";
    let Some(trial) = trial(&text("", "ports = 4\ndirection = \"both\"", wrong)) else { return };
    assert_eq!(trial.reason, None);
    let measured = &trial.measured;
    let misrouted: Vec<u64> = measured.ways.iter().map(|way| way.checks.misrouted).collect();
    assert!(misrouted[0] > 0, "{misrouted:?}");
    assert_eq!(misrouted[1], 0);
    assert_eq!(measured.checks.expect("checked").misrouted, misrouted[0]);
    for way in &measured.ways {
        assert_eq!(way.sent, way.received + way.checks.misrouted + way.checks.lost);
    }
}

/// A trial in which the tester sent as many frames as were planned, and lost none: where others have its core when the
/// trial ends, it has sent fewer; where they have the device's, the last frames do not come back in time.
fn whole_trial(text: &str, planned: u64) -> Option<Trial> {
    const TRIES: usize = 30;
    let is_whole = |own: &Trial| {
        let lost = own.measured.checks.map(|checks| checks.lost);
        own.measured.sent.is_some_and(|sent| sent >= planned) && lost == Some(0)
    };
    let whole = (0..TRIES).filter_map(|_| trial(text)).find(is_whole);
    if whole.is_none() {
        eprintln!("SKIPPED a trial: of {TRIES} in none the tester had its core throughout");
    }
    whole
}

/// What was told for flows in turn was told for flows that are drawn, too, and left pairs of ports without a frame.
#[test]
fn the_load_that_is_told_sends_frames_between_all_pairs_of_ports() {
    for order in ["random", "zipf(2)", "elephants(1, 99%)"] {
        let with = |pps: &str| {
            text("", &format!("ports = 4\norder = \"{order}\"\nload = \"{pps}pps\""), "")
        };
        let few = Experiment::parse(Path::new("t.toml"), &with("20"), &[&Builtin]);
        let said = few.expect_err("too few frames").to_string();
        let (_, told) = said.split_once("write load = \"").expect("a load");
        let (load, _) = told.split_once("pps\"").expect("a load");
        // In 100 ms.
        let planned = load.parse::<u64>().expect("a number") / 10;
        let Some(trial) = whole_trial(&with(load), planned) else { return };
        let pairs = &trial.measured.proof["frames from port to port"];
        assert_eq!(pairs.split(", ").count(), 4, "{order} at {load}/s: {pairs}");
    }
}

#[test]
fn a_load_is_that_of_each_port() {
    let Some(trial) = trial(&text("", "direction = \"mesh\"\nload = \"20kpps\"", "")) else {
        return;
    };
    assert_eq!(trial.offered_pps_asked, Some(80_000.0));
}

#[test]
fn what_a_mesh_cannot_have_is_refused_where_it_stands() {
    let refused = |keys: &str, traffic: &str| {
        let text = text(keys, traffic, "");
        Experiment::parse(Path::new("t.toml"), &text, &[&Builtin]).expect_err("refused").to_string()
    };
    for (keys, traffic, said) in [
        ("", "ports = 3", "3 ports cannot make two sides"),
        ("", "ports = 10", "ports"),
        ("", "ports = 6\ndirection = \"mesh\"", "a full mesh of 6 ports"),
        ("measure = \"reset\"", "ports = 4", "taken between two ports"),
        // There is no key ports that could be removed.
        ("measure = \"reset\"", "direction = \"mesh\"", "remove direction, or what stands"),
        (
            "measure = \"reset\"",
            "direction = \"mesh\"\nports = 4",
            "remove direction and ports, or what stands",
        ),
        ("measure = \"back-to-back\"", "direction = \"mesh\"", "go both ways beside measure"),
    ] {
        let problems = refused(keys, traffic);
        assert!(problems.contains(said) && problems.contains("t.toml:"), "{traffic}: {problems}");
    }
    let few = text("", "ports = 8", "").replace("198.18.10.7", "198.18.10.2");
    let problems = Experiment::parse(Path::new("t.toml"), &few, &[&Builtin]).expect_err("refused");
    assert!(problems.to_string().contains("fewer addresses on a side"), "{problems}");
    let other = "[[traffic]]\nname = \"two\"\nsource = \"198.18.11.1:7\"\n\
                 destination = \"198.19.11.1:7\"\n[routes]";
    let two = text("", "ports = 4", "").replace("[routes]", other);
    let problems = Experiment::parse(Path::new("t.toml"), &two, &[&Builtin]).expect_err("refused");
    // The line of its destinations was named, which says nothing of ports.
    let named = "traffic[2].name: traffic \"two\" has 2 ports, another one 4";
    assert!(problems.to_string().contains(named), "{problems}");
}
