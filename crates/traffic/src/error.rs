//! What can be wrong with a traffic description; running traffic cannot fail, it counts.

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// A range of addresses and ports that cannot be read or makes no sense.
    #[error("address range \"{text}\": {reason}; write it as {example}")]
    Range {
        /// The text as given.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
        /// A right one of the same family.
        example: &'static str,
    },
    /// Source and destination of different families.
    #[error(
        "source \"{from}\" and destination \"{to}\" are of different families; use two IPv4 or two IPv6 ranges"
    )]
    Families {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// Too many flows.
    #[error("{flows} flows are more than {limit}; narrow a range")]
    TooManyFlows {
        /// Flows asked for.
        flows: u64,
        /// The largest number.
        limit: u64,
    },
    /// A frame length out of range.
    #[error("frame length {len} bytes (with FCS) is out of range; {family} takes {min} to {max}")]
    FrameLen {
        /// The length asked for, with FCS.
        len: usize,
        /// "IPv4" or "IPv6".
        family: &'static str,
        /// The smallest.
        min: usize,
        /// The largest.
        max: usize,
    },
    /// Text that is no frame size.
    #[error(
        "frame size \"{text}\" is not understood; write min, imix, a length in bytes with FCS such as 512, or a mix such as 64:7,594:4,1518:1"
    )]
    FrameSize {
        /// The text as given.
        text: String,
    },
    /// Text that is no load.
    #[error(
        "load \"{text}\" is not understood; write max, a frame rate such as 500kpps or a line rate such as 1Gbps"
    )]
    Load {
        /// The text as given.
        text: String,
    },
    /// Text that is no order.
    #[error("order \"{text}\" is not understood; write sequential, random or zipf(1.0)")]
    Order {
        /// The text as given.
        text: String,
    },
    /// A plan without traffic.
    #[error("no traffic: give at least one stream and at most {limit}")]
    Streams {
        /// The largest number of streams.
        limit: usize,
    },
    /// A number of the plan out of range.
    #[error("traffic plan: {field} is {got}, must be {wanted}")]
    Plan {
        /// Field of the plan.
        field: &'static str,
        /// Its value.
        got: u64,
        /// The range allowed.
        wanted: &'static str,
    },
    /// Frames that do not fit the pool's slots.
    #[error(
        "frames of {len} bytes do not fit pool slots of {capacity} bytes; make the pool with a larger capacity"
    )]
    SlotTooSmall {
        /// Frame length without FCS.
        len: usize,
        /// What a slot holds.
        capacity: usize,
    },
    /// A pool with too few free frames.
    #[error(
        "the pool has {available} free frames, the traffic needs {needed}; make the pool larger"
    )]
    PoolTooSmall {
        /// Free frames.
        available: usize,
        /// Frames needed.
        needed: usize,
    },
    /// Latency needs room for a time stamp in each frame.
    #[error(
        "frames of {len} bytes have no room for a time stamp; latency in IPv6 needs at least {min} bytes (with FCS)"
    )]
    NoTimestamp {
        /// The length, with FCS.
        len: usize,
        /// The smallest with a time stamp.
        min: usize,
    },
}
