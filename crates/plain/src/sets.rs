//! The measured sets of a page, each once, by the words that name them.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily;
use fwdlab_reading::{Cell, Facts};
use fwdlab_sentence::subject::folded;

/// Before what a label says that a set is without.
const ABSENT: &str = "without-";

/// A measured set.
#[derive(Clone, Debug)]
pub(crate) struct Set<'a> {
    pub(crate) cell: &'a Cell,
    /// Where it stands among the facts, each time.
    pub(crate) places: Vec<usize>,
    /// All that it is called.
    pub(crate) words: BTreeSet<String>,
}

impl Set<'_> {
    pub(crate) fn family(&self) -> Option<NamedFamily> {
        self.cell.family
    }

    /// Whether its name has a patch: `D27401`.
    pub(crate) fn is_patched(&self) -> bool {
        self.words.iter().any(|word| is_patch(word))
    }

    /// "'r368606' from 694169 to 700644", for people.
    pub(crate) fn runs(&self) -> String {
        format!("'{}' from {:.0} to {:.0}", self.cell.legend, self.cell.min(), self.cell.max())
    }

    /// "'r368606' has 696972 packets/s".
    pub(crate) fn level(&self) -> String {
        format!("'{}' has {:.0} packets/s", self.cell.legend, self.cell.mean())
    }
}

/// Whether a word is a patch's name.
pub(crate) fn is_patch(word: &str) -> bool {
    let rest = word.strip_prefix('d').unwrap_or_default();
    rest.bytes().take_while(u8::is_ascii_digit).count() > 3
}

/// Some sets, by their places.
pub(crate) type Places = BTreeSet<usize>;

/// All sets of a page, or of a block.
#[derive(Debug)]
pub(crate) struct Sets<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) all: Vec<Set<'a>>,
}

impl<'a> Sets<'a> {
    pub(crate) fn of(facts: &'a Facts, is_kept: impl Fn(&Cell) -> bool) -> Self {
        let mut all: Vec<Set<'a>> = Vec::new();
        for (index, cell) in facts.cells.iter().enumerate().filter(|(_, cell)| is_kept(cell)) {
            let of_part = facts.parts.get(cell.part).map(|part| &part.names);
            let of_part = of_part.filter(|_| facts.parts.len() > 1).into_iter().flatten();
            let own = cell.names.iter().chain(&cell.topics).chain(&cell.shared).chain(of_part);
            let words = own.flat_map(|word| forms(word)).chain(versions(&cell.legend));
            let words: BTreeSet<String> = words.collect();
            // what a page compares twice is one set
            let is_it = |other: &&mut Set<'_>| {
                other.cell.values == cell.values && other.cell.family == cell.family
            };
            match all.iter_mut().find(is_it) {
                Some(own) => {
                    own.places.push(index);
                    // a table's cell is called otherwise in the next
                    own.words.extend(words.into_iter().filter(|_| cell.runs == 1));
                }
                None => all.push(Set { cell, places: vec![index], words }),
            }
        }
        Self { facts, all }
    }

    /// All of them.
    pub(crate) fn places(&self) -> Places {
        (0..self.all.len()).collect()
    }

    /// Those that a word names, where it does not name all.
    pub(crate) fn named(&self, word: &str) -> Option<Places> {
        let word = folded(word);
        let sized = sized(&word);
        let is_called = |set: &Set<'_>| {
            set.words.contains(&word) || sized.as_ref().is_some_and(|own| set.words.contains(own))
        };
        let own: Places = (0..self.all.len()).filter(|at| is_called(&self.all[*at])).collect();
        (!own.is_empty()).then_some(own)
    }

    /// Whether a word is a model of the one machine that the page is of: APU2 of an APU2C4.
    pub(crate) fn is_machine(&self, word: &str) -> bool {
        let [part] = self.facts.parts.as_slice() else { return false };
        let has = |is: fn(u8) -> bool| word.bytes().any(is);
        let is_model = has(|b| b.is_ascii_digit()) && has(|b| b.is_ascii_alphabetic());
        is_model && word.len() > 3 && part.models.iter().any(|own| own.starts_with(word))
    }

    /// Those that are called after being without something.
    pub(crate) fn without(&self, word: &str) -> Option<Places> {
        let word = format!("{ABSENT}{}", folded(word));
        let own: Places =
            (0..self.all.len()).filter(|at| self.all[*at].words.contains(&word)).collect();
        (!own.is_empty()).then_some(own)
    }

    /// Those to which something was done, or those without.
    pub(crate) fn patched(&self, is_patched: bool) -> Places {
        let has_names = self.all.iter().any(Set::is_patched);
        let is = |set: &Set<'_>| match has_names {
            true => set.is_patched(),
            false => set.cell.role > 0,
        };
        (0..self.all.len()).filter(|at| is(&self.all[*at]) == is_patched).collect()
    }

    /// The first ones of their blocks.
    pub(crate) fn bases(&self) -> Places {
        (0..self.all.len()).filter(|at| self.all[*at].cell.role == 0).collect()
    }

    /// The last of each block, or the first.
    pub(crate) fn of_place(&self, is_last: bool) -> Places {
        let is_it = |at: &usize| {
            let cell = self.all[*at].cell;
            let of_block = self
                .all
                .iter()
                .filter(|set| set.cell.block == cell.block && set.cell.family == cell.family);
            let last = of_block.map(|set| set.cell.role).max().unwrap_or(0);
            last > 0 && cell.role == if is_last { last } else { 0 }
        };
        self.places().into_iter().filter(is_it).collect()
    }

    /// Those that are behind a firewall.
    pub(crate) fn firewalled(&self) -> Places {
        const FIREWALLS: [&str; 5] = ["ipfw", "pf", "ipf", "nftable", "iptable"];
        let is_one = |at: &usize| FIREWALLS.iter().any(|own| self.all[*at].words.contains(*own));
        self.places().into_iter().filter(is_one).collect()
    }

    /// Those of some places that are of a family.
    pub(crate) fn of_family(&self, places: &Places, family: NamedFamily) -> Places {
        let is_it = |at: &&usize| self.all[**at].family().is_none_or(|own| own == family);
        places.iter().filter(is_it).copied().collect()
    }

    /// Of sets that differ only in what they have beside a word the one that has no more.
    pub(crate) fn alone(&self, places: &Places) -> Places {
        // what names all sets of a block is what they are of, as pf
        let is_of_block = |at: &usize| {
            let cell = self.all[*at].cell;
            let of_block =
                |set: &Set<'_>| set.cell.block == cell.block && set.cell.family == cell.family;
            (0..self.all.len()).all(|at| !of_block(&self.all[at]) || places.contains(&at))
        };
        let has_less = |at: &usize| {
            !is_of_block(at)
                && places.iter().any(|other| {
                    let (own, other) = (&self.all[*at], &self.all[*other]);
                    own.family() == other.family()
                        && other.words.len() < own.words.len()
                        && other.words.is_subset(&own.words)
                })
        };
        places.iter().copied().filter(|at| !has_less(at)).collect()
    }

    /// What it is compared with: the bases of its blocks.
    pub(crate) fn bases_of(&self, at: usize) -> Vec<usize> {
        let own = &self.all[at].places;
        let changes = self.facts.changes.iter().filter(|change| own.contains(&change.variant));
        let base = |index: usize| self.all.iter().position(|set| set.places.contains(&index));
        let mut found: Vec<usize> = changes.filter_map(|change| base(change.base)).collect();
        found.retain(|base| *base != at);
        found.dedup();
        found
    }

    /// Whether a change between two sets is proven, where the page compares them.
    pub(crate) fn is_proven(&self, one: usize, other: usize) -> Option<bool> {
        let (one, other) = (&self.all[one].places, &self.all[other].places);
        let is_it = |change: &&fwdlab_reading::Change| {
            let (base, variant) = (&change.base, &change.variant);
            one.contains(base) && other.contains(variant)
                || other.contains(base) && one.contains(variant)
        };
        let mut all = self.facts.changes.iter().chain(&self.facts.others);
        all.find(is_it).map(|change| change.is_proven)
    }

    /// What each of some pairs has, for people.
    pub(crate) fn levels(&self, couples: &[(usize, usize)]) -> String {
        let own: Places = couples.iter().flat_map(|(a, b)| [*a, *b]).collect();
        own.iter().take(6).map(|at| self.all[*at].level()).collect::<Vec<_>>().join("; ")
    }

    /// How far two sets are from being called alike.
    pub(crate) fn distance(&self, one: usize, other: usize) -> usize {
        let (one, other) = (&self.all[one], &self.all[other]);
        let words = one.words.symmetric_difference(&other.words).count();
        2 * words + 4 * usize::from(one.family() != other.family())
    }
}

