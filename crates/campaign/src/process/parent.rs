//! The device as the campaign sees it, in a process of its own.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use fwdlab_claims::order::layout;
use fwdlab_device::{Device, DeviceError, Facts, Fault, Proof, Request, Watch};
use fwdlab_experiment::{Experiment, Variant};
use fwdlab_guard::patiently;
use fwdlab_results::Measured;

use super::message::{Answer, Ask};

/// How often somebody who waits for a trial looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How a process is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program, which is this one.
    pub program: PathBuf,
    /// The arguments that make it [`serve`](super::serve).
    pub arguments: Vec<OsString>,
    /// The campaign's seed.
    pub seed: u64,
    /// Whether somebody looks at the intervals of trials.
    pub is_watched: bool,
}

/// A device in a process of its own, a fresh one each time that it is [renewed](Device::renew).
pub struct Proxy {
    experiment: Arc<Experiment>,
    start: Start,
    process: Option<Process>,
    /// Of the first process.
    facts: Facts,
    switch_cost: Duration,
    /// The fastest beat of the device's processor in any process.
    fastest_beat_ns: Option<f64>,
}

impl Proxy {
    /// A device that starts its first process when it is first renewed or asked for something;
    /// what it says of itself is taken from `model`, the same device in this process.
    pub fn new(experiment: Arc<Experiment>, start: Start, model: &dyn Device) -> Self {
        let (facts, switch_cost) = (model.facts(), model.switch_cost());
        let (process, fastest_beat_ns) = (None, None);
        Self { experiment, start, process, facts, switch_cost, fastest_beat_ns }
    }

    /// Starts a process whose memory is laid out from the campaign's seed and its number.
    fn begin(
        &mut self,
        number: u32,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<&mut Process, DeviceError> {
        self.process = None;
        let mut process = Process::start(&self.start, number)?;
        let open = Ask::Open {
            path: self.experiment.path.clone(),
            text: self.experiment.text.clone(),
            sha256: self.experiment.sha256.clone(),
            layout: layout(self.start.seed, number),
            fastest_beat_ns: self.fastest_beat_ns,
            is_watched: self.start.is_watched,
        };
        process.say(&open)?;
        match process.hear(&mut |_| {}, is_stopped)? {
            Answer::Open { .. } => Ok(self.process.insert(process)),
            other => Err(unexpected(&other)),
        }
    }

    /// Asks the process, and forgets it when it does not answer as it should.
    fn ask(&mut self, ask: &Ask, watch: &mut Watch<'_>) -> Result<Answer, DeviceError> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let process = match &mut self.process {
            Some(process) => process,
            None => self.begin(0, &is_stopped)?,
        };
        let heard =
            process.say(ask).and_then(|()| process.hear(&mut *watch.on_interval, &is_stopped));
        if matches!(heard, Err(DeviceError::Stopped | DeviceError::Lost(_))) {
            self.process = None;
        }
        heard
    }
}

impl Device for Proxy {
    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn renew(&mut self, process: u32) -> Result<(), DeviceError> {
        self.begin(process, &|| false).map(drop)
    }

    fn apply(&mut self, variant: &Variant, watch: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        match self.ask(&Ask::Apply(variant.clone()), watch)? {
            Answer::Applied(proof) => Ok(proof),
            other => Err(unexpected(&other)),
        }
    }

    /// The process does that itself.
    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(
        &mut self,
        trial: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let own = &self.experiment.traffics;
        let traffic = own.iter().position(|own| own.name == trial.traffic.name);
        let traffic = traffic.ok_or_else(|| DeviceError::trial("there is no such traffic"))?;
        match self.ask(&Ask::Measure(trial.variant.clone(), traffic), watch)? {
            Answer::Measured(measured) => {
                let beats = measured.intervals.iter().filter_map(|interval| interval.beat_ns);
                self.fastest_beat_ns = beats.chain(self.fastest_beat_ns).reduce(f64::min);
                Ok(*measured)
            }
            other => Err(unexpected(&other)),
        }
    }

    fn switch_cost(&self) -> Duration {
        self.switch_cost
    }
}

fn unexpected(answer: &Answer) -> DeviceError {
    DeviceError::trial(format!("the process of this trial answered out of turn: {answer:?}"))
}

/// A running process. It is ended when dropped.
struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Answer>,
}

impl Process {
    fn start(start: &Start, number: u32) -> Result<Self, DeviceError> {
        let fault = |why: String| {
            DeviceError::Setup(Fault {
                what: format!("cannot start a process for trials: {why}"),
                try_next: "raise the limit of processes, or write blocks_per_process = 0"
                    .to_owned(),
                ..Fault::default()
            })
        };
        let mut command = Command::new(&start.program);
        command.args(&start.arguments).arg(number.to_string());
        // Ctrl-C is for the campaign, which ends its process itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = patiently(|| command.spawn()).map_err(|error| fault(error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| fault("it has no pipes".to_owned()))?;
        let (heard, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for answer in lines.map_while(|line| serde_json::from_str(&line).ok()) {
                if heard.send(answer).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, answers })
    }

    fn say(&mut self, ask: &Ask) -> Result<(), DeviceError> {
        let mut line = serde_json::to_vec(ask).map_err(DeviceError::trial)?;
        line.push(b'\n');
        let written = self.input.write_all(&line).and_then(|()| self.input.flush());
        written.map_err(|_| self.lost())
    }

    /// The next answer that is no interval.
    fn hear(
        &mut self,
        on_interval: &mut dyn FnMut(&fwdlab_results::Interval),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Answer, DeviceError> {
        loop {
            match self.answers.recv_timeout(LOOK) {
                Ok(Answer::Interval(interval)) => on_interval(&interval),
                Ok(Answer::Failed(failure)) => return Err(failure.into()),
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if is_stopped() => return Err(DeviceError::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.lost()),
            }
        }
    }

    /// How it ended.
    fn lost(&mut self) -> DeviceError {
        // What it did not close yet, it never will.
        let _ = self.child.kill();
        let how = self.child.wait().map_or_else(|error| error.to_string(), |how| how.to_string());
        DeviceError::Lost(Fault {
            what: format!("the process of this trial ended before it answered ({how})"),
            try_next: "look at what it wrote above; the system may lack memory".to_owned(),
            ..Fault::default()
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
