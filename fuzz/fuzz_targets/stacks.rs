//! `.pmc.stack` files.
#![no_main]

use fwdlab_netbenches::callgraph::Folded;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Folded::from_stacks(bytes).expect("memory reads without errors").to_text();
});
