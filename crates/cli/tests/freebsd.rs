//! FreeBSD guests of the device `vm`, with the kernels and the root image that lie in
//! `../shared/data/freebsd` where they are at hand.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(all(target_os = "linux", feature = "vm"))]

mod freebsd_frames;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fwdlab_results::{Benchmark, Checks, Results, SessionRound, Status, Trial};

/// Instructions per IPv4 frame with two routes that others measured with these kernels.
const WITHOUT_FIB_ALGO: f64 = 1916.0;
const DPDK_LPM4: f64 = 1696.0;
/// Of what the kernel chooses by itself.
const BSEARCH4: f64 = 1764.0;

/// The directory with `kernel`, `kernel-noalgo` and `root.qcow2`, or why there is none.
fn images() -> Result<PathBuf, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/freebsd");
    if !dir.join("root.qcow2").is_file() {
        return Err("no ../shared/data/freebsd".to_owned());
    }
    match Command::new("qemu-system-x86_64").arg("--version").output() {
        Ok(_) => fs::canonicalize(&dir).map_err(|error| error.to_string()),
        Err(_) => Err("no QEMU: apt-get install qemu-system-x86".to_owned()),
    }
}

/// The directory, or nothing after it was said that the test is left out.
fn images_for(test: &str) -> Option<PathBuf> {
    images().map_err(|why| eprintln!("SKIPPED {test}: {why}")).ok()
}

/// Whether also what takes long is to be tested; says that it is left out.
fn is_long(test: &str) -> bool {
    const LONG: &str = "FWDLAB_LONG_TESTS";
    let is_long = std::env::var_os(LONG).is_some();
    if !is_long {
        eprintln!("SKIPPED {test}: {LONG}=1 runs it");
    }
    is_long
}

struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    fn new(images: &Path, table: &str, variants: &str) -> Self {
        let lab = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        let text = format!(
            "title = \"FreeBSD\"\ndevice = \"vm\"\nbaseline = \"a\"\nblocks = 1\n\
             duration = \"100ms\"\nwarmup = \"20ms\"\ninterval = \"20ms\"\n\
             [vm]\nat_once = 1\nkernel = \"{0}/kernel\"\n{table}\n{variants}\n\
             [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
             destination = \"198.19.10.1-198.19.10.100:2000\"\n\
             [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n",
            images.display()
        );
        let text = text.replace("IMAGES", &images.display().to_string());
        fs::write(lab.dir.path().join("short.toml"), text).expect("a writable directory");
        lab
    }

    /// Replaces the first place of `from` in the experiment.
    fn edit(&self, from: &str, to: &str) {
        let file = self.dir.path().join("short.toml");
        let text = fs::read_to_string(&file).expect("its experiment");
        assert!(text.contains(from), "{from}");
        fs::write(&file, text.replacen(from, to, 1)).expect("a writable directory");
    }

    /// Has the traffic be the frames of a capture.
    fn replay(&self) {
        let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/capture.pcap");
        self.edit(
            "name = \"inet\"",
            &format!("name = \"inet\"\ncapture = \"{}\"", capture.display()),
        );
        self.edit(".20:2000", ".20");
        self.edit(".100:2000", ".100");
    }

    fn run(&self) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(["run", "-q", "-o", "results", "short.toml"]).current_dir(self.dir.path());
        command.output().expect("the binary starts")
    }

    fn trials(&self, output: &Output) -> Vec<Trial> {
        let results = Results::read(&self.dir.path().join("results"));
        results.unwrap_or_else(|error| panic!("{error}; {}", words(output))).trials
    }
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is said of each variant that cannot be set up, before anything is measured.
fn refusals(lab: &Lab) -> Vec<String> {
    let output = lab.run();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    // At most consoles are kept, of guests that did not come up.
    let results = fs::read_dir(lab.dir.path().join("results"));
    let mut kept = results.into_iter().flatten().flatten().map(|entry| entry.file_name());
    assert!(kept.all(|name| name == "console"), "something was begun");
    let told = words(&output);
    let parts = told.split("short.toml:").skip(1);
    parts.filter(|part| part.contains("nothing was measured")).map(str::to_owned).collect()
}

