//! The device: a boot for each trial.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fwdlab_agent::channel::{Counted, ProfileCounts};
use fwdlab_agent::task::{GuestClock, Task};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch, moment};
use fwdlab_experiment::{Experiment, Variant};
use fwdlab_results::Measured;
use fwdlab_results::profile::Profiled;

use crate::ahead::{Ahead, Made};
use crate::counts::prove_rules;
use crate::guests::{BOOT_LIMIT, Guests, ROUTES_REHEARSED};
use crate::qemu;
use crate::settings::{Booted, VmMachine};
use crate::state::State;

/// The device has about one of so many parts of the processor's time; the tester has the others.
const DEVICES_PART: u64 = 4;

/// A device that boots a kernel for each trial.
#[derive(Debug)]
pub(super) struct Boots {
    guests: Arc<Guests>,
    /// Where trials go on from the state of a boot: the last one's.
    state: Option<State>,
    /// Guests of the next trials.
    ahead: Ahead,
}

impl Boots {
    pub(super) fn new(experiment: &Arc<Experiment>, program: &Path) -> Result<Self, DeviceError> {
        let guests = Arc::new(Guests::new(experiment, program)?);
        let ahead = Ahead::new(&guests);
        Ok(Self { guests, state: None, ahead })
    }

    /// Boots, or takes what has booted ahead, and waits for the guest's last message.
    fn counted(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        match self.ahead.take(request, watch) {
            Some(Made::Counted(counted)) => *counted,
            _ => self.guests.counted(request, None, watch),
        }
    }

    /// Goes on from the state of this variant's boot, which is made where there is none, and waits for the
    /// guest's last message.
    fn counted_from_state(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Counted, DeviceError> {
        let (variant, traffic) = (&*request.variant.name, &*request.traffic.name);
        if !self.state.as_mut().is_some_and(|state| state.serves(variant, traffic)) {
            // Its memory is free before that of the next is taken.
            self.state = None;
            let mut state = match self.ahead.take(request, watch) {
                Some(Made::State(state)) => state?,
                _ => self.guests.kept(request, watch)?,
            };
            state.serves(variant, traffic);
            self.state = Some(state);
        }
        let state = self.state.as_ref().ok_or(DeviceError::Stopped)?;
        self.guests.counted_from(state, request, watch)
    }
}

impl Device for Boots {
    fn facts(&self) -> Facts {
        let VmMachine { clock, tester, .. } = &self.guests.machine;
        let memory =
            self.guests.boots.values().map(|boot| boot.memory_mb(&self.guests.machine)).max();
        let mut facts = BTreeMap::from([
            ("clock".to_owned(), format!("{clock}: {}", clock.meaning())),
            ("guest".to_owned(), format!("1 processor, {} MiB of memory", memory.unwrap_or(0))),
            ("tester".to_owned(), tester.to_string()),
            ("emulator".to_owned(), qemu::version()),
        ]);
        if self.guests.machine.boots == Booted::Block {
            let text = "each variant once in a block; its trials go on from the state of that boot";
            facts.insert("boots".to_owned(), text.to_owned());
        }
        if *clock == GuestClock::Wall {
            let text = match &self.guests.without_kvm {
                None => "KVM".to_owned(),
                Some(why) => format!("TCG, an emulator, because of KVM: {why}"),
            };
            facts.insert("accelerator".to_owned(), text);
        }
        for (name, boot) in &self.guests.boots {
            facts.insert(format!("kernel of {name}"), named(&boot.kernel.image));
            facts.insert(fwdlab_results::environment::commit_of(name), boot.kernel.commit());
            facts.extend(boot.root().map(|root| (format!("root of {name}"), named(root))));
            let start = boot.entry().map(|entry| entry.name().to_owned());
            facts.extend(start.map(|start| (format!("start of {name}"), start)));
        }
        Facts { device: facts, tester: BTreeMap::new() }
    }

    fn keep_logs_in(&mut self, dir: &Path) {
        // Nobody else has them, once none boots ahead.
        self.ahead.end();
        if let Some(guests) = Arc::get_mut(&mut self.guests) {
            guests.results = Some(dir.to_owned());
        }
    }

    /// Every trial boots with its variant; what the guest answers comes with what it counts.
    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        self.guests.boot(variant)?;
        Ok(Proof::new())
    }

