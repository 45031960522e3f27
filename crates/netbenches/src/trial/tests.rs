use super::*;

fn log(text: &str) -> ReadLog {
    PktgenLog::read(text.as_bytes()).map_err(|e| e.to_string())
}

fn readings(start: u64, rates: &[u64]) -> String {
    let line = |(i, rate): (usize, &u64)| {
        format!(
            "{:03}.000000 main_thread [9] {rate} pps ({rate} pkts 1 bps in 1000000 usec) 1.0 avg_batch 0 min_space\n",
            (start + i as u64) % 1000
        )
    };
    rates.iter().enumerate().map(line).collect()
}

fn receiver(start: u64, rates: &[u64]) -> ReadLog {
    log(&format!("CMD on h: pkt-gen -f rx -i a\n{}Terminated\n", readings(start, rates)))
}

fn sender(start: u64, rates: &[u64]) -> ReadLog {
    log(&format!(
        "CMD on h: pkt-gen -f tx -l 62 -6 -s [::1]-[::14] -d [::1]-[::64]\n{}Sent 7000 packets 1 bytes\n",
        readings(start, rates)
    ))
}

fn place() -> Place {
    Place { variant: "r1".into(), traffic: "inet6".into(), iteration: 2 }
}

fn run(receiver: ReadLog, senders: &[(&str, ReadLog)]) -> Run {
    Run {
        receiver: Some(receiver),
        senders: senders.iter().map(|(w, l)| ((*w).to_owned(), l.clone())).collect(),
    }
}

fn reason(run: &Run) -> String {
    let trial = trial(run, &Info::default(), &place());
    assert_eq!(trial.status, Status::Failed);
    assert_eq!(trial.rate_pps, None);
    trial.reason.unwrap()
}

#[test]
fn a_good_run_keeps_every_interval_of_both_sides() {
    let run = run(
        receiver(998, &[10, 500, 500, 501, 500, 500, 20]),
        &[("", sender(998, &[1000, 1000, 1000, 1000, 1000, 1000, 1000]))],
    );
    let trial = trial(&run, &Info::default(), &place());
    assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
    assert_eq!(trial.id, "b02-inet6-r1");
    assert_eq!(
        (
            trial.measured.intervals.len(),
            trial.measured.intervals[1].tx,
            trial.measured.intervals[1].rx
        ),
        (7, Some(1000), 500)
    );
    assert_eq!((trial.measured.sent, trial.measured.received), (Some(7000), 2531));
    assert_eq!(
        (trial.frame_bytes, trial.flows_planned, trial.family),
        (66, Some(2000), Family::Inet6)
    );
    assert_eq!(trial.rate_pps, Some(500.0));
    let steady = trial.steady.unwrap();
    assert_eq!((steady.trimmed_head, steady.trimmed_tail), (1, 1));
    assert_eq!(trial.limited_by, LimitedBy::Device);
    assert!(trial.measured.proof["sender.command"].contains("-l 62"));
}

#[test]
fn a_sender_at_another_pace_is_shared_out_by_time() {
    let receiver = receiver(100, &[5, 5, 5, 5]);
    let half = log(
        "CMD on h: pkt-gen -f tx -6\n100.500000 main_thread [9] 8 pps (8 pkts 1 bps in 1000000 usec) 1.0 avg_batch 0 min_space\n101.500000 main_thread [9] 8 pps (8 pkts 1 bps in 1000000 usec)\n",
    );
    let trial = trial(&run(receiver, &[("", half)]), &Info::default(), &place());
    let tx: Vec<u64> = trial.measured.intervals.iter().filter_map(|i| i.tx).collect();
    assert_eq!(tx, [4, 8, 4, 0]);
}

#[test]
fn what_no_log_says_is_absent_and_not_0() {
    let trial = trial(&run(receiver(100, &[500; 9]), &[]), &Info::default(), &place());
    assert_eq!((trial.flows_planned, &trial.started), (None, &None));
    assert!(trial.measured.intervals.iter().all(|i| i.tx.is_none()), "{trial:?}");
    assert_eq!((trial.measured.sent, trial.offered_pps()), (None, None));
    let text = serde_json::to_string(&trial).unwrap();
    for key in ["\"tx\"", "flows_planned", "started", "drops"] {
        assert!(!text.contains(key), "{key}: {text}");
    }
}

#[test]
fn forwarding_all_that_was_offered_is_the_generators_limit() {
    let run = run(receiver(100, &[500; 9]), &[("", sender(100, &[500; 9]))]);
    assert_eq!(trial(&run, &Info::default(), &place()).limited_by, LimitedBy::Generator);
}

