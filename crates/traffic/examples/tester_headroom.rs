//! How fast the tester is, in memory: generator alone, receiver alone, both on one core, and
//! both against a device on another core that only moves frames from one ring to the other; then
//! how exactly it keeps a rate, and the latency that it sees.
//!
//! `cargo run --release -p fwdlab-traffic --example tester_headroom [SECONDS]`
//!
//! The rate against that device is the fastest that this tester can measure on this machine.

use std::sync::atomic::{AtomicBool, Ordering};

use fwdlab_port::{Batch, Clock, Pool, Port, affinity, pingpong, ring};
use fwdlab_traffic::{
    FlowSet, FrameSizes, IntervalCounts, Load, Outcome, Receiver, Sender, Stream, Tester,
    TrafficPlan,
};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(1.0), |text| text.parse())?;
    let cores = affinity::allowed_cores();
    if let [a, b, ..] = cores[..] {
        println!("round trip core {a} to {b}: {:.0} ns", pingpong::measure(a, b)?.median_ns);
        affinity::pin_current_thread(a)?;
    }
    let inet = ("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000");
    let inet6 =
        ("[2001:2:0:10::1]-[2001:2:0:10::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000");
    for (name, (source, destination)) in [("inet", inet), ("inet6", inet6)] {
        let mut plan = TrafficPlan::new(vec![Stream::new(FlowSet::parse(source, destination)?)]);
        // A cable changes nothing.
        plan.arrival_mac = plan.device_mac;
        plan.hops = 0;
        plan.duration_ns = (seconds * 1e9) as u64;
        one_core(name, &plan, seconds)?;
        let max = two_cores(&plan, cores.get(1).copied())?;
        let max_pps = max.received() as f64 * 1e9 / max.duration_ns as f64;
        println!(
            "{name}: tester against a device that only moves handles: {:.1} Mframes/s, tester waiting {:.0} %, lost {}",
            max_pps / 1e6,
            max.waiting_share() * 100.0,
            max.lost()
        );
        // The smallest IPv6 frame holds no time stamp.
        plan.latency = true;
        plan.streams[0].sizes = FrameSizes::fixed(80);
        for share in [0.01, 0.1, 0.25, 0.5] {
            plan.load = Load::Pps(max_pps * share);
            print_paced(name, share, &two_cores(&plan, cores.get(1).copied())?);
        }
    }
    Ok(())
}

/// Frames stay in one batch; nothing but the generator's and the receiver's own work.
fn one_core(name: &str, plan: &TrafficPlan, seconds: f64) -> Result<(), AnyError> {
    let pool = Pool::with_frames(2048)?;
    let headroom = pool.config().headroom;
    let clock = Clock::new();
    let mut batches: Vec<Batch> = (0..8).map(|_| Batch::new()).collect();
    let mut sender = Sender::new(plan, headroom)?;
    let mut receiver = Receiver::new(plan, &sender)?;
    for batch in &mut batches {
        pool.take_batch(batch, Batch::CAPACITY);
        batch.iter_mut().for_each(|frame| sender.adopt(frame));
    }
    let (mut send_ticks, mut receive_ticks, mut frames) = (0, 0, 0_u64);
    let end = clock.ticks() + clock.ns_to_ticks((seconds * 1e9) as u64);
    let mut now = clock.ticks();
    while now < end {
        for batch in &mut batches {
            sender.write(batch, 0);
        }
        let written = clock.ticks();
        for batch in &mut batches {
            receiver.check(batch, 0, |_| {});
            frames += batch.len() as u64;
        }
        let checked = clock.ticks();
        send_ticks += written - now;
        receive_ticks += checked - written;
        now = checked;
    }
    assert!(receiver.checks().is_clean(), "{:?}", receiver.checks());
    assert_eq!(receiver.received(), frames);
    let rate = |ticks: u64| frames as f64 * 1e3 / clock.ticks_to_ns(ticks) as f64;
    println!(
        "{name}: generator {:.0}, receiver {:.0}, both {:.1} Mframes/s per core",
        rate(send_ticks),
        rate(receive_ticks),
        rate(send_ticks + receive_ticks)
    );
    Ok(())
}

fn print_paced(name: &str, share: f64, outcome: &Outcome) {
    let (Some(pacing), Some(latency)) = (outcome.pacing, outcome.latency) else { return };
    let off = |interval: &IntervalCounts| (interval.sent_pps() / pacing.asked_pps - 1.0).abs();
    let exact = outcome.intervals.iter().filter(|interval| off(interval) < 0.001).count();
    let worst = outcome.intervals.iter().map(off).fold(0.0, f64::max);
    println!(
        "{name}: asked {:.3} Mframes/s ({:.0} %): {exact} of {} intervals within 0.1 %, worst off by {:.4} %, given up {}, jitter {:.0} ns, \
         late mean {:.0} max {:.0} ns; latency median {} p99 {} p99.9 {} p99.99 {} max {} ns",
        pacing.asked_pps / 1e6,
        share * 100.0,
        outcome.intervals.len(),
        worst * 100.0,
        pacing.given_up,
        pacing.mean_jitter_ns,
        pacing.mean_lateness_ns,
        pacing.max_lateness_ns,
        latency.median_ns,
        latency.p99_ns,
        latency.p99_9_ns,
        latency.p99_99_ns,
        latency.maximum_ns
    );
}

/// Runs the plan against a device on `core` that moves frames from one ring to the other.
fn two_cores(plan: &TrafficPlan, core: Option<usize>) -> Result<Outcome, AnyError> {
    let pool = Pool::with_frames(plan.frames_in_flight)?;
    let ((a, mut device_in), (mut device_out, b)) = (ring::pair(2048), ring::pair(2048));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let device = scope.spawn(|| {
            if let Some(core) = core {
                affinity::pin_current_thread(core)?;
            }
            let mut batch = Batch::new();
            while !stop.load(Ordering::Relaxed) {
                device_in.receive(&mut batch);
                device_out.send(&mut batch);
            }
            Ok::<_, fwdlab_port::PortError>(())
        });
        let mut tester = Tester::new(plan, &pool, a, b)?;
        let outcome = tester.run(&AtomicBool::new(false), &mut |_| {});
        stop.store(true, Ordering::Relaxed);
        device.join().map_err(|_| "the device panicked")??;
        Ok(outcome)
    })
}
