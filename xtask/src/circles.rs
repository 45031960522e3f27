//! No files that need each other in a circle.
//!
//! A file needs another when its code uses something that the other defines: by a `use`, also inside
//! a function, or by a path written out. What a file passes on (`pub use`, `pub(crate) use`) is looked
//! through to where it is defined. Two things draw no arrow: a `mod` line, and passing a name on without
//! using it. So a module may show what the files below it make, and they may use what it defines, but
//! a module that itself uses the files below it defines nothing that they need. Tests draw no arrows.

use crate::modules::Crate;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// Circles of files in every crate below these directories, each as one line.
pub fn find(root: &Path, directories: &[&str]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for directory in directories {
        for entry in std::fs::read_dir(root.join(directory))? {
            let source = entry?.path().join("src");
            for face in ["lib.rs", "main.rs"].map(|face| source.join(face)) {
                if face.exists() {
                    faults.extend(of_crate(&face, root)?);
                }
            }
        }
    }
    for source in ["bench/src/main.rs", "xtask/src/main.rs"] {
        if root.join(source).exists() {
            faults.extend(of_crate(&root.join(source), root)?);
        }
    }
    Ok(faults)
}

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
    Ok(circles(&numbers, found.files()).into_iter().map(circle).collect())
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
