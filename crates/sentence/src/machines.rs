//! Which machine a sentence speaks of, on a page of two.

use crate::clause::{Clause, words};
use crate::subject::spoken;
use crate::vocabulary;

/// Words before it that lead away from the page's own.
const OTHERS: [&str; 5] = ["other", "second", "another", "third", "different"];
/// Words before it that lead back.
const OWN: [&str; 3] = ["this", "first", "same"];
/// Words before it that mean each.
const EACH: [&str; 7] = ["both", "neither", "either", "each", "every", "all", "two"];
/// Verbs with which one machine repeats what was said of another.
const AGREES: [&str; 6] = ["confirm", "agree", "repeat", "reproduce", "same", "likewise"];

/// Whose figures a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The page's own.
    Own,
    /// The other one.
    Other,
    /// Each of them.
    Each,
    /// It sets one against the other.
    Apart,
}

/// Which machine a text names; `None` where it names none.
pub fn whose(text: &str) -> Option<Whose> {
    let words: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let is_machine = |word: &String| vocabulary::is_machine(word);
    let has = |list: &[&str], word: &String| list.contains(&word.as_str());
    let named = |list: &[&str]| {
        words.windows(2).any(|w| has(list, &w[0]) && is_machine(&w[1]))
            || words.windows(3).any(|w| has(list, &w[0]) && is_machine(&w[2]))
    };
    let is_there = words.windows(2).any(|w| w[0] == "over" && w[1] == "there");
    match (named(&OTHERS) || is_there, named(&EACH)) {
        (_, true) if words.iter().any(|w| w.starts_with("differ") || w == "between") => {
            Some(Whose::Apart)
        }
        (_, true) => Some(Whose::Each),
        (true, _) if words.iter().any(|w| w == "than" || w == "against") => Some(Whose::Apart),
        (true, _) => Some(Whose::Other),
        _ => (named(&OWN) || words.iter().any(|w| w == "here")).then_some(Whose::Own),
    }
}

/// "And the other machine confirms it": says again what was said.
pub fn agrees(clause: &Clause) -> bool {
    clause.percents.is_empty()
        && spoken(&clause.text).iter().any(|w| AGREES.iter().any(|verb| w.starts_with(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_a_machine_or_none() {
        for (text, wanted) in [
            ("The other machine moved", Some(Whose::Other)),
            ("undecided over there", Some(Whose::Other)),
            ("on another, bigger box", Some(Whose::Other)),
            ("this little box", Some(Whose::Own)),
            ("slower here", Some(Whose::Own)),
            ("it falls on both machines", Some(Whose::Each)),
            ("on neither machine", Some(Whose::Each)),
            ("it differs between the two machines", Some(Whose::Apart)),
            ("faster than the other machine", Some(Whose::Apart)),
            ("both kernels forward as much", None),
            ("the other kernel", None),
        ] {
            assert_eq!(whose(text), wanted, "{text}");
        }
    }
}
