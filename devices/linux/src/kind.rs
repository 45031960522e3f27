//! The devices of the running kernel as the lab knows them before they run.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fwdlab_device::{Device, DeviceError, DoctorFinding, Kind, Place};
use fwdlab_experiment::fields::{Section, Value, integer_of};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{
    Abilities, DeviceTables, Experiment, MOST_PORTS, Schema, Traffic, network_length,
    untranslatable,
};
use fwdlab_guard::Scratch;
use fwdlab_results::{About, Link, Measure, Tick};
use fwdlab_topology::{NFTABLES, RuleSet, translation};

use crate::device::Namespaces;
use crate::settings::{self, ENDS, GRO, GSO, ROUTER, RPS, TESTER, THREADED, TSO, XDP};
use crate::setup::PINS;
use crate::{doctor, loads::needs_overload};

/// A device between veth pairs.
#[derive(Clone, Copy, Debug)]
pub struct OnVeth {
    /// fwdlab's own router forwards, in every variant.
    is_embedded: bool,
}

/// The running Linux kernel, in network namespaces.
pub const LINUX: OnVeth = OnVeth { is_embedded: false };

/// The embedded router on the namespaces, veth pairs and tester of [`LINUX`].
pub const BUILTIN_VETH: OnVeth = OnVeth { is_embedded: true };

/// Measures of the kernel's routes, of its connection tracking, and of streams through it.
const OWN: [Measure; 11] = [
    Measure::LossCurve,
    Measure::BackToBack,
    Measure::Recovery,
    Measure::Reset,
    Measure::Soak,
    Measure::Convergence,
    Measure::Insertion,
    Measure::Lookup,
    Measure::FullTable,
    Measure::Goodput,
    Measure::ByteCost,
];

/// Words that are set on the first two ports.
const OF_PORTS: [&str; 6] = [XDP, THREADED, RPS, GRO, GSO, TSO];

impl Schema for OnVeth {
    fn name(&self) -> &'static str {
        if self.is_embedded { "builtin-veth" } else { "linux" }
    }

    fn abilities(&self) -> Abilities {
        // By the testers on sockets.
        Abilities {
            replays_captures: true,
            sends_both_ways: !self.is_embedded,
            overloads_one_way: true,
            most_ports: if self.is_embedded { 2 } else { MOST_PORTS },
            searches_rates: !self.is_embedded,
            measures_latency: !self.is_embedded,
            needs_search_for_latency: true,
            opens_sessions: !self.is_embedded,
            carries_streams: !self.is_embedded,
            benchmarks: if self.is_embedded { &[] } else { &OWN },
            takes_profiles: true,
            ..Abilities::BASIC
        }
    }

    fn why_not(&self, _: Measure) -> Option<&'static str> {
        let why = "it is fwdlab's own router beside the kernel's, at the rate of both";
        self.is_embedded.then_some(why)
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        settings::check_word(word, self.name())
    }

    fn network_length(&self, gateway: IpAddr) -> Option<u8> {
        Some(network_length(gateway))
    }

    fn check_value(&self, word: &str, value: &str) -> Result<(), Complaint> {
        settings::check_value(word, value)
    }

    fn names_file(&self, word: &str, value: &str) -> Option<PathBuf> {
        settings::names_file(word, value)
    }

    /// The router's words act on nothing where the kernel forwards; frames of a capture are sent
    /// by sockets only.
    fn check(&self, file: &mut DeviceTables<'_, '_>, complaints: &mut Complaints<'_>) {
        let traffics: Vec<Traffic> = file.traffics.iter().map(|(own, _)| own.clone()).collect();
        let any = |is_it: fn(&Traffic) -> bool| traffics.iter().any(is_it);
        let has_captures = any(|own| own.capture.is_some());
        let has_sessions = any(|own| own.sessions.is_some());
        let has_streams = any(|own| own.streams.is_some());
        let is_both = any(|own| own.ports > 2 || own.direction.is_both() && own.sessions.is_none());
        for variant in &mut file.variants {
            if has_captures {
                captures_need_sockets(variant, complaints);
            }
            if has_sessions {
                sessions_go_into_the_stack(variant, &traffics, complaints);
            }
            streams_go_through_the_stack(variant, has_streams, complaints);
            if any(|own| own.measure == Measure::Convergence) {
                routes_are_the_kernels(variant, complaints);
            }
            if any(needs_overload) {
                overloads_are_live_frames(variant, complaints);
            }
            if any(|own| own.ports > 2) {
                many_ports_are_alike(variant, complaints);
            }
            if is_both {
                both_ways_need_both_ports(variant, complaints);
            }
            if !self.is_embedded {
                router_words_need_the_router(variant, complaints);
            }
        }
    }
}

