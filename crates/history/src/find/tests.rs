//! Histories whose causes are known.

use super::*;
use crate::point::Key;

/// Points of one series: `levels` is what each point's runs lie around.
pub(crate) fn points(machine: &str, configuration: &str, levels: &[f64]) -> Vec<Point> {
    let runs = |level: f64, at: usize| -> Vec<f64> {
        (0..5).map(|run| level * (1.0 + 0.002 * ((at * 3 + run * 7) % 5) as f64)).collect()
    };
    let point = |(at, &level): (usize, &f64)| Point {
        series: Key {
            machine: machine.into(),
            configuration: configuration.into(),
            family: "inet".into(),
            unit: "frames/s".into(),
            ..Key::default()
        },
        revision: format!("r{}", 300_000 + 100 * at),
        values: runs(level, at),
        source: format!("{machine}/{at}"),
        ..Point::default()
    };
    levels.iter().enumerate().map(point).collect()
}

pub(crate) fn step(count: usize, at: usize, ratio: f64) -> Vec<f64> {
    (0..count).map(|i| if i < at { 1e6 } else { 1e6 * ratio }).collect()
}

fn all(parts: &[Vec<Point>]) -> Vec<Point> {
    parts.concat()
}

#[test]
fn series_that_move_at_one_revision_are_one_alert() {
    let history = find(
        all(&[
            points("atom", "forwarding", &step(30, 15, 0.95)),
            points("atom", "pf", &step(30, 15, 0.93)),
            points("xeon", "forwarding", &step(30, 30, 1.0)),
            points("xeon", "pf", &step(30, 22, 1.06)),
        ]),
        &[],
        &Options::default(),
    );
    assert_eq!(history.alerts.len(), 2);
    let [first, second] = history.alerts.as_slice() else { panic!() };
    assert_eq!((first.moved.len(), first.is_regression, first.unmoved.len()), (2, true, 2));
    assert_eq!((second.moved.len(), second.is_regression), (1, false));
    assert_eq!(history.ends(&first.moved[0]).1.revision, "r301500");
    assert!(history.alerts.iter().all(|a| a.cause == Cause::Software && a.is_open()));
}

#[test]
fn a_control_that_moves_tells_machine_from_software() {
    let parts = all(&[
        points("atom", "forwarding", &step(30, 15, 0.95)),
        points("atom", "same old image", &step(30, 15, 0.95)),
    ]);
    let options = Options { control: Some("same old".into()), ..Options::default() };
    assert_eq!(find(parts.clone(), &[], &options).alerts[0].cause, Cause::Machine);
    assert_eq!(find(parts, &[], &Options::default()).alerts[0].cause, Cause::Software);
}

#[test]
fn one_revision_measured_twice_blames_the_lab() {
    let mut both = points("xeon", "", &[9.9e6, 14.8e6]);
    for (point, day) in both.iter_mut().zip(["2020-12-01", "2020-12-09"]) {
        point.revision = "r368606".into();
        point.date = Some(day.into());
    }
    let history = find(both, &[], &Options::default());
    assert_eq!(history.alerts[0].cause, Cause::Machine);
}

#[test]
fn a_level_of_two_points_in_a_short_series_is_suspected() {
    let few = |levels: &[f64]| find(points("atom", "pf", levels), &[], &Options::default());
    let history = few(&[1e6, 1e6, 0.8e6]);
    assert_eq!((history.alerts.len(), history.suspects.len()), (0, 1));
    let suspect = &history.suspects[0].moved[0];
    assert!(suspect.change.at == 2 && suspect.change.ratio < 0.0, "{suspect:?}");
    assert!(suspect.evidence > Some(100.0), "{suspect:?}");
    assert_eq!(few(&[1e6, 1e6, 1e6, 0.8e6, 0.8e6, 0.8e6]).alerts.len(), 1);
    assert_eq!(few(&[1e6, 1e6, 1.5e6]).alerts.len(), 1, "no day is as good as that");
    // from five points on they were taken for stray ones, and nothing was said
    for count in 5..=10 {
        // one point alone is a bad day as soon as there are six
        let ones = if count == 5 { &[1, 4][..] } else { &[] };
        for at in [2, count - 2].into_iter().chain(ones.iter().copied()) {
            let ends = |level: f64| -> Vec<f64> {
                (0..count).map(|i| if i < at { 1e6 } else { level }).collect()
            };
            let history = few(&ends(0.8e6));
            let found = [history.alerts.len(), history.suspects.len()];
            assert_eq!(found, [0, 1], "{at} of {count}");
            assert_eq!(few(&ends(0.5e6)).alerts.len(), 1, "{at} of {count}");
        }
        // a bad day between others is none
        let levels = (0..count).map(|i| if i == 2 { 0.8e6 } else { 1e6 });
        let history = few(&levels.collect::<Vec<_>>());
        assert!(history.alerts.is_empty(), "{count}");
        assert!(history.suspects.is_empty() || count == 5, "{count}");
    }
}

