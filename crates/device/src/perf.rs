//! Profiles of the whole machine, kernel and user stacks, by `perf record`.
//!
//! ```no_run
//! # use fwdlab_device::perf::{PerfError, Recording};
//! let recording = Recording::start(997)?;
//! // ... the traffic to be profiled ...
//! let stacks = recording.finish()?;
//! # Ok::<(), PerfError>(())
//! ```
//!
//! `perf` samples by the `cpu-clock` event, which works in virtual machines too, where hardware
//! counters often are missing. All cores are sampled, idle ones included: their stacks begin with
//! `swapper`.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use fwdlab_guard::Scratch;
use fwdlab_results::profile::Stacks;
use inferno::collapse::Collapse;
use inferno::collapse::perf::Folder;

/// What reports call this profiler.
pub const NAME: &str = "perf record -e cpu-clock -a -g";

/// Why there is no profile by perf.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfError {
    /// perf cannot be started.
    #[error("cannot start perf: {0}; apt-get install linux-perf")]
    Start(io::Error),
    /// perf ended with an error.
    #[error(
        "perf {command} failed: {said}; profiles of the whole machine need root or kernel.perf_event_paranoid <= 0"
    )]
    Failed {
        /// `record` or `script`.
        command: &'static str,
        /// Its last words.
        said: String,
    },
    /// Its output cannot be read.
    #[error("cannot read the samples of perf: {0}; run `perf script` by hand to see them")]
    Output(io::Error),
}

/// The stacks of what `perf script` printed.
///
/// # Errors
/// When it is not that.
pub fn stacks(script: impl BufRead) -> Result<Stacks, PerfError> {
    let mut folded = Vec::new();
    Folder::default().collapse(script, &mut folded).map_err(PerfError::Output)?;
    fwdlab_results::profile::parse_folded(&String::from_utf8_lossy(&folded))
        .map_err(|why| PerfError::Output(io::Error::new(io::ErrorKind::InvalidData, why)))
}

/// A running `perf record`. It ends with [`Recording::finish`], or unread when dropped.
pub struct Recording {
    child: Child,
    dir: Scratch,
}

impl Recording {
    /// Starts to sample all cores, `frequency_hz` times a second each; returns when sampling runs.
    ///
    /// # Errors
    /// When perf is missing or not allowed.
    pub fn start(frequency_hz: u32) -> Result<Self, PerfError> {
        let dir = Scratch::new().map_err(PerfError::Start)?;
        // perf records as long as the command at its end runs: a cat that waits for the end of
        // its input needs no signal to end. What it prints first says that perf has started it.
        let mut child = fwdlab_guard::tool("perf")
            .args(["record", "-q", "-e", "cpu-clock", "-a", "-g", "-F"])
            .arg(frequency_hz.to_string())
            .arg("-o")
            .arg(dir.path().join("perf.data"))
            .args(["--", "sh", "-c", "echo started; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(PerfError::Start)?;
        let mut first = String::new();
        if let Some(stdout) = &mut child.stdout {
            BufReader::new(stdout).read_line(&mut first).map_err(PerfError::Output)?;
        }
        let recording = Self { child, dir };
        if first.is_empty() { Err(recording.failure("record")) } else { Ok(recording) }
    }

    /// Ends the recording and gives its stacks, the name of the process first.
    ///
    /// # Errors
    /// When perf fails or its output cannot be read.
    pub fn finish(mut self) -> Result<Stacks, PerfError> {
        drop(self.child.stdin.take());
        if !self.child.wait().map_err(PerfError::Output)?.success() {
            return Err(self.failure("record"));
        }
        let mut script = fwdlab_guard::tool("perf")
            .args(["script", "--no-inline", "-i"])
            .arg(self.dir.path().join("perf.data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(PerfError::Start)?;
        let stacks = script.stdout.take().map(|stdout| stacks(BufReader::new(stdout)));
        if !script.wait().map_err(PerfError::Output)?.success() {
            let said = "it ended with an error".to_owned();
            return Err(PerfError::Failed { command: "script", said });
        }
        stacks.unwrap_or_else(|| Ok(Stacks::default()))
    }

    /// What perf said before it ended.
    fn failure(mut self, command: &'static str) -> PerfError {
        drop(self.child.stdin.take());
        let mut text = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            // Half a message is better than none.
            let _ = stderr.read_to_string(&mut text);
        }
        let said = text.lines().map(str::trim).find(|line| !line.is_empty());
        PerfError::Failed { command, said: said.unwrap_or("it said nothing").to_owned() }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // Nobody waits for this recording any more; the directory goes with it.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perf_samples_the_whole_machine_when_it_may() {
        let recording = match Recording::start(997) {
            Ok(recording) => recording,
            Err(error) => {
                eprintln!("SKIPPED perf_samples_the_whole_machine_when_it_may: {error}");
                return;
            }
        };
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 200 {
            std::hint::black_box(begun.elapsed());
        }
        let stacks = recording.finish().expect("samples");
        assert!(stacks.values().sum::<u64>() > 20, "{stacks:?}");
    }
}
