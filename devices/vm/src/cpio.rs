//! Writes a cpio archive in the "newc" format, which Linux unpacks as its first file system
//! (Documentation/driver-api/early-userspace/buffer-format.rst), with the directories that it needs.
//!
//! Times, owners and inode numbers are fixed, so that the same files give the same bytes.

use std::collections::BTreeSet;
use std::io::Write as _;

use ::cpio::newc::{Builder, trailer};

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// Files, 4 GiB and more of which do not fit the format, and would not fit the guest either.
const LARGEST_FILE: usize = u32::MAX as usize;

/// An archive while it is written.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    directories: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a file, and the directories on its way. `path` has no slash in front. A file that is
    /// too large for the format is cut; the guest would not have held it.
    pub(super) fn file(&mut self, path: &str, data: &[u8]) {
        self.parents(path);
        self.entry(path, PROGRAM, data);
    }

    /// Adds an empty directory.
    pub(super) fn directory(&mut self, path: &str) {
        self.parents(path);
        if self.directories.insert(path.to_owned()) {
            self.entry(path, DIRECTORY, &[]);
        }
    }

    /// The finished archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        trailer(&mut self.bytes).expect("invariant: memory takes every byte");
        self.bytes
    }

    fn parents(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            let parent = &path[..at];
            if self.directories.insert(parent.to_owned()) {
                self.entry(parent, DIRECTORY, &[]);
            }
        }
    }

    fn entry(&mut self, name: &str, mode: u32, data: &[u8]) {
        let data = &data[..data.len().min(LARGEST_FILE)];
        self.entries += 1;
        let entry = Builder::new(name).ino(self.entries).mode(mode);
        let mut entry = entry.write(&mut self.bytes, data.len() as u32);
        let written = entry.write_all(data).and_then(|()| entry.finish());
        written
            .expect("invariant: memory takes every byte, and there are as many as were announced");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_come_before_what_they_hold_and_only_once() {
        let mut archive = Archive::new();
        archive.file("lib/modules/veth.ko", b"abc");
        archive.file("lib/modules/nft.ko", b"");
        archive.directory("lib");
        let bytes = archive.finish();
        assert_eq!(
            names(&bytes),
            ["lib", "lib/modules", "lib/modules/veth.ko", "lib/modules/nft.ko", "TRAILER!!!"]
        );
    }

    /// Reads the archive back.
    fn names(mut bytes: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        loop {
            let entry = ::cpio::newc::Reader::new(bytes).expect("an entry");
            names.push(entry.entry().name().to_owned());
            if entry.entry().is_trailer() {
                return names;
            }
            bytes = entry.finish().expect("its data");
        }
    }
}
