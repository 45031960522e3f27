//! Bursts, overloads and pauses against a device whose buffer and speed are known, on one thread and
//! in made-up time.
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use fwdlab_port::{Batch, Counters, Frame, Pool, PoolConfig, Port};
use fwdlab_traffic::{
    Burster, FlowSet, Load, LoadChange, Outcome, Stream, Tester, TimeSource, TrafficPlan,
};
use fwdlab_wire::MacAddr;

/// A device that forwards a frame every so many ns, and holds so many that wait.
struct Device {
    now: u64,
    service_ns: u64,
    buffer: usize,
    /// It forwards nothing before.
    asleep_until: u64,
    waiting: VecDeque<Frame>,
    served_at: u64,
    done: VecDeque<Frame>,
}

impl Device {
    fn advance(&mut self, ns: u64) {
        self.now += ns;
        while self.served_at + self.service_ns <= self.now {
            self.served_at += self.service_ns;
            if self.served_at > self.asleep_until
                && let Some(mut frame) = self.waiting.pop_front()
            {
                frame[22] -= 1;
                self.done.push_back(frame);
            }
        }
    }
}

type Shared = Arc<Mutex<Device>>;

/// The way in: a link on which a frame takes so many ns.
struct In(Shared, u64);
/// The way out.
struct Out(Shared);
/// Asking for the time takes 50 ns.
struct Time(Shared);

impl TimeSource for Time {
    fn ticks(&mut self) -> u64 {
        let mut device = self.0.lock().unwrap();
        device.advance(50);
        device.now
    }

    fn ns_per_tick(&self) -> f64 {
        1.0
    }
}

impl Port for In {
    fn receive(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let mut device = self.0.lock().unwrap();
        let (mut sent, mut rest) = (0, Vec::new());
        for frame in batch.drain() {
            if rest.is_empty() {
                device.advance(self.1);
            }
            if rest.is_empty() && device.waiting.len() < device.buffer {
                device.waiting.push_back(frame);
                sent += 1;
            } else {
                rest.push(frame);
            }
        }
        for frame in rest {
            batch.push(frame).unwrap();
        }
        sent
    }

    fn mac(&self) -> MacAddr {
        MacAddr::ZERO
    }

