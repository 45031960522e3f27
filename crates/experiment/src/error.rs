//! What can go wrong with an experiment.

use std::path::PathBuf;

/// An error of an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] fwdlab_results::Error),

    /// An experiment file is wrong; the problems stand one a line.
    #[error(transparent)]
    Experiment(#[from] fwdlab_keys::problem::Problems),

    /// The file of routes that it names is wrong.
    #[error(transparent)]
    Routes(#[from] fwdlab_routes::RoutesError),

    /// A file that the experiment names cannot be read.
    #[error("{path}:{line}: {key}: {source}")]
    Named {
        /// The experiment file.
        path: PathBuf,
        /// The line that names it, from 1.
        line: usize,
        /// The key there.
        key: String,
        /// Why it cannot.
        source: Box<Error>,
    },

    /// A capture that a traffic names cannot be opened.
    #[error(
        "{path}: traffic {traffic}, capture: cannot open {file}: {source}; name a pcap or pcapng file beside the experiment"
    )]
    CaptureFile {
        /// The experiment file.
        path: PathBuf,
        /// Name of the traffic.
        traffic: String,
        /// The capture.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A capture that a traffic names cannot be replayed.
    #[error("{path}: traffic {traffic}, capture: {file}: {source}")]
    Capture {
        /// The experiment file.
        path: PathBuf,
        /// Name of the traffic.
        traffic: String,
        /// The capture.
        file: PathBuf,
        /// What is wrong, and what to do.
        source: Box<fwdlab_traffic::CaptureError>,
    },
}
