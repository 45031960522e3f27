//! The router as a contender: one worker whose two ports are the two ends of one ring, so that
//! what leaves through port 1 comes in through port 0.

use std::time::Instant;

use anyhow::Result;
use fwdlab_fib::{Inet, Inet6};
use fwdlab_port::ring::RingPort;
use fwdlab_port::{Batch, Pool, Port, ring};
use fwdlab_router::{Overflow, PortConfig, Worker};

use super::case::{Case, Contender, OUTPUT_MAC, ROUTER_MAC};
use super::table::Routes;

/// The router with its frames. Its worker is the same in all rounds, as a router's is for as long as it runs.
pub struct Router {
    worker: Worker<RingPort>,
    /// Its control side, which lives as long.
    _router: fwdlab_router::Router,
    name: String,
    frames: usize,
}

/// A router of two ports with these routes.
///
/// # Errors
/// When the router refuses them.
pub fn configured(routes: &Routes) -> Result<fwdlab_router::Router> {
    let mut router = fwdlab_router::Router::new()?;
    router.add_port(PortConfig::new(ROUTER_MAC))?;
    router.add_port(PortConfig::new(OUTPUT_MAC))?;
    router.edit_fib::<Inet>(0, |fib| Ok(fib.load(routes.hops_inet()).map(drop)?))?;
    router.edit_fib::<Inet6>(0, |fib| Ok(fib.load(routes.hops_inet6()).map(drop)?))?;
    router.flush();
    for gateway in routes.gateways() {
        router.add_neighbour::<Inet>(1, gateway, ROUTER_MAC)?;
        router.add_neighbour::<Inet6>(1, gateway.into(), ROUTER_MAC)?;
    }
    Ok(router)
}

impl Router {
    /// A router with the case's routes and buffers, and with its route cache or without.
    ///
    /// # Errors
    /// When the router refuses its configuration, or there is no memory.
    pub fn new(case: &Case, routes: &Routes, has_cache: bool) -> Result<Self> {
        let mut router = configured(routes)?;
        let word = format!("net.route.algo.{}.algo", case.family.name());
        let mut name = format!("router, {}", router.get(&word)?);
        if !has_cache {
            router.set("fwdlab.device.route_cache", "0")?;
            name.push_str(", no route cache");
        }
        let (one, mut two) = ring::pair(case.flows);
        let pool = Pool::new(case.pool())?;
        let mut batch = Batch::new();
        while pool.take_batch(&mut batch, Batch::CAPACITY) > 0 {
            batch.iter_mut().for_each(|frame| frame.set_len(60));
            two.send(&mut batch);
        }
        let worker = router.worker([(0, one), (1, two)])?.with_overflow(Overflow::Wait);
        Ok(Self { worker, _router: router, name, frames: case.flows })
    }

    /// Lets `edit` see all frames, in order.
    fn visit(&mut self, mut edit: impl FnMut(usize, &mut fwdlab_port::Frame)) {
        let mut batch = Batch::new();
        let mut index = 0;
        while index < self.frames {
            self.port(0).receive(&mut batch);
            // The last batch may hold frames that were seen first.
            for frame in batch.iter_mut().take(self.frames - index) {
                edit(index, frame);
                index += 1;
            }
            self.port(1).send(&mut batch);
        }
    }

    fn port(&mut self, number: u16) -> &mut RingPort {
        self.worker.port_mut(number).expect("invariant: ports 0 and 1")
    }
}

impl Contender for Router {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> &'static str {
        "fwdlab"
    }

    fn fill(&mut self, frames: &[Vec<u8>]) {
        self.visit(|index, frame| {
            frame.set_len(frames[index].len());
            frame.copy_from_slice(&frames[index]);
        });
    }

    fn laps(&mut self, laps: usize) -> u64 {
        let start = Instant::now();
        let mut left = laps * self.frames;
        while left > 0 {
            let received = self.worker.poll();
            // The last poll of a measurement may begin the next lap: some of 256 frames too many.
            left = left.saturating_sub(received);
        }
        start.elapsed().as_nanos() as u64
    }

    fn frames(&mut self) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        self.visit(|_, frame| out.push(frame.to_vec()));
        out
    }
}
