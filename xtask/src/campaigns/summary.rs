//! What many campaigns with a known truth say together, as Markdown.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The head of the document.
pub const HEAD: &str = "\
# Campaigns with a known truth

Campaigns whose right answer is known, run on a real machine (docs/calibration.md
has the simulated ones). Written by `cargo xtask campaigns`.

A campaign promises at most 5 % false winners, among all its traffics together. So some of many campaigns
in which nothing differs name one: where the rate is 5 %, 40 name none with a chance of 13 % only, and to
ask for none would be to throw dice until they fall well. The check refuses more than that promise makes
likely (beyond the 99.9 % quantile of the binomial distribution: more than 5 of 20, 7 of 40) and prints the
interval for the rate. It catches a method that errs: skewed noise once gave winners in 36 of 120. Who
needs none asks for 99.9 % (`--confidence 99.9`, what `--fail-on slower` goes by): 40 campaigns then name
none with a chance of 96 %.
";

/// A confidence interval of 95 % may miss the truth this often in so many campaigns before
/// something must be wrong (binomial, beyond the 99.9 % quantile).
fn most_missed(campaigns: usize) -> usize {
    let mean = 0.05 * campaigns as f64;
    (mean + 3.1 * (mean * 0.95).sqrt() + 0.5).ceil() as usize
}

/// One line for a campaign that just ran.
pub fn line(number: usize, report: &Value) -> String {
    let mut line = format!("{number:>3}");
    for verdict in list(&report["verdicts"]) {
        let (low, high) = interval(deciding(verdict));
        let [traffic, variant] = ["traffic", "variant"].map(|name| text(&verdict[name]));
        let _ = write!(line, "  {traffic}/{variant} {}", word(verdict));
        if low.is_finite() && high.is_finite() {
            let [low, high] = [low, high].map(|bound| (bound - 1.0) * 100.0);
            let _ = write!(line, " [{low:+.2}, {high:+.2}]");
        }
    }
    line
}

/// The same variant twice: who names a winner is wrong.
pub fn same(reports: &[Value], truth: &str, title: &str) -> (String, bool) {
    let mut words: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut wrong, mut sure) = (0, 0);
    let mut named = String::new();
    for (report, number) in reports.iter().zip(1..) {
        let verdicts = list(&report["verdicts"]);
        for verdict in verdicts {
            *words.entry((text(&verdict["traffic"]), word(verdict))).or_default() += 1;
        }
        wrong += usize::from(verdicts.iter().any(is_winner));
        for verdict in verdicts.iter().filter(|verdict| is_winner(verdict)) {
            let _ = writeln!(named, "\nCampaign {number}: {}.", winner(verdict));
        }
        let is_sure = |verdict: &Value| {
            let p = deciding(verdict)["p"].as_f64().unwrap_or(1.0);
            is_winner(verdict) && p <= GATE / verdicts.len() as f64
        };
        sure += usize::from(verdicts.iter().any(is_sure));
    }
    let mut out = format!(
        "## {title}\n\n`cargo xtask campaigns {truth} --count {}` on {}: {wrong} of {} campaigns \
         name a winner where there is none{}.\n\n| traffic | verdict | campaigns |\n|---|---|---:|\n",
        reports.len(),
        machine(reports),
        reports.len(),
        promise(wrong, sure, reports.len())
    );
    for ((traffic, word), count) in words {
        let _ = writeln!(out, "| {traffic} | {word} | {count} |");
    }
    out.push_str(&named);
    out.push_str(&state(reports));
    (out, wrong <= most_missed(reports.len()))
}

/// A verdict that names a winner: its p, and whether the next run would do so too.
fn winner(verdict: &Value) -> String {
    let percent = |ratio: f64| format!("{:+.2} %", (ratio - 1.0) * 100.0);
    let (low, high) = interval(deciding(verdict));
    let p = deciding(verdict)["p"].as_f64().unwrap_or(f64::NAN);
    let next = &verdict["next"]["interval"];
    let next = match (next["low"].as_f64(), next["high"].as_f64()) {
        (Some(low), Some(high)) => {
            format!("; its interval for the next run is {} to {}", percent(low), percent(high))
        }
        _ => String::new(),
    };
    format!(
        "{} is {} with {}, {} to {}, p = {p:.4}{next}",
        text(&verdict["variant"]),
        word(verdict),
        text(&verdict["traffic"]),
        percent(low),
        percent(high)
    )
}

/// Chance of a false winner that gates allow, at 99.9 %.
const GATE: f64 = 0.001;

/// What so many false winners say of the chance of one in a campaign (Clopper and Pearson's interval),
/// beside the 5 % that a campaign promises: its traffics share that level, so that it is the chance of
/// any winner among them. At that level 40 campaigns name none with a chance of 13 % only, so that none
/// is no condition; gates ask for more.
fn promise(wrong: usize, sure: usize, campaigns: usize) -> String {
    let (least, most) = fwdlab_stats::distribution::share_interval(wrong, campaigns, 0.95);
    format!(
        " ({:.1} % to {:.1} % of campaigns, 95 % interval), {sure} of them at the 99.9 % of a gate. At most \
         5 % of campaigns are promised to; where it is 5 %, {campaigns} campaigns name none with a chance \
         of {:.0} % only, and more than {} of them would refute it",
        least * 100.0,
        most * 100.0,
        100.0 * 0.95_f64.powf(campaigns as f64),
        most_missed(campaigns)
    )
}

