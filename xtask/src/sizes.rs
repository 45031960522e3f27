//! No crate grows into a house of its own.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

/// The most lines of a crate, without tests.
const MOST: usize = 15_000;
/// The most lines of a stage of the road, or of a device.
const MOST_OF_A_STAGE: usize = 6_000;
/// Crates that are no stage: what others build on, and the command.
const NO_STAGES: [&str; 7] = ["cli", "fib", "port", "router", "stats", "traffic", "wire"];
/// The device in a test that shows what a device needs, and the most lines that it may have.
const TOY: (&str, usize) = ("crates/campaign/tests/toy_device.rs", 150);

/// What is too long below `root`.
pub fn faults(root: &Path, rooms: &[&str]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (name, lines) in of_crates(root, rooms)? {
        let most = if NO_STAGES.contains(&name.as_str()) { MOST } else { MOST_OF_A_STAGE };
        if lines > most {
            faults.push(format!("{name} has {lines} lines without tests; at most {most}: cut it"));
        }
    }
    let (file, most) = TOY;
    let lines = read(&root.join(file))?.lines().count();
    if lines > most {
        faults.push(format!("{file} has {lines} lines; a device fits in {most}"));
    }
    Ok(faults)
}

/// Lines without tests of each crate.
pub fn of_crates(root: &Path, rooms: &[&str]) -> Result<BTreeMap<String, usize>> {
    let mut lines = BTreeMap::new();
    for room in rooms {
        for entry in std::fs::read_dir(root.join(room))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            lines.insert(name, below(&path.join("src"))?);
        }
    }
    Ok(lines)
}

fn below(source: &Path) -> Result<usize> {
    let files = crate::sources::without_tests(source)?;
    files.iter().map(|file| Ok(without_tests(&read(file)?))).sum()
}

/// Lines of a file but for modules of tests in it, which end with a brace at the margin.
fn without_tests(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test,") {
            // Attributes, then `mod tests {` to its brace, or `mod tests;`.
            for line in lines.by_ref() {
                if line == "}" || (line.ends_with(';') && !line.starts_with(' ')) {
                    break;
                }
            }
        } else {
            count += 1;
        }
    }
    count
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count() {
        let text = "//! A file.\n#[cfg(test)]\nmod far;\n\nfn one() {\n}\n\n#[cfg(all(test, not(loom)))]\n\
                    mod tests {\n    fn two();\n    fn three() {\n    }\n}\nfn four() {}\n";
        assert_eq!(without_tests(text), 6);
    }

    #[test]
    fn a_crate_and_a_toy_that_grew_are_named() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("crates/report/src/lib.rs", &"//\n".repeat(MOST_OF_A_STAGE));
        write("crates/fib/src/lib.rs", &"//\n".repeat(MOST_OF_A_STAGE + 1));
        // Tests, and beside them code in a directory of the same name.
        write("crates/claims/src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests;\n");
        write("crates/claims/src/tests.rs", &"//\n".repeat(MOST_OF_A_STAGE));
        write("crates/claims/src/a.rs", "mod tests;\n");
        write("crates/claims/src/a/tests/mod.rs", &"//\n".repeat(MOST_OF_A_STAGE - 3));
        write(TOY.0, &"//\n".repeat(TOY.1));
        let faults = || faults(root.path(), &["crates"]).unwrap();
        assert_eq!(faults(), [""; 0]);
        write("crates/claims/src/a/tests/deep.rs", "//\n//\n");
        assert!(faults()[0].starts_with("claims has 6001 lines"), "{:?}", faults());
        std::fs::remove_file(root.path().join("crates/claims/src/a/tests/deep.rs")).unwrap();
        write("crates/report/src/more.rs", "//\n");
        write(TOY.0, &"//\n".repeat(TOY.1 + 1));
        let found = faults();
        assert!(found[0].starts_with("report has 6001 lines"), "{found:?}");
        assert!(found[1].contains("toy_device.rs has 151 lines"), "{found:?}");
    }
}
