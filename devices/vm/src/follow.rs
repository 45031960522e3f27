//! Listening to a guest, from its start to its last message.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fwdlab_agent::channel::{Counted, Message};
use fwdlab_agent::task::Task;
use fwdlab_device::Watch;

use crate::VmError;
use crate::console::{asks, last_lines, told};
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

/// What a guest does at first.
const BOOTED: &str = "booted";

/// How a guest says that it could not use its root, and its kernel that blocks of it cannot be read.
const OF_ROOT: [&str; 2] = ["root image", "script ended early"];
const OF_DISK: [&str; 2] = ["vtbd1: hard error", "g_vfs_done():vtbd1"];

impl Broken {
    /// With what the console says; `root` is the image of the guest's root, if it has one.
    pub(super) fn error(self, text: &str, console: PathBuf, root: Option<&Path>) -> VmError {
        if let Some((root, why)) = root.zip(self.of_root(text)) {
            return VmError::Root { why, root: root.to_owned(), last: last_lines(text), console };
        }
        let last = |stage: &str| told(text, stage != BOOTED);
        match self {
            Self::GaveUp(why) => VmError::Guest { why, console },
            Self::Damaged(what) => VmError::Damaged { what, console },
            Self::Ended { stage } => VmError::Ended { last: last(&stage), stage, console },
            Self::Stuck { stage, limit } => {
                VmError::Stuck { last: last(&stage), stage, limit, console }
            }
        }
    }

    /// What happened, where the root is to blame for it.
    fn of_root(&self, text: &str) -> Option<String> {
        let is_unreadable = OF_DISK.iter().any(|words| text.contains(words));
        match self {
            Self::GaveUp(why) if OF_ROOT.iter().any(|words| why.contains(words)) => {
                Some(format!("the guest gave up: {why}"))
            }
            Self::GaveUp(why) => is_unreadable.then(|| format!("the guest gave up: {why}")),
            Self::Damaged(what) => is_unreadable.then(|| what.clone()),
            Self::Ended { stage } | Self::Stuck { stage, .. } => {
                is_unreadable.then(|| format!("the guest ended while it {stage}"))
            }
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
    let mut stage = BOOTED.to_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_cannot_be_read_is_named_with_what_to_do() {
        let root = Some(Path::new("images/root.qcow2"));
        let error =
            |broken: Broken, text: &str| broken.error(text, "a.log".into(), root).to_string();
        let unreadable = "g_vfs_done():vtbd1[READ(offset=24899584, length=4096)]error = 5\nlast\n";
        let given_up = || Broken::GaveUp("the kernel does not take a setting".to_owned());
        for (broken, text) in [
            (Broken::GaveUp("cannot mount the root image: no UFS".to_owned()), "one\nlast\n"),
            (given_up(), unreadable),
            (Broken::Ended { stage: BOOTED.to_owned() }, unreadable),
        ] {
            let told = error(broken, text);
            for part in ["images/root.qcow2", "copy it again", "| last)", "a.log"] {
                assert!(told.contains(part), "{part:?} in {told}");
            }
        }
        let told = error(given_up(), "one\nlast\n");
        assert!(!told.contains("images/root.qcow2"), "it is not to blame: {told}");
    }
}
