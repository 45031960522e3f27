//! The device: a testbed in the hands of one campaign.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fwdlab_counters::iperf3::{self, Carried};
use fwdlab_device::{Device, DeviceError, Facts, Proof, Request, Watch, stacks_of_perf};
use fwdlab_experiment::{Traffic, Variant};
use fwdlab_results::profile::Profiled;
use fwdlab_results::{Busy, FailureKind, Ledger, Measured, TestbedMark, TrialEnvironment};

use crate::dut::{self, Reading};
use crate::machines::Machines;
use crate::settings::{Reboot, RemoteVariant};
use crate::testbed::{DUT, TESTER};
use crate::tester::{Counts, Generator, Hosts, Task, streams};
use crate::{RemoteError, Result, sampler};

/// Frames by which it is seen before a trial that frames come through, and their rate.
const PROBE_FRAMES: f64 = 100.0;
const PROBE_PPS: f64 = 5_000.0;

/// Counters of two hosts are not read at the same moment, and a port sees frames that are not ours: so
/// many frames, or this share of them, may be missing.
const TOLERANCE_FRAMES: u64 = 64;
const TOLERANCE_SHARE: u64 = 10_000;

/// A slow device that frames did not come back from has them behind it when its ports count none for so
/// long, which is waited for at most as long as this.
const STILL_FOR: Duration = Duration::from_millis(20);
const STILL_WITHIN: Duration = Duration::from_secs(2);

impl Machines {
    fn set_up(&mut self, variant: &Variant, is_stopped: &dyn Fn() -> bool) -> Result<Proof> {
        (self.quiet_since, self.last_reading, self.has_come_through) = (None, None, false);
        self.connect(is_stopped)?;
        let wanted = RemoteVariant::of(variant);
        let configuration = match wanted.directory(&self.experiment.path) {
            Some(directory) => dut::Configuration::read(&directory)?,
            None => dut::Configuration::default(),
        };
        dut::restore_and_place(self.dut()?, &configuration, is_stopped)?;
        let at = self.experiment.variants.iter().position(|other| other.name == variant.name);
        let is_due = match at.and_then(|at| self.reboots.get(at)) {
            None | Some(Reboot::Never) => false,
            Some(Reboot::Variant) => self.booted_for.as_ref() != Some(&variant.name),
            Some(Reboot::Trial) => true,
        };
        if is_due {
            self.booted_for = None;
            self.prepare_boot(&wanted)?;
            self.reboot(is_stopped)?;
            self.booted_for = Some(variant.name.clone());
        }
        let experiment = self.experiment.clone();
        let others = experiment.words_of_others(variant);
        let mut proof = dut::set_all(self.dut()?, &variant.set, &others, is_stopped)?;
        if let (Some(routes), Some(dut)) = (&self.routes, &mut self.dut) {
            routes.set_up(dut, is_stopped)?;
        }
        for command in &wanted.apply {
            self.dut()?.ask(command, is_stopped)?;
        }
        proof.extend(self.prove(&wanted, &configuration, is_due, is_stopped)?);
        Ok(proof.into_iter().map(|(word, value)| (word, self.secrets.scrub(&value))).collect())
    }

    fn trial(&mut self, request: &Request<'_>, watch: &mut Watch<'_>) -> Result<Measured> {
        if request.traffic.streams.is_some() {
            return self.stream_trial(request, watch);
        }
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let testbed = self.testbed.clone();
        let task = Task::of(&testbed, request);
        // A warm-up that came through has shown the way already.
        let is_to_probe = self.generator.as_ref().is_some_and(|generator| generator.can_probe());
        if is_to_probe && !std::mem::take(&mut self.has_come_through) {
            self.probe(&task, &is_stopped)?;
        }
        let generator_pps = match self.limits_pps.get(&request.traffic.name) {
            Some(&limit) => limit,
            None => {
                let limit = self.with_generator(|generator, hosts| {
                    generator.limit(hosts, &task, &is_stopped)
                })?;
                self.limits_pps.insert(request.traffic.name.clone(), limit);
                limit
            }
        };
        let before = match std::mem::take(&mut self.may_hold_frames) {
            true => self.read_still(&is_stopped)?,
            false => self.read(&is_stopped)?,
        };
        let (counts, change) = self.between(&before, &is_stopped, |machines| {
            machines.with_generator(|generator, hosts| generator.run(hosts, &task, &is_stopped))
        })?;
        for interval in &counts.intervals {
            (watch.on_interval)(interval);
        }
        Ok(measured(counts, change, generator_pps))
    }