#[test]
fn broken_runs_fail_with_a_reason() {
    let good = || receiver(100, &[500; 9]);
    let sending = || sender(100, &[900; 9]);
    assert_eq!(reason(&Run::default()), "there is no receiver log");
    assert_eq!(reason(&run(log(""), &[])), "receiver log: empty file");
    assert_eq!(
        reason(&run(receiver(1, &[0, 0, 0]), &[])),
        "receiver log: 0 packets in every interval"
    );
    assert_eq!(reason(&run(Err("denied".into()), &[])), "the receiver log cannot be read: denied");
    assert_eq!(reason(&run(sending(), &[])), "the receiver log was written by a sender");
    assert_eq!(reason(&run(receiver(1, &[500]), &[])), "only 1 steady intervals");
    assert_eq!(reason(&run(good(), &[("", good())])), "the sender log was written by a receiver");
    assert_eq!(reason(&run(good(), &[("_2", log("x"))])), "sender_2 log: no line of pkt-gen in it");
    let cut = log(&format!(
        "CMD: pkt-gen -f rx\n{}9.0 main_thread [9] 5 pps (5 pk",
        readings(100, &[5; 9])
    ));
    assert_eq!(reason(&run(cut, &[])), "receiver log is cut short: line 11: a broken reading line");
}

#[test]
fn logs_of_two_runs_are_not_one_trial() {
    let apart = run(receiver(100, &[500; 9]), &[("", sender(400, &[900; 9]))]);
    assert!(reason(&apart).contains("not of the same time"));
    let mut other = place();
    other.traffic = "inet4".into();
    let mixed = run(receiver(100, &[500; 9]), &[("", sender(100, &[900; 9]))]);
    let trial = trial(&mixed, &Info::default(), &other);
    assert_eq!(
        trial.reason.as_deref(),
        Some("the sender log is of IPv6 traffic, the run is called inet4")
    );
}

#[test]
fn variant_and_traffic_come_from_the_name_and_the_info_file() {
    let parts = |prefix: &str, info: &[u8]| {
        let place = Place::of(prefix, &Info::parse(info));
        (place.variant, place.traffic)
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(parts("r368606.inet4", b""), pair("r368606", "inet4"));
    assert_eq!(parts("fbsd12.0.pf-statefull.inet6", b""), pair("fbsd12.0.pf-statefull", "inet6"));
    assert_eq!(parts("r1.udp64", b"PKTGEN=udp64"), pair("r1", "udp64"));
    assert_eq!(parts("ipfw-statefull", b""), pair("ipfw-statefull", "default"));
    assert_eq!(parts("inet4", b"PKTGEN=inet4"), pair("default", "inet4"));
    assert_eq!(parts("", b""), pair("default", "default"));
}

#[test]
fn a_rate_search_is_read_with_its_result() {
    let search = |head: &str, end: &str| Run {
        receiver: None,
        senders: BTreeMap::from([(
            String::new(),
            log(&format!("{head}Iteration 1\n  - Offering load = 100 Mb/s\n{end}\n")),
        )]),
    };
    let end = "Estimated Equilibrium Ethernet throughput= 55 Mb/s (maximum value seen: 56 Mb/s)";
    let of = |run: &Run| trial(run, &Info::default(), &place());
    let found = of(&search("- UDP load = 500B, Ethernet frame size=542B\n", end));
    assert_eq!(found.status, Status::Ok, "{:?}", found.reason);
    assert_eq!((found.frame_bytes, found.load.as_str()), (542, "searched"));
    let pps = 55e6 / (542.0 * 8.0);
    assert!((found.rate_pps.unwrap() - pps).abs() < 1e-6);
    let search_of = found.measured.search.unwrap();
    assert!((search_of.mrr_pps - 56e6 / (542.0 * 8.0)).abs() < 1e-6);
    assert_eq!(found.measured.proof[STEPS], "100 Mb/s: ?");
    let tried = "Iteration 1\n  - Offering load = 50 Mb/s\n  - Measured forwarding rate = 50 Mb/s\n\
                 Iteration 2\n  - offering load = 75 Mb/s\n  - STEP = 25 Mb/s\n  - Measured forwarding rate = 56 Mb/s\n";
    let found = of(&search(&format!("- Ethernet frame size=542B\n{tried}"), end));
    let steps = &found.measured.proof[STEPS];
    assert!(steps.starts_with("50 Mb/s: 50 Mb/s, 75 Mb/s: 56 Mb/s"), "{steps}");
    let upper = found.measured.search.unwrap().upper_pps;
    assert!((upper - 75e6 / (542.0 * 8.0)).abs() < 1e-6, "{upper}");
    // the command's length, FCS added, where the log names none
    let found = of(&search("CMD on h: pkt-gen -f tx -l 60 -s 1.1.1.1 -d 2.2.2.2\n", end));
    assert_eq!((found.frame_bytes, found.rate_pps), (64, Some(55e6 / 512.0)));
    // frames need no length
    let found = of(&search("", "Estimated Equilibrium Ethernet throughput= 491 Kpps"));
    assert_eq!(found.rate_pps, Some(491e3));
    // bits without a length are no rate, and say so
    let unknown = search("CMD on h: pkt-gen -f tx -s 1.1.1.1 -d 2.2.2.2\n", end);
    assert!(reason(&unknown).contains("names the frame length"), "{}", reason(&unknown));
    let none = search("", "Estimated Equilibrium Ethernet throughput= 0 Kpps");
    assert!(reason(&none).contains("no rate above 0"));
}
