//! A clause held against the block that it speaks of.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::change::{
    check_all, check_differs, check_factor, check_no_change, check_not_that, check_same_size,
    check_sign,
};
use crate::claim::Claim;
use crate::named::label_of;
use crate::percent::{check_percent, is_of_another_page};
use crate::topics::Topics;
use crate::wording::compared;
use crate::{
    amounts, anywhere, extremes, families, intervals, meant, most, moves, scaling, spreads, stands,
};
use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_sentence::clause::{Clause, Stance, words};
use fwdlab_sentence::families::is_held_against;
use fwdlab_sentence::subject::{is_of_others, names_base, spoken as words_of};

/// A section of more blocks is no text about a few.
const MOST_OF_A_SECTION: usize = 4;

/// No rate can drop by more than all of it, whatever the block says.
fn check_possible(clause: &Clause, line: usize, findings: &mut AuditFindings) {
    let Some(percent) = clause.impossible_drop() else { return };
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

/// The line on which a clause begins.
pub(crate) fn line_of(item: &Item, clause: &Clause) -> usize {
    item.line_at(clause.offset + clause.text.len() - clause.text.trim_start().len())
}

pub(crate) fn check_clause(
    around: &Surroundings<'_>,
    topics: &Topics,
    item: &Item,
    clause: &Clause,
    findings: &mut AuditFindings,
) {
    let line = line_of(item, clause);
    if is_of_others(sentence_of(item, clause))
        || of_another_machine(around, item, clause)
        || is_of_none(around, item, clause)
        || spreads::check(around, item, clause, line, findings)
        || families::check_apart(around, clause, line, findings)
        || families::check_gap(around, clause, line, findings)
        || !extremes::is_of_runs(clause) && families::check(around, topics, clause, line, findings)
    {
        return;
    }
    let reading = |clause: &Clause, spoken: Option<Spoken>| {
        let mut own = findings.none();
        check_against(around, (item, clause), line, spoken, &mut own);
        own
    };
    // of all that it names, and not of all of the page
    let of_named = Clause { is_about_all: false, ..clause.clone() };
    let of = |block: &Spoken| reading(&of_named, Some(*block));
    let spoken = around.block_of(item, &clause.families);
    let spoken = spoken.map(|spoken| in_section(around, item, clause, spoken));
    let mut named = topics.blocks(around, clause);
    if clause.is_about_all && !named.is_empty() {
        named = named.concat().into_iter().map(|block| vec![block]).collect();
    }
    let is_of_it =
        |blocks: &Vec<Spoken>| spoken.is_some_and(|s| blocks.iter().any(|b| b.block == s.block));
    match named.as_slice() {
        [] => {}
        [one] if is_of_it(one) => {}
        // what stands above is held against what is named
        [_] if spoken.is_some() && compares(&clause.text) => return,
        [one] => return findings.extend(best(one.iter().map(of), findings.none())),
        // of each of them, where no number could be of one only
        all if clause.percents.is_empty()
            && clause.factor.is_none()
            && !names_base(&clause.text) =>
        {
            let mut all = all.iter().map(|one| best(one.iter().map(of), findings.none()));
            let worst = all.find(AuditFindings::is_any_wrong).unwrap_or_else(|| findings.none());
            return findings.extend(worst);
        }
        _ => return,
    }
    let meant = meant::blocks(around, clause, spoken);
    let said = if meant.is_empty() {
        reading(clause, spoken)
    } else {
        best(meant.iter().map(|own| reading(clause, Some(*own))), findings.none())
    };
    // what names no family is of the page as much as of the block above it
    let is_open =
        named.is_empty() && clause.families.len() != 1 && item.kind != ItemKind::Conclusion;
    let is_right_of = |block: usize| {
        let spoken = Spoken { block, is_sure: true };
        !around.sets[block].is_empty() && !reading(clause, Some(spoken)).is_any_wrong()
    };
    let is_doubted = is_open && said.is_any_wrong() && (0..around.sets.len()).any(is_right_of);
    findings.extend(if is_doubted { said.doubted() } else { said });
}

/// The one of several blocks of a section that shows most of what a clause below them names.
fn in_section(around: &Surroundings<'_>, item: &Item, clause: &Clause, spoken: Spoken) -> Spoken {
    let section = around.section_above(item);
    if !section.contains(&spoken.block) || section.len() > MOST_OF_A_SECTION {
        return spoken;
    }
    let said: BTreeSet<String> = words_of(&clause.text).into_iter().collect();
    let shown = |block: usize| {
        let labels = around.sets[block].iter().flat_map(label_of);
        labels.filter(|word| said.contains(word)).collect::<BTreeSet<_>>().len()
    };
    let own = shown(spoken.block);
    let best = section.rev().max_by_key(|block| shown(*block));
    match best.filter(|block| shown(*block) > own) {
        Some(block) => Spoken { block, is_sure: false },
        None => spoken,
    }
}

const PRONOUNS: [&str; 6] = ["it", "they", "this", "that", "these", "those"];

/// Whether a sentence holds something that it does not name against something else: "it is behind redirect".
pub(crate) fn compares(text: &str) -> bool {
    let is_pronoun = |(_, word): &(usize, String)| PRONOUNS.contains(&word.as_str());
    is_against_another(text) || names_base(text) && words(text).iter().any(is_pronoun)
}

/// "4.7 times as fast as this": what something is held against stands in another sentence.
pub(crate) fn is_against_another(text: &str) -> bool {
    let said = words(text);
    let word = |at: usize| said.get(at).map_or("", |(_, word)| word.as_str());
    let is_joint =
        |at: usize| word(at) == "than" || word(at) == "as" && at > 1 && word(at - 2) == "as";
    let is_it = |at: usize| {
        PRONOUNS.contains(&word(at + 1))
            && !matches!(word(at + 2), "of" | "for" | "on" | "with" | "does" | "did" | "is" | "was")
    };
    (0..said.len()).any(|at| is_joint(at) && is_it(at))
}

/// What is right of one block that a clause may mean is right.
fn best(readings: impl Iterator<Item = AuditFindings>, none: AuditFindings) -> AuditFindings {
    let mut readings: Vec<AuditFindings> = readings.collect();
    let best = readings.iter().position(|own| !own.is_any_wrong()).unwrap_or(0);
    if readings.is_empty() { none } else { readings.swap_remove(best) }
}

/// Holds a clause against the block that it is taken to speak of.
fn check_against(
    around: &Surroundings<'_>,
    (item, clause): (&Item, &Clause),
    line: usize,
    spoken: Option<Spoken>,
    findings: &mut AuditFindings,
) {
    around.site.compared.fetch_add(1, Ordering::Relaxed);
    if let Some(spoken) = spoken
        && (intervals::check(clause, line, spoken, &around.sets[spoken.block], findings)
            || extremes::check(clause, line, spoken, &around.sets[spoken.block], findings))
    {
        return;
    }
    let is_silent = clause.stance == Stance::Silent || clause.stance == Stance::Mixed;
    if let Some(spoken) = spoken.filter(|_| clause.percents.is_empty()) {
        let sets = around.sets[spoken.block].as_slice();
        moves::check(around, clause, line, spoken, findings);
        stands::check(clause, line, spoken, sets, findings);
        stands::check_reached(around, clause, line, spoken, findings);
        amounts::check(clause, line, spoken, sets, findings);
        most::check_order(clause, line, sets, findings);
        if most::check(clause, line, spoken, sets, findings)
            || scaling::check(
                (clause, &item.text[clause.offset + clause.text.len()..]),
                line,
                spoken,
                sets,
                findings,
            )
        {
            return;
        }
    }
    if is_silent && clause.percents.is_empty() && clause.factor.is_none() {
        return;
    }
    check_possible(clause, line, findings);
    if clause.is_about_all {
        check_all(around, clause, (line, spoken), findings);
    }
    let Some(spoken) = spoken else {
        return anywhere::check(around, clause, line, findings);
    };
    let sets = around.sets[spoken.block].as_slice();
    let pairs = compared(sets, clause);
    if pairs.is_empty() {
        return;
    }
    let is_worded = !is_silent || item.kind == ItemKind::Conclusion || item.is_announcement();
    let claim = Claim { clause, line, sets, spoken, is_worded, pairs };
    if !clause.percents.is_empty() {
        for (place, percent) in clause.percents.iter().enumerate() {
            let is_of_second = place > 0 && is_held_against(&clause.text, percent.offset);
            if !is_of_second && !is_of_another_page(&claim, percent) {
                check_percent(&claim, percent, findings);
            }
        }
        return;
    }
    if clause.factor.is_some()
        && (clause.stance != Stance::Silent || item.kind == ItemKind::Conclusion || is_verb(clause))
    {
        check_factor(&claim, findings);
    }
    if clause.is_same_size {
        check_same_size(around, &claim, findings);
    }
    match &clause.stance {
        Stance::Change(sign, word) if !is_setting_list(item) => {
            check_sign(&claim, *sign, word, findings);
        }
        Stance::NoChange(word) if !is_setting_list(item) => check_no_change(&claim, word, findings),
        Stance::NotThat(sign, word) if !is_setting_list(item) => {
            check_not_that(&claim, *sign, word, findings);
        }
        Stance::Differs(word) if !is_setting_list(item) => check_differs(&claim, word, findings),
        _ => {}
    }
}

/// "Divides the rate by two": what a factor is of needs no other word.
fn is_verb(clause: &Clause) -> bool {
    const VERBS: [&str; 8] =
        ["divided", "multiplied", "doubles", "doubled", "triples", "tripled", "halves", "halved"];
    let is = |(_, word): &(f64, String)| VERBS.iter().any(|verb| word.starts_with(verb));
    let is_part = |(_, word): &(f64, String)| word.starts_with("a ");
    clause.factor.as_ref().is_some_and(|own| is(own) || is_part(own))
        || clause.text.contains(" as fast")
        || clause.text.contains(" as many ")
}

/// From where the sentence of a clause begins to the end of the clause.
pub(crate) fn sentence_of<'a>(item: &'a Item, clause: &Clause) -> &'a str {
    let start = item.text[..clause.offset].rfind(". ").map_or(0, |at| at + 2);
    &item.text[start..clause.offset + clause.text.len()]
}

