//! Words of strangers, as they may be shown.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal or a page may act on a character instead of showing it: control characters,
/// and those that turn the direction of reading. Line ends and tabs are not meant.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' => true,
        c => c.is_control(),
    }
}

/// The text with hidden characters written out (`\u{1b}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, is_hidden)
}

/// The same on one line: line ends and tabs are written out too.
pub fn one_line(text: &str) -> Cow<'_, str> {
    shown(text, |c| is_hidden(c) || matches!(c, '\n' | '\t'))
}

/// JSON with the hidden characters of its texts written out in its own manner (`\u009b`): the same data.
pub fn in_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn shown(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_written_out() {
        assert_eq!(visible("a\u{1b}]0;title\u{7}b"), "a\\u{1b}]0;title\\u{7}b");
        assert_eq!(visible("\u{9b}2J \u{202e}evil\r"), "\\u{9b}2J \\u{202e}evil\\r");
        assert_eq!(visible("two\nlines\tµ"), "two\nlines\tµ");
        assert_eq!(one_line("a\n# b"), "a\\n# b");
        assert_eq!(in_json("[\"\u{9b}2J\u{202e}µ\"]\n"), "[\"\\u009b2J\\u202eµ\"]\n");
    }
}
