//! The ways to the hosts of a testbed, with a place for their sockets.

use std::path::Path;
use std::time::Duration;

use fwdlab_guard::Scratch;

use crate::host::Connected;
use crate::secrets::Secrets;
use crate::ssh::Access;
use crate::testbed::{Host, Testbed};
use crate::{RemoteError, Result};

/// The longest directory that leaves room for our own and the name of a socket.
const LONGEST: usize = 56;

/// Where sockets lie when the system's place for temporary files has too long a name.
pub(crate) const SHORT: &str = "/tmp";

/// The ways to all hosts.
#[derive(Debug)]
pub struct Reach {
    _dir: Scratch,
    ways: Vec<Access>,
}

impl Reach {
    /// Prepares the ways; connects to nothing.
    ///
    /// # Errors
    /// When there is no place for sockets.
    pub fn new(testbed: &Testbed, program: &Path) -> Result<Self> {
        let usual = std::env::temp_dir();
        let is_long = usual.as_os_str().len() > LONGEST;
        let place = if is_long { Path::new(SHORT) } else { &usual };
        let failed = |source| RemoteError::File { path: place.to_owned(), source };
        let dir = Scratch::under(place).map_err(failed)?;
        let ways =
            testbed.hosts().map(|host| Access::new(testbed, host, dir.path(), program)).collect();
        Ok(Self { _dir: dir, ways })
    }

    fn way(&self, host: &Host) -> Option<&Access> {
        self.ways.iter().find(|way| way.role == host.role)
    }

    /// Connects to a host, which may take `patience`, and makes the directory for our files there.
    ///
    /// # Errors
    /// When it cannot be reached, or does not let us in.
    pub fn connect(
        &self,
        testbed: &Testbed,
        host: &Host,
        patience: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Connected> {
        let way = self.way(host).ok_or(RemoteError::Stopped)?;
        let limits = (patience, testbed.limits.command);
        let mut connected = Connected::connect(host, way, limits, is_stopped)?;
        connected.make_directory(is_stopped)?;
        Ok(connected)
    }

    /// What must not stand in results.
    pub fn secrets(&self) -> Secrets {
        Secrets::of(&self.ways)
    }

    /// What ssh itself says when it fails, for people.
    pub fn words_of_ssh(&self, host: &Host) -> String {
        let said = self.way(host).and_then(|way| way.trial().output().ok());
        said.map(|said| String::from_utf8_lossy(&said.stderr).into_owned()).unwrap_or_default()
    }
}
