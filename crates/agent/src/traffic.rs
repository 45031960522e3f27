//! Frames of the agent on another host, by packet sockets, or datagrams of a guest beside it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fwdlab_port::{Batch, Clock, Pool, PoolConfig, Port, datagram, packet, wait};
use fwdlab_results::Checks;
use fwdlab_traffic::{Outcome, Probes, Receiver, Sender, Tester, TrafficPlan};
use fwdlab_wire::MacAddr;

use crate::capture::Captures;
use crate::deaf::Deaf;
use crate::makers;
use crate::order::{Answer, Counted, Report, Role, Stamping, TrafficOrder};
use crate::ports::Ports;
use crate::stamps::Probing;
use crate::tester::checks_of;
use crate::wall::now_ns;
use crate::{Result, words};

/// Frames between sender and receiver.
const FRAMES_IN_FLIGHT: usize = 512;
/// Frames that are sent by one system call.
const BATCH: usize = 64;
/// Silence after which a frame counts as lost.
const PATIENCE_NS: u64 = 20_000_000;
/// A receiver that gets nothing looks for an order to stop this often.
const REST: Duration = Duration::from_millis(5);
/// Bytes around a packet: Ethernet header and a VLAN tag.
const HEADER_AND_TAG: usize = 18;

/// Carries out one order; tells `say` when the interfaces are open.
///
/// # Errors
/// An interface that cannot be opened, or an order that makes no sense.
pub(super) fn run(
    order: &TrafficOrder,
    (ports, captures): (&mut Ports, &mut Captures),
    stop: &AtomicBool,
    say: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<Report> {
    if let Some(maker) = order.maker {
        return makers::run(order, maker, stop, say);
    }
    let plan = plan(order, captures)?;
    let pool = ports.pool(frames(order)?)?;
    if order.role == Role::Receiver {
        let mut port = ports.take(&order.back, &pool)?;
        say(&Answer::Ready)?;
        let report = receive(&plan, port.as_mut(), &pool, stop);
        ports.keep(&order.back, port);
        return report;
    }
    let mut probing = begin_probing(order)?;
    let out = match &probing {
        Some(probing) => probing.port(&order.out, &pool)?,
        None => ports.take(&order.out, &pool)?,
    };
    let back: Box<dyn Port> = match order.role {
        Role::Both => ports.take(&order.back, &pool)?,
        _ => Box::new(Deaf { mac: plan.arrival_mac }),
    };
    let mut tester = Tester::new(&plan, &pool, out, back).map_err(words)?;
    say(&Answer::Ready)?;
    let began_ns = now_ns();
    let mut collect = || probing.iter_mut().for_each(Probing::collect);
    let outcome = tester.run(stop, &mut |_| collect());
    let mut report = report(began_ns, &outcome);
    let (out, back) = tester.into_ports();
    match probing {
        Some(probing) => report.probed = Some(probing.end()),
        None => ports.keep(&order.out, out),
    }
    if order.role == Role::Both {
        ports.keep(&order.back, back);
    }
    Ok(report)
}

fn begin_probing(order: &TrafficOrder) -> Result<Option<Probing>> {
    let Some(Stamping { by, pps }) = order.stamps else { return Ok(None) };
    if order.role != Role::Both {
        return Err("frames whose time is taken are sent and received on one host".to_owned());
    }
    let sample = Probes::of_load(pps, order.duration_ns as f64 / 1e9);
    Probing::begin((&order.out, &order.back), sample, by).map(Some)
}

fn plan(order: &TrafficOrder, captures: &mut Captures) -> Result<TrafficPlan> {
    let mac = |text: &str| text.parse::<MacAddr>().map_err(words);
    let mut plan = captures.plan(&order.traffic)?;
    plan.source_mac = mac(&order.source_mac)?;
    plan.device_mac = mac(&order.device_mac)?;
    plan.arrival_mac = mac(&order.arrival_mac)?;
    plan.duration_ns = order.duration_ns;
    plan.interval_ns = order.interval_ns;
    plan.drain_ns = if order.role == Role::Sender { 1_000_000 } else { PATIENCE_NS };
    plan.frames_in_flight = FRAMES_IN_FLIGHT;
    plan.batch = BATCH;
    Ok(plan)
}

/// Frames as long as the interfaces take them.
fn frames(order: &TrafficOrder) -> Result<PoolConfig> {
    let usual = PoolConfig { frames: 4 * FRAMES_IN_FLIGHT, ..PoolConfig::default() };
    let mut capacity = usual.capacity;
    let is_interface = |name: &&String| !name.is_empty() && !datagram::is_datagram(name);
    for name in [&order.out, &order.back].into_iter().filter(is_interface) {
        let mtu = packet::mtu(name).map_err(words)?;
        capacity = capacity.max(mtu.min(9_216) + HEADER_AND_TAG);
    }
    Ok(PoolConfig { capacity, ..usual })
}

/// Counts and checks what arrives until it is told to stop and nothing more has come for a while.
fn receive(
    plan: &TrafficPlan,
    port: &mut dyn Port,
    pool: &Pool,
    stop: &AtomicBool,
) -> Result<Report> {
    let headroom = pool.config().headroom.next_multiple_of(64);
    let sender = Sender::new(plan, headroom).map_err(words)?;
    let mut receiver = Receiver::new(plan, &sender).map_err(words)?;
    let (clock, mut batch) = (Clock::new(), Batch::new());
    let interval = clock.ns_to_ticks(plan.interval_ns).max(1);
    let patience = clock.ns_to_ticks(PATIENCE_NS);
    let mut report = Report { began_ns: now_ns(), ..Report::default() };
    let start = clock.ticks();
    let (mut begin, mut before, mut last_frame) = (start, 0, start);
    loop {
        let now = clock.ticks();
        if now - begin >= interval {
            let received = receiver.received();
            let ns = clock.ticks_to_ns(now - begin);
            report.intervals.push(Counted { ns, sent: 0, received: received - before });
            (begin, before) = (now, received);
        }
        if port.receive(&mut batch) > 0 {
            receiver.check(&batch, now, |_| {});
            pool.put(&mut batch);
            last_frame = now;
        } else if stop.load(Ordering::Relaxed) && now - last_frame >= patience {
            break;
        } else {
            wait([&*port], REST);
        }
    }
    report.received = receiver.received();
    report.flows_seen = receiver.flows_seen().map(u64::from).sum();
    report.checks = checks_of(&receiver.checks(), report.received, 0);
    Ok(report)
}

fn report(began_ns: u64, outcome: &Outcome) -> Report {
    let counted = |interval: &fwdlab_traffic::IntervalCounts| Counted {
        ns: interval.length_ns,
        sent: interval.sent,
        received: interval.received,
    };
    let received = outcome.received();
    let checks: Checks = checks_of(&outcome.checks, received, outcome.dropped());
    Report {
        began_ns,
        intervals: outcome.intervals.iter().map(counted).collect(),
        sent: outcome.sent(),
        received,
        flows_seen: outcome.flows_seen(),
        checks,
        ..Report::default()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use fwdlab_traffic::Load;

    use super::*;
    use crate::task::TaskTraffic;

    /// An order to send a little on an interface of this name.
    pub(crate) fn order(interface: &str) -> TrafficOrder {
        TrafficOrder {
            role: Role::Both,
            out: interface.to_owned(),
            back: interface.to_owned(),
            source_mac: "02:00:00:00:00:01".to_owned(),
            device_mac: "02:00:00:00:00:02".to_owned(),
            arrival_mac: "02:00:00:00:00:03".to_owned(),
            traffic: TaskTraffic {
                source: "198.18.10.1:2000".to_owned(),
                destination: "198.19.10.1:2000".to_owned(),
                frame_bytes: 64,
                order: "sequential".to_owned(),
                pps: Some(1000.0),
                capture: None,
            },
            duration_ns: 10_000_000,
            interval_ns: 5_000_000,
            maker: None,
            stamps: None,
            deadline_ns: 1_000_000_000,
        }
    }

    #[test]
    fn an_order_becomes_a_plan_and_a_wrong_one_says_what_is_wrong() {
        let plan = plan(&order("port"), &mut Captures::default()).expect("a plan");
        assert_eq!(plan.device_mac.to_string(), "02:00:00:00:00:02");
        assert_eq!(plan.load, Load::Pps(1000.0));
        let wrong = TrafficOrder { device_mac: "here".to_owned(), ..order("port") };
        assert!(super::plan(&wrong, &mut Captures::default()).is_err());
    }
}
