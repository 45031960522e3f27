//! A FreeBSD kernel with what FreeBSD's own loader leaves it, as one file that QEMU starts by itself.
//!
//! A kernel that QEMU starts directly (PVH) believes that Xen did, and releases ask Xen for the time
//! then: without Xen they panic. One that the loader has started is on a PC. What the loader does at last is
//! little, and is done here before QEMU starts: the kernel's segments lie where they belong, and behind
//! them one of ours, with page tables, records about the kernel and its settings, and a hundred bytes of
//! code that bring the processor from QEMU's start (32 bits) to the kernel's (64 bits). No disk and
//! no firmware takes part.
//!
//! What a kernel finds at its start is written in `sys/amd64/amd64/locore.S`, the records in
//! `sys/sys/linker.h`, what QEMU leaves in `start_info.h` of Xen.

use std::path::Path;

use fwdlab_guard::input;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, elf};

use super::image::{KernelFile, MOST_BYTES, START_ENTRY, START_OWNER, functions_of};
use crate::KernelError;

/// Where the kernel's addresses begin (`KERNBASE`): the first GiB of memory lies there.
const BASE: u64 = 0xffff_ffff_8000_0000;
const MAPPED: u64 = 1 << 30;

const PAGE: usize = 4096;

/// What lies where in our own segment; offsets in bytes.
const TABLES: [usize; 3] = [0, PAGE, 2 * PAGE];
/// `NAME=VALUE`, each with a NUL behind it, and one more at the end; a NUL before the first, too.
const SETTINGS: usize = 3 * PAGE;
const SEGMENTS: usize = 4 * PAGE;
const SEGMENTS_POINTER: usize = SEGMENTS + 24;
/// The kernel finds three words here, and may write below.
const STACK: usize = SEGMENTS + 128;
const CODE: usize = SEGMENTS + 192;
const RECORDS: usize = SEGMENTS + 512;
const LENGTH: usize = 5 * PAGE;

/// Most ranges of memory that are handed on, of 20 bytes each.
const MOST_RANGES: usize = 32;
const RANGE: usize = 20;

/// Types of records (`MODINFO_`, `MODINFOMD_`).
const NAME: u32 = 1;
const KIND: u32 = 2;
const ADDRESS: u32 = 3;
const SIZE: u32 = 4;
const ENVIRONMENT: u32 = 0x8006;
const HOWTO: u32 = 0x8007;
const KERNEL_END: u32 = 0x8008;
const MEMORY: u32 = 0x9001;

/// Settings and options that the loader turns into flags for the kernel (`RB_`).
pub const FLAGS: [(&str, char, u32); 11] = [
    ("boot_askname", 'a', 0x1),
    ("boot_single", 's', 0x2),
    ("boot_dfltroot", 'r', 0x20),
    ("boot_ddb", 'd', 0x40),
    ("boot_verbose", 'v', 0x800),
    ("boot_serial", 'h', 0x1000),
    ("boot_cdrom", 'C', 0x2000),
    ("boot_gdb", 'g', 0x8000),
    ("boot_mute", 'm', 0x1_0000),
    ("boot_pause", 'p', 0x10_0000),
    ("boot_multicons", 'D', 0x2000_0000),
];

/// A part of the kernel that is loaded.
struct Part<'k> {
    /// Where in memory.
    place: u64,
    bytes: &'k [u8],
    /// With what is zero behind the bytes.
    length: u64,
}

/// The file that QEMU starts in place of the kernel's. The settings are those of QEMU's command line,
/// which `more` is a part of.
///
/// # Errors
/// The kernel cannot be read, or is none.
pub fn loaded(path: &Path, more: &str) -> Result<Vec<u8>, KernelError> {
    let kernel = input::named_bytes(path, MOST_BYTES).map_err(KernelError::file("read", path))?;
    of(&kernel, more).map_err(|why| KernelError::NotAKernel { path: path.to_owned(), why })
}

pub(super) fn of(kernel: &[u8], more: &str) -> Result<Vec<u8>, String> {
    let (parts, entry) = parts(kernel)?;
    let start = parts.iter().map(|part| part.place).min().unwrap_or_default();
    let end = parts.iter().map(|part| part.place + part.length).max().unwrap_or_default();
    let place = end.next_multiple_of(PAGE as u64);
    if parts.is_empty() || place + LENGTH as u64 > MAPPED {
        return Err("its parts do not lie in the first GiB above KERNBASE".to_owned());
    }
    let own = Own { place: place as u32, kernel: (start, end), entry, flags: flags(more) };
    let bytes = own.bytes();
    let mut all = parts;
    all.push(Part { place, bytes: &bytes, length: LENGTH as u64 });
    Ok(file(&all, own.at(CODE)))
}

