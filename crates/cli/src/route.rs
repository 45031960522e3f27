//! `fwdlab route`: the router by itself, between capture files or network interfaces.
//!
//! Between captures, time is that of the captures: rate limits, ARP and neighbour discovery go by it, so the same
//! input gives the same output, to the byte.

mod arguments;
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
mod spec;
mod ways;

pub use arguments::Args;
use arguments::{Format, pause};
pub(crate) use replay::warn_of_cut_frames;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};

use anyhow::{anyhow, bail};

use crate::output;
use replay::Replay;

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
