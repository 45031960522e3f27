//! What an experiment asks of its device, held against what the device can do.

use std::ops::Range;

use super::problem::{Complaint, Complaints};
use super::schema::{Abilities, Schema, TrafficPlace};
use super::{Direction, Traffic};
use fwdlab_results::{Family, Measure};

/// A key of the file and its bytes.
type Key = (String, Range<usize>);

/// What an experiment asks of its device beside its traffics: each with the key that asks for it.
pub(super) struct Wanted<'a> {
    pub measure: Option<Key>,
    pub latency: Option<Key>,
    pub profile: Option<Key>,
    pub blocks_per_process: Option<Key>,
    pub churn: Option<Key>,
    pub placed: &'a [(Traffic, TrafficPlace)],
    /// The control words of all variants.
    pub words: Vec<&'a str>,
}

/// One thing that is asked for.
struct Demand<'a> {
    /// As words after "cannot".
    what: String,
    is_met: Box<dyn Fn(&Abilities) -> bool + 'a>,
    /// The measure that is asked for, of which a device may say why it cannot.
    measure: Option<Measure>,
    /// What to do on a device that cannot.
    remedy: &'static str,
    key: Key,
}

impl Wanted<'_> {
    /// All of it, each once; what to do instead depends on what the device can.
    fn demands(&self, device: &Abilities) -> Vec<Demand<'_>> {
        let mut all: Vec<Demand<'_>> = Vec::new();
        // A measure that would have to be added needs what the traffics have, too.
        let cannot_search = device.overloads_one_way
            && self.placed.iter().any(|(own, _)| more_than_one_way(own).is_some());
        if let Some(key) = &self.latency {
            all.push(Demand {
                what: "measure latency".to_owned(),
                is_met: Box::new(|can| can.measures_latency),
                measure: None,
                remedy: "remove latency",
                key: key.clone(),
            });
            let has_none = self.placed.iter().all(|(own, _)| own.measure.is_benchmark());
            // A rate is not searched for with streams or sessions.
            let is_of_kind = |(own, _): &(Traffic, TrafficPlace)| {
                own.streams.is_some() || own.sessions.is_some()
            };
            if has_none && !self.placed.is_empty() {
                all.push(Demand {
                    what: "measure latency beside figures of another kind alone: no frame of theirs is timed"
                        .to_owned(),
                    is_met: Box::new(|can| can.ignores_latency),
                    measure: None,
                    remedy: match cannot_search || self.placed.iter().any(is_of_kind) {
                        true => "remove latency",
                        false => "add \"throughput\" to measure, or remove latency",
                    },
                    key: key.clone(),
                });
            }
            let is_searched =
                |measure: Measure| measure.loss_ratio().is_some() || measure.is_benchmark();
            if self.placed.iter().any(|(own, _)| !is_searched(own.measure)) {
                all.push(Demand {
                    what: "measure latency at a rate that is not searched for".to_owned(),
                    is_met: Box::new(|can| !can.needs_search_for_latency),
                    measure: None,
                    remedy: match cannot_search {
                        true => "remove latency",
                        false => "write measure = \"throughput\", or remove latency",
                    },
                    key: key.clone(),
                });
            }
        }
        if let Some(key) = &self.profile {
            all.push(Demand {
                what: "take profiles".to_owned(),
                is_met: Box::new(|can| can.takes_profiles),
                measure: None,
                remedy: "remove profile",
                key: key.clone(),
            });
        }
        if let Some(key) = &self.blocks_per_process {
            all.push(Demand {
                what: "run blocks in fresh processes: it does not live in this program's memory"
                    .to_owned(),
                is_met: Box::new(|can| can.lives_in_process),
                measure: None,
                remedy: "remove blocks_per_process",
                key: key.clone(),
            });
        }
        if let Some(key) = &self.churn {
            all.push(Demand {
                what: "change routes while frames flow".to_owned(),
                is_met: Box::new(|can| can.changes_routes),
                measure: None,
                remedy: "remove [churn]",
                key: key.clone(),
            });
        }
        let is_asked =
            |measure: &Measure| self.placed.iter().any(|(own, _)| own.measure == *measure);
        let asked = Measure::ALL.into_iter().filter(is_asked);
        all.extend(asked.filter_map(|measure| self.measured(measure)));
        for (traffic, place) in self.placed {
            all.extend(sent(traffic, place));
        }
        all
    }

    fn measured(&self, measure: Measure) -> Option<Demand<'_>> {
        let key = self.measure.clone()?;
        let remedy = "remove the measure: forwarding rates are measured";
        if measure.is_benchmark() {
            let what = format!("measure {measure}");
            let is_met = Box::new(move |can: &Abilities| {
                let has_kind = match measure {
                    _ if measure.is_of_streams() => can.carries_streams,
                    _ if measure.is_of_sessions() => can.opens_sessions,
                    _ => true,
                };
                has_kind && can.benchmarks.contains(&measure)
            });
            return Some(Demand { what, is_met, measure: Some(measure), remedy, key });
        }
        measure.loss_ratio().map(|_| Demand {
            what: "search for a rate".to_owned(),
            is_met: Box::new(|can| can.searches_rates),
            measure: Some(measure),
            remedy,
            key,
        })
    }
}

