//! Files that somebody else wrote are never replaced.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::builder::{PathBufValueParser, TypedValueParser};
use fwdlab_guard::words::pasted;

/// What each page of this program says of its origin.
pub const MARK: &str = "Made by `fwdlab";

/// So many bytes of a file are looked into.
const MOST: u64 = 64 << 20;

/// Refuses to write over a file that is not as `is_own` says.
///
/// # Errors
/// With the way out, when there is such a file, or what is no file: a device would become one.
pub fn keep_foreign(file: &Path, is_own: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    let shown = file.display();
    let about = file.metadata().with_context(|| format!("cannot look at {shown}"))?;
    if !about.is_file() {
        bail!("{shown} is no regular file; name another, or leave -o out for standard output");
    }
    let mut begin = Vec::new();
    let read = File::open(file).and_then(|opened| opened.take(MOST).read_to_end(&mut begin));
    read.with_context(|| format!("cannot look into {shown}"))?;
    if !is_own(&String::from_utf8_lossy(&begin)) {
        bail!(
            "{shown}: this file was not written by this command; name another with -o, or move it away"
        );
    }
    Ok(())
}

/// Reads the name of a directory that is written: "-", which elsewhere is standard output, is none.
pub fn directory() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("this is a directory, which standard output cannot be: name one (./- if it is called so)"),
        false => Ok(path),
    })
}

/// Refuses a file for which there is no directory.
///
/// # Errors
/// With the command that makes it.
pub fn need_place(file: &Path) -> anyhow::Result<()> {
    match file.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) if !dir.is_dir() => bail!(
            "cannot write {}: there is no directory {}; make it (mkdir -p {}), or name another place",
            file.display(),
            dir.display(),
            pasted(dir)
        ),
        _ => Ok(()),
    }
}

/// Refuses a directory for pages that holds such pages of somebody else.
///
/// # Errors
/// As [`keep_foreign`].
pub fn keep_foreign_pages(dir: &Path, page: &str) -> anyhow::Result<()> {
    let readme = dir.join("README.md");
    keep_foreign(&readme, |text| text.contains(MARK))?;
    let is_own = readme.exists();
    keep_foreign(&dir.join(page), |_| is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_pages_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        keep_foreign_pages(dir.path(), "index.html").unwrap();
        put("index.html", "my own page");
        let error = keep_foreign_pages(dir.path(), "index.html").unwrap_err().to_string();
        assert!(error.contains("index.html: this file was not written"), "{error}");
        put("README.md", "# Mine");
        assert!(keep_foreign_pages(dir.path(), "index.html").is_err());
        put("README.md", "# History\n\nMade by `fwdlab history`.\n");
        keep_foreign_pages(dir.path(), "index.html").unwrap();
    }

    /// `export --csv -o /dev/null` made a file of it, for root; and a picture was taken for an empty file.
    #[test]
    fn what_is_no_text_of_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, picture) = (dir.path().join("fifo"), dir.path().join("picture"));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        std::fs::write(&picture, b"\x89PNG\r\n\x1a\n").unwrap();
        let refused = |path: &Path| {
            let is_own = |text: &str| text.is_empty() || text.starts_with("trial,");
            keep_foreign(path, is_own).unwrap_err().to_string()
        };
        assert!(refused(&fifo).contains("leave -o out"), "{}", refused(&fifo));
        assert!(refused(Path::new("/dev/null")).contains("no regular file"));
        assert!(refused(&picture).contains("was not written by this command"));
    }
}
