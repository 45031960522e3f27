//! What each word of a part of a sentence means; a part with a word that is not known has no meaning.

use fwdlab_netbenches::name::family_word;

use crate::amounts::{amount, count_of, fraction, in_words, worded};
use crate::lexicon::{Lex, lex};
use crate::sets::{Places, Sets, is_patch};
use crate::words::{Amount, Unit, Word};

/// The words and numbers of a part, in lower case.
pub(crate) fn raw(part: &str) -> Vec<String> {
    let is_part =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '\'' | '%' | '/' | '+' | '_' | '=');
    let lower = part.to_lowercase().replace(['’', '`', '"'], "'").replace("=>", " ");
    let own =
        lower.split(|c: char| !is_part(c)).map(|word| word.trim_matches(['.', '\'', '/', '=']));
    own.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

pub(crate) fn understood(sets: &Sets<'_>, raw: &[String]) -> Option<Vec<Word>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let text = raw[at].as_str();
        let next = raw.get(at + 1).map_or("", String::as_str);
        if let Some(family) = family_word(text) {
            found.push(Word::Family(family));
            at += 1;
        } else if let Some((some, of, end)) = count_of(raw, at) {
            found.push(Word::Count { some, of });
            at = end;
        } else if let Some((amount, end)) = in_words(raw, at) {
            found.push(Word::Amount(amount));
            at = end;
        } else if let Some((words, end)) = phrase(raw, at, &found) {
            found.extend(words);
            at = end;
        } else if let Some((word, end)) = state(sets, raw, at) {
            found.push(word);
            at = end;
        } else if let Some((amount, end)) =
            amount(raw, at).filter(|(own, _)| own.unit != Unit::Plain && !is_name(sets, text))
        {
            found.push(Word::Amount(amount));
            at = end;
        } else if let Some((value, end)) = fraction(text, next) {
            found.push(Word::Amount(Amount { value, step: 0.05, unit: Unit::Times }));
            at += end;
        } else if is_count(raw, at) {
            at += 1;
        } else if let Some(value) = worded(raw, at) {
            found.push(Word::Amount(Amount { value, step: 1.0, unit: Unit::Plain }));
            at += 1;
        } else if let Some(word) = named(sets, text) {
            found.push(word);
            at += 1;
        } else if let Some((amount, end)) = amount(raw, at) {
            found.push(Word::Amount(amount));
            at = end;
        } else {
            if let Some((is_better, end)) = joint(text, next) {
                found.extend([Word::Lex(Lex::Better(is_better)), Word::Lex(Lex::Than)]);
                at += end;
                continue;
            }
            let other = || match text {
                _ if is_patch(text) => Some(Lex::Patch),
                _ => sets.is_machine(text).then_some(Lex::Light),
            };
            found.push(Word::Lex(lex(text).or_else(other)?));
            at += 1;
        }
    }
    Some(turned(found))
}

/// What some words say only together: "told apart", "seems to", "the standard deviation", "12 % slower compared to".
fn phrase(raw: &[String], at: usize, before: &[Word]) -> Option<(Vec<Word>, usize)> {
    let word = |at: usize| raw.get(at).map_or("", String::as_str);
    let is_compared = || before.iter().any(|word| matches!(word, Word::Lex(Lex::Better(_))));
    Some(match (word(at), word(at + 1)) {
        ("told" | "tell", "apart") => (vec![Word::Lex(Lex::Told)], at + 2),
        ("seems" | "seem" | "seemed" | "appears" | "appear" | "appeared" | "able", "to") => {
            (Vec::new(), at + 2)
        }
        ("seems" | "seem" | "seemed" | "appears" | "appear" | "appeared", _) => {
            (Vec::new(), at + 1)
        }
        ("standard", "deviation" | "deviations") => (vec![Word::Lex(Lex::Spread)], at + 2),
        ("on", "par") => (vec![Word::Lex(Lex::Same)], at + 2),
        ("compared" | "relative", "to" | "with") if is_compared() => {
            (vec![Word::Lex(Lex::Than)], at + 2)
        }
        ("of", "course") | ("by", "far") | ("at", "all") => (Vec::new(), at + 2),
        _ => return None,
    })
}

/// "All three", "the four kernels": how many there are, which bounds nothing.
fn is_count(raw: &[String], at: usize) -> bool {
    const COUNTS: [&str; 6] = ["three", "four", "five", "six", "seven", "eight"];
    // "the slowest of the three": of which ones is not said
    let next = raw.get(at + 1).and_then(|word| lex(word));
    COUNTS.contains(&raw[at].as_str())
        && matches!(
            next,
            Some(
                Lex::Thing | Lex::Run | Lex::Firewall | Lex::Family | Lex::Patched | Lex::Unpatched
            )
        )
}

/// "Ahead of", "behind", "beats", "is beaten by": better or worse than what follows, and how many words say so.
fn joint(text: &str, next: &str) -> Option<(bool, usize)> {
    let is_passive = next == "by";
    match text {
        "ahead" if next == "of" => Some((true, 1)),
        "behind" if !next.is_empty() => Some((false, 1)),
        "superior" if next == "to" => Some((true, 2)),
        "inferior" if next == "to" => Some((false, 2)),
        "beat" | "beats" | "beating" | "outperform" | "outperforms" | "outperforming"
        | "surpass" | "surpasses" | "surpassing" | "overtakes" => Some((true, 1)),
        "beaten" | "outperformed" | "surpassed" | "overtaken" if is_passive => Some((false, 2)),
        "outperformed" | "surpassed" | "overtook" => Some((true, 1)),
        "trails" | "trailing" => Some((false, 1)),
        _ => None,
    }
}