/// Which key makes more of a traffic's frames than such as go one way between two ports.
fn more_than_one_way(traffic: &Traffic) -> Option<&'static str> {
    match traffic.direction {
        _ if traffic.capture.is_some() => Some("capture"),
        Direction::Both | Direction::Mesh => Some("direction"),
        Direction::One => (traffic.ports > 2).then_some("ports"),
    }
}

/// Whether every device takes a measure one way only, between two ports.
const fn is_one_way(measure: Measure) -> bool {
    matches!(measure, Measure::BackToBack | Measure::Reset)
}

/// A load that has to be found with a traffic of which not every device can.
fn overloaded<'a>(traffic: &'a Traffic, place: &'a TrafficPlace) -> Option<Demand<'a>> {
    let key = more_than_one_way(traffic)?;
    let measure = traffic.measure;
    // Of measures that no device takes so it is said elsewhere.
    let is_one_way = is_one_way(measure) && key != "capture";
    let is_found = measure.loss_ratio().is_some() || measure.is_benchmark();
    let (at, field) = place.key_or_ends(key);
    let remedy = match key {
        "capture" => "remove capture, and write the frames' lengths (frame) and ports",
        "ports" => "remove ports",
        _ if place.key("ports").is_some() => "remove direction, and ports",
        _ => "remove direction",
    };
    let is_asked = is_found
        && !is_one_way
        && measure != Measure::Convergence
        && !measure.is_of_sessions()
        && !measure.is_of_streams();
    is_asked.then(|| Demand {
        what: format!(
            "find a load for measure = \"{measure}\" but with frames of one kind that go one way between two ports"
        ),
        is_met: Box::new(|can| !can.overloads_one_way),
        measure: None,
        remedy,
        key: (field.to_owned(), at.clone()),
    })
}

/// What a traffic asks of the tester.
fn sent<'a>(traffic: &'a Traffic, place: &'a TrafficPlace) -> Vec<Demand<'a>> {
    let mut all: Vec<Demand<'_>> = Vec::new();
    let is_capture = traffic.capture.is_some();
    let key = |key: &str| {
        let (at, field) = place.key_or_ends(key);
        (field.to_owned(), at.clone())
    };
    all.extend(overloaded(traffic, place));
    if traffic.direction.is_both() {
        all.push(Demand {
            what: "send frames both ways at once".to_owned(),
            is_met: Box::new(|can| can.sends_both_ways),
            measure: None,
            remedy: "remove direction",
            key: key("direction"),
        });
    }
    if traffic.ports > 2 {
        let ports = traffic.ports;
        all.push(Demand {
            what: format!("have {ports} ports"),
            is_met: Box::new(move |can| ports <= can.most_ports),
            measure: None,
            remedy: "remove ports, and direction = \"mesh\"",
            key: key(if traffic.direction == Direction::Mesh { "direction" } else { "ports" }),
        });
    }
    if traffic.sessions.is_some() {
        all.push(Demand {
            what: "send sessions, which begin and end".to_owned(),
            is_met: Box::new(|can| can.opens_sessions),
            measure: None,
            remedy: "remove kind",
            key: key("kind"),
        });
    }
    if traffic.streams.is_some() {
        all.push(Demand {
            what: "carry streams of real stacks".to_owned(),
            is_met: Box::new(|can| can.carries_streams),
            measure: None,
            remedy: "remove kind",
            key: key("kind"),
        });
    }
    if is_capture {
        all.push(Demand {
            what: "replay a capture".to_owned(),
            is_met: Box::new(|can| can.replays_captures),
            measure: None,
            remedy: "remove capture, and write the frames' lengths (frame) and ports",
            key: key("capture"),
        });
    }
    if traffic.family == Family::Dual {
        all.push(Demand {
            what: "send both families in one traffic".to_owned(),
            is_met: Box::new(|can| can.mixes_families),
            measure: None,
            remedy: match is_capture {
                true => {
                    "make two traffics of the capture, one with the IPv4 addresses and one with the IPv6 \
                     addresses: each takes the packets of its family"
                }
                false => "make two traffics of it, one of each family",
            },
            key: key("destination"),
        });
    }
    if traffic.sizes.is_mixed() && !is_capture {
        all.push(Demand {
            what: "send a mix of frame lengths".to_owned(),
            is_met: Box::new(|can| can.mixes_lengths),
            measure: None,
            remedy: "write one length, or a traffic for each",
            key: key("frame"),
        });
    } else if !is_capture {
        let bytes = traffic.frame_bytes;
        all.push(Demand {
            what: format!("send frames of {bytes} bytes"),
            is_met: Box::new(move |can| bytes <= can.longest_frame_bytes),
            measure: None,
            remedy: "write a shorter frame",
            key: key("frame"),
        });
    }
    all
}

