//! One trial of streams: slices of time through the device, and past it in turns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use fwdlab_device::pulse::{self, Pulse};
use fwdlab_device::{Request, Watch};
use fwdlab_experiment::Traffic;
use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::tcp::TcpInfo;
use fwdlab_results::{Benchmark, Checks, Family, Interval, Measure, Stream, StreamSlice, Streams};
use fwdlab_topology::{Testbed, TopologyError, port_name};

use super::ends::{Ends, Manner};
use super::wire;
use crate::counters::{Change, DeviceCounters};
use crate::error::{LinuxError, WentBack};
use crate::setup::DEVICE;
use crate::tester::Sent;

/// Streams find their window before anything is counted, in this time at least.
const SETTLING: Duration = Duration::from_millis(20);
/// How long the last bytes of a slice may take, and those of a trial: a segment that was lost twice is sent
/// again after more than half a second.
const DRAINING: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(3)];
/// A turn in which nothing moved takes no longer than this, but for what else the processor did meanwhile.
const LONGEST_IDLE_TURN: Duration = Duration::from_micros(100);
/// A beat of the processor is taken so often.
const BEAT: Duration = Duration::from_millis(1);
/// Ethernet header and FCS; the headers of TCP without options, and of IP of each family.
const ETHERNET_BYTES: u16 = 18;
const TCP_BYTES: u16 = 20;
const IP_BYTES: [u16; 2] = [20, 40];

/// What came of a trial.
pub(crate) struct Carried {
    pub(crate) sent: Sent,
    pub(crate) change: Change,
    pub(crate) benchmark: Benchmark,
    /// Bytes that had not arrived when the trial ended.
    pub(crate) left: u64,
}

/// What the tester's thread tells: a slice, and an interval of frames where it went through the device.
struct Told {
    slice: StreamSlice,
    interval: Interval,
    beats: Vec<u32>,
    is_past: bool,
}

/// Carries the streams of a traffic for as long as the experiment says, on the processor `core`.
///
/// # Errors
/// Streams do not come about or break, the kernel refuses, or the campaign was stopped.
pub(crate) fn carry(
    testbed: &mut Testbed,
    request: &Request<'_>,
    core: Option<usize>,
    pulse: &mut Pulse,
    watch: &mut Watch<'_>,
) -> Result<Carried, LinuxError> {
    let (tell, told) = mpsc::channel();
    let stop = watch.stop;
    let (mut intervals, mut through, mut past) = (Vec::new(), Vec::new(), Vec::new());
    let counted = std::thread::scope(|scope| {
        let tester = std::thread::Builder::new().name("tester".to_owned());
        let tester = tester.spawn_scoped(scope, move || {
            let pinned = core.is_some_and(|core| affinity::pin_current_thread(core).is_ok());
            let is_over = || stop.load(Ordering::Relaxed);
            let counted = Counted::of(testbed, request, core, &is_over, &tell)?;
            Ok::<_, LinuxError>((counted, pinned))
        });
        let tester = tester.map_err(|source| fwdlab_port::PortError::Thread { source })?;
        for Told { mut slice, mut interval, beats, is_past } in told {
            pulse.note(&beats, &mut interval);
            slice.is_slow = interval.is_slow();
            if is_past {
                past.push(slice);
                continue;
            }
            (watch.on_interval)(&interval);
            intervals.push(interval);
            through.push(slice);
        }
        let what = || LinuxError::Thread { what: "the tester panicked".to_owned() };
        tester.join().map_err(|_| what())?
    });
    if watch.is_stopped() {
        return Err(LinuxError::Stopped);
    }
    let (counted, pinned) = counted?;
    Ok(counted.carried(request.traffic, pinned, intervals, [through, past]))
}

/// What the tester's thread counted between two quiet moments.
struct Counted {
    streams: Vec<Stream>,
    change: Change,
    congestion: String,
    segment_bytes: u32,
    /// Packets from the senders that reached the device's IP.
    device_packets: Option<u64>,
    left: u64,
}

/// What the device has counted.
struct Seen {
    counters: DeviceCounters,
    /// Frames with acknowledgements, by the port towards the receivers.
    acknowledgements: u64,
}

impl Seen {
    fn read(testbed: &mut Testbed) -> Result<Self, TopologyError> {
        let counters = DeviceCounters::read(testbed, 2)?;
        let acknowledgements = testbed.counters(DEVICE, &port_name(1))?.rx_frames;
        Ok(Self { counters, acknowledgements })
    }

    /// What was added, and packets from the senders that reached IP: those that hold no data are not merged.
    fn since(&self, before: &Self) -> Result<(Change, Option<u64>), WentBack> {
        let change = self.counters.since(&before.counters, false)?;
        let back = self.acknowledgements.saturating_sub(before.acknowledgements);
        let packets = change.packets.map(|packets| packets.saturating_sub(back));
        Ok((change, packets))
    }
}

