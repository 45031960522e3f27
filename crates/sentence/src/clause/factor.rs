//! Factors: "x10", "twice", "ten times", "tenfold", "a factor of 3", "divided by 3".

use super::words;

/// Numbers in words, with what they are worth.
const NUMBERS: [(&str, f64); 13] = [
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("twelve", 12.0),
    ("twenty", 20.0),
    ("hundred", 100.0),
    ("thousand", 1000.0),
];

/// Words that are factors by themselves.
const FIXED: [(&str, f64); 12] = [
    ("twice", 2.0),
    ("thrice", 3.0),
    ("double", 2.0),
    ("doubled", 2.0),
    ("doubles", 2.0),
    ("doubling", 2.0),
    ("triple", 3.0),
    ("tripled", 3.0),
    ("triples", 3.0),
    ("half", 0.5),
    ("halved", 0.5),
    ("halves", 0.5),
];

/// Parts that something is more or less by.
const FRACTIONS: [(&str, f64); 6] = [
    ("half", 0.5),
    ("third", 1.0 / 3.0),
    ("quarter", 0.25),
    ("fifth", 0.2),
    ("sixth", 1.0 / 6.0),
    ("tenth", 0.1),
];

/// The first factor of a text and how it is written: `x10`, `10x`, `10 times`, `ten times`,
/// `tenfold`, `a factor of 3`, twice, doubled, half, divided by 3.
pub fn factor(text: &str) -> Option<(f64, String)> {
    let words = words(text);
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |(_, w)| w.as_str());
    for index in 0..words.len() {
        let own = word(Some(index));
        let next = word(Some(index + 1));
        let before = word(index.checked_sub(1));
        let of = [index + 1, index + 2].map(|at| word(Some(at)));
        let is_count =
            of.iter().any(|w| matches!(*w, "number" | "amount" | "size" | "flows" | "runs"))
                && !words[index..].iter().any(|(_, w)| matches!(w.as_str(), "packets" | "frames"));
        // "a third more", "one quarter slower"
        let part = FRACTIONS.iter().find(|(name, _)| *name == own);
        if let Some((_, part)) = part.filter(|_| matches!(before, "a" | "one")) {
            let sign = match next {
                "more" | "faster" | "higher" | "quicker" => Some(1.0),
                "less" | "fewer" | "slower" | "lower" => Some(-1.0),
                _ => None,
            };
            if let Some(sign) = sign {
                return Some((1.0 + sign * part, format!("a {own} {next}")));
            }
        }
        // "half again as fast", "half as fast again"
        let is_again = next == "again" || next == "as" && word(Some(index + 3)) == "again";
        if own == "half" && is_again {
            return Some((1.5, "half again".to_owned()));
        }
        // "up by one half" is a share, which is read as a percentage
        let is_up =
            || matches!(super::stance::stance(text), super::Stance::Change(super::Sign::Up, _));
        let is_by = word(index.checked_sub(2)) == "by" && matches!(before, "one" | "a");
        if own == "half" && is_by && is_up() {
            continue;
        }
        // "half a million" is a number, and so are "half a percent" and "two and a half"
        let counts = [
            "million",
            "thousand",
            "hundred",
            "dozen",
            "second",
            "percent",
            "per",
            "percentage",
            "point",
            "%",
        ];
        let is_part_of_number = next == "a" && counts.contains(&word(Some(index + 2)))
            || before == "a" && word(index.checked_sub(2)) == "and";
        if own == "half" && is_part_of_number {
            continue;
        }
        // "does not double", "far from doubling", "in the double digits"
        let is_denied = super::stance::is_negated(&words, index) || next.starts_with("digit");
        if let Some((_, value)) =
            FIXED.iter().find(|(name, _)| *name == own && !is_count && !is_denied)
        {
            return Some((*value, own.to_owned()));
        }
        let prefixed = own.strip_prefix(['x', '×']).and_then(digits);
        if let Some(value) = prefixed.or_else(|| own.strip_suffix(['x', '×']).and_then(digits)) {
            return Some((value, own.to_owned()));
        }
        if let Some(value) = own.strip_suffix("fold").and_then(|n| number(n.trim_end_matches('-')))
        {
            return Some((value, own.to_owned()));
        }
        // "measured three times" counts runs.
        if let Some(value) = number(own).filter(|_| next == "times" || next == "fold")
            && !COUNTED.contains(&before)
        {
            return Some((value, format!("{own} {next}")));
        }
        if let Some(value) = number(next).filter(|_| own == "of" && before == "factor") {
            return Some((value, format!("a factor of {next}")));
        }
        // "divides the rate by 3"
        let verb = |root: &str| words[..index].iter().any(|(_, w)| w.starts_with(root));
        let by = number(next).filter(|_| own == "by");
        if let Some(value) = by.filter(|_| verb("divid")) {
            return Some((1.0 / value, format!("divided by {next}")));
        }
        if let Some(value) = by.filter(|_| verb("multipl")) {
            return Some((value, format!("multiplied by {next}")));
        }
    }
    None
}

/// Words after which "three times" says how often.
const COUNTED: [&str; 10] = [
    "run", "ran", "repeated", "measured", "tested", "tried", "done", "rebooted", "benched", "least",
];

fn digits(word: &str) -> Option<f64> {
    word.parse().ok().filter(|value| *value > 1.0 && *value < 1e4)
}

/// In digits or in words.
fn number(word: &str) -> Option<f64> {
    digits(word).or_else(|| NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_whole_are_factors_where_something_is_more_or_less_by_them() {
        let of = |text: &str| factor(text).map(|(value, _)| (value * 1000.0).round() / 1000.0);
        assert_eq!(of("IPv4 gets a third more packets through"), Some(1.333));
        assert_eq!(of("one quarter slower on IPv6"), Some(0.75));
        assert_eq!(of("it takes half the time"), Some(0.5));
        assert_eq!(of("half again as fast as r368287"), Some(1.5));
        assert_eq!(of("half as fast again"), Some(1.5));
        assert_eq!(of("half as fast as r368287"), Some(0.5));
        assert_eq!(of("the third run was faster, a fifth of them failed"), None);
    }

    #[test]
    fn half_of_a_number_is_no_factor() {
        assert_eq!(factor("it lost two and a half percent"), None);
        assert_eq!(factor("less than half a percent"), None);
        assert_eq!(factor("half the rate of it").map(|(own, _)| own), Some(0.5));
    }
}
