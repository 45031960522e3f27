//! MRT files of BGP updates, and the orders by which a router's table is changed while it runs.
#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(updates) = fwdlab_routes::read_updates_bytes(Path::new("x"), bytes) {
        // A file without a change is an error of its own.
        assert!(!updates.is_empty());
    }
    let _ = fwdlab_routes::read_order(&String::from_utf8_lossy(bytes));
});
