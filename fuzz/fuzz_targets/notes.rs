//! Notes beside a campaign that is in order: what they claim is looked up in it, and all of them is shown.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use fwdlab_claims::Claims;
use fwdlab_results::Results;

/// A journal as `fwdlab run` writes it.
const SEED: &[u8] = include_bytes!("../seeds/journal/short");

fn campaign() -> &'static (PathBuf, Claims) {
    static CAMPAIGN: OnceLock<(PathBuf, Claims)> = OnceLock::new();
    CAMPAIGN.get_or_init(|| {
        let dir = std::env::temp_dir().join(format!("fwdlab-fuzz-notes-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        let mut parts = SEED.splitn(3, |byte| *byte == 0);
        for name in ["trials.jsonl", "experiment.toml"] {
            if let Some(part) = parts.next() {
                fs::write(dir.join(name), part).expect("a writable file");
            }
        }
        let results = Results::read(&dir).expect("a journal that is in order");
        let claims = fwdlab_report::claims(&results).expect("claims that resolve");
        (dir, claims)
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (dir, claims) = campaign();
    fs::write(dir.join("notes.md"), bytes).expect("a writable file");
    let _ = fwdlab_report::notes_doubts(dir, claims);
    let _ = fwdlab_guard::markdown::notes(&String::from_utf8_lossy(bytes));
});
