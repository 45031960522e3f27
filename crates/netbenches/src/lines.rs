//! Lines of a file of any size in bounded memory.
//!
//! Logs of strangers may hold a line of a gigabyte or no line end at all. What
//! stands beyond [`MAX_LINE_BYTES`] of a line is skipped, and the line says so.

use std::io::{self, BufRead, BufReader, Read};

/// Bytes kept of a line. The longest honest line of a pkt-gen log or a pmcstat
/// graph is a few hundred bytes.
pub const MAX_LINE_BYTES: usize = 4096;

/// One line without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number of the line, from 1.
    pub number: u64,
    /// Its first [`MAX_LINE_BYTES`] bytes, without `\n` and a `\r` before it.
    pub bytes: &'a [u8],
    /// True when the line was longer.
    pub is_cut: bool,
}

/// Reads lines one at a time into one buffer.
pub struct Lines<R> {
    reader: BufReader<R>,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// Lines of `reader`.
    pub fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            buffer: Vec::with_capacity(256),
            number: 0,
        }
    }

    /// The next line; `None` at the end. A last line without a line end counts.
    ///
    /// # Errors
    /// What the reader says.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut length: u64 = 0;
        let is_ended = loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break false;
            }
            let end = memchr(b'\n', chunk);
            let taken = end.unwrap_or(chunk.len());
            let room = MAX_LINE_BYTES.saturating_sub(self.buffer.len());
            self.buffer.extend_from_slice(&chunk[..taken.min(room)]);
            length = length.saturating_add(taken as u64);
            self.reader.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                break true;
            }
        };
        if length == 0 && !is_ended {
            return Ok(None);
        }
        self.number += 1;
        let is_cut = length > self.buffer.len() as u64;
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        Ok(Some(Line { number: self.number, bytes: &self.buffer, is_cut }))
    }
}

/// Place of the first `wanted` in `bytes`.
fn memchr(wanted: u8, bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Lines::new(text);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push((line.number, line.bytes.to_vec(), line.is_cut));
        }
        found
    }

    #[test]
    fn counts_a_last_line_without_an_end() {
        let found = all(b"a\n\r\n\nb");
        let texts: Vec<&[u8]> = found.iter().map(|l| l.1.as_slice()).collect();
        assert_eq!(texts, [&b"a"[..], b"", b"", b"b"]);
        assert_eq!(found[3].0, 4);
        assert!(all(b"").is_empty());
    }

    #[test]
    fn keeps_only_the_head_of_a_line_of_a_hundred_megabytes() {
        let endless = io::repeat(b'x').take(100_000_000).chain(&b"\nnext\n"[..]);
        let mut lines = Lines::new(endless);
        let first = lines.next_line().unwrap().unwrap();
        assert!(first.is_cut);
        assert_eq!(first.bytes.len(), MAX_LINE_BYTES);
        let second = lines.next_line().unwrap().unwrap();
        assert_eq!((second.number, second.bytes, second.is_cut), (2, &b"next"[..], false));
    }
}
