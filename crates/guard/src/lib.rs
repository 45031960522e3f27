//! Files, words and environments of strangers, taken without harm.
//!
//! A results directory or an experiment may come from anywhere, and fwdlab often runs as root. So
//! what is read is a regular file of bounded length and, where nobody named it by hand, no link
//! ([`input`]); what is written goes into a new file that takes its name at the end ([`Folder`]);
//! what is shown holds no character that a terminal acts on ([`words`]) and nothing that a page
//! loads or runs ([`markdown`]), and no name shortened to another's ([`names`]); what is started sees none of
//! the caller's environment ([`tool`]); and which bytes it was says a [`digest`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod digest;
mod folder;
pub mod input;
pub mod markdown;
pub mod names;
mod patience;
mod refused;
mod say;
mod scratch;
mod tool;
pub mod words;

pub use folder::{Folder, check_writable, name_when_whole, write_whole};
pub use patience::patiently;
pub use refused::{Refused, remedy, remedy_beside};
pub use say::say_line;
pub use scratch::Scratch;
pub use tool::tool;

/// A mebibyte, for limits.
pub const MIB: u64 = 1 << 20;
