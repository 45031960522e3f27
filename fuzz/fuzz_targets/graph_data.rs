//! gnuplot data.
#![no_main]

use fwdlab_netbenches::series::graph_rows;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (rows, _) = graph_rows(bytes);
    assert!(rows.iter().all(|row| row.values.iter().all(|value| value.is_finite())));
});
