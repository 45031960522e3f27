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
use fwdlab_sentence::levels::{is_end_of_range, is_of_no_level};
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
    let asked = Asked { around, clause, sets, line: line_of(item, clause) };
    asked.percents(findings);
    asked.rates(findings);
}

/// A clause whose numbers are looked for in all sets of a page.
struct Asked<'a> {
    around: &'a Surroundings<'a>,
    clause: &'a Clause,
    sets: Vec<&'a SourcedSet<'a>>,
    line: usize,
}

impl<'a> Asked<'a> {
    /// Any two sets, both ways.
    fn pairs(&self) -> impl Iterator<Item = (&'a SourcedSet<'a>, &'a SourcedSet<'a>)> {
        let others = |a: &SourcedSet<'_>, b: &SourcedSet<'_>| !std::ptr::eq(a, b);
        let all = self.sets.iter().flat_map(|a| self.sets.iter().map(move |b| (*a, *b)));
        all.filter(move |(a, b)| others(a, b))
    }

    fn ask(&self, rule: Rule, said: &str, data: String, findings: &mut AuditFindings) {
        let claim = format!("'{said}' in: {}", self.clause.text.trim());
        let text = Text::new(claim, data, "take the number from a block, or show what it is of");
        findings.add(rule, Severity::Check, self.line, text);
    }

    /// Each percentage: whether two sets are so far apart.
    fn percents(&self, findings: &mut AuditFindings) {
        for percent in &self.clause.percents {
            let compared: Vec<Compared<'_>> = self
                .pairs()
                .filter_map(|(base, variant)| {
                    let pair = Pair::of(base, variant)?;
                    Some(Compared { base, variant, pair, is_oriented: true })
                })
                .collect();
            let off = |of: f64| (of - percent.value).abs();
            let nearest = compared.iter().map(|c| c.pair.mean_percent.abs());
            let nearest = nearest.min_by(|a, b| off(*a).total_cmp(&off(*b)));
            let is_given = compared.iter().any(|c| agreement_of(percent, c) <= Agreement::Near);
            if let Some(nearest) = nearest.filter(|_| !is_given) {
                let data = format!(
                    "no two sets of the page are so far apart; the nearest: {}",
                    exact_percent(nearest)
                );
                self.ask(Rule::ClaimSize, &percent.text, data, findings);
            }
        }
    }

    /// Each rate: whether a set has it, or two are so far apart.
    fn rates(&self, findings: &mut AuditFindings) {
        let stated = rates(&self.clause.text);
        let is_stated = |offset: usize| {
            let before = &self.clause.text[..offset];
            !is_of_no_level(self.clause) && !is_bound(before) && !is_end_of_range(before)
        };
        for mention in stated.iter().filter(|rate| is_stated(rate.offset)) {
            if self.is_known(mention.pps()) {
                continue;
            }
            let medians = self.sets.iter().map(|set| set.row.median());
            let off = |value: &f64| (mention.pps() / value).ln().abs();
            let nearest = medians.min_by(|a, b| off(a).total_cmp(&off(b)));
            let nearest = nearest.map_or_else(String::new, rate);
            let data = format!(
                "no set of the page has it, and no two are so far apart; the nearest has {nearest}"
            );
            self.ask(Rule::ClaimRate, &mention.text, data, findings);
        }
    }

    /// Whether something on the page, or beside it, has a rate.
    fn is_known(&self, pps: f64) -> bool {
        let is_near = |value: f64| (pps / value - 1.0).abs() <= NEAR;
        let of_run = |set: &&SourcedSet<'_>| {
            let values = &set.row.values;
            (values[0] * (1.0 - NEAR)..=values[1] * (1.0 + NEAR)).contains(&pps)
        };
        let of_two = |(a, b): (&SourcedSet<'_>, &SourcedSet<'_>)| {
            is_near((a.row.mean() - b.row.mean()).abs())
                || is_near((a.row.median() - b.row.median()).abs())
        };
        let is_spread = |set: &&SourcedSet<'_>| {
            is_near(set.row.sd()) || is_near(set.row.values[1] - set.row.values[0])
        };
        self.sets.iter().any(|set| of_run(set) || is_spread(set))
            || self.pairs().any(of_two)
            || self.around.data.all_values().values().flatten().any(|value| is_near(*value))
    }
}

/// Whether what stands before a rate makes it a bound.
fn is_bound(before: &str) -> bool {
    const BOUNDS: [&str; 10] =
        ["below", "under", "above", "over", "beyond", "than", "past", "for", "least", "most"];
    let before = words(before);
    before.iter().rev().take(2).any(|(_, word)| BOUNDS.contains(&word.as_str()))
}