/// The state of the machine, and the lab's own truths, as the badges of the campaigns say.
fn state(reports: &[Value]) -> String {
    let mut out = String::new();
    for name in ["cores", "processor", "own truths"] {
        let mut states: BTreeMap<String, usize> = BTreeMap::new();
        let mut shares: Vec<f64> = Vec::new();
        for badge in reports.iter().flat_map(|report| list(&report["badges"])) {
            if badge["name"] == name {
                *states.entry(text(&badge["state"])).or_default() += 1;
                shares.extend(percentages(&text(&badge["text"])));
            }
        }
        let states: Vec<String> = states.iter().map(|(word, n)| format!("{n} {word}")).collect();
        if !states.is_empty() {
            // What the other two say in numbers is of single intervals and truths.
            let ends =
                shares.iter().copied().reduce(f64::min).zip(shares.into_iter().reduce(f64::max));
            let span = match ends.filter(|_| name == "cores") {
                Some((low, high)) => {
                    format!("; tester and device had {low:.1} % to {high:.1} % of their cores")
                }
                None => String::new(),
            };
            let _ = writeln!(out, "\n{name}: {} of the campaigns{span}.", states.join(", "));
        }
    }
    out
}

/// The numbers before a percent sign.
fn percentages(text: &str) -> Vec<f64> {
    let before = |part: &str| part.trim_end().rsplit(' ').next()?.parse().ok();
    let mut parts: Vec<&str> = text.split('%').collect();
    parts.pop();
    parts.into_iter().filter_map(before).collect()
}

/// What a variant's verdicts say against the truth.
#[derive(Default)]
struct Tally {
    truth_percent: Vec<f64>,
    found_percent: Vec<f64>,
    covered: usize,
    words: BTreeMap<String, usize>,
}

/// Variants slowed down by a known time per frame.
pub fn slowed(reports: &[Value]) -> (String, bool) {
    let mut tallies: Vec<(String, Tally)> = Vec::new();
    for report in reports {
        for verdict in list(&report["verdicts"]) {
            let name = text(&verdict["variant"]);
            let place = tallies.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                tallies.push((name.clone(), Tally::default()));
                tallies.len() - 1
            });
            let Some(cost) = baseline_cost(report, verdict) else { continue };
            // Gains are ratios of frames per busy second, so a slower device has one below 1.
            let truth = cost / (cost + extra_ns(report, &name));
            let (low, high) = interval(&verdict["cost"]);
            let tally = &mut tallies[place].1;
            tally.truth_percent.push((1.0 / truth - 1.0) * 100.0);
            tally.found_percent.push((1.0 / estimate(verdict) - 1.0) * 100.0);
            tally.covered += usize::from((low..=high).contains(&truth));
            *tally.words.entry(word(verdict)).or_default() += 1;
        }
    }
    let mut out = format!(
        "## Slowdowns of known size\n\n`cargo xtask campaigns injected --count {}` on {}. The truth is the \
         injected time over the baseline's cost in the same campaign; \"covered\" counts the 95 % intervals \
         that hold it.\n\n| variant | truth, more time per frame | found, median | covered | verdicts |\n\
         |---|---:|---:|---:|---|\n",
        reports.len(),
        machine(reports)
    );
    let mut is_good = true;
    for (name, tally) in &tallies {
        let verdicts: Vec<String> =
            tally.words.iter().map(|(word, count)| format!("{count} {word}")).collect();
        let runs = tally.truth_percent.len();
        is_good &= runs - tally.covered <= most_missed(runs);
        let _ = writeln!(
            out,
            "| {name} | {:.2} % | {:.2} % | {} of {runs} | {} |",
            median(&tally.truth_percent),
            median(&tally.found_percent),
            tally.covered,
            verdicts.join(", ")
        );
    }
    (out, is_good)
}

pub(super) fn machine(reports: &[Value]) -> String {
    let machine = reports.first().map(|report| &report["setting"]["environment"]["machine"]);
    machine.map_or_else(
        || "an unknown machine".to_owned(),
        |machine| format!("{}, {} cores", text(&machine["processor"]), machine["cores"]),
    )
}

/// Extra ns per frame that the variant burns.
fn extra_ns(report: &Value, variant: &str) -> f64 {
    let set = list(&report["setting"]["variants"])
        .iter()
        .find(|known| known["name"] == *variant)
        .map(|known| &known["set"]["fwdlab.device.extra_ns_per_frame"]);
    set.and_then(|value| value.as_f64().or_else(|| value.as_str()?.parse().ok())).unwrap_or(0.0)
}

