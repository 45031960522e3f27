//! Sentences of published pages held against the blocks that they speak of: which block, machine and family a
//! clause means, and whether that block says so too. What a clause says by itself is `fwdlab_sentence`'s.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod across;
mod amounts;
mod anywhere;
mod beside;
mod change;
mod claim;
mod extremes;
mod families;
mod foreign;
mod grids;
mod held;
mod intervals;
mod kinds;
mod known;
mod machines;
mod meant;
mod most;
mod moves;
mod named;
mod nowhere;
mod percent;
mod reread;
mod scaling;
mod sections;
mod spreads;
mod stands;
mod tabled;
mod tables;
mod topics;
mod window;
mod wording;

use std::collections::BTreeSet;

use fwdlab_evidence::finding::AuditFindings;
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_sentence::clause::{Clause, Stance, clauses};
use fwdlab_sentence::doubt::Doubt;
use fwdlab_sentence::subject::folded;
use held::check_clause;
use machines::Machines;
use named::label_of;
use topics::Topics;

/// Every item of prose. Sentences of a long page are held against the blocks around them: against all, the work
/// would grow with their number times that of the blocks, and more than that where several machines are compared.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    tables::check(around, findings);
    let is_prose = |item: &&Item| item.kind != ItemKind::Row;
    let items: Vec<&Item> = around.page.items.iter().filter(is_prose).collect();
    if around.page.blocks.len() <= window::MOST_BLOCKS {
        return check_items(around, &items, findings);
    }
    for (shown, own) in window::windows(around, &items) {
        check_items(&around.within(&shown), own, findings);
    }
}

/// Some items of a page, of which they stand by the blocks that it has.
fn check_items(around: &Surroundings<'_>, items: &[&Item], findings: &mut AuditFindings) {
    let topics = Topics::of(around);
    let machines = Machines::of(around);
    let grids = grids::Grids::of(around);
    let known = reread::Known::of(around, &grids);
    let labels: BTreeSet<String> = around.sets.iter().flatten().flat_map(label_of).collect();
    for item in items.iter().copied() {
        let mut clauses = clauses(&item.text);
        clauses.iter_mut().for_each(|clause| silence_names(clause, &labels));
        let mut all = Vec::new();
        for (index, clause) in clauses.iter().enumerate() {
            let doubt = Doubt::of(&clause.text, &item.text[clause.offset + clause.text.len()..]);
            if doubt == Some(Doubt::Silent) {
                continue;
            }
            let mut said = findings.none();
            match &machines {
                Some(machines) => machines.check(item, &clauses, index, &mut said),
                None => check_clause(around, &topics, item, clause, &mut said),
            }
            if said.is_empty() && machines.is_none() {
                across::check(around, clause, held::line_of(item, clause), &mut said);
            }
            if said.is_empty() && doubt.is_none() {
                nowhere::check(around, item, clause, &mut said);
            }
            if said.is_empty() && doubt.is_none() {
                beside::check(around, item, clause, &mut said);
            }
            all.push((clause, if doubt.is_some() { said.doubted() } else { said }));
        }
        known.check((around, &grids), item, all, findings);
    }
}

/// What sets are called says nothing of them: the word of `xdp-drop` is no loss, that of `stable/14` no "as before".
fn silence_names(clause: &mut Clause, labels: &BTreeSet<String>) {
    let is_name = match &clause.stance {
        Stance::Change(_, word) => labels.contains(&folded(word)),
        Stance::NoChange(word) => is_branch(&clause.text, word),
        _ => false,
    };
    if is_name {
        clause.stance = Stance::Silent;
    }
}

/// Whether a word stands in a text only before a slash and a number.
fn is_branch(text: &str, word: &str) -> bool {
    let text = text.to_lowercase();
    let mut all = text.match_indices(word).peekable();
    let is_numbered = |(at, word): (usize, &str)| {
        let rest = text[at + word.len()..].strip_prefix('/');
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    all.peek().is_some() && all.all(is_numbered)
}
