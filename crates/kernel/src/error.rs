//! Why the files of a kernel cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a kernel's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
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
    /// There is no such kernel.
    #[error(
        "there is no kernel {kernel}, and none of that release is installed; name an image, the \
         directory of an unpacked package, or a .deb file (`fwdlab doctor` says how to get one)"
    )]
    NoKernel {
        /// Where it was looked for.
        kernel: PathBuf,
    },
    /// A file that is no kernel.
    #[error(
        "{path} is no kernel: {why}; name a bzImage or vmlinuz file of Linux, or FreeBSD's kernel"
    )]
    NoKernelFile {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// A file whose end is missing.
    #[error(
        "{path} is cut short: it has {is} bytes of {wanted}; copy it again, and compare both with sha256sum"
    )]
    CutShort {
        /// The file.
        path: PathBuf,
        /// Its length.
        is: u64,
        /// What its headers say.
        wanted: u64,
    },
    /// A kernel with a hole in its code.
    #[error(
        "{path} is damaged: {length} bytes of its code, from {at} on, are zero; copy it again, and \
         compare both with sha256sum"
    )]
    Hole {
        /// The file.
        path: PathBuf,
        /// Where, in bytes from the file's beginning.
        at: u64,
        /// How many.
        length: u64,
    },
    /// A root image that no guest can mount.
    #[error(
        "the root image {path} {why}; copy it again (sha256sum tells), or make it anew with \
         examples/freebsd.sh"
    )]
    BadRoot {
        /// The image.
        path: PathBuf,
        /// What is wrong, as the words after its name.
        why: String,
    },
    /// A directory without a kernel.
    #[error(
        "{dir} holds no kernel image: wanted boot/vmlinuz-RELEASE; unpack a package into it with \
         dpkg-deb -x, or name the image itself, as {dir}/bzImage"
    )]
    NoImage {
        /// The directory.
        dir: PathBuf,
    },
    /// A package without a kernel.
    #[error(
        "{package} holds no kernel image: name the linux-image package, not that of headers, of debug \
         symbols or of libc"
    )]
    NotOfAKernel {
        /// The package.
        package: PathBuf,
    },
    /// A package that cannot be unpacked where it lies.
    #[error("cannot unpack {package} beside itself: {why}; {remedy}")]
    Packed {
        /// The package.
        package: PathBuf,
        /// What the system or dpkg-deb said.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A tree of sources in which nothing was built.
    #[error("{dir} holds kernel sources and no kernel: run `make bzImage modules` in it")]
    NotBuilt {
        /// The directory.
        dir: PathBuf,
    },
    /// A directory with more than one kernel.
    #[error("{a} and {b} are both kernels; name one of them")]
    ManyImages {
        /// One image.
        a: PathBuf,
        /// Another one.
        b: PathBuf,
    },
    /// The directory of modules is not there.
    #[error("there is no directory of modules {dir}; wanted .../lib/modules/RELEASE")]
    NoModules {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// A module that cannot be used.
    #[error("module {path} cannot be used: {why}")]
    Module {
        /// The module's file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file that looks like a FreeBSD kernel and cannot be read as one.
    #[error("{path} is no FreeBSD kernel: {why}")]
    NotAKernel {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl KernelError {
    /// Turns the system's error on `path` into one that names it, for `map_err`.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { doing, path: path.to_owned(), source }
    }

    /// Whether the system refused a file, so that nothing is known of what is in it.
    pub fn is_of_files(&self) -> bool {
        matches!(self, Self::File { .. })
    }
}
