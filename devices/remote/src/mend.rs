//! What is done when something broke, in this order: the traffic is stopped; the device is waited for,
//! because a router with more traffic than it bears starves its sshd and is not dead; it is switched off
//! and on. The campaign then sets everything up anew and tries the same trial again.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fwdlab_device::DeviceError;
use fwdlab_results::{Blame, CONSOLE_LINES, FailureKind};

use crate::error::Aftermath;
use crate::host::CONNECT;
use crate::machines::Machines;
use crate::settings::RemoteVariant;
use crate::testbed::DUT;
use crate::{RemoteError, Result, dut, logs};

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the last try to reach a device may take.
const LAST_TRY: Duration = Duration::from_secs(5);
/// How long the tester is tried to be reached.
const TESTER: Duration = Duration::from_secs(10);
/// How long a hook may take.
const HOOK: Duration = Duration::from_secs(120);

/// What became of the device.
enum Dut {
    /// It went on.
    Same,
    /// It booted meanwhile.
    Booted,
    /// It does not answer.
    Silent,
}

impl Machines {
    /// Looks after the machines when something broke; what is returned says what it was and what was
    /// done about it.
    pub(super) fn mend(
        &mut self,
        error: RemoteError,
        is_stopped: &dyn Fn() -> bool,
    ) -> DeviceError {
        // What is on the device now is not known.
        self.booted_for = None;
        (self.last_reading, self.has_come_through) = (None, false);
        let quiet_since = self.quiet_since.take();
        let mut after = Aftermath::default();
        let (kind, role) = match &error {
            RemoteError::Failed { kind, role, .. } => (*kind, *role),
            _ => return self.scrubbed_error(error, after),
        };
        if kind.blame() == Blame::Configuration {
            return self.scrubbed_error(error, after);
        }
        // Its input ends, and with it the traffic.
        let generator = self.generator.take();
        after.logs.extend(generator.into_iter().flat_map(|mut generator| generator.last_words()));
        after.remedies.push("stopped the traffic".to_owned());
        if role != DUT && kind == FailureKind::TransportLost {
            self.hosts = None;
        }
        let since = quiet_since.unwrap_or_else(Instant::now);
        match self.mended(kind, since, &mut after, is_stopped) {
            Ok(kind) => {
                if after.console.is_empty() && kind.blame() == Blame::Device {
                    after.console = self.console();
                }
                self.scrubbed_error(named(error, kind), after)
            }
            Err(error) => self.scrubbed_error(error, after),
        }
    }

