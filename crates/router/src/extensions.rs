//! IPv6 extension headers (RFC 8200, section 4): where the packet proper begins, and what their
//! options ask of a node that does not know them.

use fwdlab_wire::{icmpv6, ipv6, udp};

/// Next header values.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
pub(crate) const NOTHING: u8 = 59;
const DESTINATION: u8 = 60;

/// Most extension headers of a packet that are looked through.
const MOST: usize = 16;

/// What a packet carries behind its extension headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Upper {
    /// Of the last extension header, or of the packet if it has none.
    pub(crate) protocol: u8,
    /// Where it begins in the payload, bytes.
    pub(crate) at: usize,
}

/// What stands behind the extension headers; `None` when that cannot be told: they do not end in
/// the packet, or it is a fragment other than the first.
pub(crate) fn upper_layer(packet: &ipv6::Packet<&[u8]>) -> Option<Upper> {
    let payload = packet.payload();
    let mut upper = Upper { protocol: packet.next_header(), at: 0 };
    for _ in 0..MOST {
        let header = match upper.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT | AUTHENTICATION => {
                payload.get(upper.at..upper.at + 8)?
            }
            _ => return Some(upper),
        };
        let len = match upper.protocol {
            FRAGMENT if u16::from_be_bytes([header[2], header[3]]) >> 3 != 0 => return None,
            FRAGMENT => 8,
            // RFC 4302, section 2.2: in units of 4 bytes, less 2.
            AUTHENTICATION => 4 * (usize::from(header[1]) + 2),
            _ => 8 * (usize::from(header[1]) + 1),
        };
        upper = Upper { protocol: header[0], at: upper.at + len };
    }
    None
}

/// Whether data that begins with this header has all headers, and the first byte of what they carry
/// (RFC 8200, section 4.5, asks for them in the first fragment).
pub(crate) fn has_upper_layer(first: u8, data: &[u8]) -> bool {
    let mut upper = Upper { protocol: first, at: 0 };
    for _ in 0..MOST {
        let len = match (upper.protocol, data.get(upper.at + 1)) {
            (FRAGMENT, _) => 8,
            (AUTHENTICATION, Some(&len)) => 4 * (usize::from(len) + 2),
            (HOP_BY_HOP | ROUTING | DESTINATION, Some(&len)) => 8 * (usize::from(len) + 1),
            (HOP_BY_HOP | ROUTING | DESTINATION | AUTHENTICATION, None) => return false,
            (protocol, _) => {
                return data.len() >= upper.at + least_header(protocol);
            }
        };
        let Some(&next) = data.get(upper.at) else { return false };
        upper = Upper { protocol: next, at: upper.at + len };
    }
    false
}

/// Bytes of an upper-layer header at least.
fn least_header(protocol: u8) -> usize {
    const TCP: u8 = 6;
    match protocol {
        TCP => 20,
        udp::PROTOCOL => udp::HEADER_LEN,
        icmpv6::NEXT_HEADER => icmpv6::HEADER_LEN,
        NOTHING => 0,
        _ => 1,
    }
}

/// Whether this is a fragment other than the first of what is no ICMPv6 message, as far as it says.
pub(crate) fn is_rest_of_other(packet: &ipv6::Packet<&[u8]>) -> bool {
    let payload = packet.payload();
    let mut upper = Upper { protocol: packet.next_header(), at: 0 };
    for _ in 0..MOST {
        let Some(header) = payload.get(upper.at..upper.at + 8) else { return false };
        let len = match upper.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => 8 * (usize::from(header[1]) + 1),
            FRAGMENT => {
                return !matches!(
                    header[0],
                    HOP_BY_HOP
                        | ROUTING
                        | FRAGMENT
                        | AUTHENTICATION
                        | DESTINATION
                        | icmpv6::NEXT_HEADER
                );
            }
            _ => return false,
        };
        upper = Upper { protocol: header[0], at: upper.at + len };
    }
    false
}

/// What the extension headers of a packet for this router come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upshot {
    /// Nothing stands in the way of what they carry, which the field at this place of the packet names.
    Pass(Upper, usize),
    /// A fragment, at this place of the payload.
    Fragment(usize),
    /// Drop it and say nothing.
    Drop,
    /// Drop it and tell the sender: code of the parameter problem, and place in the packet.
    Problem(u8, usize),
}

/// Codes of a parameter problem (RFC 4443, section 3.4).
const CODE_FIELD: u8 = 0;
pub(crate) const CODE_NEXT_HEADER: u8 = 1;
pub(crate) const CODE_OPTION: u8 = 2;

/// Looks through the extension headers of a packet for this router.
pub(crate) fn read(packet: &ipv6::Packet<&[u8]>) -> Upshot {
    let payload = packet.payload();
    let mut upper = Upper { protocol: packet.next_header(), at: 0 };
    let mut named_at = ipv6::NEXT_HEADER;
    for _ in 0..MOST {
        let Upper { protocol, at } = upper;
        if !matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT) {
            return Upshot::Pass(upper, named_at);
        }
        // RFC 8200, section 4: it stands behind the IPv6 header or nowhere.
        if protocol == HOP_BY_HOP && at > 0 {
            return Upshot::Problem(CODE_NEXT_HEADER, named_at);
        }
        if protocol == FRAGMENT {
            return Upshot::Fragment(at);
        }
        let Some(header) = payload.get(at..at + 8) else { return Upshot::Drop };
        let end = at + 8 * (usize::from(header[1]) + 1);
        let Some(options) = payload.get(at + 2..end) else { return Upshot::Drop };
        match protocol {
            // RFC 8200, section 4.4: no type is known here; one with nothing left is skipped.
            ROUTING if header[3] != 0 => {
                return Upshot::Problem(CODE_FIELD, ipv6::HEADER_LEN + at + 2);
            }
            ROUTING => {}
            _ => {
                let is_group = ipv6::is_multicast(packet.destination());
                if let Some(upshot) = options_upshot(options, ipv6::HEADER_LEN + at + 2, is_group) {
                    return upshot;
                }
            }
        }
        upper = Upper { protocol: header[0], at: end };
        named_at = ipv6::HEADER_LEN + at;
    }
    Upshot::Drop
}

/// RFC 8200, section 4.2: what is to be done about an option that is not known says its type.
fn options_upshot(mut options: &[u8], mut at: usize, is_group: bool) -> Option<Upshot> {
    const PAD1: u8 = 0;
    const PADN: u8 = 1;
    /// RFC 2711: for routers that look closer, which this one does with all packets to itself.
    const ROUTER_ALERT: u8 = 5;
    while let Some(&kind) = options.first() {
        let len = match kind {
            PAD1 => 1,
            _ => match options.get(1) {
                Some(&len) => usize::from(len) + 2,
                None => return Some(Upshot::Drop),
            },
        };
        match (kind, kind >> 6) {
            (PAD1 | PADN | ROUTER_ALERT, _) | (_, 0) => {}
            (_, 2) => return Some(Upshot::Problem(CODE_OPTION, at)),
            (_, 3) if !is_group => return Some(Upshot::Problem(CODE_OPTION, at)),
            _ => return Some(Upshot::Drop),
        }
        let Some(rest) = options.get(len..) else { return Some(Upshot::Drop) };
        (options, at) = (rest, at + len);
    }
    None
}