/// Says of each word of a variant what is wrong with it, if anything is.
fn refuse(
    variant: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
    wrong: impl Fn(&str, &Value<'_>) -> Option<Complaint>,
) {
    let Some(set) = variant.table("set", &mut Complaints::new("")) else { return };
    for (word, _, found) in set.entries() {
        let complaint = wrong(word, found.value);
        complaint.into_iter().for_each(|own| complaints.add(&found.at, &found.field, own));
    }
}

/// Whether a word has one of these values; of masks of processors 0 is also a number.
fn is_one_of(usual: &[&str], value: &Value<'_>) -> bool {
    match value.as_str() {
        Some(text) => usual.contains(&text),
        None => usual.contains(&"0") && integer_of(value) == Some(0),
    }
}

fn captures_need_sockets(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    refuse(variant, complaints, |word, value| {
        let is_program = word == TESTER && is_one_of(&["inject", "live"], value);
        is_program.then(|| {
            Complaint::new(
                "a tester that is a program in the kernel has no room for the frames of a capture",
                "tester = \"af_xdp\" or \"af_packet\" beside a capture",
                "remove the word: the fastest of them is taken",
            )
        })
    });
}

/// What converges are the kernel's routes, for frames that come through its stack.
fn routes_are_the_kernels(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    refuse(variant, complaints, |word, value| {
        let usual = match word {
            XDP => "none",
            ROUTER => "kernel",
            _ => return None,
        };
        (!is_one_of(&[usual], value)).then(|| {
            Complaint::new(
                "the kernel's routes change, and this forwards past them or without the stack",
                format!("{word} = {usual:?} beside measure = \"convergence\""),
                "remove the word, or the measure",
            )
        })
    });
}

/// Frames of sessions are put into the device's stack, behind all that a variant could change before.
fn sessions_go_into_the_stack(
    variant: &mut Section<'_>,
    traffics: &[Traffic],
    complaints: &mut Complaints<'_>,
) {
    refuse(variant, complaints, |word, value| {
        let usual: &[&str] = match (word, value.as_str().map(RuleSet::named)) {
            (NFTABLES, Some(RuleSet::Inline(rules))) => {
                return translated_sessions_are_known(&rules, traffics);
            }
            (TESTER, _) => &["auto", "inject"],
            (XDP, _) => &["none"],
            (ROUTER, _) => &["kernel"],
            (THREADED | GRO, _) => &["off"],
            (RPS, _) => &["0"],
            _ => return None,
        };
        (!is_one_of(usual, value)).then(|| {
            Complaint::new(
                "sessions are put into the device's stack, and this changes how frames come there",
                format!("{word} = {:?} beside kind = \"sessions\"", usual[0]),
                "remove the word, or kind = \"sessions\"",
            )
        })
    });
}

/// Behind rules that translate, the tester knows a session by its mark.
fn translated_sessions_are_known(rules: &str, traffics: &[Traffic]) -> Option<Complaint> {
    let word = translation(rules)?;
    let mut of_sessions = traffics.iter().filter(|traffic| traffic.sessions.is_some());
    let (why, remedy) = of_sessions.find_map(|traffic| untranslatable(word, traffic))?;
    Some(Complaint::new(
        format!("its rules translate addresses ({word}) beside kind = \"sessions\": {why}"),
        "masquerade, snat or dnat, one way, of frames with room for a mark",
        remedy,
    ))
}

/// Streams are the kernel's own, on one processor; what is set at their ends means nothing without them.
fn streams_go_through_the_stack(
    variant: &mut Section<'_>,
    has_streams: bool,
    complaints: &mut Complaints<'_>,
) {
    refuse(variant, complaints, |word, value| {
        let usual = match word {
            TESTER => "auto",
            XDP => "none",
            ROUTER => "kernel",
            THREADED => "off",
            RPS => "0",
            _ if ENDS.contains(&word) && !has_streams => {
                return Some(Complaint::new(
                    "no traffic of this experiment has streams, whose ends it would set",
                    "it beside kind = \"tcp\"",
                    "remove the word, or add kind = \"tcp\" to a traffic",
                ));
            }
            _ => return None,
        };
        (has_streams && !is_one_of(&[usual], value)).then(|| {
            Complaint::new(
                "streams are carried by the kernel's own stack, ends and device on one processor, and \
                 this goes past it or to another one",
                format!("{word} = {usual:?} beside kind = \"tcp\""),
                "remove the word, or kind = \"tcp\"",
            )
        })
    });
}

/// What overloads the device are live frames over the veth pair into the kernel's stack.
fn overloads_are_live_frames(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    refuse(variant, complaints, |word, value| {
        let usual: &[&str] = match word {
            TESTER => &["auto", "live"],
            ROUTER => &["kernel"],
            THREADED => &["off"],
            _ => return None,
        };
        (value.is_str() && !is_one_of(usual, value)).then(|| {
            Complaint::new(
                "a measure that overloads the device sends live frames to the kernel on a processor of \
                 its own, and this changes that",
                format!("{word} = {:?} beside such a measure", usual[0]),
                "remove the word, or the measure",
            )
        })
    });
}

/// What is set on the first two ports only would make the others something else.
fn many_ports_are_alike(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    refuse(variant, complaints, |word, _| {
        OF_PORTS.contains(&word).then(|| {
            Complaint::new(
                "this is set on two ports of the device, and it has more here",
                "two ports beside it",
                "remove the word, or ports and direction = \"mesh\"",
            )
        })
    });
}

/// Frames go both ways by sockets, and by what does the same on both ports of the device.
fn both_ways_need_both_ports(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    refuse(variant, complaints, |word, value| {
        let (what, wanted) = match (word, value.as_str()) {
            (TESTER, Some("inject" | "live")) => (
                "a tester that is a program in the kernel sends one way only",
                "tester = \"af_xdp\" or \"af_packet\" beside direction = \"both\"",
            ),
            (XDP, Some(program)) if program != "none" => (
                "a program stands on one port of the device, and frames come in by both",
                "xdp = \"none\" beside direction = \"both\"",
            ),
            (THREADED, Some("on")) => (
                "a kernel thread receives by one port of the device, and frames come in by both",
                "threaded = \"off\" beside direction = \"both\"",
            ),
            (ROUTER, Some("fwdlab")) => (
                "fwdlab's own router counts one way only on veth pairs",
                "device = \"builtin\" for its frames both ways",
            ),
            _ => return None,
        };
        Some(Complaint::new(what, wanted, "remove the word, or the direction"))
    });
}

fn router_words_need_the_router(variant: &mut Section<'_>, complaints: &mut Complaints<'_>) {
    let Some(set) = variant.table("set", &mut Complaints::new("")) else { return };
    let is_router = |word: &str, value: &Value<'_>| word == ROUTER && is_one_of(&["fwdlab"], value);
    if set.entries().any(|(word, _, found)| is_router(word, found.value)) {
        return;
    }
    for (word, at, found) in set.entries() {
        if settings::is_router_word(word) {
            let complaint = Complaint::new(
                "this is a control word of fwdlab's own router, and the kernel forwards here",
                format!("{ROUTER} = \"fwdlab\" beside it"),
                format!("add {ROUTER} = \"fwdlab\" to the variant, or remove the word"),
            );
            complaints.add(&at, &found.field, complaint);
        }
    }
}

impl Kind for OnVeth {
    /// Of the embedded router's words, where it forwards.
    fn idle(&self, experiment: &Experiment) -> Vec<String> {
        fwdlab_builtin::idle_differences(experiment)
    }

    fn about(&self) -> About {
        let line = match self.is_embedded {
            true => {
                "Device: the embedded router of fwdlab, between veth pairs of the running Linux \
                 kernel"
            }
            false => "Device: the running Linux kernel, in network namespaces",
        };
        About {
            line: line.to_owned(),
            fact: None,
            link: Link::Veth,
            command: None,
            tick: Tick::default(),
        }
    }

    fn examine(&self, _: &Place) -> Vec<DoctorFinding> {
        doctor::findings()
    }

    fn open(
        &self,
        experiment: &Arc<Experiment>,
        place: &Place,
    ) -> Result<Box<dyn Device>, DeviceError> {
        let mut device = Namespaces::new(experiment.clone(), self.is_embedded)?;
        device.powercap = place.powercap.clone();
        Ok(Box::new(device))
    }

    fn tidy(&self) {
        // Whoever may not remove them has not made them.
        let _ = fwdlab_topology::remove_leftovers();
        Scratch::tidy(Path::new(PINS));
    }

    fn abandon(&self) {
        let _ = fwdlab_topology::remove_own();
        Scratch::abandon(Path::new(PINS));
    }
}
