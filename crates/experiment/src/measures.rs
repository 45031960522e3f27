//! `measure`: what is measured with each traffic; and `[benchmarks]`: how, where there is a choice.

use std::ops::Range;
use std::time::Duration;

use fwdlab_results::Measure;

use super::fields::{Found, Section, integer_of, nearest, shown, wrong_kind};
use super::model::{Benchmarks, Experiment, Traffic};
use super::problem::{Complaint, Complaints};
use super::quantity;
use super::schema::TrafficPlace;
use super::sessions;

/// What a list of measures looks like.
const LIST: &str = "[\"throughput\", \"loss-curve\"]";
/// Loads of a curve, as shares of the maximum receive rate.
const LOADS: &str = "\"5%\", or a list such as [\"50%\", \"90%\", \"100%\", \"110%\"]";
/// The highest load of a curve, as a share of the maximum receive rate, unless loads are listed.
const TOP: f64 = 1.2;
/// Most loads of a curve: each takes a trial of its own, twice.
const MOST_LOADS: usize = 200;
/// A load above this share of the maximum receive rate says nothing new.
const MOST_LOAD: f64 = 10.0;
/// The keys of `[benchmarks]`, each with the measure that reads it.
const KEYS: [(&str, Measure); 5] = [
    ("loads", Measure::LossCurve),
    ("overload", Measure::Recovery),
    ("relief", Measure::Recovery),
    ("soak_load", Measure::Soak),
    ("soak", Measure::Soak),
];
/// Nobody waits longer for one trial.
const LONGEST_SOAK: Duration = Duration::from_secs(7 * 24 * 3600);

/// Reads one measure or a list of them; the forwarding rate when the file has none.
pub(super) fn read(
    top: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<Vec<Measure>>> {
    let usual = Found { field: "measure".to_owned(), at: 0..0, value: vec![Measure::Rate] };
    let Some(found) = top.value("measure") else { return Some(usual) };
    let (field, at) = (found.field.clone(), found.at.clone());
    if found.value.as_array().is_none() {
        let one = found.into_text("\"ndr\"", complaints)?;
        let value = vec![complaints.keep(&at, &field, named(one.value))?];
        return Some(Found { field, at, value });
    }
    let mut value = Vec::new();
    let list = top.list("measure", LIST, complaints);
    let count = list.len();
    for one in list {
        let one = one.into_text(LIST, complaints)?;
        let measure = complaints.keep(&one.at, &one.field, named(one.value))?;
        if value.contains(&measure) {
            let complaint = Complaint::new(
                format!("{:?} stands here a second time", measure.name()),
                "each measure once",
                "remove one of the two",
            );
            complaints.add(&one.at, &one.field, complaint);
            continue;
        }
        value.push(measure);
    }
    if count == 0 {
        let complaint =
            Complaint::new("the list is empty", format!("measures such as {LIST}"), "name one");
        complaints.add(&at, &field, complaint);
        return None;
    }
    Some(Found { field, at, value })
}

/// What to write instead of a name that is no measure's, but has a meaning.
fn other_words(name: &str) -> Option<String> {
    let is_measure = |name: &str| Measure::ALL.iter().any(|measure| measure.name() == name);
    let parts: Vec<&str> = name.split([',', ' ', '+']).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 && parts.iter().all(|part| is_measure(part)) {
        return Some(format!("write measure = {parts:?}"));
    }
    match name.to_lowercase().as_str() {
        "latency" | "delay" | "jitter" => {
            Some("write latency = true: it is measured beside a rate".to_owned())
        }
        "loss" => Some("did you mean \"loss-curve\"?".to_owned()),
        "cost" => Some("remove it: the device's cost is measured beside every rate".to_owned()),
        _ => None,
    }
}

fn named(name: &str) -> Result<Measure, Complaint> {
    let names = || Measure::ALL.iter().map(|measure| measure.name());
    Measure::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
        Complaint::new(
            format!("there is no measure {name:?}"),
            format!("one of {}", names().collect::<Vec<_>>().join(", ")),
            other_words(name).unwrap_or_else(|| match nearest(name, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "remove it to measure the forwarding rate".to_owned(),
            }),
        )
    })
}

