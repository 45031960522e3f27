//! Every way in which a run may end, and that the same command again makes it good.

mod lab;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fwdlab_guard::digest;
use fwdlab_results::Results;
use lab::{EXPERIMENT, Lab, ids, text};

/// The deadline for what takes seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a run and waits until it has recorded a trial.
fn started(lab: &Lab) -> Child {
    let child = lab
        .command_that_hears(&["run", "short.toml", "-o", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let start = Instant::now();
    let has_trial = |journal: &Path| {
        fs::read_to_string(journal).is_ok_and(|text| text.contains("\"record\":\"trial\""))
    };
    while !has_trial(&lab.path("out/trials.jsonl")) && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// A campaign that does not end before somebody ends it.
fn long() -> Lab {
    Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 200"))
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn signals_that_would_end_a_run_end_it_as_ctrl_c_does() {
    for name in ["INT", "TERM", "HUP", "QUIT", "XCPU"] {
        let lab = long();
        let child = started(&lab);
        signal(&child, name);
        let output = child.wait_with_output().expect("an ended process");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{name}: {stderr}");
        assert!(stderr.contains("run the same command again"), "{name}: {stderr}");
        assert!(!ids(&lab.path("out")).is_empty());
    }
}

/// A limit for files ended the program by a signal (153), with all that its device had made.
#[test]
fn a_limit_for_files_is_an_error_as_a_full_disk_is() {
    let lab = Lab::new(EXPERIMENT);
    let limited = |blocks: u32, words: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -f {blocks} && exec \"$0\" {words}")]);
        command.arg(env!("CARGO_BIN_EXE_fwdlab")).current_dir(lab.dir.path());
        let output = command.output().expect("a shell");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{:?}: {stderr}", output.status);
        assert!(stderr.contains("File too large"), "{stderr}");
        stderr
    };
    let said = limited(20, "run short.toml -o out");
    assert!(said.contains("`ulimit -f`"), "{said}");
    lab.measured(&["run", "short.toml", "-o", "out"]);
    assert_eq!(ids(&lab.path("out")).len(), 6);
    limited(1, "export --jsonl out -o all.jsonl");
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let lab = Lab::new(EXPERIMENT);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" run short.toml -o out"]);
    command.arg(env!("CARGO_BIN_EXE_fwdlab")).current_dir(lab.dir.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a shell");
    let start = Instant::now();
    while !lab.path("out/trials.jsonl").exists() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "HUP");
    let output = child.wait_with_output().expect("an ended process");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(ids(&lab.path("out")).len(), 6);
}

#[test]
fn a_closed_or_full_stderr_ends_nothing() {
    let short = EXPERIMENT.replace("blocks = 3", "blocks = 1");
    for redirection in ["2>&-", "2>/dev/full", "2>/dev/full >&-", ">/dev/null 2>&-"] {
        let lab = Lab::new(&short);
        let script = format!("exec \"$0\" run short.toml -o out {redirection}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(env!("CARGO_BIN_EXE_fwdlab"));
        let output = command.current_dir(lab.dir.path()).output().expect("a shell");
        let code = output.status.code();
        // Without a place for its verdicts it says that it could not print them.
        let wanted: &[i32] = if redirection.contains(" >&-") { &[0, 2] } else { &[0] };
        assert!(code.is_some_and(|code| wanted.contains(&code)), "{redirection}: {code:?}");
        assert!(lab.path("out/README.md").exists(), "{redirection}");
    }
}

#[test]
fn an_error_with_nobody_to_hear_it_is_an_exit_code() {
    for redirection in ["2>&-", "2>/dev/full"] {
        let lab = Lab::new(EXPERIMENT);
        let script = format!("exec \"$0\" run absent.toml {redirection}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(env!("CARGO_BIN_EXE_fwdlab"));
        let output = command.current_dir(lab.dir.path()).output().expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{redirection}");
    }
}

/// Help that a full disk lost was "done".
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let lab = Lab::new(EXPERIMENT);
    for arguments in ["--help", "--version", "run --help", "help run"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec \"$0\" {arguments} >/dev/full")]);
        let output = command.arg(env!("CARGO_BIN_EXE_fwdlab")).current_dir(lab.dir.path()).output();
        let output = output.expect("a shell");
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(!output.stderr.is_empty(), "{arguments}");
    }
}

