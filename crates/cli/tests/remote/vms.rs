//! A device that is a virtual machine with a kernel of its own: what namespaces cannot do is real here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use fwdlab_results::{Results, Status};
use tempfile::TempDir;

use crate::rig::{EXPERIMENT, is_long, program, text};

/// A running device with a kernel of its own, with this machine as its tester; it is taken away when
/// dropped.
pub struct Machine {
    dir: TempDir,
}

/// The rig's experiment for a kernel whose clock counts instructions: what frames cost it depends on no load
/// of this machine.
fn experiment() -> String {
    let own = "margin = \"20%\"\nblocks = 6\ncalibrate = \"0%\"\nduration = \"800ms\"";
    EXPERIMENT
        .replace("blocks = 1\nduration = \"200ms\"", own)
        .replace("interval = \"40ms\"", "interval = \"100ms\"")
        .replace("20kpps", "200pps")
}

/// The difference that is put in: a way back to the sources that is long to find. Each of these routes
/// is looked at, and none is taken, because its link is down. Only strict checking asks for it.
const LONG_WAY_BACK: &str = "ip link add far type veth peer name away && ip link set far up && \
    echo 1 > /proc/sys/net/ipv4/conf/far/ignore_routes_with_linkdown && \
    { n=0; while [ $n -lt 1500 ]; do n=$((n + 1)); \
    echo \"route add 198.18.10.0/24 dev far metric $n\"; done; } | ip -batch -";

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/remote-vms.sh")
}

impl Machine {
    /// The device alone, or a device, a tester and a receiver (`up`).
    pub fn up(name: &str, which: &str) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("fwvm").tempdir().expect("a directory");
        let machine = Self { dir };
        let made = Command::new(script())
            .arg(which)
            .arg(machine.path())
            .env("PROGRAM", program())
            .output();
        let made = made.expect("the script starts");
        if !made.status.success() {
            let said = text(&made.stderr);
            assert!(said.contains("remote-vms.sh: needs"), "{said}");
            eprintln!("SKIPPED {name}: {}", said.trim());
            return None;
        }
        let file = machine.path().join("testbed.toml");
        let testbed = fs::read_to_string(&file).expect("readable");
        let (dut, tester) = testbed.split_once("[hosts.tester]").expect("a tester");
        let program = format!("os = \"linux\"\nprogram = {:?}", program());
        let tester = tester.replace("os = \"linux\"", &program);
        fs::write(file, format!("{dut}[hosts.tester]{tester}")).expect("writable");
        Some(machine)
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn script(&self, what: &str, command: &str) -> String {
        let mut process = Command::new(script());
        process.arg(what).arg(self.path()).args(["dut", command]);
        let said = process.output().expect("the script starts");
        text(&said.stdout)
    }

    pub fn run(&self, name: &str, experiment: &str, more: &[&str]) -> (Output, Results) {
        let file = self.path().join(format!("{name}.toml"));
        fs::write(&file, experiment).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(["run", "-q", "-o"]).arg(self.path().join(name)).arg(&file).args(more);
        command.arg("--testbed").arg(self.path().join("testbed.toml"));
        let output = command.output().expect("it starts");
        let results = Results::read(&self.path().join(name));
        let results = results.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
        (output, results)
    }

    /// Runs two trials, in the first of which something breaks; the kinds of what failed.
    fn broken(&self, name: &str, breaks: impl FnOnce(&Self)) -> Vec<String> {
        let long = experiment().replace("blocks = 6", "blocks = 1").replace("800ms", "8s");
        let (output, results) = thread::scope(|scope| {
            let run = scope.spawn(|| self.run(name, &long, &[]));
            self.wait_for_traffic();
            breaks(self);
            run.join().expect("it ends")
        });
        let is_ok = results.trials.iter().all(|trial| trial.status == Status::Ok);
        assert!(is_ok && results.trials.len() == 2, "{}", text(&output.stderr));
        let journal = self.journal(name);
        let records = journal.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let kind =
            |record: serde_json::Value| record["failure"]["kind"].as_str().map(str::to_owned);
        records.filter_map(kind).collect()
    }

