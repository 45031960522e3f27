//! A process that runs trials where it stands.
//!
//! [`serve`] is the tester on another host: orders come in by its standard input, answers leave by its
//! standard output, and it ends with its input.
//!
//! [`run_guest`] is the guest's init: fwdlab as the first and only process of a virtual machine. It reads its task, loads modules, builds the network, runs the tester twice (past the device and
//! through it), says what it counted, and ends the machine. Whatever goes wrong is said in
//! a last message; the kernel's console is the host's business.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod capture;
pub mod channel;
mod deaf;
mod launch;
mod makers;
mod network;
pub mod order;
mod pktgen;
mod pktgen_file;
mod ports;
mod profile;
mod serve;
mod sessions;
mod stamps;
pub mod symbols;
mod system;
pub mod task;
mod tester;
mod traffic;
mod voice;
mod wall;
mod why;

pub use launch::launch;
pub use makers::trafgen;
pub use pktgen_file::{Refusal, sendable as pktgen_sends};
pub use serve::serve;
use why::{Result, words};

use std::panic::AssertUnwindSafe;
use std::path::Path;

use crate::capture::Captures;
use crate::channel::{Counted, Message};
use crate::task::GuestTester;
use crate::task::{TASK_FILE, Task, TaskSessions};
use network::Network;
use profile::Profile;
use voice::Voice;

/// Runs as the first process; ends the machine. Does nothing in any other process.
pub fn run_guest() {
    if std::process::id() != 1 {
        fwdlab_guard::say!(
            "error: guest is the init process of a virtual machine and runs only there"
        );
        return;
    }
    // Without a way to speak, the console is all that is left.
    if let Err(why) = system::mount_all() {
        fwdlab_guard::say!("fwdlab: {why}");
    }
    let voice = match Voice::open() {
        Ok(voice) => voice,
        Err(why) => {
            fwdlab_guard::say!("fwdlab: {why}");
            return system::end();
        }
    };
    let last = match std::panic::catch_unwind(AssertUnwindSafe(|| trial(&voice))) {
        Ok(Ok(counted)) => Message::Counted(Box::new(counted)),
        Ok(Err(why)) => Message::Failed(why),
        Err(_) => Message::Failed("fwdlab panicked in the guest".to_owned()),
    };
    if let Err(why) = voice.say(&last) {
        fwdlab_guard::say!("fwdlab: {why}");
    }
    system::end();
}

fn trial(voice: &Voice) -> Result<Counted> {
    voice.stage("loaded modules")?;
    let task = read_task()?;
    system::load_modules(&task.modules)?;
    voice.stage("built its network")?;
    let network = Network::build(&task)?;
    let mut counted = Counted { proof: network.proof(&task)?, ..Counted::default() };
    if task.is_rehearsal {
        voice.stage("sent a few frames through the device")?;
        counted.tried = a_few_frames(&task.from_state, &network)?;
        return Ok(counted);
    }
    let task = if task.from_state.is_empty() { task } else { chosen(&task, voice)? };
    if let Some(own) = task.sessions {
        return of_sessions(&task, own, (&network, counted), voice);
    }
    voice.stage("sent frames past the device")?;
    let mut captures = Captures::default();
    let warmup = (task.warmup_ns > 0).then(|| task.of_warm_up());
    if let Some(warmup) = &warmup {
        match task.tester {
            GuestTester::Fwdlab => tester::cable(warmup, &network, &mut captures)?,
            GuestTester::Pktgen => pktgen::null(warmup, &network)?,
        };
    }
    counted.cable = match task.tester {
        GuestTester::Fwdlab => tester::cable(&task, &network, &mut captures)?,
        GuestTester::Pktgen => pktgen::null(&task, &network)?,
    };
    voice.stage("sent frames through the device")?;
    if let Some(warmup) = &warmup {
        match task.tester {
            GuestTester::Fwdlab => tester::device(warmup, &network, &mut captures)?,
            GuestTester::Pktgen => pktgen::warm_up(warmup, &network)?,
        };
    }
    let before = network.device_counters()?;
    let profile = task.profile_ns.map(Profile::start).transpose()?;
    counted.device = match task.tester {
        GuestTester::Fwdlab => tester::device(&task, &network, &mut captures)?,
        GuestTester::Pktgen => pktgen::device(&task, &network)?,
    };
    counted.profile = profile.map(Profile::finish).transpose()?;
    let change = network.device_counters()?.since(&before, task.both_ways)?;
    change.returning(counted.device.checks.returned).write_into(&mut counted);
    Ok(counted)
}

/// Where nothing came of a few frames, more are sent, for so many times as long: a device may keep its first ones.
const MORE: u64 = 25;

/// Frames sent and received of each task; of both ways, those of the way on which fewer came.
fn a_few_frames(tasks: &[Task], network: &Network) -> Result<Vec<[u64; 2]>> {
    let mut captures = Captures::default();
    let mut once = |task: &Task| {
        let pass = match task.tester {
            GuestTester::Fwdlab => tester::device(task, network, &mut captures),
            GuestTester::Pktgen => pktgen::warm_up(task, network),
        }?;
        let fewest = pass.ways.iter().min_by_key(|way| way.received).unwrap_or(&pass);
        Ok::<_, String>([fewest.sent, fewest.received])
    };
    let mut of = |task: &Task| match once(task)? {
        [sent, 0] => {
            let ns = MORE * task.duration_ns;
            let [more, back] = once(&Task { duration_ns: ns, interval_ns: ns, ..task.clone() })?;
            Ok([sent + more, back])
        }
        some => Ok(some),
    };
    tasks.iter().map(&mut of).collect()
}

/// Stops the machine; what is to be done when it, or a copy of it, goes on.
fn chosen(task: &Task, voice: &Voice) -> Result<Task> {
    voice.stage(Task::SET_UP)?;
    let number = system::stop_machine()?;
    task.from_state.get(number).cloned().ok_or_else(|| format!("it has no task {number}"))
}

/// A trial of sessions, which warms up in rounds of its own.
fn of_sessions(
    task: &Task,
    own: TaskSessions,
    (network, mut counted): (&Network, Counted),
    voice: &Voice,
) -> Result<Counted> {
    voice.stage("sent frames past the device")?;
    counted.cable = sessions::cable(task, own, network)?;
    voice.stage("sent frames through the device")?;
    let before = network.device_counters()?;
    let profile = task.profile_ns.map(Profile::start).transpose()?;
    let done = sessions::device(task, own, network)?;
    counted.profile = profile.map(Profile::finish).transpose()?;
    let change = network.device_counters()?.since(&before, own.both_ways)?;
    change.refusing(done.refused).write_into(&mut counted);
    counted.device = done.pass;
    counted.proof.extend(done.proof);
    Ok(counted)
}

fn read_task() -> Result<Task> {
    let path = Path::new("/").join(TASK_FILE);
    let text = std::fs::read(&path).map_err(|error| format!("cannot read its task: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("cannot understand its task: {error}"))
}
