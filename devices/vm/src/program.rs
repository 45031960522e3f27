//! Programs for the guest: a binary of the host with everything that it needs to run, found by
//! reading ELF headers (System V ABI, chapters 4 and 5), and stripped of what is not loaded.
//!
//! A statically linked binary is itself only. A dynamic one brings its interpreter (`PT_INTERP`)
//! and, transitively, its shared libraries (`DT_NEEDED`), searched where the dynamic loader of
//! the host would look first: beside `DT_RUNPATH`, then the standard directories.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{LittleEndian, StringTable};

use super::VmError;

/// Where Debian, Fedora, Arch and Alpine keep libraries of x86-64.
const LIBRARY_DIRECTORIES: [&str; 7] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
];

/// Files by their absolute path in the guest.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Adds `program` of the host as `name` of the guest, with interpreter and libraries.
pub(super) fn add(files: &mut Files, program: &Path, name: &Path) -> Result<(), VmError> {
    let bytes = fs::read(program).map_err(VmError::file("read", program))?;
    let needs = Needs::of(&bytes, program)?;
    files.insert(name.to_owned(), loaded_part(bytes, program)?);
    if let Some(interpreter) = &needs.interpreter {
        add_file(files, interpreter)?;
    }
    let mut waiting = vec![(program.to_owned(), needs)];
    while let Some((user, needs)) = waiting.pop() {
        for library in &needs.libraries {
            let path = find(library, &needs.search)
                .ok_or_else(|| VmError::Library { library: library.clone(), user: user.clone() })?;
            if !files.contains_key(&path) {
                let bytes = fs::read(&path).map_err(VmError::file("read", &path))?;
                waiting.push((path.clone(), Needs::of(&bytes, &path)?));
                add_file(files, &path)?;
            }
        }
    }
    Ok(())
}

/// Reads all of a program that is ever read.
pub(super) fn read(bytes: &[u8], path: &Path) -> Result<usize, VmError> {
    let needs = Needs::of(bytes, path)?;
    Ok(needs.libraries.len() + loaded_part(bytes.to_vec(), path)?.len())
}

/// What a program needs to be loaded.
struct Needs {
    interpreter: Option<PathBuf>,
    libraries: Vec<String>,
    search: Vec<PathBuf>,
}

impl Needs {
    fn of(bytes: &[u8], path: &Path) -> Result<Self, VmError> {
        let broken = |error: object::Error| not_a_program(path, &error);
        let header = parse(bytes, path)?;
        let origin = path.parent().unwrap_or(Path::new("/")).display().to_string();
        let mut needs = Self { interpreter: None, libraries: Vec::new(), search: Vec::new() };
        let mut own = Vec::new();
        for segment in header.program_headers(LE, bytes).map_err(broken)? {
            if let Some(name) = segment.interpreter(LE, bytes).map_err(broken)? {
                needs.interpreter = Some(PathBuf::from(text(name)));
            }
            let entries = segment.dynamic(LE, bytes).map_err(broken)?.unwrap_or_default();
            let names = dynamic_names(header, entries, bytes).map_err(broken)?;
            for entry in entries {
                let named =
                    |value: u64| u32::try_from(value).ok().and_then(|at| names.get(at).ok());
                let name = named(entry.val(LE)).map(text);
                match entry.tag(LE) {
                    elf::DT_NEEDED => needs.libraries.extend(name),
                    elf::DT_RUNPATH | elf::DT_RPATH => own.extend(name),
                    _ => {}
                }
            }
        }
        let own = own.iter().flat_map(|list| list.split(':'));
        let own = own.map(|dir| PathBuf::from(dir.replace("$ORIGIN", &origin)));
        needs.search = own.chain(LIBRARY_DIRECTORIES.map(PathBuf::from)).collect();
        Ok(needs)
    }
}

/// The byte order of x86-64.
const LE: LittleEndian = LittleEndian;

