//! Forwards between interfaces, and meanwhile does what it is told: orders, changes of the kernel's
//! routes, syncs of the tables, prints.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use fwdlab_router::{Keeper, Router};
use fwdlab_topology::RouteWatch;

use super::kernel::{self, KernelRoutes, Noticed};
use super::orders::Operator;
use super::{Args, config, live, pause, show};
use crate::control::socket::{Asked, ControlSocket};
use crate::output;

/// How long the control side rests at most: as long as an end may wait.
const REST: Duration = Duration::from_millis(20);
/// The same while changes of the kernel's routes are not visible yet.
const SHORT_REST: Duration = Duration::from_millis(1);
/// Events that wait until those who send them must.
const WAITING_EVENTS: usize = 64;

/// What the control side is told.
pub(super) enum Event {
    Order(Asked),
    Kernel(io::Result<Vec<Noticed>>),
}

/// The control side of a router that forwards.
struct Control<'a> {
    arguments: &'a Args,
    /// Brings changes that have to wait to the worker by itself.
    router: Keeper<Router>,
    operator: Operator<'a>,
    kernel: Option<KernelRoutes>,
    start: Instant,
    every: Option<Duration>,
    printed: Instant,
    /// Ports of which it has been said that their frames arrive merged.
    merged: BTreeSet<u16>,
}

/// Forwards between interfaces until it is told to stop.
///
/// # Errors
/// Interfaces that cannot be opened or that go away, a socket that another router has, a table that
/// refuses its routes.
pub(super) fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let every = arguments.every.map(pause).transpose()?;
    let seconds = arguments.seconds.map(pause).transpose()?;
    if !(arguments.pcap_in.is_empty() && arguments.pcap_out.is_empty()) {
        bail!("--pcap-in and --pcap-out do not go with interfaces");
    }
    let mut watch = match arguments.kernel_routes {
        true => Some(RouteWatch::open().context("--kernel-routes: cannot ask the kernel")?),
        false => None,
    };
    let interfaces = live::Interfaces::open(arguments, watch.as_mut())?;
    let mut router = config::router(arguments, &|number| interfaces.identity(number))?;
    let mut worker = interfaces.worker(&mut router)?;
    let (sender, events) = sync_channel(WAITING_EVENTS);
    let operator = Operator { names: config::names(arguments), via: &arguments.via };
    let kernel = watch.map(|watch| follow(watch, &mut router, &operator, &sender)).transpose()?;
    let _socket = listen(arguments, &sender)?;
    let stop = crate::interrupt::stop_on_interrupt()?;
    let start = Instant::now();
    let router = Keeper::new(router).context("no thread for the routing tables")?;
    let (printed, merged) = (start, BTreeSet::new());
    let mut control =
        Control { arguments, router, operator, kernel, start, every, printed, merged };
    let held = std::thread::scope(|scope| {
        let worker = scope.spawn(|| worker.forward(&stop));
        let ended = control.run(&events, &stop, seconds);
        stop.store(true, Ordering::Relaxed);
        ended?;
        worker.join().map_err(|_| anyhow!("the worker's thread ended early"))
    })?;
    control.warn_of_offloads();
    let router = control.router.into_inner();
    output::print(&show::counters(&router, Some(held), arguments.format))?;
    show::warn(&router);
    // After the counters, which are right all the same.
    if let Some(fault) = worker.fault() {
        bail!("{fault}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens the socket for orders, if one is wanted.
fn listen(arguments: &Args, sender: &SyncSender<Event>) -> anyhow::Result<Option<ControlSocket>> {
    let Some(path) = &arguments.control else { return Ok(None) };
    let sender = sender.clone();
    let deliver = move |asked| sender.send(Event::Order(asked)).is_ok();
    ControlSocket::open(path, deliver).map(Some)
}

/// Begins to follow the kernel's routes.
fn follow(
    mut watch: RouteWatch,
    router: &mut Router,
    operator: &Operator<'_>,
    sender: &SyncSender<Event>,
) -> anyhow::Result<KernelRoutes> {
    // The kernel has the same addresses, and answers for them.
    router.set("fwdlab.device.host", "1")?;
    let names = &operator.names;
    let ports: HashMap<u32, u16> = watch
        .interfaces()?
        .into_iter()
        .filter_map(|(name, index)| {
            let port = names.iter().position(|own| own.as_deref() == Some(name.as_str()))?;
            Some((index, port as u16))
        })
        .collect();
    let sender = sender.clone();
    kernel::watch(watch, move |told| sender.send(Event::Kernel(told)).is_ok())?;
    Ok(KernelRoutes::new(ports))
}

impl Control<'_> {
    fn run(
        &mut self,
        events: &Receiver<Event>,
        stop: &Arc<AtomicBool>,
        seconds: Option<Duration>,
    ) -> anyhow::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            // Who waits for changes to become visible looks often.
            let is_waiting = self.kernel.as_ref().is_some_and(KernelRoutes::is_waiting);
            let until = if is_waiting { SHORT_REST } else { REST };
            if let Ok(event) = events.recv_timeout(until) {
                self.handle(event)?;
                // Those that came meanwhile, before the tables are looked at.
                for event in events.try_iter().take(WAITING_EVENTS) {
                    self.handle(event)?;
                }
            }
            if let Some(kernel) = self.kernel.as_mut().filter(|kernel| kernel.is_waiting()) {
                self.router.look(|router| kernel.note_visible(router))?;
            }
            self.warn_of_offloads();
            if seconds.is_some_and(|seconds| self.start.elapsed() >= seconds) {
                return Ok(());
            }
            if self.every.is_some_and(|every| self.printed.elapsed() >= every) {
                self.printed = Instant::now();
                let format = self.arguments.format;
                output::print(&self.router.look(|router| show::counters(router, None, format)))?;
            }
        }
        Ok(())
    }

    fn warn_of_offloads(&mut self) {
        let (names, has_host, said) =
            (&self.operator.names, self.kernel.is_some(), &mut self.merged);
        self.router.look(|router| show::warn_of_offloads(router, names, has_host, said));
    }

    fn handle(&mut self, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Order(asked) => {
                let kernel = self.kernel.as_ref().map(|kernel| || kernel.show());
                let kernel = kernel.as_ref().map(|kernel| kernel as &dyn Fn() -> show::Shown);
                let answer = self
                    .router
                    .edit(|router| self.operator.carry_out(router, &asked.order, kernel));
                asked.answer(answer);
                Ok(())
            }
            Event::Kernel(told) => {
                let notices = told.context("the kernel's routes cannot be read")?;
                match &mut self.kernel {
                    Some(kernel) => self.router.edit(|router| kernel.take(router, notices)),
                    None => Ok(()),
                }
            }
        }
    }
}
