//! `cargo bench -p fwdlab-stats`: ministat on two files of one million values each, beside the
//! installed one, as processes that read files and write to a pipe; ratio in one run.
//!
//! FWDLAB_VALUES changes the number of values. Nothing is compared when /usr/bin/ministat is absent.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![allow(clippy::unwrap_used, reason = "a bench")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fwdlab_stats::ministat::{self, Streams};

const ORIGINAL: &str = "/usr/bin/ministat";
const ROUNDS: usize = 7;
/// With this argument the bench itself is the command, so that both sides are whole processes.
const ACT_AS_COMMAND: &str = "--as-ministat";

fn main() {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|arg| arg == ACT_AS_COMMAND) {
        let streams = Streams {
            stdin: &mut std::io::stdin().lock(),
            out: &mut std::io::stdout().lock(),
            err: &mut std::io::stderr().lock(),
            terminal_columns: None,
        };
        std::process::exit(i32::from(ministat::cli(&args[1..], streams)));
    }
    if !Path::new(ORIGINAL).exists() {
        eprintln!("SKIPPED ministat speed: {ORIGINAL} is not installed");
        return;
    }
    let values =
        std::env::var("FWDLAB_VALUES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let files = [("fwdlab-bench-a", 700_000.0), ("fwdlab-bench-b", 705_000.0)]
        .map(|(name, centre)| write_values(name, values, centre));
    compare(&files, values);
    for file in files {
        let _ = std::fs::remove_file(file);
    }
}

/// Rates around a centre with one decimal, like medians of packets per second; fixed seed.
fn write_values(name: &str, count: usize, centre: f64) -> PathBuf {
    let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
    let mut state = 42u64;
    let mut text = String::with_capacity(count * 9);
    for _ in 0..count {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        text += &format!("{:.1}\n", centre + 20_000.0 * (unit - 0.5));
    }
    std::fs::write(&path, text).unwrap();
    path
}

fn compare(files: &[PathBuf; 2], values: usize) {
    let this = std::env::current_exe().unwrap();
    let theirs = || run(Command::new(ORIGINAL).args(files));
    let ours = || run(Command::new(&this).args([ACT_AS_COMMAND, "--compat=2015"]).args(files));
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (their_output, their_time) = theirs();
        let (our_output, our_time) = ours();
        assert!(their_output == our_output, "the outputs differ");
        println!("  original {:7.1} ms, fwdlab {:7.1} ms", ms(their_time), ms(our_time));
        ratios.push(their_time.as_secs_f64() / our_time.as_secs_f64());
    }
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "two files of {values} values, same output: {:.1} times as fast as {ORIGINAL} (median of {ROUNDS} rounds, {:.1} to {:.1})",
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1]
    );
}

fn run(command: &mut Command) -> (Vec<u8>, Duration) {
    let start = Instant::now();
    let output = command.output().unwrap();
    assert!(output.status.success());
    (output.stdout, start.elapsed())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
