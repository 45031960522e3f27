//! Sessions in a guest: what was counted round by round, as a trial records it.

use fwdlab_agent::channel::{Counted, Reading, Round};
use fwdlab_agent::task::TaskSessions;
use fwdlab_experiment::fields::{Section, integer_of};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{
    DeviceTables, Load, SessionProtocol, SessionsOf, Traffic, Variant, untranslatable,
};
use fwdlab_results::{Benchmark, Busy, Measure, Measured, SessionRound, Sessions};
use fwdlab_topology::NFTABLES;
use fwdlab_traffic::rounds;

use crate::VmError;
use crate::boot::Boot;
use crate::counts::ns_per_frame;

/// Refuses sessions that a guest's tester cannot send, or would not know again.
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
        let Some(own) = traffic.sessions else { continue };
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

/// Words that say for how many sessions a guest's table has room, of Linux and of FreeBSD's ipfw.
const ROOM: [&str; 3] =
    ["net.netfilter.nf_conntrack_max", "net.nf_conntrack_max", "net.inet.ip.fw.dyn_max"];

/// Rules that say for how many there is room (`set limit states`).
const PF: &str = "pf";

/// Memory of a guest where the file names none, and what its kernel keeps of it for itself, in MiB.
const USUAL_MEMORY: u32 = 512;
const KEPT: u32 = 64;

/// For how many sessions a guest's table has room at least where nothing sets it: one for each 128 KiB of memory (a
/// place of 8 bytes takes 1/16384 of it), and never fewer than 1024 (nf_conntrack_core.c; FreeBSD has room for more).
fn usual_room(memory_mb: Option<u32>) -> u64 {
    const LEAST: u64 = 1024;
    let free = memory_mb.unwrap_or(USUAL_MEMORY).saturating_sub(KEPT);
    LEAST.max(u64::from(free) * 8)
}

/// Refuses traffics of sessions that no guest is to boot for: with a load, or too few to fill a variant's table.
pub(super) fn check_before(
    file: &mut DeviceTables<'_, '_>,
    memory_mb: Option<u32>,
    complaints: &mut Complaints<'_>,
) {
    let rooms: Vec<(String, u64, bool)> =
        file.variants.iter_mut().filter_map(|variant| room_of(variant, memory_mb)).collect();
    let largest = rooms.iter().max_by_key(|(_, room, _)| *room);
    let of_sessions = file.traffics.iter().filter(|(traffic, _)| traffic.sessions.is_some());
    for (traffic, place) in of_sessions {
        if traffic.load != Load::Max {
            let (at, field) = place.key_or_ends("load");
            let complaint = Complaint::new(
                format!(
                    "the tester of sessions in a guest sends as fast as it can, and not {}",
                    traffic.load
                ),
                "load = \"max\" beside kind = \"sessions\"",
                "remove load, or write device = \"linux\"",
            );
            complaints.add(at, field, complaint);
        }
        let Some((variant, room, is_set)) = largest else { continue };
        let (flows, least) = (traffic.flows(), rounds::least_to_fill(*room));
        if traffic.measure == Measure::FullTable && flows < least {
            let room = if *is_set { room.to_string() } else { format!("{room} at least") };
            let (at, field) = place.key_or_ends("destination");
            let complaint = Complaint::new(
                format!(
                    "{flows} sessions of traffic {:?} do not fill the table of variant {variant:?}, which has room for \
                     {room}",
                    traffic.name
                ),
                format!("{least} flows, a tenth more than there is room for"),
                format!(
                    "widen source or destination, set {} lower, or leave out measure = \"{}\"",
                    ROOM[0], traffic.measure
                ),
            );
            complaints.add(at, field, complaint);
        }
    }
}

/// The name of a variant, for how many sessions its table has room, and whether it says so; nothing beside rules of pf,
/// which say it themselves.
fn room_of(variant: &mut Section<'_>, memory_mb: Option<u32>) -> Option<(String, u64, bool)> {
    let name = variant.value("name").and_then(|found| found.value.as_str());
    let name = name.unwrap_or_default().to_owned();
    let set = variant.value("set").and_then(|found| found.value.as_table());
    if set.is_some_and(|set| set.contains_key(PF)) {
        return None;
    }
    let told = set.into_iter().flat_map(|set| set.iter()).find_map(|(word, value)| {
        let is_room = ROOM.contains(&word.get_ref().replace('/', ".").as_str());
        let value = value.get_ref();
        let number = || value.as_str().and_then(|text| text.trim().parse().ok());
        integer_of(value).or_else(number).filter(|_| is_room)
    });
    Some((name, told.unwrap_or_else(|| usual_room(memory_mb)), told.is_some()))
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

#[cfg(test)]
mod before {
    use std::path::Path;

    use fwdlab_experiment::Experiment;

    use crate::Vm;

    fn read(top: &str, set: &str, traffic: &str) -> Result<(), String> {
        let text = format!(
            "title = \"t\"\ndevice = \"vm\"\nbaseline = \"a\"\n{top}\n[vm]\nkernel = \"k\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = {{ {set} }}\n\
             [[traffic]]\nname = \"t\"\nsource = \"198.18.10.1-198.18.10.50:7\"\n\
             destination = \"198.19.10.1-198.19.10.80:7\"\nkind = \"sessions\"\n{traffic}\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
        );
        let read = Experiment::parse(Path::new("x.toml"), &text, &[&Vm]);
        read.map(drop).map_err(|problems| problems.to_string())
    }

    const FULL: &str = "measure = \"full-table\"";

    /// A guest booted, and gave up: its flows did not fill the table.
    #[test]
    fn too_few_sessions_for_a_full_table_are_refused_before_a_guest_boots() {
        let max = "\"net.netfilter.nf_conntrack_max\"";
        let said = read(FULL, &format!("{max} = 5000"), "").expect_err("refused");
        let wanted = "x.toml:15:15: traffic[1].destination: 4000 sessions of traffic \"t\" do not fill the table of \
                      variant \"b\", which has room for 5000; wanted 5501 flows";
        assert!(said.starts_with(wanted), "{said}");
        // The table of `a` is that of 512 MiB.
        assert_eq!(read(FULL, &format!("{max} = 1000"), ""), Ok(()));
        let lower = read(FULL, "\"net/netfilter/nf_conntrack_max\" = \"5000\"", "");
        assert!(lower.expect_err("refused").contains("room for 5000"));
        assert_eq!(read("measure = \"insertion\"", &format!("{max} = 5000"), ""), Ok(()));
        // Rules of pf say themselves for how many there is room.
        let pf = "pf = \"set limit states 200\", \"net.inet.ip.fw.dyn_max\" = 5000";
        assert_eq!(read(FULL, pf, ""), Ok(()));
    }

    #[test]
    fn a_table_that_nothing_sets_has_room_by_the_memory_of_its_guest() {
        assert_eq!(super::usual_room(None), 3584);
        assert_eq!(super::usual_room(Some(128)), 1024);
        assert!(super::usual_room(Some(1024)) > 7000);
    }

    /// The line of a variant was named, after a boot.
    #[test]
    fn a_load_of_sessions_is_refused_where_it_stands() {
        let said = read("measure = \"insertion\"", "", "load = \"10kpps\"").expect_err("refused");
        assert!(said.starts_with("x.toml:17:8: traffic[1].load: the tester of sessions"), "{said}");
        assert!(said.contains("remove load, or write device = \"linux\""), "{said}");
    }
}
