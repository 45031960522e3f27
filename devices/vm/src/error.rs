//! Why a kernel could not be booted or a guest did not finish.

use std::io;
use std::path::{Path, PathBuf};

use fwdlab_kernel::KernelError;

/// An error of the `vm` device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VmError {
    /// The operating system refused a file operation.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// The operation, as the words after "cannot".
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel, its modules or its root.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The kernel was configured without something that is needed.
    #[error(
        "the kernel configured by {config} cannot be measured: {lacks}; `{enable}` in its tree sets them, then build it again"
    )]
    Config {
        /// The configuration.
        config: PathBuf,
        /// Each option, with what needs it.
        lacks: String,
        /// The command that sets them.
        enable: String,
    },
    /// Modules that the kernel was configured with, and that are not among its files.
    #[error(
        "the kernel configured by {config} cannot be measured: {lacks}; `make modules` in its tree builds them \
         (`make modules_install INSTALL_MOD_PATH=DIR` for an image elsewhere), and a package is to be whole"
    )]
    ModuleFiles {
        /// The configuration.
        config: PathBuf,
        /// Each option whose module is missing, with what needs it.
        lacks: String,
    },
    /// Modules that are needed, and that the kernel has neither as files nor built in.
    #[error(
        "the kernel has no module {names}: {dir} holds none of that name; take a kernel that has it, or name \
         its directory of modules: modules = \"DIR\""
    )]
    NoModule {
        /// Their names.
        names: String,
        /// Where they were looked for.
        dir: PathBuf,
    },
    /// A file that was to run in the guest and cannot.
    #[error("{path} cannot run in the guest: {why}")]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A shared library that is not where libraries are.
    #[error("{user} needs the library {library}, which is not in the usual directories")]
    Library {
        /// Its name.
        library: String,
        /// Who needs it.
        user: PathBuf,
    },
    /// A variant has nftables rules, and nft(8) is not on this machine.
    #[error("nftables rules need nft in the guest, and it is not here; apt-get install nftables")]
    NoNft,
    /// A capture that would fill the guest's memory.
    #[error(
        "{path} has {mib} MiB, and a guest of {memory_mb} MiB takes captures below {most}; take its \
         beginning with tcpdump -r IN -w OUT -c 100000, or raise memory_mb in [vm]"
    )]
    LargeCapture {
        /// The capture.
        path: PathBuf,
        /// Its size.
        mib: u64,
        /// What the guest takes.
        most: u64,
        /// The guest's memory.
        memory_mb: u32,
    },
    /// A capture that is not the one that the experiment was read with.
    #[error("{path} has changed since the run began; put the file back, or begin anew")]
    ChangedCapture {
        /// The capture.
        path: PathBuf,
    },
    /// The traffic cannot be sent in this guest.
    #[error("the traffic cannot be sent in this guest: {why}")]
    Traffic {
        /// What is wrong.
        why: String,
    },
    /// The state of a guest that is to be kept, or was.
    #[error(
        "the guest's state cannot be kept, or gone on from: {why}; write boots = \"trial\" in [vm]"
    )]
    State {
        /// What went wrong.
        why: String,
    },
    /// The kernel is to be started at an entry that it does not have.
    #[error(
        "{path} has no entry for a direct start (PVH); leave start out or write start = \"loader\", or build \
         it with options XENHVM, as GENERIC has"
    )]
    NotStartable {
        /// The kernel.
        path: PathBuf,
    },
    /// A word of the kernel's command line.
    #[error("the word {why}")]
    CommandLine {
        /// Which, what is wrong with it and what to write instead.
        why: String,
    },
    /// A lookup algorithm beside a kernel that has no framework for them.
    #[error(
        "the FreeBSD kernel {path} has no options FIB_ALGO, which the module {module} needs; write load = [] \
         for this variant, or build the kernel with it"
    )]
    WithoutAlgorithms {
        /// The kernel.
        path: PathBuf,
        /// The module.
        module: String,
    },
    /// The kernel lacks what every guest needs.
    #[error(
        "the FreeBSD kernel {path} has no {part}, which {why} need; add it to the configuration and \
         build again, or put its module beside the kernel"
    )]
    MissingPart {
        /// The kernel.
        path: PathBuf,
        /// The option or device.
        part: &'static str,
        /// What it is for.
        why: &'static str,
    },
    /// There is no root file system.
    #[error(
        "there is no root image {path}; wanted a disk image (raw or qcow2) with FreeBSD's base"
    )]
    NoRoot {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The kernel needs a root file system and none is named.
    #[error(
        "the FreeBSD kernel {path} holds no root file system; add root = \"root.qcow2\", a disk image \
         with FreeBSD's base (examples/freebsd.sh makes one)"
    )]
    RootWanted {
        /// The kernel.
        path: PathBuf,
    },
    /// A variant has rules of two filters.
    #[error("variant {variant:?} has rules for pf and for ipfw; keep one of them")]
    ManyFilters {
        /// The variant.
        variant: String,
    },
    /// A word or setting of the other system.
    #[error("{what} of variant {variant:?} is not for its kernel {kernel}: {remedy}")]
    OtherSystem {
        /// What was asked for.
        what: String,
        /// The variant.
        variant: String,
        /// Its kernel.
        kernel: PathBuf,
        /// What to write instead.
        remedy: &'static str,
    },
    /// Rules of a FreeBSD guest that translate addresses, beside sessions.
    #[error(
        "{filter} translates addresses ({word}), and traffic {traffic:?} has sessions, which the tester in FreeBSD \
         guests knows by their addresses; remove the translation, or compare Linux guests, whose sessions bear marks"
    )]
    Translates {
        /// The filter, which is its control word.
        filter: &'static str,
        /// The word in its rules.
        word: &'static str,
        /// The traffic.
        traffic: String,
    },
    /// The kernel is of another system than the experiment says.
    #[error(
        "guest = \"{wanted}\", and the kernel {kernel} is of the other system; name another kernel, or leave guest \
         out: the system is found from the kernel"
    )]
    OtherGuest {
        /// What was asked for.
        wanted: &'static str,
        /// The kernel.
        kernel: PathBuf,
    },
    /// This build has no program for FreeBSD guests.
    #[error(
        "this build of fwdlab has no program for FreeBSD guests: it is made on x86-64 Linux, with cc"
    )]
    NoGuestProgram,
    /// A rule set could not be read.
    #[error(transparent)]
    Rules(#[from] fwdlab_topology::TopologyError),
    /// QEMU could not be started.
    #[error("cannot start {program}: {source}; install it with apt-get install qemu-system-x86")]
    Qemu {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The guest said why it cannot go on.
    #[error("the guest gave up: {why}; its console is in {console}")]
    Guest {
        /// The guest's words.
        why: String,
        /// The log that was kept.
        console: PathBuf,
    },
    /// The guest could not use its root.
    #[error(
        "{why}; its root is {root}, which is damaged or no base system: copy it again (sha256sum tells), or \
         make it anew with examples/freebsd.sh ({last}); its console is in {console}"
    )]
    Root {
        /// The guest's words.
        why: String,
        /// The image.
        root: PathBuf,
        /// The last lines of its console.
        last: String,
        /// The log that was kept.
        console: PathBuf,
    },
    /// The guest ended without a result.
    #[error("the guest ended while it {stage}: {last}; its console is in {console}")]
    Ended {
        /// What it was doing.
        stage: String,
        /// The line of its console that says most.
        last: String,
        /// The log that was kept.
        console: PathBuf,
    },
    /// The guest made no progress.
    #[error(
        "the guest made no progress for {limit} while it {stage}, and was ended: {last}; try the \
         kernel without what the variant sets, or raise patience in [vm] if it is only slow; its \
         console is in {console}"
    )]
    Stuck {
        /// What it was doing.
        stage: String,
        /// Which limit it passed.
        limit: String,
        /// The line of its console that says most.
        last: String,
        /// The log that was kept.
        console: PathBuf,
    },
    /// A message of the guest was damaged.
    #[error("{what}; its console is in {console}")]
    Damaged {
        /// What arrived.
        what: String,
        /// The log that was kept.
        console: PathBuf,
    },
}

impl VmError {
    /// The key of the experiment that is to blame for what a variant cannot be set up with.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::NoRoot { .. } | Self::Kernel(KernelError::BadRoot { .. }) => "root",
            Self::NotStartable { .. } => "start",
            Self::Kernel(KernelError::NoModules { .. }) => "modules",
            Self::Kernel(KernelError::Module { .. }) | Self::WithoutAlgorithms { .. } => "load",
            Self::CommandLine { .. } => "cmdline",
            Self::OtherGuest { .. } => "guest",
            Self::Translates { filter, .. } => filter,
            _ => "kernel",
        }
    }

    /// Turns the system's error on `path` into one that names it, for `map_err`.
    pub(super) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }
}

impl From<VmError> for fwdlab_device::DeviceError {
    fn from(error: VmError) -> Self {
        match error {
            VmError::Guest { .. }
            | VmError::Root { .. }
            | VmError::Ended { .. }
            | VmError::Stuck { .. }
            | VmError::Damaged { .. } => Self::trial(error),
            _ => Self::setup(error),
        }
    }
}
