//! A connected host: commands, files, and programs that go on while others work.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use fwdlab_guard::digest;
use fwdlab_results::FailureKind;

use crate::ssh::{Access, Master, Said, Shell, quoted};
use crate::testbed::{Host, System};
use crate::{RemoteError, Result};

/// How long it may take to connect.
pub const CONNECT: Duration = Duration::from_secs(15);

/// A connected host.
#[derive(Debug)]
pub struct Connected {
    /// What the testbed file says of it.
    pub host: Host,
    // The shell ends before its connection.
    shell: Shell,
    master: Master,
    limit: Duration,
    /// Ports whose drivers count neither pause frames nor queues, as it was found.
    pub ports_without_statistics: BTreeSet<String>,
    /// ip(8) of iproute2, once it was looked for.
    ip: Option<String>,
    /// How its ports were set when that was asked last.
    pub settings: Option<BTreeMap<String, String>>,
}

/// Says where ip(8) of iproute2 is. The one of busybox, which its shell takes for it, knows no protocol of a route,
/// and would flush them all: those of the control network, too.
pub const FIND_IP: &str = "for p in /sbin/ip /usr/sbin/ip /bin/ip /usr/bin/ip /usr/local/sbin/ip; do \
    case $($p -V 2>&1) in *iproute2*) echo $p; exit;; esac; done; exit 7";

impl Connected {
    /// Connects, which may take `patience`, and opens a shell.
    ///
    /// # Errors
    /// When the host cannot be reached, or does not let us in.
    pub fn connect(
        host: &Host,
        way: &Access,
        (patience, limit): (Duration, Duration),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self> {
        let master = Master::connect(way, patience, is_stopped)?;
        let shell = Shell::open(master.way(), patience, is_stopped)?;
        let ports_without_statistics = BTreeSet::new();
        Ok(Self {
            host: host.clone(),
            shell,
            master,
            limit,
            ports_without_statistics,
            ip: None,
            settings: None,
        })
    }

    /// Does something in which no command may take longer than `limit`.
    ///
    /// # Errors
    /// Those of what is done.
    pub fn within<T>(
        &mut self,
        limit: Duration,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let usual = std::mem::replace(&mut self.limit, limit);
        let done = work(self);
        self.limit = usual;
        done
    }

    /// The host's role.
    pub fn role(&self) -> &'static str {
        self.host.role
    }

    /// Runs a command, whatever its exit status.
    ///
    /// # Errors
    /// When the connection breaks, or no answer comes in time.
    pub fn run(&mut self, command: &str, is_stopped: &dyn Fn() -> bool) -> Result<Said> {
        if !self.master.is_running() {
            return Err(RemoteError::failed(
                FailureKind::TransportLost,
                self.role(),
                "the connection ended",
                "look whether it is up and sshd runs",
            ));
        }
        self.shell.run(command, self.limit, is_stopped)
    }

    /// What a command printed, which must end well.
    ///
    /// # Errors
    /// Those of [`run`](Self::run); a command that fails is a fault of what it was to do.
    pub fn ask(&mut self, command: &str, is_stopped: &dyn Fn() -> bool) -> Result<String> {
        let said = self.run(command, is_stopped)?;
        match said.status {
            0 => Ok(said.output),
            status => Err(self.refused(command, status, &said.errors)),
        }
    }

    /// The path of ip(8).
    ///
    /// # Errors
    /// When the host has none of iproute2, or the connection breaks.
    pub fn ip(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<String> {
        if let Some(ip) = &self.ip {
            return Ok(ip.clone());
        }
        let said = self.run(FIND_IP, is_stopped)?;
        if said.status != 0 {
            return Err(RemoteError::failed(
                FailureKind::Misconfigured,
                self.role(),
                "it has no ip(8) of iproute2, which sets up its routes",
                "install iproute2 there, or write network = \"own\" in [hosts]",
            ));
        }
        Ok(self.ip.insert(said.output.trim().to_owned()).clone())
    }

    /// The fault of a command that ended with an error.
    pub fn refused(&self, command: &str, status: i32, errors: &str) -> RemoteError {
        let words = errors.lines().map(str::trim).find(|line| !line.is_empty());
        let short: String = command.chars().take(200).collect();
        RemoteError::Variant {
            role: self.role(),
            what: format!("{short:?} ended with {status}: {}", words.unwrap_or("it said nothing")),
            remedy: "run it there by hand".to_owned(),
        }
    }

    /// Starts a program on the host, over the same connection. The remote text is read by the login
    /// shell, which may be any: it must hold no character that shells read differently.
    ///
    /// # Errors
    /// When ssh cannot be started here.
    pub fn start(&self, remote: &str) -> Result<Child> {
        let mut command = self.master.way().command(remote);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|source| RemoteError::Program {
            program: "ssh",
            source,
            remedy: "apt-get install openssh-client",
        })
    }

