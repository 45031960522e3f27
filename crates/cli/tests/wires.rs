//! `route` and `gen` on the two ends of a cable in a network namespace: how they begin, what they
//! refuse, how they end. As root; else they are skipped.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A namespace with a cable from `p0` to `p1`, which goes when this does.
struct Wire(String);

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

impl Wire {
    /// `None`, and a line that says so, where it cannot be made.
    fn new(test: &str) -> Option<Self> {
        let wire = Self(format!("wires-{}-{test}", std::process::id()));
        let made = Command::new("ip").args(["netns", "add", &wire.0]).output();
        if !made.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED {test}: no network namespace (root and iproute2 are needed)");
            return None;
        }
        wire.ip("link add name p0 type veth peer name p1");
        wire.ip("link set p0 up");
        wire.ip("link set p1 up");
        Some(wire)
    }

    fn ip(&self, words: &str) {
        let mut command = Command::new("ip");
        let status = command.args(["-n", &self.0]).args(words.split(' ')).status();
        assert!(status.expect("iproute2").success(), "ip {words}");
    }

    /// The program inside the namespace.
    fn fwdlab(&self, words: &str) -> Command {
        let mut command = Command::new("ip");
        // SIGHUP counts, also where whoever runs the tests ignores it.
        command.args(["netns", "exec", &self.0, "env", "--default-signal=HUP"]);
        command.arg(env!("CARGO_BIN_EXE_fwdlab"));
        command.args(words.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn gen_with(&self, words: &str) -> Output {
        let flows = "--to 02:00:00:00:00:10 --source 198.18.10.1-198.18.10.20:2000 \
                     --destination 198.19.10.1-198.19.10.100:2000";
        let words = format!("gen --interface p0 {flows} --seconds 0.2 {words}");
        self.fwdlab(&words).output().expect("it starts")
    }

    /// The router between both ends, once it forwards.
    fn router(&self) -> (Child, BufReader<std::process::ChildStdout>, tempfile::TempDir) {
        self.router_with("--format json")
    }

    fn router_with(
        &self,
        words: &str,
    ) -> (Child, BufReader<std::process::ChildStdout>, tempfile::TempDir) {
        let dir = tempfile::tempdir().expect("a directory");
        let routes = dir.path().join("routes.txt");
        std::fs::write(&routes, "10.0.0.0/8 198.19.0.2\n").expect("written");
        let ports = "route --port p0,198.18.0.1/24 --port p1,198.19.0.1/24 --every 0.05";
        let words = format!("{ports} {words} --routes");
        let mut child = self.fwdlab(&words).arg(&routes).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("readable");
        let is_first = line.contains("\"is_final\":false") || line.contains(" received, ");
        assert!(is_first, "{line}");
        (child, lines, dir)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The last line that a router has printed, what it said, and its exit code.
fn end(mut child: Child, lines: impl BufRead) -> (Value, String, Option<i32>) {
    let last = lines.lines().map_while(Result::ok).last().expect("a line");
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("readable");
    let status = child.wait().expect("it ends");
    (serde_json::from_str(&last).expect("JSON"), said, status.code())
}

#[test]
fn gen_refuses_an_interface_that_the_host_uses() {
    let Some(wire) = Wire::new("gen_guard") else { return };
    assert!(wire.gen_with("--json").status.success());
    wire.ip("addr add 198.18.0.1/24 dev p0");
    let refused = wire.gen_with("");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("p0 is in use: the host has the address 198.18.0.1"), "{said}");
    assert!(said.contains("--force"), "{said}");
    assert!(wire.gen_with("--force").status.success());
    wire.ip("route add default via 198.18.0.2 dev p0");
    assert!(text(&wire.gen_with("").stderr).contains("default route"));
}

#[test]
fn gen_speaks_of_losses_only_where_frames_come_back() {
    let Some(wire) = Wire::new("gen_losses") else { return };
    let alone = json(&wire.gen_with("--json --load 1kpps"));
    assert!(alone["sent"].as_u64() > Some(0), "{alone}");
    for key in ["lost", "received", "checks", "flows_seen"] {
        assert!(alone.get(key).is_none(), "{alone}");
    }
    let back = json(&wire.gen_with("--json --load 1kpps --back p1"));
    assert!(back["lost"].is_u64() && back["checks"]["wrong_ttl"].is_u64(), "{back}");
}

#[test]
fn gen_warns_of_frames_that_are_longer_than_the_mtu() {
    let Some(wire) = Wire::new("gen_mtu") else { return };
    let found = json(&wire.gen_with("--json --load 1kpps --frame 1600"));
    assert_eq!(found["sent"], 0, "{found}");
    assert!(found["refused"].as_u64() > Some(0), "{found}");
    let warning = found["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("longer than p0 takes") && warning.contains("mtu 1582"), "{warning}");
}

#[test]
fn gen_says_that_it_sent_less_than_was_asked_and_why() {
    let Some(wire) = Wire::new("gen_less") else { return };
    let found = json(&wire.gen_with("--json --load 900Mpps"));
    let warning = found["warnings"][0].as_str().expect("a warning");
    assert!(
        warning.contains("that 900Mpps asks for: this core writes no more of them"),
        "{warning}"
    );
}

/// Waiting for frames takes next to nothing of a core: below 2 %, of which a busy machine and a program
/// that is not optimised leave a test this much room.
#[test]
fn route_rests_while_nothing_arrives() {
    let Some(wire) = Wire::new("route_idle") else { return };
    let (child, lines, _dir) = wire.router();
    let taken = || -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("threads");
        let of = |task: std::fs::DirEntry| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).expect("times");
            text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).expect("nanoseconds")
        };
        tasks.map(|task| of(task.expect("a thread"))).sum()
    };
    let (start, before) = (std::time::Instant::now(), taken());
    std::thread::sleep(std::time::Duration::from_millis(500));
    let share = (taken() - before) as f64 / start.elapsed().as_nanos() as f64;
    eprintln!("an idle router takes {:.2} % of a core", 100.0 * share);
    assert!(share < 0.1, "{share}");
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill").success());
    end(child, lines);
}

