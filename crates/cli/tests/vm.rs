//! The device `vm` as a user starts it. What needs no kernel runs with a QEMU of our own making
//! that fails in a known way; what needs one runs with `examples/kernels/6.1` where
//! `examples/kernels.sh 6.1` has put it.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(all(target_os = "linux", feature = "vm"))]

mod guest_sessions;
mod recipe;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fwdlab_agent::channel::{Message, line_of};
use fwdlab_agent::task::Task;
use fwdlab_results::{Results, Status, Trial};

const REST: &str = include_str!("../src/kernels-traffic.toml");

/// One block of a baseline and a variant.
fn experiment(kernel: &Path) -> String {
    format!(
        "title = \"a kernel against itself\"\ndevice = \"vm\"\nbaseline = \"a\"\nblocks = 1\n\
         duration = \"100ms\"\nwarmup = \"20ms\"\ninterval = \"20ms\"\n\
         [vm]\nat_once = 1\nkernel = \"{}\"\npatience = \"2s\"\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n{REST}",
        kernel.display()
    )
}

struct Lab {
    dir: tempfile::TempDir,
    path: std::ffi::OsString,
}

impl Lab {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, path: std::env::var_os("PATH").unwrap_or_default() }
    }

    /// As [`Self::with_qemu`], once the variants were tried.
    fn with_qemu_after_rehearsal(script: &str) -> Self {
        let ready = line_of(&Message::Stage(Task::SET_UP.to_owned())).expect("a line");
        let rehearsal = "[ -e tried ] || { : >tried; cat ready; exec sleep 60; }";
        let lab = Self::with_qemu(&format!("{rehearsal}\n{script}"));
        fs::write(lab.dir.path().join("ready"), ready).expect("a writable directory");
        lab
    }

    /// Puts a script in QEMU's place, and a file in the kernel's.
    fn with_qemu(script: &str) -> Self {
        let mut lab = Self::new();
        let qemu = lab.dir.path().join("qemu-system-x86_64");
        let version = "[ \"$1\" = --version ] && { echo our own QEMU; exit; }";
        let text = format!("#!/bin/sh\n{version}\n{script}\n");
        fs::write(&qemu, text).expect("a writable directory");
        fs::set_permissions(&qemu, fs::Permissions::from_mode(0o755)).expect("our own file");
        // As far as its header goes.
        let mut kernel = vec![0; 5 * 512];
        kernel[0x202..0x206].copy_from_slice(b"HdrS");
        fs::write(lab.dir.path().join("vmlinuz"), kernel).expect("a writable directory");
        let mut path = lab.dir.path().as_os_str().to_owned();
        path.push(":");
        path.push(&lab.path);
        lab.path = path;
        lab.write(&experiment(Path::new("vmlinuz")));
        lab
    }

    fn write(&self, text: &str) {
        fs::write(self.dir.path().join("short.toml"), text).expect("a writable directory");
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(["run", "-q", "-o", "results", "short.toml"]);
        command.current_dir(self.dir.path()).env("PATH", &self.path).stdin(Stdio::null());
        command
    }

    fn run(&self) -> Output {
        self.command().output().expect("the binary starts")
    }

    fn report(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.current_dir(self.dir.path()).args(["report", "results"]).args(arguments);
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

/// What is said of a variant that cannot be set up, before anything is measured.
fn refusal(lab: &Lab) -> String {
    let output = lab.run();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let results = fs::read_dir(lab.dir.path().join("results")).expect("where consoles are kept");
    let kept: Vec<_> = results.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(kept, ["console"], "nothing was begun");
    let told = words(&output);
    assert!(told.contains("cannot be set up, and nothing was measured"), "{told}");
    told
}

/// The reasons of a campaign all of whose trials FAILED, each with its console log.
fn failures(lab: &Lab) -> Vec<String> {
    let output = lab.run();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let trials = lab.trials(&output);
    assert!(trials.iter().all(|trial| trial.status == Status::Failed), "{trials:?}");
    let logs = fs::read_dir(lab.dir.path().join("results/console")).expect("console logs").count();
    assert!(logs > 0, "no console log was kept");
    trials.into_iter().filter_map(|trial| trial.reason).collect()
}

#[test]
fn a_guest_that_says_nothing_is_ended_by_its_own_processor_time() {
    let told = refusal(&Lab::with_qemu("while :; do :; done"));
    assert!(told.contains("no progress for 2 s of QEMU's"), "{told}");
    // The kernel's line; variants that are alike are tried once.
    assert!(told.contains("short.toml:10: variant \"a\""), "{told}");
    assert!(!told.contains("\"b\""), "{told}");
}

#[test]
fn a_guest_that_ends_early_leaves_its_last_words() {
    let early = "echo 'qemu: could not load kernel' >&2; exit 1";
    let told = refusal(&Lab::with_qemu(early));
    assert!(told.contains("could not load kernel"), "{told}");
    let reasons = failures(&Lab::with_qemu_after_rehearsal(early));
    assert!(reasons.iter().all(|why| why.contains("could not load kernel")), "{reasons:?}");
}

#[test]
fn a_damaged_message_is_no_result() {
    let lab = Lab::with_qemu_after_rehearsal(
        "echo 'fwdlab1 20 00000000 {\"stage\":\"booted\"}'; sleep 20",
    );
    let reasons = failures(&lab);
    assert!(reasons.iter().all(|why| why.contains("damaged message")), "{reasons:?}");
}

#[test]
fn no_guest_outlives_fwdlab_even_when_it_is_killed() {
    let lab =
        Lab::with_qemu_after_rehearsal("echo $$ > pid.part; mv pid.part pid; while :; do :; done");
    let text = experiment(Path::new("vmlinuz")).replace("2s", "600s");
    lab.write(&text);
    let mut fwdlab = lab.command().stderr(Stdio::null()).spawn().expect("the binary starts");
    let process = guest_of(&lab);
    fwdlab.kill().expect("our own child");
    fwdlab.wait().expect("our own child");
    wait_for(|| (!process.exists()).then_some(())).expect("the guest ended with fwdlab");
}

/// QEMU, dpkg-deb and whatever a guest is handed see nothing of what the caller's shell holds.
#[test]
fn nothing_of_the_callers_environment_reaches_a_guest() {
    // Not a word that two neighbouring texts of the program make together ("missing", "ssh").
    const SUNG: &str = "sung-by-a-canary";
    // Its payload is a file of fwdlab's, which may be read as long as that runs.
    let lab = Lab::with_qemu(
        "env >given; for word; do printf '%s\\n' \"$word\" >>given; \
         case $word in /proc/*) cat \"$word\" >>given;; esac; done; exit 1",
    );
    let with_canary = || {
        let mut command = lab.command();
        command.env("CANARY", SUNG).env("HOME", format!("/{SUNG}")).env("QEMU_AUDIO_DRV", SUNG);
        command.output().expect("the binary starts")
    };
    let output = with_canary();
    let given = fs::read(lab.dir.path().join("given")).expect("QEMU was started");
    let has = |word: &[u8]| given.windows(word.len()).any(|bytes| bytes == word);
    assert!(has(b"PATH=") && has(b"-initrd"), "{}", words(&output));
    assert!(has(b"070701") || has(b"070702"), "the payload was not looked at");
    assert!(!has(SUNG.as_bytes()), "{}", words(&output));

    let stand_in = lab.dir.path().join("dpkg-deb");
    fs::write(&stand_in, "#!/bin/sh\nenv >unpacked.env\nexit 1\n").expect("writable");
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("our own file");
    fs::write(lab.dir.path().join("linux-image-6.1.0_1_amd64.deb"), "no package")
        .expect("writable");
    lab.write(&experiment(Path::new("linux-image-6.1.0_1_amd64.deb")));
    let output = with_canary();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let given = fs::read_to_string(lab.dir.path().join("unpacked.env")).expect("it was started");
    assert!(given.contains("PATH=") && !given.contains(SUNG), "{given}");
}

/// The process that stands for the guest, once it runs and has left its number in a file.
fn guest_of(lab: &Lab) -> PathBuf {
    let file = lab.dir.path().join("pid");
    let pid = wait_for(|| fs::read_to_string(&file).ok()).expect("the guest started");
    let process = PathBuf::from(format!("/proc/{}", pid.trim()));
    assert!(process.exists(), "the guest runs");
    process
}

#[test]
fn an_interrupt_ends_the_guest_and_leaves_a_campaign_that_goes_on() {
    let lab =
        Lab::with_qemu_after_rehearsal("echo $$ > pid.part; mv pid.part pid; while :; do :; done");
    lab.write(&experiment(Path::new("vmlinuz")).replace("2s", "600s"));
    let fwdlab = lab.command().stderr(Stdio::piped()).spawn().expect("the binary starts");
    let process = guest_of(&lab);
    let number = fwdlab.id().to_string();
    let sent = Command::new("kill").args(["-INT", &number]).status().expect("kill(1) is there");
    assert!(sent.success(), "the signal was sent");
    let output = fwdlab.wait_with_output().expect("our own child");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("run the same command again"), "{}", words(&output));
    assert!(!process.exists(), "the guest ended before fwdlab");
    assert!(lab.trials(&output).is_empty(), "a trial that was stopped does not count");
}

