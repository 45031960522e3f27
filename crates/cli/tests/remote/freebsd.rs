//! A FreeBSD guest as the device, by ssh, with the kernels and the root image that lie in
//! `../shared/data/freebsd` where they are at hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::rig::{LONG, program, text};

/// A running guest with an sshd for its tester; both go when this does.
struct Guest {
    dir: TempDir,
}

const ROUTES: &str =
    "static = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]";

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/remote-freebsd.sh")
}

fn experiment(times: &str, variants: &str, load: &str) -> String {
    format!(
        "title = \"FreeBSD by ssh\"\ndevice = \"remote\"\nbaseline = \"a\"\nblocks = 1\n{times}\n{variants}\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\nload = \"{load}\"\n[routes]\n{ROUTES}\n"
    )
}

const SHORT: &str = "duration = \"500ms\"\nwarmup = \"100ms\"\ninterval = \"100ms\"";

impl Guest {
    fn up(name: &str) -> Option<Self> {
        let skip = |why: &str| {
            eprintln!("SKIPPED {name}: {why}");
            None
        };
        let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/freebsd");
        let Ok(images) = fs::canonicalize(images) else { return skip("no ../shared/data/freebsd") };
        for (program, package) in
            [("qemu-system-x86_64", "qemu-system-x86"), ("/usr/sbin/sshd", "openssh-server")]
        {
            if Command::new(program).arg("-V").output().is_err() {
                return skip(&format!("no {program}: apt-get install {package}"));
            }
        }
        let guest = Self { dir: tempfile::tempdir().expect("a directory") };
        let [kernel, root] = ["kernel", "root.qcow2"].map(|file| images.join(file));
        let mut command = Command::new(script());
        let made = command.arg("up").arg(guest.dir.path()).args([kernel, root]).output();
        let made = made.expect("the script starts");
        assert!(made.status.success(), "{}", text(&made.stderr));
        // It travels by ssh, however near.
        let path = guest.dir.path().join("testbed.toml");
        let testbed = fs::read_to_string(&path).expect("a testbed");
        let linux = format!("os = \"linux\"\nprogram = {:?}", program());
        fs::write(&path, testbed.replace("os = \"linux\"", &linux)).expect("writable");
        Some(guest)
    }

    fn lab(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(words).current_dir(self.dir.path()).output().expect("it starts")
    }

    /// The trials of an experiment, all of which are good.
    fn run(&self, name: &str, experiment: &str, testbed: &str) -> Vec<Value> {
        let file = format!("{name}.toml-experiment");
        fs::write(self.dir.path().join(&file), experiment).expect("writable");
        let output = self.lab(&["run", "-q", "-o", name, &file, "--testbed", testbed]);
        let journal = self.dir.path().join(name).join("trials.jsonl");
        let journal = fs::read_to_string(journal).unwrap_or_default();
        let records = journal.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let trials: Vec<Value> = records.filter(|r: &Value| r["record"] == "trial").collect();
        assert_eq!(trials.len(), 2, "{}", text(&output.stderr));
        for trial in &trials {
            assert_eq!(trial["status"], "ok", "{}\n{}", trial["reason"], text(&output.stderr));
        }
        trials
    }

    fn ask(&self, command: &str) -> String {
        let mut script = Command::new(script());
        let said = script.arg("in").arg(self.dir.path()).arg(command).output();
        text(&said.expect("the script starts").stdout).trim().to_owned()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = Command::new(script()).arg("down").arg(self.dir.path()).status();
    }
}