/// Refuses what the device and its tester cannot do, at the key that asks for it.
pub(super) fn abilities(
    device: Option<&dyn Schema>,
    devices: &[&dyn Schema],
    wanted: &Wanted<'_>,
    complaints: &mut Complaints<'_>,
) {
    let Some(device) = device else { return };
    let demands = wanted.demands(&device.abilities());
    let is_beyond_all = |(own, _): &(Traffic, TrafficPlace)| {
        is_one_way(own.measure) && (own.direction.is_both() || own.ports > 2)
    };
    let is_asked_of_none = wanted.placed.iter().any(is_beyond_all);
    let meets_all = |other: &&&dyn Schema| {
        let can = other.abilities();
        !is_asked_of_none
            && demands.iter().all(|demand| (demand.is_met)(&can))
            && wanted.words.iter().all(|word| other.check_word(word).is_ok())
    };
    let able: Vec<&str> = devices.iter().filter(meets_all).map(|own| own.name()).collect();
    for demand in &demands {
        let can = device.abilities();
        if (demand.is_met)(&can) {
            continue;
        }
        let Demand { what, is_met, measure, remedy, key: (field, at) } = demand;
        let meets = |other: &&&dyn Schema| is_met(&other.abilities());
        let others: Vec<&str> = match able.is_empty() {
            true => devices.iter().filter(meets).map(|own| own.name()).collect(),
            false => able.clone(),
        };
        let most = can.longest_frame_bytes;
        let what = match what.starts_with("send frames of") {
            true => format!("{what}, only of {most} at most"),
            false => what.clone(),
        };
        let why = measure.and_then(|measure| device.why_not(measure));
        let what = why.map_or(what.clone(), |why| format!("{what}: {why}"));
        let complaint = Complaint::new(
            format!("the device {:?} cannot {what}", device.name()),
            match others.is_empty() {
                true => "what one device can do".to_owned(),
                false => {
                    let rest =
                        if able.is_empty() { ", which cannot do what else is asked" } else { "" };
                    format!("device = {} for it{}{rest}", one_of(&others), kind_of(*measure))
                }
            },
            // Another device helps where it can do all.
            match able.is_empty() {
                false => format!("change the device, or {remedy}"),
                true => (*remedy).to_owned(),
            },
        );
        complaints.add(at, field, complaint);
    }
}

