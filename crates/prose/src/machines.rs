//! Pages of two machines: blocks below "The other machine:" ask again what a block above them asked. What is
//! said without a machine is of the page's own one; what names the other is held against its blocks only, and
//! what is said of both against each.

use std::collections::BTreeSet;

use crate::held::{check_clause, sentence_of};
use crate::topics::Topics;
use fwdlab_evidence::finding::AuditFindings;
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::machines::{Whose, agrees, whose};

/// A page as it reads of one machine.
type View<'a> = (Surroundings<'a>, Topics);

/// The blocks of a page of two machines.
pub(crate) struct Machines<'a> {
    own: View<'a>,
    other: View<'a>,
    others: BTreeSet<usize>,
}

impl<'a> Machines<'a> {
    /// `None` where all blocks are of one machine.
    pub(crate) fn of(around: &Surroundings<'a>) -> Option<Self> {
        let is_other = |block: &usize| is_of_the_other(around, *block);
        let blocks = 0..around.sets.len();
        let (others, own): (Vec<usize>, Vec<usize>) = blocks.partition(is_other);
        let is_twin = |a: usize, b: usize| {
            around.sets[a].len() == around.sets[b].len()
                && around.block_families(a) == around.block_families(b)
        };
        // one that stands alone is what it is asked about, whatever the machine
        let is_asked_again = |block: &usize| own.iter().any(|own| is_twin(*block, *own));
        let others: BTreeSet<usize> = others.into_iter().filter(is_asked_again).collect();
        if others.is_empty() {
            return None;
        }
        let view = |hidden: BTreeSet<usize>| {
            let view = around.without(hidden);
            let topics = Topics::of(&view);
            (view, topics)
        };
        Some(Self { own: view(others.clone()), other: view(own.into_iter().collect()), others })
    }

    /// Holds a clause against the blocks of the machine that it means.
    pub(crate) fn check(
        &self,
        item: &Item,
        clauses: &[Clause],
        index: usize,
        findings: &mut AuditFindings,
    ) {
        let clause = &clauses[index];
        let read = |(around, topics): &View<'_>, clause: &Clause| {
            let mut own = findings.none();
            check_clause(around, topics, item, clause, &mut own);
            own
        };
        let page = self.own.0.page;
        let is_below = page.block_before(item.line).is_some_and(|b| self.others.contains(&b));
        let whose = whose(&clause.text).or_else(|| whose(sentence_of(item, clause)));
        let whose = match whose {
            None if is_below
                && item.kind == ItemKind::Conclusion
                && self.other.0.block_of(item, &clause.families).is_some() =>
            {
                Whose::Other
            }
            None => Whose::Own,
            Some(whose) => whose,
        };
        let said = match whose {
            Whose::Apart => return,
            Whose::Other => {
                let before = index.checked_sub(1).map(|at| &clauses[at]).filter(|_| agrees(clause));
                read(&self.other, before.unwrap_or(clause))
            }
            Whose::Own => {
                let said = read(&self.own, clause);
                // below the other's block it may be said of that one
                let is_right_there = || !read(&self.other, clause).is_any_wrong();
                let is_doubted = is_below && said.is_any_wrong() && is_right_there();
                if is_doubted { said.doubted() } else { said }
            }
            Whose::Each => {
                let said = read(&self.own, clause);
                if said.is_any_wrong() { said } else { read(&self.other, clause) }
            }
        };
        findings.extend(said);
    }
}

/// Whether the last line above a block that names a machine leads to another one.
fn is_of_the_other(around: &Surroundings<'_>, block: usize) -> bool {
    let first = around.page.blocks[block].first_line;
    let is_label = |item: &&Item| {
        item.line < first && (item.kind == ItemKind::Heading || item.is_announcement())
    };
    let labels = around.page.items.iter().filter(is_label);
    let last = labels.filter_map(|item| whose(&item.text)).next_back();
    last == Some(Whose::Other)
}
