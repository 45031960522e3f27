//! A device of one file: from an experiment file with settings of its own to a report. Nothing else
//! knows of it.

// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fwdlab_campaign::plan::{Place as Results, Terms};
use fwdlab_campaign::runner::{End, Observer, Runner, Upcoming};
use fwdlab_device::{
    Device, DeviceError, DoctorFinding, Facts, Kind, Place, Proof, Request, Watch,
};
use fwdlab_experiment::fields::{Section, reread};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{Abilities, DeviceTables, Experiment, Schema, Variant};
use fwdlab_results::{About, Busy, Interval, Link, Measured, Tick, Trial};

/// Forwards nothing and says that each frame took so many ns.
struct Toy;

fn cost_ns(own: &mut Section<'_>, complaints: &mut Complaints<'_>) -> u64 {
    own.integer("cost_ns", 1..=1000, complaints).map_or(100, |found| found.value)
}

impl Schema for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn abilities(&self) -> Abilities {
        Abilities::BASIC
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        if word == "toy.colour" {
            return Ok(());
        }
        Err(Complaint::new("a toy has no such word", "toy.colour", "remove it"))
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check(&self, file: &mut DeviceTables<'_, '_>, complaints: &mut Complaints<'_>) {
        for variant in &mut file.variants {
            cost_ns(variant, complaints);
        }
    }
}

impl Kind for Toy {
    fn about(&self) -> About {
        let line = "Device: a toy".to_owned();
        About { line, fact: None, link: Link::Memory, command: None, tick: Tick::default() }
    }

    fn examine(&self, _: &Place) -> Vec<DoctorFinding> {
        Vec::new()
    }

    fn open(&self, _: &Arc<Experiment>, _: &Place) -> Result<Box<dyn Device>, DeviceError> {
        Ok(Box::new(Wound { cost_ns: 0, ticks: 0 }))
    }
}

/// A toy with a variant applied.
struct Wound {
    cost_ns: u64,
    ticks: u64,
}

impl Device for Wound {
    fn facts(&self) -> Facts {
        Facts::of_device([("spring", "steel".to_owned())])
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.cost_ns = reread(&variant.own, cost_ns);
        Ok(variant.set.clone())
    }

    fn measure(&mut self, _: &Request<'_>, watch: &mut Watch<'_>) -> Result<Measured, DeviceError> {
        let mut interval = || {
            self.ticks += 1;
            let rx = 100_000_000 / self.cost_ns + self.ticks % 7;
            let busy = Some(Busy { ns: 100_000_000, frames: rx });
            Interval { ms: 100.0, tx: Some(rx), rx, busy, ..Interval::default() }
        };
        let intervals: Vec<Interval> = (0..10).map(|_| interval()).collect();
        intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        let frames = intervals.iter().map(|interval| interval.rx).sum();
        Ok(Measured { intervals, sent: Some(frames), received: frames, ..Measured::default() })
    }
}

struct Silent;

impl Observer for Silent {
    fn starts(&mut self, _: &Upcoming<'_>) {}
    fn interval(&mut self, _: &Upcoming<'_>, _: &Interval) {}
    fn ends(&mut self, _: &Trial) {}
}

const EXPERIMENT: &str = r#"
title = "Two toys"
device = "toy"
baseline = "slow"
[[variant]]
name = "slow"
cost_ns = 200
set = { "toy.colour" = "red" }
[[variant]]
name = "fast"
set = { "toy.colour" = "blue" }
[[traffic]]
name = "inet"
source = "198.18.0.1:7"
destination = "198.19.0.1:7"
[routes]
static = ["198.19.0.0/16 via 198.19.0.2"]
"#;

#[test]
fn a_device_of_one_file_goes_from_its_experiment_to_a_report() {
    let file = Path::new("toy.toml");
    let wrong = EXPERIMENT.replace("cost_ns = 200", "cost_ns = 2000\nwheels = 4");
    let problems = Experiment::parse(file, &wrong, &[&Toy]).unwrap_err().to_string();
    assert!(problems.contains("toy.toml:7") && problems.contains("1 to 1000"), "{problems}");
    assert!(problems.contains("wheels: this key is unknown"), "{problems}");

    let experiment = Arc::new(Experiment::parse(file, EXPERIMENT, &[&Toy]).unwrap());
    let mut device = Toy.open(&experiment, &Place::default()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let terms = Terms { switch_cost: device.switch_cost(), ..Terms::of(Toy.about()) };
    let opened = Results::Named(dir.path().to_owned()).open(&experiment, &terms).unwrap();
    let (observer, stopper, stop) = (&mut Silent, &mut (), &AtomicBool::new(false));
    let device = device.as_mut();
    let end = Runner { experiment: &experiment, device, observer, stopper, stop }.run(opened);
    assert_eq!(end.unwrap(), End::Finished);
    let results = fwdlab_results::Results::read(dir.path()).unwrap();
    fwdlab_report::write(dir.path(), &results).unwrap();
    let report = std::fs::read_to_string(dir.path().join("README.md")).unwrap();
    for text in ["Device: a toy", "fast is faster than slow by exactly 100.0 ns", "toy.colour"] {
        assert!(report.contains(text), "{text}: {report}");
    }
}
