//! What both sides counted in one trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::checks::Checks;
use crate::interval::both_or_none;
use crate::{
    Benchmark, Busy, Churned, Interval, LatencyAt, LatencyFigures, Queue, RateSearch, StampFigures,
    Way,
};

/// What both sides counted in one trial, spelled once from the device to the journal. Nothing in it
/// is derived or trimmed, and what nobody counted is absent, not 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Raw counts per interval, start-up and tail included, nothing trimmed.
    pub intervals: Vec<Interval>,
    /// Frames sent by the tester over the whole trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Frames received by the tester over the whole trial. Never absent: a trial whose receiver counted
    /// nothing that could be read is FAILED.
    pub received: u64,
    /// Distinct flows that the receiver saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows_seen: Option<u64>,
    /// Frames dropped by the device, by reason; reasons without a frame are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<BTreeMap<String, u64>>,
    /// Frames that the device received, by its own counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_received: Option<u64>,
    /// Frames that the device sent, by its own counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_sent: Option<u64>,
    /// How exactly the counts of both sides must add up.
    #[serde(default, skip_serializing_if = "Ledger::is_exact")]
    pub ledger: Ledger,
    /// What the receiver found in the frames that it looked into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Checks>,
    /// What the device spent on the frames; absent when it cannot say.
    #[serde(flatten, deserialize_with = "both_or_none")]
    pub busy: Option<Busy>,
    /// How that time was taken, where not between two readings of a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_by: Option<BusyBy>,
    /// Joules that all processor packages of the machine used while frames were sent and received,
    /// where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
    /// Share of the measured time in which the device had nothing to do, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_share: Option<f64>,
    /// Frames per second that the tester sends without the device, where that was measured: a rate
    /// near it is the tester's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_pps: Option<f64>,
    /// How the load was found, where it was searched for; the trial ran at its lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearch>,
    /// Latency of the frames, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyFigures>,
    /// Which time stamps latency was taken by, where not every frame had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<StampFigures>,
    /// Latency at shares of the rate that was searched for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_at: Vec<LatencyAt>,
    /// What was observed of a measure that has a figure of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Benchmark>,
    /// What was counted each way, to the destinations and back, where frames went both ways: the
    /// counts above are the sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Way>,
    /// Frames by processor, queue or worker of the device, where several shared them and each counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<Queue>,
    /// Changes of routes during the trial, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn: Option<Churned>,
    /// Settings read back from the device while the variant was in force; for a word whose value the device
    /// chose itself also [`Measured::choice_of`] the word.
    #[serde(default)]
    pub proof: BTreeMap<String, String>,
    /// State of the machine around this trial.
    #[serde(default)]
    pub environment: TrialEnvironment,
    /// Doubts about this trial.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Measured {
    /// The reason of drops that no counter tells: what filters, or an XDP program, did not let through.
    pub const BY_RULES: &str = "rules or program";

    /// The reason of drops of frames whose session a full table did not take.
    pub const UNTRACKED: &str = "no room to track the session";

    /// What a device answers for [`Measured::choice_of`] a word that is left to it.
    pub const OWN_CHOICE: &str = "auto";

    /// The key of a proof that says how a control word is set, where the word itself reads what the device
    /// made of that.
    pub fn choice_of(word: &str) -> String {
        format!("{word} as set")
    }

    /// The key of a proof that says how the device spells what a word was set to, where the experiment spells it
    /// otherwise: `on` for `true`.
    pub fn reading_of(word: &str) -> String {
        format!("{word} as read")
    }

    /// The entries of a proof for a word that reads `value`.
    pub fn answers(word: &str, value: String, is_own_choice: bool) -> Vec<(String, String)> {
        let choice = is_own_choice.then(|| (Self::choice_of(word), Self::OWN_CHOICE.to_owned()));
        [(word.to_owned(), value)].into_iter().chain(choice).collect()
    }

    /// Whether frames went both ways: turned round, between all ports of a mesh, or in sessions.
    pub fn is_both_ways(&self) -> bool {
        let is_in_sessions = matches!(self.benchmark, Some(Benchmark::Lookup(_)));
        !self.ways.is_empty() || is_in_sessions || Queue::are_from_both_sides(&self.proof)
    }

    /// Whether the tester offers a load: streams send what is taken of them.
    pub fn offers_load(&self) -> bool {
        !matches!(self.benchmark, Some(Benchmark::Goodput(_) | Benchmark::ByteCost(_)))
    }

    /// Device cost of the whole trial in busy nanoseconds per frame; `None` when the device worked
    /// on no frame, or cannot say.
    pub fn cost_ns(&self) -> Option<f64> {
        self.busy?.cost_ns()
    }

    /// The share of the frames sent that the device took in and dropped on purpose, 0 to 1: by its rules, or for want of
    /// room among its sessions. Frames for which its processors had no time are none of them.
    pub fn refused_share(&self) -> Option<f64> {
        let sent = self.sent.filter(|sent| *sent > 0)?;
        let of = |reason: &str| self.drops.as_ref()?.get(reason).copied();
        let refused = [Self::BY_RULES, Self::UNTRACKED].into_iter().filter_map(of).sum::<u64>();
        Some((refused as f64 / sent as f64).min(1.0))
    }

    /// Joules for a million frames received; `None` where the machine does not tell, or none came.
    pub fn joules_per_million(&self) -> Option<f64> {
        let joules = self.joules.filter(|joules| joules.is_finite() && *joules >= 0.0)?;
        (self.received > 0).then(|| joules * 1e6 / self.received as f64)
    }

    /// Frames dropped by the device, over all reasons; absent when nobody counted them.
    pub fn dropped(&self) -> Option<u64> {
        let drops = self.drops.as_ref()?;
        Some(drops.values().fold(0, |sum: u64, count| sum.saturating_add(*count)))
    }

    /// Takes away what the logs of published runs do not count, which earlier versions wrote as 0.
    pub(crate) fn forget_zeros(&mut self) {
        self.sent = self.sent.filter(|count| *count > 0);
        self.flows_seen = self.flows_seen.filter(|count| *count > 0);
        self.device_received = self.device_received.filter(|count| *count > 0);
        self.device_sent = self.device_sent.filter(|count| *count > 0);
        self.drops = self.drops.take().filter(|drops| !drops.is_empty());
        self.checks = self.checks.filter(|checks| *checks != Checks::default());
        self.busy = self.busy.filter(|busy| busy.frames > 0);
        self.idle_share = self.idle_share.filter(|share| *share > 0.0);
        let is_sent_known = self.sent.is_some();
        for interval in &mut self.intervals {
            interval.busy = interval.busy.filter(|busy| busy.frames > 0);
            interval.tx = interval.tx.filter(|frames| is_sent_known || *frames > 0);
        }
    }
}