/// One hash without a day and no change was looked for in the whole series; figures of 0 went without a word.
#[test]
fn points_without_a_day_or_a_figure_are_left_out_and_named() {
    let mut own = points("atom", "pf", &step(40, 20, 0.9));
    for (at, point) in own.iter_mut().enumerate() {
        // Hashes, which have no order.
        point.revision = format!("{:07x}", 0xabc_def0_u32.wrapping_mul(2 * at as u32 + 1) >> 4);
        point.date = Some(format!("2024-{:02}-{:02}", 1 + at / 28, 1 + at % 28));
    }
    for at in [3, 17, 33] {
        own[at].date = None;
    }
    own[30].values = vec![0.0; 5];
    let history = find(own.clone(), &[], &Options::default());
    assert_eq!((history.alerts.len(), history.series[0].points.len()), (1, 36));
    let said = history.warnings.join("\n");
    assert!(said.contains(&format!("{}, {}, ", own[3].revision, own[17].revision)), "{said}");
    assert!(said.contains("1 of 40 points left out") && said.contains(&own[30].revision), "{said}");
    // Where many have no day, nobody knows where those belong that do.
    own.iter_mut().step_by(2).for_each(|point| point.date = None);
    let history = find(own, &[], &Options::default());
    assert!(history.alerts.is_empty() && history.series[0].points.len() == 39);
}

#[test]
fn a_change_that_is_taken_back_is_closed() {
    let levels: Vec<f64> =
        (0..40).map(|i| if (15..28).contains(&i) { 0.94e6 } else { 1e6 }).collect();
    let history = find(points("atom", "pf", &levels), &[], &Options::default());
    assert_eq!(history.alerts.len(), 2);
    assert!(history.alerts[0].is_closed() && !history.alerts[1].is_closed());
}

/// The second of two stayed open, and failed each night, though both were taken back at once.
#[test]
fn what_fell_twice_and_rose_at_once_is_all_taken_back() {
    let history = |back: f64| {
        let level = |i: usize| [1e6, 0.95e6, 0.9e6, back][i / 15];
        let levels: Vec<f64> = (0..60).map(level).collect();
        find(points("atom", "pf", &levels), &[], &Options::default())
    };
    let is_closed = |history: &History| -> Vec<bool> {
        history.alerts.iter().map(super::Alert::is_closed).collect()
    };
    assert_eq!(is_closed(&history(1e6)), [true, true, false]);
    // to where the second began: the first is still there
    assert_eq!(is_closed(&history(0.95e6)), [false, true, false]);
    assert_eq!(is_closed(&history(0.92e6)), [false, false, false]);
    // a fall from a height that nobody had before is none of those
    let level = |i: usize| [1e6, 0.9e6, 1.1e6, 1e6][i / 15];
    let levels: Vec<f64> = (0..60).map(level).collect();
    let history = find(points("atom", "pf", &levels), &[], &Options::default());
    assert_eq!(is_closed(&history), [true, false, false]);
}

/// From night to night another of its series was the clearest, and the alert had another id.
#[test]
fn an_alert_keeps_its_id_and_answers_to_those_that_it_had() {
    let of = |noise: [f64; 2]| {
        let levels = |noise: f64| -> Vec<f64> {
            let odd = |i: usize| if i.is_multiple_of(2) { 1.0 + noise } else { 1.0 - noise };
            step(40, 20, 0.95).iter().enumerate().map(|(i, level)| level * odd(i)).collect()
        };
        let all =
            [points("atom", "pf", &levels(noise[0])), points("atom", "ipfw", &levels(noise[1]))];
        find(all.into_iter().flatten(), &[], &Options::default())
    };
    let (one, other) = (of([1e-3, 5e-3]), of([5e-3, 1e-3]));
    let first = |history: &History| history.series[history.alerts[0].moved[0].series].key.name();
    assert_eq!((one.alerts.len(), other.alerts.len()), (1, 1));
    assert_ne!(first(&one), first(&other));
    assert_eq!(one.alerts[0].id, other.alerts[0].id);
    // the other series alone
    let alone = find(points("atom", "pf", &step(40, 20, 0.95)), &[], &Options::default());
    let id = &alone.alerts[0].id;
    assert_ne!(*id, one.alerts[0].id);
    assert_eq!(one.called(id), Some(&one.alerts[0]));
    assert_eq!(one.called("00000000"), None);
}

