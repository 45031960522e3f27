//! What a trial failed by, where a machine or the way to it is to blame.

use serde::{Deserialize, Serialize};

/// Lines of a console that are kept of a failure.
pub const CONSOLE_LINES: usize = 100;

/// A failure of the machines around a trial, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What it was.
    pub kind: FailureKind,
    /// When it was noticed, UTC.
    pub at: String,
    /// What was done about it, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<String>,
    /// The last lines of the console of the machine, at most [`CONSOLE_LINES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub console: Vec<String>,
    /// What else the machines said of it, each line with its host's role before it: the device's kernel, and the
    /// tester's programs, at most [`CONSOLE_LINES`] of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The way to a host broke; the host itself went on.
    TransportLost,
    /// The device did not come back after the traffic had stopped.
    DutHung,
    /// The device booted in the middle of a trial.
    DutRebooted,
    /// A reboot that was asked for did not end in time.
    BootTimeout,
    /// A reboot that was asked for did not happen.
    SameBoot,
    /// What is set on the device is not what the variant says.
    ProofMismatch,
    /// A link of the test network went down.
    LinkLost,
    /// No frame came through the device before the trial began.
    NoTraffic,
    /// The tester broke.
    TesterFailed,
    /// The device could not be switched off and on.
    PowerFailed,
    /// Somebody else has the testbed.
    Locked,
    /// The testbed is not what its file says, or does not let us in.
    Misconfigured,
}

/// Who is to blame for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The device: it is a finding.
    Device,
    /// The tester or the network: it says nothing about the device.
    Testbed,
    /// The person: nothing gets better by trying again.
    Configuration,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::TransportLost,
        Self::DutHung,
        Self::DutRebooted,
        Self::BootTimeout,
        Self::SameBoot,
        Self::ProofMismatch,
        Self::LinkLost,
        Self::NoTraffic,
        Self::TesterFailed,
        Self::PowerFailed,
        Self::Locked,
        Self::Misconfigured,
    ];

    /// Who is to blame.
    pub const fn blame(self) -> Blame {
        match self {
            Self::DutHung
            | Self::DutRebooted
            | Self::BootTimeout
            | Self::SameBoot
            | Self::ProofMismatch => Blame::Device,
            Self::TransportLost
            | Self::LinkLost
            | Self::NoTraffic
            | Self::TesterFailed
            | Self::PowerFailed => Blame::Testbed,
            Self::Locked | Self::Misconfigured => Blame::Configuration,
        }
    }

    /// The word in journals and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TransportLost => "transport-lost",
            Self::DutHung => "dut-hung",
            Self::DutRebooted => "dut-rebooted",
            Self::BootTimeout => "boot-timeout",
            Self::SameBoot => "same-boot",
            Self::ProofMismatch => "proof-mismatch",
            Self::LinkLost => "link-lost",
            Self::NoTraffic => "no-traffic",
            Self::TesterFailed => "tester-failed",
            Self::PowerFailed => "power-failed",
            Self::Locked => "locked",
            Self::Misconfigured => "misconfigured",
        }
    }
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_word_that_stands_in_journals() {
        for kind in FailureKind::ALL {
            let json = serde_json::to_string(&kind).expect("a word");
            assert_eq!(json, format!("\"{kind}\""));
        }
    }
}
