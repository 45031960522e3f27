//! One family against the other, where each has blocks of its own: "IPv6 is faster than IPv4",
//! "IPv4 gains more than IPv6".

use std::collections::BTreeSet;

use super::claim::MARGIN;
use super::named::named;
use crate::finding::{AuditFindings, Rule, Severity, Text};
use crate::pair::Pair;
use crate::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::clause::{Clause, Sign};
use fwdlab_sentence::families::{Gap, Ranked, Ranking};
use fwdlab_sentence::subject::spoken;

/// Returns true where the clause compares families that no block compares.
pub(super) fn check(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let Some(said) = Ranking::of(clause).filter(|_| clause.percents.is_empty()) else {
        return false;
    };
    let blocks = |family: NamedFamily| -> Vec<&[SourcedSet<'_>]> {
        let all = (0..around.sets.len()).filter(|b| {
            let families = around.block_families(*b);
            families.len() == 1 && families.contains(&family)
        });
        all.map(|b| around.sets[b].as_slice()).collect()
    };
    if (0..around.sets.len()).any(|b| around.block_families(b).len() > 1) {
        return false;
    }
    let (first, second) = (blocks(said.first), blocks(said.second));
    let data = match &said.ranked {
        Ranked::Rates(sign) => against_rates(clause, *sign, &first, &second),
        Ranked::Changes(sign) => against_changes(&first, &second, |a, b| {
            let apart = (a.mean_percent - b.mean_percent) * sign.factor();
            apart < -(a.half_width + b.half_width)
        }),
        Ranked::Only(sign) => against_changes(&first, &second, |_, b| {
            b.is_proven && b.mean_percent * sign.factor() > MARGIN
        }),
        Ranked::Times(factor) => against_changes(&first, &second, |a, b| {
            let times = a.mean_percent / b.mean_percent;
            times < 0.0 || (times / factor).ln().abs() > FAR.ln()
        }),
    };
    if let Some(data) = data {
        let claim = format!("'{}' in: {}", said.word, clause.text.trim());
        let text = Text::new(claim, data, "write what the blocks say of each family");
        findings.add(Rule::ClaimSign, Severity::Wrong, line, text);
    }
    // that the first changes at all is for its own block to say
    !first.is_empty() && !second.is_empty() && !matches!(said.ranked, Ranked::Only(_))
}

/// Rates of sets that differ in the family alone. All that the clause can mean have to refute it;
/// "with or without" means each.
fn against_rates(
    clause: &Clause,
    sign: Sign,
    first: &[&[SourcedSet<'_>]],
    second: &[&[SourcedSet<'_>]],
) -> Option<String> {
    let words = spoken(&clause.text);
    let is_each = words.windows(3).any(|w| w[0] == "with" && w[1] == "or" && w[2] == "without");
    let is_without = words.iter().any(|w| w == "without");
    let mut refuting = Vec::new();
    let mut count = 0;
    for (a, b) in first.iter().flat_map(|f| second.iter().map(move |s| (*f, *s))) {
        let meant = named(&words, a);
        for (index, set) in a.iter().enumerate() {
            let is_meant = meant.is_empty() || is_each || meant.contains(&index) != is_without;
            let alike = b.iter().find(|o| {
                let telling = |m: &SourcedSet<'_>| {
                    m.label.telling_words().into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
                };
                telling(o) == telling(set)
            });
            let (true, Some(alike)) = (is_meant, alike) else { continue };
            let Some(pair) = Pair::of(alike, set) else { continue };
            count += 1;
            if pair.is_proven && pair.mean_percent * sign.factor() < 0.0 {
                refuting.push(format!(
                    "'{}' against '{}': {}",
                    set.set.legend,
                    alike.set.legend,
                    show(pair.mean_percent)
                ));
            }
        }
    }
    let is_refuted = if is_each { !refuting.is_empty() } else { refuting.len() == count };
    refuting.into_iter().next().filter(|_| is_refuted)
}

/// How far a factor between changes may be off.
const FAR: f64 = 1.6;

/// What changed from the first set to the second, by family, where all of it refutes the clause.
fn against_changes(
    first: &[&[SourcedSet<'_>]],
    second: &[&[SourcedSet<'_>]],
    refutes: impl Fn(&Pair, &Pair) -> bool,
) -> Option<String> {
    let changes = |blocks: &[&[SourcedSet<'_>]]| -> Option<Vec<Pair>> {
        blocks.iter().map(|b| if let [x, y] = b { Pair::of(x, y) } else { None }).collect()
    };
    let (a, b) = (changes(first)?, changes(second)?);
    let is_refuted = !a.is_empty()
        && !b.is_empty()
        && a.iter().flat_map(|a| b.iter().map(move |b| (a, b))).all(|(a, b)| refutes(a, b));
    is_refuted.then(|| {
        format!("the changes are {} and {}", show(a[0].mean_percent), show(b[0].mean_percent))
    })
}

/// Share of a gap by which another may differ that is said to be as wide.
const ALIKE: f64 = 0.4;

/// "The gap between the families doubles": held against both gaps of the page. Returns true where the
/// clause speaks of them.
pub(super) fn check_gap(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let Some(said) = Gap::of(clause) else { return false };
    let Some([one, other]) = gaps(around) else { return true };
    // in per cent and in frames/s, as it may mean either
    let is_refuted = [|gap: &Width| gap.percent, |gap: &Width| gap.rate].iter().all(|width| {
        let ((a, a_half), (b, b_half)) = (width(&one), width(&other));
        let (grown, unsure) = (b.abs() - a.abs(), a_half + b_half);
        match said {
            Gap::Same => grown.abs() > unsure + ALIKE * a.abs().max(b.abs()),
            Gap::Moves(sign) => grown * sign.factor() <= unsure,
            Gap::Times(factor) => ((b / a).abs() / factor).ln().abs() > FAR.ln(),
            Gap::Other => false,
        }
    });
    if is_refuted {
        let data =
            format!("IPv6 against IPv4 is {}, then {}", show(one.percent.0), show(other.percent.0));
        let text = Text::new(clause.text.trim(), data, "write both gaps");
        findings.add(Rule::ClaimSize, Severity::Wrong, line, text);
    }
    true
}

/// How far IPv6 is from IPv4, each with its half width.
struct Width {
    percent: (f64, f64),
    rate: (f64, f64),
}

/// The gaps of a page that shows two kinds of sets for both families.
fn gaps(around: &Surroundings<'_>) -> Option<[Width; 2]> {
    let mut kinds: Vec<BTreeSet<&str>> = Vec::new();
    for set in around.sets.iter().flatten() {
        let kind = set.label.telling_words();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of = |kind: &BTreeSet<&str>, family: NamedFamily| {
        let mut sets = around.sets.iter().flatten();
        sets.find(|set| set.family == Some(family) && set.label.telling_words() == *kind)
    };
    let width = |kind: &BTreeSet<&str>| {
        let (inet, inet6) = (of(kind, NamedFamily::Inet)?, of(kind, NamedFamily::Inet6)?);
        let pair = Pair::of(inet, inet6)?;
        let frames = |percent: f64| percent / 100.0 * inet.row.mean();
        let (change, half) = (pair.mean_percent, pair.half_width);
        Some(Width { percent: (change, half), rate: (frames(change), frames(half)) })
    };
    let mut widths: Vec<Width> = kinds.iter().filter_map(width).collect();
    // one set under two spellings
    widths.dedup_by(|a, b| (a.percent.0 - b.percent.0).abs() < 1e-3);
    widths.try_into().ok()
}
