//! Two profiles function by function, with names that mean the same in both.
//!
//! Compilers cut functions into parts (`.isra.0`, `.cold`), patches rename them, and what was a
//! call in one kernel is inlined in the other. Compared by name alone each of these would be two large
//! changes that are none. So parts count as their function; a function that only one side has takes
//! the place of one that only the other has, where both are called by the same and weigh alike;
//! and one that vanished while its caller grew (or the other way) is counted with its caller. The sum
//! over all functions is never changed by this: a sample moves from one name to another, none goes.

use std::collections::{BTreeMap, BTreeSet};

/// What compilers add to the name of a part of a function, after a full stop.
const PARTS: [&str; 6] = ["cold", "constprop", "isra", "llvm", "lto_priv", "part"];

/// Functions with fewer samples below them than this are not looked at: they decide nothing.
const LEAST_SAMPLES: u64 = 10;

/// A function takes another's place when it weighs at most so many times as much or as little.
const ALIKE: f64 = 2.0;

/// A caller counts as changed by what was inlined when it took over at least this share of it.
const TAKEN_OVER: f64 = 0.5;

/// So many functions are folded at most, and none in profiles of more stacks than these: it takes a
/// look at every stack for each.
const ROUNDS: usize = 64;
const MOST_STACKS: usize = 50_000;

/// The samples of one side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    /// Functions from the outermost to the innermost, with their samples.
    stacks: BTreeMap<Vec<String>, u64>,
    /// What one sample stands for.
    weight: f64,
}

/// A function on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name, as both sides have it.
    pub name: String,
    /// Its samples, those below it left out: baseline, variant.
    pub samples: [u64; 2],
    /// What was folded into it, in words: "is `fib_lookup2` in after".
    pub folded: Vec<String>,
}

impl Side {
    /// Of stacks as lines of functions joined by `;`, each sample of which stands for so much.
    pub fn new<'s>(stacks: impl Iterator<Item = (&'s str, u64)>, weight: f64) -> Self {
        let mut own = Self { stacks: BTreeMap::new(), weight };
        for (stack, count) in stacks {
            *own.stacks.entry(whole_functions(stack)).or_default() += count;
        }
        own
    }

    /// All samples.
    fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Every function, as far as one stack after the other tells.
    fn index(&self) -> Index<'_> {
        let mut index = Index::default();
        for (stack, &n) in &self.stacks {
            let names: BTreeSet<&str> = stack.iter().map(String::as_str).collect();
            names.into_iter().for_each(|name| *index.below.entry(name).or_default() += n);
            index.outermost.extend(stack.first().map(String::as_str));
            if let Some(leaf) = stack.last() {
                *index.within.entry(leaf).or_default() += n;
            }
            for pair in stack.windows(2).filter(|pair| pair[0] != pair[1]) {
                *index.calls.entry(&pair[1]).or_default().entry(&pair[0]).or_default() += n;
            }
        }
        index
    }

    /// Gives every function of this name another; with none, it counts as its caller.
    fn rename(&mut self, from: &str, to: Option<&str>) {
        let mut stacks = BTreeMap::new();
        for (stack, n) in std::mem::take(&mut self.stacks) {
            let mut named: Vec<String> = Vec::with_capacity(stack.len());
            for name in stack {
                match to {
                    Some(to) if name == from => named.push(to.to_owned()),
                    None if name == from && !named.is_empty() => {}
                    _ => named.push(name),
                }
            }
            *stacks.entry(named).or_default() += n;
        }
        self.stacks = stacks;
    }
}

/// The functions of a stack; a part of a function right below it is the same.
fn whole_functions(stack: &str) -> Vec<String> {
    let mut functions: Vec<String> = Vec::new();
    for name in stack.split(';') {
        let own = whole(name);
        let is_part = own.len() < name.len() && functions.last().is_some_and(|last| last == own);
        if !is_part {
            functions.push(own.to_owned());
        }
    }
    functions
}

/// The name without what says that it is a part: `fib_table_lookup` of `fib_table_lookup.part.0`.
fn whole(name: &str) -> &str {
    let mut own = name;
    while let Some((before, last)) = own.rsplit_once('.') {
        let (before, word) = match last.bytes().all(|byte| byte.is_ascii_digit()) {
            true => before.rsplit_once('.').unwrap_or((before, "")),
            false => (before, last),
        };
        if before.is_empty() || PARTS.binary_search(&word).is_err() {
            break;
        }
        own = before;
    }
    own
}

