//! Of which sets something is said.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;

use crate::facts::{Cell, Change, Facts};
use crate::mention::{Mention, Whom};

/// Parts, families and places in blocks; `None` where none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) parts: Option<BTreeSet<usize>>,
    pub(crate) families: Option<BTreeSet<NamedFamily>>,
    pub(crate) roles: Option<BTreeSet<usize>>,
    pub(crate) blocks: Option<BTreeSet<usize>>,
    /// Parts with their families, where a sentence names them in pairs: `A/v4, B/v6`.
    pub(crate) pairs: Vec<(usize, NamedFamily)>,
}

impl Scope {
    /// What some names mean together.
    pub(crate) fn of(facts: &Facts, mentions: &[Mention]) -> Self {
        let mut scope = Self::default();
        let all_parts: BTreeSet<usize> = (0..facts.parts.len()).collect();
        for mention in mentions {
            match &mention.whom {
                Whom::Part(part) => _ = scope.parts.get_or_insert_default().insert(*part),
                Whom::Family(family) => _ = scope.families.get_or_insert_default().insert(*family),
                Whom::Roles(roles) => scope.roles.get_or_insert_default().extend(roles),
                Whom::Blocks(blocks) => scope.blocks.get_or_insert_default().extend(blocks),
                Whom::Parts(parts) => scope.parts.get_or_insert_default().extend(parts),
                Whom::NotPart(part) => {
                    let all = (0..facts.parts.len()).filter(|own| own != part);
                    scope.parts = Some(all.collect());
                }
                Whom::NotFamily(family) => {
                    let all = facts.families().into_iter().filter(|own| own != family);
                    scope.families = Some(all.collect());
                }
                Whom::EachPart => scope.parts = Some(all_parts.clone()),
                Whom::EachFamily => scope.families = Some(facts.families()),
                Whom::OtherPart | Whom::OtherFamily => {}
            }
        }
        scope.pairs = pairs(mentions);
        scope
    }

    fn holds(&self, cell: &Cell) -> bool {
        let is_part = self.parts.as_ref().is_none_or(|parts| parts.contains(&cell.part));
        let is_family = self
            .families
            .as_ref()
            .is_none_or(|families| cell.family.is_none_or(|family| families.contains(&family)));
        let is_paired = self.pairs.is_empty()
            || cell.family.is_none_or(|family| self.pairs.contains(&(cell.part, family)));
        let is_block = self.blocks.as_ref().is_none_or(|blocks| blocks.contains(&cell.block));
        is_part && is_family && is_paired && is_block
    }

    /// Its sets.
    pub(crate) fn cells<'a>(&self, facts: &'a Facts) -> Vec<&'a Cell> {
        let is_role =
            |cell: &Cell| self.roles.as_ref().is_none_or(|roles| roles.contains(&cell.role));
        facts.cells.iter().filter(|cell| self.holds(cell) && is_role(cell)).collect()
    }

    /// The changes from a base to one of its sets; where it names two sets of a block, from the one to the other.
    pub(crate) fn changes<'a>(&self, facts: &'a Facts) -> Vec<&'a Change> {
        let variants: BTreeSet<usize> =
            self.roles.iter().flatten().copied().filter(|role| *role > 0).collect();
        let is_own = |change: &&Change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            let is_role = variants.is_empty() || variants.contains(&variant.role);
            self.holds(base) && self.holds(variant) && is_role
        };
        let is_between = |change: &&Change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            self.holds(base)
                && self.holds(variant)
                && variants.contains(&base.role)
                && variants.contains(&variant.role)
        };
        let others: Vec<&Change> = facts.others.iter().filter(is_between).collect();
        if variants.len() == 2 && !others.is_empty() {
            return others;
        }
        facts.changes.iter().filter(is_own).collect()
    }

    /// The changes from a base to one of its sets, however many it names.
    pub(crate) fn beside_base<'a>(&self, facts: &'a Facts) -> Vec<&'a Change> {
        let is_own = |change: &&Change| {
            let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
            let is_role = self.roles.as_ref().is_none_or(|roles| roles.contains(&variant.role));
            self.holds(base) && self.holds(variant) && is_role
        };
        facts.changes.iter().filter(is_own).collect()
    }

    /// The changes between sets of its blocks of which neither is the base.
    pub(crate) fn others<'a>(&self, facts: &'a Facts) -> Vec<&'a Change> {
        let is_own = |change: &&Change| {
            self.holds(&facts.cells[change.base]) && self.holds(&facts.cells[change.variant])
        };
        facts.others.iter().filter(is_own).collect()
    }

    /// The same, with what it does not name taken from another.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let mut own = self.clone();
        if own.parts.is_none() {
            own.parts.clone_from(&other.parts);
        }
        if own.families.is_none() {
            own.families.clone_from(&other.families);
        }
        if own.blocks.is_none() {
            own.blocks.clone_from(&other.blocks);
        }
        own
    }

    pub(crate) fn with_roles(&self, other: &Self) -> Self {
        let mut own = self.or(other);
        if own.roles.is_none() {
            own.roles.clone_from(&other.roles);
        }
        own
    }
}

/// "A/v4, A/v6, B/v4": as many of both, in turns.
fn pairs(mentions: &[Mention]) -> Vec<(usize, NamedFamily)> {
    let named: Vec<&Mention> =
        mentions.iter().filter(|m| matches!(m.whom, Whom::Part(_) | Whom::Family(_))).collect();
    let of = |two: &[&Mention]| match (&two.first()?.whom, &two.get(1)?.whom) {
        (Whom::Part(part), Whom::Family(family)) | (Whom::Family(family), Whom::Part(part)) => {
            Some((*part, *family))
        }
        _ => None,
    };
    let all: Option<Vec<(usize, NamedFamily)>> = named.chunks(2).map(of).collect();
    all.filter(|all| all.len() > 1).unwrap_or_default()
}
