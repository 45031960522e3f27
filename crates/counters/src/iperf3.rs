//! Streams between two hosts with Linux by iperf3: how the hosts are set, what it is asked, and what it says, with `-J`, of
//! what it carried. Its client tells the server's part too (`--get-server-output`).

use std::net::IpAddr;

use fwdlab_results::{
    Benchmark, Interval, Ledger, Measure, Measured, StreamSlice, Streams, TrialEnvironment,
};
use serde::Deserialize;

use crate::Change;

/// By this number routes of ours are known (rtnetlink(7): protocols from 5 on are free).
const PROTOCOL: u8 = 177;
/// Ethernet header and FCS, and the header of TCP without options; IP's are of each family.
const HEADERS_BYTES: u16 = 18 + 20;

/// What one end needs to reach the other.
#[derive(Clone, Copy, Debug)]
pub struct StreamPath<'a> {
    /// Its address in the test network.
    pub own: IpAddr,
    /// The other's.
    pub other: IpAddr,
    /// The port towards the device.
    pub port: &'a str,
    /// The device's MAC address there. The other end counts as a neighbour, at that address.
    pub device: &'a str,
}

impl StreamPath<'_> {
    /// A script that makes it, with the path of ip(8).
    pub fn join(&self, ip: &str) -> String {
        let Self { own, other, port, device } = self;
        let (bits, nodad) = if own.is_ipv4() { (32, "") } else { (128, " nodad") };
        let inet6 = self.inet6(0).map_or_else(String::new, |first| format!("{first} && "));
        format!(
            "{inet6}{ip} link set dev {port} up && {ip} addr replace {own}/{bits} dev {port}{nodad} && \
             {ip} neigh replace {other} lladdr {device} dev {port} nud permanent && \
             {ip} route replace {other}/{bits} dev {port} src {own} proto {PROTOCOL}"
        )
    }

    /// A script that takes away whatever there is of it.
    pub fn part(&self, ip: &str) -> String {
        let Self { own, other, port, .. } = self;
        let bits = if own.is_ipv4() { 32 } else { 128 };
        let inet6 = self.inet6(1).map_or_else(String::new, |last| format!("; {last}"));
        format!(
            "{{ {ip} route del {other}/{bits} dev {port} proto {PROTOCOL}; {ip} neigh del {other} dev {port}; \
             {ip} addr del {own}/{bits} dev {port}{inet6}; }} 2>/dev/null; :"
        )
    }

    /// IPv6 is off on a test port that nobody needs it on.
    fn inet6(&self, is_off: u8) -> Option<String> {
        let word = format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", self.port);
        self.own.is_ipv6().then(|| format!("echo {is_off} > {word}"))
    }
}

/// What is carried.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Who sends.
    pub from: IpAddr,
    /// Who receives.
    pub to: IpAddr,
    /// The sender's first TCP port, and the receiver's only one.
    pub ports: [u16; 2],
    /// How many streams.
    pub streams: u64,
    /// Their longest frames, FCS included.
    pub frame_bytes: u16,
    /// How the senders avoid congestion, if not as the kernel does.
    pub congestion: Option<&'a str>,
    /// For how long: whole seconds.
    pub seconds: f64,
    /// Length of an interval, in s.
    pub interval: f64,
}

impl Asked<'_> {
    /// The words that receive, and those that send.
    pub fn words(&self) -> (Vec<String>, Vec<String>) {
        let Self { from, to, ports: [first, port], streams, seconds, interval, .. } = self;
        let ip = if from.is_ipv4() { 20 } else { 40 };
        let segment = self.frame_bytes.saturating_sub(HEADERS_BYTES + ip);
        let congestion = self.congestion.map_or_else(String::new, |own| format!(" -C {own}"));
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect();
        (
            words(format!("iperf3 -s -1 -J -B {to} -p {port} -i {interval}")),
            words(format!(
                "iperf3 -c {to} -B {from} --cport {first} -p {port} -P {streams} -t {seconds} -i {interval} \
                 -M {segment}{congestion} -J --get-server-output"
            )),
        )
    }
}

