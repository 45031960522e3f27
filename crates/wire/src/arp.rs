//! ARP for IPv4 over Ethernet (RFC 826).

use crate::MacAddr;
use crate::error::{Error, require};
use crate::field::{Field, array, read_u16, read_u32, write};

/// Hardware type; 1 is Ethernet.
pub const HARDWARE_TYPE: Field = 0..2;
/// Protocol type; 0x0800 is IPv4.
pub const PROTOCOL_TYPE: Field = 2..4;
/// Length of a hardware address; 6.
pub const HARDWARE_LEN: usize = 4;
/// Length of a protocol address; 4.
pub const PROTOCOL_LEN: usize = 5;
/// 1 request, 2 reply.
pub const OPERATION: Field = 6..8;
/// Sender's Ethernet address.
pub const SENDER_MAC: Field = 8..14;
/// Sender's IPv4 address.
pub const SENDER_ADDRESS: Field = 14..18;
/// Target's Ethernet address.
pub const TARGET_MAC: Field = 18..24;
/// Target's IPv4 address.
pub const TARGET_ADDRESS: Field = 24..28;
/// Bytes of the packet.
pub const PACKET_LEN: usize = 28;

/// Who has this address?
pub const REQUEST: u16 = 1;
/// I have it.
pub const REPLY: u16 = 2;

/// The fixed first six bytes for IPv4 over Ethernet.
const FIXED: [u8; 6] = [0, 1, 0x08, 0, 6, 4];

/// An ARP packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Views `buffer` as an ARP packet for IPv4 over Ethernet.
    ///
    /// # Errors
    /// Fewer than 28 bytes, or types and lengths of another protocol.
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let bytes = buffer.as_ref();
        require("arp", PACKET_LEN, bytes.len())?;
        if bytes[..6] != FIXED {
            let got = read_u32(bytes, 0..4);
            return Err(Error::BadField { header: "arp", field: "types", got });
        }
        Ok(Packet(buffer))
    }

    /// 1 request, 2 reply.
    #[inline]
    pub fn operation(&self) -> u16 {
        read_u16(self.0.as_ref(), OPERATION)
    }

    /// Sender's Ethernet address.
    #[inline]
    pub fn sender_mac(&self) -> MacAddr {
        MacAddr(array(self.0.as_ref(), SENDER_MAC.start))
    }

    /// Sender's IPv4 address.
    #[inline]
    pub fn sender_address(&self) -> u32 {
        read_u32(self.0.as_ref(), SENDER_ADDRESS)
    }

    /// Target's Ethernet address; meaningless in a request.
    #[inline]
    pub fn target_mac(&self) -> MacAddr {
        MacAddr(array(self.0.as_ref(), TARGET_MAC.start))
    }

    /// Target's IPv4 address.
    #[inline]
    pub fn target_address(&self) -> u32 {
        read_u32(self.0.as_ref(), TARGET_ADDRESS)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes the fixed fields into `buffer` and views it; the other fields keep what was there.
    ///
    /// # Errors
    /// Fewer than 28 bytes.
    #[inline]
    pub fn prepare(mut buffer: T) -> Result<Self, Error> {
        require("arp", PACKET_LEN, buffer.as_ref().len())?;
        buffer.as_mut()[..6].copy_from_slice(&FIXED);
        Ok(Packet(buffer))
    }

    /// Sets the operation.
    #[inline]
    pub fn set_operation(&mut self, operation: u16) {
        write(self.0.as_mut(), OPERATION, &operation.to_be_bytes());
    }

    /// Sets the sender.
    #[inline]
    pub fn set_sender(&mut self, mac: MacAddr, address: u32) {
        write(self.0.as_mut(), SENDER_MAC, &mac.0);
        write(self.0.as_mut(), SENDER_ADDRESS, &address.to_be_bytes());
    }

    /// Sets the target.
    #[inline]
    pub fn set_target(&mut self, mac: MacAddr, address: u32) {
        write(self.0.as_mut(), TARGET_MAC, &mac.0);
        write(self.0.as_mut(), TARGET_ADDRESS, &address.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 28] = [
        0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 1, 198, 18, 0, 203, 2, 0, 0, 0, 0, 9, 198, 18, 0, 1,
    ];

    #[test]
    fn reads_fields_from_bytes() {
        let packet = Packet::parse(&BYTES).unwrap();
        assert_eq!(packet.operation(), REPLY);
        assert_eq!(
            (packet.sender_mac(), packet.sender_address()),
            (MacAddr([2, 0, 0, 0, 0, 1]), 0xc612_00cb)
        );
        assert_eq!(
            (packet.target_mac(), packet.target_address()),
            (MacAddr([2, 0, 0, 0, 0, 9]), 0xc612_0001)
        );
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 28];
        let mut packet = Packet::prepare(&mut bytes).unwrap();
        packet.set_operation(REPLY);
        packet.set_sender(MacAddr([2, 0, 0, 0, 0, 1]), 0xc612_00cb);
        packet.set_target(MacAddr([2, 0, 0, 0, 0, 9]), 0xc612_0001);
        assert_eq!(bytes, BYTES);
    }

    #[test]
    fn refuses_other_protocols_and_short_buffers() {
        assert!(Packet::parse(&BYTES[..27]).is_err());
        for at in 0..6 {
            let mut bytes = BYTES;
            bytes[at] ^= 1;
            assert!(Packet::parse(&bytes).is_err(), "byte {at}");
        }
    }
}
