//! `kind = "sessions"` in `[[traffic]]`: flows that begin, live and end, for devices that track them.

use std::time::Duration;

use fwdlab_results::{Family, Measure};
use fwdlab_traffic::{Order, Segments};

use super::fields::{Found, Section, nearest};
use super::model::{SessionProtocol, SessionsOf, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;

/// Most frames of a session.
const MOST_FRAMES: u64 = 10_000;
/// Frames of a session where the file does not say.
const USUAL_FRAMES: u32 = 10;
/// Most frames before a table is emptied: their order is kept in memory.
const MOST_OF_A_ROUND: u64 = 1 << 22;

/// What sessions are made of, as the file says it.
const PROTOCOLS: [(&str, SessionProtocol); 2] =
    [("udp", SessionProtocol::Udp), ("tcp", SessionProtocol::Tcp)];
/// Fewest frames of a session of TCP: three open it, three close it.
const LEAST_OF_TCP: u32 = 6;
/// Sessions of TCP that come and go are alive together at least so many times as each has frames: what is
/// answered has gone out in a batch before.
const ALIVE_TO_FRAMES: u64 = 16;
/// Shortest frames of TCP in IPv6, FCS included: headers of 74 bytes and four of data.
const LEAST_INET6_TCP_FRAME: u16 = 82;

/// Reads the keys of sessions; how many are alive at once is settled by [`settled`]. `kind` is the traffic's
/// where it is of sessions.
pub(super) fn read(
    section: &mut Section<'_>,
    kind: Option<&Found<&str>>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<SessionsOf>> {
    let lifetime = section.integer("lifetime", 2..=MOST_FRAMES, complaints);
    let concurrent = section.integer("concurrent", 1..=u64::MAX, complaints);
    let protocol = section.text("protocol", "\"udp\"", complaints);
    let Some(Found { field, at, .. }) = kind else {
        let numbers =
            [&lifetime, &concurrent].into_iter().flatten().map(|key| (&key.at, &key.field));
        for (at, field) in numbers.chain(protocol.as_ref().map(|key| (&key.at, &key.field))) {
            let complaint = Complaint::new(
                "this traffic has no sessions that could begin and end",
                "it beside kind = \"sessions\"",
                "add kind = \"sessions\", or remove it",
            );
            complaints.add(at, field, complaint);
        }
        return None;
    };
    let value = SessionsOf {
        protocol: protocol.map_or_else(SessionProtocol::default, |key| named(&key, complaints)),
        lifetime: lifetime.map_or(USUAL_FRAMES, |found| found.value as u32),
        concurrent: concurrent.map_or(0, |found| found.value),
    };
    Some(Found { field: field.clone(), at: at.clone(), value })
}

fn named(key: &Found<&str>, complaints: &mut Complaints<'_>) -> SessionProtocol {
    if let Some((_, protocol)) = PROTOCOLS.iter().find(|(name, _)| *name == key.value) {
        return *protocol;
    }
    let complaint = Complaint::new(
        format!("there are no sessions of {:?}", key.value),
        "\"udp\", or \"tcp\", whose segments open and close their sessions",
        match nearest(key.value, PROTOCOLS.iter().map(|(name, _)| *name)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => "remove it for sessions of UDP".to_owned(),
        },
    );
    complaints.add(&key.at, &key.field, complaint);
    SessionProtocol::default()
}

/// With how many are alive at once: all, where the file does not say. Refuses what sessions cannot be.
pub(super) fn settled(
    found: Found<SessionsOf>,
    (traffic, place): (&Traffic, &TrafficPlace),
    complaints: &mut Complaints<'_>,
) -> Option<SessionsOf> {
    let Found { field, at, value } = found;
    let SessionsOf { protocol, lifetime, concurrent } = value;
    let flows = traffic.flows_ahead();
    let at_key = |key: &str| place.key(key).unwrap_or((&at, &field));
    let (key, what) = if traffic.capture.is_some() {
        ("capture", "the flows of a capture begin and end as they were recorded".to_owned())
    } else if matches!(traffic.order, Order::Zipf { .. } | Order::Elephants { .. }) {
        let order = traffic.order;
        let what =
            format!("each session has as many frames as the others, and order = \"{order}\"");
        ("order", what)
    } else if concurrent > flows {
        (
            "concurrent",
            format!("{concurrent} sessions cannot live at once: there are {flows} flows"),
        )
    } else if flows.saturating_mul(lifetime.into()) > MOST_OF_A_ROUND {
        let what =
            format!("{flows} sessions of {lifetime} frames are more than {MOST_OF_A_ROUND} frames");
        ("lifetime", what)
    } else {
        let concurrent = if concurrent == 0 { flows } else { concurrent };
        let settled = SessionsOf { protocol, lifetime, concurrent };
        if protocol == SessionProtocol::Tcp
            && let Some((key, what, remedy)) = no_tcp(settled, traffic)
        {
            let wanted = "direction = \"both\", a lifetime of 6 frames or more, and frames with room for \
                          their headers";
            let (at, field) = at_key(key);
            complaints.add(at, field, Complaint::new(what, wanted, remedy));
            return None;
        }
        return Some(settled);
    };
    let complaint = Complaint::new(
        what,
        "ranges of addresses, order = \"sequential\" or \"random\", no more sessions alive than flows, \
         and at most 4194304 frames of all of them",
        "remove kind = \"sessions\", or what does not go with it",
    );
    let (at, field) = at_key(key);
    complaints.add(at, field, complaint);
    None
}

/// Why sessions of TCP cannot be like this, with the key that says so and what to do.
fn no_tcp(own: SessionsOf, traffic: &Traffic) -> Option<(&'static str, String, &'static str)> {
    let lifetime = own.lifetime;
    Some(if !traffic.direction.is_both() {
        ("direction", "a session of TCP is answered".to_owned(), "write direction = \"both\"")
    } else if lifetime < LEAST_OF_TCP {
        let what = format!("{lifetime} frames do not open and close a session of TCP");
        ("lifetime", what, "write lifetime = 6 or more")
    } else if traffic.family != Family::Inet && traffic.frame_bytes < LEAST_INET6_TCP_FRAME {
        let bytes = traffic.frame_bytes;
        let what = format!("TCP has no room in frames of {bytes} bytes in IPv6");
        ("frame", what, "write frame = 82 or more")
    } else {
        return None;
    })
}

/// How many sessions of TCP have to be alive at once where they come and go, where they are fewer.
fn least_alive(traffic: &Traffic) -> Option<u64> {
    let SessionsOf { protocol, lifetime, concurrent } = traffic.sessions?;
    let least = ALIVE_TO_FRAMES * u64::from(lifetime);
    let is_too_few = protocol == SessionProtocol::Tcp && concurrent < least;
    (is_too_few && traffic.measure == Measure::Rate).then_some(least)
}

/// How long a trial of sessions takes at least, of which so long is warm-up and so long is counted: whole rounds, at
/// least three of which are counted, by the load at which their frames are sent. What is sent as fast as it can is
/// not known.
pub(super) fn time_of_rounds(traffic: &Traffic, [warmup, duration]: [Duration; 2]) -> Duration {
    const FEWEST: f64 = 3.0;
    let (Some(own), Some(pps)) = (traffic.sessions, traffic.offered_pps()) else {
        return Duration::ZERO;
    };
    let opening = match own.protocol {
        SessionProtocol::Tcp => Segments::OPENING as u64,
        SessionProtocol::Udp => traffic.direction.ways(),
    };
    let all = u64::from(own.lifetime).max(opening + 1);
    let sessions = traffic.flows_ahead() as f64;
    // Of how many frames of each session a round is, and how many of these are counted.
    let [sent, counted] = match traffic.measure {
        Measure::Lookup => [all, all - opening],
        Measure::Rate => [all, all],
        // How many of them fill a table is not known here.
        _ => [1, 1],
    };
    let seconds = |frames: u64| sessions * frames as f64 / pps;
    let rounds = (duration.as_secs_f64() / seconds(counted)).ceil().max(FEWEST);
    let warm = (warmup.as_secs_f64() / seconds(sent)).ceil();
    Duration::try_from_secs_f64((rounds + warm) * seconds(sent)).unwrap_or(Duration::MAX)
}

/// Why sessions of this traffic cannot be measured through rules with this word that
/// translates addresses, and what to do; nothing where they can: by a mark in their frames.
pub fn untranslatable(word: &str, traffic: &Traffic) -> Option<(&'static str, &'static str)> {
    let least = match traffic.family {
        Family::Inet => 50,
        Family::Inet6 | Family::Dual => 70,
    };
    if word == "redirect" {
        return Some(("redirected frames end at the device", "remove it, or use snat or dnat"));
    }
    if traffic.direction.is_both() {
        let why = "frames back would have to go to what the device has chosen, which the tester does \
                   not know";
        return Some((why, "write direction = \"one\", or remove the translation"));
    }
    let why = "the tester knows its sessions by a mark, for which their frames have no room";
    (traffic.frame_bytes < least).then_some((why, "write frame = 70 or more"))
}

/// Measures of sessions are taken with sessions, and sessions with these or the rate.
pub(super) fn measures(
    placed: &[(Traffic, TrafficPlace)],
    changes_routes: bool,
    complaints: &mut Complaints<'_>,
) {
    for (traffic, place) in placed {
        let (measure, has_sessions) = (traffic.measure, traffic.sessions.is_some());
        let (key, what, remedy) = if measure.is_of_sessions() && !has_sessions {
            (
                "kind",
                format!("measure = \"{measure}\" is taken of sessions, and it has none"),
                "add kind = \"sessions\" to the traffic, or remove the measure",
            )
        } else if has_sessions && !measure.is_of_sessions() && measure != Measure::Rate {
            (
                "kind",
                format!("it has sessions, of which measure = \"{measure}\" is not taken"),
                "measure \"insertion\", \"lookup\", \"full-table\" or \"rate\", or remove kind",
            )
        } else if let Some(least) = least_alive(traffic) {
            (
                "concurrent",
                format!(
                    "with fewer than {least} sessions of TCP alive at once, answers would go out before \
                     what they answer"
                ),
                "let more of them live at once (concurrent, flows), or shorten lifetime",
            )
        } else if has_sessions && changes_routes {
            ("kind", "it has sessions beside [churn]".to_owned(), "remove kind, or [churn]")
        } else {
            continue;
        };
        let complaint = Complaint::new(
            format!("traffic {:?}: {what}", traffic.name),
            "kind = \"sessions\" with \"insertion\", \"lookup\", \"full-table\" and \"rate\"",
            remedy,
        );
        let (at, field) = place.key(key).unwrap_or_else(|| place.key_or_ends("kind"));
        complaints.add(at, field, complaint);
    }
}

/// Refuses what a measure of sessions would not do as it is written. Files of campaigns that have run may have it.
pub(super) fn as_written(placed: &[(Traffic, TrafficPlace)], complaints: &mut Complaints<'_>) {
    for (traffic, place) in placed.iter().filter(|(traffic, _)| traffic.sessions.is_some()) {
        // The same traffic stands here once for each measure.
        let mut own = placed.iter().filter(|(_, other)| other.destination == place.destination);
        let is_rated = own.any(|(other, _)| other.measure == Measure::Rate);
        let measure = traffic.measure;
        let (key, what, wanted, remedy) = if has_none_left(traffic) {
            (
                "lifetime",
                "a session of 2 frames, one each way, has none left to look up once it is open"
                    .to_owned(),
                "a lifetime of 3 frames or more beside direction = \"both\" and measure = \"lookup\"",
                "write lifetime = 3 or more, or direction = \"one\"",
            )
        } else if measure.is_of_sessions() && !is_rated && place.key("concurrent").is_some() {
            (
                "concurrent",
                format!(
                    "measure = \"{measure}\" does not read it: all of its sessions live at once"
                ),
                "concurrent beside measure = \"rate\"",
                "remove concurrent, or measure \"rate\", too",
            )
        } else {
            continue;
        };
        let (at, field) = place.key_or_ends(key);
        let what = format!("traffic {:?}: {what}", traffic.name);
        complaints.add(at, field, Complaint::new(what, wanted, remedy));
    }
}

/// Whether later frames are measured of sessions that have none but those that open them.
fn has_none_left(traffic: &Traffic) -> bool {
    let opening = traffic.direction.ways();
    let is_over = |own: SessionsOf| u64::from(own.lifetime) <= opening;
    traffic.measure == Measure::Lookup && traffic.sessions.is_some_and(is_over)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fwdlab_results::Measure;

    use crate::{Anything, Experiment, Problems, SessionProtocol, SessionsOf};

    fn with(keys: &str, traffic: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\n\
             name = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1-198.18.0.9:7\"\n\
             destination = \"198.19.0.1:7-16\"\n{traffic}\n[routes]\n\
             static = [\"198.18.0.0/16 via 198.18.0.2\", \"198.19.0.0/16 via 198.19.0.2\"]\n"
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
        let protocol = SessionProtocol::Udp;
        let all = Some(SessionsOf { protocol, lifetime: 10, concurrent: 90 });
        assert_eq!(experiment.traffics[0].sessions, all);
        let some = with("", "kind = \"sessions\"\nlifetime = 3\nconcurrent = 20").unwrap();
        let wanted = Some(SessionsOf { protocol, lifetime: 3, concurrent: 20 });
        assert_eq!(some.traffics[0].sessions, wanted);
        assert_eq!(with("", "kind = \"frames\"").unwrap().traffics[0].sessions, None);
    }

    /// 680 ms were told of minutes.
    #[test]
    fn a_trial_of_paced_sessions_takes_its_rounds() {
        let time = |measure: &str, keys: &str| {
            let top = format!("measure = {measure:?}\nduration = \"500ms\"\nwarmup = \"100ms\"");
            let own = with(&top, &format!("kind = \"sessions\"\nlifetime = 10\n{keys}")).unwrap();
            let more = own.own_time(&own.traffics[0]);
            (more + own.duration + own.warmup).as_secs_f64()
        };
        // 90 sessions, 3 a second: three rounds of 30 s, and one to warm up.
        assert!((time("insertion", "load = \"3pps\"") - 120.0).abs() < 1e-6);
        // 90 frames of 900 open them.
        assert!((time("lookup", "load = \"30pps\"") - 120.0).abs() < 1e-6);
        assert!((time("rate", "load = \"30pps\"") - 120.0).abs() < 1e-6);
        // Short rounds are as many as fill the time; without a load nobody knows.
        let short = time("insertion", "load = \"9kpps\"");
        assert!((short - 0.6).abs() < 1e-6, "{short}");
        assert!((time("insertion", "") - 0.6).abs() < 1e-6);
    }

    #[test]
    fn sessions_of_tcp_are_answered_and_have_room_for_their_segments() {
        let tcp = "kind = \"sessions\"\nprotocol = \"tcp\"\ndirection = \"both\"\nlifetime = 6\n";
        let lookup = "measure = [\"insertion\", \"lookup\"]";
        let right = with(lookup, tcp).unwrap();
        let protocol = right.traffics[1].sessions.map(|own| own.protocol);
        assert_eq!(protocol, Some(SessionProtocol::Tcp));
        for (keys, traffic, wanted) in [
            (lookup, tcp.replace("direction = \"both\"", ""), "a session of TCP is answered"),
            (lookup, tcp.replace('6', "5"), "5 frames do not open and close"),
            // 90 flows, and 16 times 6 are 96.
            ("", tcp.to_owned(), "answers would go out before"),
            (lookup, tcp.replace("tcp", "tpc"), "there are no sessions of \"tpc\""),
            (lookup, tcp.replace("tcp", "tpc"), "did you mean \"tcp\"?"),
            ("", "protocol = \"tcp\"".to_owned(), "no sessions that could begin"),
        ] {
            let problems = with(keys, &traffic).unwrap_err().to_string();
            assert!(problems.contains(wanted), "{keys} {traffic}: {problems}");
            assert!(problems.contains("sessions.toml:"), "{problems}");
        }
        let inet6 = |bytes: u16| {
            let text = format!(
                "title = \"t\"\nbaseline = \"a\"\n{lookup}\n[[variant]]\nname = \"a\"\n[[variant]]\n\
                 name = \"b\"\n[[traffic]]\nname = \"six\"\nsource = \"[2001:2::10]:7\"\n\
                 destination = \"[2001:2:0:8000::10]:7-16\"\nframe = {bytes}\n{tcp}[routes]\n\
                 static = [\"2001:2::/64 via 2001:2::2\", \"2001:2:0:8000::/64 via 2001:2:0:8000::2\"]\n"
            );
            Experiment::parse(Path::new("lab/sessions.toml"), &text, &[&Anything])
        };
        assert!(inet6(82).is_ok());
        let problems = inet6(81).unwrap_err().to_string();
        assert!(problems.contains("no room in frames of 81 bytes"), "{problems}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let own = "kind = \"sessions\"\n";
        for (keys, traffic, wanted) in [
            ("", "kind = \"session\"", "did you mean \"sessions\"?"),
            ("", "lifetime = 3", "no sessions that could begin"),
            ("", "kind = \"frames\"\nconcurrent = 3", "no sessions that could begin"),
            ("", "kind = \"sessions\"\nlifetime = 1", "2"),
            (
                "",
                "kind = \"sessions\"\nconcurrent = 91",
                "13:14: traffic[1].concurrent: 91 sessions",
            ),
            ("", "kind = \"sessions\"\nconcurrent = 91", "there are 90 flows"),
            (
                "",
                "order = \"zipf(1)\"\nkind = \"sessions\"",
                "12:9: traffic[1].order: each session",
            ),
            (
                "measure = \"insertion\"",
                "kind = \"sessions\"\nconcurrent = 9",
                "13:14: traffic[1].concurrent: ",
            ),
            ("measure = \"insertion\"", "kind = \"sessions\"\nconcurrent = 9", "does not read it"),
            (
                "measure = \"lookup\"",
                "kind = \"sessions\"\ndirection = \"both\"\nlifetime = 2",
                "14:12: traffic[1].lifetime: traffic \"inet\": a session of 2 frames",
            ),
            ("measure = \"lookup\"", "", "is taken of sessions, and it has none"),
            ("measure = \"ndr\"", own, "of which measure = \"ndr\" is not taken"),
        ] {
            let problems = with(keys, traffic).unwrap_err().to_string();
            assert!(problems.contains(wanted), "{keys} {traffic}: {problems}");
            assert!(problems.contains("sessions.toml:"), "{problems}");
        }
        // One measure of several reads it; one way a session of two frames has one left.
        let both = "measure = [\"insertion\", \"rate\"]";
        assert!(with(both, "kind = \"sessions\"\nconcurrent = 9").is_ok());
        assert!(with("measure = \"lookup\"", "kind = \"sessions\"\nlifetime = 2").is_ok());
    }
}
