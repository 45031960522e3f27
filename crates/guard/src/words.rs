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

/// As [`visible`], but colours (`ESC [ digits ; digits m`) stay.
pub fn painted(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return visible(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('\u{1b}');
    out.push_str(&visible(pieces.next().unwrap_or_default()));
    for piece in pieces {
        out.push_str(if is_colour(piece) { "\u{1b}" } else { "\\u{1b}" });
        out.push_str(&visible(piece));
    }
    Cow::Owned(out)
}

/// Whether what follows an escape character is a colour.
fn is_colour(text: &str) -> bool {
    let Some((digits, _)) = text.strip_prefix('[').and_then(|text| text.split_once('m')) else {
        return false;
    };
    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')
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
    }

    #[test]
    fn of_escape_sequences_only_colours_stay() {
        assert_eq!(painted("\u{1b}[1;31mred\u{1b}[0m"), "\u{1b}[1;31mred\u{1b}[0m");
        assert_eq!(painted("\u{1b}[2Jm \u{1b}[31\u{7}m"), "\\u{1b}[2Jm \\u{1b}[31\\u{7}m");
    }
}
