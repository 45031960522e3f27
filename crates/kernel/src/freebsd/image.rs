//! What a FreeBSD kernel says of itself: that it is one, what it was configured with, whether a
//! root file system lies inside, and the names of its functions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use fwdlab_guard::input;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind, elf};

use crate::KernelError;

/// `EI_OSABI` of FreeBSD's programs and kernels.
const OS_ABI: u8 = 9;

/// The owner of the notes by which a kernel says how it can be started directly, and the type of
/// the note with the entry (`XEN_ELFNOTE_PHYS32_ENTRY`).
pub(super) const START_OWNER: &[u8] = b"Xen";
pub(super) const START_ENTRY: elf::NoteType = elf::NoteType(18);

/// How a kernel's own configuration names its parts (`kern_conf`, `options INCLUDE_CONFIG_FILE`).
const CONFIGURATION: &str = "kern_conf";

/// Between which symbols a root file system lies in the kernel.
const EMBEDDED_ROOT: [&str; 2] = ["mfs_root", "mfs_root_end"];

/// A FreeBSD kernel as its file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelFile {
    /// Name of the configuration (`ident`).
    pub ident: Option<String>,
    /// Options and devices; nothing if the kernel does not hold its configuration.
    pub parts: Option<BTreeSet<String>>,
    /// Whether it has an entry for a direct start (PVH).
    pub starts_directly: bool,
    /// Whether a root file system lies inside.
    pub holds_root: bool,
}

/// Something that a part of the kernel is needed for.
pub struct Need {
    /// The names of its options or devices, one of which is enough.
    pub names: &'static [&'static str],
    /// The module that brings it too, if there is one.
    pub module: Option<&'static str>,
    /// What it is needed for.
    pub why: &'static str,
}

/// What every guest needs of its kernel.
pub const NEEDS: [Need; 8] = [
    Need { names: &["VIMAGE"], module: None, why: "jails with a network of their own" },
    Need { names: &["epair"], module: Some("if_epair"), why: "cables" },
    Need { names: &["netmap"], module: None, why: "the tester's receiver" },
    Need { names: &["bpf"], module: None, why: "the tester's sender" },
    Need { names: &["virtio_blk"], module: None, why: "the task's disk" },
    Need { names: &["CD9660"], module: None, why: "the task's disk" },
    Need { names: &["TMPFS"], module: None, why: "room for the task" },
    Need { names: &["uart", "uart_ns8250"], module: None, why: "the console and the results" },
];

/// How the names of modules begin that hold lookup algorithms.
const ALGORITHMS: [&str; 2] = ["fib_", "dpdk_lpm"];

/// Disks lose, and copies stop at, no less. In code the longest stretch of zeros is of some 65 bytes.
const SECTOR: usize = 512;

/// Longest kernel, its symbols included.
pub(super) const MOST_BYTES: u64 = 512 * fwdlab_guard::MIB;

/// Whether the bytes begin a FreeBSD kernel or program.
pub(crate) fn is_freebsd(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF\x02\x01") && bytes.get(7) == Some(&OS_ABI)
}

impl KernelFile {
    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read, is none, or has a hole.
    pub fn read(path: &Path) -> Result<Self, KernelError> {
        let bytes =
            input::named_bytes(path, MOST_BYTES).map_err(KernelError::file("read", path))?;
        if let Some(hole) = hole(&bytes) {
            let (at, length) = (hole.start, hole.end - hole.start);
            return Err(KernelError::Hole { path: path.to_owned(), at, length });
        }
        Self::of(&bytes).map_err(|why| KernelError::NotAKernel { path: path.to_owned(), why })
    }

    pub(super) fn of(bytes: &[u8]) -> Result<Self, String> {
        let file = ElfFile64::<Endianness>::parse(bytes).map_err(|error| error.to_string())?;
        if file.elf_header().e_machine(file.endian()) != elf::EM_X86_64 {
            return Err("it is not for x86-64".to_owned());
        }
        let text = file.section_by_name(CONFIGURATION).and_then(|section| section.data().ok());
        let parts = text.map(|text| configuration(&String::from_utf8_lossy(text)));
        let ident = parts.as_ref().and_then(|(ident, _)| ident.clone());
        let mut defined = file.symbols().filter(|symbol| symbol.is_definition());
        let holds_root = defined.any(|symbol| EMBEDDED_ROOT.iter().any(|n| symbol.name() == Ok(n)));
        Ok(Self {
            ident,
            parts: parts.map(|(_, parts)| parts),
            starts_directly: starts_directly(&file, bytes),
            holds_root,
        })
    }

    /// Whether a part is there; `None` if the kernel does not say.
    pub fn has(&self, part: &str) -> Option<bool> {
        self.parts.as_ref().map(|parts| parts.contains(part))
    }

    /// Whether the module is a lookup algorithm, and the kernel has no framework for them.
    pub fn lacks_for(&self, module: &str) -> bool {
        let is_algorithm = ALGORITHMS.iter().any(|start| module.starts_with(start));
        is_algorithm && self.has("FIB_ALGO") == Some(false)
    }

