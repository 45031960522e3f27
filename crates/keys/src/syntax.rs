//! What to say of a text that is no TOML: the mistakes that people make, by what stands there.

use std::ops::Range;

use super::problem::Complaint;

/// A key that its table already has.
pub fn second_time(text: &str, at: &Range<usize>, key: &str) -> Complaint {
    let repeats = matches!(key, "variant" | "traffic");
    if repeats && text[..at.start].ends_with('[') {
        return Complaint::new(
            format!("[{key}] and another table of that name cannot stand in one file"),
            format!("[[{key}]] for each of them"),
            format!("write [[{key}]] with two brackets everywhere"),
        );
    }
    Complaint::new(
        "the key stands here a second time",
        "each key of a table once",
        "remove one of the two",
    )
}

/// Anything else that the parser of TOML does not take.
pub fn no_toml(text: &str, at: &Range<usize>, message: String) -> Complaint {
    let start = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let is_key = |c: char| c.is_alphanumeric() || "_-".contains(c);
    let after_key = line.trim_start().trim_start_matches(is_key).trim_start();
    let remedy = if line.contains(['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}']) {
        "these quotes are of a word processor: write plain ones, \"...\""
    } else if after_key.starts_with(':') {
        "write KEY = VALUE, with = and not :"
    } else if message.contains("inline table") {
        "a table in braces ends with }: set = { \"WORD\" = VALUE, \"WORD\" = VALUE }"
    } else {
        "put text in quotes, and see https://toml.io for the rest"
    };
    Complaint::new(message, "TOML", remedy)
}