/// Median ns per frame of the baseline with the verdict's traffic.
fn baseline_cost(report: &Value, verdict: &Value) -> Option<f64> {
    list(&report["cells"])
        .iter()
        .find(|cell| cell["is_baseline"] == true && cell["traffic"] == verdict["traffic"])
        .and_then(|cell| cell["cost"]["median"].as_f64())
}

/// The comparison that decides: of the rate, of the device's cost, or of the measure's own figure.
fn deciding(verdict: &Value) -> &Value {
    match verdict["metric"].as_str() {
        Some(metric @ ("rate" | "cost")) => &verdict[metric],
        _ => &verdict["own"],
    }
}

fn interval(comparison: &Value) -> (f64, f64) {
    let interval = &comparison["interval95"];
    let bound = |name: &str| interval[name].as_f64().unwrap_or(f64::NAN);
    (bound("low"), bound("high"))
}

/// Of the device's costs: what is injected is a cost, whatever bounded the rate.
fn estimate(verdict: &Value) -> f64 {
    verdict["cost"]["estimate"].as_f64().unwrap_or(f64::NAN)
}

fn is_winner(verdict: &Value) -> bool {
    matches!(word(verdict).as_str(), "faster" | "slower")
}

fn word(verdict: &Value) -> String {
    text(&verdict["verdict"]["verdict"])
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_owned()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn median(values: &[f64]) -> f64 {
    fwdlab_stats::median(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(extra: f64, estimate: f64, word: &str) -> Value {
        json!({
            "setting": {
                "environment": { "machine": { "processor": "P", "cores": 2 } },
                "variants": [
                    { "name": "plain", "set": {} },
                    { "name": "slow", "set": { "fwdlab.device.extra_ns_per_frame": extra } },
                ],
            },
            "cells": [{ "traffic": "inet", "is_baseline": true, "cost": { "median": 20.0 } }],
            "verdicts": [{
                "traffic": "inet",
                "variant": "slow",
                "metric": "cost",
                "verdict": { "verdict": word },
                "cost": {
                    "estimate": estimate,
                    "p": 0.0234,
                    "interval95": { "low": estimate - 0.01, "high": estimate + 0.01 },
                },
            }],
        })
    }

    #[test]
    fn a_named_winner_between_equals_is_counted_once_per_campaign() {
        let reports = [report(0.0, 1.0, "equivalent"), report(0.0, 1.2, "faster")];
        let (text, is_good) = same(&reports, "a-a", "T");
        assert!(
            text.contains("1 of 2 campaigns name a winner where there is none (1.3 % to 98.7 %"),
            "{text}"
        );
        assert!(is_good);
        let named = "Campaign 2: slow is faster with inet, +19.00 % to +21.00 %, p = 0.0234";
        assert!(text.contains(named), "{text}");
        assert!(text.contains("2 campaigns name none with a chance of 90 % only"), "{text}");
        let all_wrong: Vec<Value> = (0..10).map(|_| report(0.0, 1.2, "faster")).collect();
        assert!(!same(&all_wrong, "a-a", "T").1);
    }

    /// The figure that a measure has of its own had no p here, so that no winner was ever one for a gate.
    #[test]
    fn a_winner_by_the_figure_of_a_measure_has_its_p_and_its_interval() {
        let mut own = report(0.0, 1.2, "slower");
        let verdict = &mut own["verdicts"][0];
        verdict["metric"] = json!("back-to-back");
        verdict["own"] = verdict["cost"].take();
        verdict["own"]["p"] = json!(0.0002);
        let (text, _) = same(&[own.clone()], "measures", "T");
        assert!(text.contains("1 of them at the 99.9 % of a gate"), "{text}");
        assert!(text.contains("+19.00 % to +21.00 %, p = 0.0002"), "{text}");
        assert!(line(1, &own).contains("slower [+19.00, +21.00]"), "{}", line(1, &own));
    }

    #[test]
    fn the_state_of_the_machine_is_named() {
        let badge = |text: &str| json!({ "name": "cores", "state": "warn", "text": text });
        let mut reports = [report(0.0, 1.0, "invalid"), report(0.0, 1.0, "invalid")];
        reports[0]["badges"] =
            json!([badge("tester and device had 10.7 % to 20.7 % of theirs: so")]);
        reports[1]["badges"] = json!([badge("tester and device had 8.3 % to 12 % of theirs")]);
        let wanted = "cores: 2 warn of the campaigns; tester and device had 8.3 % to 20.7 %";
        assert!(state(&reports).contains(wanted), "{}", state(&reports));
    }

    #[test]
    fn intervals_are_held_against_the_injected_time() {
        let right = report(1.0, 20.0 / 21.0, "slower");
        let (text, is_good) = slowed(&[right.clone(), report(1.0, 1.0, "inconclusive")]);
        assert!(
            text.contains("| slow | 5.00 % | 2.50 % | 1 of 2 | 1 inconclusive, 1 slower |"),
            "{text}"
        );
        assert!(is_good);
        let wrong: Vec<Value> = (0..10).map(|_| report(1.0, 1.0, "inconclusive")).collect();
        assert!(!slowed(&wrong).1);
    }
}
