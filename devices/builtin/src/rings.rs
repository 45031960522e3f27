//! The rings in memory between tester and device, and the threads on either side of them.
//!
//! The frames live in one pool for the whole campaign, given out in the same order in every trial,
//! so that where they lie in memory is no difference between variants. Counters of both sides are
//! read at the same instants, at the end of each interval, by the tester's thread: a third thread
//! would take time from the two.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier};

use fwdlab_device::energy::{Meter, Powercap};
use fwdlab_device::pulse::{Diary, Pulse};
use fwdlab_device::{Place as Where, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_port::affinity::{self, CoreShare};
use fwdlab_port::pingpong::Rally;
use fwdlab_port::ring::{self, RingPort};
use fwdlab_port::{Clock, Pool, PoolConfig};
use fwdlab_results::{Churned, Measure};
use fwdlab_router::{Overflow, Router, Worker};
use fwdlab_traffic::{Behind, Outcome, TrafficPlan};

use crate::churn::{Churning, SwitchOf};
use crate::intervals::Intervals;
use crate::lanes::{Ends, Lanes};
use crate::layout::Layout;
use crate::poll::{Metronome, Over, poll_until};
use crate::probe::Probe;
use crate::{BuiltinError, control, setup};

/// Frames that circulate between tester and device: the lines of them that are touched fit the
/// second-level cache of current processors.
pub(super) const FRAMES_IN_FLIGHT: usize = 2048;

/// Frames of the longest burst: more than the device can hold back.
const BURST_FRAMES: usize = 2 * control::USUAL_BUFFER;

/// Frames that the tester publishes at once. The device takes as many at a time, whatever its
/// speed, so that its cost per frame does not depend on how long it waited.
pub(super) const BATCH: usize = 256;

/// The built-in device with its tester.
pub(super) struct Rings {
    pub(super) experiment: Arc<Experiment>,
    pub(super) pool: Pool,
    pub(super) clock: Clock,
    pub(super) cores: Option<(usize, usize)>,
    /// For what changes routes: a third core, or else the tester's.
    pub(super) spare_core: Option<usize>,
    /// As the variant that was applied last has set it up.
    pub(super) router: Option<Router>,
    pub(super) churning: Option<Churning>,
    /// Frames that wait in front of the device.
    pub(super) buffer: usize,
    /// Which addresses lie behind which port.
    behind: Behind,
    /// Where memory lies.
    pub(super) layout: Layout,
    /// How fast the device's processor was so far.
    pub(super) pulse: Pulse,
    pub(super) powercap: Powercap,
}

impl Rings {
    /// Takes memory for the frames of `experiment` and two cores.
    ///
    /// # Errors
    /// When there is no memory for the frames, or only one core.
    pub(super) fn new(experiment: Arc<Experiment>, place: &Where) -> Result<Self, BuiltinError> {
        let layout = Layout::of(place.layout);
        let has_bursts = experiment.traffics.iter().any(|own| own.measure == Measure::BackToBack);
        let frames = if has_bursts { BURST_FRAMES } else { FRAMES_IN_FLIGHT } + layout.frames();
        let usual = PoolConfig { frames, ..PoolConfig::default() };
        let capacity = usual.capacity.max(setup::longest_frame(&experiment));
        let pool = Pool::new(PoolConfig { capacity, ..usual })?;
        let allowed = affinity::allowed_cores();
        let cores = two_of(&allowed)?;
        let spare_core = spare_of(&allowed).filter(|_| cores.is_some());
        let churning = Churning::of(&experiment)?;
        let behind = behind(&experiment)?;
        Ok(Self {
            experiment,
            pool,
            clock: Clock::new(),
            cores,
            spare_core,
            router: None,
            churning,
            buffer: control::USUAL_BUFFER,
            behind,
            layout,
            pulse: Pulse::knowing(place.fastest_beat_ns),
            powercap: place.powercap.clone(),
        })
    }

    /// Two pairs of ports: the tester's, and the device's. What waits in front of the device has as
    /// much room as the variant says, on either side; what comes back always has enough.
    pub(super) fn rings(&self) -> ((RingPort, RingPort), [(u16, RingPort); 2]) {
        let (tester_a, device_0) = ring::pair_of(self.buffer, BURST_FRAMES);
        let (tester_b, device_1) = ring::pair_of(self.buffer, BURST_FRAMES);
        ((tester_a, tester_b), [(0, device_0), (1, device_1)])
    }

    /// As many pairs as the experiment has ports.
    pub(super) fn wires(&self) -> (Ends, Vec<(u16, RingPort)>) {
        let ports = self.experiment.ports();
        if ports == 2 {
            let ((near, far), device) = self.rings();
            return (Ends::Two(Box::new([near, far])), device.into());
        }
        let pairs = (0..ports).map(|_| ring::pair_of(self.buffer, BURST_FRAMES));
        let (own, device): (Vec<_>, Vec<_>) = pairs.unzip();
        (Ends::Many(own, self.behind.clone()), (0..).zip(device).collect())
    }

    /// Puts the pool's frames in order once all are home, but for so many that are kept from use.
    pub(super) fn gather(&self, kept: usize) -> Result<(), BuiltinError> {
        let are_all = self.pool.restore();
        match are_all || self.pool.available() + kept == self.pool.config().frames {
            true => Ok(()),
            false => Err(lost("it kept frames of the pool")),
        }
    }

    /// The cores of tester and device.
    pub(super) fn cores(&self) -> [Option<usize>; 2] {
        [self.cores.map(|(tester, _)| tester), self.cores.map(|(_, device)| device)]
    }

    /// Runs the device on a thread of its own and the tester on this one, until the plan's end.
    pub(super) fn forward(
        &self,
        Bench { worker, plan, rally, diary, probe, churn }: Bench<'_>,
        ends: Ends,
        intervals: &mut Intervals<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(Outcome, Place, Option<Churned>), BuiltinError> {
        let mut tester = Lanes::new(plan, &self.pool, ends)?;
        let is_over = AtomicBool::new(false);
        let [tester_core, device_core] = self.cores();
        let (layout, both) = (&self.layout, Barrier::new(2));
        std::thread::scope(|scope| {
            let device = std::thread::Builder::new()
                .name("device".to_owned())
                .spawn_scoped(scope, || {
                    let is_pinned = pin(device_core);
                    both.wait();
                    let share = CoreShare::begin();
                    let mut worker = Some(worker);
                    let mut poll = || {
                        if let Some(worker) = worker.take() {
                            poll_until(worker, &is_over, rally, Metronome::of(diary));
                        }
                    };
                    probe.around(|| layout.deeper(&mut poll));
                    Place { is_pinned, core_share: share.so_far() }
                })
                .map_err(no_thread)?;
            // It begins on this thread's core, and would wait there for milliseconds while this one sends.
            both.wait();
            let changes = churn
                .map(|beside| {
                    let name = std::thread::Builder::new().name("changes".to_owned());
                    let (is_over, core) = (&is_over, self.spare_core);
                    name.spawn_scoped(scope, move || {
                        pin(core);
                        let Beside { churning, router, switches, rate } = beside;
                        churning.run(router, (switches, rate), is_over)
                    })
                })
                .transpose()
                .map_err(no_thread)?;
            // Also when the tester panics: the device's thread would forward for ever.
            let over = Over(&is_over);
            let is_pinned = pin(tester_core);
            let share = CoreShare::begin();
            // Of a load that is only tried nobody asks it.
            let mut meter = diary.and_then(|_| self.powercap.meter());
            let outcome = tester.run(watch.stop, &mut |interval| {
                let seen = intervals.read(interval);
                (watch.on_interval)(&seen);
                meter.iter_mut().for_each(|meter| meter.mark(seen.length()));
            });
            intervals.joules = meter.map(Meter::joules);
            let own = Place { is_pinned, core_share: share.so_far() };
            drop(tester);
            drop(over);
            let place = own.and(device.join().map_err(|_| lost("it panicked"))?);
            let churned = changes.map(|changes| changes.join().map_err(|_| lost("it panicked")));
            let churned = churned.transpose()?.transpose().map_err(no_thread)?;
            Ok((outcome, if self.cores.is_some() { place } else { Place::default() }, churned))
        })
    }
}

/// Which addresses of an experiment's traffics lie behind which port of the device.
///
/// # Errors
/// Addresses of which no flows can be made.
pub fn behind(experiment: &Experiment) -> Result<Behind, BuiltinError> {
    let groups = experiment.traffics.iter().flat_map(|traffic| traffic.groups());
    Ok(Behind::of(groups.map(|(port, ends)| (port, ends.to_string())))?)
}

/// A trial without one of its threads.
pub(super) fn lost(what: &str) -> BuiltinError {
    BuiltinError::Thread { what: what.to_owned() }
}

fn no_thread(source: io::Error) -> BuiltinError {
    BuiltinError::Port(fwdlab_port::PortError::Thread { source })
}

/// What forwards between the device's ports.
pub(super) fn worker(
    router: &mut Router,
    ports: impl IntoIterator<Item = (u16, RingPort)>,
    pool: &Pool,
) -> Result<Worker<RingPort>, BuiltinError> {
    let worker = router.worker(ports)?;
    Ok(worker.with_pool(pool.clone()).with_overflow(Overflow::Wait))
}

/// Pins the calling thread, where there is a core for it.
pub(super) fn pin(core: Option<usize>) -> bool {
    core.is_some_and(|core| affinity::pin_current_thread(core).is_ok())
}

/// How a thread, or both, got on with its core.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) is_pinned: bool,
    pub(super) core_share: Option<f64>,
}

impl Place {
    fn and(self, other: Self) -> Self {
        Self {
            is_pinned: self.is_pinned && other.is_pinned,
            core_share: self.core_share.zip(other.core_share).map(|(a, b)| a.min(b)),
        }
    }
}

/// What runs in one trial.
pub(super) struct Bench<'a> {
    pub(super) worker: Worker<RingPort>,
    pub(super) plan: &'a TrafficPlan,
    pub(super) rally: &'a Rally,
    /// Where the device's thread notes how fast its processor is.
    pub(super) diary: Option<&'a Diary>,
    pub(super) probe: &'a Probe,
    pub(super) churn: Option<Beside<'a>>,
}

