//! What is known: measured sets, each of a part of the page (a machine), a family and a variant, and the changes
//! between the sets of one block.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use fwdlab_netbenches::name::NamedFamily;
use fwdlab_sentence::subject::folded;

/// Before what a label says that a set is without.
pub(crate) const ABSENT: &str = "without-";

/// A part of a page: the blocks of one machine, and what it is called.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Names in lower case.
    pub names: BTreeSet<String>,
    /// Words with digits above its blocks, in lower case: models among them.
    pub models: BTreeSet<String>,
    /// `A` of "Machine A".
    pub letter: Option<String>,
    /// Its line rates in frames/s, for each family where they differ.
    pub line_rates: Vec<f64>,
    /// Its number of cores.
    pub cores: Option<u32>,
    /// Loads that were offered to it.
    pub loads: Vec<f64>,
}

/// A measured set.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its part of the page.
    pub part: usize,
    /// Its family.
    pub family: Option<NamedFamily>,
    /// Its block.
    pub block: usize,
    /// Its place in the block: 0 is the base.
    pub role: usize,
    /// Words that tell it from the others of its block, folded.
    pub names: BTreeSet<String>,
    /// Words that tell its block from others, folded.
    pub topics: BTreeSet<String>,
    /// Words that all sets of its block share, folded.
    pub shared: BTreeSet<String>,
    /// How it is called in the block.
    pub legend: String,
    /// Number of runs.
    pub runs: u32,
    /// Minimum, maximum, median, mean, standard deviation.
    pub values: [f64; 5],
    /// Every value, where they are known.
    pub all: Vec<f64>,
}

impl Cell {
    /// The slowest run.
    pub fn min(&self) -> f64 {
        self.values[0]
    }

    /// The fastest run.
    pub fn max(&self) -> f64 {
        self.values[1]
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.values[2]
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.values[3]
    }

    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        self.values[4]
    }
}

/// What changes from one set of a block to another.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The index of the first.
    pub base: usize,
    /// The index of the second.
    pub variant: usize,
    /// Change of the means, in per cent.
    pub percent: f64,
    /// Change of the medians, in per cent.
    pub median_percent: f64,
    /// Half width of the 95 % interval, in per cent.
    pub half: f64,
    /// Whether 0 lies outside of it.
    pub is_proven: bool,
}

impl Change {
    /// The ends of the interval.
    pub fn ends(&self) -> (f64, f64) {
        (self.percent - self.half, self.percent + self.half)
    }
}

/// All that is known of a page. What its sets are called is looked up when a sentence is first held against it, so
/// that its fields are to be filled before.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its parts; one where it is of one machine.
    pub parts: Vec<Part>,
    /// Its sets.
    pub cells: Vec<Cell>,
    /// From the base of each block to each other set of it.
    pub changes: Vec<Change>,
    /// Between any two others of one block.
    pub others: Vec<Change>,
    /// The second part is called "the other machine", and the first is the page's own.
    pub has_other: bool,
    /// Its parts are no machines, but things that one machine does.
    pub is_of_topics: bool,
    /// What the sets are called, once it was asked for.
    pub(crate) words: OnceLock<Words>,
}

/// The sets of a page by their words: a page of many blocks has few words, and each word of each sentence is looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    /// Words that tell the sets of a block apart, with the places of those in their blocks.
    pub(crate) roles: BTreeMap<String, BTreeSet<usize>>,
    /// Words that tell blocks apart, with the blocks.
    pub(crate) blocks: BTreeMap<String, BTreeSet<usize>>,
    /// Words that all sets of some block share, and those that tell blocks apart.
    pub(crate) shared: BTreeSet<String>,
    /// Number of blocks.
    pub(crate) many: usize,
    /// How many sets a block has at the most.
    widest: usize,
    /// Whether a set is called a state of a setting.
    has_states: bool,
    /// Whether a set is called after what it is without, so that taking it away is the change.
    pub(crate) has_absent: bool,
    /// The families that have sets.
    families: BTreeSet<NamedFamily>,
}

