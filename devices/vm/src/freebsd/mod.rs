//! FreeBSD as a guest.
//!
//! The guest starts from a small file system of ours, made for each trial: our program as the first
//! process, the task as a script, frames and routes. The user's root file system is mounted below
//! it, read-only, for its tools; nothing of its own start-up runs. Whether a kernel is FreeBSD's is
//! found from the kernel itself.

pub(crate) mod entry;
mod frames;
mod iso;
mod machine;
mod profile;
pub(crate) mod rules;
mod script;
mod sessions;
mod tunables;

use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_agent::task::{GuestClock, Task};
use fwdlab_experiment::{Variant, inputs};
use fwdlab_guard::input;
use fwdlab_kernel::freebsd::{self as kernels, KernelFile};
use fwdlab_traffic::Recording;

pub use self::entry::Entry;
pub(super) use self::machine::{Board, arguments};
pub(super) use self::profile::Sampler;
pub(super) use self::rules::{Rules, WORDS};
pub(super) use self::script::{CHOICES, THROUGH_THE_DEVICE};

use self::script::Set;
use self::tunables::Tunables;
use crate::VmError;
use crate::settings::VmVariant;

/// Our program for the guest; empty where it could not be built.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/freebsd-guest"));

/// Memory of a guest, in MiB, if nothing is said: a root in memory and the receiver's buffers take
/// most of it.
pub(super) const DEFAULT_MEMORY_MB: u32 = 1024;

/// A FreeBSD kernel with all that a variant says.
#[derive(Debug)]
pub(super) struct Guest {
    kernel: KernelFile,
    entry: Entry,
    root: Option<PathBuf>,
    /// Modules to load, with their files where those lie beside the kernel.
    modules: Vec<(String, Option<Vec<u8>>)>,
    rules: Option<(Rules, String)>,
    tunables: Tunables,
}

impl Guest {
    /// The filter and the word by which its rules translate addresses, if they do.
    pub(crate) fn translation(&self) -> Option<(&'static str, &'static str)> {
        let (filter, rules) = self.rules.as_ref()?;
        Some((filter.word(), filter.translation(rules)?))
    }

    /// Prepares a FreeBSD guest of a kernel's image, with the directory of its modules, as the variant
    /// wants it. `base` is the experiment file's directory.
    pub(super) fn new(
        (image, modules): (&Path, Option<&Path>),
        vm: &VmVariant,
        variant: &Variant,
        base: &Path,
    ) -> Result<Self, VmError> {
        if PROGRAM.is_empty() {
            return Err(VmError::NoGuestProgram);
        }
        let path = image.to_owned();
        let file = KernelFile::read(&path)?;
        let tunables = Tunables::of(&vm.cmdline).map_err(|why| VmError::CommandLine { why })?;
        let entry = match (vm.start, file.starts_directly) {
            (Some(Entry::Direct), false) => return Err(VmError::NotStartable { path }),
            (Some(entry), _) => entry,
            (None, true) => Entry::Direct,
            (None, false) => Entry::Loader,
        };
        let root = vm.root.as_ref().map(|root| base.join(root));
        let modules = modules.map(Path::to_owned).or_else(|| modules_near(&path));
        if let Some(need) = file.missing(modules.as_deref()).first() {
            return Err(VmError::MissingPart { path, part: need.names[0], why: need.why });
        }
        match &root {
            Some(root) if !root.is_file() => return Err(VmError::NoRoot { path: root.clone() }),
            Some(root) => kernels::check_root(root)?,
            None if !file.holds_root => return Err(VmError::RootWanted { path }),
            _ => {}
        }
        let mut names: Vec<&str> = Vec::new();
        if file.has("epair") != Some(true) {
            names.push("if_epair");
        }
        names.extend(vm.load.iter().map(String::as_str));
        let found = |name: &str| {
            let file = modules.as_ref()?.join(name).with_extension("ko");
            file.is_file().then(|| fs::read(&file).map_err(VmError::file("read", &file)))
        };
        if let Some(name) = vm.load.iter().find(|name| file.lacks_for(name)) {
            return Err(VmError::WithoutAlgorithms { path, module: name.clone() });
        }
        let modules = names.into_iter().map(|name| Ok((name.to_owned(), found(name).transpose()?)));
        let modules = modules.collect::<Result<_, VmError>>()?;
        Ok(Self { kernel: file, entry, root, modules, rules: rules_of(variant, base)?, tunables })
    }

