//! What the page says was sent: load, line rate, flows, frame length.

use std::collections::BTreeSet;

use super::traffic::line_rate;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::data::{ConfigurationData, DirData};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_results::units;
use fwdlab_sentence::agreement::{Agreement, agreement};
use fwdlab_sentence::clause::quotes_earlier;
use fwdlab_sentence::levels::is_end_of_range;
use fwdlab_sentence::quantity::{Rate, flow_counts, frame_lengths, rates};

const SPEEDS: [f64; 5] = [1e9, 10e9, 25e9, 40e9, 100e9];

/// Every item of prose.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    for item in &around.page.items {
        let lower = item.text.to_lowercase();
        for mention in rates(&item.text) {
            let line = item.line_at(mention.offset);
            check_rate(around, item, &lower, &mention, line, findings);
        }
        check_flows(around.data, &item.text, item.line, findings);
        check_frames(around.data, item, &lower, findings);
    }
}

fn check_rate(
    around: &Surroundings<'_>,
    item: &Item,
    lower: &str,
    mention: &Rate,
    line: usize,
    findings: &mut AuditFindings,
) {
    let names_line = [
        "line-rate",
        "line rate",
        "linerate",
        "wire-speed",
        "wirespeed",
        "wire speed",
        "wire rate",
    ]
    .iter()
    .any(|w| lower.contains(w));
    let names_load = is_of_load(lower, mention);
    if names_line && check_line_rate(around.data, mention, line, item, findings) {
        return;
    }
    if names_load {
        check_load(around, mention, line, item, findings);
    } else if !names_line && item.kind != ItemKind::Bullet && !findings.has(Rule::ClaimRate, line) {
        check_claimed_rate(around, mention, line, item, findings);
    }
}

/// Words that make a rate near them the load, and those that make it what came of it.
const OFFERED: [&str; 6] = ["load", "traffic rate", "offered", "sending", "generat", "sent at"];
const FORWARDED: [&str; 8] =
    ["forward", "receiv", "reach", "passes", "throughput", "achiev", "handles", "manages"];

/// Whether a rate is the load: where a sentence speaks of forwarding too, the nearer word says.
fn is_of_load(lower: &str, mention: &Rate) -> bool {
    let distance = |words: &[&str]| {
        let places = words.iter().flat_map(|w| lower.match_indices(w).map(|(at, w)| (at, w.len())));
        let gap = |(at, len): (usize, usize)| match at < mention.offset {
            true => mention.offset.saturating_sub(at + len),
            false => at.saturating_sub(mention.offset + mention.text.len()),
        };
        places.map(gap).min()
    };
    match (distance(&OFFERED), distance(&FORWARDED)) {
        (Some(load), Some(forwarded)) => load < forwarded,
        (load, _) => load.is_some(),
    }
}

/// Frame lengths without FCS that the page can mean.
fn frame_lens(data: &DirData) -> BTreeSet<u32> {
    let logged = data.configurations.values().flat_map(|g| g.traffic.frame_lens.iter().copied());
    logged.chain([60, 62]).collect()
}

/// Returns true when the rate was found wrong.
fn check_line_rate(
    data: &DirData,
    mention: &Rate,
    line: usize,
    item: &Item,
    findings: &mut AuditFindings,
) -> bool {
    let limits: Vec<(f64, u32)> = SPEEDS
        .iter()
        .flat_map(|&s| frame_lens(data).into_iter().map(move |len| (line_rate(s, len), len)))
        .collect();
    let agrees = |limit: f64| {
        agreement(mention.number, mention.decimals, limit / mention.unit) <= Agreement::Near
    };
    if limits.iter().any(|&(limit, _)| agrees(limit)) {
        note_other_frames(data, mention, line, item, findings);
        return false;
    }
    let near = |limit: f64| (mention.pps() / limit - 1.0).abs();
    // Most pages mean the smallest IPv4 frames: prefer them over 62 bytes.
    let smallest =
        SPEEDS.iter().map(|&s| line_rate(s, 60)).min_by(|a, b| near(*a).total_cmp(&near(*b)));
    let Some(limit) = smallest.filter(|l| near(*l) < 0.06) else { return false };
    let right = format!("{:.*}", mention.decimals.max(3), limit / mention.unit);
    findings.add(
        Rule::LineRate,
        Severity::Wrong,
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, item.text),
            format!("the line rate for the smallest frames is {} frames/s", units::whole(limit)),
            format!("write {right} instead of {}", mention.text),
        ),
    );
    true
}

