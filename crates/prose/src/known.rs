//! What a page shows, as its sentences are held against it: its sets by machine, family and variant.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_evidence::pair::Pair;
use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_grid::{Unit, unit_above};
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_reading::{Cell, Change, Facts, Part, label_words};
use fwdlab_sentence::quantity::rates;

use crate::machines::is_of_the_other;
use crate::named::stem;
use crate::sections::{Section, sections};

/// Frames/s of the smallest frames on a link of so many gigabits.
const PER_GIGABIT: [f64; 2] = [1_488_095.0, 1_453_488.0];

/// The facts of a page.
pub(crate) fn facts(around: &Surroundings<'_>) -> Facts {
    facts_of(around, |_| true)
}

/// The facts of some of its blocks.
pub(crate) fn facts_of(around: &Surroundings<'_>, is_kept: impl Fn(usize) -> bool) -> Facts {
    let own = sections(around);
    let mut facts = Facts::of_parts(own.iter().map(|part| described(around, part)).collect());
    for (part, section) in own.iter().enumerate() {
        for block in section.blocks.iter().filter(|block| is_kept(**block)) {
            add_block(around, &mut facts, part, *block);
        }
    }
    add_headings(around, &mut facts);
    name_topics(&mut facts);
    part_by_topics(&mut facts);
    facts.has_other =
        own.len() == 2 && own[1].blocks.iter().all(|block| is_of_the_other(around, *block));
    facts
}

fn described(around: &Surroundings<'_>, section: &Section) -> Part {
    let (names, letter) = section.names();
    let head = {
        let first = around.page.blocks.first().map_or(usize::MAX, |block| block.first_line);
        let own = around.page.items_above(first).iter();
        own.map(|item| item.text.as_str()).collect::<Vec<_>>().join("\n")
    };
    let own = if section.above.is_empty() { &head } else { &section.above };
    let loads: Vec<f64> = rates(own).iter().map(|rate| rate.pps()).collect();
    let is_model = |word: &&str| word.bytes().any(|b| b.is_ascii_digit());
    let models = own.split(|c: char| !c.is_alphanumeric()).filter(is_model);
    let models: BTreeSet<String> = models.map(str::to_lowercase).collect();
    let gigabits = own.lines().flat_map(gigabits).collect::<Vec<_>>();
    let line_rates = gigabits.iter().flat_map(|own| PER_GIGABIT.map(|rate| rate * own)).collect();
    Part {
        names: names.clone(),
        models,
        letter: letter.cloned(),
        line_rates,
        cores: own.lines().find_map(cores),
        loads,
    }
}

/// "10-Gigabit", "Gigabit", "40G".
fn gigabits(line: &str) -> Option<f64> {
    let lower = line.to_lowercase();
    let at = lower.find("gigabit").or_else(|| lower.find("gbe"))?;
    let before = lower[..at].trim_end_matches(['-', ' ']);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    Some(digits.parse().unwrap_or(1.0))
}

fn cores(line: &str) -> Option<u32> {
    let lower = line.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let at = words.windows(2).find(|two| two[1].starts_with("core"))?;
    match at[0] {
        "dual" => Some(2),
        "quad" => Some(4),
        "octa" | "eight" => Some(8),
        word => word.parse().ok(),
    }
}

/// How many packets/s the values of a block are in: a million below "raw rate, Mpps".
fn scale_of(around: &Surroundings<'_>, block: usize) -> f64 {
    let largest = around.sets[block].iter().map(|set| set.row.values[1]).fold(0.0, f64::max);
    let first = around.page.blocks.get(block).map(|block| block.first_line);
    let above = first.and_then(|line| around.page.item_before(line));
    let unit = above.and_then(|item| unit_above(&item.text, largest));
    unit.filter(|own| own.0 == Unit::Packets).map_or(1.0, |own| own.1)
}

