//! The answer of a bisection, in words and as data.

use std::time::Duration;

use fwdlab_campaign::bisect::{Found, LeftOut};
use fwdlab_stats::bisect::{Answer, Rest, Step};
use fwdlab_stats::{far_change, plural};

use crate::plan::duration;

/// What an answer came of.
pub struct Told<'a> {
    /// Comparisons in all.
    pub count: usize,
    /// The most that were asked for.
    pub most: usize,
    /// Whether the states are builds of fwdlab.
    pub is_of_labs: bool,
    /// The states that could not be measured.
    pub left_out: &'a [LeftOut],
}

/// What one comparison took, and how long that makes it: one change in a chain of so many states takes the ends, both
/// sides of a place and a halving each, several changes all states (docs/history.md has what was seen).
pub fn time(one: Duration, states: usize, most: usize) -> String {
    let halvings = states.next_power_of_two().trailing_zeros() as usize;
    let few = 4 + 2 * 3 + halvings;
    let many = 12 + 3 * states;
    let one = one.as_secs_f64();
    let of = |count: usize| duration(one * count as f64);
    if most <= few {
        let taken = duration(one);
        return format!("one comparison took {taken}: the {most} of --most take {}", of(most));
    }
    format!(
        "one comparison took {}: one change in {} takes some {few} of them ({}), more changes or noise {many} and more ({})",
        duration(one),
        plural(states as u64, "state"),
        of(few),
        of(many)
    )
}

fn of_step(step: &Step, found: &Found, chain: &[String]) -> String {
    let size = size(step.ratio, [step.low, step.high]);
    let (before, between, at) = around(step, found, chain);
    let or = match between {
        [] => String::new(),
        [one] => format!(" or {one}, which was left out"),
        several => format!(" or one of {}, which were left out", several.join(", ")),
    };
    format!("{at}{or} ({size}, beside {before})")
}

/// The last state before a step, those that were left out behind it, and the first after it.
fn around<'a>(
    step: &Step,
    found: &Found,
    chain: &'a [String],
) -> (&'a String, &'a [String], &'a String) {
    let (before, at) = (found.states[step.at - 1], found.states[step.at]);
    (&chain[before], &chain[before + 1..at], &chain[at])
}

/// What the step leaves of the difference, and how to find where that is.
fn of_rest(rest: &Rest, found: &Found, chain: &[String]) -> String {
    let [from, to] = [rest.from, rest.to].map(|at| &chain[found.states[at]]);
    let size = size(rest.ratio, [rest.low, rest.high]);
    format!(
        "\n{to} differs from {from} as well ({size}): bisect that part with --good {from} --bad {to} and another --output"
    )
}

/// `-3.1 %, -3.6 to -2.6`; beyond ten times `x12.0, x11.0 to x13.0`.
fn size(ratio: f64, [low, high]: [f64; 2]) -> String {
    let all = [ratio, low, high].map(|own| own * 100.0);
    if all.into_iter().any(|own| far_change(own).is_some()) {
        let show =
            |own: f64| far_change(own).unwrap_or_else(|| format!("x{:.2}", 1.0 + own / 100.0));
        let [ratio, low, high] = all.map(show);
        return format!("{ratio}, {low} to {high}");
    }
    let [ratio, low, high] = all;
    format!("{ratio:+.1} %, {low:+.1} to {high:+.1}")
}

