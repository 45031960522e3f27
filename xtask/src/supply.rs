//! What the program is made of: licences, bans and sources of `deny.toml` held against the packages
//! of the workspace, and the list of third-party parts that goes with a binary.
//!
//! `cargo deny check` does the same and more (advisories), where it is installed and may fetch its
//! database; this needs neither.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The list of third-party parts.
const LIST: &str = "docs/third-party.md";

/// Arguments of `cargo xtask supply`.
#[derive(clap::Args)]
pub struct Args {
    /// Write the list of third-party parts anew
    #[arg(long)]
    write: bool,
}

/// Checks the packages; prints what is wrong and returns whether all is well.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let rules = Rules::read(root)?;
    let packages = packages()?;
    let mut faults: Vec<String> = packages.iter().flat_map(|own| rules.faults(own)).collect();
    let list = list(&packages);
    let path = root.join(LIST);
    if arguments.write {
        std::fs::write(&path, &list).with_context(|| format!("cannot write {LIST}"))?;
    } else if std::fs::read_to_string(&path).unwrap_or_default() != list {
        faults.push(format!("{LIST} is not of these packages: run `cargo xtask supply --write`"));
    }
    for fault in &faults {
        println!("supply: {fault}");
    }
    if faults.is_empty() {
        println!(
            "supply: {} packages, licences, bans and sources as deny.toml has them",
            packages.len()
        );
    }
    Ok(faults.is_empty())
}

/// A package of others.
struct Package {
    name: String,
    version: String,
    licence: String,
    source: String,
    repository: String,
}

/// All packages of others, for every platform and feature.
fn packages() -> Result<Vec<Package>> {
    let output = crate::cargo()
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .output()
        .context("cargo metadata")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut found: Vec<Package> = all
        .iter()
        .filter(|package| package["source"].is_string())
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            source: text(&package["source"]),
            repository: text(&package["repository"]),
        })
        .collect();
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(found)
}

/// What deny.toml says, as far as it is checked here.
struct Rules {
    licences: Vec<String>,
    /// Banned names with the reason.
    banned: BTreeMap<String, String>,
    registries: Vec<String>,
}

impl Rules {
    fn read(root: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
        let file: toml::Table = text.parse().context("deny.toml")?;
        let list = |section: &str, key: &str| -> Result<Vec<toml::Value>> {
            let value = file.get(section).and_then(|table| table.get(key));
            let list = value.and_then(toml::Value::as_array).cloned();
            list.with_context(|| format!("deny.toml: [{section}] has no list {key}"))
        };
        let words = |list: Vec<toml::Value>| -> Vec<String> {
            list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let word = |value: &toml::Value, key: &str| {
            value.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        let banned = list("bans", "deny")?;
        Ok(Self {
            licences: words(list("licenses", "allow")?),
            banned: banned.iter().map(|ban| (word(ban, "crate"), word(ban, "reason"))).collect(),
            registries: words(list("sources", "allow-registry")?),
        })
    }

    fn faults(&self, package: &Package) -> Vec<String> {
        let Package { name, version, licence, source, .. } = package;
        let mut faults = Vec::new();
        if !self.is_allowed(licence) {
            faults.push(format!("{name} {version}: licence {licence:?} is not allowed"));
        }
        if let Some(reason) = self.banned.get(name) {
            faults.push(format!("{name} {version} is banned: {reason}"));
        }
        let registry = source.strip_prefix("registry+").unwrap_or_default();
        if !self.registries.iter().any(|known| known == registry) {
            faults.push(format!("{name} {version} comes from {source}"));
        }
        faults
    }

    /// Whether a licence expression (SPDX; `/` is an old OR) can be met with what is allowed. No
    /// expression nests deeper than one pair of parentheses in an AND.
    fn is_allowed(&self, expression: &str) -> bool {
        let plain = expression.replace('/', " OR ");
        let mut alternatives = Vec::new();
        // `(A OR B) AND C`: each part of an AND must be allowed.
        for part in plain.split(" AND ") {
            let part = part.trim().trim_start_matches('(').trim_end_matches(')');
            alternatives.push(part.split(" OR ").map(str::trim).collect::<Vec<_>>());
        }
        let is_known = |name: &&str| self.licences.iter().any(|known| known == name);
        !expression.is_empty() && alternatives.iter().all(|any| any.iter().any(&is_known))
    }
}

/// The list of third-party parts, by licence.
fn list(packages: &[Package]) -> String {
    let mut text = String::from(
        "# Third-party parts\n\nWritten by `cargo xtask supply --write` from Cargo.lock, for every \
         platform and feature; what a build leaves out is listed all the same. Each part keeps its \
         own licence and notice: the text lies in the package's source, under its name in the \
         registry.\n\n| package | version | licence | source |\n|---|---|---|---|\n",
    );
    for Package { name, version, licence, repository, .. } in packages {
        let _ = writeln!(text, "| {name} | {version} | {licence} | {repository} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_met_by_one_of_several_and_by_all_that_are_joined() {
        let licences = ["MIT", "Unicode-3.0"].map(str::to_owned).to_vec();
        let rules = Rules { licences, banned: BTreeMap::new(), registries: Vec::new() };
        for good in
            ["MIT", "Apache-2.0 OR MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"]
        {
            assert!(rules.is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(Apache-2.0 OR GPL-2.0) AND MIT"] {
            assert!(!rules.is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_or_is_banned_is_a_fault() {
        let rules = Rules {
            licences: vec!["MIT".to_owned()],
            banned: BTreeMap::from([("bad".to_owned(), "it is".to_owned())]),
            registries: vec!["https://known".to_owned()],
        };
        let package = |name: &str, source: &str| Package {
            name: name.to_owned(),
            version: "1".to_owned(),
            licence: "MIT".to_owned(),
            source: source.to_owned(),
            repository: String::new(),
        };
        assert_eq!(rules.faults(&package("good", "registry+https://known")).len(), 0);
        assert_eq!(rules.faults(&package("bad", "git+https://known")).len(), 2);
    }
}
