//! Which of the variants of a published directory the others are compared with.

use std::cmp::Ordering;

use serde::Serialize;

use crate::revision::Revision;

/// A baseline and why it is that one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Baseline {
    /// Name of the variant.
    pub name: String,
    /// The reason, in words.
    pub why: String,
}

/// The variant that is named default, or forwarding, or of the oldest image; else the one that the
/// others add something to; else the first.
pub fn baseline(variants: &[String]) -> Baseline {
    let one = |why: &str, is_it: &dyn Fn(&str) -> bool| {
        let mut found = variants.iter().filter(|name| is_it(name));
        let first = found.next()?;
        // two that are named so tell nothing
        found.next().is_none().then(|| Baseline { name: first.clone(), why: why.to_owned() })
    };
    None.or_else(|| one("it is the only one", &|_| variants.len() == 1))
        .or_else(|| one("it is named default", &|name| has_word(name, "default")))
        .or_else(|| one("it is named forwarding", &|name| has_word(name, "forwarding")))
        .or_else(|| oldest(variants))
        .or_else(|| extended(variants))
        .unwrap_or_else(|| Baseline {
            name: variants.first().cloned().unwrap_or_default(),
            why: format!("it is the first by name: {}", undecided(variants)),
        })
}

fn has_word(name: &str, word: &str) -> bool {
    name.split(['.', '-', '_', ' ']).any(|w| w == word)
}

/// Why no name says which one the baseline is.
fn undecided(variants: &[String]) -> String {
    for word in ["default", "forwarding"] {
        let named: Vec<&str> =
            variants.iter().map(String::as_str).filter(|name| has_word(name, word)).collect();
        if let [first, second, ..] = named[..] {
            let several = format!("{} are named {word} ({first}, {second}", named.len());
            return several + if named.len() > 2 { ", ...)" } else { ")" };
        }
    }
    "no name says which one is".to_owned()
}

/// The variant of the oldest image, where all name one and their order is known; of two of that
/// image the one without a patch.
fn oldest(variants: &[String]) -> Option<Baseline> {
    let read = |name: &String| {
        let image = name.split('.').next().unwrap_or_default();
        Revision::parse(name).or_else(|| Revision::parse(image))
    };
    let revisions: Vec<Revision> = variants.iter().map(read).collect::<Option<_>>()?;
    let is_ordered = revisions.windows(2).all(|pair| pair[0].order(&pair[1]).is_some());
    let rank = |a: &Revision, b: &Revision| {
        a.order(b)
            .unwrap_or(Ordering::Equal)
            .then(a.patch.is_empty().cmp(&b.patch.is_empty()).reverse())
    };
    let first = (0..variants.len()).min_by(|&a, &b| rank(&revisions[a], &revisions[b]))?;
    let is_single = (0..variants.len())
        .all(|i| i == first || rank(&revisions[first], &revisions[i]) == Ordering::Less);
    (is_ordered && is_single).then(|| Baseline {
        name: variants[first].clone(),
        why: "it is of the oldest image".into(),
    })
}

/// The shortest name that others begin with.
fn extended(variants: &[String]) -> Option<Baseline> {
    let others = |name: &str| {
        variants.iter().filter(|other| other.len() > name.len() && other.starts_with(name)).count()
    };
    let best =
        variants.iter().rev().max_by_key(|name| (others(name), std::cmp::Reverse(name.len())))?;
    let count = others(best);
    (count > 0).then(|| Baseline {
        name: best.clone(),
        why: match count {
            1 => "another adds something to its name".to_owned(),
            _ => format!("{count} others add something to its name"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let found = baseline(&names);
        (found.name, found.why)
    }

    #[test]
    fn a_name_says_which_one_it_is() {
        assert_eq!(of(&["1024", "2048-default", "4096"]).0, "2048-default");
        assert_eq!(of(&["ipfw-stateful", "forwarding", "pf-stateful"]).0, "forwarding");
        assert_eq!(of(&["fastforwarding", "ipfw-statefull", "pf-statefull"]).0, "fastforwarding");
    }

    #[test]
    fn else_the_oldest_image_without_a_patch() {
        let found = of(&["r368287D27401v2", "r368287", "r368606", "r368606D27401v4"]);
        assert_eq!(found, ("r368287".to_owned(), "it is of the oldest image".to_owned()));
        assert_eq!(of(&["320657", "320657D11476"]).0, "320657");
    }

    #[test]
    fn else_the_one_that_others_extend_or_the_first_with_the_reason() {
        assert_eq!(of(&["r1", "r1D2"]).0, "r1");
        assert_eq!(of(&["only"]).1, "it is the only one");
        assert!(of(&["b", "c"]).1.contains("first by name"));
        assert_eq!(of(&[]).0, "");
        let found = of(&["a-default", "b-default", "c"]).1;
        assert_eq!(found, "it is the first by name: 2 are named default (a-default, b-default)");
    }
}
