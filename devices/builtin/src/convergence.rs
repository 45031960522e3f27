//! Routes that change under traffic, all prefixes at once, over and over (RFC 6413, RFC 7747): a thread beside
//! the device's gives the table the changes, as a routing daemon's; the tester sees by which path frames come.

use std::sync::atomic::AtomicBool;
use std::sync::{Barrier, mpsc};
use std::time::{Duration, Instant};

use fwdlab_device::turns::{Turns, least};
use fwdlab_device::{Request, Watch};
use fwdlab_experiment::{Converging, Route};
use fwdlab_port::PortError;
use fwdlab_port::affinity::CoreShare;
use fwdlab_port::pingpong::Rally;
use fwdlab_results::{Convergence, PrefixEvent, RouteEvent};
use fwdlab_router::Router;
use fwdlab_traffic::{
    Load, OTHER_PATH_MAC, PathSeen, PathWatch, PathsSeen, TESTER_MACS, TrafficPlan,
};

use crate::churn::{Changer, neighbour};
use crate::poll::{Metronome, Over, poll_until};
use crate::rings::{Rings, pin, worker};
use crate::{BuiltinError, setup};

/// Fewest and most changes of all routes in a trial.
const EVENTS: std::ops::Range<usize> = 2..21;
/// For frames by the new path nobody waits longer.
pub const LONGEST: Duration = Duration::from_nanos(RouteEvent::LONGEST_NS);
/// The changes of a trial may take so many times its duration.
const PATIENCE: u32 = 2;

/// When the device was given the changes of an event, and when it had taken them.
pub type Given = (Instant, Instant);

impl Rings {
    /// Changes the routes to all destinations there and back for the trial's duration.
    pub(super) fn convergence(
        &self,
        router: &mut Router,
        plan: &TrafficPlan,
        request: &Request<'_>,
        watch: &Watch<'_>,
    ) -> Result<Convergence, BuiltinError> {
        let Some(own) = Converging::of(request.experiment, request.traffic) else {
            return Ok(Convergence::default());
        };
        // What changes is thrown away afterwards: the routes are this measure's alone.
        *router = Router::new()?;
        let mut changed = setup::router(request.experiment, request.variant)?;
        neighbour(&mut changed, own.gateways[1], OTHER_PATH_MAC)?;
        let ((out, back), device) = self.rings();
        let worker = worker(&mut changed, device, &self.pool)?;
        let mut paths =
            PathWatch::new(plan, &self.pool, (out, back), [TESTER_MACS[1], OTHER_PATH_MAC])?;
        let ([tester_core, device_core], is_over) = (self.cores(), AtomicBool::new(false));
        let (rally, both) = (Rally::new(), Barrier::new(2));
        let (tell, told) = mpsc::channel::<usize>();
        let (answer, answers) = mpsc::channel::<Given>();
        let spare_core = self.spare_core;
        let thread = |source| BuiltinError::Port(PortError::Thread { source });
        let (mut events, device_share) = std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    pin(device_core);
                    both.wait();
                    let share = CoreShare::begin();
                    poll_until(worker, &is_over, &rally, Metronome::of(None));
                    share.so_far()
                })
                .map_err(thread)?;
            both.wait();
            let over = Over(&is_over);
            let changer = std::thread::Builder::new()
                .name("routes".to_owned())
                .spawn_scoped(scope, move || {
                    // The thread that syncs the tables comes to lie where this one does.
                    pin(spare_core);
                    let changer = Changer::new(changed)?;
                    Ok(change(&changer, &own.routes(), (told, answer)))
                })
                .map_err(thread)?;
            pin(tester_core);
            let wanted = request.experiment.duration;
            let events = observe(wanted, watch, &mut |old, limit| {
                // Without a thread that changes routes there will be no answer, either.
                let mut change = || {
                    let _ = tell.send(1 - old);
                };
                let seen = paths.observe(old, limit, &mut change);
                answers.recv().ok().map(|given| (seen, given))
            });
            drop((tell, over));
            let panicked = || BuiltinError::Thread { what: "it panicked".to_owned() };
            let waited = changer.join().map_err(|_| panicked())?.map_err(thread)?;
            let device = device.join().map_err(|_| panicked())?;
            let share = least(device, share_without((&waited.0, waited.1), &events));
            Ok::<_, BuiltinError>((events, share))
        })?;
        // The device forwards all that waits in front of it before it ends.
        if let Some(last) = events.last_mut() {
            last.add_late(&paths.late());
        }
        drop(paths);
        self.gather(self.layout.frames())?;
        *router = setup::router(request.experiment, request.variant)?;
        if watch.is_stopped() {
            return Err(BuiltinError::Stopped);
        }
        let load_pps = match plan.load {
            Load::Pps(pps) => pps,
            _ => 0.0,
        };
        Ok(Convergence { load_pps, events, device_share })
    }
}

