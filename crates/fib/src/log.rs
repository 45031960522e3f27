//! What the framework tells about its doings, in the form of FreeBSD's kernel messages.

use std::fmt;

use crate::algo::AlgorithmError;

/// How important a message is, as in syslog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// An algorithm failed (3).
    Error = 3,
    /// The algorithm changes (5).
    Notice = 5,
    /// A rebuild is scheduled or done (6).
    Info = 6,
}

/// A message of the framework. Its `Display` is the log line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// `inet` or `inet6`.
    pub family: &'static str,
    /// Number of the table.
    pub fib: u32,
    /// The algorithm that serves the table at the moment.
    pub algorithm: &'static str,
    /// How often structures have been built for the table.
    pub builds: u64,
    /// What happens.
    pub action: Action,
}

/// What happens to a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Another algorithm takes over.
    Switching {
        /// Its name.
        to: &'static str,
    },
    /// The changes cannot be applied to the structure.
    RebuildScheduled {
        /// Why.
        reason: &'static str,
    },
    /// A structure has been built.
    Built {
        /// Prefixes of the table.
        prefixes: usize,
        /// Highest nexthop number of the table.
        nexthops: u32,
        /// Bytes that lookups may touch.
        bytes: usize,
    },
    /// An algorithm failed and is left out for a while.
    Failed {
        /// Its name.
        name: &'static str,
        /// What it said.
        error: AlgorithmError,
        /// How often in a row.
        failures: u32,
        /// For how long it is left out, in milliseconds; 0: until another algorithm is chosen or
        /// another table loaded.
        retry_ms: u64,
    },
    /// No algorithm can serve the table; readers keep the structure that they have.
    NoAlgorithm,
}

impl Event {
    /// How important it is.
    pub fn level(&self) -> Level {
        match self.action {
            Action::Switching { .. } => Level::Notice,
            Action::RebuildScheduled { .. } | Action::Built { .. } => Level::Info,
            Action::Failed { .. } | Action::NoAlgorithm => Level::Error,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, fib, algorithm, builds, action } = self;
        write!(out, "[fib_algo] {family}.{fib} ({algorithm}#{builds}) rebuild: ")?;
        match action {
            Action::Switching { to } => write!(out, "switching algo to {to}"),
            Action::RebuildScheduled { reason } => write!(out, "scheduled, {reason}"),
            Action::Built { prefixes, nexthops, bytes } => {
                write!(out, "done, {prefixes} prefixes, {nexthops} nexthops, {bytes} bytes")
            }
            Action::Failed { name, error, failures, retry_ms: 0 } => {
                write!(out, "{name} failed: {error} (failures={failures}), not tried again")
            }
            Action::Failed { name, error, failures, retry_ms } => write!(
                out,
                "{name} failed: {error} (failures={failures}), left out for {retry_ms} ms"
            ),
            Action::NoAlgorithm => out.write_str("no algorithm can serve the table"),
        }
    }
}

/// Receives messages.
pub type LogSink = Box<dyn FnMut(&Event) + Send>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_those_of_freebsd() {
        let event = Event {
            family: "inet",
            fib: 0,
            algorithm: "bsearch4",
            builds: 12,
            action: Action::Switching { to: "radix4_lockless" },
        };
        let line = "[fib_algo] inet.0 (bsearch4#12) rebuild: switching algo to radix4_lockless";
        assert_eq!(event.to_string(), line);
        assert_eq!(event.level() as u8, 5);
    }
}
