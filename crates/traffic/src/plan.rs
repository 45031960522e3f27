//! What a trial sends, as data.

use std::sync::Arc;

use fwdlab_wire::MacAddr;

use crate::error::TrafficError;
use crate::flows::FlowSet;
use crate::load::Load;
use crate::order::Order;
use crate::recorded::Recording;
use crate::size::FrameSizes;

/// One kind of traffic within a trial: its flows, frame sizes and order.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// The flows.
    pub flows: FlowSet,
    /// Frame sizes.
    pub sizes: FrameSizes,
    /// Order of the flows in time.
    pub order: Order,
    /// Share of the frames among the streams of the trial, 1 to 1000.
    pub weight: u32,
}

impl Stream {
    /// Smallest frames, flows one after the other, weight 1.
    pub fn new(flows: FlowSet) -> Self {
        Self { flows, sizes: FrameSizes::min(), order: Order::Sequential, weight: 1 }
    }
}

/// Another load from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadChange {
    /// Since sending began, in ns.
    pub after_ns: u64,
    /// Frames/s from then on.
    pub pps: f64,
}

/// The way back, where frames go both ways at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayBack {
    /// The device's MAC address on the side of the destinations.
    pub device_mac: MacAddr,
    /// Destination MAC address expected on arrival there: the tester's, on the side of the sources.
    pub arrival_mac: MacAddr,
}

/// One trial's traffic. [`TrafficPlan::new`] fills in the defaults; change fields as needed.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPlan {
    /// The streams; several families in one trial are dual stack.
    pub streams: Vec<Stream>,
    /// Frames of a capture instead of streams.
    pub recording: Option<Arc<Recording>>,
    /// Offered load, all streams together.
    pub load: Load,
    /// Another load later; only where the first one is not [`Load::Max`].
    pub change: Option<LoadChange>,
    /// MAC address that the tester sends from.
    pub source_mac: MacAddr,
    /// MAC address that the tester sends to: the device's, on the sending side.
    pub device_mac: MacAddr,
    /// Destination MAC address expected on arrival: the tester's, on the receiving side.
    pub arrival_mac: MacAddr,
    /// Frames go the other way, too, each flow turned round; the load and the frames in flight are
    /// those of both ways together, half of them each.
    pub way_back: Option<WayBack>,
    /// The streams are those of a full mesh: frames leave by every port and come back by every port.
    pub is_mesh: bool,
    /// TTL or hop limit as sent.
    pub ttl: u8,
    /// Routers on the way: so much less TTL must arrive. 0 is a cable, to test the tester.
    pub hops: u8,
    /// How long frames are sent, in ns.
    pub duration_ns: u64,
    /// Length of an interval in ns.
    pub interval_ns: u64,
    /// After sending, the tester waits for frames until none has come for this long, in ns.
    pub drain_ns: u64,
    /// Frames that circulate between tester and device.
    pub frames_in_flight: usize,
    /// After so many polls without a frame, at least one, the tester sends what it has, however little, and
    /// takes frames that the device gave back to the pool.
    pub patience: u32,
    /// At load `max`, the fewest frames that are published at once, 1 to 256.
    pub batch: usize,
    /// Put a time stamp into each frame and record latency.
    pub latency: bool,
    /// Seed of random orders.
    pub seed: u64,
}

impl TrafficPlan {
    /// Largest number of streams.
    pub const MAX_STREAMS: usize = 16;

    /// The seed of a plan that names no other.
    pub const SEED: u64 = 1;

    /// A plan with the defaults: load max, TTL 64, 1 s in intervals of 100 ms, 2048 frames in
    /// flight, batches of at least 64.
    pub fn new(streams: Vec<Stream>) -> Self {
        Self {
            streams,
            recording: None,
            load: Load::Max,
            change: None,
            source_mac: MacAddr::numbered(1),
            device_mac: MacAddr::numbered(2),
            arrival_mac: MacAddr::numbered(1),
            way_back: None,
            is_mesh: false,
            ttl: 64,
            hops: 1,
            duration_ns: 1_000_000_000,
            interval_ns: 100_000_000,
            drain_ns: 20_000_000,
            frames_in_flight: 2048,
            patience: 64,
            batch: 64,
            latency: false,
            seed: Self::SEED,
        }
    }

    /// A plan with the defaults that sends the frames of a capture, over and over.
    pub fn replaying(recording: Arc<Recording>) -> Self {
        Self { recording: Some(recording), ..Self::new(Vec::new()) }
    }

    /// The asked rate in frames/s; `None` for load max.
    ///
    /// # Errors
    /// A frame length out of its family's range.
    pub fn frames_per_second(&self) -> Result<Option<f64>, TrafficError> {
        if let Some(recording) = &self.recording {
            return Ok(self.load.frames_per_second_of(recording));
        }
        let (mut bytes, mut weights) = (0.0, 0.0);
        for stream in &self.streams {
            let weight = f64::from(stream.weight);
            bytes += weight * stream.sizes.mean_len(stream.flows.family())?;
            weights += weight;
        }
        Ok(self.load.frames_per_second(bytes / weights))
    }

