//! What lies beside a series and can make its comparison meaningless.

use std::path::Path;

use fwdlab_stats::validity::{self, Finding, Limit};
use fwdlab_wire::ethernet::line_rate_pps;
use serde::Serialize;

use super::input::Series;
use crate::netbenches::name::{LogKind, LogName, NamedFamily};
use crate::netbenches::pktgen::PktgenLog;

/// Link speeds whose line rates are recognised, in bits/s.
const LINKS: [u64; 5] =
    [1_000_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000];
/// Lengths with FCS of the smallest UDP frames, IPv4 and IPv6.
const SMALLEST: [usize; 2] = [64, 66];
/// A rate above a line rate by more than this is of another link.
const MOST_ABOVE: f64 = 1.003;

/// What the logs of a series say.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Context {
    /// Distinct flows in the tester's command; the one farthest from the others when runs differ.
    pub flows: Option<u64>,
    /// Flows that the experiment plans.
    pub planned_flows: Option<u64>,
    /// Flows that the report beside it announces.
    pub announced_flows: Option<u64>,
    /// Offered load of each run, in frames/s.
    pub offered_pps: Vec<f64>,
    /// Forwarded rate of the same runs, in frames/s.
    pub forwarded_pps: Vec<f64>,
    /// Asked load, in frames/s.
    pub asked_pps: Option<f64>,
    /// Frame length with FCS, in bytes.
    pub frame_bytes: Option<usize>,
    /// Machine and build of the tester.
    pub tester: Option<String>,
}

impl Context {
    /// Reads the logs of a `.pps` file: `RAW/bench.<stem>.<run>.{sender,receiver}` beside it.
    pub(super) fn beside(path: &Path) -> Option<Self> {
        let stem = path.file_stem()?.to_str()?;
        let directory = path.parent()?;
        let mut found = Self { announced_flows: announced_flows(directory), ..Self::default() };
        let mut names: Vec<(LogName, std::path::PathBuf)> =
            std::fs::read_dir(directory.join("RAW"))
                .ok()
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| {
                    Some((LogName::parse(entry.file_name().to_str()?)?, entry.path()))
                })
                .filter(|(name, _)| name.prefix == stem)
                .collect();
        names.sort();
        for (name, path) in &names {
            if let LogKind::Sender(which) = &name.kind
                && which.is_empty()
            {
                found.take_sender(path);
                let receiver = names.iter().find(|(other, _)| {
                    other.kind == LogKind::Receiver && other.iteration == name.iteration
                });
                found.take_rates(path, receiver.map(|(_, path)| path.as_path()));
            }
        }
        (found != Self::default()).then_some(found)
    }

    fn take_sender(&mut self, path: &Path) {
        let Some(log) = read(path) else { return };
        let Some(command) = &log.command else { return };
        let inet6_least =
            if command.family() == NamedFamily::Inet6 { SMALLEST[1] } else { SMALLEST[0] };
        self.frame_bytes = Some((command.frame_len as usize + 4).max(inet6_least));
        self.asked_pps = command.rate_pps;
        self.flows = command.flows().or(self.flows);
        self.tester = Some(command.host.clone().unwrap_or_default());
    }

    fn take_rates(&mut self, sender: &Path, receiver: Option<&Path>) {
        let steady = |path: &Path| {
            let rates: Vec<f64> =
                read(path)?.samples.iter().map(|sample| sample.pps as f64).collect();
            fwdlab_stats::steady::window(&rates).figure(&rates)
        };
        if let (Some(offered), Some(forwarded)) = (steady(sender), receiver.and_then(steady)) {
            self.offered_pps.push(offered);
            self.forwarded_pps.push(forwarded);
        }
    }
}

fn read(path: &Path) -> Option<PktgenLog> {
    let log = PktgenLog::read(std::fs::File::open(path).ok()?).ok()?;
    log.is_usable().then_some(log)
}

