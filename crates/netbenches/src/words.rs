//! Words of a shell line with their quotes removed, and nothing else of a
//! shell: no expansion, no substitution, no execution (POSIX 2.2: `\`, `'`, `"`).

use std::iter::Peekable;
use std::str::Chars;

/// Iterator over the words of a text.
pub struct Words<'a> {
    rest: Peekable<Chars<'a>>,
    /// True once a quote was still open at the end of the text.
    pub is_unbalanced: bool,
}

impl<'a> Words<'a> {
    /// Words of `text`; a `#` at the start of a word begins a comment.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text.chars().peekable(), is_unbalanced: false }
    }

    fn skip_gap(&mut self) {
        while let Some(&c) = self.rest.peek() {
            if c == '#' {
                while self.rest.next_if(|&c| c != '\n').is_some() {}
            } else if self.rest.next_if(|c| c.is_whitespace()).is_none() {
                return;
            }
        }
    }

    /// What a backslash within double quotes stands for.
    fn escaped_in_quotes(&mut self) -> char {
        self.rest.next_if(|c| matches!(c, '"' | '\\' | '$' | '`')).unwrap_or('\\')
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.skip_gap();
        self.rest.peek()?;
        let mut word = String::new();
        let mut quote: Option<char> = None;
        while let Some(c) = self.rest.next() {
            match (quote, c) {
                (None, c) if c.is_whitespace() => return Some(word),
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                (None, '\\') => word.extend(self.rest.next().filter(|&c| c != '\n')),
                (Some('"'), '\\') => {
                    let c = self.escaped_in_quotes();
                    word.push(c);
                }
                (_, c) => word.push(c),
            }
        }
        self.is_unbalanced |= quote.is_some();
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_quotes_and_comments_only() {
        let words: Vec<String> = Words::new("a \"b c\" d\\ e 'f\"$g' # no\nh#i ''").collect();
        assert_eq!(words, ["a", "b c", "d e", "f\"$g", "h#i", ""]);
    }
}
