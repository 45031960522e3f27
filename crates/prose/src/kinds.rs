//! The kinds of comparison of a page: a patch with and without it in some blocks, forwarding and two firewalls in
//! others. A word that names the second set of one kind may name no set of another, or all sets of it.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_reading::{Cell, Facts};
use fwdlab_sentence::subject::{folded, spoken};

use crate::known::{facts, facts_of};
use crate::named::stem;
use crate::sections::sections;
use crate::topics::FIREWALLS;

/// One kind of comparison.
pub(crate) struct Kind {
    /// What its blocks show.
    pub(crate) facts: Facts,
    /// Its blocks.
    pub(crate) blocks: BTreeSet<usize>,
    /// The words of its labels.
    words: BTreeSet<String>,
    /// The words of what its blocks stand under.
    heads: BTreeSet<String>,
}

/// The kinds of a page, at least one.
pub(crate) fn kinds(around: &Surroundings<'_>) -> Vec<Kind> {
    let whole = facts(around);
    let all: BTreeSet<usize> = whole.cells.iter().map(|cell| cell.block).collect();
    // blocks that repeat others are of several machines, which are told apart otherwise
    let is_of_one = sections(around).len() == 1;
    let found = if is_of_one { apart(&whole) } else { vec![all.clone()] };
    let words = |blocks: &BTreeSet<usize>| {
        let own = blocks.iter().flat_map(|block| &around.sets[*block]);
        let own = own.flat_map(|set| words_of(&set.set.legend));
        own.filter(|word| is_name(word)).collect()
    };
    let heads = |blocks: &BTreeSet<usize>| {
        let own = blocks.iter().filter_map(|block| around.page.blocks.get(*block));
        let above = own.flat_map(|block| {
            let heading = around.page.heading_above(block.first_line);
            heading.into_iter().chain(around.heading_above(block))
        });
        above.flat_map(|item| spoken(&item.text)).filter(|word| is_name(word)).collect()
    };
    if found.len() < 2 {
        let (words, heads) = (words(&all), heads(&all));
        return vec![Kind { facts: whole, words, heads, blocks: all }];
    }
    let kind = |blocks: BTreeSet<usize>| Kind {
        facts: facts_of(around, |block| blocks.contains(&block)),
        words: words(&blocks),
        heads: heads(&blocks),
        blocks,
    };
    found.into_iter().map(kind).collect()
}

/// The words of a label, and those of the names in it: `hash-32k.pps`.
fn words_of(legend: &str) -> Vec<String> {
    let parts = legend.split(|c: char| !c.is_alphanumeric()).map(folded);
    let parts = parts.flat_map(|part| [stem(&part).to_owned(), part]);
    spoken(legend).into_iter().chain(parts).collect()
}

/// The blocks, those together whose words mean the same sets.
fn apart(facts: &Facts) -> Vec<BTreeSet<usize>> {
    let mut by_block: BTreeMap<usize, Vec<&Cell>> = BTreeMap::new();
    for cell in &facts.cells {
        by_block.entry(cell.block).or_default().push(cell);
    }
    // many blocks of one kind are labelled alike
    let mut alike: BTreeMap<Roles<'_>, BTreeSet<usize>> = BTreeMap::new();
    for (block, cells) in &by_block {
        alike.entry(Roles::of(cells)).or_default().insert(*block);
    }
    let mut found: Vec<(Vec<Roles<'_>>, BTreeSet<usize>)> = Vec::new();
    for (roles, blocks) in alike {
        let is_alike = |own: &&mut (Vec<Roles<'_>>, BTreeSet<usize>)| {
            own.0.iter().all(|other| !roles.contradict(other))
        };
        match found.iter_mut().find(is_alike) {
            Some(own) => {
                own.0.push(roles);
                own.1.extend(blocks);
            }
            None => found.push((vec![roles], blocks)),
        }
    }
    found.into_iter().map(|(_, blocks)| blocks).collect()
}

/// What tells the sets of a block apart, and what they share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Roles<'a> {
    telling: BTreeMap<&'a str, BTreeSet<usize>>,
    shared: BTreeSet<&'a str>,
}

