//! Sets of different blocks held against each other: "with LRO, 8 queues are no faster than 4", where one block shows
//! the numbers of queues and another LRO; and "the best run of all", which is one of the page.

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_results::units::{exact_percent, rate};
use fwdlab_sentence::clause::{Clause, Sign, Stance, words};
use fwdlab_sentence::subject::{THAN, folded, spoken, turned};

use crate::claim::MARGIN;
use crate::named::{among, label_of};

/// A clause that names a set on either side of "than", which no one block shows.
pub(crate) fn check(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) {
    let sets: Vec<&SourcedSet<'_>> = around.sets.iter().flatten().collect();
    if around.sets.len() < 2 {
        return;
    }
    check_end(&sets, clause, line, findings);
    if !clause.percents.is_empty() || clause.factor.is_some() {
        return;
    }
    let Some((subject, object)) = sides(around, &sets, &clause.text) else { return };
    let is_contrary = |percent: f64| match clause.stance {
        Stance::Silent => way(&clause.text).is_some_and(|sign| percent * sign.factor() < 0.0),
        Stance::Change(sign, _) => percent * sign.factor() < 0.0,
        Stance::NotThat(sign, _) => percent * sign.factor() > MARGIN,
        Stance::NoChange(_) => percent.abs() > MARGIN,
        _ => false,
    };
    let Some(pair) = Pair::of(object, subject).filter(|pair| pair.is_proven) else { return };
    if is_contrary(pair.mean_percent) {
        let data = format!(
            "'{}' against '{}': {}",
            subject.set.legend,
            object.set.legend,
            exact_percent(pair.mean_percent)
        );
        let text = Text::new(clause.text.trim(), data, "write what the blocks say");
        findings.add(Rule::ClaimSign, Severity::Check, line, text);
    }
}

/// "Forward less than": which way the word before "than" goes.
fn way(text: &str) -> Option<Sign> {
    let own: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let than = own.iter().rposition(|word| word == "than")?;
    match own[than.checked_sub(1)?].as_str() {
        "more" | "faster" | "better" | "higher" | "quicker" => Some(Sign::Up),
        "less" | "slower" | "worse" | "lower" | "fewer" => Some(Sign::Down),
        _ => None,
    }
}

/// The sets on either side, where no block shows both.
fn sides<'a>(
    around: &'a Surroundings<'_>,
    sets: &[&'a SourcedSet<'a>],
    text: &str,
) -> Option<(&'a SourcedSet<'a>, &'a SourcedSet<'a>)> {
    let said = spoken(&turned(text));
    let than = said.iter().rposition(|word| THAN.contains(&word.as_str()))?;
    // "with the patch, pf is faster than ipfw" is of both with it
    let is_patched = |set: &SourcedSet<'_>| !set.label.patches.is_empty();
    let state = patched(&said);
    let kept: Vec<&SourcedSet<'_>> =
        sets.iter().copied().filter(|set| state.is_none_or(|own| own == is_patched(set))).collect();
    let subject = among(&said[..than], &kept)?;
    let object = among(&said[than + 1..], &kept)?;
    let shows = |block: &Vec<SourcedSet<'_>>, set: &SourcedSet<'_>| {
        block.iter().any(|own| own.row.values == set.row.values)
    };
    let is_shown = around.sets.iter().any(|block| shows(block, subject) && shows(block, object));
    (!is_shown && subject.row.values != object.row.values).then_some((subject, object))
}

/// Whether it is said of what is patched, or of what is not; `None` where that is open.
fn patched(said: &[String]) -> Option<bool> {
    let at = said.iter().position(|word| matches!(word.as_str(), "patch" | "patched"))?;
    let is_second = said[at + 1..].iter().any(|word| word.contains("patch"));
    let is_denied = said[at.saturating_sub(2)..at].iter().any(|word| word == "without");
    (!is_second).then_some(!is_denied)
}

/// "The slowest run of all was with pf": whose the first or the last of all runs of the page is.
fn check_end(sets: &[&SourcedSet<'_>], clause: &Clause, line: usize, findings: &mut AuditFindings) {
    const LOWEST: [&str; 4] = ["worst", "lowest", "slowest", "minimum"];
    const HIGHEST: [&str; 4] = ["best", "highest", "fastest", "maximum"];
    const RUNS: [&str; 8] =
        ["run", "trial", "bench", "benche", "sample", "measurement", "result", "value"];
    let own: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    let end = own.iter().find_map(|word| match word.as_str() {
        word if LOWEST.contains(&word) => Some(Sign::Down),
        word if HIGHEST.contains(&word) => Some(Sign::Up),
        _ => None,
    });
    let said = spoken(&clause.text);
    // "of all pf runs" is of these only
    let is_label = |word: &str| {
        let word = folded(word);
        sets.iter().any(|set| label_of(set).contains(&word))
    };
    let all = own.windows(2).position(|two| two[0] == "of" && two[1] == "all");
    let is_of_all = all.is_some_and(|at| !own.get(at + 2).is_some_and(|next| is_label(next)))
        || own.iter().any(|word| word == "overall");
    let is_of_runs = said.iter().any(|word| RUNS.contains(&word.as_str()));
    let Some(sign) = end.filter(|_| is_of_all && is_of_runs) else { return };
    let is_named = |set: &&&SourcedSet<'_>| {
        patched(&said).is_none_or(|own| own != set.label.patches.is_empty())
    };
    let kept: Vec<&SourcedSet<'_>> = sets.iter().filter(is_named).copied().collect();
    let Some(named) = among(&said, &kept) else { return };
    let of = |set: &SourcedSet<'_>| sign.factor() * set.row.values[usize::from(sign == Sign::Up)];
    let first = sets.iter().copied().max_by(|a, b| of(a).total_cmp(&of(b)));
    let Some(first) = first.filter(|first| of(first) > of(named)) else { return };
    let run = |set: &SourcedSet<'_>| rate(of(set).abs());
    let data =
        format!("'{}' has {}, '{}' {}", first.set.legend, run(first), named.set.legend, run(named));
    let text = Text::new(clause.text.trim(), data, format!("name '{}'", first.set.legend));
    findings.add(Rule::ClaimRate, Severity::Check, line, text);
}
