//! Kernel modules for the guest: which ones, in which order, unpacked.
//!
//! A Debian kernel package holds no `modules.dep` (depmod makes it at installation), so that
//! dependencies are read from the modules themselves: `depends=a,b` in their section `.modinfo`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_guard::input;
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader};

use crate::packed::Packing;
use crate::{KernelError, tree};

/// Most bytes of a module: a few kilobytes may unpack to many gigabytes.
const MOST_BYTES: u64 = 64 << 20;

/// The modules of one kernel.
#[derive(Debug, Default)]
pub struct KernelModules {
    /// Where they were looked for.
    dir: PathBuf,
    /// Files by module name, in which `-` is `_`.
    files: BTreeMap<String, PathBuf>,
    /// Modules that are part of the kernel itself, where the kernel's directory says so.
    compiled_in: Vec<String>,
}

/// A module that was found, ready to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelModule {
    /// Its name.
    pub name: String,
    /// The unpacked ELF file.
    pub bytes: Vec<u8>,
}

impl KernelModules {
    /// Lists the modules in `dir` (`.../lib/modules/RELEASE`, or the tree in which they were built).
    ///
    /// # Errors
    /// A directory cannot be read.
    pub fn read(dir: &Path) -> Result<Self, KernelError> {
        let mut modules = Self { dir: dir.to_owned(), ..Self::default() };
        match tree::of(dir) {
            Some(tree) => modules.files.extend(built(tree)?),
            None => modules.walk(dir)?,
        }
        if let Ok(text) = input::text(&dir.join("modules.builtin"), MOST_BYTES) {
            modules.compiled_in =
                text.lines().filter_map(|line| name_of(Path::new(line))).collect();
        }
        Ok(modules)
    }

    fn walk(&mut self, dir: &Path) -> Result<(), KernelError> {
        for entry in fs::read_dir(dir).map_err(KernelError::file("read", dir))? {
            let entry = entry.map_err(KernelError::file("read", dir))?;
            let kind = entry.file_type().map_err(KernelError::file("read", dir))?;
            let path = entry.path();
            // Links (build, source) lead out of the kernel's own files.
            if kind.is_dir() {
                self.walk(&path)?;
            } else if let Some(name) = name_of(&path).filter(|_| kind.is_file()) {
                self.files.insert(name, path);
            }
        }
        Ok(())
    }

    /// The directory in which they were looked for.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether there is a module of this name, loadable or built in.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.compiled_in.iter().any(|known| known == name)
    }

    /// The modules of these names and all that they depend on, each after what it depends on.
    /// A name for which there is no file is left out: the kernel may have it built in, and says
    /// so itself when it has not.
    ///
    /// # Errors
    /// A module cannot be read, or depends on itself or on one that is not there.
    pub fn with_dependencies(&self, names: &[&str]) -> Result<Vec<KernelModule>, KernelError> {
        let mut found = Vec::new();
        for name in names {
            self.visit(name, &mut Vec::new(), &mut found)?;
        }
        Ok(found)
    }

    fn visit(
        &self,
        name: &str,
        above: &mut Vec<String>,
        found: &mut Vec<KernelModule>,
    ) -> Result<(), KernelError> {
        let is_known = found.iter().any(|module| module.name == name);
        let Some(path) = self.files.get(name).filter(|_| !is_known) else { return Ok(()) };
        if above.iter().any(|user| user == name) {
            let why = format!("it depends on itself, by way of {}", above.join(", "));
            return Err(KernelError::Module { path: path.clone(), why });
        }
        let bytes = unpacked(path)?;
        above.push(name.to_owned());
        for needed in depends(&bytes, path)? {
            // What is built into a kernel stands in no `depends`.
            if !self.has(&needed) {
                let dir = self.dir.display();
                let why = format!(
                    "it builds on {needed}, and {dir} holds no {needed}.ko; take all modules of the kernel"
                );
                return Err(KernelError::Module { path: path.clone(), why });
            }
            self.visit(&needed, above, found)?;
        }
        above.pop();
        found.push(KernelModule { name: name.to_owned(), bytes });
        Ok(())
    }
}