/// Streams as both ends counted them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    /// Each stream, in the order in which they were opened.
    pub streams: Vec<Stream>,
    /// Intervals of the receiver: how long in s, and payload of all streams in it, in bytes.
    pub intervals: Vec<(f64, u64)>,
    /// How the sender avoided congestion, where it says so.
    pub congestion: Option<String>,
    /// The longest payload of a segment, as the sender's socket says it, in bytes.
    pub segment_bytes: Option<u32>,
    /// Which iperf3 it was.
    pub version: String,
}

/// One stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// Payload that the receiver read, in bytes.
    pub bytes: u64,
    /// Segments sent again.
    pub again: u64,
}

#[derive(Deserialize)]
struct Said {
    error: Option<String>,
    #[serde(default)]
    start: Start,
    #[serde(default)]
    end: End,
    server_output_json: Option<Box<Said>>,
    #[serde(default)]
    intervals: Vec<Slice>,
}

#[derive(Default, Deserialize)]
struct Start {
    version: Option<String>,
    tcp_mss: Option<u32>,
}

#[derive(Default, Deserialize)]
struct End {
    #[serde(default)]
    streams: Vec<Ends>,
    sender_tcp_congestion: Option<String>,
}

#[derive(Default, Deserialize)]
struct Ends {
    #[serde(default)]
    sender: Counted,
    #[serde(default)]
    receiver: Counted,
}

#[derive(Default, Deserialize)]
struct Slice {
    #[serde(default)]
    sum: Counted,
}

#[derive(Default, Deserialize)]
struct Counted {
    bytes: Option<u64>,
    seconds: Option<f64>,
    retransmits: Option<u64>,
}

/// Reads what a client printed.
///
/// # Errors
/// What iperf3 says went wrong, or what is missing in its words.
pub fn answers(text: &str) -> Result<Carried, String> {
    let json = text.find('{').zip(text.rfind('}')).and_then(|(first, last)| text.get(first..=last));
    let last_words = || {
        let line = text.lines().rev().find(|line| !line.trim().is_empty());
        format!("it printed no JSON; its last words: {:?}", line.unwrap_or("none"))
    };
    let said: Said = serde_json::from_str(json.ok_or_else(last_words)?)
        .map_err(|error| format!("its JSON cannot be read: {error}"))?;
    if let Some(error) = said.error {
        return Err(error);
    }
    let served = said.server_output_json.ok_or("the receiver's words are missing in its JSON")?;
    if let Some(error) = served.error {
        return Err(format!("the receiver: {error}"));
    }
    let missing = |what: &str| format!("{what} is missing in its JSON");
    let stream = |(sent, read): (&Ends, &Ends)| {
        let bytes = read.receiver.bytes.ok_or_else(|| missing("what a stream carried"))?;
        let again = sent.sender.retransmits.ok_or_else(|| missing("what was sent again"))?;
        Ok::<_, String>(Stream { bytes, again })
    };
    let pairs = said.end.streams.iter().zip(&served.end.streams);
    let streams: Vec<Stream> = pairs.map(stream).collect::<Result<_, _>>()?;
    if streams.is_empty() || said.end.streams.len() != served.end.streams.len() {
        return Err(missing("a stream of one end"));
    }
    let interval = |own: &Slice| {
        let seconds = own.sum.seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
        seconds.zip(own.sum.bytes).ok_or_else(|| missing("an interval of the receiver"))
    };
    Ok(Carried {
        streams,
        intervals: served.intervals.iter().map(interval).collect::<Result<_, _>>()?,
        congestion: said.end.sender_tcp_congestion,
        segment_bytes: said.start.tcp_mss.filter(|bytes| *bytes > 0),
        version: said.start.version.unwrap_or_default(),
    })
}

