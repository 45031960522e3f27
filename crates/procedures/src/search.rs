//! The rate search of a trial: the highest load that the device forwards well enough.
//!
//! `fwdlab-stats` says which load to try for how long; here it is tried.

use fwdlab_results::{Measure, RateSearch, SearchTrial};
use fwdlab_stats::search::{self, BinarySearch, Goal, Limits, Search, Step};
use fwdlab_traffic::Load;

use crate::offer::{Offered, Offers, Order, Unfound};

/// Trials at a load; so many make up the time that decides it.
const TRIALS_PER_LOAD: f64 = 5.0;
/// The loads that are tried lie between these shares of the maximum receive rate.
const RANGE: (f64, f64) = (0.01, 1.2);
/// Bounds of a binary search are this close at its end, relative to the upper one.
const BINARY_WIDTH: f64 = 0.005;
/// More trials than any search takes.
const MOST_TRIALS: usize = 400;

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Which rate.
    pub measure: Measure,
    /// The share of the frames that may be lost, 0 to 1.
    pub loss_ratio: f64,
    /// Each load is decided by so many seconds of trials, or, in a binary search, by one trial of that
    /// length.
    pub seconds: f64,
}

/// What decides which load is tried next.
enum Finder {
    /// By MLRsearch's rules.
    Multiple(Search),
    /// RFC 2544, section 26.1.
    Binary(BinarySearch),
}

impl Finder {
    fn new(asked: Asked, limits: Limits, (final_trial_s, shortest_s): (f64, f64)) -> Self {
        match asked.measure {
            Measure::Throughput | Measure::Recovery => {
                Self::Binary(BinarySearch::new(limits, BINARY_WIDTH, asked.seconds))
            }
            _ => Self::Multiple(Search::new(
                limits,
                vec![Goal {
                    loss_ratio: asked.loss_ratio,
                    initial_trial_s: (final_trial_s / TRIALS_PER_LOAD).max(shortest_s),
                    final_trial_s,
                    duration_sum_s: TRIALS_PER_LOAD * final_trial_s,
                    ..Goal::ndr()
                }],
            )),
        }
    }

    fn next(&self) -> Step {
        match self {
            Self::Multiple(search) => search.next(),
            Self::Binary(search) => search.next(),
        }
    }

    fn record(&mut self, trial: search::Trial) {
        match self {
            Self::Multiple(search) => search.record(trial),
            Self::Binary(search) => search.record(trial),
        }
    }

    fn outcome(&self) -> search::Standing {
        match self {
            Self::Multiple(search) => search.outcome(0),
            Self::Binary(search) => search.outcome(),
        }
    }
}

/// Searches the highest load with at most the loss asked for.
///
/// # Errors
/// There is none in reach, or a load could not be offered.
pub fn search<O: Offers>(bench: &mut O, asked: Asked) -> Result<RateSearch, O::Error> {
    let shortest_s = bench.shortest_s();
    let final_trial_s = (asked.seconds / TRIALS_PER_LOAD).max(shortest_s);
    let mrr_pps = mrr(bench, final_trial_s)?;
    let limits = Limits { min_load: mrr_pps * RANGE.0, max_load: mrr_pps * RANGE.1 };
    let mut finder = Finder::new(asked, limits, (final_trial_s, shortest_s));
    let mut trials = Vec::new();
    while let Step::Measure { load, duration_s } = finder.next() {
        if trials.len() == MOST_TRIALS {
            return Err(unfound(format!("no end after {MOST_TRIALS} trials")).into());
        }
        let offered = bench.offer(&Order::of(Load::Pps(load), duration_s))?;
        let trial = judged(load, duration_s, &offered);
        finder.record(trial);
        let (ms, sent, waited) = (duration_s * 1e3, offered.sent, offered.waited(load));
        trials.push(SearchTrial { load_pps: load, ms, sent, lost: trial.lost, waited });
    }
    let (lower_pps, upper_pps) = match finder.outcome() {
        search::Standing::Regular(bounds) => (bounds.lower, bounds.upper),
        search::Standing::AtMaxLoad(_) => (limits.max_load, limits.max_load),
        _ => {
            let least = limits.min_load;
            return Err(unfound(format!("frames are lost even at {least:.0} frames/s")).into());
        }
    };
    Ok(RateSearch { mrr_pps, lower_pps, upper_pps, trials })
}

