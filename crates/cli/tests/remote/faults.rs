//! Everything that breaks is in the journal with its kind, and the campaign goes on where it can.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::rig::{EXPERIMENT, Rig, is_long, long, text};

/// Breaks something once in the middle of a trial, and expects one failure of a kind and a good end.
fn once(name: &str, kind: &str, disturb: &str, role: &str) {
    let Some(rig) = Rig::up(name, &[]) else { return };
    let output = rig.run_and(&long(), |rig, _| {
        rig.on(role, disturb);
    });
    let said = text(&output.stderr);
    assert_eq!(rig.failures(), [kind], "{said}");
    rig.assert_finished(&output);
    let repeated = rig.records("repeated");
    let reason = repeated[0]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("attempt 1 of 3"), "{reason}");
    assert_eq!(reason.contains("it booted in the middle"), kind == "dut-rebooted", "{reason}");
    assert!(!repeated[0]["failure"]["remedies"].as_array().expect("remedies").is_empty());
}

#[test]
fn sshd_killed_in_the_middle() {
    // All of them but the listening one, which starts others.
    let kill = "for p in $(pidof sshd); do [ $p = $(pidof -s sshd) ] || kill -9 $p; done; \
                kill -9 $(pidof sshd)";
    once("kill -9 sshd", "transport-lost", kill, "dut");
}

#[test]
fn the_control_link_is_away_for_a_while() {
    let Some(rig) = Rig::up("a control link away for a while", &[]) else { return };
    // Longer away than a command may take, not as long as the device may be silent.
    rig.edit("testbed.toml", "silent-dut = \"3s\"", "silent-dut = \"60s\"\ncommand = \"5s\"");
    let output = rig.run_and(&long(), |rig, _| {
        let away = "ip link set eth0 down; (sleep 14; ip link set eth0 up) >/dev/null 2>&1 &";
        rig.on("dut", away);
    });
    assert_eq!(rig.failures(), ["transport-lost"], "{}", text(&output.stderr));
    rig.assert_finished(&output);
}

#[test]
fn the_device_boots_in_the_middle() {
    // Whoever asks for it has ended by then: the machine stops all that run on it, and an nsenter whose
    // child is stopped stops itself for ever.
    let reboot = "(sleep 0.3; exec reboot) >/dev/null 2>&1 &";
    once("a reboot in the middle", "dut-rebooted", reboot, "dut");
}

#[test]
fn a_test_link_goes_down_in_the_middle() {
    let blink = "ip link set receive down; sleep 0.3; ip link set receive up";
    once("a test link down", "link-lost", blink, "tester");
}

#[test]
fn the_generator_crashes() {
    let kill = "for p in /proc/[0-9]*; do if tr '\\0' ' ' < $p/cmdline | grep -q '^/var/tmp/fwdlab/files/.* agent'; \
                then kill -9 ${p#/proc/}; fi; done";
    once("a generator crash", "tester-failed", kill, "tester");
}

#[test]
fn the_master_is_killed_and_its_stale_socket_is_not_used() {
    let Some(rig) = Rig::up("the master killed", &[]) else { return };
    let output = rig.run_and(&long(), |_, child| {
        // The masters are children of the controller.
        let mut list = Command::new("pgrep");
        list.args(["-P", &child.id().to_string(), "-f", "ssh .*-M.* dut"]);
        let list = list.output().expect("pgrep");
        let pid = text(&list.stdout);
        let pid = pid.lines().next().expect("a master").to_owned();
        Command::new("kill").args(["-9", &pid]).status().expect("killed");
    });
    assert_eq!(rig.failures(), ["transport-lost"], "{}", text(&output.stderr));
    rig.assert_finished(&output);
}

