//! The licences that go with a binary: the texts of everybody whose code is in it.
//!
//! MIT and the BSD licences ask for their notice in every copy, Apache-2.0 for its text and the NOTICE
//! of those who have one, CDDL-1.0 for its text and the place of the source. The texts come from
//! the packages themselves; one that several share stands once.

use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where they lie: in the package of the program, which prints them.
pub const FILE: &str = "crates/cli/licences.txt";

/// A package that is part of the program.
pub struct Part {
    pub name: String,
    pub version: String,
    /// Its SPDX expression.
    pub licence: String,
    pub repository: String,
    /// Its files.
    pub dir: PathBuf,
}

/// Names and versions of what is linked into the program with every feature.
pub fn linked() -> Result<BTreeSet<(String, String)>> {
    let arguments = ["tree", "-p", "fwdlab", "--all-features", "--edges", "normal", "--locked"];
    let form = ["--prefix", "none", "--format", "{p}", "--target", "x86_64-unknown-linux-gnu"];
    let output =
        crate::workspace::cargo().args(arguments).args(form).output().context("cargo tree")?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter(|line| !line.contains("(proc-macro)"));
    let package = |line: &str| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some((name.to_owned(), version.to_owned()))
    };
    Ok(lines.filter_map(package).collect())
}

/// All notices as one text.
///
/// # Errors
/// When the files of a package cannot be read.
pub fn text(parts: &[Part]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut head = String::from(
        "Third-party parts of fwdlab, with every feature. Written by `cargo xtask supply --write`.\n\n",
    );
    for part in parts {
        let Part { name, version, licence, repository, dir } = part;
        let own = format!("{name} {version}");
        let _ = writeln!(head, "{own}: {licence}, {repository}");
        for file in files(dir, licence)? {
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            texts.entry(plain(&String::from_utf8_lossy(&bytes))).or_default().push(own.clone());
        }
    }
    head +=
        "\nThe sources of each are at its address, and in the registry of its name and version.\n";
    let mut all: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    all.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, owners) in all {
        let _ = write!(head, "\n{}\n{}\n\n{text}\n", "-".repeat(72), owners.join(", "));
    }
    Ok(head)
}

/// The files with the licence of a package: of several to choose from MIT's, which is the shortest, and
/// notices in any case.
fn files(dir: &Path, licence: &str) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut found: Vec<(String, PathBuf)> = read
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().to_string_lossy().to_uppercase();
            let is_one = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|start| name.starts_with(start));
            Some((name, entry.path())).filter(|(_, path)| is_one && path.is_file())
        })
        .collect();
    found.sort();
    let has_mit = licence.contains("MIT") && !licence.contains("AND");
    if has_mit && found.iter().any(|(name, _)| name.contains("MIT")) {
        found.retain(|(name, _)| name.contains("MIT") || name.starts_with("NOTICE"));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// A text without what differs between copies of the same: ends of lines, empty lines around it.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(dir: &Path, name: &str, licence: &str, files: &[(&str, &str)]) -> Part {
        let dir = dir.join(name);
        fs::create_dir_all(&dir).expect("a directory");
        for (file, text) in files {
            fs::write(dir.join(file), text).expect("a file");
        }
        let [name, version, repository] = [name, "1.0.0", "https://x"].map(str::to_owned);
        Part { name, version, licence: licence.to_owned(), repository, dir }
    }

    #[test]
    fn each_text_stands_once_and_notices_are_never_left_out() {
        let dir = std::env::temp_dir().join(format!("fwdlab-notices-{}", std::process::id()));
        let apache = ("LICENSE-APACHE", "the long text");
        let parts = [
            part(&dir, "a", "MIT OR Apache-2.0", &[("LICENSE-MIT", "free\r\n"), apache]),
            part(&dir, "b", "MIT", &[("license-mit", "\nfree"), ("NOTICE", "by b")]),
            part(&dir, "c", "CDDL-1.0", &[("LICENSE", "common"), ("README.md", "no")]),
            part(&dir, "d", "Apache-2.0", &[apache]),
        ];
        let all = text(&parts).expect("files");
        fs::remove_dir_all(&dir).expect("our own directory");
        assert_eq!(all.matches("\nfree\n").count(), 1, "{all}");
        assert!(all.contains("a 1.0.0, b 1.0.0\n\nfree"), "{all}");
        assert!(all.contains("d 1.0.0\n\nthe long text"), "{all}");
        assert!(all.contains("by b") && all.contains("common") && !all.contains("\nno\n"), "{all}");
        assert!(all.contains("c 1.0.0: CDDL-1.0, https://x"), "{all}");
    }
}
