//! Words of strangers, as they may be shown.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

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

/// A message for a person: the middle of words and lines that nobody reads to their end, as of a path of
/// 100,000 characters, is left out.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const WORD: usize = 512;
    const LINE: usize = 2_048;
    const WHOLE: usize = 20_000;
    if text.len() <= WORD {
        return Cow::Borrowed(text);
    }
    let each = |text: &str, is_end: fn(char) -> bool, most| -> String {
        text.split_inclusive(is_end).map(|piece| ends(piece, most)).collect()
    };
    let words = each(text, char::is_whitespace, WORD);
    let lines = each(&words, |c| c == '\n', LINE);
    Cow::Owned(ends(&lines, WHOLE).into_owned())
}

/// Both ends of a text that has more than `most` characters.
pub fn ends(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return Cow::Borrowed(text);
    }
    let first = text.chars().take(most / 2);
    let last = text.chars().skip(count - most / 2);
    Cow::Owned(first.chain(['…']).chain(last).collect())
}

/// A path as a shell takes it for one word, and the program behind it for no option: a command that is printed
/// can be pasted.
pub fn pasted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    let is_hidden = |c: char| is_hidden(c) || matches!(c, '\n' | '\t');
    if !text.is_empty() && text.chars().all(is_plain) {
        text
    } else if text.chars().any(is_hidden) {
        let written = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if is_hidden(c) && c.is_ascii() => format!("\\x{:02x}", u32::from(c)),
            c if is_hidden(c) => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        };
        format!("$'{}'", text.chars().map(written).collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
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

/// A text without the sentence that has these words near its beginning.
pub fn without_sentence(text: &str, words: &str) -> String {
    let sentences = text.split_inclusive(". ");
    let is_it = |one: &&str| one.split_once(words).is_some_and(|(before, _)| !before.contains(' '));
    sentences.filter(|one| !is_it(one)).collect::<String>().trim_end().to_owned()
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

    /// What was printed to be run did not run where a path had a space.
    #[test]
    fn a_path_in_a_command_is_one_word_of_it() {
        let all = [
            ("results/x-1.toml", "results/x-1.toml"),
            ("my lab/$(reboot).toml", "'my lab/$(reboot).toml'"),
            ("it's", "'it'\\''s'"),
            ("-x", "./-x"),
            ("~/x", "'~/x'"),
            ("", "''"),
            ("a\n\u{1b}'\u{9b}", "$'a\\x0a\\x1b\\'\\u009b'"),
        ];
        for (path, wanted) in all {
            let pasted = pasted(Path::new(path));
            assert_eq!(pasted, wanted);
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", &format!("printf %s {pasted}")]).env("LC_ALL", "C.UTF-8");
            let said = shell.output().expect("a shell");
            let own = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
            assert_eq!(String::from_utf8_lossy(&said.stdout), own);
        }
    }

    #[test]
    fn of_long_words_and_lines_both_ends_are_left() {
        assert_eq!(ends("0123456789", 10), "0123456789");
        assert_eq!(ends("0123456789a", 4), "01…9a");
        let path = "/µ".repeat(50_000);
        let message = format!("cannot read {path}: no such file; name another");
        let short = shortened(&message);
        assert!(short.chars().count() < 600, "{short}");
        assert!(
            short.starts_with("cannot read /µ/µ") && short.ends_with("; name another"),
            "{short}"
        );
        for flood in ["a ", "a\n"].map(|piece| piece.repeat(50_000)) {
            let message = format!("{flood}; name another");
            let short = shortened(&message);
            assert!(
                short.chars().count() < 21_000 && short.ends_with("name another"),
                "{short:.80}"
            );
        }
        let several = "problem: ".repeat(200) + "\n" + &"problem: ".repeat(200);
        assert_eq!(shortened(&several), several);
    }
}
