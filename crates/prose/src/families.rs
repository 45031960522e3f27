//! One family against the other, where each has blocks of its own: "IPv6 is faster than IPv4",
//! "IPv4 gains more than IPv6".

use std::collections::BTreeSet;

use crate::claim::{Compared, MARGIN};
use crate::named::{among, named, side, stem};
use crate::percent::agreement_of;
use crate::sections::{self, Section};
use crate::topics::{Topic, Topics};
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_results::units::exact_percent as show;
use fwdlab_sentence::agreement::Agreement;
use fwdlab_sentence::clause::{Clause, Sign, Stance, words};
use fwdlab_sentence::families::{Gap, Ranked, Ranking, is_alike};
use fwdlab_sentence::subject::{folded, spoken};

/// Sets of blocks.
type Blocks<'a> = Vec<&'a [SourcedSet<'a>]>;

/// What is ranked, and against what.
struct Sides<'a> {
    first: Blocks<'a>,
    second: Blocks<'a>,
    /// Against each of the second, and not against any that may be meant.
    is_against_all: bool,
}

/// Returns true where the clause compares families, or topics, that no block compares.
pub(crate) fn check(
    around: &Surroundings<'_>,
    topics: &Topics,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    if !clause.percents.is_empty() {
        return false;
    }
    if is_alike(clause) {
        check_alike(around, clause, line, findings);
        return true;
    }
    let sets = |blocks: &mut dyn Iterator<Item = usize>| -> Blocks<'_> {
        blocks.map(|block| around.sets[block].as_slice()).collect()
    };
    let all = || 0..around.sets.len();
    if let Some(said) = Ranking::of_families(clause) {
        if all().any(|b| around.block_families(b).len() > 1) {
            return false;
        }
        let is_of = |block: &usize, is_first: bool| {
            let families = around.block_families(*block);
            families.len() == 1 && families.contains(&said.first) == is_first
        };
        let first = sets(&mut all().filter(|b| is_of(b, true)));
        let second = sets(&mut all().filter(|b| is_of(b, false)));
        let sides = Sides { first, second, is_against_all: false };
        return hold(clause, topics, (said.ranked, &said.word), &sides, line, findings);
    }
    let is_group = |word: &String| word.starts_with("firewall");
    let one = |words: &[String]| -> Option<Topic> {
        let words: Vec<&str> = words.iter().filter(|w| !is_group(w)).map(String::as_str).collect();
        let mut named = topics.named(&words.join(" ")).into_iter();
        named.next().filter(|_| named.next().is_none())
    };
    let Some(said) = Ranking::of(clause, one) else { return false };
    // "the fastest firewall" is none of all
    let all_words = words(&clause.text);
    let is_of_group = all_words.iter().any(|(_, word)| is_group(word));
    let group: Topic = topics.firewalls().into_iter().flatten().collect();
    let is_second = |b: &usize| match &said.second {
        Some(second) => second.contains(b),
        None => !said.first.contains(b) && (!is_of_group || group.contains(b)),
    };
    let first = sets(&mut said.first.iter().copied());
    let second = sets(&mut all().filter(is_second));
    let sides = Sides { first, second, is_against_all: said.second.is_none() };
    hold(clause, topics, (said.ranked, &said.word), &sides, line, findings)
}

