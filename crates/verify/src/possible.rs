//! What no machine can have measured, whatever the hashes say.
//!
//! Each of these is a trace of a journal that was written by hand; none of them proves that the others
//! were not.

use std::collections::HashMap;

use crate::fault::{Fault, lacks};
use fwdlab_claims::comparable;
use fwdlab_results::journal::seconds_of_stamp;
use fwdlab_results::{Ledger, Results, Trial};

/// The first rule of the order of versions that record all that is asked for here.
const SINCE: u32 = 2;
/// Longest busy time outside the intervals of a trial, beside as much as they took.
const MOST_BEFORE_MS: f64 = 600_000.0;
/// A trial that may miss so many frames, or one in so many of those sent, still counts every frame.
const FEW_FRAMES: u64 = 64;
const SHARE_OF_SENT: u64 = 10_000;
/// More frames a second than any tester sends: ten times what fits on 800 Gb/s.
const MOST_PPS: f64 = 1e10;

/// What cannot be in `results`, in running order.
pub(crate) fn faults(results: &Results) -> Vec<Fault> {
    let campaign = &results.campaign;
    // A clock that counts instructions gives the same figures again and again, and no time.
    if campaign.order_version < SINCE || !campaign.tick().is_nanosecond() {
        return Vec::new();
    }
    let places: HashMap<&String, usize> =
        results.sequence.iter().enumerate().map(|(at, id)| (id, at)).collect();
    let mut trials: Vec<&Trial> = results.every().collect();
    trials.sort_by_key(|trial| places.get(&trial.id));
    let mut faults: Vec<Fault> = turned_round(&trials, results).into_iter().collect();
    trials.sort_by_key(|trial| (began(trial), places.get(&trial.id)));
    faults.extend(copies(trials.iter().copied().chain(&results.repeated)));
    faults.extend(overlapping(&trials));
    if campaign.blocks_per_process.is_some() {
        faults.extend(trials.iter().filter_map(|trial| beyond_one_thread(trial)));
    }
    faults.extend(trials.iter().filter_map(|trial| lost_and_found(trial)));
    faults.extend(trials.iter().filter_map(|trial| {
        let pps = trial.measured.generator_pps.filter(|pps| *pps > MOST_PPS)?;
        Some(impossible(trial, format!("no tester sends {pps} frames/s (generator_pps)")))
    }));
    trials.sort_by_key(|trial| (&trial.traffic, trial.order));
    faults.extend(trials.chunk_by(|a, b| a.traffic == b.traffic).filter_map(ledgers));
    faults.extend(trials.chunk_by(of_one).flat_map(|group| apart(group, results)));
    faults
}

fn impossible(trial: &Trial, why: String) -> Fault {
    Fault::Impossible { trial: trial.id.clone(), why }
}

fn began(trial: &Trial) -> Option<u64> {
    seconds_of_stamp(trial.started.as_deref()?)
}

/// Trials with exactly the intervals of another: nanoseconds of busy time never come twice.
fn copies<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<Fault> {
    let is_telling = |trial: &&Trial| {
        let intervals = &trial.measured.intervals;
        intervals.len() > 1 && intervals.iter().all(|own| own.busy.is_some_and(|busy| busy.ns > 0))
    };
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut faults = Vec::new();
    for trial in trials.filter(is_telling) {
        let Ok(text) = serde_json::to_string(&trial.measured.intervals) else { continue };
        let first = *seen.entry(text).or_insert(&trial.id);
        if first != trial.id {
            let why = format!("its intervals are those of trial {first}, digit for digit");
            faults.push(impossible(trial, why));
        }
    }
    faults
}

/// Trials, in the order in which they began, that began while an earlier one was still counting.
fn overlapping(trials: &[&Trial]) -> Vec<Fault> {
    let mut faults = Vec::new();
    // Until when the trials so far counted at least; stamps are cut to whole seconds.
    let mut until = 0.0f64;
    for trial in trials {
        let Some(began) = began(trial) else { continue };
        let began = began as f64;
        if began + 1.0 <= until {
            let seconds = until - began;
            let why = format!("it began {seconds:.0} s before the trials before it had counted");
            faults.push(impossible(trial, why));
        }
        let counted: f64 = trial.measured.intervals.iter().map(|own| own.ms / 1e3).sum();
        until = until.max(began) + counted;
    }
    faults
}

