//! How ssh is called: what must hold whatever a user's configuration says stands on the command line,
//! where the first value of an option wins.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::testbed::{Host, Testbed};

/// The way to one host.
#[derive(Clone, Debug)]
pub struct Access {
    /// The host's role.
    pub role: &'static str,
    /// What ssh calls it.
    ssh: String,
    /// The master's socket.
    pub socket: PathBuf,
    config: Option<PathBuf>,
    known_hosts: PathBuf,
    /// This program, which starts the master so that it ends with us.
    program: PathBuf,
}

/// What is forced on every call. Nothing asks, nothing is learnt, nothing is forwarded; and nothing is
/// sent to a host that has nothing to say, because a device is left alone while it is measured.
const FORCED: [&str; 14] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ServerAliveInterval=0",
    "TCPKeepAlive=no",
    "ConnectTimeout=10",
    "LogLevel=ERROR",
];

impl Access {
    /// The way to a host, its socket in `dir`.
    pub fn new(testbed: &Testbed, host: &Host, dir: &Path, program: &Path) -> Self {
        Self {
            role: host.role,
            ssh: host.ssh.clone(),
            // Short: a socket's path has room for some 100 bytes.
            socket: dir.join(&host.role[..1]),
            config: testbed.ssh_config.clone(),
            known_hosts: testbed.known_hosts.clone(),
            program: program.to_owned(),
        }
    }

    /// The master: in the foreground, and ended by the system when this process ends.
    pub fn master(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["launch", &std::process::id().to_string(), "ssh"]);
        self.force(&mut command);
        command.args(["-M", "-N", "-o", "ControlPersist=no"]);
        command.arg(&self.ssh).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// A command on the host, over the master only: with a dead master it would silently become a
    /// connection of its own, hence the proxy that goes nowhere.
    pub fn command(&self, remote: &str) -> Command {
        let mut command = Command::new("ssh");
        self.force(&mut command);
        command.args(["-T", "-o", "ControlMaster=no", "-o", "ProxyCommand=false"]);
        command.arg(&self.ssh).arg(remote);
        command
    }

    /// A connection of its own that ends at once, for what ssh says about it.
    pub fn trial(&self) -> Command {
        let mut command = Command::new("ssh");
        command.args(["-S", "none"]);
        self.force(&mut command);
        command.arg(&self.ssh).arg("exit").stdin(Stdio::null());
        command
    }

    /// What ssh knows of the host, by its own words; it connects to nothing.
    pub fn resolve(&self) -> Command {
        let mut command = Command::new("ssh");
        self.force(&mut command);
        command.arg("-G").arg(&self.ssh).stdin(Stdio::null());
        command
    }

    fn force(&self, command: &mut Command) {
        if let Some(config) = &self.config {
            command.arg("-F").arg(config);
        }
        let known = format!("UserKnownHostsFile=\"{}\"", self.known_hosts.display());
        command.args(["-o", &known]);
        for option in FORCED {
            command.args(["-o", option]);
        }
        command.arg("-S").arg(&self.socket);
    }
}
