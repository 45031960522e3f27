//! Whole campaigns.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::rig::{EXPERIMENT, Rig, is_long, long, text};

/// Every file below a directory, as text.
fn all_text(dir: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.push_str(&all_text(&path)),
            false => all.push_str(&text(&fs::read(&path).expect("readable"))),
        }
    }
    all
}

#[test]
fn a_campaign_runs_and_its_results_hold_no_secret() {
    let Some(rig) = Rig::up("a whole campaign", &[]) else { return };
    // Everything that must not get out has a telling name.
    let key = rig.dir().join("canary-key");
    fs::rename(rig.dir().join("key"), &key).expect("renamed");
    rig.edit(
        "ssh_config",
        &rig.dir().join("key").display().to_string(),
        &key.display().to_string(),
    );
    rig.edit("ssh_config", "Host dut\n", "Host canary-alias\n");
    rig.edit("testbed.toml", "ssh = \"dut\"", "ssh = \"canary-alias\"");
    rig.append(
        "testbed.toml",
        "[hooks]\nconsole = [\"sh\", \"-c\", \"echo canary-alias at 10.66.1.2; echo root@10.66.1.2\"]\n\
         [tester]\nkind = \"fwdlab\"\nline-rate = \"1Gbps\"\n",
    );
    let known = fs::read(rig.dir().join("known_hosts")).expect("readable");
    let experiment = EXPERIMENT.replace(
        "name = \"strict\"",
        "name = \"strict\"\nexpect = [{ run = \"cat /proc/sys/net/ipv4/conf/all/rp_filter\", is = \"1\" }]",
    );
    let experiment = experiment.replace("blocks = 1", "blocks = 2");
    // Hooks get it, and nobody keeps it.
    let run = |experiment: &str| {
        let mut command = rig.command(experiment);
        command.env("POWER_PASSWORD", "canary-password").output().expect("it starts")
    };
    // A variant that sets nothing has what the device has, whatever another one set before.
    let word = "net.ipv4.conf.all.rp_filter";
    let experiment = experiment.replace(&format!("set = {{ \"{word}\" = 0 }}"), "");
    let own = rig.on("dut", "cat /proc/sys/net/ipv4/conf/all/rp_filter").trim().to_owned();
    let output = run(&experiment);
    rig.assert_finished(&output);
    let left = "cat /proc/sys/net/ipv4/conf/all/rp_filter; ip route show proto 177; ip neigh show nud permanent";
    assert_eq!(rig.on("dut", left).trim(), own, "a finished campaign leaves the device as it was");
    let trials = rig.records("trial");
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert_eq!(trial["device_received"].as_u64().map(|n| n > 500), Some(true), "{trial}");
        assert_eq!(trial["checks"]["bad_ttl"], 0);
        let wanted = if trial["variant"] == "strict" { "1" } else { own.as_str() };
        assert_eq!(trial["proof"][word], wanted);
        // What only one variant expects something of is shown of both.
        assert_eq!(trial["proof"]["cat /proc/sys/net/ipv4/conf/all/rp_filter"], wanted);
        for port in ["port 1", "tester port 0", "tester port 1"] {
            assert_eq!(trial["proof"][format!("{port} speed")], "10000", "{trial}");
        }
    }
    let environment = fs::read_to_string(rig.results().join("environment.json")).expect("there");
    assert!(environment.contains("\"tester: line rate\": \"1000 Mbit/s\""), "{environment}");
    for fact in ["system", "processor", "cores", "mitigations", "port 0 speed", "port 1 queues"] {
        for key in [format!("\"{fact}\": "), format!("\"tester: {fact}\": ")] {
            assert!(environment.contains(&key), "{key}: {environment}");
        }
    }
    let campaign = &rig.records("campaign")[0];
    assert_eq!(campaign["testbed"]["name"], "rig");
    assert_eq!(fs::read(rig.dir().join("known_hosts")).expect("readable"), known);
    assert!(!rig.on("tester", "ls /var/tmp/fwdlab").contains("lock"), "the lock is given back");

    // A failure with a console, so that its text is looked at too.
    let failing = experiment.replace("is = \"1\"", "is = \"canary-alias\"");
    fs::remove_dir_all(rig.results()).expect("removed");
    let output = run(&failing);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(rig.failures().contains(&"proof-mismatch".to_owned()));
    let results = all_text(&rig.results());
    let results: String = results.lines().filter(|line| !line.contains("is = \"canary")).collect();
    let experiment = "\\\"canary-alias\\\""; // what the experiment itself expects may be repeated
    let results = results.replace(experiment, "");
    for secret in
        ["canary-key", "canary-password", "canary-user", "10.66.1.2", "root@", "ssh_config"]
    {
        assert!(!results.contains(secret), "{secret} stands in the results");
    }
    let console =
        rig.journal().iter().map(|r| r["failure"]["console"].to_string()).collect::<String>();
    assert!(console.contains("(dut) at (dut)") && !console.contains("canary"), "{console}");
}

