//! Writing to stdout so that a closed pipe (`fwdlab ... | head`) changes nothing.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::Context as _;
use fwdlab_guard::words;

/// Writes `text` to stdout and flushes it.
///
/// What a terminal would act on is written out, colours too: they may be a stranger's. That a reader
/// stops reading is no fault.
///
/// # Errors
/// When the write fails: a full disk, a closed stdout.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_raw(words::visible(text).as_bytes())
}

/// Writes bytes as they are, made by this program for other programs, or text that it has painted, of
/// which it wrote out what strangers put into it.
///
/// # Errors
/// As [`print`].
pub fn print_raw(bytes: &[u8]) -> anyhow::Result<()> {
    match write(io::stdout().lock(), bytes) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes everything, waiting for a reader where the system would rather not.
fn write(mut out: impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) => pause(error)?,
        }
    }
    loop {
        match out.flush() {
            Err(error) => pause(error)?,
            Ok(()) => return Ok(()),
        }
    }
}

/// Waits a little when an error only says that it is too early.
fn pause(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(5)),
        io::ErrorKind::Interrupted => {}
        _ => return Err(error),
    }
    Ok(())
}

/// Columns of the terminal that stdout is, 80 where it is none.
pub fn width() -> usize {
    let from_shell = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns =
        || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    from_shell.or_else(columns).unwrap_or(80)
}

/// Columns of the terminal that stderr is, 80 where it is none.
pub fn width_of_stderr() -> usize {
    console::Term::stderr().size_checked().map_or(80, |(_, columns)| usize::from(columns))
}

/// Whether stdout takes colours: a terminal that can, and NO_COLOR is not set.
pub fn is_coloured() -> bool {
    let is_off = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !is_off && !is_dumb()
}

/// Whether the terminal only prints: no colours, no cursor that moves.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
