//! Values from the lines of a file.

use super::number::{is_space, parse_float};

/// The original reads lines into a buffer of 8192 bytes; what is longer counts as several lines.
const LONGEST_LINE: usize = 8191;
/// Longest line that the fast way takes; more digits could not be exact anyway.
const LONGEST_PLAIN: usize = 17;

/// Where a file stops being data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The token on this line, from 1, is not a number.
    Invalid(usize),
    /// The token on this line, from 1, is infinite or not a number.
    NotFinite(usize),
}

/// Which column of a line, and how columns are told apart.
pub(super) struct Columns {
    column: usize,
    is_delimiter: [bool; 256],
}

impl Columns {
    /// `column` counts from 1; every byte of `delimiters` separates.
    pub(super) fn new(column: usize, delimiters: &[u8]) -> Self {
        let mut is_delimiter = [false; 256];
        for byte in delimiters {
            is_delimiter[usize::from(*byte)] = true;
        }
        Self { column, is_delimiter }
    }

    /// The values of all lines of `data`, in order. O(length).
    pub(super) fn values(&self, data: &[u8]) -> Result<Vec<f64>, Fault> {
        let has_plain_lines =
            self.column == 1 && !b"0123456789.".iter().any(|b| self.is_delimiter[usize::from(*b)]);
        let mut values = Vec::with_capacity(data.len() / 8);
        let (mut at, mut line) = (0, 0);
        while at < data.len() {
            line += 1;
            if has_plain_lines && let Some((value, length)) = plain_line(&data[at..]) {
                values.push(value);
                at += length;
                continue;
            }
            let (text, length) = next_line(&data[at..]);
            at += length;
            let Some(token) = self.token(text) else { continue };
            let value = parse_float(token).ok_or(Fault::Invalid(line))?;
            if !value.is_finite() {
                return Err(Fault::NotFinite(line));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// The token in the column; `None` when the line is too short or a comment begins before it.
    fn token<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let mut tokens =
            line.split(|b| self.is_delimiter[usize::from(*b)]).filter(|token| !token.is_empty());
        for _ in 1..self.column {
            if tokens.next()?.starts_with(b"#") {
                return None;
            }
        }
        tokens.next().filter(|token| !token.starts_with(b"#"))
    }
}

/// A line of nothing but digits and at most one point, with its line feed: the value and the
/// length. Anything else takes the long way, which gives the same value:
/// `next_line(data)` and `parse_float(token)`.
fn plain_line(data: &[u8]) -> Option<(f64, usize)> {
    const SCALE: [f64; LONGEST_PLAIN + 1] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17,
    ];
    let (mut digits, mut point) = (0u64, None);
    for (at, byte) in data.iter().take(LONGEST_PLAIN + 1).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            digits = digits * 10 + u64::from(digit);
        } else if *byte == b'\n' {
            let decimals = point.map_or(0, |point| at - point - 1);
            let is_number = at > usize::from(point.is_some());
            return (is_number && digits < 1 << 53)
                .then(|| (digits as f64 / SCALE[decimals], at + 1));
        } else if *byte == b'.' && point.is_none() {
            point = Some(at);
        } else {
            return None;
        }
    }
    None
}

/// The next line without its trailing white space, and its length with the line feed.
fn next_line(data: &[u8]) -> (&[u8], usize) {
    let window = &data[..data.len().min(LONGEST_LINE)];
    let length = window.iter().position(|b| *b == b'\n').map_or(window.len(), |end| end + 1);
    let line = &data[..length];
    // a C string ends at its first zero byte
    let line = line.iter().position(|b| *b == 0).map_or(line, |end| &line[..end]);
    let end = line.iter().rposition(|b| !is_space(*b)).map_or(0, |last| last + 1);
    (&line[..end], length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(column: usize, delimiters: &[u8], text: &str) -> Result<Vec<f64>, Fault> {
        Columns::new(column, delimiters).values(text.as_bytes())
    }

    #[test]
    fn skips_comments_blank_and_short_lines() {
        let text = "1\n\n2\n#x\n3 # c\n  4\n5\t\r\n6";
        assert_eq!(read(1, b" \t", text), Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(
            read(2, b",", "1,2\n2, 3\n3,4 \n5,,6,7\n8\n#,9\n"),
            Ok(vec![2.0, 3.0, 4.0, 6.0])
        );
    }

    #[test]
    fn names_the_line_of_a_token_that_is_no_number() {
        assert_eq!(read(1, b" \t", "1\n\n3e\n"), Err(Fault::Invalid(3)));
        assert_eq!(read(1, b" \t", "1\n1e999\n"), Err(Fault::NotFinite(2)));
        assert_eq!(read(1, b" \t", ".\n"), Err(Fault::Invalid(1)));
    }

    #[test]
    fn long_lines_count_as_several() {
        let text = format!("9 {} 7\n", "x".repeat(8189));
        assert_eq!(read(1, b" \t", &text), Ok(vec![9.0, 7.0]));
    }

    #[test]
    fn a_line_ends_at_a_zero_byte() {
        assert_eq!(read(1, b" \t", "1\n2\0zz\n"), Ok(vec![1.0, 2.0]));
    }

    #[test]
    fn plain_lines_have_the_values_of_the_long_way() {
        for text in [
            "0",
            "7",
            "148809524",
            "1234567.125",
            "0.0000000000001",
            "00012",
            "5.",
            ".5",
            "9007199254740993",
        ] {
            let line = format!("{text}\n");
            let long: f64 = text.parse().unwrap();
            assert_eq!(read(1, b" ", &line), Ok(vec![long]), "{text}");
        }
    }
}
