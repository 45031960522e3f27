//! fwdlab's own router in the device's namespace, in the kernel's place: the same namespaces, veth
//! pairs and tester, so that both can be compared in one experiment. Its frames come and go by
//! AF_XDP or packet sockets, each copied by the kernel.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use fwdlab_port::{Pool, Port, PortError, SocketKind, affinity};
use fwdlab_router::Worker;

use super::setup::DEVICE;
use crate::LinuxError;
use crate::settings::LinuxSettings;
use fwdlab_device::Request;
use fwdlab_experiment::Variant;
use fwdlab_topology::{Testbed, TopologyError, port_name};

/// Frames of the router.
const FRAMES: usize = 4096;

/// A router at work on a thread of its own.
#[derive(Debug)]
pub(super) struct Embedded {
    is_over: Arc<AtomicBool>,
    /// Taken when it ends.
    thread: Option<JoinHandle<Worker<Box<dyn Port>>>>,
    /// The sockets that it has.
    pub(super) sockets: SocketKind,
    /// What the router answers when asked for each control word that this variant, or another, sets.
    pub(super) words: BTreeMap<String, String>,
}

/// What it counted.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Frames dropped by the router, by reason.
    pub(super) drops: BTreeMap<String, u64>,
    /// Frames dropped by the sockets for want of room.
    pub(super) unread: u64,
    /// The sockets that it had.
    pub(super) sockets: SocketKind,
    /// Nanoseconds spent on polls that brought frames.
    pub(super) busy_ns: u64,
    /// Frames in those polls.
    pub(super) busy_frames: u64,
}

impl Embedded {
    /// Opens the device's ports and begins to forward, on the processor `core`.
    ///
    /// # Errors
    /// The router refuses its configuration, or a port cannot be opened.
    pub(super) fn start(
        testbed: &Testbed,
        request: &Request<'_>,
        settings: &LinuxSettings,
        core: Option<usize>,
    ) -> Result<Self, LinuxError> {
        let own = Variant {
            name: "router".to_owned(),
            set: settings.router_words.clone(),
            own: Default::default(),
        };
        let mut router = fwdlab_builtin::router(request.experiment, &own)?;
        let set = settings.router_words.keys().map(String::as_str);
        let words = set.chain(request.experiment.words_of_others(request.variant));
        let words = fwdlab_builtin::answers(&router, words);
        let pool = Pool::with_frames(FRAMES)?;
        let opened = testbed.namespace(DEVICE)?.run(|| open(settings.ports, &pool));
        let failed = TopologyError::kernel("enter the device's namespace");
        let (sockets, ports) = opened.map_err(failed)??;
        let mut worker = router.worker((0..).zip(ports))?.with_pool(pool);
        let is_over = Arc::new(AtomicBool::new(false));
        let flag = is_over.clone();
        let (begin, begun) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("router".to_owned()).spawn(move || {
            // Where it is not allowed, the scheduler chooses.
            let _ = core.map(affinity::pin_current_thread);
            let _ = begin.send(());
            worker.forward_to_the_last(&flag);
            // Keeps the tables alive as long as the worker.
            drop(router);
            worker
        });
        let thread = thread.map_err(|source| PortError::Thread { source })?;
        // On a busy machine the thread may get no processor for as long as a short trial takes.
        let _ = begun.recv();
        Ok(Self { is_over, thread: Some(thread), sockets, words })
    }

    /// Whether it is at work.
    pub(super) fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Ends it once everything that has arrived is forwarded.
    ///
    /// # Errors
    /// When its thread ended early.
    pub(super) fn finish(mut self) -> Result<Ended, LinuxError> {
        let early = || LinuxError::Thread { what: "the router panicked".to_owned() };
        let worker = self.join().ok_or_else(early)?;
        let counters = worker.counters().snapshot();
        let mut drops: BTreeMap<String, u64> = counters
            .drop_counts()
            .filter(|(_, count)| *count > 0)
            .map(|(reason, count)| (reason.name().to_owned(), count))
            .collect();
        let unread = worker.into_ports().iter().map(|(_, port)| port.counters().rx_dropped).sum();
        if unread > 0 {
            drops.insert("socket full".to_owned(), unread);
        }
        let sockets = self.sockets;
        let (busy_ns, busy_frames) = (counters.busy_ns, counters.busy_frames);
        Ok(Ended { drops, unread, sockets, busy_ns, busy_frames })
    }

    fn join(&mut self) -> Option<Worker<Box<dyn Port>>> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

/// Opens both ports: by the sockets asked for, or else by AF_XDP and, where that is missing, by
/// packet sockets.
fn open(
    wanted: Option<SocketKind>,
    pool: &Pool,
) -> Result<(SocketKind, [Box<dyn Port>; 2]), PortError> {
    let both = |kind: SocketKind| {
        let [a, b] = [0, 1].map(|port| kind.open(&port_name(port), pool.clone()));
        Ok((kind, [a?, b?]))
    };
    match wanted {
        Some(kind) => both(kind),
        None => both(SocketKind::Xdp).or_else(|_: PortError| both(SocketKind::Packet)),
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.join();
    }
}