    /// Checks all fields.
    ///
    /// # Errors
    /// The first field out of range.
    pub fn check(&self) -> Result<(), TrafficError> {
        let wrong = |field, got, wanted| Err(TrafficError::Plan { field, got, wanted });
        match &self.recording {
            None if !(1..=Self::MAX_STREAMS).contains(&self.streams.len()) => {
                return Err(TrafficError::Streams { limit: Self::MAX_STREAMS });
            }
            None if self.load == Load::Recorded => {
                return wrong("load", 0, "another than \"recorded\" without a capture");
            }
            Some(_) if !self.streams.is_empty() => {
                return wrong("streams", self.streams.len() as u64, "0 beside a recording");
            }
            Some(recording)
                if self.load == Load::Recorded && recording.recorded_pps().is_none() =>
            {
                return wrong("load", 0, "a rate: all frames of the capture have the same time");
            }
            Some(recording) if self.latency && recording.stamped() == 0 => {
                return wrong(
                    "latency",
                    0,
                    "off: no frame of the capture has room for a time stamp",
                );
            }
            _ => {}
        }
        for stream in &self.streams {
            stream.sizes.lengths(stream.flows.family())?;
            if !(1..=1000).contains(&stream.weight) {
                return wrong("weight", u64::from(stream.weight), "1 to 1000");
            }
        }
        if self.ttl <= self.hops {
            return wrong(
                "ttl",
                u64::from(self.ttl),
                "more than the hops, each of which takes one",
            );
        }
        if self.interval_ns == 0 {
            return wrong("interval_ns", 0, "at least 1");
        }
        if !(1..=256).contains(&self.batch) {
            return wrong("batch", self.batch as u64, "1 to 256 frames");
        }
        if self.patience == 0 {
            return wrong("patience", 0, "at least 1");
        }
        if self.frames_in_flight < self.batch {
            return wrong("frames_in_flight", self.frames_in_flight as u64, "at least the batch");
        }
        self.check_overlap()
    }

    /// Two streams with a flow in common would spoil each other's sequence numbers.
    fn check_overlap(&self) -> Result<(), TrafficError> {
        let overlap = |a: &crate::Endpoints, b: &crate::Endpoints| {
            a.first() <= b.last()
                && b.first() <= a.last()
                && u32::from(a.first_port()) < u32::from(b.first_port()) + b.ports()
                && u32::from(b.first_port()) < u32::from(a.first_port()) + a.ports()
        };
        for (at, one) in self.streams.iter().enumerate() {
            for two in &self.streams[..at] {
                let (one, two) = (&one.flows, &two.flows);
                if one.family() == two.family()
                    && overlap(one.source(), two.source())
                    && overlap(one.destination(), two.destination())
                {
                    let wanted = "a stream without flows of another stream";
                    return Err(TrafficError::Plan { field: "streams", got: at as u64, wanted });
                }
            }
        }
        Ok(())
    }

    /// The plans of the two ways, each with half the load and half the frames in flight; nothing where
    /// frames go one way only.
    ///
    /// # Errors
    /// The frames of a capture have no way back; a frame length is out of its family's range.
    pub fn ways(&self) -> Result<Option<[Self; 2]>, TrafficError> {
        let Some(way_back) = self.way_back else { return Ok(None) };
        if self.recording.is_some() {
            let wanted = "streams: the frames of a capture have no way back";
            return Err(TrafficError::Plan { field: "way_back", got: 1, wanted });
        }
        let load = self.frames_per_second()?.map_or(Load::Max, |pps| Load::Pps(pps / 2.0));
        let change = self.change.map(|own| LoadChange { pps: own.pps / 2.0, ..own });
        let frames_in_flight = self.frames_in_flight / 2;
        let ahead = Self { way_back: None, load, change, frames_in_flight, ..self.clone() };
        let turned = |stream: &Stream| Stream { flows: stream.flows.turned(), ..stream.clone() };
        let back = Self {
            streams: self.streams.iter().map(turned).collect(),
            source_mac: self.arrival_mac,
            device_mac: way_back.device_mac,
            arrival_mac: way_back.arrival_mac,
            ..ahead.clone()
        };
        Ok(Some([ahead, back]))
    }

    /// Mean and largest frame length without FCS, over all streams.
    pub(crate) fn longest(&self) -> Result<usize, TrafficError> {
        let recording = self.recording.as_ref();
        let mut longest = recording.map_or(0, |it| it.longest() - fwdlab_wire::ethernet::FCS_LEN);
        for stream in &self.streams {
            for (len, _) in stream.sizes.lengths(stream.flows.family())? {
                longest = longest.max(len - fwdlab_wire::ethernet::FCS_LEN);
            }
        }
        Ok(longest)
    }
}
