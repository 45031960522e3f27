//! `[churn]`: routes that change while frames flow.

use std::path::PathBuf;
use std::time::Duration;

use fwdlab_routes::Prefix;

use super::fields::{Found, Section, integer_of, shown};
use super::model::{Churn, ChurnSource, ListedChange, Traffic};
use super::problem::{Complaint, Complaints};
use super::schema::TrafficPlace;
use super::{parts, quantity};

/// Most changes a second.
const MOST_PER_S: u64 = 1_000_000;
/// Most routes that flap.
const MOST_FLAPPING: u64 = 2_000_000;

const RATES: &str = "[0, 1000, 100000]";
const CHANGE: &str = "\"250ms withdraw 198.51.100.0/24\"";

/// Reads the table, if the file has one.
pub(super) fn read(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<Found<Churn>> {
    let at = top.value("churn").map(|found| found.at)?;
    let mut section = top.table("churn", complaints)?;
    let flap =
        section.integer("flap", 1..=MOST_FLAPPING, complaints).map(|found| found.value as u32);
    let file = section.text("file", "\"updates.mrt.gz\"", complaints);
    let file = file.map(|found| PathBuf::from(found.value));
    let listed = read_listed(&mut section, complaints);
    let rates = read_rates(&mut section, complaints);
    section.finish(complaints);
    let has_list = !listed.is_empty();
    let source = match (flap, file, has_list) {
        (Some(routes), None, false) => ChurnSource::Flap(routes),
        (None, Some(file), false) => ChurnSource::File(file),
        (None, None, true) => ChurnSource::Listed(listed),
        _ => {
            let complaint = Complaint::new(
                "it does not say which routes change",
                "one of flap = 1000, file = \"updates.mrt.gz\" and changes = [...]",
                "write one of the three",
            );
            complaints.add(&at, "churn", complaint);
            return None;
        }
    };
    if has_list != rates.is_empty() {
        let complaint = match has_list {
            true => Complaint::new(
                "a list of changes says itself when each is due",
                "no rates beside changes",
                "remove rates",
            ),
            false => Complaint::new(
                "it does not say how many routes change a second",
                format!("a list of rates such as {RATES}"),
                format!("write rates = {RATES}"),
            ),
        };
        complaints.add(&at, "churn.rates", complaint);
        return None;
    }
    Some(Found { field: "churn".to_owned(), at, value: Churn { source, rates } })
}

fn read_rates(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Vec<u32> {
    let mut rates: Vec<u32> = Vec::new();
    for Found { field, at, value } in section.list("rates", RATES, complaints) {
        match integer_of(value).filter(|rate| *rate <= MOST_PER_S) {
            Some(rate) if !rates.contains(&(rate as u32)) => rates.push(rate as u32),
            _ => {
                let complaint = Complaint::new(
                    format!("{} is no rate, or stands twice", shown(value)),
                    format!("changes a second, whole numbers from 0 to {MOST_PER_S}"),
                    format!("write rates = {RATES}"),
                );
                complaints.add(&at, &field, complaint);
            }
        }
    }
    rates
}

fn read_listed(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Vec<ListedChange> {
    let mut listed: Vec<ListedChange> = Vec::new();
    for found in section.list("changes", CHANGE, complaints) {
        let Some(Found { field, at, value }) = found.into_text(CHANGE, complaints) else {
            continue;
        };
        let Some(change) = complaints.keep(&at, &field, parse(value)) else { continue };
        listed.push(change);
    }
    listed.sort_by_key(|change| change.at);
    listed
}

/// Reads `250ms PREFIX via GATEWAY` or `250ms withdraw PREFIX`.
fn parse(text: &str) -> Result<ListedChange, Complaint> {
    let form = || {
        Complaint::new(
            format!("{text:?} is no change of a route"),
            "TIME PREFIX via GATEWAY, or TIME withdraw PREFIX, the time from the start of a trial",
            format!("write for instance {CHANGE}"),
        )
    };
    let (time, route) = text.trim().split_once(char::is_whitespace).ok_or_else(form)?;
    let at = match time {
        "0" | "0s" | "0ms" => Duration::ZERO,
        time => quantity::duration(time, Duration::from_micros(1))?,
    };
    let words: Vec<&str> = route.split_whitespace().collect();
    match words[..] {
        ["withdraw", prefix] => {
            let prefix: Prefix =
                prefix.parse().map_err(|why| parts::prefix_complaint(prefix, why))?;
            Ok(ListedChange { at, prefix, gateway: None })
        }
        [_, "via", _] => {
            let (route, _) = parts::parse_route(route)?;
            Ok(ListedChange { at, prefix: route.prefix, gateway: Some(route.gateway) })
        }
        _ => Err(form()),
    }
}

/// Each traffic once for each rate of changes, named after it; the traffics as they are without
/// rates.
pub(super) fn join(
    placed: Vec<(Traffic, TrafficPlace)>,
    churn: Option<&Churn>,
) -> Vec<(Traffic, TrafficPlace)> {
    let Some(churn) = churn.filter(|churn| !churn.rates.is_empty()) else { return placed };
    let mut joined = Vec::new();
    for (traffic, place) in placed {
        for &rate in &churn.rates {
            let name = format!("{}-{rate}", traffic.name);
            joined.push((
                Traffic { name, changes_per_s: Some(rate), ..traffic.clone() },
                place.clone(),
            ));
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use crate::{Anything, ChurnSource, Experiment, Problems};

    fn with(keys: &str, churn: &str) -> Result<Experiment, Problems> {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\n\
             name = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\n\
             destination = \"198.19.0.1:7\"\n[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n\
             generate = 100\n[churn]\n{churn}\n"
        );
        Experiment::parse(Path::new("lab/churn.toml"), &text, &[&Anything])
    }

    #[test]
    fn each_traffic_runs_with_each_rate() {
        let experiment = with("", "flap = 10\nrates = [0, 1000]").unwrap();
        let shown: Vec<_> =
            experiment.traffics.iter().map(|t| (t.name.as_str(), t.changes_per_s)).collect();
        assert_eq!(shown, [("inet-0", Some(0)), ("inet-1000", Some(1000))]);
        let churn = experiment.churn.unwrap();
        assert_eq!((churn.source, churn.rates), (ChurnSource::Flap(10), vec![0, 1000]));
        let experiment = with("", "file = \"updates.mrt\"\nrates = [5]").unwrap();
        assert_eq!(experiment.updates_file().unwrap(), Path::new("lab/updates.mrt"));
        assert!(experiment.recorded_sha256().unwrap().is_none(), "the file is not at hand");
    }

    #[test]
    fn a_list_says_when_each_change_is_due() {
        let changes = "changes = [\"1s withdraw 10.0.0.0/8\", \"250ms 10.0.0.0/8 via 198.19.0.7\"]";
        let experiment = with("", changes).unwrap();
        assert_eq!(experiment.traffics[0].name, "inet");
        let ChurnSource::Listed(listed) = experiment.churn.unwrap().source else {
            panic!("a list");
        };
        let shown: Vec<_> = listed.iter().map(|c| (c.at, c.gateway.is_some())).collect();
        assert_eq!(shown, [(Duration::from_millis(250), true), (Duration::from_secs(1), false)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (keys, churn, wanted) in [
            ("", "rates = [1]", "which routes change"),
            ("", "flap = 1\nfile = \"u\"\nrates = [1]", "which routes change"),
            ("", "flap = 1", "how many routes change a second"),
            ("", "flap = 1\nrates = [1, 1]", "stands twice"),
            ("", "flap = 1\nrates = [2000000]", "is no rate"),
            ("", "changes = [\"1s withdraw 10.0.0.0/8\"]\nrates = [1]", "says itself when"),
            ("", "changes = [\"soon\"]", "is no change of a route"),
            ("", "changes = [\"1s withdraw 10.0.0.1/8\"]", "has host bits set"),
            ("measure = \"ndr\"", "flap = 1\nrates = [1]", "searches for a rate"),
        ] {
            let problems = with(keys, churn).unwrap_err().to_string();
            assert!(problems.contains(wanted), "{churn}: {problems}");
        }
    }
}