#[test]
fn the_shipped_example_runs_on_the_testbed_that_the_page_makes() {
    if Command::new("nft").arg("--version").output().is_err() {
        eprintln!("SKIPPED remote-linux.toml on a testbed: no nft; apt-get install nftables");
        return;
    }
    let Some(rig) = Rig::up("remote-linux.toml on a testbed", &[]) else { return };
    let example = include_str!("../../../../examples/remote-linux.toml");
    let short = example.replace("blocks = 8", "blocks = 1").replace("\"1s\"", "\"300ms\"");
    assert!(short.contains("blocks = 1\n") && short.contains("\"300ms\""), "{short}");
    let output = rig.run(&short);
    rig.assert_finished(&output);
    assert_eq!(rig.records("trial").len(), 3);
    // What the rules are is asked of every variant, so that the page can say that they differ.
    let rules = "nft list table inet fwdlab | grep -c drop";
    for trial in rig.records("trial") {
        let wanted = if trial["variant"] == "rules-100" { "100" } else { "0" };
        assert_eq!(trial["proof"][rules], wanted, "{trial}");
    }
    let page = fs::read_to_string(rig.results().join("README.md")).expect("a page");
    assert!(!page.contains("read back the same as the baseline"), "{page}");
}

/// What somebody's own configuration of ssh says does not reach us, by a whole campaign; each option by itself
/// is asked of ssh in the tests of the device.
#[test]
fn a_hostile_configuration_of_ssh_changes_nothing() {
    let Some(rig) = Rig::up("a hostile configuration of ssh", &[]) else { return };
    let at = |name: &str| rig.dir().join(name).display().to_string();
    let (touched, known, socket) = (at("touched"), at("learnt"), at("socket-%h"));
    let own = fs::read_to_string(rig.dir().join("ssh_config")).expect("readable");
    let hostile = format!(
        "IgnoreUnknown SessionType,StdinNull,ForkAfterAuthentication,KnownHostsCommand\nHost *\n\
         BatchMode no\nStrictHostKeyChecking no\nUserKnownHostsFile {known}\nUpdateHostKeys yes\n\
         ForwardAgent yes\nLocalForward {touched}.forward 127.0.0.1:22\nControlMaster auto\n\
         ControlPath {socket}\nControlPersist yes\nPermitLocalCommand yes\n\
         LocalCommand touch {touched}\nRemoteCommand touch /tmp/touched\nRequestTTY force\n\
         SessionType none\nStdinNull yes\nForkAfterAuthentication yes\nServerAliveInterval 1\n\
         LogLevel DEBUG3\nKnownHostsCommand /usr/bin/touch {touched}\n{own}"
    );
    fs::write(rig.dir().join("ssh_config"), hostile).expect("writable");
    let before = fs::read(rig.dir().join("known_hosts")).expect("readable");
    rig.assert_finished(&rig.run(EXPERIMENT));
    let files = fs::read_dir(rig.dir()).expect("a directory");
    let names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    let made = |name: &&std::ffi::OsString| {
        let name = name.to_string_lossy();
        ["touched", "learnt", "socket-"].iter().any(|other| name.starts_with(other))
    };
    assert_eq!(names.iter().filter(made).count(), 0, "{names:?}");
    assert_eq!(rig.on("dut", "ls /tmp"), "");
    assert_eq!(fs::read(rig.dir().join("known_hosts")).expect("readable"), before);
}

#[test]
fn a_profile_is_taken_on_the_device_and_fetched_when_the_traffic_is_over() {
    let name = "a profile of the device";
    let Some(rig) = Rig::up(name, &[]) else { return };
    if rig.on("dut", "perf record -q -a -e cpu-clock -o /tmp/x -- true && echo yes").trim() != "yes"
    {
        eprintln!("SKIPPED {name}: no perf, or it may not; apt-get install linux-perf");
        return;
    }
    let experiment = EXPERIMENT.replace("seed = 7", "seed = 7\nprofile = true");
    let mut output = rig.run(&experiment);
    rig.assert_finished(&output);
    // A trial may fail on a busy machine; then a person takes the profiles again.
    for _ in 0..3 {
        if text(&output.stderr).contains("warning: profile of ") {
            let mut again = rig.fwdlab();
            again.arg("profile").arg(rig.results());
            again.arg("--testbed").arg(rig.dir().join("testbed.toml"));
            eprintln!("{}", text(&output.stderr));
            output = again.output().expect("it starts");
        }
    }
    for variant in ["loose", "strict"] {
        let file = rig.results().join(format!("profiles/{variant}.inet.folded"));
        let said = text(&output.stderr);
        let stacks = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{said}"));
        assert!(stacks.contains(";ip_forward"), "{variant}: {stacks}");
    }
    let left = rig.on("dut", "ls /var/tmp/fwdlab; pidof perf");
    assert!(!left.contains("samples"), "{left}");
}