/// The line rate of 60-byte frames beside 62-byte IPv6 frames.
fn note_other_frames(
    data: &DirData,
    mention: &Rate,
    line: usize,
    item: &Item,
    findings: &mut AuditFindings,
) {
    let is_inet4 = |limit: f64| {
        agreement(mention.number, mention.decimals, limit / mention.unit) <= Agreement::Near
    };
    let Some(&speed) = SPEEDS.iter().find(|&&s| is_inet4(line_rate(s, 60))) else { return };
    let longer = data.configurations.iter().find_map(|(prefix, configuration)| {
        let len = configuration.traffic.frame_lens.first().copied()?;
        (data.family(prefix) == Some(NamedFamily::Inet6)
            && len > 60
            && !is_inet4(line_rate(speed, len)))
        .then_some(len)
    });
    let Some(len) = longer else { return };
    findings.add(
        Rule::LineRate,
        Severity::Info,
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, item.text),
            format!(
                "the IPv6 senders used {len}-byte frames without FCS, whose line rate is {} frames/s",
                units::whole(line_rate(speed, len))
            ),
            "name the line rate of each family",
        ),
    );
}

/// The load in the text against what the senders logged.
fn check_load(
    around: &Surroundings<'_>,
    mention: &Rate,
    line: usize,
    item: &Item,
    findings: &mut AuditFindings,
) {
    let offered: Vec<f64> =
        around.data.configurations.values().filter_map(ConfigurationData::offered_pps).collect();
    let asked = around.data.configurations.values().filter_map(|g| g.traffic.asked_pps);
    let all: Vec<f64> = offered.iter().copied().chain(asked).collect();
    if all.is_empty() {
        return check_load_near_line_rate(mention, line, item, findings);
    }
    if all.iter().any(|o| (mention.pps() / o - 1.0).abs() <= 0.02) {
        return;
    }
    if all
        .iter()
        .any(|o| agreement(mention.number, mention.decimals, o / mention.unit) <= Agreement::Near)
    {
        return;
    }
    let (low, high) = all.iter().fold((f64::MAX, 0.0f64), |(l, h), &o| (l.min(o), h.max(o)));
    let nearest = SPEEDS.iter().map(|&s| line_rate(s, 60)).find(|l| (high / l - 1.0).abs() < 0.01);
    let suggestion = match nearest {
        Some(limit) => format!("write {} (the line rate)", units::rate(limit)),
        None => format!("write {}", units::rate(high)),
    };
    let severity = if mention.pps() > 1.02 * high || mention.pps() < 0.98 * low {
        Severity::Wrong
    } else {
        Severity::Check
    };
    findings.add(
        Rule::LoadClaim,
        severity,
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, item.text),
            format!("the senders logged {} to {}", units::rate(low), units::rate(high)),
            suggestion,
        ),
    );
}

/// Without logs: a load close to a line rate is most likely meant to be it.
fn check_load_near_line_rate(
    mention: &Rate,
    line: usize,
    item: &Item,
    findings: &mut AuditFindings,
) {
    let limits: Vec<f64> =
        SPEEDS.iter().flat_map(|&s| [line_rate(s, 60), line_rate(s, 62)]).collect();
    let agrees = |limit: &f64| {
        agreement(mention.number, mention.decimals, limit / mention.unit) <= Agreement::Near
    };
    if limits.iter().any(agrees) {
        return;
    }
    let Some(limit) = limits.iter().find(|l| (mention.pps() / **l - 1.0).abs() < 0.03) else {
        return;
    };
    findings.add(
        Rule::LineRate,
        Severity::Check,
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, item.text),
            format!("close to the line rate of {} frames/s, but not it", units::whole(*limit)),
            "write the line rate if it is meant",
        ),
    );
}

/// How far the difference of two rates may be from that of the means, as a share of it.
const DIFFERENCE: f64 = 0.05;

/// Words before a rate that is not meant to the digit, and how far it may be off.
const SOFTENERS: [&str; 8] =
    ["more than", "less than", "almost", "about", "around", "nearly", "over", "up to"];
const ROUGH: f64 = 0.05;

/// Words before a rate that lies beside the figures.
const BOUNDS: [&str; 5] = [" below", " under", " above", " beyond", " past"];