/// A word of a label as people write it: `318516stable` is called stable.
fn forms(word: &str) -> Vec<String> {
    let word = folded(word);
    // what a set is without names it by that only
    if word.starts_with(ABSENT) {
        return vec![word];
    }
    let tail = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let parts = word.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() > 1);
    let parts: Vec<String> = parts.map(folded).collect();
    let is_compound = tail.len() > 2 && tail.len() + 2 < word.len();
    let tail = is_compound.then(|| folded(tail));
    // FreeBSD's head is CURRENT
    let other = |own: &str| match own {
        "current" => Some("head".to_owned()),
        "head" => Some("current".to_owned()),
        "fwd" => Some("forwarding".to_owned()),
        _ => None,
    };
    let more = other(tail.as_deref().unwrap_or(&word));
    let of_parts: Vec<String> = parts.iter().filter_map(|part| other(part)).collect();
    [Some(word), tail, more].into_iter().flatten().chain(parts).chain(of_parts).collect()
}

/// The versions in a label: `v6.6-fwd` is called 6.6, too.
fn versions(legend: &str) -> impl Iterator<Item = String> {
    let parts = legend.split(|c: char| !c.is_alphanumeric() && c != '.');
    let parts = parts.map(|part| part.strip_prefix('v').unwrap_or(part));
    let is_version = |part: &&str| {
        let numbers = part.split('.');
        part.contains('.') && numbers.clone().all(|own| own.parse::<u16>().is_ok())
    };
    parts.filter(is_version).map(str::to_owned)
}

/// `256k` in full.
fn sized(word: &str) -> Option<String> {
    let (digits, scale) = match word.strip_suffix('k') {
        Some(digits) => (digits, 1024_u64),
        None => (word.strip_suffix('m')?, 1024 * 1024),
    };
    Some(digits.parse::<u64>().ok()?.checked_mul(scale)?.to_string())
}
