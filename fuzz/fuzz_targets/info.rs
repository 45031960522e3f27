//! `.info` files.
#![no_main]

use fwdlab_netbenches::info::Info;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let info = Info::parse(bytes);
    assert!(info.problems.len() <= 16);
    let _ = (info.image(), info.configuration(), info.traffic(), info.uname());
});
