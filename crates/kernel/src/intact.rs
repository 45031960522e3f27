//! Whether a file is a kernel, and all of it: before anything boots, and nothing blames the wrong file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::KernelError;
use crate::freebsd;

/// So much of a file is looked at: more than every header that is asked for, and a sector.
const HEAD: u64 = 4096;

/// A header of a kernel for x86 (Documentation/arch/x86/boot.rst), offsets in bytes.
mod bzimage {
    use std::ops::Range;

    pub const SETUP_SECTORS: usize = 0x1f1;
    pub const PARAGRAPHS: Range<usize> = 0x1f4..0x1f8;
    pub const MAGIC: Range<usize> = 0x202..0x206;
}

/// Where a header of ELF (64 bits) says what lies where.
mod elf {
    use std::ops::Range;

    pub const ENTRY: Range<usize> = 24..32;
    pub const SECTIONS: Range<usize> = 40..48;
    pub const SECTION_LENGTH: Range<usize> = 58..60;
    pub const SECTION_COUNT: Range<usize> = 60..62;
    pub const LENGTH: usize = 64;
}

/// What linkers and signing tools may add or leave out at the end of a bzImage.
const SLACK: u64 = 4096;

/// Where kernels of FreeBSD lie (`KERNBASE`), and no program does.
const KERNEL_ADDRESSES: u64 = 1 << 63;

/// How files begin that are taken for kernels, and what to do about them.
const STRANGERS: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "it is compressed; unpack it with gunzip"),
    (b"\x28\xb5\x2f\xfd", "it is compressed; unpack it with zstd -d"),
    (b"\xfd7zXZ", "it is compressed; unpack it with xz -d"),
    (b"BZh", "it is compressed; unpack it with bunzip2"),
    (b"QFI\xfb", "it is a disk image; it may be a root"),
    (b"!<arch>", "it is an archive; the name of a Debian package ends in .deb"),
    (b"PK", "it is an archive; unpack it"),
    (b"#!", "it is a script"),
];

/// Whether the file is a kernel, and whole as far as its headers tell.
///
/// # Errors
/// It is something else, or its end is missing.
pub fn check(path: &Path) -> Result<(), KernelError> {
    let mut head = Vec::new();
    let read = |file: File| file.take(HEAD).read_to_end(&mut head);
    let opened = fwdlab_guard::input::named(path, u64::MAX);
    let mut file = opened.map_err(KernelError::file("read", path))?;
    file.try_clone().and_then(read).map_err(KernelError::file("read", path))?;
    let is = file.seek(SeekFrom::End(0)).map_err(KernelError::file("read", path))?;
    let refused =
        |why: &str| KernelError::NoKernelFile { path: path.to_owned(), why: why.to_owned() };
    let is_elf = head.starts_with(b"\x7fELF");
    let wanted = if is_elf { of_elf(&head) } else { of_bzimage(&head) };
    let wanted = wanted.ok_or_else(|| refused(stranger(&head)))?;
    if is < wanted {
        return Err(KernelError::CutShort { path: path.to_owned(), is, wanted });
    }
    match is_elf {
        true => is_elf_of_kernel(&head, path).map_err(refused),
        false => Ok(()),
    }
}

/// What a file is that is no kernel.
fn stranger(head: &[u8]) -> &'static str {
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..);
    let known = STRANGERS.iter().find(|(start, _)| head.starts_with(start));
    match known {
        Some((_, what)) => what,
        None if head.is_empty() => "it is empty",
        None if head.iter().all(is_text) => "it is text",
        None => "it begins neither as a bzImage nor as an ELF file of 64 bits",
    }
}

fn of_bzimage(head: &[u8]) -> Option<u64> {
    if head.get(bzimage::MAGIC)? != b"HdrS" {
        return None;
    }
    // "For backwards compatibility, if the setup_sects field contains 0, the real value is 4."
    let sectors = match head[bzimage::SETUP_SECTORS] {
        0 => 4,
        sectors => u64::from(sectors),
    };
    let paragraphs = number(head, bzimage::PARAGRAPHS)?;
    Some(((sectors + 1) * 512 + paragraphs * 16).saturating_sub(SLACK))
}

