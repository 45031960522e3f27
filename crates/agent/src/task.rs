//! What the guest is to do: one file in its first file system.
//!
//! The guest is told everything before it boots. Nothing is sent to it afterwards, because the
//! moment of arrival would differ from boot to boot.

use std::collections::BTreeMap;
use std::fmt;

use fwdlab_results::Measure;
use serde::{Deserialize, Serialize};

/// Where the task lies in the guest.
pub const TASK_FILE: &str = "task.json";

/// Where the modules lie in the guest.
pub const MODULE_DIRECTORY: &str = "modules";

/// One trial as the guest is told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Names of the modules to load, in this order.
    pub modules: Vec<String>,
    /// Settings of the device below `/proc/sys`.
    pub sysctl: BTreeMap<String, String>,
    /// Words that other variants set and this one does not: read back where the guest has them.
    pub read: Vec<String>,
    /// nftables rules of the device.
    pub rules: Option<String>,
    /// The device's routes.
    pub routes: Vec<TaskRoute>,
    /// What to send.
    pub traffic: TaskTraffic,
    /// Each flow goes turned round as well, at the same time.
    #[serde(default)]
    pub both_ways: bool,
    /// The device has more than two ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<TaskMesh>,
    /// Its flows are sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<TaskSessions>,
    /// Length of the traffic before each of the two passes that are counted, in ns.
    pub warmup_ns: u64,
    /// Length of the traffic in ns.
    pub duration_ns: u64,
    /// Length of the traffic past the device in ns.
    pub cable_ns: u64,
    /// Length of an interval in ns.
    pub interval_ns: u64,
    /// Take a profile while frames go through the device, a sample every so many ns.
    pub profile_ns: Option<u64>,
    /// What sends.
    pub tester: GuestTester,
    /// Which clock the guest reads.
    pub clock: GuestClock,
    /// End once everything is set up and read back, and a few frames of each of [`from_state`](Self::from_state)
    /// were sent.
    pub is_rehearsal: bool,
    /// Stop the machine once everything is set up, so that its state can be kept, and do the one of these
    /// that the machine names when it goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_state: Vec<Task>,
}

impl Task {
    /// How many ports the device has.
    pub fn ports(&self) -> u16 {
        self.mesh.as_ref().map_or(2, |mesh| mesh.ports)
    }

    /// What the guest says when everything is set up that it was asked for.
    pub const SET_UP: &str = "was all set up";

    /// Most tasks of [`from_state`](Self::from_state): the machine names one by a byte.
    pub const MOST_FROM_STATE: usize = 256;

    /// The same with traffic, and intervals, no longer than the warm-up.
    #[must_use]
    pub fn of_warm_up(&self) -> Self {
        let (duration_ns, cable_ns) = (self.warmup_ns, self.warmup_ns);
        let interval_ns = self.interval_ns.min(self.warmup_ns);
        Self { duration_ns, cable_ns, interval_ns, ..self.clone() }
    }
}

/// A device with more than two ports: even ones on the side of the sources, odd ones on that of the destinations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMesh {
    /// How many ports it has.
    pub ports: u16,
    /// Which ends lie behind which port.
    pub behind: Vec<(u16, String)>,
}

/// One route of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRoute {
    /// Destination, without its length.
    pub destination: std::net::IpAddr,
    /// Length of the prefix.
    pub length: u8,
    /// The next router.
    pub gateway: std::net::IpAddr,
    /// The device's port towards it.
    pub port: u16,
}

/// The traffic, in the words of the experiment file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskTraffic {
    pub source: String,
    pub destination: String,
    /// Length of a frame, FCS included; the mean of a capture's.
    pub frame_bytes: u16,
    /// Order of the flows, or [`Captured::ORDER`].
    pub order: String,
    /// Frames per second; `None` is as many as the tester can.
    pub pps: Option<f64>,
    /// The capture whose frames are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Captured>,
}

/// Sessions that begin, each from an empty table of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSessions {
    /// What is taken of them.
    pub measure: Measure,
    /// Frames of each.
    pub lifetime: u32,
    /// They are of TCP.
    #[serde(default)]
    pub is_tcp: bool,
    /// How many are alive at once, where they come and go.
    #[serde(default)]
    pub concurrent: u64,
    /// Their frames go there and back in turns.
    #[serde(default)]
    pub both_ways: bool,
    /// Some variant's rules translate addresses, so that frames have marks.
    #[serde(default)]
    pub has_mark: bool,
}

/// A capture whose frames are sent instead of flows, between the traffic's ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Where the file lies for the agent.
    pub file: String,
    /// How many frames it gives until they begin again.
    pub frames: usize,
    /// They are sent at the times at which they were recorded.
    pub as_recorded: bool,
}

impl Captured {
    /// Stands for the order of the flows, so that an agent that knows no captures refuses it.
    pub const ORDER: &str = "recorded";
}

/// Where a capture lies in the guest.
pub const CAPTURE_FILE: &str = "capture";

/// What time is in the guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuestClock {
    /// Virtual time: each instruction of the guest takes 1 ns, and the time in which it has
    /// nothing to do passes at once. Repeatable on any machine, blind to caches and memory.
    #[default]
    Instructions,
    /// The host's time, with hardware virtualisation where it works.
    Wall,
}

impl GuestClock {
    /// Every clock.
    pub const ALL: [Self; 2] = [Self::Instructions, Self::Wall];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Wall => "wall",
        }
    }

    /// What a figure taken with this clock means, for the report.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Instructions => {
                "virtual time: 1 ns is one guest instruction, so that figures are instructions \
                 per frame; caches, memory and the processor's width do not count"
            }
            Self::Wall => "the host's time",
        }
    }
}

impl fmt::Display for GuestClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What sends in the guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuestTester {
    /// fwdlab's own tester, through packet sockets: every flow in order, every frame checked.
    #[default]
    Fwdlab,
    /// The kernel's own generator: less of the processor's time is the tester's, and frames are
    /// counted, not looked into.
    Pktgen,
}

impl GuestTester {
    /// Every tester.
    pub const ALL: [Self; 2] = [Self::Fwdlab, Self::Pktgen];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fwdlab => "fwdlab",
            Self::Pktgen => "pktgen",
        }
    }
}

impl fmt::Display for GuestTester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
