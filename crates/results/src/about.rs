//! What a device is, as its campaign records it.

use serde::{Deserialize, Serialize};

/// What a device is, in words for the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The line of the report that says what was measured.
    pub line: String,
    /// Name of the fact of the device that the line ends with, if one is part of what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// What joins tester and device.
    pub link: Link,
    /// The command that makes such results, where it is not `fwdlab run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What its clock counts.
    #[serde(default, skip_serializing_if = "Tick::is_nanosecond")]
    pub tick: Tick,
}

/// What a device's clock counts, and with it what a frame costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tick {
    /// Time.
    #[default]
    Nanosecond,
    /// Instructions of the device's processor: a second is 10^9 of them.
    Instruction,
}

impl Tick {
    /// Whether the clock counts time.
    pub const fn is_nanosecond(&self) -> bool {
        matches!(self, Self::Nanosecond)
    }

    /// The unit of what is counted: `ns` or `instructions`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanosecond => "ns",
            Self::Instruction => "instructions",
        }
    }

    /// The unit of a device cost at the head of a column: `ns/frame`.
    pub const fn each(self) -> &'static str {
        match self {
            Self::Nanosecond => "ns/frame",
            Self::Instruction => "instructions/frame",
        }
    }

    /// The unit of a device cost in words: `ns per frame`.
    pub const fn per_frame(self) -> &'static str {
        match self {
            Self::Nanosecond => "ns per frame",
            Self::Instruction => "instructions per frame",
        }
    }
}

impl About {
    /// What can be said of a device whose record says no more than its name.
    pub fn unknown(name: &str) -> Self {
        Self {
            line: format!("Device: {name}"),
            fact: None,
            link: Link::Wire,
            command: None,
            tick: Tick::default(),
        }
    }
}

/// Which machines a campaign runs on: results of different ones are never mixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestbedMark {
    /// The testbed's name.
    pub name: String,
    /// A digest of what makes it this one: systems, ports, tester. Addresses and accounts are no
    /// part of it.
    pub fingerprint: String,
}

/// What joins tester and device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// Memory: no line rate bounds it.
    Memory,
    /// Virtual Ethernet.
    Veth,
    /// A wire, or what stands for one.
    Wire,
}

impl Link {
    /// Whether a rate over it can be held against the line rates of Ethernet.
    pub const fn has_line_rate(self) -> bool {
        !matches!(self, Self::Memory)
    }

    /// What it is called in a figure.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory ring",
            Self::Veth | Self::Wire => "link",
        }
    }
}
