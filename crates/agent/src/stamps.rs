//! How long frames take, by time stamps of a sample of them: the card's where a cable between two of its
//! ports has shown that they come and fit each other, else the kernel's, with what they add over that cable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fwdlab_port::packet::PacketPort;
use fwdlab_port::stamps::{self, Ability, ReceivedStamps, SentStamps, Stamped, StampingCard};
use fwdlab_port::{Pool, Port};
use fwdlab_results::LatencyFigures;
use fwdlab_traffic::{FlowSet, Load, Probes, Stream, Tester, TrafficPlan};

use crate::order::{CablePort, Probed, StampClock, StampOrder, StampProof};
use crate::{Result, words};

/// What is sent over the cable: as many frames a second as are stamped at most, and for how long.
const CABLE_PPS: f64 = Probes::MOST_PER_SECOND;
const CABLE_NS: u64 = 250_000_000;
/// The share of them that must have both stamps of the card.
const ENOUGH: f64 = 0.9;
/// A frame takes no longer over a cable, in ns.
const LONGEST_CABLE_NS: u64 = 100_000;
/// The card's clock and the kernel's may go apart by so much.
const CLOCK_SHARE: f64 = 0.01;

/// The stamps of one traffic.
pub(crate) struct Probing {
    sent: Arc<SentStamps>,
    received: ReceivedStamps,
    by: StampClock,
    _cards: Vec<StampingCard>,
}

/// What was stamped, before it is known by which clock it is judged.
struct Found {
    probes: u64,
    left: Vec<Stamped>,
    arrived: Vec<Stamped>,
}

impl Probing {
    /// Begins to stamp the frames of a sample that leave by `out` and arrive at `back`.
    pub(crate) fn begin((out, back): (&str, &str), probes: Probes, by: StampClock) -> Result<Self> {
        let cards = match by {
            StampClock::Software => Vec::new(),
            StampClock::Hardware => switched_on(&[out, back])?,
        };
        let probes = Arc::new(probes);
        let sent = SentStamps::open(out, probes.clone()).map_err(words)?;
        let received = ReceivedStamps::open(back, probes).map_err(words)?;
        Ok(Self { sent, received, by, _cards: cards })
    }

    /// The port that sends them. To close it takes some ms, so that it is used where it is needed only.
    pub(crate) fn port(&self, out: &str, pool: &Pool) -> Result<Box<dyn Port>> {
        let port = PacketPort::open(out, pool.clone()).map_err(words)?;
        Ok(Box::new(port.stamping(self.sent.clone())))
    }

    /// Fetches what has come, for there is no room for all.
    pub(crate) fn collect(&mut self) {
        self.received.collect();
    }

    /// What the stamps say when all frames have come.
    pub(crate) fn end(mut self) -> Probed {
        let by = self.by;
        self.found().judged(by)
    }

    fn found(&mut self) -> Found {
        let (probes, left) = self.sent.take();
        Found { probes, left, arrived: self.received.take() }
    }
}

impl Found {
    fn judged(&self, by: StampClock) -> Probed {
        let (took, backwards) = joined(&self.left, &self.arrived, by);
        let stamped = took.len() as u64;
        Probed { by, probes: self.probes, stamped, backwards, figures: figures(took) }
    }

    /// How long the stamps of what was sent span, by one clock.
    fn span_ns(&self, by: StampClock) -> Option<u64> {
        let times = || self.left.iter().filter_map(|stamped| by.of(&stamped.stamp));
        Some(times().max()? - times().min()?)
    }
}

impl StampClock {
    fn of(self, stamp: &stamps::Stamp) -> Option<u64> {
        match self {
            Self::Hardware => stamp.hardware_ns,
            Self::Software => stamp.software_ns,
        }
    }
}

/// How long each frame took that has both stamps, and how many would have arrived before they left: a clock
/// was set meanwhile. A key that stands twice on a side is nobody's.
fn joined(left: &[Stamped], arrived: &[Stamped], by: StampClock) -> (Vec<u64>, u64) {
    let by_key = |all: &[Stamped]| {
        let mut times: BTreeMap<u64, Option<u64>> = BTreeMap::new();
        for stamped in all {
            let Some(ns) = by.of(&stamped.stamp) else { continue };
            let time = times.entry(stamped.key);
            time.and_modify(|twice| *twice = None).or_insert(Some(ns));
        }
        times
    };
    let (left, mut took, mut backwards) = (by_key(left), Vec::new(), 0);
    for (key, arrived) in by_key(arrived) {
        let (Some(arrived), Some(Some(left))) = (arrived, left.get(&key)) else { continue };
        match arrived.checked_sub(*left) {
            Some(ns) => took.push(ns),
            None => backwards += 1,
        }
    }
    (took, backwards)
}

