//! A history written down.

mod exports;
mod figure;
mod json;
mod page;
mod text;

pub use exports::{bencher, github_action_benchmark, otava};
pub use json::json;
pub use page::{html, readme};
pub use text::{markdown, text};

use std::path::{Path, PathBuf};

use crate::find::{Alert, Cause, History, Moved, Newest};
use fwdlab_guard::words::pasted;
use fwdlab_results::{EXPERIMENT_FILE, JOURNAL_FILE, units};

/// A ratio as per cent with its sign: `-3.1 %`.
fn percent(ratio: f64) -> String {
    format!("{:+.1} %", ratio * 100.0)
}

/// Whether a change is of more than ten times as much or as little.
fn is_far(ratio: f64) -> bool {
    fwdlab_stats::Effect::from_ratio(1.0 + ratio).is_far()
}

/// `the newest point is 49.9 % below the level: one point proves nothing, measure again`; behind it the series.
fn newest(own: &Newest) -> String {
    let way = if own.ratio > 0.0 { "above" } else { "below" };
    let apart = match is_far(own.ratio) {
        true => format!("{} of", label(own.ratio)),
        false => format!("{:.1} % {way}", own.ratio.abs() * 100.0),
    };
    match own.count {
        1 => format!(
            "the newest point is {apart} the level: one point proves nothing, measure again"
        ),
        _ => format!(
            "the newest two points are {apart} the level or more: two prove nothing yet, measure again"
        ),
    }
}

/// The same as one sentence.
fn newest_of(history: &History, own: &Newest) -> String {
    format!("{}: {}", history.series[own.series].key.name(), newest(own))
}

/// Series of an alert, and what changed beside it, that are named; the others are counted.
const NAMED: usize = 8;

/// What changed beside the revision; of many the first are named.
fn beside(history: &History, alert: &Alert) -> Vec<String> {
    let mut all = history.beside(alert);
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    all.extend((more > 0).then(|| format!("{more} more (--format json names them)")));
    all
}

/// A change in a word: `-3.1 %`, or `x400` and `x0.0025` where a percentage says nothing.
fn label(ratio: f64) -> String {
    let times = 1.0 + ratio;
    match is_far(ratio) {
        true if times > 1.0 => format!("x{times:.0}"),
        true => {
            // two digits
            let places = (1.0 - times.max(1e-9).log10().floor()) as usize;
            format!("x{times:.places$}")
        }
        false => percent(ratio),
    }
}

/// The interval of a change in words: `-3.1 % (-3.6 to -2.6)`; what is more than ten times as much or as
/// little from where to where it went: `from 10.0 us to 4.00 ms`.
fn size(history: &History, moved: &Moved) -> String {
    let change = &moved.change;
    if [change.ratio, change.low, change.high].into_iter().any(is_far) {
        let (before, after) = history.ends(moved);
        let unit = &history.series[moved.series].key.unit;
        let show = |point: &crate::Point| units::figure(point.median(), unit);
        return format!("from {} to {}", show(before), show(after));
    }
    format!("{} ({:+.1} to {:+.1})", percent(change.ratio), change.low * 100.0, change.high * 100.0)
}

/// That one series of an open alert is back where it was, while others are not: `taken back at r312300`.
fn back(history: &History, alert: &Alert, moved: &Moved) -> Option<String> {
    let at = moved.undone_at.filter(|_| !alert.is_closed())?;
    Some(format!("taken back at {}", history.series[moved.series].labels()[at]))
}

/// `after r312100, at or before r312205`; of what is no step `by a drift from r312100 to r312205 (30 points)`.
fn place(history: &History, moved: &Moved) -> String {
    let (before, after) = history.names_of_ends(moved);
    match moved.change.is_drift() {
        true => format!("by a drift from {before} to {after} ({} points)", moved.change.over),
        false => format!("after {before}, at or before {after}"),
    }
}

/// What is known of an alert and why: `acknowledged: wanted`, `not confirmed: measured again: …`.
fn known(alert: &Alert) -> Option<String> {
    let what = if alert.is_set_aside { "not confirmed" } else { "acknowledged" };
    alert.acknowledged.as_ref().map(|reason| format!("{what}: {reason}"))
}

