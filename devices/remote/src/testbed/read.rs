//! Reads a testbed file, as strictly as an experiment file: every problem with its line and a remedy.

use std::path::Path;
use std::time::Duration;

use fwdlab_experiment::Problems;
use fwdlab_experiment::fields::{Found, Section, nearest, shown};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::quantity::number_and_unit;
use fwdlab_guard::{MIB, input};
use fwdlab_port::datagram::ends;
use fwdlab_results::units::plural;
use toml::de::DeTable;

use super::{
    DUT, Generator, GeneratorKind, Hooks, Host, Limits, RECEIVER, System, TESTER, TestPort, Testbed,
};
use crate::RemoteError;
use fwdlab_wire::MacAddr;

/// Where files of ours lie on a host that does not say otherwise.
const DIRECTORY: &str = "/var/tmp/fwdlab";
/// The longest that anything may take.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

impl Testbed {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or is wrong; the error names every problem with its line.
    pub fn read(path: &Path) -> Result<Self, RemoteError> {
        let failed = |source| RemoteError::File { path: path.to_owned(), source };
        let text = input::named_text(path, MIB).map_err(failed)?;
        Ok(Self::parse(path, &text)?)
    }

    /// Validates the text of the file at `path`.
    ///
    /// # Errors
    /// When anything is wrong.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Problems> {
        let mut complaints = Complaints::new(text).described_in("docs/remote.md");
        let (tree, syntax) = DeTable::parse_recoverable(text);
        for error in &syntax {
            let message = error.message().replace('\n', ", ");
            let remedy = "put text in quotes, and see https://toml.io for the rest";
            let complaint = Complaint::new(message, "TOML", remedy);
            complaints.add(&error.span().unwrap_or(0..0), "", complaint);
        }
        let testbed = match complaints.is_empty() {
            true => read(Section::new("", 0..0, tree.get_ref()), path, &mut complaints),
            false => None,
        };
        match (testbed, complaints.into_problems(path)) {
            (Some(testbed), None) => Ok(testbed),
            (_, Some(problems)) => Err(problems),
            (None, None) => Err(Problems::unexplained(path)),
        }
    }
}