    /// A boot of the first variant of its kind, which sets everything up, sends a few frames of each traffic and
    /// reads the settings back. A table of many routes takes a guest minutes to write and is the
    /// same in every variant, so only its first routes are, and no frame is sent.
    fn preflight(
        &mut self,
        variant: &Variant,
        watch: &mut Watch<'_>,
    ) -> Result<Proof, DeviceError> {
        let experiment = Arc::clone(&self.guests.experiment);
        let Some(traffic) = experiment.traffics.first() else { return Ok(Proof::new()) };
        if tried_by(&experiment, variant) != variant.name {
            return Ok(Proof::new());
        }
        let request = Request { experiment: &experiment, variant, traffic };
        let mut task = Task { is_rehearsal: true, ..self.guests.task(&request) };
        let tried = self.guests.to_try(variant, &task);
        task.from_state = tried.iter().map(|(_, task)| task.clone()).collect();
        task.routes.truncate(ROUTES_REHEARSED);
        let image = self.guests.boot(variant)?.kernel.image.display().to_string();
        match self.guests.follow(&request, task, watch) {
            Ok(counted) => {
                let traffics = tried.iter().map(|(traffic, _)| *traffic);
                let silent = traffics.zip(&counted.tried).find(|(_, [_, back])| *back == 0);
                match silent {
                    Some((traffic, [sent, _])) if *sent > 0 => {
                        Err(DeviceError::setup(moment::without_frames(*sent, traffic, variant)))
                    }
                    _ => {
                        let mut proof = counted.proof;
                        // One that only says that all was set up has not been asked.
                        if !proof.is_empty() {
                            prove_rules(&mut proof, variant);
                        }
                        Ok(proof)
                    }
                }
            }
            Err(DeviceError::Setup(fault) | DeviceError::Trial(fault)) => {
                Err(DeviceError::setup(blamed(&fault.to_string(), &image, variant)))
            }
            Err(other) => Err(other),
        }
    }

    fn looks_ahead(&self) -> usize {
        self.ahead.horizon()
    }

    fn coming(&mut self, trials: &[Request<'_>]) {
        self.ahead.begin(&self.guests, self.state.as_ref(), trials);
    }

    /// A block that boots each variant once sends all of its traffics before the next.
    fn switch_cost(&self) -> Duration {
        match self.guests.machine.boots {
            Booted::Trial => Duration::ZERO,
            Booted::Block => BOOT_LIMIT,
        }
    }

    /// Nothing that a boot warms outlives it: the guest warms itself up.
    fn warm_up(&mut self, _: &Request<'_>, _: &mut Watch<'_>) -> Result<(), DeviceError> {
        Ok(())
    }

    fn measure(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let counted = match self.guests.machine.boots {
            Booted::Trial => self.counted(request, watch)?,
            Booted::Block => self.counted_from_state(request, watch)?,
        };
        let measured = self.guests.judged(counted, request);
        measured.intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        Ok(measured)
    }

    /// A Linux kernel samples itself, by its own clock: `frequency_hz` times a second of the device's
    /// own time. A FreeBSD guest is sampled from outside.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.max(1)) / DEVICES_PART;
        self.ahead.end();
        let mut counted = self.guests.counted(request, Some(period_ns), watch)?;
        let profile = counted.profile.take().unwrap_or_default();
        let mut measured = self.guests.judged(counted, request);
        // The samples are those of the device alone, which never waits in them.
        measured.idle_share = Some(0.0);
        Ok(profiled(profile, measured, self.guests.boot(request.variant)?.is_freebsd()))
    }
}

/// The name of the first variant that is set up as this one is: one boot tries them all.
pub(super) fn tried_by<'a>(experiment: &'a Experiment, variant: &'a Variant) -> &'a str {
    let is_alike = |other: &&Variant| (&other.set, &other.own) == (&variant.set, &variant.own);
    experiment.variants.iter().find(is_alike).map_or(&variant.name, |first| &first.name)
}

/// Puts the key that is to blame first: the word of the variant's own that the fault names, else the kernel.
fn blamed(fault: &str, image: &str, variant: &Variant) -> String {
    /// What is said of another key than one of `set`.
    const OF_KEYS: [(&str, &str); 3] =
        [("its root is ", "root"), ("cmdline says ", "cmdline"), ("the module ", "load")];
    let named = variant.set.keys().filter(|word| fault.contains(word.as_str()));
    let named = named.max_by_key(|word| word.len()).map(String::as_str);
    let of_key = || OF_KEYS.iter().find(|(words, _)| fault.contains(words)).map(|(_, key)| *key);
    match named.or_else(of_key) {
        Some(word) => format!("{word}: {fault}; its kernel is {image}"),
        None => format!("kernel {image}: {fault}"),
    }
}

/// A file by its name and content.
fn named(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().display().to_string();
    match fwdlab_guard::digest::of_file(path) {
        Ok(sum) => format!("{name} (SHA-256 {sum})"),
        Err(error) => format!("{name} (unreadable: {error})"),
    }
}

/// Says which samples these are.
fn profiled(profile: ProfileCounts, mut measured: Measured, is_from_outside: bool) -> Profiled {
    let ProfileCounts { samples, lost, stacks } = profile;
    measured.warnings.extend((lost > 0).then(|| format!("samples that did not fit: {lost}")));
    let profiler = format!(
        "{}, from the reception of a packet to its handing over ({samples} with those of the tester \
         and the cables)",
        if is_from_outside { "QEMU, which stopped the guest" } else { "the guest's kernel" }
    );
    Profiled { measured, stacks, profiler }
}

#[cfg(test)]
mod tests;
