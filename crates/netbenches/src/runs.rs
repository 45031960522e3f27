//! Reads the logs of a results directory, in parallel.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rayon::prelude::*;

use super::archive::{Configuration, ResultsDir, RunFiles};
use super::info::{Info, MAX_INFO_BYTES};
use super::pktgen::PktgenLog;

/// Bytes read of one log; honest ones are some 25 KB.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// One log that was there, or the reason why it could not be read.
pub type ReadLog = Result<PktgenLog, String>;

/// The logs of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The receiver's; `None` when there is no such file.
    pub receiver: Option<ReadLog>,
    /// The senders' by suffix.
    pub senders: BTreeMap<String, ReadLog>,
}

impl Run {
    fn read(files: &RunFiles) -> Self {
        let senders = files.senders.iter().map(|(which, path)| (which.clone(), read_log(path)));
        Self { receiver: files.receiver.as_deref().map(read_log), senders: senders.collect() }
    }

    /// The receiver's log when its figures may be used.
    pub fn good_receiver(&self) -> Option<&PktgenLog> {
        self.receiver.as_ref()?.as_ref().ok().filter(|log| log.is_usable())
    }

    /// The senders' logs that could be read.
    pub fn sender_logs(&self) -> impl Iterator<Item = &PktgenLog> {
        self.senders.values().filter_map(|log| log.as_ref().ok())
    }
}

/// The runs of one configuration, read.
#[derive(Clone, Debug, Default)]
pub struct ReadConfiguration {
    /// Runs by their number.
    pub runs: BTreeMap<u32, Run>,
    /// The `.info` file; empty when there is none.
    pub info: Info,
}

impl ReadConfiguration {
    /// Every sender's log of every run.
    pub fn sender_logs(&self) -> impl Iterator<Item = &PktgenLog> {
        self.runs.values().flat_map(Run::sender_logs)
    }

    /// Every receiver's log that could be read.
    pub fn receiver_logs(&self) -> impl Iterator<Item = &PktgenLog> {
        self.runs.values().filter_map(|run| run.receiver.as_ref()?.as_ref().ok())
    }
}

/// Reads all configurations of `dir`. Files that cannot be read are values that say so.
pub fn read_configurations(dir: &ResultsDir) -> BTreeMap<String, ReadConfiguration> {
    let configurations: Vec<(&String, &Configuration)> = dir.configurations.iter().collect();
    configurations
        .into_par_iter()
        .map(|(prefix, configuration)| {
            let info = configuration.info.as_deref().map(read_info).unwrap_or_default();
            let runs: Vec<(u32, Run)> =
                configuration.runs.par_iter().map(|(&n, files)| (n, Run::read(files))).collect();
            (prefix.clone(), ReadConfiguration { runs: runs.into_iter().collect(), info })
        })
        .collect()
}

fn read_log(path: &Path) -> ReadLog {
    let read = open_regular(path).and_then(|file| PktgenLog::read(file.take(MAX_LOG_BYTES)));
    read.map_err(|error| error.to_string())
}

fn read_info(path: &Path) -> Info {
    match read_bounded(path, MAX_INFO_BYTES) {
        Ok(bytes) => Info::parse(&bytes),
        Err(error) => Info::unread(error.to_string()),
    }
}

/// Opens a regular file; anything else (a pipe would block) is an error.
fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// Up to `most` bytes of a regular file, and one more when it is longer.
///
/// # Errors
/// What the system says.
pub fn read_bounded(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