/// Percentiles by rank: of few frames the highest are the longest.
fn figures(mut took: Vec<u64>) -> Option<LatencyFigures> {
    took.sort_unstable();
    let (&minimum_ns, &maximum_ns) = (took.first()?, took.last()?);
    let at = |share: f64| {
        let rank = (share * took.len() as f64).ceil() as usize;
        took[rank.clamp(1, took.len()) - 1]
    };
    Some(LatencyFigures {
        frames: took.len() as u64,
        minimum_ns,
        median_ns: at(0.5),
        p99_ns: at(0.99),
        p99_9_ns: at(0.999),
        p99_99_ns: at(0.9999),
        maximum_ns,
    })
}

fn switched_on(ports: &[&str]) -> Result<Vec<StampingCard>> {
    ports.iter().map(|port| StampingCard::switch_on(port).map_err(words)).collect()
}

/// Which stamps the trials are to use, and what they add.
pub(crate) fn prove(order: &StampOrder, pool: &Pool, stop: &AtomicBool) -> Result<StampProof> {
    let software =
        |floor, why: &str| StampProof { by: StampClock::Software, floor, why: why.to_owned() };
    let Some(cable) = &order.cable else {
        return Ok(software(None, "no loopback in [tester] names two ports that a cable joins"));
    };
    let mut ports = vec![&order.out, &order.back];
    ports.extend(cable.iter().map(|port| &port.name));
    let abilities: Vec<Ability> =
        ports.iter().map(|port| stamps::ability(port).unwrap_or_default()).collect();
    let mut why_not = why_not(&abilities);
    let names: Vec<&str> = cable.iter().map(|port| port.name.as_str()).collect();
    let mut cards = Vec::new();
    if why_not.is_none() {
        match switched_on(&names) {
            Ok(on) => cards = on,
            Err(why) => why_not = Some(why),
        }
    }
    let found = over_cable(cable, pool, stop)?;
    drop(cards);
    let floor = found.judged(StampClock::Software).figures;
    match why_not.or_else(|| misfit(&found)) {
        Some(why) => Ok(software(floor, &why)),
        None => Ok(StampProof {
            by: StampClock::Hardware,
            floor: found.judged(StampClock::Hardware).figures,
            why: "the cable between the loopback ports has shown it".to_owned(),
        }),
    }
}

/// Why cards cannot stamp what is measured, as their drivers say.
fn why_not(ports: &[Ability]) -> Option<String> {
    let can = |port: &Ability| port.hardware_send && port.hardware_receive;
    if !ports.iter().all(can) {
        return Some("not every port stamps all frames (ethtool -T)".to_owned());
    }
    let clock = ports.first().and_then(|port| port.clock);
    let is_one = clock.is_some() && ports.iter().all(|port| port.clock == clock);
    (!is_one).then(|| "the ports do not share one clock of a card".to_owned())
}

/// Why the stamps of cards that came over a cable are not believed.
fn misfit(found: &Found) -> Option<String> {
    let seen = found.judged(StampClock::Hardware);
    let Probed { probes, stamped, backwards, figures, .. } = seen;
    if probes == 0 || (stamped as f64) < ENOUGH * probes as f64 {
        return Some(format!("over the cable {stamped} of {probes} frames had stamps of the card"));
    }
    let longest = figures.map_or(0, |figures| figures.p99_ns);
    if backwards > 0 || longest > LONGEST_CABLE_NS {
        return Some(format!(
            "over the cable frames took {longest} ns by the card, and {backwards} arrived before they left"
        ));
    }
    let spans = (found.span_ns(StampClock::Hardware)?, found.span_ns(StampClock::Software)?);
    let apart = (spans.0 as f64 / spans.1.max(1) as f64 - 1.0).abs();
    (apart > CLOCK_SHARE).then(|| format!("the card's clock is {:.1} % off", 100.0 * apart))
}

