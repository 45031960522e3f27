//! Routing tables: text of several programs, MRT dumps, either compressed.
#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = fwdlab_routes::read_bytes(Path::new("x"), bytes) {
        // A table may hold nothing but routes that refuse packets.
        assert!(table.routes.len() + table.refusing.len() > 0);
    }
});
