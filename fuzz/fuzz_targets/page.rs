//! Pages: blocks, prose, links, claims, and every rule that needs no data.
#![no_main]

use fwdlab_audit::check_page;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for finding in check_page(bytes) {
        assert!(!finding.claim.contains('\u{1b}'));
        assert!(finding.line >= 1);
    }
});