/// The number before the word `flows` in the README of a directory.
fn announced_flows(directory: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(directory.join("README.md")).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(4).find_map(|words| {
        let at =
            words.iter().skip(1).position(|word| word.trim_end_matches([',', '.']) == "flows")?;
        words[..=at].iter().rev().find_map(|word| word.replace(',', "").parse().ok())
    })
}

/// Everything that the context of two series shows to be wrong.
pub(super) fn findings(baseline: &Series, variant: &Series) -> Vec<Finding> {
    let mut found = Vec::new();
    let sides = [baseline, variant];
    found.extend(line_rate(sides));
    let contexts: Vec<&Context> = sides.iter().filter_map(|own| own.context.as_ref()).collect();
    if found.is_empty() {
        let runs = |own: &&Context| -> Vec<(f64, f64)> {
            own.offered_pps.iter().copied().zip(own.forwarded_pps.iter().copied()).collect()
        };
        let runs: Vec<(f64, f64)> = contexts.iter().flat_map(runs).collect();
        let offered: Vec<(Option<f64>, f64)> = runs.iter().map(|(o, f)| (Some(*o), *f)).collect();
        found.extend(validity::saturation(&offered, None));
        found.extend(validity::shared_bottleneck(&runs));
        let offered: Vec<f64> = runs.iter().map(|(offered, _)| *offered).collect();
        found.extend(validity::generator(&offered, contexts.first().and_then(|own| own.asked_pps)));
    }
    if let [b, v] = contexts[..] {
        found.extend(flows(b, v));
        found.extend(one_tester(b, v));
    }
    found
}

/// Flows of the two sides against each other, and against what was announced.
fn flows(baseline: &Context, variant: &Context) -> Option<Finding> {
    let (b, v) = (baseline.flows?, variant.flows?);
    if let Some(planned) = baseline.planned_flows {
        return validity::flows(planned, &[b, v]);
    }
    if b != v {
        return validity::flows(b, &[v]);
    }
    let announced = baseline.announced_flows.filter(|announced| *announced != b)?;
    Some(Finding::AnnouncedFlowsDiffer { announced, commanded: b })
}

fn one_tester(baseline: &Context, variant: &Context) -> Option<Finding> {
    let length =
        |own: &Context| own.frame_bytes.map_or_else(String::new, |bytes| bytes.to_string());
    let tester = |own: &Context| own.tester.clone().unwrap_or_default();
    let (b, v) = ((length(baseline), tester(baseline)), (length(variant), tester(variant)));
    let factors =
        [("frame length", b.0.as_str(), v.0.as_str()), ("tester", b.1.as_str(), v.1.as_str())];
    // the variant itself is the one factor that may differ
    let differing: Vec<String> = factors
        .iter()
        .filter(|(_, b, v)| b != v)
        .map(|(name, b, v)| format!("{name} ({b} / {v})"))
        .collect();
    (!differing.is_empty()).then_some(Finding::FactorsDiffer { factors: differing })
}

/// Whether all runs of both sides lie at a line rate, for the frame length of the logs or, without
/// logs, for the smallest frames of either family.
fn line_rate(sides: [&Series; 2]) -> Option<Finding> {
    if sides.iter().any(|own| own.unit != "frames/s") {
        return None;
    }
    let lengths: Vec<usize> = match sides[0].context.as_ref().and_then(|own| own.frame_bytes) {
        Some(bytes) => vec![bytes],
        None => SMALLEST.to_vec(),
    };
    let values = || sides.iter().flat_map(|own| own.values.iter().copied());
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    lengths.iter().flat_map(|bytes| LINKS.map(|link| line_rate_pps(link, *bytes) as f64)).find_map(
        |limit| {
            let is_at = low >= validity::SATURATION_SHARE * limit && high <= MOST_ABOVE * limit;
            is_at.then_some(Finding::Saturated {
                limit: Limit::LineRate,
                limit_pps: limit,
                forwarded_pps: low,
            })
        },
    )
}
