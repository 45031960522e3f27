//! Sessions in a Linux guest: what is planted for new sessions is found there and not in later frames.

use std::path::Path;

use fwdlab_results::{Benchmark, Checks, SessionRound, Trial};

/// Rules that let nothing pass but sessions, and more that only the first frame of one meets.
fn tracking(more: &str) -> String {
    format!(
        "table ip f {{ chain c {{ type filter hook forward priority 0; policy drop; \
         ct state established accept; {more} meta l4proto {{ tcp, udp }} ct state new accept; }}; }}"
    )
}

/// 400 sessions through rules, each given for a variant `a` or `b`.
pub fn experiment(kernel: &Path, measures: &str, rules: [&str; 2], traffic: &str) -> String {
    let [a, b] = rules;
    format!(
        "title = \"sessions\"\ndevice = \"vm\"\nbaseline = \"a\"\nblocks = 1\nmeasure = [{measures}]\n\
         duration = \"100ms\"\nwarmup = \"0s\"\ninterval = \"20ms\"\n\
         [vm]\nat_once = 1\nkernel = \"{}\"\npatience = \"600s\"\n\
         [[variant]]\nname = \"a\"\nset = {{ nftables = \"{a}\" }}\n\
         [[variant]]\nname = \"b\"\nset = {{ nftables = \"{b}\" }}\n\
         [[traffic]]\nname = \"inet\"\nkind = \"sessions\"\n{traffic}\n\
         source = \"198.18.10.1-198.18.10.20:2000\"\ndestination = \"198.19.10.1-198.19.10.20:2000\"\n\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n",
        kernel.display()
    )
}

/// The same without and with rules that only new sessions meet.
pub fn with_slow_insertion(kernel: &Path, traffic: &str) -> String {
    let slow = tracking(&"ip saddr 10.9.8.7 drop; ".repeat(200));
    experiment(kernel, "\"insertion\", \"lookup\"", [&tracking(""), &slow], traffic)
}

fn rounds(trial: &Trial) -> &[SessionRound] {
    match trial.measured.benchmark.as_ref() {
        Some(Benchmark::Insertion(own) | Benchmark::Lookup(own) | Benchmark::FullTable(own)) => {
            &own.rounds
        }
        other => panic!("{}: {other:?}; {:?}", trial.id, trial.reason),
    }
}

/// What a frame of the counted part cost, in instructions.
fn cost(trial: &Trial) -> f64 {
    trial.measured.benchmark.as_ref().and_then(Benchmark::figure).expect("a cost")
}

/// Every frame came back as it should, in rounds that begin with an empty table.
fn assert_whole(trial: &Trial) {
    let own = &trial.measured;
    let checks = own.checks.expect("every frame is looked into");
    assert_eq!(checks, Checks { checked: checks.checked, ..Checks::default() }, "{}", trial.id);
    assert_eq!(own.sent, Some(own.received), "{}", trial.id);
    assert_eq!((own.device_received, own.device_sent), (own.sent, own.sent), "{}", trial.id);
    assert_eq!(own.proof["sessions in the table, emptied"], "0", "{}", trial.id);
}

/// The rules are found in insertion and not in lookup; what the table held is what was sent.
pub fn assert_found_in_insertion_alone(trials: &[Trial], lifetime: u64, opening: u64) {
    let of = |variant: &str, measure: &str| {
        let is_it = |trial: &&Trial| trial.variant == variant && trial.traffic.ends_with(measure);
        let trial = trials.iter().find(is_it).expect("a trial");
        assert_whole(trial);
        let is_lookup = measure == "lookup";
        for round in rounds(trial) {
            let (before, each) = if is_lookup { (400, lifetime - opening) } else { (0, 1) };
            assert_eq!((round.emptied, round.before, round.after), (0, before, 400), "{round:?}");
            assert_eq!((round.sent, round.received), (400 * each, 400 * each), "{round:?}");
        }
        cost(trial)
    };
    let insertion = of("b", "insertion") / of("a", "insertion");
    let lookup = of("b", "lookup") / of("a", "lookup");
    let (new, known) = (of("a", "insertion"), of("a", "lookup"));
    println!("{new:.0} {known:.0} instructions; slow: {insertion:.3} {lookup:.4}");
    assert!(insertion > 1.1, "the rules made insertion {insertion} times as dear");
    // Two boots are up to half a per cent apart.
    assert!((lookup - 1.0).abs() < 0.01, "and left lookup alone: {lookup}");
    assert!(new > 1.5 * known, "a session is made: {new} and {known}");
}

/// More sessions than the table has room for: all are accounted for.
pub fn assert_full(trials: &[Trial]) {
    for trial in trials {
        let room: u64 =
            trial.measured.proof["sessions the table has room for"].parse().expect("it");
        let most = rounds(trial).iter().map(|round| round.refused).sum::<u64>();
        for round in rounds(trial) {
            assert_eq!((round.emptied, round.before), (0, room), "{round:?}");
            // What came is in the table, was refused, or made room for others.
            assert_eq!(round.after + round.refused + round.evicted, room + round.sent, "{round:?}");
            assert_eq!(round.received, round.sent - round.refused, "{round:?}");
        }
        let drops =
            trial.measured.drops.as_ref().and_then(|all| all.get("no room to track the session"));
        assert!(drops.copied().unwrap_or(0) >= most, "{}: {drops:?} of {most}", trial.id);
        assert!(
            rounds(trial).iter().all(|round| round.refused + round.evicted > 0),
            "{}",
            trial.id
        );
    }
}

/// Each frame was given other addresses in `a`, and in `b`, whose nat chain has more rules.
pub fn assert_translated(trials: &[Trial]) {
    for trial in trials {
        let translated = &trial.measured.proof["frames with other addresses"];
        assert_eq!(*translated, trial.measured.received.to_string(), "{}", trial.id);
    }
    assert_found_in_insertion_alone(trials, 3, 1);
}

/// Masquerading, with rules in its chain that only the first frame of a session meets.
pub fn masquerading(kernel: &Path) -> String {
    let nat = |more: &str| {
        format!(
            "table ip n {{ chain p {{ type nat hook postrouting priority 100; policy accept; \
             {more} masquerade; }}; }}"
        )
    };
    let slow = nat(&"ip saddr 10.9.8.7 accept; ".repeat(400));
    let measures = "\"insertion\", \"lookup\"";
    experiment(kernel, measures, [&nat(""), &slow], "lifetime = 3\nframe = 70")
}
