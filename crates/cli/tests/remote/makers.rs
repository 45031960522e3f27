//! Testers that are programs of others: trafgen on namespaces, pktgen on a kernel that has it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::rig::{EXPERIMENT, Rig, is_long, text};
use crate::vms::Machine;

/// A rig whose tester it is.
const TRAFGEN: &[&str] = &["--tester", "trafgen"];

/// Both families, from several sources to several destinations.
fn traffics(load: &str) -> String {
    with_sources6(load, "[2001:2:0:10::1]-[2001:2:0:10::3]:2000")
}

fn with_sources6(load: &str, sources6: &str) -> String {
    let (head, _) = EXPERIMENT.split_once("[[traffic]]").expect("traffic");
    format!(
        "{head}[[traffic]]\nname = \"inet\"\nload = \"{load}\"\n\
         source = \"198.18.10.1-198.18.10.4:2000\"\ndestination = \"198.19.10.1-198.19.10.5:2000\"\n\
         [[traffic]]\nname = \"inet6\"\nload = \"{load}\"\nframe = 82\n\
         source = \"{sources6}\"\n\
         destination = \"[2001:2:0:8010::40]-[2001:2:0:8010::43]:2000\"\n\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\", \
         \"2001:2::/49 via 2001:2::203\", \"2001:2:0:8000::/49 via 2001:2:0:8000::203\"]\n"
    )
}

/// The figures of a trial whose frames nobody looked at.
fn assert_counted(trial: &Value) {
    assert_eq!(trial["status"], "ok", "{trial}");
    let count = |key: &str| trial[key].as_u64().unwrap_or_else(|| panic!("no {key}: {trial}"));
    let (sent, received) = (count("sent"), count("received"));
    assert!(sent > 100 && received * 10 > sent * 9, "{trial}");
    assert!(count("device_received") + 64 >= sent, "{trial}");
    let sum = |key: &str| {
        let intervals = trial["intervals"].as_array().expect("intervals");
        intervals.iter().filter_map(|one| one[key].as_u64()).sum::<u64>()
    };
    // What came after the last interval is counted and in no rate.
    assert!(sum("tx") <= sent + 16 && sum("rx") <= received, "{trial}");
    assert!(sum("tx") * 10 > sent * 9, "{trial}");
    assert!(trial["flows_seen"].is_null() && trial["checks"].is_null(), "nobody looked: {trial}");
}

#[test]
fn trafgen_sends_what_was_planned_and_its_ports_count_it() {
    if !Path::new("/usr/sbin/trafgen").exists() {
        eprintln!("SKIPPED trafgen on a testbed: no trafgen; apt-get install netsniff-ng");
        return;
    }
    let Some(rig) = Rig::up("trafgen on a testbed", TRAFGEN) else { return };
    // At the highest load a busy machine may lose frames; what it sends is the device's to count.
    for load in ["2kpps", "max"] {
        let _ = std::fs::remove_dir_all(rig.results());
        let output = rig.run(&traffics(load));
        rig.assert_finished(&output);
        let trials = rig.records("trial");
        assert_eq!(trials.len(), 4);
        for trial in &trials {
            assert_counted(trial);
            // It sleeps between frames, and a busy machine lets it sleep longer: then it is the limit.
            let sent = trial["sent"].as_u64().expect("counted");
            if load == "2kpps" && sent < 380 {
                assert_eq!(trial["limited_by"], "generator", "{trial}");
            }
            assert!(load == "max" || sent <= 400, "no more than planned: {trial}");
        }
    }
    let environment = std::fs::read_to_string(rig.results().join("environment.json"));
    assert!(environment.expect("it is there").contains("trafgen 0."), "its version is recorded");
    assert_eq!(rig.on("tester", "ls /var/tmp/fwdlab/files").lines().count(), 1, "no list is left");
}

