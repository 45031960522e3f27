//! From counts to the figures of a trial.

use std::iter::repeat;

use fwdlab_counters::CpuTime;
use fwdlab_port::SocketKind;
use fwdlab_results::{Busy, BusyBy, Measured, Queue, TrialEnvironment, Way};

use crate::counters::{Change, MOST_OWN, leave_out_own};
use crate::embedded::Ended;
use crate::settings::{LinuxSettings, TesterKind, Xdp};
use crate::tester::Sent;

/// What is known about the device's cost.
pub(super) enum Cost {
    /// Nanoseconds between time stamps, and the frames that were worked on in them.
    Stamped(Busy),
    /// What fwdlab's router says about itself.
    Told { ns: u64, frames: u64 },
    /// Nanoseconds in soft interrupts of all processors, in which so many frames were worked on.
    Softirq { ns: u64, frames: u64 },
    /// Nobody counted it.
    Untold,
}

/// The frames that the device worked on: those for which nothing had room cost it next to nothing.
pub(super) fn worked_on(sent: &Sent, change: &Change, settings: &LinuxSettings) -> u64 {
    let reached = change.packets.filter(|_| settings.xdp == Xdp::None);
    reached.filter(|packets| *packets > 0).map_or(sent.sent, |packets| packets.min(sent.sent))
}

/// Whether the device's work lies between two time stamps of one processor.
pub(super) fn is_stamped(kind: TesterKind, settings: &LinuxSettings) -> bool {
    let is_live = matches!(kind, TesterKind::Inject | TesterKind::Live);
    is_live && !settings.is_embedded && !settings.threaded && settings.rps == 0
}

/// What frames beside the trial's may add to the counts of processors.
const BESIDE: f64 = 0.02;

/// Frames by the processors that received them, of those to which they are spread. The counters are
/// those of the whole machine: where they do not agree with the device's, nobody knows whose they are, and
/// what there is to say about it is the error.
pub(super) fn queues(change: &Change, mask: u64) -> Result<Vec<Queue>, String> {
    let is_in = |cpu: u32| cpu < u64::BITS && mask & 1 << cpu != 0;
    let own: Vec<Queue> = change
        .processed
        .iter()
        .filter(|(cpu, _)| is_in(*cpu))
        .map(|(cpu, frames)| Queue { name: format!("cpu{cpu}"), frames: *frames })
        .collect();
    let sum = own.iter().fold(0_u64, |sum, queue| sum.saturating_add(queue.frames));
    // No processor took those for which its backlog had no room.
    let full: u64 = change
        .drops
        .iter()
        .filter(|(name, _)| name.ends_with(".rx_dropped"))
        .map(|own| own.1)
        .sum();
    let received = change.received.unwrap_or_default().saturating_sub(full);
    if sum.abs_diff(received) as f64 <= BESIDE * received as f64 {
        return Ok(own);
    }
    Err(format!(
        "frames by processor are not known: the processors took {sum}, the device let {received} in; \
         what else is received on this machine counts there, too"
    ))
}

/// What the device forwarded and dropped, its own router's drops included.
pub(super) fn forwarded(mut change: Change, ended: Option<Ended>) -> Change {
    let Some(ended) = ended else { return change };
    change.drops.retain(|reason, _| reason.starts_with("port"));
    if ended.sockets == SocketKind::Xdp {
        // A frame for which an AF_XDP socket has no room counts twice: the interface has received
        // it, and dropped it.
        let full = change.drops.entry("port0.rx_dropped".to_owned()).or_default();
        let twice = ended.unread.min(*full);
        *full -= twice;
        change.received = change.received.map(|received| received.saturating_sub(twice));
        change.drops.retain(|_, count| *count > 0);
    }
    change.drops.extend(ended.drops);
    // The router says them all.
    change.has_reasons = true;
    change
}

/// What the device received, each frame once.
pub(super) fn received_once(
    mut change: Change,
    kind: TesterKind,
    settings: &LinuxSettings,
) -> Change {
    if settings.rps != 0 {
        // A frame for which the other processor's backlog has no room counts twice: the port has
        // received it, and dropped it.
        let full: u64 = ["port0.rx_dropped", "port1.rx_dropped"]
            .iter()
            .filter_map(|port| change.drops.get(*port))
            .sum();
        change.ways.clear();
        change.received = change
            .received
            .zip(change.backlog_drops)
            .map(|(received, twice)| received.saturating_sub(twice.min(full)));
    }
    if kind == TesterKind::Inject {
        // The port has not seen them.
        change.received = change.packets;
    }
    change
}

/// Frames that the device sent of its own accord, not forwarded (multicast listener reports of
/// interfaces that have just come up). Those that the tester saw explain what the device sent beyond
/// the test traffic (some of them came before it was counted); so do those that it sent when the
/// tester had gone or saw nothing (in a reset), beyond all that it had received and not dropped.
pub(super) fn own_frames(
    (device_received, device_sent): (Option<u64>, u64),
    dropped: u64,
    received: u64,
    strays: u64,
) -> u64 {
    let unseen = device_received.map_or(0, |came| device_sent.saturating_sub(came));
    let beyond =
        device_received.map_or(0, |came| device_sent.saturating_add(dropped).saturating_sub(came));
    let beyond = if beyond <= MOST_OWN { beyond } else { 0 };
    strays.max(unseen).max(beyond).min(device_sent.saturating_sub(received))
}

