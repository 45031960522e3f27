//! Guests that boot before their trial's turn comes.
//!
//! A guest whose clock counts instructions counts the same beside others as alone: what a trial waits for is one
//! processor of the host, and a campaign has as many trials under way as there are processors and memory. Each
//! trial is taken, and recorded, in its turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fwdlab_agent::channel::Counted;
use fwdlab_agent::task::GuestClock;
use fwdlab_device::{DeviceError, Request, Watch};
use fwdlab_experiment::{Traffic, Variant};

use crate::VmError;
use crate::guests::Guests;
use crate::settings::{Booted, VmMachine};
use crate::state::State;

/// How often is asked whether a guest has said its last.
const LOOK: Duration = Duration::from_millis(20);

/// What QEMU needs beside the guest's memory, in MiB; a kept state lies in memory once more.
const BESIDE_MB: u64 = 128;

/// What comes of a boot.
pub(super) enum Made {
    /// The counts of a trial.
    Counted(Box<Result<Counted, DeviceError>>),
    /// The state from which trials go on.
    State(Result<State, DeviceError>),
}

/// A boot under way, or done.
#[derive(Debug)]
struct Job {
    variant: Variant,
    /// Whose trial it is; with states, that of the first.
    traffic: Traffic,
    stop: Arc<AtomicBool>,
    guest: JoinHandle<Made>,
}

impl Job {
    fn is_for(&self, request: &Request<'_>, boots: Booted) -> bool {
        self.variant == *request.variant
            && (boots == Booted::Block || self.traffic == *request.traffic)
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        // What it would have counted is not needed, nor why it could not.
        let _ = self.guest.join();
    }
}

/// The guests of the next trials.
#[derive(Debug)]
pub(super) struct Ahead {
    boots: Booted,
    /// As many guests are under way at once.
    most: usize,
    jobs: Vec<Job>,
}

impl Ahead {
    /// By the host's processors and memory, where guests do not disturb each other.
    pub(super) fn new(guests: &Guests) -> Self {
        let machine = &guests.machine;
        let memory_mb = guests.boots.values().map(|boot| boot.memory_mb(machine)).max();
        let most = at_once(machine).min(room(u64::from(memory_mb.unwrap_or_default())));
        Self { boots: machine.boots, most, jobs: Vec::new() }
    }

    /// How many of the next trials it wants to know; 0 where nothing boots ahead.
    pub(super) fn horizon(&self) -> usize {
        // Of a block's traffics all go on from one boot.
        const TRIALS_OF_A_BOOT: usize = 8;
        match (self.most, self.boots) {
            (0 | 1, _) => 0,
            (most, Booted::Trial) => most,
            (most, Booted::Block) => most * TRIALS_OF_A_BOOT,
        }
    }

