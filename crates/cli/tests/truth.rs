//! What is known beforehand: a variant beside itself has no winner, whatever else the machine does.

mod lab;

use std::sync::atomic::{AtomicBool, Ordering};

use lab::{EXPERIMENT, Lab, text};
use serde_json::Value;

/// The short experiment with one variant twice, long enough for a winner at 99.9 %.
fn the_same_twice() -> String {
    EXPERIMENT.replace("\"radix4\"", "\"auto\"").replace("blocks = 3", "blocks = 12")
}

/// The verdicts of a campaign of the same variant twice, at 99.9 %.
fn verdicts() -> Vec<String> {
    let lab = Lab::new(&the_same_twice());
    lab.measured(&["run", "short.toml", "-o", "out", "--quiet"]);
    let arguments = ["compare", "out", "--confidence", "99.9", "--format", "json"];
    let compared = lab.fwdlab(&arguments);
    assert_eq!(compared.status.code(), Some(0), "{}", text(&compared.stderr));
    // A gate between a thing and itself has shown nothing.
    let gated = lab.fwdlab(&["compare", "out", "--fail-on", "slower"]);
    let why = text(&gated.stderr);
    let is_invalid = text(&compared.stdout).contains("\"verdict\": \"invalid\"");
    assert_eq!(gated.status.code(), Some(4), "{why}");
    assert!(is_invalid || why.contains("nothing differs: modular is radix"), "{why}");
    let said: Value = serde_json::from_slice(&compared.stdout).expect("JSON");
    let groups = said["groups"].as_array().expect("groups");
    let judged = groups.iter().flat_map(|group| group["judgements"].as_array().expect("a list"));
    let words: Vec<String> =
        judged.map(|one| one["verdict"]["verdict"].as_str().expect("a word").to_owned()).collect();
    assert_eq!(words.len(), 1, "{said}");
    words
}

#[test]
fn the_same_variant_twice_has_no_winner_alone_or_beside_other_work() {
    let no_winner =
        |words: &[String]| words.iter().all(|word| !["faster", "slower"].contains(&word.as_str()));
    let alone = verdicts();
    assert!(no_winner(&alone), "{alone:?}");

    let is_over = AtomicBool::new(false);
    let beside = std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let words = std::panic::catch_unwind(verdicts);
        is_over.store(true, Ordering::Relaxed);
        words
    });
    let beside = beside.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(no_winner(&beside), "{beside:?}");
}
