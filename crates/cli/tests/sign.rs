//! `fwdlab sign`, `fwdlab verify` and `fwdlab report --check` as a user starts them.

mod lab;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use lab::{EXPERIMENT, Lab, text};

/// A directory with a finished campaign in `lab`.
fn finished() -> Lab {
    let lab = Lab::new(EXPERIMENT);
    lab.measured(&["run", "-q", "short.toml", "-o", "lab"]);
    lab
}

/// A key without a passphrase; nothing where there is no ssh-keygen.
fn key(at: &Path, name: &str) -> Option<()> {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name]).current_dir(at);
    let status = command.stdin(Stdio::null()).status().ok()?;
    assert!(status.success(), "ssh-keygen makes a key");
    Some(())
}

#[test]
fn a_signature_holds_until_a_line_of_the_journal_changes() {
    let lab = finished();
    let at = lab.dir.path();
    if key(at, "owner").and_then(|()| key(at, "stranger")).is_none() {
        println!(
            "SKIPPED a_signature_holds_until_a_line_of_the_journal_changes: no ssh-keygen here"
        );
        return;
    }
    let unsigned = lab.fwdlab(&["verify", "lab"]);
    assert_eq!(unsigned.status.code(), Some(2));
    assert!(text(&unsigned.stderr).contains("is not signed"), "{}", text(&unsigned.stderr));

    let signed = lab.fwdlab(&["sign", "lab", "--key", "owner"]);
    assert!(signed.status.success(), "{}", text(&signed.stderr));
    let again = lab.fwdlab(&["sign", "lab", "--key", "owner"]);
    assert!(text(&again.stderr).contains("is there already"), "{}", text(&again.stderr));

    let good = lab.fwdlab(&["verify", "lab"]);
    let said = text(&good.stdout);
    assert!(good.status.success() && said.contains("Good \"fwdlab\" signature"), "{said}");
    assert!(said.contains("nobody said whose key"), "{said}");
    let public = |name: &str| fs::read_to_string(at.join(format!("{name}.pub"))).expect("a key");
    fs::write(at.join("signers"), format!("owner@example.org {}", public("owner"))).expect("file");
    fs::write(at.join("others"), format!("else@example.org {}", public("stranger"))).expect("file");
    let named = lab.fwdlab(&["verify", "lab", "--signers", "signers"]);
    assert!(named.status.success(), "{}", text(&named.stdout));
    assert!(text(&named.stdout).contains("owner@example.org"), "{}", text(&named.stdout));
    let other = lab.fwdlab(&["verify", "lab", "--signers", "others"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stdout).contains("is nobody's in others"), "{}", text(&other.stdout));

    fs::create_dir(at.join("directory")).expect("a directory");
    for (signers, words) in [("directory", "Is a directory"), ("nowhere", "No such file")] {
        let refused = lab.fwdlab(&["verify", "lab", "--signers", signers]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    }

    // A stranger's signature may be a fifo, which ssh-keygen waits for, or a link to a secret.
    let signature = at.join("lab/trials.jsonl.sig");
    let kept = fs::read(&signature).expect("a signature");
    fs::remove_file(&signature).expect("a signature");
    let made = Command::new("mkfifo").arg(&signature).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    for words in ["it is no regular file", "it is a symbolic link"] {
        let refused = lab.fwdlab(&["verify", "lab"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
        fs::remove_file(&signature).expect("what stands there");
        std::os::unix::fs::symlink(at.join("nowhere"), &signature).expect("a link");
    }
    fs::remove_file(&signature).expect("a link");
    fs::write(&signature, kept).expect("a signature");

    // The last line follows from nothing: only the signature, and the report, can tell.
    let journal = at.join("lab/trials.jsonl");
    let lines = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, lines.replace("all blocks run", "all Blocks run")).expect("file");
    assert!(lab.fwdlab(&["report", "lab"]).status.success());
    for arguments in [&["verify", "lab"][..], &["verify", "lab", "--signers", "signers"]] {
        let bent = lab.fwdlab(arguments);
        assert_eq!(bent.status.code(), Some(1));
        let said = text(&bent.stdout);
        assert!(said.contains("its signature is not one over this journal"), "{said}");
    }
    // A line within ends the chain, and so does an experiment that was changed: it was an error (2).
    fs::write(&journal, lines.replacen("\"record\":\"trial\"", "\"record\": \"trial\"", 1))
        .expect("file");
    let bent = lab.fwdlab(&["verify", "lab", "--signers", "signers"]);
    assert_eq!(bent.status.code(), Some(1), "{}", text(&bent.stderr));
    let said = text(&bent.stdout);
    assert!(said.contains("trials.jsonl:") && said.contains("its hash is not that of"), "{said}");
    fs::write(&journal, lines).expect("file");
    let experiment = at.join("lab/experiment.toml");
    let as_run = fs::read_to_string(&experiment).expect("an experiment");
    fs::write(&experiment, as_run + "# more\n").expect("file");
    assert_eq!(lab.fwdlab(&["verify", "lab"]).status.code(), Some(1));
}

#[test]
fn what_is_missing_for_a_signature_is_named() {
    let lab = finished();
    let at = lab.dir.path();
    let without_key = lab.fwdlab(&["sign", "lab", "--key", "nowhere"]);
    assert_eq!(without_key.status.code(), Some(2));
    assert!(text(&without_key.stderr).contains("ssh-keygen -t ed25519 -f nowhere"));
    if key(at, "open").is_some() {
        // ssh-keygen says so in nine lines, behind which "name a private key" was the remedy
        fs::set_permissions(at.join("open"), fs::Permissions::from_mode(0o644)).expect("a key");
        let open = lab.fwdlab(&["sign", "lab", "--key", "open"]);
        assert_eq!(open.status.code(), Some(2));
        let said = text(&open.stderr);
        assert!(said.contains("`chmod 600 open`") && said.lines().count() == 1, "{said}");
    }
    fs::write(at.join("key"), "").expect("file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    command.args(["sign", "lab", "--key", "key"]).current_dir(at).env("PATH", at);
    let without_ssh = command.stdin(Stdio::null()).output().expect("the binary starts");
    assert_eq!(without_ssh.status.code(), Some(2));
    assert!(text(&without_ssh.stderr).contains("openssh-client"), "{}", text(&without_ssh.stderr));
}

#[test]
fn check_verifies_a_real_campaign_and_names_what_was_bent() {
    let lab = finished();
    let at = lab.dir.path();
    let check = || lab.fwdlab(&["report", "--check", "lab"]);
    let good = check();
    assert!(good.status.success(), "{}", text(&good.stdout));
    assert!(text(&good.stdout).contains("agrees with its journal"));
    let readme = fs::read_to_string(at.join("lab/README.md")).expect("a report");
    let last = readme.trim_end().lines().last().expect("a line");
    assert!(last.contains("trials.jsonl, last line: SHA-256"), "{last}");

    // Who vouches for it: nobody, until it is signed or compared with what was noted.
    assert!(text(&good.stdout).contains("not signed, and compared with no hash noted elsewhere"));
    let hash = last.rsplit(' ').next().expect("a hash");
    let noted = |hash: &str| lab.fwdlab(&["report", "--check", "lab", "--last-line", hash]);
    let (same, other) = (noted(hash), noted(&"0".repeat(64)));
    assert!(same.status.success() && !text(&same.stdout).contains("not signed"));
    assert_eq!(other.status.code(), Some(1));
    assert!(
        text(&other.stdout).contains("no line has the SHA-256 noted"),
        "{}",
        text(&other.stdout)
    );
    assert!(text(&noted("f00").stderr).contains("64 hexadecimal digits"));

    let journal = at.join("lab/trials.jsonl");
    let lines = fs::read_to_string(&journal).expect("a journal");
    // As if an earlier version had written it, which knew no hashes.
    let without = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        let keys = record.as_object_mut().expect("an object");
        keys.retain(|key, _| !["after", "seal", "environment_sha256"].contains(&key.as_str()));
        format!("{record}\n")
    };
    fs::write(&journal, lines.lines().map(without).collect::<String>()).expect("file");
    lab.fwdlab(&["report", "lab"]);
    let stripped = check();
    assert_eq!(stripped.status.code(), Some(1));
    assert!(text(&stripped.stdout).contains("hashes were taken out"), "{}", text(&stripped.stdout));

    fs::write(&journal, lines.replace("\"flows_seen\":2000", "\"flows_seen\":1999")).expect("file");
    lab.fwdlab(&["report", "lab"]);
    let bent = check();
    assert_eq!(bent.status.code(), Some(1));
    assert!(text(&bent.stdout).contains("trials.jsonl:3: its hash"), "{}", text(&bent.stdout));
}

#[test]
fn audit_checks_our_own_directories_against_their_journals() {
    let lab = finished();
    let audited = |what: &str| lab.fwdlab(&["audit", what]);
    let found = audited("lab");
    assert!(found.status.success(), "{}", text(&found.stdout));
    let readme = lab.dir.path().join("lab/README.md");
    let written = fs::read_to_string(&readme).expect("a report");
    fs::write(&readme, written.replace("3 blocks", "9 blocks")).expect("a writable report");
    let notes = "It is faster by a factor of 5000.\nThe rate drops by 176 %.\n";
    fs::write(lab.dir.path().join("lab/notes.md"), notes).expect("a writable directory");
    let found = audited(".");
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    let said = text(&found.stdout);
    for wanted in [
        "own-journal",
        "9 blocks",
        "lab/notes.md:1: wrong [own-notes]",
        "lab/notes.md:2: wrong [claim-impossible]",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}
