//! Writing to stdout so that a closed pipe (`fwdlab ... | head`) ends the command quietly.

use std::io::{self, IsTerminal, Write};

/// Writes `text` to stdout and flushes it.
///
/// # Errors
/// Whatever the write gives; [`is_closed_pipe`] tells a reader that went away from a real fault.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Whether the error is only that whoever read our output has stopped reading.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Columns of the terminal that stdout is, 80 where it is none.
pub fn width() -> usize {
    let from_shell = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns =
        || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    from_shell.or_else(columns).unwrap_or(80)
}

/// Whether stdout takes colours: a terminal, and NO_COLOR is not set.
pub fn is_coloured() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
