//! A program on a host that goes on until it is told to stop, its connection breaks, or its time is up.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::process::{Child, ChildStdin};
use std::rc::Rc;
use std::time::{Duration, Instant};

use fwdlab_results::{CONSOLE_LINES, FailureKind};

use crate::host::Connected;
use crate::ssh::{Lines, Next, quoted};
use crate::{RemoteError, Result};

/// How often it is looked whether all is to stop.
const STEP: Duration = Duration::from_millis(50);

/// Seconds that a program may take to end by itself: pkt-gen looks once a second, and then writes its
/// summary.
const GRACE: u32 = 5;

/// What a program has started ends with it, where all of that is a group of its own: sshd makes one of each
/// session.
const SWEEP: &str = "[ \"$(ps -o pgid= -p $$ 2>/dev/null | tr -d ' ')\" != $$ ] || kill -KILL 0";

/// The last lines of the programs of a tester: they outlive the programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Rc<RefCell<VecDeque<String>>>);

impl Log {
    fn add(&self, role: &str, line: &str) {
        let mut lines = self.0.borrow_mut();
        if lines.len() == CONSOLE_LINES {
            lines.pop_front();
        }
        lines.push_back(format!("{role}: {line}"));
    }

    /// All of them, which are forgotten.
    pub(super) fn take(&self) -> Vec<String> {
        self.0.borrow_mut().drain(..).collect()
    }
}

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Lines,
    role: &'static str,
    ending: String,
    /// From when on what it prints is its own.
    log: Option<Log>,
    /// What it has printed so far, both outputs together.
    pub(super) text: String,
    /// Its exit status, once it has ended.
    pub(super) status: Option<i32>,
}

impl Process {
    /// Starts an argument list, which may run for `limit`; `log` keeps what it prints last.
    ///
    /// # Errors
    /// When ssh cannot be started here.
    pub(super) fn start(
        host: &Connected,
        words: &[String],
        limit: Duration,
        log: &Log,
    ) -> Result<Self> {
        let role = host.role();
        let mut child = host.start("exec sh -s")?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(role, "its pipes are missing"));
        };
        let nonce = format!("fwdlab-{:016x}", RandomState::new().hash_one(role));
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        // One line, so that what comes later on the standard input is for the one that waits for it:
        // the end of our input is the order to stop.
        let script = format!(
            "exec 3<&0; printf '\\n%s begin\\n' {nonce}; {} </dev/null 2>&1 3<&- & p=$!; \
             ( read x; kill -INT $p; sleep {GRACE}; kill -TERM $p ) <&3 >/dev/null 2>&1 & r=$!; \
             ( sleep {}; kill -KILL $p ) >/dev/null 2>&1 3<&- & w=$!; \
             wait $p; printf '\\n%s end %d\\n' {nonce} $?; kill $r $w; {SWEEP}; exit\n",
            words.join(" "),
            limit.as_secs() + 1
        );
        let written = input.write_all(script.as_bytes()).and_then(|()| input.flush());
        written.map_err(|_| failed(role, "the connection broke"))?;
        let mut process = Self {
            child,
            input: Some(input),
            lines: Lines::of(output),
            role,
            ending: format!("{nonce} begin"),
            log: None,
            text: String::new(),
            status: None,
        };
        // What a login file says comes before.
        process.wait_for(limit, &|| false, |process, line| line == process.ending)?;
        process.ending = format!("{nonce} end ");
        process.text.clear();
        process.log = Some(log.clone());
        Ok(process)
    }

    /// Reads until a line is the awaited one, the program has ended, or time is up; says whether it
    /// was the line.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(super) fn wait_for(
        &mut self,
        limit: Duration,
        is_stopped: &dyn Fn() -> bool,
        is_it: impl Fn(&Self, &str) -> bool,
    ) -> Result<bool> {
        let end = Instant::now() + limit;
        while self.status.is_none() {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.next(left.min(STEP)) {
                Next::End => return Err(failed(self.role, "the connection broke")),
                Next::Nothing if is_stopped() => return Err(RemoteError::Stopped),
                Next::Nothing if left.is_zero() => return Ok(false),
                Next::Nothing => {}
                Next::Line(line) => {
                    if is_it(self, &line) {
                        return Ok(true);
                    }
                    if let Some(status) = line.strip_prefix(&self.ending) {
                        self.status = Some(status.trim().parse().unwrap_or(-1));
                    } else {
                        self.log.iter().for_each(|log| log.add(self.role, &line));
                        self.text.push_str(&line);
                        self.text.push('\n');
                    }
                }
            }
        }
        Ok(false)
    }

    /// Tells it to stop and waits until it has.
    ///
    /// # Errors
    /// When the connection breaks, or it does not stop.
    pub(super) fn stop(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        drop(self.input.take());
        self.wait_for(Duration::from_secs(10), is_stopped, |_, _| false)?;
        match self.status {
            Some(_) => Ok(()),
            None => Err(failed(self.role, "it does not stop")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn failed(role: &'static str, why: &str) -> RemoteError {
    let remedy = "run the command there by hand";
    RemoteError::failed(
        FailureKind::TesterFailed,
        role,
        format!("the tester failed: {why}"),
        remedy,
    )
}