/// Each traffic with its measure: once for each of several, named after it.
pub(super) fn join(
    placed: Vec<(Traffic, TrafficPlace)>,
    measures: &[Measure],
) -> Vec<(Traffic, TrafficPlace)> {
    let mut joined = Vec::new();
    for (traffic, place) in placed {
        for &measure in measures {
            let name = match measures {
                [_] => traffic.name.clone(),
                _ => format!("{}-{measure}", traffic.name),
            };
            joined.push((Traffic { name, measure, ..traffic.clone() }, place.clone()));
        }
    }
    joined
}

/// Reads `[benchmarks]`.
pub(super) fn read_benchmarks(
    top: &mut Section<'_>,
    measures: &[Measure],
    complaints: &mut Complaints<'_>,
) -> Benchmarks {
    let mut own = Benchmarks::default();
    let Some(at) = top.value("benchmarks").map(|found| found.at) else { return own };
    let Some(mut section) = top.table("benchmarks", complaints) else { return own };
    check_use(&mut section, at, measures, complaints);
    own.loads = read_loads(&mut section, complaints).unwrap_or(own.loads);
    let mut share = |key: &'static str, (low, high): (f64, f64), usual: f64| {
        let Some(found) = section.value(key) else { return usual };
        let usual_text = format!("\"{}%\"", (usual * 100.0).round());
        let fits = |percent: f64| (low * 100.0..=high * 100.0).contains(&percent);
        let example = quantity::share_meant(&shown(found.value), &usual_text, fits);
        let Some(found) = found.into_text(&example, complaints) else { return usual };
        let result =
            percent(found.value).filter(|own| (low..=high).contains(own)).ok_or_else(|| {
                Complaint::new(
                    format!("{:?} does not fit", found.value),
                    format!("a percentage from {}% to {}%", low * 100.0, high * 100.0),
                    format!("write {key} = \"{}%\"", (usual * 100.0).round()),
                )
            });
        complaints.keep(&found.at, &found.field, result).unwrap_or(usual)
    };
    own.overload = share("overload", (1.01, MOST_LOAD), own.overload);
    own.relief = share("relief", (0.01, 0.99), own.relief);
    own.soak_load = share("soak_load", (0.01, 1.0), own.soak_load);
    if let Some(found) = section.value("soak")
        // A number alone means seconds, as everywhere.
        && let example = integer_of(found.value).map_or("\"10m\"".to_owned(), |s| format!("\"{s}s\""))
        && let Some(found) = found.into_text(&example, complaints)
    {
        let result = quantity::duration_up_to(
            found.value,
            (Duration::from_millis(100), LONGEST_SOAK),
            "a soak takes this time in every trial: choose it with the number of blocks",
        );
        own.soak = complaints.keep(&found.at, &found.field, result).unwrap_or(own.soak);
    }
    section.finish(complaints);
    own
}

/// The table, and each key of it, is there for a measure of this experiment.
fn check_use(
    section: &mut Section<'_>,
    at: Range<usize>,
    measures: &[Measure],
    complaints: &mut Complaints<'_>,
) {
    if !KEYS.iter().any(|(_, of)| measures.contains(of)) {
        let complaint = Complaint::new(
            "no measure of this experiment asks for it",
            "[benchmarks] beside measure = \"loss-curve\", \"recovery\" or \"soak\"",
            "add the measure, or remove the table",
        );
        complaints.add(&at, "benchmarks", complaint);
        return;
    }
    for (key, of) in KEYS {
        if measures.contains(&of) {
            continue;
        }
        let Some((field, at)) = section.place(key) else { continue };
        let complaint = Complaint::new(
            "no measure of this experiment asks for it",
            format!("{key} beside measure = \"{of}\""),
            format!("add \"{of}\" to measure, or remove {key}"),
        );
        complaints.add(&at, &field, complaint);
    }
}

