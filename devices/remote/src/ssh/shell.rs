//! One POSIX shell on a host, to which commands are said over its standard input.
//!
//! Each answer stands between two lines with a word that nobody else knows. What a chatty login file
//! says comes before the first of them and is not read; a login shell that is no POSIX shell only has
//! to understand `exec sh -s`.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use super::lines::{Lines, Next};
use super::options::Access;
use crate::{RemoteError, Result};
use fwdlab_results::FailureKind;

/// How long one look for a line lasts before it is asked again whether all is to stop.
const STEP: Duration = Duration::from_millis(50);

/// A shell on a host; it ends when dropped.
#[derive(Debug)]
pub struct Shell {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines,
    errors: Lines,
    role: &'static str,
    nonce: String,
    count: u64,
}

/// What is wrong when no answer comes.
const LATE: &str = "a command did not end in time";
/// Characters of it that are shown.
const SHOWN: usize = 80;

/// The error with the begin of the command that it is about.
fn late(error: RemoteError, command: &str) -> RemoteError {
    match error {
        RemoteError::Failed { kind, role, what, remedy } if what == LATE => {
            let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown: String = line.chars().take(SHOWN).collect();
            RemoteError::Failed { kind, role, what: format!("{what}: {shown}"), remedy }
        }
        other => other,
    }
}

/// What a command said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Its exit status.
    pub status: i32,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub errors: String,
}

/// A word as every POSIX shell reads it.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl Shell {
    /// Opens a shell over the master's connection.
    ///
    /// # Errors
    /// When the connection is gone, or there is no `sh` on the host.
    pub fn open(way: &Access, limit: Duration, is_stopped: &dyn Fn() -> bool) -> Result<Self> {
        let mut command = way.command("exec sh -s");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let remedy = "apt-get install openssh-client";
        let failed = |source| RemoteError::Program { program: "ssh", source, remedy };
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (input, Some(output), Some(errors)) = pipes else {
            return Err(Self::broken(way.role));
        };
        let (output, errors) = (Lines::of(output), Lines::of(errors));
        let nonce = format!("fwdlab-{:016x}", RandomState::new().hash_one(std::process::id()));
        let mut shell = Self { child, input, output, errors, role: way.role, nonce, count: 0 };
        shell.say("LC_ALL=C; export LC_ALL\n")?;
        shell.run(":", limit, is_stopped)?;
        Ok(shell)
    }

    /// Runs a command of POSIX sh, whatever its exit status; it may take `limit`.
    ///
    /// # Errors
    /// When the connection breaks, or no answer comes in time: the shell is of no use then.
    pub fn run(
        &mut self,
        command: &str,
        limit: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Said> {
        self.count += 1;
        let (nonce, count) = (self.nonce.clone(), self.count);
        let command = quoted(command);
        // In a shell of its own, so that it can neither end ours nor change it.
        self.say(&format!(
            "printf '\\n%s begin {count}\\n' {nonce}; printf '\\n%s begin {count}\\n' {nonce} >&2; \
             (eval {command}) </dev/null; fwdlab_status=$?; \
             printf '\\n%s end {count} %d\\n' {nonce} $fwdlab_status; \
             printf '\\n%s end {count} 0\\n' {nonce} >&2\n"
        ))?;
        let end = Instant::now() + limit;
        let (status, output) =
            self.framed(true, end, is_stopped).map_err(|error| late(error, &command))?;
        let (_, errors) = self.framed(false, end, is_stopped)?;
        Ok(Said { status, output, errors })
    }

    fn say(&mut self, text: &str) -> Result<()> {
        let input = self.input.as_mut().ok_or_else(|| Self::broken(self.role))?;
        let said = input.write_all(text.as_bytes()).and_then(|()| input.flush());
        said.map_err(|_| Self::broken(self.role))
    }

    /// What stands between the marks of the last command, and the number behind the second one.
    fn framed(
        &self,
        is_output: bool,
        end: Instant,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(i32, String)> {
        let lines = if is_output { &self.output } else { &self.errors };
        let begin = format!("{} begin {}", self.nonce, self.count);
        let ending = format!("{} end {} ", self.nonce, self.count);
        let mut text: Option<String> = None;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match lines.next(left.min(STEP)) {
                Next::End => return Err(Self::broken(self.role)),
                Next::Nothing if is_stopped() => return Err(RemoteError::Stopped),
                Next::Nothing if left.is_zero() => {
                    return Err(RemoteError::failed(
                        FailureKind::TransportLost,
                        self.role,
                        LATE,
                        "raise [limits] command if it needs longer",
                    ));
                }
                Next::Nothing => {}
                Next::Line(line) if line == begin => text = Some(String::new()),
                Next::Line(line) => {
                    let Some(text) = &mut text else { continue };
                    if let Some(status) = line.strip_prefix(&ending) {
                        // The mark begins with a line end of its own.
                        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
                        return Ok((status.trim().parse().unwrap_or(-1), text));
                    }
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        }
    }

    fn broken(role: &'static str) -> RemoteError {
        RemoteError::failed(
            FailureKind::TransportLost,
            role,
            "the connection broke",
            "look whether it is up and sshd runs",
        )
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
