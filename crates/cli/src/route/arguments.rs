//! Arguments of `fwdlab route`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::ValueEnum;

use super::spec::{NeighbourSpec, PortSpec};

/// Arguments of `fwdlab route`.
///
/// Example: fwdlab route --routes table.txt --pcap-in in.pcap --pcap-out out.pcap
///
/// Example: fwdlab route --routes table.txt --port veth0,198.18.0.1/24 --port veth1,198.19.0.1/24
#[derive(clap::Args)]
pub struct Args {
    /// Frames that arrive, a pcap or pcapng file of Ethernet: on port 0; given again, on port 1, ...
    #[arg(long, value_name = "FILE")]
    pub(super) pcap_in: Vec<PathBuf>,
    /// Frames that leave, on any port; given several times, on port 0, 1, ... each
    #[arg(long, value_name = "FILE")]
    pub(super) pcap_out: Vec<PathBuf>,
    /// Routes: a list (PREFIX via GATEWAY dev INTERFACE), the output of `ip route`, `netstat -rn`
    /// or BIRD's `show route`, or an MRT dump. Without, there are the networks of the ports
    #[arg(long, value_name = "FILE")]
    pub(super) routes: Option<PathBuf>,
    /// A port, as words with commas between: its MAC address, its addresses with lengths, mtu=N,
    /// and the name of a network interface to forward on it (needs root, runs until Ctrl-C, SIGTERM
    /// or SIGHUP). A
    /// VLAN is a port, too: vlan=7@0 for VLAN 7 on port 0, instead of an interface.
    /// Without any, two ports: 02:00:00:00:00:10,198.18.0.1/24,2001:2::1/64 and
    /// 02:00:00:00:00:11,198.19.0.1/24,2001:2:0:8000::1/64
    #[arg(long, value_name = "WORDS")]
    pub(super) port: Vec<PortSpec>,
    /// Gateway of the routes that name none, or one in no port's network; one for each family
    #[arg(long, value_name = "ADDRESS")]
    pub(super) via: Vec<std::net::IpAddr>,
    /// MAC address of a neighbour; gateways without it are given 02:01 and the end of their
    /// address. Link-local addresses need their port: fe80::1%0=MAC
    #[arg(long, value_name = "ADDRESS=MAC")]
    pub(super) neighbour: Vec<NeighbourSpec>,
    /// Ask for the MAC addresses of gateways, with ARP and neighbour discovery; the answers must
    /// be in the captures. Between interfaces it always does
    #[arg(long)]
    pub(super) resolve: bool,
    /// Between interfaces: kind of sockets, af_packet, or af_xdp, which is faster, wants interfaces
    /// with one queue, and hides them from the host
    #[arg(long, default_value = "af_packet")]
    pub(super) socket: fwdlab_port::SocketKind,
    /// Between interfaces: end after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) seconds: Option<f64>,
    /// Between interfaces: take orders of `fwdlab ctl` on this socket, /run/fwdlab.sock if none is
    /// named
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "/run/fwdlab.sock")]
    pub(super) control: Option<PathBuf>,
    /// Between interfaces: follow the kernel's routes in this network namespace, which BIRD or FRR
    /// may have put there. Ports take their addresses from the kernel unless they name some, and leave
    /// what is for these addresses to it
    #[arg(long)]
    pub(super) kernel_routes: bool,
    /// Control word to set: net.route.algo.inet.algo=radix4
    #[arg(long, value_name = "WORD=VALUE")]
    pub(super) set: Vec<String>,
    /// How the counters are printed
    #[arg(long, value_enum, default_value = "text")]
    pub(super) format: Format,
    /// Print the counters every so many seconds while frames are forwarded, too
    #[arg(long, value_name = "SECONDS")]
    pub(super) every: Option<f64>,
}

/// How counters are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tables
    Text,
    /// One object a line
    Json,
}

/// How long to wait between two prints.
pub(super) fn pause(seconds: f64) -> anyhow::Result<Duration> {
    if !(0.001..=86_400.0).contains(&seconds) {
        bail!("--every or --seconds {seconds}: choose 0.001 to 86400 seconds");
    }
    Ok(Duration::from_secs_f64(seconds))
}
