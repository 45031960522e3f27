//! The vm device as the lab knows it before it runs.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use fwdlab_agent::task::GuestClock;
use fwdlab_device::{Device, DeviceError, DoctorFinding, Kind, Place, Repeatability};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{
    Abilities, DeviceTables, Direction, Experiment, MOST_PORTS, Schema, Traffic, TrafficPlace,
    network_length,
};
use fwdlab_results::{About, Link, Measure, Tick};
use fwdlab_topology::{NFTABLES, RuleSet};

use crate::ahead::at_once;
use crate::device::{Boots, tried_by};
use crate::settings::Booted;
use crate::task::cable_duration;
use crate::{doctor, freebsd, pktgen, sessions, settings};

/// Seconds of a processor until a guest sends its first frame, and for a second of a guest whose instructions
/// are counted: 5 and 8 to 10 were seen for Linux and FreeBSD on a core of an EPYC (Zen 5).
const BOOT_SECONDS: f64 = 5.0;
const COPY_SECONDS: f64 = 1.0;
const EMULATION: f64 = 9.0;

/// How far boots of one kernel lay apart at the most, of Linux and of FreeBSD, on busy hosts: nothing to 0.03 %
/// in general, 0.1 % with the states of packet filters.
const BOOTS: [(&str, f64); 2] =
    [("boots of one kernel", 0.0003), ("the same, with states of a packet filter", 0.001)];
/// New sessions in copies of one boot: two of six boots cost 0.5 % more, four others lay apart by a CV of 0.34 %.
const COPIES: (&str, f64) = ("sessions, in copies of one boot", 0.0034);

/// What a guest has figures of its own for.
const SESSIONS: [Measure; 3] = [Measure::Insertion, Measure::Lookup, Measure::FullTable];

/// Kernels booted in virtual machines.
#[derive(Clone, Copy, Debug)]
pub struct Vm;

impl Schema for Vm {
    fn name(&self) -> &'static str {
        "vm"
    }

    fn asked_for_by(&self, word: &str) -> Option<&'static str> {
        match word {
            "freebsd" => Some(
                "write device = \"vm\", and a kernel of FreeBSD as `kernel` in [vm] or in each variant \
                 (docs/freebsd.md, `fwdlab examples freebsd-modular-fib`); a machine of its own is \
                 device = \"remote\"",
            ),
            "qemu" | "kvm" | "kernel" | "kernels" | "guest" => Some(
                "write device = \"vm\", and a kernel as `kernel` in [vm] or in each variant; it is booted \
                 under QEMU (docs/vm.md)",
            ),
            _ => None,
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            takes_profiles: true,
            replays_captures: true,
            opens_sessions: true,
            sends_both_ways: true,
            most_ports: MOST_PORTS,
            benchmarks: &SESSIONS,
            ..Abilities::BASIC
        }
    }

    fn why_not(&self, measure: Measure) -> Option<&'static str> {
        let needs_overload = measure.loss_ratio().is_some()
            || matches!(measure, Measure::Mrr | Measure::LossCurve | Measure::BackToBack);
        match measure {
            Measure::Reset => Some("tester and device are one guest, and start anew together"),
            _ if needs_overload => Some(
                "tester and device take turns on the guest's one processor, so that no load is more than \
                 the device bears and no buffer ever fills",
            ),
            Measure::Convergence => Some(
                "a guest has one processor, on which no frame moves while its kernel changes a route",
            ),
            Measure::Goodput | Measure::ByteCost => Some(
                "both ends of a stream would take turns with the device on the guest's one processor, and wait \
                 by a clock that counts instructions",
            ),
            _ => None,
        }
    }

    fn table(&self) -> Option<&'static str> {
        Some("vm")
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        settings::check_word(word)
    }

    fn names_file(&self, word: &str, value: &str) -> Option<PathBuf> {
        match word {
            NFTABLES => RuleSet::named(value).file(),
            word if freebsd::Rules::of(word).is_some() => freebsd::file_of(value),
            _ => None,
        }
    }

    fn network_length(&self, gateway: IpAddr) -> Option<u8> {
        Some(network_length(gateway))
    }

    /// Which values a sysctl takes only the kernel knows.
    fn check_value(&self, word: &str, value: &str) -> Result<(), Complaint> {
        let takes_nothing = word == NFTABLES || freebsd::Rules::of(word).is_some();
        if takes_nothing || !value.trim().is_empty() {
            return Ok(());
        }
        if !freebsd::CHOICES.contains(&word) {
            return Err(Complaint::new(
                "the value is empty, and no kernel is told anything",
                "a value that the kernel takes",
                "write a value, or remove the word to leave the setting as it is",
            ));
        }
        Err(Complaint::new(
            "no lookup algorithm is named",
            "one that the kernel has: radix4, bsearch4, dxr, dpdk_lpm4, radix6, ...",
            "write \"auto\" to leave the choice to the kernel, or remove the word",
        ))
    }

    fn check(&self, file: &mut DeviceTables<'_, '_>, complaints: &mut Complaints<'_>) {
        let table = file.own.as_mut().map(|section| settings::read_table(section, complaints));
        let table = table.unwrap_or_default();
        for variant in &mut file.variants {
            settings::read_variant(&table, variant, complaints);
        }
        pktgen::abilities(&table.machine, file.traffics, complaints);
        no_full_mesh(file.traffics, complaints);
        sessions::check_before(file, table.machine.memory_mb, complaints);
    }
}

