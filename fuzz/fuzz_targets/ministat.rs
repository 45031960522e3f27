//! What `fwdlab ministat` reads from standard input.
#![no_main]

use fwdlab_stats::ministat::{Streams, cli};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams =
        Streams { stdin: &mut &bytes[..], out: &mut out, err: &mut err, terminal_columns: None };
    let code = cli(&[], streams);
    assert!(code == 0 || !err.is_empty());
});
