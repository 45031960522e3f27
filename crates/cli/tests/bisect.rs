//! `fwdlab bisect` as a user starts it, for a few comparisons: what these say depends on the machine, so
//! answers are tested in `fwdlab-stats` and `fwdlab-campaign`, and what is around them here.
#![cfg(target_os = "linux")]

mod lab;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use lab::{Lab, text};
use serde_json::Value;

/// Its states are made from the variant called `{}`.
const CHAIN: &str = r#"
title = "a chain"
device = "builtin"
baseline = "{}"
blocks = 1
warmup = "10ms"
duration = "100ms"
interval = "10ms"

[[variant]]
name = "{}"
set = { "net.route.algo.inet.algo" = "radix4", "fwdlab.device.extra_ns_per_frame" = "{}" }

[[traffic]]
name = "inet"
source = "198.18.10.1-198.18.10.20:2000"
destination = "198.19.10.1-198.19.10.100:2000"
frame = "min"
load = "max"

[routes]
static = ["198.18.0.0/16 via 198.18.0.203", "198.19.0.0/16 via 198.19.0.203"]
"#;

fn answer(output: &Output) -> Value {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

fn left_behind(lab: &Lab) -> Vec<String> {
    let entries = fs::read_dir(lab.dir.path()).expect("a readable directory").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(".bisect-")).collect()
}

/// A state that did not build ended the bisection.
#[test]
fn a_state_that_cannot_be_measured_is_left_out_unless_it_is_an_end() {
    let lab = Lab::new(CHAIN);
    fs::write(lab.path("list"), "0\n1\n2\n4000\n").expect("a writable directory");
    let run = |more: &[&str]| {
        let asked = ["bisect", "short.toml", "--list", "list", "--good", "0", "--bad", "4000"];
        lab.fwdlab(&[&asked[..], &["--blocks", "1", "--most", "1"], more].concat())
    };
    let told = answer(&run(&["-o", "some", "--format", "json", "--skip", "1"]));
    assert_eq!(told["left_out"][0]["state"], "1", "{told}");
    // also of one that is gone on with, and without being named again
    run(&["-o", "some", "--skip", "2"]);
    let told = answer(&run(&["-o", "some", "--format", "json"]));
    assert_eq!(told["left_out"].as_array().map(Vec::len), Some(2), "{told}");
    for (more, wanted) in [
        (["-o", "none", "--skip", "3"], "no state between the ends is called so"),
        (["-o", "end", "--skip", "4000"], "'4000' is an end of the chain"),
        (["-o", "good", "--command", "exit 125"], "name another --good"),
        (
            ["-o", "bad", "--command", "test $FWDLAB_STATE = 0 || exit 125"],
            "another --good or --bad",
        ),
        (["-o", "broken", "--command", "exit 1"], "have it end with 125"),
    ] {
        let output = run(&more);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(wanted), "{more:?}: {said}");
    }
}

/// The states are numbers of nanoseconds, spelled in several ways.
#[test]
fn a_list_is_gone_on_with_after_a_kill_and_nothing_is_left_behind() {
    let lab = Lab::new(CHAIN);
    fs::write(lab.path("list"), "# oldest first\n0\n0.0\n0.00\n4000\n4000.0\n")
        .expect("a writable directory");
    let ends = ["--good", "0", "--bad", "4000.0", "--list", "list", "--blocks", "1", "--most", "4"];
    let arguments =
        [&["bisect", "short.toml", "-o", "out", "--format", "json"], &ends[..]].concat();
    let mut first = lab.command(&arguments);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let journal = lab.path("out/bisect.jsonl");
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    let start = Instant::now();
    while lines() < 2 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().expect("a running process");
    first.wait().expect("an ended process");
    let before = lines();
    assert!(before >= 2, "nothing was measured");
    // as if the kill had come in the middle of a comparison
    fs::write(lab.path(".short.toml.bisect-4194999.toml"), "").expect("a writable directory");
    // the comparison in which the kill came may still be ending
    let mut output = lab.fwdlab(&arguments);
    while text(&output.stderr).contains("another run is writing")
        && start.elapsed() < Duration::from_secs(120)
    {
        std::thread::sleep(Duration::from_millis(100));
        output = lab.fwdlab(&arguments);
    }
    assert!(text(&output.stderr).contains("going on in out"), "{}", text(&output.stderr));
    let answer = answer(&output);
    assert_eq!(answer["states"], 5, "{answer}");
    assert!(lines() > before, "{answer}");
    assert_eq!(answer["comparisons"].as_u64(), Some(lines() as u64 - 1), "{answer}");
    assert_eq!(left_behind(&lab), Vec::<String>::new());
}

