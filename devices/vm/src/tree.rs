//! A kernel where it was built: the tree after `make bzImage modules`.

use std::path::{Path, PathBuf};

/// Where the image is in a tree of x86-64.
const IMAGE: &str = "arch/x86/boot/bzImage";

/// The configuration of a tree.
pub(super) const CONFIG: &str = ".config";

/// Whether a directory is a tree of kernel sources, or what was built of one with `O=DIR`.
fn is_tree(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).exists();
    has(IMAGE) || (has("Kbuild") && has("Makefile") && has("arch")) || has("source/Kbuild")
}

/// The tree that a path means: itself, or the one whose image it is.
pub(super) fn of(path: &Path) -> Option<&Path> {
    let root = if path.ends_with(IMAGE) { path.ancestors().nth(4)? } else { path };
    is_tree(root).then_some(root)
}

/// The image that was built there, if one was.
pub(super) fn image(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(IMAGE)).filter(|image| image.is_file())
}

/// The modules that were built there: the tree itself, in which they are found by their names.
pub(super) fn modules(dir: &Path) -> Option<PathBuf> {
    dir.join("modules.order").is_file().then(|| dir.to_owned())
}
