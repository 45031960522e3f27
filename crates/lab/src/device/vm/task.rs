//! What the guest is to do: one file in its first file system.
//!
//! The guest is told everything before it boots. Nothing is sent to it afterwards, because the
//! moment of arrival would differ from boot to boot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::experiment::{VmClock, VmTester};

/// Where the task lies in the guest.
pub(super) const TASK_FILE: &str = "task.json";

/// Where the modules lie in the guest.
pub(super) const MODULE_DIRECTORY: &str = "modules";

/// One trial as the guest is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    /// Names of the modules to load, in this order.
    pub(super) modules: Vec<String>,
    /// Modules that the task needs and that the kernel's files do not have.
    pub(super) absent: Vec<String>,
    /// Settings of the device below `/proc/sys`.
    pub(super) sysctl: BTreeMap<String, String>,
    /// nftables rules of the device.
    pub(super) rules: Option<String>,
    /// The device's routes.
    pub(super) routes: Vec<TaskRoute>,
    /// What to send.
    pub(super) traffic: TaskTraffic,
    /// Length of the traffic in ns, start-up included.
    pub(super) duration_ns: u64,
    /// Length of the traffic past the device in ns.
    pub(super) cable_ns: u64,
    /// Length of an interval in ns.
    pub(super) interval_ns: u64,
    /// Take a profile while frames go through the device, a sample every so many ns.
    pub(super) profile_ns: Option<u64>,
    /// What sends.
    pub(super) tester: VmTester,
    /// Which clock the guest reads.
    pub(super) clock: VmClock,
}

/// One route of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskRoute {
    /// Destination, without its length.
    pub(super) destination: std::net::IpAddr,
    /// Length of the prefix.
    pub(super) length: u8,
    /// The next router.
    pub(super) gateway: std::net::IpAddr,
    /// The device's port towards it.
    pub(super) port: u16,
}

/// The traffic, in the words of the experiment file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskTraffic {
    pub(super) source: String,
    pub(super) destination: String,
    pub(super) frame_bytes: u16,
    pub(super) order: String,
    /// Frames per second; `None` is as many as the tester can.
    pub(super) pps: Option<f64>,
}
