//! `fwdlab route`: the router by itself, between capture files or network interfaces.
//!
//! Between captures, time is that of the captures: rate limits, ARP and neighbour discovery go by it, so the same
//! input gives the same output, to the byte.

mod config;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod orders;
mod replay;
#[cfg(target_os = "linux")]
mod serve;
mod show;
mod ways;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::ValueEnum;

use crate::output;
use config::{NeighbourSpec, PortSpec};
use replay::Replay;

/// Arguments of `fwdlab route`.
///
/// Example: fwdlab route --routes table.txt --pcap-in in.pcap --pcap-out out.pcap
///
/// Example: fwdlab route --routes table.txt --port veth0,198.18.0.1/24 --port veth1,198.19.0.1/24
#[derive(clap::Args)]
pub struct Args {
    /// Frames that arrive, a pcap or pcapng file of Ethernet: on port 0; given again, on port 1, ...
    #[arg(long, value_name = "FILE")]
    pcap_in: Vec<PathBuf>,
    /// Frames that leave, on any port; given several times, on port 0, 1, ... each
    #[arg(long, value_name = "FILE")]
    pcap_out: Vec<PathBuf>,
    /// Routes: a list (PREFIX via GATEWAY dev INTERFACE), the output of `ip route`, `netstat -rn`
    /// or BIRD's `show route`, or an MRT dump. Without, there are the networks of the ports
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
    /// A port, as words with commas between: its MAC address, its addresses with lengths, mtu=N,
    /// and the name of a network interface to forward on it (needs root, runs until Ctrl-C, SIGTERM
    /// or SIGHUP). A
    /// VLAN is a port, too: vlan=7@0 for VLAN 7 on port 0, instead of an interface.
    /// Without any, two ports: 02:00:00:00:00:10,198.18.0.1/24,2001:2::1/64 and
    /// 02:00:00:00:00:11,198.19.0.1/24,2001:2:0:8000::1/64
    #[arg(long, value_name = "WORDS")]
    port: Vec<PortSpec>,
    /// Gateway of the routes that name none, or one in no port's network; one for each family
    #[arg(long, value_name = "ADDRESS")]
    via: Vec<std::net::IpAddr>,
    /// MAC address of a neighbour; gateways without it are given 02:01 and the end of their
    /// address. Link-local addresses need their port: fe80::1%0=MAC
    #[arg(long, value_name = "ADDRESS=MAC")]
    neighbour: Vec<NeighbourSpec>,
    /// Ask for the MAC addresses of gateways, with ARP and neighbour discovery; the answers must
    /// be in the captures. Between interfaces it always does
    #[arg(long)]
    resolve: bool,
    /// Between interfaces: kind of sockets, af_packet, or af_xdp, which is faster, wants interfaces
    /// with one queue, and hides them from the host
    #[arg(long, default_value = "af_packet")]
    socket: fwdlab_port::SocketKind,
    /// Between interfaces: end after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Between interfaces: take orders of `fwdlab ctl` on this socket, /run/fwdlab.sock if none is
    /// named
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "/run/fwdlab.sock")]
    control: Option<PathBuf>,
    /// Between interfaces: follow the kernel's routes in this network namespace, which BIRD or FRR
    /// may have put there. Ports take their addresses from the kernel unless they name some, and leave
    /// what is for these addresses to it
    #[arg(long)]
    kernel_routes: bool,
    /// Control word to set: net.route.algo.inet.algo=radix4
    #[arg(long, value_name = "WORD=VALUE")]
    set: Vec<String>,
    /// How the counters are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Print the counters every so many seconds while frames are forwarded, too
    #[arg(long, value_name = "SECONDS")]
    every: Option<f64>,
}

/// How counters are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// One object a line
    Json,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be read or written, a port, route or control word that is refused.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if arguments.port.iter().any(|port| port.interface().is_some()) {
        return execute_live(arguments);
    }
    if arguments.control.is_some() || arguments.kernel_routes {
        bail!("--control and --kernel-routes are for interfaces: name some with --port");
    }
    if arguments.pcap_in.is_empty() {
        bail!("nothing to forward: name captures with --pcap-in, or interfaces with --port");
    }
    let pause = arguments.every.map(pause).transpose()?;
    let mut router = config::router(arguments, &|_| None)?;
    let mut replay = Replay::open(arguments, &mut router)?;
    let print = |text: String| {
        if replay::writes_to_stdout(arguments) {
            fwdlab_guard::say!("{}", text.trim_end());
            return Ok(());
        }
        output::print(&text)
    };
    let held = std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        let worker = scope.spawn(|| {
            let _ends_the_watch = done;
            replay.run()
        });
        while let Some(pause) = pause
            && is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
        {
            print(show::counters(&router, None, arguments.format))?;
        }
        worker.join().map_err(|_| anyhow!("the worker's thread ended early"))
    })?;
    // The counters first: they are right up to where a capture broke.
    let ended = replay.finish();
    print(show::counters(&router, Some(held), arguments.format))?;
    show::warn(&router);
    ended.map(|()| ExitCode::SUCCESS)
}

/// Forwards between interfaces.
#[cfg(target_os = "linux")]
fn execute_live(arguments: &Args) -> anyhow::Result<ExitCode> {
    serve::execute(arguments)
}

#[cfg(not(target_os = "linux"))]
fn execute_live(_: &Args) -> anyhow::Result<ExitCode> {
    bail!("interfaces can only be opened on Linux; use --pcap-in")
}

/// How long to wait between two prints.
fn pause(seconds: f64) -> anyhow::Result<Duration> {
    if !(0.001..=86_400.0).contains(&seconds) {
        bail!("--every or --seconds {seconds}: choose 0.001 to 86400 seconds");
    }
    Ok(Duration::from_secs_f64(seconds))
}
