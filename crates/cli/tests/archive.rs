//! Many results at once as a user sees them: trees of imported directories, several machines, and
//! years of results.
#![cfg(target_os = "linux")]

mod lab;

use std::fs;
use std::path::Path;

use lab::{Lab, text};
use serde_json::Value;

/// A published page's results, imported by an earlier version.
fn imported(to: &Path) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/old-results/imported");
    fs::create_dir_all(to).expect("a writable directory");
    fs::copy(golden.join("trials.jsonl"), to.join("trials.jsonl")).expect("a readable journal");
}

#[test]
fn a_tree_of_results_has_a_line_for_each_directory() {
    let lab = Lab::new("");
    for place in ["imp/apu/one", "imp/apu/two", "imp/xeon/three"] {
        imported(&lab.path(place));
    }
    let compared = lab.fwdlab(&["compare", "imp"]);
    let stdout = text(&compared.stdout);
    assert_eq!(compared.status.code(), Some(0), "{stdout}{}", text(&compared.stderr));
    assert!(stdout.starts_with("3 results directories, "), "{stdout}");
    let rows = |text: &str| {
        text.lines().filter(|l| l.starts_with("apu/") || l.starts_with("xeon/")).count()
    };
    assert_eq!(rows(&stdout), 3, "{stdout}");

    let json = lab.fwdlab(&["compare", "imp", "--format", "json"]);
    let all: Value = serde_json::from_str(&text(&json.stdout)).expect("JSON");
    let names: Vec<&str> = all
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|own| own["directory"].as_str())
        .collect();
    assert_eq!(names, ["apu/one", "apu/two", "xeon/three"]);
    let csv = text(&lab.fwdlab(&["compare", "imp", "--format", "csv"]).stdout);
    let heads = csv.lines().filter(|line| line.starts_with("directory,")).count();
    assert_eq!((heads, (csv.lines().count() - 1) % 3), (1, 0), "{csv}");
    let refused = lab.fwdlab(&["compare", "imp", "--format", "ministat"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("one results directory at a time"));
    let gated = lab.fwdlab(&["compare", "imp", "--fail-on", "inconclusive", "--fail-on", "slower"]);
    assert!(matches!(gated.status.code(), Some(0 | 1)), "{}", text(&gated.stderr));

    let report = lab.fwdlab(&["report", "imp"]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    assert_eq!(text(&report.stdout), stdout);
    assert!(lab.path("imp/xeon/three/README.md").is_file());
    let check = lab.fwdlab(&["report", "--check", "imp"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    fs::write(lab.path("imp/apu/two/README.md"), "edited").expect("a writable file");
    assert_eq!(lab.fwdlab(&["report", "--check", "imp"]).status.code(), Some(1));
}

/// Logs of rate searches, five of each image, around so many Mb/s.
fn searches(raw: &Path, images: [(&str, f64); 2]) {
    fs::create_dir_all(raw).expect("a writable directory");
    for (image, found) in images {
        for run in 1..=5u32 {
            let found = found + f64::from(run) / 10.0;
            let log = format!(
                "CMD on h: pkt-gen -f tx -l 60 -s 198.18.10.1:2000-198.18.10.20 \
                 -d 198.19.10.1:2000-198.19.10.100\nIteration 1\n  - Offering load = 100 Mb/s\n\
                 \x20 - Measured forwarding rate = {found} Mb/s\nIteration 2\n\
                 \x20 - Offering load = 50 Mb/s\n  - Measured forwarding rate = 50 Mb/s\n\
                 Estimated Equilibrium Ethernet throughput= {found} Mb/s (maximum value seen: {} Mb/s)\n",
                found + 1.0
            );
            fs::write(raw.join(format!("bench.{image}.inet4.{run}.sender")), log).expect("a log");
        }
    }
}

/// Only the sender of a rate search is logged: nobody counted flows, and nothing failed.
#[test]
fn a_rate_search_of_which_only_the_sender_is_logged_has_no_failed_check() {
    let lab = Lab::new("");
    let raw = lab.path("archive/Atom_4Cores/nic/ipsec/results/fbsd12/RAW");
    searches(&raw, [("r320657", 55.0), ("r320657D1", 60.0)]);
    let import = lab.fwdlab(&["import", "archive", "-o", "imp"]);
    assert!(text(&import.stdout).contains("0 failed"), "{}", text(&import.stdout));
    let report = lab.fwdlab(&["report", "imp"]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    let place = "imp/Atom_4Cores/nic/ipsec/results/fbsd12/README.md";
    let page = fs::read_to_string(lab.path(place)).expect("a report");
    assert!(page.contains("flows seen: 2,000 planned; no receiver was logged"), "{page}");
    assert!(!page.contains("FAILED") && page.contains("offered: searched for"), "{page}");
}

/// Names, files of what was found, and data of graphs come back byte for byte.
#[test]
fn rate_searches_are_exported_as_they_were_published() {
    let lab = Lab::new("");
    let dir = lab.path("archive/Atom_4Cores/nic/ipsec/results/fbsd12");
    searches(&dir, [("r320657", 55.0), ("r320657D1", 60.0)]);
    for (image, found) in [("r320657", 55.0), ("r320657D1", 60.0)] {
        let lines = |more: f64| -> String {
            (1..=5).map(|run| format!("{}\n", found + f64::from(run) / 10.0 + more)).collect()
        };
        for (ending, more) in [("equilibrium", 0.0), ("equilibrium.max", 1.0)] {
            fs::write(dir.join(format!("{image}.inet4.{ending}")), lines(more)).expect("a file");
        }
    }
    let rows = "#index median minimum maximum\nr320657.inet4 55.3 55.1 55.5\n\
                r320657D1.inet4 60.3 60.1 60.5\n";
    fs::write(dir.join("gnuplot.data"), rows).expect("a file");
    assert_eq!(lab.fwdlab(&["import", "archive", "-o", "imp"]).status.code(), Some(0));
    let export = lab.fwdlab(&["export", "--netbenches", "imp", "-o", "exp"]);
    let said = text(&export.stdout);
    assert!(said.contains("2 series, 10 runs, 0 failed"), "{said}");
    let back = lab.path("exp");
    for name in ["r320657.inet4.equilibrium", "r320657D1.inet4.equilibrium.max", "gnuplot.data"] {
        let read = |dir: &Path| fs::read_to_string(dir.join(name)).expect("a file");
        assert_eq!(read(&back), read(&dir), "{name}");
    }
    // and what was exported is read again as the same searches
    assert_eq!(lab.fwdlab(&["import", "exp", "-o", "again"]).status.code(), Some(0));
    let figures = |at: &str| {
        let trials = fs::read_to_string(lab.path(at).join("trials.jsonl")).expect("trials");
        let search = |line: &str| {
            let trial: Value = serde_json::from_str(line).expect("JSON");
            let steps = trial["proof"]["netbenches.equilibrium-steps"].clone();
            assert!(steps.as_str().is_some_and(|s| s.ends_with(", 50 Mb/s: 50 Mb/s")), "{steps}");
            [trial["rate_pps"].clone(), trial["search"].clone(), steps]
        };
        trials.lines().filter(|line| line.contains("rate_pps")).map(search).collect::<Vec<_>>()
    };
    assert_eq!(figures("imp/Atom_4Cores/nic/ipsec/results/fbsd12"), figures("again"));
}

/// 40 revisions of two configurations; pf is 5 % slower from r301000 on.
fn year(root: &Path) {
    year_of(root, [("forwarding", 1.0), ("pf-statefull", 0.95)]);
}

/// 40 revisions of two configurations, which move to so many times their rate at r301000.
fn year_of(root: &Path, configurations: [(&str, f64); 2]) {
    let dir = root.join("Atom_C2558_4Cores/Intel_i350/firewalls/results/fbsd.2017");
    fs::create_dir_all(&dir).expect("a writable directory");
    for at in 0..40u32 {
        for ((configuration, ratio), base) in configurations.into_iter().zip([826e3, 512e3]) {
            let level = base * if at >= 20 { ratio } else { 1.0 };
            let run = |n: u32| level * (1.0 + f64::from((at * 7 + n * 3) % 9) * 0.001);
            let lines: String = (0..5).map(|n| format!("{}\n", run(n))).collect();
            fs::write(dir.join(format!("{}.{configuration}.pps", 300_000 + at * 50)), lines)
                .expect("a writable directory");
        }
    }
}

#[test]
fn a_year_is_watched_and_what_is_known_passes() {
    let lab = Lab::new("");
    year(&lab.path("archive"));
    let watch =
        |more: &[&str]| lab.fwdlab(&[&["history", "archive", "--store", "h.jsonl"], more].concat());
    let failed = watch(&["--fail-on", "regression", "--output", "pages"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    for name in ["history.html", "README.md"] {
        assert!(lab.path("pages").join(name).is_file(), "{name}");
    }
    let points = fs::read_to_string(lab.path("h.jsonl")).expect("a store");
    assert_eq!(points.lines().count(), 80);
    let github = watch(&["--format", "github-action-benchmark"]);
    let github: Value = serde_json::from_str(&text(&github.stdout)).expect("JSON");
    let first = &github["customBiggerIsBetter"][0];
    assert!(first["name"].is_string() && first["value"].as_f64() > Some(0.0), "{first}");
    let bencher: Value =
        serde_json::from_str(&text(&watch(&["--format", "bencher"]).stdout)).expect("JSON");
    let measures = bencher.as_object().expect("an object").values();
    assert!(measures.into_iter().all(|own| own["throughput"]["value"].is_number()), "{bencher}");
    let otava = text(&watch(&["--format", "otava"]).stdout);
    assert_eq!((otava.lines().count(), otava.starts_with("time,commit,")), (41, true), "{otava}");

    let json: Value =
        serde_json::from_str(&text(&watch(&["--format", "json"]).stdout)).expect("JSON");
    let alert = &json["alerts"][0];
    assert_eq!((&alert["first_changed"], &alert["state"]), (&"301000".into(), &"open".into()));
    let id = alert["id"].as_str().expect("an id");
    let empty = ["history", "ack", id, "--reason", " ", "--store", "h.jsonl"];
    assert_eq!(lab.fwdlab(&empty).status.code(), Some(2));
    // a store of another name was an empty one, in which nothing is called so
    for other in [
        &["history", "ack", id, "--reason", "x", "--store", "g.jsonl"][..],
        &["history", "--store", "g.jsonl"],
    ] {
        let refused = lab.fwdlab(other);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("there is no store g.jsonl"), "{said}");
    }
    let known = ["history", "ack", id, "--reason", "pf got a lock", "--store", "h.jsonl"];
    assert_eq!(lab.fwdlab(&known).status.code(), Some(0));
    let passed = watch(&["--fail-on", "regression"]);
    assert_eq!(passed.status.code(), Some(0), "{}", text(&passed.stdout));
    assert!(text(&passed.stdout).contains("pf got a lock"), "{}", text(&passed.stdout));
    // nothing was added twice
    assert_eq!(fs::read_to_string(lab.path("h.jsonl")).expect("a store").lines().count(), 81);
}

/// `--control ""`, as of a variable that is not set, made each series its own control: no regression failed.
#[test]
fn a_control_that_is_every_series_is_refused() {
    let lab = Lab::new("");
    year(&lab.path("archive"));
    let with = |control: &str| {
        let watch = ["history", "archive", "--fail-on", "regression", "--control", control];
        let output = lab.fwdlab(&watch);
        (output.status.code(), text(&output.stderr))
    };
    for (control, code, words) in [
        ("", 2, "it is empty"),
        (" ", 2, "it is empty"),
        ("IPv", 2, "names every series"),
        ("misspelt", 1, "no series is called 'misspelt'"),
        ("forwarding", 1, ""),
    ] {
        let (is, said) = with(control);
        assert_eq!(is, Some(code), "{control:?}: {said}");
        assert!(said.contains(words), "{control:?}: {said}");
    }
}

/// The line of an acknowledgement held no size: whatever became of the change passed.
#[test]
fn an_acknowledged_change_that_grew_fails_again() {
    let lab = Lab::new("");
    year(&lab.path("archive"));
    assert_eq!(lab.fwdlab(&["history", "archive", "--store", "h.jsonl"]).status.code(), Some(0));
    let json = lab.fwdlab(&["history", "--store", "h.jsonl", "--format", "json"]);
    let json: Value = serde_json::from_str(&text(&json.stdout)).expect("JSON");
    let id = json["alerts"][0]["id"].as_str().expect("an id");
    let known = ["history", "ack", id, "--reason", "a lock", "--store", "h.jsonl"];
    assert_eq!(lab.fwdlab(&known).status.code(), Some(0));
    let store = fs::read_to_string(lab.path("h.jsonl")).expect("a store");
    let line = store.lines().last().expect("a line");
    let ack: Value = serde_json::from_str(line).expect("JSON");
    let percent = ack["sizes"][0]["percent"].as_f64().expect("a size");
    assert!((percent + 5.0).abs() < 0.5, "{ack}");
    // the same place with another size, and the same line without one
    let mut without = ack.clone();
    without.as_object_mut().expect("an object").remove("sizes");
    for (ratio, line, code) in
        [(0.95, &ack, 0), (0.8, &ack, 1), (0.95, &without, 0), (0.8, &without, 0)]
    {
        year_of(&lab.path("later"), [("forwarding", 1.0), ("pf-statefull", ratio)]);
        fs::write(lab.path("g.jsonl"), format!("{line}\n")).expect("a store");
        let watch = ["history", "later", "--store", "g.jsonl", "--fail-on", "regression"];
        let output = lab.fwdlab(&watch);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{ratio} {line}: {said}");
        let is_said = said.contains("open again: it was -5.0 % (") && said.contains("(a lock)");
        assert_eq!(is_said, code == 1, "{said}");
    }
}

/// The clearer improvement decided for both.
#[test]
fn a_regression_beside_a_clearer_improvement_fails() {
    let lab = Lab::new("");
    year_of(&lab.path("archive"), [("forwarding", 0.97), ("nat", 1.04)]);
    let run = |format: &str| {
        let watch = ["history", "archive", "--fail-on", "regression", "--format", format];
        let output = lab.fwdlab(&watch);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stdout)
    };
    let json: Value = serde_json::from_str(&run("json")).expect("JSON");
    let alerts = json["alerts"].as_array().expect("alerts");
    let worse: Vec<&Value> = alerts.iter().filter(|own| own["regression"] == true).collect();
    assert_eq!((alerts.len(), worse.len()), (2, 1), "{json}");
    assert!(worse[0]["moved"][0]["series"].to_string().contains("forwarding"), "{json}");
    let said = run("text");
    assert!(said.contains(" regression after") && said.contains(" improvement after"), "{said}");
}

/// Results whose baseline is the later revision were read as if it were the earlier.
#[test]
fn a_second_measurement_is_read_by_the_names_of_the_revisions() {
    let runs = |name: &str, level: f64| -> String {
        let run = |block: u32| {
            format!(
                "{name},{block},{:.1}\n",
                level + f64::from(block % 4) + f64::from(block % 3) / 10.0
            )
        };
        (1..=12).map(run).collect()
    };
    for (names, code, word) in [
        (["300950", "301000"], 1, "is confirmed"),
        (["300950.pf", "301000.pf"], 1, "is confirmed"),
        (["old", "new"], 2, "name the variants '300950' ($FWDLAB_BEFORE) and '301000'"),
        (["300950", "new"], 2, "results of '300950' and 'new'"),
    ] {
        for is_turned in [false, true] {
            let lab = Lab::new("");
            year(&lab.path("archive"));
            let mut both = [runs(names[0], 1000.0), runs(names[1], 950.0)];
            if is_turned {
                both.reverse();
            }
            let csv = format!("variant,block,rate [frames/s]\n{}", both.concat());
            fs::write(lab.path("again.csv"), csv).expect("results");
            let command = "mkdir -p confirm; cp again.csv $FWDLAB_RESULTS";
            let watch = ["history", "archive", "--store", "h.jsonl", "--fail-on", "regression"];
            let output = lab.fwdlab(&[&watch[..], &["--confirm", command]].concat());
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{names:?} {is_turned}: {said}");
            assert!(said.contains(word), "{names:?} {is_turned}: {said}");
        }
    }
}

/// What `--confirm` runs stands for a second measurement: here it reads one that was made.
#[test]
fn a_change_that_is_not_confirmed_is_not_reported() {
    for (after, code) in [(55.0, 1), (60.0, 0)] {
        let lab = Lab::new("");
        year(&lab.path("archive"));
        searches(&lab.path("again/RAW"), [("300950", 60.0), ("301000", after)]);
        let command = format!(
            "echo $FWDLAB_BEFORE $FWDLAB_AFTER $FWDLAB_SERIES >> asked; exec {} import again \
             -o \"$FWDLAB_RESULTS\"",
            env!("CARGO_BIN_EXE_fwdlab")
        );
        let watch = ["history", "archive", "--store", "h.jsonl", "--fail-on", "regression"];
        for _ in 0..2 {
            let output = lab.fwdlab(&[&watch[..], &["--confirm", &command]].concat());
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{said}");
            assert!(said.contains("confirmed") || said.contains("measured again"), "{said}");
        }
        let asked = fs::read_to_string(lab.path("asked")).expect("what was asked");
        assert_eq!(asked.lines().count(), 1, "it is asked once: {asked}");
        assert!(asked.starts_with("300950 301000 ") && asked.contains("pf-statefull"), "{asked}");
    }
}

/// Nights of three configurations that vary by half a per cent. nat has three bad days from the 27th on; pf and
/// ipfw lose 3 % at the 36th, which comes back at the 52nd.
fn nights(root: &Path, nights: std::ops::Range<u32>) {
    let dir = root.join("Atom_C2558_4Cores/Intel_i350/firewalls/results/fbsd.2017");
    fs::create_dir_all(&dir).expect("a writable directory");
    for at in nights {
        for (number, name) in ["nat", "pf", "ipfw"].into_iter().enumerate() {
            // suspected after three nights, and found after some more
            let (is_off, off) = match name {
                "nat" => ((27..30).contains(&at), 0.974),
                _ => ((36..52).contains(&at), 0.979),
            };
            let place = (u64::from(at) * 4 + number as u64 + 9).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let day = ((place >> 40) % 1_000) as f64 / 1_000.0 - 0.5;
            let level = 512_000.0 * (1.0 + 0.017 * day) * if is_off { off } else { 1.0 };
            let lines: String =
                (0..5).map(|n| format!("{}\n", level * (1.0 + f64::from(n) * 5e-4))).collect();
            fs::write(dir.join(format!("{}.{name}.pps", 300_000 + at * 50)), lines)
                .expect("a writable directory");
        }
    }
}

/// What was slower and is faster when it is measured again is no answer: it is not put away.
#[test]
fn a_second_measurement_that_shows_the_opposite_settles_nothing() {
    let lab = Lab::new("");
    searches(&lab.path("up/RAW"), [("a", 60.0), ("b", 62.0)]);
    let command = format!(
        "rm -rf again; mkdir -p again/RAW; for log in up/RAW/bench.a.*; do \
         cp $log again/RAW/bench.$FWDLAB_BEFORE.${{log#*bench.a.}}; done; \
         for log in up/RAW/bench.b.*; do \
         cp $log again/RAW/bench.$FWDLAB_AFTER.${{log#*bench.b.}}; done; \
         exec {} import again -o \"$FWDLAB_RESULTS\"",
        env!("CARGO_BIN_EXE_fwdlab")
    );
    nights(&lab.path("archive"), 0..30);
    let arguments = ["history", "archive", "--store", "h.jsonl", "--confirm", command.as_str()];
    let output = lab.fwdlab(&arguments);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("is contradicted") && said.contains("measure it again"), "{said}");
    assert!(!said.contains("set aside"), "{said}");
}

/// Suspected, measured again, one alert, acknowledged, taken back: each night with the store read again.
#[test]
fn an_alert_lives_from_a_suspicion_to_its_end() {
    let lab = Lab::new("");
    searches(&lab.path("nat/RAW"), [("a", 60.0), ("b", 60.0)]);
    searches(&lab.path("pf/RAW"), [("a", 60.0), ("b", 58.0)]);
    let command = format!(
        "echo $FWDLAB_SERIES >> asked; case $FWDLAB_SERIES in *nat*) of=nat;; *) of=pf;; esac; \
         rm -rf again; mkdir -p again/RAW; for log in $of/RAW/bench.a.*; do \
         cp $log again/RAW/bench.$FWDLAB_BEFORE.${{log#*bench.a.}}; done; \
         for log in $of/RAW/bench.b.*; do \
         cp $log again/RAW/bench.$FWDLAB_AFTER.${{log#*bench.b.}}; done; \
         exec {} import again -o \"$FWDLAB_RESULTS\"",
        env!("CARGO_BIN_EXE_fwdlab")
    );
    let run = |more: &[&str], code: i32| -> (String, Value) {
        let watch = ["history", "--store", "h.jsonl", "--fail-on", "regression"];
        let output = lab.fwdlab(&[&watch[..], more].concat());
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {said}");
        // the store alone says the same
        let again = lab.fwdlab(&[&watch[..], &["--format", "json"]].concat());
        assert_eq!(again.status.code(), Some(code), "{more:?}: {}", text(&again.stderr));
        (said, serde_json::from_str(&text(&again.stdout)).expect("JSON"))
    };
    let night = |last: u32, more: &[&str], code: i32| {
        nights(&lab.path("archive"), 0..last);
        run(&[&["archive"], more].concat(), code)
    };
    let confirm = ["--confirm", command.as_str()];
    let all = |json: &Value, name: &str| json[name].as_array().expect("a list").clone();
    // alerts that somebody should look at, and suspicions
    let count = |json: &Value| {
        let open = all(json, "alerts").iter().filter(|own| own["state"] == "open").count();
        (open, all(json, "suspects").len())
    };
    let newest = |json: &Value| all(json, "alerts").last().cloned().expect("an alert");

    assert_eq!(count(&night(27, &confirm, 0).1), (0, 0));
    assert_eq!(count(&night(29, &confirm, 0).1), (0, 0), "two bad days are no change");
    let (said, json) = night(30, &[], 0);
    assert_eq!(count(&json), (0, 1), "{said}");
    assert!(said.contains("nat") && said.contains("measure it again"), "{said}");
    // measured again: not confirmed, and set aside
    let (said, json) = run(&confirm, 0);
    assert!(said.contains("is not confirmed") && said.contains("set aside"), "{said}");
    assert!(json["suspects"][0]["reason"].is_string(), "{json}");
    let (said, json) = night(33, &confirm, 0);
    assert_eq!(count(&json), (0, 0), "the bad days are over: {said}");

    // two series at one place are one suspicion, measured again once, and one alert
    assert_eq!(count(&night(38, &confirm, 0).1), (0, 0));
    let (said, json) = night(39, &[], 0);
    assert_eq!(count(&json), (0, 2), "{said}");
    assert_eq!(json["suspects"][0]["id"], json["suspects"][1]["id"], "{said}");
    let (said, json) = night(39, &confirm, 1);
    assert!(said.contains("is confirmed") && said.contains("regression after"), "{said}");
    assert_eq!((count(&json), newest(&json)["moved"].as_array().map(Vec::len)), ((1, 0), Some(2)));
    assert!(newest(&json)["confirmed"].is_string(), "{json}");
    for last in [40, 44, 47] {
        let (said, json) = night(last, &confirm, 1);
        assert_eq!(count(&json), (1, 0), "night {last}: {said}");
        assert!(said.contains("; confirmed"), "night {last}: {said}");
    }
    let asked = fs::read_to_string(lab.path("asked")).expect("what was asked");
    assert_eq!(asked.lines().count(), 3, "each is asked once: {asked}");

    let (_, json) = run(&[], 1);
    let id = newest(&json)["id"].as_str().expect("an id").to_owned();
    let known = ["history", "ack", &id, "--reason", "pf got a lock", "--store", "h.jsonl"];
    assert_eq!(lab.fwdlab(&known).status.code(), Some(0));
    let (said, json) = night(50, &confirm, 0);
    assert!(said.contains("acknowledged: pf got a lock"), "{said}");
    let known = all(&json, "alerts").into_iter().find(|own| own["id"] == id);
    assert_eq!(known.map(|own| own["state"].clone()), Some("acknowledged".into()), "{said}");

    // the level is back: that alert is closed, and what brought it back is an alert of its own
    let (said, json) = night(64, &[], 0);
    assert!(said.contains("taken back since"), "{said}");
    let states = |json: &Value| -> Vec<(String, bool)> {
        let all = all(json, "alerts");
        all.iter().map(|own| (own["state"].to_string(), own["regression"] == true)).collect()
    };
    let wanted = [("\"closed\"".to_owned(), true), ("\"open\"".to_owned(), false)];
    assert!(states(&json).ends_with(&wanted), "{said}");
    let output = lab.fwdlab(&["history", "--store", "h.jsonl", "--fail-on", "change"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
}

/// A published page of one machine: both families, its block and a call graph.
fn page(root: &Path) {
    let dir = root.join("M-1000_4Cores/Card_x/firewalls/results/a");
    let raw = dir.join("RAW");
    fs::create_dir_all(&raw).expect("a writable directory");
    let put = |path: &Path, text: &str| fs::write(path, text).expect("a writable directory");
    let mut readme = String::from("Impact of D1\n");
    for (family, ranges) in [
        ("inet4", "-l 60 -4 -s 198.18.10.1-198.18.10.20 -d 198.19.10.1-198.19.10.100"),
        (
            "inet6",
            "-l 62 -6 -s [2001:2:0:10::1]-[2001:2:0:10::14] -d [2001:2:0:8010::1]-[2001:2:0:8010::64]",
        ),
    ] {
        let mut sets = Vec::new();
        for (variant, level) in [("r100", 700_000), ("r100D1", 770_000)] {
            // of each family others: logs that are alike are copies
            let level = level + u32::from(family == "inet6") * 300;
            let rates: Vec<u32> = (1..=5).map(|run| level + run * 1000).collect();
            for (run, rate) in (1..).zip(&rates) {
                let log = |command: &str, rate: u32| {
                    let mut text = format!("CMD: pkt-gen -i x {command}\n");
                    text += &"1.0 main [0] interface is x\n".repeat(14);
                    for second in 2..22 {
                        text += &format!(
                            "{second:03}.000000 main_thread [2277] {rate} pps ({rate} pkts 9 bps in 1000000 usec) 1.0 avg_batch 0 min_space\n"
                        );
                    }
                    text + &"Received 9 packets\n".repeat(10)
                };
                let name = format!("bench.{variant}.{family}.{run}");
                put(
                    &raw.join(format!("{name}.sender")),
                    &log(&format!("-f tx {ranges}"), 1_400_000),
                );
                put(&raw.join(format!("{name}.receiver")), &log("-f rx", *rate));
            }
            let info = format!("IMAGE=\"{variant}\"\nCFG=\"\"\nPKTGEN=\"{family}\"\nUNAME=\"\"\n");
            put(&raw.join(format!("bench.{variant}.{family}.info")), &info);
            let lines: String = rates.iter().map(|rate| format!("{rate}\n")).collect();
            put(&dir.join(format!("{variant}.{family}.pps")), &lines);
            sets.push((variant, rates));
        }
        readme += &format!("\n{family}:\n```\n");
        for (mark, (variant, _)) in ["x", "+"].iter().zip(&sets) {
            readme += &format!("{mark} {variant}: {family} packets-per-second\n");
        }
        readme += "    N           Min           Max        Median           Avg        Stddev\n";
        for (mark, (_, rates)) in ["x", "+"].iter().zip(&sets) {
            let (low, high, middle) = (rates[0], rates[4], rates[2]);
            readme += &format!(
                "{mark}   5        {low}        {high}        {middle}        {middle}     1581.1388\n"
            );
        }
        readme += "```\n";
    }
    put(&dir.join("README.md"), &readme);
}

#[test]
fn an_export_is_audited_and_put_into_a_history_as_what_was_published() {
    let lab = Lab::new("");
    page(&lab.path("pub"));
    for arguments in [["import", "pub", "-o", "imp"], ["import", "exp", "-o", "again"]] {
        if arguments[1] == "exp" {
            let out = lab.fwdlab(&[
                "export",
                "--netbenches",
                "imp",
                "-o",
                "exp/M-1000_4Cores/Card_x/firewalls/results/a",
            ]);
            assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        }
        let out = lab.fwdlab(&arguments);
        let said = text(&out.stdout);
        assert!(said.starts_with("40 logs: 20 trials in 1 directory, 0 failed"), "{said}");
    }
    let series = |tree: &str| -> Vec<String> {
        let json = lab.fwdlab(&["history", tree, "--format", "json"]);
        let all: Value = serde_json::from_str(&text(&json.stdout)).expect("JSON");
        let names = all["series"].as_array().expect("a list").iter();
        names.map(|own| format!("{} {}", own["name"], own["points"])).collect()
    };
    let published = series("pub");
    assert_eq!(published.len(), 2, "{published:?}");
    assert!(published.iter().any(|own| own.contains("IPv6 66 B 2000 flows")), "{published:?}");
    assert_eq!(series("exp"), published);
    let audit = |tree: &str| text(&lab.fwdlab(&["audit", tree]).stdout).replace(tree, "TREE");
    assert_eq!(audit("exp"), audit("pub"));
}

/// The published machines with one change, read together.
#[test]
fn the_seeds_machines_are_put_together() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/netbenches");
    if !seeds.is_dir() {
        println!("SKIPPED: the_seeds_machines_are_put_together: no {}", seeds.display());
        return;
    }
    let lab = Lab::new("");
    let import = lab.fwdlab(&["import", &seeds.to_string_lossy(), "-o", "imp"]);
    assert_eq!(import.status.code(), Some(0), "{}", text(&import.stderr));
    let dirs = [
        "imp/Atom_C2758_8Cores/Chelsio_T540-CR/firewalls/results/fbsd13-r368287.D27401v4",
        "imp/AMD_GX-412TC_4Cores/Intel_i210AT/firewalls/results/fbsd13-r368606.D27401v4",
        "imp/AMD_GX-412TC_4Cores/Intel_i210AT/firewalls/results/fbsd13-D27401",
    ];
    let report = lab.fwdlab(&[&["report"], &dirs[..], &["-o", "all", "--mixed"]].concat());
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/machines.txt");
    let stdout = text(&report.stdout);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &stdout).expect("a writable directory");
    }
    assert_eq!(stdout, fs::read_to_string(&golden).unwrap_or_default());
    let page = fs::read_to_string(lab.path("all/README.md")).expect("a page");
    assert!(page.contains("## The same change on all machines"), "{page}");
    assert!(lab.path("all/forest-r368606D27401v4-inet4.svg").is_file());
}