#[test]
fn trafgen_sends_every_flow() {
    if !Path::new("/usr/sbin/trafgen").exists() {
        eprintln!("SKIPPED the flows of trafgen: no trafgen; apt-get install netsniff-ng");
        return;
    }
    if !Path::new("/usr/sbin/nft").exists() {
        eprintln!("SKIPPED the flows of trafgen: no nft; apt-get install nftables");
        return;
    }
    let Some(rig) = Rig::up("the flows of trafgen", TRAFGEN) else { return };
    rig.on(
        "dut",
        "nft -f - <<'END'\ntable netdev seen {\n\
         set four { typeof ip saddr . ip daddr . udp dport; flags dynamic; size 1000; }\n\
         set six { typeof ip6 saddr . ip6 daddr . udp dport; flags dynamic; size 1000; }\n\
         chain in { type filter hook ingress device port0 priority 0;\n\
         add @four { ip saddr . ip daddr . udp dport }\n\
         add @six { ip6 saddr . ip6 daddr . udp dport }\n}\n}\nEND",
    );
    let output = rig.run(&traffics("2kpps"));
    rig.assert_finished(&output);
    for (set, flows) in [("four", 20), ("six", 12)] {
        let listed = rig.on("dut", &format!("nft -j list set netdev seen {set}"));
        let listed: Value = serde_json::from_str(&listed).unwrap_or_else(|_| panic!("{listed}"));
        let elements = listed["nftables"][1]["set"]["elem"].as_array().expect("elements");
        let seen: BTreeSet<String> = elements.iter().map(Value::to_string).collect();
        assert_eq!(seen.len(), flows, "{set}: {seen:?}");
    }
}

#[test]
fn what_trafgen_cannot_send_is_refused_and_its_crash_is_the_testers() {
    if !Path::new("/usr/sbin/trafgen").exists() {
        eprintln!("SKIPPED what trafgen cannot send: no trafgen; apt-get install netsniff-ng");
        return;
    }
    let Some(rig) = Rig::up("what trafgen cannot send", TRAFGEN) else { return };
    let output = rig.run(&traffics("20kpps"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(": traffic[1].load: trafgen cannot send traffic"), "{said}");
    assert!(said.contains("at most 10000 pps, or load = \"max\""), "{said}");
    // A program that breaks off in the middle says no number of frames.
    let long = traffics("2kpps").replace("duration = \"200ms\"", "duration = \"3s\"");
    let (long, _) = long.split_once("[[traffic]]\nname = \"inet6\"").expect("two traffics");
    let routes = "[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"]\n";
    let output = rig.run_and(&format!("{long}{routes}"), |rig, _| {
        rig.on("tester", "kill -9 $(pidof trafgen)");
    });
    rig.assert_finished(&output);
    assert_eq!(rig.failures(), ["tester-failed"]);
}

/// What a person would write for a generator that fwdlab does not know.
const COMMAND: &str = r#"#!/bin/sh
out=$1 back=$2 source=$3 device=$4 pps=$5 seconds=$6
PATH=$PATH:/usr/sbin
counts() { cat "/sys/class/net/$out/statistics/tx_packets" "/sys/class/net/$back/statistics/rx_packets"; }
echo "{ eth(da=$device, sa=$source), ipv4(saddr=198.18.10.1, daddr=198.19.10.1, ttl=9), udp(sport=2000, dport=2000), fill(0, 18) }" > "/tmp/own.$$"
frames=$(echo "$pps $seconds" | awk '{ print int($1 * $2) }')
echo "my generator is starting"
set -- $(counts)
echo '{"ready": true}'
begin=$(date +%s%N)
trafgen --cpus 1 --no-sock-mem --in "/tmp/own.$$" --out "$out" --num "$frames" --gap 500us >/dev/null || { echo '{"failed": "no trafgen"}'; exit 1; }
sleep 0.1
end=$(date +%s%N)
tx=$1 rx=$2
set -- $(counts)
echo "{\"interval\": {\"ms\": $(((end - begin) / 1000000)), \"tx\": $(($1 - tx)), \"rx\": $(($2 - rx))}}"
echo "{\"total\": {\"sent\": $frames, \"received\": $(($2 - rx))}}"
rm "/tmp/own.$$"
"#;

