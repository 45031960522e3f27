//! What the receiver found.

use serde::{Deserialize, Serialize};

/// What the receiver found in the frames that it looked into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    /// Frames looked into.
    pub checked: u64,
    /// Frames of a flow that never came, by their sequence numbers; of those that went astray see `astray`.
    pub lost: u64,
    /// Frames that came more than once.
    pub duplicated: u64,
    /// Frames that came after a later one of their flow.
    pub reordered: u64,
    /// Frames that came out of the wrong port or belong to no planned flow.
    pub misrouted: u64,
    /// Of those misrouted, frames of a flow that came by another port than that behind which their destination
    /// lies. They count neither as received nor as lost: sent = received + astray + lost. Journals of earlier
    /// versions have them among those received, or those lost.
    #[serde(skip_serializing_if = "is_none")]
    pub astray: u64,
    /// Of those astray, frames that came back on the side of their senders, from which they had left.
    #[serde(skip_serializing_if = "is_none")]
    pub returned: u64,
    /// Frames whose TTL or hop limit was not one less than sent.
    pub bad_ttl: u64,
    /// Frames with a wrong checksum.
    pub bad_checksum: u64,
    /// Frames with a wrong source or destination MAC address.
    pub bad_mac: u64,
    /// Frames whose payload is not what was sent; journals of earlier versions have them among
    /// `bad_checksum`.
    #[serde(skip_serializing_if = "is_none")]
    pub bad_payload: u64,
}

impl Checks {
    /// What was wrong with frames that came; one with two faults counts twice.
    pub fn wrong(&self) -> u64 {
        let Self { duplicated, reordered, misrouted, bad_ttl, .. } = *self;
        let Self { bad_checksum, bad_mac, bad_payload, .. } = *self;
        [duplicated, reordered, misrouted, bad_ttl, bad_checksum, bad_mac, bad_payload]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// What there is none of is not written: journals of earlier versions stay byte for byte.
pub(crate) fn is_none(count: &u64) -> bool {
    *count == 0
}
