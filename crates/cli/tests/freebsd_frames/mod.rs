//! Which frames of FreeBSD guests are sent, come through and come back.

use std::process::Command;

use fwdlab_results::{Checks, LimitedBy, Status};

use super::{Lab, images_for, points_at, words};

/// A share of the frames goes back to their senders: they were lost, and the counters disagreed.
#[test]
fn frames_that_go_back_to_their_senders_are_counted_to_the_frame() {
    let Some(images) = images_for("frames_that_go_back_to_their_senders") else { return };
    // 37 of 100 destinations.
    let rules = "pass in quick on epair0a route-to (epair0a 198.18.0.203) inet from any to 198.19.10.64/26 no state";
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"",
        &format!(
            "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = {{ pf = \"{rules}\\npass all no state\" }}\n"
        ),
    );
    lab.edit("name = \"inet\"", "name = \"inet\"\norder = \"sequential\"");
    let output = lab.run();
    let trials = lab.trials(&output);
    assert_eq!(trials.len(), 2, "{}", words(&output));
    for trial in &trials {
        assert_eq!(trial.status, Status::Ok, "{:?}", trial.reason);
        let own = &trial.measured;
        let (sent, checks) = (own.sent.expect("counted"), own.checks.expect("looked into"));
        println!("{}: {sent} sent, {checks:?}, {:?}", trial.id, own.warnings);
        assert_eq!((own.device_received, own.device_sent), (Some(sent), Some(sent)));
        assert_eq!(trial.limited_by, LimitedBy::Core, "they take turns");
        if trial.variant == "a" {
            assert_eq!(checks, Checks { checked: sent, ..Checks::default() });
            assert!(own.warnings.is_empty() && trial.cost_ns().is_some(), "{:?}", own.warnings);
            continue;
        }
        // The last of each turn of 2000 flows: 20 sources to one destination after the other.
        let returned = sent / 2000 * 740 + (sent % 2000).saturating_sub(1260);
        assert_eq!(
            (checks.returned, checks.astray, checks.misrouted),
            (returned, returned, returned)
        );
        assert_eq!((own.received + returned, checks.lost), (sent, 0));
        // What the tester listened to would count as the device's.
        assert_eq!(trial.cost_ns(), None);
        let told =
            format!("{returned} of {sent} frames left the device on the side of the sources");
        assert!(own.warnings.iter().any(|why| why.starts_with(&told)), "{:?}", own.warnings);
    }
    let mut report = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    let said = report.args(["report", "results"]).current_dir(lab.dir.path()).output();
    let said = String::from_utf8_lossy(&said.expect("the binary starts").stdout).into_owned();
    assert!(said.contains("invalid") && said.contains("not met: frames: "), "{said}");
}

/// The first frames were dropped, all others would have come through, and the variant was refused.
#[test]
fn a_variant_that_drops_its_first_frames_is_measured() {
    let Some(images) = images_for("a_variant_that_drops_its_first_frames") else { return };
    let rules = "block in quick on epair0a max-pkt-rate 40000/3600\\npass all no state";
    let lab = Lab::new(
        &images,
        "root = \"IMAGES/root.qcow2\"",
        &format!(
            "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = {{ pf = \"{rules}\" }}\n"
        ),
    );
    let output = lab.run();
    let trials = lab.trials(&output);
    assert_eq!(trials.len(), 2, "{}", words(&output));
}

/// A guest booted, and the line of a variant was named.
#[test]
fn a_load_that_no_freebsd_guest_sends_is_refused_where_it_stands() {
    let Some(images) = images_for("a_load_that_no_freebsd_guest_sends") else { return };
    let variants = "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    for (line, said) in [
        ("load = \"10kpps\"", "load: the tester in FreeBSD guests (variant \"a\") sends as fast"),
        ("ports = 4", "ports: the tester in FreeBSD guests (variant \"a\") sends one way"),
        ("direction = \"both\"", "direction: the tester in FreeBSD guests"),
    ] {
        let lab = Lab::new(&images, "root = \"IMAGES/root.qcow2\"", variants);
        lab.edit("name = \"inet\"", &format!("name = \"inet\"\n{line}"));
        let output = lab.run();
        let told = words(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(!lab.dir.path().join("results").exists(), "nothing was begun");
        assert!(told.contains(said), "{told}");
        let (_, place) = told.split_once("short.toml:").expect("a line");
        assert!(points_at(&lab, place, line), "{told}");
    }
}