impl Words {
    fn of(cells: &[Cell]) -> Self {
        const STATES: [&str; 4] = ["enabled", "disabled", "on", "off"];
        let mut own = Self::default();
        for cell in cells {
            for name in &cell.names {
                own.roles.entry(name.clone()).or_default().insert(cell.role);
            }
            for topic in &cell.topics {
                own.blocks.entry(topic.clone()).or_default().insert(cell.block);
            }
            let shared = cell.topics.iter().chain(&cell.shared);
            for word in shared.filter(|word| !own.shared.contains(*word)).collect::<Vec<_>>() {
                own.shared.insert(word.clone());
            }
            own.widest = own.widest.max(cell.role + 1);
            own.families.extend(cell.family);
        }
        own.many = cells.iter().map(|cell| cell.block).collect::<BTreeSet<_>>().len();
        own.has_absent = own.roles.keys().any(|name| name.starts_with(ABSENT));
        own.has_states = STATES.iter().any(|state| own.roles.contains_key(*state));
        own
    }
}

impl Facts {
    /// Those of a page of some parts, none of which has a set yet.
    pub fn of_parts(parts: Vec<Part>) -> Self {
        Self { parts, ..Self::default() }
    }

    /// Its sets by their words.
    pub(crate) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.cells))
    }

    /// Whether sets or parts are called by a word.
    pub(crate) fn has_name(&self, word: &str) -> bool {
        let word = folded(word);
        let (words, is_of_part) = (self.words(), |part: &Part| part.names.contains(&word));
        words.roles.contains_key(&word)
            || words.shared.contains(&word)
            || self.is_of_topics && self.parts.iter().any(is_of_part)
    }

    /// How many sets a block has at the most.
    pub fn widest(&self) -> usize {
        self.words().widest
    }

    /// Whether its sets are states of one setting, each named, so that neither is before the other.
    pub fn is_of_settings(&self) -> bool {
        self.words().has_states
    }

    /// The families that have sets.
    pub fn families(&self) -> BTreeSet<NamedFamily> {
        self.words().families.clone()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.words().many
    }

    /// The sets of the part that no topic names, or that is called forwarding.
    pub fn plain(&self) -> Option<Self> {
        let is_plain = |part: &Part| part.names.is_empty() || part.names.contains("forwarding");
        let part = self.parts.iter().position(is_plain)?;
        Some(self.only(|cell| cell.part == part))
    }

    /// The same of some sets only.
    #[must_use]
    pub fn only(&self, is_kept: impl Fn(&Cell) -> bool) -> Self {
        let mut own = Self {
            parts: self.parts.clone(),
            has_other: self.has_other,
            is_of_topics: self.is_of_topics,
            ..Self::default()
        };
        let mut places = vec![None; self.cells.len()];
        for (at, cell) in self.cells.iter().enumerate().filter(|(_, cell)| is_kept(cell)) {
            places[at] = Some(own.cells.len());
            own.cells.push(cell.clone());
        }
        let moved = |change: &Change| {
            Some(Change { base: places[change.base]?, variant: places[change.variant]?, ..*change })
        };
        own.changes = self.changes.iter().filter_map(moved).collect();
        own.others = self.others.iter().filter_map(moved).collect();
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(block: usize, role: usize) -> Cell {
        let words = |word: &str| BTreeSet::from([word.to_owned()]);
        Cell {
            part: block,
            family: None,
            block,
            role,
            names: words(["stock", "patched"][role]),
            topics: words("pf"),
            shared: words("pps"),
            legend: String::new(),
            runs: 5,
            values: [1.0; 5],
            all: Vec::new(),
        }
    }

    /// Each word of each sentence was looked for in every set: the same blocks again and again made that longer.
    #[test]
    fn the_words_that_are_looked_up_do_not_grow_with_the_blocks() {
        let words = |blocks: usize| {
            let cells = (0..blocks).flat_map(|block| [cell(block, 0), cell(block, 1)]);
            let parts = vec![Part::default(); blocks];
            let facts = Facts { cells: cells.collect(), ..Facts::of_parts(parts) };
            assert_eq!((facts.widest(), facts.blocks()), (2, blocks));
            let words = facts.words();
            assert_eq!(words.blocks["pf"].len(), blocks);
            (words.roles.clone(), words.shared.clone(), words.blocks.len())
        };
        assert_eq!(words(1), words(32));
        assert_eq!(words(1).0["patched"], BTreeSet::from([1]));
    }
}
