//! Frames by the queue, worker or processor that took them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One of several that share the frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Its name: `cpu0`.
    pub name: String,
    /// Frames that it took.
    pub frames: u64,
}

impl Queue {
    /// What [`of_pairs`](Self::of_pairs) is read back as.
    const PAIRS: &str = "frames from port to port";

    /// From how many times the mean on the fullest of so many has too much: twice; of two, where only all
    /// frames are twice the mean, nine tenths of them.
    pub fn too_much(queues: usize) -> f64 {
        (0.9 * queues as f64).min(2.0)
    }

    /// Frames that came back by each of a device's many ports, of the sides (even and odd ports) on which any did;
    /// `by_pair` is told from behind which port they came.
    pub fn of_ports(by_pair: &[Vec<u64>]) -> Vec<Self> {
        let of = |port: usize| {
            let frames = by_pair.iter().filter_map(|row| row.get(port)).sum();
            Self { name: format!("port{port}"), frames }
        };
        let all: Vec<Self> = (0..by_pair.len()).map(of).collect();
        let is_of = |port: usize| all.iter().skip(port % 2).step_by(2).any(|own| own.frames > 0);
        let sides = [is_of(0), is_of(1)];
        let all = all.into_iter().enumerate();
        all.filter(|(port, _)| sides[port % 2]).map(|(_, queue)| queue).collect()
    }

    /// Frames of each pair of ports between which any went, as what is read back: `0>1 250, 0>3 250`.
    pub fn of_pairs(by_pair: &[Vec<u64>]) -> Option<(String, String)> {
        let rows = by_pair.iter().enumerate();
        let pairs = rows.flat_map(|(from, row)| {
            row.iter().enumerate().map(move |(to, frames)| (from, to, *frames))
        });
        let told = pairs.filter(|(.., frames)| *frames > 0);
        let told: Vec<_> = told.map(|(from, to, own)| format!("{from}>{to} {own}")).collect();
        (!told.is_empty()).then(|| (Self::PAIRS.to_owned(), told.join(", ")))
    }

    /// Whether what [`of_pairs`](Self::of_pairs) told has frames from the side of the destinations, the odd ports.
    pub fn are_from_both_sides(read_back: &BTreeMap<String, String>) -> bool {
        let told = read_back.get(Self::PAIRS).map_or("", String::as_str);
        let mut from = told.split(", ").filter_map(|pair| pair.split_once('>')?.0.parse().ok());
        from.any(|port: u16| port % 2 == 1)
    }

    /// Whether what is read back by this name is a count, and no setting.
    pub fn is_count(word: &str) -> bool {
        word == Self::PAIRS || word.starts_with("tester's own ")
    }

    /// The fullest of several queues, and how many times the mean it took; `None` without at least
    /// two, or without a frame.
    pub fn fullest(queues: &[Self]) -> Option<(&Self, f64)> {
        let sum: f64 = queues.iter().map(|queue| queue.frames as f64).sum();
        let most = queues.iter().max_by_key(|queue| queue.frames)?;
        let mean = sum / queues.len() as f64;
        (queues.len() > 1 && mean > 0.0).then(|| (most, most.frames as f64 / mean))
    }

    /// The finding, where one took [too much](Self::too_much).
    pub fn warning(queues: &[Self]) -> Option<String> {
        let (most, times) = Self::fullest(queues)?;
        (times >= Self::too_much(queues.len())).then(|| {
            format!(
                "imbalance: {} took {:.1} times the mean of {} ({} frames): the rate is that of one, \
                 not of all",
                most.name,
                times,
                queues.len(),
                most.frames
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(frames: &[u64]) -> Vec<Queue> {
        let queue = |(at, &frames): (usize, &u64)| Queue { name: format!("cpu{at}"), frames };
        frames.iter().enumerate().map(queue).collect()
    }

    #[test]
    fn frames_of_pairs_of_ports_are_those_of_the_ports_by_which_they_came() {
        let by_pair = [vec![0, 5, 0, 7], vec![0; 4], vec![0, 6, 0, 8], vec![0; 4]];
        let ports = Queue::of_ports(&by_pair);
        let told: Vec<_> = ports.iter().map(|own| (own.name.as_str(), own.frames)).collect();
        assert_eq!(told, [("port1", 11), ("port3", 15)]);
        let (word, pairs) = Queue::of_pairs(&by_pair).expect("frames went");
        assert_eq!((&*word, &*pairs), (Queue::PAIRS, "0>1 5, 0>3 7, 2>1 6, 2>3 8"));
        assert_eq!((Queue::of_ports(&[]), Queue::of_pairs(&[vec![0]])), (Vec::new(), None));
    }

    #[test]
    fn only_between_all_ports_do_frames_come_from_both_sides() {
        let told = |told: &str| {
            let told = BTreeMap::from([(Queue::PAIRS.to_owned(), told.to_owned())]);
            Queue::are_from_both_sides(&told)
        };
        assert!(told("0>1 5, 0>2 7, 1>0 6"));
        assert!(!told("0>1 5, 0>3 7, 2>1 6, 2>3 8") && !told("") && !told("1 of >"));
    }

    /// One port of two took all frames, and the list had nobody to hold it against.
    #[test]
    fn a_port_without_a_frame_counts_among_those_of_its_side() {
        let by_pair = [vec![0, 9, 0, 0], vec![0; 4], vec![0, 9, 0, 0], vec![0; 4]];
        assert_eq!(Queue::of_ports(&by_pair).len(), 2);
        assert!(Queue::warning(&Queue::of_ports(&by_pair)).is_some());
    }

    #[test]
    fn one_with_twice_the_mean_is_a_warning() {
        let times = |frames: &[u64]| Queue::fullest(&queues(frames)).map(|(_, times)| times);
        assert_eq!(times(&[100, 100, 100, 300]), Some(2.0));
        let found = Queue::warning(&queues(&[100, 100, 100, 300])).unwrap();
        assert!(found.contains("cpu3 took 2.0 times the mean of 4 (300 frames)"), "{found}");
        assert_eq!(Queue::warning(&queues(&[100, 100, 100, 280])), None);
        assert_eq!(Queue::warning(&queues(&[100, 90])), None);
        assert!(Queue::warning(&queues(&[1, 1_000])).is_some());
        // An elephant with 99 % of the frames, and strangers' frames beside it.
        assert!(Queue::warning(&queues(&[5_845, 71_494])).is_some());
        assert_eq!(Queue::warning(&queues(&[15, 85])), None);
        // Nothing to be shared, and nothing to share.
        for none in [&[][..], &[7], &[0, 0, 0]] {
            assert_eq!((times(none), Queue::warning(&queues(none))), (None, None));
        }
        // Numbers of a stranger.
        assert!(times(&[u64::MAX, u64::MAX]).is_some_and(|times| times == 1.0));
    }
}
