//! Orders to a router that forwards, over a Unix socket: a line of JSON for each order, and one for
//! each answer, in the same order.

pub mod socket;

use std::io::{BufRead, Write};
use std::os::unix::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// Where the socket is unless another place is named.
pub const DEFAULT_SOCKET: &str = "/run/fwdlab.sock";

/// Longest line of an order, in bytes.
pub const LONGEST_ORDER: u64 = 64 * 1024;

/// An order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// As on the command line: `route`, `add`, `198.51.100.0/24`, ...
    pub words: Vec<String>,
    /// Whether the answer is to be JSON; else it is text for people.
    #[serde(default)]
    pub json: bool,
}

/// What came of an order. A refused one has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was done: text, or JSON as text.
    Done(String),
    /// It was refused, and why.
    Refused(String),
}

/// Refuses a path that no socket can have.
///
/// # Errors
/// With what to do.
pub fn check_length(path: &Path) -> anyhow::Result<()> {
    match SocketAddr::from_pathname(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(error).with_context(|| {
            format!(
                "{} cannot be a socket's path, which has 107 bytes at most; name a shorter one",
                path.display()
            )
        }),
    }
}

/// Writes a value as a line.
pub fn write_line(output: &mut impl Write, value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value).context("invariant: plain values")?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()?;
    Ok(())
}

/// Reads a line of at most `longest` bytes; `None` at the end.
pub fn read_line(input: &mut impl BufRead, longest: u64) -> anyhow::Result<Option<String>> {
    let mut line = String::new();
    let read = std::io::Read::take(&mut *input, longest).read_line(&mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if !line.ends_with('\n') && read as u64 == longest {
        bail!("the line is longer than {longest} bytes");
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_read_one_after_another() {
        let mut input = &b"{\"words\":[\"show\"]}\nab"[..];
        let line = read_line(&mut input, 64).unwrap().unwrap();
        let order: Order = serde_json::from_str(&line).unwrap();
        assert_eq!(order, Order { words: vec!["show".into()], json: false });
        assert_eq!(read_line(&mut input, 64).unwrap().unwrap(), "ab");
        assert_eq!(read_line(&mut input, 64).unwrap(), None);
        assert!(read_line(&mut &b"aaaaaaaaaa\n"[..], 5).is_err());
    }
}