    /// What is missing of what every guest needs, as far as the kernel says. A module of
    /// `modules` may stand in.
    pub fn missing(&self, modules: Option<&Path>) -> Vec<&'static Need> {
        let module_there =
            |name: &str| modules.is_some_and(|dir| dir.join(name).with_extension("ko").is_file());
        let is_missing = |need: &&Need| {
            need.names.iter().all(|name| self.has(name) == Some(false))
                && !need.module.is_some_and(module_there)
        };
        NEEDS.iter().filter(is_missing).collect()
    }
}

/// A stretch of zeros in a kernel's code, as a copy has that stopped or a disk that lost something.
fn hole(bytes: &[u8]) -> Option<Range<u64>> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    let code = file.section_by_name(".text")?;
    let (start, _) = code.file_range()?;
    let code = code.data().ok()?;
    let zeros = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|&&byte| byte == 0).count();
    // Wherever a sector's length of zeros begins, half of it fills one of these.
    let half = SECTOR / 2;
    let mut holes = code.chunks_exact(half).enumerate().filter_map(|(number, chunk)| {
        let at = number * half;
        if zeros(&mut chunk.iter()) < half {
            return None;
        }
        let before = zeros(&mut code[..at].iter().rev());
        let after = zeros(&mut code[at..].iter());
        (before + after >= SECTOR).then(|| at - before..at + after)
    });
    let hole = holes.next()?;
    Some(start + hole.start as u64..start + hole.end as u64)
}

/// The name of a configuration and its options and devices, from lines `KIND NAME[=VALUE]`.
fn configuration(text: &str) -> (Option<String>, BTreeSet<String>) {
    let mut ident = None;
    let mut parts = BTreeSet::new();
    for line in text.lines() {
        let mut words = line.trim_matches('\0').split_whitespace();
        let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
        match kind {
            "ident" => ident = Some(name.to_owned()),
            "options" | "device" => {
                parts.insert(name.split('=').next().unwrap_or(name).to_owned());
            }
            _ => {}
        }
    }
    (ident, parts)
}

/// Whether the ELF file has an entry for a direct start (PVH).
pub(crate) fn has_direct_start(path: &Path) -> bool {
    let bytes = input::named_bytes(path, MOST_BYTES).unwrap_or_default();
    let file = ElfFile64::<Endianness>::parse(bytes.as_slice());
    file.is_ok_and(|file| starts_directly(&file, &bytes))
}

fn starts_directly(file: &ElfFile64<'_, Endianness>, bytes: &[u8]) -> bool {
    let endian = file.endian();
    // Linkers leave these notes out of the program headers.
    let Ok(sections) = file.elf_header().sections(endian, bytes) else { return false };
    sections.iter().filter_map(|section| section.notes(endian, bytes).ok().flatten()).any(
        |mut notes| {
            std::iter::from_fn(|| notes.next().ok().flatten())
                .any(|note| note.name() == START_OWNER && note.n_type(endian) == START_ENTRY)
        },
    )
}

/// The functions of a kernel by their first address.
///
/// # Errors
/// It cannot be read, or is none.
pub fn functions(path: &Path) -> Result<BTreeMap<u64, String>, KernelError> {
    let bytes = input::named_bytes(path, MOST_BYTES).map_err(KernelError::file("read", path))?;
    functions_of(&bytes, path)
}

pub(super) fn functions_of(
    bytes: &[u8],
    path: &Path,
) -> Result<BTreeMap<u64, String>, KernelError> {
    let file = ElfFile64::<Endianness>::parse(bytes)
        .map_err(|e| KernelError::NotAKernel { path: path.to_owned(), why: e.to_string() })?;
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let named = functions.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?)));
    Ok(named.map(|(address, name)| (address, name.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_configuration_names_its_parts() {
        let text = "options\tCONFIG_AUTOGENERATED\nident\tMINE\nmachine\tamd64\n\
                    options\tVIMAGE\noptions\tSCSI_DELAY=5000\ndevice\tepair\n\0";
        let (ident, parts) = configuration(text);
        assert_eq!(ident.as_deref(), Some("MINE"));
        let kernel = KernelFile { parts: Some(parts), ..KernelFile::default() };
        assert_eq!(kernel.has("SCSI_DELAY"), Some(true));
        assert_eq!(kernel.has("amd64"), Some(false));
        let missing: Vec<_> = kernel.missing(None).iter().map(|need| need.names[0]).collect();
        assert_eq!(missing, ["netmap", "bpf", "virtio_blk", "CD9660", "TMPFS", "uart"]);
        assert!(KernelFile::default().missing(None).is_empty(), "who says nothing lacks nothing");
    }

    #[test]
    fn a_module_stands_in_for_a_device() {
        let dir = tempfile::tempdir().expect("a directory");
        let kernel = KernelFile { parts: Some(BTreeSet::new()), ..KernelFile::default() };
        assert!(kernel.missing(Some(dir.path())).iter().any(|need| need.names == ["epair"]));
        fs::write(dir.path().join("if_epair.ko"), "").expect("a file");
        assert!(!kernel.missing(Some(dir.path())).iter().any(|need| need.names == ["epair"]));
    }

    #[test]
    fn only_elf_files_of_freebsd_are_its_kernels() {
        assert!(is_freebsd(b"\x7fELF\x02\x01\x01\x09"));
        assert!(!is_freebsd(b"\x7fELF\x02\x01\x01\x00"));
        assert!(!is_freebsd(b"MZ") && !is_freebsd(b""));
        assert!(KernelFile::of(b"\x7fELF\x02\x01\x01\x09").is_err());
    }
}
