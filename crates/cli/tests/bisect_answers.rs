//! What `fwdlab bisect` answers where the truth was planted, over the device that is built in. Its delays differ by
//! factors of four, so that a busy machine hides none of them.
// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

mod lab;

use std::fs;

use lab::{Lab, text};
use serde_json::Value;

/// Its states are nanoseconds a frame, spelled in several ways.
const CHAIN: &str = r#"
title = "a chain"
device = "builtin"
baseline = "{}"
margin = "50%"
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

/// The answer of a bisection and what was said of each comparison; `None` where others had the cores in more than
/// one comparison of ten: what trials of wall-clock time say then is no truth to hold an answer to.
fn answer(lab: &Lab, test: &str, arguments: &[&str]) -> Option<(Value, String)> {
    let asked = ["bisect", "short.toml", "--blocks", "1", "--most", "60", "--format", "json"];
    let output = lab.fwdlab(&[&asked[..], arguments].concat());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    let disturbed = stderr.lines().find(|line| line.contains("while others had the cores"));
    let words = disturbed.unwrap_or_default().split_whitespace();
    let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    if let [disturbed, of, ..] = numbers[..]
        && disturbed * 10 > of
    {
        eprintln!("SKIPPED {test}: others had the cores in {disturbed} of {of} comparisons");
        return None;
    }
    let answer = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    Some((answer, stderr))
}

/// The same of a chain of states.
fn bisect(test: &str, states: &[&str]) -> Option<(Lab, Value, String)> {
    let lab = Lab::new(CHAIN);
    fs::write(lab.path("list"), states.join("\n")).expect("a writable directory");
    let (good, bad) = (states[0], states[states.len() - 1]);
    let ends = ["-o", "out", "--good", good, "--bad", bad, "--list", "list"];
    let (own, said) = answer(&lab, test, &ends)?;
    first_compared(&said, bad);
    Some((lab, own, said))
}

/// The steps of an answer.
fn steps(answer: &Value) -> Vec<&str> {
    let all = answer["steps"].as_array().expect("a list").iter();
    all.filter_map(|step| step["first_changed"].as_str()).collect()
}

/// Both ends are measured before anything between them.
fn first_compared(said: &str, bad: &str) {
    let first: Vec<&str> =
        said.lines().filter(|line| line.contains(" % beside ")).take(4).collect();
    assert!(
        first.len() == 4 && first.iter().all(|line| line.contains(&format!("{bad}: "))),
        "{said}"
    );
}

#[test]
fn two_planted_changes_are_both_named() {
    let test = "two_planted_changes_are_both_named";
    let Some((_lab, answer, said)) = bisect(test, &["500", "2000", "8000"]) else { return };
    assert_eq!(answer["answer"], "several changes", "{answer} {said}");
    assert_eq!(steps(&answer), ["2000", "8000"], "{answer} {said}");
}

#[test]
fn a_change_that_another_takes_back_is_no_culprit() {
    let test = "a_change_that_another_takes_back_is_no_culprit";
    let Some((_lab, answer, said)) = bisect(test, &["2000", "8000", "2000.0"]) else { return };
    assert_eq!(answer["answer"], "changes that cancel", "{answer} {said}");
    assert_eq!(steps(&answer), ["8000", "2000.0"], "{answer} {said}");
}

#[test]
fn a_difference_that_is_gone_when_measured_again_is_no_commits() {
    let test = "a_difference_that_is_gone_when_measured_again_is_no_commits";
    let Some((lab, answer, said)) = bisect(test, &["2000", "2000.0", "2000.00"]) else { return };
    assert_eq!(answer["answer"], "lab or machine changed", "{answer} {said}");
    assert_eq!(steps(&answer), Vec::<&str>::new());
    // the same in words, from what is recorded
    let again = ["bisect", "short.toml", "-o", "out", "--list", "list", "--blocks", "1"];
    let ends = ["--good", "2000", "--bad", "2000.00"];
    let words = text(&lab.fwdlab(&[&again[..], &ends[..]].concat()).stdout);
    assert!(words.contains("the lab or the machine changed since, not the software"), "{words}");
}