/// What is asked of a side again and again.
#[derive(Default)]
struct Index<'s> {
    /// Samples in each function and what it calls.
    below: BTreeMap<&'s str, u64>,
    /// Samples in the function itself.
    within: BTreeMap<&'s str, u64>,
    /// Samples by the function that is called and the one that calls.
    calls: BTreeMap<&'s str, BTreeMap<&'s str, u64>>,
    /// Functions that nobody calls in some stack.
    outermost: BTreeSet<&'s str>,
}

impl<'s> Index<'s> {
    /// Who calls a function most often, by samples.
    fn caller(&self, name: &str) -> Option<&'s str> {
        self.calls.get(name)?.iter().max_by_key(|(_, n)| **n).map(|(name, _)| *name)
    }

    /// Functions that `other` does not have and that somebody calls, with the samples in and below
    /// them, the heaviest first.
    fn alone(&self, other: &Self) -> Vec<(&'s str, u64)> {
        let is_alone = |(name, n): &(&'s str, u64)| {
            *n >= LEAST_SAMPLES && !other.below.contains_key(name) && !self.outermost.contains(name)
        };
        let all = self.below.iter().map(|(name, n)| (*name, *n));
        let mut found: Vec<_> = all.filter(is_alone).collect();
        found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        found
    }
}

/// Both sides after folding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    /// The functions, by name.
    pub functions: Vec<Function>,
    /// The samples of both sides by stack, from the outermost function to the innermost: those below a stack come
    /// right behind it.
    pub stacks: BTreeMap<Vec<String>, [u64; 2]>,
}

/// Folds both sides. `names` are theirs.
pub fn folded(mut sides: [Side; 2], names: [&str; 2]) -> Folded {
    let mut folded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let rounds = if sides.iter().any(|side| side.stacks.len() > MOST_STACKS) { 0 } else { ROUNDS };
    for _ in 0..rounds {
        let Some((from, to)) = renamed(&sides) else { break };
        sides[1].rename(&to, Some(&from));
        folded.entry(from).or_default().push(format!("is `{to}` in {}", names[1]));
    }
    for _ in 0..rounds {
        let Some((k, name, caller)) = inlined(&sides) else { break };
        sides[k].rename(&name, None);
        let more = folded.remove(&name).unwrap_or_default();
        let words = format!("holds `{name}`, which is inlined in {}", names[1 - k]);
        folded.entry(caller).or_default().extend(std::iter::once(words).chain(more));
    }
    let mut stacks: BTreeMap<Vec<String>, [u64; 2]> = BTreeMap::new();
    for (k, side) in sides.into_iter().enumerate() {
        for (stack, n) in side.stacks {
            stacks.entry(stack).or_default()[k] += n;
        }
    }
    let mut all: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (stack, both) in &stacks {
        let own = all.entry(stack.last().map_or("", String::as_str)).or_default();
        (0..2).for_each(|k| own[k] += both[k]);
    }
    let one = |(name, samples): (&str, [u64; 2])| Function {
        name: name.to_owned(),
        samples,
        folded: folded.get(name).cloned().unwrap_or_default(),
    };
    let functions = all.into_iter().map(one).collect();
    Folded { functions, stacks }
}

/// A function of the baseline and the one that has its place in the variant.
fn renamed(sides: &[Side; 2]) -> Option<(String, String)> {
    let [before, after] = sides.each_ref().map(Side::index);
    let others = after.alone(&before);
    before.alone(&after).into_iter().find_map(|(from, n)| {
        let caller = before.caller(from)?;
        let weight = n as f64 * sides[0].weight;
        let off = |n: u64| (n as f64 * sides[1].weight / weight).ln().abs();
        let like = others.iter().filter(|(to, n)| {
            off(*n) <= ALIKE.ln() && after.caller(to).is_some_and(|own| own == caller)
        });
        let nearest = like.min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
        Some((from.to_owned(), nearest.0.to_owned()))
    })
}

/// A function that only side `k` has, and its caller, which took over what it did on the other: of
/// several the most expensive.
fn inlined(sides: &[Side; 2]) -> Option<(usize, String, String)> {
    let both = sides.each_ref().map(Side::index);
    let cost = |k: usize, name: &str| {
        both[k].within.get(name).copied().unwrap_or(0) as f64 * sides[k].weight
    };
    let mut found: Vec<(f64, usize, &str, &str)> = Vec::new();
    for k in 0..2 {
        for (name, _) in both[k].alone(&both[1 - k]) {
            let Some(caller) = both[k].caller(name) else { continue };
            let (own, grown) = (cost(k, name), cost(1 - k, caller) - cost(k, caller));
            if own > 0.0 && grown >= TAKEN_OVER * own {
                found.push((own, k, name, caller));
            }
        }
    }
    let dearest = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.2.cmp(a.2)));
    dearest.map(|(_, k, name, caller)| (k, name.to_owned(), caller.to_owned()))
}

