//! pkt-gen of netmap on the tester's hosts; its logs are read as those of published results.

use std::time::Duration;

use fwdlab_counters::{HostCounts, aligned};
use fwdlab_experiment::Endpoint;
use fwdlab_netbenches::pktgen::PktgenLog;

use super::process::{Log, Process, failed};
use super::{Counts, Generator, Hosts, Task};
use crate::Result;
use crate::testbed::Testbed;

/// How long pkt-gen may take to open its port.
const OPENING: Duration = Duration::from_secs(30);
/// How long the receiver goes on when the sender has stopped.
const DRAIN: Duration = Duration::from_millis(1_500);

/// It says what it counted once a second; a log in which it has said nothing is that of a run that broke.
const SHORTEST: Duration = Duration::from_millis(1_500);

/// pkt-gen as sender and receiver.
#[derive(Debug, Default)]
pub struct Netmap {
    log: Log,
}

impl Generator for Netmap {
    fn run(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts> {
        self.log.take();
        let limit = OPENING * 2 + task.duration + DRAIN + Duration::from_secs(10);
        let (receive, send) = commands(task);
        let mut receiver = Process::start(hosts.receiver(), &receive, limit, &self.log)?;
        let is_ready = |_: &Process, line: &str| line.contains("Ready...");
        let role = hosts.receiver().role();
        if !receiver.wait_for(OPENING, is_stopped, is_ready)? {
            return Err(failed(role, &last_words(&receiver.text)));
        }
        let mut sender = Process::start(&hosts.tester, &send, limit, &self.log)?;
        if !sender.wait_for(OPENING, is_stopped, is_ready)? {
            return Err(failed(hosts.tester.role(), &last_words(&sender.text)));
        }
        sender.wait_for(task.duration, is_stopped, |_, _| false)?;
        if sender.status.is_some() {
            return Err(failed(hosts.tester.role(), &last_words(&sender.text)));
        }
        sender.stop(is_stopped)?;
        receiver.wait_for(DRAIN, is_stopped, |_, _| false)?;
        receiver.stop(is_stopped)?;
        let is_one_host = hosts.receiver.is_none();
        counts(task.testbed, &sender.text, &receiver.text, is_one_host)
    }

    fn shortest(&self) -> Duration {
        SHORTEST
    }

    fn last_words(&mut self) -> Vec<String> {
        self.log.take()
    }

    fn facts(&self) -> Vec<(String, String)> {
        vec![("tester".to_owned(), "pkt-gen of netmap".to_owned())]
    }
}

/// What both logs say.
fn counts(testbed: &Testbed, sender: &str, receiver: &str, is_one_host: bool) -> Result<Counts> {
    let read = |text: &str, role| {
        let log =
            PktgenLog::read(text.as_bytes()).map_err(|error| failed(role, &error.to_string()))?;
        match log.failure() {
            Some(problem) => Err(failed(role, &problem.to_string())),
            None => Ok(log),
        }
    };
    let sent = read(sender, testbed.tester.role)?;
    let received = read(receiver, testbed.receiver().role)?;
    let mut counts = Counts {
        intervals: aligned(&series(&sent), &series(&received)),
        sent: sent.total,
        received: received.total.unwrap_or_else(|| frames(&received)),
        ..Counts::default()
    };
    if !is_one_host {
        let warning = "what was sent in each interval rests on the clocks of two hosts";
        counts.warnings.push(warning.to_owned());
    }
    if received.total.is_none() {
        let warning = "the receiver ended without a summary: its intervals are added up";
        counts.warnings.push(warning.to_owned());
    }
    Ok(counts)
}

fn frames(log: &PktgenLog) -> u64 {
    log.readings.iter().map(|reading| reading.packets).sum()
}

/// Readings say when they ended, in µs modulo 1000 s.
fn series(log: &PktgenLog) -> HostCounts {
    let length = |reading: &fwdlab_netbenches::pktgen::Reading| match reading.length_us {
        0 => 1_000_000,
        us => us,
    };
    let began =
        log.readings.first().map(|first| i128::from(first.end_us) - i128::from(length(first)));
    let intervals = log.readings.iter().map(|reading| {
        let frames = if reading.packets > 0 { reading.packets } else { reading.pps };
        (length(reading) * 1_000, frames)
    });
    HostCounts { began_ns: began.unwrap_or(0) * 1_000, intervals: intervals.collect() }
}

/// The argument lists of receiver and sender.
fn commands(task: &Task<'_>) -> (Vec<String>, Vec<String>) {
    let Task { testbed, traffic, .. } = *task;
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let receive = words(&format!("pkt-gen -N -f rx -i netmap:{} -w 2", testbed.back().name));
    let rate = task.pps.map_or(String::new(), |pps| format!(" -R {pps:.0}"));
    let send = words(&format!(
        "pkt-gen -N -f tx -i netmap:{} -w 2 -S {} -D {} -s {} -d {} -l {}{rate}",
        testbed.out().name,
        testbed.out().mac,
        testbed.dut.ports[0].mac,
        range(&traffic.source),
        range(&traffic.destination),
        // pkt-gen counts without the FCS.
        traffic.frame_bytes - 4,
    ));
    (receive, send)
}

/// Addresses and ports as pkt-gen writes them.
fn range(end: &Endpoint) -> String {
    format!("{}:{}-{}:{}", end.first(), end.port(), end.last(), end.last_port())
}

fn last_words(text: &str) -> String {
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    format!("pkt-gen ended with {:?}", last.unwrap_or("nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_both_sides_become_intervals_of_the_receiver() {
        let sender = "10.000000 main [2552] Ready...\n\
            11.000000 main_thread [2781] 1000 pps (1000 pkts 480000 bps in 1000000 usec) 512.00 avg_batch 0 min_space\n\
            12.000000 main_thread [2781] 1000 pps (1000 pkts 480000 bps in 1000000 usec) 512.00 avg_batch 0 min_space\n\
            Sent 2000 packets 120000 bytes 4 events 60 bytes each 512.00 avg_batch in 2.00 seconds.\n";
        let receiver = "10.500000 main_thread [2781] 400 pps (400 pkts 192000 bps in 1000000 usec) 1.00 avg_batch 99999 min_space\n\
            11.500000 main_thread [2781] 900 pps (900 pkts 432000 bps in 1000000 usec) 1.00 avg_batch 99999 min_space\n";
        let (sent, received) = (
            PktgenLog::read(sender.as_bytes()).expect("a log"),
            PktgenLog::read(receiver.as_bytes()).expect("a log"),
        );
        let intervals = aligned(&series(&sent), &series(&received));
        let both: Vec<_> = intervals.iter().map(|i| (i.tx, i.rx)).collect();
        assert_eq!(both, [(Some(500), 400), (Some(1000), 900)]);
        assert_eq!(frames(&received), 1300);
    }
}
