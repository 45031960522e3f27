//! `import.json`: where a results directory came from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::baseline::Baseline;
use super::placing::Placing;
use crate::archive::ResultsDir;
use crate::built::built;
use crate::hardware::Hardware;
use crate::runs::ReadConfiguration;
use crate::trial::Place;
use fwdlab_results::{Error, Result};

/// Where a directory came from.
#[derive(Serialize)]
struct Provenance<'a> {
    source: String,
    machine: &'a str,
    bench: &'a str,
    baseline: &'a Baseline,
    order: &'a str,
    flows_seen: &'a str,
    #[serde(rename = "groups")]
    configurations: BTreeMap<&'a String, ConfigurationProvenance<'a>>,
}

#[derive(Serialize)]
struct ConfigurationProvenance<'a> {
    variant: String,
    named_traffic: String,
    image: Option<&'a str>,
    configuration: Option<&'a str>,
    traffic: Option<&'a str>,
    uname: Option<&'a str>,
    kernel_built: Option<String>,
    info_problems: &'a [String],
    runs: usize,
}

/// A directory and the machine that it is of.
pub struct Origin<'a> {
    /// The directory.
    pub dir: &'a ResultsDir,
    /// The machine, and the set of benches.
    pub hardware: Hardware,
}

/// Writes `import.json`.
///
/// # Errors
/// When it cannot be written.
pub fn write_provenance(
    origin: &Origin<'_>,
    configurations: &BTreeMap<String, ReadConfiguration>,
    placing: Placing,
    baseline: &Baseline,
    to: &Path,
) -> Result<()> {
    let described = configurations.iter().map(|(prefix, configuration)| {
        let info = &configuration.info;
        let Place { variant, traffic, .. } = placing.place(prefix, info);
        let described = ConfigurationProvenance {
            variant,
            named_traffic: traffic,
            image: info.image(),
            configuration: info.configuration(),
            traffic: info.traffic(),
            uname: info.uname(),
            kernel_built: info.uname().and_then(built),
            info_problems: &info.problems,
            runs: configuration.runs.len(),
        };
        (prefix, described)
    });
    let provenance = Provenance {
        source: origin.dir.relative.clone(),
        machine: &origin.hardware.machine,
        bench: &origin.hardware.bench,
        baseline,
        order: "unknown: published runs are numbered, not blocked",
        flows_seen: "not counted by pkt-gen",
        configurations: described.collect(),
    };
    let path = to.join("import.json");
    let encode = |source| Error::Encode { what: "the provenance", source };
    let text = serde_json::to_string_pretty(&provenance).map_err(encode)?;
    fs::write(&path, text + "\n").map_err(Error::io("write", &path))
}