/// All samples of both sides.
pub fn totals(sides: &[Side; 2]) -> [u64; 2] {
    sides.each_ref().map(Side::samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(text: &str) -> Side {
        let stacks = text.lines().map(|line| line.trim().rsplit_once(' ').unwrap());
        let stacks: Vec<(&str, u64)> =
            stacks.map(|(stack, n)| (stack, n.parse().unwrap())).collect();
        Side::new(stacks.into_iter(), 1.0)
    }

    fn both(before: &str, after: &str) -> Vec<Function> {
        let sides = [side(before), side(after)];
        let samples = totals(&sides);
        let Folded { functions, stacks } = folded(sides, ["old", "new"]);
        let sums = [0, 1].map(|k| functions.iter().map(|own| own.samples[k]).sum::<u64>());
        assert_eq!(sums, samples, "folding loses nothing");
        let sums = [0, 1].map(|k| stacks.values().map(|both| both[k]).sum::<u64>());
        assert_eq!(sums, samples, "nor do its stacks");
        functions
    }

    fn of<'f>(found: &'f [Function], name: &str) -> &'f Function {
        found.iter().find(|own| own.name == name).unwrap_or_else(|| panic!("{name}: {found:?}"))
    }

    #[test]
    fn parts_of_a_function_are_the_function() {
        for (name, own) in [
            ("ip_rcv_core.isra.0", "ip_rcv_core"),
            ("fib_lookup.part.0.cold", "fib_lookup"),
            ("a.constprop.12.isra.3", "a"),
            ("v1.2", "v1.2"),
            ("device", "device"),
            (".cold", ".cold"),
        ] {
            assert_eq!(whole(name), own);
        }
        let found = both("d;f;f.part.0 50\nd;f;f 50", "d;f 90\nd;f.cold 10");
        assert_eq!(of(&found, "f").samples, [100, 100], "{found:?}");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_renamed_function_is_one() {
        let found = both(
            "d;ip_rcv 100\nd;ip_rcv;route_old 80\nd;ip_rcv;route_old;trie 40",
            "d;ip_rcv 100\nd;ip_rcv;route_new 85\nd;ip_rcv;route_new;trie 40",
        );
        assert_eq!(of(&found, "route_old").samples, [80, 85]);
        assert_eq!(of(&found, "route_old").folded, ["is `route_new` in new"]);
        // Called by another, or of another weight, it is another.
        for other in
            ["d;out;route_new 85\nd;ip_rcv 100\nd;out 9", "d;ip_rcv;route_new 900\nd;ip_rcv 100"]
        {
            let found = both("d;ip_rcv 100\nd;ip_rcv;route_old 80", other);
            assert!(of(&found, "route_new").folded.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn an_inlined_function_counts_as_its_caller_on_both_sides() {
        for turned in [false, true] {
            let texts = [
                "d;ip_rcv 100\nd;ip_rcv;check 60\nd;ip_rcv;check;sum 30",
                "d;ip_rcv 155\nd;ip_rcv;sum 30",
            ];
            let found = if turned { both(texts[1], texts[0]) } else { both(texts[0], texts[1]) };
            let own = of(&found, "ip_rcv");
            assert_eq!(own.samples, if turned { [155, 160] } else { [160, 155] });
            let side = if turned { "old" } else { "new" };
            assert_eq!(own.folded, [format!("holds `check`, which is inlined in {side}")]);
            assert_eq!(of(&found, "sum").samples, [30, 30]);
        }
    }

    #[test]
    fn a_new_function_whose_caller_stays_as_it_was_keeps_its_name() {
        let found = both("d;ip_rcv 100", "d;ip_rcv 101\nd;ip_rcv;nft_do_chain 200");
        assert_eq!(of(&found, "nft_do_chain").samples, [0, 200]);
        assert_eq!(of(&found, "ip_rcv").samples, [100, 101]);
    }

    #[test]
    fn a_recursive_function_on_one_side_comes_to_an_end() {
        let found = both("d;r;r;r 50", "d 50");
        assert_eq!(of(&found, "d").samples, [50, 50]);
    }
}