#[test]
fn a_changed_host_key_stops_at_once() {
    let Some(rig) = Rig::up("a changed host key", &[]) else { return };
    let known = fs::read_to_string(rig.dir().join("known_hosts")).expect("readable");
    let keys: Vec<&str> =
        known.lines().filter_map(|line| line.split_once(' ')).map(|(_, k)| k).collect();
    rig.edit("known_hosts", &format!("10.66.1.2 {}", keys[0]), &format!("10.66.1.2 {}", keys[1]));
    let before = fs::read(rig.dir().join("known_hosts")).expect("readable");
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("host key is not the one in known_hosts"), "{said}");
    assert_eq!(rig.failures(), ["misconfigured"]);
    assert!(rig.records("trial").is_empty(), "the trial is not used up");
    assert_eq!(fs::read(rig.dir().join("known_hosts")).expect("readable"), before);
}

#[test]
fn a_port_with_another_address_stops_at_once() {
    let Some(rig) = Rig::up("a wrong MAC address", &[]) else { return };
    rig.edit("testbed.toml", "02:66:00:00:01:01", "02:66:00:00:01:77");
    let output = rig.run(EXPERIMENT);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("port1 has the address 02:66:00:00:01:01"), "{said}");
    assert_eq!(rig.failures(), ["misconfigured"]);
}

#[test]
fn a_host_that_does_not_let_us_in_stops_at_once() {
    let Some(rig) = Rig::up("a host that does not let us in", &[]) else { return };
    rig.on("dut", ": > /etc/ssh/rig_authorized");
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("dut: it does not let us in"), "{said}");
    assert_eq!(rig.failures(), ["misconfigured"]);
    let journal = fs::read_to_string(rig.results().join("trials.jsonl")).expect("readable");
    assert!(!journal.contains("publickey") && !journal.contains("10.66.1.2"), "{journal}");
}

#[test]
fn a_missing_neighbour_is_named() {
    let Some(rig) = Rig::up("a missing neighbour", &[]) else { return };
    rig.edit("testbed.toml", "ssh = \"dut\"", "ssh = \"dut\"\nnetwork = \"own\"");
    // It has a route, and nobody answers for its next hop.
    rig.on(
        "dut",
        "echo 1 > /proc/sys/net/ipv4/ip_forward; ip addr add 198.19.0.1/24 dev port1; \
         ip route add 198.19.0.0/16 via 198.19.0.203; \
         ip route add 198.18.0.0/16 via 198.18.0.203 dev port0 onlink",
    );
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("frames reach its first port and none comes back"), "{said}");
    assert!(said.contains("look at routes and neighbours"), "{said}");
    assert_eq!(rig.failures(), ["no-traffic"; 3]);
    // Mended, the same command goes on; what failed stays on record.
    rig.on("dut", "ip neigh replace 198.19.0.203 lladdr 02:66:00:00:02:01 dev port1 nud permanent");
    rig.assert_finished(&rig.run(EXPERIMENT));
    assert_eq!(rig.failures(), ["no-traffic"; 3]);
}

#[test]
fn pause_frames_in_the_window_fail_the_trial() {
    let Some(rig) = Rig::up("pause frames", &[]) else { return };
    // What a driver would say whose peer stopped it once for a hundred frames.
    rig.on(
        "dut",
        "own=$(command -v ethtool || echo /usr/bin/ethtool)\n\
         cat > $own <<'END'\n#!/bin/sh\n[ $1 = -S ] || exit 1\n\
         echo NIC statistics:\n\
         echo \" rx_flow_control_xoff: $(($(cat /sys/class/net/$2/statistics/rx_packets) / 100))\"\n\
         END\nchmod 755 $own",
    );
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("; flow control makes loss disappear"), "{said}");
    assert!(said.contains("ethtool -A PORT rx off tx off"), "{said}");
    assert_eq!(rig.failures(), ["tester-failed"; 3]);
}