    /// A trial of streams, which iperf3 carries.
    fn stream_trial(&mut self, request: &Request<'_>, watch: &mut Watch<'_>) -> Result<Measured> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let before = self.read(&is_stopped)?;
        let Request { experiment, traffic, .. } = *request;
        let (carried, change) = self.between(&before, &is_stopped, |machines| {
            machines.carry(traffic, (experiment.duration, experiment.interval), &is_stopped)
        })?;
        let measured = iperf3::measured(traffic.measure, carried, change);
        for interval in &measured.intervals {
            (watch.on_interval)(interval);
        }
        Ok(measured)
    }

    fn carry(
        &mut self,
        traffic: &Traffic,
        times: (Duration, Duration),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Carried> {
        let testbed = self.testbed.clone();
        let hosts = self.hosts.as_mut().ok_or_else(not_connected)?;
        streams::carry(hosts, &testbed, traffic, times, is_stopped)
    }

    /// What the device counted since a reading while something was done: nothing is sent to it meanwhile but that.
    fn between<T>(
        &mut self,
        before: &Reading,
        is_stopped: &dyn Fn() -> bool,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, dut::Change)> {
        let done = work(self)?;
        self.quiet_since = Some(Instant::now());
        // A device that does not answer by then hangs, however long commands may take.
        let limits = self.testbed.limits;
        let patience = limits.silent_dut.min(limits.command);
        let after = self.read_within(patience, is_stopped)?;
        let change = dut::change(DUT, before, &after)?;
        match change.pauses {
            Some(pauses @ 1..) => Err(RemoteError::failed(
                FailureKind::TesterFailed,
                DUT,
                format!("pause frames in the trial: {pauses}; flow control makes loss disappear"),
                "switch it off on both ends: ethtool -A PORT rx off tx off",
            )),
            _ => Ok((done, change)),
        }
    }

    /// A trial with a sampler on the device.
    fn sampled(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Result<Profiled, DeviceError>> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        sampler::start(self.dut()?, (frequency_hz, request.experiment.duration), &is_stopped)?;
        let measured = self.trial(request, watch)?;
        let script = sampler::fetch(self.dut()?, &is_stopped)?;
        let profiled =
            |(stacks, by): (_, &str)| Profiled { measured, stacks, profiler: by.to_owned() };
        Ok(stacks_of_perf(&script).map(profiled))
    }

    /// Sends as long as the warm-up says, and forgets what was counted.
    fn warmed(&mut self, request: &Request<'_>, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        if request.traffic.streams.is_some() {
            let Request { experiment, traffic, .. } = *request;
            let times = (experiment.warmup, experiment.interval);
            return self.carry(traffic, times, is_stopped).map(|_| ());
        }
        let testbed = self.testbed.clone();
        let task = Task::of(&testbed, request).of_warm_up(request.experiment.warmup);
        let counts = self.with_generator(|generator, hosts| {
            let duration = task.duration.max(generator.shortest());
            generator.run(hosts, &Task { duration, ..task }, is_stopped)
        })?;
        self.has_come_through = counts.received > 0;
        self.may_hold_frames = is_short(&counts);
        Ok(())
    }

    /// Reads the device when its ports count no more, or after a while in which they always did.
    fn read_still(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
        let counts = |reading: &Reading| -> Vec<_> {
            reading.ports.iter().map(|port| (port.received, port.sent)).collect()
        };
        let start = Instant::now();
        let mut reading = self.read(is_stopped)?;
        while start.elapsed() < STILL_WITHIN {
            std::thread::sleep(STILL_FOR);
            let next = self.read(is_stopped)?;
            let is_still = counts(&next) == counts(&reading);
            reading = next;
            if is_still {
                break;
            }
        }
        Ok(reading)
    }

    fn with_generator<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Generator, &mut Hosts) -> Result<T>,
    ) -> Result<T> {
        match (&mut self.generator, &mut self.hosts) {
            (Some(generator), Some(hosts)) => work(generator.as_mut(), hosts),
            _ => Err(not_connected()),
        }
    }

    /// A few frames: they show a wrong port or a missing neighbour before anything is measured.
    fn probe(&mut self, task: &Task<'_>, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        // Only to say why, should no frame come through.
        let before = match self.last_reading.take() {
            Some(reading) => reading,
            None => self.read(is_stopped)?,
        };
        let pps = task.pps.map_or(PROBE_PPS, |pps| pps.min(PROBE_PPS));
        let duration = Duration::from_secs_f64(PROBE_FRAMES / pps);
        let probe = Task { pps: Some(pps), duration, interval: duration, ..*task };
        let counts =
            self.with_generator(|generator, hosts| generator.run(hosts, &probe, is_stopped))?;
        self.may_hold_frames = is_short(&counts);
        if counts.received > 0 {
            return Ok(());
        }
        let after = self.read(is_stopped)?;
        let more = |port: usize| {
            let received = |reading: &Reading| reading.ports.get(port)?.received;
            dut::added(received(&before), received(&after))
        };
        let sent = counts.sent.unwrap_or(PROBE_FRAMES as u64);
        let half = sent / 2;
        let what = match (more(0), more(1)) {
            (Some(first), _) if first > half => {
                "frames reach its first port and none comes back: look at routes and neighbours"
            }
            (_, Some(second)) if second > half => {
                "frames arrive at its second port: the cables, or the ports in the file, are \
                 swapped"
            }
            (Some(_), Some(_)) => {
                "frames do not reach it: look at the cable of its first port and the sender's port"
            }
            _ => "its ports do not count what they receive: look at cables, routes and neighbours",
        };
        let what = format!("of {sent} frames none came through; {what}");
        Err(RemoteError::failed(
            FailureKind::NoTraffic,
            DUT,
            what,
            "`fwdlab doctor --testbed FILE` shows ports and links",
        ))
    }
}

