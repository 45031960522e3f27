//! `fwdlab-bench fib`: route lookup rates of all algorithms and their peers, from interleaved
//! rounds of one run, and what changes cost. `fwdlab-bench forward`: the router against a DPDK
//! forwarder.
// a benchmark that nobody reads may end
#![allow(clippy::print_stderr)]

mod document;
mod format;
mod forward;
mod lookup;
mod machine;
mod output;
mod peers;
mod tables;

use anyhow::Result;
use clap::{Parser, Subcommand};
use format::Format;

#[derive(Parser)]
#[command(name = "fwdlab-bench", about = "Benchmarks of fwdlab against its peers")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Route lookup, against DPDK and the Rust crates
    Fib(lookup::Arguments),
    /// Forwarding on one core, against DPDK with the same checks
    Forward(forward::Arguments),
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Fib(arguments) => lookup::run(&arguments),
        Command::Forward(arguments) => forward::run(&arguments),
    }
}
