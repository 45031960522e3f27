mod hostile;

use super::*;
use crate::built::KERNEL_BUILT;
use crate::tests::published;
use fwdlab_results::{Metric, Results};

fn log(kind: &str, rate: u64, seed: u64) -> String {
    let command = if kind == "sender" {
        "CMD on h: pkt-gen -f tx -i a -l 60 -s 1.1.1.1:1-1.1.1.20 -d 2.2.2.1:1-2.2.2.100"
    } else {
        "CMD on h: pkt-gen -f rx -i b"
    };
    let line = |i: u64| {
        let pps = rate + (i * 7 + seed) % 5;
        format!("{:03}.0 main_thread [9] {pps} pps ({pps} pkts 1 bps in 1000000 usec)\n", 100 + i)
    };
    let header = "100.0 main [1] x\n".repeat(14);
    format!("{command}\n{header}{}", (0..30).map(line).collect::<String>())
}

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let raw = root.path().join("machine/results/a/RAW");
    fs::create_dir_all(&raw).unwrap();
    for (variant, rate) in [("r1", 500), ("r1D2", 600)] {
        for run in 1..=3 {
            for kind in ["receiver", "sender"] {
                let rate = if kind == "sender" { 900 } else { rate };
                fs::write(
                    raw.join(format!("bench.{variant}.inet4.{run}.{kind}")),
                    log(kind, rate, run),
                )
                .unwrap();
            }
        }
        fs::write(
            raw.join(format!("bench.{variant}.inet4.info")),
            format!("IMAGE=\"{variant}\"\nCFG=\"\"\nPKTGEN=\"inet4\"\nUNAME=\"FreeBSD x 12.0-CURRENT #0 r1M: Tue Jul  4 21:50:10 CEST 2017 o@l\""),
        )
        .unwrap();
    }
    fs::write(raw.join("bench.r1.inet4.pmc.graph"), "@ E [1 samples]\n\n100% [1] a\n 100% [1] b\n")
        .unwrap();
    fs::write(root.path().join("machine/results/a/README.md"), "Impact of D2\n").unwrap();
    root
}

/// "Impact of D2:" stayed a title, with its colon.
#[test]
fn a_title_ends_without_the_colon_that_leads_to_what_follows() {
    for (first, title) in [
        ("# Impact of D2 :", "Impact of D2"),
        ("Ratio 1:2", "Ratio 1:2"),
        (":", "machine/results/a"),
    ] {
        let (root, out) = (tree(), tempfile::tempdir().unwrap());
        let page = root.path().join("machine/results/a/README.md");
        fs::write(page, format!("{first}\n")).unwrap();
        import(root.path(), out.path()).unwrap();
        let results = Results::read(&out.path().join("machine/results/a")).unwrap();
        assert_eq!(results.campaign.title, title);
    }
}

/// A page that begins with a byte order mark, or whose first line has a tab, made results that nothing read; so did
/// two hundred characters of three bytes.
#[test]
fn a_title_is_one_that_results_can_have() {
    let long = "影".repeat(220);
    for (page, title) in [
        ("\u{feff}# Impact of D2\r\n", "Impact of D2"),
        ("Impact\tof\u{200b}D2\n", "Impact of D2"),
        ("\u{feff}\nImpact\rof D2", "Impact"),
        (long.as_str(), &"影".repeat(166)),
    ] {
        let (root, out) = (tree(), tempfile::tempdir().unwrap());
        fs::write(root.path().join("machine/results/a/README.md"), page).unwrap();
        import(root.path(), out.path()).unwrap();
        let results = Results::read(&out.path().join("machine/results/a")).unwrap();
        assert_eq!(results.campaign.title, title);
    }
}

/// They made results that nothing read, and an export of a tree ended at the first of them.
#[test]
fn what_no_results_can_hold_is_left_out_and_said() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let dir = root.path().join("machine/results/a");
    let raw = dir.join("RAW");
    fs::write(raw.join("bench.r1\u{200b}.inet4.1.receiver"), log("receiver", 500, 9)).unwrap();
    let sender = log("sender", 900, 9).replace("-l 60", "-l 60 -R 99999999999999999999");
    fs::write(raw.join("bench.r1.inet4.1.sender"), sender).unwrap();
    fs::write(dir.join("README.md"), "# Impact of D2\n".repeat(1 << 20)).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    let said = imported.skipped.join("\n");
    assert_eq!((imported.trials, imported.skipped.len()), (6, 2), "{said}");
    assert!(said.contains("r1\\u{200b}") && said.contains("README.md: more than"), "{said}");
    let results = Results::read(&out.path().join("machine/results/a")).unwrap();
    assert_eq!(results.campaign.variants, ["r1", "r1D2"]);
    assert_eq!(results.campaign.title, "Impact of D2");
}

