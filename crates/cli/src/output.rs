//! Writing to stdout so that a closed pipe (`fwdlab ... | head`) ends the command quietly.

use std::io::{self, Write};

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
