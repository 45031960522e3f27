//! Which trials may be compared: how far the cores of tester and device were from each other, and
//! whether others ran on them.
//!
//! A hypervisor moves virtual cores, and the round trip of a cache line between two of them jumps,
//! for example between 60 and 400 ns; a frame then costs the device half as much again. Such trials
//! are no pair: what is compared must have run at one distance. Here the steady window of a trial is
//! narrowed to the intervals at one distance, and it is said which trials of a group have to run
//! again.
//!
//! So do trials whose threads lost their cores to others for too long, or during which the device's
//! processor was slow nearly throughout while it was not in the others. Where it was slow in all of
//! a group, by the same factor, they are a pair again: it is the same for both variants. All of these
//! are states of the machine: nobody looks at the figures, so that repeating favours no variant.

use fwdlab_stats::median;

use fwdlab_results::{Interval, Trial, TrialEnvironment};

/// Round trips that differ by less than this factor are the same distance. The probe itself varies
/// by half (50 to 75 ns), the distances by six.
const SAME: f64 = 2.0;

pub(crate) const LEAST_CORE_SHARE: f64 = TrialEnvironment::LEAST_CORE_SHARE;

/// Paces that differ by less than this factor are one state of the processor; a neighbour on its
/// core makes it slower by a fifth or more.
const SAME_PACE: f64 = 1.12;

/// Fewest intervals from which the figure of a trial is taken when the others do not count.
pub(crate) const FEWEST: usize = 4;

/// Whether others ran on the cores of a trial for too long.
fn is_disturbed(trial: &Trial) -> bool {
    trial.was_away() || trial.was_slow()
}

/// Whether a trial is recorded as soon as it ends: nobody measured how far its cores were from each
/// other, and nothing disturbed it, so that it will not run again.
pub fn is_recorded_at_once(trial: &Trial) -> bool {
    Distance::of(trial) == Distance::Unknown && !is_disturbed(trial)
}

/// What the beat of the device's processor took in the steady window of a trial, in ns, where it was
/// measured.
fn pace(trial: &Trial) -> Option<f64> {
    let beats = trial.steady_intervals().iter().filter_map(|interval| interval.beat_ns).collect();
    Some(median(&Some(beats).filter(|beats: &Vec<f64>| !beats.is_empty())?))
}

/// The first of the trials that ran at another pace than the latest; nothing when all are slow alike.
fn odd_pace(trials: &[Trial], latest: usize) -> Option<usize> {
    if !trials.iter().all(Trial::was_slow) {
        return trials.iter().position(Trial::was_slow);
    }
    let wanted = pace(trials.get(latest)?)?;
    let is_odd = |trial: &Trial| {
        pace(trial).is_none_or(|own| own.max(wanted) >= own.min(wanted) * SAME_PACE)
    };
    trials.iter().position(is_odd)
}

/// Why `before` does not count and ran again as `now`.
pub fn why_again(before: &Trial, now: &Trial) -> String {
    match before.measured.environment.core_share {
        Some(share) if before.was_away() => format!(
            "run again: its threads had their cores for only {:.0} % of the time",
            share * 100.0
        ),
        _ if before.was_slow() => "run again: the device's processor was slow".to_owned(),
        _ => format!(
            "run again: its cores were {}, then {}",
            Distance::of(before),
            Distance::of(now)
        ),
    }
}

/// How far the cores were from each other in the steady window of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Distance {
    /// Nobody measured it.
    Unknown,
    /// One round trip in ns throughout.
    One(f64),
    /// It changed.
    Mixed,
}

impl Distance {
    /// Of a trial whose window was narrowed.
    fn of(trial: &Trial) -> Self {
        let Some(steady) = &trial.steady else { return Self::Unknown };
        let probes = &trial.measured.environment.roundtrips_ns;
        // The probe before the first interval belongs to the window too: it is its start.
        let start = steady.first.saturating_sub(1);
        let end = (steady.first + steady.count).min(probes.len());
        let found: Vec<f64> =
            probes.get(start..end).unwrap_or_default().iter().flatten().copied().collect();
        if found.is_empty() {
            return Self::Unknown;
        }
        if is_same(lowest(&found), highest(&found)) {
            Self::One(median(&found))
        } else {
            Self::Mixed
        }
    }

