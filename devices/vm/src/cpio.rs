//! Writes a cpio archive in the "newc" format, which Linux unpacks as its first file system
//! (Documentation/driver-api/early-userspace/buffer-format.rst): 110 bytes of header in
//! hexadecimal, the name, the data, both padded to 4 bytes.
//!
//! Times, owners and inode numbers are fixed, so that the same files give the same bytes.

use std::collections::BTreeSet;

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
        self.entry("TRAILER!!!", 0, &[]);
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
        // inode, mode, uid, gid, links, mtime, size, device (2), special device (2), name, check
        let fields = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            data.len() as u32,
            0,
            0,
            0,
            0,
            name.len() as u32 + 1,
            0,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
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

    /// Reads the archive back by the format's own rules.
    fn names(bytes: &[u8]) -> Vec<String> {
        let (mut names, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            assert_eq!(&bytes[at..at + 6], b"070701", "magic at {at}");
            let field = |index: usize| {
                let start = at + 6 + 8 * index;
                let text = std::str::from_utf8(&bytes[start..start + 8]).expect("ASCII");
                usize::from_str_radix(text, 16).expect("hexadecimal")
            };
            let (size, name_len) = (field(6), field(11));
            let name = &bytes[at + 110..at + 110 + name_len - 1];
            names.push(String::from_utf8(name.to_vec()).expect("a name"));
            let data = (at + 110 + name_len).next_multiple_of(4);
            at = (data + size).next_multiple_of(4);
        }
        names
    }
}