#[test]
fn a_tester_without_a_link_is_named() {
    let Some(rig) = Rig::up("a tester without a link", &[]) else { return };
    // Behind a switch, the device's own link stays.
    rig.on(
        "tester",
        "ip link set send down; ip link set send name cable; ip link add send type bridge",
    );
    rig.on("tester", "ip link set send address 02:66:00:00:02:00; ip link set cable up");
    // One that comes late is waited for.
    rig.on("tester", "(sleep 3; ip link set cable master send) >/dev/null 2>&1 &");
    rig.assert_finished(&rig.run(EXPERIMENT));
    if !is_long("a tester that never gets a link") {
        return;
    }
    rig.on("tester", "ip link set cable nomaster");
    fs::remove_dir_all(rig.results()).expect("removed");
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("tester: there is no link on send"), "{said}");
    assert_eq!(rig.failures(), ["link-lost"; 3]);
}

/// After its last attempt a trial is FAILED, and its block leaves the comparison where everybody sees it.
#[test]
fn a_failed_trial_takes_its_block_out_of_the_comparison() {
    let Some(rig) = Rig::up("a block that leaves the comparison", &[]) else { return };
    rig.edit("testbed.toml", "boot = \"20s\"", "boot = \"20s\"\nattempts = 1");
    let experiment = EXPERIMENT.replace("blocks = 1", "blocks = 4");
    let once = "[ -e /rig-once ] && { echo 1; exit; }; touch /rig-once; echo 2";
    let experiment = experiment.replace(
        "name = \"strict\"",
        &format!("name = \"strict\"\nexpect = [{{ run = \"{once}\", is = \"1\" }}]"),
    );
    let output = rig.run(&experiment);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(rig.failures(), ["proof-mismatch"]);
    let page = fs::read_to_string(rig.results().join("README.md")).expect("a page");
    assert!(page.contains("8 planned, 7 kept") && page.contains("| strict | 3 of 4 |"), "{page}");
    assert!(page.contains("strict: the device failed 1 time: proof-mismatch"), "{page}");
    assert!(page.contains("FAILED: b01-inet-strict"), "{page}");
}

#[test]
fn swapped_ports_are_named_and_stop_a_campaign_that_can_go_on_later() {
    let Some(rig) = Rig::up("swapped ports", &[]) else { return };
    let right = fs::read_to_string(rig.dir().join("testbed.toml")).expect("readable");
    let (port0, port1) = (
        "{ name = \"port0\", mac = \"02:66:00:00:01:00\" }",
        "{ name = \"port1\", mac = \"02:66:00:00:01:01\" }",
    );
    // The frames must not be dropped for their address before they are counted: both have it.
    rig.edit("testbed.toml", &format!("{port0}, {port1}"), &format!("{port1}, {port0}"));
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("are swapped"), "{said}");
    assert_eq!(rig.failures(), ["no-traffic"; 3]);
    assert!(rig.records("trial").is_empty(), "the trial is not used up");
    // The same results go on with only when it is the same testbed: the cables are mended instead.
    fs::remove_dir_all(rig.results()).expect("removed");
    fs::write(rig.dir().join("testbed.toml"), right).expect("writable");
    rig.assert_finished(&rig.run(EXPERIMENT));
}

#[test]
fn a_configuration_that_is_not_saved_fails_the_trials_of_its_variant() {
    let Some(rig) = Rig::up("a configuration not saved", &[]) else { return };
    let set = rig.dir().join("set/etc");
    fs::create_dir_all(&set).expect("made");
    fs::write(set.join("fwdlab-test"), "1\n").expect("written");
    rig.on(
        "dut",
        "printf '#!/bin/sh\\nrm -f /etc/fwdlab-test\\n' > /rig-on-reboot; chmod 755 /rig-on-reboot",
    );
    let experiment =
        EXPERIMENT.replace("name = \"strict\"", "name = \"strict\"\nconfiguration = \"set\"");
    let output = rig.run(&experiment);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(rig.failures(), ["proof-mismatch"; 3]);
    let trials = rig.records("trial");
    let failed: Vec<_> = trials.iter().filter(|trial| trial["status"] == "failed").collect();
    assert_eq!((trials.len(), failed.len()), (2, 1));
    assert!(
        failed[0]["reason"].as_str().expect("a reason").contains("/etc/fwdlab-test is not there")
    );
    let page = fs::read_to_string(rig.results().join("README.md")).expect("a page");
    assert!(page.contains("strict: the device failed 3 times: proof-mismatch"), "{page}");
}

