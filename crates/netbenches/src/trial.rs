//! From the logs of a published run to a trial.

mod search;

pub use search::{FOUND, MOST, STEPS};
use search::{Searched, searched};
use std::collections::BTreeMap;

use super::axes::Axes;
use super::built::{KERNEL_BUILT, built};
use super::command::Command;
use super::info::Info;
use super::name::{NamedFamily, family_word};
use super::pipeline::{MedianRule, Published};
use super::pktgen::{PktgenLog, Problem, Reading};
use super::runs::{ReadLog, Run};
use fwdlab_results::Family;
use fwdlab_results::{Interval, LimitedBy, Measured, Status, Steady, Trial};
use fwdlab_stats::steady;

/// Fewest steady intervals of a trial.
const FEWEST_INTERVALS: usize = 3;
/// Share of the offered load from which the generator set the rate.
const SATURATED: f64 = 0.995;

/// The part of a trial that its place in the archive gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Number of the run.
    pub iteration: u32,
}

impl Place {
    /// Variant and traffic of a prefix, of a directory in which only one of image and configuration
    /// was varied: together they are the variant.
    pub fn of(prefix: &str, info: &Info) -> Self {
        let axes = Axes::of(prefix, info);
        Self::named(&axes.variant(), &axes.traffic)
    }

    /// The same of a directory in which both were varied: the image is the variant, and what is
    /// compared is one configuration under one traffic.
    pub fn of_image(prefix: &str, info: &Info) -> Self {
        let Axes { image, configuration, traffic } = Axes::of(prefix, info);
        let both = [configuration, traffic];
        let named: Vec<String> = both.into_iter().filter(|part| !part.is_empty()).collect();
        Self::named(&image, &named.join("."))
    }

    fn named(variant: &str, traffic: &str) -> Self {
        let or_default = |name: &str| if name.is_empty() { "default" } else { name }.to_owned();
        Self { variant: or_default(variant), traffic: or_default(traffic), ..Self::default() }
    }

    /// `b01-inet4-r368606`.
    pub fn id(&self) -> String {
        format!("b{:02}-{}-{}", self.iteration, self.traffic, self.variant)
    }
}

/// The trial of a run that searched for its rate; its logs have no steady intervals to judge.
fn search_trial(
    searched: Result<Searched, String>,
    run: &Run,
    info: &Info,
    place: &Place,
) -> Trial {
    let command = run.sender_logs().find_map(|log| log.command.as_ref());
    let mut trial = blank(place, command);
    let senders: Vec<&PktgenLog> = run.sender_logs().collect();
    trial.flows_planned = flows(&senders);
    trial.measured.proof = proof(run, info);
    match searched {
        Err(why) => {
            trial.status = Status::Failed;
            trial.reason = Some(why);
        }
        Ok(Searched { of, frame_bytes, said, most_said, steps }) => {
            trial.rate_pps = Some(of.lower_pps);
            trial.load = "searched".to_owned();
            trial.offered_pps_asked = None;
            trial.frame_bytes =
                frame_bytes.and_then(|b| u16::try_from(b).ok()).unwrap_or(trial.frame_bytes);
            trial.measured.proof.insert(FOUND.to_owned(), said);
            trial.measured.proof.insert(MOST.to_owned(), most_said);
            if !steps.is_empty() {
                trial.measured.proof.insert(STEPS.to_owned(), steps);
            }
            trial.measured.search = Some(of);
        }
    }
    trial
}

