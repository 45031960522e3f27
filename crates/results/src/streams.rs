//! Streams of real stacks through a device: what they carried, lost and cost.

use serde::{Deserialize, Serialize};

use crate::interval::median;

/// Streams that went through the device in slices of time, and past it in others where its cost is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// How the senders avoid congestion, in the kernel's words (`cubic`).
    pub congestion: String,
    /// The longest payload of a segment, in bytes, as the stacks agreed on it.
    pub segment_bytes: u32,
    /// Frames that the device's port took from the senders, where it counted them; one may hold many
    /// segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_frames: Option<u64>,
    /// Packets that its IP took of them, after frames were merged, where the kernel says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_packets: Option<u64>,
    /// How long the processors of the device worked meanwhile, in ns, where it is a machine of its own and tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_busy_ns: Option<u64>,
    /// Each stream through the device, in the order of its flows.
    pub streams: Vec<Stream>,
    /// Slices of the counted time through the device.
    pub through: Vec<StreamSlice>,
    /// Slices past it, by a cable between the ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<StreamSlice>,
}

/// What one stream carried in the counted time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Bytes of payload that the receiver read.
    pub bytes: u64,
    /// Segments that its sender sent, those sent again included, where it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Segments sent again.
    pub again: u64,
    /// Segments that reached its receiver, where it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
}

/// A piece of the time, in which a processor had nothing to do but both ends and what lies between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSlice {
    /// Bytes of payload that the receivers read.
    pub bytes: u64,
    /// How long it took, in ns.
    pub ns: u64,
    /// How long of it ends and device had their processor, in ns; others ran in the rest. Absent where the
    /// kernel does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub had_ns: Option<u64>,
    /// How long no stream could send or had anything to read, in ns.
    pub idle_ns: u64,
    /// Whether the processor was slow meanwhile.
    #[serde(default)]
    pub is_slow: bool,
}

impl StreamSlice {
    /// The time in which ends and device had their processor, in ns; the whole where nobody knows.
    pub fn own_ns(&self) -> u64 {
        self.had_ns.unwrap_or(self.ns)
    }

    /// Busy nanoseconds for each byte.
    fn cost(&self) -> Option<f64> {
        let busy = self.own_ns().saturating_sub(self.idle_ns);
        (self.bytes > 0 && busy > 0).then(|| busy as f64 / self.bytes as f64)
    }
}

impl Streams {
    /// With fewer slices than this at full speed, all count.
    const FEWEST: usize = 4;

    /// Payload that all receivers read, in bit/s of the time in which ends and device had their processor:
    /// the whole of the slices in which it was not slow. Nothing when nothing came.
    pub fn goodput_bits_per_s(&self) -> Option<f64> {
        let kept = kept(&self.through);
        let sum = |of: fn(&StreamSlice) -> u64| kept.iter().map(of).sum::<u64>() as f64;
        let (bytes, ns) = (sum(|slice| slice.bytes), sum(StreamSlice::own_ns));
        (bytes > 0.0 && ns > 0.0).then(|| bytes * 8e9 / ns)
    }

    /// Payload that was read a second of the clock, time included in which others had the processor, in bit/s: a
    /// device that is limited by time (a policer, a shaper) goes on meanwhile.
    pub fn clock_bits_per_s(&self) -> Option<f64> {
        let kept = kept(&self.through);
        let sum = |of: fn(&StreamSlice) -> u64| kept.iter().map(of).sum::<u64>() as f64;
        let (bytes, ns) = (sum(|slice| slice.bytes), sum(|slice| slice.ns));
        (bytes > 0.0 && ns > 0.0).then(|| bytes * 8e9 / ns)
    }

    /// What a byte cost through the device, both ends included, in busy ns: the median of the slices.
    pub fn through_ns_per_byte(&self) -> Option<f64> {
        middle(&self.through)
    }

    /// What a byte cost past the device.
    pub fn past_ns_per_byte(&self) -> Option<f64> {
        middle(&self.past)
    }

    /// The device's part of the cost of a byte: what it says itself, or through it, less past it. Nothing where it
    /// spared the ends more than it cost itself.
    pub fn device_ns_per_byte(&self) -> Option<f64> {
        if let Some(busy) = self.device_busy_ns {
            let bytes: u64 = self.streams.iter().map(|stream| stream.bytes).sum();
            return (bytes > 0 && busy > 0).then(|| busy as f64 / bytes as f64);
        }
        let own = self.through_ns_per_byte()? - self.past_ns_per_byte()?;
        (own > 0.0).then_some(own)
    }

    /// Jain's index of fairness over the bytes of the streams: 1 when all carried the same, 1/n when one
    /// of n carried all. R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984): the square of the sum over n times
    /// the sum of the squares.
    pub fn fairness(&self) -> Option<f64> {
        let bytes = || self.streams.iter().map(|stream| stream.bytes as f64);
        let (sum, squares): (f64, f64) = (bytes().sum(), bytes().map(|x| x * x).sum());
        (squares > 0.0).then(|| sum * sum / (self.streams.len() as f64 * squares))
    }

