//! The loops of a program's worker, over ports that are chosen while it runs.
//!
//! Each is a function of one type, so that it is compiled here, with this crate's optimisation, and
//! not anew in every program that calls it.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fwdlab_port::pcap::{PcapPort, Timeline};
use fwdlab_port::{Port, wait};

use super::state::Worker;

/// A capture of any source to any destination, as a port.
pub type AnyPcapPort = PcapPort<Box<dyn Read + Send>, Box<dyn Write + Send>>;

/// Polls without a frame after which a worker rests.
const PATIENCE: u32 = 200;
/// How long it rests at most unless a frame comes: as long as its timers may wait.
const REST: Duration = Duration::from_millis(10);
/// The same while frames are held that an output port may take.
const SHORT_REST: Duration = Duration::from_micros(200);
/// While packets wait for a neighbour and nothing arrives, a capture's time goes on in such steps,
/// ns: that of a repeated query.
const STEP_NS: u64 = 1_000_000_000;
/// No packet waits longer than this many steps.
const MOST_STEPS: u32 = 65;

impl Worker<Box<dyn Port>> {
    /// Forwards until `stop` is set or a port is no more, and sets it then; rests while nothing
    /// arrives. Returns how many frames are left inside the router.
    pub fn forward(&mut self, stop: &AtomicBool) -> usize {
        let mut empty = 0;
        while !stop.load(Ordering::Relaxed) && self.fault().is_none() {
            if self.poll() > 0 {
                empty = 0;
            } else if empty < PATIENCE {
                empty += 1;
                std::hint::spin_loop();
            } else {
                wait(self.ports(), if self.held() > self.fragments() { SHORT_REST } else { REST });
            }
        }
        stop.store(true, Ordering::Relaxed);
        self.held()
    }

    /// Forwards without rest until `stop` is set and nothing arrives any more.
    pub fn forward_to_the_last(&mut self, stop: &AtomicBool) {
        while self.poll() > 0 || !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }
}

impl Worker<AnyPcapPort> {
    /// Plays the captures to their end, on `timeline`; returns how many frames are left inside the
    /// router, which is none, unless it is broken.
    pub fn play(&mut self, timeline: &Timeline) -> usize {
        let mut now_ns = 0;
        while let Some(next_ns) = self.ports().filter_map(PcapPort::next_time_ns).min() {
            self.pass_time(timeline, now_ns, Some(next_ns));
            now_ns = now_ns.max(next_ns);
            timeline.set(now_ns);
            self.poll_at(now_ns);
        }
        self.pass_time(timeline, now_ns, None);
        self.held()
    }

    /// Lets time pass towards `to_ns`, while packets wait for a neighbour.
    fn pass_time(&mut self, timeline: &Timeline, from_ns: u64, to_ns: Option<u64>) {
        let mut now_ns = from_ns;
        for _ in 0..MOST_STEPS {
            now_ns = now_ns.saturating_add(STEP_NS);
            if self.held() == 0 || to_ns.is_some_and(|to_ns| now_ns >= to_ns) {
                return;
            }
            timeline.set(now_ns);
            self.poll_at(now_ns);
        }
    }
}