#[test]
fn published_runs_become_trials_of_variants() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!((imported.directories, imported.trials, imported.failed), (1, 6, 0));
    assert_eq!((imported.logs, imported.profiles), (12, 1));
    let results = Results::read(&out.path().join("machine/results/a")).unwrap();
    assert_eq!(results.campaign.variants, ["r1", "r1D2"]);
    assert_eq!(
        (results.campaign.baseline.as_str(), results.campaign.title.as_str()),
        ("r1", "Impact of D2")
    );
    assert_eq!(results.campaign.device, "imported");
    // A kernel's build is no start of a trial: it has a name of its own.
    assert_eq!(results.campaign.started, "");
    assert!(results.trials.iter().all(|trial| trial.started.is_none()));
    let proof = &results.trials[0].measured.proof;
    assert!(proof["uname"].contains("Jul  4 21:50:10"));
    assert_eq!(proof[KERNEL_BUILT], "2017-07-04T21:50:10Z");
    assert_eq!(results.figures(Metric::Rate, "r1D2", "inet4").len(), 3);
    assert_eq!(results.trials[0].flows_planned, Some(2000));
    let folded = out.path().join("machine/results/a/profiles/r1.inet4.folded");
    assert_eq!(fs::read_to_string(folded).unwrap(), "b;a 1\n");
    assert!(out.path().join("machine/results/a/import.json").is_file());
}

#[test]
fn broken_and_copied_logs_are_failed_trials_and_never_vanish() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let raw = root.path().join("machine/results/a/RAW");
    fs::write(raw.join("bench.r1.inet4.1.receiver"), [0xff, 0, 0xfe]).unwrap();
    fs::copy(raw.join("bench.r1.inet4.2.receiver"), raw.join("bench.r1.inet4.3.receiver")).unwrap();
    fs::remove_file(raw.join("bench.r1D2.inet4.2.receiver")).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!((imported.trials, imported.failed), (6, 3));
    let reasons: Vec<&str> = imported.reasons.keys().map(String::as_str).collect();
    assert_eq!(
        reasons,
        [
            "receiver log: no line of pkt-gen in it",
            "the receiver log is a copy of that of b02-inet4-r1",
            "there is no receiver log"
        ]
    );
}

#[test]
fn nothing_is_overwritten() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    fs::write(out.path().join("mine"), "x").unwrap();
    assert!(import(root.path(), out.path()).is_err());
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 1);
}

#[test]
fn names_never_lead_out_of_the_output() {
    assert_eq!(safe_path("../../etc//x\\y"), PathBuf::from("_../_../etc/x_y"));
    assert_eq!(safe_name(""), "_");
    assert_eq!(safe_name("/etc/passwd"), "_etc_passwd");
}

#[test]
fn the_published_directories_import_without_a_failed_trial() {
    let Some(root) = published("the_published_directories_import_without_a_failed_trial") else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let imported = import(&root, out.path()).unwrap();
    assert_eq!(
        (imported.directories, imported.trials, imported.failed),
        (6, 150, 0),
        "{:?}",
        imported.reasons
    );
    assert!(imported.profiles >= 12);
    let results = Results::read(
        &out.path().join("AMD_GX-412TC_4Cores/Intel_i210AT/firewalls/results/fbsd13-D27401"),
    )
    .unwrap();
    assert_eq!(results.campaign.baseline, "r368287");
    assert_eq!(results.campaign.variants.len(), 5);
}

#[test]
fn import_then_export_gives_names_medians_and_graphs_back_byte_for_byte() {
    let test = "import_then_export_gives_names_medians_and_graphs_back_byte_for_byte";
    let Some(root) = published(test) else { return };
    let (imported, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    import(&root, imported.path()).unwrap();
    let mut compared = 0;
    for dir in crate::archive::Archive::scan(&root).unwrap().dirs {
        let results = Results::read(&imported.path().join(&dir.relative)).unwrap();
        let to = out.path().join(&dir.relative);
        crate::export::export(&results, &to).unwrap();
        for file in dir.pps.values().chain(&dir.graph_data).chain(&dir.readmes) {
            let back = to.join(file.file_name().unwrap());
            assert_eq!(fs::read(&back).unwrap(), fs::read(file).unwrap(), "{}", back.display());
            compared += 1;
        }
        for prefix in dir.configurations.keys() {
            assert!(to.join(format!("RAW/bench.{prefix}.1.receiver")).is_file(), "{prefix}");
        }
    }
    assert!(compared >= 36, "{compared}");
}

#[test]
fn where_image_and_configuration_were_varied_the_image_is_the_variant() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let raw = root.path().join("machine/results/a/RAW");
    let old: Vec<PathBuf> = fs::read_dir(&raw).unwrap().map(|e| e.unwrap().path()).collect();
    for path in old {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (from, to) in [("r1.", "293069.pf."), ("r1D2.", "293643.forwarding.")] {
            if let Some(rest) = name.strip_prefix(&format!("bench.{from}")) {
                fs::rename(&path, raw.join(format!("bench.{to}{rest}"))).unwrap();
            }
        }
    }
    import(root.path(), out.path()).unwrap();
    let results = Results::read(&out.path().join("machine/results/a")).unwrap();
    assert_eq!(results.campaign.variants, ["293069", "293643"]);
    assert_eq!(results.campaign.traffics, ["pf.inet4", "forwarding.inet4"]);
    assert_eq!(results.campaign.baseline, "293069");
}
