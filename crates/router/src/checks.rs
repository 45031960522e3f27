//! The rules for headers and addresses, each with its reason: what the general path applies in
//! order, and what the fast path's single condition must imply.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, icmpv4, ipv4, ipv6};

use crate::drops::DropReason;
use crate::fate::{Problem, Refusal};

/// Where the IP header of an untagged frame starts.
pub(crate) const L3: usize = ethernet::HEADER_LEN;

/// Shortest frame without FCS, bytes.
const MIN_LEN: usize = ethernet::MIN_FRAME_LEN_WITH_FCS - ethernet::FCS_LEN;

/// Takes off what lies behind the packet, but for what makes a short frame long enough: it "is not part
/// of the IP packet" (RFC 894), and might make the frame too long for its way.
pub(crate) fn trim(frame: &mut Frame, packet_len: usize) {
    let len = frame.len().min((L3 + packet_len).max(MIN_LEN));
    frame.set_len(len);
}

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
    let (mut at, mut has_record) = (0, [false; 2]);
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
        if matches!(kind, RECORD_ROUTE | TIMESTAMP) {
            let is_second =
                std::mem::replace(&mut has_record[usize::from(kind == TIMESTAMP)], true);
            let fault = if is_second { Some(0) } else { fault_in_record(&all[at..at + len]) };
            if let Some(beyond) = fault {
                let problem = Problem { code: 0, pointer: (ipv4::HEADER_LEN + at + beyond) as u32 };
                return Err(Refusal { problem, ..DropReason::BadOptions.into() });
            }
        }
        at += len;
    }
    Ok(())
}

const RECORD_ROUTE: u8 = 7;
const TIMESTAMP: u8 = 68;

/// Which byte of a record route or timestamp option cannot be (RFC 791, section 3.1): its length, its
/// pointer, or a count of those who found no room that has no room itself.
fn fault_in_record(option: &[u8]) -> Option<usize> {
    let is_route = option[0] == RECORD_ROUTE;
    let (front, each) = match option.get(3) {
        _ if is_route => (3, 4),
        // With the addresses of those who stamp.
        Some(flags) if flags & 15 != 0 => (4, 8),
        _ => (4, 4),
    };
    let pointer = match option.get(2) {
        Some(&pointer) if option.len() >= front => usize::from(pointer),
        _ => return Some(1),
    };
    if pointer <= front {
        return Some(2);
    }
    if pointer <= option.len() {
        return (pointer + each - 1 > option.len()).then_some(2);
    }
    (!is_route && option[3] >> 4 == 15).then_some(3)
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
