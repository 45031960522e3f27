//! `fwdlab audit` as a command.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_page_on_standard_input_is_audited() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fwdlab"))
        .args(["audit", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let page = b"Results\n  - Traffic load at 1.448Mpps (Gigabit line-rate)\n";
    child.stdin.take().expect("a pipe").write_all(page).expect("a reader");
    let output = child.wait_with_output().expect("an exit");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("-:2: wrong [line-rate]"), "{text}");
}
