//! Frames that go both ways at once.

use std::path::Path;

use fwdlab_builtin::Builtin;
use fwdlab_device::Place;
use fwdlab_experiment::{Experiment, Problems};
use fwdlab_results::{Measured, Trial};

fn text(keys: &str, traffic: &str, routes: &str) -> String {
    format!(
        "title = \"t\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"20ms\"\n\
         interval = \"20ms\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.1-198.19.10.9:7\"\ndirection = \"both\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", {routes}]\n"
    )
}

fn parsed(text: &str) -> Result<Experiment, Problems> {
    Experiment::parse(Path::new("t.toml"), text, &[&Builtin])
}

const BACK: &str = "\"198.18.0.0/16 via 198.18.0.203\"";

fn trial(text: &str) -> Option<Trial> {
    crate::trial(text, Place::default(), &mut || {})
}

/// Sent, received and lost of each way.
fn counts(measured: &Measured) -> [[u64; 3]; 2] {
    let of = |at: usize| {
        let way = &measured.ways[at];
        [way.sent, way.received, way.checks.lost]
    };
    [of(0), of(1)]
}

#[test]
fn both_ways_are_counted_to_the_frame_and_the_rate_is_their_sum() {
    let Some(trial) = trial(&text("latency = true", "flows = 72", BACK)) else { return };
    assert_eq!(trial.reason, None);
    let measured = &trial.measured;
    let [ahead, back] = counts(measured);
    assert!(ahead[0] > 0 && back[0] > 0);
    assert_eq!((ahead[2], back[2]), (0, 0));
    assert_eq!(Some(ahead[0] + back[0]), measured.sent);
    assert_eq!(ahead[1] + back[1], measured.received);
    assert_eq!(measured.flows_seen, Some(144));
    for way in &measured.ways {
        // By the counters of the device's two ports.
        assert_eq!((way.device_received, way.device_sent), (Some(way.sent), Some(way.received)));
        assert_eq!(way.latency.unwrap().frames, way.received);
    }
    let sum: f64 = measured.ways.iter().map(|way| trial.way_pps(way).unwrap()).sum();
    assert!((sum / trial.rate_pps.unwrap() - 1.0).abs() < 0.2, "{sum} {:?}", trial.rate_pps);
}

#[test]
fn a_route_that_is_missing_one_way_loses_exactly_the_frames_of_that_way() {
    // Half the sources have no way back: 198.18.10.4 to .7.
    let half = "\"198.18.10.0/30 via 198.18.0.203 port 0\"";
    let Some(trial) = trial(&text("allow = [\"no-route\"]", "", half)) else { return };
    assert_eq!(trial.reason, None);
    let [ahead, back] = counts(&trial.measured);
    assert_eq!(ahead[2], 0, "{ahead:?}");
    assert_eq!(trial.measured.dropped(), Some(back[2]));
    // Flows take turns, so that it is half of them but for what ends within a turn.
    assert!(back[2].abs_diff(back[0] / 2) <= 72, "{back:?}");
    let loss = trial.measured.ways[1].loss_ratio();
    assert!(loss > 0.4 && loss < 0.6, "{loss}");
}

/// Routes of a file all leave by port 1, those to the sources too.
#[test]
fn a_file_that_leads_all_frames_back_to_their_senders_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let table = scratch.path().join("table.txt");
    std::fs::write(&table, "198.18.10.0/24\n").unwrap();
    let text = text("", "", BACK) + &format!("file = {table:?}\n");
    let refused = Experiment::of_text(Path::new("t.toml"), &text, &[&Builtin]);
    let said = refused.expect_err("refused").to_string();
    let named = format!("(198.18.10.0/24, {}:1) leads to the destinations", table.display());
    assert!(said.contains(&named) && said.contains("t.toml:"), "{said}");
    assert!(said.contains("add \"198.18.10.0/24 via 198.18.0.203 port 0\" to [routes]"), "{said}");
}

#[test]
fn a_load_is_that_of_each_way() {
    let Some(trial) = trial(&text("", "load = \"50kpps\"", BACK)) else { return };
    assert_eq!(trial.offered_pps_asked, Some(100_000.0));
    for way in &trial.measured.ways {
        // 120 ms; frames that fall due while the machine pauses for long are given up.
        assert!(way.sent > 0 && way.sent <= 6_001, "{}", way.sent);
        assert_eq!(way.checks.lost, 0);
    }
    let [ahead, back] = counts(&trial.measured);
    assert!(ahead[0].abs_diff(back[0]) <= 600, "{ahead:?} {back:?}");
}

#[test]
fn a_search_finds_the_rate_of_both_together() {
    let Some(trial) = trial(&text("measure = \"pdr\"", "", BACK)) else { return };
    let search = trial.measured.search.as_ref().unwrap();
    assert!(search.lower_pps > 0.0 && search.mrr_pps > 0.0);
    assert_eq!(trial.measured.ways.len(), 2);
}

#[test]
fn what_cannot_go_both_ways_is_refused_where_it_stands() {
    let refused = |keys: &str, traffic: &str, routes: &str| {
        parsed(&text(keys, traffic, routes)).expect_err("refused").to_string()
    };
    let said = refused("", "", "");
    assert!(said.contains("no route covers 198.18.10.0"), "{said}");
    assert!(said.contains("every source") && said.contains("t.toml:"), "{said}");
    let said = refused("", "", "\"198.18.0.0/16 via 198.18.0.203 port 1\"");
    assert!(said.contains("leads to the destinations"), "{said}");
    for measure in ["back-to-back", "reset"] {
        let said = refused(&format!("measure = {measure:?}"), "", BACK);
        assert!(said.contains("go both ways beside measure"), "{said}");
    }
    let churn = text("", "", BACK) + "generate = 10\n[churn]\nflap = 5\nrates = [10]\n";
    let said = parsed(&churn).expect_err("refused").to_string();
    assert!(said.contains("[churn]"), "{said}");
    let wrong = text("", "", BACK).replace("\"both\"", "\"bath\"");
    let said = parsed(&wrong).expect_err("refused").to_string();
    assert!(said.contains("no direction \"bath\""), "{said}");
}