    /// Looks after the device, silent `since` then, and the testers; what kind of failure it turned out to be.
    fn mended(
        &mut self,
        mut kind: FailureKind,
        since: Instant,
        after: &mut Aftermath,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<FailureKind> {
        let seen = self.look_after_dut(since, &mut after.remedies, is_stopped)?;
        let is_vague = matches!(
            kind,
            FailureKind::TransportLost | FailureKind::NoTraffic | FailureKind::TesterFailed
        );
        match seen {
            Dut::Booted if is_vague => kind = FailureKind::DutRebooted,
            Dut::Same | Dut::Booted => {}
            Dut::Silent => {
                if is_vague {
                    kind = FailureKind::DutHung;
                }
                after.console = self.console();
                self.power_cycle(&mut after.remedies, is_stopped)?;
            }
        }
        if let Some(dut) = &mut self.dut {
            after.logs.extend(logs::of_kernel(dut, is_stopped));
        }
        self.reach_testers(&mut after.remedies, is_stopped)?;
        Ok(kind)
    }

    /// The error for the campaign, without addresses and accounts.
    fn scrubbed_error(&self, error: RemoteError, after: Aftermath) -> DeviceError {
        let scrub = |text: String| self.secrets.scrub(&text);
        let error = match error {
            RemoteError::Failed { kind, role, what, remedy } => {
                RemoteError::Failed { kind, role, what: scrub(what), remedy }
            }
            RemoteError::Variant { role, what, remedy } => {
                RemoteError::Variant { role, what: scrub(what), remedy }
            }
            other => other,
        };
        let all = |lines: Vec<String>| lines.into_iter().map(scrub).collect();
        let (console, logs) = (all(after.console), all(after.logs));
        error.with(Aftermath { console, logs, ..after })
    }

    /// Waits for the device as long as it may be silent after the traffic.
    fn look_after_dut(
        &mut self,
        since: Instant,
        remedies: &mut Vec<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Dut> {
        let before = self.boot.clone();
        let limit = self.testbed.limits.silent_dut;
        let mut tries = 0;
        loop {
            tries += 1;
            let left = limit.saturating_sub(since.elapsed());
            match self.answers(left.clamp(LAST_TRY, CONNECT), is_stopped) {
                Ok(()) => break,
                Err(RemoteError::Stopped) => return Err(RemoteError::Stopped),
                Err(error) if is_of_configuration(&error) => return Err(error),
                Err(_) => self.dut = None,
            }
            if since.elapsed() >= limit {
                let seconds = since.elapsed().as_secs_f64();
                remedies.push(format!(
                    "tried to reach the device {}: silent for {seconds:.1} s",
                    times(tries)
                ));
                return Ok(Dut::Silent);
            }
            std::thread::sleep(PAUSE.min(limit));
        }
        if tries > 1 {
            remedies.push(format!("reached the device again, tried {}", times(tries)));
        }
        let is_same = before.is_none() || before == self.boot;
        Ok(if is_same { Dut::Same } else { Dut::Booted })
    }

    /// Whether the device answers within `patience`, over a new connection if need be.
    fn answers(&mut self, patience: Duration, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        if self.dut.is_none() {
            self.dut = Some(self.reach_dut(patience, is_stopped)?);
        }
        self.read_within(patience, is_stopped).map(drop)
    }

    fn reach_testers(
        &mut self,
        remedies: &mut Vec<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let start = Instant::now();
        let mut tries = 0;
        loop {
            if let Some(hosts) = &mut self.hosts
                && hosts.all().all(|host| host.run(":", is_stopped).is_ok())
            {
                return Ok(());
            }
            self.hosts = None;
            self.generator = None;
            if start.elapsed() > TESTER {
                // The next trial says what is wrong with it.
                remedies.push(format!("tried to reach the tester {}", times(tries)));
                return Ok(());
            }
            tries += 1;
            match self.connect(is_stopped) {
                Err(RemoteError::Stopped) => return Err(RemoteError::Stopped),
                Err(error) if is_of_configuration(&error) => return Err(error),
                Ok(()) => remedies.push("connected to the tester again".to_owned()),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Switches the device off and on, and waits until it has booted.
    fn power_cycle(
        &mut self,
        remedies: &mut Vec<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let power_failed = |what: &str, remedy: &str| {
            RemoteError::failed(FailureKind::PowerFailed, DUT, what, remedy)
        };
        let hook = self.testbed.hooks.power_cycle.clone();
        if hook.is_empty() {
            remedies.push("there is no power-cycle hook".to_owned());
            return Ok(());
        }
        if self.hook(&hook).is_none() {
            let what = "it hangs, and the power-cycle hook failed";
            return Err(power_failed(what, "run the hook by hand"));
        }
        remedies.push("switched the device off and on".to_owned());
        self.dut = None;
        match self.wait_for_boot(None, is_stopped)? {
            true => Ok(()),
            false => {
                let what = "it hangs, and did not come back when it was switched off and on";
                Err(power_failed(what, "look at its console"))
            }
        }
    }

    /// Tells the hooks which image and kernel are to be booted.
    pub(super) fn prepare_boot(&mut self, wanted: &RemoteVariant) -> Result<()> {
        let hooks = self.testbed.hooks.clone();
        let told =
            [("image", &wanted.image, hooks.image), ("kernel", &wanted.kernel, hooks.kernel)];
        for (name, value, hook) in told {
            let Some(value) = value else { continue };
            if hook.is_empty() {
                // A kernel may be there by other means; it is proved either way.
                if name == "image" {
                    return Err(RemoteError::failed(
                        FailureKind::Misconfigured,
                        DUT,
                        "a variant has an image, and there is no hook for it",
                        "add [hooks] image = [\"./netboot\", \"{image}\"] to the testbed file",
                    ));
                }
                continue;
            }
            let place = format!("{{{name}}}");
            let hook: Vec<String> = hook.iter().map(|word| word.replace(&place, value)).collect();
            if self.hook(&hook).is_none() {
                return Err(RemoteError::failed(
                    FailureKind::Misconfigured,
                    DUT,
                    format!("the {name} hook failed"),
                    "run it by hand",
                ));
            }
        }
        Ok(())
    }

    /// Boots the device, and waits until it is another boot.
    pub(super) fn reboot(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let before = self.read(is_stopped)?.boot;
        let script = "(trap '' HUP; sleep 1; reboot) </dev/null >/dev/null 2>&1 &";
        // It may be gone before its answer is here.
        let lost = match self.dut()?.ask(script, is_stopped) {
            Err(error) if error.kind() == Some(FailureKind::TransportLost) => Some(error),
            told => told.map(|_| None)?,
        };
        if lost.is_some() {
            self.dut = None;
        }
        if self.wait_for_boot(Some(&before), is_stopped)? {
            return Ok(());
        }
        // Whether it was told is not known then.
        if let Some(error) = lost {
            return Err(error);
        }
        let is_there = self.answers(LAST_TRY, is_stopped).is_ok();
        let (kind, what) = match is_there {
            true => (FailureKind::SameBoot, "it was told to reboot and did not"),
            false => (FailureKind::BootTimeout, "it did not come back from its reboot in time"),
        };
        Err(RemoteError::failed(kind, DUT, what, "look at its console, or raise [limits] boot"))
    }

    /// Waits until the device answers, in another boot than `before`.
    fn wait_for_boot(
        &mut self,
        before: Option<&str>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let start = Instant::now();
        while start.elapsed() < self.testbed.limits.boot {
            match self.answers(CONNECT, is_stopped) {
                Ok(()) if before != self.boot.as_deref() => {
                    dut::forget(self.dut()?, is_stopped)?;
                    return Ok(true);
                }
                Ok(()) => {}
                Err(RemoteError::Stopped) => return Err(RemoteError::Stopped),
                Err(error) if is_of_configuration(&error) => return Err(error),
                Err(_) => self.dut = None,
            }
            if is_stopped() {
                return Err(RemoteError::Stopped);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(false)
    }

    /// The last lines of the device's console, where there is a hook for it.
    fn console(&self) -> Vec<String> {
        let hook = &self.testbed.hooks.console;
        let text = if hook.is_empty() { None } else { self.hook(hook) };
        let text = text.unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.len().saturating_sub(CONSOLE_LINES);
        lines[first..].iter().map(|line| (*line).to_owned()).collect()
    }

    /// Runs a hook beside the testbed file; what it printed, when it ended well and in time.
    fn hook(&self, words: &[String]) -> Option<String> {
        let (program, arguments) = words.split_first()?;
        let beside = self.testbed.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(dir) = beside {
            command.current_dir(dir);
            if program.contains('/') && !program.starts_with('/') {
                command = Command::new(dir.join(program));
                command.args(arguments).current_dir(dir).stdin(Stdio::null());
                command.stdout(Stdio::piped()).stderr(Stdio::null());
            }
        }
        let mut child = command.spawn().ok()?;
        let lines = child.stdout.take().map(crate::ssh::Lines::of);
        let start = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if start.elapsed() < HOOK => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        };
        let text = lines.map(|lines| lines.rest(Duration::from_millis(200))).unwrap_or_default();
        status.success().then_some(text)
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// The error as what it turned out to be: where that is something else than it seemed first, its words and
/// what to do say so.
fn named(error: RemoteError, kind: FailureKind) -> RemoteError {
    let RemoteError::Failed { kind: first, role, what, remedy } = error else { return error };
    let it = match kind {
        FailureKind::DutHung => "it hangs",
        FailureKind::DutRebooted => "it booted in the middle of the trial",
        _ => return RemoteError::Failed { kind, role, what, remedy },
    };
    if first == kind {
        return RemoteError::Failed { kind, role, what, remedy };
    }
    RemoteError::failed(
        kind,
        DUT,
        format!("{it} (first seen: {role}: {what})"),
        "look at its console",
    )
}

fn is_of_configuration(error: &RemoteError) -> bool {
    error.kind().is_some_and(|kind| kind.blame() == Blame::Configuration)
}
