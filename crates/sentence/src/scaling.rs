//! How a rate follows what is counted up from set to set: "more queues are always better", "performance
//! doubles each time the queues double", "scales linearly".

use crate::clause::{Clause, Sign, Stance, words};

/// How rates follow the numbers of their sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Each is higher, or lower, than the one before.
    Each(Sign),
    /// They grow as the numbers do.
    Proportional,
}

/// Words by which something is said of less than all sets.
const UNLESS: [&str; 11] =
    ["only", "until", "till", "up", "not", "no", "but", "almost", "except", "stops", "doesn't"];

/// What each of is new: "with each new release", "every additional queue".
const STEPS: [&str; 8] =
    ["new", "release", "time", "step", "additional", "extra", "more", "version"];

impl Scaling {
    /// What a clause says of all sets in the order of their numbers; `after` is what follows it, and may
    /// limit it: "but only up to 4".
    pub fn of(clause: &Clause, after: &str) -> Option<Self> {
        let words: Vec<String> = words(&clause.text).into_iter().map(|(_, word)| word).collect();
        let has = |word: &str| words.iter().any(|own| own == word);
        let begin = |root: &str| words.iter().filter(|own| own.starts_with(root)).count();
        let is_limited = after.trim_start().starts_with("but ");
        if is_limited || !clause.percents.is_empty() || UNLESS.iter().any(|word| has(word)) {
            return None;
        }
        let is_each = words.windows(2).any(|pair| {
            matches!(pair[0].as_str(), "each" | "every")
                && STEPS.iter().any(|step| pair[1].starts_with(step))
        });
        let is_proportional = begin("linear") > 0
            || begin("proportional") > 0
            || has("perfect") && begin("scal") > 0
            || has("perfectly") && begin("scal") > 0;
        if is_proportional || begin("doubl") > 1 && (is_each || has("when")) {
            return Some(Self::Proportional);
        }
        match &clause.stance {
            Stance::Change(sign, _) if is_each => Some(Self::Each(*sign)),
            Stance::Change(Sign::Up, _) | Stance::Silent if is_more_means_more(&words) => {
                Some(Self::Each(Sign::Up))
            }
            _ => None,
        }
    }
}

/// "More queues means more packets", "the more queues, the faster".
fn is_more_means_more(words: &[String]) -> bool {
    const BETTER: [&str; 4] = ["more", "faster", "better", "higher"];
    let rest = words.strip_prefix(&["the".to_owned()]).unwrap_or(words);
    let Some(at) = rest.iter().position(|w| {
        matches!(w.as_str(), "is" | "are" | "means" | "mean" | "gives" | "give" | "the")
    }) else {
        return false;
    };
    let is_first = rest.first().is_some_and(|w| w == "more");
    is_first && (2..=4).contains(&at) && rest[at..].iter().any(|w| BETTER.contains(&w.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clause::clauses;

    #[test]
    fn what_is_said_of_each_step_is_read() {
        let of = |text: &str| {
            let clause = &clauses(text)[0];
            Scaling::of(clause, &text[clause.text.len()..])
        };
        let up = Some(Scaling::Each(Sign::Up));
        assert_eq!(of("=> faster with each new release"), up);
        assert_eq!(
            of("The rate drops with every additional rule"),
            Some(Scaling::Each(Sign::Down))
        );
        assert_eq!(of("More queues are always better"), up);
        assert_eq!(of("The more queues, the faster it is"), up);
        assert_eq!(of("It scales linearly with the queues"), Some(Scaling::Proportional));
        assert_eq!(of("The rate doubles when the queues double"), Some(Scaling::Proportional));
        for text in [
            "More queues are better, but only up to 4",
            "It doesn't scale linearly",
            "4 queues are better",
            "more packets are forwarded",
            "each run was faster",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
