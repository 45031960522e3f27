//! Which flow a packet belongs to: a hash of its addresses, protocol and ports, for choosing a
//! member of a nexthop group. Packets of one flow, fragments included, always hash alike.

use fwdlab_wire::{ipv4, ipv6, udp};

/// Protocols whose header begins with two 16-bit ports.
const TCP: u8 = 6;
const SCTP: u8 = 132;

/// Hash of the flow of an IPv4 packet. Ports count unless the packet is a fragment: later
/// fragments have none, and a flow must not be torn.
pub(crate) fn inet(packet: &[u8]) -> u32 {
    let Some(header) = packet.first_chunk::<20>() else { return 0 };
    let addresses = u64::from_le_bytes([
        header[12], header[13], header[14], header[15], header[16], header[17], header[18],
        header[19],
    ]);
    let protocol = header[ipv4::PROTOCOL];
    let is_whole = header[6] & 0x3f == 0 && header[7] == 0;
    let ports = if is_whole { ports(packet, usize::from(header[0] & 15) * 4, protocol) } else { 0 };
    mix(addresses, u64::from(ports) << 8 | u64::from(protocol))
}

/// Hash of the flow of an IPv6 packet: addresses, flow label (RFC 6438), and ports if the first
/// next header has them and is not a fragment's.
pub(crate) fn inet6(packet: &[u8]) -> u32 {
    let Some(header) = packet.first_chunk::<40>() else { return 0 };
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&header[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let label = u64::from(u32::from_be_bytes([0, header[1] & 15, header[2], header[3]]));
    let next_header = header[ipv6::NEXT_HEADER];
    let ports = ports(packet, ipv6::HEADER_LEN, next_header);
    let addresses = (word(8) ^ word(24).rotate_left(32)).wrapping_mul(MULTIPLIER)
        ^ word(16)
        ^ word(32).rotate_left(32);
    mix(addresses, label << 40 | u64::from(ports) << 8 | u64::from(next_header))
}

fn ports(packet: &[u8], at: usize, protocol: u8) -> u32 {
    match (protocol, packet.get(at..at + 4)) {
        (TCP | udp::PROTOCOL | SCTP, Some(bytes)) => {
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        }
        _ => 0,
    }
}

/// 2^64 divided by the golden ratio (Knuth, vol. 3, section 6.4).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Two rounds of multiply and fold; the upper bits are the well-mixed ones.
fn mix(a: u64, b: u64) -> u32 {
    let x = (a ^ b.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    ((x ^ x >> 32).wrapping_mul(MULTIPLIER) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: u8, port: u8) -> [u8; 28] {
        let mut packet = [0; 28];
        (packet[0], packet[9], packet[15], packet[21]) = (0x45, 17, source, port);
        packet
    }

    #[test]
    fn flows_spread_over_the_range() {
        let mut quarters = [0; 4];
        for source in 0..100 {
            for port in 0..100 {
                quarters[(inet(&packet(source, port)) >> 30) as usize] += 1;
            }
        }
        assert!(quarters.iter().all(|&count| (2300..2700).contains(&count)), "{quarters:?}");
    }

    #[test]
    fn all_fragments_of_a_datagram_hash_alike() {
        let mut first = packet(1, 7);
        first[6] = 0x20;
        let mut second = packet(1, 99);
        second[7] = 5;
        assert_eq!(inet(&first), inet(&second));
        assert_ne!(inet(&packet(1, 7)), inet(&packet(1, 8)));
    }

    #[test]
    fn ipv6_flows_differ_by_address_label_and_port() {
        let mut packet = [0u8; 48];
        packet[6] = 17;
        let base = inet6(&packet);
        for at in [3, 8, 23, 24, 39, 41, 43] {
            let mut other = packet;
            other[at] ^= 1;
            assert_ne!(inet6(&other), base, "{at}");
        }
        assert_eq!(inet6(&packet[..10]), 0);
    }
}
