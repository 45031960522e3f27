//! `fwdlab ctl`: orders to a router that forwards.

use std::io::{BufRead, BufReader, ErrorKind, Write, stdin};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use fwdlab_guard::words::{in_json, pasted};

use crate::control::{
    Answer, DEFAULT_SOCKET, LONGEST_ORDER, Order, check_length, read_line, write_line,
};
use crate::output;

/// Longest answer, in bytes: a full table with generous paths.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Longest file of orders, in bytes.
const MOST_BATCH: u64 = 1 << 30;

/// So long a router may take for an order: a large table is built anew in a second or two.
const PATIENCE: Duration = Duration::from_secs(60);

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
    check_length(&arguments.socket)?;
    let stream = UnixStream::connect(&arguments.socket).with_context(|| {
        format!(
            "no router at {shown}; start one with `fwdlab route --control {} ...`, as the same user",
            pasted(&arguments.socket)
        )
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut client = Client {
        place: shown.to_string(),
        input: BufReader::new(stream.try_clone()?),
        output: stream,
    };
    let Some(batch) = &arguments.batch else {
        let order = Order { words: arguments.words.clone(), json: arguments.json };
        print(&client.ask(&order)?, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let name = batch.display();
    let lines: Box<dyn BufRead> = if batch.as_os_str() == "-" {
        Box::new(stdin().lock())
    } else {
        let file = fwdlab_guard::input::named(batch, MOST_BATCH)
            .with_context(|| format!("cannot read {name}"))?;
        Box::new(BufReader::new(file))
    };
    for (number, line) in (1..).zip(lines.lines()) {
        let line = line.with_context(|| {
            format!("cannot read {name}, line {number}; name a file of orders in UTF-8, one a line")
        })?;
        let content = line.split('#').next().unwrap_or_default();
        let words: Vec<String> = content.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            continue;
        }
        let answer = client.ask(&Order { words, json: arguments.json });
        print(&answer.with_context(|| format!("{name}:{number}"))?, arguments.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints an answer; names in it may be strangers'.
fn print(answer: &str, is_json: bool) -> anyhow::Result<()> {
    match is_json {
        true => output::print_raw(in_json(answer).as_bytes()),
        false => output::print(answer),
    }
}

/// The two ends of a connection.
struct Client<I, O> {
    /// The socket.
    place: String,
    input: I,
    output: O,
}

impl<I: BufRead, O: Write> Client<I, O> {
    /// Gives an order and waits for what comes of it.
    fn ask(&mut self, order: &Order) -> anyhow::Result<String> {
        let place = &self.place;
        // One that is longer would not be read to its end, nor answered for certain.
        if serde_json::to_vec(order)?.len() as u64 >= LONGEST_ORDER {
            bail!(
                "an order has at most {LONGEST_ORDER} bytes; --batch FILE takes many, one a line"
            );
        }
        let gone = || {
            format!(
                "what has {place} has gone, or is no router; `fwdlab route --control` starts one"
            )
        };
        write_line(&mut self.output, order).with_context(gone)?;
        let line = read_line(&mut self.input, LONGEST_ANSWER).map_err(|error| {
            let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
            match kind {
                Some(ErrorKind::WouldBlock | ErrorKind::TimedOut) => anyhow!(
                    "what has {place} gave no answer in {} s: a router that was stopped, or no router; look at it, \
                     or name another with --socket",
                    PATIENCE.as_secs()
                ),
                _ => error.context(gone()),
            }
        })?;
        let answer = serde_json::from_str(&line.with_context(gone)?);
        match answer.with_context(|| {
            format!(
                "what answers at {place} is no router of this version; name another with --socket"
            )
        })? {
            Answer::Done(text) => Ok(text),
            Answer::Refused(why) => bail!("{why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client<I: BufRead>(input: I) -> Client<I, Vec<u8>> {
        Client { place: "the-socket".to_owned(), input, output: Vec::new() }
    }

    fn flush() -> Order {
        Order { words: vec!["flush".to_owned()], json: false }
    }

    /// `ctl` waited for ever for a router that was stopped.
    #[test]
    fn what_gives_no_answer_is_named_with_what_to_do() {
        let (own, other) = UnixStream::pair().unwrap();
        own.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let silent = format!("{:#}", client(BufReader::new(own)).ask(&flush()).unwrap_err());
        assert!(silent.contains("the-socket gave no answer"), "{silent}");
        drop(other);
        for (answer, words) in [
            (&b""[..], "has gone, or is no router"),
            (b"HTTP/1.1 400 Bad Request\r\n", "name another with --socket"),
            (b"\xff\xff\n", "has gone, or is no router"),
        ] {
            let error = format!("{:#}", client(answer).ask(&flush()).unwrap_err());
            assert!(error.contains("the-socket") && error.contains(words), "{error}");
        }
    }

    /// The router stopped reading it, and the error was a broken pipe.
    #[test]
    fn an_order_that_is_too_long_is_not_sent() {
        let mut client = client(&b""[..]);
        let order = Order { words: vec!["x".repeat(LONGEST_ORDER as usize)], json: false };
        let error = client.ask(&order).unwrap_err().to_string();
        assert!(error.contains("at most 65536 bytes") && client.output.is_empty(), "{error}");
    }
}
