//! `device = "linux"`, and `route`, `gen` and `sink` on interfaces: as root; else they are skipped.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use fwdlab_port::pcap::PcapWriter;
use fwdlab_topology::{Cable, CableEnd, InterfaceAddress, StaticRoute, Testbed, Topology};
use fwdlab_wire::MacAddr;
use serde_json::Value;

fn fwdlab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fwdlab"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether this machine can run the device; what it lacks is said.
fn is_able(what: &str) -> bool {
    let able = fwdlab().args(["doctor", "--device", "linux"]).output().expect("it starts");
    if !able.status.success() {
        let missing = text(&able.stdout);
        let missing: Vec<&str> = missing.lines().filter(|line| line.starts_with("no ")).collect();
        eprintln!("SKIPPED {what}: {}", missing.join("; "));
    }
    able.status.success()
}

/// Runs a shipped example with one block of short trials.
fn short(example: &str) {
    if !is_able(example) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let shipped = fs::read_to_string(&path).expect("the example is there");
    let shortened = shipped
        .replace("duration = \"4s\"", "duration = \"500ms\"")
        .replace("duration = \"600ms\"", "duration = \"500ms\"")
        .replace("blocks = 8", "blocks = 1");
    let shortened = match shortened.contains("duration") {
        true => shortened,
        false => shortened.replace("blocks = 1", "blocks = 1\nduration = \"500ms\""),
    };
    let file = dir.path().join(example);
    fs::write(&file, shortened).expect("writable");
    let results = dir.path().join("results");
    let run = |more: &[&str]| {
        let mut run = fwdlab();
        run.args(["run", "-q", "-o"]).arg(&results).arg(&file).args(more);
        let output = run.output().expect("it starts");
        (output.status.success(), text(&output.stderr))
    };
    let mut end = run(&[]);
    // Other work may take the processor from half a second of a trial, which then says what to do.
    for _ in 0..5 {
        if !end.1.contains("make the trial longer") {
            break;
        }
        end = run(&["--retry-failed"]);
    }
    let (is_well, said) = end;
    let journal = fs::read_to_string(results.join("trials.jsonl")).unwrap_or_default();
    assert!(is_well && !said.contains("FAILED"), "{said}\n{journal}");
    assert!(journal.contains("\"record\":\"finished\""), "{said}");
}

/// The router polled on the tester's core, and the report blamed strangers for what both lacked.
#[test]
fn on_one_core_the_built_in_router_cannot_be_set_up() {
    if !is_able("on_one_core") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linux-vs-fwdlab.toml");
    let mut run = Command::new("taskset");
    run.args(["-c", "0", env!("CARGO_BIN_EXE_fwdlab"), "run", "--blocks", "1"]).arg(&file);
    let output = run.arg("-o").arg(dir.path().join("out")).output().expect("taskset starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing was measured") && said.contains("may use one core"), "{said}");
}

/// Reads a frame without asking for its end, which the verifier refuses.
const UNCHECKED: &str = "struct frame { unsigned data, end; };\n\
    __attribute__((section(\"xdp\"), used)) int refused(struct frame *at) {\n\
    return *(volatile char *)(long)at->data; }\n\
    char _license[] __attribute__((section(\"license\"), used)) = \"GPL\";\n";

/// Whether clang made `NAME.o` of this program.
fn is_compiled(dir: &Path, name: &str, program: &str) -> bool {
    let source = dir.join(format!("{name}.c"));
    fs::write(&source, program).expect("writable");
    let mut clang = Command::new("clang");
    clang.args(["-O2", "-g", "-target", "bpf", "-c"]).arg(&source);
    clang.arg("-o").arg(dir.join(format!("{name}.o"))).stderr(Stdio::null());
    clang.status().is_ok_and(|status| status.success())
}

