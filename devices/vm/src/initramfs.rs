//! The guest's first and only file system, made in memory: fwdlab as its init, modules, the task,
//! and nft(8) with its libraries when there are rules to load.

use std::path::{Path, PathBuf};

use super::VmError;
use super::cpio::Archive;
use super::program::{self, Files};
use fwdlab_agent::task::{CAPTURE_FILE, MODULE_DIRECTORY, TASK_FILE};
use fwdlab_kernel::{KernelModule, KernelModules};

/// Modules that every guest needs: network interfaces in pairs.
pub(super) const NEEDED: [&str; 1] = ["veth"];

/// Modules that rules of nftables may use; the kernel cannot ask for them in a guest without
/// modprobe(8).
const RULE_MODULES: [&str; 19] = [
    "nf_tables",
    "nft_ct",
    "nft_counter",
    "nft_limit",
    "nft_log",
    "nft_hash",
    "nft_numgen",
    "nft_chain_nat",
    "nft_nat",
    "nft_masq",
    "nft_redir",
    "nft_reject",
    "nft_reject_inet",
    "nft_fib",
    "nft_fib_inet",
    "nft_quota",
    "nft_connlimit",
    "nft_flow_offload",
    "nf_flow_table_inet",
];

/// Where nft(8) is on the host.
const NFT: [&str; 3] = ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft"];

/// Where it is in the guest: an init process has no PATH, and without one, programs are looked for
/// in `/bin` and `/usr/bin`.
const GUEST_NFT: &str = "/usr/bin/nft";

/// The part that is the same for all trials with one kernel.
#[derive(Debug)]
pub(super) struct Base {
    files: Files,
    modules: Vec<KernelModule>,
}

impl Base {
    /// Collects the files for a kernel with these modules; one of which none are known may have built in what
    /// is needed, and says so itself when it has not. `has_rules` brings what nftables needs.
    pub(super) fn new(
        program: &Path,
        modules: Option<&KernelModules>,
        extra: &[String],
        has_rules: bool,
    ) -> Result<Self, VmError> {
        let mut files = Files::new();
        program::add(&mut files, program, Path::new("/init"))?;
        if has_rules {
            let nft = NFT.iter().map(Path::new).find(|path| path.is_file());
            let nft = nft.ok_or(VmError::NoNft)?;
            program::add(&mut files, nft, Path::new(GUEST_NFT))?;
        }
        let mut names: Vec<&str> = NEEDED.to_vec();
        names.extend(extra.iter().map(String::as_str));
        if has_rules {
            names.extend(RULE_MODULES);
        }
        let Some(known) = modules else { return Ok(Self { files, modules: Vec::new() }) };
        let wanted = NEEDED.iter().copied().chain(extra.iter().map(String::as_str));
        let absent: Vec<&str> = wanted.filter(|name| !known.has(name)).collect();
        if !absent.is_empty() {
            let (names, dir) = (absent.join(", "), known.dir().to_owned());
            return Err(VmError::NoModule { names, dir });
        }
        Ok(Self { files, modules: known.with_dependencies(&names)? })
    }

    /// Names of the modules, in the order in which they are to be loaded.
    pub(super) fn module_names(&self) -> Vec<String> {
        self.modules.iter().map(|module| module.name.clone()).collect()
    }

    /// The archive with a task, as JSON, and perhaps a capture.
    pub(super) fn archive(&self, task: &[u8], capture: Option<&[u8]>) -> Vec<u8> {
        let mut archive = Archive::new();
        for dir in ["dev", "proc", "sys", "run", "tmp", "etc"] {
            archive.directory(dir);
        }
        for (path, bytes) in &self.files {
            archive.file(&inside(path), bytes);
        }
        for module in &self.modules {
            let path = format!("{MODULE_DIRECTORY}/{}.ko", module.name);
            archive.file(&path, &module.bytes);
        }
        archive.file(TASK_FILE, task);
        if let Some(capture) = capture {
            archive.file(CAPTURE_FILE, capture);
        }
        archive.finish()
    }
}

/// A path without the slash in front.
fn inside(path: &Path) -> String {
    let relative: PathBuf = path.components().skip(1).collect();
    relative.display().to_string()
}