    /// Whether two trials may be compared.
    fn is_as(self, other: Self) -> bool {
        match (self, other) {
            (Self::One(a), Self::One(b)) => is_same(a.min(b), a.max(b)),
            (Self::Mixed, _) | (_, Self::Mixed) => false,
            (Self::Unknown, _) | (_, Self::Unknown) => true,
        }
    }
}

impl std::fmt::Display for Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => f.write_str("at an unknown distance"),
            Self::One(ns) => write!(f, "{ns:.0} ns apart"),
            Self::Mixed => f.write_str("at changing distances"),
        }
    }
}

/// Narrows the steady window of `trial` to its longest run of intervals at one distance, if that
/// is at least half of it.
pub(crate) fn narrow(trial: &mut Trial) {
    if Distance::of(trial) != Distance::Mixed {
        return;
    }
    let Some(steady) = &mut trial.steady else { return };
    let last = steady.first + steady.count;
    let run = longest_run(&trial.measured.environment.roundtrips_ns, steady.first, last);
    let count = run.end - run.start;
    if count < FEWEST.max(steady.count.div_ceil(2)) {
        return;
    }
    steady.trimmed_head += run.start - steady.first;
    steady.trimmed_tail += last - run.end;
    (steady.first, steady.count) = (run.start, count);
    steady.skipped.retain(|at| run.contains(at));
    steady.why.push_str("; the other intervals ran with the cores at another distance");
    trial.rate_pps = Interval::rate(&trial.steady_intervals(), |interval| interval.rx);
}

/// The longest run of intervals within `first..last` whose probes, at their start and at their
/// end, found one distance. `probes` hold one at the end of each interval.
fn longest_run(probes: &[Option<f64>], first: usize, last: usize) -> std::ops::Range<usize> {
    let mut best = first..first;
    let mut start = first;
    let mut seen: Vec<f64> = Vec::new();
    for at in first..last {
        let bounds = [at.checked_sub(1).and_then(|before| probes.get(before)), probes.get(at)];
        let here: Vec<f64> = bounds.into_iter().flatten().flatten().copied().collect();
        seen.extend(&here);
        if !is_same(lowest(&seen), highest(&seen)) {
            let is_whole = is_same(lowest(&here), highest(&here));
            start = if is_whole { at } else { at + 1 };
            seen = if is_whole { here } else { Vec::new() };
        }
        if at + 1 - start > best.end - best.start {
            best = start..at + 1;
        }
    }
    best
}

/// The first of the trials that has to run again so that all ran undisturbed and at the distance
/// of the latest; `latest` is its index. Nothing when they may be compared.
pub fn odd_one(trials: &[Trial], latest: usize) -> Option<usize> {
    if let Some(disturbed) =
        trials.iter().position(Trial::was_away).or_else(|| odd_pace(trials, latest))
    {
        return Some(disturbed);
    }
    let wanted = Distance::of(trials.get(latest)?);
    if wanted == Distance::Mixed {
        return Some(latest);
    }
    trials.iter().position(|trial| !Distance::of(trial).is_as(wanted))
}

/// Marks trials that had to stay although they were disturbed or ran at different distances. The
/// words are the same for all, so that a report can put them together; the figures are in the record.
pub fn warn(trials: &mut [Trial]) {
    let warnings = warnings(trials);
    for (trial, own) in trials.iter_mut().zip(warnings) {
        trial.measured.warnings.extend(own);
    }
}

/// What [`warn`] says of each of the trials.
pub fn warnings(trials: &[Trial]) -> Vec<Vec<String>> {
    let distances: Vec<Distance> = trials.iter().map(Distance::of).collect();
    let first = distances.first();
    let is_one = distances.iter().all(|other| first.is_none_or(|first| first.is_as(*other)));
    let of = |trial: &Trial| {
        let said = [
            trial
                .was_slow()
                .then(|| "the device's processor was slow for most of the time".to_owned()),
            trial.was_away().then(|| {
                format!(
                    "its threads had their cores for less than {:.0} % of the time",
                    LEAST_CORE_SHARE * 100.0
                )
            }),
            (!is_one).then(|| {
                "its cores were not as far apart as in all trials of its block".to_owned()
            }),
        ];
        said.into_iter().flatten().collect()
    };
    trials.iter().map(of).collect()
}

