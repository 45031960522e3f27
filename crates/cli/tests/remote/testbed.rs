//! What is said of testbed files, without a testbed.

use std::fs;
use std::process::{Command, Output};

use crate::rig::{EXPERIMENT, Rig, script, text};

const GOOD: &str = r#"
name = "apu2"
[hosts.dut]
ssh = "dut"
os = "bsdrp"
ports = [{ name = "igb1", mac = "00:0d:b9:00:00:01" }, { name = "igb2", mac = "00:0d:b9:00:00:02" }]
[hosts.tester]
ssh = "tester"
os = "freebsd"
ports = [{ name = "igb1", mac = "00:0d:b9:00:00:03" }, { name = "igb2", mac = "00:0d:b9:00:00:04" }]
[limits]
silent-dut = "60s"
[tester]
kind = "pkt-gen"
"#;

fn doctor(testbed: &str) -> Output {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("bed.toml");
    fs::write(&file, testbed).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    command.args(["doctor", "--testbed"]).arg(&file).output().expect("it starts")
}

#[test]
fn a_wrong_testbed_file_is_refused_with_line_field_and_remedy() {
    let cases = [
        ("os = \"bsdrp\"", "os = \"bsdrb\"", "bed.toml:5", "did you mean \"bsdrp\"?"),
        ("silent-dut = \"60s\"", "silent-dut = \"long\"", "bed.toml:12", "is no time"),
        ("silent-dut", "silent", "bed.toml:12", "unknown"),
        ("00:0d:b9:00:00:04", "00:0d:b9:00:00:03", "hosts.tester.ports", "stands twice"),
        ("00:0d:b9:00:00:01", "00:0d:b9", "bed.toml:6", "is no MAC address"),
        ("kind = \"pkt-gen\"", "kind = \"fwdlab\"", "hosts.tester.os", "does not run on freebsd"),
        ("kind = \"pkt-gen\"", "kind = \"command\"", "tester.send", "add send"),
        ("name = \"igb1\"", "name = \"udp:here\"", "bed.toml:6", "udp:127.0.0.1"),
        ("name = \"igb1\"", "name = \"udp:[::1]:1-[::1]:2\"", "hosts.dut.ports", "is a socket"),
        ("ssh = \"dut\"", "ssh = \"-oProxyCommand=x\"", "bed.toml:4", "is no host"),
    ];
    for (from, to, place, what) in cases {
        assert!(GOOD.contains(from), "{from}");
        let output = doctor(&GOOD.replacen(from, to, 1));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{to}: {said}");
        assert!(said.contains(place) && said.contains(what), "{to}: {said}");
    }
}

#[test]
fn a_testbed_is_asked_for_where_it_is_needed_and_refused_where_it_is_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |text: &str, arguments: &[&str]| {
        let file = dir.path().join("experiment.toml");
        fs::write(&file, text).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.arg("run").arg(&file).args(arguments).current_dir(dir.path());
        command.output().expect("it starts")
    };
    let output = run(EXPERIMENT, &[]);
    assert!(text(&output.stderr).contains("add --testbed FILE"), "{}", text(&output.stderr));
    let builtin = EXPERIMENT
        .replace("device = \"remote\"", "device = \"builtin\"")
        .replace("set = { \"net.ipv4.conf.all.rp_filter\" = 0 }", "")
        .replace("set = { \"net.ipv4.conf.all.rp_filter\" = 1 }", "");
    let output = run(&builtin, &["--testbed", "bed.toml"]);
    assert!(text(&output.stderr).contains("remove the option"), "{}", text(&output.stderr));
    assert!(!dir.path().join("results").exists(), "nothing was begun");
}

#[test]
fn keys_of_variants_are_checked() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("experiment.toml");
    let wrong = EXPERIMENT.replace("name = \"strict\"", "name = \"strict\"\nreboot = \"often\"");
    fs::write(&file, wrong).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    let output = command.args(["run", "--testbed", "x"]).arg(&file).output().expect("it starts");
    let said = text(&output.stderr);
    assert!(said.contains("says not when") && said.contains("never, variant, trial"), "{said}");
}

/// A rig of somebody whose shell was gone was taken away by the next one, while it ran.
#[test]
fn a_rig_leaves_those_that_run_alone() {
    let Some(own) = Rig::up("rigs beside each other", &[]) else { return };
    let dir = tempfile::Builder::new().prefix("fwrig").tempdir().expect("a directory");
    // Of a shell that ends; and what is left of a rig, of a process that cannot be.
    let made = "\"$0\" up \"$1\"; ip netns add fwrig-999999999-gone1-dut; :";
    let shell = Command::new("sh").args(["-c", made]).arg(script()).arg(dir.path()).status();
    assert!(shell.expect("it starts").success());
    let third = Rig::up("rigs beside each other", &[]).expect("one came up before");
    let call = |word: &str, dir: &std::path::Path, more: &[&str]| -> Output {
        Command::new(script()).arg(word).arg(dir).args(more).output().expect("it starts")
    };
    let is_there = call("in", dir.path(), &["dut", "hostname"]);
    let left = Command::new("ip").args(["netns", "list"]).output().expect("it starts");
    let again = call("up", dir.path(), &[]);
    assert!(call("down", dir.path(), &[]).status.success());
    assert_eq!(text(&is_there.stdout), "dut\n", "{}", text(&is_there.stderr));
    assert!(!text(&left.stdout).contains("fwrig-999999999-"), "{}", text(&left.stdout));
    assert!(text(&again.stderr).contains("has a rig that runs"), "{}", text(&again.stderr));
    for rig in [&own, &third] {
        assert_eq!(rig.on("dut", "hostname"), "dut\n");
    }
    let blank = dir.path().join("a bed");
    let refused = call("up", &blank, &[]);
    let said = text(&refused.stderr);
    assert!(said.contains("without blanks") && !blank.exists(), "{said}");
}

/// The machines of a killed test ran for ever, and its directory with the key stayed.
#[test]
fn a_rig_of_a_killed_test_goes_with_the_next() {
    let base = tempfile::tempdir().expect("a directory");
    // Of a process that is gone before the next comes, as a killed test is.
    let made = "\"$0\" up \"$1\" --of $$; :";
    let Some(own) = Rig::up("rigs of killed tests", &[]) else { return };
    let shell = Command::new("sh").args(["-c", made]).arg(script()).arg(base.path()).status();
    assert!(shell.expect("it starts").success());
    let name = fs::read_to_string(base.path().join("name")).expect("a name");
    let netns = || -> String {
        let listed = Command::new("ip").args(["netns", "list"]).output().expect("it starts");
        text(&listed.stdout)
    };
    assert!(netns().contains(name.trim()), "{}", netns());
    let third = Rig::up("rigs of killed tests", &[]).expect("one came up before");
    assert!(!netns().contains(name.trim()), "{}", netns());
    for rig in [&own, &third] {
        assert_eq!(rig.on("dut", "hostname"), "dut\n");
        let named = rig.dir().file_name().expect("a name").to_string_lossy().into_owned();
        assert!(named.starts_with(&format!("fwdlab-{}-", std::process::id())), "{named}");
    }
}
