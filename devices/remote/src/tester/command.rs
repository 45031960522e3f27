//! Any program as the tester: it prints what it counts as JSON, one object a line.
//!
//! ```text
//! {"ready": true}                                    interfaces are open
//! {"interval": {"ms": 100.0, "tx": 5000, "rx": 4990}}  one interval, in order; "start_ns" if receiver
//!                                                     and sender are two programs; "rx" of who
//!                                                     receives, "tx" where it is counted
//! {"total": {"sent": 50000, "received": 49900}}      at the end
//! {"failed": "why"}                                  instead
//! ```
//!
//! Other lines are messages for people.

use std::time::Duration;

use fwdlab_counters::{HostCounts, aligned};
use serde::Deserialize;

use super::process::{Log, Process, failed};
use super::{Counts, Generator, Hosts, Task};
use crate::{RemoteError, Result};
use fwdlab_results::Interval;

/// How long a program may take until it is ready.
const OPENING: Duration = Duration::from_secs(60);
/// How long the receiver goes on when the sender has stopped.
const DRAIN: Duration = Duration::from_millis(200);

/// What stands for the order of the flows.
pub(super) const ORDER: &str = "{order}";

/// The programs of the testbed file.
#[derive(Debug, Default)]
pub struct JsonLines {
    log: Log,
}

/// One line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Ready(#[expect(dead_code, reason = "that it stands there says all")] bool),
    Interval(Counted),
    Total(Total),
    Failed(String),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    ms: f64,
    tx: Option<u64>,
    rx: Option<u64>,
    start_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    sent: Option<u64>,
    received: Option<u64>,
}

/// Everything that a program has said.
#[derive(Debug, Default)]
struct Said {
    intervals: Vec<Counted>,
    total: Total,
}

impl Generator for JsonLines {
    fn run(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts> {
        self.log.take();
        let limit = OPENING * 2 + task.duration * 2 + Duration::from_secs(30);
        let generator = &task.testbed.generator;
        let is_ready = |_: &Process, line: &str| matches!(parse(line), Some(Ok(Line::Ready(_))));
        let mut receiver = None;
        if !generator.receive.is_empty() {
            let words = filled(&generator.receive, task);
            let mut process = Process::start(hosts.receiver(), &words, limit, &self.log)?;
            if !process.wait_for(OPENING, is_stopped, is_ready)? {
                return Err(unready(hosts.receiver().role(), &process));
            }
            receiver = Some(process);
        }
        let role = hosts.tester.role();
        let mut sender =
            Process::start(&hosts.tester, &filled(&generator.send, task), limit, &self.log)?;
        if !sender.wait_for(OPENING, is_stopped, is_ready)? {
            return Err(unready(role, &sender));
        }
        sender.wait_for(task.duration * 2 + OPENING, is_stopped, |_, _| false)?;
        match sender.status {
            Some(0) => {}
            Some(_) => return Err(unready(role, &sender)),
            None => return Err(failed(role, "it does not end when its time is up")),
        }
        let sent = Said::read(role, &sender.text)?;
        let Some(mut receiver) = receiver else { return alone(role, &sent) };
        receiver.wait_for(DRAIN, is_stopped, |_, _| false)?;
        receiver.stop(is_stopped)?;
        let role = hosts.receiver().role();
        both(&sent, role, &Said::read(role, &receiver.text)?)
    }

    fn last_words(&mut self) -> Vec<String> {
        self.log.take()
    }

    fn facts(&self) -> Vec<(String, String)> {
        vec![("tester".to_owned(), "a command of the testbed file".to_owned())]
    }
}

fn unready(role: &'static str, process: &Process) -> RemoteError {
    let said = process.text.lines().rev().find(|line| !line.trim().is_empty());
    let status = process.status.map_or("does not say that it is ready".to_owned(), |status| {
        format!("ended with {status}")
    });
    failed(role, &format!("it {status}; its last words: {:?}", said.unwrap_or("none")))
}

/// A line that is ours.
fn parse(line: &str) -> Option<Result<Line, String>> {
    let line = line.trim();
    line.starts_with('{').then(|| serde_json::from_str(line).map_err(|error| error.to_string()))
}

impl Said {
    fn read(role: &'static str, text: &str) -> Result<Self> {
        let mut said = Self::default();
        for (number, line) in text.lines().enumerate() {
            let Some(line) = parse(line) else { continue };
            let wrong =
                |why: String| failed(role, &format!("line {} of its output: {why}", number + 1));
            match line.map_err(wrong)? {
                Line::Ready(_) => {}
                Line::Interval(counted) if counted.ms.is_finite() && counted.ms > 0.0 => {
                    said.intervals.push(counted);
                }
                Line::Interval(_) => {
                    return Err(wrong("an interval that does not last".to_owned()));
                }
                Line::Total(total) => said.total = total,
                Line::Failed(why) => return Err(failed(role, &why)),
            }
        }
        Ok(said)
    }

    /// Frames received in each interval: of the program that receives, all of them must say so.
    fn received(&self, role: &'static str) -> Result<Vec<u64>> {
        let rx = |(number, counted): (usize, &Counted)| {
            let missing = || failed(role, &format!("interval {number} of its output has no rx"));
            counted.rx.ok_or_else(missing)
        };
        (1..).zip(&self.intervals).map(rx).collect()
    }