fn read(mut top: Section<'_>, path: &Path, complaints: &mut Complaints<'_>) -> Option<Testbed> {
    let mut unread = top.anew();
    if let Some((field, at)) = unread.place("variant").or_else(|| unread.place("traffic")) {
        // Each of its keys would be unknown.
        let complaint = Complaint::new(
            "this is an experiment file",
            "a testbed file: name, [hosts.dut] and [hosts.tester] (docs/remote.md)",
            "name the testbed file; an experiment goes to `fwdlab run`, with --testbed beside it",
        );
        complaints.add(&at, &field, complaint);
        return None;
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| parent.join(name);
    let name = read_name(&mut top, complaints);
    let known_hosts = top.text("known-hosts", "\"known_hosts\"", complaints);
    let ssh_config = top.text("ssh-config", "\"ssh_config\"", complaints);
    let mut hosts = top.table("hosts", complaints);
    if hosts.is_none() && complaints.is_empty() {
        missing(&top, "hosts", "[hosts.dut] and [hosts.tester]", complaints);
    }
    let mut macs = Vec::new();
    let mut host = |role| read_host(hosts.as_mut()?, (role, parent, &mut macs), complaints);
    let (dut, tester, receiver) = (host(DUT), host(TESTER), host(RECEIVER));
    let hooks = top.table("hooks", complaints).map(|table| read_hooks(table, complaints));
    let limits = top.table("limits", complaints).map(|table| read_limits(table, complaints));
    let own = top.table("tester", complaints);
    let generator = own.map(|own| read_generator(own, &mut macs, complaints)).unwrap_or_default();
    if let Some(hosts) = hosts {
        for (host, role) in [(&dut, DUT), (&tester, TESTER)] {
            if host.is_none() && complaints.is_empty() {
                missing(&hosts, role, &format!("a table [hosts.{role}]"), complaints);
            }
        }
        if let (Some(dut), Some(tester)) = (&dut, &tester) {
            let receiver = receiver.as_ref();
            check_ports(dut, tester, receiver, (hosts.at.clone(), complaints));
            check_loopback(&generator, tester, (hosts.at.clone(), complaints));
            check_systems(&generator, (dut, tester), receiver, (hosts.at.clone(), complaints));
        }
        hosts.finish(complaints);
    }
    let of_hosts =
        |key: &str| [DUT, RECEIVER].contains(&key).then(|| format!("write [hosts.{key}]"));
    top.finish_beside(of_hosts, complaints);
    Some(Testbed {
        path: path.to_owned(),
        name: name?,
        known_hosts: beside(known_hosts.map_or("known_hosts", |found| found.value)),
        ssh_config: ssh_config.map(|found| beside(found.value)),
        dut: dut?,
        tester: tester?,
        receiver,
        hooks: hooks.unwrap_or_default(),
        limits: limits.unwrap_or_default(),
        generator,
    })
}

fn missing(section: &Section<'_>, key: &str, wanted: &str, complaints: &mut Complaints<'_>) {
    let complaint =
        Complaint::new("the table is missing", wanted, "docs/remote.md has a whole testbed file");
    complaints.add(&section.at, &section.field(key), complaint);
}

fn read_name(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<String> {
    let found = top.required_text("name", "\"a-short-name\"", complaints)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = found.value;
    let is_name = !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain);
    let result = is_name.then(|| name.to_owned()).ok_or_else(|| {
        Complaint::new(
            format!("{name:?} is no name"),
            "1 to 64 letters, digits, '.', '_' or '-'",
            "choose a plain word; results carry it",
        )
    });
    complaints.keep(&found.at, &found.field, result)
}

fn read_host(
    hosts: &mut Section<'_>,
    (role, beside, macs): (&'static str, &Path, &mut Vec<MacAddr>),
    complaints: &mut Complaints<'_>,
) -> Option<Host> {
    let mut section = hosts.table(role, complaints)?;
    let ssh = section.required_text("ssh", "\"an-alias\"", complaints);
    let os = read_choice(&mut section, "os", &System::ALL, System::name, complaints);
    let ports = read_ports(&mut section, "ports", macs, complaints);
    let directory = section.text("directory", "\"/var/tmp/fwdlab\"", complaints);
    let program = section.text("program", "\"fwdlab-aarch64\"", complaints);
    let network = section.text("network", "\"fwdlab\"", complaints);
    let cost = section.text("cost", "\"whole-host\"", complaints);
    section.finish(complaints);
    let ssh = ssh.and_then(|found| {
        let is_name = !found.value.is_empty()
            && !found.value.starts_with('-')
            && !found.value.contains(char::is_whitespace);
        let result = is_name.then(|| found.value.to_owned()).ok_or_else(|| {
            let wanted = "an alias of ssh_config, or user@address";
            Complaint::new(format!("{:?} is no host", found.value), wanted, "correct the name")
        });
        complaints.keep(&found.at, &found.field, result)
    });
    let directory = match directory {
        None => Some(DIRECTORY.to_owned()),
        Some(found) => complaints.keep(&found.at, &found.field, plain_path(found.value)),
    };
    let os = os?;
    let is_networked_by_us = match network {
        None => os == System::Linux && role == DUT,
        Some(found) => {
            let result = match found.value {
                "fwdlab" if os == System::Linux => Ok(true),
                "own" => Ok(false),
                _ => Err(Complaint::new(
                    format!("{:?} does not fit", found.value),
                    "\"fwdlab\", which sets up routes and neighbours on Linux, or \"own\"",
                    "write network = \"own\" where the host configures itself",
                )),
            };
            complaints.keep(&found.at, &found.field, result)?
        }
    };
    let is_cost_of_host = match cost {
        None => false,
        Some(found) => {
            let result = match found.value {
                "whole-host" if os == System::Linux && role == DUT => Ok(true),
                "none" => Ok(false),
                _ => Err(Complaint::new(
                    format!("{:?} does not fit", found.value),
                    "\"whole-host\", for a device with Linux that does nothing else, or \"none\"",
                    "write cost = \"none\", or leave it out",
                )),
            };
            complaints.keep(&found.at, &found.field, result)?
        }
    };
    Some(Host {
        role,
        ssh: ssh?,
        os,
        ports: ports?,
        directory: directory?,
        program: program.map(|found| beside.join(found.value)),
        is_networked_by_us,
        is_cost_of_host,
    })
}

/// A path that no shell reads differently.
fn plain_path(text: &str) -> Result<String, Complaint> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let is_path = text.starts_with('/') && text.len() > 1 && text.chars().all(is_plain);
    is_path.then(|| text.trim_end_matches('/').to_owned()).ok_or_else(|| {
        let wanted = "an absolute path of letters, digits, '/', '.', '_' and '-'";
        Complaint::new(format!("{text:?} does not fit"), wanted, "choose a plain path")
    })
}

fn read_ports(
    section: &mut Section<'_>,
    key: &'static str,
    macs: &mut Vec<MacAddr>,
    complaints: &mut Complaints<'_>,
) -> Option<Vec<TestPort>> {
    const EXAMPLE: &str = "[{ name = \"igb1\", mac = \"02:00:00:00:00:01\" }]";
    let elements = section.list(key, EXAMPLE, complaints);
    if elements.is_empty() {
        let what = "there is no port of the test network";
        let complaint = Complaint::new(what, EXAMPLE, format!("add ports = {EXAMPLE}"));
        if key != "loopback" {
            complaints.add(&section.at, &section.field(key), complaint);
        }
        return None;
    }
    let (mut ports, count) = (Vec::new(), elements.len());
    for Found { field, at, value } in elements {
        let Some(table) = value.as_table() else {
            let what = format!("{} is no port", shown(value));
            complaints.add(&at, &field, Complaint::new(what, EXAMPLE, "write it so"));
            continue;
        };
        let mut port = Section::new(field, at, table);
        let name = port.required_text("name", "\"igb1\"", complaints);
        let mac = port.required_text("mac", "\"02:00:00:00:00:01\"", complaints);
        port.finish(complaints);
        let name = name.and_then(|found| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            let is_name = !found.value.is_empty() && found.value.chars().all(is_plain);
            let is_port = is_name || ends(found.value).is_some();
            let result = is_port.then(|| found.value.to_owned()).ok_or_else(|| {
                let what = format!("{:?} is no interface", found.value);
                let wanted = "a name such as \"igb1\", or for fwdlab's tester beside a guest \
                              \"udp:127.0.0.1:30201-127.0.0.1:30101\"";
                Complaint::new(what, wanted, "correct the name")
            });
            complaints.keep(&found.at, &found.field, result)
        });
        let mac = mac.and_then(|found| {
            let result = match found.value.parse() {
                Ok(mac) if macs.contains(&mac) => {
                    let what = format!("{mac} stands twice");
                    let wanted = "an address of its own for each port";
                    Err(Complaint::new(what, wanted, "look with `ip link` or `ifconfig`"))
                }
                Ok(mac) => Ok(mac),
                Err(_) => Err(Complaint::new(
                    format!("{:?} is no MAC address", found.value),
                    "such as \"02:00:00:00:00:01\"",
                    "correct the address",
                )),
            };
            complaints.keep(&found.at, &found.field, result)
        });
        macs.extend(mac);
        ports.extend(name.zip(mac).map(|(name, mac)| TestPort { name, mac }));
    }
    // of how many there are nothing is known where one is wrong
    (ports.len() == count).then_some(ports)
}