pub fn words(found: &Found, chain: &[String], told: &Told<'_>) -> String {
    let count = told.count;
    let all = |steps: &[Step]| {
        let lines: Vec<String> =
            steps.iter().map(|step| format!("  {}", of_step(step, found, chain))).collect();
        lines.join("\n")
    };
    let (good, bad) = (&chain[0], &chain[chain.len() - 1]);
    let text = match &found.answer {
        Answer::Culprit { step, probability, rest } => format!(
            "the culprit is {}; probability {}{}",
            of_step(step, found, chain),
            of_probability(*probability),
            rest.iter().map(|own| of_rest(own, found, chain)).collect::<String>()
        ),
        Answer::Several(steps) => format!("several changes:\n{}", all(steps)),
        Answer::Cancelled(steps) => {
            format!(
                "{good} and {bad} are alike, but one change takes back another:\n{}",
                all(steps)
            )
        }
        Answer::Gone { ratio, low, high } if told.is_of_labs => format!(
            "{bad} does not measure otherwise than {good} ({}): these builds of fwdlab are not what changed",
            size(*ratio, [*low, *high])
        ),
        Answer::Gone { ratio, low, high } => format!(
            "{bad} does not differ from {good} today ({}): the lab or the machine changed since, not the \
             software",
            size(*ratio, [*low, *high])
        ),
        Answer::NoCulprit => format!(
            "no single culprit: {good} and {bad} differ, but no step does by enough; more --blocks \
             make each comparison sharper"
        ),
        Answer::TooNoisy { .. } if count >= told.most => format!(
            "no answer is sure after the {} that --most allows; with a larger --most the same command goes on from them",
            plural(count as u64, "comparison")
        ),
        Answer::TooNoisy { noise } => format!(
            "too noisy: one comparison varies by {:.1} %, so that no answer is sure; more --blocks, \
             or a machine that has nothing else to do",
            noise * 100.0
        ),
    };
    let (states, comparisons) = (plural(chain.len(), "state"), plural(count, "comparison"));
    let left_out = match told.left_out.len() {
        0 => String::new(),
        count => format!(", {count} left out"),
    };
    format!("{text}\n{states}{left_out}, {comparisons}\n")
}

/// Nothing that is measured is sure: no "100.0 %".
fn of_probability(probability: f64) -> String {
    match probability {
        0.9995.. => "above 99.9 %".to_owned(),
        _ => format!("{:.1} %", probability * 100.0),
    }
}

/// What to think of comparisons beside others.
pub fn disturbed(disturbed: usize, count: usize) -> String {
    format!(
        "{disturbed} of {} ran while others had the cores: one alone may be off by any factor, either way. \
         The answer allows for a few; of many, ask again on a machine that has nothing else to do",
        plural(count as u64, "comparison")
    )
}

