//! Notes what this build was made of, for `environment.json`: the compiler, the profile and, in a git
//! checkout, the commit. Only this crate is compiled again when the commit changes.

use std::path::Path;
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    note("FWDLAB_RUSTC", first_line(Command::new(rustc).arg("--version")));
    note("FWDLAB_COMMIT", first_line(git().args(["describe", "--always", "--dirty"])));
    note("FWDLAB_PROFILE", profile());
    // Whatever is compiled into the program decides whether the commit counts as modified.
    for sources in ["..", "../../devices"] {
        println!("cargo:rerun-if-changed={sources}");
    }
    if let Some(log) = first_line(git().args(["rev-parse", "--git-path", "logs/HEAD"]))
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// Cargo's profile by its own name; the variable PROFILE only knows `release` and `debug`.
/// OUT_DIR is `.../PROFILE/build/PACKAGE-HASH/out`.
fn profile() -> Option<String> {
    let out = std::env::var("OUT_DIR").ok()?;
    let name = Path::new(&out).ancestors().nth(3)?.file_name()?;
    name.to_str().map(str::to_owned)
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
