//! Streams (`kind = "tcp"`): real stacks on two hosts, and iperf3 on both.
//!
//! The hosts have an address and a way through the device only while streams run: a kernel with an address would
//! answer the frames of other traffics.

use std::time::Duration;

use fwdlab_counters::iperf3::{Asked, Carried, StreamPath, answers};
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_results::FailureKind;

use super::Hosts;
use super::process::{Log, Process, failed};
use crate::host::Connected;
use crate::testbed::{DUT, RECEIVER, System, Testbed};
use crate::{RemoteError, Result};

/// iperf3 counts in whole seconds, and its intervals are no shorter than this.
const SHORTEST: Duration = Duration::from_secs(1);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// How long streams may take to begin and to end beside their time.
const BESIDE: Duration = Duration::from_secs(60);
/// A receiver listens some milliseconds after it was started, and does not say so: it is tried so often.
const ATTEMPTS: u32 = 50;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);
/// What a shell says of a program that is not there.
const NO_PROGRAM: i32 = 127;

/// Whether the testbed carries the streams of each traffic.
///
/// # Errors
/// When it does not; the error names each line.
pub fn check_streams(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    let hosts = || testbed.hosts().filter(|host| host.role != DUT);
    let complaint = |traffic: &Traffic| {
        traffic.streams.as_ref()?;
        let (source, destination) = (traffic.source, traffic.destination);
        let (key, what, wanted, remedy) = if testbed.receiver.is_none() {
            (
                "kind",
                "streams end on a host of their own: on one host its kernel would carry them past the device",
                format!("[hosts.{RECEIVER}] in {}", testbed.path.display()),
                "add that host, or write device = \"linux\"",
            )
        } else if hosts().any(|host| host.os != System::Linux) {
            (
                "kind",
                "the ends of streams are set up on hosts with Linux",
                "os = \"linux\" of tester and receiver".to_owned(),
                "use other hosts, or remove kind",
            )
        } else if source.first() != source.last() || destination.first() != destination.last() {
            (
                "source",
                "iperf3 has one address at each end",
                "one source and one destination, with as many source ports as there are streams"
                    .to_owned(),
                "write for instance source = \"198.18.10.1:7000-7007\"",
            )
        } else if destination.port() != destination.last_port() {
            (
                "destination",
                "iperf3 receives all streams at one port",
                "one port of the destination".to_owned(),
                "write as many source ports as there are streams",
            )
        } else {
            return None;
        };
        Some((key, Complaint::new(what, wanted, remedy)))
    };
    let problems = experiment.complaints_about_traffics(complaint);
    problems.map_or(Ok(()), |problems| Err(problems.into()))
}

/// Which iperf3 a host has, for people.
pub fn version(host: &mut Connected) -> Option<String> {
    let said = host.run("iperf3 --version", &|| false).ok()?;
    said.output.lines().next().filter(|_| said.status == 0).map(str::to_owned)
}

/// Runs a script that ip(8) stands in.
fn set<'w>(
    host: &mut Connected,
    script: fn(&StreamPath<'w>, &str) -> String,
    way: &StreamPath<'w>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let script = script(way, &host.ip(is_stopped)?);
    host.ask(&script, is_stopped).map(|_| ())
}

/// Carries the streams of a traffic for so long, rounded up to whole seconds.
///
/// # Errors
/// When a host cannot be set up, or iperf3 fails.
pub fn carry(
    hosts: &mut Hosts,
    testbed: &Testbed,
    traffic: &Traffic,
    (duration, interval): (Duration, Duration),
    is_stopped: &dyn Fn() -> bool,
) -> Result<Carried> {
    let (from, to) = (traffic.source.first(), traffic.destination.first());
    let [near, far] = [0, 1].map(|port: usize| testbed.dut.ports[port].mac.to_string());
    let sends = StreamPath { own: from, other: to, port: &testbed.out().name, device: &near };
    let receives = StreamPath { own: to, other: from, port: &testbed.back().name, device: &far };
    let joined = set(&mut hosts.tester, StreamPath::join, &sends, is_stopped);
    let joined =
        joined.and_then(|()| set(hosts.receiver(), StreamPath::join, &receives, is_stopped));
    let carried = joined.and_then(|()| iperf3(hosts, traffic, (duration, interval), is_stopped));
    // Also of a trial that is stopped.
    let parted = set(&mut hosts.tester, StreamPath::part, &sends, &|| false);
    let parted = parted.and(set(hosts.receiver(), StreamPath::part, &receives, &|| false));
    let carried = carried?;
    parted.map(|()| carried)
}

