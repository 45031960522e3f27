//! Reads files: regular ones, of bounded length.
//!
//! [`found`] is for a file that fwdlab looks for in a directory or that another file names: it is
//! not read through a link, which a stranger may have put there to have a secret shown. [`named`] is
//! for a file that a person named on the command line.

use std::fs::{File, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

use crate::Refused;

/// Opens a file in a directory, not through a link, of at most `most` bytes.
///
/// # Errors
/// When the system refuses, or with a [`Refused`].
pub fn found(path: &Path, most: u64) -> io::Result<File> {
    open(path, most, OFlag::O_NOFOLLOW)
}

/// Opens a file that a person named, of at most `most` bytes. What a shell puts in the place of a
/// command (`<(command)`) is taken too.
///
/// # Errors
/// As [`found`], but links are followed.
pub fn named(path: &Path, most: u64) -> io::Result<File> {
    if path.starts_with("/dev/fd") || path == Path::new("/dev/stdin") {
        return File::open(path);
    }
    open(path, most, OFlag::empty())
}

/// The bytes of a [`found`] file.
///
/// # Errors
/// As [`found`].
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    limited(found(path, most)?, most)
}

/// The text of a [`found`] file.
///
/// # Errors
/// As [`found`], and when it is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    utf8(bytes(path, most)?)
}

/// The bytes of a [`named`] file.
///
/// # Errors
/// As [`named`].
pub fn named_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    limited(named(path, most)?, most)
}

/// The text of a [`named`] file.
///
/// # Errors
/// As [`named`], and when it is not UTF-8.
pub fn named_text(path: &Path, most: u64) -> io::Result<String> {
    utf8(named_bytes(path, most)?)
}

/// The entries of a directory in a directory; through a link nothing is looked up.
///
/// # Errors
/// When the system refuses, or with [`Refused::Link`].
pub fn entries(path: &Path) -> io::Result<ReadDir> {
    if path.symlink_metadata()?.is_symlink() {
        return Err(Refused::Link.into());
    }
    std::fs::read_dir(path)
}

/// Everything that a source gives, at most `most` bytes.
///
/// # Errors
/// When reading fails, or there is more.
pub fn limited(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Refused::TooLong(most).into()) } else { Ok(bytes) }
}

/// Opens a file that is written to and lies where strangers may have put something: a link is not followed, and what
/// is no regular file is refused, without waiting for anybody.
///
/// # Errors
/// When the system refuses, or with a [`Refused`].
pub fn written(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    // to write alone into a fifo is an error of another kind
    let opened = options.read(true).custom_flags(flags.bits()).open(path);
    let file = opened.map_err(|error| explained(path, flags, error))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(Refused::NotRegular.into()) }
}

/// Bytes as text.
///
/// # Errors
/// With line and byte of what is not UTF-8, each counted from 1.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let (whole, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let line = whole.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let byte = whole.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        let found = rest.first().copied().unwrap_or_default();
        let what = format!("it is not UTF-8 text: byte {byte} of line {line} is 0x{found:02x}");
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

fn open(path: &Path, most: u64, more: OFlag) -> io::Result<File> {
    // Without waiting: a fifo that nobody writes to would hold the open for ever.
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | more;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let file = opened.map_err(|error| explained(path, more, error))?;
    let about = file.metadata()?;
    if !about.is_file() {
        // A directory says so itself, with a remedy of its own, when it is read.
        return if about.is_dir() { Ok(file) } else { Err(Refused::NotRegular.into()) };
    }
    if about.len() > most {
        return Err(Refused::TooLong(most).into());
    }
    Ok(file)
}

/// Says of a link that it is one: systems do so with different numbers.
fn explained(path: &Path, flags: OFlag, error: io::Error) -> io::Error {
    let is_link = || path.symlink_metadata().is_ok_and(|about| about.is_symlink());
    if flags.contains(OFlag::O_NOFOLLOW) && is_link() { Refused::Link.into() } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refused<T: std::fmt::Debug>(result: io::Result<T>) -> Refused {
        *result.unwrap_err().get_ref().unwrap().downcast_ref::<Refused>().unwrap()
    }

    #[test]
    fn a_link_in_a_directory_is_refused_and_one_that_a_person_names_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "words").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(refused(text(&link, 10)), Refused::Link);
        assert_eq!(named_text(&link, 10).unwrap(), "words");
        assert_eq!(text(&file, 10).unwrap(), "words");
    }

    #[test]
    fn what_is_no_text_is_named_by_its_line_and_byte() {
        let why = |bytes: &[u8]| utf8(bytes.to_vec()).unwrap_err().to_string();
        assert!(why(b"a\nb \xff").ends_with("byte 3 of line 2 is 0xff"));
        assert!(why(b"\xe9t\xe9").ends_with("byte 1 of line 1 is 0xe9"));
        assert!(
            why("one\nzw\u{f6}lf\n".as_bytes().split_last_chunk::<4>().unwrap().0)
                .ends_with("line 2 is 0xc3")
        );
        assert_eq!(utf8("ok \u{f6}".into()).unwrap(), "ok \u{f6}");
    }

    #[test]
    fn a_directory_behind_a_link_is_not_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let (own, link) = (dir.path().join("own"), dir.path().join("link"));
        std::fs::create_dir_all(own.join("inside")).unwrap();
        symlink(&own, &link).unwrap();
        assert_eq!(entries(&own).unwrap().count(), 1);
        assert_eq!(refused(entries(&link).map(|_| ())), Refused::Link);
        assert_eq!(entries(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn fifos_and_endless_files_are_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(refused(bytes(&fifo, 10)), Refused::NotRegular);
        assert_eq!(refused(named_bytes(&fifo, 10)), Refused::NotRegular);
        assert_eq!(refused(named_bytes(Path::new("/dev/zero"), 10)), Refused::NotRegular);
    }

    /// A link that led nowhere was followed, and made a file there; a fifo was waited for.
    #[test]
    fn what_is_written_to_is_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink(at("elsewhere"), at("link")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let open = |name: &str| written(OpenOptions::new().create(true).append(true), &at(name));
        assert_eq!(refused(open("link")), Refused::Link);
        assert_eq!(refused(open("fifo")), Refused::NotRegular);
        assert!(open("new").is_ok() && !at("elsewhere").exists());
    }

    #[test]
    fn a_file_longer_than_wanted_is_refused_also_when_its_length_is_not_known() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("long");
        std::fs::write(&long, "0123456789a").unwrap();
        assert_eq!(refused(bytes(&long, 10)), Refused::TooLong(10));
        assert_eq!(refused(limited(&b"0123456789a"[..], 10)), Refused::TooLong(10));
        if cfg!(target_os = "linux") {
            assert_eq!(refused(bytes(Path::new("/proc/self/status"), 10)), Refused::TooLong(10));
        }
    }
}
