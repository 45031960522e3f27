//! Numbers as such, in digits or words, without what they are of.

use crate::token::{Kind, Token};
use fwdlab_sentence::clause::Sign;

/// A number as such: its value, the last digit, and where it ends.
pub(super) struct Plain {
    pub(super) value: f64,
    pub(super) step: f64,
    pub(super) sign: Option<Sign>,
    pub(super) end: usize,
    pub(super) is_worded: bool,
}

#[rustfmt::skip] // a line for each otherwise
const ONES: [&str; 21] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
];
const TENS: [&str; 7] = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number word.
pub(crate) fn number_word(word: &str) -> Option<f64> {
    let one = ONES.iter().position(|own| *own == word).map(|at| at as f64);
    let ten = || TENS.iter().position(|own| *own == word).map(|at| 30.0 + 10.0 * at as f64);
    one.or_else(ten)
}

pub(super) fn plain(tokens: &[Token], at: usize) -> Option<Plain> {
    let own = tokens.get(at)?;
    // "one and a half"
    let word = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    if [word(1), word(2)] == ["and", "a"]
        && let (Some(whole), Some(part)) = (number_word(word(0)), part_word(word(3)))
    {
        return Some(Plain {
            value: whole + 1.0 / part,
            step: 0.1,
            sign: None,
            end: at + 4,
            is_worded: true,
        });
    }
    let (mut value, mut step, sign, mut is_worded, mut end) = match own.kind {
        Kind::Number(value, decimals, sign) => {
            let step = match decimals {
                0 => trailing(value),
                _ => 10f64.powi(-(decimals.min(12) as i32)),
            };
            (value, step, sign, false, at + 1)
        }
        Kind::Word => {
            let value = number_word(&own.text)?;
            let more = tokens.get(at + 1).filter(|_| value >= 20.0);
            let more = more.and_then(|next| number_word(&next.text)).filter(|next| *next < 10.0);
            (value + more.unwrap_or(0.0), 1.0, None, true, at + 1 + usize::from(more.is_some()))
        }
        Kind::Mark(_) => return None,
    };
    // "half a million" is read as a share
    while let Some(scale) = tokens.get(end).and_then(|token| magnitude(&token.text)) {
        value *= scale;
        step = if is_worded { scale } else { step * scale };
        end += 1;
        is_worded = false;
    }
    Some(Plain { value, step, sign, end, is_worded })
}

/// What zeros at the end of a whole number leave open, up to a tenth of it.
fn trailing(value: f64) -> f64 {
    let mut step = 1.0;
    while step * 10.0 <= value * 0.1 && value % (step * 10.0) == 0.0 {
        step *= 10.0;
    }
    step
}

pub(super) fn magnitude(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" | "hundreds" => 100.0,
        "thousand" | "thousands" => 1e3,
        "million" | "millions" => 1e6,
        _ => return None,
    })
}

/// The word of a part: a third, two tenths.
pub(super) fn part_word(word: &str) -> Option<f64> {
    let word = word.strip_suffix('s').unwrap_or(word);
    Some(match word {
        "half" | "halve" => 2.0,
        "third" => 3.0,
        "quarter" | "fourth" => 4.0,
        "fifth" => 5.0,
        "sixth" => 6.0,
        "seventh" => 7.0,
        "eighth" => 8.0,
        "ninth" => 9.0,
        "tenth" => 10.0,
        "twelfth" => 12.0,
        "twentieth" => 20.0,
        "hundredth" => 100.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::number_word;

    #[test]
    fn number_words_have_their_value() {
        for (word, value) in [("zero", 0.0), ("nineteen", 19.0), ("thirty", 30.0), ("ninety", 90.0)]
        {
            assert_eq!(number_word(word), Some(value), "{word}");
        }
        assert_eq!(number_word("hundred"), None);
    }
}
