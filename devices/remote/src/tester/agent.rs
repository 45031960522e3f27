//! fwdlab's own tester: the program itself, put onto the hosts by its digest.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

use fwdlab_agent::channel::{line_of, message_of};
use fwdlab_agent::order::{
    Answer, CablePort, Order, Probed, Report, Role, StampClock, StampOrder, StampProof, Stamping,
    TrafficOrder,
};
use fwdlab_agent::task::{Captured, TaskTraffic};
use fwdlab_counters::{HostCounts, aligned};
use fwdlab_results::{CONSOLE_LINES, FailureKind, Interval, StampFigures};

use super::captures::Captures;
use super::{Counts, Generator, Hosts, Task};
use crate::host::Connected;
use crate::ssh::{Lines, Next};
use crate::testbed::TestPort;
use crate::{RemoteError, Result};

/// How long an agent may take for what takes no time.
const PROMPT: Duration = Duration::from_secs(20);
/// How long what an agent has said may be on its way.
const LAST_WORD: Duration = Duration::from_millis(50);
/// How often it is looked whether all is to stop.
const STEP: Duration = Duration::from_millis(50);
/// Round trips of which the quickest tells how far two clocks are apart.
const ROUND_TRIPS: usize = 30;
/// How long the tester alone sends to find its limit.
const LIMIT_TIME: Duration = Duration::from_millis(200);
/// A tester that sends less than this share of what it was asked for has not kept the rate.
const KEPT: f64 = 0.98;
/// An address that is nobody's.
const NOBODY: &str = "02:66:77:64:6c:00";

/// The agents of a testbed.
#[derive(Debug)]
pub struct Agents {
    tester: Agent,
    receiver: Option<Agent>,
    captures: Captures,
    /// Which time stamps can be had, once that was asked.
    stamps: Option<StampProof>,
    /// By traffic, how many frames a second left at best the last time, where that was not asked for.
    rates: BTreeMap<String, f64>,
}

/// One agent; it ends when dropped, because its input does.
#[derive(Debug)]
struct Agent {
    child: Child,
    input: ChildStdin,
    answers: Lines,
    /// What it says to people.
    errors: Lines,
    role: &'static str,
    version: String,
    /// How it went when it was started before and said nothing.
    was_silent: String,
    /// Its clock less the controller's, in ns, and the round trip by which that was found.
    offset_ns: i128,
    round_trip_ns: u64,
}

/// An agent that does not greet.
enum Mute {
    /// The first line that it said instead.
    Said(String),
    /// It said nothing: how that went.
    Silent(String),
}

impl Agents {
    /// Puts the program onto the hosts and starts it there.
    ///
    /// # Errors
    /// When it cannot be put there, or does not run there.
    pub fn start(
        hosts: &mut Hosts,
        program: &std::path::Path,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let start = |host: &mut Connected| Agent::start(host, program, is_stopped);
        let tester = start(&mut hosts.tester)?;
        let receiver = hosts.receiver.as_mut().map(start).transpose()?;
        Ok(Self {
            tester,
            receiver,
            captures: Captures::default(),
            stamps: None,
            rates: BTreeMap::new(),
        })
    }

