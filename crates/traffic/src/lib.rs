//! The tester: flows, frames, pacing, sender and receiver with checks.
//!
//! A [`TrafficPlan`] says what a trial sends: [`Stream`]s of flows ([`FlowSet`]), frame sizes
//! ([`FrameSizes`]) and order ([`Order`]), at a [`Load`]. A [`Tester`] runs it between two ports
//! of a device and yields an [`Outcome`]: counts by interval, totals, what the checks of
//! each frame found, and how far the tester was from being the limit itself.
//!
//! Instead of streams it may send the frames of a [`Capture`], mapped onto addresses of the
//! experiment ([`Recording`]).
//!
//! [`Sender`] and [`Receiver`] are its halves, for testers of other shapes. This crate never
//! sees the router: the measured and the measurer must not share mistakes.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod burst;
mod checks;
mod duplex;
mod error;
mod fan;
mod fit;
mod flow_frame;
mod flows;
mod frames;
mod inspect;
mod lane;
mod latency;
mod layout;
mod load;
mod numbering;
mod order;
mod outcome;
mod pacer;
mod paths;
mod plan;
mod prepared;
#[cfg(target_os = "linux")]
mod probes;
mod receiver;
mod recorded;
mod replay;
pub mod rounds;
mod segments;
mod sender;
mod sequence;
pub mod size;
mod template;
mod tester;
mod time;
mod words;

pub use burst::{BurstOutcome, Burster, longest_burst};
pub use checks::Checks;
pub use duplex::{AnyDuplex, Duplex};
pub use error::TrafficError;
pub use fan::{Behind, Came, Fans};
pub use fit::{Arrival, Fit};
pub use flow_frame::{Carried, FrameOf, TTL, flow_frame, header_len, tcp_data_bytes};
pub use flows::{Endpoints, Family, FlowSet};
pub use fwdlab_wire::lab::{DEVICE_MACS, OTHER_PATH_MAC, TESTER_MACS, mac_of};
pub use latency::LatencySummary;
pub use load::Load;
pub use order::Order;
pub use outcome::{FaultyFlow, Gap, IntervalCounts, Outcome, StreamOutcome};
pub use pacer::{Lapse, Pacing};
pub use paths::{AnyPathWatch, PathSeen, PathWatch, PathsSeen};
pub use plan::{LoadChange, Stream, TrafficPlan, WayBack};
#[cfg(target_os = "linux")]
pub use probes::Probes;
pub use receiver::Receiver;
pub use recorded::{Capture, CaptureError, LeftOut, Recording};
pub use replay::{Replay, ReplayPlan, ReplayResult};
pub use segments::{Segment, Segments};
pub use sender::Sender;
pub use sequence::FlowFaults;
pub use size::FrameSizes;
pub use tester::{AnyTester, Tester};
pub use time::TimeSource;
