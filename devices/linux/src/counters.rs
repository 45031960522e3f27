//! What the kernel counts in the device's namespace: frames of its ports, and why packets were
//! dropped.

use std::collections::BTreeMap;

use super::setup::DEVICE;
use crate::error::WentBack;
use fwdlab_counters::{StackCounters, backlog_drops, processed};
use fwdlab_experiment::MOST_PORTS;
use fwdlab_results::counter;
use fwdlab_topology::{LinkCounters, Testbed, TopologyError, port_name};

/// Of these, by the names in [`Change::drops`], what counts packets on their way out, the namespace's own
/// among them.
const OWN_DISCARDS: [&str; 2] = ["Ip.OutDiscards", "Ip6OutDiscards"];

/// All counters at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DeviceCounters {
    ports: [LinkCounters; MOST_PORTS as usize],
    packets: Option<u64>,
    own: u64,
    backlog_drops: Option<u64>,
    processed: Vec<(u32, u64)>,
    drops: Option<BTreeMap<String, u64>>,
}

/// What happened between two instants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Change {
    /// Frames handed to port 0, or to the ports of both sides where frames go both ways, those that they had no room for
    /// included, where somebody counts them.
    pub(super) received: Option<u64>,
    /// Packets that reached IP, where the kernel says it.
    pub(super) packets: Option<u64>,
    /// Messages that the namespace sent of its own accord, by any port.
    pub(super) own: u64,
    /// Frames for which a processor's backlog had no room, those of other interfaces included,
    /// where the kernel says it.
    pub(super) backlog_drops: Option<u64>,
    /// Frames sent by port 1, or by both.
    pub(super) sent: u64,
    /// Frames handed to the port where each of two ways begins, and sent by that where it ends.
    pub(super) ways: Vec<[u64; 2]>,
    /// Frames that each processor took, of all interfaces of the machine.
    pub(super) processed: Vec<(u32, u64)>,
    /// Dropped by the device, by reason.
    pub(super) drops: BTreeMap<String, u64>,
    /// Whether those of IP are among them: the kernel may not say.
    pub(super) has_reasons: bool,
}

/// What was added to the counter of that name.
fn added(name: &str, before: u64, after: u64) -> Result<u64, WentBack> {
    counter::added(before, after).ok_or_else(|| WentBack { name: name.to_owned(), before, after })
}

impl DeviceCounters {
    /// Reads them, of so many ports.
    pub(super) fn read(testbed: &mut Testbed, count: u16) -> Result<Self, TopologyError> {
        let mut ports = [LinkCounters::default(); MOST_PORTS as usize];
        for (own, number) in ports.iter_mut().zip(0..count) {
            *own = testbed.counters(DEVICE, &port_name(number))?;
        }
        let stack = testbed
            .namespace(DEVICE)?
            .run(StackCounters::read)
            .map_err(TopologyError::kernel("read the device's counters"))?;
        let softnet = std::fs::read_to_string("/proc/net/softnet_stat").ok();
        Ok(Self {
            ports,
            packets: stack.packets(),
            own: stack.own(),
            backlog_drops: softnet.as_deref().map(backlog_drops),
            processed: softnet.as_deref().map(processed).unwrap_or_default(),
            drops: stack.drops(),
        })
    }

