//! Where a packet goes: what the FIB says of its destination, and the addresses of the frame that
//! takes it there.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::MacAddr;

use crate::adjacency::{Adjacency, Kind, unpack_mac};
use crate::drops::DropReason;
use crate::fate::{DROPPED, Decision, Hop, Refusal};
use crate::plane::Plane;
use crate::tagging::tag;

impl Plane {
    /// What the FIB of port `input` says about an IPv4 destination.
    pub(crate) fn decide_inet(
        &mut self,
        input: u8,
        destination: u32,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet_view(input);
        let (id, adjacency) = view.nexthop(destination, flow);
        follow(id, adjacency, |port| view.known_mac(port, destination))
    }

    /// The same for a packet that was counted before.
    pub(crate) fn decide_again_inet(
        &mut self,
        input: u8,
        destination: u32,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet_view(input);
        let (id, adjacency) = view.way(destination, flow);
        follow(id, adjacency, |port| view.known_mac(port, destination))
    }

    /// The same for an IPv6 packet.
    pub(crate) fn decide_again_inet6(
        &mut self,
        input: u8,
        destination: u128,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet6_view(input);
        let (id, adjacency) = view.way(destination, flow);
        follow(id, adjacency, |port| view.known_mac(port, destination))
    }

    /// What the FIB of port `input` says about an IPv6 destination.
    pub(crate) fn decide_inet6(
        &mut self,
        input: u8,
        destination: u128,
        flow: u32,
    ) -> Result<Decision, DropReason> {
        let view = self.inet6_view(input);
        let (id, adjacency) = view.nexthop(destination, flow);
        let decision = follow(id, adjacency, |port| view.known_mac(port, destination))?;
        // The first address of a connected network is every router's on it (RFC 4291, section
        // 2.6.1). Not a route of its own: that would cost every lookup in a small table.
        let is_connected = matches!(
            decision,
            Decision::Send(_, NexthopId::NONE) | Decision::Resolve { gateway: NexthopId::NONE, .. }
        );
        match is_connected && self.unicast_for(destination).is_some() {
            true => Ok(Decision::Local),
            false => Ok(decision),
        }
    }

    pub(crate) fn check_output(
        &self,
        decision: &Decision,
        packet_len: usize,
    ) -> Result<(), Refusal> {
        let (Decision::Send(Hop { port, .. }, _) | Decision::Resolve { port, .. }) = *decision
        else {
            return Ok(());
        };
        let output = self.facts(port);
        if !output.is_present() {
            return Err(DropReason::NoSuchPort.into());
        }
        let mtu = output.mtu() as usize;
        if packet_len > mtu { Err(Refusal { mtu, ..DropReason::TooBig.into() }) } else { Ok(()) }
    }

    /// Writes both MAC addresses, and the tag if the output port is a VLAN; returns the frame's
    /// fate, which is the output port unless there is no room for the tag.
    pub(crate) fn address(&self, frame: &mut Frame, hop: Hop) -> u8 {
        let output = self.facts(hop.port);
        frame[..6].copy_from_slice(&hop.mac.0);
        frame[6..12].copy_from_slice(&unpack_mac(output.packed_mac()).0);
        if output.vlan().is_some_and(|identifier| !tag(frame, identifier)) {
            self.counters.count_drop(DropReason::NoRoom);
            return DROPPED;
        }
        hop.port
    }

    /// Queues a frame that the router made.
    pub(crate) fn originate(&mut self, mut frame: Frame, hop: Hop) {
        let fate = self.address(&mut frame, hop);
        self.counters.originated.add(1);
        self.made.push((fate, frame));
    }
}

/// What an adjacency says to do; `known` finds the MAC address of the destination itself on a
/// connected port.
fn follow(
    id: NexthopId,
    adjacency: Adjacency,
    known: impl FnOnce(u8) -> Option<MacAddr>,
) -> Result<Decision, DropReason> {
    if id.is_none() {
        return Err(DropReason::NoRoute);
    }
    let port = adjacency.port();
    match adjacency.kind() {
        Kind::Forward => {
            Ok(Decision::Send(Hop { port, mac: unpack_mac(adjacency.packed_mac()) }, id))
        }
        Kind::Connected => Ok(match known(port) {
            Some(mac) => Decision::Send(Hop { port, mac }, NexthopId::NONE),
            None => Decision::Resolve { port, gateway: NexthopId::NONE },
        }),
        Kind::Unresolved => Ok(Decision::Resolve { port, gateway: id }),
        Kind::Local => Ok(Decision::Local),
        Kind::Blackhole => Err(DropReason::Blackhole),
        Kind::Reject => Err(DropReason::Reject),
        Kind::Prohibit => Err(DropReason::Prohibited),
        Kind::Broadcast => Err(DropReason::Broadcast),
        // A group's member was chosen before; a group within a group there is not.
        Kind::Group | Kind::None => Err(DropReason::NoRoute),
    }
}
