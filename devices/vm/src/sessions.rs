//! Sessions in a guest: what was counted round by round, as a trial records it.

use fwdlab_agent::channel::{Counted, Reading, Round};
use fwdlab_agent::task::TaskSessions;
use fwdlab_experiment::{Direction, SessionProtocol, SessionsOf, Traffic, Variant, untranslatable};
use fwdlab_results::{Benchmark, Busy, Measure, Measured, SessionRound, Sessions};
use fwdlab_topology::NFTABLES;

use crate::VmError;
use crate::boot::Boot;
use crate::counts::ns_per_frame;

/// Refuses what a guest's tester cannot send, or would not know again.
///
/// # Errors
/// What to do about it.
pub(super) fn check(traffics: &[Traffic], variant: &Variant, boot: &Boot) -> Result<(), VmError> {
    for traffic in traffics {
        let refused = |what: String, remedy| VmError::OtherSystem {
            what,
            variant: variant.name.clone(),
            kernel: boot.kernel.image.clone(),
            remedy,
        };
        let Some(own) = traffic.sessions else {
            let key = match (boot.is_freebsd(), traffic.direction, traffic.ports) {
                (false, ..) | (true, Direction::One, 2) => continue,
                (_, Direction::One, ports) => format!("ports = {ports}"),
                (_, direction, _) => format!("direction = \"{}\"", direction.name()),
            };
            return Err(refused(
                format!("traffic {:?}: {key}", traffic.name),
                "the tester in FreeBSD guests sends one way from one port to another; remove direction and \
                 ports, or compare Linux guests",
            ));
        };
        if boot.is_freebsd() {
            let name = &traffic.name;
            if !traffic.measure.is_of_sessions() {
                let what = format!("traffic {name:?}: sessions that come and go at a rate");
                let remedy = "in FreeBSD guests sessions are counted in rounds: measure \"insertion\", \
                              \"lookup\" or \"full-table\"";
                return Err(refused(what, remedy));
            }
            if own.protocol == SessionProtocol::Tcp || traffic.direction.is_both() {
                let what = format!("traffic {name:?}: sessions of TCP, or both ways");
                let remedy = "the tester in FreeBSD guests sends datagrams one way; remove protocol and \
                              direction, or compare Linux guests";
                return Err(refused(what, remedy));
            }
        }
        if let Some((filter, word)) = boot.translating_filter() {
            return Err(VmError::Translates { filter, word, traffic: traffic.name.clone() });
        }
        let word = boot.translation();
        if let Some((why, remedy)) = word.and_then(|word| untranslatable(word, traffic)) {
            return Err(refused(format!("{NFTABLES} that translates addresses: {why}"), remedy));
        }
    }
    Ok(())
}

/// The sessions of a traffic as a guest is told of them.
pub(super) fn of_task(traffic: &Traffic, own: SessionsOf) -> TaskSessions {
    let SessionsOf { protocol, lifetime, concurrent } = own;
    TaskSessions {
        measure: traffic.measure,
        lifetime,
        is_tcp: protocol == SessionProtocol::Tcp,
        concurrent,
        both_ways: traffic.direction.is_both(),
        has_mark: false,
    }
}

/// What a guest counted of sessions.
pub(super) struct Rounds {
    all: Vec<Round>,
    room: u64,
    /// The tester's own time for each frame.
    tester_ns: Option<f64>,
}

/// Takes the rounds out of what was counted; their counted parts become the intervals.
pub(super) fn take(counted: &mut Counted, measure: Measure) -> Rounds {
    let tester_ns = ns_per_frame(&counted.cable);
    let all = std::mem::take(&mut counted.device.rounds);
    // What fills a table is part of the frames that come through; else only what is counted is.
    let opening = |round: &Round| match measure {
        Measure::FullTable => round.opening,
        _ => Reading::default(),
    };
    counted.device.intervals.extend(all.iter().map(|round| Reading {
        ns: round.ns + opening(round).ns,
        sent: round.sent + opening(round).sent,
        received: round.received + opening(round).received,
    }));
    Rounds { all, room: counted.device.room.unwrap_or(0), tester_ns }
}