/// The modules that a tree's last `make modules` made. What else lies in it is not its kernel's: that of a package
/// which was made there, and of options that are modules no more.
fn built(tree: &Path) -> Result<BTreeMap<String, PathBuf>, KernelError> {
    let order = tree.join(tree::ORDER);
    let list = input::text(&order, MOST_BYTES).map_err(KernelError::file("read", &order))?;
    let file = |line: &str| {
        // `kernel/net/x.ko` before 5.3, then `net/x.ko`, since 6.3 `net/x.o`
        let lines = [line, line.strip_prefix("kernel/").unwrap_or(line)];
        let mut files = lines.map(|line| tree.join(line).with_extension("ko")).into_iter();
        files.find(|file| file.is_file())
    };
    let files = list.lines().filter_map(file);
    Ok(files.filter_map(|file| Some((name_of(&file)?, file))).collect())
}

/// The module's name, if the file is one: `nf-tables.ko.xz` is `nf_tables`.
fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let (stem, _) = file.split_once(".ko")?;
    let is_module = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"].iter().any(|end| file.ends_with(end));
    is_module.then(|| stem.replace('-', "_"))
}

fn unpacked(path: &Path) -> Result<Vec<u8>, KernelError> {
    let packed = input::bytes(path, MOST_BYTES).map_err(KernelError::file("read", path))?;
    match Packing::of_name(path) {
        Some(packing) => {
            packing.unpack(&packed, MOST_BYTES).map_err(KernelError::file("unpack", path))
        }
        None => Ok(packed),
    }
}

