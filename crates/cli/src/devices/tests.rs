//! What is said about experiment files, right and wrong, with all devices of the program.

use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_experiment::Experiment;
use fwdlab_results::Measure;

use super::schemas;

/// Whether every device is part of this build; else says what is skipped.
fn are_all_there(test: &str) -> bool {
    let are_there = cfg!(all(target_os = "linux", feature = "vm"));
    if !are_there {
        eprintln!("SKIPPED {test}: left out of this build (--features vm)");
    }
    are_there
}

/// Every `NAME.toml` of tests/golden/experiment-errors is refused with the
/// text of `NAME.expected`; `BLESS=1 cargo test` writes the texts anew.
#[test]
fn every_broken_experiment_gets_its_message() {
    if !are_all_there("every_broken_experiment") {
        return;
    }
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/experiment-errors");
    let mut cases: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    cases.sort();
    assert!(cases.len() > 60, "only {} cases found", cases.len());
    // the list grows; the messages stay
    let algorithms: Vec<_> =
        fwdlab_fib::Fib::<fwdlab_fib::Inet>::new(0).unwrap().algorithms().collect();
    let algorithms = algorithms.join(", ");
    let mut wrong = Vec::new();
    for case in cases {
        let text = fs::read_to_string(&case).unwrap();
        let name = Path::new(case.file_name().unwrap());
        let got = match Experiment::parse(name, &text, &schemas()) {
            Ok(_) => "accepted\n".to_owned(),
            Err(problems) => format!("{problems}\n").replace(&algorithms, "(the algorithms)"),
        };
        let expected = case.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &got).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if got != wanted || got == "accepted\n" {
            wrong.push(format!("{}: got\n{got}wanted\n{wanted}", name.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shipped_experiment_is_right() {
    if !are_all_there("every_shipped_experiment") {
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut read = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let text = fs::read_to_string(&path).unwrap();
            Experiment::parse(&path, &text, &schemas()).unwrap();
            read += 1;
        }
    }
    assert!(read >= 15, "{read} experiments");
}

/// What an experiment asks for: keys at its top, and keys of its traffic.
type Asked = (&'static str, &'static str, &'static str);

/// Whether a device takes an experiment that asks for these.
fn takes(device: &str, top: &str, traffic: &str) -> bool {
    let needs = match device {
        "vm" => "[vm]\nkernel = \"k\"\n",
        _ => "",
    };
    // More sessions than a guest's table has room for, and no more streams than there may be.
    let sources = if traffic.contains("\"tcp\"") && !traffic.contains("protocol") { 2 } else { 50 };
    let text = format!(
        "title = \"t\"\ndevice = {device:?}\nbaseline = \"a\"\n{top}\n{needs}\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
         source = \"198.18.10.1-198.18.10.{sources}:2000\"\ndestination = \"198.19.10.1-198.19.10.100:2000\"\n{traffic}\n\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n\
         generate = 100\n"
    );
    Experiment::parse(Path::new("x.toml"), &text, &schemas()).is_ok()
}

/// The keys of a traffic of which a measure is taken.
fn kind_for(measure: Measure) -> &'static str {
    match measure {
        _ if measure.is_of_sessions() => "kind = \"sessions\"",
        _ if measure.is_of_streams() => "kind = \"tcp\"",
        Measure::Convergence => "load = \"1Mpps\"",
        _ => "",
    }
}

/// What there is beside measures.
const BESIDE: [Asked; 10] = [
    ("both ways at once", "", "direction = \"both\""),
    ("four ports", "", "ports = 4"),
    ("a full mesh of them", "", "direction = \"mesh\""),
    ("a mix of frame lengths", "", "frame = \"imix\""),
    ("flows skewed on purpose", "", "order = \"zipf(1.0)\""),
    ("sessions of UDP", "measure = \"insertion\"", "kind = \"sessions\""),
    (
        "sessions of TCP",
        "measure = \"insertion\"",
        "kind = \"sessions\"\nprotocol = \"tcp\"\ndirection = \"both\"",
    ),
    ("latency at a rate that is searched for", "measure = \"throughput\"\nlatency = true", ""),
    ("latency at a given load", "latency = true", ""),
    ("routes that go on changing", "[churn]\nflap = 1\nrates = [0, 1000]", ""),
];

/// What a FreeBSD guest refuses beyond that: which kernel it is shows when it is looked into
/// (`a_load_that_no_freebsd_guest_sends_is_refused_where_it_stands` and `sessions::check` of the device).
const NOT_IN_FREEBSD: [&str; 3] = ["both ways at once", "four ports", "sessions of TCP"];

/// The tables of docs/measures.md: what each device takes, and why not.
fn by_device() -> String {
    let devices = schemas();
    let guests = |name: &'static str| match name {
        "vm" => vec![(name, "`vm`, Linux".to_owned()), (name, "`vm`, FreeBSD".to_owned())],
        _ => vec![(name, format!("`{name}`"))],
    };
    let columns: Vec<_> = devices.iter().flat_map(|own| guests(own.name())).collect();
    let head = |what: &str| {
        let names: Vec<&str> = columns.iter().map(|(_, name)| &**name).collect();
        format!("| {what} | {} |\n|---|{}\n", names.join(" | "), ":-:|".repeat(names.len()))
    };
    let row = |what: &str, top: &str, traffic: &str| {
        let cells = columns.iter().map(|(device, name)| {
            let is_out = name.ends_with("FreeBSD") && NOT_IN_FREEBSD.contains(&what);
            if takes(device, top, traffic) && !is_out { "yes" } else { "" }
        });
        let is_wrong = !columns.iter().any(|(device, _)| takes(device, top, traffic));
        assert!(!is_wrong, "no device takes {what}");
        format!("| {what} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = head("measure");
    for measure in Measure::ALL {
        let top = format!("measure = \"{measure}\"");
        text += &row(&format!("`{measure}`"), &top, kind_for(measure));
    }
    text += &format!("\n{}", head("beside them"));
    for (what, top, traffic) in BESIDE {
        text += &row(what, top, traffic);
    }
    text += "\n| device | has no | because |\n|---|---|---|\n";
    for device in &devices {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for measure in Measure::ALL {
            let top = format!("measure = \"{measure}\"");
            if takes(device.name(), &top, kind_for(measure)) {
                continue;
            }
            let why = device.why_not(measure);
            let why = why.unwrap_or_else(|| panic!("{}: why no {measure}?", device.name()));
            let name = format!("`{measure}`");
            match reasons.iter_mut().find(|(own, _)| *own == why) {
                Some((_, measures)) => measures.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
        for (why, measures) in reasons {
            text += &format!("| `{}` | {} | {why} |\n", device.name(), measures.join(", "));
        }
    }
    text
}

/// `BLESS=1 cargo test` writes the tables anew.
#[test]
fn the_table_of_measures_by_device_is_what_the_devices_say() {
    if !are_all_there("the_table_of_measures_by_device") {
        return;
    }
    let devices: Vec<&str> = schemas().iter().map(|own| own.name()).collect();
    for device in devices {
        assert!(takes(device, "", ""), "{device}: the experiment that asks for nothing is right");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measures.md");
    let text = fs::read_to_string(&path).unwrap();
    let [from, to] = ["<!-- from the devices -->\n", "<!-- end -->\n"];
    let (before, rest) = text.split_once(from).expect("where the tables begin");
    let (tables, after) = rest.split_once(to).expect("where they end");
    let now = by_device();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{before}{from}{now}{to}{after}")).unwrap();
    } else {
        assert_eq!(tables, now, "BLESS=1 writes them anew");
    }
}
