//! One page with its data: what every rule is given.

use std::collections::BTreeSet;

use crate::site::{Site, Source};
use fwdlab_netbenches::block::{MinistatBlock, Row, Set};
use fwdlab_netbenches::data::{ConfigurationData, DirData};
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_netbenches::page::{Item, ItemKind, Page};
use fwdlab_sentence::label::Label;

/// A page and where the values of its blocks come from.
#[derive(Debug)]
pub struct Surroundings<'a> {
    /// The trees of the audit.
    pub site: &'a Site,
    /// Data of the page's directory.
    pub data: &'a DirData,
    /// Its index in the site.
    pub own: usize,
    /// The page.
    pub page: &'a Page,
    /// Sets with figures, by block.
    pub sets: Vec<Vec<SourcedSet<'a>>>,
    /// Blocks that no clause is held against.
    hidden: BTreeSet<usize>,
}

/// A set with figures and its source.
#[derive(Debug)]
pub struct SourcedSet<'a> {
    /// The set as printed.
    pub set: &'a Set,
    /// Its row.
    pub row: &'a Row,
    /// Its legend taken apart.
    pub label: Label,
    /// Where its values are; `None` when nowhere in the tree.
    pub source: Option<Source>,
    /// Its family: by its source, else by its legend.
    pub family: Option<NamedFamily>,
}

impl<'a> Surroundings<'a> {
    /// What stands around `page` in directory `own` of `site`.
    pub fn new(site: &'a Site, own: usize, page: &'a Page) -> Option<Self> {
        let data = site.dirs.get(own)?;
        let hidden = BTreeSet::new();
        let mut around = Self { site, data, own, page, sets: Vec::new(), hidden };
        around.sets = around.measured_blocks();
        Some(around)
    }

    /// The same page without some of its blocks.
    pub fn without(&self, hidden: BTreeSet<usize>) -> Self {
        let Self { site, data, own, page, .. } = *self;
        let mut around = Self { site, data, own, page, sets: Vec::new(), hidden };
        around.sets = around.measured_blocks();
        around
    }

    /// The same page with only some of its blocks, which follow each other.
    pub fn within(&self, shown: &std::ops::Range<usize>) -> Self {
        self.without((0..self.sets.len()).filter(|block| !shown.contains(block)).collect())
    }

    /// Whether no clause is held against a block.
    pub fn is_hidden(&self, block: usize) -> bool {
        self.hidden.contains(&block)
    }

