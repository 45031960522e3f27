//! Where the workspace is, and its cargo.

use std::path::PathBuf;
use std::process::Command;

/// The workspace's root, whatever directory the task was started in.
pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, PathBuf::from)
}

/// `cargo`, as the cargo that runs this task names itself, in the workspace's root.
pub(super) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}
