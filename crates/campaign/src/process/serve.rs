//! The process in which trials run.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use fwdlab_device::{Device, DeviceError, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_results::Interval;

use super::message::{Answer, Ask};

/// Least time between two intervals that are told: whoever looks at them needs a processor.
const TELLING: Duration = Duration::from_millis(400);

/// What a process is told to open: the experiment of that text and path, and from what the place of
/// its memory is drawn.
pub struct Wanted<'a> {
    /// The experiment file's path.
    pub path: &'a std::path::Path,
    /// Its text.
    pub text: &'a str,
    /// From what the place of its memory is drawn.
    pub layout: u64,
    /// The fastest beat of the device's processor in earlier processes, in ns.
    pub fastest_beat_ns: Option<f64>,
}

/// Does what it is asked on `input` and answers on `output`, with the device that `open` makes. As
/// soon as `input` ends, which it does when the parent ends in whatever way, `exit` is called from
/// another thread; it should end the process.
///
/// # Errors
/// When `output` is closed or `input` is not what a parent writes.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    open: impl FnOnce(&Wanted<'_>) -> Result<(Arc<Experiment>, Box<dyn Device>), String>,
    exit: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let asked = listen(input, exit);
    let mut out = Out(output);
    let Ok(Ask::Open { path, text, sha256, layout, fastest_beat_ns, is_watched }) = asked.recv()
    else {
        return Err(io::Error::other("the first message does not say what to open"));
    };
    let opened = open(&Wanted { path: &path, text: &text, layout, fastest_beat_ns });
    let opened = opened.and_then(|(experiment, device)| match experiment.sha256 == sha256 {
        true => Ok((experiment, device)),
        false => Err("a file that the experiment names has changed since it began".to_owned()),
    });
    let (experiment, mut device) = match opened {
        Ok(opened) => opened,
        Err(why) => return out.say(&Answer::Failed(DeviceError::setup(why).into())),
    };
    out.say(&Answer::Open { facts: device.facts(), switch_cost: device.switch_cost() })?;
    for ask in asked {
        let answer = answer(&experiment, device.as_mut(), &ask, is_watched, &mut out);
        out.say(&answer.unwrap_or_else(|error| Answer::Failed(error.into())))?;
    }
    Ok(())
}

/// Reads on a thread of its own, so that the end of the input is seen at once.
fn listen(
    input: impl BufRead + Send + 'static,
    exit: impl FnOnce() + Send + 'static,
) -> Receiver<Ask> {
    let (heard, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for line in input.lines() {
            let ask = line.ok().and_then(|line| serde_json::from_str(&line).ok());
            if ask.is_none_or(|ask| heard.send(ask).is_err()) {
                break;
            }
        }
        drop(heard);
        exit();
    });
    asked
}

fn answer(
    experiment: &Arc<Experiment>,
    device: &mut dyn Device,
    ask: &Ask,
    is_watched: bool,
    out: &mut Out<impl Write>,
) -> Result<Answer, DeviceError> {
    let unknown = || DeviceError::trial("a process was asked for what its experiment has not");
    let stop = AtomicBool::new(false);
    let mut told = Instant::now();
    let mut tell = |interval: &Interval| {
        if is_watched && told.elapsed() >= TELLING {
            told = Instant::now();
            // A closed pipe is seen when the trial's answer is written.
            let _ = out.say(&Answer::Interval(*interval));
        }
    };
    let mut watch = Watch { on_interval: &mut tell, stop: &stop };
    match ask {
        Ask::Open { .. } => Err(unknown()),
        Ask::Apply(variant) => device.apply(variant, &mut watch).map(Answer::Applied),
        Ask::Measure(variant, traffic) => {
            let traffic = experiment.traffics.get(*traffic).ok_or_else(unknown)?;
            let request = Request { experiment, variant, traffic };
            device.trial(&request, &mut watch).map(|found| Answer::Measured(Box::new(found)))
        }
    }
}

/// The way to the parent.
struct Out<W>(W);

impl<W: Write> Out<W> {
    fn say(&mut self, answer: &Answer) -> io::Result<()> {
        let mut line = serde_json::to_vec(answer)?;
        line.push(b'\n');
        self.0.write_all(&line)?;
        self.0.flush()
    }
}
