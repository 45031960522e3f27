//! The rules for headers and addresses, each with its reason: what the general path applies in
//! order, and what the fast path's single condition must imply.

use fwdlab_wire::{ethernet, icmpv4, ipv4, ipv6};

use crate::drops::DropReason;
use crate::fate::{Problem, Refusal};

/// Where the IP header of an untagged frame starts.
pub(crate) const L3: usize = ethernet::HEADER_LEN;

/// RFC 1812, section 5.2.2: the header is one. There may be padding behind the packet.
pub(crate) fn inet(packet: &[u8]) -> Result<ipv4::Packet<&[u8]>, Refusal> {
    if packet.len() < ipv4::HEADER_LEN {
        return Err(DropReason::FrameTooShort.into());
    }
    if packet[0] >> 4 != 4 {
        return Err(DropReason::BadVersion.into());
    }
    let header_len = usize::from(packet[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if header_len < ipv4::HEADER_LEN || header_len > packet.len() {
        return Err(DropReason::BadHeaderLength.into());
    }
    if total < header_len || total > packet.len() {
        return Err(DropReason::BadTotalLength.into());
    }
    let packet = ipv4::Packet::parse(packet).map_err(|_| DropReason::BadTotalLength)?;
    if !packet.has_valid_checksum() {
        return Err(DropReason::BadChecksum.into());
    }
    inet_options(packet.options())?;
    Ok(packet)
}

/// Options must be well-formed; source routes are refused (RFC 7126, sections 4.3 and 4.4), all
/// others pass untouched. The refusal says which of them is at fault (RFC 1812, section 4.3.3.5).
fn inet_options(all: &[u8]) -> Result<(), Refusal> {
    const END: u8 = 0;
    const NOTHING: u8 = 1;
    const LOOSE_SOURCE_ROUTE: u8 = 131;
    const STRICT_SOURCE_ROUTE: u8 = 137;
    let mut at = 0;
    while let Some(&kind) = all.get(at) {
        let problem = |code| Problem { code, pointer: (ipv4::HEADER_LEN + at) as u32 };
        let refusal =
            |code| Refusal { problem: problem(code), ..Refusal::from(DropReason::BadOptions) };
        let len = match kind {
            END => return Ok(()),
            NOTHING => 1,
            LOOSE_SOURCE_ROUTE | STRICT_SOURCE_ROUTE => {
                return Err(refusal(icmpv4::CODE_SOURCE_ROUTE));
            }
            _ => usize::from(*all.get(at + 1).ok_or(refusal(0))?),
        };
        if (kind != NOTHING && len < 2) || at + len > all.len() {
            return Err(refusal(0));
        }
        at += len;
    }
    Ok(())
}

/// RFC 1812, sections 5.3.4, 5.3.5 and 5.3.7; RFC 3927, section 2.7; RFC 6890.
pub(crate) fn inet_addresses(source: u32, destination: u32) -> Result<(), DropReason> {
    if ipv4::is_martian_source(source) {
        return Err(DropReason::MartianSource);
    }
    if destination == u32::MAX {
        return Err(DropReason::Broadcast);
    }
    if ipv4::is_martian_destination(destination) {
        return Err(DropReason::MartianDestination);
    }
    if ipv4::is_multicast(destination) {
        return Err(DropReason::Multicast);
    }
    if ipv4::is_link_local(source) || ipv4::is_link_local(destination) {
        return Err(DropReason::LinkLocal);
    }
    Ok(())
}

/// RFC 8200, section 3.
pub(crate) fn inet6(packet: &[u8]) -> Result<ipv6::Packet<&[u8]>, DropReason> {
    if packet.len() < ipv6::HEADER_LEN {
        return Err(DropReason::FrameTooShort);
    }
    if packet[0] >> 4 != 6 {
        return Err(DropReason::BadVersion);
    }
    ipv6::Packet::parse(packet).map_err(|_| DropReason::BadTotalLength)
}

/// RFC 4291, sections 2.5.2, 2.5.3, 2.5.6 and 2.7; RFC 6890. For packets that are to be
/// forwarded.
pub(crate) fn inet6_addresses(source: u128, destination: u128) -> Result<(), DropReason> {
    if ipv6::is_martian_source(source) {
        return Err(DropReason::MartianSource);
    }
    if ipv6::is_multicast(destination) {
        return Err(DropReason::Multicast);
    }
    if ipv6::is_martian_destination(destination) {
        return Err(DropReason::MartianDestination);
    }
    if ipv6::is_link_local(source) || ipv6::is_link_local(destination) {
        return Err(DropReason::LinkLocal);
    }
    Ok(())
}