/// The device's share of the time that tester and device had the core for. What others took of it,
/// or a hypervisor stole, is not the tester's.
pub(super) fn device_share(busy_ns: u64, whole_ns: f64, core_share: Option<f64>) -> Option<f64> {
    let had_ns = whole_ns * core_share.unwrap_or(1.0);
    (had_ns > 0.0).then(|| (busy_ns as f64 / had_ns).min(1.0))
}

/// The least time in soft interrupts that is a figure: of 100 ticks of 10 ms a tenth is chance; of fewer it is
/// more, and what else runs on the machine weighs more.
const LEAST_SAMPLED_NS: u64 = 100 * CpuTime::TICK_NS;

/// What there is to say about a cost that is sampled at ticks.
fn by_ticks(ns: u64) -> String {
    const WHAT: &str = "device cost: time in soft interrupts of all processors, sampled at ticks of the kernel's clock";
    if ns >= LEAST_SAMPLED_NS {
        return WHAT.to_owned();
    }
    let least = LEAST_SAMPLED_NS / CpuTime::TICK_NS;
    format!("{WHAT}: fewer than {least} are no figure: make duration longer")
}

/// The counts of a trial.
pub(super) fn measured(
    sent: Sent,
    change: Change,
    settings: &LinuxSettings,
    cost: Cost,
) -> Measured {
    let device_sent = change.sent.saturating_sub(sent.unread);
    let came = sent.received + sent.checks.astray;
    let dropped = change.drops.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let is_ruled = settings.rules.is_some() || settings.xdp != Xdp::None;
    // What rules drop nobody counts: the kernel alone tells frames of its own that the tester did not see.
    let told = if is_ruled { change.own.min(MOST_OWN) } else { 0 };
    let own = own_frames((change.received, device_sent), dropped, came, sent.strays.max(told));
    let device_sent = device_sent - own;
    // Frames of its own, and those that the tester had no room for, belong to no way.
    let is_told = own == 0 && sent.unread == 0;
    let ports = change.ways.iter().copied().map(Some).filter(|_| is_told).chain(repeat(None));
    let with_ports = |(way, ports): (Way, Option<[u64; 2]>)| Way {
        device_received: ports.map(|[received, _]| received),
        device_sent: ports.map(|[_, sent]| sent),
        ..way
    };
    let ways = sent.ways.into_iter().zip(ports).map(with_ports).collect();
    let mut drops = change.drops;
    if sent.unread > 0 {
        drops.insert("tester had no room".to_owned(), sent.unread);
    }
    leave_out_own(&mut drops, change.received, device_sent);
    // Rules and programs drop without a counter of the kernel's: what is missing is theirs. With
    // neither of them everything must be accounted for, or the trial fails.
    let counted: u64 = drops.values().sum();
    let has_reasons = change.has_reasons;
    let missing = change.received.map_or(0, |n| n.saturating_sub(device_sent + counted));
    if missing > 0 && has_reasons && is_ruled {
        drops.insert(Measured::BY_RULES.to_owned(), missing);
    }
    let proof = sent.pacing.map(|pacing| ("tester pacing".to_owned(), pacing));
    let mut measured = Measured {
        intervals: sent.intervals,
        sent: Some(sent.sent),
        received: sent.received,
        flows_seen: Some(sent.flows_seen),
        device_received: change.received,
        device_sent: Some(device_sent),
        drops: has_reasons.then_some(drops),
        checks: Some(sent.checks),
        ways,
        latency: sent.latency,
        // Frames that are lost while the tester waits are the device's fault.
        idle_share: Some(if sent.received < sent.sent { 0.0 } else { sent.waiting_share }),
        proof: proof.into_iter().collect(),
        environment: TrialEnvironment {
            pinned: sent.pinned,
            core_share: sent.core_share,
            ..TrialEnvironment::default()
        },
        ..Measured::default()
    };
    let whole = |measured: &mut Measured| {
        measured.intervals.iter_mut().for_each(|interval| interval.busy = None);
    };
    let whole_ns: f64 = measured.intervals.iter().map(|interval| interval.ms * 1e6).sum();
    if let Cost::Stamped(Busy { ns, .. }) | Cost::Softirq { ns, .. } = cost {
        measured.environment.device_share = device_share(ns, whole_ns, sent.core_share);
    }
    match cost {
        Cost::Stamped(own) => measured.busy = Some(own),
        Cost::Untold => whole(&mut measured),
        Cost::Told { ns, frames } => {
            measured.busy = Some(Busy { ns, frames });
            whole(&mut measured);
        }
        Cost::Softirq { ns, frames } => {
            measured.busy = Some(Busy { ns, frames }).filter(|_| ns >= LEAST_SAMPLED_NS);
            measured.busy_by = Some(BusyBy::Ticks);
            whole(&mut measured);
            measured.warnings.push(by_ticks(ns));
        }
    }
    if settings.threaded && measured.busy.is_none() {
        measured.warnings.push(
            "device cost: not counted: kernel threads receive (threaded = \"on\"), and their time is not \
             told apart; compare rates, or rps, whose soft interrupts are counted"
                .to_owned(),
        );
    }
    if !has_reasons {
        measured.warnings.push(
            "why packets were dropped is not known: /proc/net/snmp or netstat cannot be read"
                .to_owned(),
        );
    }
    if !sent.pinned {
        measured.warnings.push("the tester was not pinned to a core".to_owned());
    }
    measured
}
