//! What the agent is told and what it answers, one line each (see [`crate::channel`]).

use serde::{Deserialize, Serialize};

use fwdlab_results::{Checks, LatencyFigures};

use crate::task::TaskTraffic;

/// One order. Those of one agent are worked off one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Say what time it is.
    Clock,
    /// Send, receive, or both.
    Traffic(Box<TrafficOrder>),
    /// Say which time stamps can be had.
    Stamps(Box<StampOrder>),
    /// End what is being done, and say what was counted.
    Stop,
}

/// By whose clock frames are stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampClock {
    /// The card's.
    Hardware,
    /// The kernel's.
    Software,
}

/// How the time of a sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamping {
    /// By whose stamps.
    pub by: StampClock,
    /// Frames a second that are expected to leave, where that is known: so many of them are the sample.
    pub pps: Option<f64>,
}

/// Ports whose time stamps are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampOrder {
    /// The interface that sends in trials.
    pub out: String,
    /// The interface that receives in trials.
    pub back: String,
    /// Two more interfaces, joined by a cable.
    pub cable: Option<[CablePort; 2]>,
}

/// One end of a cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CablePort {
    /// The interface.
    pub name: String,
    /// Its address.
    pub mac: String,
}

/// Which time stamps can be had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampProof {
    /// Whose they are.
    pub by: StampClock,
    /// How long frames took over the cable by them.
    pub floor: Option<LatencyFigures>,
    /// Why these.
    pub why: String,
}

/// What time stamps have shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// Whose they are.
    pub by: StampClock,
    /// Frames of the sample that were sent.
    pub probes: u64,
    /// Those that have a stamp on both sides.
    pub stamped: u64,
    /// Those that would have arrived before they left, because a clock was set.
    pub backwards: u64,
    /// How long they took, where any have.
    pub figures: Option<LatencyFigures>,
}

/// Frames to send and to receive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrafficOrder {
    /// Which half of the tester it is.
    pub role: Role,
    /// The interface to send on; empty for a receiver.
    pub out: String,
    /// The interface to receive on; empty for a sender.
    pub back: String,
    /// MAC address of the tester's sending interface.
    pub source_mac: String,
    /// MAC address of the device's port.
    pub device_mac: String,
    /// MAC address of the tester's receiving interface.
    pub arrival_mac: String,
    /// What to send.
    #[serde(flatten)]
    pub traffic: TaskTraffic,
    /// How long to send, start-up included.
    pub duration_ns: u64,
    /// Length of an interval.
    pub interval_ns: u64,
    /// What makes the frames, where it is not fwdlab. Then interfaces count, and frames are not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker: Option<Maker>,
    /// Take the time of a sample of the frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<Stamping>,
    /// When to end at the latest, counted from the order's arrival.
    pub deadline_ns: u64,
}

/// Programs of others that make frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maker {
    /// The kernel's own generator.
    Pktgen,
    /// That of netsniff-ng.
    Trafgen,
}

/// Halves of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sends, and receives what comes back.
    Both,
    /// Sends only.
    Sender,
    /// Receives until it is told to stop.
    Receiver,
}

/// What the agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is there. The first answer of all.
    Here {
        /// The version of this program.
        version: String,
    },
    /// The host's time.
    Clock {
        /// Nanoseconds since 1970.
        ns: u64,
    },
    /// Which time stamps can be had.
    Stamps(Box<StampProof>),
    /// The interfaces are open: frames that arrive from now on are counted.
    Ready,
    /// What was counted; the last answer to a traffic.
    Done(Box<Report>),
    /// The order cannot be carried out; the last answer to it.
    Failed(String),
}

/// What one half of the tester counted, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// When the first interval began, by the host's clock, in ns since 1970.
    pub began_ns: u64,
    /// Intervals, one after the other.
    pub intervals: Vec<Counted>,
    /// Frames sent.
    pub sent: u64,
    /// Frames received.
    pub received: u64,
    /// Distinct flows received.
    pub flows_seen: u64,
    /// What was found in the frames.
    pub checks: Checks,
    /// What time stamps have shown, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probed: Option<Probed>,
    /// Doubts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Length.
    pub ns: u64,
    /// Frames sent in it.
    pub sent: u64,
    /// Frames received in it.
    pub received: u64,
}
