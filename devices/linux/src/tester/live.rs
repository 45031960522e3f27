//! The fastest tester on veth pairs: XDP live frames.
//!
//! A program that runs on live frames (`BPF_PROG_TEST_RUN` with `BPF_F_TEST_XDP_LIVE_FRAMES`,
//! Linux 5.18) sends each frame by the sender's interface; the kernel hands them on 64 at a time.
//! Where sender, device and receiver share a processor, the device works off each 64 before the
//! next are made: nothing is ever lost for want of room, and no processor has to wake another.
//!
//! Or the frames are put into the device's stack, as if its port had received them (what pktgen calls
//! `netif_receive`). That leaves out the way over a veth pair, a quarter of the time, most of which is
//! no work of the device.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::bpf::{LiveFrames, Program, XdpLink};
use fwdlab_traffic::FlowSet;

use super::super::setup::{BACK, DEVICE, OUT, RECEIVER, SENDER};
use super::sent::{Receiving, Sent, expected, lay_down, receive};
use crate::LinuxError;
use crate::settings::TesterKind;
use fwdlab_builtin::latency_figures;
use fwdlab_device::Watch;
use fwdlab_device::pulse::Pulse;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_procedures::CountsAt;
use fwdlab_results::{Busy, Checks, Interval, LatencyFigures};
use fwdlab_topology::{Testbed, TopologyError, port_name};
use fwdlab_xdp::tester::{self, Outlet, Pace, Written};
use fwdlab_xdp::{Headers, Latencies, Shared, word};

/// Frames sent at once over a veth pair: as many as the device takes in one poll.
const SENT_AT_ONCE: u32 = 64;

/// Frames put into the stack at once. Each lies at the same place of a page of its own, so that more
/// of them do not fit the ways of a first-level cache: with 64 the device takes 5 to 9 % longer.
pub(super) const INJECTED_AT_ONCE: u32 = 16;

/// Frames of one run of the program. When the tester stops, the rest of a run is let go without
/// sending, at about 25 ns each.
const RUN: u32 = 1 << 22;

/// A trial goes on for so many times its length when the processor is slow.
const LONGEST: u32 = 4;

/// How long the last frames may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long the kernel may take to begin: milliseconds, and on a busy machine as long as a grace period (RCU).
const LONGEST_BEGINNING: Duration = Duration::from_secs(10);

/// A tester that is ready to send.
#[derive(Debug)]
pub(in super::super) struct LiveTester<'a> {
    shared: &'a Shared,
    headers: Headers,
    /// How long frames took, where that is asked for.
    latencies: Option<Latencies>,
    sender: Program,
    pace: Option<Pace>,
    /// The namespace in which it sends.
    role: &'static str,
    /// Number of the interface there that it uses.
    interface: u32,
    /// Frames handed on at once.
    batch: u32,
    /// Frames of one run of the program.
    run: u32,
    _receiver: Receiving,
    /// So that the sender begins at once, and goes on at once after each run.
    _known: Option<XdpLink>,
    /// What came back to its senders: it left the device by the side from which it had come, and nothing else would
    /// tell it from what rules or programs dropped.
    returned: Shared,
    _receiver_of_returned: Receiving,
}

/// What was seen of a load.
pub(super) struct Watched {
    /// The counters, the last time when nothing more arrived.
    pub(super) counts: Vec<CountsAt>,
    /// The sender's share of its processor, 0 to 1.
    pub(super) share: Option<f64>,
}

/// The time that the device worked, and on how many frames. Of a batch that it dropped whole nobody knows how long it
/// took: put into the stack, it is in neither; over a veth pair the time goes on until the next frame comes through.
pub(in super::super) fn worked(shared: &Shared, kind: TesterKind) -> Busy {
    let frames = match kind {
        TesterKind::Inject => word::BUSY_FRAMES,
        _ => word::SENT,
    };
    let [ns, frames] = [word::BUSY_NS, frames].map(|at| shared.get(at));
    Busy { ns, frames }
}

impl<'a> LiveTester<'a> {
    /// Which of the two it is: its frames begin in the device's stack, or in a namespace of its own.
    pub(super) fn kind(&self) -> TesterKind {
        if self.role == DEVICE { TesterKind::Inject } else { TesterKind::Live }
    }

