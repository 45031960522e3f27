//! Login shells and their files.

use crate::rig::{EXPERIMENT, Rig};

/// What a login file may say, with text that has no line end.
const CHATTER: &str = "echo Welcome; printf 'no line end'; echo warning >&2; sleep 0.3";

#[test]
fn chatty_login_files_tcsh_and_busybox_make_no_difference() {
    let Some(rig) = Rig::up("logins", &["--receiver"]) else { return };
    rig.on("dut", &format!("printf '%s\\n' \"{CHATTER}\" > /root/.bashrc"));
    let set_shell = |role: &str, shell: &str| {
        rig.on(role, &format!("sed -i 's|^\\(root:.*\\):[^:]*$|\\1:{shell}|' /etc/passwd"))
    };
    let has = |program: &str| !rig.on("tester", &format!("command -v {program}")).is_empty();
    if has("tcsh") {
        set_shell("tester", "/bin/tcsh");
        rig.on("tester", "printf 'echo Hello from tcsh\\n' > /root/.tcshrc");
    } else {
        eprintln!("SKIPPED tcsh as the login shell: not here; apt-get install tcsh");
    }
    if has("busybox") {
        // Found before dash's.
        rig.on(
            "receiver",
            "mkdir -p /usr/local/bin; ln -s $(command -v busybox) /usr/local/bin/sh",
        );
    } else {
        eprintln!("SKIPPED busybox as sh: not here; apt-get install busybox-static");
    }
    let assert_same = || {
        let output = rig.run(EXPERIMENT);
        rig.assert_finished(&output);
        for trial in rig.records("trial") {
            assert_eq!(trial["sent"], trial["received"], "{}", trial["id"]);
            assert_eq!(trial["flows_seen"], 20);
        }
    };
    assert_same();
    // The same with the device, which is asked most: tcsh logs in, and sh is busybox.
    if has("tcsh") {
        set_shell("dut", "/bin/tcsh");
        rig.on("dut", "printf 'echo Hello from tcsh\\n' > /root/.tcshrc");
    }
    if has("busybox") {
        let link = "mkdir -p /usr/local/bin; ln -s $(command -v busybox) /usr/local/bin/sh";
        rig.on("dut", link);
    }
    std::fs::remove_dir_all(rig.results()).expect("removed");
    assert_same();
}