/// The parts of a kernel, and its entry.
fn parts(kernel: &[u8]) -> Result<(Vec<Part<'_>>, u64), String> {
    let file = ElfFile64::<Endianness>::parse(kernel).map_err(|error| error.to_string())?;
    let endian = file.endian();
    let mut parts = Vec::new();
    for header in file.elf_program_headers() {
        if header.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        let bytes = header.data(endian, kernel).map_err(|()| "a part of it is cut off")?;
        let place = header.p_vaddr(endian).checked_sub(BASE).filter(|place| *place < MAPPED);
        let place = place.ok_or("a part of it does not lie in the first GiB above KERNBASE")?;
        let length = header.p_memsz(endian);
        if length > MAPPED || (bytes.len() as u64) > length {
            return Err("a part of it is longer than its place".to_owned());
        }
        parts.push(Part { place, bytes, length });
    }
    Ok((parts, file.elf_header().e_entry(endian)))
}

/// The flags that settings and options ask for.
fn flags(settings: &str) -> u32 {
    let of_word = |word: &str| match (word.split_once('='), word.strip_prefix('-')) {
        (Some((_, value)), _) if value.eq_ignore_ascii_case("no") => 0,
        (Some((name, _)), _) => FLAGS.iter().filter(|flag| flag.0 == name).map(|flag| flag.2).sum(),
        (None, Some(letters)) => {
            FLAGS.iter().filter(|flag| letters.contains(flag.1)).map(|flag| flag.2).sum()
        }
        (None, None) => 0,
    };
    settings.split_whitespace().map(of_word).fold(0, |all, some| all | some)
}

/// Our own segment.
struct Own {
    /// Where in memory, right behind the kernel.
    place: u32,
    /// Where the kernel begins and ends.
    kernel: (u64, u64),
    /// The kernel's entry.
    entry: u64,
    flags: u32,
}

