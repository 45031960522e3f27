use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch};
use fwdlab_experiment::{Anything, Experiment, Variant};
use fwdlab_results::{Interval, Measured};

use super::message::{Answer, Ask, Failure};
use super::serve;

const EXPERIMENT: &str = r#"
title = "a test"
baseline = "one"

[[variant]]
name = "one"

[[variant]]
name = "two"
set = { "a.word" = "5" }

[[traffic]]
name = "inet"
source = "198.18.10.1:2000"
destination = "198.19.10.1:2000"

[routes]
static = ["198.19.0.0/16 via 198.19.0.203"]
"#;

/// Counts as many frames as its variant has letters, and loses the third trial.
struct Counter {
    frames: u64,
    trials: usize,
}

impl Device for Counter {
    fn facts(&self) -> Facts {
        Facts::of_device([("made of", "paper".to_owned())])
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.frames = variant.name.len() as u64;
        Ok(variant.set.clone())
    }

    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(&mut self, _: &Request<'_>, watch: &mut Watch<'_>) -> Result<Measured, DeviceError> {
        self.trials += 1;
        if self.trials == 3 {
            return Err(DeviceError::Lost(fwdlab_device::Fault::new("gone")));
        }
        (watch.on_interval)(&Interval::default());
        Ok(Measured { received: self.frames, ..Measured::default() })
    }
}

fn experiment() -> Experiment {
    Experiment::parse(Path::new("a.toml"), EXPERIMENT, &[&Anything]).expect("a valid experiment")
}

fn two() -> Variant {
    experiment().variants[1].clone()
}

/// What a process answers to these questions.
fn answers(asked: &[Ask]) -> Vec<Answer> {
    let lines: Vec<String> =
        asked.iter().map(|ask| serde_json::to_string(ask).expect("encoded") + "\n").collect();
    let mut out = Vec::new();
    let (ended, end) = mpsc::channel();
    let open = |_: &super::Wanted<'_>| -> Result<(Arc<Experiment>, Box<dyn Device>), String> {
        Ok((Arc::new(experiment()), Box::new(Counter { frames: 0, trials: 0 })))
    };
    serve(Cursor::new(lines.concat()), &mut out, open, move || {
        // Nobody waits any more when the test has failed.
        let _ = ended.send(());
    })
    .expect("an open output");
    end.recv().expect("told that the input has ended");
    let text = String::from_utf8(out).expect("JSON");
    text.lines().map(|line| serde_json::from_str(line).expect("an answer")).collect()
}

fn opening(sha256: &str) -> Ask {
    Ask::Open {
        path: "a.toml".into(),
        text: EXPERIMENT.to_owned(),
        sha256: sha256.to_owned(),
        layout: 7,
        fastest_beat_ns: None,
        is_watched: false,
    }
}

#[test]
fn a_process_answers_each_question_until_its_input_ends() {
    let sha256 = experiment().sha256;
    let asked = [
        opening(&sha256),
        Ask::Apply(two()),
        Ask::Measure(two(), 0),
        Ask::Measure(two(), 3),
        Ask::Measure(two(), 0),
        Ask::Measure(two(), 0),
    ];
    let got = answers(&asked);
    let Answer::Open { facts, .. } = &got[0] else { panic!("{got:?}") };
    assert_eq!(facts.device["made of"], "paper");
    assert!(matches!(&got[1], Answer::Applied(proof) if proof["a.word"] == "5"), "{got:?}");
    assert!(matches!(&got[2], Answer::Measured(found) if found.received == 3), "{got:?}");
    assert!(matches!(got[3], Answer::Failed(Failure::Trial(_))), "{got:?}");
    assert!(matches!(got[4], Answer::Measured(_)), "{got:?}");
    let Answer::Failed(Failure::Lost(fault)) = &got[5] else { panic!("{got:?}") };
    assert_eq!(fault.what, "gone");
    assert_eq!(got.len(), asked.len());
}

#[test]
fn a_process_refuses_files_that_have_changed() {
    let got = answers(&[opening("another"), Ask::Apply(two())]);
    let [Answer::Failed(Failure::Setup(fault))] = &got[..] else { panic!("{got:?}") };
    assert!(fault.what.contains("has changed"), "{fault}");
}

#[test]
fn every_failure_arrives_as_it_was_sent() {
    let fault = fwdlab_device::Fault {
        what: "no".to_owned(),
        on: "device".to_owned(),
        try_next: "yes".to_owned(),
        breakdown: Some(Box::new(fwdlab_device::Breakdown {
            kind: fwdlab_results::FailureKind::DutHung,
            remedies: vec!["waited".to_owned()],
            console: vec!["panic".to_owned()],
            logs: vec!["tester: gone".to_owned()],
        })),
    };
    let errors = [
        DeviceError::Stopped,
        DeviceError::Lost(fault.clone()),
        DeviceError::Setup(fault.clone()),
        DeviceError::Trial(fault),
    ];
    for error in errors {
        let sent = error.to_string();
        let text = serde_json::to_string(&Failure::from(error)).expect("encoded");
        let arrived: Failure = serde_json::from_str(&text).expect("decoded");
        assert_eq!(DeviceError::from(arrived).to_string(), sent);
    }
}

/// A parent whose program is none.
#[cfg(unix)]
#[test]
fn a_program_that_ends_at_once_is_a_lost_device_and_one_that_is_missing_an_error() {
    use super::{Proxy, Start};

    let model = Counter { frames: 0, trials: 0 };
    let remote = |program: &str, arguments: &[&str]| {
        let start = Start {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            seed: 1,
            is_watched: false,
        };
        Proxy::new(Arc::new(experiment()), start, &model)
    };
    let stop = AtomicBool::new(false);
    let mut watch = Watch { on_interval: &mut |_| {}, stop: &stop };
    let variant = experiment().variants[0].clone();
    let mut ends = remote("true", &[]);
    assert_eq!(ends.facts().device["made of"], "paper");
    let lost = ends.apply(&variant, &mut watch);
    assert!(matches!(lost, Err(DeviceError::Lost(_))), "{lost:?}");
    let missing = remote("/nowhere/fwdlab", &[]).renew(1);
    assert!(matches!(missing, Err(DeviceError::Setup(_))), "{missing:?}");
    // One that never answers is ended as soon as the campaign is to stop.
    stop.store(true, Ordering::Relaxed);
    let stopped = remote("sleep", &["100"]).apply(&variant, &mut watch);
    assert!(matches!(stopped, Err(DeviceError::Stopped)), "{stopped:?}");
}