/// Changes of routes beside the trial.
pub(super) struct Beside<'a> {
    pub(super) churning: &'a Churning,
    pub(super) router: Router,
    pub(super) switches: Vec<SwitchOf>,
    pub(super) rate: Option<u32>,
}

/// One core for the tester, one for the device; nothing where the system does not say which there are.
fn two_of(allowed: &[usize]) -> Result<Option<(usize, usize)>, BuiltinError> {
    match *allowed {
        [] => Ok(None),
        [_] => Err(BuiltinError::OneCore),
        [tester, device, ..] => Ok(Some((tester, device))),
    }
}

/// The core of what changes routes and syncs tables: one that neither tester nor device has. Of two it is the tester's,
/// as the device is what is measured.
fn spare_of(allowed: &[usize]) -> Option<usize> {
    allowed.get(2).or(allowed.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_routes_has_a_core_of_its_own_where_there_are_three() {
        for allowed in [&[0, 1, 2][..], &[0, 1, 2, 3], &[4, 6, 7, 9]] {
            let (tester, device) = two_of(allowed).unwrap().unwrap();
            let spare = spare_of(allowed).unwrap();
            assert!(spare != tester && spare != device && allowed.contains(&spare), "{spare}");
        }
        assert_eq!((spare_of(&[2, 3]), spare_of(&[])), (Some(2), None));
    }

    #[test]
    fn one_core_is_no_place_for_two() {
        assert!(matches!(two_of(&[5]), Err(BuiltinError::OneCore)));
        assert_eq!(two_of(&[2, 3, 5]).unwrap(), Some((2, 3)));
        assert_eq!(two_of(&[]).unwrap(), None);
    }
}
