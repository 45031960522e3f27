//! `fwdlab doctor`: what this machine can do, what that enables, and how to get what is missing.

use crate::output;
use std::fmt::Write;
use std::process::ExitCode;

/// Arguments of `fwdlab doctor`.
#[derive(clap::Args)]
pub struct Args {}

/// One thing that the lab can use.
struct Finding {
    what: &'static str,
    present: Option<String>,
    enables: &'static str,
    remedy: &'static str,
}

/// Runs the checks and prints them; exit code 1 when the built-in device cannot be measured here.
///
/// # Errors
/// Only when stdout cannot be written.
pub fn execute(_: &Args) -> anyhow::Result<ExitCode> {
    let findings = [
        cores(),
        tool("ministat"),
        tool("ip"),
        tool("nft"),
        tool("perf"),
        tool("qemu-system-x86_64"),
    ];
    let mut text = String::new();
    for finding in &findings {
        match &finding.present {
            Some(detail) => {
                let _ = writeln!(text, "yes  {:<18} {detail}: {}", finding.what, finding.enables);
            }
            None => {
                let _ = writeln!(
                    text,
                    "no   {:<18} needed for {}; {}",
                    finding.what, finding.enables, finding.remedy
                );
            }
        }
    }
    output::print(&text)?;
    Ok(if findings[0].present.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cores() -> Finding {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Finding {
        what: "2 cores",
        present: (count >= 2).then(|| format!("{count} here")),
        enables: "the built-in device: one core for the tester, one for the device",
        remedy: "give the machine or the container a second core",
    }
}

fn tool(name: &'static str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    let (enables, remedy) = match name {
        "ministat" => ("the differential tests of `fwdlab ministat`", "apt-get install ministat"),
        "ip" => ("looking at the namespaces of a run", "apt-get install iproute2"),
        "nft" => ("nftables rule sets as variants", "apt-get install nftables"),
        "perf" => ("kernel flame graphs", "apt-get install linux-perf"),
        _ => ("kernels in virtual machines", "apt-get install qemu-system-x86"),
    };
    Finding { what: name, present: found.map(|file| file.display().to_string()), enables, remedy }
}