/// "A lot more", "at least", "at most", "up to", "less than": what several words say together.
fn turned(words: Vec<Word>) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let lex = |word: Option<&Word>| match word {
        Some(Word::Lex(lex)) => Some(*lex),
        _ => None,
    };
    let mut at = 0;
    while at < words.len() {
        let two = (lex(words.get(at)), lex(words.get(at + 1)));
        if let Some(Lex::Scatters(is_more)) = two.0 {
            found.extend([Word::Lex(Lex::More), Word::Lex(Lex::Varies(is_more))]);
            at += 1;
            continue;
        }
        if two.0 == Some(Lex::Untouched) {
            found.extend([Word::Lex(Lex::No), Word::Lex(Lex::Touched(false))]);
            at += 1;
            continue;
        }
        let is_amount = |at: usize| matches!(words.get(at), Some(Word::Amount(_)));
        match two {
            (Some(Lex::More), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Over));
                at += 2;
            }
            (Some(Lex::Less | Lex::Better(false)), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Under));
                at += 2;
            }
            (Some(Lex::Better(true)), Some(Lex::Than)) if is_amount(at + 2) => {
                found.push(Word::Lex(Lex::Over));
                at += 2;
            }
            (Some(Lex::Least), _) if is_amount(at + 1) => {
                found.push(Word::Lex(Lex::Over));
                at += 1;
            }
            // "only slightly better" leaves nothing out
            (Some(Lex::Only), Some(Lex::Little | Lex::Over | Lex::Under)) => at += 1,
            (Some(Lex::Only), _) if is_amount(at + 1) => at += 1,
            (Some(Lex::Most), _) if is_amount(at + 1) => {
                found.push(Word::Lex(Lex::Under));
                at += 1;
            }
            _ => {
                found.push(words[at].clone());
                at += 1;
            }
        }
    }
    found
}

fn is_name(sets: &Sets<'_>, text: &str) -> bool {
    sets.named(text).is_some()
}

/// A word that names sets, where it does not name all of them; one that names all says nothing.
fn named(sets: &Sets<'_>, text: &str) -> Option<Word> {
    let own = sets.named(text)?;
    if own.len() < sets.all.len() {
        return Some(Word::Name(own));
    }
    lex(text).is_none().then_some(Word::Lex(Lex::Light))
}

/// "With the patch", "without D27401", "patched", "the base".
fn state(sets: &Sets<'_>, raw: &[String], at: usize) -> Option<(Word, usize)> {
    let text = raw[at].as_str();
    let own =
        |places: Places| (!places.is_empty() && places.len() < sets.all.len()).then_some(places);
    let is_light = |word: &str| matches!(word, "the" | "this" | "that" | "any" | "a" | "diff");
    let next = (at + 1..raw.len()).find(|at| !is_light(&raw[*at]));
    let is_patch_word = |word: &str| lex(word) == Some(Lex::Patch) || is_patch(word);
    // "each version of the patch": what has it
    if lex(text) == Some(Lex::Thing) && raw.get(at + 1).is_some_and(|word| word == "of") {
        let what = (at + 2..raw.len()).find(|at| !is_light(&raw[*at]));
        let what = what.filter(|what| is_patch_word(&raw[*what]));
        if let Some((what, places)) = what.zip(own(sets.patched(true))) {
            return Some((Word::Name(places), what + 1));
        }
    }
    let states = match lex(text) {
        Some(Lex::Patched) => Some(sets.patched(true)),
        Some(Lex::Unpatched) => Some(sets.patched(false)),
        Some(Lex::Base) => Some(sets.bases()),
        Some(Lex::First) => Some(sets.of_place(false)),
        Some(Lex::Last) => Some(sets.of_place(true)),
        Some(Lex::Firewall) => Some(sets.firewalled()),
        // "all the diffs": what is no base
        Some(Lex::Thing) if matches!(text, "diffs" | "patches") => Some(sets.patched(true)),
        _ => None,
    };
    if let Some(places) = states {
        let end = next.filter(|next| is_patch_word(&raw[*next])).map_or(at + 1, |next| next + 1);
        return Some((Word::Name(own(places)?), end));
    }
    let next = next?;
    let word = |at: usize| raw.get(at).map_or("", String::as_str);
    match lex(text) {
        Some(Lex::With) if word(next) == "or" || word(next) == "and" => {
            // "with or without the patch"
            let is_both = word(next + 1) == "without";
            let end = (next + 2..raw.len()).find(|at| !is_light(&raw[*at]))?;
            is_both.then(|| (Word::Lex(Lex::Both), end + 1))
        }
        Some(Lex::With) if lex(word(next)) == Some(Lex::Patch) => {
            Some((Word::Name(own(sets.patched(true))?), next + 1))
        }
        Some(Lex::Without) if is_patch_word(word(next)) => {
            Some((Word::Name(own(sets.patched(false))?), next + 1))
        }
        Some(Lex::Without) if lex(word(next)) == Some(Lex::Firewall) => {
            let rest = sets.places().difference(&sets.firewalled()).copied().collect();
            Some((Word::Name(own(rest)?), next + 1))
        }
        Some(Lex::Without | Lex::No) if sets.without(word(next)).is_some() => {
            Some((Word::Name(own(sets.without(word(next))?)?), next + 1))
        }
        Some(Lex::Without) => {
            let named = sets.named(word(next))?;
            let rest: Places = sets.places().difference(&named).copied().collect();
            Some((Word::Name(own(rest)?), next + 1))
        }
        _ => None,
    }
}
