//! `device = "linux"`, and `route`, `gen` and `sink` on interfaces: as root; else they are skipped.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use fwdlab_lab::device::linux::topology::{Cable, End, InterfaceAddress, Testbed, Topology};
use fwdlab_wire::MacAddr;
use serde_json::Value;

fn fwdlab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fwdlab"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a shipped example with one block of short trials.
fn short(example: &str) {
    let able = fwdlab().args(["doctor", "--device", "linux"]).output().expect("it starts");
    if !able.status.success() {
        let missing = text(&able.stdout);
        let missing: Vec<&str> = missing.lines().filter(|line| line.starts_with("no ")).collect();
        eprintln!("SKIPPED {example}: {}", missing.join("; "));
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let shipped = fs::read_to_string(&path).expect("the example is there");
    let shortened = shipped
        .replace("duration = \"4s\"", "duration = \"500ms\"")
        .replace("blocks = 8", "blocks = 1");
    let shortened = match shortened.contains("duration") {
        true => shortened,
        false => shortened.replace("blocks = 1", "blocks = 1\nduration = \"500ms\""),
    };
    let file = dir.path().join(example);
    fs::write(&file, shortened).expect("writable");
    let results = dir.path().join("results");
    let output =
        fwdlab().args(["run", "-q", "-o"]).arg(&results).arg(&file).output().expect("it starts");
    let said = text(&output.stderr);
    let journal = fs::read_to_string(results.join("trials.jsonl")).unwrap_or_default();
    let failed: Vec<&str> =
        journal.lines().filter(|line| line.contains("\"status\":\"failed\"")).collect();
    assert!(output.status.success(), "{said}\n{failed:?}");
    assert!(failed.is_empty(), "{failed:?}");
    assert!(journal.contains("\"record\":\"finished\""), "{said}");
}

#[test]
fn the_firewall_example_runs() {
    short("linux-firewall.toml");
}

#[test]
fn the_routes_example_runs() {
    short("linux-routes.toml");
}

#[test]
fn the_comparison_with_xdp_runs() {
    short("linux-vs-fwdlab.toml");
}

#[test]
fn doctor_prints_json_that_names_every_remedy() {
    let output = fwdlab().args(["doctor", "--format", "json"]).output().expect("it starts");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = found.as_array().expect("a list");
    assert!(list.len() > 8);
    assert!(list.iter().all(|finding| finding["remedy"].as_str().is_some_and(|r| !r.is_empty())));
}

fn end(role: &str, interface: &str, number: u8, address: Option<[u8; 4]>) -> End {
    let address =
        address.map(|bytes| InterfaceAddress { address: bytes.into(), prefix_length: 24 });
    End {
        namespace: role.to_owned(),
        interface: interface.to_owned(),
        mac: MacAddr([2, 0, 0, 0, 1, number]),
        mtu: None,
        addresses: address.into_iter().collect(),
    }
}

/// A namespace with a router's ports, which the kernel has no addresses on, and one with the
/// tester's, whose kernel answers ARP for the gateways.
fn topology() -> Topology {
    let mut wanted = Topology::default();
    wanted.namespace("router").sysctls.insert("net.ipv4.ip_forward".to_owned(), "0".to_owned());
    wanted.namespace("tester");
    let ends = [
        [end("router", "port0", 1, None), end("tester", "out", 2, Some([198, 18, 0, 203]))],
        [end("router", "port1", 3, None), end("tester", "back", 4, Some([198, 19, 0, 203]))],
    ];
    wanted.cables.extend(ends.map(|ends| Cable { ends }));
    wanted
}

#[test]
fn route_forwards_between_interfaces_what_gen_sends() {
    let mut testbed = match Testbed::new() {
        Ok(testbed) => testbed,
        Err(error) => return eprintln!("SKIPPED route_forwards_between_interfaces: {error}"),
    };
    if let Err(error) = testbed.change_to(&topology()) {
        return eprintln!("SKIPPED route_forwards_between_interfaces: {error}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let routes = dir.path().join("routes.txt");
    fs::write(&routes, "198.18.0.0/16 198.18.0.203\n198.19.0.0/16 198.19.0.203\n")
        .expect("written");
    let inside = |role: &str, command: &mut Command| {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = testbed.namespace(role).expect("there").run(|| command.spawn());
        child.expect("enterable").expect("it starts")
    };
    let router = inside(
        "router",
        fwdlab()
            .args(["route", "--port", "port0,198.18.0.254/24", "--port", "port1,198.19.0.254/24"])
            .args(["--seconds", "3", "--format", "json", "--routes"])
            .arg(&routes),
    );
    let generator = inside(
        "tester",
        fwdlab()
            .args(["gen", "--interface", "out", "--back", "back", "--to", "02:00:00:00:01:01"])
            .args([
                "--source",
                "198.18.10.1-198.18.10.20:2000",
                "--destination",
                "198.19.10.1-198.19.10.100:2000",
                "--load",
                "20kpps",
                "--seconds",
                "1.5",
                "--json",
            ]),
    );
    let sent = generator.wait_with_output().expect("it ends");
    let routed = router.wait_with_output().expect("it ends");
    let found = |output: &Output| -> Value {
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let (sent, routed) = (found(&sent), found(&routed));
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    assert!(number(&sent["sent"]) > 10_000, "{sent}");
    assert_eq!(number(&sent["flows_seen"]), 2000, "{sent} {routed}");
    // The first frames come while the router starts and asks for the gateway.
    assert!(number(&sent["received"]) * 2 > number(&sent["sent"]), "{sent} {routed}");
}