/// "The Xeon gains less in IPv4 than the APU2 did": one machine of a page set against another.
pub(crate) fn between_machines(
    views: &[(Surroundings<'_>, Topics)],
    parts: &[Section],
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) {
    if !clause.percents.is_empty() || clause.families.len() > 1 {
        return;
    }
    // names are told by their capitals, which words have lost
    let lower = clause.text.to_lowercase();
    let written = |word: &String| {
        let at = lower.find(word.as_str());
        at.and_then(|at| clause.text.get(at..at + word.len())).unwrap_or(word).to_owned()
    };
    let one = |words: &[String]| {
        let words: Vec<String> = words.iter().map(written).collect();
        let mut named = sections::named(parts, &words.join(" ")).into_iter();
        named.next().filter(|_| named.next().is_none())
    };
    let Some(said) = Ranking::of(clause, one) else { return };
    let is_only = matches!(said.ranked, Ranked::Only(_) | Ranked::OnlyChanges);
    let others = || (0..parts.len()).filter(|part| *part != said.first).collect();
    let second: Vec<usize> = match said.second {
        Some(second) => vec![second],
        None if is_only => others(),
        None => return,
    };
    let of = |part: usize| -> Blocks<'_> {
        let (around, _) = &views[part];
        let is_of = |block: &usize| {
            let families = around.block_families(*block);
            !around.sets[*block].is_empty()
                && (clause.families.is_empty() || families == clause.families)
        };
        let blocks = (0..around.sets.len()).filter(is_of);
        blocks.map(|block| around.sets[block].as_slice()).collect()
    };
    let sides = Sides {
        first: of(said.first),
        second: second.into_iter().flat_map(of).collect(),
        is_against_all: false,
    };
    hold(clause, &views[0].1, (said.ranked, &said.word), &sides, line, findings);
}

/// "The APU2 handled IPv6 10 % faster than IPv4": by how much one family is before the other, where no block
/// holds one against the other. True where the clause says so.
pub(crate) fn check_apart(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let said = Ranking::of_families(clause).filter(|_| !clause.percents.is_empty());
    let Some((said, Ranked::Rates(sign))) = said.map(|said| (said.first, said.ranked)) else {
        return false;
    };
    if (0..around.sets.len()).any(|block| around.block_families(block).len() > 1) {
        return false;
    }
    let words = spoken(&clause.text);
    // those that the words name, one for each family
    let sets = around.sets.iter().enumerate().flat_map(|(block, sets)| {
        let meant = side(&words, sets);
        let families = around.block_families(block);
        let family = families.first().copied().filter(|_| families.len() == 1);
        let own = sets.iter().enumerate();
        own.filter(move |(at, _)| meant.is_none_or(|meant| meant == *at))
            .map(move |(at, set)| (at, set, set.family.or(family)))
    });
    let sets: Vec<(usize, &SourcedSet<'_>, Option<NamedFamily>)> = sets.collect();
    let of = |is_first: bool| {
        sets.iter().filter(move |(_, _, family)| family.is_some_and(|f| (f == said) == is_first))
    };
    // those of one name, where names are the same; else those of one place
    let is_named = |a: &SourcedSet<'_>, b: &SourcedSet<'_>| stems(a) == stems(b);
    let has_names = of(true).any(|(_, a, _)| of(false).any(|(_, b, _)| is_named(a, b)));
    let pairs = of(true).flat_map(|(at, variant, _)| {
        let alike = of(false).filter(move |(other, base, _)| match has_names {
            true => is_named(variant, base),
            false => other == at,
        });
        alike.filter_map(move |(_, base, _)| {
            let pair = Pair::of(base, variant)?;
            Some(Compared { base, variant, pair, is_oriented: true })
        })
    });
    let pairs: Vec<Compared<'_>> = pairs.collect();
    let is_so = |c: &Compared<'_>| {
        let agrees = |percent| agreement_of(percent, c) <= Agreement::Near;
        c.pair.mean_percent * sign.factor() > 0.0 && clause.percents.iter().any(agrees)
    };
    let Some(first) = pairs.first().filter(|_| !pairs.iter().any(is_so)) else { return true };
    let severity = if pairs.len() == 1 { Severity::Wrong } else { Severity::Check };
    let (variant, base) = (&first.variant.set.legend, &first.base.set.legend);
    let data = format!("'{variant}' against '{base}': {}", show(first.pair.mean_percent));
    let text = Text::new(clause.text.trim(), data, "take the number from the blocks of both");
    findings.add(Rule::ClaimSize, severity, line, text);
    true
}

/// The words of a label without those of families: `pf6-stateful` is `pf-stateful` of IPv6.
fn stems<'a>(set: &'a SourcedSet<'_>) -> BTreeSet<&'a str> {
    set.label.telling_words().into_iter().map(stem).collect()
}

/// "IPv4 and IPv6 are forwarded at nearly the same rate".
fn check_alike(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) {
    let of = |family: NamedFamily| {
        let sets = around.sets.iter().flatten();
        sets.filter(move |set| set.family == Some(family))
    };
    let telling = |set: &SourcedSet<'_>| -> BTreeSet<String> {
        set.label.telling_words().into_iter().map(str::to_owned).collect()
    };
    let pairs = of(NamedFamily::Inet).flat_map(|inet| {
        let alike = of(NamedFamily::Inet6).filter(move |other| telling(other) == telling(inet));
        alike.filter_map(move |other| Pair::of(inet, other))
    });
    let gaps: Vec<f64> = pairs.map(|pair| pair.mean_percent).collect();
    let nearest = gaps.iter().copied().min_by(|a, b| a.abs().total_cmp(&b.abs()));
    let Some(gap) = nearest.filter(|gap| gap.abs() > NEARLY) else { return };
    let data = format!("IPv6 against IPv4 is {}", show(gap));
    let text = Text::new(clause.text.trim(), data, "write how far apart they are");
    findings.add(Rule::ClaimNoImpact, Severity::Wrong, line, text);
}

