//! `fwdlab route`: the router by itself, between capture files.
//!
//! Time is that of the captures: rate limits, ARP and neighbour discovery go by it, so the same
//! input gives the same output, to the byte.

mod config;
mod replay;
mod show;

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
#[derive(clap::Args)]
pub struct Args {
    /// Frames that arrive, a classic pcap file of Ethernet: on port 0; given again, on port 1, ...
    #[arg(long, value_name = "FILE", required = true)]
    pcap_in: Vec<PathBuf>,
    /// Frames that leave, on any port; given several times, on port 0, 1, ... each
    #[arg(long, value_name = "FILE")]
    pcap_out: Vec<PathBuf>,
    /// Routes: a prefix list, `ip route`, `netstat -rn`, BIRD's `show route`, or an MRT dump
    #[arg(long, value_name = "FILE")]
    routes: PathBuf,
    /// A port, as words with commas between: its MAC address, its addresses with lengths, mtu=N.
    /// Without any, two ports: 02:00:00:00:00:10,198.18.0.1/24,2001:2::1/64 and
    /// 02:00:00:00:00:11,198.19.0.1/24,2001:2:0:8000::1/64
    #[arg(long, value_name = "WORDS")]
    port: Vec<PortSpec>,
    /// Gateway of the routes that name none, or one in no port's network; one for each family
    #[arg(long, value_name = "ADDRESS")]
    via: Vec<std::net::IpAddr>,
    /// MAC address of a neighbour; gateways without it are given 02:01 and the end of their
    /// address
    #[arg(long, value_name = "ADDRESS=MAC")]
    neighbour: Vec<NeighbourSpec>,
    /// Ask for the MAC addresses of gateways, with ARP and neighbour discovery; the answers must
    /// be in the captures
    #[arg(long)]
    resolve: bool,
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
    let pause = arguments.every.map(pause).transpose()?;
    let mut router = config::router(arguments)?;
    let mut replay = Replay::open(arguments, &mut router)?;
    let print = |text: String| {
        if replay::writes_to_stdout(arguments) {
            eprint!("{text}");
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
    replay.finish()?;
    print(show::counters(&router, Some(held), arguments.format))?;
    show::warn(&router);
    Ok(ExitCode::SUCCESS)
}

/// How long to wait between two prints.
fn pause(seconds: f64) -> anyhow::Result<Duration> {
    if !(0.001..=86_400.0).contains(&seconds) {
        bail!("--every {seconds}: choose 0.001 to 86400 seconds");
    }
    Ok(Duration::from_secs_f64(seconds))
}
