//! Writing to stdout so that a closed pipe (`fwdlab ... | head`) changes nothing.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::Context as _;
use fwdlab_figures::text_table::wrap;
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

/// A value as JSON that [`print`] leaves as it is: what it would write out in a manner that is no JSON (`\u{200b}`)
/// is written out in JSON's own.
///
/// # Errors
/// When it cannot be encoded.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(value).context("cannot encode as JSON")?;
    Ok(words::in_json(&text).into_owned() + "\n")
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

/// A row that begins with `head`: one line, or on a terminal that is too narrow for it several.
pub fn row(head: &str, text: &str) -> String {
    match io::stdout().is_terminal() {
        true => row_in(width(), head, text),
        false => format!("{head}{text}\n"),
    }
}

/// The same in so many columns: what goes on stands below the text, or below the head where that leaves
/// little room.
fn row_in(columns: usize, head: &str, text: &str) -> String {
    const SET_IN: &str = "    ";
    let indent = head.chars().count();
    if indent + text.chars().count() <= columns {
        return format!("{head}{text}\n");
    }
    match 2 * indent <= columns {
        true => wrap(text, columns, head, &" ".repeat(indent)),
        false => {
            let below = wrap(text, columns, SET_IN, SET_IN);
            format!("{}\n{below}", head.trim_end())
        }
    }
}

/// Columns of the terminal that stdout is, 80 where it is none.
pub fn width() -> usize {
    known_width().unwrap_or(80)
}

/// Columns of the terminal that stdout is, if it is one.
pub fn known_width() -> Option<usize> {
    let from_shell = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns =
        || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    from_shell.or_else(columns)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A zero-width space in a name made `\u{200b}` of it, which no reader of JSON takes.
    #[test]
    fn json_is_json_when_it_is_printed() {
        let names = ["a \u{200b}b", "\u{202e}evil", "\u{9b}2J", "two\nlines", "µ"];
        let text = json(&names).expect("JSON");
        assert_eq!(words::visible(&text), text);
        let read: Vec<String> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, names);
    }

    #[test]
    fn a_row_goes_on_below_its_text_or_its_head() {
        let row = |columns| row_in(columns, "yes  clock  ", "its frequency is not ours to choose");
        assert_eq!(row(80), "yes  clock  its frequency is not ours to choose\n");
        assert_eq!(row(30), "yes  clock  its frequency is\n            not ours to choose\n");
        assert_eq!(row(20), "yes  clock\n    its frequency is\n    not ours to\n    choose\n");
    }
}