#[test]
fn a_run_killed_while_it_wrote_its_report_ends_it_the_next_time() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml"]);
    let dir = lab.path("results/short");
    let before = fs::read(dir.join("trials.jsonl")).expect("a journal");
    // What a kill leaves: some files are there, README.md is not or is an earlier one.
    for readme in [None, Some("# an earlier report")] {
        let _ = fs::remove_file(dir.join("README.md"));
        readme.map(|text| fs::write(dir.join("README.md"), text));
        fs::write(dir.join(".README.md.0123456789abcdef.new"), "half").expect("a file");
        let output = lab.measured(&["run", "short.toml"]);
        assert!(text(&output.stdout).contains("IPv4: "), "{}", text(&output.stdout));
    }
    assert_eq!(fs::read(dir.join("trials.jsonl")).expect("a journal"), before);
    assert!(!lab.path("results/short-2").exists(), "a second campaign began");
    let left: Vec<_> = fs::read_dir(&dir)
        .expect("a directory")
        .filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().ends_with(".new")
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(lab.fwdlab(&["report", "--check", "results/short"]).status.code(), Some(0));
    // Only then does the same command begin anew.
    lab.measured(&["run", "short.toml"]);
    assert!(lab.path("results/short-2").exists());
}

/// The device was opened for it, and where that could not be any more there was no report, for ever.
#[test]
fn a_report_that_lacks_needs_no_device() {
    let one_core = |program: &str| {
        let mut command = Command::new("taskset");
        command.args(["-c", "0", program]);
        command
    };
    if !one_core("true").status().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED a_report_that_lacks_needs_no_device: taskset(1) gives no core");
        return;
    }
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml"]);
    let readme = lab.path("results/short/README.md");
    fs::remove_file(&readme).expect("a report");
    // On one core the built-in device cannot be set up.
    let again = || {
        let mut command = one_core(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(["run", "short.toml"]).current_dir(lab.dir.path());
        text(&command.output().expect("taskset starts").stderr)
    };
    let said = again();
    assert!(said.contains("lacks its report") && readme.exists(), "{said}");
    assert!(again().contains("may use one core"), "the next one is a campaign");
}

#[test]
fn failed_trials_run_again_when_asked() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml"]);
    let path = lab.path("results/short/trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    // As a journal of an earlier version, which has no chain, with a trial that failed.
    let mut failed = String::new();
    let mut trials = 0;
    for line in journal.lines() {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("a record");
        record.as_object_mut().expect("an object").remove("after");
        trials += usize::from(record["record"] == "trial");
        if record["record"] == "trial" && trials == 2 {
            record["status"] = "failed".into();
            record["reason"] = "the machine slept".into();
        }
        failed.push_str(&format!("{record}\n"));
    }
    fs::write(&path, failed).expect("a writable journal");
    assert_eq!(lab.fwdlab(&["report", "results/short"]).status.code(), Some(0));
    let planned = Results::read(&lab.path("results/short")).expect("results").campaign.trials;

    let output = lab.measured(&["run", "short.toml", "--retry-failed"]);
    let results = Results::read(&lab.path("results/short")).expect("results");
    // The second attempt had no processor where it FAILED as well.
    assert_eq!(results.failed().is_empty(), output.status.code() == Some(0));
    assert_eq!(results.trials.iter().map(|t| t.id.clone()).collect::<Vec<_>>(), planned);
    let again = results.repeated.iter().filter(|t| !t.is_ok()).filter_map(|t| t.reason.as_deref());
    assert!(again.into_iter().any(|why| why.contains("the machine slept")));
    assert!(!lab.path("results/short-2").exists());
}

#[test]
fn a_results_directory_that_is_moved_away_or_deleted_stops_the_run() {
    type End = fn(&Lab);
    let ends: [(End, &str); 2] = [
        (|lab| fs::rename(lab.path("out"), lab.path("else")).expect("a rename"), "was moved"),
        // "What was recorded is where the directory is now: put it back": it was nowhere.
        (|lab| fs::remove_dir_all(lab.path("out")).expect("a removal"), "was deleted"),
    ];
    for (end, words) in ends {
        let lab = long();
        let child = started(&lab);
        end(&lab);
        let output = child.wait_with_output().expect("an ended process");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
        assert!(!lab.path("out").exists(), "the directory came back");
    }
}