/// What the ends and the device counted, in the journal's words.
pub fn measured(measure: Measure, carried: Carried, change: Change) -> Measured {
    let bytes: u64 = carried.streams.iter().map(|stream| stream.bytes).sum();
    let segment_bytes = carried.segment_bytes.unwrap_or(0);
    // The segments that nobody counted, were they all full; the device's port saw them as frames.
    let least = bytes.div_ceil(u64::from(segment_bytes.max(1)));
    let frames = change.sent.unwrap_or(least);
    let share = |part: u64| frames as f64 * part as f64 / bytes.max(1) as f64;
    let slice = |&(seconds, bytes): &(f64, u64)| StreamSlice {
        bytes,
        ns: (seconds * 1e9) as u64,
        ..StreamSlice::default()
    };
    let interval = |&(seconds, bytes): &(f64, u64)| Interval {
        ms: seconds * 1e3,
        rx: share(bytes) as u64,
        ..Interval::default()
    };
    let streams = Streams {
        congestion: carried.congestion.unwrap_or_default(),
        segment_bytes,
        device_frames: change.received,
        device_busy_ns: change.work.and_then(|work| u64::try_from(work.busy.as_nanos()).ok()),
        streams: carried
            .streams
            .iter()
            .map(|own| fwdlab_results::Stream {
                bytes: own.bytes,
                again: own.again,
                ..Default::default()
            })
            .collect(),
        through: carried.intervals.iter().map(slice).collect(),
        ..Streams::default()
    };
    let proof = [
        ("congestion control", streams.congestion.clone()),
        ("segment bytes", segment_bytes.to_string()),
        ("streams by", carried.version),
    ];
    Measured {
        intervals: carried.intervals.iter().map(interval).collect(),
        received: frames,
        flows_seen: Some(carried.streams.iter().filter(|stream| stream.bytes > 0).count() as u64),
        idle_share: change.work.map(|work| work.idle_share),
        device_received: change.received,
        device_sent: change.sent,
        drops: change.drops,
        queues: change.queues,
        warnings: change.warnings,
        proof: proof.map(|(word, value)| (word.to_owned(), value)).into(),
        // What is lost is sent again, and iperf3 talks by a connection of its own.
        ledger: Ledger::Unknown,
        environment: TrialEnvironment { pinned: true, ..TrialEnvironment::default() },
        benchmark: Some(match measure {
            Measure::ByteCost => Benchmark::ByteCost(streams),
            _ => Benchmark::Goodput(streams),
        }),
        ..Measured::default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Work;

    /// As iperf 3.12 prints it, cut to what is read, with two streams of 1 s.
    const SAID: &str = r#"{
"start": {"connected": [{"socket": 5}], "version": "iperf 3.12", "tcp_mss": 1400},
"intervals": [{"streams": [], "sum": {"seconds": 1.0, "bytes": 300, "retransmits": 7, "omitted": false}}],
"end": {"streams": [
  {"sender": {"bytes": 131072, "retransmits": 5}, "receiver": {"bytes": 131000}},
  {"sender": {"bytes": 131072, "retransmits": 2}, "receiver": {"bytes": 131000}}],
 "sender_tcp_congestion": "cubic", "receiver_tcp_congestion": "bbr"},
"server_output_json": {"start": {}, "intervals": [
  {"sum": {"seconds": 0.5005, "bytes": 200000}}, {"sum": {"seconds": 0.4995, "bytes": 62144}}],
 "end": {"streams": [{"sender": {"bytes": 0}, "receiver": {"bytes": 131072}},
  {"sender": {"bytes": 0}, "receiver": {"bytes": 131070}}]}}}"#;

    #[test]
    fn bytes_are_those_that_the_receiver_read_and_what_was_sent_again_is_the_senders() {
        let carried = answers(&format!("warning: no such thing\n{SAID}\n")).expect("readable");
        let stream = |bytes, again| Stream { bytes, again };
        assert_eq!(carried.streams, [stream(131_072, 5), stream(131_070, 2)]);
        assert_eq!(carried.intervals, [(0.5005, 200_000), (0.4995, 62_144)]);
        assert_eq!(
            (carried.congestion.as_deref(), carried.segment_bytes),
            (Some("cubic"), Some(1400))
        );
        assert_eq!(carried.version, "iperf 3.12");
    }

    #[test]
    fn what_is_wrong_or_missing_is_said() {
        let refused =
            "{\"start\": {}, \"error\": \"unable to connect to server: Connection refused\"}";
        for (said, wanted) in [
            (refused.to_owned(), "Connection refused"),
            ("sh: iperf3: not found\n".to_owned(), "its last words: \"sh: iperf3: not found\""),
            (String::new(), "its last words: \"none\""),
            (SAID.replace("\"server_output_json\"", "\"other\""), "the receiver's words"),
            (SAID.replace("\"retransmits\": 5", "\"x\": 5"), "what was sent again"),
            (
                SAID.replace("\"seconds\": 0.5005", "\"seconds\": -1.0"),
                "an interval of the receiver",
            ),
            (SAID.replace("\"bytes\": 131070", "\"bytes\": -3"), "cannot be read"),
            // One end tells of fewer streams than the other.
            (
                SAID.replace(
                    ",\n  {\"sender\": {\"bytes\": 0}, \"receiver\": {\"bytes\": 131070}}",
                    "",
                ),
                "a stream of one end",
            ),
        ] {
            let why = answers(&said).expect_err(wanted);
            assert!(why.contains(wanted), "{why}");
        }
    }

    #[test]
    fn both_programs_are_told_what_is_asked() {
        let asked = Asked {
            from: [198, 18, 10, 1].into(),
            to: [198, 19, 10, 1].into(),
            ports: [7000, 7],
            streams: 4,
            frame_bytes: 1000,
            congestion: Some("reno"),
            seconds: 2.0,
            interval: 0.1,
        };
        let (served, sent) = asked.words();
        assert_eq!(served.join(" "), "iperf3 -s -1 -J -B 198.19.10.1 -p 7 -i 0.1");
        // 1000 bytes with FCS hold headers of 18, 20 and 20.
        let wanted = "iperf3 -c 198.19.10.1 -B 198.18.10.1 --cport 7000 -p 7 -P 4 -t 2 -i 0.1 -M 942 -C reno -J \
                      --get-server-output";
        assert_eq!(sent.join(" "), wanted);
    }

    #[test]
    fn what_is_set_on_a_host_is_taken_away() {
        let way = |own: &str, other: &str| {
            let [own, other] = [own, other].map(|text| text.parse().expect("an address"));
            let way = StreamPath { own, other, port: "p0", device: "02:00:00:00:00:01" };
            (way.join("/ip"), way.part("/ip"))
        };
        let (join, part) = way("198.18.10.1", "198.19.10.1");
        for (made, gone) in [
            ("addr replace 198.18.10.1/32 dev p0 ", "addr del 198.18.10.1/32 dev p0"),
            ("neigh replace 198.19.10.1 lladdr 02:00:00:00:00:01", "neigh del 198.19.10.1 dev p0"),
            ("route replace 198.19.10.1/32 dev p0", "route del 198.19.10.1/32 dev p0 proto 177"),
        ] {
            assert!(join.contains(made) && part.contains(gone), "{join} {part}");
        }
        assert!(!join.contains("ipv6"), "{join}");
        let (join, part) = way("2001:2::1", "2001:2:0:8000::1");
        assert!(join.starts_with("echo 0 > /proc/sys/net/ipv6/conf/p0/disable_ipv6 && "), "{join}");
        assert!(join.contains("addr replace 2001:2::1/128 dev p0 nodad && "), "{join}");
        assert!(part.contains("; echo 1 > /proc/sys/net/ipv6/conf/p0/disable_ipv6; }"), "{part}");
    }

    #[test]
    fn figures_are_of_what_the_receiver_read_and_of_what_the_device_says_of_itself() {
        let carried = Carried {
            streams: vec![Stream { bytes: 3_000, again: 2 }, Stream { bytes: 1_000, again: 0 }],
            intervals: vec![(0.5, 3_000), (0.5, 1_000)],
            congestion: Some("cubic".to_owned()),
            segment_bytes: Some(1_000),
            version: "iperf 3.12".to_owned(),
        };
        let work = Work { busy: Duration::from_nanos(2_000), idle_share: 0.25 };
        let change =
            Change { received: Some(6), sent: Some(4), work: Some(work), ..Change::default() };
        let measured = measured(Measure::Goodput, carried, change);
        let Some(Benchmark::Goodput(own)) = &measured.benchmark else { panic!("{measured:?}") };
        assert_eq!(own.goodput_bits_per_s(), Some(32_000.0));
        assert_eq!(own.fairness(), Some(0.8));
        assert_eq!(own.device_ns_per_byte(), Some(0.5));
        assert_eq!(
            (own.again_share(), own.device_frames),
            (None, Some(6)),
            "nobody counted segments"
        );
        assert_eq!(own.streams.iter().map(|stream| stream.again).sum::<u64>(), 2);
        let rx: Vec<u64> = measured.intervals.iter().map(|interval| interval.rx).collect();
        assert_eq!((rx, measured.received, measured.flows_seen), (vec![3, 1], 4, Some(2)));
        assert_eq!((measured.sent, measured.idle_share), (None, Some(0.25)));
    }
}