#[test]
fn a_reboot_that_does_nothing() {
    let Some(rig) = Rig::up("a reboot that does nothing", &[]) else { return };
    rig.on("dut", "touch /rig-never-reboots");
    rig.edit("testbed.toml", "boot = \"20s\"", "boot = \"3s\"\nattempts = 1");
    let experiment =
        EXPERIMENT.replace("name = \"strict\"", "name = \"strict\"\nreboot = \"trial\"");
    let output = rig.run(&experiment);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(rig.failures(), ["same-boot"]);
}

#[test]
fn a_reboot_that_comes_before_the_answer_to_its_command() {
    let Some(rig) = Rig::up("a reboot before its answer", &[]) else { return };
    rig.edit("testbed.toml", "silent-dut = \"3s\"", "silent-dut = \"60s\"");
    // From the moment in which a reboot is on its way, whatever the shell says comes too late. (The first
    // process sleeps, too, before it starts sshd anew.)
    let sleep = "#!/bin/dash\n[ $PPID = 1 ] || : > /rig-goes-down\nexec /bin/sleep 1\n";
    let shell = "#!/bin/dash\n/bin/dash \"$@\" | while IFS= read -r line; do\n\
                 case $line in *\" end \"*) /bin/sleep 0.2;; esac\n\
                 [ ! -e /rig-goes-down ] || /bin/sleep 60\n\
                 printf '%s\\n' \"$line\"\ndone\n";
    let on_reboot = "#!/bin/dash\nrm -f /rig-goes-down\n";
    for (name, text) in [
        ("/usr/local/bin/sleep", sleep),
        ("/rig-on-reboot", on_reboot),
        ("/usr/local/bin/sh", shell),
    ] {
        rig.on("dut", &format!("cat > {name} <<'END'\n{text}END\nchmod 755 {name}"));
    }
    let experiment =
        EXPERIMENT.replace("name = \"strict\"", "name = \"strict\"\nreboot = \"trial\"");
    let output = rig.run(&experiment);
    assert!(rig.failures().is_empty(), "{}", text(&output.stderr));
    rig.assert_finished(&output);
}

#[test]
fn a_leftover_file_fails_the_trial() {
    let Some(rig) = Rig::up("a leftover file", &[]) else { return };
    let set = rig.dir().join("set/etc");
    fs::create_dir_all(&set).expect("made");
    fs::write(set.join("fwdlab-test"), "1\n").expect("written");
    let with_files = EXPERIMENT
        .replace(
            "name = \"loose\"",
            "name = \"loose\"\nreboot = \"never\"\nconfiguration = \"set\"",
        )
        .replace(
            "name = \"strict\"",
            "name = \"strict\"\nreboot = \"never\"\nconfiguration = \"set\"",
        );
    rig.assert_finished(&rig.run(&with_files));
    // What is mounted cannot be removed.
    rig.on("dut", "mount --bind /etc/fwdlab-test /etc/fwdlab-test");
    fs::remove_dir_all(rig.results()).expect("removed");
    rig.edit("testbed.toml", "boot = \"20s\"", "boot = \"20s\"\nattempts = 1");
    let output = rig.run(EXPERIMENT);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(rig.failures()[0], "proof-mismatch");
    let reason = rig.records("trial")[0]["reason"].to_string();
    assert!(reason.contains("of an earlier variant is still there"), "{reason}");
}

