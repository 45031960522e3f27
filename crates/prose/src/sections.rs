//! The parts of a page that show the same sets again, of another machine, and the names by which sentences
//! tell them apart: what stands above their blocks and above no others.

use std::collections::BTreeSet;

use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::name::family_word;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_sentence::subject::folded;
use fwdlab_sentence::vocabulary::is_machine;

/// A part of a page.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// Its blocks.
    pub(crate) blocks: BTreeSet<usize>,
    /// Names in lower case: of makers and models.
    names: BTreeSet<String>,
    /// `A` of "Machine A".
    letter: Option<String>,
    /// What stands above its blocks, a line each.
    pub(crate) above: String,
}

/// The parts of a page whose blocks repeat; one where none does.
pub(crate) fn sections(around: &Surroundings<'_>) -> Vec<Section> {
    let mut all: Vec<Section> = Vec::new();
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    for (block, sets) in around.sets.iter().enumerate().filter(|(_, sets)| !sets.is_empty()) {
        let mut key: BTreeSet<String> = sets.iter().map(|set| folded(&set.set.legend)).collect();
        key.extend(around.block_families(block).iter().map(|family| format!("{family:?}")));
        if all.is_empty() || seen.contains(&key) {
            all.push(Section::default());
            seen.clear();
        }
        seen.push(key);
        if let Some(own) = all.last_mut() {
            own.blocks.insert(block);
        }
    }
    name(around, &mut all);
    all
}

/// The lines above the first block of a part, from the last label on that is no family.
fn above<'a>(around: &Surroundings<'a>, section: &Section, after: usize) -> Vec<&'a Item> {
    let first = section.blocks.first().map_or(0, |block| around.page.blocks[*block].first_line);
    let own: Vec<&Item> = around.page.items_between(after, first).iter().collect();
    let is_label = |item: &&Item| {
        item.kind != ItemKind::Bullet && family_word(item.text.trim_end_matches(':')).is_none()
    };
    let names_one = |item: &&Item| {
        is_label(item) && item.text.split_whitespace().any(|word| is_machine(&word.to_lowercase()))
    };
    let start = own.iter().rposition(names_one).unwrap_or(0);
    own[start..].to_vec()
}

fn name(around: &Surroundings<'_>, all: &mut [Section]) {
    // where some blocks are hidden, what stands above them names no part of what is shown
    let first = all.first().and_then(|own| own.blocks.first()).copied().unwrap_or(0);
    let hidden = (0..first).rev().find(|block| around.is_hidden(*block));
    let mut after = hidden.map_or(0, |block| around.page.blocks[block].last_line);
    let mut named: Vec<(BTreeSet<String>, Option<String>)> = Vec::new();
    for section in all.iter_mut() {
        let items = above(around, section, after);
        let texts = items.iter().map(|item| item.text.as_str());
        let names = texts.clone().flat_map(proper).collect();
        named.push((names, texts.clone().filter_map(letter).next()));
        section.above = texts.collect::<Vec<_>>().join("\n");
        after = section.blocks.last().map_or(0, |block| around.page.blocks[*block].last_line);
    }
    let legends = around.sets.iter().flatten().map(|set| set.set.legend.to_lowercase());
    let legends: Vec<String> = legends.collect();
    for (own, section) in all.iter_mut().enumerate() {
        let is_of_another = |name: &String| {
            let mut others = named.iter().enumerate().filter(|(at, _)| *at != own);
            others.any(|(_, (names, _))| names.contains(name))
        };
        let is_in_a_legend =
            |name: &String| legends.iter().any(|legend| legend.contains(name.as_str()));
        let names = named[own].0.iter().filter(|n| !is_of_another(n) && !is_in_a_legend(n));
        section.names = names.cloned().collect();
        section.letter.clone_from(&named[own].1);
    }
}

/// Words that begin a line or stand in any, and name nothing.
const PLAIN: [&str; 21] = [
    "the",
    "dual",
    "quad",
    "single",
    "port",
    "ports",
    "traffic",
    "load",
    "machine",
    "comparing",
    "impact",
    "results",
    "gigabit",
    "ethernet",
    "freebsd",
    "icmp",
    "lro",
    "tso",
    "other",
    "this",
    "here",
];

/// What looks like a name: a capital at its beginning, or letters with digits.
fn proper(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    let is_proper = |word: &&str| {
        let is_mixed = word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_ascii_alphabetic());
        let begins = word.starts_with(|c: char| c.is_ascii_uppercase());
        word.len() > 2
            && family_word(word).is_none()
            && (begins || is_mixed && !word.starts_with(|c: char| c.is_ascii_digit()))
            && !PLAIN.contains(&word.to_lowercase().as_str())
    };
    words.filter(is_proper).map(str::to_lowercase).collect()
}

/// The letter or number behind "machine".
fn letter(text: &str) -> Option<String> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let found = words.windows(2).find(|w| is_machine(&w[0].to_lowercase()) && w[1].len() == 1)?;
    Some(found[1].to_owned())
}

impl Section {
    /// Its names in lower case, and its letter.
    pub(crate) fn names(&self) -> (&BTreeSet<String>, Option<&String>) {
        (&self.names, self.letter.as_ref())
    }

    /// Whether some words name it: each as it is written, and in lower case.
    fn is_named(&self, words: &[(&str, String)]) -> bool {
        let is_name = |(_, lower): &(&str, String)| {
            let lower = lower.strip_suffix("'s").unwrap_or(lower);
            let is_part = |name: &String| {
                let [short, long] =
                    if name.len() < lower.len() { [&**name, lower] } else { [lower, &**name] };
                // "APU2" of an APU2D4
                short == long || short.len() > 2 && long.starts_with(short) && is_model(short)
            };
            self.names.iter().any(is_part)
        };
        let is_lettered = |(at, (word, _)): (usize, &(&str, String))| {
            const BEFORE: [&str; 9] = ["on", "of", "for", "from", "at", "and", "or", "than", "but"];
            let before = at.checked_sub(1).map_or("", |at| words[at].1.as_str());
            let is_behind = is_machine(before) || BEFORE.contains(&before);
            let own = word.strip_suffix("'s").unwrap_or(word);
            let is_it = self.letter.as_ref().is_some_and(|letter| {
                own == letter || is_machine(before) && own.eq_ignore_ascii_case(letter)
            });
            is_it && is_behind
        };
        !self.names.is_empty() && words.iter().any(is_name)
            || self.letter.is_some() && words.iter().enumerate().any(is_lettered)
    }
}

/// Letters and a digit, as in what makers call what they make.
fn is_model(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) || word.len() > 3
}

/// The parts that a text names.
pub(crate) fn named(all: &[Section], text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\''));
    let words = words.map(|word| word.trim_matches(['-', '\''])).filter(|w| !w.is_empty());
    let words: Vec<(&str, String)> = words.map(|word| (word, word.to_lowercase())).collect();
    (0..all.len()).filter(|own| all[*own].is_named(&words)).collect()
}
