//! Numbers of a clause that no other rule has held against a block: a percentage that no two sets of the page
//! are apart, a rate that nothing on it gives. They may be of something that the page does not show, so that
//! a person is asked.

use crate::claim::Compared;
use crate::held::{is_of_none, line_of, of_another_machine, sentence_of};
use crate::percent::agreement_of;
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::page::Item;
use fwdlab_results::units::{exact_percent, rate};
use fwdlab_sentence::agreement::Agreement;
use fwdlab_sentence::clause::{Clause, quotes_earlier, words};
use fwdlab_sentence::interval::Said;
use fwdlab_sentence::levels::is_of_no_level;
use fwdlab_sentence::quantity::rates;
use fwdlab_sentence::subject::is_of_others;

/// Pages of more sets are tables, of which any number is some difference.
const MOST_SETS: usize = 24;
/// How far a rate may be off what it is of.
const NEAR: f64 = 0.05;

/// Each number of a clause.
pub(crate) fn check(
    around: &Surroundings<'_>,
    item: &Item,
    clause: &Clause,
    findings: &mut AuditFindings,
) {
    let sets: Vec<&SourcedSet<'_>> = around.sets.iter().flatten().collect();
    let sentence = sentence_of(item, clause);
    if !(2..=MOST_SETS).contains(&sets.len())
        || quotes_earlier(sentence)
        || is_of_others(sentence)
        || of_another_machine(around, item, clause)
        || is_of_none(around, item, clause)
        || Said::of(&clause.text).is_some()
    {
        return;
    }
    let pairs = || {
        let others = |a: &SourcedSet<'_>, b: &SourcedSet<'_>| !std::ptr::eq(a, b);
        let all = sets.iter().flat_map(|a| sets.iter().map(move |b| (*a, *b)));
        all.filter(move |(a, b)| others(a, b))
    };
    let line = line_of(item, clause);
    let mut ask = |rule: Rule, said: &str, data: String| {
        let claim = format!("'{said}' in: {}", clause.text.trim());
        let text = Text::new(claim, data, "take the number from a block, or show what it is of");
        findings.add(rule, Severity::Check, line, text);
    };
    for percent in &clause.percents {
        let compared: Vec<Compared<'_>> = pairs()
            .filter_map(|(base, variant)| {
                let pair = Pair::of(base, variant)?;
                Some(Compared { base, variant, pair, is_oriented: true })
            })
            .collect();
        let nearest = compared.iter().map(|c| c.pair.mean_percent.abs());
        let nearest =
            nearest.min_by(|a, b| (a - percent.value).abs().total_cmp(&(b - percent.value).abs()));
        let is_given = compared.iter().any(|c| agreement_of(percent, c) <= Agreement::Near);
        if let Some(nearest) = nearest.filter(|_| !is_given) {
            let data = format!(
                "no two sets of the page are so far apart; the nearest: {}",
                exact_percent(nearest)
            );
            ask(Rule::ClaimSize, &percent.text, data);
        }
    }
    let is_bound = |offset: usize| {
        const BOUNDS: [&str; 10] =
            ["below", "under", "above", "over", "beyond", "than", "past", "for", "least", "most"];
        let before = words(&clause.text[..offset]);
        before.iter().rev().take(2).any(|(_, word)| BOUNDS.contains(&word.as_str()))
    };
    let stated = rates(&clause.text);
    let stated = stated.iter().filter(|rate| !is_of_no_level(clause) && !is_bound(rate.offset));
    for mention in stated {
        let is_near = |value: f64| (mention.pps() / value - 1.0).abs() <= NEAR;
        let of_run = |set: &&SourcedSet<'_>| {
            let values = &set.row.values;
            (values[0] * (1.0 - NEAR)..=values[1] * (1.0 + NEAR)).contains(&mention.pps())
        };
        let of_two = |(a, b): (&SourcedSet<'_>, &SourcedSet<'_>)| {
            is_near((a.row.mean() - b.row.mean()).abs())
                || is_near((a.row.median() - b.row.median()).abs())
        };
        let is_spread = |set: &&SourcedSet<'_>| {
            is_near(set.row.sd()) || is_near(set.row.values[1] - set.row.values[0])
        };
        let is_known = sets.iter().any(|s| of_run(s) || is_spread(s)) || pairs().any(of_two);
        let values = || around.data.all_values().values().flatten();
        if !is_known && !values().any(|value| is_near(*value)) {
            let medians = sets.iter().map(|set| set.row.median());
            let off = |value: &f64| (mention.pps() / value).ln().abs();
            let nearest = medians.min_by(|a, b| off(a).total_cmp(&off(b)));
            let nearest = nearest.map_or_else(String::new, rate);
            let data = format!(
                "no set of the page has it, and no two are so far apart; the nearest has {nearest}"
            );
            ask(Rule::ClaimRate, &mention.text, data);
        }
    }
}
