//! What the blocks of a page are of, where they are of several things: forwarding, ipfw and pf, or two
//! settings. The words that all sets of a block share, and other blocks have not, name it.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_netbenches::name::family_word;
use fwdlab_sentence::clause::Clause;
use fwdlab_sentence::subject::{folded, spoken};

/// Blocks that one word, or several together, name.
pub(crate) type Topic = BTreeSet<usize>;

/// The words by which the blocks of a page are named.
pub(crate) struct Topics {
    blocks: BTreeMap<String, Topic>,
    /// Words of labels that follow each other.
    pairs: BTreeSet<[String; 2]>,
}

/// What every block is of in some way, so that it names one only where nothing else does.
const GENERIC: [&str; 3] = ["forwarding", "fastforwarding", "routing"];
/// Words before those where they do name a block: `plain forwarding`.
const PLAINLY: [&str; 5] = ["plain", "simple", "pure", "on", "for"];
/// Words that any sentence holds: they are settings only behind what is set, as in `simple_tx=on`.
const SETTINGS: [&str; 6] = ["on", "off", "in", "no", "default", "enabled"];
/// What firewalls are called.
pub(crate) const FIREWALLS: [&str; 5] = ["ipfw", "pf", "ipf", "nftable", "iptable"];

impl Topics {
    /// Those of a page; none where one word would name all of its blocks, or none.
    pub(crate) fn of(around: &Surroundings<'_>) -> Self {
        let labels: Vec<Vec<BTreeSet<String>>> = around
            .sets
            .iter()
            .map(|sets| sets.iter().map(|set| words_of(&set.set.legend)).collect())
            .collect();
        let all = |sets: &[BTreeSet<String>]| -> BTreeSet<String> {
            let shared = sets.iter().cloned().reduce(|a, b| &a & &b);
            shared.unwrap_or_default()
        };
        let shared: Vec<BTreeSet<String>> = labels.iter().map(|sets| all(sets)).collect();
        // what tells the sets of a block apart is what is compared, and no topic
        let told_apart = labels
            .iter()
            .zip(&shared)
            .flat_map(|(sets, shared)| sets.iter().map(move |set| set - shared));
        let compared: BTreeSet<String> = told_apart.flatten().collect();
        let everywhere = all(&shared);
        let mut blocks: BTreeMap<String, Topic> = BTreeMap::new();
        for (block, words) in shared.iter().enumerate() {
            let is_own = |word: &&String| !everywhere.contains(*word) && !compared.contains(*word);
            for word in words.iter().filter(is_own) {
                blocks.entry(word.clone()).or_default().insert(block);
            }
        }
        let legends = around.sets.iter().flatten().map(|set| in_order(&set.set.legend));
        let pairs = legends.flat_map(|words| {
            let pairs = words.windows(2).map(|w| [w[0].clone(), w[1].clone()]);
            pairs.collect::<Vec<_>>()
        });
        Self { blocks, pairs: pairs.collect() }
    }

    /// Whether a word names a block.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.blocks.contains_key(word)
    }

    /// What a text names, in its order: words that fit one block are one topic.
    pub(crate) fn named(&self, text: &str) -> Vec<Topic> {
        let said = spoken(text);
        let mut found: Vec<Topic> = Vec::new();
        let mut generic: Vec<Topic> = Vec::new();
        for (index, word) in said.iter().enumerate() {
            let before = index.checked_sub(1).map_or("", |i| said[i].as_str());
            if word.starts_with("firewal") {
                found.extend(self.firewalls());
                continue;
            }
            let is_name = |_: &&Topic| {
                !SETTINGS.contains(&word.as_str())
                    || self.pairs.contains(&[before.to_owned(), word.clone()])
            };
            let Some(blocks) = self.blocks.get(word).filter(is_name) else { continue };
            if GENERIC.contains(&word.as_str()) {
                let next = said.get(index + 1).map_or("", String::as_str);
                let is_set_apart = text.contains(':') || text.contains(" only ");
                let is_label = index == 0 && is_set_apart || word.starts_with("fast");
                let is_it = is_label || PLAINLY.contains(&before) && !is_noun_of(next);
                generic.extend(is_it.then(|| blocks.clone()));
            } else {
                match found.iter_mut().find(|topic| !topic.is_disjoint(blocks)) {
                    Some(topic) => *topic = &*topic & blocks,
                    None => found.push(blocks.clone()),
                }
            }
        }
        generic.retain(|own| found.iter().all(|topic| topic.is_disjoint(own)));
        generic.dedup();
        found.extend(generic);
        found
    }

    /// What is called a firewall, a topic each.
    pub(crate) fn firewalls(&self) -> Vec<Topic> {
        let named = FIREWALLS.iter().filter_map(|name| self.blocks.get(*name));
        let blocks: Topic = named.flatten().copied().collect();
        blocks.into_iter().map(|block| BTreeSet::from([block])).collect()
    }

    /// The blocks of what a clause names, those of its families where it names some: one list for each
    /// topic.
    pub(crate) fn blocks(&self, around: &Surroundings<'_>, clause: &Clause) -> Vec<Vec<Spoken>> {
        let is_of_family = |block: &usize| {
            let families = around.block_families(*block);
            clause.families.is_empty()
                || families.is_empty()
                || !families.is_disjoint(&clause.families)
        };
        let topics = self.named(&clause.text).into_iter().map(|topic| {
            let blocks: Vec<usize> = topic.into_iter().filter(is_of_family).collect();
            let is_sure = blocks.len() == 1;
            blocks.into_iter().map(|block| Spoken { block, is_sure }).collect()
        });
        topics.filter(|blocks: &Vec<Spoken>| !blocks.is_empty()).collect()
    }
}

/// "Forwarding performance" is what every block is of.
fn is_noun_of(next: &str) -> bool {
    ["performance", "rate", "speed", "throughput", "of", "packet", "ipv", "inet", "with"]
        .iter()
        .any(|noun| next.starts_with(noun))
}

/// The words of a legend that can name a block.
fn words_of(legend: &str) -> BTreeSet<String> {
    let is_name = |word: &String| {
        family_word(word).is_none()
            && !word.bytes().all(|b| b.is_ascii_digit())
            && !["pp", "with", "without", "packet", "per", "second", "the"].contains(&word.as_str())
    };
    in_order(legend).into_iter().filter(is_name).collect()
}

/// The words of a legend; of a file's name without its directories.
fn in_order(legend: &str) -> Vec<String> {
    let is_path = !legend.contains(' ');
    let name = legend.rsplit('/').next().filter(|_| is_path).unwrap_or(legend);
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(folded).collect()
}
