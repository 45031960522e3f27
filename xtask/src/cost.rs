//! `cargo xtask cost`: what a frame costs in the hot loops, and a lookup by itself, in instructions, in
//! the build that is handed out, which is optimised as a whole, and in one without link-time
//! optimisation, where each crate is compiled by itself in 16 units. Both must cost the same, or
//! whoever uses the crates, or the program, gets another router than the one that is measured here.
//!
//! Instructions, not time: they are the same in every run and on every machine that valgrind has.
//! It knows no AVX-512, so the loops that are counted are those for AVX2; `fwdlab-cost` without
//! arguments times the others.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// By how much a frame may cost more without link-time optimisation, and with it, per cent. What a
/// whole program gains for all its loops may cost one of them a little.
const LIMITS: [f64; 2] = [6.0, 10.0];
/// The same without, for the baseline behind its lock: which registers each of its lookups saves changes with
/// whatever else is in the crate (5.2 to 8.2 %).
const BASELINE_LIMIT: f64 = 9.0;

/// Profiles in Cargo.toml: optimised as a whole, and crate by crate.
const WHOLE: &str = "dist";
const PLAIN: &str = "plain";

/// From where on instructions are looked at: where the program says so, if it can.
const INSTRUMENTED: &str =
    if cfg!(target_arch = "x86_64") { "--instr-atstart=no" } else { "--instr-atstart=yes" };

/// Instructions for a frame in one loop.
struct Cost {
    name: String,
    whole: f64,
    plain: f64,
}

impl Cost {
    fn more_percent(&self) -> f64 {
        100.0 * (self.plain / self.whole - 1.0)
    }

    fn is_within(&self) -> bool {
        // To the tenth that is printed.
        let is_at_most = |more: f64, limit: f64| (10.0 * more).round() / 10.0 <= limit;
        let whole_more = 100.0 * (self.whole / self.plain - 1.0);
        let is_baseline = self.name.starts_with("router") && self.name.ends_with("radix");
        let most = if is_baseline { BASELINE_LIMIT } else { LIMITS[0] };
        is_at_most(self.more_percent(), most) && is_at_most(whole_more, LIMITS[1])
    }
}

/// Why it cannot be counted here, if it cannot.
pub fn obstacle() -> Option<String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => None,
        _ => Some("valgrind is not installed".to_owned()),
    }
}

/// Counts, prints a table, and returns whether both builds cost the same.
///
/// # Errors
/// A build or a run that fails.
pub fn check() -> Result<bool> {
    if let Some(reason) = obstacle() {
        println!("SKIPPED cost: {reason}");
        return Ok(true);
    }
    let (whole, plain) = (build(WHOLE)?, build(PLAIN)?);
    let names = Command::new(&whole).arg("--list").output().context("fwdlab-cost --list")?;
    let mut is_good = true;
    println!("instructions for a frame or lookup   whole    plain   more");
    for name in String::from_utf8_lossy(&names.stdout).lines() {
        let cost = Cost {
            name: name.to_owned(),
            whole: count(&whole, name)?,
            plain: count(&plain, name)?,
        };
        let fault = if cost.is_within() { "" } else { "  too much" };
        println!(
            "{:<34} {:7.1}  {:7.1}  {:+5.1} %{fault}",
            cost.name,
            cost.whole,
            cost.plain,
            cost.more_percent()
        );
        is_good &= cost.is_within();
    }
    if !is_good {
        println!(
            "cost: a function on the way of every frame is called instead of inlined: mark it \
             #[inline], or write the loop without zip, map of arrays and copy_from_slice; where the \
             whole costs more, the profile `{WHOLE}` optimises the program's own crate for size"
        );
    }
    Ok(is_good)
}

/// Builds the program in a profile; where it lies.
fn build(profile: &str) -> Result<PathBuf> {
    let arguments =
        ["build", "--quiet", "--package", "fwdlab-cost", "--profile", profile, "--locked"];
    let output = crate::workspace::cargo()
        .args(arguments)
        .args(["--message-format", "json"])
        // functions are counted by their names
        .env("CARGO_PROFILE_DIST_STRIP", "false")
        .output()
        .context("cargo build")?;
    if !output.status.success() {
        bail!("cannot build: {}", String::from_utf8_lossy(&output.stderr));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = messages.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(Path::new(message["executable"].as_str()?).to_owned())
    });
    program.context("cargo names no program")
}

/// Instructions for a frame in one loop of a program.
fn count(program: &Path, name: &str) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", INSTRUMENTED])
        .arg("--toggle-collect=fwdlab_cost::counted*")
        .arg(program)
        .arg(name)
        .output()
        .context("valgrind")?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    per_frame(&stdout, &stderr).with_context(|| format!("valgrind with `{name}` says: {stderr}"))
}

/// Frames are what the program prints, instructions what callgrind says at the end.
fn per_frame(stdout: &str, stderr: &str) -> Option<f64> {
    let frames: f64 = stdout.trim().parse().ok()?;
    let collected = stderr.lines().find_map(|line| line.split_once("Collected :"))?.1;
    let instructions: f64 = collected.trim().parse().ok()?;
    (frames > 0.0 && instructions > 0.0).then_some(instructions / frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_from_what_callgrind_says() {
        let said = "==7== \n==7== Events    : Ir\n==7== Collected : 2000\n";
        assert_eq!(per_frame("100\n", said), Some(20.0));
        assert_eq!(per_frame("100\n", "==7== Collected : 0"), None, "nothing was counted");
        assert_eq!(per_frame("", said), None);
    }

    #[test]
    fn neither_build_may_be_much_dearer() {
        let cost = |name: &str, plain| Cost { name: name.to_owned(), whole: 100.0, plain };
        assert!(cost("router inet modular", 104.9).is_within());
        assert!(cost("fib vector4 batch", 94.1).is_within());
        assert!(!cost("router inet modular", 50.0).is_within(), "what is handed out is slow");
        assert!(!cost("router inet modular", 106.1).is_within());
        assert!(cost("router inet6 radix", 109.0).is_within());
        assert!(!cost("router inet6 radix", 109.1).is_within(), "the baseline, too");
    }
}