/// The commands that show an alert again: both sides compared, and the step looked for between them. Those of which
/// the results are on this machine.
fn again(history: &History, alert: &Alert) -> Vec<String> {
    let (before, after) = history.ends(&alert.moved[0]);
    let (Some(old), Some(new)) = (&before.place, &after.place) else { return Vec::new() };
    // as seen from here, where they are below
    let here = std::env::current_dir().unwrap_or_default();
    let [old, new] = [old, new].map(|place| match place.strip_prefix(&here) {
        Ok(below) if !below.as_os_str().is_empty() => below,
        _ => place,
    });
    let is_published = [old, new].into_iter().any(|place| !place.join(JOURNAL_FILE).is_file());
    if is_published {
        return match [(before, old), (after, new)].map(|(point, place)| medians(point, place)) {
            [Some(old), Some(new)] => {
                vec![format!("fwdlab compare {} {}", pasted(&old), pasted(&new))]
            }
            _ => Vec::new(),
        };
    }
    let mut commands = vec![match old == new {
        true => format!("fwdlab compare {}", pasted(new)),
        false => format!("fwdlab compare {} --after {}", pasted(old), pasted(new)),
    }];
    let experiment = new.join(EXPERIMENT_FILE);
    commands.extend(bisection([before, after], &experiment).filter(|_| experiment.is_file()));
    commands
}

/// The bisection between two points, where both are variants of the experiment, the earlier one before the later: a
/// revision that is a day or a directory is none, and nights with an experiment each have no chain.
fn bisection([before, after]: [&crate::Point; 2], experiment: &Path) -> Option<String> {
    let (old, new) = (before.called.as_ref()?, after.called.as_ref()?);
    let place = |variant: &String| new.variants.iter().position(|own| own == variant);
    if place(&old.variant)? >= place(&new.variant)? {
        return None;
    }
    let [good, bad] = [old, new].map(|own| pasted(Path::new(&own.variant)));
    let traffic = new.traffic.as_ref().map(|own| format!(" --traffic {}", pasted(Path::new(own))));
    let traffic = traffic.unwrap_or_default();
    Some(format!("fwdlab bisect {} --good {good} --bad {bad}{traffic}", pasted(experiment)))
}

/// The file of medians of a published point, which `fwdlab compare` reads where a directory has no journal.
fn medians(point: &crate::Point, place: &Path) -> Option<PathBuf> {
    let (_, name) = point.source.rsplit_once('/')?;
    Some(place.join(format!("{name}.pps"))).filter(|path| path.is_file())
}

