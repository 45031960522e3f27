//! `kind = "tcp"` in `[[traffic]]`: each flow is a stream of bytes between two real stacks.

use fwdlab_results::{Family, Measure};
use fwdlab_traffic::Order;

use super::fields::{Found, Section};
use super::model::{StreamsOf, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;

/// Most streams of a traffic: each has two sockets, or four.
const MOST_STREAMS: u64 = 256;
/// The longest frames of a stream, FCS included, in bytes, and the shortest: headers with their options, and
/// a payload worth the name.
const FRAMES: std::ops::RangeInclusive<u16> = 256..=1518;
/// Longest name of a congestion control.
const LONGEST_NAME: usize = 15;

/// Reads the keys of streams. `kind` is the traffic's where it is of streams.
pub(super) fn read(
    section: &mut Section<'_>,
    kind: Option<&Found<&str>>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<StreamsOf>> {
    let congestion = section.text("congestion", "\"cubic\"", complaints);
    let complaint = match (&congestion, kind) {
        (Some(_), None) => Some(Complaint::new(
            "this traffic has no streams that could meet a congestion",
            "it beside kind = \"tcp\"",
            "add kind = \"tcp\", or remove it",
        )),
        (Some(found), Some(_)) if !is_name(found.value) => Some(Complaint::new(
            format!("{:?} is no name of a congestion control", found.value),
            "one that the kernel has (net.ipv4.tcp_available_congestion_control), such as \"cubic\"",
            "correct it, or remove it to take the kernel's own",
        )),
        _ => None,
    };
    if let (Some(complaint), Some(found)) = (complaint, &congestion) {
        complaints.add(&found.at, &found.field, complaint);
    }
    let Found { field, at, .. } = kind?;
    let value = StreamsOf { congestion: congestion.map(|found| found.value.to_owned()) };
    Some(Found { field: field.clone(), at: at.clone(), value })
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_part)
}

/// The longest frame of streams where the file does not say.
pub(super) const USUAL_FRAME_BYTES: u16 = *FRAMES.end();

/// Refuses what streams cannot be.
pub(super) fn settled(
    found: Found<StreamsOf>,
    (traffic, place): (&Traffic, &TrafficPlace),
    complaints: &mut Complaints<'_>,
) -> Option<StreamsOf> {
    let Found { field, at, value } = found;
    let flows = traffic.flows_ahead();
    let bytes = traffic.frame_bytes;
    let (key, what) = if traffic.capture.is_some() {
        ("capture", "the frames of a capture are no stream".to_owned())
    } else if traffic.family == Family::Dual {
        ("kind", "a stream is of one family".to_owned())
    } else if traffic.direction.is_both() {
        ("direction", "the bytes of a stream go one way, its acknowledgements come back".to_owned())
    } else if traffic.order != Order::Sequential {
        ("order", format!("each stream sends what it can, and order = \"{}\"", traffic.order))
    } else if flows > MOST_STREAMS {
        ("kind", format!("{flows} flows are more than {MOST_STREAMS} streams"))
    } else if traffic.sizes.is_mixed() || !FRAMES.contains(&bytes) {
        let frames = format!("frames of \"{}\" ({bytes} bytes)", traffic.sizes);
        ("frame", format!("a stream cannot be cut into {frames}"))
    } else if traffic.source.port() == 0 || traffic.destination.port() == 0 {
        ("kind", "a stream has no port 0".to_owned())
    } else {
        return Some(value);
    };
    let (at, field) = place.key(key).unwrap_or((&at, &field));
    let complaint = Complaint::new(
        what,
        format!(
            "at most {MOST_STREAMS} flows of ranges of one family, one way, frame from {} to {} bytes (the \
             longest frame), ports from 1",
            FRAMES.start(),
            FRAMES.end()
        ),
        "remove kind = \"tcp\", or what does not go with it",
    );
    complaints.add(at, field, complaint);
    None
}

/// Measures of streams are taken with streams, and streams with these alone.
pub(super) fn measures(
    placed: &[(Traffic, TrafficPlace)],
    changes_routes: bool,
    complaints: &mut Complaints<'_>,
) {
    for (traffic, place) in placed {
        let (measure, has_streams) = (traffic.measure, traffic.streams.is_some());
        let (what, remedy) = if measure.is_of_streams() && !has_streams {
            let is_alone = placed.iter().all(|(own, _)| own.measure.is_of_streams());
            let remedy = match is_alone {
                true => "add kind = \"tcp\" to the traffic, or remove the measure",
                false => {
                    "remove the measure, or take those of streams in an experiment of their own"
                }
            };
            (format!("measure = \"{measure}\" is taken of streams, and it has none"), remedy)
        } else if has_streams && !measure.is_of_streams() {
            let what = match measure {
                Measure::Rate => "it has streams, whose frames nobody offers at a rate".to_owned(),
                _ => format!("it has streams, of which measure = \"{measure}\" is not taken"),
            };
            (what, "write measure = \"goodput\" or \"byte-cost\" or a list of both, or remove kind")
        } else if has_streams && changes_routes {
            ("it has streams beside [churn]".to_owned(), "remove kind, or [churn]")
        } else {
            continue;
        };
        let complaint = Complaint::new(
            format!("traffic {:?}: {what}", traffic.name),
            "kind = \"tcp\" with measure = \"goodput\" or \"byte-cost\"",
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

    use crate::{Anything, Experiment, Problems};

    fn with(measure: &str, traffic: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\nmeasure = {measure}\n[[variant]]\nname = \"a\"\n\
             [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7-10\"\n\
             destination = \"198.19.0.1-198.19.0.2:7\"\n{traffic}\n[routes]\n\
             static = [\"198.19.0.0/16 via 198.19.0.2\", \"198.18.0.0/16 via 198.18.0.9\"]\n"
        );
        Experiment::parse(Path::new("lab/streams.toml"), &text, &[&Anything])
    }

    #[test]
    fn each_flow_is_a_stream_of_the_longest_frames() {
        let experiment = with("[\"goodput\", \"byte-cost\"]", "kind = \"tcp\"").unwrap();
        let [goodput, cost] = &experiment.traffics[..] else { panic!("two measures") };
        assert_eq!((goodput.measure, cost.measure), (Measure::Goodput, Measure::ByteCost));
        let streams = goodput.streams.as_ref().expect("streams");
        assert_eq!((streams.congestion.as_deref(), goodput.flows()), (None, 8));
        assert_eq!(goodput.frame_bytes, 1518);
        let own = "kind = \"tcp\"\nframe = 600\ncongestion = \"reno\"";
        let experiment = with("\"goodput\"", own).unwrap();
        let traffic = &experiment.traffics[0];
        assert_eq!(traffic.frame_bytes, 600);
        assert_eq!(traffic.streams.as_ref().unwrap().congestion.as_deref(), Some("reno"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let goodput = "\"goodput\"";
        for (measure, traffic, wanted) in [
            (goodput, "kind = \"tpc\"", "did you mean \"tcp\"?"),
            (goodput, "", "is taken of streams, and it has none"),
            ("\"rate\"", "kind = \"tcp\"", "write measure = \"goodput\""),
            ("\"lookup\"", "kind = \"tcp\"", "of which measure = \"lookup\" is not taken"),
            (goodput, "kind = \"tcp\"\nlifetime = 3", "no sessions that could begin"),
            (goodput, "kind = \"tcp\"\nframe = \"min\"", "cannot be cut into frames"),
            (goodput, "kind = \"tcp\"\nframe = \"imix\"", "cannot be cut into frames"),
            (goodput, "kind = \"tcp\"\nframe = 9000", "cannot be cut into frames"),
            (goodput, "kind = \"tcp\"\ndirection = \"both\"", "go one way"),
            (goodput, "kind = \"tcp\"\norder = \"random\"", "sends what it can"),
            (goodput, "kind = \"tcp\"\norder = \"random\"", "traffic[1].order: each stream"),
            (goodput, "kind = \"tcp\"\nframe = 9000", "traffic[1].frame: a stream"),
            (goodput, "kind = \"tcp\"\ndirection = \"both\"", "traffic[1].direction: the bytes"),
            (goodput, "kind = \"tcp\"\nload = \"1kpps\"", "which finds the load"),
            (goodput, "kind = \"tcp\"\ncongestion = \"a b\"", "no name of a congestion control"),
            ("\"rate\"", "congestion = \"reno\"", "no streams that could meet"),
        ] {
            let problems = with(measure, traffic).expect_err(traffic).to_string();
            assert!(problems.contains(wanted), "{measure} {traffic}: {problems}");
            assert!(problems.contains("streams.toml:"), "{problems}");
        }
    }

    #[test]
    fn more_streams_than_sockets_and_ways_without_a_way_back_are_refused() {
        let text = |source: &str, routes: &str| {
            format!(
                "title = \"t\"\nbaseline = \"a\"\nmeasure = \"goodput\"\n[[variant]]\nname = \"a\"\n\
                 [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\nkind = \"tcp\"\n\
                 source = \"{source}\"\ndestination = \"198.19.0.1:7\"\n[routes]\n\
                 static = [\"198.19.0.0/16 via 198.19.0.2\"{routes}]\n"
            )
        };
        let said = |text: &str| {
            let read = Experiment::parse(Path::new("s.toml"), text, &[&Anything]);
            read.expect_err(text).to_string()
        };
        let many = said(&text("198.18.0.1:1-300", ", \"198.18.0.0/16 via 198.18.0.9\""));
        assert!(many.contains("300 flows are more than 256 streams"), "{many}");
        let back = said(&text("198.18.0.1:1-3", ""));
        assert!(back.contains("no route covers 198.18.0.1"), "{back}");
        // A stream of which a frame is dropped does not begin: to allow that was no remedy.
        assert!(!back.contains("allow"), "{back}");
        let route = "\"198.18.0.1/32 via 198.18.100.203 port 0\"";
        assert!(back.contains(&format!("add {route} to [routes] static")), "{back}");
        let allowed =
            text("198.18.0.1:1-3", "").replacen("baseline", "allow = [\"no-route\"]\nbaseline", 1);
        assert!(said(&allowed).contains("no route covers 198.18.0.1"));
        let mended = text("198.18.0.1:1-3", &format!(", {route}"));
        Experiment::parse(Path::new("s.toml"), &mended, &[&Anything]).expect("what was advised");
    }
}
