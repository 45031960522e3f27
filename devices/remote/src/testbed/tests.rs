//! A loopback is two ports of its own, and part of what campaigns are bound to.

use std::path::Path;

use super::*;

const CABLE: &str = "[{ name = \"c\", mac = \"02:00:00:00:00:05\" }, \
                      { name = \"d\", mac = \"02:00:00:00:00:06\" }]";

fn parse(tester: &str) -> Result<Testbed, String> {
    let host = |name: &str, first: u8| {
        format!(
            "[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [\
             {{ name = \"a\", mac = \"02:00:00:00:00:0{first}\" }}, \
             {{ name = \"b\", mac = \"02:00:00:00:00:0{}\" }}]\n",
            first + 1
        )
    };
    let text = format!("name = \"bed\"\n{}{}[tester]\n{tester}", host("dut", 1), host("tester", 3));
    Testbed::parse(Path::new("bed.toml"), &text).map_err(|problems| problems.to_string())
}

fn with_loopback(ports: &str) -> Result<Testbed, String> {
    parse(&format!("kind = \"fwdlab\"\nloopback = {ports}\n"))
}

#[test]
fn a_loopback_names_both_ends_of_a_cable_of_its_own() {
    let [from, to] =
        with_loopback(CABLE).expect("a testbed").generator.loopback.expect("a loopback");
    assert_eq!((from.name.as_str(), to.name.as_str()), ("c", "d"));
    assert_eq!(to.mac.to_string(), "02:00:00:00:00:06");
    assert_eq!(parse("kind = \"fwdlab\"\n").expect("a testbed").generator.loopback, None);
}

#[test]
fn a_wrong_loopback_is_refused_at_its_field() {
    let refused = |ports: &str| with_loopback(ports).expect_err(ports);
    let one = "[{ name = \"c\", mac = \"02:00:00:00:00:05\" }]";
    let socket = CABLE.replace("\"d\"", "\"udp:127.0.0.1:30201-127.0.0.1:30101\"");
    for (ports, what) in [
        (one, "1 port does not make a loopback"),
        (&socket, "do not make a loopback"),
        (&CABLE.replace("\"d\"", "\"c\""), "c stands twice"),
        (&CABLE.replace("00:06", "00:05"), "[2].mac: 02:00:00:00:00:05 stands twice"),
        (&CABLE.replace("\"d\"", "\"b\""), "b is a port of [hosts]"),
        (&CABLE.replace("00:06", "00:01"), "[2].mac: 02:00:00:00:00:01 stands twice"),
        (&CABLE.replace("00:06", "0"), "is no MAC address"),
    ] {
        let said = refused(ports);
        assert!(said.contains("tester.loopback") && said.contains(what), "{ports}: {said}");
    }
    let said = parse(&format!("kind = \"pkt-gen\"\nloopback = {CABLE}\n")).expect_err("refused");
    assert!(said.contains("pkt-gen takes no time stamps"), "{said}");
}

/// The line of the first table was named.
#[test]
fn an_address_that_stands_twice_is_shown_where_it_does() {
    let host = |name: &str, [one, other]: [u8; 2]| {
        let port = |name: &str, mac| {
            format!("  {{ name = \"{name}\", mac = \"02:00:00:00:00:0{mac}\" }},\n")
        };
        format!(
            "[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [\n{}{}]\n",
            port("a", one),
            port("b", other)
        )
    };
    let text = format!("name = \"bed\"\n{}{}", host("dut", [1, 2]), host("tester", [3, 1]));
    let problems = Testbed::parse(Path::new("bed.toml"), &text).expect_err("twice");
    let [only] = &problems.list[..] else { panic!("{problems}") };
    assert!(only.what.contains("02:00:00:00:00:01 stands twice"), "{problems}");
    let line = text.lines().position(|own| own.contains("\"b\"") && own.contains(":01")).unwrap();
    assert_eq!((only.line, only.field.as_str()), (line + 1, "hosts.tester.ports[2].mac"));
}

/// What follows from a mistake is none, and what is meant is not to be removed.
#[test]
fn a_mistake_in_a_host_is_told_once_with_what_was_meant() {
    let text = "name = \"bed\"\n[hosts.dut]\nssh = \"dut\"\nos = \"linux\"\nports = [\
                {name = \"a\", mac = \"02:00:00:00:00:01\"}, {name = \"b\", mac = \"02:00:00:00:00:02\"}]\n\
                [hosts.tester]\nssh = \"tester\"\nos = \"linux\"\nports = [\
                {name = \"a\", mac = \"02:00:00:00:00:03\"}, {name = \"b\", mac = \"02:00:00:00:00:04\"}]\n";
    Testbed::parse(Path::new("bed.toml"), text).expect("a testbed");
    for (old, new, wanted) in [
        ("ssh = \"dut\"", "host = \"dut\"", &["add ssh = \"an-alias\"", "did you mean ssh?"][..]),
        ("{name = \"a\", mac = \"02:00:00:00:00:01\"}", "{name = \"a\"}", &["add mac = "]),
        ("00:00:03", "00:00:3x", &["correct the address"]),
        ("[hosts.dut]", "[dut]", &["write [hosts.dut]", "docs/remote.md has a whole"]),
        (
            "[hosts.tester]",
            "[hosts.generator]",
            &["did you mean tester?", "docs/remote.md has a whole"],
        ),
    ] {
        let wrong = text.replacen(old, new, 1);
        let problems = Testbed::parse(Path::new("bed.toml"), &wrong).expect_err(new);
        let told = |start: &&str| problems.list.iter().any(|own| own.remedy.starts_with(*start));
        assert!(
            problems.list.len() == wanted.len() && wanted.iter().all(told),
            "{new}: {problems}"
        );
        assert!(!problems.to_string().contains("one of variant"), "{problems}");
    }
}

#[test]
fn a_loopback_is_part_of_the_fingerprint() {
    let without = parse("kind = \"fwdlab\"\n").expect("a testbed").mark().fingerprint;
    let with = with_loopback(CABLE).expect("a testbed").mark().fingerprint;
    let other =
        with_loopback(&CABLE.replace("00:06", "00:07")).expect("a testbed").mark().fingerprint;
    assert_ne!(without, with);
    assert_ne!(with, other);
}

#[test]
fn an_experiment_is_no_testbed_and_keys_are_described_where_they_are() {
    let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n";
    let problems = Testbed::parse(Path::new("a.toml"), text).expect_err("an experiment");
    let [only] = &problems.list[..] else { panic!("{problems}") };
    assert!(only.what.contains("an experiment file") && only.line == 3, "{problems}");
    let unknown = Testbed::parse(Path::new("a.toml"), "nonsense = 1\n").expect_err("no key");
    assert!(unknown.to_string().contains("docs/remote.md lists every key"), "{unknown}");
    // "device" was to be moved to the top, where experiments have it and no testbed
    let text = "name = \"bed\"\n[hosts.device]\nssh = \"a\"\n";
    let problems = Testbed::parse(Path::new("a.toml"), text).expect_err("no host").to_string();
    assert!(problems.contains("did you mean dut?") && !problems.contains("move it"), "{problems}");
}
