//! What was said of a change, and what became of it.

use crate::find::tests::{points, step};
use crate::find::{Cause, History, Options, find};
use crate::point::Point;
use crate::render;
use crate::store::Acknowledged;

fn found(parts: &[Vec<Point>], acknowledged: &[Acknowledged]) -> History {
    find(parts.concat(), acknowledged, &Options::default())
}

/// What was said of the only alert of a series that went to `ratio`.
fn said(ratio: f64, is_confirmed: Option<bool>) -> Acknowledged {
    let history = found(&[points("atom", "pf", &step(30, 15, ratio))], &[]);
    history.acknowledgement(&history.alerts[0], "known".to_owned(), is_confirmed)
}

#[test]
fn an_acknowledged_change_that_grew_is_open_again() {
    let ack = said(0.97, None);
    let [size] = ack.sizes.as_slice() else { panic!("{ack:?}") };
    assert!(size.low < -3.0 && -3.0 < size.high && size.series == "atom pf IPv4", "{size:?}");
    for (ratio, is_open) in [(0.97, false), (0.966, false), (0.9, true), (1.03, true)] {
        let levels = step(30, 15, ratio);
        let history = found(&[points("atom", "pf", &levels)], std::slice::from_ref(&ack));
        let [alert] = history.alerts.as_slice() else { panic!("{ratio}: {:?}", history.alerts) };
        assert_eq!((alert.is_open(), alert.outgrown.is_some()), (is_open, is_open), "{ratio}");
        let text = render::text(&history);
        let why = "open again: it was -3.0 % (";
        assert_eq!(text.contains(why) && text.contains("acknowledged (known)"), is_open, "{text}");
        let page = render::html(&history, std::path::Path::new("")).unwrap();
        let table = render::markdown(&history);
        for words in [&page, &table] {
            assert_eq!(words.contains("beyond what was acknowledged"), is_open, "{words}");
        }
    }
}

#[test]
fn a_line_without_a_size_holds_for_any_and_a_larger_one_is_acknowledged_anew() {
    let now = [points("atom", "pf", &step(30, 15, 0.9))];
    let old = Acknowledged { sizes: Vec::new(), ..said(0.97, None) };
    assert!(!found(&now, &[old]).alerts[0].is_open());
    let again = Acknowledged { reason: "wanted".to_owned(), ..said(0.9, None) };
    let history = found(&now, &[said(0.97, None), again]);
    assert_eq!(history.alerts[0].acknowledged.as_deref(), Some("wanted"));
    assert_eq!(history.alerts[0].outgrown, None);
}

/// What two blocks did not show of -3 % is not what they would say of -10 %.
#[test]
fn what_was_set_aside_and_grew_is_to_be_measured_again() {
    let set_aside = said(0.97, Some(false));
    let of = |ratio: f64| {
        found(&[points("atom", "pf", &step(30, 15, ratio))], std::slice::from_ref(&set_aside))
    };
    assert!(!of(0.97).alerts[0].is_open());
    let history = of(0.9);
    assert!(history.alerts[0].is_open() && history.alerts[0].confirmed.is_none());
    assert!(render::text(&history).contains("when it was set aside (known)"));
}

/// One series was measured again; the other, which moves there too, was not.
#[test]
fn a_series_that_joins_a_confirmed_alert_is_not_confirmed() {
    let confirmed = said(0.97, Some(true));
    let parts =
        [points("atom", "pf", &step(30, 15, 0.97)), points("atom", "nat", &step(30, 15, 0.95))];
    let history = found(&parts, std::slice::from_ref(&confirmed));
    let name = |series: usize| history.series[series].key.configuration.clone();
    let all: Vec<(String, bool)> = history
        .alerts
        .iter()
        .flat_map(|own| own.moved.iter().map(|m| (name(m.series), own.confirmed.is_some())))
        .collect();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.contains(&("pf".to_owned(), true)), "{all:?}");
    assert!(all.contains(&("nat".to_owned(), false)), "{all:?}");
    // once it was measured as well they are one alert
    let nat = history.alerts.iter().find(|own| own.confirmed.is_none()).unwrap();
    let nat = history.acknowledgement(nat, "measured again".to_owned(), Some(true));
    let history = found(&parts, &[confirmed, nat]);
    assert_eq!(history.alerts.len(), 1);
    assert!(history.alerts[0].moved.len() == 2 && history.alerts[0].confirmed.is_some());
}

#[test]
fn the_page_counts_the_regressions_that_fail() {
    let parts = [
        points("atom", "forwarding", &step(30, 15, 0.95)),
        points("atom", "same old image", &step(30, 15, 0.95)),
        points("xeon", "pf", &step(30, 22, 0.9)),
    ];
    let control = Some("same old".to_owned());
    for (options, open) in [(Options { control, ..Options::default() }, 1), (Options::default(), 2)]
    {
        let history = find(parts.concat(), &[], &options);
        let page = render::html(&history, std::path::Path::new("")).unwrap();
        let words = if open == 1 { "1 regression still" } else { "2 regressions still" };
        assert!(page.contains(words), "{page}");
        let of_machine = history.alerts.iter().filter(|own| own.cause == Cause::Machine);
        assert_eq!(of_machine.count(), 2 - open);
        let is_said = page.contains("regression, the machine or the lab");
        assert_eq!(is_said, open == 1, "{page}");
        assert_eq!(render::markdown(&history).contains("| regression, the machine"), open == 1);
    }
}