fn is_same(low: f64, high: f64) -> bool {
    high < low * SAME
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_results::examples;

    /// A trial with a probe at the end of each interval; far ones run at half the rate.
    fn trial(probes: &[f64]) -> Trial {
        let mut trial = examples::trial(0);
        trial.measured.intervals = probes
            .iter()
            .map(|&ns| Interval {
                rx: if ns > 200.0 { 100 } else { 200 },
                ..trial.measured.intervals[0]
            })
            .collect();
        trial.measured.environment.roundtrips_ns = probes.iter().copied().map(Some).collect();
        if let Some(steady) = &mut trial.steady {
            steady.count = probes.len();
        }
        narrow(&mut trial);
        trial
    }

    fn window(trial: &Trial) -> (usize, usize) {
        trial.steady.as_ref().map(|steady| (steady.first, steady.count)).expect("a window")
    }

    #[test]
    fn a_trial_at_one_distance_stays_whole() {
        let near = trial(&[55.0, 60.0, 75.0, 50.0, 52.0, 70.0]);
        assert_eq!(window(&near), (0, 6));
        assert_eq!(Distance::of(&near), Distance::One(57.5));
    }

    #[test]
    fn the_larger_part_at_one_distance_is_the_window() {
        let moved = trial(&[400.0, 410.0, 60.0, 55.0, 50.0, 61.0, 58.0, 54.0]);
        // The cores moved during the third interval, which belongs to neither part.
        assert_eq!(window(&moved), (3, 5));
        assert!(matches!(Distance::of(&moved), Distance::One(ns) if ns < 62.0));
        let rate = moved.rate_pps.expect("a rate");
        assert!((rate - moved.measured.intervals[4].rx_pps()).abs() < 1e-9);
        let steady = moved.steady.expect("a window");
        assert_eq!((steady.trimmed_head, steady.trimmed_tail), (3, 0));
        assert!(steady.why.contains("another distance"), "{}", steady.why);
    }

    #[test]
    fn a_trial_without_a_larger_part_is_mixed() {
        let restless = trial(&[400.0, 60.0, 400.0, 60.0, 400.0, 60.0, 400.0, 60.0]);
        assert_eq!(window(&restless), (0, 8));
        assert_eq!(Distance::of(&restless), Distance::Mixed);
        assert_eq!(odd_one(&[trial(&[50.0; 8]), restless], 1), Some(1));
    }

    #[test]
    fn trials_at_the_distance_of_the_latest_stay_and_others_run_again() {
        let (near, far) = (|| trial(&[55.0; 8]), || trial(&[420.0; 8]));
        assert_eq!(odd_one(&[near(), far()], 1), Some(0));
        assert_eq!(odd_one(&[far(), far()], 1), None);
        assert_eq!(odd_one(&[near(), far(), near()], 2), Some(1));
        assert_eq!(odd_one(&[far(), near()], 1), Some(0));
        let mut disturbed = near();
        disturbed.measured.environment.core_share = Some(0.7);
        assert_eq!(odd_one(&[disturbed, near()], 1), Some(0));
        let mut slow = near();
        slow.measured.intervals[2].slow_share = Some(0.5);
        assert_eq!(odd_one(&[near(), slow.clone()], 0), Some(1));
        assert!(why_again(&slow, &near()).contains("was slow"));
        if let Some(steady) = &mut slow.steady {
            steady.skipped = vec![2];
        }
        assert_eq!(odd_one(&[near(), slow], 0), None);
        // Slow alike they are a pair, at different paces they are none.
        let at_pace = |ns: f64| {
            let mut trial = near();
            for interval in &mut trial.measured.intervals {
                (interval.slow_share, interval.beat_ns) = (Some(1.0), Some(ns));
            }
            trial
        };
        assert_eq!(odd_one(&[at_pace(1300.0), at_pace(1320.0)], 1), None);
        assert_eq!(odd_one(&[at_pace(1300.0), at_pace(1600.0)], 1), Some(0));
        assert_eq!(odd_one(&[at_pace(1300.0), near()], 1), Some(0));
        let unknown = trial(&[]);
        assert_eq!(odd_one(&[near(), unknown], 0), None);
    }
}
