//! Routing tables: text of several programs, MRT dumps, either compressed.
#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = fwdlab_routes::read_bytes(Path::new("x"), bytes) {
        assert!(!table.routes.is_empty());
    }
});
