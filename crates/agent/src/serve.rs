//! The agent on another host: works off orders, and ends with its input or at an order's deadline,
//! whichever is first. Nothing of it outlives the connection that started it.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::capture::Captures;
use crate::channel::{line_of, message_of};
use crate::order::{Answer, Order};
use crate::ports::Ports;
use crate::wall::now_ns;
use crate::{Result, stamps, traffic};

/// An agent without an order for so long has been forgotten.
const IDLE: Duration = Duration::from_secs(6 * 3600);

/// How long work may go on after its deadline before the process ends with it.
const GRACE: Duration = Duration::from_secs(10);

/// Works off the orders of `input` until it ends, and answers to `output`.
///
/// # Errors
/// When an answer cannot be written, or an order is damaged.
pub fn serve(input: impl Read + Send + 'static, mut output: impl Write) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let (give, orders) = mpsc::channel();
    let flag = stop.clone();
    std::thread::spawn(move || read_orders(input, &give, &flag));
    say(&mut output, &Answer::Here { version: env!("CARGO_PKG_VERSION").to_owned() })?;
    let (mut ports, mut captures) = (Ports::default(), Captures::default());
    while let Some(order) = next(&orders)? {
        match order {
            Order::Clock => say(&mut output, &Answer::Clock { ns: now_ns() })?,
            Order::Stop => {} // what it was meant for has ended by itself
            Order::Stamps(order) => {
                stop.store(false, Ordering::Relaxed);
                let proof = ports.usual_pool().and_then(|pool| stamps::prove(&order, &pool, &stop));
                let answer =
                    proof.map_or_else(Answer::Failed, |proof| Answer::Stamps(Box::new(proof)));
                say(&mut output, &answer)?;
            }
            Order::Traffic(order) => {
                stop.store(false, Ordering::Relaxed);
                let guard = Deadline::watch(Duration::from_nanos(order.deadline_ns), &stop);
                let kept = (&mut ports, &mut captures);
                let done =
                    traffic::run(&order, kept, &stop, &mut |answer| say(&mut output, answer));
                drop(guard);
                let answer =
                    done.map_or_else(Answer::Failed, |report| Answer::Done(Box::new(report)));
                say(&mut output, &answer)?;
            }
        }
    }
    Ok(())
}

/// The next order; nothing at the end of input, or when none has come for long.
fn next(orders: &Receiver<Result<Order>>) -> Result<Option<Order>> {
    match orders.recv_timeout(IDLE) {
        Ok(order) => order.map(Some),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
    }
}

/// Reads orders until the input ends, which ends the work at hand too.
fn read_orders(input: impl Read, give: &mpsc::Sender<Result<Order>>, stop: &AtomicBool) {
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        let order = match message_of(&line) {
            None => continue,
            Some(Ok(Order::Stop)) => {
                stop.store(true, Ordering::Relaxed);
                Ok(Order::Stop)
            }
            Some(order) => order.map_err(|damaged| damaged.to_string()),
        };
        if give.send(order).is_err() {
            return;
        }
    }
    stop.store(true, Ordering::Relaxed);
}

fn say(output: &mut impl Write, answer: &Answer) -> Result<()> {
    let line = line_of(answer).map_err(|error| error.to_string())?;
    let written = output.write_all(line.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| format!("cannot answer: {error}"))
}

/// Sets a flag at a moment, and ends the process when nobody has listened; called off when dropped.
struct Deadline {
    _alive: mpsc::Sender<()>,
}

impl Deadline {
    fn watch(left: Duration, stop: &Arc<AtomicBool>) -> Self {
        let (alive, ended) = mpsc::channel::<()>();
        let stop = stop.clone();
        let end = Instant::now() + left;
        std::thread::spawn(move || {
            let wait = |until: Instant| {
                let left = until.saturating_duration_since(Instant::now());
                ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
            };
            if wait(end) {
                stop.store(true, Ordering::Relaxed);
                if wait(end + GRACE) {
                    std::process::exit(3);
                }
            }
        });
        Self { _alive: alive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(orders: &[Order]) -> Vec<Answer> {
        let input: String = orders.iter().map(|order| line_of(order).expect("a line")).collect();
        let input = format!("Welcome to this host\n{input}");
        let mut output = Vec::new();
        serve(std::io::Cursor::new(input), &mut output).expect("it ends with its input");
        let text = String::from_utf8(output).expect("text");
        text.lines().map(|line| message_of(line).expect("ours").expect("whole")).collect()
    }

    #[test]
    fn an_agent_answers_each_order_and_ends_with_its_input() {
        let said = answers(&[Order::Clock, Order::Stop, Order::Clock]);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(matches!(said[0], Answer::Here { .. }), "{said:?}");
        let (Answer::Clock { ns: first }, Answer::Clock { ns: last }) = (&said[1], &said[2]) else {
            panic!("{said:?}");
        };
        assert!(first <= last);
    }

    /// The controller may be gone without the connection's end: an order has a time of its own.
    #[test]
    fn an_order_ends_at_its_deadline_though_nobody_ends_the_input() {
        let socket = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        let ports = [socket(), socket()].map(|own| own.local_addr().expect("an address"));
        let [here, there] = ports;
        let mut order = traffic::tests::order(&format!("udp:{here}-{there}"));
        order.back = format!("udp:{there}-{here}");
        order.duration_ns = 600_000_000_000;
        order.deadline_ns = 200_000_000;
        let (input, mut orders) = std::io::pipe().expect("a pipe");
        let (answers, output) = std::io::pipe().expect("a pipe");
        std::thread::spawn(move || serve(input, output));
        let line = line_of(&Order::Traffic(Box::new(order))).expect("a line");
        orders.write_all(line.as_bytes()).expect("written");
        let said: Vec<Answer> = BufReader::new(answers)
            .lines()
            .take(3)
            .map(|line| message_of(&line.expect("read")).expect("ours").expect("whole"))
            .collect();
        let Answer::Done(report) = &said[2] else { panic!("{said:?}") };
        // Of 600,000 frames in ten minutes.
        assert!(report.sent > 0 && report.sent < 100_000, "{report:?}");
        drop(orders);
    }

    #[test]
    fn an_order_for_an_interface_that_is_not_there_fails_with_its_name() {
        let order = traffic::tests::order("no-such-port");
        let said = answers(&[Order::Traffic(Box::new(order))]);
        let Some(Answer::Failed(why)) = said.last() else { panic!("{said:?}") };
        assert!(why.contains("no-such-port"), "{why}");
    }
}
