//! A vocabulary of change: base forms with what they say of a rate, their inflections made by rule, and
//! turns of several words.
//!
//! It knows no sentence: what denies a word, and what it is said of, is for the reader of clauses.

mod lists;
mod meaning;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

pub use meaning::Sense;

use lists::{ADJECTIVES, COMPARATIVES, NOUNS, PHRASES, VERBS};

static WORDS: LazyLock<HashMap<String, Sense>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    let each = |list: &'static str| list.split_whitespace();
    for (sense, list) in COMPARATIVES {
        all.extend(each(list).map(|word| (word.to_owned(), sense)));
    }
    for (sense, list) in VERBS {
        for entry in each(list) {
            all.extend(verb(entry).into_iter().map(|word| (word, sense)));
        }
    }
    for (sense, list) in NOUNS {
        all.extend(each(list).flat_map(|noun| [noun.to_owned(), plural(noun)]).map(|w| (w, sense)));
    }
    for (sense, list) in ADJECTIVES {
        all.extend(each(list).flat_map(|own| [own.to_owned(), adverb(own)]).map(|w| (w, sense)));
    }
    all
});

/// A turn: the forms of each of its words; `None` for up to two words of any kind.
struct Turn {
    sense: Sense,
    parts: Vec<Option<HashSet<String>>>,
}

static TURNS: LazyLock<Vec<Turn>> = LazyLock::new(|| {
    let part = |word: &str| (word != "~").then(|| verb(word).into_iter().collect());
    let of = |(sense, list): (Sense, &'static str)| {
        list.split('|')
            .map(move |turn| Turn { sense, parts: turn.split_whitespace().map(part).collect() })
    };
    let mut turns: Vec<Turn> = PHRASES.into_iter().flat_map(of).collect();
    turns.sort_by_key(|turn| std::cmp::Reverse(turn.parts.len()));
    turns
});

/// Which of [`TURNS`] begin with a form: most words begin none, and every word of a page is asked.
static FIRST: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut first: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, turn) in TURNS.iter().enumerate() {
        for form in turn.parts.first().into_iter().flatten().flatten() {
            first.entry(form).or_default().push(place);
        }
    }
    first
});

/// What a machine is called.
const MACHINES: [&str; 9] =
    ["machine", "box", "host", "server", "router", "board", "platform", "testbed", "hardware"];

/// Whether a word in lower case is what a machine is called.
pub fn is_machine(word: &str) -> bool {
    MACHINES.iter().any(|name| word.strip_prefix(name).is_some_and(|rest| rest.len() < 3))
}

/// What a word says, in whatever form.
pub fn sense(word: &str) -> Option<Sense> {
    WORDS.get(word).copied()
}

/// A turn of several words that begins at `at`, and where it ends.
pub fn turn(words: &[(usize, String)], at: usize) -> Option<(Sense, usize)> {
    let (_, word) = words.get(at)?;
    let of = |form: &str| FIRST.get(form).into_iter().flatten();
    let denied = word.ends_with("n't").then(|| of("not"));
    // Before others the one that is longer, which stands first.
    let mut places: Vec<&usize> = of(word).chain(denied.into_iter().flatten()).collect();
    places.sort_unstable();
    places.into_iter().find_map(|&place| {
        let turn = &TURNS[place];
        Some((turn.sense, follow(&turn.parts, words, at)?))
    })
}

fn follow(
    parts: &[Option<HashSet<String>>],
    words: &[(usize, String)],
    at: usize,
) -> Option<usize> {
    let Some((first, rest)) = parts.split_first() else { return Some(at) };
    match first {
        Some(forms) => {
            let is_it =
                |word: &str| forms.contains(word) || word.ends_with("n't") && forms.contains("not");
            words.get(at).filter(|(_, word)| is_it(word))?;
            follow(rest, words, at + 1)
        }
        None => (0..=2).find_map(|gap| follow(rest, words, at + gap)),
    }
}

/// The forms of a verb, `fall:fell,fallen` with those that no rule gives.
pub fn verb(entry: &str) -> Vec<String> {
    let (base, irregular) = entry.split_once(':').unwrap_or((entry, ""));
    let irregular =
        irregular.split(',').filter(|form| !form.is_empty()).chain(irregular_of(base).copied());
    let mut forms = vec![base.to_owned(), plural(base)];
    forms.extend(irregular.map(str::to_owned));
    let stem = base.strip_suffix('e').filter(|stem| !stem.ends_with('e')).unwrap_or(base);
    let doubled = stem.chars().last().map(|last| format!("{stem}{last}")).unwrap_or_default();
    let y = base.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    forms.push(y.map_or_else(|| format!("{stem}ed"), |stem| format!("{stem}ied")));
    forms.push(format!("{stem}ing"));
    if base == stem && !base.ends_with(['a', 'e', 'i', 'o', 'u', 'w', 'x', 'y']) {
        forms.extend([format!("{doubled}ed"), format!("{doubled}ing")]);
    }
    forms
}

