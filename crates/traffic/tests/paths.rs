//! Frames that a device holds back for longer than anybody waits are late, and not lost.
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fwdlab_port::{Batch, Counters, Frame, Pool, PoolConfig, Port};
use fwdlab_traffic::{FlowSet, Load, PathWatch, Stream, TrafficPlan};
use fwdlab_wire::MacAddr;

/// What a device holds back, and what it has forwarded.
#[derive(Default)]
struct Device {
    held: VecDeque<Frame>,
    done: VecDeque<Frame>,
}

#[derive(Clone)]
struct In(Arc<Mutex<Device>>);
struct Out(Arc<Mutex<Device>>);

impl Port for In {
    fn receive(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let before = batch.len();
        self.0.lock().unwrap().held.extend(batch.drain());
        before
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

#[test]
fn frames_that_come_after_everybody_gave_up_are_late_by_their_destination() {
    let flows = FlowSet::parse("198.18.10.1:2000", "198.19.10.1-198.19.10.4:2000").unwrap();
    let mut plan = TrafficPlan::new(vec![Stream::new(flows)]);
    plan.load = Load::Pps(20_000.0);
    plan.drain_ns = 1_000_000;
    let pool = Pool::new(PoolConfig { frames: 256, ..PoolConfig::default() }).unwrap();
    let device = Arc::new(Mutex::new(Device::default()));
    let ports = (In(device.clone()), Out(device.clone()));
    let macs = [MacAddr::numbered(1), MacAddr::numbered(2)];
    let mut paths = PathWatch::new(&plan, &pool, ports, macs).unwrap();
    let mut changes = 0;
    let seen = paths.observe(0, Duration::from_millis(3), &mut || changes += 1);
    assert_eq!((changes, seen.late), (1, vec![0; 4]));
    assert!(seen.destinations.iter().all(|own| own.sent > 0 && own.received == 0), "all are held");
    let sent: Vec<u64> = seen.destinations.iter().map(|own| own.sent).collect();
    let release = || {
        let mut device = device.lock().unwrap();
        let held = std::mem::take(&mut device.held);
        device.done.extend(held);
    };
    release();
    let seen = paths.observe(1, Duration::from_millis(3), &mut || ());
    assert_eq!(seen.late, sent, "they came when the next change began");
    let sent: Vec<u64> = seen.destinations.iter().map(|own| own.sent).collect();
    release();
    assert_eq!(paths.late(), sent);
    assert_eq!(paths.late(), [0; 4], "each is late once");
}

/// A port behind which all frames are lost: they go back to their pool.
struct Nowhere;

impl Port for Nowhere {
    fn receive(&mut self, _: &mut Batch) -> usize {
        0
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        batch.drain().count()
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

/// With as many frames lost as the tester had, it sent no more, and no prefix was seen by any path.
#[test]
fn lost_frames_are_used_again() {
    let flows = FlowSet::parse("198.18.10.1:2000", "198.19.10.1-198.19.10.4:2000").unwrap();
    let mut plan = TrafficPlan::new(vec![Stream::new(flows)]);
    plan.load = Load::Pps(200_000.0);
    plan.drain_ns = 1_000_000;
    let frames = 256;
    let pool = Pool::new(PoolConfig { frames, ..PoolConfig::default() }).unwrap();
    let macs = [MacAddr::numbered(1), MacAddr::numbered(2)];
    let mut paths = PathWatch::new(&plan, &pool, (Nowhere, Nowhere), macs).unwrap();
    let seen = paths.observe(0, Duration::from_millis(200), &mut || ());
    let sent: u64 = seen.destinations.iter().map(|own| own.sent).sum();
    assert!(sent > 2 * frames as u64, "{sent} of {frames}");
}
