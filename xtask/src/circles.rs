//! No files that need each other in a circle.
//!
//! A file needs another when its code uses something that the other defines: by a `use`, also inside
//! a function, or by a path written out; or by calling a method of its own type (`self.method()`) that
//! an `impl` of the other gives it. What a file passes on (`pub use`, `pub(crate) use`) is looked
//! through to where it is defined. Two things draw no arrow: a `mod` line, and passing a name on without
//! using it. So a module may show what the files below it make, and they may use what it defines, but
//! a module that itself uses the files below it defines nothing that they need. Tests draw no arrows.

use crate::modules::Crate;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Circles of files in every crate and program below these directories, each as one line.
pub fn find(root: &Path, directories: &[&str]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for directory in directories.iter().map(|directory| root.join(directory)) {
        if directory.exists() {
            for face in faces(&directory)? {
                faults.extend(of_crate(&face, root)?);
            }
        }
    }
    Ok(faults)
}

/// Where code begins below a directory: a library or program, wherever it lies, and beside a manifest
/// what cargo builds from single files.
fn faces(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(&path)? {
            let entry = entry?.path();
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            if entry.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    pending.push(entry);
                }
                continue;
            }
            let above = path.file_name().unwrap_or_default().to_string_lossy();
            let is_beside = |file: &Path| file.join("Cargo.toml").exists();
            let is_single = SINGLE.contains(&&*above) && path.parent().is_some_and(is_beside)
                || above == "bin" && path.ends_with("src/bin");
            let is_face = matches!(&*name, "lib.rs" | "main.rs")
                || name == "build.rs" && is_beside(&path)
                || name.ends_with(".rs") && is_single;
            if is_face {
                found.push(entry);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Directories beside a manifest in which each file is a program.
const SINGLE: [&str; 5] = ["tests", "benches", "examples", "fuzz", "fuzz_targets"];

fn of_crate(face: &Path, root: &Path) -> Result<Vec<String>> {
    let found = Crate::read(face)?;
    let arrows = found.arrows();
    let numbers = arrows.keys().copied().collect();
    let name = |file: usize| {
        let path = found.file(file);
        path.strip_prefix(root).unwrap_or(path).display().to_string()
    };
    let circle = |files: Vec<usize>| {
        let names: Vec<String> = files.iter().map(|file| name(*file)).collect();
        let within = |(from, to): &(usize, usize)| files.contains(from) && files.contains(to);
        let reasons = arrows.iter().filter(|(ends, _)| within(ends)).map(|((from, to), path)| {
            format!("\n    {} needs {} of {}", name(*from), path.join("::"), name(*to))
        });
        format!("files that need each other: {}{}", names.join(", "), reasons.collect::<String>())
    };
    let hidden = found.hidden().iter().map(|fault| {
        let fault = fault.strip_prefix(&format!("{}/", root.display())).unwrap_or(fault);
        format!("{fault}, and hides which file needs which")
    });
    Ok(hidden.chain(circles(&numbers, found.files()).into_iter().map(circle)).collect())
}

/// The strongly connected parts of more than one file (R. Tarjan, 1972), by reachability: the crates
/// are small.
fn circles(arrows: &BTreeSet<(usize, usize)>, files: usize) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..files)
        .map(|start| {
            let mut seen = BTreeSet::new();
            let mut pending = vec![start];
            while let Some(file) = pending.pop() {
                let next = arrows.range((file, 0)..=(file, usize::MAX)).map(|(_, to)| *to);
                pending.extend(next.filter(|to| seen.insert(*to)));
            }
            seen
        })
        .collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for file in (0..files).filter(|file| reach[*file].contains(file)) {
        let circle: Vec<usize> =
            (0..files).filter(|o| reach[file].contains(o) && reach[*o].contains(&file)).collect();
        if !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[cfg(test)]
mod tests;