/// Whether what is said of a variant points at the line that holds these words.
fn points_at(lab: &Lab, said: &str, words: &str) -> bool {
    let text = fs::read_to_string(lab.dir.path().join("short.toml")).expect("its experiment");
    let line = text.lines().position(|line| line.contains(words)).expect("a line") + 1;
    said.starts_with(&format!("{line}: "))
}

/// Device cost in instructions per frame, without the first interval.
fn cost(trial: &Trial) -> f64 {
    let busy = trial.measured.intervals.iter().skip(1).filter_map(|interval| interval.busy);
    let (ns, frames) = busy.fold((0, 0), |(ns, frames), b| (ns + b.ns, frames + b.frames));
    ns as f64 / frames as f64
}

#[test]
fn freebsd_forwards_every_frame_at_the_known_cost() {
    let Some(images) = images_for("freebsd_forwards_every_frame") else { return };
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"",
        "[[variant]]\nname = \"a\"\nkernel = \"IMAGES/kernel-noalgo\"\n\
         [[variant]]\nname = \"b\"\ncmdline = \"net.inet.ip.fw.default_to_accept=0\"\n\
         guest = \"freebsd\"\nload = [\"dpdk_lpm4\"]\n\
         set = { \"net.route.algo.inet.algo\" = \"dpdk_lpm4\" }\n",
    );
    let output = lab.run();
    let trials = lab.trials(&output);
    let faults: Vec<_> = trials.iter().filter_map(|trial| trial.reason.as_ref()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(trials.len(), 2, "{}", words(&output));
    for trial in &trials {
        let measured = &trial.measured;
        let checks = measured.checks.expect("every frame is looked into");
        let clean = Checks { checked: checks.checked, ..Checks::default() };
        assert_eq!((measured.flows_seen, checks), (Some(2000), clean), "{}", trial.id);
        assert_eq!(measured.proof["net.inet.ip.forwarding"], "1");
        assert!(measured.proof["route to 198.19.10.1"].contains("198.19.0.203"));
        let told = measured.proof.get("cmdline net.inet.ip.fw.default_to_accept");
        assert_eq!(told.map(String::as_str), (trial.variant == "b").then_some("0"));
        lies_where_frames_cost_least(trial);
        let known = if trial.variant == "a" { WITHOUT_FIB_ALGO } else { DPDK_LPM4 };
        let found = cost(trial);
        assert!((found / known - 1.0).abs() < 0.01, "{}: {found} for {known}", trial.variant);
    }
}

