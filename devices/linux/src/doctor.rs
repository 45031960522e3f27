//! What the linux device uses of the kernel.

use std::fs;

use fwdlab_device::DoctorFinding;
use fwdlab_topology::tracking;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use crate::{try_af_xdp, try_live_frames, try_namespaces};

/// Capabilities by their numbers in capability.h.
const CAPABILITIES: [(&str, u32); 4] =
    [("CAP_SYS_ADMIN", 21), ("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13), ("CAP_BPF", 39)];

pub(super) fn findings() -> Vec<DoctorFinding> {
    let programs =
        PROGRAMS.map(|(name, enables, remedy)| DoctorFinding::program(name, enables, remedy));
    let tried = [privileges(), namespaces(), live_frames(), af_xdp(), statistics(), connections()];
    tried.into_iter().chain(programs).collect()
}

/// Programs of other people: name, what it makes possible, how to get it.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("nft", "nftables rule sets as variants", "apt-get install nftables"),
    ("ip", "looking at the namespaces of a run (ip netns)", "apt-get install iproute2"),
    ("perf", "kernel flame graphs", "apt-get install linux-perf"),
];

fn privileges() -> DoctorFinding {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut missing = missing_capabilities(&status);
    let sysctls = access("/proc/sys/net/ipv4/ip_forward", AccessFlags::W_OK);
    if sysctls == Err(Errno::EROFS) {
        missing.push("a /proc/sys that can be written");
    }
    let words = [
        "privileges",
        "device = \"linux\": namespaces, interfaces, XDP programs",
        "run fwdlab as root (sudo), or a container with --privileged",
    ];
    let lacks = format!("without {}", missing.join(", "));
    let is_whole = missing.is_empty();
    finding(words, is_whole.then(|| "all that are needed".to_owned()).ok_or(lacks))
}

/// Those that /proc/PID/status does not list as effective.
fn missing_capabilities(status: &str) -> Vec<&'static str> {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok())
        .unwrap_or(0);
    let is_missing = |bit: u32| effective >> bit & 1 == 0;
    CAPABILITIES.iter().filter(|(_, bit)| is_missing(*bit)).map(|(name, _)| *name).collect()
}

fn namespaces() -> DoctorFinding {
    const GOOD: &str = "two namespaces and a veth pair between them were made and removed";
    let words = [
        "namespaces",
        "device = \"linux\": tester and device apart from the rest of the system",
        "a kernel with CONFIG_NET_NS and CONFIG_VETH (modprobe veth), and root",
    ];
    finding(words, tried(try_namespaces(), GOOD))
}

fn live_frames() -> DoctorFinding {
    let words = [
        "XDP live frames",
        "the tester of device = \"linux\": millions of frames per second on one core",
        "Linux 5.18 or newer with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT, and root",
    ];
    finding(words, tried(try_live_frames(), "tried"))
}

fn af_xdp() -> DoctorFinding {
    let words = [
        "AF_XDP",
        "faster ports of fwdlab's own router, and the second-best tester",
        "Linux 4.18 or newer with CONFIG_XDP_SOCKETS, and root",
    ];
    DoctorFinding { is_needed: false, ..finding(words, tried(try_af_xdp(), "tried")) }
}

fn statistics() -> DoctorFinding {
    let words = ["drop counters", "the reasons of drops of device = \"linux\"", "mount /proc"];
    let counters = fs::metadata("/proc/thread-self/net/snmp");
    let seen = counters.map(|_| "/proc/net/snmp".to_owned());
    finding(words, seen.map_err(|_| "no /proc/net/snmp".to_owned()))
}

fn connections() -> DoctorFinding {
    let words = [
        "connection tracking",
        "kind = \"sessions\" on device = \"linux\"",
        "modprobe nf_conntrack, or a kernel with CONFIG_NF_CONNTRACK",
    ];
    let room = tracking::room().map(|room| format!("room for {room} sessions"));
    let seen = room.map_err(|error| format!("no nf_conntrack: {error}"));
    DoctorFinding { is_needed: false, ..finding(words, seen) }
}

fn tried<E: ToString>(tried: Result<(), E>, good: &str) -> Result<String, String> {
    tried.map(|()| good.to_owned()).map_err(|error| error.to_string())
}

/// What is said of something that the device needs, whether it was seen or not.
fn finding(
    [what, enables, remedy]: [&'static str; 3],
    seen: Result<String, String>,
) -> DoctorFinding {
    let present = seen.is_ok();
    let (Ok(detail) | Err(detail)) = seen;
    DoctorFinding { what, present, detail, enables, remedy, is_needed: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_from_the_status_of_the_process() {
        assert_eq!(missing_capabilities("CapEff:\t000001ffffffffff\n"), [""; 0]);
        assert_eq!(
            missing_capabilities("CapEff:\t0000000000003000\n"),
            ["CAP_SYS_ADMIN", "CAP_BPF"]
        );
        assert_eq!(missing_capabilities("nothing").len(), 4);
    }
}
