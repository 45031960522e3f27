//! `fwdlab run --kernel before=PATH --kernel after=PATH`: an experiment of kernels without a file.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::changes::quoted;
use crate::devices::OF_KERNELS;

/// What an experiment of kernels is called, and its results' directory with it.
pub const NAME: &str = "kernels";

/// The experiment's text: the first kernel is the baseline.
///
/// # Errors
/// When fewer than two kernels are named, or one of them not as `NAME=PATH`.
pub fn experiment(kernels: &[String]) -> anyhow::Result<String> {
    let mut variants = Vec::new();
    for kernel in kernels {
        let Some((name, path)) = kernel.split_once('=') else {
            bail!("--kernel {kernel}: wanted NAME=PATH, as before=../linux or after=linux.deb");
        };
        let (name, path) = (name.trim(), path.trim());
        if name.is_empty() || path.is_empty() {
            bail!("--kernel {kernel}: wanted NAME=PATH, as before=../linux or after=linux.deb");
        }
        if !fwdlab_results::is_name(name) {
            bail!(
                "--kernel {kernel}: {name:?} is no name: take letters, digits, '.', '_' or '-', 64 at the most, with \
                 no '.' in front; it becomes part of file names"
            );
        }
        if variants.iter().any(|(other, _)| *other == name) {
            bail!(
                "--kernel {kernel}: another kernel is called {name}; give each a name of its own"
            );
        }
        if path.contains('/') && !Path::new(path).exists() {
            bail!(
                "--kernel {kernel}: there is no {path}; name a build tree, a bzImage, a .deb, the directory of \
                 an unpacked one, or a release that is installed here"
            );
        }
        variants.push((name, place(path)?));
    }
    let [(baseline, _), .., (last, _)] = variants.as_slice() else {
        bail!(
            "one --kernel is nothing to compare with: name two, as --kernel before=PATH --kernel after=PATH"
        );
    };
    let mut text = format!(
        "# Written by `fwdlab run --kernel`.\n\n\
         title = {}\ndevice = {OF_KERNELS:?}\nbaseline = {}\n\
         margin = \"0.2%\"\nblocks = 4\nprofile = true\nduration = \"500ms\"\nwarmup = \"50ms\"\ninterval = \"50ms\"\n\n\
         [{OF_KERNELS}]\nclock = \"instructions\"\n",
        quoted(&format!("Instructions per forwarded frame: {last} against {baseline}")),
        quoted(baseline),
    );
    for (name, path) in &variants {
        let (name, path) = (quoted(name), quoted(path));
        text.push_str(&format!("\n[[variant]]\nname = {name}\nkernel = {path}\n"));
    }
    text.push_str(TRAFFIC);
    Ok(text)
}

/// 2,000 flows of smallest frames, of both families.
const TRAFFIC: &str = include_str!("kernels-traffic.toml");

/// A kernel's place from anywhere; a release stays what it is.
fn place(path: &str) -> anyhow::Result<String> {
    if !Path::new(path).exists() {
        return Ok(path.to_owned());
    }
    let whole = std::fs::canonicalize(path).with_context(|| format!("cannot find {path}"))?;
    let shown = whole.to_str().with_context(|| format!("{}: the path is no UTF-8", path))?;
    Ok(shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kernel_is_the_baseline_and_paths_hold_from_anywhere() {
        let text = experiment(&["before=/".to_owned(), "after=6.12.9-amd64".to_owned()]).unwrap();
        let file: toml::Table = text.parse().unwrap();
        assert_eq!(file["baseline"].as_str(), Some("before"));
        assert_eq!(file["variant"][0]["kernel"].as_str(), Some("/"));
        assert_eq!(file["variant"][1]["kernel"].as_str(), Some("6.12.9-amd64"));
    }

    /// "Too few unicode value digits" in a file that nobody had written.
    #[test]
    fn paths_are_written_as_toml_has_them() {
        for path in ["e\u{301}te\u{301}", "a\"b", "a\\b", "a'b", "a\tb", "\u{1b}[31m"] {
            let text = experiment(&["before=/".to_owned(), format!("after={path}")]).unwrap();
            let file: toml::Table = text.parse().unwrap();
            assert_eq!(file["variant"][1]["kernel"].as_str(), Some(path));
        }
    }

    #[test]
    fn half_a_comparison_is_refused() {
        for (kernels, words) in [
            (vec!["before=x"], "nothing to compare"),
            (vec!["x", "y"], "NAME=PATH"),
            (vec!["before=/", "after="], "--kernel after=: wanted NAME=PATH"),
            // It was told of a line in a file that nobody had written, and to add the variant that it had named.
            (vec!["a b=/", "after=/"], "--kernel a b=/: \"a b\" is no name"),
            (vec![".hidden=/", "after=/"], "is no name"),
            (vec!["before=/", "before=/"], "another kernel is called before"),
            (vec!["before=/", "after=./no/tree"], "after=./no/tree: there is no ./no/tree"),
        ] {
            let kernels: Vec<String> = kernels.into_iter().map(str::to_owned).collect();
            let error = experiment(&kernels).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