/// Two variants, the second with this setting in line 11.
fn with_setting(set: &str) -> String {
    const FILE: &str = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"a\"\nblocks = 2\nduration = \"200ms\"\n\
                        interval = \"40ms\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                        set = { SET }\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:2000\"\n\
                        destination = \"198.19.10.1-198.19.10.9:2000\"\nframe = \"min\"\nload = \"max\"\n\
                        [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n";
    FILE.replace("SET", set)
}

/// What cannot be set up would FAIL in every block, also where it is made only while frames are sent.
#[test]
fn a_variant_that_cannot_be_set_up_stops_the_run_at_its_line() {
    if !is_able("a_variant_that_cannot_be_set_up_stops_the_run_at_its_line") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("empty.o"), "").expect("writable");
    fs::write(dir.path().join("bad.nft"), "table inet t { }\nnonsense\n").expect("writable");
    let mut objects = Vec::new();
    if is_compiled(dir.path(), "refused", UNCHECKED) && is_compiled(dir.path(), "other", "int x;") {
        objects.push(("xdp = \"refused.o\"", "invalid access to packet"));
        objects.push(("xdp = \"other.o\"", "it has no XDP program"));
    } else {
        eprintln!(
            "SKIPPED objects that the kernel refuses: no clang for BPF: apt-get install clang"
        );
    }
    for (set, words) in objects.into_iter().chain([
        ("xdp = \"none.o\"", "xdp: cannot read none.o: No such file"),
        ("xdp = \"empty.o\"", "xdp: cannot load empty.o"),
        ("routes = \"none.txt\"", "routes: cannot"),
        ("nftables = \"none.nft\"", "name a file beside the experiment"),
        // Line 2 of what, the message did not say.
        ("nftables = \"bad.nft\"", " of bad.nft: syntax error"),
        ("nftables = \"table inet t { include 'secret'; }\"", "the word \"include\""),
        (
            "nftables = \"table inet t { flowtable f { hook ingress priority 0; devices = { no0 }; }; }\"",
            "line 1, column 26 of the rules (f): Could not process rule: No such file or directory; the kernel knows",
        ),
        ("\"net.ipv4.ip_forward\" = \"0\"", "net.ipv4.ip_forward, or the routes"),
        ("\"net.core.rmem_max\" = \"1000000\"", "a network namespace can only read this sysctl"),
        ("\"net.ipv4.no_such\" = \"1\"", "no such sysctl"),
        ("\"net.ipv4.tcp_congestion_control\" = \"none\"", "its value"),
        ("\"net.ipv4.conf.all.rp_filter\" = \"1\\n2\"", "set to 1\\n2, but the device answers 1"),
    ]) {
        fs::write(dir.path().join("x.toml"), with_setting(set)).expect("writable");
        let mut run = fwdlab();
        run.args(["run", "-q", "x.toml", "-o", "out"]).current_dir(dir.path());
        let output = run.output().expect("it starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{set}: {said}");
        let place = "x.toml:11: variant \"b\" cannot be set up, and nothing was measured: ";
        assert!(said.contains(place) && said.contains(words), "{set}: {said}");
        let is_told = said.contains("kernel: run only objects that you trust");
        assert_eq!(is_told, set.contains(".o\""), "{set}: {said}");
        assert!(!dir.path().join("out").exists(), "{set}: {said}");
    }
    // That is known before anything is set up.
    fs::write(dir.path().join("x.toml"), with_setting("rps = \"ffff00000000\"")).expect("writable");
    let mut run = fwdlab();
    run.args(["run", "-q", "x.toml", "-o", "out"]).current_dir(dir.path());
    let said = text(&run.output().expect("it starts").stderr);
    let words = "x.toml:11: variant b: rps = \"ffff00000000\" names processors that are not there";
    assert!(said.contains(words) && said.contains("each a bit from the lowest on"), "{said}");
}

