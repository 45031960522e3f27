//! Routes of the running kernel that change under traffic, by netlink, all prefixes in one batch (RFC 6413,
//! RFC 7747); the tester on sockets sees by which path frames come.

use std::sync::mpsc;
use std::time::Instant;

use fwdlab_builtin::convergence::{Given, observe};
use fwdlab_device::{Request, Watch};
use fwdlab_experiment::Converging;
use fwdlab_port::{Pool, PortError, affinity};
use fwdlab_results::{Convergence, RouteEvent, TrialEnvironment};
use fwdlab_topology::{Neighbour, StaticRoute, Testbed, port_name};
use fwdlab_traffic::{AnyPathWatch, OTHER_PATH_MAC, TESTER_MACS};

use crate::LinuxError;
use crate::settings::TesterKind;
use crate::setup::DEVICE;
use crate::tester::{self, Turns, least};

/// Times that changes are made in all until the threads had their processors.
const ATTEMPTS: usize = 3;
/// Frames that the tester has.
const FRAMES: usize = 4096;

/// Changes the routes to all destinations of a traffic there and back for the trial's duration.
///
/// # Errors
/// The kernel refuses routes or sockets, or the campaign was stopped.
pub(super) fn measure(
    testbed: &mut Testbed,
    request: &Request<'_>,
    (kind, core): (TesterKind, Option<usize>),
    watch: &Watch<'_>,
) -> Result<Option<Convergence>, LinuxError> {
    let Some(own) = Converging::of(request.experiment, request.traffic) else { return Ok(None) };
    let of = |route: fwdlab_experiment::Route| StaticRoute {
        prefix: route.prefix,
        gateway: route.gateway,
        port: route.port,
    };
    let routes: Vec<StaticRoute> = own.routes().into_iter().map(of).collect();
    let neighbour =
        Neighbour { interface: port_name(1), address: own.gateways[1], mac: OTHER_PATH_MAC };
    testbed.know(DEVICE, &neighbour)?;
    let load_pps = request.traffic.offered_pps().unwrap_or(0.0);
    let mut best: Option<Convergence> = None;
    for _ in 0..ATTEMPTS {
        let (events, device_share) = events(testbed, request, (&routes, kind, core), watch)?;
        if watch.is_stopped() {
            return Err(LinuxError::Stopped);
        }
        let share = device_share.unwrap_or(1.0);
        if best.as_ref().is_none_or(|best| best.device_share.is_some_and(|own| own < share)) {
            best = Some(Convergence { load_pps, events, device_share });
        }
        if share >= TrialEnvironment::LEAST_CORE_SHARE {
            break;
        }
    }
    Ok(best)
}

/// What was seen of changes, and the smaller share that the thread that sends and receives, and the one that
/// changes routes, had of the time in which they could run.
fn events(
    testbed: &mut Testbed,
    request: &Request<'_>,
    (routes, kind, core): (&[StaticRoute], TesterKind, Option<usize>),
    watch: &Watch<'_>,
) -> Result<(Vec<RouteEvent>, Option<f64>), LinuxError> {
    let pool = Pool::with_frames(FRAMES)?;
    let plan = tester::plan(request)?;
    let (sockets, _) = tester::open(kind, testbed, &pool)?;
    let macs = [TESTER_MACS[1], OTHER_PATH_MAC];
    let mut paths = AnyPathWatch::new(&plan, &pool, sockets, macs)?;
    let (tell, told) = mpsc::channel::<usize>();
    let (answer, answers) = mpsc::channel::<Given>();
    std::thread::scope(|scope| {
        let changer = std::thread::Builder::new().name("routes".to_owned());
        let changer = changer.spawn_scoped(scope, move || {
            let turns = Turns::own();
            let mut are_there = false;
            for path in told {
                let begun = Instant::now();
                match path {
                    1 => testbed.put_routes(DEVICE, routes)?,
                    _ => testbed.take_routes(DEVICE, routes)?,
                }
                are_there = path == 1;
                if answer.send((begun, Instant::now())).is_err() {
                    break;
                }
            }
            // The next trial finds the routes that it wants.
            let share = share_since(turns);
            if are_there {
                testbed.take_routes(DEVICE, routes)?;
            }
            Ok::<_, LinuxError>(share)
        });
        let changer = changer.map_err(|source| PortError::Thread { source })?;
        let sender = std::thread::Builder::new().name("tester".to_owned());
        let wanted = request.experiment.duration;
        let stop = watch.stop;
        let sender = sender.spawn_scoped(scope, move || {
            let _ = core.is_some_and(|core| affinity::pin_current_thread(core).is_ok());
            let turns = Turns::own();
            let quiet = Watch { on_interval: &mut |_| (), stop };
            let mut events = observe(wanted, &quiet, &mut |old, limit| {
                // Without a thread that changes routes there will be no answer, either.
                let mut change = || {
                    let _ = tell.send(1 - old);
                };
                let seen = paths.observe_any(old, limit, &mut change);
                answers.recv().ok().map(|given| (seen, given))
            });
            if let Some(last) = events.last_mut() {
                last.add_late(&paths.late_any());
            }
            (events, share_since(turns))
        });
        let sender = sender.map_err(|source| PortError::Thread { source })?;
        let panicked = || LinuxError::Thread { what: "the tester panicked".to_owned() };
        let (events, sender) = sender.join().map_err(|_| panicked())?;
        let changer = changer.join().map_err(|_| panicked())??;
        Ok((events, least(sender, changer)))
    })
}

/// The calling thread's share of the time since then in which it could run.
fn share_since(before: Option<Turns>) -> Option<f64> {
    before.and_then(|before| Turns::own()?.share_since(&before))
}