/// One event after the other, the paths in turn, until `wanted` has passed. `one` watches the change away from
/// a path, no longer than it is told, and says what was seen and when the device was given the change;
/// nothing when it cannot any more.
pub fn observe(
    wanted: Duration,
    watch: &Watch<'_>,
    one: &mut dyn FnMut(usize, Duration) -> Option<(PathsSeen, Given)>,
) -> Vec<RouteEvent> {
    let start = Instant::now();
    let mut events: Vec<RouteEvent> = Vec::new();
    let is_enough = |count: usize| {
        let passed = start.elapsed();
        let is_late = passed >= (wanted + LONGEST) * PATIENCE;
        count >= EVENTS.end || is_late || (count >= EVENTS.start && passed >= wanted)
    };
    while !is_enough(events.len()) && !watch.is_stopped() {
        let Some((seen, given)) = one(events.len() % 2, LONGEST) else { break };
        if let Some(before) = events.last_mut() {
            before.add_late(&seen.late);
        }
        events.push(event(&seen.destinations, given));
    }
    events
}

/// Changes routes to the path that it is told, and says when, until nobody tells any more; how long each change waited
/// for the processor of this thread, and all of them for that of the one that syncs the tables.
fn change(
    changer: &Changer,
    routes: &[Route],
    (told, answer): (mpsc::Receiver<usize>, mpsc::Sender<Given>),
) -> (Vec<Duration>, Duration) {
    let mut waited = Vec::new();
    for path in told {
        let (turns, begun) = (Turns::own(), Instant::now());
        changer.change(routes, path == 1);
        let done = Instant::now();
        // Before the others hear of it, and this thread may wait again.
        let since = turns.and_then(|turns| Some(Turns::own()?.waited_since(&turns)));
        waited.push(since.unwrap_or_default());
        if answer.send((begun, done)).is_err() {
            break;
        }
    }
    (waited, changer.waited())
}

/// The share of the convergence times in which the threads that change routes and sync tables did not wait for a
/// processor. A change may be met by all frames before the call that makes it has ended: of what its thread waited, the
/// part counts that must have been before.
fn share_without((changes, sync): (&[Duration], Duration), events: &[RouteEvent]) -> Option<f64> {
    let ns = |time: &Duration| time.as_nanos() as u64;
    let before = |(waited, event): (&Duration, &RouteEvent)| {
        ns(waited).saturating_sub(event.given_ns.saturating_sub(event.full_ns()))
    };
    let waited: u64 = changes.iter().zip(events).map(before).sum::<u64>() + ns(&sync);
    let all: u64 = events.iter().map(RouteEvent::full_ns).sum();
    (all > 0).then(|| (1.0 - waited as f64 / all as f64).max(0.0))
}

/// What was seen, in times since the device was given the change.
fn event(seen: &[PathSeen], (begun, done): Given) -> RouteEvent {
    let ns = |at: Instant| at.saturating_duration_since(begun).as_nanos() as u64;
    let after = |at: Option<Instant>| at.filter(|at| *at > begun).map(ns);
    let prefixes = seen.iter().map(|own| PrefixEvent {
        new_ns: after(own.first_new),
        old_ns: after(own.last_old),
        lost: own.sent.saturating_sub(own.received),
    });
    RouteEvent {
        given_ns: ns(done),
        waited_ns: begun.elapsed().as_nanos() as u64,
        late: 0,
        prefixes: prefixes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_waited_for_a_processor_is_a_share_of_their_times() {
        let prefixes = vec![PrefixEvent { new_ns: Some(200_000_000), ..PrefixEvent::default() }];
        let event = |given_ms: u64| RouteEvent {
            given_ns: given_ms * 1_000_000,
            prefixes: prefixes.clone(),
            ..RouteEvent::default()
        };
        let share = |given_ms, of_changes: u64, of_sync: u64| {
            let changes = [Duration::from_millis(of_changes), Duration::ZERO];
            let sync = Duration::from_millis(of_sync);
            share_without((&changes, sync), &[event(given_ms), event(0)])
        };
        assert_eq!(
            (share(1, 0, 0), share(1, 300, 0), share(1, 100, 800)),
            (Some(1.0), Some(0.25), Some(0.0))
        );
        // The change was on its way for 350 ms, and all frames took the new path after 200.
        assert_eq!((share(350, 150, 0), share(350, 250, 0)), (Some(1.0), Some(0.75)));
        assert_eq!(share_without((&[], Duration::ZERO), &[]), None);
    }

    #[test]
    fn times_count_from_the_change_and_frames_that_never_came_are_lost() {
        let begun = Instant::now();
        let at = |us| Some(begun + Duration::from_micros(us));
        let early = begun.checked_sub(Duration::from_micros(1));
        let seen = [
            PathSeen { first_new: at(30), last_old: at(20), sent: 9, received: 7 },
            PathSeen { first_new: None, last_old: early, sent: 4, received: 4 },
        ];
        let event = event(&seen, (begun, begun + Duration::from_micros(5)));
        assert_eq!((event.given_ns, event.lost(), event.unconverged()), (5_000, 2, 1));
        assert_eq!(
            (event.prefixes[0].new_ns, event.prefixes[0].old_ns),
            (Some(30_000), Some(20_000))
        );
        assert_eq!(event.prefixes[1].old_ns, None, "the last by the old path came before");
    }
}