#[test]
fn an_interrupt_while_a_variant_is_tried_ends_the_guest_and_leaves_nothing() {
    let lab = Lab::with_qemu("echo $$ > pid.part; mv pid.part pid; while :; do :; done");
    lab.write(&experiment(Path::new("vmlinuz")).replace("2s", "600s"));
    let fwdlab = lab.command().stderr(Stdio::piped()).spawn().expect("the binary starts");
    let process = guest_of(&lab);
    let number = fwdlab.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &number]).status().expect("kill(1) is there");
    assert!(sent.success(), "the signal was sent");
    let output = fwdlab.wait_with_output().expect("our own child");
    assert_eq!(output.status.code(), Some(130), "{}", words(&output));
    assert!(words(&output).contains("stopped before the first trial"), "{}", words(&output));
    assert!(!process.exists(), "the guest ended before fwdlab");
    assert!(!lab.dir.path().join("results").exists(), "nothing was begun");
}

#[test]
fn a_full_disk_costs_the_log_or_the_campaign_but_nothing_is_left_running() {
    const TEST: &str = "a_full_disk_costs_the_log_or_the_campaign";
    let lab = Lab::with_qemu_after_rehearsal(
        "echo $$ >> pids; head -c 2000000 /dev/zero | tr '\\0' x >&2; exit 1",
    );
    let results = lab.dir.path().join("results");
    fs::create_dir(&results).expect("a writable directory");
    let mut mount = Command::new("mount");
    let mounted = mount.args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(&results).output();
    if !mounted.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED {TEST}: no small file system, which takes root to mount: {mounted:?}");
        return;
    }
    let output = lab.run();
    let trials = lab.trials(&output);
    let unmounted = Command::new("umount").arg("-l").arg(&results).status();
    assert!(unmounted.is_ok_and(|status| status.success()), "our own mount");
    let told = words(&output);
    assert!(told.contains("No space left on device"), "{told}");
    for trial in &trials {
        assert_eq!(trial.status, Status::Failed, "{trial:?}");
    }
    let guests = fs::read_to_string(lab.dir.path().join("pids")).expect("guests ran");
    assert!(guests.lines().all(|pid| !Path::new("/proc").join(pid).exists()), "{guests}");
}