/// A step, or a list of loads.
fn read_loads(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<Vec<f64>> {
    let found = section.value("loads")?;
    let wrong = |what: String| {
        Complaint::new(
            what,
            format!("percentages of the maximum receive rate: {LOADS}"),
            "write loads = \"5%\"",
        )
    };
    let (field, at) = (found.field.clone(), found.at.clone());
    if found.value.as_array().is_none() {
        let Some(text) = found.value.as_str() else {
            complaints.add(
                &at,
                &field,
                wrong_kind(found.value, "a percentage or a list", "\"5%\""),
            );
            return None;
        };
        let least = TOP / MOST_LOADS as f64;
        // One load is no curve.
        let step = percent(text).filter(|step| (least..=TOP / 2.0).contains(step));
        let result =
            step.ok_or_else(|| wrong(format!("{text:?} is no step from one load to the next")));
        return complaints.keep(&at, &field, result).map(Benchmarks::steps);
    }
    let mut loads: Vec<f64> = Vec::new();
    let list = section.list("loads", LOADS, complaints);
    let count = list.len();
    for one in list {
        let share = one.value.as_str().and_then(percent);
        match share.filter(|share| (0.001..=MOST_LOAD).contains(share) && !loads.contains(share)) {
            Some(share) => loads.push(share),
            None => {
                let complaint = match integer_of(one.value) {
                    Some(number) => {
                        let what = format!("{number} is no load");
                        Complaint { remedy: format!("write it as \"{number}%\""), ..wrong(what) }
                    }
                    None => wrong(format!("{} is no load, or stands twice", shown(one.value))),
                };
                complaints.add(&one.at, &one.field, complaint);
            }
        }
    }
    if !(2..=MOST_LOADS).contains(&count) {
        let what = match count {
            1 => "1 load is no curve".to_owned(),
            count => format!("{count} loads are no curve"),
        };
        complaints.add(&at, &field, wrong(what));
    }
    // Of loads that are wrong it was said above.
    if loads.len() < 2 || count > MOST_LOADS {
        return None;
    }
    loads.sort_by(f64::total_cmp);
    Some(loads)
}

/// `110%` as 1.1.
fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim_end().parse::<f64>().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number / 100.0)
}

impl Experiment {
    /// The time that a traffic's measure takes at least in each trial, beside the warm-up and the frames that are
    /// counted: the loads of a search or a curve, an overload, a soak, routes that change.
    pub fn own_time(&self, traffic: &Traffic) -> Duration {
        /// Loads of a binary search, from what lies between the bounds of its range to half a per cent.
        const BINARY: f64 = 8.0;
        /// A rate is decided by two loads: one that is borne, and one that is not.
        const DECIDED: f64 = 2.0;
        /// What the device forwards of all that the tester can send is looked at first.
        const FIRST: f64 = 0.2;
        if traffic.sessions.is_some() {
            return sessions::time_of_rounds(traffic, [self.warmup, self.duration])
                .saturating_sub(self.warmup + self.duration);
        }
        let (times, more) = match traffic.measure {
            Measure::Throughput => (FIRST + BINARY, Duration::ZERO),
            Measure::Recovery => (FIRST + BINARY + 2.0, Duration::ZERO),
            Measure::Ndr | Measure::Pdr => (FIRST + DECIDED, Duration::ZERO),
            Measure::Soak => (FIRST + DECIDED, self.benchmarks.soak),
            Measure::LossCurve | Measure::Reset => (FIRST + 2.0, Duration::ZERO),
            Measure::BackToBack => (FIRST, Duration::ZERO),
            Measure::Convergence => (1.0, Duration::ZERO),
            _ => (0.0, Duration::ZERO),
        };
        self.duration.mul_f64(times) + more
    }
}

impl Benchmarks {
    /// Loads this far apart, up to [`TOP`].
    fn steps(step: f64) -> Vec<f64> {
        let count = (TOP / step + 1e-9) as usize;
        (1..=count.max(1)).map(|at| at as f64 * step).collect()
    }
}