/// What the device forwards of all that the tester can send, in frames/s.
///
/// # Errors
/// Nothing came back in time, or the load could not be offered.
pub fn mrr<O: Offers>(bench: &mut O, seconds: f64) -> Result<f64, O::Error> {
    Ok(received_pps(&bench.offer(&Order::of(Load::Max, seconds))?)?)
}

/// What came back of a load while it was offered, in frames/s. Where all came back, those that were on their way when
/// it ended count, and the time until the last of them: a slow device has its first batch in hands for a good part of a
/// short load, and another one at its end.
///
/// # Errors
/// Nothing did.
pub(crate) fn received_pps(most: &Offered) -> Result<f64, Unfound> {
    // What waited for the device came after the end.
    let what = match most.received_in_time {
        0 if most.received > 0 => {
            "no frame came back before the load ended, and some came afterwards: the device had no \
             processor meanwhile, or takes longer for its first frames than the load lasted; leave the machine \
             alone, or make duration longer"
        }
        0 => {
            "no frame came back of all that the tester can send: check the routes, and whether rules let nothing \
              through above some rate"
        }
        in_time => {
            let (frames, ns) =
                most.all_back_ns.map_or((in_time, most.duration_ns), |ns| (most.received, ns));
            return Ok(frames as f64 * 1e9 / ns.max(1) as f64);
        }
    };
    Err(unfound(what.to_owned()))
}

/// Offers a load for so many seconds and says what came of it.
///
/// # Errors
/// The load could not be offered.
pub fn try_load<O: Offers>(
    bench: &mut O,
    load_pps: f64,
    seconds: f64,
) -> Result<SearchTrial, O::Error> {
    let offered = bench.offer(&Order::of(Load::Pps(load_pps), seconds))?;
    let search::Trial { sent, lost, .. } = judged(load_pps, seconds, &offered);
    let waited = offered.waited(load_pps);
    Ok(SearchTrial { load_pps, ms: seconds * 1e3, sent, lost, waited })
}

/// A trial as the search counts it: of the frames that were due, all that did not come back.
fn judged(load: f64, duration_s: f64, offered: &Offered) -> search::Trial {
    let unsent = offered.unsent(Load::Pps(load));
    let sent = offered.sent + unsent;
    search::Trial { load, duration_s, sent, lost: offered.lost + unsent }
}