/// A map that asks for a name, as objects do that share it with other programs.
const PINNED: &str = "struct { int (*type)[2]; int (*max_entries)[1]; unsigned *key; unsigned *value;\n\
    int (*pinning)[1]; } kept __attribute__((section(\".maps\"), used));\n\
    static void *(*lookup)(void *map, const void *key) = (void *)1;\n\
    __attribute__((section(\"xdp\"), used)) int pass(void *at) {\n\
    unsigned zero = 0; unsigned *value = lookup(&kept, &zero);\n\
    return value && *value == 7 ? 1 : 2; }\n\
    char _license[] __attribute__((section(\"license\"), used)) = \"GPL\";\n";

/// In a namespace of mounts with a BPF file system of its own: a run that is killed once its map has
/// a name, then any other command; then one that ends by itself.
const MAPS_OF_A_RUN: &str = "mount -t bpf none /sys/fs/bpf && mkdir /sys/fs/bpf/kept || exit 77\n\
    \"$0\" run -q x.toml -o killed 2>said & run=$!\n\
    tries=0; while [ $tries -lt 1200 ] && kill -0 $run && ! [ -e /sys/fs/bpf/fwdlab-*/kept ]; do\n\
    tries=$((tries + 1)); sleep 0.1; done\n\
    ls -d /sys/fs/bpf/fwdlab-*/kept >seen; kill -9 $run; wait $run\n\
    \"$0\" examples >list; ls -A /sys/fs/bpf >after-kill\n\
    \"$0\" run -q x.toml --blocks 1 -o whole 2>>said; ls -A /sys/fs/bpf >after-end\n";

#[test]
fn maps_that_have_names_are_gone_after_every_end_and_those_of_others_stay() {
    const TEST: &str = "maps_that_have_names_are_gone_after_every_end_and_those_of_others_stay";
    if !is_able(TEST) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    if !is_compiled(dir.path(), "pinned", PINNED) {
        return eprintln!("SKIPPED {TEST}: no clang for BPF: apt-get install clang");
    }
    let file = with_setting("xdp = \"pinned.o\"").replace("blocks = 2", "blocks = 200");
    fs::write(dir.path().join("x.toml"), file).expect("writable");
    let mut script = Command::new("unshare");
    script.args(["-m", "sh", "-c", MAPS_OF_A_RUN, env!("CARGO_BIN_EXE_fwdlab")]);
    let status = script.current_dir(dir.path()).stderr(Stdio::null()).status();
    if !status.is_ok_and(|status| status.code() != Some(77)) {
        return eprintln!("SKIPPED {TEST}: no mount of a BPF file system");
    }
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    assert!(read("seen").contains("/kept"), "no map had a name: {}", read("said"));
    assert!(read("whole/trials.jsonl").contains("\"record\":\"finished\""), "{}", read("said"));
    for moment in ["after-kill", "after-end"] {
        // The file system has these two of its own.
        let left = read(moment);
        let left: Vec<&str> = left.lines().filter(|name| !name.ends_with(".debug")).collect();
        assert_eq!(left, ["kept"], "{moment}: {}", read("said"));
    }
}