/// The newer build is this one behind a script that plants a delay into what it runs.
#[test]
fn a_slower_lab_is_named_with_its_sign() {
    use std::os::unix::fs::PermissionsExt as _;
    let two = CHAIN.replace("baseline = \"{}\"", "baseline = \"0\"").replace("\"{}\"", "\"0\"");
    let (head, rest) = two.split_once("[[traffic]]").expect("a traffic");
    let other =
        "[[variant]]\nname = \"1\"\nset = { \"fwdlab.device.extra_ns_per_frame\" = \"0\" }\n\n";
    let lab = Lab::new(&format!("{head}{other}[[traffic]]{rest}"));
    let real = env!("CARGO_BIN_EXE_fwdlab");
    let slow = lab.path("slow.sh");
    let script = format!(
        "#!/bin/sh\nsed -i 's/ns_per_frame\" = \"0\"/ns_per_frame\" = \"20000\"/; s/ns_per_frame = \"0\"/ns_per_frame = \"20000\"/' \"$2\"\nexec {real} \"$@\"\n"
    );
    fs::write(&slow, script).expect("a writable directory");
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).expect("a script");
    let (old, new) = (format!("old={real}"), format!("new={}", slow.display()));
    let labs = ["--lab", &old, "--lab", &new, "--blocks", "1", "--most", "8"];
    let asked = ["bisect", "short.toml", "-o", "out", "--format", "json"];
    let output = lab.fwdlab(&[&asked[..], &labs[..]].concat());
    let answer = answer(&output);
    assert_eq!(answer["answer"], "culprit", "{answer} {}", text(&output.stderr));
    assert_eq!(answer["steps"][0]["first_changed"], "new", "{answer}");
    assert!(answer["steps"][0]["percent"].as_f64() < Some(-50.0), "{answer}");
    // neither is always the first
    let names: Vec<String> = fs::read_dir(lab.path("out"))
        .expect("comparisons")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|n| n.starts_with("001-") && n.ends_with("-old")), "{names:?}");
    assert!(names.iter().any(|n| n.starts_with("003-") && n.ends_with("-new")), "{names:?}");
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(arguments);
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ] {
        command.env(name, value);
    }
    let output = command.output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

/// A lab with a repository of six commits on the branch `trunk`, the last two of which are slower.
fn committed() -> (Lab, std::path::PathBuf, Vec<String>) {
    let template = CHAIN.replace(", \"fwdlab.device.extra_ns_per_frame\" = \"{}\"", "");
    let lab = Lab::new(&template);
    let repository = lab.path("repository");
    fs::create_dir(&repository).expect("a writable directory");
    git(&repository, &["init", "--quiet", "--initial-branch", "trunk"]);
    let mut commits = Vec::new();
    for (number, extra) in ["0", "0", "0", "0", "4000", "4000"].iter().enumerate() {
        fs::write(repository.join("extra"), extra).expect("a writable directory");
        fs::write(repository.join("number"), number.to_string()).expect("a writable directory");
        git(&repository, &["add", "-A"]);
        git(&repository, &["commit", "--quiet", "-m", &format!("change {number}")]);
        commits.push(git(&repository, &["rev-parse", "HEAD"]));
    }
    (lab, repository, commits)
}

