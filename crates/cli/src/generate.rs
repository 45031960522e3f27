//! `fwdlab gen` and `fwdlab sink`: the tester's halves on network interfaces, by packet or AF_XDP
//! sockets.

mod replay;
mod result;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fwdlab_port::{Batch, Counters, Pool, PoolConfig, Port, SocketKind, hosts, packet, wait};
use fwdlab_router::MAX_MTU;
use fwdlab_traffic::{AnyTester, FlowSet, FrameSizes, Load, Order, Plan, Stream};
use fwdlab_wire::MacAddr;
use fwdlab_wire::ethernet::HEADER_LEN;
use serde_json::json;

use crate::{interrupt, output};
use result::{Sent, object, sentence};

/// Frames that the sender has at hand.
const FRAMES: usize = 4096;
/// A sink that got nothing in so many polls rests.
const PATIENCE: u32 = 200;
/// At most, unless a frame comes.
const REST: Duration = Duration::from_millis(10);
/// Bytes around a packet: Ethernet header and a VLAN tag.
const HEADER_AND_TAG: usize = HEADER_LEN + 4;

/// Arguments of `fwdlab gen`.
///
/// Example: fwdlab gen --interface veth0 --to 02:00:00:00:00:10 --source 198.18.10.1-198.18.10.20:2000
///   --destination 198.19.10.1-198.19.10.100:2000 --load 100kpps
/// or fwdlab gen --interface veth0 --pcap capture.pcap --load 100kpps
#[derive(clap::Args)]
pub struct GenArgs {
    /// Interface to send on
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Interface on which the device sends the frames back; they are checked there
    #[arg(long, value_name = "NAME")]
    back: Option<String>,
    /// Send the frames of this capture, as they are, again and again; they are counted, not checked
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["to", "source", "destination", "frame", "order"]
    )]
    pcap: Option<PathBuf>,
    /// MAC address of the device's port
    #[arg(long, value_name = "MAC", required_unless_present = "pcap")]
    to: Option<MacAddr>,
    /// Source addresses and UDP ports, as in an experiment file
    #[arg(long, value_name = "RANGE", required_unless_present = "pcap")]
    source: Option<String>,
    /// Destination addresses and UDP ports
    #[arg(long, value_name = "RANGE", required_unless_present = "pcap")]
    destination: Option<String>,
    /// Length of a frame in bytes, FCS included [default: the smallest]
    #[arg(long, value_name = "BYTES")]
    frame: Option<usize>,
    /// Offered load: max, 500kpps, 1Gbps
    #[arg(long, default_value = "max")]
    load: Load,
    /// Order of flows: sequential, random, zipf(1.0)
    #[arg(long, default_value = "sequential")]
    order: Order,
    /// Kind of sockets: af_packet, or af_xdp, which is faster and hides the interface from the host
    #[arg(long, default_value = "af_packet")]
    socket: SocketKind,
    /// For how long
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Send although the host itself uses the interface: it carries a default route or an address
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `fwdlab sink`.
///
/// Example: fwdlab sink --interface veth1 --seconds 10
#[derive(clap::Args)]
pub struct SinkArgs {
    /// Interface to receive on
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// Kind of socket: af_packet, or af_xdp, which is faster and hides the interface from the host
    #[arg(long, default_value = "af_packet")]
    socket: SocketKind,
    /// For how long [default: until Ctrl-C]
    #[arg(long)]
    seconds: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

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
    let mut plan = Plan::new(vec![stream]);
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

/// Frames of the sender, as long as the interfaces take them.
fn pool_for(arguments: &GenArgs) -> anyhow::Result<Pool> {
    let names = std::iter::once(&arguments.interface).chain(&arguments.back);
    let mtus = names.map(|name| packet::mtu(name)).collect::<Result<Vec<_>, _>>()?;
    let usual = PoolConfig { frames: 2 * FRAMES, ..PoolConfig::default() };
    let longest = mtus.into_iter().max().unwrap_or(0).min(MAX_MTU) + HEADER_AND_TAG;
    Ok(Pool::new(PoolConfig { capacity: usual.capacity.max(longest), ..usual })?)
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
            "received {rx_frames} frames in {seconds:.3} s: {:.0} frames/s; {rx_dropped} were lost \
             for want of room\n",
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

fn time(seconds: f64) -> anyhow::Result<Duration> {
    if !(0.01..=86_400.0).contains(&seconds) {
        bail!("--seconds {seconds}: choose 0.01 to 86400");
    }
    Ok(Duration::from_secs_f64(seconds))
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

/// Where frames come back.
enum Back {
    Interface(Box<dyn Port>),
    /// Nowhere.
    Nothing(MacAddr),
}

impl Back {
    /// The interface that was asked for, or nothing, which has the MAC address of the sender.
    fn open(arguments: &GenArgs, pool: &Pool, mac: MacAddr) -> anyhow::Result<Self> {
        Ok(match &arguments.back {
            Some(name) => Self::Interface(arguments.socket.open(name, pool.clone())?),
            None => Self::Nothing(mac),
        })
    }

    fn is_deaf(&self) -> bool {
        matches!(self, Self::Nothing(_))
    }
}

impl Port for Back {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        match self {
            Self::Interface(port) => port.receive(batch),
            Self::Nothing(_) => 0,
        }
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        match self {
            Self::Interface(port) => port.send(batch),
            Self::Nothing(_) => 0,
        }
    }

    fn mac(&self) -> MacAddr {
        match self {
            Self::Interface(port) => port.mac(),
            Self::Nothing(mac) => *mac,
        }
    }

    fn mtu(&self) -> usize {
        match self {
            Self::Interface(port) => port.mtu(),
            Self::Nothing(_) => 1500,
        }
    }

    fn counters(&self) -> Counters {
        match self {
            Self::Interface(port) => port.counters(),
            Self::Nothing(_) => Counters::default(),
        }
    }
}
