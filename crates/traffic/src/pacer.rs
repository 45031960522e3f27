//! When frames are due.

/// Times of frames given up that are kept apart; later ones count as part of the last.
pub(crate) const MOST_LAPSES: usize = 100_000;

/// Says how many frames are due: at a constant rate frame `i` is due at `start + i / rate`, at a
/// recorded one when it was recorded.
///
/// What is due follows from the time since the start alone, so that errors never add up.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    schedule: Schedule,
    asked_pps: f64,
    start: u64,
    /// Frames scheduled so far, sent or given up.
    scheduled: u64,
    /// Most frames that may be overdue; more are given up.
    most_overdue: u64,
    /// As many at this rate; what waited when another rate ended may be more, until it has left.
    usual_overdue: u64,
    given_up: u64,
    lapses: Vec<Lapsed>,
    /// What is given up within this time of a lapse is part of it, in ticks.
    one_lapse: u64,
    jitter: Jitter,
}

/// Frames given up, in ticks.
#[derive(Clone, Copy, Debug)]
struct Lapsed {
    first: u64,
    last: u64,
    frames: u64,
}

/// Frames that fell due and were not sent, one after the other: what a device drops that has no
/// room for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapse {
    /// When the first was given up, in ns since sending began.
    pub at_ns: u64,
    /// From the first to the last, in ns.
    pub ns: u64,
    /// How many.
    pub frames: u64,
}

/// How regular departures were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pacing {
    /// The asked rate in frames/s.
    pub asked_pps: f64,
    /// Frames that could not be sent when they were due, and were given up.
    pub given_up: u64,
    /// Mean absolute difference of the gaps between departures from the ideal gap, in ns.
    pub mean_jitter_ns: f64,
    /// Mean time that frames left after they were due, in ns.
    pub mean_lateness_ns: f64,
    /// Largest time that a frame left after it was due, in ns.
    pub max_lateness_ns: f64,
}

impl Pacing {
    /// That of two lanes beside each other: rates add up, what is a mean becomes the worse of both.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self {
            asked_pps: self.asked_pps + other.asked_pps,
            given_up: self.given_up + other.given_up,
            mean_jitter_ns: self.mean_jitter_ns.max(other.mean_jitter_ns),
            mean_lateness_ns: self.mean_lateness_ns.max(other.mean_lateness_ns),
            max_lateness_ns: self.max_lateness_ns.max(other.max_lateness_ns),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Jitter {
    /// All frames that left.
    sent: u64,
    /// Those of which a gap is known.
    frames: u64,
    deviation: f64,
    lateness: f64,
    max_lateness: f64,
    last: Option<u64>,
}

/// A pause of the tester (an interrupt, the scheduler, the hypervisor) is caught up if it is
/// shorter than this, so that the rate holds over an interval; what a longer one held back is
/// given up, for a burst of it would be another load than the one asked for.
const CATCH_UP_NS: f64 = 10e6;

/// Frames given up within this time count as one lapse.
const ONE_LAPSE_NS: f64 = 1e6;

/// When which frame is due, in ticks since the start.
#[derive(Clone, Debug)]
enum Schedule {
    Constant {
        frames_per_tick: f64,
    },
    /// Each at its own time, and all again after a period.
    Recorded {
        due: Vec<u64>,
        period: u64,
    },
}

impl Schedule {
    /// How many frames are due until then.
    #[inline]
    fn until(&self, ticks: u64) -> u64 {
        match self {
            Self::Constant { frames_per_tick } => (ticks as f64 * frames_per_tick) as u64 + 1,
            Self::Recorded { due, period } => {
                let within = due.partition_point(|at| *at <= ticks % period);
                ticks / period * due.len() as u64 + within as u64
            }
        }
    }

