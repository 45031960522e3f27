//! The tester by itself: how fast it writes and checks frames beside the router, and how exactly it
//! keeps a load.
//!
//! Generator, router and receiver take turns on one core, on the same frames: all are written, then
//! all are forwarded, then all are checked. So each finds them in the second-level cache, as a
//! core does that works alone.

use std::sync::atomic::AtomicBool;

use anyhow::{Result, ensure};
use fwdlab_lookups::{Ratio, Run};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Clock, Pool, Port, affinity, beat, ring};
use fwdlab_router::{Overflow, Worker};
use fwdlab_traffic::{FlowSet, Load, Order, Receiver, Sender, Stream, Tester, TrafficPlan};

use super::case::{FamilyName, ROUTER_MAC};
use super::report::{Figure, Report};
use super::table::Routes;
use super::turn::ns_per_frame;
use super::{Arguments, ours};

/// Frames that circulate, a whole number of batches.
const FRAMES: usize = 2048;
/// Turns of one measurement.
const TURNS: usize = 500;
/// How long a load is offered when its pacing is looked at, ns.
const PACED_NS: u64 = 100_000_000;

/// Measures headroom and pacing.
///
/// # Errors
/// A plan that is refused, frames that do not come back right.
pub fn run(arguments: &Arguments, cores: &[usize], report: &mut Report) -> Result<()> {
    if let Some(&core) = cores.last() {
        affinity::pin_current_thread(core)?;
    }
    for family in [FamilyName::Inet, FamilyName::Inet6] {
        for (flows, count) in [(flow_set(family, 100)?, "2000"), (flow_set(family, 50_000)?, "1M")]
        {
            let case = format!("tester, {}, {count} flows", family.name());
            if !arguments.wants(&case) {
                continue;
            }
            let mut circuit = Circuit::new(TrafficPlan::new(vec![Stream::new(flows)]))?;
            let mut turns = [Vec::new(), Vec::new(), Vec::new()];
            for round in 0..=arguments.rounds {
                let before = beat::now();
                let times = circuit.measure()?;
                let beat_ns = beat::now().max(before);
                if round > 0 {
                    for (of_this, ns) in turns.iter_mut().zip(times) {
                        of_this.push(Run { rate: 1000.0 / ns, beat_ns });
                    }
                }
            }
            let names = ["generator", "router", "receiver"];
            for (name, of_this) in names.into_iter().zip(&turns) {
                report.figure(Figure {
                    case: case.clone(),
                    family: family.name(),
                    origin: "fwdlab",
                    name: name.into(),
                    ns_per_frame: ns_per_frame(of_this),
                    ratio: Ratio::of(&turns[1], of_this),
                    beats_ns: of_this.iter().map(|turn| turn.beat_ns).collect(),
                });
            }
        }
    }
    pacing(report)
}

/// 20 sources, so many destinations; behind the routes of the main experiment.
fn flow_set(family: FamilyName, destinations: u32) -> Result<FlowSet> {
    let last = destinations - 1;
    Ok(match family {
        FamilyName::Inet => {
            let last = std::net::Ipv4Addr::from_bits(0xc613_0001 + last);
            FlowSet::parse("198.18.10.1-198.18.10.20:2000", &format!("198.19.0.1-{last}:2000"))?
        }
        FamilyName::Inet6 => {
            let first = 0x2001_0002_0000_8000_u128 << 64 | 1;
            let last = std::net::Ipv6Addr::from_bits(first + u128::from(last));
            FlowSet::parse(
                "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
                &format!("[2001:2:0:8000::1]-[{last}]:2000"),
            )?
        }
    })
}

/// Generator, router and receiver in a circle.
struct Circuit {
    sender: Sender,
    receiver: Receiver,
    worker: Worker<RingPort>,
    out: RingPort,
    back: RingPort,
    frames: Vec<Batch>,
    clock: Clock,
    _pool: Pool,
}

impl Circuit {
    fn new(mut plan: TrafficPlan) -> Result<Self> {
        (plan.device_mac, plan.arrival_mac) = (ROUTER_MAC, ROUTER_MAC);
        let pool = Pool::with_frames(FRAMES)?;
        let sender = Sender::new(&plan, pool.config().headroom)?;
        let receiver = Receiver::new(&plan, &sender)?;
        let mut router = ours::configured(&Routes::two())?;
        let (out, device_0) = ring::pair(FRAMES);
        let (device_1, back) = ring::pair(FRAMES);
        let worker = router.worker([(0, device_0), (1, device_1)])?;
        let worker = worker.with_overflow(Overflow::Wait);
        let mut frames = Vec::new();
        for _ in 0..FRAMES / Batch::CAPACITY {
            let mut batch = Batch::new();
            pool.take_batch(&mut batch, Batch::CAPACITY);
            batch.iter_mut().for_each(|frame| sender.adopt(frame));
            frames.push(batch);
        }
        let clock = Clock::new();
        Ok(Self { sender, receiver, worker, out, back, frames, clock, _pool: pool })
    }

