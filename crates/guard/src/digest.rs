//! SHA-256 as lower-case hexadecimal digits: which file, which experiment, which journal it was.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// A digest of what is added to it, in that order.
#[derive(Clone, Debug, Default)]
pub struct Sum(Sha256);

impl Sum {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds all that a source has left.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn add_all(&mut self, mut source: impl Read) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match source.read(&mut buffer)? {
                0 => return Ok(()),
                count => self.add(&buffer[..count]),
            }
        }
    }

    /// The 64 digits.
    pub fn digits(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The digest of some bytes.
pub fn of(bytes: &[u8]) -> String {
    let mut sum = Sum::default();
    sum.add(bytes);
    sum.digits()
}

/// The digest of a file that was named by hand.
///
/// # Errors
/// When it cannot be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut sum = Sum::default();
    sum.add_all(File::open(path)?)?;
    Ok(sum.digits())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of FIPS 180-4.
    #[test]
    fn the_digest_is_that_of_the_standard_however_it_is_fed() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(b"abc"), abc);
        let mut sum = Sum::default();
        sum.add(b"a");
        sum.add_all(&b"bc"[..]).expect("bytes");
        assert_eq!(sum.digits(), abc);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "abc").expect("written");
        assert_eq!(of_file(file.path()).expect("read"), abc);
        assert!(of_file(Path::new("/nowhere/at/all")).is_err());
    }
}