/// A traffic that replays the shipped capture.
fn recorded(load: &str) -> String {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/capture.pcap");
    format!(
        "[[traffic]]\nname = \"recorded\"\ncapture = \"{}\"\nload = \"{load}\"\n\
         source = \"198.18.10.1-198.18.10.40\"\ndestination = \"198.19.10.1-198.19.10.40\"\n",
        capture.display()
    )
}

/// The trials of the shipped capture: every frame was known again, and as it had to be.
fn assert_replayed(rig: &Rig) {
    let trials = rig.records("trial");
    let mut trials = trials.iter().filter(|trial| trial["traffic"] == "recorded").peekable();
    assert!(trials.peek().is_some(), "there are some");
    for trial in trials {
        assert_eq!(trial["sent"], trial["received"], "{trial}");
        let faults = ["lost", "misrouted", "bad_ttl", "bad_checksum", "bad_mac", "bad_payload"];
        for fault in faults {
            assert!(trial["checks"][fault].as_u64().unwrap_or(0) == 0, "{fault}: {trial}");
        }
        assert!(trial["flows_seen"].as_u64().is_some_and(|flows| flows > 30), "{trial}");
    }
}

#[test]
fn a_capture_is_replayed_as_it_was_recorded() {
    let Some(rig) = Rig::up("a capture on the hosts", &[]) else { return };
    let (ours, traffic) = EXPERIMENT.split_once("[[traffic]]").expect("a traffic");
    let (_, routes) = traffic.split_once("[routes]").expect("routes");
    let output = rig.run(&format!("{ours}{}[routes]{routes}", recorded("recorded")));
    rig.assert_finished(&output);
    assert_replayed(&rig);
}

#[test]
fn a_receiver_on_a_third_machine_counts_what_another_sends() {
    let Some(rig) = Rig::up("a receiver of its own", &["--receiver"]) else { return };
    let output = rig.run(&format!("{EXPERIMENT}\n{}", recorded("2kpps")));
    rig.assert_finished(&output);
    assert_replayed(&rig);
    for trial in rig.records("trial") {
        assert_eq!(trial["sent"], trial["received"], "{}", trial["id"]);
        let sum = |key: &str| -> u64 {
            let intervals = trial["intervals"].as_array().expect("intervals");
            intervals.iter().filter_map(|interval| interval[key].as_u64()).sum()
        };
        assert!(sum("tx") > 0 && sum("tx") <= trial["sent"].as_u64().expect("a number"));
    }
    let environment = fs::read_to_string(rig.results().join("environment.json")).expect("there");
    assert!(environment.contains("clock of receiver ahead of the controller"), "{environment}");
}

#[test]
fn nothing_is_sent_to_the_device_while_it_is_measured() {
    let Some(rig) = Rig::up("the quiet window", &[]) else { return };
    let is_over = AtomicBool::new(false);
    let longest = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            // A look takes long on a busy machine: a silence is counted from the begin of the last look
            // that saw something else, as long as it may have been.
            let mut before = String::new();
            let (mut last_look, mut since) = (Instant::now(), Instant::now());
            let mut longest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let look = Instant::now();
                let now = rig.on("dut", "cat /sys/class/net/eth0/statistics/rx_packets");
                longest = longest.max(since.elapsed());
                if now != before {
                    (before, since) = (now, last_look);
                }
                last_look = look;
            }
            longest
        });
        let output = rig.run(&long());
        is_over.store(true, Ordering::Relaxed);
        rig.assert_finished(&output);
        watcher.join().expect("watched")
    });
    // The window is 3.1 s; a busy machine makes it longer, not shorter.
    assert!(longest >= Duration::from_millis(2_900), "{longest:?}");
}

