//! Tests of what the host prepares for a FreeBSD guest.

use std::collections::BTreeMap;

use fwdlab_agent::task::{GuestTester, TaskRoute, TaskSessions, TaskTraffic};

use super::*;

fn task(family: u8) -> Task {
    let (destination, gateway, source, target) = match family {
        4 => (
            "198.19.0.0",
            "198.19.0.203",
            "198.18.10.1-198.18.10.20:2000",
            "198.19.10.1-198.19.10.100:2000",
        ),
        _ => (
            "2001:2:0:8000::",
            "2001:2:0:8000::203",
            "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000",
        ),
    };
    let address = |text: &str| text.parse().expect("an address");
    let route = TaskRoute {
        destination: address(destination),
        length: if family == 4 { 16 } else { 49 },
        gateway: address(gateway),
        port: 1,
    };
    Task {
        modules: Vec::new(),
        sysctl: BTreeMap::new(),
        read: Vec::new(),
        rules: None,
        routes: vec![route],
        traffic: TaskTraffic {
            source: source.to_owned(),
            destination: target.to_owned(),
            frame_bytes: if family == 4 { 64 } else { 66 },
            order: "sequential".to_owned(),
            pps: None,
            capture: None,
        },
        warmup_ns: 500_000,
        duration_ns: 1_000_000,
        cable_ns: 1_000_000,
        interval_ns: 100_000,
        profile_ns: None,
        tester: GuestTester::Fwdlab,
        clock: GuestClock::Instructions,
        is_rehearsal: false,
        from_state: Vec::new(),
        both_ways: false,
        mesh: None,
        sessions: None,
    }
}

/// The script where nothing is added to the kernel's command line.
fn written(task: &Task, modules: &[String], rules: Option<Rules>) -> String {
    let tunables = Tunables::default();
    script::text(task, &Set { modules, rules, tunables: &tunables }, "1000000")
}

#[test]
fn the_frames_are_those_of_every_tester_and_expected_as_a_router_sends_them() {
    for (family, length) in [(4, 60), (6, 62)] {
        let file = frames::file(&task(family), None).expect("frames");
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((word(0), word(4)), (2000, 2000));
        assert_eq!((word(8), word(12), word(16), word(24)), (0, length, length, 2 * length));
        let (frames, length) = (8 + 12 * 2000, length as usize);
        let sent = &file[frames..][..length];
        let arriving = &file[frames + 2000 * length..][..length];
        let ttl = if family == 4 { 22 } else { 21 };
        assert_eq!((sent[ttl], arriving[ttl]), (64, 63));
        assert_eq!(arriving[..6], fwdlab_traffic::TESTER_MACS[1].0);
        if family == 4 {
            let sum = |frame: &[u8]| {
                let header = frame[14..34].chunks(2);
                let sum: u32 = header.map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
                (sum & 0xffff) + (sum >> 16)
            };
            assert_eq!((sum(sent), sum(arriving)), (0xffff, 0xffff));
        }
    }
}

/// One turn had as many draws as there are flows, and went round and round: 11 of 20 flows were ever sent.
#[test]
fn skewed_orders_are_drawn_often_enough_for_their_shares() {
    let mut task = task(4);
    (task.traffic.source, task.traffic.destination) =
        ("198.18.10.1-198.18.10.4:2000".to_owned(), "198.19.10.1-198.19.10.5:2000".to_owned());
    for (order, least, most) in [("elephants(1, 50%)", 0.48, 0.52), ("zipf(0)", 0.04, 0.06)] {
        order.clone_into(&mut task.traffic.order);
        let file = frames::file(&task, None).expect("frames");
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let (frames, flows) = (word(0) as usize, word(4) as usize);
        assert_eq!(flows, 20, "{order}");
        let mut sent = vec![0_usize; flows];
        (0..frames).for_each(|at| sent[word(8 + 12 * at) as usize] += 1);
        let share = |count: Option<&usize>| *count.expect("flows") as f64 / frames as f64;
        let (least_seen, most_seen) = (share(sent.iter().min()), share(sent.iter().max()));
        assert!(least <= most_seen && most_seen <= most, "{order}: {most_seen}");
        assert!(least_seen > 0.02, "{order}: {least_seen}");
    }
}