    /// The directory for our files on the host, made if need be.
    ///
    /// # Errors
    /// When it cannot be made, or is somebody else's, who could change what is run from it.
    pub fn make_directory(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        const ANOTHERS: i32 = 9;
        let directory = self.host.directory.clone();
        let made = format!(
            "mkdir -p {directory} || exit 1; [ -O {directory} ] || exit {ANOTHERS}; \
             chmod 700 {directory} && mkdir -p {directory}/files"
        );
        let said = self.run(&made, is_stopped)?;
        match said.status {
            0 => Ok(()),
            ANOTHERS => Err(RemoteError::failed(
                FailureKind::Misconfigured,
                self.role(),
                format!(
                    "{directory} belongs to somebody else, who could change what is run from it"
                ),
                "write another directory into [hosts]",
            )),
            status => Err(self.refused(&made, status, &said.errors)),
        }
    }

    /// Puts bytes onto the host, under the name of their digest, and returns the path. What is there
    /// already does not travel again.
    ///
    /// # Errors
    /// When they cannot be written there.
    pub fn put(&mut self, bytes: &[u8], is_stopped: &dyn Fn() -> bool) -> Result<String> {
        let sum = digest::of(bytes);
        self.put_known(&sum, is_stopped, &mut |to| std::io::Write::write_all(to, bytes))
    }

    /// The same with a file.
    ///
    /// # Errors
    /// When it cannot be read here, or written there.
    pub fn put_file(&mut self, path: &Path, is_stopped: &dyn Fn() -> bool) -> Result<String> {
        let failed = |source| RemoteError::File { path: path.to_owned(), source };
        let sum = digest::of_file(path).map_err(failed)?;
        let mut file = fs::File::open(path).map_err(failed)?;
        self.put_known(&sum, is_stopped, &mut |to| std::io::copy(&mut file, to).map(|_| ()))
    }

    fn put_known(
        &mut self,
        sum: &str,
        is_stopped: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&mut std::process::ChildStdin) -> std::io::Result<()>,
    ) -> Result<String> {
        let path = format!("{}/files/{sum}", self.host.directory);
        if self.sums(std::slice::from_ref(&path), is_stopped)?[0].as_deref() == Some(sum) {
            return Ok(path);
        }
        let broken = |role| {
            let what = "the connection broke while a file was on its way";
            RemoteError::failed(FailureKind::TransportLost, role, what, "look at its disk")
        };
        let role = self.role();
        let mut child = self.start(&format!("exec sh -c 'cat > {path}.new'"))?;
        let mut input = child.stdin.take().ok_or_else(|| broken(role))?;
        let written = write(&mut input);
        drop(input);
        let ended = child.wait().map_err(|_| broken(role))?;
        written.map_err(|_| broken(role))?;
        if !ended.success() {
            return Err(broken(role));
        }
        self.ask(&format!("mv {path}.new {path}"), is_stopped)?;
        match self.sums(std::slice::from_ref(&path), is_stopped)?[0].as_deref() == Some(sum) {
            true => Ok(path),
            false => Err(broken(role)),
        }
    }

    /// SHA-256 of files; nothing for those that are not there.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn sums(
        &mut self,
        paths: &[String],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<String>>> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let program = match self.host.os {
            System::Linux => "sha256sum",
            System::Freebsd | System::Bsdrp => "sha256 -r",
        };
        let list: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
        let command = format!(
            "for f in {}; do if [ -f \"$f\" ]; then {program} < \"$f\"; else echo none; fi; done",
            list.join(" ")
        );
        let said = self.ask(&command, is_stopped)?;
        let sum = |line: &str| {
            let word = line.split_whitespace().next().unwrap_or_default();
            (word.len() == 64).then(|| word.to_owned())
        };
        let mut sums: Vec<Option<String>> = said.lines().map(sum).collect();
        sums.resize(paths.len(), None);
        Ok(sums)
    }
}