/// Of six cables the cheapest were taken, and of some places of the receiver it stayed in one of the cheapest.
fn lies_where_frames_cost_least(trial: &Trial) {
    let costs = |text: &str| -> Vec<u64> {
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let proof = &trial.measured.proof;
    let cables: Vec<u64> = proof["cables, of which the first were taken"]
        .lines()
        .filter_map(|line| costs(line).first().copied())
        .collect();
    assert!(cables.len() == 6 && cables.is_sorted(), "{cables:?}");
    for way in ["cable", "device"] {
        let places = costs(&proof[&format!("frame in each place of the receiver, {way}")]);
        let (last, least) = (places.last(), places.iter().min());
        let is_least = last.zip(least).is_some_and(|(last, least)| last - least <= 3);
        assert!(places.len() >= 8 || (places.len() >= 3 && is_least), "{way}: {places:?}");
    }
}

/// A lab whose traffic is of sessions, few of them.
fn of_sessions(images: &Path, measures: &str, variants: &str) -> Lab {
    let lab = Lab::new(images, "root = \"IMAGES/root.qcow2\"", variants);
    lab.edit("blocks = 1", &format!("blocks = 1\nmeasure = [{measures}]"));
    lab.edit("name = \"inet\"", "name = \"inet\"\nkind = \"sessions\"\nlifetime = 3");
    lab.edit(".10.100:2000", ".10.20:2000");
    lab
}

/// Each trial with its rounds, all frames accounted for.
fn rounds(lab: &Lab) -> Vec<(Trial, Vec<SessionRound>)> {
    let output = lab.run();
    let trials = lab.trials(&output).into_iter().map(|trial| {
        assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
        let own = match trial.measured.benchmark.as_ref() {
            Some(
                Benchmark::Insertion(own) | Benchmark::Lookup(own) | Benchmark::FullTable(own),
            ) => own.rounds.clone(),
            other => panic!("{other:?}"),
        };
        assert!(own.len() >= 3 && own.iter().all(|round| round.emptied == 0), "{own:?}");
        (trial, own)
    });
    trials.collect()
}

/// What a frame of the counted part cost, in instructions.
fn each(rounds: &[SessionRound]) -> f64 {
    let mut all: Vec<f64> =
        rounds.iter().map(|round| round.busy_ns as f64 / round.sent as f64).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Rules that only the first frame of a session meets make its insertion dear, and no later frame.
fn new_sessions_are_slow(images: &Path, variants: &str, states: u64) {
    let lab = of_sessions(images, "\"insertion\", \"lookup\"", variants);
    let all = rounds(&lab);
    let of = |variant: &str, measure: &str| {
        let is_it = |trial: &Trial| trial.variant == variant && trial.traffic.ends_with(measure);
        let (trial, rounds) = all.iter().find(|(trial, _)| is_it(trial)).expect("a trial");
        let checks = trial.measured.checks.expect("every frame is looked into");
        assert_eq!(checks, Checks { checked: checks.checked, ..Checks::default() }, "{}", trial.id);
        for round in rounds {
            let (before, sent) = if measure == "lookup" { (states, 800) } else { (0, 400) };
            assert_eq!((round.before, round.after), (before, states), "{}: {round:?}", trial.id);
            assert_eq!((round.sent, round.received, round.refused), (sent, sent, 0));
        }
        each(rounds)
    };
    let insertion = of("b", "insertion") / of("a", "insertion");
    let lookup = of("b", "lookup") / of("a", "lookup");
    println!("insertion {insertion:.2}, lookup {lookup:.4}; {:.0}", of("a", "insertion"));
    assert!(insertion > 2.0, "the rules made insertion {insertion} times as dear");
    assert!((lookup - 1.0).abs() < 0.01, "and left lookup alone: {lookup}");
    assert!(of("a", "insertion") > 1.1 * of("a", "lookup"), "a state is made");
}

#[test]
fn a_slowdown_of_new_sessions_in_pf_is_found_in_insertion_and_not_in_lookup() {
    let Some(images) = images_for("a_slowdown_of_new_sessions_in_pf") else { return };
    let slow: String = (0..200)
        .map(|at| format!("block in quick proto udp from any port {}\n", 3000 + at))
        .collect();
    let variants = format!(
        "[[variant]]\nname = \"a\"\nset = {{ pf = \"pass all keep state\" }}\n\
         [[variant]]\nname = \"b\"\n[variant.set]\npf = '''\n{slow}pass all keep state\n'''\n"
    );
    // One state as the frame comes in, one as it goes out.
    new_sessions_are_slow(&images, &variants, 800);
}

#[test]
fn a_slowdown_of_new_sessions_in_ipfw_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_sessions_in_ipfw";
    let Some(images) = images_for(test) else { return };
    if !is_long(test) {
        return;
    }
    let slow: String =
        (0..500).map(|at| format!("add {} deny udp from any 3000 to any\n", 200 + at)).collect();
    let rules = |more: &str| {
        format!(
            "[variant.set]\nipfw = '''\nadd 100 check-state\n{more}add 900 allow udp from any to any \
             keep-state\nadd 1000 allow ip from any to any\n'''\n"
        )
    };
    let variants = format!(
        "[[variant]]\nname = \"a\"\n{}[[variant]]\nname = \"b\"\n{}",
        rules(""),
        rules(&slow)
    );
    new_sessions_are_slow(&images, &variants, 400);
}

#[test]
fn what_full_tables_of_pf_and_ipfw_do_with_more_sessions_is_counted() {
    let test = "what_full_tables_of_pf_and_ipfw_do";
    let Some(images) = images_for(test) else { return };
    if !is_long(test) {
        return;
    }
    let lab = of_sessions(
        &images,
        "\"full-table\"",
        "[[variant]]\nname = \"a\"\nset = { pf = \"set limit states 200\\npass all keep state\" }\n\
         [[variant]]\nname = \"b\"\nset = { ipfw = \"add 100 check-state\\nadd 200 allow udp from any to \
         any keep-state\\nadd 300 allow ip from any to any\", \"net.inet.ip.fw.dyn_max\" = 200 }\n",
    );
    for (trial, rounds) in rounds(&lab) {
        let dropped =
            &trial.measured.drops.as_ref().expect("counted")["no room to track the session"];
        assert!(*dropped >= 200, "{}: {dropped}", trial.id);
        for round in &rounds {
            assert_eq!((round.before, round.sent), (round.after, 200), "{}: {round:?}", trial.id);
            assert!(round.received + round.refused >= 200, "{}: {round:?}", trial.id);
        }
        let benchmark = trial.measured.benchmark.as_ref().and_then(Benchmark::figure);
        assert!(benchmark.is_some_and(|figure| figure >= 1.0), "{benchmark:?}");
    }
}

#[test]
fn what_a_freebsd_kernel_refuses_fails_with_its_words_and_a_remedy() {
    let Some(images) = images_for("what_a_freebsd_kernel_refuses_fails") else { return };
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"",
        "[[variant]]\nname = \"a\"\nset = { \"net.route.algo.inet.algo\" = \"dxr\" }\n\
         [[variant]]\nname = \"b\"\nset = { pf = \"pass maybe all\" }\n\
         [[variant]]\nname = \"c\"\nset = { \"debug.kdb.enter\" = 1 }\n",
    );
    let reasons = refusals(&lab);
    let [a, b, c] = &reasons[..] else { panic!("{reasons:?}") };
    assert!(a.contains("dxr is not loaded") && a.contains("fib_dxr"), "{a}");
    assert!(b.contains("pf refuses the rules") && b.contains("syntax error"), "{b}");
    assert!(b.contains("pfctl -n -f FILE"), "{b}");
    // Stopped in its debugger.
    assert!(c.contains("KDB: enter"), "{c}");
    assert!(c.contains("while it set debug.kdb.enter"), "{c}");
    for (said, words) in [(a, "\"dxr\""), (b, "pass maybe"), (c, "debug.kdb.enter")] {
        assert!(points_at(&lab, said, words), "{words}: {said}");
    }
    assert!(c.contains("its last lines: ") && c.contains("| db>"), "{c}");
}

