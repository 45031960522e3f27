//! Results directories up to their report: the journal, then after a NUL the experiment, and after
//! another the notes.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use fwdlab_results::Results;

fn dir() -> &'static PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = std::env::temp_dir().join(format!("fwdlab-fuzz-journal-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        dir
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dir = dir();
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    for name in ["trials.jsonl", "experiment.toml", "notes.md"] {
        match parts.next() {
            Some(part) => fs::write(dir.join(name), part).expect("a writable file"),
            None => drop(fs::remove_file(dir.join(name))),
        }
    }
    let Ok(results) = Results::read(dir) else { return };
    let Ok(claims) = fwdlab_report::claims(&results) else { return };
    let _ = fwdlab_report::json(&claims).expect("claims are JSON");
    let shown = fwdlab_report::terminal(&results, 80, true);
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\u{1b}');
    assert!(!shown.contains(is_odd));
    let _ = fwdlab_report::github(&results);
});
