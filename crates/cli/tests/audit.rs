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

/// Such a file was "1 pages", below a list of everything that the tree beside it holds and is no data.
#[test]
fn a_file_that_is_no_page_is_named_and_its_neighbours_are_not() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("hostname"), "router\n").expect("a file");
    let linked = std::os::unix::fs::symlink("hostname", dir.path().join("README.md"));
    linked.expect("a link");
    let audit = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.arg("audit").arg(dir.path().join(name)).output().expect("the binary starts")
    };
    let output = audit("hostname");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there is nothing to audit in"), "{said}");
    assert!(said.contains("wanted a published page"), "{said}");
    assert!(!said.contains("left out"), "{said}");

    // A page of another name is one by what is in it.
    let page = "Results\n  - Traffic load at 1.448Mpps (Gigabit line-rate)\n";
    std::fs::write(dir.path().join("results.out"), page).expect("a file");
    let output = audit("results.out");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("1 page; 0 ministat blocks"), "{told}");
}

#[test]
fn what_a_tree_holds_beside_is_counted_where_it_is_much() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("README.md"), "Results\n").expect("a file");
    for k in 0..30 {
        let link = dir.path().join(format!("{k}.pps"));
        std::os::unix::fs::symlink("README.md", link).expect("a link");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    let output = command.arg("audit").arg(dir.path()).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("a symbolic link").count(), 20, "{said}");
    assert!(said.contains("left out: 10 more"), "{said}");
}

/// They ended as if all were well.
#[test]
fn a_page_that_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().expect("a directory");
    let made = Command::new("mkfifo").arg(dir.path().join("README.md")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    let long = |bytes: u64| {
        let name = format!("{bytes}.md");
        let file = std::fs::File::create(dir.path().join(&name)).expect("a file");
        file.set_len(bytes).expect("a file system with holes");
        name
    };
    for (name, words) in [
        ("README.md", "it is no regular file; name a regular file"),
        ("/dev/zero", "it is no regular file"),
        ("/dev/stdin", "`-` takes a page from standard input"),
        (&long(1 << 32), "check that it is the right file"),
        // one line, longer than any of a page
        (&long(1 << 16), "was not audited to its end (page-unreadable)"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(["audit", name]).current_dir(dir.path()).stdin(Stdio::null());
        let output = command.output().expect("the binary starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(words), "{name}: {said}");
    }
}