fn unfound(what: String) -> Unfound {
    Unfound { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that forwards so many frames/s, behind a tester that can send so many.
    struct Ideal {
        bears_pps: f64,
        sends_pps: f64,
        /// Frames that wait where it forwards no more, and come afterwards.
        buffer: u64,
    }

    impl Offers for Ideal {
        type Error = Unfound;

        fn offer(&mut self, order: &Order) -> Result<Offered, Unfound> {
            let asked = match order.load {
                Load::Pps(pps) => pps,
                _ => f64::INFINITY,
            };
            let seconds = order.duration_ns as f64 / 1e9;
            let sent = (asked.min(self.sends_pps) * seconds) as u64;
            let received_in_time = sent.min((self.bears_pps * seconds) as u64);
            let received = sent.min(received_in_time + self.buffer);
            Ok(Offered {
                duration_ns: order.duration_ns,
                sent,
                received,
                received_in_time,
                lost: sent - received,
                still_due: 16,
                ways: 1,
                ..Offered::default()
            })
        }
    }

    fn found(measure: Measure, sends_pps: f64) -> RateSearch {
        behind_buffer(measure, sends_pps, 0, 0.5)
    }

    fn behind_buffer(measure: Measure, sends_pps: f64, buffer: u64, seconds: f64) -> RateSearch {
        let mut bench = Ideal { bears_pps: 3e6, sends_pps, buffer };
        let loss_ratio = measure.loss_ratio().unwrap();
        search(&mut bench, Asked { measure, loss_ratio, seconds }).unwrap()
    }

    /// Trials of 20 ms behind 4096 frames of buffers found 7 % more than the device bears, and nothing said so.
    #[test]
    fn a_rate_that_buffers_made_look_higher_says_so() {
        for measure in [Measure::Ndr, Measure::Throughput] {
            let short = behind_buffer(measure, 9e6, 4096, 0.02);
            assert!(short.lower_pps > 3.15e6, "{}", short.lower_pps);
            let said = short.doubt().expect("a doubt");
            assert!(said.contains("up to 6 % too high: each load lasted 20 ms"), "{said}");
            let long = behind_buffer(measure, 9e6, 4096, 5.0);
            assert!(long.lower_pps < 3.02e6, "{}", long.lower_pps);
            assert_eq!((long.doubt(), found(measure, 9e6).doubt()), (None, None));
        }
    }

    #[test]
    fn what_a_device_bears_is_found_by_either_search() {
        for measure in [Measure::Ndr, Measure::Throughput] {
            let RateSearch { mrr_pps, lower_pps, upper_pps, .. } = found(measure, 9e6);
            assert!((mrr_pps / 3e6 - 1.0).abs() < 1e-3, "{mrr_pps}");
            assert!(lower_pps <= 3.001e6 && upper_pps > 3e6, "{lower_pps} {upper_pps}");
            assert!(upper_pps - lower_pps <= 0.0051 * upper_pps, "{lower_pps} {upper_pps}");
        }
    }

    /// A device of 243,200 frames/s that hands on 256 at a time had a maximum receive rate of 192,000 in 20 ms.
    #[test]
    fn frames_on_their_way_when_a_short_load_ends_are_part_of_what_a_device_can_do() {
        let short = Offered {
            duration_ns: 20_000_000,
            sent: 6_144,
            received: 6_144,
            received_in_time: 3_840,
            all_back_ns: Some(25_300_000),
            ..Offered::default()
        };
        let pps = |offered: Offered| received_pps(&offered).unwrap();
        assert!((pps(short.clone()) / 243_200.0 - 1.0).abs() < 0.01, "{}", pps(short.clone()));
        assert_eq!(pps(Offered { all_back_ns: None, ..short }), 192_000.0);
    }

    #[test]
    fn a_load_that_the_tester_cannot_send_is_none_that_the_device_bears() {
        let RateSearch { lower_pps, .. } = found(Measure::Throughput, 2e6);
        assert!(lower_pps <= 2.001e6, "{lower_pps}");
    }

    #[test]
    fn frames_that_could_not_be_sent_are_lost_and_those_still_due_are_not() {
        let lost = |sent, lost| {
            let offered = Offered {
                sent,
                lost,
                duration_ns: 100_000_000,
                still_due: 512,
                ways: 1,
                ..Offered::default()
            };
            judged(1e6, 0.1, &offered).lost
        };
        assert_eq!(lost(100_000, 0), 0);
        assert_eq!(lost(99_600, 0), 0);
        assert_eq!(lost(99_000, 0), 1_000);
        assert_eq!(lost(99_000, 10), 1_010);
        assert_eq!(lost(100_000, 1), 1);
    }

    #[test]
    fn a_device_that_forwards_nothing_says_what_to_look_at() {
        let mut bench = Ideal { bears_pps: 0.0, sends_pps: 1e6, buffer: 0 };
        let asked = Asked { measure: Measure::Ndr, loss_ratio: 0.0, seconds: 0.5 };
        let error = search(&mut bench, asked).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("check the routes, and whether rules let nothing through"), "{said}");
    }
}