#[test]
fn any_command_that_says_json_lines_is_a_tester() {
    if !Path::new("/usr/sbin/trafgen").exists() {
        eprintln!("SKIPPED a command as the tester: no trafgen; apt-get install netsniff-ng");
        return;
    }
    let Some(rig) = Rig::up("a command as the tester", &[]) else { return };
    rig.on(
        "tester",
        &format!("cat > /usr/local/bin/own <<'EOF'\n{COMMAND}EOF\nchmod 755 /usr/local/bin/own"),
    );
    rig.append(
        "testbed.toml",
        "[tester]\nkind = \"command\"\nsend = [\"own\", \"{out}\", \"{back}\", \"{source-mac}\", \
         \"{device-mac}\", \"{pps}\", \"{seconds}\"]\n",
    );
    let experiment = EXPERIMENT.replace("20kpps", "1kpps");
    let output = rig.run(&experiment);
    rig.assert_finished(&output);
    for trial in rig.records("trial") {
        let received = trial["received"].as_u64().expect("a number");
        assert_eq!(trial["sent"].as_u64(), Some(200));
        // Its counters are those of the interface, which takes a frame of somebody else's now and then.
        assert!((200..=203).contains(&received), "{received} received: {trial}");
        assert_eq!(trial["intervals"].as_array().map(Vec::len), Some(1), "{trial}");
        assert!(
            trial["checks"].is_null() && trial["flows_seen"].is_null(),
            "nobody looked: {trial}"
        );
    }
    // What it said last is kept when it fails, and nothing that it started goes on.
    rig.on("tester", "sed -i 's/^begin=.*/sleep 4321 \\& exit 7/' /usr/local/bin/own");
    std::fs::remove_dir_all(rig.results()).expect("removed");
    let output = rig.run(&experiment);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(rig.failures(), ["tester-failed"; 3]);
    let logs = rig.records("repeated")[0]["failure"]["logs"].to_string();
    assert!(logs.contains("tester: my generator is starting"), "{logs}");
    let look = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done 2>/dev/null | \
                grep '^sleep 4321'";
    assert_eq!(rig.on("tester", look), "");
}

#[test]
fn pktgen_of_a_kernel_sends_what_was_planned() {
    let name = "pktgen of a kernel on a testbed of machines";
    if !is_long(name) {
        return;
    }
    let Some(machine) = Machine::up(name, "up") else { return };
    let file = machine.path().join("testbed.toml");
    let testbed = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, testbed + "[tester]\nkind = \"pktgen\"\n").expect("writable");
    let experiment = with_sources6("100pps", "[2001:2:0:10::1]:2000")
        .replace("duration = \"200ms\"", "duration = \"3s\"")
        .replace("interval = \"40ms\"", "interval = \"300ms\"");
    let refused =
        experiment.replace("[2001:2:0:10::1]:2000", "[2001:2:0:10::1]-[2001:2:0:10::2]:2000");
    let file = machine.path().join("refused.toml");
    std::fs::write(&file, refused).expect("writable");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    command.arg("run").arg(&file).arg("--testbed").arg(machine.path().join("testbed.toml"));
    let said = text(&command.output().expect("it starts").stderr);
    assert!(said.contains("traffic[2].destination: pktgen cannot send traffic"), "{said}");

    let (output, _) = machine.run("pktgen", &experiment, &[]);
    let journal = machine.journal("pktgen");
    let records = journal.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let trials: Vec<Value> = records.filter(|record: &Value| record["record"] == "trial").collect();
    assert_eq!(trials.len(), 4, "{}", text(&output.stderr));
    for trial in &trials {
        assert_counted(trial);
        assert_eq!(trial["sent"], 300, "as many as were planned: {trial}");
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
}
