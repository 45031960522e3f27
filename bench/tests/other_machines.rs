//! The bench as one static program for other machines: built, and run where this one can run it.
// what was skipped is said
#![allow(clippy::print_stderr)]

use std::path::PathBuf;
use std::process::Command;

/// Why the program cannot be built or run here.
fn why_not(target: &str, emulator: Option<&str>) -> Option<String> {
    if std::env::var_os("FWDLAB_LONG_TESTS").is_none() {
        return Some("compiles for minutes; FWDLAB_LONG_TESTS=1 runs it".to_owned());
    }
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output().ok()?;
    if !String::from_utf8_lossy(&installed.stdout).lines().any(|line| line == target) {
        return Some(format!("no {target}: rustup target add {target}"));
    }
    let emulator = emulator?;
    let is_there = Command::new(emulator).arg("--version").output().is_ok();
    (!is_there).then(|| format!("no {emulator}: apt-get install qemu-user-static"))
}

/// The contenders of a quick run; they must agree on all answers, or it ends with an error.
fn contenders(processor: &str, emulator: Option<&str>, vectors: &[&str]) -> Option<usize> {
    let target = format!("{processor}-unknown-linux-musl");
    if let Some(why) = why_not(&target, emulator) {
        eprintln!("SKIPPED the bench for {processor}: {why}");
        return None;
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{processor}"));
    let mut build = Command::new(env!("CARGO"));
    build.args(["run", "--quiet", "--package", "xtask", "--", "bench", "--build"]);
    assert!(build.arg(&file).args(["--processor", processor]).status().expect("cargo").success());
    let mut run = emulator.map_or_else(|| Command::new(&file), Command::new);
    if emulator.is_some() {
        run.arg(&file);
    }
    run.args(["fib", "--quick", "--rounds", "1", "--tables", "8", "--modes", "batch"]);
    let output = run.args(["--format", "json"]).args(vectors).output().expect("it starts");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    let lines = stdout.lines().filter(|line| line.starts_with("{\"family\""));
    Some(lines.filter(|line| line.contains("\"mlps\"")).count())
}

#[test]
fn the_static_bench_runs_with_each_kind_of_vectors_and_on_arm() {
    if cfg!(target_arch = "x86_64") {
        for vectors in ["portable", "avx2"] {
            if let Some(count) = contenders("x86_64", None, &["--vectors", vectors]) {
                assert!(count > 100, "{count}");
            }
        }
    }
    if let Some(count) = contenders("aarch64", Some("qemu-aarch64-static"), &[]) {
        assert!(count > 100, "{count}");
    }
}
