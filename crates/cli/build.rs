//! Notes what this build was made of, for `environment.json`: the compiler, the profile and, in a git
//! checkout, the commit. Only this crate is compiled again when the commit changes. Lists the
//! experiments of `examples/`, which are part of the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Where the examples lie, from this crate.
const EXAMPLES: &str = "../../examples";

fn main() -> io::Result<()> {
    list_examples()?;
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
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
    Ok(())
}

/// Writes each example's name and text as a slice, by name.
fn list_examples() -> io::Result<()> {
    println!("cargo:rerun-if-changed={EXAMPLES}");
    let directory = fs::canonicalize(EXAMPLES)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let mut text = "&[\n".to_owned();
    for path in files {
        let name = path.file_stem().unwrap_or_default();
        let _ = writeln!(text, "    ({name:?}, include_str!({path:?})),");
    }
    text.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("examples.rs"), text)
}

/// Cargo's profile by its own name; the variable PROFILE only knows `release` and `debug`.
/// OUT_DIR is `.../PROFILE/build/PACKAGE-HASH/out`.
fn profile() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
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