impl Default for Benchmarks {
    fn default() -> Self {
        Self {
            loads: Self::steps(0.05),
            overload: 1.1,
            relief: 0.5,
            soak_load: 0.9,
            soak: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use fwdlab_results::Measure;

    use crate::{Abilities, Anything, Benchmarks, Experiment, Problems, Schema};

    fn text(keys: &str, tables: &str) -> String {
        format!(
            "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\n\
             name = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\n\
             destination = \"198.19.0.1:7\"\n[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n\
             {tables}\n"
        )
    }

    fn with(keys: &str, tables: &str) -> Result<Experiment, Problems> {
        Experiment::parse(Path::new("lab/rfc.toml"), &text(keys, tables), &[&Anything])
    }

    #[test]
    fn each_traffic_runs_with_each_measure() {
        let experiment = with("measure = [\"throughput\", \"back-to-back\"]", "").unwrap();
        let shown: Vec<_> =
            experiment.traffics.iter().map(|t| (t.name.as_str(), t.measure)).collect();
        let wanted =
            [("inet-throughput", Measure::Throughput), ("inet-back-to-back", Measure::BackToBack)];
        assert_eq!(shown, wanted);
        assert_eq!(experiment.measure, Measure::Rate);
        assert_eq!(experiment.own_measure(&experiment.traffics[1]), Measure::BackToBack);
        let experiment = with("measure = \"soak\"", "[benchmarks]\nsoak = \"8h\"").unwrap();
        assert_eq!(
            (experiment.measure, experiment.traffics[0].name.as_str()),
            (Measure::Soak, "inet")
        );
        assert_eq!(experiment.own_measure(&experiment.traffics[0]), Measure::Rate);
        assert_eq!(experiment.benchmarks.soak, Duration::from_secs(8 * 3600));
    }

    /// A campaign ran, and its journal could not be read: "is no name; restore the file".
    #[test]
    fn a_name_has_room_for_its_measure() {
        let named = |length: usize| {
            let long = format!("name = \"{}\"", "x".repeat(length));
            let text =
                text("measure = [\"ndr\", \"back-to-back\"]", "").replace("name = \"inet\"", &long);
            Experiment::parse(Path::new("lab/rfc.toml"), &text, &[&Anything])
        };
        assert!(named(64 - "-back-to-back".len()).is_ok());
        let said = named(55).unwrap_err().to_string();
        assert!(said.contains("rfc.toml:9:8: traffic[1].name: "), "{said}");
        assert!(said.contains("shorten name by 4 or more"), "{said}");
        assert_eq!(said.lines().filter(|line| line.contains("rfc.toml")).count(), 1, "{said}");
    }

    #[test]
    fn a_curve_has_steps_of_five_per_cent_or_those_given() {
        let loads = Benchmarks::default().loads;
        assert_eq!(loads.len(), 24);
        assert!((loads[0] - 0.05).abs() < 1e-12 && (loads[23] - 1.2).abs() < 1e-9, "{loads:?}");
        let keys = "measure = \"loss-curve\"";
        let listed = with(keys, "[benchmarks]\nloads = [\"100%\", \"50%\"]").unwrap();
        assert_eq!(listed.benchmarks.loads, [0.5, 1.0]);
        let steps = with(keys, "[benchmarks]\nloads = \"40%\"").unwrap();
        assert_eq!(steps.benchmarks.loads.len(), 3);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let curve = "measure = \"loss-curve\"";
        for (keys, tables, wanted) in [
            ("measure = \"loss-kurve\"", "", "did you mean \"loss-curve\"?"),
            ("measure = [\"ndr\", \"ndr\"]", "", "stands here a second time"),
            ("measure = []", "", "the list is empty"),
            ("measure = 3", "", "lab/rfc.toml"),
            ("", "[benchmarks]\nsoak = \"1s\"", "no measure of this experiment asks for it"),
            ("measure = \"back-to-back\"", "[benchmarks]\nsoak = \"1s\"", "or remove the table"),
            (curve, "[benchmarks]\nloads = \"0.1%\"", "is no step"),
            (curve, "[benchmarks]\nloads = [\"50%\"]", "1 load is no curve"),
            (curve, "[benchmarks]\nloads = \"100%\"", "is no step"),
            (curve, "[benchmarks]\noverload = 110", "write it as \"110%\""),
            (curve, "[benchmarks]\nsoak = \"10\"", "write \"10s\""),
            ("measure = \"soak\"", "[benchmarks]\nsoak = 10", "write it as \"10s\""),
            (curve, "[benchmarks]\nloads = [10, \"50%\"]", "10 is no load; wanted"),
            (curve, "[benchmarks]\nloads = [10, \"50%\"]", "write it as \"10%\""),
            (curve, "[benchmarks]\nloads = [\"50%\", \"50%\"]", "stands twice"),
            (curve, "[benchmarks]\nloads = 5", "a percentage or a list"),
            (curve, "[benchmarks]\noverload = \"90%\"", "a percentage from 101% to 1000%"),
            (curve, "[benchmarks]\nrelief = \"110%\"", "a percentage from 1% to 99%"),
            (curve, "[benchmarks]\nsoak = \"100d\"", "is no time"),
            (curve, "[benchmarks]\nsoak = \"1000h\"", "out of range"),
            (curve, "[benchmarks]\nsteps = 1", "steps"),
            (
                "measure = [\"rate\", \"soak\"]",
                "[churn]\nflap = 1\nrates = [1]",
                "no learned routes",
            ),
        ] {
            let problems = with(keys, tables).unwrap_err().to_string();
            assert!(problems.contains(wanted), "{keys} {tables}: {problems}");
            assert!(problems.contains("rfc.toml:"), "{problems}");
        }
    }

    /// A soak of eight hours was asked for, and none ran: nothing was said.
    #[test]
    fn a_key_that_no_measure_reads_is_refused() {
        let tables = "[benchmarks]\nloads = \"20%\"\nsoak = \"8h\"\nrelief = \"55%\"";
        let said = with("measure = \"loss-curve\"", tables).unwrap_err().to_string();
        assert!(said.contains("rfc.toml:16:8: benchmarks.soak: no measure of this"), "{said}");
        assert!(said.contains("add \"soak\" to measure, or remove soak"), "{said}");
        assert!(said.contains("rfc.toml:17:10: benchmarks.relief: no measure of this"), "{said}");
        assert!(said.contains("add \"recovery\" to measure, or remove relief"), "{said}");
        assert!(!said.contains("loads"), "{said}");
    }

    #[test]
    fn what_is_said_of_a_fault_is_not_said_again_of_what_follows_from_it() {
        let twice = with("measure = [\"soak\", \"soak\"]", "").unwrap_err().to_string();
        assert!(!twice.contains("two pairs"), "{twice}");
        let loads = "[benchmarks]\nloads = [\"100kpps\", \"50kpps\"]";
        let none = with("measure = \"loss-curve\"", loads).unwrap_err().to_string();
        assert!(none.contains("is no load") && !none.contains("no curve"), "{none}");
    }

    #[test]
    fn a_soak_takes_its_own_time_in_each_trial() {
        let soak = with("measure = \"soak\"", "[benchmarks]\nsoak = \"168h\"").unwrap();
        assert!(soak.own_time(&soak.traffics[0]) >= Duration::from_secs(168 * 3600));
        let rate = with("", "").unwrap();
        assert_eq!(rate.own_time(&rate.traffics[0]), Duration::ZERO);
    }

    #[derive(Debug)]
    struct Plain;

    impl Schema for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }

        fn abilities(&self) -> Abilities {
            Abilities::BASIC
        }

        fn check_word(&self, _: &str) -> Result<(), crate::problem::Complaint> {
            Ok(())
        }

        fn check_value(&self, _: &str, _: &str) -> Result<(), crate::problem::Complaint> {
            Ok(())
        }
    }

    #[test]
    fn a_device_that_cannot_says_so_and_names_one_that_can() {
        let text = format!("device = \"plain\"\n{}", text("measure = \"back-to-back\"", ""));
        let problems = Experiment::parse(Path::new("lab/rfc.toml"), &text, &[&Plain, &Anything])
            .unwrap_err()
            .to_string();
        assert!(problems.contains("\"plain\" cannot measure back-to-back"), "{problems}");
        assert!(problems.contains("device = \"anything\""), "{problems}");
    }
}