fn wait_for<T>(mut ready: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if let Some(found) = ready() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

#[test]
fn a_kernel_that_is_not_there_is_said_before_anything_runs() {
    let lab = Lab::new();
    lab.write(&experiment(Path::new("kernels/9.9")));
    let output = lab.run();
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("there is no kernel kernels/9.9"), "{}", words(&output));
    assert!(!lab.dir.path().join("results").exists(), "nothing was begun");
}

/// It was said at the line of `kernel`.
#[test]
fn rules_that_are_not_there_are_said_at_their_line() {
    let lab = Lab::with_qemu("exit 1");
    let text = experiment(Path::new("vmlinuz"));
    lab.write(&text.replace("name = \"b\"", "name = \"b\"\nset = { nftables = \"none.nft\" }"));
    let output = lab.run();
    assert_eq!(output.status.code(), Some(2), "{}", words(&output));
    let wanted = "short.toml:16: variant \"b\" cannot be set up, and nothing was measured: ";
    assert!(words(&output).contains(wanted), "{}", words(&output));
    assert!(words(&output).contains("nftables rules"), "{}", words(&output));
}

/// Each QEMU stays for three seconds, and looks how many there are after two.
#[test]
fn guests_run_beside_each_other_as_many_as_the_experiment_allows() {
    for (at_once, wanted) in [(1, "1"), (2, "2")] {
        let script = ": > at.$$; sleep 2; ls at.* | wc -l >> seen; sleep 1; rm at.$$; exit 1";
        let lab = Lab::with_qemu_after_rehearsal(script);
        let text = experiment(Path::new("vmlinuz")).replace("\"2s\"", "\"60s\"");
        lab.write(&text.replace("at_once = 1", &format!("at_once = {at_once}")));
        let output = lab.run();
        let trials = lab.trials(&output);
        assert_eq!(trials.len(), 4, "{}", words(&output));
        assert!(trials.iter().all(|trial| trial.status == Status::Failed), "{}", words(&output));
        let seen = fs::read_to_string(lab.dir.path().join("seen")).expect("what each has seen");
        let seen: Vec<&str> = seen.split_whitespace().collect();
        assert!(seen.iter().max() == Some(&wanted), "{at_once} at once: {seen:?}");
        let left = fs::read_dir(lab.dir.path()).expect("the directory");
        let left =
            left.flatten().filter(|own| own.file_name().as_encoded_bytes().starts_with(b"at."));
        assert_eq!(left.count(), 0, "none is left");
    }
}

