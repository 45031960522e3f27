//! `fwdlab ctl` and `--kernel-routes`: a router between two hosts, each in a network namespace of its
//! own, whose routes change while it forwards. As root; else skipped.
// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

mod bgp;

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Patience with a busy machine; never what is measured.
const PATIENCE: Duration = Duration::from_secs(60);

/// Namespaces NEAR, ROUTER and FAR, with cables n0-r0 and r1-f0 between them.
struct Lab {
    name: String,
    dir: tempfile::TempDir,
    children: Vec<Child>,
}

impl Drop for Lab {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
        for end in ["near", "router", "far"] {
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(end)]).output();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Lab {
    /// `None`, and a line that says so, where it cannot be made.
    fn new(test: &str) -> Option<Self> {
        let name = format!("ctl-{}-{test}", std::process::id());
        let lab = Self { name, dir: tempfile::tempdir().unwrap(), children: Vec::new() };
        for end in ["near", "router", "far"] {
            let made = Command::new("ip").args(["netns", "add", &lab.namespace(end)]).output();
            if !made.is_ok_and(|output| output.status.success()) {
                eprintln!("SKIPPED {test}: no network namespace (root and iproute2 are needed)");
                return None;
            }
            lab.ip(end, "link set lo up");
        }
        lab.cable(("near", "n0"), "r0");
        lab.cable(("far", "f0"), "r1");
        lab.ip("near", "addr add 198.18.0.2/24 dev n0");
        lab.ip("near", "route add default via 198.18.0.1");
        lab.ip("far", "addr add 198.19.0.2/24 dev f0");
        lab.ip("far", "addr add 203.0.113.7/32 dev lo");
        lab.ip("far", "route add default via 198.19.0.1");
        Some(lab)
    }

    fn namespace(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    fn cable(&self, (end, outer): (&str, &str), inner: &str) {
        let router = self.namespace("router");
        self.ip(end, &format!("link add {outer} type veth peer name {inner} netns {router}"));
        self.ip(end, &format!("link set {outer} up"));
        self.ip("router", &format!("link set {inner} up"));
    }

    fn ip(&self, end: &str, words: &str) {
        let mut command = Command::new("ip");
        let output =
            command.args(["-n", &self.namespace(end)]).args(words.split(' ')).output().unwrap();
        assert!(output.status.success(), "{end}: ip {words}: {}", text(&output.stderr));
    }

    fn inside(&self, end: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(end), program]);
        command
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("control")
    }

    /// Starts the router, once it takes orders.
    fn route(&mut self, words: &str) {
        let mut command = self.inside("router", env!("CARGO_BIN_EXE_fwdlab"));
        command.arg("route").args(words.split_whitespace()).arg("--control").arg(self.socket());
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        self.children.push(child);
        let socket = self.socket();
        wait_until("the router takes orders", || socket.exists());
    }

    /// Ends the router that was started last; what it said.
    fn end_router(&mut self) -> String {
        let mut child = self.children.pop().unwrap();
        child.kill().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        said
    }

    fn ctl(&self, words: &str) -> Output {
        ctl(&self.socket(), words)
    }

    fn json(&self, words: &str) -> Value {
        let output = self.ctl(&format!("{words} --json"));
        assert!(output.status.success(), "{words}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refused(&self, words: &str) -> String {
        let output = self.ctl(words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// Whether a single echo from far away is answered within a second.
    fn reaches(&self, address: &str) -> bool {
        let words = ["-c", "1", "-W", "1", address];
        self.inside("near", "ping").args(words).output().unwrap().status.success()
    }

    /// Waits for an answer: a busy machine may lose one, or be late.
    #[track_caller]
    fn must_reach(&self, address: &str) {
        wait_until(&format!("{address} is reached"), || self.reaches(address));
    }
}

fn ctl(socket: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
    command.arg("ctl").arg("--socket").arg(socket).args(words.split_whitespace());
    command.output().unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never came that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const PORTS: &str = "--port r0,198.18.0.1/24 --port r1,198.19.0.1/24";

#[test]
fn routes_change_while_packets_flow() {
    let Some(mut lab) = Lab::new("ctl") else { return };
    // An empty table: there are the networks of the ports.
    lab.route(PORTS);
    assert!(!lab.reaches("203.0.113.7"));
    assert_eq!(lab.json("route add 203.0.113.0/24 via 198.19.0.2")["visible"], true);
    lab.must_reach("203.0.113.7");
    let said = lab.refused("route add 203.0.113.0/24 via 198.19.0.2");
    assert!(said.contains("exists already"), "{said}");
    lab.json("route change blackhole 203.0.113.0/24");
    assert!(!lab.reaches("203.0.113.7"));
    lab.json("route replace 203.0.113.0/24 nexthop via 198.19.0.2 weight 1 nexthop via 198.19.0.2 dev r1");
    lab.must_reach("203.0.113.7");
    let routes = lab.json("show routes 203.0.113.0/24");
    assert_eq!(routes.as_array().unwrap().len(), 1, "{routes}");
    assert_eq!(lab.json("show route 203.0.113.7")["prefix"], "203.0.113.0/24");
    lab.json("route replace 203.0.113.0/24 via 198.19.0.2");
    assert!(lab.refused("route del 203.0.113.0/24 via 198.19.0.3").contains("another target"));
    lab.json("route del 203.0.113.0/24 via 198.19.0.2");
    assert!(!lab.reaches("203.0.113.7"));
    for (words, wanted) in [
        ("route del 203.0.113.0/24", "no route 203.0.113.0/24"),
        ("route change 203.0.113.0/24 via 198.19.0.2", "no route 203.0.113.0/24"),
        ("route add 203.0.113.0/24 via 192.0.2.1", "the gateway is in no port's network"),
        ("route add 224.0.0.0/4 via 198.19.0.2", "does not forward by this prefix"),
        ("route add 10.2.0.0/16 via 198.19.0.9 garbage", "\"garbage\" is no word of a route"),
        ("route add 10.2.0.0/16 via 198.19.0.9 via 198.19.0.8", "two gateways"),
        ("route add 10.2.0.0/16 via 198.19.0.9 dev r0", "in the network of another port"),
        ("route add 10.2.0.0/16 via 198.18.0.1", "an address of the router itself"),
        ("route add 10.2.0.0/16 via 198.19.0.255", "the address of a whole network"),
        ("route add 10.2.0.0/16 via 198.19.0.0 dev r1", "the address of a whole network"),
        ("neigh add 198.19.0.9 00:00:00:00:00:00", "a group's or nobody's"),
        ("neigh add 198.19.0.1 02:00:00:00:00:01", "an address of the router itself"),
        ("route del 198.19.0.0/24", "belongs to the address of a port"),
        ("route del 198.19.0.1/32", "belongs to the address of a port"),
        ("route add", "no route"),
        ("set net.route.algo.inet.algo nonsense", "choose one of"),
        ("neigh add 192.0.2.1 02:00:00:00:00:01", "in no port's network"),
        ("neigh del 198.19.0.77", "no neighbour"),
        ("show nothing", "show fib, routes"),
        ("show kernel", "--kernel-routes"),
        ("make coffee", "is no order"),
    ] {
        let said = lab.refused(words);
        assert!(said.contains(wanted), "{words}: {said}");
    }
    let tables = lab.json("show fib");
    assert_eq!(tables[0]["family"], "inet");
    // What was refused has changed nothing: six routes come with the ports.
    assert_eq!(tables[0]["routes"], 6, "{tables}");
    assert_eq!(
        lab.json("set net.route.algo.inet.algo radix4_lockless"),
        lab.json("get net.route.algo.inet.algo")
    );
    assert_eq!(lab.json("show words")["net.route.algo.inet.algo"], "radix4_lockless");
    lab.json("neigh add 198.19.0.77 02:00:00:00:00:77");
    let all = lab.json("show neighbours");
    let found = all.as_array().unwrap().iter().find(|one| one["address"] == "198.19.0.77").unwrap();
    assert_eq!((&found["mac"], &found["state"]), (&"02:00:00:00:00:77".into(), &"static".into()));
    lab.json("neigh del 198.19.0.77");
    assert!(lab.json("show drops")["blackhole"].as_u64() > Some(0));
    assert!(lab.json("show counters")["sent"].as_u64() > Some(0));
}

#[test]
fn a_batch_of_orders_ends_at_the_first_that_is_refused() {
    let Some(mut lab) = Lab::new("batch") else { return };
    lab.route(PORTS);
    let file = lab.dir.path().join("orders");
    let routes: String = (0..500)
        .map(|i| format!("route add 10.{}.{}.0/24 via 198.19.0.2\n", i / 256, i % 256))
        .collect();
    std::fs::write(
        &file,
        format!("# many\n{routes}route del 192.0.2.0/24\nroute add 192.0.2.0/24 via 198.19.0.2\n"),
    )
    .unwrap();
    let output = ctl(&lab.socket(), &format!("--batch {}", file.display()));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("orders:502: no route 192.0.2.0/24"), "{said}");
    assert_eq!(lab.json("show fib")[0]["routes"], 506);
}

#[test]
fn the_socket_is_private_held_by_one_router_and_gone_with_it() {
    let Some(mut lab) = Lab::new("socket") else { return };
    lab.route(PORTS);
    let mode = std::fs::metadata(lab.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = lab
        .inside("router", env!("CARGO_BIN_EXE_fwdlab"))
        .args(["route", "--port", "r0,198.18.0.1/24", "--control"])
        .arg(lab.socket())
        .output()
        .unwrap();
    let said = text(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another router has it"), "{said}");
    let mut router = lab.children.pop().unwrap();
    assert!(
        Command::new("kill").args(["-TERM", &router.id().to_string()]).status().unwrap().success()
    );
    assert!(router.wait().unwrap().success());
    assert!(!lab.socket().exists());
    assert!(lab.refused("show fib").contains("no router at"));
}

#[test]
fn a_router_that_was_killed_leaves_a_socket_that_the_next_replaces() {
    let Some(mut lab) = Lab::new("stale") else { return };
    lab.route(PORTS);
    let mut router = lab.children.pop().unwrap();
    router.kill().unwrap();
    router.wait().unwrap();
    assert!(lab.socket().exists());
    let socket = lab.socket();
    lab.route(PORTS);
    wait_until("the new router answers", || ctl(&socket, "show fib").status.success());
}

#[test]
fn the_routes_of_the_kernel_are_followed() {
    let Some(mut lab) = Lab::new("kernel") else { return };
    lab.ip("router", "addr add 198.18.0.1/24 dev r0");
    lab.ip("router", "addr add 198.19.0.1/24 dev r1");
    lab.ip("router", "route add 203.0.113.0/24 via 198.19.0.2");
    lab.ip("router", "route add blackhole 192.0.2.0/24 metric 7");
    // The kernel forwards nothing here: what arrives was forwarded by the router.
    lab.route("--port r0 --port r1 --kernel-routes");
    wait_until("the routes are there", || lab.json("show kernel")["routes"] == 4);
    lab.must_reach("203.0.113.7");
    // The kernel answers for its addresses, the router does not as well.
    let output = lab
        .inside("near", "ping")
        .args(["-c", "2", "-i", "0.3", "-W", "2", "198.18.0.1"])
        .output()
        .unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("2 received") && !said.contains("DUP"), "{said}");
    lab.ip("router", "route replace unreachable 203.0.113.0/24");
    wait_until("the change is followed", || {
        lab.json("show route 203.0.113.7")["to"] == "unreachable"
    });
    // With a better metric another one counts, until it is gone.
    lab.ip("router", "route add 192.0.2.0/24 via 198.18.0.2 metric 3");
    wait_until("the better one counts", || {
        lab.json("show route 192.0.2.1")["to"] == "via 198.18.0.2 port 0"
    });
    lab.ip("router", "route del 192.0.2.0/24 metric 3");
    wait_until("the other one counts", || lab.json("show route 192.0.2.1")["to"] == "blackhole");
    lab.ip("router", "route del 203.0.113.0/24");
    wait_until("it is gone", || lab.refused("show route 203.0.113.7").contains("no route to"));
    let kernel = lab.json("show kernel");
    assert_eq!(kernel["visible_us"]["count"], kernel["changes"].as_u64().unwrap() - 2, "{kernel}");
    a_static_route_is_visible_at_once(&lab);
    // Without going through the router's ports, packets go nowhere, not by a shorter prefix.
    lab.ip("router", "link add d0 type veth peer name d1");
    lab.ip("router", "link set d0 up");
    lab.ip("router", "route add 203.0.113.0/24 dev d0");
    lab.ip("router", "route add 203.0.112.0/20 via 198.19.0.2");
    wait_until("both are there", || lab.json("show kernel")["routes"] == 5);
    assert_eq!(lab.json("show kernel")["elsewhere"], 1);
    assert!(!lab.reaches("203.0.113.7"));
}

/// Of routes that vanish with a link, an address or a nexthop object the kernel tells nothing.
#[test]
fn routes_that_the_kernel_drops_in_silence_go_here_as_well() {
    let Some(mut lab) = Lab::new("silent") else { return };
    lab.ip("router", "addr add 198.18.0.1/24 dev r0");
    lab.ip("router", "addr add 198.19.0.1/24 dev r1");
    lab.ip("router", "addr add 192.0.2.1/24 dev r0");
    for words in [
        "route add 10.1.0.0/16 via 198.19.0.7",
        "route add 10.1.0.0/16 via 198.18.0.7 metric 5",
        "route add 10.5.0.0/16 nexthop via 198.19.0.8 nexthop via 198.18.0.8",
        "route add 10.6.0.0/16 via 198.18.0.9 src 192.0.2.1",
        "nexthop add id 5 via 198.19.0.8 dev r1",
        "nexthop add id 6 via 198.18.0.8 dev r0",
        "nexthop add id 9 group 5/6",
        "route add 10.3.0.0/16 nhid 5",
        "route add 10.4.0.0/16 nhid 9",
        "route add 10.9.0.0/16 via inet6 fe80::7 dev r1",
        "route add 10.10.0.0/16 via inet6 fe80::7 dev r1",
    ] {
        lab.ip("router", words);
    }
    lab.route("--port r0 --port r1 --kernel-routes");
    let to = |address: &str| {
        let shown = lab.ctl(&format!("show route {address} --json"));
        let shown: Value = serde_json::from_slice(&shown.stdout).unwrap_or_default();
        shown["to"].as_str().map(str::to_owned)
    };
    let leads = |address: &str, wanted: Option<&str>| {
        wait_until(&format!("{address} leads to {wanted:?}"), || to(address).as_deref() == wanted);
    };
    leads("10.1.0.1", Some("via 198.19.0.7 port 1"));
    // By a gateway of IPv6: dropped, and said once.
    leads("10.9.0.1", Some("blackhole"));
    leads("10.10.0.1", Some("blackhole"));
    leads("10.3.0.1", Some("via 198.19.0.8 port 1"));
    leads("10.6.0.1", Some("via 198.18.0.9 port 0"));
    lab.ip("router", "nexthop del id 5");
    leads("10.3.0.1", None);
    leads("10.4.0.1", Some("via 198.18.0.8 port 0"));
    lab.ip("router", "addr del 192.0.2.1/24 dev r0");
    leads("10.6.0.1", None);
    lab.ip("router", "link set r1 down");
    leads("10.1.0.1", Some("via 198.18.0.7 port 0"));
    leads("10.5.0.1", Some("via 198.18.0.8 port 0"));
    lab.ip("router", "link set r1 up");
    wait_until("both ways are there", || {
        to("10.5.0.1").as_deref() != Some("via 198.18.0.8 port 0")
    });
    lab.ip("router", "route add 10.1.0.0/16 via 198.19.0.7");
    leads("10.1.0.1", Some("via 198.19.0.7 port 1"));
    let said = lab.end_router();
    assert_eq!(said.matches("by a gateway of IPv6, which is not supported").count(), 1, "{said}");
}

/// With an algorithm that is rebuilt, and hours between two rebuilds: what a routing protocol says
/// waits, what somebody wrote down does not.
fn a_static_route_is_visible_at_once(lab: &Lab) {
    for (word, value) in [
        ("net.route.algo.inet.algo", "bsearch4"),
        ("net.route.algo.bucket_time_ms", "1000000"),
        ("net.route.algo.fib_max_sync_delay_ms", "3600000"),
    ] {
        lab.json(&format!("set {word} {value}"));
    }
    let changes = || lab.json("show kernel")["changes"].as_u64().unwrap();
    let before = changes();
    let file = lab.dir.path().join("routes");
    let many: String = (0..300)
        .map(|i| format!("route add 10.1.{}.{}/32 via 198.19.0.2 proto bird\n", i / 200, i % 200))
        .collect();
    std::fs::write(&file, many).unwrap();
    lab.ip("router", &format!("-batch {}", file.display()));
    wait_until("they are told", || changes() == before + 300);
    assert!(lab.json("show kernel")["waiting"].as_u64() > Some(0), "this is what it is about");
    lab.ip("router", "route add 10.2.0.0/16 via 198.19.0.2 proto static");
    wait_until("it is told", || changes() == before + 301);
    assert_eq!(lab.json("show kernel")["waiting"], 0);
    lab.ip("router", "route add 10.3.0.0/16 via 198.19.0.2 proto bird");
    wait_until("it is told", || changes() == before + 302);
    assert_eq!(lab.json("show kernel")["waiting"], 1);
    lab.ip("router", "route del 10.2.0.0/16");
    wait_until("it is gone", || changes() == before + 303);
    assert_eq!(lab.json("show kernel")["waiting"], 0);
    lab.ip("router", "route flush proto bird");
    wait_until("they are gone", || changes() == before + 604);
}