    /// Boots what the first of `trials`, which is about to be measured, and those after it need, as far as there
    /// is room. What none of them needs any more is ended.
    pub(super) fn begin(
        &mut self,
        guests: &Arc<Guests>,
        state: Option<&State>,
        trials: &[Request<'_>],
    ) {
        if self.horizon() == 0 {
            return;
        }
        let booting = match self.boots {
            Booted::Trial => trials.iter().collect(),
            Booted::Block => that_boot(state, trials),
        };
        // A trial that goes on from a state that is there takes a processor, too.
        let goes_on = !booting
            .first()
            .zip(trials.first())
            .is_some_and(|(one, first)| std::ptr::eq(*one, first));
        let most = self.most - usize::from(goes_on);
        let mut before = std::mem::take(&mut self.jobs);
        for request in booting.into_iter().take(most) {
            match before.iter().position(|job| job.is_for(request, self.boots)) {
                Some(at) => self.jobs.push(before.remove(at)),
                None => match self.job(guests, request) {
                    Some(job) => self.jobs.push(job),
                    None => break,
                },
            }
        }
        before.into_iter().for_each(Job::end);
    }

    fn job(&self, guests: &Arc<Guests>, request: &Request<'_>) -> Option<Job> {
        let own = Request { experiment: &guests.experiment, ..*request };
        if guests.task(&own) != guests.task(request) {
            return None;
        }
        let (variant, traffic) = (request.variant.clone(), request.traffic.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let (guests, boots) = (Arc::clone(guests), self.boots);
        let (of, to, is_stopped) = (variant.clone(), traffic.clone(), Arc::clone(&stop));
        let work = move || {
            let request = Request { experiment: &guests.experiment, variant: &of, traffic: &to };
            let mut watch = Watch { on_interval: &mut |_| {}, stop: &is_stopped };
            match boots {
                Booted::Trial => {
                    Made::Counted(Box::new(guests.counted(&request, None, &mut watch)))
                }
                Booted::Block => Made::State(guests.kept(&request, &mut watch)),
            }
        };
        let guest = std::thread::Builder::new().name("guest".to_owned()).spawn(work).ok()?;
        Some(Job { variant, traffic, stop, guest })
    }

    /// What has booted for this trial, once it has said its last; nothing where none has.
    pub(super) fn take(&mut self, request: &Request<'_>, watch: &Watch<'_>) -> Option<Made> {
        let at = self.jobs.iter().position(|job| job.is_for(request, self.boots))?;
        let job = self.jobs.remove(at);
        while !job.guest.is_finished() {
            if watch.is_stopped() {
                job.stop.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(LOOK);
        }
        let why =
            || VmError::State { why: "the thread that followed the guest panicked".to_owned() };
        Some(job.guest.join().unwrap_or_else(|_| Made::Counted(Box::new(Err(why().into())))))
    }

    /// Ends all that has booted ahead.
    pub(super) fn end(&mut self) {
        let jobs = std::mem::take(&mut self.jobs);
        jobs.iter().for_each(|job| job.stop.store(true, Ordering::Relaxed));
        jobs.into_iter().for_each(Job::end);
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.end();
    }
}

/// Those of the trials that need a boot, of a device that has this state: no traffic is sent twice from one.
fn that_boot<'t, 'r>(state: Option<&State>, trials: &'t [Request<'r>]) -> Vec<&'t Request<'r>> {
    let mut booting: Vec<&Request<'_>> = Vec::new();
    let mut sent: Vec<&str> = Vec::new();
    for request in trials {
        let traffic = request.traffic.name.as_str();
        let of_last = match (booting.last(), state) {
            (Some(last), _) => last.variant == request.variant && !sent.contains(&traffic),
            (None, Some(state)) => {
                state.would_serve(&request.variant.name, traffic) && !sent.contains(&traffic)
            }
            (None, None) => false,
        };
        if !of_last {
            booting.push(request);
            sent.clear();
        }
        sent.push(traffic);
    }
    booting
}

/// How many guests run at once here where there is memory for them.
pub(super) fn at_once(machine: &VmMachine) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    match machine.clock {
        GuestClock::Wall => 1,
        GuestClock::Instructions => machine.at_once.map_or_else(processors, |most| most as usize),
    }
}

/// How many guests of `memory_mb` the host's free memory has room for, each with its state; at least one, which
/// is always tried.
fn room(memory_mb: u64) -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let free_mb = kib.unwrap_or_default() / 1024;
    usize::try_from(free_mb / (memory_mb.saturating_mul(2) + BESIDE_MB))
        .unwrap_or(usize::MAX)
        .max(1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fwdlab_experiment::{Anything, Experiment};

    use super::*;

    #[test]
    fn a_boot_serves_each_traffic_of_its_variant_once() {
        let text = "title = \"t\"\ndevice = \"anything\"\nbaseline = \"a\"\n\
                    [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                    [[traffic]]\nname = \"x\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.1.1:7\"\n\
                    [[traffic]]\nname = \"y\"\nsource = \"198.18.0.1:8\"\ndestination = \"198.19.1.1:8\"\n\
                    [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
        let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&Anything]);
        let experiment = experiment.expect("a valid experiment");
        let request = |of: &str| {
            let place = |at: usize, first: u8| usize::from(of.as_bytes()[at] - first);
            let variant = &experiment.variants[place(0, b'a')];
            let traffic = &experiment.traffics[place(1, b'x')];
            Request { experiment: &experiment, variant, traffic }
        };
        let booting = |state: Option<&State>, trials: &str| -> Vec<String> {
            let trials: Vec<_> = trials.split(' ').map(request).collect();
            let name = |own: &&Request<'_>| format!("{}{}", own.variant.name, own.traffic.name);
            that_boot(state, &trials).iter().map(name).collect()
        };
        assert_eq!(booting(None, "ax ay bx by by ax"), ["ax", "bx", "by", "ax"]);
        let mut state = State::of_variant("a");
        assert_eq!(booting(Some(&state), "ax ay ax bx"), ["ax", "bx"], "the second time");
        assert!(state.serves("a", "x"));
        assert_eq!(booting(Some(&state), "ay by bx"), ["by"]);
        assert_eq!(booting(Some(&state), "ax ay"), ["ax"]);
        assert_eq!(booting(Some(&state), "bx ay"), ["bx", "ay"]);
    }

    #[test]
    fn one_guest_is_always_tried_and_those_of_a_wall_clock_run_alone() {
        assert_eq!(room(u64::MAX >> 2), 1);
        assert!(room(1) > 1, "an eighth of a GiB is free");
        let machine = |clock| VmMachine { clock, at_once: Some(3), ..VmMachine::default() };
        assert_eq!(at_once(&machine(GuestClock::Wall)), 1);
        assert_eq!(at_once(&machine(GuestClock::Instructions)), 3);
    }
}
