//! The control files of the kernel's own generator, and what it can send
//! (Documentation/networking/pktgen.rst and net/core/pktgen.c of Linux).

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fwdlab_traffic::{Endpoints, Family, FlowSet};
use fwdlab_wire::MacAddr;
use fwdlab_wire::ethernet::FCS_LEN;

use crate::Result;
use crate::task::TaskTraffic;

/// The control files of the calling thread's namespace.
pub(crate) const FILES: &str = "/proc/thread-self/net/pktgen";

/// Most flows that are counted by looking at frames.
const MOST_FLOWS: u32 = 16_384;

/// Most destinations that are drawn at random, so that some ten thousand frames show them all.
const MOST_DRAWN: u64 = 2_048;

/// Its frames carry 16 bytes of its own behind the headers, and these are the headers of IPv6
/// and UDP, Ethernet's, and the FCS.
const LEAST_INET6_BYTES: u16 = 14 + 40 + 8 + 16 + 4;

/// What pktgen cannot send of some traffic: what was found, and what was wanted.
pub type Refusal = (String, &'static str);

/// Whether pktgen can send these flows one after the other, in frames of so many bytes (FCS included).
///
/// # Errors
/// What it cannot send.
pub fn sendable(flows: &FlowSet, frame_bytes: u16) -> std::result::Result<(), Refusal> {
    let (source, destination) = (flows.source(), flows.destination());
    if [source, destination].iter().any(|end| end.ports() != 1) {
        return Err(("it has a range of ports".to_owned(), "one port on each side"));
    }
    match flows.family() {
        Family::Inet if flows.count() > MOST_FLOWS => {
            Err((format!("it has {} flows", flows.count()), "at most 16384 flows"))
        }
        Family::Inet => Ok(()),
        Family::Inet6 => sendable6((source, destination), frame_bytes),
    }
}

/// IPv6 has one source, and destinations whose last bits are drawn at random.
fn sendable6(
    (source, destination): (&Endpoints, &Endpoints),
    frame_bytes: u16,
) -> std::result::Result<(), Refusal> {
    let mask = destination.last() - destination.first();
    if source.count() != 1 {
        return Err((format!("it has {} IPv6 sources", source.count()), "one source"));
    }
    let is_block = (mask + 1).is_power_of_two() && destination.first() & mask == 0;
    if !is_block || destination.count() > MOST_DRAWN {
        return Err((
            format!("its {} IPv6 destinations are no block", destination.count()),
            "a block of 2, 4, 8 ... 2048 addresses at a multiple of its size: [2001:2::40]-[2001:2::7f]",
        ));
    }
    if frame_bytes < LEAST_INET6_BYTES {
        return Err((
            format!("its frames of {frame_bytes} bytes have no room for pktgen's mark"),
            "frames of 82 bytes or more, FCS included",
        ));
    }
    Ok(())
}

/// The flows of a traffic.
pub(crate) fn flows(traffic: &TaskTraffic) -> Result<FlowSet> {
    let parsed = FlowSet::parse(&traffic.source, &traffic.destination);
    parsed.map_err(|error| error.to_string())
}

/// Gives pktgen one line; it answers by refusing the write.
pub(crate) fn command(file: &str, line: &str) -> Result<()> {
    let path = format!("{FILES}/{file}");
    fs::write(&path, format!("{line}\n"))
        .map_err(|error| format!("pktgen refuses {line:?} in {path}: {error}"))
}

/// What is set before frames are sent from one address to another.
pub(crate) fn settings(traffic: &TaskTraffic, [from, to]: [MacAddr; 2]) -> Result<Vec<String>> {
    let flows = flows(traffic)?;
    let (source, destination) = (flows.source(), flows.destination());
    let mut all = vec![
        format!("pkt_size {}", usize::from(traffic.frame_bytes) - FCS_LEN),
        "clone_skb 0".to_owned(),
        "delay 0".to_owned(),
        format!("src_mac {}", from),
        format!("dst_mac {to}"),
        format!("udp_src_min {}", source.first_port()),
        format!("udp_src_max {}", source.first_port()),
        format!("udp_dst_min {}", destination.first_port()),
        format!("udp_dst_max {}", destination.first_port()),
    ];
    match flows.family() {
        Family::Inet => all.extend(inet(source, destination)),
        Family::Inet6 => all.extend(inet6(source, destination)),
    }
    // pktgen counts whole frames a second.
    all.extend(traffic.pps.map(|pps| format!("ratep {}", pps.round())));
    Ok(all)
}

/// The source varies fastest: a "flow" of pktgen is a destination that stays for as many frames
/// as there are sources.
fn inet(source: &Endpoints, destination: &Endpoints) -> Vec<String> {
    let address = |value: u128| Ipv4Addr::from_bits(value as u32);
    let mut all = vec![
        format!("src_min {}", address(source.first())),
        format!("src_max {}", address(source.last())),
        format!("dst_min {}", address(destination.first())),
        format!("dst_max {}", address(destination.last())),
    ];
    if source.addresses() > 1 && destination.addresses() > 1 {
        all.push(format!("flows {}", destination.addresses()));
        all.push(format!("flowlen {}", source.addresses()));
        all.push("flag FLOW_SEQ".to_owned());
    }
    all
}

/// Each address is drawn: random bits, one where the least has one, none where the most has none.
fn inet6(source: &Endpoints, destination: &Endpoints) -> Vec<String> {
    let address = |value: u128| IpAddr::from(Ipv6Addr::from_bits(value));
    vec![
        format!("src6 {}", address(source.first())),
        format!("dst6_min {}", address(destination.first())),
        format!("dst6_max {}", address(destination.last())),
        // Connection tracking of IPv6 takes no packet without a checksum.
        "flag UDPCSUM".to_owned(),
    ]
}

/// Duration in ns and number of frames, from `Result: OK: 1234(c1200+d34) usec, 1000 (...)`.
pub(crate) fn result(report: &str) -> Option<(u64, u64)> {
    let (_, rest) = report.split_once("Result: OK: ")?;
    let (micros, rest) = rest.split_once('(')?;
    let (_, rest) = rest.split_once("usec, ")?;
    let frames = rest.split_whitespace().next()?;
    Some((micros.trim().parse::<u64>().ok()? * 1_000, frames.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_and_frames_are_read_from_what_pktgen_says() {
        let report = "Current:\n     pkts-sofar: 1000  errors: 0\n\
                      Result: OK: 13579(c13000+d579) usec, 1000 (60byte,0frags)\n  73642pps\n";
        assert_eq!(result(report), Some((13_579_000, 1_000)));
        assert_eq!(result("Result: Idle\n"), None);
    }

    #[test]
    fn a_destination_stays_for_all_sources() {
        let flows = FlowSet::parse("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:9");
        let flows = flows.expect("flows");
        let lines = inet(flows.source(), flows.destination());
        for wanted in ["src_max 198.18.10.20", "dst_min 198.19.10.1", "flows 100", "flowlen 20"] {
            assert!(lines.iter().any(|line| line == wanted), "{wanted} in {lines:?}");
        }
    }
}