    /// What was added since `before`, where frames went one way, or both.
    ///
    /// # Errors
    /// A counter that went backwards: nobody knows what it counted.
    pub(super) fn since(&self, before: &Self, is_both: bool) -> Result<Change, WentBack> {
        let port = |at: usize| {
            let (now, then) = (&self.ports[at], &before.ports[at]);
            let own = |what: &str, then, now| added(&format!("port{at}.{what}"), then, now);
            let full = own("rx_dropped", then.rx_dropped, now.rx_dropped)?;
            Ok(Moved {
                received: own("rx_packets", then.rx_frames, now.rx_frames)? + full,
                full,
                sent: own("tx_packets", then.tx_frames, now.tx_frames)?,
                refused: own("tx_dropped", then.tx_dropped, now.tx_dropped)?,
                filtered: own("rx_qdisc_dropped", then.rx_queue_dropped, now.rx_queue_dropped)?,
                queued: own("tx_qdisc_dropped", then.tx_queue_dropped, now.tx_queue_dropped)?,
            })
        };
        let all: Vec<Moved> = (0..self.ports.len()).map(port).collect::<Result<_, _>>()?;
        let side = |of: usize, count: fn(&Moved) -> u64| -> u64 {
            all.iter().skip(of).step_by(2).map(count).sum()
        };
        let (into, out) = (|own: &Moved| own.received, |own: &Moved| own.sent);
        let [near, far] = [0, 1].map(|of| [side(of, into), side(of, out)]);
        let reasons = self.drops.as_ref().zip(before.drops.as_ref());
        let mut drops = BTreeMap::new();
        for (name, now) in reasons.map(|(now, _)| now).into_iter().flatten() {
            // One that was not there before has counted who knows what.
            if let Some(then) = reasons.and_then(|(_, then)| then.get(name)) {
                drops.insert(name.clone(), added(name, *then, *now)?);
            }
        }
        for (at, own) in all.iter().enumerate() {
            let is_near = at % 2 == 0;
            if is_near || is_both {
                drops.insert(format!("port{at}.rx_dropped"), own.full);
                drops.insert(format!("port{at}.rx_qdisc_dropped"), own.filtered);
            }
            if !is_near || is_both {
                drops.insert(format!("port{at}.tx_dropped"), own.refused);
                drops.insert(format!("port{at}.tx_qdisc_dropped"), own.queued);
            }
        }
        let (mut received, mut sent, mut ways) = (near[0], far[1], Vec::new());
        if is_both {
            (received, sent) = (received + far[0], sent + near[1]);
            ways = vec![[near[0], far[1]], [far[0], near[1]]];
        }
        drops.retain(|_, count| *count > 0);
        let packets = self.packets.zip(before.packets);
        let then = |cpu: u32| before.processed.iter().find(|(own, _)| *own == cpu);
        Ok(Change {
            received: Some(received),
            packets: packets.map(|(now, then)| added("Ip.InReceives", then, now)).transpose()?,
            own: added("Icmp6Out", before.own, self.own)?,
            // Those of softnet_stat have 32 bits.
            backlog_drops: self
                .backlog_drops
                .zip(before.backlog_drops)
                .map(|(now, then)| counter::added_32(then, now)),
            sent,
            ways,
            processed: self
                .processed
                .iter()
                .map(|&(cpu, now)| (cpu, counter::added_32(then(cpu).map_or(0, |own| own.1), now)))
                .collect(),
            drops,
            has_reasons: reasons.is_some(),
        })
    }
}

/// What a port moved, what it had no room for included.
struct Moved {
    received: u64,
    full: u64,
    sent: u64,
    refused: u64,
    /// What the queueing disciplines of its input and of its output dropped.
    filtered: u64,
    queued: u64,
}

/// Most packets of its own that a namespace sends unseen, or discards, in a trial.
pub(super) const MOST_OWN: u64 = 64;