/// Refuses what a guest's tester cannot tell from itself.
fn no_full_mesh(placed: &[(Traffic, TrafficPlace)], complaints: &mut Complaints<'_>) {
    let meshed = placed.iter().filter(|(own, _)| own.direction == Direction::Mesh);
    // Those of a kind of their own have no mesh on any device: of that it is said.
    for (traffic, place) in
        meshed.filter(|(own, _)| own.sessions.is_none() && own.capture.is_none())
    {
        let (at, field) = place.key_or_ends("direction");
        let complaint = Complaint::new(
            format!(
                "traffic {:?} is a full mesh in a guest, whose frames cost the tester more through the device than \
                 over cables: what the device costs is not known",
                traffic.name
            ),
            "a partial mesh, or device = \"builtin\" or \"linux\"",
            "write ports = 4 and direction = \"both\"",
        );
        complaints.add(at, field, complaint);
    }
}

impl Kind for Vm {
    fn about(&self) -> About {
        About {
            line: "Device: kernels booted under QEMU, one boot a trial".to_owned(),
            fact: Some("clock".to_owned()),
            link: Link::Wire,
            command: None,
            tick: Tick::default(),
        }
    }

    fn tick(&self, experiment: &Experiment) -> Tick {
        match settings::of(experiment).0.clock {
            GuestClock::Instructions => Tick::Instruction,
            GuestClock::Wall => Tick::Nanosecond,
        }
    }

    fn preflight_boots(&self, experiment: &Experiment) -> usize {
        experiment.variants.iter().filter(|own| tried_by(experiment, own) == own.name).count()
    }

    fn boot_seconds(&self) -> f64 {
        BOOT_SECONDS
    }

    /// Both passes, each with a warm-up of its own, beside those of other guests.
    fn trial_seconds(&self, experiment: &Experiment) -> Option<(f64, &'static str)> {
        let passes = 2 * experiment.warmup + experiment.duration + cable_duration(experiment);
        let machine = settings::of(experiment).0;
        let slowness = match machine.clock {
            GuestClock::Instructions => EMULATION,
            GuestClock::Wall => 1.0,
        };
        let begins = match machine.boots {
            Booted::Trial => BOOT_SECONDS,
            // A boot for all traffics, and a copy for each.
            Booted::Block => COPY_SECONDS + BOOT_SECONDS / experiment.traffics.len().max(1) as f64,
        };
        let alone = begins + slowness * passes.as_secs_f64();
        Some((alone / at_once(&machine) as f64, "a boot"))
    }

    /// Counted instructions depend on the guest alone, whatever the host does.
    fn repeatability(&self, experiment: &Experiment) -> Option<Repeatability> {
        let machine = settings::of(experiment).0;
        if machine.clock != GuestClock::Instructions {
            return None;
        }
        let copies = (machine.boots == Booted::Block).then_some(COPIES);
        Some(Repeatability {
            of: BOOTS.into_iter().chain(copies).collect(),
            source: "boots whose instructions are counted (docs/vm.md, docs/freebsd.md)",
        })
    }

    fn examine(&self, place: &Place) -> Vec<DoctorFinding> {
        doctor::findings(Some(place.program.as_path()).filter(|path| path.exists()))
    }

    fn open(
        &self,
        experiment: &Arc<Experiment>,
        place: &Place,
    ) -> Result<Box<dyn Device>, DeviceError> {
        Ok(Box::new(Boots::new(experiment, &place.program)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(vm: &str) -> Option<Repeatability> {
        let text = format!(
            "title = \"t\"\ndevice = \"vm\"\nbaseline = \"a\"\n[vm]\nkernel = \"k\"\n{vm}\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
             [[traffic]]\nname = \"t\"\nsource = \"198.18.10.1:7\"\ndestination = \"198.19.10.1:7\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
        );
        let path = std::path::Path::new("x.toml");
        Vm.repeatability(&Experiment::parse(path, &text, &[&Vm]).expect("a good experiment"))
    }

    #[test]
    fn a_full_mesh_is_refused_with_the_partial_one_that_a_guest_takes() {
        let read = |traffic: &str| {
            let text = format!(
                "title = \"t\"\ndevice = \"vm\"\nbaseline = \"a\"\n[vm]\nkernel = \"k\"\n\
                 [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                 [[traffic]]\nname = \"t\"\nsource = \"198.18.10.1-198.18.10.4:7\"\n\
                 destination = \"198.19.10.1-198.19.10.4:7\"\n{traffic}\n\
                 [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\", \"198.18.0.0/16 via 198.18.0.2\"]\n"
            );
            Experiment::parse(std::path::Path::new("x.toml"), &text, &[&Vm]).map(drop)
        };
        let said = read("direction = \"mesh\"").expect_err("refused").to_string();
        assert!(said.starts_with("x.toml:14:13: traffic[1].direction: traffic \"t\" is"), "{said}");
        assert!(said.contains("write ports = 4 and direction = \"both\""), "{said}");
        assert!(read("ports = 4\ndirection = \"both\"").is_ok());
        // "write ports = 4", and then "remove ports".
        let said =
            read("direction = \"mesh\"\nkind = \"sessions\"").expect_err("refused").to_string();
        assert!(said.contains("beside a kind of its own"), "{said}");
        assert!(!said.contains("ports = 4"), "{said}");
    }

    #[test]
    fn only_counted_instructions_spread_alike_on_all_machines() {
        assert_eq!(spread("clock = \"wall\""), None);
        let boots = spread("").expect("instructions are the default");
        let copies = spread("boots = \"block\"").expect("instructions");
        assert_eq!(boots.of, BOOTS);
        assert_eq!(copies.of.last(), Some(&COPIES));
        assert!(boots.of.iter().all(|(_, cv)| *cv < 0.0045), "below that of a quiet machine");
    }
}
