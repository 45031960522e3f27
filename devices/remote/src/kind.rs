//! The remote device as the lab knows it before it runs.

use std::path::Path;
use std::sync::Arc;

use fwdlab_device::{Device, DeviceError, DoctorFinding, Kind, Place};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{Abilities, DeviceTables, Experiment, Schema};
use fwdlab_guard::Scratch;
use fwdlab_results::{About, Link, Measure, Tick};

use crate::machines::Machines;
use crate::reach::SHORT;
use crate::testbed::Testbed;
use crate::tester::{check_captures, check_latency, check_makers, check_order, check_streams};
use crate::{doctor, settings};

/// Real machines over ssh.
#[derive(Clone, Copy, Debug)]
pub struct Remote;

impl Schema for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn asked_for_by(&self, word: &str) -> Option<&'static str> {
        let is_machine =
            matches!(word, "ssh" | "hardware" | "machine" | "bsdrp" | "pfsense" | "opnsense");
        is_machine.then_some(
            "write device = \"remote\", and name its machines by --testbed (docs/remote.md)",
        )
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            replays_captures: true,
            measures_latency: true,
            takes_profiles: true,
            carries_streams: true,
            benchmarks: &[Measure::Goodput, Measure::ByteCost],
            ..Abilities::BASIC
        }
    }

    fn why_not(&self, measure: Measure) -> Option<&'static str> {
        Some(match measure {
            Measure::Convergence => "nobody changes a real machine's routes by the tester's clock",
            _ if measure.is_of_sessions() => "its testers send flows that neither begin nor end",
            _ => "its testers are told one load a trial, and none dates what is lost",
        })
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        settings::check_word(word)
    }

    fn check_value(&self, _: &str, value: &str) -> Result<(), Complaint> {
        settings::check_value(value)
    }

    fn check(&self, file: &mut DeviceTables<'_, '_>, complaints: &mut Complaints<'_>) {
        for variant in &mut file.variants {
            settings::read_variant(variant, complaints);
        }
    }
}

impl Kind for Remote {
    fn about(&self) -> About {
        About {
            line: "Device: a real machine, over ssh".to_owned(),
            fact: Some("testbed".to_owned()),
            link: Link::Wire,
            command: None,
            tick: Tick::default(),
        }
    }

    fn examine(&self, place: &Place) -> Vec<DoctorFinding> {
        doctor::findings(place)
    }

    fn takes_testbed(&self) -> bool {
        true
    }

    fn open(
        &self,
        experiment: &Arc<Experiment>,
        place: &Place,
    ) -> Result<Box<dyn Device>, DeviceError> {
        let Some(file) = &place.testbed else {
            return Err(DeviceError::setup("no testbed is named; add --testbed FILE"));
        };
        let testbed = Testbed::read(file)?;
        check_order(experiment, &testbed)?;
        check_captures(experiment, &testbed)?;
        check_makers(experiment, &testbed)?;
        check_latency(experiment, &testbed)?;
        check_streams(experiment, &testbed)?;
        Ok(Box::new(Machines::open(experiment, testbed, &place.program)?))
    }

    fn tidy(&self) {
        Scratch::tidy(Path::new(SHORT));
    }

    fn abandon(&self) {
        Scratch::abandon(Path::new(SHORT));
    }
}
