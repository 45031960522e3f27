//! Logged commands and file names.
#![no_main]

use fwdlab_netbenches::command::Command;
use fwdlab_netbenches::name::LogName;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Some(command) = Command::parse(text) {
        let _ = (command.flows(), command.family());
    }
    if let Some(name) = LogName::parse(text) {
        assert!(!name.prefix.contains('\0') || text.contains('\0'));
    }
});