/// Levels that go from one to another between two points.
fn ramp(from: usize, to: usize, ratio: f64) -> Vec<f64> {
    let way = |i: usize| ((i as f64 - from as f64) / (to - from) as f64).clamp(0.0, 1.0);
    (0..50).map(|i| 1e6 * ratio.powf(way(i))).collect()
}

#[test]
fn a_drift_is_said_with_its_ends() {
    let parts = [
        points("atom", "pf", &ramp(10, 40, 0.85)),
        points("atom", "nat", &ramp(10, 40, 0.88)),
        points("atom", "ipfw", &step(50, 25, 0.9)),
        points("atom", "forwarding", &step(50, 50, 1.0)),
    ];
    let history = found(&parts, &[]);
    let drifts: Vec<_> =
        history.alerts.iter().filter(|own| own.moved[0].change.is_drift()).collect();
    let [drift] = drifts[..] else { panic!("{:?}", history.alerts) };
    // a step in the middle of it is a change of its own, of a series that did not stay where it was
    assert_eq!((history.alerts.len(), drift.moved.len(), drift.unmoved.len()), (2, 2, 1));
    let (before, after) = history.ends(&drift.moved[0]);
    let number = |own: &Point| own.revision[1..].parse::<u32>().unwrap();
    let ends = [number(before), number(after)];
    assert!(ends[0].abs_diff(301_000) <= 300 && ends[1].abs_diff(304_000) <= 300, "{ends:?}");
    let text = render::text(&history);
    assert!(text.contains("regression by a drift from r30"), "{text}");
    assert!(text.contains("regression after r302400, at or before r302500"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&render::json(&history).unwrap()).unwrap();
    let pf = json["series"].as_array().unwrap().iter().find(|own| own["configuration"] == "pf");
    let [change] = pf.unwrap()["changes"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!(change["last_before"], before.revision.as_str());
    assert_eq!(change["first_changed"], after.revision.as_str());
    let mut keys: Vec<&str> = change.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["first_changed", "high", "last_before", "low", "p", "percent"]);
    assert!(render::markdown(&history).contains("| regression, a drift |"));
    let files = render::readme(&history);
    let figures =
        files.iter().filter(|(_, figure)| figure.contains("-1") && figure.contains("class=\"w\""));
    assert_eq!(figures.count(), 3);
}

/// What drifts from end to end had no change, and what was said of it holds for the size that it had.
#[test]
fn a_drift_of_a_whole_series_is_said_and_outgrows_what_was_known_of_it() {
    let night = |count: usize| points("atom", "pf", &ramp(0, 49, 0.88)[..count]);
    let early = found(&[night(30)], &[]);
    let [drift] = early.alerts.as_slice() else { panic!("{:?}", early.alerts) };
    assert!(drift.moved[0].change.is_drift() && drift.is_open_regression(), "{drift:?}");
    let (before, after) = early.ends(&drift.moved[0]);
    let ends = [before, after].map(|own| own.revision[1..].parse::<u32>().unwrap());
    assert!(ends[0] <= 300_300 && ends[1] >= 302_500, "{ends:?}");
    assert!(render::text(&early).contains("regression by a drift from r300"));
    let known = early.acknowledgement(drift, "known".to_owned(), None);
    let same = found(&[night(31)], std::slice::from_ref(&known));
    assert_eq!(same.alerts[0].acknowledged.as_deref(), Some("known"));
    let late = found(&[night(50)], &[known]);
    let [drift] = late.alerts.as_slice() else { panic!("{:?}", late.alerts) };
    assert!(drift.is_open_regression() && drift.outgrown.is_some(), "{drift:?}");
}

/// The control drifts as well: its points on the way are of neither level.
#[test]
fn a_drift_of_the_machine_is_the_machines() {
    let parts = [
        points("atom", "pf", &ramp(10, 40, 0.88)),
        points("atom", "same old image", &ramp(10, 40, 0.87)),
    ];
    let options = Options { control: Some("same old".to_owned()), ..Options::default() };
    let history = find(parts.concat(), &[], &options);
    assert!(history.alerts.iter().all(|own| own.cause == Cause::Machine), "{:?}", history.alerts);
}

/// A control is one revision: what was said of one of its days held for every later one.
#[test]
fn what_is_said_of_one_day_of_a_revision_is_not_said_of_another() {
    let level = |at: usize| [1e6, 0.93e6, 0.87e6][at / 15];
    let levels: Vec<f64> = (0..45).map(level).collect();
    let mut control = points("atom", "same old image", &levels);
    for (at, point) in control.iter_mut().enumerate() {
        point.revision = "r290000".into();
        point.date = Some(format!("2020-{:02}-{:02}", 1 + at / 28, 1 + at % 28));
    }
    let open = found(std::slice::from_ref(&control), &[]);
    let [first, second] = open.alerts.as_slice() else { panic!("{:?}", open.alerts) };
    assert_ne!(first.id, second.id);
    let ack = open.acknowledgement(first, "a fan".to_owned(), None);
    let history = found(&[control], &[ack]);
    let is_open: Vec<bool> = history.alerts.iter().map(|own| own.is_open()).collect();
    assert_eq!(is_open, [false, true]);
}

#[test]
fn what_was_said_last_is_what_is_shown() {
    let again = Acknowledged { reason: "wanted".to_owned(), ..said(0.95, None) };
    let history = found(&[points("atom", "pf", &step(30, 15, 0.95))], &[said(0.95, None), again]);
    assert_eq!(history.alerts[0].acknowledged.as_deref(), Some("wanted"));
}
