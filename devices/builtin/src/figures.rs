//! What the tester found, in the words of the results.

use fwdlab_experiment::MOST_PORTS;
use fwdlab_port::Counters as PortCounters;
use fwdlab_results::{Checks, LatencyFigures, Way};
use fwdlab_router::Counters;
use fwdlab_traffic::{LatencySummary, Outcome};

/// How long frames took.
pub fn figures(latency: LatencySummary) -> LatencyFigures {
    let LatencySummary { frames, minimum_ns, median_ns, p99_ns, .. } = latency;
    let LatencySummary { p99_9_ns, p99_99_ns, maximum_ns, .. } = latency;
    LatencyFigures { frames, minimum_ns, median_ns, p99_ns, p99_9_ns, p99_99_ns, maximum_ns }
}

/// What the tester found in the frames that it received, all of which it looked into.
pub fn checks(outcome: &Outcome) -> Checks {
    let checks = &outcome.checks;
    Checks {
        checked: outcome.received() + checks.misrouted,
        lost: outcome.dropped(),
        duplicated: checks.duplicated,
        reordered: checks.reordered,
        misrouted: checks.misrouted + checks.unknown_flow,
        astray: checks.misrouted,
        returned: checks.returned,
        bad_ttl: checks.wrong_ttl,
        bad_checksum: checks.bad_checksum + checks.wrong_header,
        bad_mac: checks.wrong_mac,
        bad_payload: checks.bad_payload,
    }
}

/// What was counted each way, where frames went both ways. The device's ports are those where frames
/// of a way come in and leave; frames that it makes itself are none of the tester's, and where there
/// are any its counts by ports say nothing.
pub fn ways(outcome: &Outcome, counters: Option<&Counters>) -> Vec<Way> {
    let counters = counters.filter(|all| all.snapshot().originated == 0);
    let side = |all: &Counters, of: u16, count: fn(&PortCounters) -> u64| -> u64 {
        (0..MOST_PORTS).filter(|port| port % 2 == of).map(|port| count(&all.port(port))).sum()
    };
    let ports = |from: u16| {
        let into = |all| side(all, from, |port| port.rx_frames);
        let out = |all| side(all, 1 - from, |port| port.tx_frames);
        counters.map(|all| (into(all), out(all)))
    };
    let way = |(from, own): (u16, &Outcome)| Way {
        tx: own.intervals.iter().map(|interval| interval.sent).collect(),
        rx: own.intervals.iter().map(|interval| interval.received).collect(),
        sent: own.sent(),
        received: own.received(),
        device_received: ports(from).map(|(into, _)| into),
        device_sent: ports(from).map(|(_, out)| out),
        checks: checks(own),
        latency: own.latency.map(figures),
    };
    (0..).zip(&outcome.ways).map(way).collect()
}
