//! What the context of two series shows to be wrong with their comparison.

use fwdlab_stats::validity::{self, Finding, Limit};
use fwdlab_wire::ethernet::line_rate_pps;

use super::context::{Context, SMALLEST};
use super::series::Series;

/// Link speeds whose line rates are recognised, in bits/s.
const LINKS: [u64; 5] =
    [1_000_000_000, 10_000_000_000, 25_000_000_000, 40_000_000_000, 100_000_000_000];
/// A rate above a line rate by more than this is of another link.
const MOST_ABOVE: f64 = 1.003;

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
        // A side without a value has no frames whose length could be another.
        .filter(|(name, b, v)| {
            b != v && !(*name == "frame length" && (b.is_empty() || v.is_empty()))
        })
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
