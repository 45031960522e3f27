//! Sentences against the block that they speak of.

mod anywhere;
mod change;
mod moves;
mod percent;
mod tables;
mod wording;

use crate::context::{Context, Measured, Spoken};
use crate::figures::percent as show;
use crate::finding::{Findings, Rule, Severity, Text};
use crate::page::{Item, ItemKind};
use crate::pair::Pair;
use change::{
    check_all, check_factor, check_no_change, check_not_that, check_same_size, check_sign,
};
use fwdlab_sentence::clause::{Clause, Sign, Stance, clauses, words};
use percent::{check_percent, is_of_another_page};
use wording::compared;

/// Differences under this many per cent count as none.
const MARGIN: f64 = 1.0;

/// Every item of prose.
pub fn check(context: &Context<'_>, findings: &mut Findings) {
    tables::check(context, findings);
    for item in context.page.items.iter().filter(|item| item.kind != ItemKind::Row) {
        for clause in clauses(&item.text) {
            check_clause(context, item, &clause, findings);
        }
    }
}

/// Beginnings of words for a rate that becomes smaller.
const DROPS: [&str; 9] =
    ["drop", "decreas", "reduc", "fall", "fell", "lose", "lost", "loss", "lower"];

/// No rate can drop by more than all of it, whatever the block says.
fn check_possible(clause: &Clause, line: usize, findings: &mut Findings) {
    let words = words(&clause.text);
    let is_drop = words.iter().any(|(_, word)| DROPS.iter().any(|drop| word.starts_with(drop)));
    let is_of_time = words.iter().any(|(_, word)| TIMES.contains(&word.as_str()));
    let impossible = clause.percents.iter().find(|percent| {
        let is_down = percent.sign == Some(Sign::Down) || (percent.sign.is_none() && is_drop);
        is_down && percent.value > 100.0 && !is_of_time
    });
    let Some(percent) = impossible else { return };
    findings.add(
        Rule::ClaimImpossible,
        Severity::Wrong,
        line,
        Text::new(
            format!("'{}' in: {}", percent.text, clause.text.trim()),
            "a rate that drops by 100 % is 0",
            "write the drop in per cent of the higher rate, or how many times slower it is",
        ),
    );
}

/// What may become larger by more than 100 % when a rate drops, so that the number may be of it.
const TIMES: [&str; 7] = ["time", "times", "latency", "ns", "cost", "cycles", "jitter"];

/// A clause and the block it speaks of.
struct Claim<'a> {
    clause: &'a Clause,
    line: usize,
    sets: &'a [Measured<'a>],
    spoken: Spoken,
    /// False where nothing but a number says that it is of a change.
    is_worded: bool,
    /// Comparisons that the clause can mean, each with the set meant as base
    /// and the one meant as variant.
    pairs: Vec<Compared<'a>>,
}

/// A comparison as the clause words it.
struct Compared<'a> {
    base: &'a Measured<'a>,
    variant: &'a Measured<'a>,
    pair: Pair,
    /// False when the wording does not say which set is which.
    is_oriented: bool,
}

fn check_clause(context: &Context<'_>, item: &Item, clause: &Clause, findings: &mut Findings) {
    let line = item.line_at(clause.offset + clause.text.len() - clause.text.trim_start().len());
    let spoken = context.block_of(item, &clause.families);
    let is_silent = clause.stance == Stance::Silent || clause.stance == Stance::Mixed;
    if let Some(spoken) = spoken.filter(|_| clause.percents.is_empty()) {
        moves::check(context, clause, line, spoken, findings);
    }
    if is_silent && clause.percents.is_empty() && clause.factor.is_none() {
        return;
    }
    check_possible(clause, line, findings);
    if clause.is_about_all {
        check_all(context, clause, line, findings);
    }
    let Some(spoken) = spoken else {
        return anywhere::check(context, clause, line, findings);
    };
    let sets = context.sets[spoken.block].as_slice();
    let pairs = compared(sets, clause);
    if pairs.is_empty() {
        return;
    }
    let is_worded = !is_silent || item.kind == ItemKind::Conclusion || item.is_announcement();
    let claim = Claim { clause, line, sets, spoken, is_worded, pairs };
    if !clause.percents.is_empty() {
        for percent in &clause.percents {
            if !is_of_another_page(&claim, percent) {
                check_percent(&claim, percent, findings);
            }
        }
        return;
    }
    if clause.factor.is_some()
        && (clause.stance != Stance::Silent || item.kind == ItemKind::Conclusion)
    {
        check_factor(&claim, findings);
    }
    if clause.is_same_size {
        check_same_size(context, &claim, findings);
    }
    match &clause.stance {
        Stance::Change(sign, word) if !is_setting_list(item) => {
            check_sign(&claim, *sign, word, findings);
        }
        Stance::NoChange(word) if !is_setting_list(item) => check_no_change(&claim, word, findings),
        Stance::NotThat(sign, word) if !is_setting_list(item) => {
            check_not_that(&claim, *sign, word, findings);
        }
        _ => {}
    }
}

/// Bullets list settings; what they say about speed is no claim.
fn is_setting_list(item: &Item) -> bool {
    item.kind == ItemKind::Bullet
}

fn is_contrary(sign: Sign, compared: &Compared<'_>) -> bool {
    sign.factor() * compared.pair.mean_percent < 0.0
}

fn report_sign(claim: &Claim<'_>, word: &str, compared: &Compared<'_>, findings: &mut Findings) {
    let is_certain = claim.spoken.is_sure && compared.is_oriented && compared.pair.is_proven;
    let severity = if is_certain { Severity::Wrong } else { Severity::Check };
    let direction = if compared.pair.mean_percent < 0.0 { "slower" } else { "faster" };
    findings.add(
        Rule::ClaimSign,
        severity,
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!(
                "'{}' is {direction} than '{}': {}",
                compared.variant.set.legend,
                compared.base.set.legend,
                show(compared.pair.mean_percent)
            ),
            format!("write {:.1} % {direction}", compared.pair.mean_percent.abs()),
        ),
    );
}

fn report_unproven(
    claim: &Claim<'_>,
    word: &str,
    compared: &Compared<'_>,
    findings: &mut Findings,
) {
    let severity = if claim.spoken.is_sure && claim.pairs.len() == 1 {
        Severity::Wrong
    } else {
        Severity::Check
    };
    findings.add(
        Rule::ClaimUnproven,
        severity,
        claim.line,
        Text::new(
            format!("'{word}' in: {}", claim.clause.text.trim()),
            format!(
                "the block proves no difference: {} with 95 % interval {}",
                show(compared.pair.mean_percent),
                compared.pair.interval()
            ),
            "write that no difference is proven, or measure more runs",
        ),
    );
}
