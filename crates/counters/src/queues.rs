//! Frames by receive queue, as drivers count them.

use std::collections::BTreeMap;

use fwdlab_results::{Queue, counter};

/// Frames that each queue of a port received, by its number.
pub type Queues = BTreeMap<u32, u64>;

/// How counters of `ethtool -S` are named that count the frames of one queue, around its number: igb,
/// ixgbe, ice, virtio_net; i40e and iavf; mlx4, mlx5; ena. From these drivers' documentation and sources.
const FORMS: [(&str, &str); 5] = [
    ("rx_queue_", "_packets"),
    ("rx-", ".packets"),
    ("rx-", ".rx_packets"),
    ("rx", "_packets"),
    ("queue_", "_rx_cnt"),
];

/// The same as patterns of the shell, wider than what is read.
pub(crate) const PATTERNS: &str =
    "rx_queue_*_packets:|rx-*.packets:|rx-*.rx_packets:|rx[0-9]*_packets:|queue_*_rx_cnt:";

/// The number of the queue and its frames, of a line `NAME: COUNT`; nothing for another counter.
pub(crate) fn counted(line: &str) -> Option<(u32, u64)> {
    let (name, count) = line.split_once(':')?;
    let number = FORMS.iter().find_map(|(before, after)| {
        let digits = name.strip_prefix(before)?.strip_suffix(after)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    });
    Some((number?, count.trim().parse().ok()?))
}

/// What was added to each queue; nothing where it is not known of every one, or only one is counted.
pub(crate) fn added(before: &Queues, after: &Queues) -> Vec<Queue> {
    let more = after.iter().map(|(number, now)| {
        let frames = counter::added(*before.get(number)?, *now)?;
        Some(Queue { name: format!("queue {number}"), frames })
    });
    let all: Option<Vec<Queue>> = more.collect();
    all.filter(|all| all.len() > 1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_known_by_the_names_that_drivers_give_them() {
        for (line, wanted) in [
            ("rx_queue_0_packets: 12", Some((0, 12))),
            ("rx-3.packets: 7", Some((3, 7))),
            ("rx-3.rx_packets: 7", Some((3, 7))),
            ("rx11_packets: 5", Some((11, 5))),
            ("queue_2_rx_cnt: 9", Some((2, 9))),
            ("rx_packets: 100", None),
            ("rx_queue_0_xdp_packets: 100", None),
            ("rx_queue_0_bytes: 100", None),
            ("tx_queue_0_packets: 100", None),
            ("rx_queue_+1_packets: 100", None),
            ("rx_queue_0_packets: many", None),
        ] {
            assert_eq!(counted(line), wanted, "{line}");
        }
    }

    #[test]
    fn what_was_added_is_known_of_all_queues_or_of_none() {
        let queues = |counts: &[u64]| -> Queues { (0..).zip(counts.iter().copied()).collect() };
        let found = added(&queues(&[10, 20]), &queues(&[110, 20]));
        let frames: Vec<(&str, u64)> =
            found.iter().map(|queue| (queue.name.as_str(), queue.frames)).collect();
        assert_eq!(frames, [("queue 0", 100), ("queue 1", 0)]);
        assert_eq!(added(&queues(&[10]), &queues(&[20, 30])), [], "one was not read before");
        assert_eq!(added(&queues(&[10, 30]), &queues(&[20, 20])), [], "one went backwards");
        assert_eq!(added(&queues(&[10]), &queues(&[20])), [], "there is nothing to share");
    }
}
