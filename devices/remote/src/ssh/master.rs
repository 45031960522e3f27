//! The connection to a host, which all commands share.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::lines::Lines;
use super::options::Access;
use super::verdict;
use crate::{RemoteError, Result};
use fwdlab_results::FailureKind;

/// How often it is looked whether the master listens.
const STEP: Duration = Duration::from_millis(5);

/// A running master; its connection ends when it is dropped.
#[derive(Debug)]
pub struct Master {
    child: Child,
    way: Access,
}

impl Master {
    /// Connects, which takes no longer than `limit`.
    ///
    /// # Errors
    /// When the host cannot be reached, is not the one that is known, or does not let us in.
    pub fn connect(way: &Access, limit: Duration, is_stopped: &dyn Fn() -> bool) -> Result<Self> {
        // One that was killed leaves its socket behind.
        let _ = std::fs::remove_file(&way.socket);
        let mut child = way.master().stderr(Stdio::piped()).spawn().map_err(|source| {
            let remedy = "apt-get install openssh-client";
            RemoteError::Program { program: "ssh", source, remedy }
        })?;
        let said = child.stderr.take().map(Lines::of);
        let mut master = Self { child, way: way.clone() };
        let start = Instant::now();
        loop {
            if is_stopped() {
                return Err(RemoteError::Stopped);
            }
            if way.socket.exists() {
                return Ok(master);
            }
            if !master.is_running() {
                let words = said.map(|said| said.rest(Duration::from_secs(1))).unwrap_or_default();
                return Err(verdict::of(way.role, &words));
            }
            if start.elapsed() > limit {
                return Err(RemoteError::failed(
                    FailureKind::TransportLost,
                    way.role,
                    format!("no connection within {} s", limit.as_secs()),
                    "look whether it is up and sshd runs",
                ));
            }
            std::thread::sleep(STEP);
        }
    }

    /// Whether the connection is there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The way that it goes.
    pub fn way(&self) -> &Access {
        &self.way
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.way.socket);
    }
}
