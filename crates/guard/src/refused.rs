//! Why a file is not taken.

use std::io;

/// Why a file is not taken, although the system would give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A symbolic link, which may lead anywhere.
    #[error("it is a symbolic link")]
    Link,
    /// A fifo, a socket, a device or a directory.
    #[error("it is no regular file")]
    NotRegular,
    /// More than this many bytes.
    #[error("it has more than {0} bytes")]
    TooLong(u64),
}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        Self::new(io::ErrorKind::InvalidInput, refused)
    }
}

/// What a person can do about a file that was refused; nothing for other errors.
pub fn remedy(error: &io::Error) -> Option<&'static str> {
    let refused = error.get_ref()?.downcast_ref::<Refused>()?;
    Some(match refused {
        Refused::Link => "put the file itself there: links in directories are not followed",
        Refused::NotRegular => "name a regular file",
        Refused::TooLong(_) => "check that it is the right file",
    })
}

/// What to do about a file beside a journal that cannot be read or written.
pub fn remedy_beside(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::IsADirectory {
        return "move that directory away, then run `fwdlab report` again";
    }
    remedy(error).unwrap_or("check the directory and its disk, then run `fwdlab report` again")
}
