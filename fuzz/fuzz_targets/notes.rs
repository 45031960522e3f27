//! Notes beside a campaign that is in order: what they claim is looked up in it, and all of them is shown.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use fwdlab_results::Results;

/// A journal as `fwdlab run` writes it.
const SEED: &[u8] = include_bytes!("../seeds/journal/short");

fn dir() -> &'static PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = std::env::temp_dir().join(format!("fwdlab-fuzz-notes-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        let mut parts = SEED.splitn(3, |byte| *byte == 0);
        for name in ["trials.jsonl", "experiment.toml"] {
            if let Some(part) = parts.next() {
                fs::write(dir.join(name), part).expect("a writable file");
            }
        }
        dir
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let dir = dir();
    fs::write(dir.join("notes.md"), bytes).expect("a writable file");
    let results = Results::read(dir).expect("a journal that is in order");
    let _ = fwdlab_report::notes_doubts(&results);
    // renders the pages with their notes, to hold them against the directory
    let _ = fwdlab_report::check(&results);
});
