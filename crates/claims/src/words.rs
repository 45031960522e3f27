//! Verdicts in words: one spelling for reports and for `compare`.
//!
//! A proven difference is said in nanoseconds per frame first, then as a ratio. What the same
//! nanoseconds would be on other devices, and what is quoted, are lines of their own below it.

use std::fmt::Write;

use fwdlab_stats::validity::Finding;
use fwdlab_stats::{
    Comparison, Confidence, Direction, Subject, Verdict, percent_interval, signed_change,
    signed_percent,
};

use crate::apart::Apart;
use crate::saved::Saved;
use fwdlab_results::units;
use fwdlab_results::{Family, Measure, Metric, Results, Tick};

/// The verdict and what it says.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The verdict.
    pub verdict: &'a Verdict,
    /// The comparison that decides.
    pub comparison: Option<&'a Comparison>,
    /// The nanoseconds of a proven difference, where values are of frames.
    pub saved: Option<&'a Saved>,
    /// The difference in its unit, where a percentage would be of next to nothing.
    pub apart: Option<&'a Apart>,
    /// The words for better and worse.
    pub change: [&'static str; 2],
}

/// The verdict in a word, for a figure that is better and worse by these.
pub fn word(verdict: &Verdict, [better, worse]: [&'static str; 2]) -> &'static str {
    match verdict {
        Verdict::Faster { .. } => better,
        Verdict::Slower { .. } => worse,
        other => other.word(),
    }
}

/// The words for better and worse of several figures: their own where all have the same.
pub fn shared(mut each: impl Iterator<Item = [&'static str; 2]>) -> [&'static str; 2] {
    let first = each.next().unwrap_or(Metric::FASTER);
    if each.all(|own| own == first) { first } else { Metric::BETTER }
}

/// The family of a traffic: that of its trials, else what its name says.
pub fn family(results: &Results, traffic: &str) -> Family {
    let trial = results.trials.iter().find(|t| t.traffic == traffic);
    trial.map_or(if traffic.contains('6') { Family::Inet6 } else { Family::Inet }, |t| t.family)
}

/// What the figure of a traffic is: the campaign's measure, or its own among several.
pub fn measure(results: &Results, traffic: &str) -> Measure {
    let trial = results.trials.iter().find(|t| t.traffic == traffic);
    let own = trial.map_or(Measure::Rate, |trial| trial.measure);
    if own == Measure::Rate { results.campaign.measure } else { own }
}

/// What a campaign's verdict is about: `IPv4 forwarding rate`, or what the device cost is shown as.
pub fn metric(results: &Results, traffic: &str, metric: Metric) -> String {
    let family = family(results, traffic).title();
    match metric {
        // where the measure has a figure of its own the rate is beside it
        Metric::Rate => match measure(results, traffic) {
            own if own.is_benchmark() => format!("{family} {}", Measure::Rate.title()),
            own => format!("{family} {}", own.title()),
        },
        Metric::Own(own) => {
            let unit = own.unit_in(results.campaign.tick());
            let direction = match (unit, own.direction()) {
                ("frames/s" | "bit/s", _) => "",
                ("ns/byte" | "instructions/session" | "instructions/frame", _) => {
                    " (less is better)"
                }
                (_, Direction::HigherIsBetter) => " (longer is better)",
                (_, Direction::LowerIsBetter) => " (shorter is better)",
            };
            format!("{family} {}{direction}", own.title())
        }
        Metric::Cost if results.campaign.tick() == Tick::Instruction => {
            format!(
                "{family} frames per instruction of the device (1 / its instructions per frame)"
            )
        }
        Metric::Cost => {
            format!("{family} frames per busy second of the device (1 s / its cost per frame)")
        }
    }
}

/// The verdict as a sentence. No full stop at the end.
pub fn sentence(said: Said<'_>, margin: f64, subject: Subject<'_>) -> String {
    let Said { verdict, comparison, saved, apart, change } = said;
    let plain = verdict.sentence(comparison, margin, subject);
    let Subject { variant, baseline, .. } = subject;
    let head = |word: &str| format!("{variant} is {word} than {baseline} by ");
    let plain_head = head(verdict.word());
    let head = head(word(verdict, change));
    if let (Some(apart), Some(comparison)) = (apart, comparison) {
        return in_its_unit(&plain, (&plain_head, &head), (apart, comparison));
    }
    match (saved, plain.strip_prefix(&plain_head)) {
        (Some(saved), Some(rest)) => format!("{head}{}, which is {rest}", nanoseconds(saved)),
        (None, Some(rest)) => format!("{head}{rest}"),
        (_, None) => plain,
    }
}

/// A sentence with its percentages said in the unit of the figure.
fn in_its_unit(
    plain: &str,
    (plain_head, head): (&str, &str),
    (apart, comparison): (&Apart, &Comparison),
) -> String {
    // Behind the percentages stands a level that is not the usual one, then what is compared.
    // Where no digit leaves anything open there is no interval: `exactly 9.09 %`.
    let behind = |rest: &'_ str| rest.find(']').map(|at| at + 1).or_else(|| rest.find(" in "));
    let tail = plain.strip_prefix(plain_head).and_then(|rest| rest.get(behind(rest)?..));
    if let Some(rest) = tail {
        let (level, rest) = rest.split_at(rest.find(" in ").unwrap_or(0));
        return format!("{head}{}{rest}", apart.in_words(level));
    }
    let narrow = comparison.interval90;
    let [of_equivalence, usual] = [narrow, comparison.interval95]
        .map(|own| percent_interval(own.low.percent(), own.high.percent()));
    let in_unit = apart.interval_of([narrow.low, narrow.high]);
    match plain.contains(&usual) {
        true => plain.replace(&usual, &apart.interval()),
        false => plain.replace(&of_equivalence, &in_unit),
    }
}

/// The change and its interval as they are written: in per cent, beyond ten times as ratios, or in the unit of the figure where a
/// percentage would be of next to nothing.
pub fn change(comparison: &Comparison, apart: Option<&Apart>) -> [String; 2] {
    let interval = comparison.interval95;
    match apart {
        Some(apart) => [apart.change(), apart.interval()],
        None => signed_change(comparison.estimate, [interval.low, interval.high]),
    }
}

/// The sentence of an invalid verdict without its causes, where each of them is among the findings, which
/// stand below it with what helps; else all of it.
pub fn without_causes<'s>(sentence: &'s str, verdict: &Verdict, findings: &[Finding]) -> &'s str {
    let Verdict::Invalid { why } = verdict else { return sentence };
    let below: Vec<String> = findings.iter().map(Finding::to_string).collect();
    let causes = format!(": {}", why.join("; "));
    let are_below = why.iter().all(|cause| below.contains(cause));
    sentence.strip_suffix(&causes).filter(|_| are_below).unwrap_or(sentence)
}

