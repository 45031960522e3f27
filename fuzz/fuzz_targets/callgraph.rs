//! `.pmc.graph` files; folded text must read back the same.
#![no_main]

use fwdlab_netbenches::callgraph::Folded;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let folded = Folded::from_graph(bytes).expect("memory reads without errors");
    let again = Folded::from_stacks(folded.to_text().as_bytes()).expect("memory reads without errors");
    assert!(again.samples() <= folded.samples());
});
