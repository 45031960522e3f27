//! What an import kept of a published directory: its names, and the files beside its logs. They are
//! given back byte for byte where they agree with the logs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::archive::{is_call_graph, is_readme};
use crate::import::published::{self, KEPT, RAW};
use crate::number::format_g8;
use crate::runs::read_bounded;
use crate::series::{MAX_TABLE_BYTES, Series, graph_rows};
use fwdlab_results::{Error, Result, Trial};

/// What is needed of `import.json`.
#[derive(Default, Deserialize)]
struct Provenance {
    #[serde(default)]
    #[serde(rename = "groups")]
    configurations: BTreeMap<String, Names>,
}

/// What a configuration is called: by the names of its files, and by its `.info` file.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct Names {
    variant: String,
    named_traffic: String,
    /// The booted image, as the `.info` file says it.
    pub image: Option<String>,
    /// The configuration set.
    pub configuration: Option<String>,
    /// The traffic.
    pub traffic: Option<String>,
    /// `uname -a` of the device.
    pub uname: Option<String>,
}

/// The files and names of the directory that results were imported from; empty for results of our
/// own.
#[derive(Default)]
pub struct Kept {
    files: BTreeMap<String, Vec<u8>>,
    prefixes: BTreeMap<(String, String), String>,
    names: BTreeMap<String, Names>,
    dir: PathBuf,
}

impl Kept {
    /// Reads what is there; what is damaged counts as absent.
    pub fn read(dir: &Path) -> Self {
        let bytes = read_bounded(&dir.join("import.json"), MAX_TABLE_BYTES).unwrap_or_default();
        let provenance: Provenance = serde_json::from_slice(&bytes).unwrap_or_default();
        let named = |(prefix, own): (&String, &Names)| {
            ((own.variant.clone(), own.named_traffic.clone()), prefix.clone())
        };
        let names = provenance.configurations;
        let mut files = BTreeMap::new();
        let entries = fwdlab_guard::input::entries(&dir.join(KEPT)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_call_graph(&name) {
                continue;
            }
            if let Ok(bytes) = read_bounded(&entry.path(), MAX_TABLE_BYTES) {
                files.insert(name, bytes);
            }
        }
        let prefixes = names.iter().map(named).collect();
        Self { files, prefixes, names, dir: dir.join(KEPT) }
    }

    /// What a prefix was called.
    pub fn names(&self, prefix: &str) -> Option<&Names> {
        self.names.get(prefix)
    }

    /// Writes the call graphs that are kept, each where it was: beside the logs, or beside the page.
    ///
    /// # Errors
    /// When one cannot be copied.
    pub fn write_call_graphs(&self, to: &Path) -> Result<usize> {
        let mut written = 0;
        for (from, to) in [(self.dir.clone(), to.to_owned()), (self.dir.join(RAW), to.join(RAW))] {
            for entry in fwdlab_guard::input::entries(&from).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if is_call_graph(&name) && published::copy(&entry.path(), &place(&to, &name))? {
                    written += 1;
                }
            }
        }
        Ok(written)
    }

    /// The prefix that a trial was published under.
    pub fn prefix(&self, trial: &Trial) -> Option<&str> {
        let key = (trial.variant.clone(), trial.traffic.clone());
        self.prefixes.get(&key).map(String::as_str)
    }

    /// The published medians of a configuration with their file's name, where each is what the published
    /// pipeline makes of a log.
    pub fn medians(&self, prefix: &str, trials: &[&Trial]) -> Option<(String, &[u8])> {
        let names = [format!("{prefix}.pps"), format!("pps.{prefix}")];
        let name = names.into_iter().find(|name| self.files.contains_key(name))?;
        let bytes = self.files.get(&name)?;
        let published = Series::parse(bytes);
        let proofs = trials.iter().flat_map(|trial| {
            let proof = &trial.measured.proof;
            ["netbenches.median", "netbenches.upper-median"].map(|key| proof.get(key).cloned())
        });
        let logged: BTreeSet<String> = proofs.flatten().collect();
        let agrees = |value: &f64| logged.contains(&format_g8(*value));
        // Some published medians are of runs that failed since.
        let is_logged = |trial: &&&Trial| trial.measured.proof.contains_key("netbenches.median");
        let counts = [
            trials.iter().filter(|trial| trial.is_ok()).count(),
            trials.iter().filter(is_logged).count(),
        ];
        let is_whole = published.bad_lines.is_empty() && counts.contains(&published.values.len());
        (is_whole && published.values.iter().all(agrees)).then_some((name, bytes.as_slice()))
    }

    /// A file of this name.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// Data of graphs whose every row is of `summaries`, the medians, minima and maxima of what was
    /// written.
    pub fn graphs(&self, summaries: &[[f64; 3]]) -> Vec<(&str, &[u8])> {
        let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs();
        let is_known = |values: &[f64]| {
            summaries.iter().any(|own| {
                values.len() == own.len() && own.iter().zip(values).all(|(a, b)| is_near(*a, *b))
            })
        };
        let data = self.files.iter().filter(|(name, _)| name.ends_with(".data"));
        data.filter(|(_, bytes)| {
            let (rows, bad) = graph_rows(bytes);
            bad.is_empty() && !rows.is_empty() && rows.iter().all(|row| is_known(&row.values))
        })
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
        .collect()
    }

    /// Scripts of graphs.
    pub fn scripts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.of(|name| name.ends_with(".plt"))
    }

    /// Pages.
    pub fn pages(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.of(is_readme)
    }

    fn of(&self, is_it: fn(&str) -> bool) -> impl Iterator<Item = (&str, &[u8])> {
        let found = self.files.iter().filter(move |(name, _)| is_it(name));
        found.map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }
}

/// Writes a file.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(Error::io("write", path))
}

/// Profiles among results.
pub fn profiles(dir: &Path) -> usize {
    let entries = fwdlab_guard::input::entries(&dir.join("profiles"));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".folded")).count()
}

/// A file's place below `to`; its name was a file's name before.
pub fn place(to: &Path, name: &str) -> PathBuf {
    to.join(crate::import::safe_name(name))
}