/// Adds the observations of a traffic of sessions to its trial.
pub(super) fn add(measured: &mut Measured, rounds: Rounds, traffic: &Traffic, own: SessionsOf) {
    let Rounds { all, room, tester_ns } = rounds;
    // Frames that were refused took the tester's time as others did.
    let device_ns = |round: &Round| {
        let tester = tester_ns.map(|ns| (ns * round.sent as f64).round() as u64);
        tester.map(|tester| round.ns.saturating_sub(tester))
    };
    for (interval, round) in measured.intervals.iter_mut().zip(&all) {
        interval.busy = device_ns(round).map(|ns| Busy { ns, frames: round.sent });
    }
    let busy = measured.intervals.iter().filter_map(|interval| interval.busy);
    let sum = busy.fold(Busy::default(), |sum, own| Busy {
        ns: sum.ns + own.ns,
        frames: sum.frames + own.frames,
    });
    measured.busy = tester_ns.map(|_| sum);
    let total_ns: u64 = all.iter().map(|round| round.ns).sum();
    measured.idle_share = measured.busy.map(|own| 1.0 - own.ns as f64 / total_ns.max(1) as f64);
    let rounds = all.iter().map(|round| SessionRound {
        emptied: round.emptied,
        before: round.before,
        after: round.after,
        sent: round.sent,
        received: round.received,
        ns: round.ns,
        busy_ns: device_ns(round).unwrap_or(0),
        refused: round.refused,
        evicted: round.evicted,
        ..SessionRound::default()
    });
    let sessions = Sessions {
        // Both ways of one are two flows.
        sessions: traffic.flows_ahead(),
        lifetime: own.lifetime,
        room,
        rounds: rounds.collect(),
    };
    let most = |of: fn(&Round) -> u64| all.iter().map(of).max().unwrap_or(0);
    let proof = [
        ("sessions in the table, emptied", most(|round| round.emptied)),
        ("sessions in the table, most", most(|round| round.after)),
        ("sessions the table has room for", room),
    ];
    measured.proof.extend(proof.map(|(word, count)| (word.to_owned(), count.to_string())));
    if !sessions.is_tracked() {
        measured.warnings.push(
            "the device tracked no session: nothing in its rules asks for states (nftables: ct state; pf: \
             keep state; ipfw: keep-state)"
                .to_owned(),
        );
    }
    measured.benchmark = match traffic.measure {
        Measure::Insertion => Some(Benchmark::Insertion(sessions)),
        Measure::Lookup => Some(Benchmark::Lookup(sessions)),
        Measure::FullTable => Some(Benchmark::FullTable(sessions)),
        _ => None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_experiment::{Anything, Experiment};
    use std::path::Path;

    /// Both ways of 500 sessions were 1000 sessions, of which each trial warned that the table had held half.
    #[test]
    fn both_ways_of_a_session_are_one_session() {
        let text = "title = \"t\"\ndevice = \"anything\"\nbaseline = \"a\"\nmeasure = \"lookup\"\n\
                    [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                    [[traffic]]\nname = \"inet\"\nkind = \"sessions\"\nlifetime = 4\ndirection = \"both\"\n\
                    source = \"198.18.10.1-198.18.10.20:7\"\ndestination = \"198.19.10.1-198.19.10.25:7\"\n\
                    [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.2\", \"198.19.0.0/16 via 198.19.0.2\"]\n";
        let experiment = Experiment::of_text(Path::new("t.toml"), text, &[&Anything]);
        let experiment = experiment.expect("a valid experiment");
        let traffic = &experiment.traffics[0];
        let own = traffic.sessions.expect("they are sessions");
        let round =
            Round { before: 500, after: 500, sent: 1000, received: 1000, ..Round::default() };
        let rounds = Rounds { all: vec![round; 3], room: 4096, tester_ns: None };
        let mut measured = Measured::default();
        add(&mut measured, rounds, traffic, own);
        let benchmark = measured.benchmark.expect("what was counted");
        let Benchmark::Lookup(sessions) = &benchmark else { panic!("{benchmark:?}") };
        assert_eq!((sessions.sessions, benchmark.warning()), (500, None));
    }
}
