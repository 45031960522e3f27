//! Whatever `fwdlab compare` takes: numbers, CSV, JSON, Go benchmarks.
#![no_main]

use fwdlab_compare::{Format, Options, compare, render};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = Options { sources: vec!["-".into()], ..Options::default() };
    let Ok(compared) = compare(&options, &mut &bytes[..]) else { return };
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Benchstat] {
        let _ = render(&compared, format);
    }
});