impl Counted {
    fn of(
        testbed: &mut Testbed,
        request: &Request<'_>,
        core: Option<usize>,
        is_over: &dyn Fn() -> bool,
        tell: &Sender<Told>,
    ) -> Result<Self, LinuxError> {
        let Request { experiment, traffic, .. } = *request;
        let (through, past) = wire::join(testbed, traffic)?;
        let own = traffic.streams.clone().unwrap_or_default();
        let manner =
            Manner { segment_bytes: segment_bytes(traffic), congestion: own.congestion.as_deref() };
        let mut ways = vec![Ends::open(testbed, &through, &manner)?];
        if !past.is_empty() {
            ways.push(Ends::open(testbed, &past, &manner)?);
        }
        let broke = || TopologyError::kernel("carry the streams");
        let settling = experiment.warmup.max(SETTLING);
        for way in &mut ways {
            run(way, settling, is_over).map_err(broke())?;
            drain(way, DRAINING[1], is_over).map_err(broke())?;
        }
        let softirqs = core.and_then(Softirqs::of);
        let before = (Seen::read(testbed)?, ways[0].infos().map_err(broke())?);
        let read: Vec<u64> = ways[0].read.clone();
        slices(&mut ways, request, softirqs.as_ref(), is_over, tell).map_err(broke())?;
        let way = &mut ways[0];
        drain(way, DRAINING[1], is_over).map_err(broke())?;
        let (left, after) = (way.under_way(), way.infos().map_err(broke())?);
        let (change, device_packets) = Seen::read(testbed)?.since(&before.0)?;
        let added = |now: u32, then: u32| u64::from(now.wrapping_sub(then));
        let stream = |at: usize| {
            let ([out, into], [out_then, in_then]) = (&after, &before.1);
            Stream {
                bytes: way.read[at] - read[at],
                sent: Some(added(out[at].segments_out, out_then[at].segments_out)),
                again: out[at].sent_again.saturating_sub(out_then[at].sent_again),
                received: Some(added(into[at].segments_in, in_then[at].segments_in)),
            }
        };
        Ok(Self {
            streams: (0..through.len()).map(stream).collect(),
            change,
            device_packets,
            congestion: way.congestion().unwrap_or_default(),
            segment_bytes: after[0].iter().map(|info| info.segment_bytes).min().unwrap_or(0),
            left,
        })
    }

    fn carried(
        self,
        traffic: &Traffic,
        pinned: bool,
        intervals: Vec<Interval>,
        [through, past]: [Vec<StreamSlice>; 2],
    ) -> Carried {
        let sum = |of: fn(&Stream) -> u64| self.streams.iter().map(of).sum::<u64>();
        let time = |of: fn(&StreamSlice) -> u64| through.iter().map(of).sum::<u64>() as f64;
        let (all, own, idle) =
            (time(|slice| slice.ns), time(StreamSlice::own_ns), time(|slice| slice.idle_ns));
        let sent = Sent {
            intervals,
            pinned,
            sent: sum(|stream| stream.sent.unwrap_or(0)),
            received: sum(|stream| stream.received.unwrap_or(0)),
            strays: 0,
            flows_seen: self.streams.iter().filter(|stream| stream.bytes > 0).count() as u64,
            checks: Checks::default(),
            ways: Vec::new(),
            waiting_share: idle / own.max(1.0),
            core_share: (all > 0.0).then(|| own / all),
            pacing: None,
            unread: 0,
            by_pair: Vec::new(),
            tracking: None,
            latency: None,
        };
        let own = Streams {
            congestion: self.congestion,
            segment_bytes: self.segment_bytes,
            device_frames: self.change.received,
            device_packets: self.device_packets,
            device_busy_ns: None,
            streams: self.streams,
            through,
            past,
        };
        let benchmark = match traffic.measure {
            Measure::ByteCost => Benchmark::ByteCost(own),
            _ => Benchmark::Goodput(own),
        };
        Carried { sent, change: self.change, benchmark, left: self.left }
    }
}

/// The kernel's thread that does what soft interrupts of a processor leave over: the device's work, too.
struct Softirqs {
    statistics: PathBuf,
}

impl Softirqs {
    /// That of a processor; nothing where it cannot be seen.
    fn of(core: usize) -> Option<Self> {
        let name = format!("ksoftirqd/{core}");
        let is_it = |process: &Path| {
            std::fs::read_to_string(process.join("comm")).is_ok_and(|own| own.trim_end() == name)
        };
        let mut all = std::fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
        let own = Self { statistics: all.find(|process| is_it(process))?.join("schedstat") };
        own.ns().map(|_| own)
    }