    /// The disk that the guest starts from, with the task and the capture that it replays, if it does.
    pub(super) fn disk(
        &self,
        task: &Task,
        recording: Option<&Recording>,
    ) -> Result<Vec<u8>, VmError> {
        let frames = frames::file(task, recording)?;
        let tried = task.from_state.iter().filter(|_| task.is_rehearsal);
        let tried = tried.map(|own| frames::file(own, None)).collect::<Result<Vec<_>, _>>()?;
        let routes = script::routes(task);
        let names: Vec<String> = self.modules.iter().map(|(name, _)| name.clone()).collect();
        let khz = match task.clock {
            GuestClock::Instructions => "1000000",
            GuestClock::Wall => "$(($(sysctl -n machdep.tsc_freq) / 1000))",
        };
        let rules = self.rules.as_ref();
        let set = Set {
            modules: &names,
            rules: rules.map(|(filter, _)| *filter),
            tunables: &self.tunables,
        };
        let script = script::text(task, &set, khz);
        let mut files: Vec<(String, &[u8])> = vec![
            ("task.sh".to_owned(), script.as_bytes()),
            ("guest".to_owned(), PROGRAM),
            ("frames".to_owned(), &frames),
            ("routes".to_owned(), &routes),
        ];
        files.extend(rules.map(|(_, text)| ("rules".to_owned(), text.as_bytes())));
        let tried = tried.iter().enumerate();
        files.extend(tried.map(|(number, own)| (script::tried_frames(number), &own[..])));
        let with_file = self.modules.iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
        files.extend(with_file.map(|(name, bytes)| (format!("{name}.ko"), &bytes[..])));
        // The small file system knows only short names; the list has the long ones.
        let list: String = files
            .iter()
            .enumerate()
            .map(|(number, (name, _))| format!("/f{number} {name}\n"))
            .collect();
        let mut short: Vec<(String, &[u8])> = files
            .iter()
            .enumerate()
            .map(|(number, (_, bytes))| (format!("f{number}"), *bytes))
            .collect();
        short.push(("files".to_owned(), list.as_bytes()));
        Ok(iso::image(PROGRAM, &short))
    }

    /// The image of the root file system; none if it lies in the kernel.
    pub(super) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// How the kernel is started.
    pub(super) fn entry(&self) -> Entry {
        self.entry
    }

    /// What QEMU starts in place of the kernel's `image`, where a loader's work is done here; `more` are
    /// settings and options of the kernel.
    pub(super) fn loaded(&self, image: &Path, more: &str) -> Result<Option<Vec<u8>>, VmError> {
        match self.entry {
            Entry::Direct => Ok(None),
            Entry::Loader => Ok(Some(kernels::loaded(image, more)?)),
        }
    }

    /// The machine that the kernel has drivers for.
    pub(super) fn board(&self) -> Board {
        match self.kernel.has("virtio_mmio") {
            Some(true) => Board::Micro,
            _ => Board::Q35,
        }
    }
}

/// The kernel's directory, or the directory `modules` in it, if modules lie there.
fn modules_near(kernel: &Path) -> Option<PathBuf> {
    let dir = kernel.parent()?;
    let has_modules = |dir: &PathBuf| {
        let mut entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.any(|entry| entry.path().extension().is_some_and(|end| end == "ko"))
    };
    [dir.to_owned(), dir.join("modules")].into_iter().find(has_modules)
}

/// The rules of a variant, which has those of one filter at most.
fn rules_of(variant: &Variant, base: &Path) -> Result<Option<(Rules, String)>, VmError> {
    let mut found = variant.set.iter().filter_map(|(word, value)| Some((Rules::of(word)?, value)));
    let (Some((filter, value)), second) = (found.next(), found.next()) else { return Ok(None) };
    if second.is_some() {
        return Err(VmError::ManyFilters { variant: variant.name.clone() });
    }
    let Some(named) = file_of(value) else {
        return Ok(Some((filter, format!("{}\n", value.trim()))));
    };
    let path = inputs::place_in(base, &named);
    let text = input::text(&path, MOST_RULES);
    Ok(Some((filter, text.map_err(VmError::file("read the rule set", &path))?)))
}

/// The file that rules name: rules are words, the name of a file is one.
pub(super) fn file_of(value: &str) -> Option<PathBuf> {
    let value = value.trim();
    let is_name = !value.is_empty() && !value.contains(char::is_whitespace);
    is_name.then(|| PathBuf::from(value))
}

/// Longest file of rules.
const MOST_RULES: u64 = 16 * fwdlab_guard::MIB;

#[cfg(test)]
mod tests;