/// The table of sections is the last that a kernel's file holds.
fn of_elf(head: &[u8]) -> Option<u64> {
    if head.len() < elf::LENGTH {
        return Some(elf::LENGTH as u64);
    }
    let table = number(head, elf::SECTION_LENGTH)? * number(head, elf::SECTION_COUNT)?;
    (head[4..6] == [2, 1]).then_some(number(head, elf::SECTIONS)?.saturating_add(table))
}

/// Whether an ELF file is a kernel, or why not.
fn is_elf_of_kernel(head: &[u8], path: &Path) -> Result<(), &'static str> {
    if freebsd::is_kernel(path) {
        let is_high = number(head, elf::ENTRY).is_some_and(|entry| entry >= KERNEL_ADDRESSES);
        return is_high.then_some(()).ok_or("it is a program of FreeBSD");
    }
    freebsd::has_direct_start(path).then_some(()).ok_or(
        "it is a program, or a vmlinux without an entry for a direct start (PVH); of Linux name \
         arch/x86/boot/bzImage",
    )
}

/// A number of up to eight bytes, the least first.
fn number(bytes: &[u8], range: Range<usize>) -> Option<u64> {
    let digits = bytes.get(range)?.iter().rev();
    Some(digits.fold(0, |number, &digit| number << 8 | u64::from(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("k");
        fs::write(&path, bytes).expect("a file");
        check(&path).map_or_else(|error| error.to_string(), |()| "a kernel".to_owned())
    }

    /// A bzImage of one sector of set-up and so many paragraphs.
    fn bzimage(paragraphs: u32) -> Vec<u8> {
        let mut bytes = vec![0; 2 * 512 + 16 * paragraphs as usize];
        bytes[bzimage::SETUP_SECTORS] = 1;
        bytes[bzimage::PARAGRAPHS].copy_from_slice(&paragraphs.to_le_bytes());
        bytes[bzimage::MAGIC].copy_from_slice(b"HdrS");
        bytes
    }

    #[test]
    fn what_is_no_kernel_is_named_with_what_it_is() {
        let remedy = "name a bzImage or vmlinuz file of Linux, or FreeBSD's kernel";
        for (bytes, what) in [
            (b"".as_slice(), "it is empty"),
            (b"not a kernel\n", "it is text"),
            (b"#!/bin/sh\n", "it is a script"),
            (b"\x28\xb5\x2f\xfd and so on", "unpack it with zstd -d"),
            (b"QFI\xfb\0\0\0\x03", "it is a disk image"),
            (b"\0\x01\x02", "neither as a bzImage"),
            (b"\x7fELF\x01\x01\x01\x09 of another size of words, as long as a header has to be ...", "of 64 bits"),
        ] {
            let said = said(bytes);
            assert!(said.contains(what) && said.contains(remedy), "{what}: {said}");
        }
        let mut program = vec![0; 200];
        program[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x09");
        assert!(said(&program).contains("it is a program of FreeBSD"), "{}", said(&program));
        let this = fs::read("/proc/self/exe").expect("this program");
        assert!(said(&this).contains("it is a program"), "{}", said(&this));
    }

    #[test]
    fn a_kernel_whose_end_is_missing_is_cut_short() {
        let whole = bzimage(1000);
        assert_eq!(said(&whole), "a kernel");
        let cut = said(&whole[..9000]);
        assert!(cut.contains("is cut short: it has 9000 bytes"), "{cut}");
        assert!(cut.contains("copy it again"), "{cut}");
        assert!(said(b"\x7fELF\x02\x01\x01\x09").contains("is cut short"));
        let mut kernel = vec![0; 300];
        kernel[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x09");
        kernel[elf::ENTRY].copy_from_slice(&0xffff_ffff_8000_0000_u64.to_le_bytes());
        kernel[elf::SECTIONS].copy_from_slice(&172_u64.to_le_bytes());
        kernel[elf::SECTION_LENGTH].copy_from_slice(&64_u16.to_le_bytes());
        kernel[elf::SECTION_COUNT].copy_from_slice(&2_u16.to_le_bytes());
        assert_eq!(said(&kernel), "a kernel");
        assert!(
            said(&kernel[..299]).contains("it has 299 bytes of 300"),
            "{}",
            said(&kernel[..299])
        );
    }
}
