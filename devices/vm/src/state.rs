//! The state of a guest that is all set up, kept in memory, so that several trials go on from one boot
//! (`boots = "block"`).
//!
//! The guest stops itself: by a byte for QEMU's device `pvpanic` it says that it panicked, and QEMU is told
//! to pause then (`-action panic=pause`). So it stops at that very instruction, on a busy host too, and all
//! trials begin at one and the same instruction of a boot. Which trial a copy is to run is the one thing that
//! may differ: the copy reads it from the same device, whose `events` are a parameter of the program and no
//! part of the state.
//!
//! No traffic is sent twice from one state: what is compared are boots, and a second trial of one is no
//! second boot.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fwdlab_device::Watch;
use fwdlab_guard::Scratch;
use serde_json::json;

use crate::VmError;
use crate::memory::{in_memory, path_of};
use crate::monitor::{self, Monitor};
use crate::qemu::Running;

/// How often is asked whether something has happened.
const LOOK: Duration = Duration::from_millis(20);

/// To stop, to write or to read a state takes a second; this much of the host's time is enough to tell that it
/// never will.
const PATIENCE: Duration = Duration::from_secs(300);

/// What of its status the monitor says once the guest has stopped itself, and while a state is being read.
const STOPPED: &str = "guest-panicked";
const READING: &str = "inmigrate";

/// A kept state.
#[derive(Debug)]
pub(super) struct State {
    /// Whose it is.
    variant: String,
    /// What has been sent from it.
    sent: BTreeSet<String>,
    pub(super) file: File,
    /// What the guest wrote to its console before.
    pub(super) console: String,
}

impl State {
    /// Whether a trial of this variant and traffic can begin from it; if so, it is the only one.
    pub(super) fn serves(&mut self, variant: &str, traffic: &str) -> bool {
        self.variant == variant && self.sent.insert(traffic.to_owned())
    }

    /// Whether such a trial could.
    pub(super) fn would_serve(&self, variant: &str, traffic: &str) -> bool {
        self.variant == variant && !self.sent.contains(traffic)
    }
}

/// Where the monitor of a guest is.
pub(super) struct Place {
    socket: PathBuf,
    _scratch: Scratch,
}

impl Place {
    pub(super) fn new() -> Result<Self, VmError> {
        let scratch = Scratch::new().map_err(|error| cannot(format!("no directory: {error}")))?;
        Ok(Self { socket: scratch.path().join("monitor"), _scratch: scratch })
    }

    /// What QEMU is to be told.
    pub(super) fn argument(&self) -> [String; 2] {
        monitor::argument(&self.socket)
    }

    /// Waits until the guest has stopped itself, and keeps its state. Nothing when the campaign was stopped.
    pub(super) fn keep(
        &self,
        running: &mut Running,
        variant: &str,
        watch: &Watch<'_>,
    ) -> Result<Option<State>, VmError> {
        let Some(mut monitor) = self.monitor(running, watch)? else { return Ok(None) };
        let is_stopped = |said: &str| said == STOPPED;
        if !wait(&mut monitor, "query-status", is_stopped, watch)? {
            return Ok(None);
        }
        let file = in_memory("fwdlab-state")?;
        // As fast as it can: what is written is memory.
        let fast = json!({ "max-bandwidth": 1_u64 << 40 });
        monitor.ask(&json!({ "execute": "migrate-set-parameters", "arguments": fast }));
        let to = json!({ "uri": format!("exec:cat > {}", path_of(&file)) });
        let begun = monitor.ask(&json!({ "execute": "migrate", "arguments": to }));
        begun.ok_or_else(|| cannot("QEMU refuses to write it".to_owned()))?;
        let is_over = |said: &str| matches!(said, "completed" | "failed" | "cancelled");
        if !wait(&mut monitor, "query-migrate", is_over, watch)? {
            return Ok(None);
        }
        if monitor.status("query-migrate").as_deref() != Some("completed") {
            return Err(cannot("QEMU could not write it".to_owned()));
        }
        let (variant, console) = (variant.to_owned(), running.console());
        Ok(Some(State { variant, sent: BTreeSet::new(), file, console }))
    }

    /// Waits until the state has been read, and lets the guest go on. False when the campaign was stopped.
    pub(super) fn go_on(&self, running: &mut Running, watch: &Watch<'_>) -> Result<bool, VmError> {
        let Some(mut monitor) = self.monitor(running, watch)? else { return Ok(false) };
        if !wait(&mut monitor, "query-status", |said| said != READING, watch)? {
            return Ok(false);
        }
        let gone_on = monitor.ask(&json!({ "execute": "cont" }));
        gone_on.map(|_| true).ok_or_else(|| cannot("QEMU does not go on from it".to_owned()))
    }

    fn monitor(
        &self,
        running: &mut Running,
        watch: &Watch<'_>,
    ) -> Result<Option<Monitor>, VmError> {
        let start = Instant::now();
        while !watch.is_stopped() {
            if let Some(monitor) = Monitor::open(&self.socket) {
                return Ok(Some(monitor));
            }
            if running.has_ended() || start.elapsed() > PATIENCE {
                let last = running.console();
                let last = last.lines().last().unwrap_or("it said nothing");
                return Err(cannot(format!("QEMU has no monitor; its last line: {last}")));
            }
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }
}

/// Waits until the monitor says so; false when the campaign was stopped.
fn wait(
    monitor: &mut Monitor,
    command: &str,
    is_there: impl Fn(&str) -> bool,
    watch: &Watch<'_>,
) -> Result<bool, VmError> {
    let start = Instant::now();
    let mut last = "nothing".to_owned();
    while start.elapsed() < PATIENCE {
        if watch.is_stopped() {
            return Ok(false);
        }
        last = monitor.status(command).unwrap_or_else(|| "nothing".to_owned());
        if is_there(&last) {
            return Ok(true);
        }
        std::thread::sleep(LOOK);
    }
    Err(cannot(format!("QEMU says {last:?} to {command}")))
}

fn cannot(why: String) -> VmError {
    VmError::State { why }
}

#[cfg(test)]
impl State {
    /// One from which nothing goes on.
    pub(crate) fn of_variant(variant: &str) -> Self {
        let file = in_memory("state").expect("memory");
        let (variant, console) = (variant.to_owned(), String::new());
        Self { variant, sent: BTreeSet::new(), file, console }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_traffic_is_sent_once_from_a_state() {
        let mut state = State::of_variant("a");
        assert!(state.serves("a", "inet") && state.serves("a", "inet6"));
        assert!(!state.serves("a", "inet"), "another trial of it takes another boot");
        assert!(!state.serves("b", "other"));
    }
}