fn read_choice<T: Copy>(
    section: &mut Section<'_>,
    key: &'static str,
    all: &[T],
    name: fn(T) -> &'static str,
    complaints: &mut Complaints<'_>,
) -> Option<T> {
    let example = format!("\"{}\"", all.first().map_or("", |&one| name(one)));
    let found = section.required_text(key, &example, complaints)?;
    let names = || all.iter().map(|&one| name(one));
    let known = all.iter().copied().find(|&one| name(one) == found.value);
    let result = known.ok_or_else(|| {
        Complaint::new(
            format!("there is no {key} {:?}", found.value),
            format!("one of {}", names().collect::<Vec<_>>().join(", ")),
            match nearest(found.value, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write {key} = {example}"),
            },
        )
    });
    complaints.keep(&found.at, &found.field, result)
}

fn read_hooks(mut section: Section<'_>, complaints: &mut Complaints<'_>) -> Hooks {
    let mut words = |key| read_words(&mut section, key, complaints);
    let hooks = Hooks {
        power_cycle: words("power-cycle"),
        console: words("console"),
        image: words("image"),
        kernel: words("kernel"),
    };
    section.finish(complaints);
    hooks
}

/// An argument list.
fn read_words(
    section: &mut Section<'_>,
    key: &'static str,
    complaints: &mut Complaints<'_>,
) -> Vec<String> {
    const EXAMPLE: &str = "[\"./power\", \"dut\"]";
    let elements = section.list(key, EXAMPLE, complaints);
    let texts = elements.into_iter().filter_map(|found| found.into_text(EXAMPLE, complaints));
    texts.map(|found| found.value.to_owned()).collect()
}

