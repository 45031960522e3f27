//! Devices under test: what runs one trial and says what was counted.
//!
//! A [`Device`] is told which variant to apply and which traffic to send. It answers with raw
//! counts from both sides; whether they add up is judged by the runner, the same for all devices.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::experiment::{Experiment, Traffic, Variant};
use crate::profile::{Profiled, perf};
use crate::results::{Checks, Interval, LatencyAt, LatencyFigures, RateSearch, TrialEnvironment};

mod builtin;
#[cfg(target_os = "linux")]
pub mod linux;
pub(crate) mod pulse;
#[cfg(target_os = "linux")]
pub mod vm;

pub use builtin::Builtin;
#[cfg(target_os = "linux")]
pub use linux::Linux;

/// A device and the tester around it.
pub trait Device {
    /// Facts about the device that hold for the whole campaign, for `environment.json`.
    fn settings(&self) -> BTreeMap<String, String>;

    /// Tells the device in which results directory it may keep what explains a FAILED trial.
    fn keep_logs_in(&mut self, _dir: &Path) {}

    /// Applies the variant, sends the traffic, and returns what was counted.
    ///
    /// # Errors
    /// When the trial could not be run to its end; it is then recorded as FAILED and the campaign
    /// goes on.
    fn run(
        &mut self,
        request: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError>;

    /// As [`Device::run`], with a sampling profiler beside it, `frequency_hz` samples a second.
    /// What a device does not say otherwise: the whole machine is sampled, by
    /// [perf](crate::profile::perf), kernel and user stacks.
    ///
    /// # Errors
    /// Those of [`Device::run`], or when the profiler is missing or not allowed.
    fn profile(
        &mut self,
        request: &Request<'_>,
        frequency_hz: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let recording = perf::Recording::start(frequency_hz)?;
        let measured = self.run(request, watch)?;
        let stacks = recording.finish()?;
        Ok(Profiled { measured, stacks, profiler: perf::NAME.to_owned() })
    }
}

/// One trial to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The experiment that it belongs to: routes, durations.
    pub experiment: &'a Experiment,
    /// What to set on the device.
    pub variant: &'a Variant,
    /// What to send.
    pub traffic: &'a Traffic,
}

/// How the caller follows a trial while it runs, and stops it.
pub struct Watch<'a> {
    /// Called at the end of each interval.
    pub on_interval: &'a mut dyn FnMut(&Interval),
    /// Set when the campaign is to stop, for example by Ctrl-C.
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Whether the trial is to end now.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What both sides counted in one trial. Nothing in it is derived or trimmed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Counts per interval, start-up and tail included.
    pub intervals: Vec<Interval>,
    /// Frames that the tester sent.
    pub sent: u64,
    /// Frames that the tester received.
    pub received: u64,
    /// Distinct flows that the receiver saw.
    pub flows_seen: u64,
    /// Frames that the device received.
    pub device_received: u64,
    /// Frames that the device sent.
    pub device_sent: u64,
    /// Frames that the device dropped, by reason; reasons without a frame are left out.
    pub drops: BTreeMap<String, u64>,
    /// What the receiver found in the frames.
    pub checks: Checks,
    /// Nanoseconds that the device spent on polls which brought frames.
    pub busy_ns: u64,
    /// Frames in those polls.
    pub busy_frames: u64,
    /// Share of the measured time in which the device had nothing to do, 0 to 1.
    pub idle_share: f64,
    /// How the load was found, where it was searched for.
    pub search: Option<RateSearch>,
    /// Latency of the frames, where it was measured.
    pub latency: Option<LatencyFigures>,
    /// Latency at shares of the rate that was searched for.
    pub latency_at: Vec<LatencyAt>,
    /// What the device answers when asked for each setting of the variant.
    pub proof: BTreeMap<String, String>,
    /// State of the machine around the trial.
    pub environment: TrialEnvironment,
    /// Doubts about the trial.
    pub warnings: Vec<String>,
}

/// Why a trial could not be run to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The campaign was stopped during the trial, which does not count.
    #[error("stopped during the trial")]
    Stopped,
    /// The router refused its configuration.
    #[error("the built-in device refused its configuration: {0}")]
    Router(#[from] fwdlab_router::RouterError),
    /// The tester refused its traffic.
    #[error("the tester refused its traffic: {0}")]
    Traffic(#[from] fwdlab_traffic::TrafficError),
    /// Frame memory or threads could not be had.
    #[error("{0}")]
    Port(#[from] fwdlab_port::PortError),
    /// The profiler of a profiled trial failed.
    #[error(transparent)]
    Profiler(#[from] perf::PerfError),
    /// Namespaces, interfaces, routes or programs of the linux device could not be set up.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Topology(#[from] linux::topology::TopologyError),
    /// The device could not be set up.
    #[error("{what}")]
    Setup {
        /// What failed, on what, and what to do.
        what: String,
    },
    /// A virtual machine could not be booted, or did not finish.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Vm(#[from] vm::VmError),
    /// A rate search came to no result.
    #[error("the rate search found nothing: {what}")]
    Search {
        /// What is known about it.
        what: String,
    },
    /// A part of the device's thread ended early.
    #[error("the device's thread ended early: {what}")]
    Thread {
        /// What is known about it.
        what: String,
    },
}
