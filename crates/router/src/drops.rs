//! Why a frame was dropped: one reason, one counter each.

/// Declares the reasons with their printed names and documentation in one place.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal,)+) => {
        /// Why the router dropped a frame. Every frame in is a frame out, a frame kept for the
        /// router itself, or one drop with one of these reasons.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum DropReason {
            $($(#[$doc])* $reason,)+
        }

        impl DropReason {
            /// All reasons, in the order of their counters.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$reason,)+];

            /// The name in reports and control words.
            pub const fn name(self) -> &'static str {
                match self { $(DropReason::$reason => $name,)+ }
            }
        }
    };
}

reasons! {
    /// The frame ends before its headers do.
    FrameTooShort = "frame-too-short",
    /// The destination MAC address is another station's.
    WrongMac = "wrong-mac",
    /// The Ethernet type is none that the router speaks.
    UnknownEtherType = "unknown-ether-type",
    /// The VLAN tag names no VLAN of the port.
    UnknownVlan = "unknown-vlan",
    /// An IP unicast packet in a frame to a MAC group (RFC 1812, section 5.3.4).
    UnicastInGroupFrame = "unicast-in-group-frame",
    /// IP version other than the Ethernet type says.
    BadVersion = "bad-version",
    /// IPv4 header length below 20 bytes or beyond the packet.
    BadHeaderLength = "bad-header-length",
    /// Total or payload length beyond the frame, or below the header's.
    BadTotalLength = "bad-total-length",
    /// IPv4 header checksum is wrong.
    BadChecksum = "bad-checksum",
    /// IPv4 options that are broken, or source routes, which the router refuses.
    BadOptions = "bad-options",
    /// The source address may not appear on a wire.
    MartianSource = "martian-source",
    /// The destination address may not be forwarded to.
    MartianDestination = "martian-destination",
    /// Link-local source or destination: never leaves its link.
    LinkLocal = "link-local",
    /// Multicast, which this router does not forward.
    Multicast = "multicast",
    /// Limited or directed broadcast (RFC 2644).
    Broadcast = "broadcast",
    /// Time to live or hop limit used up.
    TtlExpired = "ttl-expired",
    /// No route to the destination.
    NoRoute = "no-route",
    /// The route says: drop.
    Blackhole = "blackhole",
    /// The route says: refuse, as what cannot be reached.
    Reject = "reject",
    /// The route says: refuse, as what is forbidden.
    Prohibited = "prohibited",
    /// Longer than the output port's MTU and not to be fragmented.
    TooBig = "too-big",
    /// The frame's memory has no room for the tag or message that it is to get.
    NoRoom = "no-room",
    /// The MAC address of the next hop is not known.
    Unresolved = "unresolved",
    /// The route leads to a port that this worker does not have.
    NoSuchPort = "no-such-port",
    /// The output port and its queue are full.
    OutputQueueFull = "output-queue-full",
    /// More packets to the router itself than it takes per second, or more than may wait while
    /// somebody else has the table of neighbours.
    SlowPathFull = "slow-path-full",
    /// A packet to the router itself in a protocol that it does not speak.
    NoSuchProtocol = "no-such-protocol",
    /// A UDP datagram to the router itself: nobody listens.
    NoSuchService = "no-such-service",
    /// A fragment to the router itself that does not fit the others: it overlaps, is too short or
    /// lies beyond the end. Its packet's others are lost with it (RFC 5722).
    BadFragment = "bad-fragment",
    /// Fragments to the router itself that gave way to newer ones.
    ReassemblyFull = "reassembly-full",
    /// Fragments to the router itself whose others never came.
    ReassemblyTimeout = "reassembly-timeout",
    /// A malformed or unwanted packet to the router itself.
    NotAccepted = "not-accepted",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_names_are_in_one_order_and_distinct() {
        for (index, reason) in DropReason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, index);
            assert!(DropReason::ALL[..index].iter().all(|other| other.name() != reason.name()));
        }
    }
}