/// Builds the trial of one run. A run whose logs are broken, empty, cut short
/// or of another run becomes a failed trial with a reason.
pub fn trial(run: &Run, info: &Info, place: &Place) -> Trial {
    if let Some(searched) = searched(run) {
        return search_trial(searched, run, info, place);
    }
    let senders: Vec<&PktgenLog> = run.sender_logs().collect();
    let command = senders.iter().find_map(|log| log.command.as_ref());
    let receiver = run.receiver.as_ref().and_then(|log| log.as_ref().ok());
    let intervals = receiver.map(|log| intervals(log, &senders)).unwrap_or_default();
    let rates: Vec<f64> = intervals.iter().map(Interval::rx_pps).collect();
    let window = window(command, &rates);
    let rate_pps = window.figure(&rates);
    let reason = failure(run, place, window.count);
    let mut trial = Trial {
        status: if reason.is_some() { Status::Failed } else { Status::Ok },
        rate_pps: rate_pps.filter(|_| reason.is_none()),
        reason,
        limited_by: limited_by(&intervals, window.first, window.count),
        failure: None,
        measured: Measured {
            sent: Some(total(senders.iter().copied())).filter(|sent| *sent > 0),
            received: total(receiver.into_iter()),
            intervals,
            proof: proof(run, info),
            ..Measured::default()
        },
        ..blank(place, command)
    };
    if window.count > 0 {
        trial.steady = Some(Steady {
            first: window.first,
            count: window.count,
            trimmed_head: window.trimmed_head,
            trimmed_tail: window.trimmed_tail,
            skipped: Vec::new(),
            why: window.why,
        });
    }
    trial.flows_planned = flows(&senders);
    trial.measured.warnings = warnings(run, &trial);
    trial
}

/// The steady window. An export of fwdlab's own trials writes those intervals that were found steady.
fn window(command: Option<&Command>, rates: &[f64]) -> steady::Steady {
    if !command.is_some_and(Command::is_own) {
        return steady::window(rates);
    }
    steady::Steady {
        first: 0,
        count: rates.len(),
        trimmed_head: 0,
        trimmed_tail: 0,
        zero_gaps: rates.iter().filter(|rate| **rate == 0.0).count(),
        why: "the log holds the steady intervals alone".to_owned(),
    }
}

/// A trial that holds only what its place and command say.
fn blank(place: &Place, command: Option<&Command>) -> Trial {
    let frame_len = command.cloned().unwrap_or_default().frame_with_fcs();
    let family = command.map(Command::family).or_else(|| family_word(&place.traffic));
    let asked = command.and_then(|c| c.rate_pps);
    Trial {
        id: place.id(),
        block: place.iteration,
        order: 0,
        variant: place.variant.clone(),
        traffic: place.traffic.clone(),
        family: match family {
            _ if command.is_some_and(Command::is_dual) => Family::Dual,
            Some(NamedFamily::Inet6) => Family::Inet6,
            _ => Family::Inet,
        },
        measure: fwdlab_results::Measure::Rate,
        status: Status::Ok,
        reason: None,
        started: None,
        frame_bytes: u16::try_from(frame_len).unwrap_or(u16::MAX),
        flows_planned: None,
        load: asked.map_or("max".to_owned(), |pps| format!("{pps}pps")),
        offered_pps_asked: asked,
        interval_ms: 1000.0,
        limited_by: LimitedBy::Device,
        failure: None,
        steady: None,
        rate_pps: None,
        measured: Measured::default(),
    }
}

/// Flows of all senders together; senders of one range count once. Nothing where no command is known.
fn flows(senders: &[&PktgenLog]) -> Option<u64> {
    let mut ranges = BTreeMap::new();
    for command in senders.iter().filter_map(|log| log.command.as_ref()) {
        if let Some(flows) = command.flows() {
            ranges.insert(format!("{:?} {:?}", command.source, command.destination), flows);
        }
    }
    ranges.into_values().reduce(u64::saturating_add)
}

fn total<'a>(logs: impl Iterator<Item = &'a PktgenLog>) -> u64 {
    let of = |log: &PktgenLog| {
        let counted = log.readings.iter().fold(0u64, |sum, s| sum.saturating_add(packets(s)));
        log.total.unwrap_or(counted)
    };
    logs.map(of).fold(0, u64::saturating_add)
}

/// Packets of a reading; old lines give only the rate, of one second.
fn packets(reading: &Reading) -> u64 {
    if reading.length_us > 0 { reading.packets } else { reading.pps }
}

/// Length of a reading in microseconds.
fn length_us(reading: &Reading) -> u64 {
    if reading.length_us > 0 { reading.length_us } else { 1_000_000 }
}