/// What a program of another is given, seen by a script in its place that then becomes it.
#[test]
fn nothing_of_the_callers_environment_reaches_nft_and_perf() {
    const TEST: &str = "nothing_of_the_callers_environment_reaches_nft_and_perf";
    if !is_able(TEST) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let file = with_setting("nftables = \"table inet t {}\"");
    fs::write(dir.path().join("x.toml"), file).expect("writable");
    let path = std::env::var("PATH").expect("a path");
    let mut seen = Vec::new();
    for program in ["nft", "perf"] {
        let mut real = path.split(':').map(|place| Path::new(place).join(program));
        let Some(real) = real.find(|file| file.is_file()) else {
            eprintln!("SKIPPED {TEST}: no {program}");
            continue;
        };
        let log = dir.path().join(format!("{program}.env"));
        let script =
            format!("#!/bin/sh\nenv >>{}\nexec {} \"$@\"\n", log.display(), real.display());
        let stand_in = dir.path().join(program);
        fs::write(&stand_in, script).expect("writable");
        fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).expect("ours");
        seen.push((program, log));
    }
    let with_canary = |arguments: &[&str]| {
        let mut command = fwdlab();
        command.args(arguments).current_dir(dir.path());
        command.env("PATH", format!("{}:{path}", dir.path().display()));
        command.env("CANARY", "sings").env("LD_PRELOAD_NOT", "sings").env("HOME", "/sings");
        command.output().expect("it starts")
    };
    let output = with_canary(&["run", "-q", "x.toml", "--blocks", "1", "-o", "out"]);
    assert!(dir.path().join("out/trials.jsonl").exists(), "{}", text(&output.stderr));
    let output = with_canary(&["profile", "out"]);
    for (program, log) in seen {
        let Ok(given) = fs::read_to_string(&log) else {
            // perf may not be allowed to sample; then it was not asked
            assert_eq!(program, "perf", "{}", text(&output.stderr));
            eprintln!("SKIPPED {TEST}: no profile was taken: {}", text(&output.stderr));
            continue;
        };
        assert!(given.contains("PATH=") && !given.contains("sings"), "{program}: {given}");
    }
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
fn the_comparison_of_testers_runs() {
    short("linux-testers.toml");
}

#[test]
fn doctor_prints_json_that_names_every_remedy() {
    let output = fwdlab().args(["doctor", "--format", "json"]).output().expect("it starts");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = found.as_array().expect("a list");
    assert!(list.len() > 8);
    assert!(list.iter().all(|finding| finding["remedy"].as_str().is_some_and(|r| !r.is_empty())));
}

fn end(role: &str, interface: &str, number: u8, addresses: &[&str]) -> CableEnd {
    let address = |text: &&str| {
        let (address, length) = text.split_once('/').expect("a length");
        let prefix_length = length.parse().expect("a number");
        InterfaceAddress { address: address.parse().expect("an address"), prefix_length }
    };
    CableEnd {
        namespace: role.to_owned(),
        interface: interface.to_owned(),
        mac: MacAddr([2, 0, 0, 0, 1, number]),
        mtu: None,
        addresses: addresses.iter().map(address).collect(),
    }
}

/// A namespace with a router's ports, which the kernel has no addresses on, and one for each side
/// of the tester, whose kernels answer ARP and neighbour discovery for the gateways.
fn topology() -> Topology {
    let mut wanted = Topology::default();
    let router = wanted.namespace("router");
    for sysctl in ["net.ipv4.ip_forward", "net.ipv6.conf.all.disable_ipv6"] {
        let value = if sysctl.contains("disable") { "1" } else { "0" };
        router.sysctls.insert(sysctl.to_owned(), value.to_owned());
    }
    for (role, inet, inet6) in
        [("left", "198.18.0.254", "2001:2::fe"), ("right", "198.19.0.254", "2001:2:0:8000::fe")]
    {
        let side = wanted.namespace(role);
        side.sysctls.insert("net.ipv6.conf.default.accept_dad".to_owned(), "0".to_owned());
        let routes = [("0.0.0.0/0", inet), ("::/0", inet6)].map(|(prefix, gateway)| StaticRoute {
            prefix: prefix.parse().expect("a prefix"),
            gateway: gateway.parse().expect("an address"),
            port: 0,
        });
        side.routes = std::sync::Arc::new(routes.to_vec());
    }
    let left = ["198.18.0.203/24", "2001:2::203/64"];
    let right = ["198.19.0.203/24", "2001:2:0:8000::203/64"];
    let ends = [
        [end("router", "port0", 1, &[]), end("left", "port0", 2, &left)],
        [end("router", "port1", 3, &[]), end("right", "port0", 4, &right)],
    ];
    wanted.cables.extend(ends.map(Cable::new));
    wanted
}