type Header = FileHeader64<LittleEndian>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The texts that dynamic entries refer to: `DT_STRTAB` is an address in memory, of which the
/// segments say where it lies in the file.
fn dynamic_names<'b>(
    header: &Header,
    entries: &[elf::Dyn64<LittleEndian>],
    bytes: &'b [u8],
) -> object::Result<StringTable<'b>> {
    let value = |tag: elf::DynamicTag| entries.iter().find(|e| e.tag(LE) == tag).map(|e| e.val(LE));
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return Ok(StringTable::default());
    };
    for segment in header.program_headers(LE, bytes)? {
        if let Ok(Some(data)) = segment.data_range(LE, bytes, address, size) {
            return Ok(StringTable::new(data, 0, data.len() as u64));
        }
    }
    Ok(StringTable::default())
}

fn not_a_program(path: &Path, why: &dyn std::fmt::Display) -> VmError {
    VmError::NotAProgram { path: path.to_owned(), why: why.to_string() }
}

fn parse<'b>(bytes: &'b [u8], path: &Path) -> Result<&'b Header, VmError> {
    let header = Header::parse(bytes).map_err(|error| not_a_program(path, &error))?;
    let is_little = header.is_little_endian();
    if !is_little || header.e_machine.get(LE) != elf::EM_X86_64 {
        return Err(not_a_program(path, &"it is not for x86-64"));
    }
    Ok(header)
}

fn find(library: &str, search: &[PathBuf]) -> Option<PathBuf> {
    search.iter().map(|dir| dir.join(library)).find(|path| path.is_file())
}

fn add_file(files: &mut Files, path: &Path) -> Result<(), VmError> {
    let bytes = fs::read(path).map_err(VmError::file("read", path))?;
    files.insert(path.to_owned(), loaded_part(bytes, path)?);
    Ok(())
}

/// The file up to its last loaded byte: symbols and debugging information, which are most of a
/// development build, are never loaded, and each byte costs the guest instructions to unpack.
fn loaded_part(mut bytes: Vec<u8>, path: &Path) -> Result<Vec<u8>, VmError> {
    let header = parse(&bytes, path)?;
    let segments = header.program_headers(LE, &*bytes);
    let segments = segments.map_err(|error| not_a_program(path, &error))?;
    let loaded = segments.iter().filter(|segment| segment.p_type(LE) == elf::PT_LOAD);
    let end = loaded.map(|segment| segment.file_range(LE));
    let end = end.filter_map(|(at, length)| at.checked_add(length)).max().unwrap_or(0);
    let headers = u64::from(header.e_phnum.get(LE)) * u64::from(header.e_phentsize.get(LE));
    let headers_end = header.e_phoff.get(LE).saturating_add(headers);
    let end = usize::try_from(end.max(headers_end)).unwrap_or(usize::MAX);
    if end < bytes.len() {
        bytes.truncate(end.max(size_of::<Header>()));
        // The headers of sections stood behind.
        if let Ok((header, _)) = object::pod::from_bytes_mut::<Header>(&mut bytes) {
            header.e_shoff.set(LE, 0);
            header.e_shnum.set(LE, 0);
            header.e_shstrndx.set(LE, elf::SHN_UNDEF);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_interpreter_and_libraries() {
        let program = std::env::current_exe().expect("this test");
        let mut files = Files::new();
        add(&mut files, &program, Path::new("/init")).expect("a program of this machine");
        let full = fs::metadata(&program).expect("this test").len() as usize;
        let init = &files[Path::new("/init")];
        assert!(init.len() < full, "symbols are left out: {} of {full} bytes", init.len());
        let needs = Needs::of(init, &program).expect("still a program");
        if let Some(interpreter) = needs.interpreter {
            assert!(files.contains_key(&interpreter), "{}", interpreter.display());
        }
        assert!(!needs.libraries.is_empty(), "this test is linked to the C library");
        for library in needs.libraries {
            assert!(files.keys().any(|path| path.ends_with(&library)), "{library}");
        }
    }

    #[test]
    fn a_script_is_no_program_for_the_guest() {
        let dir = tempfile::tempdir().expect("a directory");
        let script = dir.path().join("script");
        fs::write(&script, "#!/bin/sh\n").expect("a file");
        let error = add(&mut Files::new(), &script, Path::new("/x")).expect_err("no ELF file");
        assert!(error.to_string().contains("script"), "{error}");
    }
}