fn read_limits(mut section: Section<'_>, complaints: &mut Complaints<'_>) -> Limits {
    let usual = Limits::default();
    let mut time = |key, usual: Duration| {
        let Some(found) = section.text(key, "\"60s\"", complaints) else { return usual };
        complaints.keep(&found.at, &found.field, duration(found.value)).unwrap_or(usual)
    };
    let boot = time("boot", usual.boot);
    let silent_dut = time("silent-dut", usual.silent_dut);
    let command = time("command", usual.command);
    let attempts = section.integer("attempts", 1..=100, complaints);
    let attempts = attempts.map_or(usual.attempts, |found| found.value as u32);
    section.finish(complaints);
    Limits { boot, silent_dut, attempts, command }
}

fn duration(text: &str) -> Result<Duration, Complaint> {
    let seconds = number_and_unit(text).and_then(|(number, unit)| match unit {
        "ms" => Some(number / 1_000.0),
        "s" => Some(number),
        "m" | "min" => Some(number * 60.0),
        "h" => Some(number * 3600.0),
        _ => None,
    });
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero() && *time <= LONGEST).ok_or_else(|| {
        let wanted = "a time up to 24h, such as \"250s\"";
        Complaint::new(format!("{text:?} is no time"), wanted, "write a number and ms, s, m or h")
    })
}

fn read_generator(
    mut section: Section<'_>,
    macs: &mut Vec<MacAddr>,
    complaints: &mut Complaints<'_>,
) -> Generator {
    let kind =
        read_choice(&mut section, "kind", &GeneratorKind::ALL, GeneratorKind::name, complaints);
    let kind = kind.unwrap_or_default();
    let line = section.text("line-rate", "\"1Gbps\"", complaints);
    let line_bps = line.and_then(|found| {
        let bps = number_and_unit(found.value).and_then(|(number, unit)| match unit {
            "Mbps" => Some(number * 1e6),
            "Gbps" => Some(number * 1e9),
            _ => None,
        });
        let result = bps.filter(|bps| *bps > 0.0).ok_or_else(|| {
            let what = format!("{:?} is no line rate", found.value);
            Complaint::new(what, "such as \"1Gbps\" or \"100Mbps\"", "correct the rate")
        });
        complaints.keep(&found.at, &found.field, result)
    });
    let loopback = read_loopback(&mut section, macs, complaints);
    let receive = read_words(&mut section, "receive", complaints);
    let send = read_words(&mut section, "send", complaints);
    if kind == GeneratorKind::Command && send.is_empty() {
        let complaint = Complaint::new(
            "there is no command that sends",
            "an argument list, such as [\"./send\", \"{seconds}\"]",
            "add send = [...]; docs/remote.md says what the command must print",
        );
        complaints.add(&section.at, &section.field("send"), complaint);
    }
    section.finish(complaints);
    Generator { kind, line_bps, loopback, receive, send }
}