    /// Makes the frames and puts the receiver into place.
    ///
    /// # Errors
    /// The kernel cannot do it.
    pub(super) fn new(
        kind: TesterKind,
        testbed: &mut Testbed,
        shared: &'a Shared,
        (traffic, is_timed): (&Traffic, bool),
    ) -> Result<Self, LinuxError> {
        let flows = FlowSet::parse(&traffic.source.to_string(), &traffic.destination.to_string())?;
        let refused = TopologyError::kernel("set up the tester (XDP live frames)");
        let batch = INJECTED_AT_ONCE;
        let (role, port, way, batch) = match kind {
            TesterKind::Inject => (DEVICE, port_name(0), Outlet::Stack { batch }, batch),
            _ => (SENDER, OUT.to_owned(), Outlet::Out, SENT_AT_ONCE),
        };
        let interface = testbed.interface_index(role, &port)?;
        let pace = traffic.load.frames_per_second(f64::from(traffic.frame_bytes)).map(Pace::new);
        let load = || {
            let headers = Headers::new(&flows, traffic.order, traffic.frame_bytes)?;
            let latencies = is_timed.then(Latencies::new).transpose()?;
            let written = Written { has_stamp: is_timed, ..Written::of(&headers) };
            let sender = tester::load(shared, written, pace, way)?;
            Ok((headers, latencies, sender, Shared::new()?))
        };
        let (headers, latencies, sender, returned) = load().map_err(refused)?;
        let here = expected(&flows, 1, latencies.as_ref());
        let _receiver = receive(testbed, (RECEIVER, BACK), shared, &here)?;
        let there = expected(&flows, 0, None);
        let _receiver_of_returned = receive(testbed, (SENDER, OUT), &returned, &there)?;
        let _known = lay_down(testbed, SENDER, &sender);
        Ok(Self {
            shared,
            headers,
            latencies,
            sender,
            pace,
            role,
            interface,
            batch,
            run: RUN,
            _receiver,
            _known,
            returned,
            _receiver_of_returned,
        })
    }

    /// As it is, but so that it ends soon after it is told to.
    pub(super) fn in_short_runs(self) -> Self {
        Self { run: RUN / 32, ..self }
    }

    /// Sends for as long as the experiment says, on the processor `core`, and calls
    /// `watch.on_interval` at the end of each interval.
    ///
    /// # Errors
    /// The kernel cannot run the sender, or the campaign was stopped.
    pub(super) fn run(
        &self,
        testbed: &Testbed,
        experiment: &Experiment,
        core: Option<usize>,
        pulse: &mut Pulse,
        watch: &mut Watch<'_>,
    ) -> Result<Sent, LinuxError> {
        let strays = self.shared.get(word::STRAYS);
        let (intervals, pinned, core_share) = self.while_sending(testbed, core, |is_running| {
            self.intervals(experiment, pulse, watch, is_running)
        })?;
        let failed = || TopologyError::kernel("send XDP live frames");
        if watch.is_stopped() {
            return Err(LinuxError::Stopped);
        }
        let Some(intervals) = intervals else {
            let longest = LONGEST_BEGINNING.as_secs();
            let what = format!(
                "the kernel did not begin within {longest} s: look what else uses its processors"
            );
            return Err(failed()(io::Error::new(io::ErrorKind::TimedOut, what)).into());
        };
        self.drain();
        Ok(Sent {
            intervals,
            pinned,
            sent: self.sent(),
            received: self.received(),
            strays: self.shared.get(word::STRAYS).saturating_sub(strays),
            flows_seen: self.shared.get(word::FLOWS_SEEN),
            checks: self.checks(),
            ways: Vec::new(),
            waiting_share: self.waiting_share(),
            core_share,
            pacing: self.pacing(),
            unread: 0,
            by_pair: Vec::new(),
            tracking: None,
            latency: self.latency(),
        })
    }

    /// Sends on the processor `core` while `watching` runs, which is told whether the sender still does;
    /// with what it returns, whether the sender had that processor, and its share of it.
    pub(super) fn while_sending<T>(
        &self,
        testbed: &Testbed,
        core: Option<usize>,
        watching: impl FnOnce(&dyn Fn() -> bool) -> T,
    ) -> Result<(T, bool, Option<f64>), LinuxError> {
        let namespace = testbed.namespace(self.role)?;
        let is_over = AtomicBool::new(false);
        let (seen, sender) = std::thread::scope(|scope| {
            let sender =
                std::thread::Builder::new().name("tester".to_owned()).spawn_scoped(scope, || {
                    namespace.enter()?;
                    let pinned = core.is_some_and(|c| affinity::pin_current_thread(c).is_ok());
                    let share = CoreShare::begin();
                    self.send(&is_over).map(|()| (pinned, share.so_far()))
                });
            let sender = sender.map_err(|source| fwdlab_port::PortError::Thread { source })?;
            let seen = watching(&|| !sender.is_finished());
            is_over.store(true, Ordering::Relaxed);
            self.shared.set(word::STOP, 1);
            let sent = sender.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
            Ok::<_, LinuxError>((seen, sent))
        })?;
        let failed = TopologyError::kernel("send XDP live frames");
        let (pinned, core_share) = sender.map_err(failed)?;
        Ok((seen, pinned, core_share))
    }

