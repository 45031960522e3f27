//! What the device counts, asked over its connection.

use fwdlab_counters::{Broken, Change, PortReading, Reading, netstat, proc};
use fwdlab_results::FailureKind;

use crate::host::Connected;
use crate::testbed::System;
use crate::{RemoteError, Result};

/// Reads everything, by one command.
///
/// # Errors
/// When the connection breaks, or a port is not there.
pub fn read(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
    let names: Vec<String> = host.host.ports.iter().map(|port| port.name.clone()).collect();
    let ports: Vec<&str> = names.iter().map(String::as_str).collect();
    let is_silent = |name: &&str| host.ports_without_statistics.contains(*name);
    let asked: Vec<&str> = ports.iter().copied().filter(|name| !is_silent(name)).collect();
    let script = match host.host.os {
        System::Linux => proc::script(&ports, &asked, host.host.is_cost_of_host),
        System::Freebsd | System::Bsdrp => netstat::script(&ports),
    };
    let said = host.ask(&script, is_stopped)?;
    match host.host.os {
        System::Linux => {
            let reading = proc::answers(&said, &ports);
            // Three processes for each port and reading are saved: a driver does not learn to count.
            let says_nothing = |seen: &PortReading| seen.pauses.is_none() && seen.queues.is_empty();
            let silent = ports.iter().zip(&reading.ports).filter(|(_, seen)| says_nothing(seen));
            host.ports_without_statistics.extend(silent.map(|(name, _)| (*name).to_owned()));
            Ok(reading)
        }
        System::Freebsd | System::Bsdrp => Ok(netstat::answers(&said, &ports)),
    }
}

/// Reads addresses, links and speeds of the ports alone, which takes less.
///
/// # Errors
/// When the connection breaks.
pub fn look(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
    if host.host.os != System::Linux {
        return read(host, is_stopped);
    }
    let names: Vec<String> = host.host.ports.iter().map(|port| port.name.clone()).collect();
    let ports: Vec<&str> = names.iter().map(String::as_str).collect();
    let said = host.ask(&proc::links(&ports), is_stopped)?;
    Ok(proc::answers(&said, &ports))
}

/// What happened between two readings.
///
/// # Errors
/// When the device booted or lost a link in between.
pub fn change(role: &'static str, before: &Reading, after: &Reading) -> Result<Change> {
    let failed = |kind, what: &str, remedy| RemoteError::failed(kind, role, what, remedy);
    fwdlab_counters::change(before, after).map_err(|broken| match broken {
        Broken::Booted => failed(
            FailureKind::DutRebooted,
            "it booted in the middle of the trial",
            "look at its console",
        ),
        Broken::LostLink => failed(
            FailureKind::LinkLost,
            "a link of the test network went down in the trial",
            "look at cables and speeds",
        ),
    })
}
