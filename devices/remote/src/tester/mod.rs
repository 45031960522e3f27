//! What sends and counts: fwdlab's own agent, pkt-gen, or any command.

mod agent;
mod captures;
mod command;
mod order;
mod pktgen;
mod process;
pub mod streams;

use std::time::Duration;

use fwdlab_device::Request;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_results::{Checks, Interval, LatencyFigures, StampFigures};

pub use agent::Agents;
pub use command::JsonLines;
pub use order::{check_captures, check_latency, check_makers, check_order};
pub use pktgen::Netmap;
pub use streams::check_streams;

use crate::Result;
use crate::host::Connected;
use crate::testbed::Testbed;

/// One traffic to send.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Machines and ports.
    pub testbed: &'a Testbed,
    /// The experiment, beside whose file captures lie.
    pub experiment: &'a Experiment,
    /// What to send.
    pub traffic: &'a Traffic,
    /// Frames per second, if not as many as possible.
    pub pps: Option<f64>,
    /// How long.
    pub duration: Duration,
    /// Length of an interval.
    pub interval: Duration,
}

impl<'a> Task<'a> {
    /// The counted part of a trial.
    pub fn of(testbed: &'a Testbed, request: &Request<'a>) -> Self {
        let Request { experiment, traffic, .. } = *request;
        Self {
            testbed,
            experiment,
            traffic,
            pps: traffic.offered_pps(),
            duration: experiment.duration,
            interval: experiment.interval,
        }
    }

    /// The same traffic as long as a warm-up.
    #[must_use]
    pub fn of_warm_up(self, warmup: Duration) -> Self {
        Self { duration: warmup, interval: self.interval.min(warmup), ..self }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Intervals by the receiver's clock.
    pub intervals: Vec<Interval>,
    /// Frames sent.
    pub sent: Option<u64>,
    /// Frames received.
    pub received: u64,
    /// Distinct flows received.
    pub flows_seen: Option<u64>,
    /// What was found in the frames.
    pub checks: Option<Checks>,
    /// How long frames took, where that was asked for.
    pub latency: Option<LatencyFigures>,
    /// By which stamps.
    pub stamps: Option<StampFigures>,
    /// Frames a second that the tester reached, where it was asked for more and nothing but itself held it up.
    pub reached_pps: Option<f64>,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// The hosts of the tester: the one that sends, and the one that receives where it is another.
#[derive(Debug)]
pub struct Hosts {
    /// Sends.
    pub tester: Connected,
    /// Receives.
    pub receiver: Option<Connected>,
}

impl Hosts {
    /// The host that receives.
    pub fn receiver(&mut self) -> &mut Connected {
        self.receiver.as_mut().unwrap_or(&mut self.tester)
    }

    /// All of them.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Connected> {
        [&mut self.tester].into_iter().chain(&mut self.receiver)
    }
}

/// A tester on its hosts.
pub trait Generator {
    /// Sends one traffic and counts. The receiver is ready before the first frame leaves.
    ///
    /// # Errors
    /// When a program ends before its time, or says what nobody understands.
    fn run(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts>;

    /// Whether a few frames can be sent before each trial to see that they come through.
    fn can_probe(&self) -> bool {
        false
    }

    /// The most frames per second that it sends without a device, if it can say.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn limit(&mut self, _: &mut Hosts, _: &Task<'_>, _: &dyn Fn() -> bool) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The shortest run of which it can say anything.
    fn shortest(&self) -> Duration {
        Duration::ZERO
    }

    /// What its programs have said so far that is no answer, with the host's role before each line.
    fn last_words(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What it is, for the record.
    fn facts(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
