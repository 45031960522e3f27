//! Redirects: a host on the link could have reached the next hop itself, and is told so
//! (RFC 1812, sections 4.3.3.2 and 5.2.7.2; RFC 4861, section 8). Off unless
//! `net.inet.ip.redirect` or `net.inet6.ip6.redirect` is 1.

use fwdlab_fib::NexthopId;
use fwdlab_port::Frame;
use fwdlab_wire::{MacAddr, ethernet, icmpv4, icmpv6, ipv4, ipv6, ndisc};

use crate::answer::OWN_TTL;
use crate::checks::L3;
use crate::fate::{Decision, Hop};
use crate::plane::Plane;

/// Code of a redirect for one host, the only ones that a router may send (RFC 1812, section
/// 4.3.3.2: network redirects are obsolete).
const CODE_HOST: u8 = 1;
/// As much of the packet as is quoted to an IPv4 host: header with options, and 8 bytes.
const MOST_QUOTED: usize = 68;
/// RFC 4861, section 4.5.
pub(crate) const REDIRECT6: u8 = 137;
/// Type, checksum, reserved, target, destination.
const REDIRECT6_LEN: usize = 40;
/// RFC 4861, section 4.6.1: type, length in units of 8 bytes, MAC address.
const MAC_OPTION_LEN: usize = 8;

impl Plane {
    /// Tells the sender of an IPv4 packet that `hop` is on its own link, if that is so. The
    /// packet is as it came in.
    pub(crate) fn redirect_inet(&mut self, input: u8, frame: &Frame, hop: Hop, via: NexthopId) {
        if hop.port != input || !self.has_redirects {
            return;
        }
        let Ok(packet) = ipv4::Packet::parse(&frame[L3..]) else { return };
        let (source, destination) = (packet.source(), packet.destination());
        let gateway = match via {
            NexthopId::NONE => Some(destination),
            via => self.inet_view(input).neighbours.try_lock().and_then(|all| all.gateway(via)),
        };
        let Some(gateway) = gateway else { return };
        // Source and next hop are on one network, whose address of ours is the message's source.
        let networks = &self.config(input).inet;
        let shared =
            networks.iter().find(|at| at.network.contains(source) && at.network.contains(gateway));
        let Some(own) = shared.map(|at| at.address).filter(|_| source != gateway) else { return };
        let Ok(Decision::Send(back, _)) = self.decide_inet(input, source, 0) else { return };
        if !self.icmp_limit.take(self.now_ns) {
            return;
        }
        let quoted = frame.len().min(L3 + MOST_QUOTED);
        let quoted = &frame[L3..quoted];
        let len = ipv4::HEADER_LEN + icmpv4::HEADER_LEN + quoted.len();
        let Some(mut message) = self.fresh_frame(L3 + len) else { return };
        let ether_type = ethernet::TYPE_IPV4.to_be_bytes();
        message[12..L3].copy_from_slice(&ether_type);
        let Ok(mut packet) = ipv4::Packet::prepare(&mut message[L3..], len as u16) else { return };
        packet.set_traffic_class(0xc0);
        packet.set_ttl(OWN_TTL);
        packet.set_protocol(icmpv4::PROTOCOL);
        packet.set_source(own);
        packet.set_destination(source);
        packet.fill_checksum();
        let Ok(mut redirect) = icmpv4::Packet::parse(packet.payload_mut()) else { return };
        redirect.set_kind(icmpv4::REDIRECT, CODE_HOST);
        redirect.set_rest(gateway);
        redirect.payload_mut().copy_from_slice(quoted);
        redirect.fill_checksum();
        self.originate(message, back);
    }

    /// The same for IPv6. Hosts only believe redirects to destinations themselves or to
    /// link-local addresses of routers, so there are no others.
    pub(crate) fn redirect_inet6(&mut self, input: u8, frame: &Frame, hop: Hop, via: NexthopId) {
        if hop.port != input || !self.has_redirects6 {
            return;
        }
        let Ok(packet) = ipv6::Packet::parse(&frame[L3..]) else { return };
        let (source, destination) = (packet.source(), packet.destination());
        let target = match via {
            NexthopId::NONE => Some(destination),
            via => self.inet6_view(input).neighbours.try_lock().and_then(|all| all.gateway(via)),
        };
        let is_believed = |target: &u128| *target == destination || ipv6::is_link_local(*target);
        let Some(target) = target.filter(is_believed) else { return };
        let is_on_link = self.config(input).inet6.iter().any(|at| at.network.contains(source));
        if !(is_on_link || ipv6::is_link_local(source)) || source == target {
            return;
        }
        let Ok(Decision::Send(back, _)) = self.back_inet6(input, frame, source) else { return };
        if !self.icmp6_limit.take(self.now_ns) {
            return;
        }
        let len = REDIRECT6_LEN + MAC_OPTION_LEN;
        let Some(mut message) = self.fresh_frame(L3 + ipv6::HEADER_LEN + len) else { return };
        let own = self.config(input).link_local();
        if write_redirect6(&mut message, (own, source), (target, destination), hop.mac).is_some() {
            self.originate(message, back);
        }
    }
}

/// Writes a redirect, all but its MAC addresses.
fn write_redirect6(
    frame: &mut Frame,
    (own, source): (u128, u128),
    (target, destination): (u128, u128),
    mac: MacAddr,
) -> Option<()> {
    let len = frame.len() - L3 - ipv6::HEADER_LEN;
    ethernet::Frame::parse(&mut frame[..]).ok()?.set_ether_type(ethernet::TYPE_IPV6);
    let mut packet = ipv6::Packet::prepare(&mut frame[L3..], len as u16).ok()?;
    packet.set_next_header(icmpv6::NEXT_HEADER);
    packet.set_hop_limit(ndisc::HOP_LIMIT);
    packet.set_source(own);
    packet.set_destination(source);
    let pseudo = packet.pseudo_sum();
    let mut message = icmpv6::Packet::parse(packet.payload_mut()).ok()?;
    message.set_kind(REDIRECT6, 0);
    let body = message.payload_mut();
    body[..16].copy_from_slice(&target.to_be_bytes());
    body[16..32].copy_from_slice(&destination.to_be_bytes());
    body[32..34].copy_from_slice(&[ndisc::OPTION_TARGET_MAC, 1]);
    body[34..40].copy_from_slice(&mac.0);
    message.fill_checksum(pseudo);
    Some(())
}
