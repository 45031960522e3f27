//! The testbed: which machines there are, how they are cabled, and how they are reached.
//!
//! The experiment names no machine; a testbed file names nothing but machines. Results keep the
//! testbed's name and a fingerprint, and nothing else of it.

mod read;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use fwdlab_agent::order::Maker;
use fwdlab_guard::digest;
use fwdlab_port::datagram::is_datagram;
use fwdlab_results::TestbedMark;
use fwdlab_wire::MacAddr;

/// Names of the roles: what messages and results call the hosts.
pub const DUT: &str = "dut";
/// The host that sends, and receives where no other does.
pub const TESTER: &str = "tester";
/// The host that receives.
pub const RECEIVER: &str = "receiver";

/// A testbed file that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct Testbed {
    /// The file.
    pub path: PathBuf,
    /// Its name, for results.
    pub name: String,
    /// The file of known host keys; it is read, never written.
    pub known_hosts: PathBuf,
    /// The ssh configuration, where it is not the user's own.
    pub ssh_config: Option<PathBuf>,
    /// The device under test.
    pub dut: Host,
    /// What sends.
    pub tester: Host,
    /// What receives, where it is another host.
    pub receiver: Option<Host>,
    /// What the controller can do beside ssh.
    pub hooks: Hooks,
    /// How long, how often.
    pub limits: Limits,
    /// What sends and counts.
    pub generator: Generator,
}

/// One machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its role.
    pub role: &'static str,
    /// Its name for ssh: an alias of ssh_config, or `user@address`.
    pub ssh: String,
    /// Its system.
    pub os: System,
    /// Its ports in the test network: of the device, first the one on the side of the sources.
    pub ports: Vec<TestPort>,
    /// Where files of ours may lie.
    pub directory: String,
    /// fwdlab for this host, where it is not the running program.
    pub program: Option<PathBuf>,
    /// Whether fwdlab sets up routes and neighbours.
    pub is_networked_by_us: bool,
    /// Whether the time in which its processors are not idle is what frames cost it.
    pub is_cost_of_host: bool,
}

/// A port in the test network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPort {
    /// Name of the interface, or of a socket beside a guest (`udp:OWN-OTHER`).
    pub name: String,
    /// Its address, by which it is recognised.
    pub mac: MacAddr,
}

impl TestPort {
    /// Whether it is a socket whose datagrams are frames. Its host knows nothing of it.
    pub fn is_datagram(&self) -> bool {
        is_datagram(&self.name)
    }
}

/// Operating systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux.
    Linux,
    /// FreeBSD.
    Freebsd,
    /// BSD Router Project: FreeBSD with a read-only root and a configuration that must be saved.
    Bsdrp,
}

impl System {
    /// Every system.
    pub const ALL: [Self; 3] = [Self::Linux, Self::Freebsd, Self::Bsdrp];

    /// The name in testbed files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Freebsd => "freebsd",
            Self::Bsdrp => "bsdrp",
        }
    }
}

/// Commands of the controller: argument lists, run without a shell in the directory of the testbed
/// file. Empty ones are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Switches the device off and on.
    pub power_cycle: Vec<String>,
    /// Prints the last lines of the device's console.
    pub console: Vec<String>,
    /// Gives the device the image `{image}`.
    pub image: Vec<String>,
    /// Gives the device the kernel `{kernel}`.
    pub kernel: Vec<String>,
}

/// How long, how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a boot.
    pub boot: Duration,
    /// How long a device may be silent once the traffic has stopped.
    pub silent_dut: Duration,
    /// How often a trial is begun.
    pub attempts: u32,
    /// For one command on a host.
    pub command: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { boot: seconds(250), silent_dut: seconds(60), attempts: 3, command: seconds(60) }
    }
}

/// What sends and counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// What it is.
    pub kind: GeneratorKind,
    /// Bits per second of the ports, where the file says so.
    pub line_bps: Option<f64>,
    /// Two more ports of the tester, joined by a cable: what they show of time stamps.
    pub loopback: Option<[TestPort; 2]>,
    /// The command that receives, for kinds that are commands.
    pub receive: Vec<String>,
    /// The command that sends, for kinds that are commands.
    pub send: Vec<String>,
}

/// Kinds of testers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeneratorKind {
    /// fwdlab's own, on hosts with Linux.
    #[default]
    Fwdlab,
    /// pkt-gen of netmap; its logs are read as those of published results.
    PktGen,
    /// The kernel's own generator, on hosts with Linux.
    Pktgen,
    /// trafgen of netsniff-ng, on hosts with Linux.
    Trafgen,
    /// Any program that prints intervals as JSON lines.
    Command,
}

impl GeneratorKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Fwdlab, Self::PktGen, Self::Pktgen, Self::Trafgen, Self::Command];

    /// The name in testbed files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fwdlab => "fwdlab",
            Self::PktGen => "pkt-gen",
            Self::Pktgen => "pktgen",
            Self::Trafgen => "trafgen",
            Self::Command => "command",
        }
    }

    /// Whether fwdlab itself runs on the hosts of the tester, as their agent.
    pub const fn has_agent(self) -> bool {
        matches!(self, Self::Fwdlab | Self::Pktgen | Self::Trafgen)
    }

    /// What makes the frames for the agent, where that is not fwdlab.
    pub const fn maker(self) -> Option<Maker> {
        match self {
            Self::Pktgen => Some(Maker::Pktgen),
            Self::Trafgen => Some(Maker::Trafgen),
            _ => None,
        }
    }
}

impl Testbed {
    /// The host that receives.
    pub fn receiver(&self) -> &Host {
        self.receiver.as_ref().unwrap_or(&self.tester)
    }

    /// The port that sends.
    pub fn out(&self) -> &TestPort {
        &self.tester.ports[0]
    }

    /// The port that receives.
    pub fn back(&self) -> &TestPort {
        match &self.receiver {
            Some(receiver) => &receiver.ports[0],
            None => &self.tester.ports[1],
        }
    }

    /// Every host, the device first.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        [&self.dut, &self.tester].into_iter().chain(&self.receiver)
    }

    /// What campaigns are bound to.
    pub fn mark(&self) -> TestbedMark {
        let mut text = format!("{}\n{}\n", self.name, self.generator.kind.name());
        for host in self.hosts() {
            text.push_str(&format!("{} {}", host.role, host.os.name()));
            for port in &host.ports {
                text.push_str(&format!(" {} {}", port.name, port.mac));
            }
            if host.is_cost_of_host {
                text.push_str(" whole-host");
            }
            text.push('\n');
        }
        for port in self.generator.loopback.iter().flatten() {
            text.push_str(&format!("loopback {} {}\n", port.name, port.mac));
        }
        let fingerprint = digest::of(text.as_bytes());
        TestbedMark { name: self.name.clone(), fingerprint }
    }
}