    /// Nanoseconds per frame of the generator, the router and the receiver.
    fn measure(&mut self) -> Result<[f64; 3]> {
        let mut ticks = [0; 3];
        for _ in 0..TURNS {
            let start = self.clock.ticks();
            for batch in &mut self.frames {
                self.sender.write(batch, start);
            }
            let written = self.clock.ticks();
            for batch in &mut self.frames {
                self.out.send(batch);
            }
            let sent = self.clock.ticks();
            while self.worker.poll() > 0 {}
            let forwarded = self.clock.ticks();
            for batch in &mut self.frames {
                self.back.receive(batch);
            }
            let received = self.clock.ticks();
            for batch in &self.frames {
                self.receiver.check(batch, received, |_| {});
            }
            let checked = self.clock.ticks();
            ticks[0] += written - start;
            ticks[1] += forwarded - sent;
            ticks[2] += checked - received;
        }
        let (sent, received) = (self.sender.sent().sum::<u64>(), self.receiver.received());
        ensure!(sent == received, "{received} of {sent} frames came back");
        let checks = self.receiver.checks();
        ensure!(checks.is_clean(), "frames came back wrong: {checks:?}");
        let frames = (TURNS * FRAMES) as f64;
        Ok(ticks.map(|ticks| ticks as f64 * self.clock.ns_per_tick() / frames))
    }
}

/// Offers loads to a cable and looks at when frames left.
fn pacing(report: &mut Report) -> Result<()> {
    let most = paced(Load::Max)?.0;
    let mut rows = String::from(
        "Pacing: generator and receiver on one core, joined by a ring, each load for 100 ms.\n\n\
         | asked, million frames/s | sent | deviation | mean jitter of gaps, ns | mean lateness, ns \
         | largest lateness, us | given up |\n|---|---|---|---|---|---|---|\n",
    );
    let loads = [0.1e6, 1e6, 5e6, 10e6, 20e6, most / 4.0, most / 2.0];
    for asked in loads.into_iter().filter(|&asked| asked <= most / 2.0) {
        let (sent, pacing) = paced(Load::Pps(asked))?;
        let Some(pacing) = pacing else { continue };
        let deviation = 100.0 * (sent / asked - 1.0);
        report.line(&serde_json::json!({
            "case": "pacing", "origin": "fwdlab", "asked_pps": asked, "sent_pps": sent,
            "deviation_percent": deviation, "mean_jitter_ns": pacing.mean_jitter_ns,
            "mean_lateness_ns": pacing.mean_lateness_ns, "max_lateness_ns": pacing.max_lateness_ns,
            "given_up": pacing.given_up,
        }));
        rows.push_str(&format!(
            "| {:.2} | {:.3} | {deviation:+.4} % | {:.1} | {:.0} | {:.1} | {} |\n",
            asked / 1e6,
            sent / 1e6,
            pacing.mean_jitter_ns,
            pacing.mean_lateness_ns,
            pacing.max_lateness_ns / 1e3,
            pacing.given_up,
        ));
    }
    report.note(format!("At most, with nothing in between: {:.1} million frames/s.", most / 1e6));
    report.note(rows.trim_end().to_owned());
    Ok(())
}

/// Sends 2000 IPv4 flows into a cable; returns the rate, frames/s, and how regular it was.
fn paced(load: Load) -> Result<(f64, Option<fwdlab_traffic::Pacing>)> {
    let mut stream = Stream::new(flow_set(FamilyName::Inet, 100)?);
    stream.order = Order::Sequential;
    let mut plan = TrafficPlan::new(vec![stream]);
    plan.load = load;
    plan.hops = 0;
    plan.arrival_mac = plan.device_mac;
    (plan.duration_ns, plan.interval_ns) = (PACED_NS, PACED_NS);
    let pool = Pool::with_frames(FRAMES)?;
    let (out, back) = ring::pair(FRAMES);
    let outcome = Tester::new(&plan, &pool, out, back)?.run(&AtomicBool::new(false), &mut |_| {});
    ensure!(outcome.lost() == 0 && outcome.checks.is_clean(), "the cable lost or changed frames");
    Ok((outcome.sent() as f64 * 1e9 / outcome.duration_ns as f64, outcome.pacing))
}