impl Own {
    /// The address of what lies at this offset.
    fn at(&self, offset: usize) -> u32 {
        self.place + offset as u32
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH];
        let mut put = |offset: usize, some: &[u8]| {
            bytes[offset..offset + some.len()].copy_from_slice(some);
        };
        put(0, &self.tables());
        // Nothing; code of 64 bits; data.
        let segments = [0_u64, 0x0020_9a00_0000_0000, 0x0000_9200_0000_0000];
        put(SEGMENTS, segments.map(u64::to_le_bytes).as_flattened());
        put(SEGMENTS_POINTER, &23_u16.to_le_bytes());
        put(SEGMENTS_POINTER + 2, &self.at(SEGMENTS).to_le_bytes());
        let (records, map) = self.records();
        // Where nobody returns to, the records, the first byte that is free.
        let found = [0, self.at(RECORDS), self.at(LENGTH)];
        put(STACK, found.map(u32::to_le_bytes).as_flattened());
        put(CODE, &self.code(self.at(RECORDS + map)));
        put(RECORDS, &records);
        bytes
    }

    /// Three levels of page tables, by which the first GiB lies at 0, at KERNBASE, and at every other
    /// GiB, in pages of 2 MiB.
    fn tables(&self) -> Vec<u8> {
        const PRESENT_WRITABLE_USER: u64 = 7;
        const LARGE: u64 = 0x80;
        let entries = PAGE as u64 / 8;
        let next = |level: usize| u64::from(self.at(TABLES[level])) | PRESENT_WRITABLE_USER;
        let first = (0..entries).map(|_| next(1));
        let second = (0..entries).map(|_| next(2));
        let third = (0..entries).map(|number| (number << 21) | LARGE | PRESENT_WRITABLE_USER);
        first.chain(second).chain(third).flat_map(u64::to_le_bytes).collect()
    }

    /// What a loader tells about the kernel, and where in it the map of memory has to be written.
    fn records(&self) -> (Vec<u8>, usize) {
        let mut all = Vec::new();
        let mut add = |kind: u32, bytes: &[u8]| {
            all.extend(kind.to_le_bytes());
            all.extend((bytes.len() as u32).to_le_bytes());
            let data = all.len();
            all.extend(bytes);
            all.resize(all.len().next_multiple_of(8), 0);
            data
        };
        let (start, end) = self.kernel;
        add(NAME, b"/boot/kernel/kernel\0");
        add(KIND, b"elf kernel\0");
        add(ADDRESS, &start.to_le_bytes());
        add(SIZE, &(end - start).to_le_bytes());
        add(HOWTO, &self.flags.to_le_bytes());
        add(ENVIRONMENT, &u64::from(self.at(SETTINGS + 1)).to_le_bytes());
        add(KERNEL_END, &u64::from(self.at(LENGTH)).to_le_bytes());
        // Ranges that stay zero are of no memory.
        let map = add(MEMORY, &[0; MOST_RANGES * RANGE]);
        add(0, &[]);
        (all, map)
    }

    /// What QEMU starts, with the address of what it leaves in `ebx`: hands on the map of memory and the
    /// settings, turns the page tables on and goes to the kernel.
    fn code(&self, map: u32) -> Vec<u8> {
        let room = (PAGE - 2) as u32;
        let words = |address: u32| address.to_le_bytes();
        // Behind all of the code of 32 bits.
        const WIDE: usize = 124;
        let code: [&[u8]; 31] = [
            &[0xfa, 0xfc],       // cli; cld
            &[0x8b, 0x73, 0x28], // mov esi, [ebx + 40]: ranges of memory, 24 bytes each
            &[0x8b, 0x4b, 0x30], // mov ecx, [ebx + 48]: how many
            &[0xbf],
            &words(map), // mov edi, map
            &[0x83, 0xf9, MOST_RANGES as u8, 0x76, 5, 0xb9, MOST_RANGES as u8, 0, 0, 0], // at most
            &[0xe3, 10], // jecxz settings
            // range: five of its six words
            &[0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0x83, 0xc6, 4, 0xe2, 0xf6], // movsd ...; add esi, 4; loop range
            // settings:
            &[0x8b, 0x73, 0x18], // mov esi, [ebx + 24]: the command line
            &[0xbf],
            &words(self.at(SETTINGS + 1)), // mov edi, settings
            &[0xb9],
            &words(room), // mov ecx, room
            // letter:
            &[0xac, 0x84, 0xc0, 0x74, 15], // lodsb; test al, al; jz done
            &[0x3c, b' ', 0x75, 8],        // cmp al, ' '; jne store
            &[0x80, 0x7f, 0xff, 0, 0x74, 3], // cmp byte [edi - 1], 0; je next: no empty settings
            &[0x31, 0xc0],                 // xor eax, eax: a space ends a setting
            &[0xaa, 0xe2, 0xec],           // store: stosb; next: loop letter
            // done:
            &[0x0f, 0x20, 0xe0, 0x83, 0xc8, 0x20, 0x0f, 0x22, 0xe0], // cr4 |= PAE
            &[0xb8],
            &words(self.at(TABLES[0])), // mov eax, tables
            &[0x0f, 0x22, 0xd8],        // mov cr3, eax
            &[0xb9, 0x80, 0, 0, 0xc0, 0x0f, 0x32, 0x0d, 0, 1, 0, 0, 0x0f, 0x30], // EFER |= LME
            &[0x0f, 0x20, 0xc0, 0x0d, 0, 0, 0, 0x80, 0x0f, 0x22, 0xc0], // cr0 |= PG
            &[0x0f, 0x01, 0x15],
            &words(self.at(SEGMENTS_POINTER)), // lgdt [segments]
            &[0xea],
            &words(self.at(CODE + WIDE)),
            &[8, 0], // jmp 8:wide
            // wide: mov esp, stack
            &[0xbc],
            &[],
        ];
        let mut all = code.concat();
        assert_eq!(
            all.len(),
            WIDE + 1,
            "invariant: the code of 64 bits begins where it is jumped to"
        );
        all.extend(words(self.at(STACK)));
        all.extend([0x48, 0xb8]);
        all.extend(self.entry.to_le_bytes()); // mov rax, entry
        all.extend([0xff, 0xe0]); // jmp rax
        all
    }
}