    /// Segments sent again, of all that were sent, 0 to 1.
    pub fn again_share(&self) -> Option<f64> {
        let sent: u64 = self.streams.iter().map(|stream| stream.sent).sum::<Option<u64>>()?;
        let again: u64 = self.streams.iter().map(|stream| stream.again).sum();
        (sent > 0).then(|| again as f64 / sent as f64)
    }
}

/// The slices in which the processor was not slow, or all.
fn kept(slices: &[StreamSlice]) -> Vec<StreamSlice> {
    let fast: Vec<StreamSlice> = slices.iter().filter(|slice| !slice.is_slow).copied().collect();
    if fast.len() >= Streams::FEWEST { fast } else { slices.to_vec() }
}

fn middle(slices: &[StreamSlice]) -> Option<f64> {
    median(&kept(slices).iter().filter_map(StreamSlice::cost).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(bytes: u64, ns: u64) -> StreamSlice {
        StreamSlice { bytes, ns, ..StreamSlice::default() }
    }

    #[test]
    fn goodput_and_cost_are_of_the_slices_that_were_not_slow() {
        let slow = StreamSlice { is_slow: true, ..slice(10, 1000) };
        let idle = StreamSlice { idle_ns: 500, ..slice(1000, 1000) };
        let mut own = Streams {
            through: vec![slice(1000, 1000), slice(1000, 1000), slow, slice(1000, 1000), idle],
            past: vec![slice(1000, 400); 4],
            ..Streams::default()
        };
        assert_eq!(own.goodput_bits_per_s(), Some(8e9));
        // Half of the time others had the processor.
        let halved = |slice: &StreamSlice| StreamSlice { had_ns: Some(slice.ns / 2), ..*slice };
        let crowded =
            Streams { through: own.through.iter().map(halved).collect(), ..Streams::default() };
        assert_eq!(crowded.goodput_bits_per_s(), Some(16e9));
        assert_eq!(crowded.clock_bits_per_s(), Some(8e9));
        assert_eq!(
            own.through_ns_per_byte(),
            Some(1.0),
            "the time in which nothing moved is no cost"
        );
        let device = own.device_ns_per_byte().unwrap();
        assert!((device - 0.6).abs() < 1e-12, "{device}");
        own.past = vec![slice(1000, 1000); 4];
        assert_eq!(
            own.device_ns_per_byte(),
            None,
            "no figure where the device spares the ends as much"
        );
        own.through.clear();
        assert_eq!((own.goodput_bits_per_s(), own.through_ns_per_byte()), (None, None));
        let shared = StreamSlice { had_ns: Some(500), idle_ns: 100, ..slice(1000, 1000) };
        own.through = vec![shared];
        assert_eq!(
            own.goodput_bits_per_s(),
            Some(16e9),
            "what others took of the processor is not theirs"
        );
        assert_eq!(own.through_ns_per_byte(), Some(0.4));
        own.through = vec![slice(0, 1000)];
        assert_eq!((own.goodput_bits_per_s(), own.through_ns_per_byte()), (None, None));
    }

    #[test]
    fn a_device_that_tells_its_own_work_has_the_cost_of_a_byte_by_that() {
        let stream = |bytes| Stream { bytes, ..Stream::default() };
        let own = Streams {
            device_busy_ns: Some(300),
            streams: vec![stream(100), stream(500)],
            through: vec![slice(600, 1000); 4],
            ..Streams::default()
        };
        assert_eq!(own.device_ns_per_byte(), Some(0.5));
        assert_eq!(Streams { device_busy_ns: Some(0), ..own }.device_ns_per_byte(), None);
    }

    #[test]
    fn fairness_is_jains_index() {
        let of = |bytes: &[u64]| {
            let stream = |bytes: &u64| Stream { bytes: *bytes, ..Stream::default() };
            Streams { streams: bytes.iter().map(stream).collect(), ..Streams::default() }.fairness()
        };
        assert_eq!(of(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(of(&[20, 0, 0, 0]), Some(0.25));
        // (1 + 3)^2 / (2 * (1 + 9))
        assert_eq!(of(&[1, 3]), Some(0.8));
        assert_eq!((of(&[0, 0]), of(&[])), (None, None));
    }

    #[test]
    fn what_was_sent_again_is_a_share_of_what_was_sent() {
        let stream = |sent, again| Stream { sent, again, ..Stream::default() };
        let of = |streams| Streams { streams, ..Streams::default() }.again_share();
        assert_eq!(of(vec![stream(Some(90), 9), stream(Some(10), 1)]), Some(0.1));
        assert_eq!(of(vec![stream(Some(90), 9), stream(None, 1)]), None, "nobody counted all");
        assert_eq!(Streams::default().again_share(), None);
    }
}
