//! What the remote device needs here, and what a testbed looks like from here.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fwdlab_device::{DoctorFinding, Place};

use crate::host::{CONNECT, FIND_IP};
use crate::reach::Reach;
use crate::testbed::{DUT, GeneratorKind, Host, System, TESTER, Testbed};
use crate::tester::streams::version;
use crate::{Result, dut};

/// Whether the kernel has its generator, or can load it.
const PKTGEN: &str = "PATH=$PATH:/usr/sbin:/sbin; [ -e /proc/net/pktgen ] || modprobe -n pktgen";

/// How doctor shows [`FIND_IP`].
const IP: &str = "ip of iproute2";

/// What this machine needs.
pub(super) fn findings(_: &Place) -> Vec<DoctorFinding> {
    let version = ssh_version();
    vec![DoctorFinding {
        what: "ssh",
        present: version.is_some(),
        detail: version.unwrap_or_else(|| "not found".to_owned()),
        enables: "real machines (device = \"remote\")",
        remedy: "apt-get install openssh-client",
        is_needed: true,
    }]
}

/// What ssh is here, if it is.
fn ssh_version() -> Option<String> {
    // It says so on the standard error.
    let said = Command::new("ssh").arg("-V").stdin(Stdio::null()).output();
    said.ok().map(|said| String::from_utf8_lossy(&said.stderr).trim().to_owned())
}

/// Reads a testbed file without connecting to anything.
///
/// # Errors
/// When it is wrong.
pub fn check(file: &Path) -> Result<()> {
    Testbed::read(file).map(|_| ())
}

/// What each host of a testbed answers, for people: unlike results, it names addresses. Says also
/// whether everything is as it should be.
///
/// # Errors
/// When the testbed file is wrong.
pub fn examine(file: &Path, program: &Path) -> Result<(String, bool)> {
    let testbed = Testbed::read(file)?;
    let mark = testbed.mark();
    let (mut text, mut is_well) = (String::new(), true);
    let mut line = |is_good: bool, what: String| {
        is_well &= is_good;
        let _ = writeln!(text, "{} {what}", if is_good { "yes " } else { "no  " });
    };
    line(true, format!("testbed {}, fingerprint {}", mark.name, &mark.fingerprint[..16]));
    if let Some(version) = ssh_version() {
        line(true, format!("here: {version}"));
    }
    let is_known = testbed.known_hosts.exists();
    line(is_known, format!("known hosts in {}", testbed.known_hosts.display()));
    for fingerprint in fingerprints(&testbed.known_hosts) {
        line(true, format!("known key {fingerprint}"));
    }
    let reach = Reach::new(&testbed, program)?;
    let hosts: Vec<Host> = testbed.hosts().map(|host| with_loopback(&testbed, host)).collect();
    for host in &hosts {
        match reach.connect(&testbed, host, CONNECT, &|| false) {
            Err(error) => {
                line(false, error.to_string());
                for words in reach.words_of_ssh(host).lines().take(5) {
                    line(false, format!("{}: ssh says: {words}", host.role));
                }
            }
            Ok(mut connected) => {
                line(true, format!("{}: ssh {}", host.role, host.ssh));
                match dut::read(&mut connected, &|| false) {
                    Err(error) => line(false, error.to_string()),
                    Ok(reading) => {
                        line(true, format!("{}: kernel {}", host.role, reading.kernel));
                        for (port, seen) in host.ports.iter().zip(&reading.ports) {
                            if port.is_datagram() {
                                line(true, format!("{}: port {}", host.role, port.name));
                                continue;
                            }
                            let is_ours = seen.mac == port.mac.to_string();
                            let link = if seen.has_carrier { "link up" } else { "no link" };
                            let mac = match (is_ours, seen.mac.as_str()) {
                                (true, mac) => mac.to_owned(),
                                (false, "") => "there is no such port".to_owned(),
                                (false, mac) => format!("{mac}, not {}", port.mac),
                            };
                            let words = format!("{mac}, {link}, speed {}", seen.speed);
                            let is_good = is_ours && seen.has_carrier;
                            line(is_good, format!("{}: port {}: {words}", host.role, port.name));
                        }
                    }
                }
                for tool in tools(&testbed, host) {
                    let look = match tool {
                        IP => FIND_IP.to_owned(),
                        tool => format!("PATH=$PATH:/usr/sbin:/sbin; command -v {tool}"),
                    };
                    let found = connected.run(&look, &|| false);
                    let is_there = found.is_ok_and(|said| said.status == 0);
                    line(is_there, format!("{}: {tool}", host.role));
                }
                if testbed.receiver.is_some() && host.role != DUT {
                    let none =
                        "no iperf3, which streams (kind = \"tcp\") need: apt-get install iperf3";
                    let found = version(&mut connected).unwrap_or_else(|| none.to_owned());
                    line(true, format!("{}: {found}", host.role));
                }
                if testbed.generator.kind == GeneratorKind::Pktgen && host.role == TESTER {
                    let found = connected.run(PKTGEN, &|| false);
                    let is_there = found.is_ok_and(|said| said.status == 0);
                    line(is_there, format!("{}: pktgen, a module of its kernel", host.role));
                }
            }
        }
    }
    Ok((text, is_well))
}

/// A host with every port that is looked at: the tester's loopback, too.
fn with_loopback(testbed: &Testbed, host: &Host) -> Host {
    let mut host = host.clone();
    if host.role == TESTER {
        host.ports.extend(testbed.generator.loopback.iter().flatten().cloned());
    }
    host
}

/// Programs that a host needs.
fn tools(testbed: &Testbed, host: &Host) -> Vec<&'static str> {
    let mut tools = match host.os {
        System::Linux => vec!["sha256sum"],
        System::Freebsd | System::Bsdrp => vec!["sha256"],
    };
    if host.os == System::Linux && host.is_networked_by_us {
        tools.push(IP);
    }
    let is_tester = host.role != DUT;
    match testbed.generator.kind {
        GeneratorKind::PktGen if is_tester => tools.push("pkt-gen"),
        GeneratorKind::Trafgen if host.role == TESTER => tools.push("trafgen"),
        _ => {}
    }
    tools
}

fn fingerprints(known_hosts: &Path) -> Vec<String> {
    let said = Command::new("ssh-keygen").arg("-lf").arg(known_hosts).output();
    let text = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}