/// Trials, in the order of the journal, that began before those of an earlier block or traffic had: only trials
/// of one block and traffic run again before the next ones, and FAILED ones when somebody asks for it. The first
/// such trial.
fn turned_round(trials: &[&Trial], results: &Results) -> Option<Fault> {
    let mut before: Option<(u64, &Trial)> = None;
    for group in trials.chunk_by(of_one) {
        let times = group.iter().filter(|trial| !is_again(trial, results));
        let times: Vec<(u64, &Trial)> = times.filter_map(|own| Some((began(own)?, *own))).collect();
        let early = times.iter().min_by_key(|(began, _)| *began).zip(before);
        if let Some(((began, trial), (last, earlier))) =
            early.filter(|(own, before)| own.0 < before.0)
        {
            let seconds = last - began;
            let why = format!(
                "it began {seconds} s before {}, which the journal has before it",
                earlier.id
            );
            return Some(impossible(trial, why));
        }
        before = times.into_iter().chain(before).max_by_key(|(began, _)| *began);
    }
    None
}

/// Whether they are compared with each other.
fn of_one(a: &&Trial, b: &&Trial) -> bool {
    (a.block, &a.traffic) == (b.block, &b.traffic)
}

/// Whether it FAILED and runs again at somebody's word.
fn is_again(trial: &Trial, results: &Results) -> bool {
    results.resumed.iter().any(|own| own.again.contains(&trial.id))
}

/// How exactly counts must add up is a fact of the device: the first trial of a traffic that asks another
/// exactness than the others. A small share of what a trial sent is one exactness, whatever it sent.
fn ledgers(trials: &[&Trial]) -> Option<Fault> {
    let ledger = |trial: &Trial| trial.measured.ledger;
    let is_small = |trial: &Trial| match ledger(trial) {
        Ledger::Within(frames) => {
            let sent = trial.measured.sent.unwrap_or(trial.measured.received);
            frames <= (sent / SHARE_OF_SENT).max(FEW_FRAMES)
        }
        _ => false,
    };
    let is_alike = |a: &Trial, b: &Trial| ledger(a) == ledger(b) || (is_small(a) && is_small(b));
    let mut counted = trials.iter().filter(|trial| trial.measured.received > 0);
    let first = counted.next()?;
    let other = counted.find(|trial| !is_alike(trial, first))?;
    let [found, before] =
        [ledger(other), ledger(first)].map(|own| format!("{own:?}").to_lowercase());
    let why = format!("its ledger is {found}, that of {} is {before}, on one device", first.id);
    Some(impossible(other, why))
}

/// Doubts that the distances of trials give that were compared as soon as they had run, and that they do not
/// carry: all in one process, so that nothing stopped between them.
fn apart(group: &[&Trial], results: &Results) -> Vec<Fault> {
    let process = |trial: &&Trial| trial.measured.environment.process;
    let is_one = group.first().and_then(process).is_some()
        && group.iter().all(|own| process(own) == process(&group[0]) && !is_again(own, results));
    if !is_one {
        return Vec::new();
    }
    let trials: Vec<Trial> = group.iter().map(|trial| (*trial).clone()).collect();
    let of_all = trials.iter().zip(comparable::warnings(&trials));
    let beside_own = of_all.map(|(trial, due)| {
        let own = comparable::warnings(std::slice::from_ref(trial)).concat();
        lacks(trial, due.into_iter().filter(|text| !own.contains(text)).collect())
    });
    beside_own.flatten().collect()
}

/// More frames missing, by their sequence numbers, than did not arrive, where both ends counted every frame. A
/// receiver may mistake a few that came late.
fn lost_and_found(trial: &Trial) -> Option<Fault> {
    let measured = &trial.measured;
    let (checks, sent) = (measured.checks?, measured.sent?);
    let missing = sent.saturating_sub(measured.received);
    let is_known = measured.ledger == Ledger::Exact && checks.checked == measured.received;
    let most = missing.saturating_add(checks.wrong()).saturating_add(checks.checked / 1000);
    (is_known && checks.lost > most).then(|| {
        let why = "of its frames never came, and";
        impossible(trial, format!("{} {why} {missing} of those sent did not", checks.lost))
    })
}

