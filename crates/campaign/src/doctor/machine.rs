//! Processors and memory.

use std::fs;
use std::time::Duration;

use fwdlab_port::affinity;

use fwdlab_device::energy::{NoEnergy, Powercap};
use fwdlab_device::{DoctorFinding, pulse};
use fwdlab_results::Interval;
use fwdlab_results::units::plural;

/// How long each core is watched.
const WATCHED: Duration = Duration::from_millis(200);

pub(super) fn findings(powercap: &Powercap) -> Vec<DoctorFinding> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    vec![governor(), hypervisor(), undisturbed(), huge_pages(), energy(powercap)]
}

fn governor() -> DoctorFinding {
    let read = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let governor = read.map(|text| text.trim().to_owned()).ok();
    let (present, detail) = match governor.as_deref() {
        Some("performance") => (true, "performance".to_owned()),
        Some(other) => (false, format!("it is {other}")),
        None => (true, "the frequency is not this system's to choose".to_owned()),
    };
    DoctorFinding {
        what: "steady clock",
        present,
        detail,
        enables: "trials that do not differ by the processor's frequency",
        remedy: "cpupower frequency-set -g performance",
        is_needed: false,
    }
}

fn energy(powercap: &Powercap) -> DoctorFinding {
    let found = powercap.count();
    let remedy = found.as_ref().err().unwrap_or(&NoEnergy::Absent).remedy();
    DoctorFinding {
        what: "energy counters",
        present: found.is_ok(),
        detail: match found {
            Ok(count) => format!("{} (RAPL)", plural(count as u64, "processor package")),
            Err(why) => why.to_string(),
        } + &powercap.elsewhere(),
        enables: "joules for a million frames beside ns for each",
        remedy,
        is_needed: false,
    }
}

fn hypervisor() -> DoctorFinding {
    let is_virtual = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| {
        text.lines().any(|line| {
            line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
        })
    });
    let detail = match is_virtual {
        true => "this is a virtual machine: its cores move and are shared with strangers",
        false => "no hypervisor",
    };
    DoctorFinding {
        what: "own hardware",
        present: !is_virtual,
        detail: detail.to_owned(),
        enables: "smaller differences between trials",
        remedy: "use a machine of your own, or more blocks",
        is_needed: false,
    }
}

fn undisturbed() -> DoctorFinding {
    let cores = affinity::allowed_cores();
    let shares = pulse::slow_shares(&cores, WATCHED);
    let parts = cores.iter().zip(&shares).filter_map(|(core, share)| {
        share.map(|share| format!("core {core} slow in {:.0} % of {WATCHED:?}", share * 100.0))
    });
    let is_shared = shares.iter().flatten().any(|share| *share > Interval::MOST_SLOW);
    DoctorFinding {
        what: "undisturbed cores",
        present: !is_shared,
        detail: parts.collect::<Vec<_>>().join(", "),
        enables: "trials that need not wait until others leave the cores alone",
        remedy: "stop other work, switch simultaneous multithreading off, or use a machine of your own",
        is_needed: false,
    }
}

fn huge_pages() -> DoctorFinding {
    let read = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let detail = match &read {
        Ok(text) => text.trim().to_owned(),
        Err(_) => "this kernel has none".to_owned(),
    };
    DoctorFinding {
        what: "huge pages",
        present: read.is_ok_and(|text| !text.contains("[never]")),
        detail,
        enables: "lookups in full tables without waiting for page tables",
        remedy: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        is_needed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_counters_are_named_as_there_absent_or_broken() {
        let scratch = tempfile::tempdir().unwrap();
        let found = || energy(&Powercap::at(scratch.path()));
        let none = found();
        assert!(!none.present && none.detail.contains("no energy counters"), "{none:?}");
        // Whoever wrote a directory wrong sees which was looked into.
        assert!(none.detail.contains(scratch.path().to_str().unwrap()), "{none:?}");
        let zone = scratch.path().join("intel-rapl:0");
        fs::create_dir(&zone).unwrap();
        fs::write(zone.join("name"), "package-0\n").unwrap();
        assert!(!found().present && found().detail.contains("intel-rapl:0/energy_uj"));
        fs::write(zone.join("energy_uj"), "12\n").unwrap();
        assert!(found().present && found().detail.starts_with("1 processor package"));
    }
}