/// `12.3 ns per frame [11.2, 13.1] of 52.1`, without a sign; instructions where those were counted. Where no
/// digit shown leaves anything open: `exactly 465.7 instructions per frame of 2972`.
fn nanoseconds(saved: &Saved) -> String {
    let [a, b] = saved.interval_ns.map(|ns| if saved.ns < 0.0 { -ns } else { ns });
    let [own, low, high] = [saved.ns.abs(), a.min(b), a.max(b)].map(units::ns_fine);
    let (each, of) = (saved.tick.per_frame(), units::ns(saved.baseline_ns));
    match low == own && high == own {
        // All its digits are 0, and it is not.
        true if own.parse() == Ok(0.0) && saved.ns != 0.0 => {
            let zeros = &own[..own.len() - 1];
            format!("less than {zeros}1 {each} of {}", units::ns_fine(saved.baseline_ns))
        }
        true => format!("exactly {own} {each} of {of}"),
        false => format!("{own} {each} [{low}, {high}] of {of}"),
    }
}

/// What the same nanoseconds would be on devices of other speeds: `as many ns would be +61.3 % on a
/// device of 100 ns per frame, +14.5 % of 300, +3.95 % of 1000`; nothing where no time was counted.
pub fn elsewhere(saved: &Saved) -> Option<String> {
    if saved.on_devices.is_empty() {
        return None;
    }
    let mut text = String::from("as many ns would be");
    for (i, device) in saved.on_devices.iter().enumerate() {
        let change =
            device.ratio.map_or("more than it takes".to_owned(), |r| signed_percent(r.percent()));
        let between = if i == 0 { " " } else { ", " };
        let of = if i == 0 { "on a device of" } else { "of" };
        let unit = if i == 0 { " ns per frame" } else { "" };
        let _ = write!(text, "{between}{change} {of} {:.0}{unit}", device.ns_per_frame);
    }
    Some(text)
}

/// What is quoted: estimand, correction among several questions, and the confidence where it is not the
/// usual. The method names its own correction for several variants.
pub fn quoted(comparison: &Comparison) -> String {
    let mut text = comparison.estimand.describe().to_owned();
    if let Some(correction) = comparison.correction {
        let _ = write!(text, ", {}", correction.describe());
    }
    if comparison.is_unusual() {
        let _ = write!(text, ", interval at {} %", units::level(comparison.level().percent()));
    }
    text
}

/// The confidence of the intervals of these: `95`, or all that there are: `95 and 99.5`.
pub fn levels<'a>(all: impl Iterator<Item = &'a Comparison>) -> String {
    let mut found: Vec<String> = Vec::new();
    for own in all {
        let level = units::level(own.level().percent());
        if !found.contains(&level) {
            found.push(level);
        }
    }
    match found.is_empty() {
        true => units::level(Confidence::USUAL.percent()),
        false => found.join(" and "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_no_digit_shows_is_not_printed() {
        let saved = |width: f64| Saved {
            baseline_ns: 2972.34,
            ns: -465.71,
            interval_ns: [-465.71 - width, -465.71 + width],
            on_devices: Vec::new(),
            tick: Tick::Instruction,
        };
        assert_eq!(nanoseconds(&saved(0.001)), "exactly 465.7 instructions per frame of 2972");
        let (ns, interval_ns, baseline_ns) = (0.0005, [0.0004, 0.0006], 0.2);
        let hardly = Saved { ns, interval_ns, baseline_ns, ..saved(0.001) };
        assert!(nanoseconds(&hardly).starts_with("less than 0.0"), "{}", nanoseconds(&hardly));
        let wide = "465.7 instructions per frame [464.7, 466.7] of 2972";
        assert_eq!(nanoseconds(&saved(1.0)), wide);
    }

    #[test]
    fn causes_that_stand_below_a_verdict_do_not_stand_in_it() {
        let findings = [Finding::NotBlocked];
        let why = vec![Finding::NotBlocked.to_string()];
        let sentence = format!("invalid: a and b cannot be compared: {}", why[0]);
        let short = "invalid: a and b cannot be compared";
        let verdict = Verdict::Invalid { why };
        assert_eq!(without_causes(&sentence, &verdict, &findings), short);
        // What stands nowhere else stays.
        assert_eq!(without_causes(&sentence, &verdict, &[]), sentence);
        let equal = "a is equivalent to b";
        assert_eq!(without_causes(equal, &Verdict::Equivalent, &findings), equal);
    }
}