/// The receiver's intervals, with the senders' packets of the same time, where there are any: each
/// sender interval is shared out by overlap.
fn intervals(receiver: &PktgenLog, senders: &[&PktgenLog]) -> Vec<Interval> {
    let windows = windows(&receiver.readings);
    let is_counted = senders.iter().any(|log| !log.readings.is_empty());
    let mut sent = vec![0.0; windows.len()];
    for log in senders {
        let own = self::windows(&log.readings);
        let shift = alignment(&windows, &own);
        share_out(&windows, &own, shift, &mut sent);
    }
    let of = |(window, tx): (&Window, &f64)| Interval {
        ms: (window.end - window.start) as f64 / 1000.0,
        // cut, so that the intervals never hold more than was sent
        tx: is_counted.then_some(*tx as u64),
        rx: window.packets,
        ..Interval::default()
    };
    windows.iter().zip(&sent).map(of).collect()
}

/// A reading on a time line that does not wrap.
struct Window {
    start: i64,
    end: i64,
    packets: u64,
}

/// pkt-gen prints times modulo 1000 s.
const WRAP_US: i64 = 1_000_000_000;

fn windows(readings: &[Reading]) -> Vec<Window> {
    let mut turns = 0i64;
    let mut last = 0i64;
    let mut windows = Vec::with_capacity(readings.len());
    for reading in readings {
        let at = i64::try_from(reading.end_us).unwrap_or(0) % WRAP_US;
        if at + WRAP_US / 2 < last {
            turns += 1;
        }
        last = at;
        let end = at + turns * WRAP_US;
        let length = i64::try_from(length_us(reading)).unwrap_or(i64::MAX).clamp(1, 3_600_000_000);
        windows.push(Window { start: end - length, end, packets: packets(reading) });
    }
    windows
}

/// How much later the receiver's clock is than the sender's: 0 on one machine,
/// whole turns of the clock, else the difference of the starts.
fn alignment(receiver: &[Window], sender: &[Window]) -> i64 {
    let (Some(r), Some(s)) = (receiver.first(), sender.first()) else { return 0 };
    let (Some(r_end), Some(s_end)) = (receiver.last(), sender.last()) else { return 0 };
    let overlaps = |shift: i64| r.start < s_end.end + shift && s.start + shift < r_end.end;
    [0, WRAP_US, -WRAP_US].into_iter().find(|&shift| overlaps(shift)).unwrap_or(r.start - s.start)
}

/// Adds the packets of `own` to the windows that they overlap. O(n + m).
fn share_out(windows: &[Window], own: &[Window], shift: i64, sent: &mut [f64]) {
    let mut first = 0;
    for reading in own {
        let (start, end) = (reading.start + shift, reading.end + shift);
        while windows.get(first).is_some_and(|w| w.end <= start) {
            first += 1;
        }
        for (window, sum) in windows[first..].iter().zip(&mut sent[first..]) {
            if window.start >= end {
                break;
            }
            let overlap = (end.min(window.end) - start.max(window.start)).max(0);
            *sum += reading.packets as f64 * overlap as f64 / (end - start).max(1) as f64;
        }
    }
}

fn limited_by(intervals: &[Interval], first: usize, count: usize) -> LimitedBy {
    let steady = intervals.iter().skip(first).take(count);
    let (tx, rx) =
        steady.fold((0.0, 0.0), |(t, r), i| (t + i.tx.unwrap_or(0) as f64, r + i.rx as f64));
    if tx > 0.0 && rx >= SATURATED * tx { LimitedBy::Generator } else { LimitedBy::Device }
}

/// Why a run cannot be used; `None` for a good one.
fn failure(run: &Run, place: &Place, steady: usize) -> Option<String> {
    let receiver = match &run.receiver {
        None => return Some("there is no receiver log".to_owned()),
        Some(Err(why)) => return Some(format!("the receiver log cannot be read: {why}")),
        Some(Ok(log)) => log,
    };
    if let Some(Problem::ThreadError(Some(why))) = receiver.failure() {
        return Some(why.clone());
    }
    if let Some(problem) = receiver.failure() {
        return Some(format!("receiver log: {problem}"));
    }
    if receiver.command.as_ref().is_some_and(|c| c.is_sender) {
        return Some("the receiver log was written by a sender".to_owned());
    }
    if let Some(problem) = cut(receiver) {
        return Some(format!("receiver log is cut short: {problem}"));
    }
    let is_own = receiver.command.as_ref().is_some_and(Command::is_own);
    if steady < if is_own { 1 } else { FEWEST_INTERVALS } {
        return Some(format!("only {steady} steady intervals"));
    }
    run.senders.iter().find_map(|(which, log)| sender_failure(which, log, receiver, place))
}