    /// When a frame is due.
    #[inline]
    fn due(&self, frame: u64) -> f64 {
        match self {
            Self::Constant { frames_per_tick } => frame as f64 / frames_per_tick,
            Self::Recorded { due, period } => {
                let (round, at) = (frame / due.len() as u64, frame % due.len() as u64);
                (round * period + due[at as usize]) as f64
            }
        }
    }
}

/// Most frames that may be overdue at a rate.
fn overdue_at(pps: f64) -> u64 {
    (pps * CATCH_UP_NS / 1e9).max(512.0) as u64
}

impl Pacer {
    pub(crate) fn new(frames_per_second: f64, ns_per_tick: f64, start: u64) -> Self {
        let frames_per_tick = frames_per_second * ns_per_tick / 1e9;
        Self::of(Schedule::Constant { frames_per_tick }, frames_per_second, (ns_per_tick, start))
    }

    /// Frames due at these times in ns, at least one, and again after the period, which is longer
    /// than the last of them.
    pub(crate) fn recorded((due, period): (Vec<u64>, u64), ns_per_tick: f64, start: u64) -> Self {
        let ticks = |ns: u64| (ns as f64 / ns_per_tick) as u64;
        let asked_pps = due.len() as f64 * 1e9 / period as f64;
        let due: Vec<u64> = due.into_iter().map(ticks).collect();
        let last = due.last().copied().unwrap_or(0);
        let period = ticks(period).max(last + 1);
        Self::of(Schedule::Recorded { due, period }, asked_pps, (ns_per_tick, start))
    }

    fn of(schedule: Schedule, asked_pps: f64, (ns_per_tick, start): (f64, u64)) -> Self {
        let most_overdue = overdue_at(asked_pps);
        Self {
            schedule,
            asked_pps,
            start,
            scheduled: 0,
            most_overdue,
            usual_overdue: most_overdue,
            given_up: 0,
            lapses: Vec::new(),
            one_lapse: (ONE_LAPSE_NS / ns_per_tick) as u64,
            jitter: Jitter::default(),
        }
    }

    /// Goes on at another rate; what is overdue stays so.
    #[cold]
    pub(crate) fn change(&mut self, frames_per_second: f64, ns_per_tick: f64, now: u64) {
        let overdue = self.due(now);
        let frames_per_tick = frames_per_second * ns_per_tick / 1e9;
        self.schedule = Schedule::Constant { frames_per_tick };
        self.asked_pps = frames_per_second;
        // As if the overdue had fallen due at the new rate until now.
        let since = overdue as f64 / frames_per_tick;
        self.start = now.saturating_sub(since as u64);
        self.scheduled = 0;
        self.usual_overdue = overdue_at(frames_per_second);
        self.most_overdue = self.usual_overdue.max(overdue as u64 + 1);
    }

    /// Notes that frames are given up at `now`. Where nobody asked for long, each was to be given up when it was
    /// overdue by as much as may be.
    #[cold]
    fn lapse(&mut self, frames: u64, now: u64) {
        self.given_up += frames;
        let overdue = self.schedule.due(self.scheduled + self.most_overdue) as u64;
        let first = (self.start + overdue).min(now);
        let is_full = self.lapses.len() == MOST_LAPSES;
        match self.lapses.last_mut() {
            Some(last) if is_full || first.saturating_sub(last.last) <= self.one_lapse => {
                last.last = now;
                last.frames += frames;
            }
            _ => self.lapses.push(Lapsed { first, last: now, frames }),
        }
    }

    /// When frames were given up, since `start`.
    pub(crate) fn lapses(&self, start: u64, ns_per_tick: f64) -> Vec<Lapse> {
        let ns = |ticks: u64| (ticks as f64 * ns_per_tick) as u64;
        let lapse = |own: &Lapsed| Lapse {
            at_ns: ns(own.first.saturating_sub(start)),
            ns: ns(own.last - own.first),
            frames: own.frames,
        };
        self.lapses.iter().map(lapse).collect()
    }

    /// How many frames are due at `now`.
    #[inline]
    pub(crate) fn due(&mut self, now: u64) -> usize {
        let until_now = self.schedule.until(now.saturating_sub(self.start));
        let due = until_now.saturating_sub(self.scheduled);
        if due > self.most_overdue {
            self.lapse(due - self.most_overdue, now);
            self.scheduled = until_now - self.most_overdue;
            return self.most_overdue as usize;
        }
        due as usize
    }