/// How a device's time was taken, other than between two readings of a clock around its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BusyBy {
    /// Counted in ticks of the kernel's clock that found a processor in a soft interrupt, whoever's it was.
    Ticks,
}

/// How exactly the counts of tester and device must add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ledger {
    /// To the frame: the device received what was sent, and sent or dropped what it received.
    #[default]
    Exact,
    /// But for so many frames, which counters that are read at different times may miss.
    Within(u64),
    /// Nothing can be demanded.
    Unknown,
}

impl Ledger {
    /// Whether every frame must be accounted for.
    pub const fn is_exact(&self) -> bool {
        matches!(self, Self::Exact)
    }

    /// Whether two counts of the same frames agree.
    pub const fn allows(self, one: u64, other: u64) -> bool {
        match self {
            Self::Exact => one == other,
            Self::Within(frames) => one.abs_diff(other) <= frames,
            Self::Unknown => true,
        }
    }
}

/// State of the machine around one trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrialEnvironment {
    /// Number of the process that it ran in, from 1, where the campaign starts fresh ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Cache-line round trip between the two cores in nanoseconds before the
    /// trial, where it was measured.
    pub roundtrip_ns: Option<f64>,
    /// The same at the end of each interval; empty where it was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roundtrips_ns: Vec<Option<f64>>,
    /// Share of the trial in which the tester's and the device's thread had
    /// their core, 0 to 1, the smaller of the two; others ran in the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_share: Option<f64>,
    /// Share of the core that the device worked on, 0 to 1, where it shares one with the tester.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_share: Option<f64>,
    /// True when tester and device take turns on one processor, as they do in a guest: no rate is the device's alone,
    /// however small the tester's part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub takes_turns: bool,
    /// Share of processor time that a hypervisor took away, 0 to 1.
    pub steal_share: Option<f64>,
    /// True when tester and device were pinned to cores of their own.
    pub pinned: bool,
}

impl TrialEnvironment {
    /// Least share of a trial in which its threads must have had their cores. Half of it and the
    /// median of the intervals no longer helps; the timer alone takes a hundredth.
    pub const LEAST_CORE_SHARE: f64 = 0.9;
}
