//! QEMU's monitor (QMP, docs/interop/qmp-spec.txt of QEMU): a line of JSON each way.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// An answer that does not come within this time never comes.
const PATIENCE: Duration = Duration::from_secs(10);

/// What QEMU is to be told, so that its monitor is at this socket.
pub(crate) fn argument(socket: &Path) -> [String; 2] {
    ["-qmp".to_owned(), format!("unix:{},server=on,wait=off", socket.display())]
}

/// QEMU's monitor.
pub(crate) struct Monitor {
    stream: UnixStream,
    answers: BufReader<UnixStream>,
}

impl Monitor {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let answers = BufReader::new(stream.try_clone().ok()?);
        let mut monitor = Self { stream, answers };
        monitor.ask(&json!({ "execute": "qmp_capabilities" }))?;
        Some(monitor)
    }

    /// What it returns; nothing where it refuses, or is gone.
    pub(crate) fn ask(&mut self, command: &Value) -> Option<Value> {
        writeln!(self.stream, "{command}").ok()?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.answers.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let mut answer: Value = serde_json::from_str(&line).ok()?;
            if let Some(value) = answer.get_mut("return") {
                return Some(value.take());
            }
            if answer.get("error").is_some() {
                return None;
            }
        }
    }

    /// The text in the field `status` of what it returns.
    pub(crate) fn status(&mut self, command: &str) -> Option<String> {
        let answer = self.ask(&json!({ "execute": command }))?;
        answer.get("status").and_then(Value::as_str).map(str::to_owned)
    }

    /// What it says to a command for people.
    pub(crate) fn words(&mut self, command: &str) -> Option<String> {
        let arguments = json!({ "command-line": command });
        let answer =
            self.ask(&json!({ "execute": "human-monitor-command", "arguments": arguments }))?;
        answer.as_str().map(str::to_owned)
    }
}
