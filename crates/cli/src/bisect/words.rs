//! The answer of a bisection, in words and as data.

use fwdlab_stats::bisect::{Answer, Step};
use fwdlab_stats::{far_change, plural};

fn of_step(step: &Step, chain: &[String]) -> String {
    let size = size(step.ratio, [step.low, step.high]);
    format!("{} ({size}, beside {})", chain[step.at], chain[step.at - 1])
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

pub fn words(answer: &Answer, chain: &[String], count: usize) -> String {
    let all = |steps: &[Step]| {
        let lines: Vec<String> =
            steps.iter().map(|step| format!("  {}", of_step(step, chain))).collect();
        lines.join("\n")
    };
    let (good, bad) = (&chain[0], &chain[chain.len() - 1]);
    let text = match answer {
        Answer::Culprit { step, probability } => format!(
            "the culprit is {}; probability {:.1} %",
            of_step(step, chain),
            probability * 100.0
        ),
        Answer::Several(steps) => format!("several changes:\n{}", all(steps)),
        Answer::Cancelled(steps) => {
            format!(
                "{good} and {bad} are alike, but one change takes back another:\n{}",
                all(steps)
            )
        }
        Answer::Gone { ratio, low, high } => format!(
            "{bad} does not differ from {good} today ({}): the lab or the machine changed since, not the \
             software",
            size(*ratio, [*low, *high])
        ),
        Answer::NoCulprit => format!(
            "no single culprit: {good} and {bad} differ, but no step does by enough; more --blocks \
             make each comparison sharper"
        ),
        Answer::TooNoisy { noise } => format!(
            "too noisy: one comparison varies by {:.1} %, so that no answer is sure; more --blocks, \
             or a machine that has nothing else to do",
            noise * 100.0
        ),
    };
    let (states, comparisons) = (plural(chain.len(), "state"), plural(count, "comparison"));
    format!("{text}\n{states}, {comparisons}\n")
}

/// What to think of comparisons beside others.
pub fn disturbed(disturbed: usize, count: usize) -> String {
    format!(
        "{disturbed} of {} ran while others had the cores: one alone may be off by any factor, either way. \
         The answer allows for a few; of many, ask again on a machine that has nothing else to do",
        plural(count as u64, "comparison")
    )
}

pub fn json(answer: &Answer, chain: &[String], count: usize) -> anyhow::Result<String> {
    use serde_json::json;
    let of = |step: &Step| {
        json!({
            "first_changed": chain[step.at],
            "last_before": chain[step.at - 1],
            "percent": step.ratio * 100.0,
            "low": step.low * 100.0,
            "high": step.high * 100.0,
        })
    };
    let (kind, steps, probability) = match answer {
        Answer::Culprit { step, probability } => ("culprit", vec![of(step)], Some(*probability)),
        Answer::Several(steps) => ("several changes", steps.iter().map(of).collect(), None),
        Answer::Cancelled(steps) => ("changes that cancel", steps.iter().map(of).collect(), None),
        Answer::Gone { .. } => ("lab or machine changed", Vec::new(), None),
        Answer::NoCulprit => ("no single culprit", Vec::new(), None),
        Answer::TooNoisy { .. } => ("too noisy", Vec::new(), None),
    };
    let value = json!({
        "answer": kind,
        "steps": steps,
        "probability": probability,
        "states": chain.len(),
        "comparisons": count,
    });
    crate::output::json(&value)
}
