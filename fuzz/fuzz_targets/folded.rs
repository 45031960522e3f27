//! Folded stacks of profiles.
#![no_main]

use fwdlab_results::profile::{folded, parse_folded};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(stacks) = parse_folded(text) else { return };
    let again = parse_folded(&folded(&stacks)).expect("what is written is read");
    assert_eq!(again, stacks);
});
