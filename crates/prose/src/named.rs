//! Which sets of a block a text names: by the words of their labels that tell them apart.

use std::collections::BTreeSet;

use fwdlab_evidence::surroundings::SourcedSet;
use fwdlab_sentence::subject::folded;

/// The words of a set's label; numbers of versions also as a whole.
pub(crate) fn label_of(set: &SourcedSet<'_>) -> Vec<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.bytes().all(|b| b == b'.' || b.is_ascii_digit());
    let versions = set.set.legend.split_whitespace().filter(is_version);
    set.label.telling_words().into_iter().map(folded).chain(versions.map(str::to_owned)).collect()
}

/// `cxl4` names `cxl`, with one family.
pub(crate) fn stem(word: &str) -> &str {
    let stem = word.strip_suffix(['4', '6']).filter(|stem| stem.chars().all(char::is_alphabetic));
    stem.filter(|stem| stem.len() > 1).unwrap_or(word)
}

/// The words of a text that tell sets apart, each with which sets have it.
fn telling(spoken: &[String], labels: &[Vec<String>]) -> Vec<Vec<bool>> {
    let mut found = Vec::new();
    let spoken: Vec<String> = spoken.iter().cloned().chain(codes(spoken, labels)).collect();
    for (index, word) in spoken.iter().enumerate() {
        let has: Vec<bool> = labels.iter().map(|label| label.contains(word)).collect();
        let tells = has.contains(&true) && has.contains(&false);
        // "8 queues" is a set of queues, the 8 of "a factor of 8" is none
        let is_numeral = word.bytes().all(|b| b.is_ascii_digit()) && word.len() < 5;
        let next = spoken.get(index + 1);
        let is_alone = spoken.len() == 1;
        let is_counted =
            is_alone || next.is_some_and(|next| labels.iter().any(|label| label.contains(next)));
        if tells && (!is_numeral || is_counted) {
            found.push(has);
        }
    }
    found
}

/// "8 queues", "four cores": labels such as `q8` and `4c`.
fn codes(spoken: &[String], labels: &[Vec<String>]) -> BTreeSet<String> {
    const NUMBERS: [(&str, &str); 8] = [
        ("one", "1"),
        ("single", "1"),
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("six", "6"),
        ("eight", "8"),
        ("sixteen", "16"),
    ];
    let is_said = |code: &&String| {
        let is_digit = |c: char| c.is_ascii_digit();
        let number = code.trim_matches(|c: char| !is_digit(c));
        let letters = code.trim_matches(is_digit);
        let is_code = !letters.is_empty()
            && letters.len() < 4
            && !number.is_empty()
            && letters.len() + number.len() == code.len();
        let is_it = |two: &[String]| {
            let named = NUMBERS.iter().find(|(name, _)| *name == two[0]);
            named.map_or(two[0].as_str(), |(_, digits)| digits) == number
                && two[1].len() > letters.len() + 1
                && two[1].starts_with(letters)
        };
        is_code && spoken.windows(2).any(is_it)
    };
    labels.iter().flatten().filter(is_said).cloned().collect()
}

/// "Without hyperthreading": the state that sets are named by which share the word behind it.
fn state(spoken: &[String], labels: &[Vec<String>]) -> Option<&'static str> {
    let is_shared = |word: &String| labels.iter().all(|label| label.contains(word));
    let near = |at: usize| spoken[at + 1..].iter().take(2).any(is_shared);
    (0..spoken.len()).find_map(|at| match spoken[at].as_str() {
        "without" if near(at) => Some("disabled"),
        "with" if near(at) => Some("enabled"),
        _ => None,
    })
}

/// The one of the sets of a page, from any of its blocks, that a text names: it has all words of the text that tell
/// sets apart, and the fewest others. `None` where several are left that differ, or none.
pub(crate) fn among<'a>(
    spoken: &[String],
    sets: &[&'a SourcedSet<'a>],
) -> Option<&'a SourcedSet<'a>> {
    let labels: Vec<Vec<String>> = sets.iter().map(|set| label_of(set)).collect();
    let all = with_all(spoken, &labels);
    let fewest = all.iter().map(|at| labels[*at].len()).min()?;
    let mut found = all.into_iter().filter(|at| labels[*at].len() == fewest).map(|at| sets[at]);
    let first = found.next()?;
    found.all(|other| other.row.values == first.row.values).then_some(first)
}

/// The labels that have all words of a text by which labels are told apart; none where it has no such word.
pub(crate) fn with_all(spoken: &[String], labels: &[Vec<String>]) -> Vec<usize> {
    let telling = telling(spoken, labels);
    let is_it = |at: &usize| !telling.is_empty() && telling.iter().all(|has| has[*at]);
    (0..labels.len()).filter(is_it).collect()
}

/// The indices of the sets whose labels hold most of the telling words of a text; none where it has
/// no such word.
pub(crate) fn named(spoken: &[String], sets: &[SourcedSet<'_>]) -> Vec<usize> {
    let labels: Vec<Vec<String>> = sets.iter().map(label_of).collect();
    let mut spoken = spoken.to_vec();
    spoken.extend(state(&spoken, &labels).map(str::to_owned));
    let telling = telling(&spoken, &labels);
    let score = |set: usize| telling.iter().filter(|has| has[set]).count();
    let most = (0..sets.len()).map(score).max().unwrap_or(0);
    if most == 0 { Vec::new() } else { (0..sets.len()).filter(|s| score(*s) == most).collect() }
}

/// The one of two sets that words name as the kernel without what the other has, or with it.
pub(crate) fn side(words: &[String], sets: &[SourcedSet<'_>]) -> Option<usize> {
    const WITHOUT: [&str; 9] = [
        "unpatched",
        "stock",
        "vanilla",
        "baseline",
        "original",
        "plain",
        "without",
        "before",
        "unmodified",
    ];
    const WITH: [&str; 5] = ["patched", "with", "after", "modified", "new"];
    let [base, variant] = sets else { return None };
    if !base.label.patches.is_empty() || variant.label.patches.is_empty() {
        return None;
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match (has(&WITHOUT), has(&WITH)) {
        (true, false) => Some(0),
        (false, true) => Some(1),
        _ => None,
    }
}

/// How many words two sets' labels share.
pub(crate) fn likeness(a: &SourcedSet<'_>, b: &SourcedSet<'_>) -> usize {
    let other = label_of(b);
    label_of(a).iter().filter(|word| other.contains(word)).count()
}