/// Gives the rig a power switch: it boots the device and joins the way to it again. `first` are lines of
/// the shell that come before.
fn add_power_switch(rig: &Rig, first: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/remote-rig.sh");
    let dir = rig.dir().display();
    let power = format!(
        "#!/bin/sh\n{first}{script} in {dir} dut reboot\n\
         {script} in {dir} dut ip link set eth0 up\nexit 0\n"
    );
    let hook = rig.dir().join("power");
    fs::write(&hook, power).expect("written");
    Command::new("chmod").arg("755").arg(&hook).status().expect("chmod");
    rig.append(
        "testbed.toml",
        "[hooks]\npower-cycle = [\"./power\"]\nconsole = [\"echo\", \"Kernel panic - not syncing\"]\n",
    );
    rig.edit("testbed.toml", "silent-dut = \"3s\"", "silent-dut = \"3s\"\ncommand = \"5s\"");
}

#[test]
fn a_device_that_hangs_is_switched_off_and_on() {
    let Some(rig) = Rig::up("a device that hangs", &[]) else { return };
    add_power_switch(&rig, "");
    // The way to it is cut; switching it off and on boots it and joins the way again.
    let output = rig.run_and(&long(), |rig, _| {
        rig.on("dut", "ip link set eth0 down");
    });
    assert_eq!(rig.failures(), ["dut-hung"], "{}", text(&output.stderr));
    rig.assert_finished(&output);
    let reason = rig.records("repeated")[0]["reason"].to_string();
    assert!(reason.contains("it hangs") && reason.contains("look at its console"), "{reason}");
    let failure = &rig.records("repeated")[0]["failure"];
    assert!(failure["console"].to_string().contains("Kernel panic"), "{failure}");
    let remedies = failure["remedies"].to_string();
    assert!(remedies.contains("switched the device off and on"), "{failure}");
    // The journal says how long it took, and so does this test; the promise is 10 s more.
    let (_, silence) = remedies.split_once("silent for ").expect("how long it was silent");
    let silence: f64 = silence.split(' ').next().and_then(|s| s.parse().ok()).expect("seconds");
    assert!(silence >= 3.0, "it was given up before its time: {failure}");
    eprintln!("a hang was noticed {:.1} s after silent-dut", silence - 3.0);
    let page = fs::read_to_string(rig.results().join("README.md")).expect("a page");
    assert!(page.contains("the device failed 1 time: dut-hung"), "{page}");
}

#[test]
fn a_device_that_hangs_and_cannot_be_switched_off_once() {
    let Some(rig) = Rig::up("a power switch that fails once", &[]) else { return };
    let once = rig.dir().join("once");
    let fail = format!("[ -e {0} ] || {{ touch {0}; exit 1; }}\n", once.display());
    add_power_switch(&rig, &fail);
    let output = rig.run_and(&long(), |rig, _| {
        rig.on("dut", "ip link set eth0 down");
    });
    assert_eq!(rig.failures(), ["power-failed", "dut-hung"], "{}", text(&output.stderr));
    rig.assert_finished(&output);
    let repeated = rig.records("repeated");
    let reason = repeated[0]["reason"].to_string();
    assert!(reason.contains("it hangs, and the power-cycle hook failed"), "{reason}");
    let remedies = repeated[1]["failure"]["remedies"].to_string();
    assert!(remedies.contains("switched the device off and on"), "{remedies}");
}

#[test]
fn a_reboot_that_does_not_end() {
    let Some(rig) = Rig::up("a reboot that does not end", &[]) else { return };
    add_power_switch(&rig, "");
    rig.edit("testbed.toml", "boot = \"20s\"", "boot = \"5s\"");
    let once = "[ ! -e /rig-did-not-come-back ] || exit 0; touch /rig-did-not-come-back; \
                ip link set eth0 down";
    rig.on(
        "dut",
        &format!("printf '#!/bin/sh\\n{once}\\n' > /rig-on-reboot; chmod 755 /rig-on-reboot"),
    );
    let experiment =
        EXPERIMENT.replace("name = \"strict\"", "name = \"strict\"\nreboot = \"trial\"");
    let output = rig.run(&experiment);
    assert_eq!(rig.failures(), ["boot-timeout"], "{}", text(&output.stderr));
    rig.assert_finished(&output);
    let failure = &rig.records("repeated")[0]["failure"];
    let remedies = failure["remedies"].to_string();
    assert!(remedies.contains("switched the device off and on"), "{failure}");
    assert!(failure["console"].to_string().contains("Kernel panic"), "{failure}");
}

