//! `fwdlab gen` and `fwdlab sink`: the tester's halves on network interfaces, by packet or AF_XDP
//! sockets.

mod arguments;
mod back;
mod replay;
mod result;

use arguments::time;
pub use arguments::{GenArgs, SinkArgs};
use back::{Back, FRAMES, pool_for};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fwdlab_port::{Batch, Counters, Pool, Port, hosts, wait};
use fwdlab_stats::plural;
use fwdlab_traffic::{AnyTester, FlowSet, FrameSizes, Stream, TrafficPlan};
use fwdlab_wire::MacAddr;
use serde_json::json;

use crate::{interrupt, output};
use result::{Sent, object, sentence};

/// A sink that got nothing in so many polls rests.
const PATIENCE: u32 = 200;
/// At most, unless a frame comes.
const REST: Duration = Duration::from_millis(10);

/// Sends, and prints each second and at the end what was sent and came back.
///
/// # Errors
/// An interface that cannot be opened, or a wrong range, length or load.
pub fn execute_gen(arguments: &GenArgs) -> anyhow::Result<ExitCode> {
    guard(arguments)?;
    if let Some(path) = &arguments.pcap {
        return replay::execute(arguments, path);
    }
    let (Some(to), Some(source), Some(destination)) =
        (arguments.to, &arguments.source, &arguments.destination)
    else {
        bail!("wanted --to, --source and --destination, or --pcap");
    };
    let duration = time(arguments.seconds)?;
    let pool = pool_for(arguments)?;
    let out = Watched::new(arguments.socket.open(&arguments.interface, pool.clone())?);
    let back = Back::open(arguments, &pool, out.mac())?;
    let (mtu, refused) = (out.mtu(), out.dropped.clone());
    let mut stream = Stream::new(FlowSet::parse(source, destination)?);
    stream.order = arguments.order;
    if let Some(bytes) = arguments.frame {
        stream.sizes = FrameSizes::fixed(bytes);
    }
    let mut plan = TrafficPlan::new(vec![stream]);
    plan.load = arguments.load;
    plan.source_mac = out.mac();
    plan.device_mac = to;
    plan.arrival_mac = back.mac();
    plan.duration_ns = duration.as_nanos() as u64;
    plan.interval_ns = 1_000_000_000.min(plan.duration_ns);
    plan.frames_in_flight = FRAMES;
    plan.batch = 64;
    let is_deaf = back.is_deaf();
    if is_deaf {
        plan.drain_ns = 1_000_000;
    }
    let stop = interrupt::stop_on_interrupt()?;
    let mut tester = AnyTester::new(&plan, &pool, Box::new(out), Box::new(back))?;
    let outcome = tester.run_any(&stop, &mut |interval| {
        fwdlab_guard::say!(
            "sent {:.0}, received {:.0} frames/s",
            interval.sent_pps(),
            interval.received_pps()
        );
    });
    let sent = Sent { frames: outcome.sent(), refused: refused.load(Ordering::Relaxed), mtu };
    let warnings = sent.warnings(arguments, &outcome);
    warnings.iter().for_each(|warning| fwdlab_guard::say!("warning: {warning}"));
    let text = match arguments.json {
        true => format!("{}\n", object(&sent, &outcome, is_deaf, &warnings)),
        false => sentence(&sent, &outcome, is_deaf),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses an interface that the host itself uses.
///
/// # Errors
/// It carries a default route or an address, and `--force` is not given.
fn guard(arguments: &GenArgs) -> anyhow::Result<()> {
    let name = &arguments.interface;
    match hosts::is_in_use(name).with_context(|| format!("cannot read the addresses of {name}"))? {
        Some(reason) if !arguments.force => bail!(
            "{name} is in use: {reason}, and test traffic would disturb it; choose another \
             interface, or --force"
        ),
        _ => Ok(()),
    }
}

/// Receives until the end, and prints each second and at the end how much.
///
/// # Errors
/// An interface that cannot be opened.
pub fn execute_sink(arguments: &SinkArgs) -> anyhow::Result<ExitCode> {
    let duration = arguments.seconds.map(time).transpose()?;
    let pool = Pool::with_frames(FRAMES)?;
    let mut port = arguments.socket.open(&arguments.interface, pool.clone())?;
    let stop = interrupt::stop_on_interrupt()?;
    let start = Instant::now();
    receive(&mut *port, &pool, duration, &stop);
    let seconds = start.elapsed().as_secs_f64();
    let Counters { rx_frames, rx_bytes, rx_dropped, .. } = port.counters();
    let text = if arguments.json {
        let object = json!({
            "received": rx_frames, "bytes": rx_bytes, "dropped": rx_dropped, "seconds": seconds,
        });
        format!("{object}\n")
    } else {
        format!(
            "received {} in {seconds:.3} s: {:.0} frames/s; lost for want of room: {rx_dropped}\n",
            plural(rx_frames, "frame"),
            rx_frames as f64 / seconds
        )
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn receive(port: &mut dyn Port, pool: &Pool, duration: Option<Duration>, stop: &AtomicBool) {
    let start = Instant::now();
    let (mut batch, mut empty) = (Batch::new(), 0);
    let (mut printed, mut before) = (start, 0);
    while !stop.load(Ordering::Relaxed) && duration.is_none_or(|most| start.elapsed() < most) {
        if port.receive(&mut batch) > 0 {
            pool.put(&mut batch);
            empty = 0;
        } else if empty < PATIENCE {
            empty += 1;
        } else {
            wait([&*port], REST);
        }
        if printed.elapsed() >= Duration::from_secs(1) {
            let now = port.counters().rx_frames;
            fwdlab_guard::say!(
                "received {:.0} frames/s",
                (now - before) as f64 / printed.elapsed().as_secs_f64()
            );
            (printed, before) = (Instant::now(), now);
        }
    }
}

/// A port that tells what the system has refused of its frames, when somebody else has it.
struct Watched {
    port: Box<dyn Port>,
    dropped: Arc<AtomicU64>,
}

impl Watched {
    fn new(port: Box<dyn Port>) -> Self {
        Self { port, dropped: Arc::default() }
    }
}

impl Port for Watched {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        self.port.receive(batch)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let count = self.port.send(batch);
        self.dropped.store(self.port.counters().tx_dropped, Ordering::Relaxed);
        count
    }

    fn mac(&self) -> MacAddr {
        self.port.mac()
    }

    fn mtu(&self) -> usize {
        self.port.mtu()
    }

    fn counters(&self) -> Counters {
        self.port.counters()
    }
}
