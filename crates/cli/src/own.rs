//! Files that somebody else wrote are never replaced.

use std::path::Path;

use anyhow::bail;

/// What each page of this program says of its origin.
pub const MARK: &str = "Made by `fwdlab";

/// Longest file that is looked into, in bytes.
const MOST: u64 = 64 << 20;

/// Refuses to write over a file that is not as `is_own` says.
///
/// # Errors
/// With the way out, when there is such a file.
pub fn keep_foreign(file: &Path, is_own: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    let text = fwdlab_guard::input::named_text(file, MOST).unwrap_or_default();
    if !is_own(&text) {
        bail!(
            "{}: this file was not written by this command; name another with -o, or move it away",
            file.display()
        );
    }
    Ok(())
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
}