/// Runs both programs.
fn iperf3(
    hosts: &mut Hosts,
    traffic: &Traffic,
    (duration, interval): (Duration, Duration),
    is_stopped: &dyn Fn() -> bool,
) -> Result<Carried> {
    let seconds = duration.max(SHORTEST).as_secs_f64().ceil();
    let limit = Duration::from_secs_f64(seconds) + BESIDE;
    let log = Log::default();
    let (source, destination) = (traffic.source, traffic.destination);
    let asked = Asked {
        from: source.first(),
        to: destination.first(),
        ports: [source.port(), destination.port()],
        streams: traffic.flows(),
        frame_bytes: traffic.frame_bytes,
        congestion: traffic.streams.as_ref().and_then(|own| own.congestion.as_deref()),
        seconds,
        interval: interval.max(SHORTEST_INTERVAL).as_secs_f64(),
    };
    let (served, sent) = asked.words();
    let mut server = Process::start(hosts.receiver(), &served, limit, &log)?;
    let mut attempt = 0;
    let carried = loop {
        attempt += 1;
        let mut client = Process::start(&hosts.tester, &sent, limit, &log)?;
        client.wait_for(limit, is_stopped, |_, _| false)?;
        present(hosts.tester.role(), &client)?;
        match answers(&client.text) {
            Ok(carried) => break carried,
            Err(why) if why.contains("refused") && attempt < ATTEMPTS => {
                server.wait_for(BETWEEN_ATTEMPTS, is_stopped, |_, _| false)?;
                present(hosts.receiver().role(), &server)?;
            }
            Err(why) => return Err(failed(hosts.tester.role(), &format!("iperf3: {why}"))),
        }
    };
    server.stop(is_stopped)?;
    Ok(carried)
}

/// Whether the program was there.
fn present(role: &'static str, process: &Process) -> Result<()> {
    match process.status {
        Some(NO_PROGRAM) => Err(RemoteError::failed(
            FailureKind::Misconfigured,
            role,
            "it has no iperf3, which carries the streams",
            "apt-get install iperf3 there, or remove kind = \"tcp\"",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn testbed(receiver: &str) -> Testbed {
        let ports = |first: u8| {
            format!(
                "{{ name = \"a\", mac = \"02:00:00:00:00:0{first}\" }}, \
                 {{ name = \"b\", mac = \"02:00:00:00:00:0{}\" }}",
                first + 1
            )
        };
        let host = |name: &str, ports: String| {
            format!("[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [{ports}]\n")
        };
        let text = format!(
            "name = \"bed\"\n{}{}{receiver}",
            host("dut", ports(1)),
            host("tester", if receiver.is_empty() { ports(3) } else { ports(3)[..41].to_owned() }),
        );
        Testbed::parse(Path::new("bed.toml"), &text).expect("a valid testbed")
    }

    const RECEIVES: &str = "[hosts.receiver]\nssh = \"r\"\nos = \"linux\"\n\
        ports = [{ name = \"c\", mac = \"02:00:00:00:00:07\" }]\n";

    fn experiment(source: &str, destination: &str) -> Experiment {
        let text = format!(
            "title = \"t\"\ndevice = \"remote\"\nbaseline = \"a\"\nmeasure = \"goodput\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n\
             kind = \"tcp\"\nsource = \"{source}\"\ndestination = \"{destination}\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
             \"198.18.0.0/16 via 198.18.0.203\"]\n"
        );
        Experiment::parse(Path::new("x.toml"), &text, &[&crate::Remote]).expect("an experiment")
    }

    #[test]
    fn what_iperf3_cannot_carry_is_refused_at_its_line() {
        let check = |source: &str, destination: &str, testbed: &Testbed| {
            let checked = check_streams(&experiment(source, destination), testbed);
            checked.map_or_else(|problems| problems.to_string(), |()| "taken".to_owned())
        };
        let two = testbed(RECEIVES);
        let (one, ports) = ("198.19.10.1:7", "198.18.10.1:7-10");
        assert_eq!(check(ports, one, &two), "taken");
        let said = check(ports, one, &testbed(""));
        assert!(said.starts_with("x.toml:11:8: traffic[1].kind: streams end on a host"), "{said}");
        assert!(said.contains("[hosts.receiver] in bed.toml; add that host, or"), "{said}");
        let said = check("198.18.10.1-198.18.10.2:7", one, &two);
        assert!(said.starts_with("x.toml:12:10: traffic[1].source: iperf3 has one"), "{said}");
        let said = check(ports, "198.19.10.1:7-8", &two);
        assert!(
            said.starts_with("x.toml:13:15: traffic[1].destination: iperf3 receives"),
            "{said}"
        );
        let freebsd =
            RECEIVES.replace("\"linux\"", "\"freebsd\"") + "[tester]\nkind = \"pkt-gen\"\n";
        assert!(check(ports, one, &testbed(&freebsd)).contains("hosts with Linux"));
    }
}
