//! Which block a clause means that stands below one of family against family. It may speak of that one
//! ("IPv6 is 24 % faster"), or of what the page is about: the patch. The labels of the blocks decide.

use std::collections::BTreeSet;

use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_netbenches::name::NamedFamily;
use fwdlab_sentence::clause::{Clause, words};
use fwdlab_sentence::families::{compares_families, is_of_a_patch};

/// The blocks that a clause beside `spoken` may mean, the likelier first; that one alone where it
/// compares no families.
pub(crate) fn blocks(
    around: &Surroundings<'_>,
    clause: &Clause,
    spoken: Option<Spoken>,
) -> Vec<Spoken> {
    let Some(spoken) = spoken else { return Vec::new() };
    if !is_of_families(around, spoken.block) || compares_families(clause) {
        return vec![spoken];
    }
    let is_own = |block: &usize| {
        let families = around.block_families(*block);
        let is_named = clause.families.is_empty() || families.is_subset(&clause.families);
        families.len() == 1 && is_named && shares_a_label(around, *block, spoken.block)
    };
    let changes = (0..around.sets.len()).filter(is_own);
    let changes = changes.map(|block| Spoken { block, ..spoken });
    if is_of_the_change(around, clause) {
        let own = (!is_of_a_patch(clause)).then_some(spoken);
        changes.chain(own).collect()
    } else {
        std::iter::once(spoken).chain(changes).collect()
    }
}

/// Whether a block holds one family against the other.
pub(crate) fn is_of_families(around: &Surroundings<'_>, block: usize) -> bool {
    let families: Vec<NamedFamily> =
        around.sets[block].iter().filter_map(|set| set.family).collect();
    families.len() == 2 && families[0] != families[1]
}

/// Whether two blocks show a set of one label: they are of one review.
fn shares_a_label(around: &Surroundings<'_>, one: usize, other: usize) -> bool {
    let key = |block: usize| -> BTreeSet<String> {
        around.sets[block].iter().map(|set| set.row.key()).collect()
    };
    !key(one).is_disjoint(&key(other))
}

/// Whether a clause says that something was changed, or names what tells the sets of another block of
/// the page apart.
pub(crate) fn is_of_the_change(around: &Surroundings<'_>, clause: &Clause) -> bool {
    const CHANGES: [&str; 12] = [
        "patch",
        "patched",
        "review",
        "commit",
        "change",
        "gain",
        "gains",
        "gained",
        "improves",
        "improved",
        "improvement",
        "regression",
    ];
    let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
    let tells = |word: &String| {
        around.sets.iter().any(|sets| {
            let has = |set: &fwdlab_evidence::surroundings::SourcedSet<'_>| {
                set.label.telling_words().contains(word.as_str())
            };
            sets.iter().any(has) && !sets.iter().all(has)
        })
    };
    let is_of = |word: &String| CHANGES.contains(&word.as_str());
    words.iter().any(|word| {
        is_of(word) || fwdlab_netbenches::name::family_word(word).is_none() && tells(word)
    })
}