/// The kernel of `examples/kernels.sh`, or why the test cannot run.
fn kernel() -> Result<PathBuf, String> {
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/6.1");
    if !kernel.join("boot").is_dir() {
        return Err("no kernel: run examples/kernels.sh 6.1".to_owned());
    }
    match Command::new("qemu-system-x86_64").arg("--version").output() {
        Ok(_) => fs::canonicalize(&kernel).map_err(|error| error.to_string()),
        Err(_) => Err("no QEMU: apt-get install qemu-system-x86".to_owned()),
    }
}

#[test]
fn the_recipe_for_ci_measures_one_kernel_against_itself_and_finds_the_same_in_every_boot() {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(why) => {
            eprintln!("SKIPPED the_recipe_for_ci_measures_one_kernel_against_itself: {why}");
            return;
        }
    };
    let recipe::Ran { dir, output, summary } = recipe::run(&kernel);
    assert!(summary.contains("instructions/frame"), "{summary}");
    let lab = Lab { dir, ..Lab::new() };
    let trials = lab.trials(&output);
    let faults: Vec<_> = trials.iter().filter_map(|trial| trial.reason.as_ref()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    // the test shortens the recipe to one block, from which no gate can tell
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert_eq!(lab.report(&["--check"]).status.code(), Some(0), "{}", words(&lab.report(&[])));
    for format in ["commit", "github", "text"] {
        let block = lab.report(&["--format", format]).stdout;
        let block = String::from_utf8_lossy(&block);
        assert!(block.contains("instructions/frame"), "{block}");
        assert!(!block.contains(" ns/frame") && !block.contains(" ns per frame"), "{block}");
    }
    for trial in &trials {
        assert_eq!(
            (trial.measured.flows_seen, trial.measured.checks.map(|c| c.lost)),
            (Some(2000), Some(0)),
            "{}",
            trial.id
        );
        assert!(
            trial.measured.received > 2000,
            "{} received {}",
            trial.id,
            trial.measured.received
        );
        assert!(
            trial.measured.proof["kernel"].contains("Linux version 6.1"),
            "{:?}",
            trial.measured.proof
        );
    }
    for traffic in ["inet", "inet6"] {
        let of_traffic = trials.iter().filter(|trial| trial.traffic == traffic);
        let costs: Vec<f64> = of_traffic.filter_map(Trial::cost_ns).collect();
        let [a, b] = costs[..] else { panic!("two trials of {traffic}: {costs:?}") };
        assert!((a / b - 1.0).abs() < 0.005, "{traffic}: {a} and {b} instructions per frame");
        assert!((500.0..20_000.0).contains(&a), "{traffic}: {a} instructions per frame");
    }
}

#[test]
fn a_frame_costs_the_same_however_long_the_trial_is() {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(why) => {
            eprintln!("SKIPPED the cost at two lengths of a trial: {why}");
            return;
        }
    };
    let costs = ["150ms", "300ms"].map(|duration| {
        let lab = Lab::new();
        let text = experiment(&kernel).replace("\"100ms\"", &format!("{duration:?}"));
        let text = text.replace("patience = \"2s\"", "patience = \"600s\"");
        // One family is enough.
        let (head, rest) = text.split_once("[[traffic]]\nname = \"inet6\"").expect("two families");
        let (_, routes) = rest.split_once("[routes]").expect("routes");
        lab.write(&format!("{head}[routes]{routes}"));
        let output = lab.run();
        let trials = lab.trials(&output);
        assert_eq!(trials.len(), 2, "{}", words(&output));
        trials[0].cost_ns().expect("a cost")
    });
    let ratio = costs[0] / costs[1];
    // 0.06 % with most builds of fwdlab, 0.23 % with one: variants are compared at one length and with one.
    assert!((0.995..1.005).contains(&ratio), "{costs:?} instructions a frame");
}

/// A lab with the kernel and this experiment of it; says what is skipped where there is none.
fn lab_of_guests(test: &str, needs_nft: bool, text: impl Fn(&Path) -> String) -> Option<Lab> {
    let why = match kernel() {
        Ok(_) if needs_nft && Command::new("nft").arg("--version").output().is_err() => {
            "no nft: apt-get install nftables".to_owned()
        }
        Ok(kernel) => {
            let lab = Lab::new();
            lab.write(&text(&kernel));
            return Some(lab);
        }
        Err(why) => why,
    };
    eprintln!("SKIPPED {test}: {why}");
    None
}

