//! "The slowest patched run has 4.84 Mpps", "the worst run without it beats the best with it": single runs at
//! the ends of sets, held against their minimum and maximum.

use std::collections::BTreeSet;

use crate::named::side;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{SourcedSet, Spoken};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::quantity::rates;

const LOWEST: [&str; 4] = ["worst", "lowest", "slowest", "minimum"];
const HIGHEST: [&str; 4] = ["best", "highest", "fastest", "maximum"];
/// What a set consists of.
const RUNS: [&str; 10] = [
    "run",
    "runs",
    "sample",
    "samples",
    "measurement",
    "bench",
    "benches",
    "iteration",
    "trial",
    "trials",
];
const VALUES: [&str; 3] = ["value", "values", "one"];
/// Words by which the first of two is the higher, or the lower one.
const ABOVE: [&str; 7] = ["beats", "beat", "above", "faster", "quicker", "higher", "better"];
const BELOW: [&str; 5] = ["below", "slower", "lower", "behind", "worse"];
/// How far a rate may be off, beside its rounding.
const SLACK: f64 = 0.004;

/// An end of a set.
struct End<'a> {
    set: &'a SourcedSet<'a>,
    value: f64,
}

/// True where the clause speaks of single runs, and no more is to be said of it.
pub(crate) fn check(
    clause: &Clause,
    line: usize,
    spoken: Spoken,
    sets: &[SourcedSet<'_>],
    findings: &mut AuditFindings,
) -> bool {
    if !is_of_runs(clause) {
        return false;
    }
    let words = in_order(clause);
    let mut say = |data: String, remedy: String| {
        let severity = if spoken.is_sure { Severity::Wrong } else { Severity::Check };
        findings.add(Rule::ClaimRate, severity, line, Text::new(clause.text.trim(), data, remedy));
    };
    let ends: Vec<usize> = (0..words.len()).filter(|at| is_end(&words[*at])).collect();
    let of = |from: usize, to: usize| end_of(&words[from..to], sets, &clause.families);
    match ends.as_slice() {
        [_] => {
            let (stated, Some(end)) = (rates(&clause.text), of(0, words.len())) else {
                return true;
            };
            let [mention] = stated.as_slice() else { return true };
            let rounding = 0.5 * mention.unit / 10f64.powi(mention.decimals as i32);
            if (mention.pps() - end.value).abs() > SLACK * end.value + rounding {
                let data = format!("that run of '{}' has {}", end.set.set.legend, rate(end.value));
                say(data, format!("write {}", rate(end.value)));
            }
        }
        [_, second] => {
            let (Some(a), Some(b)) = (of(0, *second), of(*second, words.len())) else {
                return true;
            };
            let has = |list: &[&str]| words.iter().any(|word| is_in(word, list));
            let is_denied = has(&["not", "never", "no", "cannot"]);
            let is_refuted = match (has(&ABOVE), has(&BELOW)) {
                (true, false) => a.value < b.value,
                (false, true) => a.value > b.value,
                _ => false,
            };
            if is_refuted && !is_denied {
                say(
                    format!("they have {} and {}", rate(a.value), rate(b.value)),
                    "name the other way".to_owned(),
                );
            }
        }
        _ => {}
    }
    true
}

fn in_order(clause: &Clause) -> Vec<String> {
    words(&clause.text).into_iter().map(|(_, word)| word).collect()
}

fn is_end(word: &str) -> bool {
    is_in(word, &LOWEST) || is_in(word, &HIGHEST)
}

/// Whether a clause speaks of single runs: of "the fastest one" and "the best value" only where a rate stands
/// beside it, as sets have a first one, too.
pub(crate) fn is_of_runs(clause: &Clause) -> bool {
    let words = in_order(clause);
    let has_rate = !rates(&clause.text).is_empty();
    let is_run = |word: &String| is_in(word, &RUNS) || has_rate && is_in(word, &VALUES);
    let is_of_a_run = |at: usize| words[at + 1..].iter().take(6).any(is_run);
    (0..words.len()).any(|at| is_end(&words[at]) && is_of_a_run(at))
}

fn is_in(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

/// The end of the set that some words name.
fn end_of<'a>(
    words: &[String],
    sets: &'a [SourcedSet<'a>],
    families: &BTreeSet<NamedFamily>,
) -> Option<End<'a>> {
    let is_lowest = words.iter().any(|word| is_in(word, &LOWEST));
    let is_own = |set: &SourcedSet<'_>| {
        set.family.is_none_or(|f| families.is_empty() || families.contains(&f))
    };
    let set = &sets[side(words, sets)?];
    let value = set.row.values[usize::from(!is_lowest)];
    is_own(set).then_some(End { set, value })
}