/// Frames from one end of a cable to the other, all of them stamped.
fn over_cable(cable: &[CablePort; 2], pool: &Pool, stop: &AtomicBool) -> Result<Found> {
    let [from, to] = cable;
    let flows = FlowSet::parse("198.18.0.1:2000", "198.19.0.1:2000").map_err(words)?;
    let mut plan = TrafficPlan::new(vec![Stream::new(flows)]);
    plan.load = Load::Pps(CABLE_PPS);
    plan.source_mac = from.mac.parse().map_err(words)?;
    plan.device_mac = to.mac.parse().map_err(words)?;
    (plan.arrival_mac, plan.hops) = (plan.device_mac, 0);
    (plan.duration_ns, plan.interval_ns) = (CABLE_NS, CABLE_NS / 10);
    (plan.frames_in_flight, plan.batch) = (256, 1);
    let ends = (from.name.as_str(), to.name.as_str());
    let mut probing = Probing::begin(ends, Probes::every(1), StampClock::Software)?;
    let back: Box<dyn Port> = Box::new(PacketPort::open(&to.name, pool.clone()).map_err(words)?);
    let out = probing.port(&from.name, pool)?;
    let mut tester = Tester::new(&plan, pool, out, back).map_err(words)?;
    tester.run(stop, &mut |_| probing.collect());
    Ok(probing.found())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_port::stamps::Stamp;

    /// A frame stamped by both clocks, of which the card's began elsewhere.
    fn stamped(key: u64, ns: u64) -> Stamped {
        let stamp = Stamp { software_ns: Some(1_000_000 + ns), hardware_ns: Some(77 + ns) };
        Stamped { key, stamp }
    }

    /// Frames that leave every 500 us and take as long as said by the card, 9 us longer by the kernel.
    fn found(took_ns: impl Fn(u64) -> u64) -> Found {
        let left: Vec<_> = (0..100).map(|key| stamped(key, key * 500_000)).collect();
        let arrived = left.iter().map(|stamped| {
            let mut stamped = *stamped;
            let add = |ns: u64, more: u64| Some(ns + took_ns(stamped.key) + more);
            stamped.stamp = Stamp {
                hardware_ns: stamped.stamp.hardware_ns.and_then(|ns| add(ns, 0)),
                software_ns: stamped.stamp.software_ns.and_then(|ns| add(ns, 9_000)),
            };
            stamped
        });
        Found { probes: 100, arrived: arrived.collect(), left }
    }

    const CARD: Ability = Ability {
        software_send: true,
        hardware_send: true,
        hardware_receive: true,
        clock: Some(0),
    };

    #[test]
    fn stamps_of_a_card_are_believed_when_a_cable_has_shown_that_they_fit() {
        assert_eq!(why_not(&[CARD; 4]), None);
        let right = found(|key| 400 + key % 8);
        assert_eq!(misfit(&right), None);
        let by_card = right.judged(StampClock::Hardware).figures.expect("figures");
        assert_eq!((by_card.minimum_ns, by_card.maximum_ns), (400, 407));
        let by_kernel = right.judged(StampClock::Software).figures.expect("figures");
        assert_eq!(by_kernel.minimum_ns, 9_400);
    }

    #[test]
    fn what_a_card_cannot_do_is_named() {
        let deaf = Ability { hardware_receive: false, ..CARD };
        assert!(why_not(&[CARD, deaf, CARD, CARD]).expect("a reason").contains("not every port"));
        let other = Ability { clock: Some(1), ..CARD };
        assert!(why_not(&[CARD, other, CARD, CARD]).expect("a reason").contains("one clock"));
        let none = Ability { clock: None, ..CARD };
        assert!(why_not(&[none; 4]).expect("a reason").contains("one clock"));
    }

    #[test]
    fn stamps_that_do_not_come_or_do_not_fit_are_not_believed() {
        let mut few = found(|_| 400);
        few.arrived.iter_mut().take(20).for_each(|stamped| stamped.stamp.hardware_ns = None);
        assert!(misfit(&few).expect("a reason").contains("80 of 100"));
        let slow = found(|_| 3_000_000);
        assert!(misfit(&slow).expect("a reason").contains("3000000 ns"));
        let mut early = found(|_| 400);
        early.arrived[7].stamp.hardware_ns = Some(1);
        assert!(misfit(&early).expect("a reason").contains("1 arrived before"));
        let mut stopped = found(|_| 400);
        let still = |stamped: &mut Stamped| stamped.stamp.hardware_ns = Some(5);
        stopped.left.iter_mut().chain(&mut stopped.arrived).for_each(still);
        assert!(misfit(&stopped).expect("a reason").contains("clock"));
        assert!(misfit(&Found { probes: 0, left: vec![], arrived: vec![] }).is_some());
    }

    #[test]
    fn a_lost_stamp_is_no_loss_and_a_key_that_stands_twice_is_nobodys() {
        let mut all = found(|_| 400);
        all.left.remove(0);
        all.left[0].stamp.software_ns = None;
        all.arrived.push(all.arrived[50]);
        let seen = all.judged(StampClock::Software);
        assert_eq!((seen.probes, seen.stamped, seen.backwards), (100, 97, 0));
        assert_eq!(figures(Vec::new()), None);
    }
}