fn is_long(test: &str) -> bool {
    let is_asked = std::env::var_os("FWDLAB_LONG_TESTS").is_some();
    if !is_asked {
        eprintln!("SKIPPED {test}: boots guests for a minute; FWDLAB_LONG_TESTS=1 runs it");
    }
    is_asked
}

/// All trials of a lab, each kept.
fn kept(lab: &Lab) -> Vec<Trial> {
    let output = lab.run();
    let trials = lab.trials(&output);
    let faults: Vec<_> = trials.iter().filter_map(|trial| trial.reason.as_ref()).collect();
    assert!(faults.is_empty() && !trials.is_empty(), "{faults:?}; {}", words(&output));
    trials
}

#[test]
fn a_slowdown_of_new_sessions_in_a_linux_guest_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_sessions_in_a_linux_guest";
    let traffic = "lifetime = 4\ndirection = \"both\"";
    let text = |kernel: &Path| guest_sessions::with_slow_insertion(kernel, traffic);
    let Some(lab) = lab_of_guests(test, true, text) else { return };
    guest_sessions::assert_found_in_insertion_alone(&kept(&lab), 4, 2);
}

#[test]
fn a_slowdown_of_new_sessions_of_tcp_in_a_linux_guest_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_sessions_of_tcp_in_a_linux_guest";
    let traffic = "protocol = \"tcp\"\nlifetime = 7\ndirection = \"both\"";
    let text = |kernel: &Path| guest_sessions::with_slow_insertion(kernel, traffic);
    let Some(lab) = lab_of_guests(test, true, text).filter(|_| is_long(test)) else { return };
    let trials = kept(&lab);
    guest_sessions::assert_found_in_insertion_alone(&trials, 7, 3);
    for trial in &trials {
        let is_lookup = trial.traffic.ends_with("lookup");
        let wanted = if is_lookup { "400 ESTABLISHED" } else { "400 SYN_SENT" };
        assert_eq!(trial.measured.proof["sessions in the table, states"], wanted, "{}", trial.id);
    }
}

#[test]
fn a_slowdown_of_new_translations_in_a_linux_guest_is_found_in_insertion_and_not_in_lookup() {
    let test = "a_slowdown_of_new_translations_in_a_linux_guest";
    let lab = lab_of_guests(test, true, guest_sessions::masquerading);
    let Some(lab) = lab.filter(|_| is_long(test)) else { return };
    guest_sessions::assert_translated(&kept(&lab));
}

#[test]
fn what_a_full_table_of_a_linux_guest_does_with_more_sessions_is_counted() {
    let test = "what_a_full_table_of_a_linux_guest_does";
    let rules = ["table ip f { chain c { type filter hook forward priority 0; ct state new accept; }; }";
        2];
    // A network namespace can only read how many there is room for: the guest sets it for all of them.
    let text = |kernel: &Path| {
        let text = guest_sessions::experiment(kernel, "\"full-table\"", rules, "lifetime = 2");
        text.replace("set = {", "set = { \"net.netfilter.nf_conntrack_max\" = 300,")
    };
    let Some(lab) = lab_of_guests(test, true, text).filter(|_| is_long(test)) else { return };
    let trials = kept(&lab);
    guest_sessions::assert_full(&trials);
    for trial in &trials {
        let proof = &trial.measured.proof;
        assert_eq!(proof["net.netfilter.nf_conntrack_max"], "300", "{}", trial.id);
        assert_eq!(proof["sessions the table has room for"], "300", "{}", trial.id);
    }
}

/// Two traffics, one way and both ways; `b` drops what comes back from half of the destinations.
fn both_ways(kernel: &Path) -> String {
    let ends = "source = \"198.18.10.1-198.18.10.20:2000\"\n\
                destination = \"198.19.10.1-198.19.10.100:2000\"\n";
    let rule = "table ip t { chain c { type filter hook forward priority 0; policy accept; \
                ip saddr 198.19.10.1-198.19.10.50 drop; }; }";
    let text = experiment(kernel).replace("\"2s\"", "\"600s\"\nboots = \"block\"");
    let (head, _) = text.split_once("[[variant]]").expect("variants");
    format!(
        "{head}[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = {{ nftables = \"{rule}\" }}\n\
         [[traffic]]\nname = \"one\"\n{ends}[[traffic]]\nname = \"both\"\ndirection = \"both\"\n{ends}\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n"
    )
}