/// What one thread with a core of its own, beside a tester that counts the time, cannot say: the device
/// of a campaign that starts its own processes lives in one.
fn beyond_one_thread(trial: &Trial) -> Option<Fault> {
    let measured = &trial.measured;
    let wall: f64 = measured.intervals.iter().map(|own| own.ms).sum();
    let longest = measured.intervals.iter().map(|own| own.ms).fold(0.0, f64::max);
    let busy: f64 =
        measured.intervals.iter().filter_map(|own| Some(own.busy?.ns as f64 / 1e6)).sum();
    // It is warmed up, and set up anew, before the first interval: nobody waits minutes for that.
    let before = measured.busy.map_or(0.0, |all| all.ns as f64 / 1e6) - busy;
    if before > wall + MOST_BEFORE_MS {
        let why = format!("its device was busy for {before:.0} ms outside its {wall:.0} ms");
        return Some(impossible(trial, why));
    }
    // Both are read one after the other.
    if busy > wall + longest {
        let why = format!("its device was busy for {busy:.0} ms of {wall:.0} ms");
        return Some(impossible(trial, why));
    }
    let is_unshared = measured.environment.pinned && measured.environment.core_share.is_none();
    (is_unshared && trial.is_ok()).then(|| {
        let why = "its cores were its own, and nothing says what share of them it had (core_share)";
        impossible(trial, why.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use fwdlab_results::{Busy, Campaign, Checks, Interval, Results, examples};

    use super::*;

    /// Two trials of ten intervals, a second apart.
    fn results() -> Results {
        let trial = |place: usize| {
            let mut trial = examples::trial(place);
            trial.started = Some(format!("2026-11-21T13:00:0{}Z", 1 + place));
            let interval = |at: usize| Interval {
                ms: 100.0,
                busy: Some(Busy { ns: (90_000_000 + place * 77 + at) as u64, frames: 400_000 }),
                ..Interval::default()
            };
            trial.measured.intervals = (0..10).map(interval).collect();
            trial.measured.environment.pinned = true;
            trial.measured.environment.core_share = Some(0.99);
            trial
        };
        let trials: Vec<Trial> = (0..2).map(trial).collect();
        let campaign = examples::campaign();
        let blocks_per_process = Some(1);
        Results {
            campaign: Campaign { order_version: SINCE, blocks_per_process, ..campaign },
            sequence: trials.iter().map(|trial| trial.id.clone()).collect(),
            trials,
            ..examples::results()
        }
    }

    fn found(edit: impl Fn(&mut Vec<Trial>)) -> Vec<String> {
        let mut results = results();
        edit(&mut results.trials);
        let old = Results {
            campaign: Campaign { order_version: 1, ..results.campaign.clone() },
            ..results.clone()
        };
        assert_eq!(faults(&old), [], "journals of earlier versions are left alone");
        faults(&results).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_honest_journal_passes() {
        assert_eq!(found(|_| ()), [""; 0]);
    }

    #[test]
    fn copied_intervals_are_named() {
        let found = found(|trials| {
            trials[1].measured.intervals = trials[0].measured.intervals.clone();
        });
        assert!(found.len() == 1 && found[0].contains("digit for digit"), "{found:?}");
    }

    #[test]
    fn trials_at_once_are_named() {
        let at_once = |trials: &mut Vec<Trial>| {
            for trial in trials {
                trial.started = Some("2026-11-21T13:00:01Z".to_owned());
                trial.measured.intervals.iter_mut().for_each(|own| own.ms *= 1.5);
            }
        };
        let found = found(at_once);
        assert!(found.len() == 1 && found[0].contains("before the trials before it"), "{found:?}");
    }

    #[test]
    fn more_busy_time_than_time_is_named() {
        let found = found(|trials| {
            let intervals = &mut trials[0].measured.intervals;
            intervals.iter_mut().filter_map(|own| own.busy.as_mut()).for_each(|own| own.ns *= 2);
        });
        assert!(found.len() == 1 && found[0].contains("busy for 1800 ms of 1000 ms"), "{found:?}");
    }

    /// An exchange of the times used to pass: nothing overlapped.
    #[test]
    fn trials_that_began_in_another_order_than_the_journal_has_are_named() {
        let found = found(|trials| {
            trials[1].block += 1;
            let [a, b] = [0, 1].map(|at| trials[at].started.clone());
            (trials[0].started, trials[1].started) = (b, a);
        });
        assert!(found.len() == 1 && found[0].contains("1 s before"), "{found:?}");
    }

    #[test]
    fn more_frames_lost_than_did_not_arrive_are_named() {
        let lose = |trials: &mut Vec<Trial>, lost: u64, arrived: u64| {
            let measured = &mut trials[1].measured;
            (measured.sent, measured.received) = (Some(4_000_000), arrived);
            measured.ledger = Ledger::Exact;
            measured.checks = Some(Checks { checked: arrived, lost, ..Checks::default() });
        };
        let found_of = |lost, arrived| found(|trials| lose(trials, lost, arrived));
        assert_eq!(found_of(9, 3_999_991), [""; 0]);
        let found = found_of(100_000, 3_999_991);
        assert!(
            found.len() == 1 && found[0].contains("100000 of its frames never came, and 9"),
            "{found:?}"
        );
    }

    #[test]
    fn a_total_of_busy_time_beyond_all_time_is_named() {
        let with = |ns| found(|trials| trials[0].measured.busy = Some(Busy { ns, frames: 1 }));
        assert_eq!(with(2_900_000_000), [""; 0]);
        let found = with(u64::MAX);
        assert!(found.len() == 1 && found[0].contains("outside its 1000 ms"), "{found:?}");
    }

    #[test]
    fn distances_of_a_block_that_nobody_warned_of_are_named() {
        let moved = |trials: &mut Vec<Trial>, ns: f64| {
            for trial in trials.iter_mut() {
                trial.measured.environment.process = Some(1);
                trial.measured.environment.roundtrips_ns = vec![Some(60.0); 10];
            }
            trials[1].measured.environment.roundtrips_ns = vec![Some(ns); 10];
        };
        let of_one = |ns| found(|trials| moved(trials, ns));
        assert_eq!(of_one(90.0), [""; 0]);
        let apart = of_one(5.0);
        assert!(apart.len() == 2 && apart[0].contains("lacks the warning"), "{apart:?}");
        let stopped_between = found(|trials| {
            moved(trials, 5.0);
            trials[1].measured.environment.process = Some(2);
        });
        assert_eq!(stopped_between, [""; 0], "nobody compared them");
    }

    #[test]
    fn a_ledger_of_one_trial_is_that_of_its_device() {
        let found = found(|trials| trials[1].measured.ledger = Ledger::Unknown);
        assert!(found.len() == 1 && found[0].contains("ledger is unknown"), "{found:?}");
        // Two hosts are not read at one moment: of many frames, more may be under way.
        let within = |sent: u64| {
            self::found(|trials| {
                for trial in trials.iter_mut() {
                    trial.measured.ledger = Ledger::Within(64);
                    (trial.measured.sent, trial.measured.received) = (Some(sent), sent);
                }
                trials[1].measured.ledger = Ledger::Within(640);
            })
        };
        assert_eq!(within(6_400_000), [""; 0]);
        let found = within(6_000);
        assert!(found.len() == 1 && found[0].contains("ledger is within(640)"), "{found:?}");
    }

    #[test]
    fn a_tester_beyond_all_lines_is_named() {
        let of = |pps| found(|trials| trials[0].measured.generator_pps = Some(pps));
        assert_eq!(of(1.2e9), [""; 0]);
        assert!(of(1e12)[0].contains("no tester sends"));
    }

    #[test]
    fn a_core_share_that_was_taken_out_is_named() {
        let found = found(|trials| trials[1].measured.environment.core_share = None);
        assert!(found.len() == 1 && found[0].contains("core_share"), "{found:?}");
    }
}
