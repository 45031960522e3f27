//! Logs of pkt-gen, and what the published pipeline makes of them.
#![no_main]

use fwdlab_netbenches::pipeline::{MedianRule, Published};
use fwdlab_netbenches::pktgen::PktgenLog;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let log = PktgenLog::read(bytes).expect("memory reads without errors");
    let published = Published::of(&log);
    for rule in MedianRule::ALL {
        assert_eq!(published.printed(rule).is_some(), published.kept() > 0);
    }
    let parts = published.kept() + published.trimmed_head + published.trimmed_tail + published.zeros;
    assert_eq!(parts, log.readings.len());
});