#[test]
fn what_is_lost_one_way_is_told_of_that_way_by_copies_of_one_boot() {
    let test = "what_is_lost_one_way_is_told_of_that_way_by_copies_of_one_boot";
    let Some(lab) = lab_of_guests(test, true, both_ways) else { return };
    let trials = kept(&lab);
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        let own = &trial.measured;
        let is_both = trial.traffic == "both";
        assert_eq!(own.ways.len(), if is_both { 2 } else { 0 }, "{}", trial.id);
        let lost: Vec<u64> = own.ways.iter().map(|way| way.checks.lost).collect();
        let ports = own.ways.iter().all(|way| way.device_received == Some(way.sent));
        assert!(ports, "{}: {:?}", trial.id, own.ways);
        match (is_both, &*trial.variant) {
            (true, "b") => {
                assert_eq!(lost[0], 0, "{}", trial.id);
                let dropped: u64 = own.drops.iter().flatten().map(|(_, count)| count).sum();
                assert!(lost[1] > 0 && lost[1] == dropped, "{}: {lost:?} {dropped}", trial.id);
                // The tester was left without frames by those that were lost, and sent no more that way; now it
                // waits for them.
                let [ahead, back] = [own.ways[0].sent, own.ways[1].sent];
                assert!(back * 10 > ahead, "{}: {ahead} ahead, {back} back", trial.id);
            }
            _ => assert_eq!(own.checks.map(|checks| checks.lost), Some(0), "{}", trial.id),
        }
    }
    let cost = |traffic: &str| {
        let is_it = |trial: &&Trial| trial.variant == "a" && trial.traffic == traffic;
        trials.iter().find(is_it).and_then(Trial::cost_ns).expect("a cost")
    };
    let (one, both) = (cost("one"), cost("both"));
    println!("{one:.0} instructions a frame one way, {both:.0} both ways");
    assert!((both / one - 1.0).abs() < 0.05, "{one} {both}");
}

/// A mesh of four ports; a quarter of the destinations behind port 3 is led to port 1. In `b` another quarter is
/// dropped, and a setting is one of the whole guest.
fn meshes(kernel: &Path) -> String {
    let ends =
        "source = \"198.18.10.0-198.18.10.7:7\"\ndestination = \"198.19.10.0-198.19.10.7:7\"\n";
    let rule = "table ip t { chain c { type filter hook prerouting priority 0; policy accept; \
                ip daddr 198.19.10.6 drop; }; }";
    let text = experiment(kernel).replace("\"2s\"", "\"600s\"\nboots = \"block\"");
    let (head, _) = text.split_once("[[variant]]").expect("variants");
    format!(
        "{head}[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         set = {{ nftables = \"{rule}\", \"net.core.netdev_budget\" = 200 }}\n\
         [[traffic]]\nname = \"partial\"\nports = 4\ndirection = \"both\"\n{ends}\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\", \
         \"198.19.10.7/32 via 198.19.0.203\"]\n"
    )
}

/// Frames of each pair of ports, from what was read back.
fn pairs(trial: &Trial) -> Vec<(String, u64)> {
    let told = trial.measured.proof["frames from port to port"].split(", ");
    let of = |text: &str| {
        let (pair, frames) = text.split_once(' ').expect("a pair and a number");
        (pair.to_owned(), frames.parse().expect("a number"))
    };
    told.map(of).collect()
}

#[test]
fn a_mesh_of_ports_in_a_guest_is_counted_to_the_frame_and_what_goes_astray_is_found() {
    let test = "a_mesh_of_ports_in_a_guest";
    let Some(lab) = lab_of_guests(test, true, meshes) else { return };
    let trials = kept(&lab);
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let own = &trial.measured;
        let (pairs, checks) = (pairs(trial), own.checks.expect("checked"));
        println!("{}: {pairs:?} {checks:?} {:?}", trial.id, trial.cost_ns());
        let all: u64 = pairs.iter().map(|(_, frames)| frames).sum();
        assert_eq!(all, own.received + checks.misrouted, "{}", trial.id);
        assert_eq!(own.sent, Some(all + checks.lost), "{}", trial.id);
        let by_port: u64 = own.queues.iter().map(|queue| queue.frames).sum();
        assert_eq!((by_port, own.queues.len()), (all, 4), "{}", trial.id);
        assert_eq!(pairs.len(), 8, "{}: {pairs:?}", trial.id);
        let dropped: u64 = own.drops.iter().flatten().map(|(_, count)| count).sum();
        assert_eq!(checks.lost, dropped, "{}: {:?}", trial.id, own.drops);
        assert_eq!(own.device_received, own.sent, "{}", trial.id);
        // The route of one of four addresses behind port 3 leads to port 1; flows take turns.
        let astray = own.ways[0].sent / 8;
        assert!(checks.misrouted.abs_diff(astray) <= 64, "{}: {astray}", trial.id);
        assert_eq!(own.ways[0].checks.misrouted, checks.misrouted, "{}", trial.id);
        let is_b = trial.variant == "b";
        assert_eq!(checks.lost > 0, is_b, "{}", trial.id);
        let budget = own.proof.get("net.core.netdev_budget").map(String::as_str);
        assert_eq!(budget, Some(if is_b { "200" } else { "300" }), "{}", trial.id);
    }
}

