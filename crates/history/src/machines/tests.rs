use super::*;
use crate::find::tests::{points, step};
use crate::{Options, find};
use fwdlab_results::environment::{Cache, Environment, Machine};

/// What two machines show that a cloud calls by one name.
fn cloud(flags: &[&str], third_level: u64) -> Traits {
    let cache =
        |level: u32, kind: &str, size_bytes: u64| Cache { level, kind: kind.into(), size_bytes };
    let machine = Machine {
        processor: "AMD EPYC".into(),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        caches: vec![cache(1, "Data", 32 << 10), cache(3, "Unified", third_level)],
        ..Machine::default()
    };
    Environment { machine, ..Environment::default() }.hardware()
}

fn on(hardware: &Traits, host: &str, days: &str, points: Vec<Point>) -> Vec<Point> {
    let of_day = |(at, point): (usize, Point)| Point {
        hardware: hardware.clone(),
        host: host.to_owned(),
        date: Some(format!("{days}-{:02}T00:00:00Z", at + 1)),
        ..point
    };
    points.into_iter().enumerate().map(of_day).collect()
}

/// Their difference was a change of the software.
#[test]
fn two_machines_of_one_name_are_told_apart_and_named() {
    let (old, new) = (cloud(&["avx2", "rdtscp"], 32 << 20), cloud(&["avx2", "avx512f"], 16 << 20));
    let first = on(&old, "", "2026-01", points("AMD EPYC (2 cores)", "nat", &step(15, 15, 1.0)));
    let mut second = on(&new, "", "2026-02", points("AMD EPYC (2 cores)", "nat", &[0.8e6; 15]));
    for (at, point) in second.iter_mut().enumerate() {
        point.revision = format!("r{}", 310_000 + at);
    }
    let all = [second, first].concat();
    let history = find(all.clone(), &[], &Options::default());
    assert!(history.alerts.is_empty() && history.suspects.is_empty(), "{:?}", history.alerts);
    let names: Vec<&str> = history.series.iter().map(|own| own.key.machine.as_str()).collect();
    assert_eq!(names, ["AMD EPYC (2 cores)", "AMD EPYC (2 cores) [L3 16384 KiB, avx512f]"]);
    assert_eq!(history.series[0].points[0].revision, "r300000", "the first keeps its name");
    let [warning] = history.warnings.as_slice() else { panic!("{:?}", history.warnings) };
    assert!(warning.contains("'AMD EPYC (2 cores)' is the name of 2 machines"), "{warning}");
    assert!(
        warning.contains("avx512f]' (15 points)") && warning.contains("kept apart"),
        "{warning}"
    );
    for text in [
        crate::render::json(&history).unwrap(),
        crate::render::markdown(&history),
        crate::render::html(&history, std::path::Path::new("")).unwrap(),
    ] {
        assert!(text.contains("is the name of 2 machines"), "{text}");
    }
    // a part is asked for by the name that it has
    let only = Options { only: vec!["avx512f".into()], ..Options::default() };
    assert_eq!(find(all, &[], &only).series.len(), 1);
}

#[test]
fn points_of_which_nothing_is_known_are_of_the_first_machine() {
    let new = cloud(&["avx2"], 16 << 20);
    let early = points("m", "nat", &[1e6; 4]);
    let late = on(&new, "", "2026-02", points("m", "nat", &[1e6; 4]));
    let history = find([early, late].concat(), &[], &Options::default());
    assert_eq!((history.series.len(), history.series[0].points.len()), (1, 8));
    assert_eq!(history.warnings, Vec::<String>::new());
}

/// The controller is the same, the device behind it is not.
#[test]
fn devices_behind_one_controller_are_told_apart() {
    let device = |processor: &str| {
        let facts = [("processor", processor), ("cores", "4")];
        let device = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Environment { device, ..Environment::default() }.hardware()
    };
    let (atom, xeon) = (device("Atom C2558"), device("Xeon E5-2650"));
    let mut both = on(&atom, "", "2026-01", points("controller", "nat", &[1e6; 3]));
    both.extend(on(&xeon, "", "2026-02", points("controller", "nat", &[4e6; 3])));
    assert_eq!(tell_apart(&mut both).len(), 1);
    assert_eq!(both[3].series.machine, "controller [device Xeon E5-2650 (4 cores)]");
}

/// The seeds' own: a host name and an architecture.
#[test]
fn a_host_name_is_asked_about_and_an_architecture_told_apart() {
    let uname = |host: &str, end: &str| {
        of_uname(&format!(
            "FreeBSD {host} 13.0-CURRENT FreeBSD 13.0-CURRENT #0 r368606M: /usr/src  {end}"
        ))
    };
    let (traits, host) = uname("apu2", "amd64");
    assert_eq!((traits["architecture"].as_str(), host.as_str()), ("amd64", "apu2"));
    assert_eq!(of_uname(""), (Traits::new(), String::new()));
    let (other, second) = uname("R2", "amd64");
    let mut both = on(&traits, &host, "2020-12", points("apu", "nat", &[1e6; 3]));
    both.extend(on(&other, &second, "2021-01", points("apu", "nat", &[1e6; 1])));
    let warnings = tell_apart(&mut both);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("R2 (1 point) and apu2 (3 points)"), "{warnings:?}");
    assert!(both.iter().all(|point| point.series.machine == "apu"));
    let (arm, _) = uname("apu2", "arm64");
    both.truncate(3);
    both.extend(on(&arm, &host, "2021-01", points("apu", "nat", &[1e6; 1])));
    assert_eq!(tell_apart(&mut both).len(), 1);
    assert_eq!(both[3].series.machine, "apu [architecture arm64]");
}

/// Both spellings are in one archive, and were two machines.
#[test]
fn spellings_that_differ_in_strokes_and_case_are_one_machine() {
    let of = |name: &str, from: u32| {
        let mut own = points(name, "nat", &[1e6; 6]);
        for (at, point) in (from..).zip(&mut own) {
            point.revision = format!("r{at}");
        }
        own
    };
    let spelled = ["Xeon_E5-2650_8Cores/T540-CR", "Xeon_E5-2650-8cores/T540_CR"];
    let all = [of(spelled[0], 310_000), of(spelled[1], 320_000)].concat();
    let history = find(all, &[], &Options::default());
    let counts: Vec<usize> = history.series.iter().map(|own| own.points.len()).collect();
    assert_eq!(counts, [12]);
}
