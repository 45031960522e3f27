//! What the figure of a trial is.

use std::fmt;

use fwdlab_stats::Direction;
use serde::{Deserialize, Serialize};

use crate::Tick;

/// What the figure of a trial is: what the device forwards of a given load, the highest load that
/// it forwards well enough, or what it does where that load ends.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Forwarding rate at the load asked for.
    #[default]
    Rate,
    /// Maximum receive rate (MRR): what is forwarded of all that the tester can send.
    Mrr,
    /// Non-drop rate (NDR): the highest load without loss.
    Ndr,
    /// Partial drop rate (PDR): the highest load with a loss of at most 0.5 %.
    Pdr,
    /// Throughput by RFC 2544, section 26.1: the highest load without loss, by plain binary search.
    Throughput,
    /// Frame loss rate by RFC 2544, section 26.3: what is lost at each of many loads.
    LossCurve,
    /// Back-to-back frames by RFC 2544, section 26.4, and RFC 9004: the longest burst without loss.
    BackToBack,
    /// System recovery by RFC 2544, section 26.5: how long loss goes on after an overload.
    Recovery,
    /// Reset by RFC 2544, section 26.6: how long no frame comes through when the device starts anew.
    Reset,
    /// A load below the non-drop rate for long, every loss dated.
    Soak,
    /// What the first frame of a session costs the device, which notes the session.
    Insertion,
    /// What each later frame of a session costs it, which finds the session again.
    Lookup,
    /// New sessions that still come through when the table of sessions is full.
    FullTable,
    /// How long routes take to change for all frames (RFC 6413, RFC 7747).
    Convergence,
    /// What streams of real stacks carry through the device.
    Goodput,
    /// What a byte of such streams costs the device.
    ByteCost,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 16] = [
        Self::Rate,
        Self::Mrr,
        Self::Ndr,
        Self::Pdr,
        Self::Throughput,
        Self::LossCurve,
        Self::BackToBack,
        Self::Recovery,
        Self::Reset,
        Self::Soak,
        Self::Insertion,
        Self::Lookup,
        Self::FullTable,
        Self::Convergence,
        Self::Goodput,
        Self::ByteCost,
    ];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Mrr => "mrr",
            Self::Ndr => "ndr",
            Self::Pdr => "pdr",
            Self::Throughput => "throughput",
            Self::LossCurve => "loss-curve",
            Self::BackToBack => "back-to-back",
            Self::Recovery => "recovery",
            Self::Reset => "reset",
            Self::Soak => "soak",
            Self::Insertion => "insertion",
            Self::Lookup => "lookup",
            Self::FullTable => "full-table",
            Self::Convergence => "convergence",
            Self::Goodput => "goodput",
            Self::ByteCost => "byte-cost",
        }
    }

    /// What the figure is called in reports.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rate => "forwarding rate",
            Self::Mrr => "maximum receive rate",
            Self::Ndr => "non-drop rate",
            Self::Pdr => "partial drop rate",
            Self::Throughput => "throughput",
            Self::LossCurve => "forwarding rate over the loss curve",
            Self::BackToBack => "longest burst without loss",
            Self::Recovery => "recovery time",
            Self::Reset => "reset time",
            Self::Soak => "time without loss",
            Self::Insertion => "cost of a new session",
            Self::Lookup => "cost of a frame of a known session",
            Self::FullTable => "new sessions through a full table",
            Self::Convergence => "full convergence time",
            Self::Goodput => "goodput of the streams",
            Self::ByteCost => "device cost of a byte",
        }
    }

    /// The unit of the figure.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rate | Self::Mrr | Self::Ndr | Self::Pdr | Self::Throughput | Self::LossCurve => {
                "frames/s"
            }
            Self::BackToBack => "frames",
            Self::Recovery | Self::Reset | Self::Soak | Self::Convergence => "s",
            Self::Insertion => "ns/session",
            Self::Lookup => "ns/frame",
            Self::FullTable => "sessions/s",
            Self::Goodput => "bit/s",
            Self::ByteCost => "ns/byte",
        }
    }

    /// The unit where the device's clock counts in this.
    pub const fn unit_in(self, tick: Tick) -> &'static str {
        match (self, tick) {
            (Self::Insertion, Tick::Instruction) => "instructions/session",
            (Self::Lookup, Tick::Instruction) => tick.each(),
            _ => self.unit(),
        }
    }

    /// Which way the figure is better.
    pub const fn direction(self) -> Direction {
        match self {
            Self::Recovery
            | Self::Reset
            | Self::Insertion
            | Self::Lookup
            | Self::Convergence
            | Self::ByteCost => Direction::LowerIsBetter,
            _ => Direction::HigherIsBetter,
        }
    }

    /// Whether its figure is one of its own, beside the forwarding rate: a
    /// [`Benchmark`](crate::Benchmark) has it.
    pub const fn is_benchmark(self) -> bool {
        matches!(
            self,
            Self::LossCurve
                | Self::BackToBack
                | Self::Recovery
                | Self::Reset
                | Self::Soak
                | Self::Convergence
        ) || self.is_of_sessions()
            || self.is_of_streams()
    }

    /// Whether it is taken of a device that tracks sessions.
    pub const fn is_of_sessions(self) -> bool {
        matches!(self, Self::Insertion | Self::Lookup | Self::FullTable)
    }

    /// Whether it is taken of streams through the device.
    pub const fn is_of_streams(self) -> bool {
        matches!(self, Self::Goodput | Self::ByteCost)
    }

    /// The share of the frames that may be lost where a rate is searched for, 0 to 1; also where the
    /// measure begins with one.
    pub const fn loss_ratio(self) -> Option<f64> {
        match self {
            Self::Ndr | Self::Throughput | Self::Recovery | Self::Soak => Some(0.0),
            Self::Pdr => Some(0.005),
            _ => None,
        }
    }

    /// Whether this is what trials of a fixed load yield; for serde.
    pub(crate) fn is_rate(&self) -> bool {
        *self == Self::Rate
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