/// Copies of one boot count what boots of their own count, traffic by traffic.
#[test]
fn copies_of_one_boot_count_what_boots_of_their_own_count() {
    let test = "copies_of_one_boot_count_what_boots_of_their_own_count";
    if !is_long(test) {
        return;
    }
    let mut all = Vec::new();
    for boots in ["trial", "block"] {
        let patience = format!("\"600s\"\nboots = {boots:?}");
        let text = |kernel: &Path| experiment(kernel).replace("\"2s\"", &patience);
        let Some(lab) = lab_of_guests(test, false, text) else { return };
        all.push(kept(&lab));
    }
    let cost = |own: &Trial| own.cost_ns().expect("a cost");
    for fresh in &all[0] {
        let is_it = |own: &&Trial| (&own.variant, &own.traffic) == (&fresh.variant, &fresh.traffic);
        let copy = all[1].iter().find(is_it).expect("a trial");
        let (fresh_cost, copy_cost) = (cost(fresh), cost(copy));
        println!("{}: {fresh_cost:.2} in a boot of its own, {copy_cost:.2} in a copy", fresh.id);
        assert!((copy_cost / fresh_cost - 1.0).abs() < 0.002, "{}", fresh.id);
    }
}

#[test]
fn pktgen_sends_every_flow_and_a_profile_shows_where_a_rule_costs() {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(why) => {
            eprintln!(
                "SKIPPED pktgen_sends_every_flow_and_a_profile_shows_where_a_rule_costs: {why}"
            );
            return;
        }
    };
    if Command::new("nft").arg("--version").output().is_err() {
        eprintln!("SKIPPED pktgen_sends_every_flow_and_a_profile_shows_where_a_rule_costs: no nft");
        return;
    }
    let lab = Lab::new();
    let text =
        experiment(&kernel).replace("2s", "200s").replace("blocks", "profile = true\nblocks");
    let (inet, rest) = text.split_once("[[traffic]]\nname = \"inet6\"").expect("two traffics");
    let (_, routes) = rest.split_once("[routes]").expect("routes");
    let rule = "name = \"b\"\nset = { nftables = \"\"\"\ntable ip t { chain forward {\n\
                type filter hook forward priority 0; policy accept; udp dport 1 drop\n}\n}\"\"\", \
                \"net.ipv4.conf.all.log_martians\" = 1 }";
    let text = format!("{inet}[routes]{routes}").replace("name = \"b\"", rule);
    lab.write(&text.replace("[vm]", "[vm]\ntester = \"pktgen\""));
    let output = lab.run();
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    for trial in lab.trials(&output) {
        assert_eq!(
            (trial.measured.flows_seen, trial.measured.checks.map(|c| c.lost)),
            (Some(2000), Some(0)),
            "{}",
            trial.id
        );
        // What the one leaves alone is read back too.
        let proof = |word: &str| trial.measured.proof[word].as_str();
        let is_bare = trial.variant == "a";
        assert_eq!(proof("nftables") == "none", is_bare, "{}", trial.id);
        let wanted = if is_bare { "0" } else { "1" };
        assert_eq!(proof("net.ipv4.conf.all.log_martians"), wanted, "{}", trial.id);
        assert!(
            trial.measured.warnings.iter().any(|doubt| doubt.contains("copies it")),
            "{}",
            trial.id
        );
    }
    for variant in ["a", "b"] {
        let file = lab.dir.path().join(format!("results/profiles/{variant}.inet.folded"));
        let stacks = fs::read_to_string(&file).expect("a profile");
        assert!(stacks.lines().all(|line| line.starts_with("device;ip_")), "{stacks}");
        for function in ["ip_rcv", "ip_forward", "fib_table_lookup", "veth_xmit"] {
            assert!(stacks.contains(function), "{function} in {stacks}");
        }
    }
    assert!(lab.dir.path().join("results/flame-b-against-a.inet.svg").is_file());
    let readme = fs::read_to_string(lab.dir.path().join("results/README.md")).expect("a report");
    let (_, changed) = readme.split_once("## Where the change is").expect("the section");
    let row = |name: &str| -> Vec<f64> {
        let row = changed.lines().find(|line| line.starts_with(&format!("| {name} ")));
        let row = row.unwrap_or_else(|| panic!("{name} in {changed}"));
        row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    // The planted rule is found where the kernel judges it, and the sum is what was measured.
    let [before, after, change] = row("nft_do_chain")[..] else { panic!("{changed}") };
    assert!(before == 0.0 && after > 50.0 && (change - after).abs() < 0.05, "{changed}");
    for (variant, sum) in ["a", "b"].iter().zip(row("sum")) {
        let trials = lab.trials(&output);
        let own = trials.iter().find(|trial| trial.variant == *variant).and_then(Trial::cost_ns);
        assert!((own.expect("a cost") - sum).abs() < 0.06, "{variant}: {sum} of {own:?}");
    }
}