/// A rate in a sentence about a block must be among the figures.
fn check_claimed_rate(
    around: &Surroundings<'_>,
    mention: &Rate,
    line: usize,
    item: &Item,
    findings: &mut AuditFindings,
) {
    let is_close = |value: f64| {
        agreement(mention.number, mention.decimals, value / mention.unit) <= Agreement::Near
    };
    let rows = around.sets.iter().flatten();
    let lower = item.text.to_lowercase();
    let before = lower.split(&mention.text.to_lowercase()).next().unwrap_or("").trim_end();
    // "below 800 kpps" is held against the rates on either side elsewhere
    if BOUNDS.iter().any(|w| before.ends_with(w)) || is_end_of_range(before) {
        return;
    }
    if !around.block_of(item, &BTreeSet::new()).is_some_and(|s| s.is_sure) {
        return;
    }
    let is_soft = SOFTENERS.iter().any(|w| before.ends_with(w));
    let on_page = rows.clone().any(|s| {
        is_soft && (mention.pps() / s.row.median() - 1.0).abs() <= ROUGH
            || s.row.values[..4].iter().any(|v| is_close(*v))
            || (s.row.values[0]..=s.row.values[1]).contains(&mention.pps())
    });
    let differences = around.sets.iter().any(|sets| {
        let is_difference = |a: f64, b: f64| {
            let slack = if is_soft { ROUGH } else { DIFFERENCE };
            is_close((a - b).abs()) || (mention.pps() / (a - b).abs() - 1.0).abs() <= slack
        };
        sets.iter().any(|a| {
            sets.iter().any(|b| {
                is_difference(a.row.mean(), b.row.mean())
                    || is_difference(a.row.median(), b.row.median())
            })
        })
    });
    let in_data = around.data.all_values().values().flatten().any(|v| is_close(*v));
    let is_limit = SPEEDS.iter().any(|&s| [60, 62].iter().any(|&l| is_close(line_rate(s, l))));
    if on_page || differences || in_data || is_limit || rows.count() == 0 {
        return;
    }
    let unit = 10f64.powi(-i32::try_from(mention.decimals.min(12)).unwrap_or(12)) * mention.unit;
    if quotes_earlier(&item.text) && around.site.has_figure_near(mention.pps(), unit) {
        return;
    }
    findings.add(
        Rule::ClaimRate,
        Severity::Check,
        line,
        Text::new(
            format!("'{}' in: {}", mention.text, item.text),
            "no figure of the page or of the data beside it has this value",
            "take the number from the block",
        ),
    );
}

/// The number of flows in a text against the logged commands.
pub fn check_flows(data: &DirData, text: &str, line: usize, findings: &mut AuditFindings) {
    let logged: BTreeSet<u64> =
        data.configurations.values().flat_map(|g| g.traffic.flows.iter().copied()).collect();
    if logged.is_empty() {
        return;
    }
    for count in flow_counts(text) {
        let is_close =
            |flows: &u64| (*flows as f64 / count.value.max(1) as f64 - 1.0).abs() <= 0.01;
        let matching = logged.iter().filter(|f| is_close(f)).count();
        if matching == logged.len() {
            continue;
        }
        let is_hedged = text.to_lowercase().contains("bug") || matching > 0;
        let shown: Vec<String> = logged.iter().map(|f| units::whole(*f as f64)).collect();
        findings.add(
            Rule::FlowClaim,
            if is_hedged { Severity::Check } else { Severity::Wrong },
            line,
            Text::new(
                format!("'{} flows' in: {text}", count.text),
                format!(
                    "the logged commands make {} flows ({})",
                    shown.join(" and "),
                    ranges(data)
                ),
                format!("write {} flows", shown.join(" or ")),
            ),
        );
    }
}

fn ranges(data: &DirData) -> String {
    let all: BTreeSet<&String> =
        data.configurations.values().flat_map(|g| &g.traffic.ranges).collect();
    all.into_iter().take(2).cloned().collect::<Vec<_>>().join("; ")
}

fn check_frames(data: &DirData, item: &Item, lower: &str, findings: &mut AuditFindings) {
    let logged: BTreeSet<u32> =
        data.configurations.values().flat_map(|g| g.traffic.frame_lens.iter().copied()).collect();
    let Some(&longest) = logged.last() else { return };
    let shown: Vec<String> = logged.iter().map(ToString::to_string).collect();
    let says_smallest = ["smallest", "minimum size", "minimal size", "smaller udp"]
        .iter()
        .any(|w| lower.contains(w));
    if says_smallest && longest > 66 {
        findings.add(
            Rule::FrameClaim,
            Severity::Wrong,
            item.line,
            Text::new(
                format!("'smallest' in: {}", item.text),
                format!(
                    "the logged commands send {} bytes a frame (without FCS)",
                    shown.join(" and ")
                ),
                "name the frame length",
            ),
        );
    }
    for length in frame_lengths(&item.text) {
        let agrees = |len: &u32| {
            u64::from(*len).abs_diff(length.value) % 4 == 0
                && u64::from(*len).abs_diff(length.value) <= 4
        };
        if logged.iter().any(agrees) {
            continue;
        }
        findings.add(
            Rule::FrameClaim,
            Severity::Check,
            item.line_at(length.offset),
            Text::new(
                format!("'{}' in: {}", length.text, item.text),
                format!(
                    "the logged commands send {} bytes a frame (without FCS)",
                    shown.join(" and ")
                ),
                "name the frame length of the commands",
            ),
        );
    }
}