#[test]
fn a_freebsd_kernel_that_panics_says_why_with_and_without_its_debugger() {
    let Some(images) = images_for("a_freebsd_kernel_that_panics") else { return };
    if !is_long("a_freebsd_kernel_that_panics") {
        return;
    }
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"",
        "[[variant]]\nname = \"a\"\nset = { \"debug.kdb.panic\" = 1 }\n\
         [[variant]]\nname = \"b\"\n\
         set = { \"debug.debugger_on_panic\" = 1, \"debug.kdb.panic\" = 1 }\n",
    );
    let reasons = refusals(&lab);
    let [without, with] = &reasons[..] else { panic!("{reasons:?}") };
    assert!(points_at(&lab, without, "set = { \"debug.kdb.panic"), "{without}");
    assert!(points_at(&lab, with, "set = { \"debug.debugger"), "{with}");
    for reason in [without, with] {
        assert!(reason.contains("panic: kdb_sysctl_panic; its console has"), "{reason}");
        assert_eq!(reason.contains("| db>"), reason == with, "{reason}");
        assert!(reason.contains("while it set debug.kdb.panic"), "{reason}");
    }
}

#[test]
fn a_freebsd_kernel_that_knows_no_virtio_mmio_boots_on_a_pc_with_pci() {
    let Some(images) = images_for("a_freebsd_kernel_on_a_pc_with_pci") else { return };
    if !is_long("a_freebsd_kernel_on_a_pc_with_pci") {
        return;
    }
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nload = [\"dpdk_lpm4\"]\n\
                    set = { \"net.route.algo.inet.algo\" = \"dpdk_lpm4\" }\n";
    let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", variants);
    let kernel = lab.dir.path().join("kernel");
    without(&images, "virtio_mmio", &kernel);
    let file = lab.dir.path().join("short.toml");
    let text = fs::read_to_string(&file).expect("readable");
    let usual = images.join("kernel").display().to_string();
    fs::write(file, text.replace(&usual, &kernel.display().to_string())).expect("writable");
    let output = lab.run();
    for trial in lab.trials(&output) {
        assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
        let known = if trial.variant == "a" { BSEARCH4 } else { DPDK_LPM4 };
        let found = cost(&trial);
        assert!((found / known - 1.0).abs() < 0.01, "{}: {found} for {known}", trial.variant);
    }
}

#[test]
fn a_freebsd_kernel_without_a_direct_start_starts_as_its_loader_starts_it() {
    let Some(images) = images_for("a_freebsd_kernel_without_a_direct_start") else { return };
    // The same kernel, whose note with the entry for a direct start has another owner.
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nkernel = \"unnoted\"\n";
    let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", variants);
    let mut bytes = fs::read(images.join("kernel")).expect("a kernel");
    let owner = b"Xen\0";
    let places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, w)| w == owner).map(|(at, _)| at).collect();
    for at in places {
        bytes[at] = b'-';
    }
    fs::write(lab.dir.path().join("unnoted"), bytes).expect("writable");
    let output = lab.run();
    let trials = lab.trials(&output);
    assert_eq!(trials.len(), 2, "{}", words(&output));
    for trial in &trials {
        assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
        let wanted = if trial.variant == "a" { "PVH" } else { "BIOS" };
        assert_eq!(trial.measured.proof["started as by"], wanted);
        let found = cost(trial);
        assert!((found / BSEARCH4 - 1.0).abs() < 0.01, "{}: {found}", trial.variant);
    }
    lab.edit("name = \"b\"", "name = \"b\"\nstart = \"direct\"");
    fs::remove_dir_all(lab.dir.path().join("results")).expect("results");
    let told = words(&lab.run());
    assert!(told.contains("no entry for a direct start") && told.contains("short.toml:"), "{told}");
}