    pub fn journal(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name).join("trials.jsonl")).expect("a journal")
    }

    /// Waits until the device forwards what is measured.
    fn wait_for_traffic(&self) {
        let count = || {
            let counter = "cat /sys/class/net/port1/statistics/tx_packets";
            self.script("in", counter).trim().parse().unwrap_or(0_u64)
        };
        let start = std::time::Instant::now();
        let before = count();
        while count() < before + 300 {
            assert!(start.elapsed() < crate::rig::PATIENCE, "no traffic comes through");
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = Command::new(script()).arg("down").arg(self.path()).status();
    }
}

#[test]
fn a_difference_that_was_put_into_a_kernel_is_found() {
    if !is_long("a difference, equal variants, boots, a cable and a panic of a kernel of its own") {
        return;
    }
    let Some(machine) = Machine::up("a kernel of its own", "alone") else { return };
    machine.script("in", LONG_WAY_BACK);
    let (output, results) = machine.run("difference", &experiment(), &[]);
    let page = text(&output.stdout);
    assert!(output.status.success(), "{page}{}", text(&output.stderr));
    assert!(page.contains("strict is slower than loose"), "{page}");
    let cost = |variant: &str| -> f64 {
        let of = results.trials.iter().filter(|trial| trial.variant == variant);
        of.filter_map(|trial| trial.measured.cost_ns()).fold(0.0, f64::max)
    };
    eprintln!("a frame costs {:.0} ns, {:.0} with strict checking", cost("loose"), cost("strict"));

    let same = experiment().replace("rp_filter\" = 1", "rp_filter\" = 0");
    // On a busy machine it may be too noisy to say that they are equal; a winner is never named.
    let (output, _) = machine.run("same", &same, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // As a gate asks: else one test in twenty would fail by chance.
    let mut compare = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    compare.arg("compare").arg(machine.path().join("same")).args(["--confidence", "99.9"]);
    let output = compare.output().expect("it starts");
    let words = text(&output.stdout);
    assert!(output.status.success(), "{words}{}", text(&output.stderr));
    assert!(!words.contains("faster") && !words.contains("slower"), "{words}");
    eprintln!("one variant twice: {words}");

    let boots = experiment().replace("blocks = 6", "blocks = 1");
    let boots = boots.replace("name = \"strict\"", "name = \"strict\"\nreboot = \"trial\"");
    let before = machine.script("in", "cat /proc/sys/kernel/random/boot_id");
    let (output, results) = machine.run("boots", &boots, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(results.trials.iter().all(|trial| trial.status == Status::Ok));
    assert_ne!(before, machine.script("in", "cat /proc/sys/kernel/random/boot_id"));

    let kinds = machine.broken("cable", |machine| {
        machine.script("monitor", "set_link port1 off");
        thread::sleep(Duration::from_secs(1));
        machine.script("monitor", "set_link port1 on");
    });
    assert_eq!(kinds, ["link-lost"]);
    // It stands still until it is switched off and on.
    let panic = "(sleep 1; echo c > /proc/sysrq-trigger) </dev/null >/dev/null 2>&1 &";
    let kinds = machine.broken("panic", |machine| drop(machine.script("in", panic)));
    assert_eq!(kinds, ["dut-hung"]);
    assert!(machine.journal("panic").contains("Kernel panic - not syncing"));
}

/// The shipped example of a kernel for each variant: the hook says which one, the device boots it.
#[test]
fn the_example_of_two_kernels_boots_each() {
    let name = "two kernels on a testbed of machines";
    if !is_long(name) {
        return;
    }
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels");
    if ["6.1", "6.12"].iter().any(|kernel| !kernels.join(kernel).exists()) {
        eprintln!("SKIPPED {name}: examples/kernels.sh gets them");
        return;
    }
    let Some(machine) = Machine::up(name, "alone") else { return };
    let example = include_str!("../../../../examples/remote-kernels.toml");
    let short = example.replace("blocks = 8", "blocks = 1").replace("\"max\"", "\"200pps\"");
    assert!(short.contains("blocks = 1\n") && short.contains("\"200pps\""), "{short}");
    let (output, results) = machine.run("kernels", &short, &[]);
    let is_ok = results.trials.iter().all(|trial| trial.status == Status::Ok);
    assert!(is_ok && results.trials.len() == 2, "{}", text(&output.stderr));
    for trial in &results.trials {
        let kernel = &trial.measured.proof["kernel"];
        eprintln!("{}: {kernel}, {:?} ns a frame", trial.variant, trial.measured.cost_ns());
        assert!(kernel.starts_with(&format!("{}.", trial.variant)), "{kernel}");
    }
}
