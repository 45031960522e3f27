//! Recorded traffic: the frames of a capture sent through the device under test.
//!
//! [`Capture`] reads the file, [`Recording`] maps its addresses onto the experiment's. Headers,
//! protocols, ports, lengths and payloads stay as recorded, so that a device meets the real mix. At
//! the end of a payload that has room for it, eight bytes become a mark (number of the frame in the
//! recording, and in its flow), by which loss, order and changed bytes are seen; frames without room
//! are known by their headers, and counted.

mod capture;
mod receiver;
mod recording;
mod segment;
mod sender;

pub use capture::{Capture, CaptureError, LeftOut};
pub(crate) use receiver::RecordedReceiver;
pub use recording::Recording;
pub(crate) use sender::RecordedSender;