#[test]
fn a_freebsd_kernel_that_hangs_is_ended_with_its_last_lines_and_a_remedy() {
    let Some(images) = images_for("a_freebsd_kernel_that_hangs") else { return };
    if !is_long("a_freebsd_kernel_that_hangs") {
        return;
    }
    // It waits for a key behind each line that it says, and nobody has one.
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"\npatience = \"10s\"\ncmdline = \"boot_pause=1\"",
        "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n",
    );
    // Both boot alike, so that one of them is enough.
    let reasons = refusals(&lab);
    let [reason] = &reasons[..] else { panic!("{reasons:?}") };
    for part in [
        "no progress for 10 s of QEMU's processor time while it booted, and was ended",
        "<pause; press any key",
        "its last lines: ",
        "try the kernel without what the variant sets, or raise patience in [vm]",
        "its console is in ",
    ] {
        assert!(reason.contains(part), "{part:?} in {reason}");
    }
}

#[test]
fn what_is_missing_is_said_before_a_freebsd_guest_boots() {
    let Some(images) = images_for("what_is_missing_is_said_before") else { return };
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    let refusal = |table: &str, variants: &str| {
        let lab = Lab::new(&images, table, variants);
        let output = lab.run();
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        words(&output)
    };
    let told = refusal("", variants);
    assert!(told.contains("holds no root file system"), "{told}");
    let told = refusal("root = \"absent.img\"", variants);
    assert!(told.contains("no root image"), "{told}");
    let root = "root = \"IMAGES/root.qcow2\"";
    let rules = variants.replacen("\"b\"", "\"b\"\nset = { nftables = \"table inet t {}\" }", 1);
    assert!(refusal(root, &rules).contains("pf and ipfw"), "nftables is Linux's");
    let pktgen = refusal("root = \"IMAGES/root.qcow2\"\ntester = \"pktgen\"", variants);
    assert!(pktgen.contains("pktgen is Linux's"), "{pktgen}");
}