    /// How long it ran so far, in ns.
    fn ns(&self) -> Option<u64> {
        let text = std::fs::read_to_string(&self.statistics).ok()?;
        text.split_whitespace().next()?.parse().ok()
    }
}

/// The longest payload of a segment, TCP's options counted, in frames of the length asked for.
fn segment_bytes(traffic: &Traffic) -> u32 {
    let ip = IP_BYTES[usize::from(traffic.family != Family::Inet)];
    traffic.frame_bytes.saturating_sub(ETHERNET_BYTES + ip + TCP_BYTES).into()
}

/// Slices of the counted time, one way after the other.
fn slices(
    ways: &mut [Ends],
    request: &Request<'_>,
    softirqs: Option<&Softirqs>,
    is_over: &dyn Fn() -> bool,
    tell: &Sender<Told>,
) -> io::Result<()> {
    let start = Instant::now();
    let (mut at, mut ended) = (0, start);
    while start.elapsed() < request.experiment.duration && !is_over() {
        let is_alone = ways.len() == 1;
        let way = &mut ways[at];
        let (before, read) = (way.infos()?, way.read.iter().sum::<u64>());
        let (share, others) = (CoreShare::begin(), softirqs.and_then(Softirqs::ns));
        let (mut slice, beats) = run(way, request.experiment.interval, is_over)?;
        if !is_alone {
            // What is under way is carried to its end before the other way's turn.
            let rest = drain(way, DRAINING[0], is_over)?;
            slice.ns += rest.ns;
            slice.idle_ns += rest.idle_ns;
        }
        // A device that is limited by time goes on while the sockets are asked for their counts.
        let (ran_ns, then) = (slice.ns, std::mem::replace(&mut ended, Instant::now()));
        slice.ns = if is_alone { (ended - then).as_nanos() as u64 } else { ran_ns };
        slice.bytes = way.read.iter().sum::<u64>() - read;
        let softirq = softirqs.and_then(Softirqs::ns).zip(others).map(|(now, then)| now - then);
        slice.had_ns = share.so_far().zip(softirq).map(|(share, softirq)| {
            ((share * ran_ns as f64) as u64).saturating_add(softirq).min(ran_ns)
        });
        let interval = interval(&slice, &before, &way.infos()?);
        if tell.send(Told { slice, interval, beats, is_past: at == 1 }).is_err() {
            break;
        }
        at = (at + 1) % ways.len();
    }
    Ok(())
}

/// The frames of a slice, by the sockets that sent and received their segments.
fn interval(
    slice: &StreamSlice,
    before: &[Vec<TcpInfo>; 2],
    after: &[Vec<TcpInfo>; 2],
) -> Interval {
    let sum = |at: usize, of: fn(&TcpInfo) -> u32| -> u64 {
        let pairs = after[at].iter().zip(&before[at]);
        pairs.map(|(now, then)| u64::from(of(now).wrapping_sub(of(then)))).sum()
    };
    Interval {
        ms: slice.ns as f64 / 1e6,
        tx: Some(sum(0, |info| info.segments_out)),
        rx: sum(1, |info| info.segments_in),
        ..Interval::default()
    }
}

/// Carries what the streams of a way can, for some time; bytes are not counted yet.
fn run(
    way: &mut Ends,
    length: Duration,
    is_over: &dyn Fn() -> bool,
) -> io::Result<(StreamSlice, Vec<u32>)> {
    let (mut slice, mut beats) = (StreamSlice::default(), Vec::new());
    let start = Instant::now();
    let mut now = start;
    let mut beat = start;
    while now - start < length && !is_over() {
        if now - beat >= BEAT {
            beats.extend(pulse::beats(1));
            beat = now;
        }
        let began = now;
        let has_moved = way.turn(true)?;
        now = Instant::now();
        if !has_moved {
            slice.idle_ns += (now - began).min(LONGEST_IDLE_TURN).as_nanos() as u64;
        }
    }
    slice.ns = start.elapsed().as_nanos() as u64;
    Ok((slice, beats))
}

/// Reads until all that was written has arrived.
fn drain(way: &mut Ends, most: Duration, is_over: &dyn Fn() -> bool) -> io::Result<StreamSlice> {
    let mut slice = StreamSlice::default();
    let start = Instant::now();
    let mut now = start;
    while way.under_way() > 0 && now - start < most && !is_over() {
        let began = now;
        let has_moved = way.turn(false)?;
        now = Instant::now();
        if !has_moved {
            slice.idle_ns += (now - began).min(LONGEST_IDLE_TURN).as_nanos() as u64;
        }
    }
    slice.ns = start.elapsed().as_nanos() as u64;
    Ok(slice)
}
