//! Checksums of TCP and UDP that a sender has only begun, because its interface would complete them.
//!
//! A socket that is told of them (packet sockets) says where they are. One that is not sees a field that
//! holds the sum of the pseudo header, as the kernel leaves it, and completes that. A frame whose checksum
//! is right stays as it is, whatever the field holds; of frames that are wrong one in 65,536 looks begun.

use fwdlab_wire::{checksum, ethernet, ipv4, ipv6, udp, vlan};

const TCP: u8 = 6;
/// Where TCP has its checksum.
const TCP_CHECKSUM: usize = 16;
/// Where UDP has its checksum.
const UDP_CHECKSUM: usize = 6;

/// Completes the checksum of a frame, tagged or not, if it has only been begun.
#[inline]
pub(crate) fn complete(frame: &mut [u8]) {
    if let Some((segment, at, pseudo)) = place(frame)
        && let Some(segment) = frame.get_mut(segment)
        && segment.get(at..at + 2) == Some(&checksum::fold(pseudo).to_be_bytes())
    {
        finish(segment, at, pseudo);
    }
}

#[cold]
fn finish(segment: &mut [u8], at: usize, pseudo: u64) {
    let sum = checksum::sum(segment);
    if checksum::fold(sum + pseudo) == 0xffff {
        return;
    }
    // The field holds the sum of the pseudo header, which so counts by itself. 0 is "none" in UDP, and
    // 0xffff the same number.
    let sum = match checksum::finish(sum) {
        0 => 0xffff,
        sum => sum,
    };
    segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// The segment or datagram of a frame, where its checksum stands in it, and the sum of its pseudo header.
#[inline]
fn place(frame: &[u8]) -> Option<(std::ops::Range<usize>, usize, u64)> {
    let kind = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut start = ethernet::HEADER_LEN;
    if matches!(kind(start - 2)?, ethernet::TYPE_VLAN | ethernet::TYPE_SERVICE_VLAN) {
        start += vlan::TAG_LEN;
    }
    let (protocol, header, len, pseudo) = match kind(start - 2)? {
        ethernet::TYPE_IPV4 => {
            let packet = ipv4::Packet::parse(frame.get(start..)?).ok()?;
            if packet.has_more_fragments() || packet.fragment_offset() > 0 {
                return None;
            }
            let len = packet.payload().len();
            (packet.protocol(), packet.header_len(), len, packet.pseudo_sum())
        }
        ethernet::TYPE_IPV6 => {
            let packet = ipv6::Packet::parse(frame.get(start..)?).ok()?;
            let len = packet.payload().len();
            (packet.next_header(), ipv6::HEADER_LEN, len, packet.pseudo_sum())
        }
        _ => return None,
    };
    let at = match protocol {
        TCP => TCP_CHECKSUM,
        udp::PROTOCOL => UDP_CHECKSUM,
        _ => return None,
    };
    let start = start + header;
    Some((start..start + len, at, pseudo))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP frame over IPv4 whose payload ends with `last`, and its right checksum.
    fn frame(last: u16) -> (Vec<u8>, u16) {
        let mut bytes = vec![0; 14 + 20 + 8 + 2];
        bytes[12..14].copy_from_slice(&ethernet::TYPE_IPV4.to_be_bytes());
        bytes[42..].copy_from_slice(&last.to_be_bytes());
        let mut packet = ipv4::Packet::prepare(&mut bytes[14..], 30).expect("room");
        packet.set_protocol(udp::PROTOCOL);
        packet.set_source(0xc612_0001);
        packet.set_destination(0xc612_0002);
        packet.fill_checksum();
        let pseudo = packet.pseudo_sum();
        packet.payload_mut()[..6].copy_from_slice(&[7, 0xd0, 7, 0xd0, 0, 10]);
        let right = checksum::finish(checksum::sum(packet.payload()) + pseudo);
        (bytes, right)
    }

    #[test]
    fn a_checksum_that_was_begun_becomes_right_and_all_others_stay() {
        let begun = checksum::fold(checksum::pseudo_v4(0xc612_0001, 0xc612_0002, 17, 10));
        let completed = |mut bytes: Vec<u8>, field: u16| {
            bytes[40..42].copy_from_slice(&field.to_be_bytes());
            complete(&mut bytes);
            u16::from_be_bytes([bytes[40], bytes[41]])
        };
        // Among them that whose right checksum is 0.
        for last in (0..=u16::MAX).step_by(97).chain([frame(0).1]) {
            let (plain, right) = frame(last);
            // In UDP 0 is "none", and 0xffff the same number.
            let right = if right == 0 { 0xffff } else { right };
            let wrong = if right ^ 0x0100 == begun { right ^ 0x0200 } else { right ^ 0x0100 };
            assert_eq!(completed(plain.clone(), begun), right, "{last:x}");
            assert_eq!(completed(plain.clone(), right), right, "{last:x}");
            assert_eq!(completed(plain.clone(), wrong), wrong, "{last:x}");
            assert_eq!(completed(plain, 0), 0, "{last:x}");
        }
    }

    #[test]
    fn cut_and_strange_frames_are_left_alone() {
        let (whole, _) = frame(7);
        for len in 0..whole.len() {
            let mut bytes = whole[..len].to_vec();
            complete(&mut bytes);
            assert_eq!(bytes, whole[..len]);
        }
    }
}
