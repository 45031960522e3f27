//! Import of a synthetic archive: time and peak memory.
//!
//! `cargo bench -p fwdlab-netbenches --bench import_archive -- [RECEIVER_LOGS]` writes
//! an archive of that many receiver logs (18,000 unless told) with as many
//! sender logs to a temporary directory, imports it three times and prints the
//! times and the peak memory of the process.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use fwdlab_netbenches::import::import;

/// Runs of a configuration, configurations of a directory.
const RUNS: usize = 5;
const CONFIGURATIONS: usize = 8;
/// Readings of a log; published ones hold 60 to 200.
const READINGS: u64 = 150;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let receivers = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(18_000);
    let root = tempfile::tempdir()?;
    let archive = root.path().join("archive");
    let bytes = write_archive(&archive, receivers)?;
    println!("archive: {receivers} receiver logs, as many sender logs, {} MB", bytes / 1_000_000);
    for round in 1..=3 {
        let out = root.path().join(format!("out{round}"));
        let start = Instant::now();
        let imported = import(&archive, &out)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "import {round}: {seconds:.2} s, {} logs, {} trials ({} failed), peak memory {} MB",
            imported.logs,
            imported.trials,
            imported.failed,
            peak_memory_kb().unwrap_or(0) / 1000
        );
        fs::remove_dir_all(&out)?;
    }
    Ok(())
}

/// Highest resident memory of this process so far, in KB (Linux).
fn peak_memory_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn write_archive(root: &Path, receivers: usize) -> io::Result<u64> {
    let mut bytes = 0;
    for number in 0..receivers {
        let (run, configuration) = (number % RUNS + 1, number / RUNS % CONFIGURATIONS);
        let directory = root.join(format!(
            "machine{}/results/r{}",
            number / 4000,
            number / (RUNS * CONFIGURATIONS)
        ));
        let raw = directory.join("RAW");
        if run == 1 {
            fs::create_dir_all(&raw)?;
            let info = format!(
                "IMAGE=\"r{configuration}\"\nCFG=\"\"\nPKTGEN=\"inet4\"\nUNAME=\"FreeBSD x 13.0\""
            );
            fs::write(raw.join(format!("bench.r{configuration}.inet4.info")), info)?;
        }
        for (kind, rate) in [("receiver", 700_000), ("sender", 1_488_000)] {
            let text = log(kind, rate, number as u64);
            bytes += text.len() as u64;
            fs::write(raw.join(format!("bench.r{configuration}.inet4.{run}.{kind}")), text)?;
        }
    }
    Ok(bytes)
}

/// A log in the newer format with a start-up, some noise and a tail.
fn log(kind: &str, rate: u64, seed: u64) -> String {
    let command = match kind {
        "sender" => {
            "pkt-gen -f tx -N -i igb2 -n 80000000 -l 60 -4 -d 198.19.10.1:2000-198.19.10.100 -s 198.18.10.1:2000-198.18.10.20 -w 2"
        }
        _ => "pkt-gen -N -f rx -i igb3 -w 2 -W",
    };
    let mut text = format!("CMD on 192.168.1.3: {command}\n");
    for line in 0..12 {
        let _ = writeln!(text, "112.{line:06} main [2938] running on 1 cpus (have 4)");
    }
    let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    for i in 0..READINGS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pps = if i == 0 || i + 1 == READINGS { rate / 3 } else { rate + (state >> 33) % 4000 };
        let _ = writeln!(
            text,
            "{:03}.263643 main_thread [2687] {pps} pps ({pps} pkts {} bps in 1001013 usec) 409.40 avg_batch 99999 min_space",
            (115 + i) % 1000,
            pps * 480
        );
    }
    text.push_str(if kind == "sender" {
        "Sent 80000000 packets 4800000000 bytes\n"
    } else {
        "Terminated\n"
    });
    text
}
