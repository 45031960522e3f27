//! The built-in device as the lab knows it before it runs.

use std::net::IpAddr;
use std::sync::Arc;

use fwdlab_device::{Device, DeviceError, DoctorFinding, Kind, Place};
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{Abilities, Experiment, Schema, network_length};
use fwdlab_results::{About, Link, Measure, Tick};
use fwdlab_router::EXTRA_NS_PER_FRAME;
use fwdlab_traffic::size;

use crate::control;
use crate::idle;
use crate::rings::Rings;

/// The embedded router, joined to the tester by memory rings.
#[derive(Clone, Copy, Debug)]
pub struct Builtin;

impl Schema for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn asked_for_by(&self, word: &str) -> Option<&'static str> {
        let is_ours = matches!(word, "fwdlab" | "router" | "memory" | "embedded");
        is_ours.then_some("write device = \"builtin\", fwdlab's own router in memory")
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            longest_frame_bytes: size::MAX as u16,
            opens_sessions: false,
            carries_streams: false,
            ignores_latency: false,
            leaves_pairs_out: false,
            ..Abilities::ALL
        }
    }

    fn why_not(&self, measure: Measure) -> Option<&'static str> {
        match measure {
            _ if measure.is_of_sessions() => Some("fwdlab's own router keeps no sessions"),
            _ if measure.is_of_streams() => {
                Some("no stacks answer each other over rings in memory")
            }
            _ => None,
        }
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        control::check_own_name(word, self.name())
    }

    fn network_length(&self, gateway: IpAddr) -> Option<u8> {
        Some(network_length(gateway))
    }

    fn check_value(&self, word: &str, value: &str) -> Result<(), Complaint> {
        match word {
            control::BUFFER_FRAMES => control::check_buffer(value).map(drop),
            word => control::check_value(word, value),
        }
    }
}

impl Kind for Builtin {
    fn about(&self) -> About {
        About {
            line:
                "Device: the embedded router of fwdlab, joined to the tester by memory rings (no \
                   network card, no kernel)"
                    .to_owned(),
            fact: None,
            link: Link::Memory,
            command: None,
            tick: Tick::default(),
        }
    }

    fn examine(&self, _: &Place) -> Vec<DoctorFinding> {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        vec![DoctorFinding {
            what: "2 cores",
            present: count >= 2,
            detail: format!("{count} here"),
            enables: "the built-in device: one core for the tester, one for the device",
            remedy: "give the machine or the container a second core",
            is_needed: true,
        }]
    }

    fn slow_word(&self) -> Option<&'static str> {
        Some(EXTRA_NS_PER_FRAME)
    }

    fn idle(&self, experiment: &Experiment) -> Vec<String> {
        idle::differences(experiment)
    }

    fn open(
        &self,
        experiment: &Arc<Experiment>,
        place: &Place,
    ) -> Result<Box<dyn Device>, DeviceError> {
        Ok(Box::new(Rings::new(experiment.clone(), place)?))
    }
}
