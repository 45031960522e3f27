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

/// The router with its frames.
pub struct Router {
    router: fwdlab_router::Router,
    worker: Option<Worker<RingPort>>,
    name: String,
    /// The two ends while no worker has them.
    ends: Option<(RingPort, RingPort)>,
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
    /// A router with the case's routes and buffers.
    ///
    /// # Errors
    /// When the router refuses its configuration, or there is no memory.
    pub fn new(case: &Case, routes: &Routes) -> Result<Self> {
        let router = configured(routes)?;
        let word = format!("net.route.algo.{}.algo", case.family.name());
        let name = format!("router, {}", router.get(&word)?);
        let (one, mut two) = ring::pair(case.flows);
        let pool = Pool::new(case.pool())?;
        let mut batch = Batch::new();
        while pool.take_batch(&mut batch, Batch::CAPACITY) > 0 {
            batch.iter_mut().for_each(|frame| frame.set_len(60));
            two.send(&mut batch);
        }
        Ok(Self { router, worker: None, name, ends: Some((one, two)), frames: case.flows })
    }

    /// Lets `edit` see all frames, in order.
    fn visit(&mut self, mut edit: impl FnMut(usize, &mut fwdlab_port::Frame)) {
        let (mut one, mut two) = self.ends.take().unwrap_or_else(|| {
            let worker = self.worker.take().expect("invariant: either the ends or a worker");
            let mut ports = worker.into_ports().into_iter().map(|(_, port)| port);
            let mut next = || ports.next().expect("invariant: a worker of two ports");
            (next(), next())
        });
        let mut batch = Batch::new();
        let mut index = 0;
        while index < self.frames {
            one.receive(&mut batch);
            // The last batch may hold frames that were seen first.
            for frame in batch.iter_mut().take(self.frames - index) {
                edit(index, frame);
                index += 1;
            }
            two.send(&mut batch);
        }
        self.ends = Some((one, two));
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
        if let Some((one, two)) = self.ends.take() {
            let worker =
                self.router.worker([(0, one), (1, two)]).expect("invariant: ports 0 and 1");
            self.worker = Some(worker.with_overflow(Overflow::Wait));
        }
    }

    fn laps(&mut self, laps: usize) -> u64 {
        let worker = self.worker.as_mut().expect("invariant: filled before");
        let start = Instant::now();
        let mut left = laps * self.frames;
        while left > 0 {
            let received = worker.poll();
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
