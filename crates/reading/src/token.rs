//! A sentence as words, numbers and marks.

use fwdlab_sentence::clause::Sign;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A word, in lower case.
    Word,
    /// A number with its decimals and what sign stands before it.
    Number(f64, u32, Option<Sign>),
    /// Any other character; `→` for every arrow, `×` for every sign of multiplication.
    Mark(char),
}

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// In lower case.
    pub(crate) text: String,
    /// As written.
    pub(crate) raw: String,
    /// Where it begins in the sentence.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

impl Token {
    pub(crate) fn is(&self, word: &str) -> bool {
        self.text == word
    }

    pub(crate) fn is_in(&self, list: &str) -> bool {
        listed(list, &self.text)
    }

    pub(crate) fn is_mark(&self, marks: &[char]) -> bool {
        matches!(self.kind, Kind::Mark(own) if marks.contains(&own))
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number(..))
    }
}

/// Whether a list of words, with blanks between them, has one. To split it took two fifths of an audit's time.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let ends = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let is_one = |at: usize| ends(list[..at].last()) && ends(list.get(at + word.len()));
    !word.is_empty() && memchr::memmem::find_iter(list, word).any(is_one)
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut reader = Reader { text, chars, next: 0, found: Vec::new() };
    while reader.next < reader.chars.len() {
        reader.step();
    }
    reader.found
}

struct Reader<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    next: usize,
    found: Vec<Token>,
}