/// "On the APU2 it was ...": a model that stands in no other line of the page.
pub(crate) fn of_another_machine(around: &Surroundings<'_>, item: &Item, clause: &Clause) -> bool {
    let words: Vec<&str> = sentence_of(item, clause).split_whitespace().collect();
    let models = words.windows(3).filter(|w| matches!(w[0], "On" | "on") && w[1] == "the");
    let mut models =
        models.map(|w| w[2].trim_matches(|c: char| !c.is_alphanumeric())).filter(|m| {
            let is_mixed = m.chars().any(|c| c.is_ascii_digit())
                && m.chars().any(|c| c.is_ascii_uppercase())
                && !m.starts_with(|c: char| c.is_ascii_digit());
            is_mixed && fwdlab_netbenches::name::family_word(m).is_none()
        });
    models.any(|model| {
        let lower = model.to_lowercase();
        let is_set = || around.sets.iter().flatten().any(|s| s.label.words.contains(&lower));
        around.page.lines_with(model).nth(1).is_none() && !is_set()
    })
}

/// "On my X710", "r368001 gave 4 %", "with D11": models, revisions and patches that the page does not have.
pub(crate) fn is_of_none(around: &Surroundings<'_>, item: &Item, clause: &Clause) -> bool {
    let words = sentence_of(item, clause).split(|c: char| !c.is_alphanumeric() && c != '-');
    let is_a_name = |word: &str| {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let letters = word.len() - rest.len();
        let is_numbered = letters > 0 && rest.len() > 2 && rest.bytes().all(|b| b.is_ascii_digit());
        is_numbered
            && !word.starts_with('x')
            && fwdlab_netbenches::name::family_word(word).is_none()
    };
    words.into_iter().any(|word| is_a_name(word) && !around.page.has_beside(item, word))
}

/// Bullets list settings; what they say about speed is no claim.
fn is_setting_list(item: &Item) -> bool {
    item.kind == ItemKind::Bullet && !item.is_of_family()
}