fn add_block(around: &Surroundings<'_>, facts: &mut Facts, part: usize, block: usize) {
    let mut groups: BTreeMap<Option<NamedFamily>, Vec<&SourcedSet<'_>>> = BTreeMap::new();
    let heading = {
        let families = around.block_families(block);
        let own = (families.len() == 1).then(|| families.first().copied()).flatten();
        let section = || around.page.blocks.get(block).and_then(|block| around.section(block));
        let last = || {
            let first = around.page.blocks.get(block)?.first_line;
            around.page.heading_above(first).map(|item| item.text.as_str())
        };
        own.or_else(|| section().and_then(family_word)).or_else(|| last().and_then(family_word))
    };
    for set in &around.sets[block] {
        groups.entry(set.family.or(heading)).or_default().push(set);
    }
    let scale = scale_of(around, block);
    for (family, sets) in groups {
        let words: Vec<BTreeSet<String>> =
            sets.iter().map(|set| named(label_words(&set.set.legend))).collect();
        let shared = words.iter().cloned().reduce(|a, b| &a & &b).unwrap_or_default();
        let first = facts.cells.len();
        for (role, set) in sets.iter().enumerate() {
            let telling = &words[role];
            facts.cells.push(Cell {
                part,
                family,
                block,
                role,
                names: if sets.len() > 1 { telling - &shared } else { BTreeSet::new() },
                topics: telling & &shared,
                shared: telling & &shared,
                legend: set.set.legend.clone(),
                runs: set.row.n,
                values: set.row.values.map(|value| value * scale),
                all: around.values(set).unwrap_or_default().iter().map(|v| v * scale).collect(),
            });
        }
        for (a, base) in sets.iter().enumerate() {
            for (b, variant) in sets.iter().enumerate().skip(a + 1) {
                let Some(pair) = Pair::of(base, variant) else { continue };
                let change = Change {
                    base: first + a,
                    variant: first + b,
                    percent: pair.mean_percent,
                    median_percent: pair.median_percent,
                    half: pair.half_width,
                    is_proven: pair.is_proven,
                };
                if a == 0 { facts.changes.push(change) } else { facts.others.push(change) }
            }
        }
    }
}

/// The words of a label, and those of names in it that end with a family: `pf6` names `pf`.
fn named(words: BTreeSet<String>) -> BTreeSet<String> {
    let stems: Vec<String> = words.iter().map(|word| stem(word).to_owned()).collect();
    words.into_iter().chain(stems).collect()
}

/// What the heading of a block says of it: "Chelsio T520, IPv4" names the card; and a label such as `cxl4` names
/// `cxl`.
fn add_headings(around: &Surroundings<'_>, facts: &mut Facts) {
    const LIGHT: [&str; 8] = ["with", "and", "the", "of", "on", "for", "result", "test"];
    let heading = |block: usize| -> BTreeSet<String> {
        let Some(block) = around.page.blocks.get(block) else { return BTreeSet::new() };
        let Some(item) = around.page.heading_above(block.first_line) else {
            return BTreeSet::new();
        };
        let words: Vec<&str> =
            item.text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let is_denied =
            |at: usize| at > 0 && matches!(words[at - 1], "no" | "No" | "without" | "Without");
        let kept = (0..words.len()).filter(|at| !is_denied(*at) && words[*at].len() > 1);
        kept.map(|at| words[at].to_lowercase())
            .filter(|w| {
                family_word(w).is_none()
                    && !LIGHT.contains(&w.as_str())
                    && w != "no"
                    && w != "without"
            })
            .collect()
    };
    let blocks: BTreeSet<usize> = facts.cells.iter().map(|cell| cell.block).collect();
    let headings: BTreeMap<usize, BTreeSet<String>> =
        blocks.iter().map(|block| (*block, heading(*block))).collect();
    // a heading of one block each is its own sentence, and names nothing that others could share
    let is_short = headings.values().all(|words| words.len() <= 5);
    for cell in &mut facts.cells {
        let stems = cell.topics.iter().map(|word| stem(word).to_owned());
        cell.topics = stems.collect();
        if let Some(words) = headings.get(&cell.block).filter(|_| is_short) {
            cell.topics.extend(words.iter().cloned());
        }
    }
}

/// What all blocks share names none of them, and what tells sets apart names no block.
fn name_topics(facts: &mut Facts) {
    let all = facts.cells.iter().map(|cell| cell.topics.clone()).reduce(|a, b| &a & &b);
    let all = all.unwrap_or_default();
    let names: BTreeSet<String> =
        facts.cells.iter().flat_map(|cell| cell.names.iter().cloned()).collect();
    for cell in &mut facts.cells {
        cell.topics = &(&cell.topics - &all) - &names;
    }
}

/// Blocks of several things on one machine, as forwarding, ipfw and pf, are told apart as those of several
/// machines are.
fn part_by_topics(facts: &mut Facts) {
    let mut topics: Vec<BTreeSet<String>> = Vec::new();
    for cell in &facts.cells {
        if !topics.contains(&cell.topics) {
            topics.push(cell.topics.clone());
        }
    }
    if facts.parts.len() != 1 || topics.len() < 2 {
        return;
    }
    let own = facts.parts.remove(0);
    let part =
        |names: &BTreeSet<String>| Part { names: names.clone(), letter: None, ..own.clone() };
    facts.parts = topics.iter().map(part).collect();
    for cell in &mut facts.cells {
        cell.part = topics.iter().position(|own| *own == cell.topics).unwrap_or(0);
        cell.topics.clear();
    }
    let of_firewalls = |part: &Part| {
        let has = |name: &&str| part.names.contains(*name);
        part.names.is_empty() || ["pf", "ipfw", "ipf", "nftables", "forwarding"].iter().any(has)
    };
    facts.is_of_topics = facts.parts.iter().any(of_firewalls);
}
