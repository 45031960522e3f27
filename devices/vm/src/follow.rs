//! Listening to a guest, from its start to its last message.

use std::path::PathBuf;
use std::time::Duration;

use fwdlab_agent::channel::{Counted, Message};
use fwdlab_agent::task::Task;
use fwdlab_device::Watch;

use crate::VmError;
use crate::console::{asks, told};
use crate::freebsd::{Sampler, THROUGH_THE_DEVICE};
use crate::qemu::{Heard, Progress, Running};

/// Why a guest is not followed any further.
pub(super) enum End {
    Stopped,
    Broken(Broken),
}

/// What went wrong with a guest, before its console was looked at.
pub(super) enum Broken {
    GaveUp(String),
    Damaged(String),
    Ended { stage: String },
    Stuck { stage: String, limit: String },
}

impl Broken {
    pub(super) fn error(self, text: &str, console: PathBuf) -> VmError {
        let last = || told(text);
        match self {
            Self::GaveUp(why) => VmError::Guest { why, console },
            Self::Damaged(what) => VmError::Damaged { what, console },
            Self::Ended { stage } => VmError::Ended { stage, last: last(), console },
            Self::Stuck { stage, limit } => VmError::Stuck { stage, limit, last: last(), console },
        }
    }
}

/// Listens to the guest until it has counted, failed, ended, or said nothing for too long; a rehearsal
/// counts nothing. While
/// frames go through the device, it is sampled if there is a sampler.
pub(super) fn follow(
    running: &mut Running,
    mut progress: Progress,
    sampler: &mut Option<Sampler>,
    watch: &Watch<'_>,
) -> Result<Counted, End> {
    const LISTEN: Duration = Duration::from_millis(100);
    let mut stage = "booted".to_owned();
    loop {
        if watch.is_stopped() {
            return Err(End::Stopped);
        }
        let sampler = sampler.as_mut().filter(|_| stage == THROUGH_THE_DEVICE);
        let patience = if sampler.is_some() { Duration::ZERO } else { LISTEN };
        let line = match running.listen(patience) {
            Heard::Line(line) => line,
            Heard::End => return Err(End::Broken(Broken::Ended { stage })),
            Heard::Silence => {
                if let Some(limit) = progress.exceeded(running) {
                    return Err(End::Broken(Broken::Stuck { stage, limit }));
                }
                match sampler {
                    Some(sampler) => sampler.sample(),
                    None if asks(&running.console()) => {
                        return Err(End::Broken(Broken::Ended { stage }));
                    }
                    None => {}
                }
                continue;
            }
        };
        match Message::parse(&line) {
            None => continue,
            Some(Ok(Message::Stage(next))) if next == Task::SET_UP => return Ok(Counted::default()),
            Some(Ok(Message::Stage(next))) => stage = next,
            Some(Ok(Message::Counted(counted))) => return Ok(*counted),
            Some(Ok(Message::Failed(why))) => return Err(End::Broken(Broken::GaveUp(why))),
            Some(Err(damaged)) => return Err(End::Broken(Broken::Damaged(damaged.to_string()))),
        }
        progress.heard(running);
    }
}