#[test]
fn a_repository_is_bisected_and_goes_back_to_its_branch() {
    let (lab, repository, commits) = committed();
    let make = "echo \"set = { \\\"fwdlab.device.extra_ns_per_frame\\\" = \
                $(cat repository/extra) }\" > \"$FWDLAB_VARIANT\"; echo $FWDLAB_STATE >> made";
    let arguments = [
        "bisect",
        "short.toml",
        "-o",
        "out",
        "--blocks",
        "1",
        "--most",
        "4",
        "--git",
        "repository",
    ];
    let ends = ["--good", "trunk~5", "--bad", "trunk", "--command", make, "--format", "json"];
    let output = lab.fwdlab(&[&arguments[..], &ends[..]].concat());
    let answer = answer(&output);
    assert_eq!(answer["states"], 6, "{answer}");
    // the command's settings reached both states
    let first = fs::read_dir(lab.path("out")).expect("comparisons").flatten().map(|own| own.path());
    let first = first.filter(|path| path.is_dir() && path.to_string_lossy().contains("001-"));
    let derived = fs::read_to_string(first.last().expect("one").join("experiment.toml"));
    let derived: toml::Table = derived.expect("an experiment").parse().expect("TOML");
    let extra =
        |at: usize| derived["variant"][at]["set"]["fwdlab.device.extra_ns_per_frame"].clone();
    assert_eq!((extra(0), extra(1)), (toml::Value::Integer(0), toml::Value::Integer(4000)));
    assert_eq!(derived["variant"][1]["name"].as_str(), Some(commits[5].as_str()));
    assert!(text(&output.stderr).contains("(change 5)"), "{}", text(&output.stderr));
    // each state was made ready once, and the branch is back
    let made = fs::read_to_string(lab.path("made")).expect("what the command wrote");
    let mut once: Vec<&str> = made.lines().collect();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), made.lines().count(), "{made}");
    assert_eq!(git(&repository, &["rev-parse", "--abbrev-ref", "HEAD"]), "trunk");
    assert_eq!(left_behind(&lab), Vec::<String>::new());
    // work that a checkout could lose is not touched
    fs::write(repository.join("extra"), "mine").expect("a writable directory");
    let refused = lab.fwdlab(&[&arguments[..], &ends[..]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("commit or stash"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_to_string(repository.join("extra")).expect("a file"), "mine");
}

/// What a bisection by commits leaves when it is killed while its command runs: a commit without a branch.
fn killed(lab: &Lab, repository: &Path) {
    let wait = "touch begun; while [ ! -e go ]; do sleep 0.05; done";
    let asked = ["bisect", "short.toml", "-o", "first", "--git", "repository", "--command", wait];
    let ends = ["--good", "trunk~5", "--bad", "trunk"];
    let mut first = lab.command(&[&asked[..], &ends[..]].concat());
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let start = Instant::now();
    while !lab.path("begun").exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().expect("a running process");
    first.wait().expect("an ended process");
    // its command ends by itself
    fs::write(lab.path("go"), "").expect("a writable directory");
    fs::remove_file(lab.path("begun")).expect("a command that had begun");
    assert_eq!(git(repository, &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
}

/// The branch was lost: the next bisection took the commit for what was checked out before.
#[test]
fn the_branch_comes_back_with_the_next_bisection_of_any_kind_after_a_kill() {
    let (lab, repository, commits) = committed();
    let branch = || git(&repository, &["rev-parse", "--abbrev-ref", "HEAD"]);
    let text_of_first = fs::read(lab.path("short.toml")).expect("an experiment");
    fs::create_dir(lab.path("sub")).expect("a writable directory");
    fs::write(lab.path("sub/other.toml"), text_of_first).expect("a writable directory");
    // none of them gets far; the first two are of the same experiment, the last is of another, elsewhere
    let by_list = ["short.toml", "--list", "none", "--good", "x", "--bad", "y"];
    let by_variant = ["short.toml", "--good", "x", "--bad", "y"];
    let by_commit =
        ["sub/other.toml", "--git", "repository", "--command", "true", "--good", "x", "--bad", "y"];
    for next in [&by_list[..], &by_variant[..], &by_commit[..]] {
        let _ = fs::remove_file(lab.path("go"));
        killed(&lab, &repository);
        let output = lab.fwdlab(&[&["bisect", "-o", "next"], next].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("is at trunk again"), "{next:?}: {stderr}");
        assert_eq!(branch(), "trunk", "{next:?}: {stderr}");
        let state = fs::read_dir(lab.path("state/fwdlab")).expect("the state of the user");
        let mut names = state.map(|entry| entry.expect("an entry").file_name());
        assert!(!names.any(|name| name.to_string_lossy().ends_with(".git")), "{next:?}");
    }
    // what somebody did there since is left alone
    fs::remove_file(lab.path("go")).expect("a file");
    killed(&lab, &repository);
    fs::write(repository.join("extra"), "mine").expect("a writable directory");
    let output = lab.fwdlab(&[&["bisect", "-o", "next"], &by_variant[..]].concat());
    let stderr = text(&output.stderr);
    assert!(stderr.contains("checkout trunk") && branch() == "HEAD", "{stderr}");
    assert_eq!(fs::read_to_string(repository.join("extra")).expect("a file"), "mine");
    let output = lab.fwdlab(&[&["bisect", "-o", "next"], &by_commit[..]].concat());
    let stderr = text(&output.stderr);
    assert!(stderr.contains("commit or stash") && stderr.contains("checkout trunk"), "{stderr}");
    git(&repository, &["checkout", "--quiet", "--", "extra"]);
    git(&repository, &["checkout", "--quiet", "--detach", &commits[0]]);
    git(&repository, &["checkout", "--quiet", "-b", "mine"]);
    let _ = lab.fwdlab(&[&["bisect", "-o", "next"], &by_commit[..]].concat());
    assert_eq!(branch(), "mine");
}

/// Two that check commits out in one place would measure each other's.
#[test]
fn a_repository_is_used_by_one_bisection_at_a_time() {
    let (lab, repository, _) = committed();
    let note = repository.join(".git/fwdlab-bisect");
    let file = fs::File::create(&note).expect("a writable directory");
    file.lock().expect("a lock");
    let asked = ["bisect", "short.toml", "--git", "repository", "--command", "true"];
    let output = lab.fwdlab(&[&asked[..], &["--good", "trunk~5", "--bad", "trunk"]].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("another bisection uses repository"), "{stderr}");
}

/// A file beside the experiment named a repository, whose settings name what git runs.
#[test]
fn no_repository_is_entered_because_a_stranger_names_it() {
    let (lab, repository, _) = committed();
    let ran = lab.path("ran");
    let program = lab.path("program");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", ran.display())).expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, executable).expect("a program");
    git(&repository, &["config", "core.fsmonitor", &program.to_string_lossy()]);
    git(&repository, &["checkout", "--quiet", "--detach"]);
    let _ = fs::remove_file(&ran);
    let head = git(&repository, &["rev-parse", "HEAD"]);
    fs::write(repository.join(".git/fwdlab-bisect"), format!("trunk\n{head}\n")).expect("a file");
    fs::write(lab.path(".short.toml.bisect-4194999.git"), "repository").expect("a file");
    let asked = ["bisect", "short.toml", "--list", "none", "--good", "x", "--bad", "y"];
    assert_eq!(lab.fwdlab(&asked).status.code(), Some(2));
    assert!(!ran.exists(), "a stranger's program ran");
}
