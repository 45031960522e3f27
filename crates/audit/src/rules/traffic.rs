//! Whether compared sets met the same traffic, and whether the test could show
//! a difference at all.

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::data::{ConfigurationData, RunData};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_results::units;

/// Share of a limit from which the limit, not the device, sets the figure.
const SATURATED: f64 = 0.995;
/// Ethernet speeds that a line rate can belong to, in bits/s.
const SPEEDS: [f64; 6] = [1e9, 10e9, 25e9, 40e9, 50e9, 100e9];
/// Bytes of a frame on the wire beside its length without FCS: FCS, preamble, gap.
const WIRE_OVERHEAD: f64 = 24.0;

/// Traffic, generators and limits of every block.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    for sets in &around.sets {
        if let Some((base, others)) = sets.split_first() {
            for set in others {
                check_same_traffic(around, base, set, findings);
            }
            check_saturation(around, base, others, findings);
        }
    }
    check_shared_bottleneck(around, findings);
}

/// Frames/s of a line for a frame length without FCS.
pub fn line_rate(bits_per_s: f64, frame_len: u32) -> f64 {
    bits_per_s / ((f64::from(frame_len.max(60)) + WIRE_OVERHEAD) * 8.0)
}

/// The line rate that `pps` reaches, if any: rate and bits/s.
fn reached_line_rate(pps: f64, frame_len: u32) -> Option<(f64, f64)> {
    SPEEDS
        .iter()
        .map(|&speed| (line_rate(speed, frame_len), speed))
        .find(|(limit, _)| pps >= SATURATED * limit && pps <= 1.005 * limit)
}

fn check_same_traffic(
    around: &Surroundings<'_>,
    base: &SourcedSet<'_>,
    set: &SourcedSet<'_>,
    findings: &mut AuditFindings,
) {
    let (Some(a), Some(b)) = (around.configuration(base), around.configuration(set)) else {
        return;
    };
    let claim = format!("'{}' against '{}'", set.set.legend, base.set.legend);
    let line = set.set.comparison.as_ref().map_or(set.row.line, |c| c.line);
    let is_same_family = base.family == set.family;
    if let Some(difference) = traffic_difference(a, b, is_same_family) {
        findings.add(
            Rule::TrafficDiffers,
            Severity::Wrong,
            line,
            Text::new(claim.clone(), difference, "measure both again with the same traffic"),
        );
    }
    if let Some(difference) = generator_difference(a, b) {
        findings.add(
            Rule::GeneratorDiffers,
            Severity::Check,
            line,
            Text::new(
                claim,
                difference,
                "measure both with one generator, or say why it does not matter",
            ),
        );
    }
}

fn traffic_difference(
    a: &ConfigurationData,
    b: &ConfigurationData,
    is_same_family: bool,
) -> Option<String> {
    let (a, b) = (&a.traffic, &b.traffic);
    if a.flows.is_empty() || b.flows.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if a.flows != b.flows {
        parts.push(format!("{} flows against {}", list(&b.flows), list(&a.flows)));
    }
    if is_same_family && a.ranges != b.ranges {
        parts.push(format!("addresses {} against {}", list(&b.ranges), list(&a.ranges)));
    }
    let names_lens = !a.frame_lens.is_empty() && !b.frame_lens.is_empty();
    if is_same_family && names_lens && a.frame_lens != b.frame_lens {
        parts.push(format!(
            "{} against {} bytes a frame (without FCS)",
            list(&b.frame_lens),
            list(&a.frame_lens)
        ));
    }
    if a.asked_pps != b.asked_pps {
        let show = |r: Option<f64>| r.map_or("as fast as possible".to_owned(), units::rate);
        parts.push(format!("asked rate {} against {}", show(b.asked_pps), show(a.asked_pps)));
    }
    (!parts.is_empty()).then(|| format!("the logged commands differ: {}", parts.join("; ")))
}

fn list<T: std::fmt::Display>(items: &std::collections::BTreeSet<T>) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn generator_difference(a: &ConfigurationData, b: &ConfigurationData) -> Option<String> {
    if !a.builds.is_empty() && !b.builds.is_empty() && a.builds.is_disjoint(&b.builds) {
        return Some(format!(
            "the logs were printed by different builds of pkt-gen (main_thread [{}] against [{}])",
            list(&b.builds),
            list(&a.builds)
        ));
    }
    let (x, y) = (&a.traffic.options, &b.traffic.options);
    if !x.is_empty() && !y.is_empty() && x.is_disjoint(y) {
        return Some(format!("other options of pkt-gen: '{}' against '{}'", list(y), list(x)));
    }
    let (x, y) = (a.offered_pps()?, b.offered_pps()?);
    let change = (y - x) * 100.0 / x;
    let lens = (&a.traffic.frame_lens, &b.traffic.frame_lens);
    (change.abs() > 2.0 && lens.0 == lens.1).then(|| {
        format!(
            "the senders offered {} against {} ({})",
            units::rate(y),
            units::rate(x),
            units::exact_percent(change)
        )
    })
}

