//! What shells offer for lines that a person begins to type, asked of the shells themselves.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]

mod lab;

use std::fs;
use std::process::Command;

use lab::{EXPERIMENT, Lab, text};

/// Lines as they are begun, words that must be offered for them, and words that may not.
const LINES: [(&str, &[&str], &[&str]); 12] = [
    ("fwdlab ", &["run", "report", "completions"], &["trial-process", "guest", "launch", "agent"]),
    ("fwdlab re", &["report"], &["run"]),
    ("fwdlab run --fa", &["--fail-on"], &["--format"]),
    ("fwdlab run --fail-on ", &["slower", "invalid", "inconclusive"], &["short.toml"]),
    ("fwdlab run --example mod", &["modular-fib", "modular-fib-algorithms"], &["kernels"]),
    ("fwdlab examples cap", &["capture", "capture.pcap"], &["kernels"]),
    ("fwdlab completions ", &["bash", "fish", "zsh"], &["short.toml"]),
    ("fwdlab audit --rule claim", &["claim-impossible"], &["short.toml"]),
    ("fwdlab help f", &["fib"], &["run", "short.toml"]),
    ("fwdlab run sh", &["short.toml"], &["run"]),
    ("fwdlab run ", &["short.toml"], &["--format"]),
    ("fwdlab audit trees --fo", &["--format"], &["--least"]),
];

/// Holds what was offered against [`LINES`].
fn judged(shell: &str, offered: impl Fn(&str) -> Vec<String>) {
    for (line, wanted, unwanted) in LINES {
        let words = offered(line);
        let has = |word: &&&str| words.iter().any(|offered| offered == **word);
        let missing: Vec<_> = wanted.iter().filter(|word| !has(word)).collect();
        let excess: Vec<_> = unwanted.iter().filter(has).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?} not offered for {line:?}: {words:?}");
        assert!(excess.is_empty(), "{shell}: {excess:?} offered for {line:?}: {words:?}");
    }
}

/// A directory with the script of a shell in `file`, unless that shell is not here.
fn ready(shell: &str, file: &str) -> Option<Lab> {
    if Command::new(shell).arg("--version").output().is_err() {
        eprintln!("SKIPPED: what {shell} completes: there is no {shell}");
        return None;
    }
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir(lab.path("trees")).expect("a writable directory");
    let script = lab.fwdlab(&["completions", shell]);
    assert_eq!(script.status.code(), Some(0), "{}", text(&script.stderr));
    fs::write(lab.path(file), script.stdout).expect("a writable directory");
    Some(lab)
}

/// What a shell prints that runs in the laboratory's directory.
fn printed(lab: &Lab, command: &mut Command) -> String {
    let output = command.current_dir(lab.path(".")).output().expect("the shell starts");
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn bash_completes_what_people_type() {
    let Some(lab) = ready("bash", "script") else { return };
    // Readline's own fallback to files is left to it: complete -o default.
    let asked = r#"
        source ./script
        words=(${1//=/ = })
        [[ $1 == *' ' ]] && words+=('')
        COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMPREPLY=()
        _fwdlab fwdlab "${words[-1]}" "${words[-2]}"
        [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "${words[-1]}"))
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let offered = |line: &str| -> Vec<String> {
        let told = printed(&lab, Command::new("bash").args(["-c", asked, "bash", line]));
        told.lines().map(str::to_owned).collect()
    };
    judged("bash", offered);
    // Readline takes `=` for a word of its own.
    for (line, words) in [
        ("fwdlab run --format=", &["text", "commit", "github", "json"][..]),
        ("fwdlab run short.toml --format=gi", &["github"]),
    ] {
        assert_eq!(offered(line), words, "{line:?}");
    }
}

#[test]
fn fish_completes_what_people_type() {
    let Some(lab) = ready("fish", "script") else { return };
    let offered = |line: &str| {
        let asked = ["-N", "-c", "source ./script; complete -C $argv[1]", line];
        let told = printed(&lab, Command::new("fish").env("HOME", lab.path(".")).args(asked));
        let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        told.lines().map(word).collect::<Vec<_>>()
    };
    judged("fish", offered);
    assert_eq!(offered("fwdlab run --kernel before=tr"), ["before=trees/"]);
    assert_eq!(offered("fwdlab fib help be"), ["bench"]);
}

#[test]
fn zsh_completes_what_people_type() {
    let Some(lab) = ready("zsh", "_fwdlab") else { return };
    fs::write(lab.path("offered.zsh"), include_str!("completions/offered.zsh")).expect("writable");
    let offered = |line: &str| {
        let mut zsh = Command::new("timeout");
        zsh.args(["60", "zsh", "-f", "offered.zsh"]).arg(lab.path(".")).arg(line);
        let told = printed(&lab, zsh.env("HOME", lab.path(".")));
        told.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    judged("zsh", offered);
    let paths = offered("fwdlab run --kernel before=tr");
    assert!(paths.contains(&":: fwdlab run --kernel before=trees/".to_owned()), "{paths:?}");
}