/// Per cent beyond which rates are no more "nearly the same".
const NEARLY: f64 = 5.0;

/// Holds a ranking against the blocks of both sides; true where nothing is left to say of the clause.
fn hold(
    clause: &Clause,
    topics: &Topics,
    (ranked, word): (Ranked, &str),
    sides: &Sides<'_>,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let data = match ranked {
        Ranked::Rates(sign) => against_rates(clause, topics, sign, sides),
        Ranked::Changes(sign) => against_changes(sides, |a, b| {
            let apart = (a.mean_percent - b.mean_percent) * sign.factor();
            apart < -(a.half_width + b.half_width)
        }),
        Ranked::Only(sign) => {
            against_changes(sides, |_, b| b.is_proven && b.mean_percent * sign.factor() > MARGIN)
        }
        Ranked::OnlyChanges => {
            against_changes(sides, |_, b| b.is_proven && b.mean_percent.abs() > MARGIN)
        }
        Ranked::AllBut(sign) => against_changes(sides, |a, b| {
            let is_so = |pair: &Pair| pair.is_proven && pair.mean_percent * sign.factor() > 0.0;
            is_so(a) || !is_so(b)
        }),
        Ranked::Times(factor) => against_changes(sides, |a, b| {
            let times = a.mean_percent / b.mean_percent;
            // "what one wins is twice what the other loses"
            let times = if clause.stance == Stance::Mixed { -times } else { times };
            times < 0.0 || (times / factor).ln().abs() > FAR.ln()
        }),
    };
    if let Some(data) = data {
        let claim = format!("'{word}' in: {}", clause.text.trim());
        let text = Text::new(claim, data, "write what the blocks say of each");
        findings.add(Rule::ClaimSign, Severity::Wrong, line, text);
    }
    // that the first changes at all is for its own block to say
    !sides.first.is_empty()
        && !sides.second.is_empty()
        && !matches!(ranked, Ranked::Only(_) | Ranked::OnlyChanges)
}

/// Words for the first set of a block, and for the others.
const BEFORE: [&str; 4] = ["pre", "before", "unpatched", "originally"];
const AFTER: [&str; 4] = ["post", "after", "patched", "now"];

