//! Notes what this build was made of, for `environment.json`: the compiler, the profile and, in a git
//! checkout or a packaged crate, the commit. Only this crate is compiled again when the commit changes. Lists the
//! experiments of `examples/`, which are part of the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Where the examples lie, from this crate.
const EXAMPLES: &str = "examples";
/// What cargo writes beside the sources of a package: the commit that it was made of.
const PACKAGED: &str = ".cargo_vcs_info.json";

fn main() -> io::Result<()> {
    list_examples()?;
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    note("FWDLAB_RUSTC", first_line(Command::new(rustc).arg("--version")));
    note("FWDLAB_PROFILE", profile());
    if let Ok(text) = fs::read_to_string(PACKAGED) {
        println!("cargo:rerun-if-changed={PACKAGED}");
        note("FWDLAB_COMMIT", commit_of_package(&text));
        return Ok(());
    }
    note("FWDLAB_COMMIT", first_line(git().args(["describe", "--always", "--dirty"])));
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

/// The commit in what cargo notes of a package, as short as git shows it.
fn commit_of_package(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.get(..7).filter(|commit| commit.chars().all(|c| c.is_ascii_hexdigit())).map(str::to_owned)
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
