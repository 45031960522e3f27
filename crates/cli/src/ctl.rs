//! `fwdlab ctl`: orders to a router that forwards.

use std::io::{BufRead, BufReader, Write, stdin};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::control::{Answer, DEFAULT_SOCKET, Order, read_line, write_line};
use crate::output;

/// Longest answer, in bytes: a full table with generous paths.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Longest file of orders, in bytes.
const MOST_BATCH: u64 = 1 << 30;

/// Arguments of `fwdlab ctl`.
///
/// Example: fwdlab ctl route add 198.51.100.0/24 via 198.18.0.7
///
/// Example: fwdlab ctl show fib
#[derive(clap::Args)]
#[command(after_help = "\
Orders, each done as a whole or not at all:
  route add ROUTE         a route, as `ip route` writes it: PREFIX via GATEWAY dev INTERFACE,
                          PREFIX nexthop via A weight 1 nexthop via B weight 3, blackhole PREFIX
  route change ROUTE      gives a route another target
  route replace ROUTE     adds it, or gives it another target
  route del PREFIX        deletes it
  neigh add ADDRESS MAC   sets the MAC address of a neighbour; link-local ones as fe80::7%PORT
  neigh del ADDRESS       forgets it
  set WORD VALUE          sets a control word
  flush                   makes all changes visible now
  show fib                routes, nexthops, algorithm, memory of both tables
  show routes [PREFIX]    all routes, or those within a prefix
  show route ADDRESS      the route that an address takes
  show neighbours | drops | counters | words | kernel")]
pub struct Args {
    /// The router's socket: what it was given with --control
    #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
    socket: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
    /// Orders from a file, one a line; - is standard input. The first that is refused ends it
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    batch: Option<PathBuf>,
    /// The order, see below
    #[arg(required_unless_present = "batch")]
    words: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// No router has the socket, or it refuses an order.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let shown = arguments.socket.display();
    let stream = UnixStream::connect(&arguments.socket).with_context(|| {
        format!(
            "no router at {shown}; start one with `fwdlab route --control {shown} ...`, as the same \
             user"
        )
    })?;
    let mut client = Client { input: BufReader::new(stream.try_clone()?), output: stream };
    let Some(batch) = &arguments.batch else {
        let order = Order { words: arguments.words.clone(), json: arguments.json };
        output::print(&client.ask(&order)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let lines: Box<dyn BufRead> = if batch.as_os_str() == "-" {
        Box::new(stdin().lock())
    } else {
        let file = fwdlab_guard::input::named(batch, MOST_BATCH)
            .with_context(|| format!("cannot read {}", batch.display()))?;
        Box::new(BufReader::new(file))
    };
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line?;
        let content = line.split('#').next().unwrap_or_default();
        let words: Vec<String> = content.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            continue;
        }
        let answer = client.ask(&Order { words, json: arguments.json });
        output::print(&answer.with_context(|| format!("{}:{number}", batch.display()))?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The two ends of a connection.
struct Client<I, O> {
    input: I,
    output: O,
}

impl<I: BufRead, O: Write> Client<I, O> {
    /// Gives an order and waits for what comes of it.
    fn ask(&mut self, order: &Order) -> anyhow::Result<String> {
        write_line(&mut self.output, order).context("the router has gone")?;
        let line = read_line(&mut self.input, LONGEST_ANSWER)?.context("the router has gone")?;
        match serde_json::from_str(&line).context("what answers is no router of this version")? {
            Answer::Done(text) => Ok(text),
            Answer::Refused(why) => bail!("{why}"),
        }
    }
}