#[test]
fn an_acknowledged_alert_is_not_open_though_more_points_came() {
    let ack = Acknowledged {
        id: "x".into(),
        reason: "known".into(),
        series: vec!["atom pf IPv4".into()],
        last_before: "r301400".into(),
        first_changed: "r301500".into(),
        ..Acknowledged::default()
    };
    let history = find(points("atom", "pf", &step(40, 15, 0.95)), &[ack], &Options::default());
    assert_eq!(history.alerts[0].acknowledged.as_deref(), Some("known"));
    assert!(!history.alerts[0].is_open());
}

/// Hashes sort as they like: what was said of one change is not said of another.
#[test]
fn an_acknowledgement_between_hashes_covers_no_other_change() {
    // changes at the 15th and at the 30th of 45 points; of hashes that sort the other way round
    let level = |at: usize| [1e6, 0.93e6, 0.85e6][at / 15];
    let levels: Vec<f64> = (0..45).map(level).collect();
    let mut all = points("atom", "pf", &levels);
    for (at, point) in all.iter_mut().enumerate() {
        point.revision = format!("{:07x}", 0xfff_ffff - at * 0x1_2345);
        point.date = Some(format!("2020-{:02}-{:02}", 1 + at / 28, 1 + at % 28));
    }
    let ack = Acknowledged {
        id: "x".into(),
        reason: "known".into(),
        series: vec!["atom pf IPv4".into()],
        last_before: all[14].revision.clone(),
        first_changed: all[15].revision.clone(),
        ..Acknowledged::default()
    };
    let history = find(all, &[ack], &Options::default());
    let open: Vec<bool> = history.alerts.iter().map(Alert::is_open).collect();
    assert_eq!(open, [false, true]);
}

/// Names of the moved series of each alert, and whether it is for the worse.
fn ways(history: &History) -> Vec<(Vec<String>, bool)> {
    let name = |moved: &Moved| {
        let key = &history.series[moved.series].key;
        format!("{} {}", key.machine, key.configuration)
    };
    let of = |alert: &Alert| (alert.moved.iter().map(name).collect(), alert.is_regression);
    history.alerts.iter().map(of).collect()
}

/// The sign of the clearest series decided for all.
#[test]
fn a_clearer_improvement_does_not_hide_a_regression() {
    for (one, other) in [(("atom", 0.97), ("atom", 1.04)), (("xeon", 0.8), ("atom", 1.199))] {
        let parts = [
            points(one.0, "forwarding", &step(30, 15, one.1)),
            points(other.0, "nat", &step(30, 15, other.1)),
        ];
        let history = find(all(&parts), &[], &Options::default());
        let found = ways(&history);
        assert!(found.contains(&(vec![format!("{} forwarding", one.0)], true)), "{found:?}");
        assert!(found.contains(&(vec![format!("{} nat", other.0)], false)), "{found:?}");
        assert!(history.alerts.iter().all(|alert| alert.unmoved.is_empty()), "both moved");
        let table = crate::render::markdown(&history);
        let states = ["| regression |", "| improvement |"].map(|own| table.matches(own).count());
        assert_eq!(states, [1, 1], "{table}");
        let page = crate::render::html(&history, std::path::Path::new("")).unwrap();
        assert!(page.contains("1 regression still open"), "{page}");
    }
}

#[test]
fn an_acknowledgement_is_of_the_series_that_it_names() {
    let ack = Acknowledged {
        id: "x".into(),
        reason: "known".into(),
        series: vec!["atom pf IPv4".into()],
        last_before: "r301400".into(),
        first_changed: "r301500".into(),
        ..Acknowledged::default()
    };
    for machine in ["atom", "xeon"] {
        let name = if machine == "atom" { "nat" } else { "pf" };
        let parts =
            [points("atom", "pf", &step(40, 15, 0.97)), points(machine, name, &step(40, 15, 0.8))];
        let history = find(all(&parts), std::slice::from_ref(&ack), &Options::default());
        let open = history.alerts.iter().filter(|alert| alert.is_open());
        let open: Vec<usize> = open.map(|alert| alert.moved[0].series).collect();
        let names: Vec<String> = open.iter().map(|&i| history.series[i].key.name()).collect();
        assert_eq!(names, [format!("{machine} {name} IPv4")]);
        let known = history.alerts.iter().filter(|alert| alert.acknowledged.is_some());
        assert_eq!(known.map(|alert| alert.moved.len()).collect::<Vec<_>>(), [1]);
    }
}