/// The testbed, or a line that says why there is none.
fn testbed(test: &str) -> Option<Testbed> {
    let made = Testbed::new().and_then(|mut testbed| {
        testbed.change_to(&topology())?;
        Ok(testbed)
    });
    made.inspect_err(|error| eprintln!("SKIPPED {test}: {error}")).ok()
}

/// Starts a command in a namespace.
fn inside(testbed: &Testbed, role: &str, command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = testbed.namespace(role).expect("there").run(|| command.spawn());
    child.expect("enterable").expect("it starts")
}

/// The router between the ports; it says each second what it has counted.
fn router(testbed: &Testbed, dir: &Path, socket: &str) -> Child {
    let routes = dir.join("routes.txt");
    let table = "198.18.0.0/16 198.18.0.203\n198.19.0.0/16 198.19.0.203\n\
                 2001:2::/49 2001:2::203\n2001:2:0:8000::/49 2001:2:0:8000::203\n";
    fs::write(&routes, table).expect("written");
    let ports =
        ["port0,198.18.0.254/24,2001:2::fe/64", "port1,198.19.0.254/24,2001:2:0:8000::fe/64"];
    let mut command = fwdlab();
    command.args(["route", "--port", ports[0], "--port", ports[1], "--socket", socket]);
    command.args(["--every", "1", "--format", "json", "--routes"]).arg(&routes);
    inside(testbed, "router", &mut command)
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(stream).lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    receiver
}

/// The next line; a busy machine takes its time.
fn next(lines: &Receiver<String>) -> String {
    lines.recv_timeout(Duration::from_secs(60)).expect("a line each second")
}

