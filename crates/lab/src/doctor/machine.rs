//! Processors and memory.

use std::fs;
use std::time::Duration;

use fwdlab_port::affinity;

use super::{Finding, Needed};
use crate::device::pulse;
use crate::results::Interval;

/// How long each core is watched.
const WATCHED: Duration = Duration::from_millis(200);

pub(super) fn findings() -> Vec<Finding> {
    let mut list = vec![cores()];
    if cfg!(target_os = "linux") {
        list.extend([governor(), hypervisor(), undisturbed(), huge_pages()]);
    }
    list
}

fn cores() -> Finding {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Finding {
        what: "2 cores",
        present: count >= 2,
        detail: format!("{count} here"),
        enables: "the built-in device: one core for the tester, one for the device",
        remedy: "give the machine or the container a second core",
        needed: Needed::Always,
    }
}

fn governor() -> Finding {
    let read = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let governor = read.map(|text| text.trim().to_owned()).ok();
    let (present, detail) = match governor.as_deref() {
        Some("performance") => (true, "performance".to_owned()),
        Some(other) => (false, format!("it is {other}")),
        None => (true, "the frequency is not this system's to choose".to_owned()),
    };
    Finding {
        what: "steady clock",
        present,
        detail,
        enables: "trials that do not differ by the processor's frequency",
        remedy: "cpupower frequency-set -g performance",
        needed: Needed::Never,
    }
}

fn hypervisor() -> Finding {
    let is_virtual = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| {
        text.lines().any(|line| {
            line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
        })
    });
    let detail = match is_virtual {
        true => "this is a virtual machine: its cores move and are shared with strangers",
        false => "no hypervisor",
    };
    Finding {
        what: "own hardware",
        present: !is_virtual,
        detail: detail.to_owned(),
        enables: "smaller differences between trials",
        remedy: "use a machine of your own, or more blocks",
        needed: Needed::Never,
    }
}

fn undisturbed() -> Finding {
    let cores = affinity::allowed_cores();
    let shares = pulse::slow_shares(&cores, WATCHED);
    let parts = cores.iter().zip(&shares).filter_map(|(core, share)| {
        share.map(|share| format!("core {core} slow in {:.0} % of {WATCHED:?}", share * 100.0))
    });
    let is_shared = shares.iter().flatten().any(|share| *share > Interval::MOST_SLOW);
    Finding {
        what: "undisturbed cores",
        present: !is_shared,
        detail: parts.collect::<Vec<_>>().join(", "),
        enables: "trials that need not wait until others leave the cores alone",
        remedy: "stop other work, switch simultaneous multithreading off, or use a machine of your own",
        needed: Needed::Never,
    }
}

fn huge_pages() -> Finding {
    let read = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let detail = match &read {
        Ok(text) => text.trim().to_owned(),
        Err(_) => "this kernel has none".to_owned(),
    };
    Finding {
        what: "huge pages",
        present: read.is_ok_and(|text| !text.contains("[never]")),
        detail,
        enables: "lookups in full tables without waiting for page tables",
        remedy: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        needed: Needed::Never,
    }
}