/// Names, of which one is to be written.
fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// The kind of traffic of which a measure is taken, in words behind the device for it.
const fn kind_of(measure: Option<Measure>) -> &'static str {
    match measure {
        Some(own) if own.is_of_streams() => ", and kind = \"tcp\" in the traffic",
        Some(own) if own.is_of_sessions() => ", and kind = \"sessions\" in the traffic",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Anything, Experiment};

    /// A device that can do nothing special.
    struct Plain;

    impl Schema for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }

        fn abilities(&self) -> Abilities {
            Abilities { replays_captures: true, ..Abilities::BASIC }
        }

        fn why_not(&self, measure: Measure) -> Option<&'static str> {
            (measure == Measure::Soak).then_some("nothing soaks it")
        }

        fn check_word(&self, _: &str) -> Result<(), Complaint> {
            Ok(())
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    const INET: &str = "source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n";

    /// What is said of a file with these keys above and in its traffic, the top from line 4 on.
    fn said(top: &str, traffic: &str) -> String {
        let text = format!(
            "title = \"t\"\ndevice = \"plain\"\nbaseline = \"a\"\n{top}\n[[variant]]\nname = \"a\"\n\
             [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n{traffic}\n\
             [routes]\nstatic = [\"0.0.0.0/0 via 198.19.0.203\", \"::/0 via 2001:2::203\"]\n"
        );
        let devices: [&dyn Schema; 2] = [&Plain, &Anything];
        let read = Experiment::parse(Path::new("x.toml"), &text, &devices);
        read.map_or_else(|problems| problems.to_string(), |_| "nothing".to_owned())
    }

    #[test]
    fn each_demand_is_refused_at_its_own_key_with_its_own_remedy() {
        for (top, field, remedy) in [
            ("latency = true", "latency: ", "remove latency"),
            ("profile = true", "profile: ", "remove profile"),
            ("blocks_per_process = 2", "blocks_per_process: ", "remove blocks_per_process"),
            ("measure = \"ndr\"", "measure: ", "remove the measure"),
            ("measure = [\"rate\", \"soak\"]", "measure: ", "remove the measure"),
        ] {
            let problems = said(top, INET);
            let column = top.find("= ").expect("a value") + 3;
            let place = format!("x.toml:4:{column}: {field}");
            assert!(problems.starts_with(&place), "{place}: {problems}");
            assert!(problems.contains(remedy) && problems.contains("\"anything\""), "{problems}");
            assert_eq!(problems.lines().count(), 1, "each is said once: {problems}");
        }
        for (key, remedy) in [
            ("direction = \"both\"", "remove direction"),
            ("frame = \"imix\"", "a traffic for each"),
            ("frame = 9000", "only of 1518 at most"),
        ] {
            let problems = said("", &format!("{INET}{key}"));
            let field = format!("traffic[1].{}: ", key.split(' ').next().unwrap_or_default());
            assert!(problems.contains(&field) && problems.contains(remedy), "{key}: {problems}");
        }
        let problems = said("measure = \"soak\"", INET);
        assert!(problems.contains("cannot measure soak: nothing soaks it; wanted"), "{problems}");
        let problems = said("measure = \"soak\"\nlatency = true", INET);
        assert!(
            problems.contains("x.toml:5:11: latency: ") && problems.contains("is timed"),
            "{problems}"
        );
        assert_eq!(said("blocks_per_process = 0", INET), "nothing", "one process is what it has");
        assert_eq!(said("profile = false\nlatency = false", INET), "nothing");
    }

    /// A device without streams.
    struct Rings;

    impl Schema for Rings {
        fn name(&self) -> &'static str {
            "rings"
        }

        fn abilities(&self) -> Abilities {
            Abilities { carries_streams: false, opens_sessions: false, ..Abilities::ALL }
        }

        fn check_word(&self, _: &str) -> Result<(), Complaint> {
            Ok(())
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    /// A device that sends frames of one length.
    struct Even;

    impl Schema for Even {
        fn name(&self) -> &'static str {
            "even"
        }

        fn abilities(&self) -> Abilities {
            Abilities { mixes_lengths: false, ..Abilities::ALL }
        }

        fn check_word(&self, _: &str) -> Result<(), Complaint> {
            Ok(())
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    /// "Change the device" led to one that refused something else.
    #[test]
    fn no_other_device_is_a_remedy_where_none_can_do_all() {
        let text = format!(
            "title = \"t\"\ndevice = \"even\"\nbaseline = \"a\"\nmeasure = \"lookup\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
             {INET}kind = \"sessions\"\nframe = \"imix\"\n[routes]\n\
             static = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
        );
        let said = |devices: &[&dyn Schema]| {
            let read = Experiment::parse(Path::new("x.toml"), &text, devices);
            read.expect_err("refused").to_string()
        };
        let alone = said(&[&Even, &Rings]);
        assert!(
            alone.contains("\"rings\" for it, which cannot do what else is asked; write one"),
            "{alone}"
        );
        let able = said(&[&Even, &Rings, &Anything]);
        assert!(able.contains("\"anything\" for it; change the device, or write one"), "{able}");
    }

    /// A device that searches with frames that go one way alone, and no word is known to it but "own".
    struct OneWay(&'static str, bool);

    impl Schema for OneWay {
        fn name(&self) -> &'static str {
            self.0
        }

        fn abilities(&self) -> Abilities {
            let ignores_latency = false;
            Abilities {
                overloads_one_way: self.1,
                needs_search_for_latency: self.1,
                ignores_latency,
                ..Abilities::ALL
            }
        }

        fn check_word(&self, word: &str) -> Result<(), Complaint> {
            let is_known = self.1 || word != "own";
            is_known
                .then_some(())
                .ok_or_else(|| Complaint::new("no such word", "none", "remove it"))
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    /// The device that was named refused the same, or a word of a variant; and a measure was to be added that this one
    /// refuses both ways.
    #[test]
    fn what_is_told_of_frames_both_ways_works_by_itself() {
        let said = |keys: &str, set: &str, traffic: &str| {
            let text = format!(
                "title = \"t\"\ndevice = \"narrow\"\nbaseline = \"a\"\n{keys}\n\
                 [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n{set}\n[[traffic]]\nname = \"t\"\n\
                 {INET}{traffic}\n[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
                 \"198.18.0.0/16 via 198.18.0.203\"]\n"
            );
            let devices: [&dyn Schema; 2] = [&OneWay("narrow", true), &OneWay("wide", false)];
            let read = Experiment::parse(Path::new("x.toml"), &text, &devices);
            read.map_or_else(|problems| problems.to_string(), |_| String::new())
        };
        let both = "direction = \"both\"";
        let (search, own) = ("measure = \"throughput\"", "set = { own = 1 }");
        assert!(
            said(search, "", both)
                .contains("\"wide\" for it; change the device, or remove direction")
        );
        let kept = said(search, own, both);
        assert!(kept.contains("which cannot do what else is asked; remove direction"), "{kept}");
        assert_eq!(said(search, own, ""), "");
        // Bursts go one way on every device.
        let bursts = said("measure = \"back-to-back\"", "", both);
        assert!(bursts.contains("remove direction, or what stands beside it"), "{bursts}");
        assert!(!bursts.contains("change the device"), "{bursts}");
        let mixed = said("measure = [\"throughput\", \"back-to-back\"]", "", both);
        assert!(
            mixed.contains("remove direction") && !mixed.contains("change the device"),
            "{mixed}"
        );
        for (measure, is_alone) in [("back-to-back", true), ("rate", false)] {
            let timed = format!("measure = \"{measure}\"\nlatency = true");
            let (one_way, beside) = (said(&timed, own, ""), said(&timed, own, both));
            assert!(one_way.contains("\"throughput\""), "{one_way}");
            assert!(
                beside.contains("remove latency") && !beside.contains("throughput"),
                "{beside}"
            );
            assert_eq!(beside.contains("taken one way"), is_alone, "{beside}");
        }
    }

    /// Of goodput on a device that has none another one was named that has none either.
    #[test]
    fn a_measure_of_streams_is_sent_to_a_device_that_carries_them() {
        for (measure, kind) in [("goodput", "tcp"), ("byte-cost", "tcp"), ("lookup", "sessions")] {
            for (device, traffic) in
                [("plain", INET.to_owned()), ("rings", format!("{INET}kind = \"{kind}\""))]
            {
                let text = format!(
                    "title = \"t\"\ndevice = \"{device}\"\nbaseline = \"a\"\nmeasure = \"{measure}\"\n\
                     [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
                     {traffic}\n[routes]\nstatic = [\"0.0.0.0/0 via 198.19.0.203\", \
                     \"198.18.0.0/16 via 198.18.0.203\"]\n"
                );
                let devices: [&dyn Schema; 3] = [&Rings, &Plain, &Anything];
                let said = Experiment::parse(Path::new("x.toml"), &text, &devices);
                let said = said.expect_err("refused").to_string();
                let wanted = format!(
                    "x.toml:4:11: measure: the device \"{device}\" cannot measure {measure}; wanted device = \
                     \"anything\" for it, and kind = \"{kind}\" in the traffic"
                );
                assert!(said.starts_with(&wanted), "{said}");
            }
        }
    }

    /// One device was named, where several could.
    #[test]
    fn all_devices_that_can_are_named() {
        let text = format!(
            "title = \"t\"\ndevice = \"plain\"\nbaseline = \"a\"\nmeasure = \"recovery\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
             {INET}[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
        );
        let devices: [&dyn Schema; 4] = [&Rings, &Plain, &Even, &Anything];
        let read = Experiment::parse(Path::new("x.toml"), &text, &devices);
        let said = read.expect_err("refused").to_string();
        let wanted =
            "device = \"rings\", \"even\" or \"anything\" for it; change the device, or remove";
        assert!(said.contains(wanted), "{said}");
    }

    #[test]
    fn a_capture_of_both_families_becomes_two_traffics() {
        let ends = "source = [\"198.18.0.1\", \"2001:2::1\"]\n\
                    destination = [\"198.19.0.1\", \"2001:2:0:8000::1\"]";
        let problems = said("", &format!("capture = \"c.pcap\"\n{ends}"));
        assert!(problems.contains("make two traffics of the capture"), "{problems}");
    }
}
