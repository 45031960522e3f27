//! What a sentence says of the interval of a change: its ends, one of them, or whether zero lies within.

use crate::clause::words;

/// What is said of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// Whether zero lies within.
    Zero(bool),
    /// Both ends, per cent.
    Ends(f64, f64),
    /// One end, per cent.
    End(f64),
}

/// Verbs of what an interval holds, and of what it does not.
const HOLDS: [&str; 8] =
    ["straddl", "includ", "contain", "cross", "cover", "span", "overlap", "touch"];
const LEAVES: [&str; 3] = ["exclud", "clear", "avoid"];

impl Said {
    /// `None` of a sentence that names no interval, or says none of this of it.
    pub fn of(text: &str) -> Option<Self> {
        let words = words(text);
        let is = |list: &[&str]| {
            words.iter().any(|(_, word)| list.iter().any(|begin| word.starts_with(begin)))
        };
        if !is(&["interval"]) {
            return None;
        }
        let ends = ends(text);
        let is_percent = text.contains('%') || text.contains("percent");
        if let ([a, b], true) = (ends.as_slice(), is_percent) {
            return Some(Self::Ends(a.min(*b), a.max(*b)));
        }
        if is(&["zero"]) && ends.is_empty() {
            let is_denied = words.iter().any(|(_, w)| matches!(w.as_str(), "not" | "no" | "never"));
            return match (is(&HOLDS), is(&LEAVES)) {
                (true, false) => Some(Self::Zero(!is_denied)),
                (false, true) => Some(Self::Zero(is_denied)),
                _ => None,
            };
        }
        let is_end = words.windows(2).any(|w| {
            matches!(w[0].1.as_str(), "lower" | "upper" | "low" | "high")
                && matches!(w[1].1.as_str(), "end" | "bound" | "limit" | "edge")
        });
        match (ends.as_slice(), is_end && is_percent) {
            ([one], true) => Some(Self::End(*one)),
            _ => None,
        }
    }
}

/// The numbers of a text with their signs, but for the level of confidence.
fn ends(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '−');
    let plain = text.replace('−', "-");
    let parts = plain.split(|c: char| !(is_part(c) || c.is_alphanumeric()));
    let numbers = parts.filter_map(|part| part.trim_matches('.').parse::<f64>().ok());
    numbers.filter(|value| ![90.0, 95.0, 99.0].contains(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_an_interval_is_read() {
        assert_eq!(Said::of("the interval is [7.1, 7.9] %"), Some(Said::Ends(7.1, 7.9)));
        assert_eq!(
            Said::of("the 95 % interval runs from -1.1 to +2.0 %, zero included"),
            Some(Said::Ends(-1.1, 2.0))
        );
        assert_eq!(Said::of("at the lower end of the interval 17.1 %"), Some(Said::End(17.1)));
        assert_eq!(Said::of("the interval straddles zero"), Some(Said::Zero(true)));
        assert_eq!(Said::of("the interval does not include zero"), Some(Said::Zero(false)));
        assert_eq!(Said::of("the interval excludes zero"), Some(Said::Zero(false)));
        for none in ["zero included", "sampling interval of 1 s", "the interval is wide"] {
            assert_eq!(Said::of(none), None, "{none}");
        }
    }
}