/// The figure fell since the lab became slower: no commit of the chain is named, and the builds of the lab tell it.
#[test]
fn a_lab_that_became_slower_is_named_and_no_commit() {
    use std::os::unix::fs::PermissionsExt as _;
    let (head, rest) = CHAIN.split_once("[[variant]]").expect("a variant");
    let (variant, traffic) = rest.split_once("[[traffic]]").expect("a traffic");
    let of = |commit: u32| {
        let set = variant.replace("name = \"{}\"", &format!("name = \"c{commit}\""));
        format!("[[variant]]{}", set.replace("\"{}\"", "\"2000\""))
    };
    let variants: String = (1..=3).map(of).collect();
    let head = head.replace("baseline = \"{}\"", "baseline = \"c1\"");
    let lab = Lab::new(&format!("{head}{variants}[[traffic]]{traffic}"));
    let real = env!("CARGO_BIN_EXE_fwdlab");
    let slow = lab.path("slow.sh");
    let script = format!("#!/bin/sh\nsed -i 's/2000\"/8000\"/' \"$2\"\nexec {real} \"$@\"\n");
    fs::write(&slow, script).expect("a writable directory");
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).expect("a script");
    let test = "a_lab_that_became_slower_is_named_and_no_commit";
    let ends = ["-o", "commits", "--good", "c1", "--bad", "c3"];
    let Some((commits, _)) = answer(&lab, test, &ends) else { return };
    assert_eq!(commits["answer"], "lab or machine changed", "{commits}");
    let (old, new) = (format!("old={real}"), format!("new={}", slow.display()));
    let Some((labs, _)) = answer(&lab, test, &["-o", "labs", "--lab", &old, "--lab", &new]) else {
        return;
    };
    assert_eq!((&labs["answer"], steps(&labs)), (&"culprit".into(), vec!["new"]), "{labs}");
}

/// Rules of a firewall in a Linux guest whose clock counts instructions: 20 more in the second state, 20 more in the
/// fourth.
#[cfg(feature = "vm")]
#[test]
fn two_changes_of_a_firewall_in_a_linux_guest_are_both_named() {
    use std::path::Path;
    use std::process::Command;
    const TEST: &str = "two_changes_of_a_firewall_in_a_linux_guest_are_both_named";
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/6.1");
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let why = match () {
        () if std::env::var_os("FWDLAB_LONG_TESTS").is_none() => {
            "boots guests for minutes; FWDLAB_LONG_TESTS=1 runs it"
        }
        () if !kernel.join("boot").is_dir() => "no kernel: run examples/kernels.sh 6.1",
        () if !has("qemu-system-x86_64") => "no QEMU: apt-get install qemu-system-x86",
        () if !has("nft") => "no nft: apt-get install nftables",
        () => "",
    };
    if !why.is_empty() {
        return eprintln!("SKIPPED {TEST}: {why}");
    }
    let kernel = kernel.canonicalize().expect("a kernel");
    let variant = |(at, rules): (usize, u32)| {
        let drops: String = (1..=rules).map(|port| format!("udp dport {port} drop\n")).collect();
        format!(
            "[[variant]]\nname = \"s{at}\"\nset = {{ nftables = \"\"\"\ntable ip t {{ chain forward {{\n\
             type filter hook forward priority 0; policy accept;\n{drops}}}\n}}\"\"\" }}\n"
        )
    };
    let variants: String = [1, 20, 20, 40].into_iter().enumerate().map(variant).collect();
    let (_, traffic) = CHAIN.split_once("[[traffic]]").expect("a traffic");
    let lab = Lab::new(&format!(
        "title = \"a firewall\"\ndevice = \"vm\"\nbaseline = \"s0\"\nmargin = \"10%\"\nblocks = 1\n\
         duration = \"100ms\"\nwarmup = \"40ms\"\ninterval = \"20ms\"\n\
         [vm]\nat_once = 1\nkernel = \"{}\"\nclock = \"instructions\"\npatience = \"600s\"\nboots = \"block\"\n\
         {variants}[[traffic]]{}",
        kernel.display(),
        traffic.replace("load = \"max\"\n", ""),
    ));
    let asked = ["bisect", "short.toml", "-o", "out", "--blocks", "1", "--format", "json"];
    let output = lab.fwdlab(&[&asked[..], &["--good", "s0", "--bad", "s3"]].concat());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    let answer: Value = serde_json::from_str(&stdout).expect("JSON");
    println!("{answer}");
    assert_eq!(answer["answer"], "several changes", "{answer} {stderr}");
    assert_eq!(steps(&answer), ["s1", "s3"], "{answer} {stderr}");
}