    fn mtu(&self) -> usize {
        1500
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

impl Port for Out {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let mut device = self.0.lock().unwrap();
        let mut count = 0;
        while !batch.is_full()
            && let Some(frame) = device.done.pop_front()
        {
            batch.push(frame).unwrap();
            count += 1;
        }
        count
    }

    fn send(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn mac(&self) -> MacAddr {
        MacAddr::ZERO
    }

    fn mtu(&self) -> usize {
        1500
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

fn device(service_ns: u64, buffer: usize) -> Shared {
    Arc::new(Mutex::new(Device {
        now: 1_000_000,
        service_ns,
        buffer,
        asleep_until: 0,
        waiting: VecDeque::new(),
        served_at: 1_000_000,
        done: VecDeque::new(),
    }))
}

fn plan() -> TrafficPlan {
    let flows = FlowSet::parse("198.18.10.1:2000", "198.19.10.1-198.19.10.9:2000").unwrap();
    let mut plan = TrafficPlan::new(vec![Stream::new(flows)]);
    plan.frames_in_flight = 2048;
    plan
}

fn pool(frames: usize) -> Pool {
    Pool::new(PoolConfig { frames, ..PoolConfig::default() }).unwrap()
}

/// The longest burst over a link on which a frame takes so many ns.
fn longest(device: &Shared, link_ns: u64, frames: usize) -> (u64, u64, usize) {
    let ports = (In(device.clone(), link_ns), Out(device.clone()));
    let mut burster =
        Burster::with_time(&plan(), &pool(frames), ports, Time(device.clone())).unwrap();
    let found = burster.longest();
    (found.frames, found.ns, burster.most())
}

#[test]
fn the_longest_burst_is_what_the_buffer_holds_and_what_leaves_meanwhile() {
    // Of a burst of 2000 on a link twice as fast as the device, 1000 leave while it arrives.
    for (buffer, wanted) in [(100, 200), (1000, 2000)] {
        let (frames, ns, _) = longest(&device(1000, buffer), 500, 4096);
        assert!(frames.abs_diff(wanted) <= 2 + wanted / 256, "{buffer}: {frames}");
        // And so the buffer follows from the burst.
        let left = ns as f64 / 1000.0;
        let found = frames as f64 - left;
        assert!((found - buffer as f64).abs() < 2.0 + buffer as f64 / 100.0, "{buffer}: {found}");
    }
}

#[test]
fn a_device_as_fast_as_the_link_has_no_longest_burst() {
    let (frames, _, most) = longest(&device(100, 50), 500, 1024);
    assert_eq!((frames, most), (1024, 1024));
    // And one that forwards nothing has none at all.
    let dead = device(1000, 0);
    assert_eq!(longest(&dead, 500, 1024).0, 0);
}

fn run(device: &Shared, plan: &TrafficPlan) -> Outcome {
    let ports = (In(device.clone(), 1), Out(device.clone()));
    let mut tester = Tester::with_time(plan, &pool(2048), ports, Time(device.clone())).unwrap();
    tester.run(&AtomicBool::new(false), &mut |_| {})
}

#[test]
fn loss_of_an_overload_is_dated_and_ends_with_it() {
    // 1 M frames/s; 1.5 M for 100 ms, then 0.5 M.
    let mut plan = plan();
    plan.load = Load::Pps(1.5e6);
    plan.duration_ns = 200_000_000;
    plan.change = Some(LoadChange { after_ns: 100_000_000, pps: 0.5e6 });
    let outcome = run(&device(1000, 512), &plan);
    let last = outcome.lapses.last().expect("frames are lost");
    assert!(last.at_ns + last.ns <= 100_100_000, "{last:?}");
    assert!(last.at_ns + last.ns > 99_000_000, "{last:?}");
    let lost: u64 = outcome.lapses.iter().map(|lapse| lapse.frames).sum();
    // 150,000 were due, 100,000 could leave, 15,000 and the buffer wait.
    assert!(lost.abs_diff(150_000 - 100_000 - 15_000) < 2_000, "{lost}");
    let sent = outcome.sent() as f64;
    assert!((sent + lost as f64 - 200_000.0).abs() < 1_000.0, "{sent} sent, {lost} lost");
}

#[test]
fn a_device_that_is_slow_to_recover_goes_on_losing_for_so_long() {
    // It falls asleep in the overload, and wakes 30 ms after the load went down.
    let slow = device(1000, 512);
    let mut plan = plan();
    plan.load = Load::Pps(0.9e6);
    plan.duration_ns = 200_000_000;
    plan.change = Some(LoadChange { after_ns: 50_000_000, pps: 0.5e6 });
    slow.lock().unwrap().asleep_until = 1_000_000 + 80_000_000;
    let outcome = run(&slow, &plan);
    let last = outcome.lapses.last().expect("frames are lost");
    let ended = (last.at_ns + last.ns) as f64 / 1e6;
    assert!((79.0..81.0).contains(&ended), "loss ended at {ended} ms");
}

#[test]
fn the_longest_pause_of_a_device_is_among_the_gaps() {
    let mut plan = plan();
    plan.load = Load::Pps(0.5e6);
    plan.duration_ns = 100_000_000;
    let outcome = run(&device(1000, 512), &plan);
    assert!(outcome.gaps.len() <= Outcome::MOST_GAPS);
    assert!(outcome.gaps.iter().all(|gap| gap.ns < 1_000_000), "{:?}", outcome.gaps);

    let pausing = device(1000, 512);
    plan.interval_ns = 10_000_000;
    let ports = (In(pausing.clone(), 1), Out(pausing.clone()));
    let mut tester = Tester::with_time(&plan, &pool(2048), ports, Time(pausing.clone())).unwrap();
    let outcome = tester.run(&AtomicBool::new(false), &mut |interval| {
        if interval.index == 3 {
            let mut device = pausing.lock().unwrap();
            device.asleep_until = device.now + 7_000_000;
        }
    });
    let longest = outcome.gaps.iter().max_by_key(|gap| gap.ns).expect("a gap");
    assert!((6_900_000..7_200_000).contains(&longest.ns), "{longest:?}");
    assert!(longest.at_ns.abs_diff(40_000_000) < 200_000, "{longest:?}");
}
