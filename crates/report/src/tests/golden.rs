//! Renderings compared with files; `BLESS=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use super::super::build::Build;
use super::super::{commit, github, terminal, write};
use super::example;

fn golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/report").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        return;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        rounded(&wanted) == rounded(text),
        "{name} differs from {}; look at it, then run the test with BLESS=1\n{text}",
        path.display()
    );
}

/// `text` with the members of JSON that are numbers rounded to 12 digits: the last bits of a p follow
/// from how the compiler laid its formula out, and differ from profile to profile.
fn rounded(text: &str) -> Vec<String> {
    let round = |line: &str| {
        let (name, value) = line.split_once("\": ")?;
        let value: f64 = value.trim_end_matches(',').parse().ok()?;
        Some(format!("{name}\": {value:.12e}"))
    };
    text.split('\n').map(|line| round(line).unwrap_or_else(|| line.to_owned())).collect()
}

#[test]
fn report_of_the_seeds_experiment_equals_its_golden_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = example::results(&example::TWO, 8);
    example::write(&mut results, dir.path());
    write(dir.path(), &results).unwrap();
    for name in
        ["README.md", "claims.json", "gnuplot.data", "graph.svg", "netbenches/modular.inet.pps"]
    {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        golden(&format!("two/{name}"), &text);
    }
    golden("two/commit.txt", &commit(&results).unwrap());
    golden("two/github.md", &github(&results).unwrap());
    golden("two/terminal-120.txt", &terminal(&results, 120, false));
    golden("two/terminal-80.txt", &terminal(&results, 80, false));
    golden("two/terminal-colour.txt", &terminal(&results, 120, true));
}

#[test]
fn report_of_doubtful_results_equals_its_golden_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut results = example::doubtful();
    example::write(&mut results, dir.path());
    write(dir.path(), &results).unwrap();
    for name in ["README.md", "gnuplot.data"] {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        golden(&format!("doubtful/{name}"), &text);
    }
    golden("doubtful/commit.txt", &commit(&results).unwrap());
    golden("doubtful/terminal-100.txt", &terminal(&results, 100, false));
}

#[test]
fn report_of_four_variants_equals_its_golden_file() {
    if !Build::THIS.draws_flames {
        eprintln!(
            "SKIPPED report_of_four_variants_equals_its_golden_file: flame graphs were left out of \
             this build (--features flame)"
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut results = example::results(&example::FOUR, 12);
    example::write(&mut results, dir.path());
    example::write_profiles(&results, dir.path());
    write(dir.path(), &results).unwrap();
    let text = fs::read_to_string(dir.path().join("README.md")).unwrap();
    golden("four/README.md", &text);
}

/// Writes the made-up campaigns where `FWDLAB_SAMPLES` says, to be looked at.
#[test]
#[ignore = "writes files to look at: FWDLAB_SAMPLES=DIR"]
fn samples_for_the_eye() {
    let Some(place) = std::env::var_os("FWDLAB_SAMPLES").map(PathBuf::from) else { return };
    for (name, mut results) in [
        ("two", example::results(&example::TWO, 8)),
        ("doubtful", example::doubtful()),
        ("four", example::results(&example::FOUR, 12)),
        ("large", example::results(&example::FOUR, 40)),
        ("published", example::published()),
        ("latency", example::with_latencies()),
    ] {
        let dir = place.join(name);
        example::write(&mut results, &dir);
        if name == "four" || name == "large" {
            example::write_profiles(&results, &dir);
        }
        if name == "two" {
            fs::write(dir.join("notes.md"), example::NOTES).unwrap();
        }
        let started = std::time::Instant::now();
        write(&dir, &results).unwrap();
        println!("{name}: report in {:?}", started.elapsed());
        for (rendering, text) in [
            ("commit.txt", commit(&results).unwrap()),
            ("github.md", github(&results).unwrap()),
            ("terminal.txt", terminal(&results, 80, false)),
            ("terminal-colour.txt", terminal(&results, 120, true)),
        ] {
            fs::write(dir.join(rendering), text).unwrap();
        }
    }
}
