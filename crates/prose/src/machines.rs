//! Pages of several machines: blocks below another heading ask again what blocks above asked. What names a
//! machine is held against its blocks only, what is said of each against all; what names none is held against
//! the one below whose blocks it stands, and at the end of the page it is wrong only where it is so of each.

use crate::families::between_machines;
use crate::held::{check_clause, line_of, sentence_of};
use crate::sections::{Section, named, sections};
use crate::topics::Topics;
use fwdlab_evidence::finding::AuditFindings;
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::machines::{Whose, agrees, whose};

/// A page as it reads of one machine.
type View<'a> = (Surroundings<'a>, Topics);

/// The blocks of a page of several machines.
pub(crate) struct Machines<'a> {
    views: Vec<View<'a>>,
    parts: Vec<Section>,
    /// The second is called "the other machine", so that the first is the page's own.
    has_own: bool,
}

/// Whose a clause is.
enum Meant {
    One(usize),
    Each,
    /// Any may be meant.
    Open,
    /// One is set against the other.
    Apart,
}

impl<'a> Machines<'a> {
    /// `None` where all blocks are of one machine.
    pub(crate) fn of(around: &Surroundings<'a>) -> Option<Self> {
        let mut parts = sections(around);
        if parts.len() < 2 {
            return None;
        }
        let is_other = |block: &usize| is_of_the_other(around, *block);
        let has_own = parts.len() == 2 && parts[1].blocks.iter().all(is_other);
        let view = |part: &Section| {
            let all = 0..around.sets.len();
            let view = around.without(all.filter(|block| !part.blocks.contains(block)).collect());
            let topics = Topics::of(&view);
            (view, topics)
        };
        let views = parts.iter().map(view).collect();
        if has_own {
            parts.truncate(2);
        }
        Some(Self { views, parts, has_own })
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
        let read = |part: usize, clause: &Clause| {
            let (around, topics) = &self.views[part];
            let mut own = findings.none();
            check_clause(around, topics, item, clause, &mut own);
            own
        };
        let said = match self.meant(item, clause) {
            Meant::Apart => {
                let mut own = findings.none();
                between_machines(&self.views, &self.parts, clause, line_of(item, clause), &mut own);
                own
            }
            Meant::One(part) => {
                // "only the Xeon gains" is of the others
                let mut only = findings.none();
                between_machines(
                    &self.views,
                    &self.parts,
                    clause,
                    line_of(item, clause),
                    &mut only,
                );
                let before = index.checked_sub(1).map(|at| &clauses[at]);
                let is_repeated = self.has_own && part == 1 && agrees(clause);
                let said = read(part, before.filter(|_| is_repeated).unwrap_or(clause));
                // below the other's block it may be said of that one
                let is_below = self.place(item) == Some(1) && part == 0 && self.has_own;
                let is_doubted = is_below && said.is_any_wrong() && !read(1, clause).is_any_wrong();
                only.extend(if is_doubted { said.doubted() } else { said });
                only
            }
            Meant::Each => {
                let mut all = (0..self.views.len()).map(|part| read(part, clause));
                let wrong = all.find(AuditFindings::is_any_wrong);
                wrong.unwrap_or_else(|| read(self.views.len() - 1, clause))
            }
            Meant::Open => {
                self.of_any(clause, (0..self.views.len()).map(|part| read(part, clause)).collect())
            }
        };
        findings.extend(said);
    }

    /// What names no machine: wrong where it is so of each, asked about where it is so of some.
    fn of_any(&self, clause: &Clause, mut readings: Vec<AuditFindings>) -> AuditFindings {
        let wrong = readings.iter().filter(|own| own.is_any_wrong()).count();
        let first = readings.iter().position(AuditFindings::is_any_wrong);
        let is_of_a_number = !clause.percents.is_empty() || clause.factor.is_some();
        match first {
            Some(first) if wrong == readings.len() || clause.is_about_all => {
                readings.swap_remove(first)
            }
            Some(first) if !is_of_a_number => readings.swap_remove(first).doubted(),
            Some(right) => readings.swap_remove(right).none(),
            None if readings.iter().any(AuditFindings::is_empty) => readings.swap_remove(0).none(),
            None => readings.swap_remove(0),
        }
    }

    fn meant(&self, item: &Item, clause: &Clause) -> Meant {
        let sentence = sentence_of(item, clause);
        let by_name = |text: &str| match named(&self.parts, text).as_slice() {
            [] => None,
            [one] => Some(Meant::One(*one)),
            _ => Some(Meant::Apart),
        };
        let by_word = |text: &str| match whose(text)? {
            Whose::Each => Some(Meant::Each),
            Whose::Apart => Some(Meant::Apart),
            Whose::Other if self.has_own => Some(Meant::One(1)),
            Whose::Own if self.has_own => Some(Meant::One(0)),
            Whose::Other | Whose::Own => None,
        };
        let place = self.place(item);
        let found = by_name(&clause.text).or_else(|| by_word(&clause.text));
        let found = found.or_else(|| by_name(sentence)).or_else(|| by_word(sentence));
        found.unwrap_or_else(|| match place {
            Some(1) if self.has_own => {
                let is_its = item.kind == ItemKind::Conclusion
                    && self.views[1].0.block_of(item, &clause.families).is_some();
                Meant::One(usize::from(is_its))
            }
            _ if self.has_own => Meant::One(0),
            Some(place) if place + 1 < self.parts.len() || item.kind == ItemKind::Conclusion => {
                Meant::One(place)
            }
            _ => Meant::Open,
        })
    }

    /// Below whose blocks an item stands; what leads to the first block of a part is of that part.
    fn place(&self, item: &Item) -> Option<usize> {
        let page = self.views[0].0.page;
        let of = |block: usize| self.parts.iter().position(|part| part.blocks.contains(&block));
        let before = page.block_before(item.line).and_then(of);
        let after = page.block_after(item.last_line()).and_then(of);
        let is_leading = before != after && !named(&self.parts, &item.text).is_empty();
        if is_leading { after } else { before }
    }
}

/// Whether the last line above a block that names a machine leads to another one.
pub(crate) fn is_of_the_other(around: &Surroundings<'_>, block: usize) -> bool {
    let first = around.page.blocks[block].first_line;
    let is_label = |item: &&Item| item.kind == ItemKind::Heading || item.is_announcement();
    let labels = around.page.items_above(first).iter().filter(is_label);
    let last = labels.filter_map(|item| whose(&item.text)).next_back();
    last == Some(Whose::Other)
}