/// Days of revisions may go backwards, and a hash has its day alone: pair by pair that is no order, and a sort by it
/// may panic.
#[test]
fn alerts_of_revisions_whose_days_go_backwards_have_an_order() {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    for machine in 0..60 {
        let at = 15 + machine * 7 % 20;
        let mut own = points(&format!("m{machine}"), "pf", &step(50, at, 0.9));
        for (k, point) in own.iter_mut().enumerate() {
            let day = if machine % 3 == 0 { k } else { 49 - k };
            point.date = Some(format!("2020-{:02}-{:02}", 1 + day / 28, 1 + day % 28));
            if machine % 3 == 0 {
                point.revision = format!("{:07x}a", 0xa00_0000 + machine * 1000 + k * 13);
            }
        }
        parts.push(own);
    }
    let history = find(parts.concat(), &[], &Options::default());
    assert!(history.alerts.len() > 20, "{}", history.alerts.len());
    let days: Vec<_> =
        history.alerts.iter().map(|a| history.ends(&a.moved[0]).1.date.clone()).collect();
    assert!(days.is_sorted(), "{days:?}");
}

/// Of the newest point at half the level of all before it nothing was said.
#[test]
fn the_newest_point_far_from_its_level_is_told_and_is_no_alert() {
    for (count, words) in
        [(1, "newest point is 50.0 % below"), (2, "newest two points are 50.0 % below")]
    {
        let history =
            find(points("atom", "pf", &step(14, 14 - count, 0.5)), &[], &Options::default());
        assert!(history.alerts.is_empty() && history.suspects.is_empty());
        assert_eq!(history.newest.len(), 1, "{count}");
        for text in [crate::render::text(&history), crate::render::markdown(&history)] {
            assert!(text.contains(words), "{text}");
        }
        assert!(crate::render::json(&history).unwrap().contains("\"newest\": [\n    {"));
    }
    for levels in [step(14, 14, 1.0), step(14, 13, 0.97), step(14, 7, 0.5)] {
        let history = find(points("atom", "pf", &levels), &[], &Options::default());
        assert!(history.newest.is_empty(), "{:?}", history.newest);
    }
}

/// A debug build, another kernel or other settings from one point on were the software's regression without a word.
#[test]
fn what_else_changed_at_the_place_of_an_alert_is_said() {
    let mut all = points("atom", "pf", &step(14, 8, 0.5));
    for (at, point) in all.iter_mut().enumerate() {
        let build = if at < 8 { "1 (release)" } else { "1 (debug)" };
        let facts = [("fwdlab", build), ("kernel", "6.1")];
        point.setting = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    }
    let history = find(all.clone(), &[], &Options::default());
    let said = "changed there as well: fwdlab: 1 (release) to 1 (debug)";
    assert!(history.warnings[0].starts_with("6 of 14 points were measured with a debug build"));
    for text in [crate::render::text(&history), crate::render::markdown(&history)] {
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("kernel"), "{text}");
    }
    assert!(crate::render::html(&history, std::path::Path::new(".")).unwrap().contains(said));
    all[7].setting.clear();
    assert!(history.beside(&history.alerts[0]).len() == 1);
    let unknown = find(all, &[], &Options::default());
    assert!(unknown.beside(&unknown.alerts[0]).is_empty());
}

/// "Regression after modular, at or before radix" was said of two images of one import, by the letters of their names.
#[test]
fn points_that_nothing_orders_have_no_change() {
    let mut all = points("atom", "", &[1e6, 0.6e6]);
    for (point, name) in all.iter_mut().zip(["modular", "radix"]) {
        point.revision = name.into();
    }
    let history = find(all.clone(), &[], &Options::default());
    assert!(history.alerts.is_empty() && history.suspects.is_empty());
    assert!(history.warnings[0].contains("(modular, radix)"), "{:?}", history.warnings);
    for (point, day) in all.iter_mut().zip(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]) {
        point.date = Some(day.into());
    }
    let dated = find(all, &[], &Options::default());
    assert!(dated.alerts.len() == 1 && dated.warnings.is_empty(), "{:?}", dated.warnings);
}

/// A step of the 31st point that seemed to be of the 30th had two equal revisions measured again, and was set aside.
#[test]
fn a_young_change_is_measured_again_between_points_that_are_surely_apart() {
    let of = |at: usize, range: (usize, usize), count: usize| {
        let history = find(points("atom", "pf", &vec![1e6; count]), &[], &Options::default());
        let change = Change { at, over: 1, range, ratio: -0.03, low: -0.04, high: -0.02, p: 1e-6 };
        let moved = Moved { series: 0, change, undone_at: None, evidence: None };
        let own = &history.series[0].points;
        let place = |wanted: &Point| own.iter().position(|point| point == wanted).unwrap();
        let (before, after) = history.sides(&moved);
        (place(before), place(after))
    };
    assert_eq!(of(29, (29, 29), 33), (28, 31));
    assert_eq!(of(31, (31, 31), 33), (30, 32), "no later than the newest");
    assert_eq!(of(29, (27, 30), 33), (26, 31));
    // an old one is where it is, as far as that is known
    assert_eq!(of(29, (29, 29), 60), (28, 29));
    assert_eq!(of(29, (28, 31), 60), (27, 31));
}
