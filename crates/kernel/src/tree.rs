//! A kernel where it was built: the tree after `make bzImage modules`.

use std::path::{Path, PathBuf};

use fwdlab_guard::{MIB, input};

/// Where the image is in a tree of x86-64.
const IMAGE: &str = "arch/x86/boot/bzImage";

/// The link to it that the build makes.
const LINK: &str = "arch/x86_64/boot/bzImage";

/// What the last build of modules made, file by file.
pub(crate) const ORDER: &str = "modules.order";

/// The configuration of a tree.
pub(crate) const CONFIG: &str = ".config";

/// Whether a directory is a tree of kernel sources, or what was built of one with `O=DIR`.
fn is_tree(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).exists();
    has(IMAGE) || (has("Kbuild") && has("Makefile") && has("arch")) || has("source/Kbuild")
}

/// The tree that a path means: itself, or the one whose image it is.
pub(crate) fn of(path: &Path) -> Option<&Path> {
    let is_image = path.ends_with(IMAGE) || path.ends_with(LINK);
    let root = if is_image { path.ancestors().nth(4)? } else { path };
    is_tree(root).then_some(root)
}

/// The image that was built there, if one was.
pub(crate) fn image(dir: &Path) -> Option<PathBuf> {
    Some(dir.join(IMAGE)).filter(|image| image.is_file())
}

/// The modules that were built there: the tree itself, in which they are found by their names.
pub(crate) fn modules(dir: &Path) -> Option<PathBuf> {
    dir.join(ORDER).is_file().then(|| dir.to_owned())
}

/// The commit that a tree stands at, by git's files: git itself would run what a tree's configuration
/// names. Whether something was changed and not committed they do not say. For a directory made with
/// `O=DIR` it is that of its sources.
pub(crate) fn commit(dir: &Path) -> Option<String> {
    let own = git_dir(dir).or_else(|| git_dir(&dir.join("source").canonicalize().ok()?))?;
    let head = input::text(&own.join("HEAD"), MIB).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return hash(&head) };
    // A worktree has its own HEAD, and the branches of the repository that it belongs to.
    let common = match input::text(&own.join("commondir"), MIB) {
        Ok(path) => own.join(path.trim()),
        Err(_) => own,
    };
    if !reference.starts_with("refs/") || reference.split('/').any(|part| part == "..") {
        return None;
    }
    if let Ok(text) = input::text(&common.join(reference), MIB) {
        return hash(&text);
    }
    let packed = input::text(&common.join("packed-refs"), 64 * MIB).ok()?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find_map(|(commit, name)| (name == reference).then(|| hash(commit))?)
}

/// Where git keeps what belongs to a directory.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let own = dir.join(".git");
    if own.is_dir() {
        return Some(own);
    }
    let text = input::text(&own, MIB).ok()?;
    Some(dir.join(text.trim().strip_prefix("gitdir: ")?))
}

/// The name of a commit, SHA-1 or SHA-256.
fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let is_one = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_one.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// Runs git in a directory, with no configuration of anybody's.
    fn git(dir: &Path, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("git");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
            command.env(name, "test");
        }
        for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            command.env(name, "test@localhost");
        }
        let output = command.arg("-C").arg(dir).args(arguments).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).expect("text").trim().to_owned())
    }

    #[test]
    fn the_commit_of_a_tree_is_what_git_says() {
        let dir = tempfile::tempdir().expect("a directory");
        let tree = dir.path().join("linux");
        fs::create_dir(&tree).expect("a directory");
        assert_eq!(commit(&tree), None, "no repository");
        if git(dir.path(), &["--version"]).is_none() {
            println!("SKIPPED the_commit_of_a_tree_is_what_git_says: git is not installed");
            return;
        }
        let run = |dir: &Path, arguments: &[&str]| git(dir, arguments).expect("git");
        run(&tree, &["init", "--quiet"]);
        assert_eq!(commit(&tree), None, "no commit yet");
        run(&tree, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
        let one = run(&tree, &["rev-parse", "HEAD"]);
        assert_eq!(commit(&tree), Some(one.clone()), "a branch");
        // A worktree beside it, on another commit, and a build directory of its own.
        run(&tree, &["commit", "--quiet", "--allow-empty", "-m", "two"]);
        run(&tree, &["worktree", "add", "--quiet", "../before", "HEAD~1"]);
        let build = dir.path().join("build");
        fs::create_dir(&build).expect("a directory");
        std::os::unix::fs::symlink(&tree, build.join("source")).expect("a link");
        let two = run(&tree, &["rev-parse", "HEAD"]);
        assert_eq!(commit(&dir.path().join("before")), Some(one.clone()), "a worktree");
        assert_eq!(commit(&build), Some(two.clone()), "O=DIR");
        run(&tree, &["pack-refs", "--all"]);
        assert_eq!(commit(&tree), Some(two), "a packed branch");
        run(&dir.path().join("before"), &["switch", "--quiet", "-c", "other"]);
        assert_eq!(commit(&dir.path().join("before")), Some(one), "a branch of a worktree");
        // What a stranger may have written there is not followed out of the repository.
        fs::write(tree.join(".git/HEAD"), "ref: refs/../../../../etc/passwd\n").expect("a file");
        assert_eq!(commit(&tree), None);
        fs::write(tree.join(".git/HEAD"), "not a commit\n").expect("a file");
        assert_eq!(commit(&tree), None);
    }
}
