//! Results directories of earlier versions report as they did: journals that only name their device,
//! in which 0 stands for what nobody counted.
#![cfg(target_os = "linux")]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Made by the version before devices said what they are: the program's own experiment, one on the
/// running kernel, and published logs. `BLESS=1` writes the reports anew.
#[test]
fn results_of_earlier_versions_report_as_before() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/old-results");
    for name in ["builtin", "linux", "imported"] {
        let dir = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(golden.join(name)).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|file| file != "README.md") {
                fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
            }
        }
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
            let output = command.args(arguments).arg(dir.path()).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run(&["report"]);
        let report = fs::read_to_string(dir.path().join("README.md")).unwrap();
        if std::env::var_os("BLESS").is_some() {
            fs::write(golden.join(name).join("README.md"), &report).unwrap();
        }
        let wanted = fs::read_to_string(golden.join(name).join("README.md")).unwrap();
        assert_eq!(report, wanted, "{name}");
        run(&["report", "--check"]);
    }
}
