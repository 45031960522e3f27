//! Signals that end a command: Ctrl-C, SIGTERM, a terminal that goes away, and what else would kill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

use crate::devices;

/// The exit code of a command that was stopped.
pub const STOPPED: u8 = 130;

/// The first signal sets the flag, so that what runs ends in good order; a second one removes what
/// the devices of this process have made and ends the program at once.
///
/// To be called before a device is opened: what it makes must not outlive the command.
///
/// # Errors
/// When the system refuses.
pub fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new(endings()).context("cannot take over Ctrl-C")?;
    let flag = stop.clone();
    let work = move || {
        for _ in signals.forever() {
            if flag.swap(true, Ordering::Relaxed) {
                devices::abandon();
                std::process::exit(STOPPED.into());
            }
        }
    };
    std::thread::Builder::new().spawn(work).context("cannot wait for Ctrl-C")?;
    Ok(stop)
}

/// Makes a limit for files (`ulimit -f`) an error of whoever writes past it, as a full disk is: without a handler the
/// signal would end the program.
pub fn outlive_limits() {
    // Where there can be no handler, all is as it was.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// The signals that end a command: all that would end it by themselves, and leave behind what its devices have
/// made. nohup(1) has SIGHUP ignored, and it stays so.
fn endings() -> Vec<i32> {
    let others = [SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];
    let others = others.into_iter().filter(|signal| !is_ignored(*signal));
    [SIGINT, SIGTERM].into_iter().chain(others).collect()
}

/// Whether this process was started with a signal ignored, where the system says so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
