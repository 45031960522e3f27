//! What other people's tools are given: each reads a series by its name alone, and refuses or mixes up what does not
//! keep to its format. docs/history.md says which versions of them were fed.

use std::collections::BTreeSet;

use fwdlab_history::{History, Key, Options, Point, find, render};
use fwdlab_results::Measure;
use serde_json::Value;

fn key(machine: &str) -> Key {
    Key {
        machine: machine.into(),
        family: "inet".into(),
        unit: "frames/s".into(),
        ..Key::default()
    }
}

/// Points of two revisions, the second half as much again.
fn points(series: &Key, level: f64) -> Vec<Point> {
    let point = |revision: &str, level: f64| Point {
        series: series.clone(),
        revision: revision.into(),
        date: Some("2026-10-01T00:00:00Z".into()),
        values: [0.99, 1.0, 1.02].map(|own| own * level).to_vec(),
        ..Point::default()
    };
    vec![point("r300000", level), point("r300001", 1.5 * level)]
}

fn history(all: &[(Key, f64)]) -> History {
    let points = all.iter().flat_map(|(key, level)| points(key, *level));
    find(points, &[], &Options::default())
}

/// Series whose names are alike, empty, long, of several lines, quoted, and hidden in part.
fn odd() -> History {
    let long = "L".repeat(1_100);
    let with = |machine: &str, bench: &str, configuration: &str| Key {
        bench: bench.into(),
        configuration: configuration.into(),
        ..key(machine)
    };
    let nameless = Key { family: String::new(), ..key("") };
    history(&[
        (with("A B", "", "C"), 3e6),
        (with("A", "", "B C"), 4e6),
        (with("A", "B", "C"), 5e6),
        (nameless, 1e-7),
        (key(&format!("{long}a")), 1e12),
        (key(&format!("{long}b")), 2e12),
        (key("two\nlines"), 6e6),
        (key("a \"quoted\", | piped `name`"), 7e6),
        (key("Straße 東京 \u{200b}\u{202e}"), 8e6),
    ])
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What a printer of text that was a stranger's does to it.
fn printed(text: &str) -> Value {
    parsed(&fwdlab_guard::words::visible(text))
}

/// A list that a tool takes: each name once, none empty, none of more than Bencher's 1,024 bytes, none that breaks a
/// line.
fn are_names<'a>(names: impl Iterator<Item = &'a str>, count: usize) {
    let names: Vec<&str> = names.collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), count, "{names:?}");
    assert_eq!(names.len(), count);
    for name in names {
        assert!(!name.trim().is_empty() && name.len() <= 1_024, "{} bytes: {name}", name.len());
        assert!(!name.chars().any(char::is_control), "{name:?}");
    }
}

#[test]
fn every_series_is_an_entry_of_its_own_whatever_it_is_called() {
    let own = odd();
    let github = printed(&render::github_action_benchmark(&own).unwrap());
    let entries = github["customBiggerIsBetter"].as_array().unwrap();
    are_names(entries.iter().map(|own| own["name"].as_str().unwrap()), 9);
    let bencher = printed(&render::bencher(&own).unwrap());
    are_names(bencher.as_object().unwrap().keys().map(String::as_str), 9);
    let csv = render::otava(&own);
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let heads = rows.headers().unwrap().clone();
    are_names(heads.iter().skip(2), 9);
    assert_eq!(rows.records().map(|row| row.unwrap().len()).collect::<Vec<_>>(), [11, 11]);
    // the same figure below the same name in all three
    let last = csv::Reader::from_reader(csv.as_bytes()).records().last().unwrap().unwrap();
    for (name, figure) in heads.iter().zip(&last).skip(2) {
        let entry = entries.iter().find(|own| own["name"] == name).unwrap();
        assert_eq!(entry["value"].as_f64(), figure.parse().ok(), "{name}");
        assert_eq!(bencher[name]["throughput"]["value"], entry["value"], "{name}");
    }
}

#[test]
fn names_stay_as_they_are_where_they_tell_series_apart() {
    let own = history(&[(key("Atom"), 1e6), (key("Xeon"), 2e6)]);
    let bencher = parsed(&render::bencher(&own).unwrap());
    assert_eq!(bencher.as_object().unwrap().keys().collect::<Vec<_>>(), ["Atom IPv4", "Xeon IPv4"]);
}

#[test]
fn the_history_as_json_is_json_after_a_terminal_was_spared() {
    let own = odd();
    let text = render::json(&own).unwrap();
    assert_eq!(printed(&text), parsed(&text));
    let names = parsed(&text)["series"].as_array().unwrap().clone();
    assert!(names.iter().any(|own| own["name"] == "Straße 東京 \u{200b}\u{202e} IPv4"));
}

/// Every measure: in the list in which a rise is good, or the one in which it is bad; in Bencher below a name that it takes
/// for a measure's, with bounds in their order.
#[test]
fn each_measure_is_where_its_better_way_is() {
    let own_measures = Measure::ALL.map(|measure| Key {
        measure: measure.name().into(),
        unit: measure.unit().into(),
        ..key("Atom")
    });
    let costs =
        ["ns/frame", "instructions/frame"].map(|unit| Key { unit: unit.into(), ..key("Atom") });
    let all: Vec<(Key, f64)> =
        own_measures.into_iter().chain(costs).chain([key("Atom")]).map(|key| (key, 1e3)).collect();
    let own = history(&all);
    let github = parsed(&render::github_action_benchmark(&own).unwrap());
    let bencher = parsed(&render::bencher(&own).unwrap());
    assert_eq!(bencher.as_object().unwrap().len(), own.series.len());
    for series in &own.series {
        let (list, other) = match series.key.is_lower_better() {
            true => ("customSmallerIsBetter", "customBiggerIsBetter"),
            false => ("customBiggerIsBetter", "customSmallerIsBetter"),
        };
        let name = series.key.name();
        let of = |list: &str| github[list].as_array().unwrap().iter().find(|e| e["name"] == *name);
        let entry = of(list).unwrap_or_else(|| panic!("{name} is not in {list}"));
        assert!(of(other).is_none(), "{name}");
        assert_eq!(entry["unit"], *series.key.unit);
        assert_eq!(entry["range"], "1485..1530");
        let (measure, figure) = bencher[&name].as_object().unwrap().iter().next().unwrap();
        let of = |field: &str| figure[field].as_f64().unwrap();
        assert_eq!([of("lower_value"), of("value"), of("upper_value")], [1485.0, 1500.0, 1530.0]);
        let is_slug = measure.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(is_slug && measure.len() <= 64, "{measure:?}");
        // Bencher's own thresholds: of throughput what falls, of latency what rises
        assert!(measure != "throughput" || !series.key.is_lower_better(), "{name}");
        assert!(measure != "latency" || series.key.is_lower_better(), "{name}");
    }
}