/// Takes packets of its own that the namespace discarded on their way out (multicast listener reports,
/// neighbour messages) from its drops. Each frame that came in was sent or dropped once: of what is beyond
/// that, so many were never among them. More, or drops of any other kind, stay, and the trial fails.
pub(super) fn leave_out_own(
    drops: &mut BTreeMap<String, u64>,
    received: Option<u64>,
    device_sent: u64,
) {
    let Some(received) = received else { return };
    let counted = drops.values().fold(device_sent, |sum, count| sum.saturating_add(*count));
    let mut beyond = counted.saturating_sub(received);
    if beyond > MOST_OWN {
        return;
    }
    for name in OWN_DISCARDS {
        if let Some(count) = drops.get_mut(name) {
            let own = beyond.min(*count);
            (*count, beyond) = (*count - own, beyond - own);
        }
    }
    drops.retain(|_, count| *count > 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_processor_took_is_counted_over_the_end_of_its_counter() {
        let at = |processed: &[(u32, u64)]| DeviceCounters {
            processed: processed.to_vec(),
            ..DeviceCounters::default()
        };
        let before = at(&[(0, 10), (1, 0xffff_fff0)]);
        let change = at(&[(0, 25), (1, 4), (2, 7)]).since(&before, false).expect("none went back");
        assert_eq!(change.processed, [(0, 15), (1, 20), (2, 7)]);
    }

    #[test]
    fn what_a_port_had_no_room_for_was_received_and_dropped() {
        let reasons = |count| Some([("Ip.InHdrErrors".to_owned(), count)].into());
        let before = DeviceCounters { drops: reasons(3), ..DeviceCounters::default() };
        let mut after = DeviceCounters { drops: reasons(7), ..DeviceCounters::default() };
        after.ports[0] = LinkCounters { rx_frames: 90, rx_dropped: 10, ..LinkCounters::default() };
        after.ports[1] = LinkCounters { tx_frames: 85, tx_dropped: 1, ..LinkCounters::default() };
        let since = |after: &DeviceCounters, is_both| {
            after.since(&before, is_both).expect("none went back")
        };
        let change = since(&after, false);
        assert_eq!((change.received, change.sent), (Some(100), 85));
        assert_eq!(change.drops.values().sum::<u64>(), 15);
        assert_eq!((change.packets, change.backlog_drops), (None, None), "nobody counted them");
        // What a shaper dropped of them, by a name of its own.
        let mut shaped = after.clone();
        (shaped.ports[0].rx_queue_dropped, shaped.ports[1].tx_queue_dropped) = (3, 4);
        let drops = since(&shaped, false).drops;
        assert_eq!((drops["port0.rx_qdisc_dropped"], drops["port1.tx_qdisc_dropped"]), (3, 4));
        // The way back, which nobody looks at where frames go one way only.
        after.ports[1].rx_frames = 40;
        after.ports[1].rx_dropped = 2;
        after.ports[0].tx_frames = 37;
        after.ports[0].tx_dropped = 3;
        assert_eq!(since(&after, false), change);
        let both = since(&after, true);
        assert_eq!((both.received, both.sent), (Some(142), 122));
        assert_eq!(both.ways, [[100, 85], [42, 37]]);
        assert_eq!(both.drops.values().sum::<u64>(), 20);
    }

    #[test]
    fn packets_of_its_own_that_a_namespace_discards_are_no_lost_frames() {
        let drops = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
            counts.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
        };
        let left = |counts, received, sent| {
            let mut drops = drops(counts);
            leave_out_own(&mut drops, received, sent);
            drops
        };
        // 100 came in, 97 went on, one had no route: two of four discarded were never among them.
        let all = [("Ip6OutDiscards", 4), ("Ip6OutNoRoutes", 1)];
        let rest = drops(&[("Ip6OutDiscards", 2), ("Ip6OutNoRoutes", 1)]);
        assert_eq!(left(&all, Some(100), 97), rest);
        assert_eq!(left(&[("Ip6OutDiscards", 1)], Some(100), 100), drops(&[]));
        // What adds up, what nobody counted, other drops, and very many stay as they are.
        assert_eq!(left(&all, Some(100), 95), drops(&all));
        assert_eq!(left(&all, None, 97), drops(&all));
        assert_eq!(left(&[("Ip6OutNoRoutes", 5)], Some(9), 9), drops(&[("Ip6OutNoRoutes", 5)]));
        let many = [("Ip6OutDiscards", 65)];
        assert_eq!(left(&many, Some(100), 100), drops(&many));
    }

    #[test]
    fn what_the_kernel_does_not_say_is_absent_and_not_0() {
        let files = |texts: [&str; 3]| StackCounters(texts.map(|text| Some(text.to_owned())));
        let none = files([""; 3]);
        assert_eq!((none.drops(), none.packets()), (Some(BTreeMap::new()), None));
        let some = files(["Ip: InReceives InHdrErrors\nIp: 8 2\n", "", "Ip6InNoRoutes 0\n"]);
        let found = [("Ip.InHdrErrors", 2), ("Ip6InNoRoutes", 0)];
        assert_eq!(some.drops(), Some(found.map(|(name, n)| (name.to_owned(), n)).into()));
        assert_eq!(some.packets(), Some(8), "IPv6 may be left out of a kernel");
        // A counter that was not there before has counted who knows what.
        let before = DeviceCounters { drops: Some(BTreeMap::new()), ..DeviceCounters::default() };
        let after = DeviceCounters { drops: some.drops(), ..before.clone() };
        assert_eq!(after.since(&before, false).expect("a change").drops, BTreeMap::new());
    }

    #[test]
    fn reasons_that_cannot_be_read_are_absent_and_not_none() {
        let own =
            |texts: [Option<&str>; 3]| StackCounters(texts.map(|text| text.map(str::to_owned)));
        let unreadable = own([None, Some(""), Some("Ip6InDiscards 3\n")]);
        assert_eq!((unreadable.drops(), unreadable.packets()), (None, None));
        let without_inet6 = own([Some("Ip: InDiscards\nIp: 4\n"), Some(""), None]);
        assert_eq!(without_inet6.drops(), Some([("Ip.InDiscards".to_owned(), 4)].into()));
        let after = DeviceCounters { drops: without_inet6.drops(), ..DeviceCounters::default() };
        let change = after.since(&DeviceCounters::default(), false).expect("a change");
        assert!(!change.has_reasons, "nobody read them before");
        assert!(after.since(&after, false).expect("a change").has_reasons);
    }

    #[test]
    fn a_counter_that_went_backwards_fails_the_trial_by_name() {
        let mut before = DeviceCounters::default();
        before.ports[1].tx_frames = 9;
        let why = DeviceCounters::default().since(&before, false).expect_err("it went back");
        let why = why.to_string();
        assert!(why.contains("port1.tx_packets went back from 9 to 0"), "{why}");
        let reason = |count| DeviceCounters {
            drops: Some([("Ip.InDiscards".to_owned(), count)].into()),
            ..DeviceCounters::default()
        };
        let why = reason(2).since(&reason(3), false).expect_err("it went back").to_string();
        assert!(why.contains("Ip.InDiscards"), "{why}");
        // Those of 32 bits come round.
        let backlog = |n| DeviceCounters { backlog_drops: Some(n), ..DeviceCounters::default() };
        let change = backlog(3).since(&backlog(u64::from(u32::MAX)), false).expect("a change");
        assert_eq!(change.backlog_drops, Some(4));
    }
}
