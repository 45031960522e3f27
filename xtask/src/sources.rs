//! The files of code that is no test.
//!
//! A test is what stands in `tests` or `benches` beside a manifest, and every module that is there in
//! tests only (`#[cfg(test)] mod tests;`), with the files below it. A directory that is merely called
//! `tests` is code like any other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::modules::named_path;
use crate::paths::is_test;

/// Rust files below a directory, but those of tests and benchmarks.
pub fn without_tests(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_beside = path.parent().is_some_and(|above| above.join("Cargo.toml").exists());
        if name == "target" || is_beside && matches!(&*name, "tests" | "benches") {
            continue;
        }
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                pending.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    let mut tests = BTreeSet::new();
    for file in &found {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let tree =
            syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
        tests.extend(tree.items.iter().filter_map(|item| match item {
            syn::Item::Mod(item) if item.content.is_none() && is_test(&item.attrs) => {
                Some(match named_path(&item.attrs) {
                    Some(named) => file.with_file_name(named),
                    None => below(file).join(item.ident.to_string()),
                })
            }
            _ => None,
        }));
    }
    found.retain(|file| {
        let stem = file.with_extension("");
        !tests.contains(file) && !stem.ancestors().any(|above| tests.contains(above))
    });
    found.sort();
    Ok(found)
}

/// The directory of a file's modules.
fn below(file: &Path) -> PathBuf {
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => file.with_file_name(""),
        Some(stem) => file.with_file_name(stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_in_tests_alone_is_left_out() {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in [
            ("x/Cargo.toml", ""),
            ("x/tests/run.rs", ""),
            ("x/benches/speed.rs", ""),
            ("x/src/lib.rs", "pub mod tests;\n#[cfg(test)]\nmod rig;\nmod a;\n"),
            ("x/src/rig.rs", ""),
            ("x/src/rig/deep.rs", ""),
            ("x/src/rigs.rs", ""),
            ("x/src/tests/mod.rs", "#[cfg(test)]\n#[path = \"own_tests.rs\"]\nmod tests;\n"),
            ("x/src/tests/more.rs", ""),
            ("x/src/tests/own_tests.rs", ""),
            ("x/src/a.rs", "#[cfg(all(test, unix))]\nmod tests;\n#[cfg(testbed)]\nmod bed;\n"),
            ("x/src/a/tests.rs", ""),
            ("x/src/a/tests/deep.rs", ""),
            ("x/src/a/bed.rs", ""),
            ("x/src/benches.rs", ""),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let found = without_tests(root.path()).expect("readable");
        let names = found.iter().filter_map(|file| file.strip_prefix(root.path()).ok());
        let wanted = [
            "x/src/a.rs",
            "x/src/a/bed.rs",
            "x/src/benches.rs",
            "x/src/lib.rs",
            "x/src/rigs.rs",
            "x/src/tests/mod.rs",
            "x/src/tests/more.rs",
        ];
        let mut names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        names.sort();
        assert_eq!(names, wanted);
    }
}