/// Why a set shows a limit of the test, not of the device.
pub fn saturation(around: &Surroundings<'_>, set: &SourcedSet<'_>) -> Option<String> {
    let configuration = around.configuration(set);
    let figure = set.row.median();
    let len = configuration.and_then(|g| g.traffic.frame_lens.first().copied());
    let assumed = if set.family == Some(NamedFamily::Inet6) { 62 } else { 60 };
    let frame_len = len.unwrap_or(assumed);
    if let Some((limit, speed)) = reached_line_rate(figure, frame_len) {
        let offered = configuration.and_then(ConfigurationData::offered_pps);
        if offered.is_none_or(|o| o <= 1.02 * limit) {
            return Some(format!(
                "{:.2} % of the line rate of {:.0} Gb/s for {}-byte frames with FCS ({} frames/s)",
                figure * 100.0 / limit,
                speed / 1e9,
                frame_len.max(60) + 4,
                units::whole(limit)
            ));
        }
    }
    let offered = configuration?.offered_pps()?;
    let forwarded = configuration?.forwarded_pps()?;
    (forwarded >= SATURATED * offered && forwarded <= 1.05 * offered).then(|| {
        format!(
            "{:.2} % of the offered {} frames/s",
            forwarded * 100.0 / offered,
            units::whole(offered)
        )
    })
}

fn check_saturation(
    around: &Surroundings<'_>,
    base: &SourcedSet<'_>,
    others: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) {
    let base_limit = saturation(around, base);
    for set in others {
        let limit = saturation(around, set);
        let line = set.set.comparison.as_ref().map_or(set.row.line, |c| c.line);
        let shown = set.set.comparison.as_ref().and_then(|c| c.percent).map_or_else(
            || format!("'{}' against '{}'", set.set.legend, base.set.legend),
            |[p, _]| format!("{p} % at '{}'", set.set.legend),
        );
        let text = match (&base_limit, limit) {
            (Some(a), Some(b)) => Text::new(
                shown,
                format!(
                    "both sets are at the limit of the test ({b}; {a}): the difference means nothing"
                ),
                "offer more than the device can forward, or say that both reach the limit",
            ),
            (None, Some(b)) => Text::new(
                shown,
                format!("the set reaches {b}: the true difference can be larger"),
                "write 'at least'",
            ),
            (Some(a), None) => Text::new(
                shown,
                format!("the first set reaches {a}: the true difference can be larger"),
                "write 'at least'",
            ),
            (None, None) => continue,
        };
        findings.add(Rule::Saturation, Severity::Check, line, text);
    }
}

/// When more is forwarded the less is offered, tester and device share a limit.
fn check_shared_bottleneck(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    for family in [NamedFamily::Inet, NamedFamily::Inet6] {
        let configurations = around
            .data
            .configurations
            .iter()
            .filter(|(p, _)| around.data.family(p) == Some(family));
        let points: Vec<(f64, f64)> = configurations
            .flat_map(|(_, g)| g.runs.values())
            .filter_map(|run: &RunData| Some((run.offered_pps?, run.forwarded_pps?)))
            .collect();
        let Some((correlation, spread)) = correlation(&points) else { continue };
        if points.len() < 6 || correlation > -0.8 || spread < 0.01 {
            continue;
        }
        findings.add(
            Rule::GeneratorLimit,
            Severity::Check,
            1,
            Text::new(
                format!("{} figures of the device", family.name()),
                format!(
                    "the senders offer less when more is forwarded (correlation {correlation:.2} over {} runs): generator and receiver share a limit",
                    points.len()
                ),
                "run sender and receiver on separate machines or cores",
            ),
        );
    }
}

/// Correlation of the pairs, and the relative spread of the first.
fn correlation(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - mx, p.1 - my)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    (xx > 0.0 && yy > 0.0 && mx > 0.0).then(|| (xy / (xx * yy).sqrt(), (xx / n).sqrt() / mx))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rates_count_fcs_preamble_and_gap() {
        assert_eq!(line_rate(1e9, 60).floor(), 1_488_095.0);
        assert_eq!(line_rate(10e9, 62).floor(), 14_534_883.0);
        assert!(reached_line_rate(14_817_398.0, 60).is_some());
        assert!(reached_line_rate(14_472_627.0, 62).is_some());
        assert!(reached_line_rate(9_909_120.0, 60).is_none());
    }

    #[test]
    fn a_shared_limit_shows_as_a_negative_correlation() {
        let points: Vec<(f64, f64)> =
            (0..8).map(|i| (100.0 - f64::from(i), 50.0 + f64::from(i))).collect();
        let (correlation, _) = correlation(&points).unwrap();
        assert!(correlation < -0.99);
    }
}