#[test]
fn a_journal_that_is_cut_while_a_run_goes_on_is_not_written_to() {
    let lab = long();
    let child = started(&lab);
    let path = lab.path("out/trials.jsonl");
    let file = File::options().write(true).open(&path).expect("a journal");
    file.set_len(100).expect("a shorter journal");
    let output = child.wait_with_output().expect("an ended process");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("was changed while the run went on"), "{stderr}");
    assert_eq!(file.metadata().expect("a file").len(), 100);
}

/// Puts the hash of this environment into the campaign's record, and with it every hash behind, as if
/// all had been recorded on another machine.
fn record_environment(dir: &Path, environment: &str) {
    let path = dir.join("trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let head: serde_json::Value =
        serde_json::from_str(journal.lines().next().expect("a campaign")).expect("JSON");
    let mut was = head["environment_sha256"].as_str().expect("a hash").to_owned();
    let mut is = digest::of(environment.as_bytes());
    let mut forged = String::new();
    for line in journal.split_inclusive('\n') {
        let new = line.replace(&was, &is);
        was = digest::of(line.trim_end().as_bytes());
        is = digest::of(new.trim_end().as_bytes());
        forged.push_str(&new);
    }
    fs::write(path, forged).expect("a writable file");
}

#[test]
fn another_machine_at_resume_is_a_record_and_a_warning_in_the_report() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 30"));
    let mut child = started(&lab);
    child.kill().expect("a running process");
    child.wait().expect("an ended process");
    let path = lab.path("out/environment.json");
    let own = fs::read_to_string(&path).expect("an environment");
    let mut environment: serde_json::Value = serde_json::from_str(&own).expect("JSON");
    environment["kernel"]["release"] = "4.4.0-other".into();
    let environment = environment.to_string();
    fs::write(&path, &environment).expect("a writable file");
    // Edited alone it is another campaign's.
    let refused = lab.fwdlab(&["run", "short.toml", "-o", "out"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("environment.json"), "{}", text(&refused.stderr));
    record_environment(&lab.path("out"), &environment);
    let mut child = lab
        .command(&["run", "short.toml", "-o", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let known = ids(&lab.path("out")).len();
    let start = Instant::now();
    while ids(&lab.path("out")).len() <= known && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("a running process");
    child.wait().expect("an ended process");
    let results = Results::read(&lab.path("out")).expect("results");
    assert_eq!(results.resumed.len(), 1);
    assert!(results.resumed[0].differences.iter().any(|d| d.contains("4.4.0-other")));
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    let readme = fs::read_to_string(lab.path("out/README.md")).expect("a report");
    assert!(readme.contains("4.4.0-other"), "{readme}");
    // Where the campaign began on this machine, it is on that one again, which the record before does not say.
    fs::write(&path, &own).expect("a writable file");
    record_environment(&lab.path("out"), &own);
    let mut child =
        lab.command(&["run", "-q", "short.toml", "-o", "out"]).spawn().expect("it starts");
    let start = Instant::now();
    let recorded = || Results::read(&lab.path("out")).map_or(0, |results| results.resumed.len());
    while recorded() < 2 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("a running process");
    child.wait().expect("an ended process");
    let results = Results::read(&lab.path("out")).expect("results");
    assert_eq!(results.resumed.last().map(|last| last.differences.len()), Some(0));
}

/// Kills runs of one experiment again and again, at times drawn from all of a run's life, its report
/// included; every campaign must end with each trial once and a report that agrees with it.
fn kills(wanted: u32) {
    let experiment = EXPERIMENT
        .replace("blocks = 3", "blocks = 2\nallow = [\"saturation\"]")
        .replace("\"300ms\"", "\"100ms\"")
        .replace("\"50ms\"", "\"20ms\"")
        .replace("\"20ms\"\nduration", "\"5ms\"\nduration");
    let (mut killed, mut tries) = (0, 0);
    let mut life = Duration::from_millis(1_500);
    while killed < wanted {
        let lab = Lab::new(&experiment);
        loop {
            let start = Instant::now();
            let mut child = lab
                .command(&["run", "short.toml", "-o", "out"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            // A golden-section walk: spread evenly over a life without a random number.
            let share = (f64::from(tries) * 0.618_033_988_75).fract();
            tries += 1;
            std::thread::sleep(life.mul_f64(share));
            if child.try_wait().expect("a process").is_none() && killed < wanted {
                child.kill().expect("a running process");
                child.wait().expect("an ended process");
                killed += 1;
                continue;
            }
            let output = child.wait_with_output().expect("an ended process");
            // A trial of milliseconds on a busy machine may fail; then the code is 1. A run that was
            // killed when it had written all is not begun again.
            let (code, stderr) = (output.status.code(), text(&output.stderr));
            let was_whole = stderr.contains("already holds finished results");
            assert!(matches!(code, Some(0 | 1)) || was_whole, "{code:?}: {stderr}");
            life = life.max(start.elapsed()).min(Duration::from_secs(3));
            break;
        }
        let all = ids(&lab.path("out"));
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (4, 4), "{all:?}");
        let check = lab.fwdlab(&["report", "--check", "out"]);
        assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    }
}

/// The place for the sockets of ssh outlived a killed command for good.
#[test]
fn the_next_command_of_any_kind_removes_what_a_killed_one_kept_for_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = long();
    let place = lab.path("t");
    let host = |name: &str, ports: [&str; 2]| {
        let [one, two] =
            ports.map(|p| format!("{{ name = \"p{p}\", mac = \"02:00:00:00:00:0{p}\" }}"));
        format!("[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [{one}, {two}]\n")
    };
    let bed = format!("name = \"b\"\n{}{}", host("dut", ["1", "2"]), host("tester", ["3", "4"]));
    fs::create_dir_all(&place).expect("a writable directory");
    fs::write(lab.path("bed.toml"), bed).expect("a writable directory");
    fs::write(lab.path("known_hosts"), "").expect("a writable directory");
    // A host that never answers.
    fs::write(lab.path("ssh"), "#!/bin/sh\nexec sleep 30\n").expect("a writable directory");
    fs::set_permissions(lab.path("ssh"), fs::Permissions::from_mode(0o755)).expect("ours");
    let path = std::env::var("PATH").expect("a path");
    let mut doctor = lab
        .command(&["doctor", "--testbed", "bed.toml"])
        .env("PATH", format!("{}:{path}", lab.path(".").display()))
        .env("TMPDIR", &place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    // Where the name of the test's own directory is too long for a socket, it lies elsewhere.
    let mark = format!("fwdlab-{}-", doctor.id());
    let kept = || -> Vec<std::path::PathBuf> {
        let places = [place.clone(), "/tmp".into()];
        let entries = places.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
        let is_its = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(&mark);
        entries.filter(|own| is_its(&own.file_name())).map(|own| own.path()).collect()
    };
    let start = Instant::now();
    while kept().is_empty() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    doctor.kill().expect("a running process");
    doctor.wait().expect("our own child");
    assert_eq!(kept().len(), 1, "it kept a place for sockets");
    let next =
        lab.command(&["examples"]).env("TMPDIR", &place).output().expect("the binary starts");
    assert!(next.status.success(), "{}", text(&next.stderr));
    assert_eq!(kept(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn no_kill_loses_a_trial_or_a_report() {
    kills(6);
}

#[test]
#[ignore = "takes a quarter of an hour"]
fn no_kill_of_a_thousand_loses_a_trial_or_a_report() {
    kills(1_000);
}

/// It was "done" (0), and its profiles were never taken: the same command began another campaign.
#[test]
fn a_signal_while_profiles_are_taken_stops_the_run_and_the_next_one_takes_them() {
    if !cfg!(feature = "sampler") {
        eprintln!("SKIPPED a_signal_while_profiles_are_taken: this build takes no profiles");
        return;
    }
    let short = EXPERIMENT.replace("blocks = 3", "profile = true\nblocks = 2");
    let lab = Lab::new(&short);
    let mut command = lab.command_that_hears(&["run", "short.toml"]);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    while !said.contains("profile 1 of 2") {
        said += &lines.next().expect("the profiles begin").expect("text");
    }
    signal(&child, "INT");
    lines.map_while(Result::ok).for_each(|line| said += &line);
    assert_eq!(child.wait().expect("an end").code(), Some(130), "{said}");
    assert!(said.contains("run the same command again"), "{said}");
    // The time left was that of the trials, half of all.
    assert!(said.contains(" s, then 2 profiles"), "{said}");
    assert!(!lab.path("results/short/README.md").exists(), "{said}");
    let output = lab.measured(&["run", "short.toml"]);
    assert!(text(&output.stderr).contains("profile 2 of 2"), "{}", text(&output.stderr));
    assert!(!lab.path("results/short-2").exists(), "a second campaign began");
}