/// What an alert is that is neither taken back nor acknowledged, as a table has it.
fn kind(alert: &Alert) -> String {
    let what = if alert.is_regression { "regression" } else { "improvement" };
    let drift = if alert.moved[0].change.is_drift() { ", a drift" } else { "" };
    let cause = match alert.cause {
        Cause::Software => "",
        Cause::Machine => ", the machine or the lab",
        Cause::Both => ", the machine or the lab at least in part",
    };
    let larger = match &alert.outgrown {
        Some(own) if own.is_set_aside => ", beyond what was set aside",
        Some(_) => ", beyond what was acknowledged",
        None => "",
    };
    format!("{what}{drift}{cause}{larger}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Called;
    use crate::{Key, Options, Point, find};

    /// Twenty nights at a level, twenty at another.
    fn moved(measure: &str, unit: &str, levels: [f64; 2]) -> History {
        let point = |night: u32| {
            let level = levels[usize::from(night >= 20)];
            let run = |n: u32| level * (1.0 + f64::from((night * 7 + n * 3) % 9) * 1e-3);
            Point {
                series: Key { measure: measure.into(), unit: unit.into(), ..Key::default() },
                revision: format!("r{}", 300_000 + night),
                values: (0..5).map(run).collect(),
                ..Point::default()
            }
        };
        find((0..40).map(point), &[], &Options::default())
    }

    #[test]
    fn what_is_next_to_nothing_is_said_in_its_unit() {
        let history = moved("recovery", "s", [10e-6, 4e-3]);
        let said = text(&history);
        assert!(said.contains("regression after r300019"), "{said}");
        assert!(said.contains("from 10.0 us to 4.02 ms"), "{said}");
        assert!(!said.contains("00.0 %") && said.contains(" x40"), "{said}");
        let page = html(&history, std::path::Path::new("")).unwrap();
        assert!(page.contains("4.02 ms") && page.contains("recovery time"), "{page}");
        let [(_, figure), _] = readme(&history).try_into().unwrap();
        assert!(figure.contains(">x40") && figure.contains("class=\"w\""), "{figure}");
    }

    /// It was x40 one way and -97.5 % the other.
    #[test]
    fn what_is_next_to_nothing_now_is_a_ratio_too() {
        let history = moved("recovery", "s", [4e-3, 1e-4]);
        let said = text(&history);
        assert!(said.contains(" x0.025  recovery") && !said.contains("97.5 %"), "{said}");
        let [(_, figure), _] = readme(&history).try_into().unwrap();
        assert!(figure.contains(">x0.025<"), "{figure}");
        assert_eq!(
            [1.34e-5, 0.0042, 12.3].map(|times| label(times - 1.0)),
            ["x0.000013", "x0.0042", "x12"]
        );
        assert_eq!(label(-0.05), "-5.0 %");
    }

    #[test]
    fn an_alert_names_the_commands_that_show_it_again() {
        let dir = tempfile::tempdir().unwrap();
        let [old, new] = ["before it", "after"].map(|name| dir.path().join(name));
        for own in [&old, &new] {
            std::fs::create_dir(own).unwrap();
            std::fs::write(own.join(EXPERIMENT_FILE), "").unwrap();
            std::fs::write(own.join(JOURNAL_FILE), "").unwrap();
        }
        let mut history = moved("", "frames/s", [2600.0, 2500.0]);
        assert!(!text(&history).contains("see again"), "a store alone has no results");
        let names: Vec<String> = (19..21).map(|night| format!("r{}.pf", 300_000 + night)).collect();
        for (night, point) in history.series[0].points.iter_mut().enumerate() {
            point.place = Some(if night < 20 { old.clone() } else { new.clone() });
            point.called = Some(Called {
                variant: format!("{}.pf", point.revision),
                traffic: Some("inet6".into()),
                variants: names.clone(),
            });
        }
        let (old, new) = (pasted(&old), pasted(&new));
        let compare = format!("fwdlab compare {old} --after {new}");
        let bisect = format!(
            "fwdlab bisect {new}/experiment.toml --good r300019.pf --bad r300020.pf --traffic inet6"
        );
        for said in [text(&history), markdown(&history)] {
            assert!(said.contains(&compare) && said.contains(&bisect), "{said}");
        }
        assert!(old.ends_with('\''), "{old}");
        let json: serde_json::Value = serde_json::from_str(&json(&history).unwrap()).unwrap();
        assert_eq!(json["alerts"][0]["again"], serde_json::json!([compare, bisect]));
        let page = html(&history, std::path::Path::new("")).unwrap();
        assert!(page.contains("<br><code>fwdlab compare "), "{page}");
        assert!(page.contains(&history.alerts[0].id), "the id is what is acknowledged");
        // revisions that are days were named as variants, and those of an earlier night that the experiment has not
        for point in &mut history.series[0].points {
            point.called =
                Some(Called { variants: vec!["pf".into()], variant: "pf".into(), traffic: None });
        }
        let said = text(&history);
        assert!(said.contains("see again: fwdlab compare") && !said.contains("bisect"), "{said}");
    }

    /// `fwdlab compare` of the directory itself was named, which it refuses for every published one.
    #[test]
    fn what_was_published_is_shown_again_by_its_medians() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = moved("", "frames/s", [2600.0, 2500.0]);
        for (night, point) in history.series[0].points.iter_mut().enumerate() {
            point.place = Some(dir.path().to_owned());
            point.source = format!("m/results/year/r{}.pf", 300_000 + night);
        }
        assert!(!text(&history).contains("see again"), "data of graphs are no figures of runs");
        let files = [19, 20].map(|night| dir.path().join(format!("r{}.pf.pps", 300_000 + night)));
        for file in &files {
            std::fs::write(file, "2600\n").unwrap();
        }
        let [old, new] = files.map(|file| pasted(&file));
        let said = text(&history);
        assert!(said.contains(&format!("fwdlab compare {old} {new}\n")), "{said}");
    }

    /// Each series had a line of its own: a year's directory, hundreds of them.
    /// Of two series of one open alert, one that had long been where it was stood there as a regression.
    #[test]
    fn a_series_of_an_open_alert_that_is_back_says_so() {
        use crate::find::tests::points;
        let stays = points("atom", "nat", &[1e6, 0.9e6].map(|level| [level; 30]).concat());
        let levels = [[1e6; 30], [0.9e6; 30]].concat();
        let comes_back: Vec<f64> =
            levels.iter().enumerate().map(|(at, own)| if at < 45 { *own } else { 1e6 }).collect();
        let all = [stays, points("atom", "pf", &comes_back)].concat();
        let history = find(all, &[], &Options::default());
        let alert = history.alerts.iter().find(|own| own.is_regression).unwrap();
        assert_eq!((alert.moved.len(), alert.is_open()), (2, true), "{alert:?}");
        let page = html(&history, Path::new("")).unwrap();
        for written in [text(&history), markdown(&history), page] {
            assert_eq!(written.matches("taken back at r304500").count(), 1, "{written}");
        }
    }

    #[test]
    fn suspicions_of_one_cause_are_told_together_and_many_are_counted() {
        use crate::find::tests::points;
        let year = |configurations: usize| {
            let own = |i| points("atom", &format!("pf{i}"), &[1e6, 1e6, 0.8e6]);
            find((0..configurations).flat_map(own), &[], &Options::default())
        };
        let history = year(12);
        let of_first = history.suspects[0].moved.len();
        assert_eq!((history.suspects.len(), of_first), (1, 12));
        let said = text(&history);
        assert!(said.contains("suspected: 12 series since r300200; measure it again\n"), "{said}");
        assert_eq!(said.matches("    down atom pf").count(), NAMED, "{said}");
        assert!(said.contains("    and 4 more series: --format json names all\n"), "{said}");
        let one = text(&year(1));
        assert!(one.contains("suspected: down since r300200: atom pf0"), "{one}");

        // Of many causes those of most series come first.
        let mut many = year(2);
        let both = many.suspects[0].clone();
        let single = |at: usize| Alert {
            id: format!("{at:08x}"),
            moved: both.moved[..1].to_vec(),
            ..both.clone()
        };
        many.suspects.splice(0..0, (0..10).map(single));
        let said = text(&many);
        assert!(said.starts_with(&format!("{} suspected: 2 series", both.id)), "{said}");
        assert_eq!(said.matches(" suspected: ").count(), NAMED, "{said}");
        assert!(said.contains("and 3 more suspected, of 3 series: --format json"), "{said}");
    }

    #[test]
    fn what_a_second_measurement_did_not_show_is_acknowledged_by_nobody() {
        let mut history = moved("", "frames/s", [2600.0, 2500.0]);
        let state = |history: &History| -> (String, serde_json::Value) {
            let json: serde_json::Value = serde_json::from_str(&json(history).unwrap()).unwrap();
            (text(history) + &markdown(history), json["alerts"][0]["state"].clone())
        };
        history.alerts[0].acknowledged = Some("measured again: alike".to_owned());
        assert_eq!(state(&history).1, "acknowledged");
        history.alerts[0].is_set_aside = true;
        let (said, own) = state(&history);
        assert_eq!(own, "not confirmed");
        assert!(said.contains("not confirmed: measured again") && !said.contains("acknowledged"));
    }

    #[test]
    fn which_way_is_worse_is_for_the_measure_to_say() {
        let is_worse = |measure, unit, levels| moved(measure, unit, levels).alerts[0].is_regression;
        assert!(is_worse("", "instructions/frame", [2500.0, 2600.0]));
        assert!(is_worse("", "frames/s", [2600.0, 2500.0]));
        assert!(is_worse("convergence", "s", [0.1, 0.2]));
        assert!(!is_worse("soak", "s", [0.1, 0.2]));
    }

    /// "Regression after r300000, at or before r300000", and an axis of r300000 alone.
    #[test]
    fn points_of_one_revision_are_told_apart_by_their_days() {
        let mut history = moved("", "frames/s", [2600.0, 2500.0]);
        let points = history.series.remove(0).points.into_iter().enumerate();
        let night = |(night, point): (usize, Point)| Point {
            revision: "r300000".into(),
            date: Some(format!("2026-{:02}-{:02}T02:00:00Z", 1 + night / 28, 1 + night % 28)),
            ..point
        };
        let history = find(points.map(night), &[], &Options::default());
        let said = text(&history);
        let place = "after r300000 2026-01-20, at or before r300000 2026-01-21,";
        assert!(said.contains(place), "{said}");
        let table = markdown(&history);
        assert!(table.contains("r300000 2026-01-20 … r300000 2026-01-21"), "{table}");
        let page = html(&history, std::path::Path::new("")).unwrap();
        assert!(page.contains("<td>r300000 2026-01-21</td>"), "{page}");
        assert!(page.contains("\"label\":\"r300000 2026-02-12\""), "{page}");
        let [(_, figure), _] = readme(&history).try_into().unwrap();
        let below: Vec<&str> = figure.lines().filter(|line| line.contains("y=\"272.0\"")).collect();
        let different: std::collections::BTreeSet<&str> =
            below.iter().filter_map(|line| line.split_once("middle\">")).map(|own| own.1).collect();
        assert!(below.len() > 5 && different.len() == below.len(), "{below:?}");
    }

    /// `r99999` stood behind `r312205`, and a day that was not known before all others.
    #[test]
    fn rows_for_otava_stand_in_the_order_of_their_series() {
        let point = |revision: &str, value: f64, configuration: &str| Point {
            series: Key {
                configuration: configuration.into(),
                unit: "frames/s".into(),
                ..Key::default()
            },
            revision: revision.into(),
            values: vec![value],
            ..Point::default()
        };
        let all = [
            point("n255412", 3.0, "a,\"b\""),
            point("r312205", 2.0, "a,\"b\""),
            point("r99999", 1.0, "pf"),
            point("r312205", 4.0, "pf"),
        ];
        let csv = otava(&find(all, &[], &Options::default()));
        let day = "1970-01-01T00:00:00Z";
        let wanted = format!(
            "time,commit,\"a,\"\"b\"\"\",pf\n{day},r99999,2,1\n{day},r312205,2,4\n{day},n255412,3,4\n"
        );
        assert_eq!(csv, wanted);
    }

    /// Otava stops at a cell that is empty, and at a row without a time.
    #[test]
    fn otava_is_given_no_gap() {
        let point = |revision: &str, configuration: &str, date: Option<&str>| Point {
            series: Key {
                configuration: configuration.into(),
                unit: "frames/s".into(),
                ..Key::default()
            },
            revision: revision.into(),
            date: date.map(str::to_owned),
            values: vec![f64::from(revision[1..].parse::<u32>().unwrap())],
            ..Point::default()
        };
        let all = [
            point("r1", "a", None),
            point("r2", "b", Some("2020-01-02T00:00:00Z")),
            point("r3", "a", None),
        ];
        let csv = otava(&find(all, &[], &Options::default()));
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        let day = "2020-01-02T00:00:00Z";
        let wanted = [("r1", "1,2"), ("r2", "1,2"), ("r3", "3,2")];
        let wanted = wanted.map(|(revision, cells)| format!("{day},{revision},{cells}"));
        assert_eq!(rows, wanted);
    }

    /// Its `latency` is in nanoseconds.
    #[test]
    fn bencher_is_given_no_seconds_as_nanoseconds() {
        let measure = |measure: &str, unit: &str| -> String {
            let own = bencher(&moved(measure, unit, [0.1, 0.2])).unwrap();
            let own: serde_json::Value = serde_json::from_str(&own).unwrap();
            let of_series = own.as_object().unwrap().values().next().unwrap();
            of_series.as_object().unwrap().keys().next().unwrap().clone()
        };
        assert_eq!(measure("", "frames/s"), "throughput");
        assert_eq!(measure("", "ns/frame"), "latency");
        assert_eq!(measure("convergence", "s"), "convergence-s");
        assert_eq!(measure("", "instructions/frame"), "cost-instructions-frame");
    }

    /// In a summary of GitHub's they were a row of six cells, and a picture that was loaded.
    #[test]
    fn names_of_strangers_stay_in_their_cells() {
        let hostile = "a|b <img src=x> ![p](http://x/y)";
        let point = |at: u32| Point {
            series: Key { machine: hostile.into(), unit: "frames/s".into(), ..Key::default() },
            revision: if at < 20 { format!("r{}|x", 300_000 + at) } else { format!("<b>{at}") },
            date: Some(format!("2020-{:02}-{:02}", 1 + at / 28, 1 + at % 28)),
            values: vec![if at < 20 { 1e6 } else { 0.9e6 }; 3],
            ..Point::default()
        };
        let table = markdown(&find((0..40).map(point), &[], &Options::default()));
        let row = table.lines().find(|line| line.contains("regression")).unwrap();
        assert_eq!(row.matches('|').count() - row.matches("\\|").count(), 7, "{row}");
        assert!(!row.contains("<img") && !row.contains("<b>") && !row.contains("![p"), "{row}");
    }
}
