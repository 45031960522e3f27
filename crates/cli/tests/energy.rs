//! Energy by counters that the test advances, of a whole campaign and of `fwdlab doctor`.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

mod lab;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_results::Results;
use lab::{EXPERIMENT, Lab, text};

/// Where a counter of a processor starts again, in uJ, as one was seen to say.
const END: u64 = 262_143_328_850;

/// Zones, their names, and what they use in W: two packages, of which one starts again in the first seconds, and what
/// must not count beside them.
const ZONES: [(&str, &str, u64, u64); 5] = [
    ("intel-rapl:0", "package-0", 10, 0),
    ("intel-rapl:0:0", "core", 1_000, 0),
    ("intel-rapl:1", "package-1", 20, END - 20_000_000),
    ("intel-rapl:2", "psys", 3_000, 0),
    ("intel-rapl-mmio:0", "package-0", 1_000, 0),
];

/// In one step, as a counter is read.
fn put(file: &Path, number: u64) {
    let beside = file.with_extension("new");
    fs::write(&beside, format!("{number}\n")).unwrap();
    fs::rename(&beside, file).unwrap();
}

fn make(root: &Path) {
    for (zone, name, _, begin) in ZONES {
        let dir = root.join(zone);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("name"), format!("{name}\n")).unwrap();
        fs::write(dir.join("max_energy_range_uj"), format!("{END}\n")).unwrap();
        put(&dir.join("energy_uj"), begin);
    }
}

/// Lets the counters run until told to stop; for how long they did, in us.
fn advance(root: &Path, stop: &AtomicBool) -> u64 {
    let start = Instant::now();
    loop {
        let us = start.elapsed().as_micros() as u64;
        for (zone, _, watts, begin) in ZONES {
            put(&root.join(zone).join("energy_uj"), (begin + us * watts) % (END + 1));
        }
        if stop.load(Ordering::Relaxed) {
            return us;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_campaign_counts_the_joules_of_each_package_once() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED a_campaign_counts_the_joules: needs two cores");
        return;
    }
    let lab = Lab::new(EXPERIMENT);
    let root = lab.path("powercap");
    make(&root);
    let stop = AtomicBool::new(false);
    let (output, us) = std::thread::scope(|scope| {
        let counters = scope.spawn(|| advance(&root, &stop));
        let mut run = lab.command(&["run", "short.toml", "--output", "out", "--blocks", "6"]);
        let output = run.env("FWDLAB_POWERCAP", &root).output().unwrap();
        stop.store(true, Ordering::Relaxed);
        (output, counters.join().unwrap())
    });
    assert!(lab.path("out/README.md").exists(), "{}", text(&output.stderr));
    let results = Results::read(&lab.path("out")).unwrap();
    let joules: Vec<Option<f64>> = results.trials.iter().map(|t| t.measured.joules).collect();
    assert!(
        !joules.is_empty() && joules.iter().all(|own| own.is_some_and(|j| j > 0.0)),
        "{joules:?}"
    );
    // No trial counts what another one does, and nothing counts twice: together they have no more than there was.
    let sum: f64 = joules.iter().flatten().sum();
    assert!(sum <= us as f64 * 30e-6, "{sum} of {us} us at 30 W");
    let readme = fs::read_to_string(lab.path("out/README.md")).unwrap();
    assert!(readme.contains("J/million frames"), "{readme}");
    let environment = fs::read_to_string(lab.path("out/environment.json")).unwrap();
    assert!(environment.contains("2 processor packages, of "), "{environment}");
}

/// On the running kernel a trial of 100 ms has as much again in which its sender stops and last frames are waited for:
/// it had 1.1 to 2.7 times the joules of what was counted.
#[test]
fn joules_on_the_running_kernel_are_those_of_the_counted_time() {
    let test = "joules_on_the_running_kernel";
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED {test}: needs two cores");
        return;
    }
    let short = EXPERIMENT
        .replace("\"builtin\"", "\"linux\"")
        .replace("\"net.route.algo.inet.algo\"", "\"net.ipv4.ip_default_ttl\"")
        .replace("\"radix4\"", "\"64\"")
        .replace("\"auto\"", "\"65\"")
        .replace("300ms", "100ms")
        .replace("\"50ms\"", "\"10ms\"");
    let lab = Lab::new(&short);
    let root = lab.path("powercap");
    make(&root);
    let stop = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        let counters = scope.spawn(|| advance(&root, &stop));
        let mut run = lab.command(&["run", "short.toml", "--output", "out", "--blocks", "3"]);
        let output = run.env("FWDLAB_POWERCAP", &root).output().unwrap();
        stop.store(true, Ordering::Relaxed);
        counters.join().unwrap();
        output
    });
    let Ok(results) = Results::read(&lab.path("out")) else {
        eprintln!("SKIPPED {test}: {}", text(&output.stderr));
        return;
    };
    // 30 W, whatever a trial took in all.
    let ratio = |trial: &fwdlab_results::Trial| {
        let counted_ms: f64 = trial.measured.intervals.iter().map(|own| own.ms).sum();
        Some(trial.measured.joules? / (30e-3 * counted_ms))
    };
    let mut ratios: Vec<f64> = results.trials.iter().filter_map(ratio).collect();
    if ratios.is_empty() {
        eprintln!("SKIPPED {test}: no trial was made: {}", text(&output.stderr));
        return;
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios[ratios.len() / 2];
    assert!((0.7..1.3).contains(&middle), "{ratios:?}");
}

#[test]
fn doctor_says_what_counters_there_are_and_what_helps_where_a_user_may_not_read_them() {
    let lab = Lab::new(EXPERIMENT);
    let root = lab.path("powercap");
    fs::create_dir(&root).unwrap();
    let said = |program: &mut Command| {
        let output = program.arg("doctor").env("FWDLAB_POWERCAP", &root).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    let binary = env!("CARGO_BIN_EXE_fwdlab");
    let none = said(&mut Command::new(binary));
    assert!(none.contains("no energy counters of processor packages here"), "{none}");
    make(&root);
    let two = said(&mut Command::new(binary));
    assert!(two.contains("2 processor packages"), "{two}");
    // As the kernel shows them since 5.10: to root alone.
    for dir in [lab.dir.path(), &root] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let file = root.join("intel-rapl:0/energy_uj");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    let mut as_a_user = Command::new("setpriv");
    as_a_user.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", binary]);
    let user = said(&mut as_a_user);
    if !user.contains("energy counters") {
        eprintln!(
            "SKIPPED the part of doctor_says_what_counters as a user: needs root and setpriv: {user}"
        );
        return;
    }
    assert!(user.contains("intel-rapl:0/energy_uj: Permission denied"), "{user}");
    assert!(user.contains("chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"), "{user}");
}