/// What is said of a variant `b` with these keys, which no guest is booted for, and whether it points at the
/// line that holds `at`.
fn refused_at(images: &Path, files: &[(&str, &[u8])], keys: &str, at: &str) -> String {
    let variants = format!("[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n{keys}\n");
    let lab = Lab::new(images, "root = \"IMAGES/root.qcow2\"", &variants);
    for (name, bytes) in files {
        fs::write(lab.dir.path().join(name), bytes).expect("a writable directory");
    }
    let output = lab.run();
    let told = words(&output);
    assert_eq!(output.status.code(), Some(2), "{keys}: {told}");
    assert!(!lab.dir.path().join("results").exists(), "nothing was begun");
    let said = told.split("short.toml:").nth(1).unwrap_or_default().to_owned();
    assert!(points_at(&lab, &said, at), "{at}: {told}");
    assert!(said.contains("variant \"b\" cannot be set up"), "{told}");
    said
}

#[test]
fn what_is_no_kernel_or_not_all_of_it_is_named_before_anything_boots() {
    let Some(images) = images_for("what_is_no_kernel_or_not_all_of_it") else { return };
    let whole = fs::read(images.join("kernel")).expect("a kernel");
    let mut hole = whole.clone();
    hole[0x20_0000..0x21_0000].fill(0);
    // A sector of a disk, which lies anywhere in a page.
    let mut sector = whole.clone();
    sector[0x20_0a00..0x20_0c00].fill(0);
    let program = fs::read("/proc/self/exe").expect("this program");
    for (bytes, part) in [
        (b"".as_slice(), "is no kernel: it is empty"),
        (b"no kernel\n", "is no kernel: it is text"),
        (&program, "is no kernel: it is a program"),
        (&whole[..5_000_000], "is cut short: it has 5000000 bytes of "),
        (&hole, "is damaged: 65536 bytes of its code, from 2097152 on, are zero"),
        (&sector, "is damaged: 512 bytes of its code, from 2099712 on, are zero"),
    ] {
        let said = refused_at(&images, &[("odd", bytes)], "kernel = \"odd\"", "\"odd\"");
        assert!(said.contains("odd ") && said.contains(part), "{said}");
    }
    let root = fs::read(images.join("root.qcow2")).expect("a root");
    for (bytes, part) in [
        (&root[..6_000_000], "is cut short: it has 6000000 bytes of "),
        (b"no root\n", "is neither a qcow2 image nor a raw disk"),
    ] {
        let said = refused_at(&images, &[("odd", bytes)], "root = \"odd\"", "\"odd\"");
        assert!(said.contains("the root image ") && said.contains(part), "{said}");
    }
    for (keys, at, part) in [
        ("cmdline = \"quiet kern.hz=100\"", "quiet", "\"quiet\" is no setting; write NAME=VALUE"),
        ("guest = \"linux\"", "guest", "is of the other system"),
        (
            "kernel = \"IMAGES/kernel-noalgo\"\nload = [\"fib_dxr\"]",
            "fib_dxr",
            "no options FIB_ALGO, which the module fib_dxr needs; write load = []",
        ),
    ] {
        let said = refused_at(&images, &[], keys, at);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn doctor_says_what_is_cut_short() {
    let Some(images) = images_for("doctor_says_what_is_cut_short") else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let place = dir.path().join("freebsd");
    fs::create_dir(&place).expect("a directory");
    let copy = |name: &str, to: &str, length: usize| {
        let bytes = fs::read(images.join(name)).expect("a file");
        fs::write(place.join(to), &bytes[..length.min(bytes.len())]).expect("writable");
    };
    let told = || {
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        doctor.args(["doctor", "--device", "vm", "--format", "json"]).current_dir(dir.path());
        let output = doctor.output().expect("the binary starts");
        let all: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = all.to_string();
        let at = text.find("FreeBSD kernels to boot").expect("looked for");
        let part = &text[at.saturating_sub(1200)..(at + 1200).min(text.len())];
        part.to_owned()
    };
    copy("kernel", "kernel", usize::MAX);
    copy("root.qcow2", "root.qcow2", 6_000_000);
    let cut = told();
    assert!(cut.contains(", but the root image ") && cut.contains("is cut short"), "{cut}");
    copy("root.qcow2", "root.qcow2", usize::MAX);
    copy("kernel", "kernel", 6_000_000);
    let cut = told();
    assert!(cut.contains("kernel is cut short: it has 6000000 bytes"), "{cut}");
    assert!(!cut.contains("lacks ./"), "{cut}");
}

/// Variants through which no frame comes.
const WITHOUT_FRAMES: &str = "[[variant]]\nname = \"a\"\nset = { \"net.inet.ip.forwarding\" = 0 }\n\
    [[variant]]\nname = \"b\"\ncmdline = \"net.inet.ip.fw.default_to_accept=0 -v\"\n\
    set = { ipfw = \"add 100 count ip from any to any\" }\n";

/// The same trial FAILED in every block.
#[test]
fn a_variant_through_which_nothing_comes_is_refused_before_the_first_block() {
    let Some(images) = images_for("a_variant_through_which_nothing_comes") else { return };
    let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", WITHOUT_FRAMES);
    let reasons = refusals(&lab);
    let [a, b] = &reasons[..] else { panic!("{reasons:?}") };
    for (said, words) in [(a, "net.inet.ip.forwarding"), (b, "ipfw")] {
        assert!(
            said.contains("frames of traffic \"inet\" came back, also of a longer burst"),
            "{said}"
        );
        assert!(said.contains(&format!("{words}, or the routes")), "{said}");
        assert!(points_at(&lab, said, words), "{words}: {said}");
    }
}

#[test]
fn a_trial_through_which_nothing_comes_names_what_is_set_and_keeps_what_was_read_back() {
    let test = "a_trial_through_which_nothing_comes";
    let Some(images) = images_for(test) else { return };
    if !is_long(test) {
        return;
    }
    let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", WITHOUT_FRAMES);
    // Of captures no frames are tried beforehand.
    lab.replay();
    for trial in lab.trials(&lab.run()) {
        let reason = trial.reason.as_deref().unwrap_or("it came through");
        let proof = &trial.measured.proof;
        if trial.variant == "a" {
            assert!(
                reason.contains("what the variant sets (net.inet.ip.forwarding = 0)"),
                "{reason}"
            );
            assert_eq!(proof["net.inet.ip.forwarding"], "0");
            continue;
        }
        assert!(reason.contains("sets (ipfw = add 100 count"), "{reason}");
        assert_eq!(proof["cmdline net.inet.ip.fw.default_to_accept"], "0");
        assert_eq!(proof["ipfw closing rule"], "65535 deny ip from any to any");
        assert!(proof["ipfw ruleset"].contains("00100 count"), "{proof:?}");
        assert!(proof.contains_key("cmdline options"), "{proof:?}");
    }
}

#[test]
fn a_root_that_breaks_in_the_guest_is_named_with_the_consoles_last_lines() {
    let Some(images) = images_for("a_root_that_breaks_in_the_guest") else { return };
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    let lab = Lab::new(&images, "root = \"odd.qcow2\"", variants);
    let mut root = fs::read(images.join("root.qcow2")).expect("a root");
    // Its tables stay; what they point to is lost.
    let length = root.len();
    root[length / 2..].fill(0);
    fs::write(lab.dir.path().join("odd.qcow2"), root).expect("a writable directory");
    let reasons = refusals(&lab);
    let [reason] = &reasons[..] else { panic!("{reasons:?}") };
    for part in ["odd.qcow2", "its last lines: ", "copy it again", "examples/freebsd.sh"] {
        assert!(reason.contains(part), "{part:?} in {reason}");
    }
    assert!(points_at(&lab, reason, "odd.qcow2"), "{reason}");
}

/// A copy of the kernel whose configuration does not name this device or option any more.
fn without(images: &Path, part: &str, to: &Path) {
    let mut bytes = fs::read(images.join("kernel")).expect("a kernel");
    let line = format!("\t{part}\n");
    let at = bytes.windows(line.len()).rposition(|window| window == line.as_bytes());
    bytes[at.expect("the configuration names it") + 1] = b'#';
    fs::write(to, bytes).expect("writable");
}

#[test]
fn what_a_freebsd_kernel_lacks_is_named_before_it_boots_and_by_doctor() {
    let Some(images) = images_for("what_a_freebsd_kernel_lacks_is_named") else { return };
    for (part, why) in
        [("netmap", "the tester's receiver"), ("VIMAGE", "jails with a network of their own")]
    {
        let variants = "[[variant]]\nname = \"a\"\nkernel = \"freebsd/kernel\"\n\
                        [[variant]]\nname = \"b\"\n";
        let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", variants);
        let place = lab.dir.path().join("freebsd");
        fs::create_dir(&place).expect("a directory");
        without(&images, part, &place.join("kernel"));
        let output = lab.run();
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        let told = words(&output);
        assert!(told.contains(&format!("no {part}")) && told.contains(why), "{told}");
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        doctor.args(["doctor", "--device", "vm", "--format", "json"]).current_dir(lab.dir.path());
        let output = doctor.output().expect("the binary starts");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let lacks = format!("lacks {part} ({why})");
        assert!(told.contains(&lacks), "{told}");
    }
}

#[test]
fn one_file_holds_rules_of_linux_and_of_freebsd_beside_a_capture() {
    let Some(images) = images_for("one_file_holds_rules_of_linux_and_of_freebsd_beside_a_capture")
    else {
        return;
    };
    let linux = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/6.1");
    let has_nft = Command::new("nft").arg("--version").output().is_ok();
    if !linux.is_dir() || !has_nft {
        eprintln!(
            "SKIPPED one_file_holds_rules_of_linux_and_of_freebsd_beside_a_capture: no Linux 6.1, or no nft"
        );
        return;
    }
    let place = fs::canonicalize(linux).expect("a directory");
    let variants = format!(
        "[[variant]]\nname = \"a\"\nkernel = \"{}\"\nload = [\"nf_tables\"]\n\
         set = {{ nftables = \"table ip f {{ chain c {{ type filter hook forward priority 0; accept; }}; }}\" }}\n\
         [[variant]]\nname = \"b\"\nroot = \"IMAGES/root.qcow2\"\nset = {{ \
         pf = \"pass quick all no state allow-opts\", \"net.inet.ip.ttl\" = 77 }}\n",
        place.display()
    );
    let ipfw = "[[variant]]\nname = \"c\"\nroot = \"IMAGES/root.qcow2\"\n\
                set = { ipfw = \"add 100 allow ip from any to any\" }\n";
    let ipfw = if is_long("ipfw in a FreeBSD guest") { ipfw } else { "" };
    let lab = Lab::new(&images, "", &(variants + ipfw));
    // The frames of a capture, by one tester in each system.
    lab.replay();
    let output = lab.run();
    let trials = lab.trials(&output);
    assert_eq!(trials.len(), 2 + usize::from(!ipfw.is_empty()), "{}", words(&output));
    for trial in &trials {
        assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
        let checks = trial.measured.checks.expect("every frame is looked into");
        assert_eq!(checks, Checks { checked: checks.checked, ..Checks::default() });
        assert!(trial.measured.flows_seen.is_some_and(|flows| flows > 30), "{:?}", trial.measured);
        let (rules, part) = match trial.variant.as_str() {
            "a" => ("nftables ruleset", "hook forward"),
            "b" => ("pf ruleset", "pass quick all no state"),
            _ => ("ipfw ruleset", "allow ip from any to any"),
        };
        assert!(trial.measured.proof[rules].contains(part), "{:?}", trial.measured.proof);
        assert!(cost(trial) > 1000.0, "{}: {}", trial.variant, cost(trial));
        // What only another variant sets is read back where the guest's system has it.
        let proof = |word: &str| trial.measured.proof.get(word).map(String::as_str);
        let (ttl, pf) = (proof("net.inet.ip.ttl"), proof("pf"));
        match trial.variant.as_str() {
            "a" => assert_eq!((ttl, pf), (None, None)),
            "b" => assert_eq!((ttl, proof("nftables")), (Some("77"), None)),
            _ => assert_eq!((ttl, pf), (Some("64"), Some("none"))),
        }
        if ipfw.is_empty() {
            continue;
        }
        assert_eq!(
            proof("ipfw") == Some("none"),
            trial.variant == "b",
            "{:?}",
            trial.measured.proof
        );
    }
}