#[test]
fn the_script_sets_what_a_variant_says_and_leaves_the_choice_where_it_is_asked_to() {
    let mut task = task(4);
    task.sysctl.insert("net.route.algo.inet.algo".to_owned(), "dxr".to_owned());
    task.sysctl.insert("net.route.algo.inet6.algo".to_owned(), "auto".to_owned());
    task.sysctl.insert("net.inet.ip.ttl".to_owned(), "it's".to_owned());
    let text = written(&task, &["fib_dxr".to_owned()], Some(Rules::Pf));
    for part in [
        "choose net.route.algo.inet.algo 'dxr'",
        "set_word 'net.inet.ip.ttl' 'it'\\''s'",
        "prove 'net.route.algo.inet6.algo' sysctl -n 'net.route.algo.inet6.algo'",
        "\nload_module pf\n",
        // What is left to the kernel is said to be its own choice.
        "prove 'net.route.algo.inet6.algo as set' echo auto",
        // A kernel without the framework has no choice of its own to leave.
        "\nleave net.route.algo.inet6.algo\n",
        "pfctl -q $o -f /tmp/fwdlab/rules",
        "ifconfig epair1a inet 198.19.0.254/24",
        "arp -s 198.19.0.203",
        "route -n get 198.19.10.1",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("net.route.algo.inet.algo as set"), "{text}");
    // Only a rehearsal says what is being set, so that a stop is blamed on it.
    assert!(!text.contains("stage 'set net") && !text.contains("stage 'set pf"), "{text}");
    let rehearsal = Task { is_rehearsal: true, ..task.clone() };
    let said = written(&rehearsal, &[], Some(Rules::Pf));
    for part in ["stage 'set net.inet.ip.ttl'; set_word", "stage 'set pf'; [ -f /etc/pf.os ]"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    // What it set is read back, as in a trial.
    assert!(
        said.contains("\nprove 'net.inet.ip.ttl' sysctl") && said.ends_with("rehearsed\n"),
        "{said}"
    );
    assert!(!said.contains("\ntry_frames "), "no traffic is tried");
    // A filter's own settings are there once its module is.
    let place = |part: &str| text.find(part).expect(part);
    assert!(place("load_module pf") < place("set_word 'net.inet.ip.ttl'"), "{text}");
    task.read = ["net.inet.ip.ttl", "ipfw", "net.inet.ip.redirect"].map(str::to_owned).to_vec();
    task.sysctl.remove("net.inet.ip.ttl");
    let asked = written(&task, &[], Some(Rules::Pf));
    for part in [
        "sysctl -n 'net.inet.ip.ttl' >/dev/null 2>&1 && prove 'net.inet.ip.ttl' sysctl",
        "kldstat -q -m ipfw || prove ipfw true",
    ] {
        assert!(asked.contains(part), "{part}\n{asked}");
    }
    assert!(!text.contains("choose net.route.algo.inet6.algo"), "{text}");
    assert!(!text.contains("radix4"), "a small table is written as it is: {text}");
    task.routes = vec![task.routes[0].clone(); 6000];
    let text = written(&task, &[], None);
    let [plain, routes, own] = ["inet.algo radix4", "$G routes", "inet.algo 'dxr'"]
        .map(|part| text.find(part).expect("it is there"));
    assert!(plain < routes && routes < own, "{text}");
    assert!(!text.contains("radix6"), "what is left to the kernel stays with it: {text}");
    task.routes.truncate(1);
    let routes = script::routes(&task);
    assert_eq!(routes.len(), 36);
    assert_eq!(routes[..8], [4, 16, 0, 0, 198, 19, 0, 0]);
}

#[test]
fn what_the_command_line_says_is_read_back_before_anything_else() {
    let tunables = Tunables::of("net.inet.ip.fw.default_to_accept=0 -v").expect("words");
    let set = Set { modules: &["fib_dxr".to_owned()], rules: None, tunables: &tunables };
    let text = script::text(&task(4), &set, "1000000");
    let place = |part: &str| text.find(part).expect(part);
    let told = place("\ntold 'net.inet.ip.fw.default_to_accept' '0'\n");
    assert!(told < place("\nload_module 'fib_dxr'\n"), "{text}");
    assert!(text.contains("prove 'cmdline options' sysctl -n debug.boothowto"), "{text}");
    assert!(!written(&task(4), &[], None).contains("\ntold "), "nothing was said");
}

#[test]
fn ipfws_closing_rule_is_read_back_beside_the_rules() {
    let text = written(&task(4), &[], Some(Rules::Ipfw));
    assert!(text.contains("prove 'ipfw closing rule' sh -c"), "{text}");
    let other = Task { read: vec!["ipfw".to_owned()], ..task(4) };
    let asked = written(&other, &[], Some(Rules::Pf));
    assert!(asked.contains("kldstat -q -m ipfw && { prove ipfw sh"), "{asked}");
}

#[test]
fn a_warm_up_ends_before_the_devices_counters_are_read() {
    let text = written(&task(4), &[], None);
    let lines: Vec<&str> = text.lines().collect();
    let at = |part: &str| lines.iter().position(|line| line.contains(part)).expect(part);
    assert!(at("device 500000 100000 $khz >$P/warmup") < at("drops >$P/drops.0"), "{text}");
    // Only what counts seeks a place first, and the cable's interfaces are idle then.
    let counted = "device 1000000 100000 $khz epair2b epair2a >$P/device";
    assert!(at("drops >$P/drops.0") < at(counted), "{text}");
    assert!(text.contains("cable 1000000 100000 $khz epair0b epair1b >$P/cable"), "{text}");
    let cold = written(&Task { warmup_ns: 0, ..task(4) }, &[], None);
    assert!(!cold.contains("$P/warmup"), "{cold}");
}

#[test]
fn cables_are_chosen_before_anything_lies_on_them_and_not_where_nothing_counts() {
    let text = written(&task(4), &[], None);
    let place = |part: &str| text.find(part).expect(part);
    assert!(place("\nkhz=1000000\n") < place("\ncables 3 3\n"), "{text}");
    assert!(place("\ncables 3 3\n") < place("ifconfig epair0a ether"), "{text}");
    let rehearsal = written(&Task { is_rehearsal: true, ..task(4) }, &[], None);
    assert!(rehearsal.contains("\ncables 3 0\n"), "{rehearsal}");
}

#[test]
fn a_rehearsal_sends_a_few_frames_of_each_traffic_before_it_reads_back() {
    let from_state = vec![task(4), Task { duration_ns: 20_000_000, ..task(6) }];
    let rehearsal = Task { is_rehearsal: true, from_state, ..task(4) };
    let text = written(&rehearsal, &[], None);
    let place = |part: &str| text.find(part).expect(part);
    let first = "\ntry_frames $P/frames.0 1000000 5000000 25000000\n";
    assert!(place("set_word net.inet.ip.forwarding") < place(first), "{text}");
    let second = "\ntry_frames $P/frames.1 20000000 100000000 500000000\n";
    assert!(place(second) < place("\nprove kernel "), "{text}");
    assert!(text.ends_with("\nrehearsed\n") && !text.contains("cable 1000000"), "{text}");
}

#[test]
fn states_of_ipfw_are_made_and_their_table_grown_before_anything_counts() {
    let text = written(&task(4), &[], Some(Rules::Ipfw));
    let lines: Vec<&str> = text.lines().collect();
    let at = |part: &str| lines.iter().position(|line| line.starts_with(part)).expect(part);
    let pass = |file: &str| {
        let is_it = |line: &&str| {
            line.starts_with("jexec ") && line.contains(" device ") && line.contains(file)
        };
        lines.iter().position(is_it).expect(file)
    };
    // 2000 flows, each once.
    assert!(lines[pass("$P/settling")].contains(" device 50000000 "), "{text}");
    let settle = lines.iter().position(|line| *line == "settle").expect("it settles");
    assert!(pass("$P/settling") < settle && settle < pass("$P/warmup"), "{text}");
    assert!(pass("$P/warmup") < at("r=$(frames") && at("r=$(frames") < pass("$P/device"), "{text}");
    assert!(
        text.contains("another size in the trial") && text.contains("'buckets of ipfw states'")
    );
    let pf = written(&task(4), &[], Some(Rules::Pf));
    assert!(!pf.contains("settling") && !pf.contains("another size"), "{pf}");
}

#[test]
fn sessions_are_sent_in_rounds_and_the_table_is_asked_outside_the_jail() {
    let own = TaskSessions {
        measure: fwdlab_results::Measure::Lookup,
        lifetime: 5,
        is_tcp: false,
        concurrent: 9,
        both_ways: false,
        has_mark: false,
    };
    let task = Task { sessions: Some(own), ..task(4) };
    let text = written(&task, &[], Some(Rules::Ipfw));
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
    let sent = at("jexec tester $G sessions epair0b epair1b $P/frames lookup 5 1000000 $khz");
    // The table has grown before, the counters were read, and nothing is sent as plain frames.
    assert!(at("forget() { ipfw -q -D delete 1-65534") < at("epair2b epair2a"), "{text}");
    assert!(at("\nsettle") < sent && at("r=$(frames") < sent && sent < at("\nanswers\n"), "{text}");
    assert!(!text.contains(" device 1000000 100000 $khz >$P/device"), "{text}");
    assert!(at("wait $! || give_up") < at("no room to track the session"), "{text}");
    let none = written(&task, &[], None);
    assert!(none.contains("states() { echo 0; }"), "{none}");
    assert!(!written(&super::tests::task(4), &[], None).contains("$G sessions"));
}

#[test]
fn the_guests_program_is_one_of_freebsd() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    assert!(PROGRAM.starts_with(b"\x7fELF\x02"), "{} bytes", PROGRAM.len());
    let note = b"\x08\0\0\0\x04\0\0\0\x01\0\0\0FreeBSD\0";
    let place = PROGRAM.windows(note.len()).position(|window| window == note);
    assert!(
        place.is_some_and(|at| at < 4096),
        "the kernel looks for it in the first page: {place:?}"
    );
}

#[test]
fn rules_are_words_or_a_file_and_of_one_filter() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("rules.pf"), "block all\n").expect("a file");
    let variant = |pairs: &[(&str, &str)]| Variant {
        name: "v".to_owned(),
        set: pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        own: Default::default(),
    };
    let rules = |pairs| rules_of(&variant(pairs), dir.path());
    let text = |pairs| rules(pairs).expect("rules").expect("some").1;
    assert_eq!(text(&[("pf", "pass all")]), "pass all\n");
    assert_eq!(text(&[("pf", "rules.pf")]), "block all\n");
    assert!(rules(&[("net.inet.ip.ttl", "3")]).expect("no rules").is_none());
    let both = rules(&[("pf", "pass all"), ("ipfw", "add allow all")]).expect_err("two filters");
    assert!(both.to_string().contains("one of them"), "{both}");
    assert!(rules(&[("ipfw", "absent")]).expect_err("no file").to_string().contains("absent"));
}