/// Rates of sets that differ in the subject alone. All that the clause can mean have to refute it;
/// "with or without" means each.
fn against_rates(
    clause: &Clause,
    topics: &Topics,
    sign: Sign,
    sides: &Sides<'_>,
) -> Option<String> {
    let words = spoken(&clause.text);
    let is_each = words
        .windows(3)
        .any(|w| w[0] == "with" && matches!(w[1].as_str(), "or" | "and") && w[2] == "without");
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    let is_without = has(&["without"]);
    let side = (has(&BEFORE), has(&AFTER));
    let mut refuting = Vec::new();
    let mut count = 0;
    for (a, b) in sides.first.iter().flat_map(|f| sides.second.iter().map(move |s| (*f, *s))) {
        let meant = named(&words, a);
        for (index, set) in a.iter().enumerate() {
            let is_meant = match side {
                (true, false) => index == 0,
                (false, true) => index > 0,
                _ => meant.is_empty() || is_each || meant.contains(&index) != is_without,
            };
            let telling = |m: &SourcedSet<'_>| -> BTreeSet<String> {
                let words = stems(m).into_iter().map(folded);
                words.filter(|word| !topics.names(word)).collect()
            };
            let mut alike = b.iter().filter(|o| telling(o) == telling(set));
            let alike = alike.next().filter(|_| alike.next().is_none());
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
    let is_any = is_each || sides.is_against_all;
    let is_refuted = if is_any { !refuting.is_empty() } else { refuting.len() == count };
    refuting.into_iter().next().filter(|_| is_refuted)
}

/// How far a factor between changes may be off.
const FAR: f64 = 1.6;

/// What changed from the first set to the second, by family, where all of it refutes the clause.
fn against_changes(sides: &Sides<'_>, refutes: impl Fn(&Pair, &Pair) -> bool) -> Option<String> {
    let changes = |blocks: &[&[SourcedSet<'_>]]| -> Option<Vec<Pair>> {
        blocks.iter().map(|b| if let [x, y] = b { Pair::of(x, y) } else { None }).collect()
    };
    let (a, b) = (changes(&sides.first)?, changes(&sides.second)?);
    let is_refuted = !a.is_empty()
        && !b.is_empty()
        && a.iter().all(|a| match sides.is_against_all {
            true => b.iter().any(|b| refutes(a, b)),
            false => b.iter().all(|b| refutes(a, b)),
        });
    is_refuted.then(|| {
        format!("the changes are {} and {}", show(a[0].mean_percent), show(b[0].mean_percent))
    })
}

/// Share of a gap by which another may differ that is said to be as wide.
const ALIKE: f64 = 0.4;

/// "The gap between the families doubles": held against both gaps of the page. Returns true where the
/// clause speaks of them.
pub(crate) fn check_gap(
    around: &Surroundings<'_>,
    clause: &Clause,
    line: usize,
    findings: &mut AuditFindings,
) -> bool {
    let Some(said) = Gap::of(clause) else { return false };
    if let Gap::Most(sign) = said {
        check_widest(around, clause, sign, line, findings);
        return true;
    }
    let Some([one, other]) = gaps(around) else { return true };
    // in per cent and in frames/s, as it may mean either
    let is_refuted = [|gap: &Width| gap.percent, |gap: &Width| gap.rate].iter().all(|width| {
        let ((a, a_half), (b, b_half)) = (width(&one), width(&other));
        let (grown, unsure) = (b.abs() - a.abs(), a_half + b_half);
        match said {
            Gap::Same => grown.abs() > unsure + ALIKE * a.abs().max(b.abs()),
            Gap::Moves(sign) => grown * sign.factor() <= unsure,
            Gap::Times(factor) => ((b / a).abs() / factor).ln().abs() > FAR.ln(),
            Gap::Most(_) | Gap::Other => false,
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

/// "The gap between the families is the smallest with 8 queues": the gap of the setting that is named beside all others.
fn check_widest(
    around: &Surroundings<'_>,
    clause: &Clause,
    sign: Sign,
    line: usize,
    findings: &mut AuditFindings,
) {
    let all = widths(around);
    let sets: Vec<&SourcedSet<'_>> = all.iter().map(|(set, _)| *set).collect();
    let Some(own) = among(&spoken(&clause.text), &sets) else { return };
    let Some((_, width)) = all.iter().find(|(set, _)| std::ptr::eq(*set, own)) else { return };
    // in per cent and in frames/s, as it may mean either
    let beyond = |of: fn(&Width) -> (f64, f64)| {
        let ahead = |other: &Width| {
            let ((a, a_half), (b, b_half)) = (of(width), of(other));
            (b.abs() - a.abs()) * sign.factor() - a_half - b_half
        };
        let first = all.iter().max_by(|a, b| ahead(&a.1).total_cmp(&ahead(&b.1)))?;
        (ahead(&first.1) > 0.0).then_some(first)
    };
    let Some((first, wide)) = beyond(|gap| gap.rate).and(beyond(|gap| gap.percent)) else { return };
    let data = format!(
        "IPv6 against IPv4 is {} with '{}', and {} with '{}'",
        show(width.percent.0),
        own.set.legend,
        show(wide.percent.0),
        first.set.legend
    );
    let text = Text::new(clause.text.trim(), data, format!("name '{}'", first.set.legend));
    findings.add(Rule::ClaimSize, Severity::Wrong, line, text);
}

/// How far IPv6 is from IPv4, each with its half width.
struct Width {
    percent: (f64, f64),
    rate: (f64, f64),
}

/// The gaps of a page that shows two kinds of sets for both families.
fn gaps(around: &Surroundings<'_>) -> Option<[Width; 2]> {
    let mut all: Vec<Width> = widths(around).into_iter().map(|(_, width)| width).collect();
    // one set under two spellings
    all.dedup_by(|a, b| (a.percent.0 - b.percent.0).abs() < 1e-3);
    all.try_into().ok()
}

/// The gap of each kind of sets that both families have, with its set of IPv4.
fn widths<'a>(around: &'a Surroundings<'_>) -> Vec<(&'a SourcedSet<'a>, Width)> {
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
        Some((inet, Width { percent: (change, half), rate: (frames(change), frames(half)) }))
    };
    kinds.iter().filter_map(width).collect()
}