/// What the ports could not take or give is in the table and in the sum.
#[test]
fn route_accounts_for_what_its_ports_could_not_take_or_give() {
    let Some(wire) = Wire::new("route_lost") else { return };
    let (child, lines, _dir) = wire.router_with("--format text --seconds 1");
    wire.ip("link set p0 mtu 9000");
    wire.ip("link set p1 mtu 9000");
    assert!(wire.gen_with("--json --load 1kpps --frame 8000").status.success());
    let text: String = lines.lines().map_while(Result::ok).map(|line| line + "\n").collect();
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sum = text.lines().rfind(|line| line.contains("frames received")).expect("a sum");
    let lost = |what: &str| -> u64 {
        let before = sum.split(what).next().filter(|before| before.len() < sum.len());
        let number = before.and_then(|before| before.trim_end().rsplit(' ').next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    let row = text.lines().rfind(|line| line.trim_start().starts_with("1  ")).expect("port 1");
    let columns: Vec<&str> = row.split_whitespace().collect();
    let number = |at: usize| columns[at].parse::<u64>().expect("a number");
    assert!(number(5) > 0, "{text}");
    assert_eq!(lost("lost before the router had them"), number(4) + number(5), "{text}");
}

#[test]
fn route_ends_with_its_counters_when_it_is_told_to() {
    for signal in ["-TERM", "-HUP", "-INT"] {
        let Some(wire) = Wire::new(&format!("route{signal}")) else { return };
        let (child, lines, _dir) = wire.router();
        let number = child.id().to_string();
        assert!(Command::new("kill").args([signal, &number]).status().expect("kill").success());
        let (last, said, code) = end(child, lines);
        assert_eq!((code, &last["is_final"]), (Some(0), &Value::Bool(true)), "{signal}: {said}");
    }
}

#[test]
fn route_says_that_an_interface_has_gone_and_what_it_has_counted() {
    let Some(wire) = Wire::new("route_gone") else { return };
    let (child, lines, _dir) = wire.router();
    wire.ip("link del p0");
    let (last, said, code) = end(child, lines);
    assert_eq!((code, &last["is_final"]), (Some(2), &Value::Bool(true)), "{said}");
    assert!(said.contains("has gone"), "{said}");
}

/// Frames longer than all that the router has room for, as merged ones are.
#[test]
fn route_names_the_remedy_for_merged_frames_when_the_first_arrives_and_once() {
    let Some(wire) = Wire::new("route_merged") else { return };
    let (mut child, lines, _dir) = wire.router();
    wire.ip("link set p0 mtu 9000");
    wire.ip("link set p1 mtu 9000");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let send = || assert!(wire.gen_with("--json --load 1kpps --frame 8000").status.success());
    send();
    let mut warning = String::new();
    while !warning.contains("merged by an offload") {
        warning.clear();
        assert!(said.read_line(&mut warning).expect("readable") > 0, "it has ended in silence");
    }
    assert!(warning.contains("on p1") && warning.contains("ethtool -K p1 gro off"), "{warning}");
    // It still runs, and says it no more.
    assert!(child.try_wait().expect("it can be asked").is_none());
    send();
    let number = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &number]).status().expect("kill").success());
    let last = lines.lines().map_while(Result::ok).last().expect("a line");
    let last: Value = serde_json::from_str(&last).expect("JSON");
    assert!(last["ports"][1]["rx_too_long"].as_u64() > Some(0), "{last}");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("readable");
    assert!(!rest.contains("on p1 are merged"), "{rest}");
    assert!(child.wait().expect("it ends").success(), "{rest}");
}