#[test]
fn a_kernel_without_veth_is_named_as_such() {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(why) => {
            eprintln!("SKIPPED a_kernel_without_veth_is_named_as_such: {why}");
            return;
        }
    };
    let lab = Lab::new();
    let files = fs::read_dir(kernel.join("boot")).expect("an unpacked kernel");
    let mut names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let image = names.find(|name| name.starts_with("vmlinuz-")).expect("an image");
    let bare = lab.dir.path().join("bare");
    let modules = bare.join("lib/modules").join(image.trim_start_matches("vmlinuz-"));
    fs::create_dir_all(bare.join("boot")).expect("a writable directory");
    fs::create_dir_all(&modules).expect("a writable directory");
    fs::copy(kernel.join("boot").join(&image), bare.join("boot").join(&image)).expect("a copy");
    lab.write(&experiment(Path::new("bare")).replace("2s", "200s"));
    let output = lab.run();
    let told = words(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("has no module veth"), "{told}");
    assert!(!lab.dir.path().join("results").exists(), "nothing was booted");
    // Without a directory of modules, the kernel may have it built in, and is asked.
    fs::remove_dir(&modules).expect("our own directory");
    let told = refusal(&lab);
    assert!(told.contains("veth"), "{told}");
}

#[test]
fn a_kernel_that_panics_says_so_before_anything_is_measured() {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(why) => {
            eprintln!("SKIPPED a_kernel_that_panics_says_so_before_anything_is_measured: {why}");
            return;
        }
    };
    let lab = Lab::new();
    let panic = experiment(&kernel).replace("[vm]", "[vm]\ncmdline = \"rdinit=/nothing\"");
    lab.write(&panic.replace("2s", "200s"));
    let told = refusal(&lab);
    assert!(told.contains("Kernel panic"), "{told}");
    assert!(told.contains("short.toml:11: variant \"a\""), "the kernel's line: {told}");
}

#[test]
fn what_a_guests_kernel_refuses_is_said_with_its_line_before_anything_is_measured() {
    const TEST: &str = "what_a_guests_kernel_refuses_is_said_with_its_line";
    let kernel = match kernel() {
        Ok(kernel) if Command::new("nft").arg("--version").output().is_ok() => kernel,
        Ok(_) => return eprintln!("SKIPPED {TEST}: no nft"),
        Err(why) => return eprintln!("SKIPPED {TEST}: {why}"),
    };
    let lab = Lab::new();
    let rules =
        "name = \"a\"\nset = { nftables = \"\"\"\ntable ip t {\n chain c { typ filter }\n}\"\"\" }";
    let sysctl = "name = \"b\"\nset = { \"net.ipv4.conf.all.no_such\" = 1 }";
    let text = experiment(&kernel).replace("2s", "200s").replace("name = \"a\"", rules);
    lab.write(&text.replace("name = \"b\"", sysctl));
    let told = refusal(&lab);
    for part in [
        "short.toml:14: variant \"a\"",
        "line 2, column",
        "short.toml:20: variant \"b\"",
        "cannot set net.ipv4.conf.all.no_such = 1",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

/// Such trials FAILED in every block. The first traffic alone would not show it.
#[test]
fn a_guest_that_forwards_nothing_is_said_with_its_line_before_anything_is_measured() {
    const TEST: &str = "a_guest_that_forwards_nothing_is_said_with_its_line";
    let off = "name = \"b\"\nset = { \"net.ipv6.conf.all.forwarding\" = 0 }";
    let text =
        |kernel: &Path| experiment(kernel).replace("2s", "200s").replace("name = \"b\"", off);
    let Some(lab) = lab_of_guests(TEST, false, text) else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    command.args(["run", "-o", "results", "short.toml"]).current_dir(lab.dir.path());
    let output = command.stdin(Stdio::null()).output().expect("the binary starts");
    let told = words(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(!lab.dir.path().join("results/trials.jsonl").exists(), "{told}");
    for part in [
        "before block 1 each variant is tried: 2 boots",
        "short.toml:16: variant \"b\" cannot be set up, and nothing was measured",
        "frames of traffic \"inet6\" came back",
        "correct what keeps them: net.ipv6.conf.all.forwarding, or the routes",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