    fn measured_blocks(&self) -> Vec<Vec<SourcedSet<'a>>> {
        let sets = |(index, block): (usize, &'a MinistatBlock)| {
            if self.hidden.contains(&index) {
                return Vec::new();
            }
            block.measured().into_iter().filter_map(|set| self.measured(set)).collect()
        };
        self.page.blocks.iter().enumerate().map(sets).collect()
    }

    fn measured(&self, set: &'a Set) -> Option<SourcedSet<'a>> {
        let source = self.site.source_of(set, self.own);
        let family = source
            .as_ref()
            .and_then(|s| self.site.dir(s)?.family(&s.prefix))
            .or_else(|| family_word(&set.legend));
        let label = Label::of(&set.legend);
        Some(SourcedSet { set, row: set.row.as_ref()?, label, source, family })
    }

    /// The logs behind a set.
    pub fn configuration(&self, set: &SourcedSet<'_>) -> Option<&'a ConfigurationData> {
        let source = set.source.as_ref()?;
        self.site.dir(source)?.configurations.get(&source.prefix)
    }

    /// The values behind a set, in the order of the file.
    pub fn values(&self, set: &SourcedSet<'_>) -> Option<Vec<f64>> {
        let source = set.source.as_ref()?;
        self.site.dir(source)?.both_values()[source.rule].get(&source.prefix).cloned()
    }

    /// The families that a block compares.
    pub fn block_families(&self, block: usize) -> BTreeSet<NamedFamily> {
        if self.hidden.contains(&block) {
            return BTreeSet::new();
        }
        let sets = self.sets.get(block).map(Vec::as_slice).unwrap_or_default();
        let mut families: BTreeSet<NamedFamily> = sets.iter().filter_map(|s| s.family).collect();
        if families.is_empty()
            && let Some(block) = self.page.blocks.get(block)
        {
            families.extend(self.heading_above(block).and_then(|item| family_word(&item.text)));
        }
        families
    }

    /// The item directly above a block.
    pub fn heading_above(&self, block: &MinistatBlock) -> Option<&'a Item> {
        let item = self.page.item_before(block.first_line)?;
        let gap = block.first_line - item.last_line();
        let before = self.page.block_before(block.first_line).map(|b| &self.page.blocks[b]);
        let is_in_between = before.is_some_and(|b| b.first_line > item.line);
        (gap <= 5 && !is_in_between).then_some(item)
    }

    /// What a block stands under: the announcement next above it, else the last heading.
    pub fn section(&self, block: &MinistatBlock) -> Option<&'a str> {
        let above = self.heading_above(block).filter(|i| i.is_announcement());
        let heading = above.or_else(|| self.page.heading_above(block.first_line));
        heading.map(|item| item.text.as_str())
    }

    /// The blocks between an item and the last heading above it.
    pub fn section_above(&self, item: &Item) -> std::ops::Range<usize> {
        let blocks = &self.page.blocks;
        let start = self.page.heading_above(item.line).map_or(0, |heading| heading.line);
        let first = blocks.partition_point(|block| block.first_line < start);
        let end = blocks.partition_point(|block| block.last_line < item.line);
        first.min(end)..end
    }

    /// The block that an item speaks of, and whether that is beyond doubt.
    pub fn block_of(&self, item: &Item, families: &BTreeSet<NamedFamily>) -> Option<Spoken> {
        if item.kind == ItemKind::Bullet && item.is_of_family() {
            let mut own = (0..self.sets.len()).filter(|b| self.block_families(*b) == *families);
            let block = own.next().filter(|_| own.next().is_none())?;
            return Some(Spoken { block, is_sure: true });
        }
        let (first, backwards, is_sure) = self.neighbour(item)?;
        if self.fits(first, families) {
            return Some(Spoken { block: first, is_sure });
        }
        // between two blocks, it is of the one above that a clause speaks that fits only there
        let above = self.page.block_before(item.line).filter(|_| !backwards);
        if let Some(block) = above.filter(|b| self.follows(item, *b) && self.fits(*b, families)) {
            return Some(Spoken { block, is_sure: !families.is_empty() });
        }
        let others: Vec<usize> = if backwards {
            // where some are hidden, those that are not may stand far above
            let reach = if self.hidden.is_empty() { 3 } else { first };
            (first - reach.min(first)..first).rev().collect()
        } else {
            (first + 1..(first + 3).min(self.page.blocks.len())).collect()
        };
        let block = others.into_iter().find(|&b| self.fits(b, families))?;
        Some(Spoken { block, is_sure: is_sure && backwards })
    }

    /// The nearest block that an item can mean: what announces speaks of the
    /// block below, what concludes or follows of the one above.
    fn neighbour(&self, item: &Item) -> Option<(usize, bool, bool)> {
        let before = self.page.block_before(item.line);
        let after = self.page.block_after(item.last_line());
        if item.kind == ItemKind::Conclusion {
            return Some((before?, true, true));
        }
        let is_next_to_after = after.is_some_and(|b| self.is_next_to(item, b));
        let is_announcing = after.is_some_and(|b| self.announces(item, b));
        // a label of the next block stands between: what follows a block speaks of it
        let is_cut_off = before.is_some_and(|b| self.follows(item, b))
            && after.is_some_and(|b| self.is_labelled(item, b));
        if is_announcing || is_next_to_after && !is_cut_off {
            return after.map(|b| (b, false, is_next_to_after));
        }
        let before = before?;
        let follows = self.follows(item, before);
        (follows && item.kind != ItemKind::Bullet).then_some((before, true, follows))
    }

    /// Whether an item announces the block, and not a list before it.
    fn announces(&self, item: &Item, block: usize) -> bool {
        let first = self.page.blocks[block].first_line;
        let mut between = self.page.items_between(item.last_line(), first).iter();
        item.is_announcement() && between.all(|i| i.kind != ItemKind::Bullet)
    }

    /// Whether nothing but short labels stands between the item and the block.
    fn is_next_to(&self, item: &Item, block: usize) -> bool {
        let first = self.page.blocks[block].first_line;
        first - item.last_line() <= 6
            && self
                .page
                .items_between(item.last_line(), first)
                .iter()
                .all(|i| i.is_announcement() && i.text.len() <= 12)
    }

    /// Whether a label stands between the item and the block.
    fn is_labelled(&self, item: &Item, block: usize) -> bool {
        let first = self.page.blocks[block].first_line;
        !self.page.items_between(item.last_line(), first).is_empty()
    }

    /// Whether only conclusions stand between the block and the item.
    fn follows(&self, item: &Item, block: usize) -> bool {
        let last = self.page.blocks[block].last_line;
        let mut between = self.page.items_between(last, item.line).iter();
        between.all(|i| i.kind == ItemKind::Conclusion)
    }

    /// Whether a block compares what a clause with these families speaks of.
    fn fits(&self, block: usize, families: &BTreeSet<NamedFamily>) -> bool {
        if self.hidden.contains(&block) {
            return false;
        }
        let compared = self.block_families(block);
        if families.is_empty() || compared.is_empty() {
            return true;
        }
        if families.len() > 1 {
            return true;
        }
        compared.is_superset(families) || !compared.is_disjoint(families)
    }
}

/// The block that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Its index.
    pub block: usize,
    /// False when another block could be meant.
    pub is_sure: bool,
}
