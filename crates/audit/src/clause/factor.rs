//! Factors: "x10", "twice", "divided by 3".

use super::words;

/// `x10`, `10x`, `10 times`, twice, doubled, half, divided by 3.
pub(super) fn factor(text: &str) -> Option<(f64, String)> {
    let words = words(text);
    for (index, (_, word)) in words.iter().enumerate() {
        let next = words.get(index + 1).map_or("", |(_, w)| w.as_str());
        let number = |w: &str| w.parse::<f64>().ok().filter(|v| *v > 1.0 && *v < 1e4);
        let fixed = match word.as_str() {
            "twice" | "double" | "doubled" | "doubles" | "doubling" => Some(2.0),
            "triple" | "tripled" | "triples" => Some(3.0),
            "half" | "halved" | "halves" => Some(0.5),
            _ => None,
        };
        if let Some(value) = fixed {
            return Some((value, word.clone()));
        }
        if let Some(value) = word.strip_prefix(['x', '×']).and_then(number) {
            return Some((value, word.clone()));
        }
        if let Some(value) = word.strip_suffix(['x', '×']).and_then(number) {
            return Some((value, word.clone()));
        }
        if let Some(value) = number(word).filter(|_| next == "times") {
            return Some((value, format!("{word} times")));
        }
        let before = index.checked_sub(1).map_or("", |i| words[i].1.as_str());
        if matches!((word.as_str(), before), ("by", "divided"))
            && let Some(value) = number(next)
        {
            return Some((1.0 / value, format!("divided by {next}")));
        }
    }
    None
}