/// A log whose last line is a broken reading was cut while it was written.
fn cut(log: &PktgenLog) -> Option<&Problem> {
    log.problems.iter().find(|p| matches!(p, Problem::BrokenReading(line) if *line == log.lines))
}

fn sender_failure(
    which: &str,
    log: &ReadLog,
    receiver: &PktgenLog,
    place: &Place,
) -> Option<String> {
    let name = format!("sender{which} log");
    let log = match log {
        Err(why) => return Some(format!("the {name} cannot be read: {why}")),
        Ok(log) => log,
    };
    if let Some(problem) = log.failure() {
        return Some(format!("{name}: {problem}"));
    }
    let command = log.command.as_ref()?;
    if !command.is_sender {
        return Some(format!("the {name} was written by a receiver"));
    }
    let family = command.family();
    if !command.is_dual() && family_word(&place.traffic).is_some_and(|named| named != family) {
        return Some(format!(
            "the {name} is of {} traffic, the run is called {}",
            family.name(),
            place.traffic
        ));
    }
    let is_one_host = receiver.command.as_ref().is_some_and(|c| c.host == command.host);
    (is_one_host && !ran_together(receiver, log))
        .then(|| format!("receiver and {name} are not of the same time: logs of two runs"))
}

/// Whether the time spans of two logs of one machine overlap.
fn ran_together(a: &PktgenLog, b: &PktgenLog) -> bool {
    let (a, b) = (windows(&a.readings), windows(&b.readings));
    let (Some(a0), Some(b0), Some(a1), Some(b1)) = (a.first(), b.first(), a.last(), b.last())
    else {
        return true;
    };
    [0, WRAP_US, -WRAP_US]
        .iter()
        .any(|shift| a0.start < b1.end + shift && b0.start + shift < a1.end)
}

/// What the run logged about itself.
fn proof(run: &Run, info: &Info) -> BTreeMap<String, String> {
    let mut proof = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            proof.insert(name.to_owned(), value);
        }
    };
    put("uname", info.uname().map(str::to_owned));
    put(KERNEL_BUILT, info.uname().and_then(built));
    put("image", info.image().map(str::to_owned));
    put("configuration", info.configuration().map(str::to_owned));
    let receiver = run.receiver.as_ref().and_then(|log| log.as_ref().ok());
    for (name, log) in receiver.map(|log| ("receiver".to_owned(), log)).into_iter().chain(
        run.senders.iter().filter_map(|(w, l)| Some((format!("sender{w}"), l.as_ref().ok()?))),
    ) {
        put(&format!("{name}.command"), log.command.as_ref().map(|c| c.text.clone()));
        put(&format!("{name}.host"), log.command.as_ref().and_then(|c| c.host.clone()));
        put(&format!("{name}.pkt-gen"), log.build.map(|b| format!("main_thread line {b}")));
    }
    if let Some(log) = receiver {
        let published = Published::of(log);
        put("netbenches.median", published.printed(MedianRule::MeanOfTwo));
        put("netbenches.upper-median", published.printed(MedianRule::Upper));
        let dropped = format!("{}+{}", published.trimmed_head, published.trimmed_tail);
        put("netbenches.dropped", Some(dropped));
    }
    proof
}

fn warnings(run: &Run, trial: &Trial) -> Vec<String> {
    let mut warnings = Vec::new();
    if run.senders.is_empty() {
        warnings.push("no sender log: the offered load is unknown".to_owned());
    }
    let received = trial.measured.received;
    if let Some(sent) = trial.measured.sent.filter(|sent| received as f64 > 1.05 * *sent as f64) {
        warnings.push(format!("{received} frames received, only {sent} sent by the logs at hand"));
    }
    for (which, log) in &run.senders {
        let is_open = log.as_ref().is_ok_and(|l| l.total.is_none());
        if is_open {
            warnings.push(format!("sender{which} log has no closing lines"));
        }
    }
    let all = run.receiver.iter().chain(run.senders.values()).filter_map(|log| log.as_ref().ok());
    for problem in all.flat_map(|log| &log.problems) {
        warnings.push(problem.to_string());
    }
    warnings
}

#[cfg(test)]
mod tests;
