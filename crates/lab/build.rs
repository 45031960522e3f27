//! Notes what this build was made of, for `environment.json`: the compiler
//! and, in a git checkout, the commit.

use std::path::Path;
use std::process::Command;

/// The crates whose sources decide whether the commit counts as modified.
const CRATES: [&str; 7] = ["fib", "lab", "port", "router", "stats", "traffic", "wire"];

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    note("FWDLAB_RUSTC", first_line(Command::new(rustc).arg("--version")));
    note("FWDLAB_COMMIT", first_line(git().args(["describe", "--always", "--dirty"])));
    for name in CRATES {
        println!("cargo:rerun-if-changed=../{name}");
    }
    if let Some(log) = first_line(git().args(["rev-parse", "--git-path", "logs/HEAD"]))
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
}

fn git() -> Command {
    Command::new("git")
}

fn note(name: &str, value: Option<String>) {
    println!("cargo:rustc-env={name}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}