    /// Notes that `count > 0` frames left together at `now`.
    #[inline]
    pub(crate) fn left(&mut self, count: usize, now: u64) {
        let first_due = self.schedule.due(self.scheduled);
        let last_due = self.schedule.due(self.scheduled + count as u64 - 1);
        let gap = match self.scheduled.checked_sub(1) {
            Some(before) => first_due - self.schedule.due(before),
            None => 0.0,
        };
        let lateness = (now.saturating_sub(self.start) as f64 - first_due).max(0.0);
        let jitter = &mut self.jitter;
        if let Some(last) = jitter.last {
            // The first frame's gap is that to the batch before, the others' gaps are zero.
            let first = (now.saturating_sub(last) as f64 - gap).abs();
            jitter.deviation += first + last_due - first_due;
            jitter.frames += count as u64;
        }
        jitter.last = Some(now);
        // The mean over the batch is that of its middle: exactly so at a constant rate.
        jitter.lateness += count as f64 * (lateness - (last_due - first_due) / 2.0).max(0.0);
        jitter.max_lateness = jitter.max_lateness.max(lateness);
        jitter.sent += count as u64;
        self.scheduled += count as u64;
        if self.most_overdue > self.usual_overdue {
            // What has left makes no room for more of it.
            let until_now = self.schedule.until(now.saturating_sub(self.start));
            let waiting = until_now.saturating_sub(self.scheduled);
            self.most_overdue = self.most_overdue.min(self.usual_overdue.max(waiting));
        }
    }

