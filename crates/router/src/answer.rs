//! What the router itself sends: from which of its addresses, on which way, and as which fate.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, ipv4, ipv6};

use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{CONSUMED, DROPPED, Decision, Hop, Ruling};
use crate::plane::Plane;
use crate::waiting::Wait;

/// Hop limit of what the router sends itself (RFC 1700's recommended default TTL).
pub(crate) const OWN_TTL: u8 = 64;

impl Plane {
    /// Takes a place on the slow path, if the rate limit leaves one.
    pub(crate) fn admit(&mut self) -> Result<(), DropReason> {
        if self.slow_path.take(self.now_ns) { Ok(()) } else { Err(DropReason::SlowPathFull) }
    }

    /// The fate of a frame that was for the router and is done with.
    pub(crate) fn consume(&self) -> u8 {
        self.counters.consumed.add(1);
        CONSUMED
    }

    /// The fate of an IPv4 packet that the router has made: to its next hop, in fragments if need
    /// be, or held until that is found.
    pub(crate) fn leave_own_inet(
        &mut self,
        input: u8,
        frame: &mut Frame,
        decision: Decision,
    ) -> u8 {
        self.counters.originated.add(1);
        let destination =
            ipv4::Packet::parse(&frame[L3..]).map_or(0, |packet| packet.destination());
        let ruling = match decision {
            Decision::Send(hop, _) => self.leave_inet(frame, hop),
            Decision::Resolve { port, gateway } => {
                self.hold_inet(Wait { input, port, gateway, destination, is_own: true })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        };
        self.without_answer(ruling)
    }

    /// The fate of an IPv6 packet that the router has made. What is too big for its way is dropped.
    pub(crate) fn leave_own_inet6(
        &mut self,
        input: u8,
        frame: &mut Frame,
        decision: Decision,
    ) -> u8 {
        self.counters.originated.add(1);
        let (destination, total) = ipv6::Packet::parse(&frame[L3..]).map_or((0, 0), |packet| {
            (packet.destination(), ipv6::HEADER_LEN + usize::from(packet.payload_length()))
        });
        let ruling = self.check_output(&decision, total).and_then(|()| match decision {
            Decision::Send(hop, _) => Ok(self.address(frame, hop)),
            Decision::Resolve { port, gateway } => {
                self.hold_inet6(Wait { input, port, gateway, destination, is_own: true })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        });
        self.without_answer(ruling)
    }

    /// Nobody is told of what becomes of the router's own packets.
    fn without_answer(&self, ruling: Ruling) -> u8 {
        ruling.unwrap_or_else(|refusal| {
            self.counters.count_drop(refusal.reason);
            DROPPED
        })
    }

    /// The fate of a frame that was for the router and has become the reply.
    pub(crate) fn reply(&self, frame: &mut Frame, hop: Hop) -> u8 {
        self.counters.consumed.add(1);
        self.counters.originated.add(1);
        self.address(frame, hop)
    }

    /// The way back to the sender of an IPv6 packet. A link-local sender is on the link that its
    /// packet came from, at the MAC address that it came from.
    pub(crate) fn back_inet6(
        &mut self,
        input: u8,
        frame: &Frame,
        source: u128,
    ) -> Result<Decision, DropReason> {
        if ipv6::is_link_local(source) {
            let mac =
                ethernet::Frame::parse(&frame[..]).map_err(|_| DropReason::FrameTooShort)?.source();
            return Ok(Decision::Send(Hop { port: input, mac }, NexthopId::NONE));
        }
        self.decide_inet6(input, source, 0)
    }
}