    /// Offers its load for `duration`, looks at the counters every `look`, and again when nothing more
    /// arrives; `change` is another load after some time. With them, the sender's share of its processor.
    /// Nothing when the kernel does not begin.
    ///
    /// # Errors
    /// The kernel cannot run the sender.
    pub(super) fn offer(
        &self,
        testbed: &Testbed,
        core: Option<usize>,
        (duration, look, change): (Duration, Duration, Option<(Duration, Pace)>),
        watch: &Watch<'_>,
    ) -> Result<Option<Watched>, LinuxError> {
        let (counts, _, share) = self.while_sending(testbed, core, |is_running| {
            let goes_on = || is_running() && !watch.is_stopped();
            if !self.begins(&goes_on) {
                return None;
            }
            let start = Instant::now();
            let mut change = change;
            let mut counts = vec![self.sample(start)];
            while start.elapsed() < duration && goes_on() {
                std::thread::sleep(look.min(duration.saturating_sub(start.elapsed())));
                if let Some((_, pace)) = change.take_if(|(after, _)| start.elapsed() >= *after) {
                    pace.keep(self.shared);
                }
                counts.push(self.sample(start));
            }
            Some((start, counts))
        })?;
        let Some((start, mut counts)) = counts else { return Ok(None) };
        self.drain();
        counts.push(self.sample(start));
        Ok(Some(Watched { counts, share }))
    }

    fn sample(&self, start: Instant) -> CountsAt {
        // What was received was sent before: in this order nothing seems to be lost that is not.
        let dropped = backlog_drops();
        let (received, sent) = (self.received(), self.sent());
        CountsAt { at_ns: start.elapsed().as_nanos() as u64, sent, received, dropped }
    }

    /// Waits until the sender has begun; false when it does not.
    pub(super) fn begins(&self, goes_on: &dyn Fn() -> bool) -> bool {
        begins(self.shared, goes_on, LONGEST_BEGINNING)
    }