/// Two ports that a cable joins.
fn read_loopback(
    section: &mut Section<'_>,
    macs: &mut Vec<MacAddr>,
    complaints: &mut Complaints<'_>,
) -> Option<[TestPort; 2]> {
    let ports = read_ports(section, "loopback", macs, complaints)?;
    let count = ports.len();
    let pair = <[TestPort; 2]>::try_from(ports).ok();
    let pair = pair.filter(|pair| !pair.iter().any(TestPort::is_datagram));
    if pair.is_none() {
        let complaint = Complaint::new(
            match count {
                1 => "1 port does not make a loopback".to_owned(),
                _ => format!("{count} ports do not make a loopback"),
            },
            "two interfaces of the tester that a cable joins",
            "list both ends of the cable, and no port of [hosts]",
        );
        complaints.add(&section.at, &section.field("loopback"), complaint);
    }
    pair
}

/// The place to point at, and where to complain.
type Placed<'a, 't> = (std::ops::Range<usize>, &'a mut Complaints<'t>);

fn check_ports(
    dut: &Host,
    tester: &Host,
    receiver: Option<&Host>,
    (at, complaints): Placed<'_, '_>,
) {
    let mut need = |host: &Host, count: usize, why: &str| {
        if host.ports.len() != count {
            let complaint = Complaint::new(
                plural(host.ports.len(), "port"),
                format!("{count} of {}: {why}", host.role),
                "list the ports that are cabled for the test, and no others",
            );
            complaints.add(&at, &format!("hosts.{}.ports", host.role), complaint);
        }
    };
    need(dut, 2, "first the one towards the sender, then the one towards the receiver");
    match receiver {
        None => need(tester, 2, "first the one that sends, then the one that receives"),
        Some(receiver) => {
            need(tester, 1, "the one that sends");
            need(receiver, 1, "the one that receives");
        }
    }
}

/// A loopback is a cable of its own.
fn check_loopback(generator: &Generator, tester: &Host, (at, complaints): Placed<'_, '_>) {
    let Some([from, to]) = &generator.loopback else { return };
    let is_taken = |port: &TestPort| tester.ports.iter().any(|own| own.name == port.name);
    let what = if generator.kind != GeneratorKind::Fwdlab {
        format!("the tester {} takes no time stamps", generator.kind.name())
    } else if from.name == to.name {
        format!("{} stands twice", from.name)
    } else if let Some(port) = [from, to].into_iter().find(|port| is_taken(port)) {
        format!("{} is a port of [hosts]", port.name)
    } else {
        return;
    };
    let wanted = "two more ports of fwdlab's own tester, joined by a cable";
    let complaint =
        Complaint::new(what, wanted, "name the ports of that cable, or remove loopback");
    complaints.add(&at, "tester.loopback", complaint);
}

/// fwdlab's own tester and its agent run on Linux; only the former has ports that are no interfaces.
fn check_systems(
    generator: &Generator,
    (dut, tester): (&Host, &Host),
    receiver: Option<&Host>,
    (at, complaints): Placed<'_, '_>,
) {
    let others = match generator.kind {
        GeneratorKind::Fwdlab => vec![dut],
        _ => [dut, tester].into_iter().chain(receiver).collect(),
    };
    for host in others.into_iter().filter(|host| host.ports.iter().any(TestPort::is_datagram)) {
        let complaint = Complaint::new(
            format!("a port of {} is a socket", host.role),
            "an interface: only fwdlab's own tester sends datagrams",
            "name the interface of the host, as its system does",
        );
        complaints.add(&at, &format!("hosts.{}.ports", host.role), complaint);
    }
    if !generator.kind.has_agent() {
        return;
    }
    let kind = match generator.kind {
        GeneratorKind::Fwdlab => "fwdlab's own tester",
        kind => kind.name(),
    };
    for host in [tester].into_iter().chain(receiver).filter(|host| host.os != System::Linux) {
        let complaint = Complaint::new(
            format!("{kind} does not run on {}", host.os.name()),
            "os = \"linux\", or another [tester] kind",
            "write [tester] kind = \"pkt-gen\" or \"command\"",
        );
        complaints.add(&at, &format!("hosts.{}.os", host.role), complaint);
    }
}