#[test]
fn a_freebsd_host_is_measured_by_a_tester_without_privileges() {
    let Some(guest) = Guest::up("a FreeBSD host is measured") else { return };
    // Sysctls: set, read back, and put back by a variant that does not set them.
    let before = guest.ask("sysctl -n net.inet.ip.ttl");
    let variants = "[[variant]]\nname = \"a\"\nset = { \"net.inet.ip.ttl\" = 77 }\n\
                    [[variant]]\nname = \"b\"\nset = { \"net.route.algo.inet.algo\" = \"radix4\" }\n\
                    expect = [{ run = \"sysctl -n net.inet.ip.ttl\", is = \"TTL\" }]\n";
    let variants = variants.replace("TTL", &before);
    let trials = guest.run("sysctls", &experiment(SHORT, &variants, "2kpps"), "testbed.toml");
    for trial in &trials {
        let checks = &trial["checks"];
        assert!(checks["checked"].as_u64().is_some_and(|n| n > 200), "{checks}");
        for fault in ["bad_ttl", "bad_checksum", "bad_mac", "misrouted", "duplicated"] {
            assert_eq!(checks[fault], 0, "{fault}: {checks}");
        }
        let received = trial["device_received"].as_u64();
        assert!(received.is_some_and(|frames| frames > 200), "{received:?}");
        let word = |word: &str| trial["proof"][word].as_str().unwrap_or_default().to_owned();
        match trial["variant"] == "a" {
            true => assert_eq!(word("net.inet.ip.ttl"), "77"),
            false => assert_eq!(word("net.route.algo.inet.algo"), "radix4"),
        }
    }

    if std::env::var_os(LONG).is_none() {
        eprintln!(
            "SKIPPED doctor, refusals, reboots and pkt-gen of a FreeBSD host: {LONG}=1 runs them"
        );
        return;
    }
    what_doctor_says(&guest);
    refusals(&guest, &variants);
    reboots(&guest);
    pkt_gen(&guest);
}

fn what_doctor_says(guest: &Guest) {
    let doctor = guest.lab(&["doctor", "--testbed", "testbed.toml"]);
    assert!(doctor.status.success(), "{}{}", text(&doctor.stdout), text(&doctor.stderr));
    let words = text(&doctor.stdout);
    assert!(words.contains("52:54:00:00:01:01, link up") && words.contains("udp:"), "{words}");
}

/// What the guest refuses is said in its words.
fn refusals(guest: &Guest, variants: &str) {
    let wrong = variants.replace("\"radix4\"", "\"dpdk_lpm4\"");
    let wrong = experiment(SHORT, &wrong, "2kpps");
    fs::write(guest.dir.path().join("wrong.toml"), wrong).expect("writable");
    let words = ["run", "-q", "-o", "wrong", "wrong.toml", "--testbed", "testbed.toml"];
    let output = guest.lab(&words);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("a sysctl is refused"), "{}", text(&output.stderr));
}

/// Configuration sets, which take a reboot each, told apart by the boot's time.
fn reboots(guest: &Guest) {
    for (name, commands) in [
        ("a", "sysctl net.route.algo.inet.algo=radix4_lockless\n"),
        ("b", "kldload fib_dxr\nsysctl net.route.algo.inet.algo=dxr\n"),
    ] {
        let dir = guest.dir.path().join("sets").join(name).join("etc/local.d");
        fs::create_dir_all(&dir).expect("a directory");
        fs::write(dir.join("algo.sh"), commands).expect("writable");
    }
    let variant = |name: &str, algo: &str| {
        format!(
            "[[variant]]\nname = \"{name}\"\nconfiguration = \"sets/{name}\"\n\
             expect = [{{ run = \"sysctl -n net.route.algo.inet.algo\", is = \"{algo}\" }}]\n"
        )
    };
    let variants = variant("a", "radix4_lockless") + &variant("b", "dxr");
    let before = guest.ask("sysctl -n kern.boottime");
    let trials = guest.run("reboots", &experiment(SHORT, &variants, "2kpps"), "testbed.toml");
    let proof =
        trials.iter().map(|trial| trial["proof"]["sysctl -n net.route.algo.inet.algo"].clone());
    let mut found: Vec<Value> = proof.collect();
    found.sort_by_key(Value::to_string);
    assert_eq!(found, ["dxr", "radix4_lockless"]);
    assert_ne!(before, guest.ask("sysctl -n kern.boottime"));
}

/// pkt-gen on the guest itself, over two cables.
fn pkt_gen(guest: &Guest) {
    let times = "duration = \"5s\"\nwarmup = \"1s\"\ninterval = \"1s\"";
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                    set = { \"net.route.algo.inet.algo\" = \"radix4\" }\n";
    let experiment = experiment(times, variants, "1kpps");
    let experiment = experiment.replace("198.18.0.203", "198.51.100.203");
    let experiment = experiment.replace("198.19.0.203", "203.0.113.203");
    let experiment = experiment.replace("198.18.", "100.65.").replace("198.19.", "100.66.");
    for trial in guest.run("pkt-gen", &experiment, "pkt-gen.toml") {
        assert!(trial["sent"].as_u64().is_some_and(|frames| frames > 3_000), "{trial}");
        assert_eq!(trial["received"], trial["sent"], "{trial}");
    }
}