/// Forms of common verbs that no rule gives.
fn irregular_of(base: &str) -> std::slice::Iter<'static, &'static str> {
    let forms: &'static [&'static str] = match base {
        "be" => &["is", "are", "was", "were", "been"],
        "break" => &["broke", "broken"],
        "bring" => &["brought"],
        "come" => &["came"],
        "do" => &["did", "done"],
        "eat" => &["ate", "eaten"],
        "fall" => &["fell", "fallen"],
        "get" => &["got", "gotten"],
        "give" => &["gave", "given"],
        "go" => &["went", "gone"],
        "have" => &["has", "had"],
        "hold" => &["held"],
        "leave" => &["left"],
        "lose" => &["lost"],
        "make" => &["made"],
        "pay" => &["paid"],
        "take" => &["took", "taken"],
        "speed" => &["sped"],
        _ => &[],
    };
    forms.iter()
}

/// `drops`, `losses`, `casualties`; of a verb its third person.
fn plural(word: &str) -> String {
    let y = word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match y {
        Some(stem) => format!("{stem}ies"),
        None if word.ends_with(['s', 'x', 'z']) || word.ends_with("ch") || word.ends_with("sh") => {
            format!("{word}es")
        }
        None if word == "go" || word == "do" => format!("{word}es"),
        None => format!("{word}s"),
    }
}

fn adverb(word: &str) -> String {
    match (word.strip_suffix('y'), word.strip_suffix("le"), word.strip_suffix("ic")) {
        (Some(stem), ..) => format!("{stem}ily"),
        (_, Some(stem), _) => format!("{stem}ly"),
        (.., Some(_)) => format!("{word}ally"),
        _ => format!("{word}ly"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflections_follow_rules() {
        for (word, wanted) in [
            ("plummeted", Sense::Fall),
            ("plummets", Sense::Fall),
            ("dropping", Sense::Fall),
            ("slipped", Sense::Fall),
            ("risen", Sense::Rise),
            ("halves", Sense::Fall),
            ("detrimental", Sense::Bad),
            ("adversely", Sense::Bad),
            ("comparably", Sense::Alike),
            ("casualties", Sense::Bad),
            ("losses", Sense::Fall),
            ("outran", Sense::Good),
        ] {
            assert_eq!(sense(word), Some(wanted), "{word}");
        }
        for word in ["packet", "the", "fast", "forwarding", "setting", "patch"] {
            assert_eq!(sense(word), None, "{word}");
        }
    }

    #[test]
    fn turns_are_found_by_their_first_word_as_one_by_one() {
        let one_by_one = |words: &[(usize, String)], at: usize| {
            TURNS.iter().find_map(|turn| Some((turn.sense, follow(&turn.parts, words, at)?)))
        };
        assert!(TURNS.iter().all(|turn| turn.parts.first().is_some_and(Option::is_some)));
        // Of each turn every form of each word in turn, with nothing, one and two words in its gaps, and cut off.
        for turn in TURNS.iter() {
            let most = turn.parts.iter().flatten().map(HashSet::len).max().unwrap_or(1);
            for (form, gap, cut) in (0..most).flat_map(|form| {
                (0..3).flat_map(move |gap| [0, 1].map(move |cut| (form, gap, cut)))
            }) {
                let spelled = turn.parts.iter().flat_map(|part| match part {
                    Some(forms) => {
                        let mut forms: Vec<&String> = forms.iter().collect();
                        forms.sort();
                        let word = forms[form % forms.len()];
                        vec![if word == "not" && form + gap > 0 {
                            "doesn't".to_owned()
                        } else {
                            word.clone()
                        }]
                    }
                    None => vec!["word".to_owned(); gap],
                });
                let mut words: Vec<(usize, String)> = spelled.enumerate().collect();
                words.truncate(words.len() - cut);
                for at in 0..=words.len() {
                    assert_eq!(super::turn(&words, at), one_by_one(&words, at), "{words:?} {at}");
                }
            }
        }
    }

    #[test]
    fn turns_leave_room_for_a_word() {
        let of = |text: &str| {
            let words = crate::clause::words(text);
            (0..words.len()).find_map(|at| turn(&words, at)).map(|(sense, _)| sense)
        };
        assert_eq!(of("Hyperthreading pays off"), Some(Sense::Good));
        assert_eq!(of("IPv4 takes a big hit"), Some(Sense::Bad));
        assert_eq!(of("the states eat into the rate"), Some(Sense::Bad));
        assert_eq!(of("all within the noise"), Some(Sense::Alike));
        assert_eq!(of("states come for free"), Some(Sense::Free));
        assert_eq!(of("it takes some time"), None);
    }
}
