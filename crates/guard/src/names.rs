//! Names of strangers where there is less room than they ask for: none is taken for another.

use std::collections::{BTreeMap, BTreeSet};

/// Fewer characters than this show nothing of a name.
const LEAST: usize = 5;

/// The names in at most so many characters each (5 are the least), different where they are: what is too long
/// lacks its middle, for names often differ in their first or their last letters; where that makes two alike,
/// what these begin and end with goes first.
pub fn apart<S: AsRef<str>>(names: &[S], most: usize) -> Vec<String> {
    let most = most.max(LEAST);
    let whole: Vec<Vec<char>> = names.iter().map(|name| name.as_ref().chars().collect()).collect();
    let whole: Vec<&[char]> = whole.iter().map(Vec::as_slice).collect();
    let shown = shortened(&whole, most);
    let count = |all: BTreeSet<&[char]>| all.len();
    let different = count(whole.iter().copied().collect());
    if shown.iter().collect::<BTreeSet<_>>().len() < different {
        return (1..).zip(&whole).map(|(place, name)| numbered(name, most, place)).collect();
    }
    shown
}

/// The same, as far as it goes: some may be alike.
fn shortened(names: &[&[char]], most: usize) -> Vec<String> {
    let shown: Vec<String> = names.iter().map(|name| ends(name, most)).collect();
    if most < LEAST {
        return shown;
    }
    let mut groups: BTreeMap<&str, BTreeSet<&[char]>> = BTreeMap::new();
    for (name, short) in names.iter().zip(&shown) {
        groups.entry(short).or_default().insert(name);
    }
    let mut told: BTreeMap<&[char], String> = BTreeMap::new();
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let group: Vec<&[char]> = group.into_iter().collect();
        told.extend(group.iter().copied().zip(around(&group, most)));
    }
    let one = |(name, short): (&&[char], &String)| told.get(name).unwrap_or(short).clone();
    names.iter().zip(&shown).map(one).collect()
}

/// Both ends of a name that is too long.
fn ends(name: &[char], most: usize) -> String {
    if name.len() <= most {
        return name.iter().collect();
    }
    let end = (most - 1) / 2;
    let begin = most - 1 - end;
    name[..begin].iter().chain(&['…']).chain(&name[name.len() - end..]).collect()
}

/// Different names by what tells them apart, with as much of what all begin and end with as there is room for.
fn around(group: &[&[char]], most: usize) -> Vec<String> {
    let shortest = group.iter().map(|name| name.len()).min().unwrap_or(0);
    let is_shared = |of: &dyn Fn(&[char]) -> char| group.iter().all(|own| of(own) == of(group[0]));
    let begin = (0..shortest).take_while(|at| is_shared(&|own| own[*at])).count();
    let rest = 1..=shortest - begin;
    let end = rest.take_while(|at| is_shared(&|own| own[own.len() - at])).count();
    let middles: Vec<&[char]> = group.iter().map(|own| &own[begin..own.len() - end]).collect();
    // a mark on either side of it
    let room = most - 2;
    let middles = shortened(&middles, room);
    let longest = middles.iter().map(|middle| middle.chars().count()).max().unwrap_or(0);
    let spare = room - longest;
    let head = begin.min(spare - end.min(spare / 2));
    let tail = end.min(spare - head);
    let [before, after] = [head < begin, tail < end].map(|is_cut| if is_cut { "…" } else { "" });
    let whole = |(own, middle): (&&[char], String)| {
        let [head, tail] = [&own[..head], &own[own.len() - tail..]].map(String::from_iter);
        format!("{head}{before}{middle}{after}{tail}").replace("……", "…")
    };
    group.iter().zip(middles).map(whole).collect()
}

/// A name that is too long as its beginning and its place among all.
fn numbered(name: &[char], most: usize, place: usize) -> String {
    if name.len() <= most {
        return name.iter().collect();
    }
    let number = format!("…{place}");
    let begin = most.saturating_sub(number.chars().count());
    name[..begin].iter().collect::<String>() + &number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `r368606D27401-with-batches-v1` and `...-without-...-v1` were one name below two bars.
    #[test]
    fn names_that_differ_in_their_middle_keep_it() {
        let long = |middle: &str| format!("r368606D27401-{middle}-batches-v1");
        let names = [long("with"), long("without"), "radix".to_owned()];
        assert_eq!(apart(&names, 16), ["r36860…es-v1", "r36860…out…es-v1", "radix"]);
        assert_eq!(apart(&names, 40), names);
        assert_eq!(apart(&["modular-1", "modular-2"], 5), ["mo…-1", "mo…-2"]);
        assert_eq!(apart(&["0123456789"; 2], 8), ["0123…789"; 2], "the same name twice");
        assert!(apart::<&str>(&[], 8).is_empty());
    }

    #[test]
    fn different_names_stay_different_in_any_room() {
        let words: Vec<String> = (0..256_u32)
            .map(|bits| (0..8).map(|at| if bits >> at & 1 == 0 { 'a' } else { 'µ' }).collect())
            .collect();
        let longer = words.iter().map(|word| format!("{word}{word}-a"));
        for names in [words.clone(), longer.collect(), words.iter().map(|w| w.repeat(3)).collect()]
        {
            for most in [0, 5, 6, 7, 8, 12, 20, 30] {
                let shown = apart(&names, most);
                let different: BTreeSet<&String> = shown.iter().collect();
                assert_eq!(different.len(), names.len(), "{most}: {shown:?}");
                let longest = shown.iter().map(|name| name.chars().count()).max();
                assert!(longest <= Some(most.max(LEAST)), "{most}: {shown:?}");
            }
        }
    }
}
