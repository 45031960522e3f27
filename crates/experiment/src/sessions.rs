//! `kind = "sessions"` in `[[traffic]]`: flows that begin, live and end, for devices that track them.

use fwdlab_results::Measure;
use fwdlab_traffic::Order;

use super::fields::{Found, Section};
use super::model::{SessionsOf, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;

/// Most frames of a session.
const MOST_FRAMES: u64 = 10_000;
/// Frames of a session where the file does not say.
const USUAL_FRAMES: u32 = 10;
/// Most frames before a table is emptied: their order is kept in memory.
const MOST_OF_A_ROUND: u64 = 1 << 22;

/// Reads the keys of sessions; how many are alive at once is settled by [`settled`]. `kind` is the traffic's
/// where it is of sessions.
pub(super) fn read(
    section: &mut Section<'_>,
    kind: Option<&Found<&str>>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<SessionsOf>> {
    let lifetime = section.integer("lifetime", 2..=MOST_FRAMES, complaints);
    let concurrent = section.integer("concurrent", 1..=u64::MAX, complaints);
    let Some(Found { field, at, .. }) = kind else {
        for key in [&lifetime, &concurrent].into_iter().flatten() {
            let complaint = Complaint::new(
                "this traffic has no sessions that could begin and end",
                "it beside kind = \"sessions\"",
                "add kind = \"sessions\", or remove it",
            );
            complaints.add(&key.at, &key.field, complaint);
        }
        return None;
    };
    let value = SessionsOf {
        lifetime: lifetime.map_or(USUAL_FRAMES, |found| found.value as u32),
        concurrent: concurrent.map_or(0, |found| found.value),
    };
    Some(Found { field: field.clone(), at: at.clone(), value })
}

/// With how many are alive at once: all, where the file does not say. Refuses what sessions cannot be.
pub(super) fn settled(
    found: Found<SessionsOf>,
    traffic: &Traffic,
    complaints: &mut Complaints<'_>,
) -> Option<SessionsOf> {
    let Found { field, at, value: SessionsOf { lifetime, concurrent } } = found;
    let flows = traffic.flows_ahead();
    let what = if traffic.capture.is_some() {
        "the flows of a capture begin and end as they were recorded".to_owned()
    } else if matches!(traffic.order, Order::Zipf { .. } | Order::Elephants { .. }) {
        format!("each session has as many frames as the others, and order = \"{}\"", traffic.order)
    } else if concurrent > flows {
        format!("{concurrent} sessions cannot live at once: there are {flows} flows")
    } else if flows.saturating_mul(lifetime.into()) > MOST_OF_A_ROUND {
        format!("{flows} sessions of {lifetime} frames are more than {MOST_OF_A_ROUND} frames")
    } else {
        let concurrent = if concurrent == 0 { flows } else { concurrent };
        return Some(SessionsOf { lifetime, concurrent });
    };
    let complaint = Complaint::new(
        what,
        "ranges of addresses, order = \"sequential\" or \"random\", no more sessions alive than flows, \
         and at most 4194304 frames of all of them",
        "remove kind = \"sessions\", or what does not go with it",
    );
    complaints.add(&at, &field, complaint);
    None
}

/// Measures of sessions are taken with sessions, and sessions with these or the rate.
pub(super) fn measures(
    placed: &[(Traffic, TrafficPlace)],
    changes_routes: bool,
    complaints: &mut Complaints<'_>,
) {
    for (traffic, place) in placed {
        let (measure, has_sessions) = (traffic.measure, traffic.sessions.is_some());
        let (what, remedy) = if measure.is_of_sessions() && !has_sessions {
            (
                format!("measure = \"{measure}\" is taken of sessions, and it has none"),
                "add kind = \"sessions\" to the traffic, or remove the measure",
            )
        } else if has_sessions && !measure.is_of_sessions() && measure != Measure::Rate {
            (
                format!("it has sessions, of which measure = \"{measure}\" is not taken"),
                "measure \"insertion\", \"lookup\", \"full-table\" or \"rate\", or remove kind",
            )
        } else if has_sessions && changes_routes {
            ("it has sessions beside [churn]".to_owned(), "remove kind, or [churn]")
        } else {
            continue;
        };
        let complaint = Complaint::new(
            format!("traffic {:?}: {what}", traffic.name),
            "kind = \"sessions\" with \"insertion\", \"lookup\", \"full-table\" and \"rate\"",
            remedy,
        );
        let (at, field) = place.key_or_ends("kind");
        complaints.add(at, field, complaint);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fwdlab_results::Measure;

    use crate::{Anything, Experiment, Problems, SessionsOf};

    fn with(keys: &str, traffic: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\n\
             name = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1-198.18.0.9:7\"\n\
             destination = \"198.19.0.1:7-16\"\n{traffic}\n[routes]\n\
             static = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
        );
        Experiment::parse(Path::new("lab/sessions.toml"), &text, &[&Anything])
    }

    #[test]
    fn sessions_live_for_some_frames_so_many_at_once() {
        let list = "measure = [\"insertion\", \"lookup\"]";
        let experiment = with(list, "kind = \"sessions\"\nload = \"1kpps\"").unwrap();
        let names: Vec<_> = experiment.traffics.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["inet-insertion", "inet-lookup"]);
        assert_eq!(experiment.traffics[1].measure, Measure::Lookup);
        let all = Some(SessionsOf { lifetime: 10, concurrent: 90 });
        assert_eq!(experiment.traffics[0].sessions, all);
        let some = with("", "kind = \"sessions\"\nlifetime = 3\nconcurrent = 20").unwrap();
        let wanted = Some(SessionsOf { lifetime: 3, concurrent: 20 });
        assert_eq!(some.traffics[0].sessions, wanted);
        assert_eq!(with("", "kind = \"frames\"").unwrap().traffics[0].sessions, None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let own = "kind = \"sessions\"\n";
        for (keys, traffic, wanted) in [
            ("", "kind = \"session\"", "did you mean \"sessions\"?"),
            ("", "lifetime = 3", "no sessions that could begin"),
            ("", "kind = \"frames\"\nconcurrent = 3", "no sessions that could begin"),
            ("", "kind = \"sessions\"\nlifetime = 1", "2"),
            ("", "kind = \"sessions\"\nconcurrent = 91", "there are 90 flows"),
            ("", "kind = \"sessions\"\norder = \"zipf(1)\"", "as many frames as the others"),
            ("measure = \"lookup\"", "", "is taken of sessions, and it has none"),
            ("measure = \"ndr\"", own, "of which measure = \"ndr\" is not taken"),
        ] {
            let problems = with(keys, traffic).unwrap_err().to_string();
            assert!(problems.contains(wanted), "{keys} {traffic}: {problems}");
            assert!(problems.contains("sessions.toml:"), "{problems}");
        }
    }
}