/// The names after `depends=` in the section `.modinfo`, a list of texts that end with NUL.
pub(crate) fn depends(bytes: &[u8], path: &Path) -> Result<Vec<String>, KernelError> {
    let broken = |why: String| KernelError::Module { path: path.to_owned(), why };
    let failed = |error: object::Error| broken(error.to_string());
    let header = FileHeader64::<LittleEndian>::parse(bytes).map_err(failed)?;
    let sections = header.sections(LittleEndian, bytes).map_err(failed)?;
    let section = sections.section_by_name(LittleEndian, b".modinfo");
    let (_, section) = section.ok_or_else(|| broken("it has no section .modinfo".to_owned()))?;
    let info = section.data(LittleEndian, bytes).map_err(failed)?;
    let texts = info.split(|&byte| byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
    let lists = texts.filter_map(|text| text.strip_prefix("depends="));
    let names = lists.flat_map(|list| list.split(',')).filter(|name| !name.is_empty());
    Ok(names.map(|name| name.replace('-', "_")).collect())
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding;

    use super::*;

    #[test]
    fn the_name_of_a_module_has_no_dash_and_no_ending() {
        assert_eq!(name_of(Path::new("net/nf-tables.ko.xz")).as_deref(), Some("nf_tables"));
        assert_eq!(name_of(Path::new("drivers/net/veth.ko")).as_deref(), Some("veth"));
        assert_eq!(name_of(Path::new("modules.dep")), None);
        assert_eq!(name_of(Path::new("veth.kox")), None);
    }

    #[test]
    fn dependencies_come_first_and_cycles_end() {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, needs) in
            [("top", "middle,low"), ("middle", "low"), ("low", ""), ("a", "b"), ("b", "a")]
        {
            fs::write(dir.path().join(format!("{name}.ko")), module(needs)).expect("a file");
        }
        let modules = KernelModules::read(dir.path()).expect("a directory of modules");
        let found = modules.with_dependencies(&["top", "absent"]).expect("modules");
        let names: Vec<&str> = found.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(names, ["low", "middle", "top"]);
        assert!(modules.has("low") && !modules.has("absent"));
        let error = modules.with_dependencies(&["a"]).expect_err("a cycle");
        assert!(error.to_string().contains("depends on itself"), "{error}");
        // It was loaded without, and the kernel said so after its boot.
        fs::remove_file(dir.path().join("low.ko")).expect("our own file");
        let modules = KernelModules::read(dir.path()).expect("a directory of modules");
        let error = modules.with_dependencies(&["top"]).expect_err("a gap").to_string();
        assert!(error.contains("it builds on low, and ") && error.contains("no low.ko"), "{error}");
    }

    /// `make bindeb-pkg` leaves a copy of each in its tree, `make modules` what is built in by now.
    #[test]
    fn of_a_tree_what_was_built_last_is_taken_and_no_copy_that_lies_in_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        };
        for file in ["Kbuild", "Makefile", "arch/Kconfig"] {
            put(file, "");
        }
        for place in ["debian/linux-image/lib/modules/6.1.1/kernel/", "", "a/", "zz/"] {
            put(&format!("{place}drivers/net/veth.ko"), place);
        }
        put("kernel/trace/x.ko", "");
        put("net/stale.ko", "");
        for (veth, x) in [
            ("drivers/net/veth.ko", "kernel/trace/x.ko"),
            ("drivers/net/veth.o", "kernel/trace/x.o"),
            ("kernel/drivers/net/veth.ko", "kernel/kernel/trace/x.ko"),
        ] {
            put("modules.order", &format!("{veth}\n{x}\ndrivers/net/absent.ko\n"));
            let modules = KernelModules::read(dir.path()).expect("a tree");
            let files: Vec<&PathBuf> = modules.files.values().collect();
            let wanted =
                ["drivers/net/veth.ko", "kernel/trace/x.ko"].map(|own| dir.path().join(own));
            assert_eq!(files, wanted.iter().collect::<Vec<_>>());
        }
    }

    /// Ubuntu's and Arch's are packed so.
    #[test]
    fn a_module_that_is_packed_with_zstd_is_unpacked() {
        let dir = tempfile::tempdir().expect("a directory");
        let packed = encoding::compress_to_vec(&*module(""), encoding::CompressionLevel::Fastest);
        fs::write(dir.path().join("veth.ko.zst"), packed).expect("a file");
        let modules = KernelModules::read(dir.path()).expect("a directory of modules");
        let found = modules.with_dependencies(&["veth"]).expect("modules");
        assert_eq!(found[0].bytes, module(""));
    }

    #[test]
    fn a_module_that_unpacks_to_more_than_memory_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("bomb.ko.gz");
        let file = fs::File::create(&path).expect("a file");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        let mut zeros = std::io::Read::take(std::io::repeat(0), MOST_BYTES + 1);
        std::io::copy(&mut zeros, &mut packed).expect("zeros");
        packed.finish().expect("a file");
        let error = unpacked(&path).expect_err("too large");
        assert!(error.to_string().contains("bomb.ko.gz"), "{error}");
        assert!(fs::metadata(&path).expect("a file").len() < MOST_BYTES / 100);
    }

    #[test]
    fn a_list_of_modules_that_never_ends_is_not_read() {
        let dir = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("modules.builtin"))
            .expect("a link");
        let modules = KernelModules::read(dir.path()).expect("a directory of modules");
        assert!(!modules.has("veth"));
    }

    /// The smallest ELF file with a section `.modinfo`: header, two sections' contents, three
    /// section headers.
    fn module(depends: &str) -> Vec<u8> {
        let info = format!("license=GPL\0depends={depends}\0name=x\0");
        let names = b"\0.modinfo\0.shstrtab\0";
        let (info_at, names_at) = (64, 64 + info.len());
        let headers_at = (names_at + names.len()).next_multiple_of(8);
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&1_u16.to_le_bytes()); // ET_REL
        bytes.extend_from_slice(&62_u16.to_le_bytes()); // EM_X86_64
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        bytes.extend_from_slice(&[0; 16]); // entry, program headers
        bytes.extend_from_slice(&(headers_at as u64).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        for half in [64_u16, 0, 0, 64, 3, 2] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        bytes.extend_from_slice(info.as_bytes());
        bytes.extend_from_slice(names);
        bytes.resize(headers_at, 0);
        let section = |name: u32, kind: u32, at: usize, len: usize| {
            let mut header = Vec::new();
            header.extend_from_slice(&name.to_le_bytes());
            header.extend_from_slice(&kind.to_le_bytes());
            header.extend_from_slice(&[0; 16]); // flags, address
            header.extend_from_slice(&(at as u64).to_le_bytes());
            header.extend_from_slice(&(len as u64).to_le_bytes());
            header.extend_from_slice(&[0; 24]); // link, info, alignment, entry size
            header
        };
        bytes.extend(section(0, 0, 0, 0));
        bytes.extend(section(1, 1, info_at, info.len()));
        bytes.extend(section(10, 3, names_at, names.len()));
        bytes
    }
}