#[test]
fn the_testers_own_limit_is_that_of_each_traffic() {
    let Some(rig) = Rig::up("the tester's own limit", &[]) else { return };
    let inet = EXPERIMENT.find("[[traffic]]").expect("a traffic");
    let routes = EXPERIMENT.find("[routes]").expect("routes");
    let long = EXPERIMENT[inet..routes].replace("\"inet\"", "\"long\"\nframe = 1518");
    let experiment = format!("{}{long}\n{}", &EXPERIMENT[..routes], &EXPERIMENT[routes..]);
    rig.assert_finished(&rig.run(&experiment));
    let limits_of = |traffic: &str| -> Vec<f64> {
        let trials = rig.records("trial").into_iter();
        let of = trials.filter(|trial| trial["traffic"] == traffic);
        of.map(|trial| trial["generator_pps"].as_f64().unwrap_or_else(|| panic!("{trial}")))
            .collect()
    };
    let [short, long] = ["inet", "long"].map(limits_of);
    // Each was measured once; two measurements never agree to the last digit.
    assert!(short.len() == 2 && short[0] == short[1] && short[0] > 0.0, "{short:?}");
    assert!(long.len() == 2 && long[0] == long[1] && long[0] != short[0], "{short:?}, {long:?}");
}

#[test]
fn latency_is_taken_by_stamps_with_their_floor_over_a_cable() {
    let Some(rig) = Rig::up("latency by time stamps", &[]) else { return };
    rig.append(
        "testbed.toml",
        "[tester]\nkind = \"fwdlab\"\nloopback = [{ name = \"loop0\", mac = \"02:66:00:00:02:10\" }, \
         { name = \"loop1\", mac = \"02:66:00:00:02:11\" }]\n",
    );
    let mut doctor = rig.fwdlab();
    doctor.args(["doctor", "--testbed"]).arg(rig.dir().join("testbed.toml"));
    let said = text(&doctor.output().expect("it starts").stdout);
    assert!(said.contains("yes  tester: port loop1: 02:66:00:00:02:11, link up"), "{said}");
    let experiment = EXPERIMENT.replace("seed = 7", "seed = 7\nlatency = true");
    // As many as go through, so that only the warm-up tells how many are to be sampled.
    let experiment = experiment.replace("200ms", "1s").replace("20kpps", "max");
    let output = rig.run(&experiment);
    rig.assert_finished(&output);
    let page = std::fs::read_to_string(rig.results().join("README.md")).expect("a page");
    assert!(page.contains("stamps        sent      both     cable"), "{page}");
    for trial in rig.records("trial") {
        let latency = &trial["latency"];
        let of = |key: &str| latency[key].as_u64().unwrap_or_else(|| panic!("{key}: {trial}"));
        // Most of a busy machine's sample may be missing; of an idle one's, next to none is.
        assert!(of("frames") >= 100 && of("minimum_ns") > 0, "{latency}");
        assert!(of("minimum_ns") <= of("median_ns") && of("median_ns") <= of("maximum_ns"));
        // Virtual ports have no card.
        let stamps = &trial["stamps"];
        assert_eq!(stamps["by"], "kernel", "{stamps}");
        assert!(stamps["why"].to_string().contains("not every port stamps"), "{stamps}");
        assert!(stamps["floor"]["median_ns"].as_u64().is_some_and(|ns| ns > 0), "{stamps}");
        let (probes, both) = (stamps["probes"].as_u64(), stamps["stamped"].as_u64());
        assert!(both <= probes && both == latency["frames"].as_u64(), "{stamps}, {latency}");
        let ms: f64 = trial["intervals"]
            .as_array()
            .expect("intervals")
            .iter()
            .filter_map(|one| one["ms"].as_f64())
            .sum();
        // 200 in each tenth of a second, and the one at hand.
        assert!(
            probes.is_some_and(|probes| probes as f64 <= 2.0 * ms + 200.0),
            "{stamps} in {ms} ms"
        );
        eprintln!("{} received, {stamps}, {latency}", trial["received"]);
    }
}

#[test]
fn one_variant_twice_names_no_winner() {
    if !is_long("one variant twice on a testbed of namespaces") {
        return;
    }
    let Some(rig) = Rig::up("one variant twice", &[]) else { return };
    // As many frames as go through: at a rate that is asked for, the load would bound both sides.
    let same = EXPERIMENT.replace("rp_filter\" = 1", "rp_filter\" = 0").replace("20kpps", "max");
    let same = same.replace("blocks = 1", "blocks = 60\nmargin = \"10%\"\ncalibrate = \"0%\"");
    let output = rig.run(&same);
    rig.assert_finished(&output);
    eprintln!("{}", text(&output.stdout));
    // As a gate asks: else one test in twenty would fail by chance.
    let mut compare = rig.fwdlab();
    compare.arg("compare").arg(rig.results()).args(["--confidence", "99.9"]);
    let output = compare.output().expect("it starts");
    let words = text(&output.stdout);
    assert!(output.status.success(), "{words}{}", text(&output.stderr));
    let names_a_winner = words.contains("faster") || words.contains("slower");
    assert!(!names_a_winner && !words.contains("invalid"), "{words}");
}

