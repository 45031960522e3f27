//! Words for a person, on stderr.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints a line on stderr, formatted as by `format!`. Unlike `eprintln!` it does not panic when
/// stderr is closed or full: a run must not end because nobody listens.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say_line(::std::format_args!($($words)*)) };
}

/// What [`say!`](crate::say) does; of what nobody reads to its end the middle is left out.
pub fn say_line(words: Arguments<'_>) {
    let text = words.to_string();
    let mut line = crate::words::visible(&crate::words::shortened(&text)).into_owned();
    line.push('\n');
    // Whoever does not listen misses it.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