impl<'a> Roles<'a> {
    fn of(cells: &[&'a Cell]) -> Self {
        let mut own = Self { telling: BTreeMap::new(), shared: BTreeSet::new() };
        // sets of one family each are compared by their family
        let is_compared = |cell: &&&Cell| {
            cells.iter().filter(|other| other.family == cell.family).nth(1).is_some()
        };
        for cell in cells.iter().filter(is_compared) {
            for name in &cell.names {
                own.telling.entry(name).or_default().insert(cell.role);
            }
            own.shared.extend(cell.shared.iter().map(String::as_str));
        }
        own
    }

    /// Whether a word tells sets apart here and means others there, or all, or no word tells sets apart in both.
    fn contradict(&self, other: &Self) -> bool {
        let is_other = |(word, roles): (&&str, &BTreeSet<usize>)| {
            other.telling.get(word).is_some_and(|its| its.is_disjoint(roles))
                || other.shared.contains(word)
        };
        let is_of_others = !self.telling.is_empty()
            && !other.telling.is_empty()
            && !self.telling.keys().any(|word| other.telling.contains_key(word));
        is_of_others
            || self.telling.iter().any(is_other)
            || other.telling.keys().any(|word| self.shared.contains(word))
    }
}

/// Whether a word may name a kind: none of the families, and none that any sentence holds.
fn is_name(word: &str) -> bool {
    const LIGHT: [&str; 14] = [
        "with",
        "without",
        "packet",
        "per",
        "second",
        "forwarding",
        "forwarded",
        "the",
        "and",
        "pp",
        "of",
        "on",
        "no",
        "in",
    ];
    word.len() > 1
        && family_word(word).is_none()
        && !LIGHT.contains(&word)
        && !word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `d27401`: a review of FreeBSD.
fn is_review(word: &str) -> bool {
    word.strip_prefix('d').is_some_and(|n| n.len() > 3 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The kinds that a sentence can speak of: those that have each word by which it names one.
pub(crate) fn spoken_of<'a>(all: &'a [Kind], text: &str) -> Vec<&'a Kind> {
    const PATCH: [&str; 7] =
        ["patch", "patche", "patched", "unpatched", "patching", "diff", "review"];
    let said: BTreeSet<String> = spoken(text).into_iter().collect();
    let has = |word: &str| all.iter().filter(|kind| kind.words.contains(word)).count();
    let telling: Vec<&String> =
        said.iter().filter(|word| (1..all.len()).contains(&has(word))).collect();
    let is_of_patch =
        |kind: &&Kind| kind.words.iter().any(|word| is_review(word) || word.starts_with("patch"));
    let asks_patch = said.iter().any(|word| PATCH.contains(&word.as_str()))
        && all.iter().any(|kind| is_of_patch(&kind));
    // what a block stands under names it as much as its labels do, and tells it from no other
    let has_all = |kind: &&Kind| {
        telling.iter().all(|word| kind.words.contains(*word) || kind.heads.contains(*word))
    };
    // "every firewall" is said where there are several
    let firewalls = |kind: &Kind| FIREWALLS.iter().filter(|own| kind.words.contains(**own)).count();
    let is_of_firewalls = said.iter().any(|word| word.starts_with("firewal") || word == "filter");
    let most = all.iter().map(firewalls).max().filter(|_| is_of_firewalls).unwrap_or(0);
    let kept = all.iter().filter(has_all).filter(|kind| !asks_patch || is_of_patch(kind));
    of_families(kept.filter(|kind| firewalls(kind) >= most).collect(), text)
}

/// Of some kinds those that have the families which a sentence names; where none has, those of which that is not known.
fn of_families<'a>(all: Vec<&'a Kind>, text: &str) -> Vec<&'a Kind> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let said: BTreeSet<NamedFamily> = words.filter_map(family_word).collect();
    let has = |kind: &&Kind| said.is_subset(&kind.facts.families());
    let is_open = |kind: &Kind| kind.facts.families().is_empty();
    match all.iter().any(has) {
        true => all.into_iter().filter(has).collect(),
        // what compares two families is of no kind that shows one
        false if said.len() > 1 && !all.iter().all(|kind| is_open(kind)) => Vec::new(),
        false => all.into_iter().filter(|kind| is_open(kind)).collect(),
    }
}