    /// Sends and receives on one host.
    fn run_alone(
        &mut self,
        task: &Task<'_>,
        sending: Option<Captured>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts> {
        let mut order = order(task, Role::Both, sending);
        let pps = task.pps.or_else(|| self.rates.get(&task.traffic.name).copied());
        order.stamps = self.stamps.as_ref().map(|proof| Stamping { by: proof.by, pps });
        self.tester.order(&Order::Traffic(Box::new(order)))?;
        self.tester.ready(is_stopped)?;
        let report = self.tester.done(task.duration + PROMPT, is_stopped)?;
        if let (None, Some(pps)) = (task.pps, best_rate(&report)) {
            self.rates.insert(task.traffic.name.clone(), pps);
        }
        let interval = |counted: &fwdlab_agent::order::Counted| Interval {
            ms: counted.ns as f64 / 1e6,
            tx: Some(counted.sent),
            rx: counted.received,
            ..Interval::default()
        };
        let intervals = report.intervals.iter().map(interval).collect();
        let mut counts = counts(intervals, (&report, &report), task);
        if let (Some(probed), Some(proof)) = (&report.probed, &self.stamps) {
            let stamps = stamp_figures(probed, proof);
            counts.latency = probed.figures;
            counts.warnings.extend(doubts(&stamps));
            counts.stamps = Some(stamps);
        }
        Ok(counts)
    }
}

impl Generator for Agents {
    fn run(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts> {
        let long = task.duration + PROMPT;
        let [sending, receiving] = self.captures.placed(hosts, task, is_stopped)?;
        if task.experiment.latency && self.stamps.is_none() {
            self.stamps = Some(self.tester.stamps(task, is_stopped)?);
        }
        let Some(receiver) = &mut self.receiver else {
            return self.run_alone(task, sending, is_stopped);
        };
        receiver.order(&traffic(task, Role::Receiver, receiving))?;
        receiver.ready(is_stopped)?;
        self.tester.order(&traffic(task, Role::Sender, sending))?;
        self.tester.ready(is_stopped)?;
        let sent = self.tester.done(long, is_stopped)?;
        receiver.order(&Order::Stop)?;
        let received = receiver.done(PROMPT, is_stopped)?;
        let of = |report: &Report, agent: &Agent, rx: bool| HostCounts {
            began_ns: i128::from(report.began_ns) - agent.offset_ns,
            intervals: report
                .intervals
                .iter()
                .map(|counted| (counted.ns, if rx { counted.received } else { counted.sent }))
                .collect(),
        };
        let intervals = aligned(&of(&sent, &self.tester, false), &of(&received, receiver, true));
        Ok(counts(intervals, (&sent, &received), task))
    }

    fn can_probe(&self) -> bool {
        true
    }

    /// As many frames as it can, to nobody.
    fn limit(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<f64>> {
        let task = Task { duration: LIMIT_TIME, pps: None, ..*task };
        let [sending, _] = self.captures.placed(hosts, &task, is_stopped)?;
        let mut order = order(&task, Role::Sender, sending);
        order.device_mac = NOBODY.to_owned();
        self.tester.order(&Order::Traffic(Box::new(order)))?;
        self.tester.ready(is_stopped)?;
        let report = self.tester.done(task.duration + PROMPT, is_stopped)?;
        Ok(rate(&report))
    }

    fn last_words(&mut self) -> Vec<String> {
        let agents = [&self.tester].into_iter().chain(&self.receiver);
        let words = agents.flat_map(|agent| {
            let said = agent.errors.rest(LAST_WORD);
            said.lines().map(|line| format!("{}: {line}", agent.role)).collect::<Vec<_>>()
        });
        words.take(CONSOLE_LINES).collect()
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![("fwdlab agent".to_owned(), self.tester.version.clone())];
        for agent in [&self.tester].into_iter().chain(&self.receiver) {
            let (role, offset) = (agent.role, agent.offset_ns as f64 / 1e6);
            let round_trip = agent.round_trip_ns as f64 / 1e6;
            let text =
                format!("{offset:.3} ms (best of {ROUND_TRIPS} round trips: {round_trip:.3} ms)");
            facts.push((format!("clock of {role} ahead of the controller"), text));
            if !agent.was_silent.is_empty() {
                facts
                    .push((format!("agent of {role} was started again"), agent.was_silent.clone()));
            }
        }
        facts
    }
}

/// Frames a second in the best interval: a tester that was held up for most of a short warm-up is not slow.
fn best_rate(report: &Report) -> Option<f64> {
    let sent = report.intervals.iter().filter(|interval| interval.ns > 0 && interval.sent > 0);
    sent.map(|interval| interval.sent as f64 * 1e9 / interval.ns as f64).max_by(f64::total_cmp)
}

/// Frames a second that were sent.
fn rate(report: &Report) -> Option<f64> {
    let ns: u64 = report.intervals.iter().map(|interval| interval.ns).sum();
    (ns > 0 && report.sent > 0).then(|| report.sent as f64 * 1e9 / ns as f64)
}

fn counts(
    intervals: Vec<Interval>,
    (sent, received): (&Report, &Report),
    task: &Task<'_>,
) -> Counts {
    let warnings = sent.warnings.clone();
    let by_ports = Counts {
        intervals,
        sent: Some(sent.sent),
        received: received.received,
        ..Counts::default()
    };
    if task.testbed.generator.kind.maker().is_some() {
        // Nobody looked at these frames: what is in them was not counted. They wait for none to come back.
        let reached_pps =
            rate(sent).filter(|rate| task.pps.is_some_and(|asked| *rate < asked * KEPT));
        return Counts { reached_pps, warnings, ..by_ports };
    }
    let mut checks = received.checks;
    checks.lost = (sent.sent + checks.duplicated).saturating_sub(received.received);
    let flows_seen = Some(received.flows_seen);
    Counts { flows_seen, checks: Some(checks), warnings, ..by_ports }
}

/// Which stamps the latency rests on. A stamp that is missing is no lost frame.
fn stamp_figures(probed: &Probed, proof: &StampProof) -> StampFigures {
    let Probed { by, probes, stamped, backwards, .. } = *probed;
    let by = match by {
        StampClock::Hardware => "card",
        StampClock::Software => "kernel",
    };
    StampFigures {
        by: by.to_owned(),
        why: proof.why.clone(),
        probes,
        stamped,
        backwards,
        floor: proof.floor,
    }
}

/// What makes a latency doubtful.
fn doubts(stamps: &StampFigures) -> Vec<String> {
    let StampFigures { probes, stamped, backwards, .. } = *stamps;
    let few = (stamped * 2 < probes)
        .then(|| format!("latency: only {stamped} of {probes} frames sampled have both stamps"));
    let set = (backwards > 0).then(|| {
        format!(
            "latency: a clock was set, frames that would have arrived before they left: {backwards}"
        )
    });
    few.into_iter().chain(set).collect()
}

fn traffic(task: &Task<'_>, role: Role, capture: Option<Captured>) -> Order {
    Order::Traffic(Box::new(order(task, role, capture)))
}

fn order(task: &Task<'_>, role: Role, capture: Option<Captured>) -> TrafficOrder {
    let Task { testbed, traffic, .. } = *task;
    let (out, back) = (testbed.out(), testbed.back());
    let name = |is_used: bool, name: &str| if is_used { name.to_owned() } else { String::new() };
    TrafficOrder {
        role,
        out: name(role != Role::Receiver, &out.name),
        back: name(role != Role::Sender, &back.name),
        source_mac: out.mac.to_string(),
        device_mac: testbed.dut.ports[0].mac.to_string(),
        arrival_mac: back.mac.to_string(),
        traffic: TaskTraffic {
            source: traffic.source.to_string(),
            destination: traffic.destination.to_string(),
            frame_bytes: traffic.frame_bytes,
            order: match capture {
                Some(_) => Captured::ORDER.to_owned(),
                None => traffic.order.to_string(),
            },
            pps: task.pps,
            capture,
        },
        duration_ns: task.duration.as_nanos() as u64,
        interval_ns: task.interval.as_nanos() as u64,
        maker: testbed.generator.kind.maker(),
        stamps: None,
        deadline_ns: (task.duration + PROMPT).as_nanos() as u64,
    }
}

impl Agent {
    fn start(
        host: &mut Connected,
        program: &std::path::Path,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let program = host.host.program.clone().unwrap_or_else(|| program.to_owned());
        let path = host.put_file(&program, is_stopped)?;
        host.ask(&format!("chmod 700 {path}"), is_stopped)?;
        let mut agent = Self::first(host, &path, is_stopped)?;
        agent.look_at_clock(is_stopped)?;
        Ok(agent)
    }

    /// Starts it. On a machine that does much else it may be late, or lost: each time it gets longer.
    fn first(host: &mut Connected, path: &str, is_stopped: &dyn Fn() -> bool) -> Result<Self> {
        let mut why = String::new();
        for times in 1..=3 {
            match Self::greet(host, path, PROMPT * times, is_stopped)? {
                Ok(mut agent) => {
                    agent.was_silent = why;
                    return Ok(agent);
                }
                Err(Mute::Silent(how)) => why = how,
                Err(Mute::Said(line)) => {
                    why = line;
                    break;
                }
            }
        }
        Err(RemoteError::failed(
            FailureKind::Misconfigured,
            host.role(),
            format!("fwdlab does not run there: {}", why.replace(path, "fwdlab")),
            "name a build for it with program = \"FILE\" in [hosts]",
        ))
    }

    /// Starts it and waits for its first word; what it said instead, if it is none.
    fn greet(
        host: &mut Connected,
        path: &str,
        limit: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<std::result::Result<Self, Mute>> {
        let mut child = host.start(&format!("exec {path} agent"))?;
        let role = host.role();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(failed(role, "its pipes are missing"));
        };
        let mut agent = Self {
            child,
            input,
            answers: Lines::of(output),
            errors: Lines::of(errors),
            role,
            version: String::new(),
            was_silent: String::new(),
            offset_ns: 0,
            round_trip_ns: 0,
        };
        match agent.answer(limit, is_stopped) {
            Ok(Answer::Here { version }) => agent.version = version,
            Ok(_) => return Err(failed(role, "it does not begin as an agent does")),
            Err(RemoteError::Stopped) => return Err(RemoteError::Stopped),
            Err(_) => {
                let said = agent.errors.rest(Duration::from_secs(1));
                return Ok(Err(match (said.lines().next(), agent.child.try_wait()) {
                    (Some(line), _) => Mute::Said(line.to_owned()),
                    (None, Ok(Some(status))) => {
                        Mute::Silent(format!("it ended without a word ({status})"))
                    }
                    (None, _) => {
                        let state = Self::state(host, path, is_stopped);
                        Mute::Silent(format!("no word in {} s; {state}", limit.as_secs()))
                    }
                }));
            }
        }
        Ok(Ok(agent))
    }

    /// What a process that says nothing is doing, asked by another channel of the same connection.
    fn state(host: &mut Connected, path: &str, is_stopped: &dyn Fn() -> bool) -> String {
        let look = format!(
            "for p in /proc/[0-9]*; do [ \"$(readlink $p/exe 2>/dev/null)\" = {path} ] || continue; \
             sed -n 's/^State:[[:space:]]*/it is in state /p' $p/status; \
             echo \"waits in $(cat $p/wchan 2>/dev/null)\"; done; echo \"load $(cut -d' ' -f1-3 /proc/loadavg)\""
        );
        match host.run(&look, is_stopped) {
            Ok(said) if said.output.contains("state") => said.output.trim().replace('\n', ", "),
            Ok(said) => format!("there is no process of it, {}", said.output.trim()),
            Err(error) => format!("nor does its host answer: {error}"),
        }
    }

    /// The quickest of many round trips says best how far the clocks are apart.
    fn look_at_clock(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let mut best = u64::MAX;
        for _ in 0..ROUND_TRIPS {
            let (before, start) = (now_ns(), Instant::now());
            self.order(&Order::Clock)?;
            let Answer::Clock { ns } = self.answer(PROMPT, is_stopped)? else {
                return Err(failed(self.role, "it does not say what time it is"));
            };
            let round_trip = start.elapsed().as_nanos() as u64;
            if round_trip < best {
                best = round_trip;
                self.round_trip_ns = round_trip;
                self.offset_ns = i128::from(ns) - i128::from(before) - i128::from(round_trip / 2);
            }
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) -> Result<()> {
        let line = line_of(order).map_err(|error| failed(self.role, &error.to_string()))?;
        let written = self.input.write_all(line.as_bytes()).and_then(|()| self.input.flush());
        written.map_err(|_| failed(self.role, "it has ended"))
    }

    /// Asks which time stamps can be had.
    fn stamps(&mut self, task: &Task<'_>, is_stopped: &dyn Fn() -> bool) -> Result<StampProof> {
        let testbed = task.testbed;
        let end =
            |port: &TestPort| CablePort { name: port.name.clone(), mac: port.mac.to_string() };
        let cable = testbed.generator.loopback.as_ref().map(|[from, to]| [end(from), end(to)]);
        let (out, back) = (testbed.out().name.clone(), testbed.back().name.clone());
        self.order(&Order::Stamps(Box::new(StampOrder { out, back, cable })))?;
        match self.answer(PROMPT, is_stopped)? {
            Answer::Stamps(proof) => Ok(*proof),
            Answer::Failed(why) => Err(failed(self.role, &why)),
            _ => Err(failed(self.role, "it answers something else than it was asked")),
        }
    }

    fn ready(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        match self.answer(PROMPT, is_stopped)? {
            Answer::Ready => Ok(()),
            Answer::Failed(why) => Err(failed(self.role, &why)),
            _ => Err(failed(self.role, "it answers something else than it was asked")),
        }
    }

    fn done(&mut self, limit: Duration, is_stopped: &dyn Fn() -> bool) -> Result<Report> {
        match self.answer(limit, is_stopped)? {
            Answer::Done(report) => Ok(*report),
            Answer::Failed(why) => Err(failed(self.role, &why)),
            _ => Err(failed(self.role, "it answers something else than it was asked")),
        }
    }

    /// The next answer; what is not the agent's is not read.
    fn answer(&mut self, limit: Duration, is_stopped: &dyn Fn() -> bool) -> Result<Answer> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.answers.next(left.min(STEP)) {
                Next::End => return Err(failed(self.role, "it ended before its time")),
                Next::Nothing if is_stopped() => return Err(RemoteError::Stopped),
                Next::Nothing if left.is_zero() => {
                    return Err(failed(self.role, "it does not answer"));
                }
                Next::Nothing => {}
                Next::Line(line) => match message_of(&line) {
                    None => {}
                    Some(Ok(answer)) => return Ok(answer),
                    Some(Err(damaged)) => return Err(failed(self.role, &damaged.to_string())),
                },
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // The end of its input ends it; the local half of the connection is not waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

fn failed(role: &'static str, why: &str) -> RemoteError {
    let remedy = "look at the host's log";
    RemoteError::failed(FailureKind::TesterFailed, role, format!("the agent failed: {why}"), remedy)
}

#[cfg(test)]
mod tests {
    use fwdlab_agent::order::Counted;

    use super::*;

    #[test]
    fn few_stamps_and_a_clock_that_was_set_are_doubts() {
        let stamps = |stamped, backwards| StampFigures {
            probes: 1_000,
            stamped,
            backwards,
            ..StampFigures::default()
        };
        assert_eq!(doubts(&stamps(500, 0)), [""; 0]);
        let both = doubts(&stamps(499, 3));
        assert!(both[0].contains("only 499 of 1000") && both[1].ends_with("left: 3"), "{both:?}");
    }

    #[test]
    fn a_tester_that_was_held_up_is_not_taken_for_a_slow_one() {
        let interval = |ns, sent| Counted { ns, sent, received: sent };
        let intervals =
            vec![interval(80_000_000, 400), interval(20_000_000, 2_000), interval(0, 9)];
        let report = Report { sent: 2_409, intervals, ..Report::default() };
        assert_eq!(best_rate(&report), Some(100_000.0));
        assert_eq!(best_rate(&Report::default()), None);
    }
}
