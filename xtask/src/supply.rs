//! What the program is made of: licences, bans and sources of `deny.toml` held against the packages
//! of the workspace, and the list of third-party parts that goes with a binary.
//!
//! `cargo deny check` does the same and more; where it is installed and has its database, advisories are
//! asked of it. The rest needs neither.

use crate::{notices, publish};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The list of third-party parts.
const LIST: &str = "docs/third-party.md";

/// Arguments of `cargo xtask supply`.
#[derive(clap::Args)]
pub struct Args {
    /// Write the list of third-party parts anew
    #[arg(long)]
    write: bool,
    /// Compile each of our own crates from what would be uploaded of it, too: takes minutes
    #[arg(long)]
    packages: bool,
}

/// Checks the packages; prints what is wrong and returns whether all is well.
pub fn run(root: &Path, arguments: &Args) -> Result<bool> {
    let rules = Rules::read(root)?;
    let metadata = metadata()?;
    let packages = packages(&metadata);
    let mut faults: Vec<String> = packages.iter().flat_map(|own| rules.faults(own)).collect();
    faults.extend(publish::faults(&metadata));
    for (name, text) in [(LIST, list(&packages)), (notices::FILE, notices_of(root, &packages)?)] {
        let path = root.join(name);
        if arguments.write {
            std::fs::write(&path, &text).with_context(|| format!("cannot write {name}"))?;
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            faults
                .push(format!("{name} is not of these packages: run `cargo xtask supply --write`"));
        }
    }
    faults.extend(advisories(root)?);
    if arguments.packages {
        faults.extend(publish::packed(root, &metadata)?);
    }
    for fault in &faults {
        println!("supply: {fault}");
    }
    if faults.is_empty() {
        println!(
            "supply: {} packages, licences, bans and sources as deny.toml has them; our own can be published",
            packages.len()
        );
    }
    Ok(faults.is_empty())
}

/// The notices of those packages that are part of the program.
fn notices_of(root: &Path, packages: &[Package]) -> Result<String> {
    let linked = notices::linked()?;
    let is_linked = |own: &&Package| linked.contains(&(own.name.clone(), own.version.clone()));
    let part = |own: &Package| notices::Part {
        name: own.name.clone(),
        version: own.version.clone(),
        licence: own.licence.clone(),
        repository: own.repository.clone(),
        dir: own.dir.clone(),
    };
    let own = std::fs::read_to_string(root.join("LICENSE")).context("cannot read LICENSE")?;
    let parts: Vec<_> = packages.iter().filter(is_linked).map(part).collect();
    Ok(format!("{own}\n{}", notices::text(&parts)?))
}

/// Known faults of packages, where `cargo deny` is installed and its database is at hand.
fn advisories(root: &Path) -> Result<Option<String>> {
    let deny = |arguments: &[&str]| {
        let mut command = crate::workspace::cargo();
        command.current_dir(root).arg("deny").args(arguments).output()
    };
    let skip = |why: &str| {
        println!("SKIPPED advisories: {why}");
        Ok(None)
    };
    if !deny(&["--version"])?.status.success() {
        return skip("no cargo-deny: cargo install cargo-deny");
    }
    let output = deny(&["--offline", "check", "advisories"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        println!("supply: no advisory against any package");
        return Ok(None);
    }
    if is_without_database(&said) {
        return skip("no database at hand: cargo deny fetch");
    }
    Ok(Some(format!("cargo deny check advisories:\n{said}")))
}

/// Whether `cargo deny` has nothing to look a package up in, rather than something to say of one.
fn is_without_database(said: &str) -> bool {
    let lacks = said.contains("advisory database") || said.contains("FETCH_HEAD");
    lacks && !said.contains("RUSTSEC-") && !said.contains("yanked")
}

/// A package of others.
struct Package {
    name: String,
    version: String,
    licence: String,
    source: String,
    repository: String,
    /// Where its files lie.
    dir: PathBuf,
}

/// All packages, for every platform and feature, as cargo tells of them.
fn metadata() -> Result<Value> {
    let output = crate::workspace::cargo()
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .output()
        .context("cargo metadata")?;
    serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
}

/// All packages of others.
fn packages(metadata: &Value) -> Vec<Package> {
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
            dir: PathBuf::from(text(&package["manifest_path"]).trim_end_matches("Cargo.toml")),
        })
        .collect();
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    found
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
         own licence and notice: `fwdlab licences` prints the texts.\n\n| package | version | licence | source |\n|---|---|---|---|\n",
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

    /// Words of cargo-deny 0.20 without a network; they failed the whole.
    #[test]
    fn a_database_that_is_not_at_hand_is_no_advisory() {
        for said in [
            "[ERROR] failed to fetch advisory database https://x: failed to clone",
            "[ERROR] failed to get 'FETCH_HEAD' metadata: failed to get HEAD timestamp",
        ] {
            assert!(is_without_database(said), "{said}");
        }
        assert!(!is_without_database("error[vulnerability]: bad\n ID: RUSTSEC-2026-0001"));
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
            dir: PathBuf::new(),
        };
        assert_eq!(rules.faults(&package("good", "registry+https://known")).len(), 0);
        assert_eq!(rules.faults(&package("bad", "git+https://known")).len(), 2);
    }
}