impl Reader<'_> {
    fn char(&self, at: usize) -> char {
        self.chars.get(at).map_or(' ', |(_, c)| *c)
    }

    fn place(&self, at: usize) -> usize {
        self.chars.get(at).map_or(self.text.len(), |(place, _)| *place)
    }

    fn push(&mut self, from: usize, to: usize, kind: Kind, text: Option<&str>) {
        let raw = &self.text[self.place(from)..self.place(to)];
        let text = text.map_or_else(|| raw.to_lowercase(), str::to_owned);
        self.found.push(Token { text, raw: raw.to_owned(), at: self.place(from), kind });
        self.next = to;
    }

    fn step(&mut self) {
        let at = self.next;
        let (own, next) = (self.char(at), self.char(at + 1));
        let before = at.checked_sub(1).map_or(' ', |at| self.char(at));
        match own {
            c if c.is_whitespace() => self.next += 1,
            '+' if next == '/' && matches!(self.char(at + 2), '-' | '−') => {
                self.push(at, at + 3, Kind::Mark('±'), Some("±"));
            }
            // within a compound it says nothing
            '-' if before.is_alphanumeric() && next.is_alphabetic() => self.next += 1,
            '-' | '=' if next == '>' => self.push(at, at + 2, Kind::Mark('→'), None),
            '-' if next == '-' && self.char(at + 2) == '>' => {
                self.push(at, at + 3, Kind::Mark('→'), None);
            }
            '→' | '⇒' => self.push(at, at + 1, Kind::Mark('→'), None),
            'x' | 'X' | '×' if next.is_ascii_digit() && !before.is_alphanumeric() => {
                self.push(at, at + 1, Kind::Mark('×'), None);
            }
            '×' => self.push(at, at + 1, Kind::Mark('×'), None),
            'x' | 'X'
                if !next.is_alphanumeric() && self.found.last().is_some_and(Token::is_number) =>
            {
                self.push(at, at + 1, Kind::Mark('×'), None);
            }
            '+' | '-' | '−' | '–' | '±'
                if next.is_ascii_digit() && !before.is_alphanumeric() && before != '%' =>
            {
                let sign = match own {
                    '+' => Some(Sign::Up),
                    '±' => None,
                    _ => Some(Sign::Down),
                };
                if own == '±' {
                    self.push(at, at + 1, Kind::Mark('±'), None);
                } else {
                    self.number(at, at + 1, sign);
                }
            }
            c if c.is_ascii_digit() => self.number(at, at, None),
            c if c.is_alphabetic() || c == '_' => self.word(at),
            '’' => self.push(at, at + 1, Kind::Mark('\''), None),
            c => self.push(at, at + 1, Kind::Mark(c), None),
        }
    }

    /// A number that begins, with its sign, at `start`, and its digits at `from`.
    fn number(&mut self, start: usize, from: usize, sign: Option<Sign>) {
        let digits = |reader: &Self, from: usize| {
            (from..).take_while(|at| reader.char(*at).is_ascii_digit()).count()
        };
        let mut end = from + digits(self, from);
        // a date, or a name that begins with a digit
        let is_date = end - from == 4
            && self.char(end) == '-'
            && digits(self, end + 1) == 2
            && self.char(end + 3) == '-';
        if is_date {
            return self.push(start, end + 3 + 1 + digits(self, end + 4), Kind::Word, None);
        }
        let mut text: String = (from..end).map(|at| self.char(at)).collect();
        let mut decimals = 0;
        loop {
            let more = digits(self, end + 1);
            let is_group = more == 3 && text.len() - decimals as usize <= 15;
            match self.char(end) {
                ',' | '\u{a0}' | '\u{202f}' | '\'' if is_group && decimals == 0 => {}
                ' ' if is_group
                    && decimals == 0
                    && (end - from) <= 3 + text.len() - 3.min(text.len())
                    && self.is_grouped(from, end) => {}
                '.' | ',' if more > 0 && decimals == 0 && !(self.char(end) == ',' && more == 3) => {
                    text.push('.');
                    decimals = more as u32;
                }
                _ => break,
            }
            text.extend((end + 1..end + 1 + more).map(|at| self.char(at)));
            end += 1 + more;
        }
        // 5019D-FN8TP, 0x12, 82599es: letters behind that are no unit
        let rest: String =
            (end..).map(|at| self.char(at)).take_while(|c| c.is_alphanumeric()).collect();
        let is_name = !rest.is_empty() && !is_suffix(&rest.to_lowercase());
        match text.parse::<f64>() {
            Ok(value) if !is_name => {
                self.push(start, end, Kind::Number(value, decimals, sign), None)
            }
            _ => {
                let mut end = end;
                while self.char(end).is_alphanumeric() || self.char(end) == '-' {
                    end += 1;
                }
                self.push(start, end, Kind::Word, None);
            }
        }
    }

    /// "5 473 920": groups of three that follow at most three digits.
    fn is_grouped(&self, from: usize, end: usize) -> bool {
        let first = (from..end).take_while(|at| self.char(*at).is_ascii_digit()).count();
        first <= 3 && !self.char(end + 4).is_alphanumeric()
    }

    fn word(&mut self, start: usize) {
        let mut end = start;
        loop {
            let (own, next) = (self.char(end), self.char(end + 1));
            let is_apostrophe = matches!(own, '\'' | '’') && next.is_alphabetic();
            let is_inner =
                matches!(own, '-' | '.') && next.is_ascii_digit() || own == '_' || is_apostrophe;
            if !own.is_alphanumeric() && !is_inner {
                break;
            }
            end += 1;
        }
        let word: String = (start..end).map(|at| self.char(at)).collect();
        let word = word.to_lowercase().replace('’', "'");
        if let Some(stem) = word.strip_suffix("n't") {
            let stem = if stem == "wo" || stem == "ca" { "will" } else { stem };
            let (stem, cut) = (stem.to_owned(), end - 3);
            self.push(start, cut, Kind::Word, Some(&stem));
            return self.push(cut, end, Kind::Word, Some("not"));
        }
        if word == "cannot" {
            return self.push(start, end, Kind::Word, Some("not"));
        }
        match word.find('\'') {
            Some(cut) => {
                let cut = start + word[..cut].chars().count();
                self.push(start, cut, Kind::Word, None);
                self.push(cut, end, Kind::Word, None);
            }
            None => self.push(start, end, Kind::Word, None),
        }
    }
}

/// What may follow a number without a blank.
fn is_suffix(rest: &str) -> bool {
    const SUFFIXES: &str = "k m g kpps mpps gpps pps x ns us ms s µs gbps mbps gb mb kb b ghz mhz g gbit gbe th st \
    nd rd fold pp kp mp bytes byte min h percent mpkt kpkt pct";
    listed(SUFFIXES, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_listed_as_a_whole_only() {
        let list = "aaa aa \n×times × k";
        for word in ["a", "aa", "aaa", "", "×", "times", "k", "kk"] {
            let is_word = list.split_ascii_whitespace().any(|own| own == word);
            assert_eq!(listed(list, word), is_word, "{word:?}");
        }
        assert!(!listed("", "") && !listed("a  b", ""));
    }
}
