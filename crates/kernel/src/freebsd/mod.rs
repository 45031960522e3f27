//! Kernels of FreeBSD, and the disks that they take as root.

mod image;
mod loader;
mod root;

use std::path::Path;

pub use self::image::{KernelFile, NEEDS, Need, functions};
pub use self::loader::{FLAGS, loaded};
pub use self::root::{QCOW2, check as check_root};

pub(crate) use self::image::has_direct_start;
pub(crate) use self::loader::read_kernel;

/// Whether the file is a FreeBSD kernel.
pub fn is_kernel(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 8];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && image::is_freebsd(&start)
}
