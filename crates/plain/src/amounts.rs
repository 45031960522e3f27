//! Numbers with what they are of: in digits, in words, and as fractions.

use crate::words::{Amount, Unit};

/// "More than two", "by three".
pub(crate) fn worded(raw: &[String], at: usize) -> Option<f64> {
    let before = at.checked_sub(1).map_or("", |at| raw[at].as_str());
    let value = match raw[at].as_str() {
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "ten" => 10.0,
        _ => return None,
    };
    matches!(before, "than" | "by").then_some(value)
}

/// "One third", "two thirds", "a quarter", and of how many words it is.
pub(crate) fn fraction(text: &str, next: &str) -> Option<(f64, usize)> {
    let part = |word: &str| match word {
        "third" | "thirds" => Some(3.0),
        "quarter" | "quarters" => Some(4.0),
        _ => None,
    };
    // "the fifth run" is no share: of these only what is counted
    let counted = |word: &str| match word {
        "fifth" | "fifths" => Some(5.0),
        "sixth" => Some(6.0),
        "eighth" => Some(8.0),
        "tenth" => Some(10.0),
        _ => part(word),
    };
    let many = match text {
        "one" | "a" | "an" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        _ => return Some((1.0 / part(text)?, 1)),
    };
    Some((many / counted(next)?, 2))
}

/// A number that is written as a word.
pub(crate) fn number(word: &str) -> Option<u8> {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let place = NUMBERS.iter().position(|own| *own == word)?;
    u8::try_from(place).ok()
}

/// "Six percent", "two and a half per cent", "half a percent".
pub(crate) fn in_words(raw: &[String], at: usize) -> Option<(Amount, usize)> {
    let word = |at: usize| raw.get(at).map_or("", String::as_str);
    let (value, step, unit) = match number(word(at)) {
        None if word(at) == "half" && word(at + 1) == "a" => (0.5, 0.1, at + 2),
        None => return None,
        Some(own) if [word(at + 1), word(at + 2), word(at + 3)] == ["and", "a", "half"] => {
            (f64::from(own) + 0.5, 0.5, at + 4)
        }
        Some(own) => (f64::from(own), 1.0, at + 1),
    };
    let end = match (word(unit), word(unit + 1)) {
        ("percent" | "%", _) => unit + 1,
        ("per", "cent") => unit + 2,
        _ => return None,
    };
    Some((Amount { value, step, unit: Unit::Percent }, end))
}

/// "Two of the three", "two out of three": how many of how many.
pub(crate) fn count_of(raw: &[String], at: usize) -> Option<(usize, usize, usize)> {
    let word = |at: usize| raw.get(at).map_or("", String::as_str);
    let count = |at: usize| {
        let own = number(word(at)).map(usize::from);
        own.or_else(|| word(at).parse().ok().filter(|own| *own < 100))
    };
    let some = count(at).or_else(|| matches!(word(at), "none" | "neither").then_some(0))?;
    let of = if word(at + 1) == "out" { at + 2 } else { at + 1 };
    let mut next = of + 1;
    while matches!(word(next), "the" | "these" | "those" | "all" | "our") {
        next += 1;
    }
    let all = count(next).filter(|all| *all > 1 && *all >= some)?;
    (word(of) == "of").then_some((some, all, next + 1))
}

/// A number with what it is of.
pub(crate) fn amount(raw: &[String], at: usize) -> Option<(Amount, usize)> {
    let text = raw[at].trim_start_matches('+');
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let value: f64 = text.get(..digits)?.parse().ok()?;
    let decimals = text[..digits].split_once('.').map_or(0, |(_, own)| own.len());
    let behind = &text[digits..];
    let next = raw.get(at + 1).map_or("", String::as_str);
    let (unit, is_next) = if behind.is_empty() { (next, true) } else { (behind, false) };
    let (unit, scale) = match unit {
        "mpps" | "m" => (Unit::Rate, 1e6),
        "kpps" | "k" => (Unit::Rate, 1e3),
        "pps" => (Unit::Rate, 1.0),
        "%" | "percent" => (Unit::Percent, 1.0),
        "times" | "x" => (Unit::Times, 1.0),
        _ if behind.is_empty() => (Unit::Plain, 1.0),
        _ => return None,
    };
    let step = scale * 0.1_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let end = at + 1 + usize::from(is_next && unit != Unit::Plain);
    Some((Amount { value: value * scale, step, unit }, end))
}