#[test]
fn frames_are_told_by_receive_queue_where_the_driver_counts_them() {
    let Some(rig) = Rig::up("frames by receive queue", &[]) else { return };
    // What a driver with two queues would say, of which one has all frames.
    rig.on(
        "dut",
        "own=$(command -v ethtool || echo /usr/bin/ethtool)\n\
         cat > $own <<'END'\n#!/bin/sh\n[ $1 = -S ] || exit 1\n\
         echo NIC statistics:\necho ' rx_queue_0_packets: 7'\n\
         echo \" rx_queue_1_packets: $(cat /sys/class/net/$2/statistics/rx_packets)\"\n\
         echo ' rx_queue_1_bytes: 1'\nEND\nchmod 755 $own",
    );
    let output = rig.run(EXPERIMENT);
    rig.assert_finished(&output);
    for trial in rig.records("trial") {
        let queues = trial["queues"].as_array().unwrap_or_else(|| panic!("none: {trial}"));
        let frames: Vec<_> = queues.iter().map(|queue| &queue["frames"]).collect();
        assert_eq!(frames, [&serde_json::json!(0), &trial["device_received"]], "{trial}");
        assert_eq!(queues[1]["name"], "queue 1");
        let warnings = trial["warnings"].to_string();
        // Of a load that was borne, all of it, it is nothing that matters.
        let is_said = warnings.contains("imbalance: queue 1 took 2.0 times the mean");
        assert_eq!(is_said, trial["limited_by"] != "load", "{warnings}");
    }
}

#[test]
fn files_of_a_configuration_come_and_go_with_their_variants() {
    let Some(rig) = Rig::up("configuration files", &[]) else { return };
    let set = rig.dir().join("set/etc/fwdlab-test");
    fs::create_dir_all(&set).expect("made");
    fs::write(set.join("new 'file'"), "new\n").expect("written");
    fs::write(set.join("changed"), b"\x00changed\xff").expect("written");
    rig.on("dut", "mkdir /etc/fwdlab-test; echo original > /etc/fwdlab-test/changed");
    let experiment = EXPERIMENT
        .replace("name = \"loose\"", "name = \"loose\"\nreboot = \"never\"")
        .replace(
            "name = \"strict\"",
            "name = \"strict\"\nreboot = \"never\"\nconfiguration = \"set\"",
        )
        .replace("blocks = 1", "blocks = 2");
    let output = rig.run(&experiment);
    rig.assert_finished(&output);
    for trial in rig.records("trial") {
        let files = trial["proof"]["configuration"].as_str().expect("a proof").to_owned();
        assert_eq!(files.starts_with("2 files"), trial["variant"] == "strict", "{files}");
    }
    // Another experiment without files takes off what the last variant left.
    fs::remove_dir_all(rig.results()).expect("removed");
    rig.assert_finished(&rig.run(EXPERIMENT));
    assert_eq!(rig.on("dut", "cd /etc/fwdlab-test; ls; cat changed"), "changed\noriginal\n");
}

#[test]
fn a_campaign_of_another_testbed_is_not_gone_on_with() {
    let Some(rig) = Rig::up("another testbed", &[]) else { return };
    let output = rig.run_and(&long(), |_, child| {
        // As Ctrl-C: the campaign stops and keeps what it has.
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .expect("sent");
    });
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    rig.edit("testbed.toml", "name = \"rig\"", "name = \"twin\"");
    let output = rig.run(&long());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("another testbed's"), "{}", text(&output.stderr));
}

#[test]
fn doctor_shows_what_a_testbed_lacks() {
    let Some(rig) = Rig::up("doctor --testbed", &[]) else { return };
    let doctor = || {
        let mut command = rig.fwdlab();
        command.args(["doctor", "--testbed"]).arg(rig.dir().join("testbed.toml"));
        command.output().expect("it starts")
    };
    let output = doctor();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(
        said.contains("known key 256 SHA256:") && said.contains("dut: port port0: 02:66"),
        "{said}"
    );
    rig.on("dut", "ip link set port1 down");
    let output = doctor();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("no   dut: port port1"), "{}", text(&output.stdout));
}