#[test]
fn two_controllers_do_not_share_a_testbed() {
    let Some(rig) = Rig::up("two controllers", &[]) else { return };
    let output = rig.run_and(&long(), |rig, child| {
        // The first stands still meanwhile: on a busy machine it would be done before the second begins.
        let signal = |name: &str| {
            Command::new("kill").args([name, &child.id().to_string()]).status().expect("sent");
        };
        signal("-STOP");
        let results = rig.dir().join("second");
        let mut second = rig.fwdlab();
        second.env("USER", "somebody-else").args(["run", "-q", "-o"]).arg(&results);
        second.arg(rig.dir().join("experiment.toml"));
        let output = second.arg("--testbed").arg(rig.dir().join("testbed.toml")).output();
        signal("-CONT");
        let output = output.expect("it starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("somebody else works on this testbed"), "{said}");
        let journal = fs::read_to_string(results.join("trials.jsonl")).expect("a journal");
        assert!(
            journal.contains("\"kind\":\"locked\"") && !journal.contains("canary"),
            "{journal}"
        );
    });
    rig.assert_finished(&output);
}

/// Whoever made it before us could change the program that we run from it.
#[test]
fn a_directory_of_somebody_else_on_a_host_is_not_used() {
    let Some(rig) = Rig::up("a directory of somebody else", &[]) else { return };
    rig.on("tester", "mkdir -p /var/tmp/fwdlab && chown 65534 /var/tmp/fwdlab");
    let output = rig.run(EXPERIMENT);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("/var/tmp/fwdlab belongs to somebody else"), "{said}");
    assert_eq!(rig.on("tester", "ls /var/tmp/fwdlab"), "");
}

#[test]
fn a_killed_controller_is_gone_on_with() {
    let Some(rig) = Rig::up("a killed controller", &[]) else { return };
    let mut command = rig.command(&long());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    rig.wait_for_traffic();
    child.kill().expect("killed");
    child.wait().expect("ended");
    let left = rig.on("tester", "cat /var/tmp/fwdlab/lock/owner");
    assert!(left.contains("canary-user@"), "{left}");
    let output = rig.run(&long());
    rig.assert_finished(&output);
    let ids: Vec<String> = rig.records("trial").iter().map(|t| t["id"].to_string()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let unlock =
        rig.fwdlab().args(["unlock", "--testbed"]).arg(rig.dir().join("testbed.toml")).output();
    assert_eq!(text(&unlock.expect("it starts").stdout), "it is not locked\n");
}

/// A terminal sends its signal to the whole group: ssh died of it, and the testbed stayed locked.
#[test]
fn ctrl_c_in_a_terminal_frees_the_testbed_and_another_person_goes_on() {
    let Some(rig) = Rig::up("Ctrl-C in a terminal", &["--receiver"]) else { return };
    let mut command = rig.command(&long());
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    rig.wait_for_traffic();
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-INT", "--", &group]).status().expect("sent");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(rig.on("tester", "ls -d /var/tmp/fwdlab/lock"), "");
    assert_eq!(rig.on("dut", "ip route show proto 177"), "", "nothing is left on the device");
    let output = rig.command(&long()).env("USER", "carol").env("LOGNAME", "carol").output();
    let output = output.expect("it starts");
    rig.assert_finished(&output);
    // How far clocks are apart is measured anew by each run: it is no other machine.
    let said = text(&output.stderr);
    assert!(!said.contains("ran on"), "{said}");
    assert_eq!(rig.records("resumed").len(), 0, "{said}");
}