/// Asks a command to end, as a service manager does.
fn end_it(child: &Child) {
    let kill = format!("kill -TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("it starts").success());
}

/// Ends a sink when whole seconds have brought it nothing: it has read what came.
fn end_when_quiet(sink: &Child, said: &Receiver<String>) {
    while said.try_recv().is_ok() {}
    let is_quiet = |line: String| line.starts_with("received 0 frames/s");
    while !(is_quiet(next(said)) && is_quiet(next(said))) {}
    end_it(sink);
}

/// What a command printed, once it has ended.
fn found(child: Child) -> Value {
    let output = child.wait_with_output().expect("it ends");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Frames that an interface of a namespace did not bring to its other end.
fn kernel_dropped(testbed: &Testbed, role: &str, interface: &str) -> u64 {
    let output = inside(testbed, role, Command::new("cat").arg("/proc/net/dev"));
    let table = text(&output.wait_with_output().expect("it ends").stdout);
    let row = table.lines().find_map(|line| line.trim().strip_prefix(&format!("{interface}:")));
    // Eight columns of what came, then bytes, packets, errs and drop of what went.
    let column = row.and_then(|row| row.split_whitespace().nth(11));
    column.and_then(|drops| drops.parse().ok()).expect("a row of the interface")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// However slow the machine, what the router sends is what comes: nothing depends on a rate.
#[test]
fn route_forwards_between_interfaces_what_gen_sends_and_sink_receives() {
    let test = "route_forwards_between_interfaces";
    for socket in ["af_packet", "af_xdp"] {
        let Some(testbed) = testbed(test) else { return };
        let dir = tempfile::tempdir().expect("a directory");
        let sink = ["sink", "--interface", "port0", "--json"];
        let mut sink = inside(&testbed, "right", fwdlab().args(sink));
        let seen = lines(sink.stderr.take().expect("a pipe"));
        next(&seen);
        let mut router = router(&testbed, dir.path(), socket);
        let counted = lines(router.stdout.take().expect("a pipe"));
        next(&counted);
        let generator = inside(
            &testbed,
            "left",
            fwdlab()
                .args(["gen", "--force", "--interface", "port0", "--to", "02:00:00:00:01:01"])
                .args(["--source", "198.18.10.1-198.18.10.20:2000", "--destination"])
                .args(["198.19.10.1-198.19.10.100:2000", "--load", "20kpps"])
                .args(["--seconds", "1.5", "--json", "--socket", socket]),
        );
        let sent = found(generator);
        assert!(number(&sent["sent"]) > 0, "{sent}");
        let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
        let is_forwarded = |now: &Value| {
            let passed = now["nexthops"].as_array().expect("a list").iter();
            passed.map(|row| number(&row["packets"])).sum::<u64>() > 0
        };
        while !is_forwarded(&parse(&next(&counted))) {}
        end_it(&router);
        assert!(router.wait().expect("it ends").success());
        let routed = parse(&counted.iter().last().expect("its last counters"));
        assert_eq!(routed["is_final"], true, "{routed}");
        end_when_quiet(&sink, &seen);
        let sunk = found(sink);
        assert!(number(&sunk["received"]) > 0, "{sunk} {sent} {routed}");
        let arrived = number(&sunk["received"]) + number(&sunk["dropped"]);
        let dropped = kernel_dropped(&testbed, "router", "port1");
        let out = number(&routed["ports"][1]["tx_frames"]);
        assert_eq!(out, arrived + dropped, "{sunk} {sent} {routed}");
    }
}

#[test]
fn gen_replays_a_capture() {
    let test = "gen_replays_a_capture";
    let Some(testbed) = testbed(test) else { return };
    let dir = tempfile::tempdir().expect("a directory");
    let mut capture = PcapWriter::new(Vec::new()).expect("a capture");
    for length in [60, 700, 1514] {
        // to the router's port, from the tester's, an EtherType for local experiments (IEEE 802)
        let mut frame = vec![2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 0x88, 0xb5];
        frame.resize(length, 0);
        capture.write(&frame, 0).expect("written");
    }
    let path = dir.path().join("three.pcap");
    fs::write(&path, capture.into_inner().expect("whole")).expect("written");
    let sink = ["sink", "--interface", "port0", "--json"];
    let mut sink = inside(&testbed, "router", fwdlab().args(sink));
    let seen = lines(sink.stderr.take().expect("a pipe"));
    next(&seen);
    let mut generator = fwdlab();
    generator.args([
        "gen",
        "--force",
        "--interface",
        "port0",
        "--load",
        "5kpps",
        "--seconds",
        "1",
        "--json",
    ]);
    let sent = found(inside(&testbed, "left", generator.arg("--pcap").arg(&path)));
    end_when_quiet(&sink, &seen);
    let sunk = found(sink);
    let count = number(&sent["sent"]);
    // However slow the machine: never more than was asked for.
    assert!((1..=5_100).contains(&count), "{sent}");
    let arrived = number(&sunk["received"]) + number(&sunk["dropped"]);
    let dropped = kernel_dropped(&testbed, "left", "port0");
    // The kernel of that side has something to say, too.
    assert!(arrived + dropped >= count, "{sunk} {sent}");
    let bytes: u64 = [60, 700, 1514].iter().cycle().take(count as usize).sum();
    if dropped + number(&sunk["dropped"]) == 0 {
        assert!(number(&sunk["bytes"]) >= bytes, "{sunk} {sent}");
    }
}

#[test]
fn route_answers_ping_and_resolves_neighbours_of_both_families() {
    let test = "route_answers_ping";
    let Some(testbed) = testbed(test) else { return };
    if Command::new("ping").arg("-V").output().is_err() {
        return eprintln!("SKIPPED {test}: no ping (apt-get install iputils-ping)");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut router = router(&testbed, dir.path(), "af_packet");
    // The router's own addresses, then a host behind it; each needs ARP or neighbour discovery on
    // one or both sides.
    for target in ["198.18.0.254", "2001:2::fe", "198.19.0.203", "2001:2:0:8000::203"] {
        let ping = ["-c", "2", "-i", "0.2", "-w", "4", target];
        let ping = inside(&testbed, "left", Command::new("ping").args(ping));
        let output = ping.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{target}: {}", text(&output.stdout));
    }
    router.kill().expect("it runs");
    router.wait().expect("it ends");
}
