//! Experiment files, as they are run and as they lie beside results.
#![no_main]

use std::path::Path;

use fwdlab_experiment::{Anything, Experiment, Recorded};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("x.toml");
    match Experiment::parse(path, text, &[&Anything]) {
        Ok(experiment) => {
            assert!(experiment.variants.len() >= 2 && !experiment.traffics.is_empty());
            for variant in &experiment.variants {
                assert!(experiment.blame(&variant.name, text).starts_with("x.toml:"));
            }
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
    let _ = Recorded::read(text);
});
