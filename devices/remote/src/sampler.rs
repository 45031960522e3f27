//! The sampler of the device: perf, detached from every connection. It is started before the window in which
//! nothing is sent to the device, is told to end after it, and what it wrote is fetched then. Forgotten, it
//! ends at its own time.

use std::time::Duration;

use crate::host::Connected;
use crate::testbed::System;
use crate::{RemoteError, Result};

/// How long it goes on, beyond the traffic, when nobody ends it.
const BEYOND: Duration = Duration::from_secs(120);
/// How long it may take to say its samples in words.
const WORDS: Duration = Duration::from_secs(300);

/// Returns when it samples.
pub(super) fn start(
    dut: &mut Connected,
    (frequency_hz, traffic): (u32, Duration),
    is_stopped: &dyn Fn() -> bool,
) -> Result<()> {
    if dut.host.os != System::Linux {
        let what = "profiles are taken of devices with Linux only, by perf".to_owned();
        let remedy = "take them there by hand: pmcstat".to_owned();
        return Err(RemoteError::Variant { role: dut.role(), what, remedy });
    }
    let (at, seconds) = (place(dut), (traffic + BEYOND).as_secs());
    // What perf starts last says that it samples.
    let script = format!(
        "command -v perf >/dev/null || {{ echo 'there is no perf' >&2; exit 7; }}\n\
         rm -f {at}.*\n\
         (trap '' HUP; exec perf record -q -e cpu-clock -a -g -F {frequency_hz} -o {at}.data -- \
         sh -c 'echo $PPID > {at}.pid; exec sleep {seconds}') </dev/null >{at}.log 2>&1 &\n\
         p=$!; n=0; while [ ! -s {at}.pid ] && kill -0 $p 2>/dev/null && [ $n -lt 200 ]; \
         do n=$((n + 1)); sleep 0.1; done\n\
         [ -s {at}.pid ] || {{ head -n 1 {at}.log >&2; exit 8; }}\n"
    );
    let said = dut.run(&script, is_stopped)?;
    match said.status {
        0 => Ok(()),
        status => {
            let why = said.errors.lines().find(|line| !line.trim().is_empty());
            Err(RemoteError::Variant {
                role: dut.role(),
                what: format!("perf does not sample ({status}): {}", why.unwrap_or("no reason")),
                remedy: "apt-get install linux-perf there; it needs root".to_owned(),
            })
        }
    }
}

/// Ends it and says its samples, as `perf script` does.
pub(super) fn fetch(dut: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<String> {
    let at = place(dut);
    let script = format!(
        "p=$(cat {at}.pid) || exit 9; kill -INT $p; n=0\n\
         while kill -0 $p 2>/dev/null && [ $n -lt 600 ]; do n=$((n + 1)); sleep 0.1; done\n\
         perf script --no-inline -i {at}.data 2>/dev/null; r=$?; rm -f {at}.*; exit $r"
    );
    dut.within(WORDS, |dut| dut.ask(&script, is_stopped))
}

fn place(dut: &Connected) -> String {
    format!("{}/samples", dut.host.directory)
}
