//! What the receiver found.

/// Counters of the receiver's checks.
///
/// The first 64 bytes of every frame, that is all headers, are compared with what must arrive of
/// its flow: destination MAC address, TTL or hop limit, IPv4 header checksum, addresses, ports,
/// lengths and sequence number; all but the source MAC address and the UDP checksum. One frame of [`Checks::WHOLE_EVERY`], at least, and every frame that is not
/// right or not next in its flow is also read field by field, its UDP checksum is verified
/// over the whole payload, and the payload is compared with what was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Destination MAC address not the tester's.
    pub wrong_mac: u64,
    /// TTL or hop limit not exactly one less than sent.
    pub wrong_ttl: u64,
    /// IPv4 header checksum wrong.
    pub bad_checksum: u64,
    /// Length fields that do not fit the frame, options, fragments, or a changed traffic class.
    pub wrong_header: u64,
    /// IP frames that belong to no flow of the plan.
    pub unknown_flow: u64,
    /// Frames of a flow that came by another port than that behind which their destination lies; none of them
    /// counts as received.
    pub misrouted: u64,
    /// Of those misrouted, frames that came back on the side of their senders.
    pub returned: u64,
    /// Frames whose whole payload was looked at.
    pub read_whole: u64,
    /// Frames found with a wrong UDP checksum, or another payload than was sent.
    pub bad_payload: u64,
    /// Frames received again.
    pub duplicated: u64,
    /// Frames that came after a later one of their flow.
    pub reordered: u64,
    /// Frames that are no test traffic: ARP, neighbour discovery, ICMP and others.
    pub foreign: u64,
}

impl Checks {
    /// At least one frame in this many has its whole payload verified; all, once one was found wrong.
    pub const WHOLE_EVERY: u64 = 256;

    /// The sum of these and others.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            wrong_mac: self.wrong_mac + other.wrong_mac,
            wrong_ttl: self.wrong_ttl + other.wrong_ttl,
            bad_checksum: self.bad_checksum + other.bad_checksum,
            wrong_header: self.wrong_header + other.wrong_header,
            unknown_flow: self.unknown_flow + other.unknown_flow,
            misrouted: self.misrouted + other.misrouted,
            returned: self.returned + other.returned,
            read_whole: self.read_whole + other.read_whole,
            bad_payload: self.bad_payload + other.bad_payload,
            duplicated: self.duplicated + other.duplicated,
            reordered: self.reordered + other.reordered,
            foreign: self.foreign + other.foreign,
        }
    }

    /// So many of the unknown flows are of the other way, of which these are: there they are misrouted, and came back.
    pub(crate) fn give(&mut self, turned: u64, other: &mut Self) {
        self.unknown_flow = self.unknown_flow.saturating_sub(turned);
        other.misrouted += turned;
        other.returned += turned;
    }

    /// Whether nothing was wrong. Foreign frames and lost ones are no fault of a received frame.
    pub fn is_clean(&self) -> bool {
        self.faults() == 0
    }

    /// The number of faults of all kinds.
    pub fn faults(&self) -> u64 {
        self.named().iter().map(|&(_, count)| count).sum()
    }

    /// Each kind of fault with its count, for reports.
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("wrong MAC address", self.wrong_mac),
            ("wrong TTL or hop limit", self.wrong_ttl),
            ("bad IPv4 checksum", self.bad_checksum),
            ("wrong header", self.wrong_header),
            ("unknown flow", self.unknown_flow),
            ("misrouted", self.misrouted),
            ("bad payload", self.bad_payload),
            ("duplicated", self.duplicated),
            ("reordered", self.reordered),
        ]
    }
}
