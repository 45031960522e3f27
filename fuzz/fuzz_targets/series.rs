//! `.pps` files.
#![no_main]

use fwdlab_netbenches::series::Series;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let series = Series::parse(bytes);
    assert!(series.sorted().iter().all(|value| value.is_finite()));
});
