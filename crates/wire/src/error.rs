//! The one error of this crate: a buffer that does not hold the header it was said to hold.

use std::fmt;

/// Why bytes are not the header that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The buffer is shorter than the header, or than the length that the header states.
    TooShort {
        /// Which header: "ethernet", "ipv4", ...
        header: &'static str,
        /// Bytes needed.
        wanted: usize,
        /// Bytes there.
        got: usize,
    },
    /// A field has a value that this header may not have.
    BadField {
        /// Which header.
        header: &'static str,
        /// Which field.
        field: &'static str,
        /// Its value.
        got: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooShort { header, wanted, got } => {
                write!(f, "{header} header needs {wanted} bytes, buffer has {got}")
            }
            Error::BadField { header, field, got } => {
                write!(f, "{header} header: field {field} may not be {got}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Fails unless `got` bytes are enough for `header`.
#[inline]
pub(crate) fn require(header: &'static str, wanted: usize, got: usize) -> Result<(), Error> {
    if got < wanted { Err(Error::TooShort { header, wanted, got }) } else { Ok(()) }
}