/// An ELF file of these parts, with a note by which QEMU finds the entry.
fn file(parts: &[Part<'_>], entry: u32) -> Vec<u8> {
    const HEADER: usize = 64;
    const PART: usize = 56;
    let mut note = Vec::new();
    for word in [START_OWNER.len() as u32 + 1, 8, START_ENTRY.0] {
        note.extend(word.to_le_bytes());
    }
    note.extend([START_OWNER, b"\0"].concat());
    note.extend(u64::from(entry).to_le_bytes());
    let headers = HEADER + PART * (parts.len() + 1);
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend(2_u16.to_le_bytes()); // a program
    head.extend(62_u16.to_le_bytes()); // x86-64
    head.extend(1_u32.to_le_bytes());
    for word in [u64::from(entry), HEADER as u64, 0] {
        head.extend(word.to_le_bytes());
    }
    head.extend(0_u32.to_le_bytes());
    for half in [HEADER, PART, parts.len() + 1, 0, 0, 0] {
        head.extend((half as u16).to_le_bytes());
    }
    let mut body = Vec::new();
    let first = (headers + note.len()).next_multiple_of(PAGE);
    let mut add = |kind: u32, words: [u64; 4], align: u64| {
        let [offset, place, in_file, in_memory] = words;
        head.extend(kind.to_le_bytes());
        head.extend(7_u32.to_le_bytes());
        for word in [offset, place, place, in_file, in_memory, align] {
            head.extend(word.to_le_bytes());
        }
    };
    let length = note.len() as u64;
    add(elf::PT_NOTE.0, [headers as u64, 0, length, length], 4);
    for part in parts {
        let words = [(first + body.len()) as u64, part.place, part.bytes.len() as u64, part.length];
        add(elf::PT_LOAD.0, words, PAGE as u64);
        body.extend(part.bytes);
        body.resize(body.len().next_multiple_of(PAGE), 0);
    }
    head.extend(note);
    head.resize(first, 0);
    head.extend(body);
    head
}

/// Reads all of a kernel that is ever read.
pub(crate) fn read_kernel(bytes: &[u8], path: &Path) -> Result<usize, KernelError> {
    let broken = |why| KernelError::NotAKernel { path: path.to_owned(), why };
    let kernel = KernelFile::of(bytes).map_err(broken)?;
    let loaded = of(bytes, "-v").map_err(broken)?;
    Ok(kernel.missing(None).len() + functions_of(bytes, path)?.len() + loaded.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel of one part at this address.
    fn kernel(address: u64) -> Vec<u8> {
        let mut bytes = file(&[Part { place: 0, bytes: b"kernel", length: 0x2000 }], 7);
        let part = 64 + 56;
        bytes[part + 16..part + 24].copy_from_slice(&address.to_le_bytes());
        bytes
    }

    #[test]
    fn what_is_made_is_the_kernel_with_one_part_behind_it_that_qemu_starts() {
        let made = of(&kernel(BASE + 0x20_0000), "").expect("a kernel");
        let file = ElfFile64::<Endianness>::parse(&*made).expect("ELF");
        let endian = file.endian();
        let loads = file.elf_program_headers().iter().filter(|h| h.p_type(endian) == elf::PT_LOAD);
        let places: Vec<u64> = loads.map(|header| header.p_paddr(endian)).collect();
        assert_eq!(places, [0x20_0000, 0x20_2000]);
        assert_eq!(file.elf_header().e_entry(endian), 0x20_2000 + CODE as u64);
        let note = made.windows(4).position(|window| window == b"Xen\0").expect("a note");
        let entry = (0x20_2000 + CODE as u64).to_le_bytes();
        assert_eq!(made[note + 4..note + 12], entry);
    }

    #[test]
    fn a_kernel_that_does_not_lie_where_the_loader_puts_it_is_refused() {
        for address in [0x20_0000, BASE - 1, BASE + MAPPED, BASE + MAPPED - 0x2000, u64::MAX] {
            assert!(of(&kernel(address), "").is_err(), "{address:#x}");
        }
        assert!(of(b"\x7fELF\x02\x01\x01\x09", "").is_err());
    }

    #[test]
    fn settings_and_options_become_the_flags_of_the_loader() {
        assert_eq!(flags("boot_verbose=YES net.x=1 -sp"), 0x800 | 0x2 | 0x10_0000);
        assert_eq!(flags("boot_verbose=no vfs.root.mountfrom=ufs:/dev/vtbd0"), 0);
        assert_eq!(flags("-v boot_verbose=1"), 0x800);
    }
}
