//! `environment.json`: on what a campaign ran and with what, so that two
//! results can be told to be comparable or not.

mod machine;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use fwdlab_guard::{digest, input};
use serde::{Deserialize, Serialize};

use crate::journal::write_whole;
use crate::{Error, Result};

pub use machine::{Cache, Kernel, Machine};

pub use crate::files::ENVIRONMENT_FILE;

/// Ends of the names of facts that each run measures anew: another value is no other machine.
const MEASURED: [&str; 2] = [" ahead of the controller", " was started again"];

/// SHA-256 of the file in the results directory `dir`; `None` when there is none.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(dir: &Path) -> Result<Option<String>> {
    let path = dir.join(ENVIRONMENT_FILE);
    match input::bytes(&path, crate::MOST_TEXT_BYTES) {
        Ok(bytes) => Ok(Some(digest::of(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &path)(error)),
    }
}

/// On what a campaign ran and with what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The build of fwdlab.
    pub fwdlab: Build,
    /// The hardware, as far as the system shows it.
    pub machine: Machine,
    /// The operating system.
    pub kernel: Kernel,
    /// The seed of the running order, drawn or given.
    pub seed: u64,
    /// Settings read back from the device before the first trial.
    pub device: BTreeMap<String, String>,
}

/// The name of a device's setting that says of which git commit the kernel of a variant was built.
pub fn commit_of(variant: &str) -> String {
    format!("git commit of {variant}")
}

/// The build of fwdlab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// Version of the package.
    pub version: String,
    /// `git describe` of the sources at build time, or `unknown`.
    pub commit: String,
    /// The compiler.
    pub rustc: String,
    /// Cargo's profile: `release`, `dist`, `debug`, ...; figures of a debug build mean little.
    pub profile: String,
    /// Architecture and system that it was built for.
    pub target: String,
    /// What the build left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl Environment {
    /// The machine that was measured, in one text that two of one name do not share.
    pub fn told_by(&self) -> String {
        format!("{} {:?}", self.machine.name(), self.hardware())
    }

    /// What tells the machine that was measured from others of its name: the device's where that is a machine of
    /// its own.
    pub fn hardware(&self) -> BTreeMap<String, String> {
        let Some(processor) = self.device.get("processor") else { return self.machine.traits() };
        let cores = self.device.get("cores").map_or("", String::as_str);
        BTreeMap::from([("device".to_owned(), format!("{processor} ({cores} cores)"))])
    }

    /// Looks at this machine. What the system does not show stays empty.
    pub fn collect(build: Build, seed: u64, device: BTreeMap<String, String>) -> Self {
        Self {
            fwdlab: build,
            machine: Machine::look(Path::new("/")),
            kernel: Kernel::look(Path::new("/")),
            seed,
            device,
        }
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// Never, as far as is known.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|source| Error::Encode { what: "the environment", source })?;
        text.push(b'\n');
        Ok(text)
    }

    /// Writes this into the results directory `dir`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, dir: &Path) -> Result<()> {
        write_whole(&dir.join(ENVIRONMENT_FILE), &self.bytes()?)
    }

    /// Reads that of the results directory `dir`; `None` when it has none.
    ///
    /// # Errors
    /// When the file cannot be read or is no environment.
    pub fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(ENVIRONMENT_FILE);
        let bytes = match input::bytes(&path, crate::MOST_TEXT_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::JournalLine {
            path,
            line: error.line(),
            what: error.to_string(),
            wanted: "an environment as `fwdlab run` writes it",
            remedy: "restore the file, or remove it to go on without",
        })
    }

    /// What differs from `other` in a way that moves figures, as `name: this, then that`; of the kernel's command
    /// line the words that only one has. The seed does not, nor does what each run measures anew.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let line = |name: &str, this: &str, that: &str| {
            let [this, that] = [this, that].map(|own| if own.is_empty() { "unset" } else { own });
            format!("{name}: {this}, then {that}")
        };
        // Journals of before have none.
        let is_other = !self.machine.id.is_empty()
            && !other.machine.id.is_empty()
            && self.machine.id != other.machine.id;
        let id = |e: &Self| if is_other { e.machine.id.clone() } else { String::new() };
        let [command, command_of_other] = own_words([self, other].map(|e| &*e.kernel.command_line));
        let facts = |e: &Self, command: String| {
            [
                (
                    "fwdlab",
                    format!("{} {} ({})", e.fwdlab.version, e.fwdlab.commit, e.fwdlab.profile),
                ),
                ("compiler", e.fwdlab.rustc.clone()),
                ("machine", id(e)),
                ("product", e.machine.product.clone()),
                ("processor", e.machine.processor.clone()),
                ("cores", e.machine.cores.to_string()),
                ("governor", e.machine.governor.clone()),
                ("hypervisor", e.machine.hypervisor.clone()),
                ("turbo", e.machine.turbo.clone()),
                ("hyperthreading", e.machine.hyperthreading.clone()),
                ("kernel", e.kernel.release.clone()),
                // Whoever builds a kernel again has the same release.
                ("build of the kernel", e.kernel.version.clone()),
                ("command line of the kernel", command),
                ("transparent huge pages", e.kernel.huge_pages.clone()),
            ]
        };
        let mut found: Vec<String> = facts(self, command)
            .into_iter()
            .zip(facts(other, command_of_other))
            .filter(|((_, this), (_, that))| this != that)
            .map(|((name, this), (_, that))| line(name, &this, &that))
            .collect();
        let is_lasting = |name: &&String| !MEASURED.iter().any(|end| name.ends_with(end));
        for name in self.device.keys().chain(other.device.keys()).filter(is_lasting) {
            let (this, that) = (self.device.get(name), other.device.get(name));
            let shown = |value: Option<&'_ String>| value.cloned().unwrap_or_default();
            let line = line(name, &shown(this), &shown(that));
            if this != that && !found.contains(&line) {
                found.push(line);
            }
        }
        found
    }
}

/// Of each of two command lines the words that the other has not, or not as often.
fn own_words(lines: [&str; 2]) -> [String; 2] {
    let own = |line: &str, other: &str| {
        let mut others: Vec<&str> = other.split_whitespace().collect();
        let is_own = |word: &&str| match others.iter().position(|one| one == word) {
            Some(at) => {
                others.swap_remove(at);
                false
            }
            None => true,
        };
        line.split_whitespace().filter(is_own).collect::<Vec<_>>().join(" ")
    };
    let [one, other] = lines;
    [own(one, other), own(other, one)]
}
