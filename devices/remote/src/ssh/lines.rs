//! Lines of a process, read by a thread so that nobody waits for them forever.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// The longest line that is kept whole.
const LONGEST: u64 = 64 << 20;

/// Lines as they come.
#[derive(Debug)]
pub struct Lines {
    lines: Receiver<String>,
}

/// What a wait for a line ended with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A line, without its end.
    Line(String),
    /// Nothing within the time.
    Nothing,
    /// The process has closed its side.
    End,
}

impl Lines {
    /// Reads `from` until it ends.
    pub fn of(from: impl Read + Send + 'static) -> Self {
        let (give, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut line = Vec::new();
            loop {
                line.clear();
                match (&mut from).take(LONGEST).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let text = line.strip_suffix(b"\n").unwrap_or(&line);
                if give.send(String::from_utf8_lossy(text).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// The next line, if it comes within `wait`.
    pub fn next(&self, wait: Duration) -> Next {
        match self.lines.recv_timeout(wait) {
            Ok(line) => Next::Line(line),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::End,
        }
    }

    /// Everything up to the end of the process's output, or until nothing comes for `wait`.
    pub fn rest(&self, wait: Duration) -> String {
        let mut text = String::new();
        while let Next::Line(line) = self.next(wait) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}
