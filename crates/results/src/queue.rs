//! Frames by the queue, worker or processor that took them.

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
    /// From how many times the mean on the fullest of so many has too much: twice; of two, where only all
    /// frames are twice the mean, nine tenths of them.
    pub fn too_much(queues: usize) -> f64 {
        (0.9 * queues as f64).min(2.0)
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
