//! A device that answers what a test tells it, and campaigns on it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fwdlab_campaign::plan::{Opened, Place, Terms, UntilDecided};
use fwdlab_campaign::runner::{End, Observer, Runner, Upcoming};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch};
use fwdlab_experiment::Anything;
use fwdlab_experiment::{Experiment, Variant};
use fwdlab_results::environment::Environment;
use fwdlab_results::{About, Busy, Interval, Measured, Results, Resumed, Trial};

/// What a trial of this number, from 0, counts.
pub type Answer<'a> = dyn FnMut(usize, &Request<'_>) -> Result<Measured, DeviceError> + 'a;

struct Told<'a> {
    trials: usize,
    answer: &'a mut Answer<'a>,
    /// Stops the campaign after so many trials.
    last: Option<usize>,
    stop: &'a AtomicBool,
}

impl Device for Told<'_> {
    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        Ok(variant.set.clone())
    }

    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        _: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let number = self.trials;
        self.trials += 1;
        if self.last.is_some_and(|last| number >= last) {
            self.stop.store(true, Ordering::Relaxed);
        }
        (self.answer)(number, request)
    }
}

struct Silent;

impl Observer for Silent {
    fn starts(&mut self, _: &Upcoming<'_>) {}
    fn interval(&mut self, _: &Upcoming<'_>, _: &Interval) {}
    fn ends(&mut self, _: &Trial) {}
}

fn experiment(text: &str) -> Arc<Experiment> {
    let experiment = Experiment::parse(Path::new("told.toml"), text, &[&Anything]);
    Arc::new(experiment.unwrap())
}

/// Opens the campaign of `text` in `dir`, new or to go on with it.
pub fn open(dir: &Path, text: &str) -> fwdlab_results::Result<Opened> {
    let terms = Terms {
        about: About::unknown("anything"),
        switch_cost: Duration::ZERO,
        lives_in_process: false,
        calibrate: 0.0,
        slow_word: None,
        testbed: None,
        environment: Some(Environment::default()),
    };
    Place::Named(dir.to_owned()).open(&experiment(text), &terms)
}

/// Runs the campaign of `text` in `dir`, all of it or as far as `last`.
pub fn run<'a>(
    dir: &Path,
    text: &str,
    last: Option<usize>,
    answer: &'a mut Answer<'a>,
) -> (End, Results) {
    (run_on(open(dir, text).unwrap(), text, last, answer), Results::read(dir).unwrap())
}

/// What a trial of one flow counts: ten intervals of so many frames, of no length to speak of: nothing was waited for. No two trials
/// have the same, as with a clock.
// not every file of tests does
#[allow(dead_code)]
pub fn counted(frames: u64) -> Measured {
    static TRIALS: AtomicU64 = AtomicU64::new(0);
    let extra = TRIALS.fetch_add(1, Ordering::Relaxed);
    let interval = |at: u64| Interval {
        ms: 0.1,
        tx: Some(frames),
        rx: frames,
        busy: Some(Busy { ns: 97_000 + if at == 0 { extra } else { 0 }, frames }),
        ..Interval::default()
    };
    let total = 10 * frames;
    let mut measured = Measured {
        sent: Some(total),
        received: total,
        flows_seen: Some(1),
        device_received: Some(total),
        device_sent: Some(total),
        busy: Some(Busy { ns: 970_000 + extra, frames: total }),
        idle_share: Some(0.0),
        intervals: (0..10).map(interval).collect(),
        ..Measured::default()
    };
    measured.environment.pinned = true;
    measured
}

/// Opens the finished campaign of `text` in `dir` to run its FAILED trials again.
// not every file of tests does
#[allow(dead_code)]
pub fn again(dir: &Path, text: &str) -> Opened {
    let mut opened = Place::retry(dir, &experiment(text)).unwrap();
    let again = opened.earlier.as_ref().unwrap().failed();
    let resumed = Resumed { at: "2099-01-01T00:00:00Z".to_owned(), again, ..Resumed::default() };
    opened.journal.append_resumed(&resumed).unwrap();
    opened.earlier = Some(Results::read(dir).unwrap());
    opened
}

/// Runs what an opened campaign lacks.
pub fn run_on<'a>(
    opened: Opened,
    text: &str,
    last: Option<usize>,
    answer: &'a mut Answer<'a>,
) -> End {
    let experiment = experiment(text);
    let stop = &AtomicBool::new(false);
    let device = &mut Told { trials: 0, answer, last, stop };
    let (observer, stopper) = (&mut Silent, &mut UntilDecided::new(&experiment));
    Runner { experiment: &experiment, device, observer, stopper, stop }.run(opened).unwrap()
}