    /// Frames by interval, with when the first began; nothing when it does not say.
    fn series(&self, frames: &[u64]) -> Option<HostCounts> {
        let began_ns = i128::from(self.intervals.first()?.start_ns?);
        let lengths = self.intervals.iter().map(|counted| (counted.ms * 1e6) as u64);
        Some(HostCounts { began_ns, intervals: lengths.zip(frames.iter().copied()).collect() })
    }
}

/// One program that sends and receives.
fn alone(role: &'static str, said: &Said) -> Result<Counts> {
    let rx = said.received(role)?;
    let interval = |(counted, rx): (&Counted, &u64)| Interval {
        ms: counted.ms,
        tx: counted.tx,
        rx: *rx,
        ..Interval::default()
    };
    Ok(Counts {
        intervals: said.intervals.iter().zip(&rx).map(interval).collect(),
        sent: said.total.sent,
        received: said.total.received.unwrap_or_else(|| rx.iter().sum()),
        ..Counts::default()
    })
}

/// A program that sends and one that receives, which is that of `role`.
fn both(sent: &Said, role: &'static str, received: &Said) -> Result<Counts> {
    let untold = || failed(role, "two programs must say start_ns in their first interval");
    let rx = received.received(role)?;
    let tx: Option<Vec<u64>> = sent.intervals.iter().map(|counted| counted.tx).collect();
    let sender = match tx.filter(|tx| !tx.is_empty()) {
        Some(tx) => sent.series(&tx).ok_or_else(untold)?,
        None => HostCounts::default(),
    };
    let intervals = aligned(&sender, &received.series(&rx).ok_or_else(untold)?);
    Ok(Counts {
        intervals,
        sent: sent.total.sent,
        received: received.total.received.unwrap_or_else(|| rx.iter().sum()),
        ..Counts::default()
    })
}

/// The arguments with what the traffic is in place of their placeholders.
fn filled(words: &[String], task: &Task<'_>) -> Vec<String> {
    let Task { testbed, traffic, .. } = *task;
    let values = [
        ("{out}", testbed.out().name.clone()),
        ("{back}", testbed.back().name.clone()),
        ("{source-mac}", testbed.out().mac.to_string()),
        ("{device-mac}", testbed.dut.ports[0].mac.to_string()),
        ("{source}", traffic.source.to_string()),
        ("{destination}", traffic.destination.to_string()),
        ("{frame}", traffic.frame_bytes.to_string()),
        ("{pps}", task.pps.map_or("max".to_owned(), |pps| format!("{pps:.0}"))),
        ("{seconds}", task.duration.as_secs_f64().to_string()),
        (ORDER, traffic.order.to_string()),
        ("{interval-ms}", task.interval.as_millis().to_string()),
    ];
    let fill = |word: &String| {
        values.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value))
    };
    words.iter().map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_lines_become_counts_and_other_lines_are_for_people() {
        let text = "Starting up\n{\"ready\": true}\n{\"interval\": {\"ms\": 100.0, \"tx\": 10, \
                    \"rx\": 9}}\n{\"total\": {\"sent\": 10}}\n";
        let counts = alone("tester", &Said::read("tester", text).expect("readable"));
        let counts = counts.expect("counts");
        assert_eq!((counts.sent, counts.received, counts.intervals.len()), (Some(10), 9, 1));
    }

    #[test]
    fn what_a_program_does_not_count_is_absent_and_not_0() {
        let said = |text: &str| Said::read("tester", text).expect("readable");
        let deaf = said("{\"interval\": {\"ms\": 100.0, \"tx\": 10}}\n");
        let error = alone("tester", &deaf).expect_err("who receives must count");
        assert!(error.to_string().contains("interval 1 of its output has no rx"), "{error}");
        let silent = said("{\"interval\": {\"ms\": 100.0, \"rx\": 9}}\n");
        let counts = alone("tester", &silent).expect("counts");
        assert_eq!((counts.sent, counts.intervals[0].tx, counts.received), (None, None, 9));
        let receiver = said("{\"interval\": {\"ms\": 100.0, \"rx\": 9, \"start_ns\": 5}}\n");
        let counts = both(&said("{\"total\": {\"sent\": 10}}\n"), "receiver", &receiver);
        let counts = counts.expect("counts");
        assert_eq!((counts.sent, counts.intervals[0].tx, counts.received), (Some(10), None, 9));
        let untimed = both(&deaf, "receiver", &receiver).expect_err("when did it begin?");
        assert!(untimed.to_string().contains("start_ns"), "{untimed}");
    }

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let wrong = [
            "{\"interval\": {\"ms\": 0, \"rx\": 1}}",
            "{\"interval\": {\"rx\": 1}}",
            "{\"intervals\": []}",
            "{\"failed\": \"no port\"}",
        ];
        for line in wrong {
            let error = Said::read("tester", &format!("hello\n{line}\n")).expect_err(line);
            assert!(error.to_string().contains("line 2") || line.contains("failed"), "{error}");
        }
    }
}
