//! Streams between two hosts, by iperf3.

use fwdlab_results::{Benchmark, Results, Streams, Trial};

use crate::rig::{Rig, text};

/// The shipped experiment, with one short trial of each variant and measure.
fn experiment() -> String {
    let shipped = include_str!("../../../../examples/remote-streams.toml");
    let mut text = shipped.to_owned();
    for (from, to) in [
        ("measure = \"goodput\"", "measure = [\"goodput\", \"byte-cost\"]"),
        ("blocks = 6", "blocks = 1"),
        ("duration = \"2s\"", "duration = \"1s\""),
    ] {
        assert!(text.contains(from), "{text}");
        text = text.replace(from, to);
    }
    text
}

fn of<'a>(results: &'a Results, variant: &str, traffic: &str) -> (&'a Trial, &'a Streams) {
    let is_it = |trial: &&Trial| trial.variant == variant && trial.traffic == traffic;
    let trial = results.trials.iter().find(is_it).expect("a trial");
    match &trial.measured.benchmark {
        Some(Benchmark::Goodput(own) | Benchmark::ByteCost(own)) => (trial, own),
        _ => panic!("{:?}", trial.reason),
    }
}

/// What a loss that was planted does to streams is found, and the hosts are left as they were.
#[test]
fn streams_of_iperf3_are_counted_and_a_loss_that_was_planted_is_found() {
    let name = "streams_of_iperf3_are_counted";
    for program in ["iperf3", "nft"] {
        let found = std::process::Command::new(program).arg("--version").output();
        if !found.is_ok_and(|said| said.status.success()) {
            eprintln!("SKIPPED {name}: no {program}");
            return;
        }
    }
    let Some(rig) = Rig::up(name, &["--receiver"]) else { return };
    let shown =
        |role: &str| rig.on(role, "ip -4 -o addr show; ip route show; ip neigh show nud permanent");
    let before = ["tester", "receiver"].map(shown);
    let output = rig.run(&experiment());
    let results =
        Results::read(&rig.results()).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    let (plain, own) = of(&results, "plain", "inet-goodput");
    let (lossy, other) = of(&results, "lossy", "inet-goodput");
    for (trial, streams) in [(plain, own), (lossy, other)] {
        assert_eq!(trial.reason, None);
        assert_eq!((streams.streams.len(), trial.measured.flows_seen), (4, Some(4)), "{streams:?}");
        assert_eq!((streams.congestion.as_str(), streams.segment_bytes), ("reno", 1460));
        let sum: u64 = streams.streams.iter().map(|stream| stream.bytes).sum();
        let in_time: u64 = streams.through.iter().map(|slice| slice.bytes).sum();
        assert!(in_time > 0 && in_time <= sum, "{streams:?}");
        // Every byte came through the device, in frames that its port counted.
        let frames = trial.measured.device_sent.expect("counted");
        assert!(frames >= sum / 65_536, "{frames} frames, {sum} bytes");
        // On this rig no host has processors of its own: there is no cost to be told.
        assert_eq!(streams.device_busy_ns, None);
    }
    let again = |streams: &Streams| streams.streams.iter().map(|stream| stream.again).sum::<u64>();
    assert!(again(other) > 0, "{other:?}");
    let goodput = |streams: &Streams| streams.goodput_bits_per_s().expect("a figure");
    assert!(goodput(other) < goodput(own), "{other:?} {own:?}");
    assert_eq!(["tester", "receiver"].map(shown), before, "the hosts are not as they were");
}

#[test]
fn a_host_without_iperf3_is_named_with_what_helps() {
    let Some(rig) = Rig::up("a_host_without_iperf3_is_named", &["--receiver"]) else { return };
    // Of its own root alone.
    rig.on("receiver", "rm -f /usr/bin/iperf3 /usr/local/bin/iperf3 /bin/iperf3");
    let output = rig.run(&experiment());
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("receiver: it has no iperf3, which carries the streams"), "{said}");
    assert!(said.contains("apt-get install iperf3 there"), "{said}");
    let mut doctor = rig.fwdlab();
    let seen = doctor.arg("doctor").arg("--testbed").arg(rig.dir().join("testbed.toml")).output();
    let seen = text(&seen.expect("it starts").stdout);
    assert!(seen.contains("receiver: no iperf3, which streams"), "{seen}");
}