    /// Sends so many frames, one after the other; how many it was.
    ///
    /// # Errors
    /// The kernel cannot run the sender.
    pub(super) fn send_burst(&self, frames: u32) -> io::Result<u64> {
        let before = self.sent();
        let live = LiveFrames {
            frame: &self.headers.frame,
            interface: self.interface,
            repeat: frames,
            batch: self.batch,
        };
        match self.sender.run_live(&live) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(self.sent() - before),
        }
    }

    /// How long frames took so far, from the program that made them to the one that received them.
    pub(super) fn latency(&self) -> Option<LatencyFigures> {
        self.latencies.as_ref().and_then(Latencies::summary).map(latency_figures)
    }

    /// The namespace in which it sends.
    pub(super) const fn role(&self) -> &'static str {
        self.role
    }

    /// Runs the sender until it is over.
    fn send(&self, is_over: &AtomicBool) -> io::Result<()> {
        let live = LiveFrames {
            frame: &self.headers.frame,
            interface: self.interface,
            repeat: self.run,
            batch: self.batch,
        };
        while !is_over.load(Ordering::Relaxed) {
            match self.sender.run_live(&live) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the counters at the end of each interval, until as many as the experiment wants passed
    /// with the processor undisturbed, or [`LONGEST`] times as many in all. The first one begins when the
    /// sender has; nothing when it never does.
    fn intervals(
        &self,
        experiment: &Experiment,
        pulse: &mut Pulse,
        watch: &mut Watch<'_>,
        is_running: &dyn Fn() -> bool,
    ) -> Option<Vec<Interval>> {
        let goes_on = || is_running() && !watch.stop.load(Ordering::Relaxed);
        if !begins(self.shared, &goes_on, LONGEST_BEGINNING) {
            return None;
        }
        let read = || {
            let [tx, rx] = [word::SENT, word::RECEIVED].map(|at| self.shared.get(at));
            let Busy { ns, frames } = worked(self.shared, self.kind());
            [tx, rx, ns, frames]
        };
        let &Experiment { duration, interval, .. } = experiment;
        let wanted = duration.as_nanos() / interval.as_nanos().max(1);
        let longest = duration * LONGEST;
        let (mut fast, mut beats) = (0, self.shared.get(word::BEATS));
        let start = Instant::now();
        let (mut last_time, mut last) = (start, read());
        let mut intervals = Vec::new();
        let mut due = interval;
        let is_enough = |due, fast| due > duration && (fast >= wanted || due > longest);
        while !is_enough(due, fast) && is_running() && !watch.is_stopped() {
            std::thread::sleep(due.saturating_sub(start.elapsed()));
            let (now_time, now) = (Instant::now(), read());
            let [tx, rx, busy_ns, frames] = std::array::from_fn(|at| now[at] - last[at]);
            let ms = (now_time - last_time).as_secs_f64() * 1e3;
            let new = self.shared.beats(beats);
            beats += new.len() as u64;
            let mut seen = Interval {
                ms,
                tx: Some(tx),
                rx,
                busy: Some(Busy { ns: busy_ns, frames }),
                ..Interval::default()
            };
            pulse.note(&new, &mut seen);
            fast += u128::from(!seen.is_slow());
            (watch.on_interval)(&seen);
            intervals.push(seen);
            (last_time, last) = (now_time, now);
            due += interval;
        }
        Some(intervals)
    }

    /// Waits until nothing arrives any more.
    pub(super) fn drain(&self) {
        let start = Instant::now();
        let received = || self.shared.get(word::RECEIVED) + self.returned();
        let mut before = received();
        while before < self.sent() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
            let now = received();
            if now == before {
                break;
            }
            before = now;
        }
    }

    /// Frames sent.
    pub(super) fn sent(&self) -> u64 {
        self.shared.get(word::SENT)
    }

    /// Frames received.
    pub(super) fn received(&self) -> u64 {
        self.shared.get(word::RECEIVED)
    }

    /// Frames that came back to their senders.
    fn returned(&self) -> u64 {
        let [all, strangers] = [word::RECEIVED, word::UNKNOWN_FLOW].map(|at| self.returned.get(at));
        all.saturating_sub(strangers)
    }

    /// What the receiver found.
    fn checks(&self) -> Checks {
        let get = |word| self.shared.get(word);
        let returned = self.returned();
        Checks {
            checked: get(word::CHECKED),
            lost: self.sent().saturating_sub(self.received()).saturating_sub(returned),
            misrouted: get(word::UNKNOWN_FLOW) + returned,
            astray: returned,
            returned,
            bad_ttl: get(word::BAD_TTL),
            bad_checksum: get(word::BAD_CHECKSUM),
            bad_mac: get(word::BAD_MAC),
            ..Checks::default()
        }
    }

    /// Share of the sender's turns in which it waited for the next frame to fall due, 0 to 1.
    fn waiting_share(&self) -> f64 {
        let (waited, sent) = (self.shared.get(word::WAITED), self.sent());
        if waited == 0 { 0.0 } else { waited as f64 / (waited + sent) as f64 }
    }

    /// How evenly a paced load was sent.
    fn pacing(&self) -> Option<String> {
        let pace = self.pace?;
        let ns = |word| self.shared.get(word) as f64 / 256.0;
        let bursts = self.shared.get(word::BURSTS).max(1) as f64;
        Some(format!(
            "bursts of {}, {:.0} ns late on average, {:.0} ns at most",
            pace.burst,
            ns(word::LATE_SUM) / bursts,
            ns(word::LATE_MOST)
        ))
    }
}

/// What the kernel says of backlogs without room; 0 where it does not say.
pub(super) fn backlog_drops() -> u64 {
    fs::read_to_string("/proc/net/softnet_stat")
        .map_or(0, |text| fwdlab_counters::backlog_drops(&text))
}

/// Waits until the sender has begun: it has sent, or waits for a frame to fall due. False when it does not
/// go on, or `longest` has passed.
fn begins(shared: &Shared, goes_on: &dyn Fn() -> bool, longest: Duration) -> bool {
    let start = Instant::now();
    let has_begun = || shared.get(word::SENT) + shared.get(word::WAITED) > 0;
    while !has_begun() {
        if !goes_on() || start.elapsed() > longest {
            return has_begun();
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_starts_with_the_sender_however_late_that_is() {
        let Ok(shared) = Shared::new() else {
            eprintln!("SKIPPED the_clock_starts_with_the_sender: no BPF maps here");
            return;
        };
        let long = Duration::from_secs(60);
        assert!(!begins(&shared, &|| false, long), "the sender has failed");
        assert!(!begins(&shared, &|| true, Duration::from_millis(1)), "it never begins");
        for word in [word::SENT, word::WAITED] {
            let shared = Shared::new().expect("as before");
            let looks = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !looks.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    shared.set(word, 1);
                });
                let goes_on = || {
                    looks.store(true, Ordering::Relaxed);
                    true
                };
                assert!(begins(&shared, &goes_on, long));
            });
        }
    }
}