fn not_connected() -> RemoteError {
    RemoteError::failed(
        FailureKind::TesterFailed,
        TESTER,
        "it is not connected",
        "look whether it is up and sshd runs",
    )
}

/// Whether frames are missing, or nobody counted how many there were.
fn is_short(counts: &Counts) -> bool {
    counts.sent.is_none_or(|sent| sent > counts.received)
}

/// What both sides counted, in the journal's words.
fn measured(counts: Counts, change: dut::Change, generator_pps: Option<f64>) -> Measured {
    let Counts { intervals, sent, received, flows_seen, checks, latency, stamps, .. } = counts;
    let (mut warnings, reached) = (counts.warnings, counts.reached_pps);
    warnings.extend(change.warnings);
    let tolerance = TOLERANCE_FRAMES.max(sent.unwrap_or(received) / TOLERANCE_SHARE);
    Measured {
        intervals,
        sent,
        received,
        flows_seen,
        checks,
        latency,
        stamps,
        warnings,
        busy: change.work.zip(change.received).map(|(work, frames)| {
            let ns = u64::try_from(work.busy.as_nanos()).unwrap_or(u64::MAX);
            Busy { ns, frames }
        }),
        idle_share: change.work.map(|work| work.idle_share),
        device_received: change.received,
        // Those that came back to their senders left by their side.
        device_sent: change.sent.map(|own| own + checks.map_or(0, |own| own.astray)),
        queues: change.queues,
        drops: change.drops,
        ledger: Ledger::Within(tolerance),
        generator_pps: reached.or(generator_pps),
        // On machines of their own.
        environment: TrialEnvironment { pinned: true, ..TrialEnvironment::default() },
        ..Measured::default()
    }
}

impl Device for Machines {
    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn apply(&mut self, variant: &Variant, watch: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        self.set_up(variant, &is_stopped).map_err(|error| self.mend(error, &is_stopped))
    }

    /// Each trial sets up and proves anyway, and what breaks belongs into the journal.
    fn preflight(&mut self, _: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        Ok(Proof::new())
    }

    fn warm_up(&mut self, trial: &Request<'_>, watch: &mut Watch<'_>) -> Result<(), DeviceError> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        self.warmed(trial, &is_stopped).map_err(|error| self.mend(error, &is_stopped))
    }

    fn measure(
        &mut self,
        trial: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        self.trial(trial, watch).map_err(|error| self.mend(error, &is_stopped))
    }

    fn without_profiles(&self) -> Option<&'static str> {
        fwdlab_device::without_whole_machine()
    }

    fn profile(
        &mut self,
        trial: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let stop = watch.stop;
        let is_stopped = || stop.load(Ordering::Relaxed);
        let sampled = self.sampled(trial, frequency_hz, watch);
        sampled.map_err(|error| self.mend(error, &is_stopped))?
    }

    /// A boot is long, and how long is not known before.
    fn switch_cost(&self) -> Duration {
        match self.reboots.contains(&Reboot::Variant) {
            true => self.testbed.limits.boot,
            false => Duration::ZERO,
        }
    }

    fn attempts(&self) -> u32 {
        self.testbed.limits.attempts
    }

    fn testbed(&self) -> Option<TestbedMark> {
        Some(self.testbed.mark())
    }
}

impl Machines {
    /// Takes back what was set on the device; after a death of ours, the next run does.
    fn put_back(&mut self) -> Result<()> {
        let limits = self.testbed.limits;
        let Some(dut) = &mut self.dut else { return Ok(()) };
        dut.within(limits.silent_dut.min(limits.command), |dut| {
            dut::put_back(dut, &|| false)?;
            self.routes.as_ref().map_or(Ok(()), |routes| routes.take_down(dut, &|| false))
        })
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.generator = None;
        if let Err(error) = self.put_back() {
            fwdlab_guard::say!("warning: the device is not put back to what it was: {error}");
        }
        if let Some(hosts) = &mut self.hosts {
            // A lock that stays is taken over by the next run of the same person.
            let _ = self.lock.release(&mut hosts.tester);
        }
    }
}