pub fn json(found: &Found, chain: &[String], told: &Told<'_>) -> anyhow::Result<String> {
    use serde_json::json;
    let of = |step: &Step| {
        let (before, between, at) = around(step, found, chain);
        json!({
            "first_changed": at,
            "last_before": before,
            "left_out_between": between,
            "percent": step.ratio * 100.0,
            "low": step.low * 100.0,
            "high": step.high * 100.0,
        })
    };
    let of_rest = |own: &Rest| {
        let [from, to] = [own.from, own.to].map(|at| &chain[found.states[at]]);
        let [percent, low, high] = [own.ratio, own.low, own.high].map(|own| own * 100.0);
        json!({ "good": from, "bad": to, "percent": percent, "low": low, "high": high })
    };
    let rest = match &found.answer {
        Answer::Culprit { rest, .. } => rest.iter().map(of_rest).collect(),
        _ => Vec::new(),
    };
    let (kind, steps, probability) = match &found.answer {
        Answer::Culprit { step, probability, .. } => {
            ("culprit", vec![of(step)], Some(*probability))
        }
        Answer::Several(steps) => ("several changes", steps.iter().map(of).collect(), None),
        Answer::Cancelled(steps) => ("changes that cancel", steps.iter().map(of).collect(), None),
        Answer::Gone { .. } if told.is_of_labs => ("no difference", Vec::new(), None),
        Answer::Gone { .. } => ("lab or machine changed", Vec::new(), None),
        Answer::NoCulprit => ("no single culprit", Vec::new(), None),
        Answer::TooNoisy { .. } => ("too noisy", Vec::new(), None),
    };
    let value = json!({
        "answer": kind,
        "steps": steps,
        "rest": rest,
        "probability": probability,
        "states": chain.len(),
        "left_out": told.left_out.iter().map(|own| json!({"state": own.name, "why": own.left_out})).collect::<Vec<_>>(),
        "comparisons": told.count,
    });
    crate::output::json(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two builds that measured alike were told that "the lab or the machine changed since, not the software".
    #[test]
    fn builds_of_the_lab_that_measure_alike_are_said_to() {
        let gone = Answer::Gone { ratio: 0.001, low: -0.002, high: 0.004 };
        let gone = Found { answer: gone, states: vec![0, 1] };
        let chain = ["old".to_owned(), "new".to_owned()];
        let told = |is_of_labs| Told { count: 12, most: 200, is_of_labs, left_out: &[] };
        let of = |is_of_labs| words(&gone, &chain, &told(is_of_labs));
        assert!(of(true).contains("are not what changed") && !of(true).contains("the machine"));
        assert!(of(false).contains("the lab or the machine changed"));
        let json = json(&gone, &chain, &told(true)).unwrap();
        assert!(json.contains("\"no difference\""), "{json}");
    }

    /// What had been stopped by --most was called too noisy, with more blocks as the remedy.
    #[test]
    fn a_limit_that_was_reached_is_named_and_not_the_noise() {
        let chain = ["a".to_owned(), "b".to_owned()];
        let of = |count| {
            let answer = Answer::TooNoisy { noise: 0.2 };
            let told = Told { count, most: 20, is_of_labs: false, left_out: &[] };
            words(&Found { answer, states: vec![0, 1] }, &chain, &told)
        };
        assert!(of(20).contains("--most") && !of(20).contains("noisy"), "{}", of(20));
        assert!(of(19).contains("too noisy"));
    }

    #[test]
    fn a_step_over_states_that_were_left_out_names_them_all() {
        let chain = ["a", "b", "c", "d"].map(str::to_owned);
        let step = Step { at: 1, ratio: -0.05, low: -0.06, high: -0.04 };
        let answer = Answer::Culprit { step, probability: 0.99, rest: Vec::new() };
        let found = Found { answer, states: vec![0, 3] };
        let left_out = [1, 2].map(|state| LeftOut {
            state,
            name: chain[state].clone(),
            left_out: "--skip".into(),
        });
        let told = Told { count: 9, most: 200, is_of_labs: false, left_out: &left_out };
        let text = words(&found, &chain, &told);
        assert!(text.contains("the culprit is d or one of b, c, which were left out"), "{text}");
        assert!(text.contains("probability 99.0 %") && of_probability(1.0) == "above 99.9 %");
        assert!(text.contains("beside a") && text.contains("4 states, 2 left out, 9"), "{text}");
        let data: serde_json::Value =
            serde_json::from_str(&json(&found, &chain, &told).unwrap()).unwrap();
        assert_eq!(data["steps"][0]["left_out_between"], serde_json::json!(["b", "c"]));
        assert_eq!(data["left_out"][0]["why"], "--skip");
    }

    /// Of -12 % between the ends a step of -10 % was told as the culprit, and nothing of the other 2 %.
    #[test]
    fn what_a_culprit_leaves_of_the_difference_is_named() {
        let chain = ["a", "b", "c", "d"].map(str::to_owned);
        let step = Step { at: 1, ratio: -0.1, low: -0.11, high: -0.09 };
        let rest = vec![Rest { from: 1, to: 2, ratio: -0.02, low: -0.03, high: -0.01 }];
        let answer = Answer::Culprit { step, probability: 0.99, rest };
        let found = Found { answer, states: vec![0, 1, 3] };
        let told = Told { count: 9, most: 200, is_of_labs: false, left_out: &[] };
        let text = words(&found, &chain, &told);
        assert!(text.contains("d differs from b as well (-2.0 %, -3.0 to -1.0)"), "{text}");
        assert!(text.contains("--good b --bad d"), "{text}");
        let data: serde_json::Value =
            serde_json::from_str(&json(&found, &chain, &told).unwrap()).unwrap();
        assert_eq!(data["rest"][0]["good"], "b");
        assert_eq!(data["rest"][0]["bad"], "d");
    }

    #[test]
    fn the_time_of_a_bisection_is_that_of_its_comparisons() {
        let said = time(Duration::from_secs(5), 16, 200);
        assert!(said.contains("took 5.0 s") && said.contains("some 14 of them (70 s)"), "{said}");
        assert!(said.contains("60 and more (5 min)"), "{said}");
        assert!(time(Duration::from_secs(5), 16, 10).contains("the 10 of --most take 50 s"));
    }
}
