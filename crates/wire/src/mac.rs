//! Ethernet (MAC) addresses.

use std::fmt;
use std::str::FromStr;

/// A 48-bit Ethernet address, first byte on the wire first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// `ff:ff:ff:ff:ff:ff`, every station.
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);
    /// `00:00:00:00:00:00`, no station.
    pub const ZERO: MacAddr = MacAddr([0; 6]);

    /// `02:00:00:00:00:NUMBER`, a locally administered address (IEEE 802-2014, 8.2.2), for ports that
    /// are no cards.
    #[inline]
    pub const fn numbered(number: u8) -> MacAddr {
        MacAddr([2, 0, 0, 0, 0, number])
    }

    /// True for group addresses (multicast and broadcast): lowest bit of the first byte set
    /// (IEEE 802-2014, 8.2.2).
    #[inline]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// True for `ff:ff:ff:ff:ff:ff`.
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// The group address that carries an IPv6 multicast packet: `33:33` and the last four
    /// bytes of the destination (RFC 2464, section 7).
    #[inline]
    pub fn of_ipv6_multicast(address: u128) -> MacAddr {
        let [a, b, c, d] = (address as u32).to_be_bytes();
        MacAddr([0x33, 0x33, a, b, c, d])
    }

    /// The modified EUI-64 interface identifier of this address (RFC 4291, appendix A): the
    /// lower 64 bits of a link-local address.
    #[inline]
    pub fn to_interface_identifier(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f])
    }

    /// The address as a number below 2^48.
    #[inline]
    pub fn to_u64(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(out, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Text that is not a MAC address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseMacError {
    text: String,
}

impl fmt::Display for ParseMacError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is no MAC address: write six bytes in hexadecimal as 02:00:00:00:00:01",
            self.text
        )
    }
}

impl std::error::Error for ParseMacError {}

impl FromStr for MacAddr {
    type Err = ParseMacError;

    /// Six groups of one or two hexadecimal digits, separated by `:` or by `-`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseMacError { text: text.to_string() };
        let separator = if text.contains('-') { '-' } else { ':' };
        let mut bytes = [0u8; 6];
        let mut groups = text.split(separator);
        for byte in &mut bytes {
            let group = groups.next().ok_or_else(wrong)?;
            let is_hex = group.bytes().all(|c| c.is_ascii_hexdigit());
            if !is_hex || group.is_empty() || group.len() > 2 {
                return Err(wrong());
            }
            *byte = u8::from_str_radix(group, 16).map_err(|_| wrong())?;
        }
        if groups.next().is_some() { Err(wrong()) } else { Ok(MacAddr(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        let mac = MacAddr([0x02, 0xab, 0, 0xff, 0x10, 0x01]);
        assert_eq!(mac.to_string(), "02:ab:00:ff:10:01");
        assert_eq!(mac.to_string().parse(), Ok(mac));
        assert_eq!("2-AB-0-ff-10-1".parse(), Ok(mac));
    }

    #[test]
    fn refuses_text_that_is_no_address() {
        for text in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:01:02",
            "02:00:00:00:00:+1",
            "002:0:0:0:0:1",
            "02:00:00-00:00:01",
        ] {
            assert!(text.parse::<MacAddr>().is_err(), "{text}");
        }
    }

    #[test]
    fn knows_group_addresses() {
        assert!(MacAddr::BROADCAST.is_multicast() && MacAddr::BROADCAST.is_broadcast());
        assert!(MacAddr([0x33, 0x33, 0, 0, 0, 1]).is_multicast());
        assert!(!MacAddr([2, 0, 0, 0, 0, 1]).is_multicast());
    }

    #[test]
    fn derives_ipv6_group_and_interface_identifier() {
        // RFC 2464, section 4: 34-56-78-9A-BC-DE becomes 36-56-78-FF-FE-9A-BC-DE.
        let mac = MacAddr([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
        assert_eq!(mac.to_interface_identifier(), 0x3656_78ff_fe9a_bcde);
        assert_eq!(
            MacAddr::of_ipv6_multicast(0xff02 << 112 | 0x1_ff00_0001),
            MacAddr([0x33, 0x33, 0xff, 0, 0, 1])
        );
    }
}
