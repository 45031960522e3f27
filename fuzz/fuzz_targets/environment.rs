//! `environment.json`.
#![no_main]

use fwdlab_results::environment::Environment;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(environment) = serde_json::from_slice::<Environment>(bytes) else { return };
    assert!(environment.differences(&environment).is_empty());
});
