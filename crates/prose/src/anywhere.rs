//! Percentages that stand beside no block, as in lists at the end of a page and in tables: some block
//! of the page must give them.

use crate::claim::{Claim, Compared, is_contrary};
use crate::percent::{agreement_of, is_of_another_page};
use crate::wording::{compared, names_set};
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::agreement::Agreement;
use fwdlab_sentence::clause::{Clause, Percent, Sign, Stance};

/// The percentages of a clause that says whose they are: a family, or a set of a block.
pub(crate) fn check(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) {
    let sign = |percent: &Percent| {
        percent.sign.or(match &clause.stance {
            Stance::Change(sign, _) => Some(*sign),
            _ => None,
        })
    };
    let is_claim = |p: &&Percent| sign(p).is_some();
    let claimed: Vec<&Percent> = clause.percents.iter().filter(is_claim).collect();
    if claimed.is_empty() || clause.families.len() > 1 {
        return;
    }
    let claims = claims(around, clause, line);
    for percent in claimed {
        check_percent(&claims, clause, percent, sign(percent), line, findings);
    }
}

/// The clause as a claim about each block that it can mean.
fn claims<'a>(around: &'a Surroundings<'_>, clause: &'a Clause, line: usize) -> Vec<Claim<'a>> {
    let mut claims = Vec::new();
    for (block, sets) in around.sets.iter().enumerate() {
        let families = around.block_families(block);
        let is_family = families == clause.families;
        let is_other = !clause.families.is_empty() && !is_family;
        if is_other || !is_family && !names_set(clause, sets) {
            continue;
        }
        let pairs = compared(sets, clause);
        let spoken = Spoken { block, is_sure: false };
        claims.extend((!pairs.is_empty()).then(|| Claim {
            clause,
            line,
            sets,
            spoken,
            is_worded: true,
            pairs,
        }));
    }
    claims
}

fn check_percent(
    claims: &[Claim<'_>],
    clause: &Clause,
    percent: &Percent,
    sign: Option<Sign>,
    line: usize,
    findings: &mut AuditFindings,
) {
    let fits = |c: &Compared<'_>| agreement_of(percent, c) <= Agreement::Near;
    let is_right = |c: &&Compared<'_>| fits(c) && !sign.is_some_and(|s| is_contrary(s, c));
    let all = || claims.iter().flat_map(|claim| &claim.pairs);
    let Some(first) = all().next() else { return };
    let quoted = claims.iter().any(|claim| is_of_another_page(claim, percent));
    if all().any(|c| is_right(&c)) || quoted {
        return;
    }
    let contrary = all().find(|c| fits(c));
    let is_only = all().count() == 1;
    let (rule, shown) = match contrary {
        Some(pair) => (Rule::ClaimSign, pair),
        None => (Rule::ClaimSize, first),
    };
    let data = format!(
        "{} '{}' against '{}': {} ± {:.2} %",
        if is_only { "the block of it says" } else { "no block says so; the first of them:" },
        shown.variant.set.legend,
        shown.base.set.legend,
        show(shown.pair.mean_percent),
        shown.pair.half_width
    );
    let is_certain = is_only && shown.is_oriented && !percent.is_rough;
    findings.add(
        rule,
        if is_certain { Severity::Wrong } else { Severity::Check },
        line,
        Text::new(
            format!("'{}' in: {}", percent.text, clause.text.trim()),
            data,
            format!("write {}", show(shown.pair.mean_percent)),
        ),
    );
}