    pub(crate) fn summary(&self, ns_per_tick: f64) -> Pacing {
        let sent = self.jitter.sent.max(1) as f64;
        Pacing {
            asked_pps: self.asked_pps,
            given_up: self.given_up,
            mean_jitter_ns: self.jitter.deviation / self.jitter.frames.max(1) as f64 * ns_per_tick,
            mean_lateness_ns: self.jitter.lateness / sent * ns_per_tick,
            max_lateness_ns: self.jitter.max_lateness * ns_per_tick,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls every `step` ticks of 1 ns and sends what is due.
    fn run(rate: f64, step: u64, until: u64) -> (u64, Pacer) {
        let mut pacer = Pacer::new(rate, 1.0, 1000);
        let mut sent = 0;
        for now in (1000..1000 + until).step_by(step as usize) {
            let due = pacer.due(now);
            if due > 0 {
                pacer.left(due, now);
                sent += due as u64;
            }
        }
        (sent, pacer)
    }

    #[test]
    fn sends_the_asked_rate_to_a_frame_over_any_time() {
        for rate in [1000.0, 1_488_095.238, 20e6, 33_333_333.3] {
            for step in [7, 50, 501] {
                let (sent, pacer) = run(rate, step, 10_000_000);
                let ideal = rate / 100.0;
                // Polling stops up to one step early; one frame is due at the start.
                let slack = 1.0 + rate * step as f64 / 1e9;
                assert!((sent as f64 - ideal).abs() <= slack, "{rate} pps, step {step}: {sent}");
                assert_eq!(pacer.given_up, 0);
            }
        }
    }

    #[test]
    fn reports_no_jitter_when_polled_at_every_due_time() {
        let (_, pacer) = run(10e6, 100, 1_000_000);
        let pacing = pacer.summary(1.0);
        assert!(pacing.mean_jitter_ns < 1e-6, "{pacing:?}");
        assert!(pacing.max_lateness_ns < 1e-6, "{pacing:?}");
    }

    #[test]
    fn reports_the_jitter_of_frames_that_leave_in_pairs() {
        let (_, pacer) = run(10e6, 200, 1_000_000);
        let pacing = pacer.summary(1.0);
        assert!((pacing.mean_jitter_ns - 100.0).abs() < 1.0, "{pacing:?}");
        assert!((pacing.max_lateness_ns - 100.0).abs() < 1.0, "{pacing:?}");
        assert!((pacing.mean_lateness_ns - 50.0).abs() < 1.0, "{pacing:?}");
    }

    #[test]
    fn what_is_given_up_is_dated_and_a_change_of_rate_gives_up_nothing() {
        let mut pacer = Pacer::new(10e6, 1.0, 1000);
        // A pause of 50 ms, 10 ms of which are caught up.
        assert_eq!(pacer.due(50_001_000), 100_000);
        pacer.left(100_000, 50_001_000);
        assert_eq!(pacer.due(50_002_000), 10);
        pacer.change(1e6, 1.0, 50_002_000);
        let due = pacer.due(50_002_000);
        assert!((10..=11).contains(&due), "{due}");
        pacer.left(due, 50_002_000);
        let due = pacer.due(51_002_000);
        assert!((999..=1001).contains(&due), "{due}");
        // A process that was stopped for 200 ms once lost all that was due meanwhile "at once".
        let lapses = pacer.lapses(1000, 1.0);
        assert_eq!(lapses, [Lapse { at_ns: 10_000_000, ns: 40_000_000, frames: 400_001 }]);
        // Later ones are others, near ones the same.
        let due = pacer.due(200_000_000);
        pacer.left(due, 200_000_000);
        pacer.due(400_000_000);
        pacer.due(400_500_000);
        let lapses = pacer.lapses(1000, 1.0);
        assert_eq!(lapses.len(), 3, "{lapses:?}");
        assert!(lapses[2].ns.abs_diff(190_500_000) < 2_000, "{lapses:?}");
    }

    /// Frames were caught up with by the rate before: after a change to a tenth a pause of 100 ms.
    #[test]
    fn after_a_change_a_pause_is_caught_up_with_as_far_as_at_the_new_rate() {
        let mut pacer = Pacer::new(10e6, 1.0, 1_000_000_000);
        let at = |ms: f64| 1_000_000_000 + (ms * 1e6) as u64;
        pacer.due(at(200.0));
        pacer.change(1e6, 1.0, at(200.0));
        // What waits goes on waiting, as far as it has not left.
        let due = pacer.due(at(200.0));
        assert!((100_000..=100_001).contains(&due), "{due}");
        pacer.left(60_000, at(200.0));
        let due = pacer.due(at(300.0));
        assert!((40_000..=40_001).contains(&due), "{due}");
        pacer.left(due, at(300.0));
        let due = pacer.due(at(400.0));
        assert!((10_000..=10_001).contains(&due), "{due}");
    }

    #[test]
    fn sends_each_frame_at_its_recorded_time_and_starts_over() {
        let mut pacer = Pacer::recorded((vec![0, 100, 100, 900], 1000), 1.0, 5000);
        let mut sent = Vec::new();
        for now in (5000..8000).step_by(50) {
            let due = pacer.due(now);
            if due > 0 {
                pacer.left(due, now);
                sent.push((now - 5000, due));
            }
        }
        let round = [(0, 1), (100, 2), (900, 1)];
        let wanted: Vec<_> =
            (0..3).flat_map(|n| round.map(|(at, count)| (at + 1000 * n, count))).collect();
        assert_eq!(sent, wanted);
        let pacing = pacer.summary(1.0);
        assert_eq!((pacing.asked_pps, pacing.given_up, pacing.max_lateness_ns), (4e6, 0, 0.0));
        assert!(pacing.mean_jitter_ns < 1e-6, "{pacing:?}");
    }

    #[test]
    fn gives_up_what_is_overdue_by_more_than_ten_milliseconds() {
        let mut pacer = Pacer::new(10e6, 1.0, 0);
        assert_eq!(pacer.due(50_000_000), 100_000, "10 ms at 10 Mpps");
        assert_eq!(pacer.given_up, 400_001);
        pacer.left(100_000, 50_000_000);
        assert_eq!(pacer.due(50_000_000), 0);
    }
}
