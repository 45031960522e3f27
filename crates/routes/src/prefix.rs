//! A prefix of either family, as an experiment file names it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 prefix without host bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

/// Why a text is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAPrefix {
    /// It has not the form address/length.
    Form,
    /// Its length exceeds the bits of its family.
    Length {
        /// 32 or 128.
        most: u8,
    },
    /// Bits after its length are set; the prefix that was probably meant.
    HostBits(Prefix),
}

impl Prefix {
    /// The prefix `address`/`length`.
    ///
    /// # Errors
    /// When the length is too large or host bits are set.
    pub fn new(address: IpAddr, length: u8) -> Result<Self, NotAPrefix> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        if length > most {
            return Err(NotAPrefix::Length { most });
        }
        let masked = Self { address: masked(address, length), length };
        if masked.address == address { Ok(masked) } else { Err(NotAPrefix::HostBits(masked)) }
    }

    /// The prefix of this length that holds `address`; lengths above that of
    /// the family count as the whole address.
    pub fn covering(address: IpAddr, length: u8) -> Self {
        let length = length.min(if address.is_ipv4() { 32 } else { 128 });
        Self { address: masked(address, length), length }
    }

    /// The default route of the family of `any`.
    pub fn everything(any: IpAddr) -> Self {
        Self::covering(any, 0)
    }

    /// The network address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The prefix length, 0 to 32 or 0 to 128.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Whether a router forwards by it. Not by multicast, loopback, link-local and reserved space, as
    /// far as the whole prefix lies in it.
    pub fn is_forwarded(&self) -> bool {
        let (low, high) = self.bounds();
        let lies_in = |first: u128, last: u128| first <= low && high <= last;
        match self.is_ipv4() {
            true => {
                let v4 = |octet: u128| octet << 24;
                !(lies_in(v4(127), v4(128) - 1)
                    || lies_in(v4(224), v4(256) - 1)
                    || lies_in(0xa9fe_0000, 0xa9fe_ffff) // 169.254.0.0/16
                    || lies_in(0, v4(1) - 1))
            }
            false => {
                let top = |group: u128| group << 112;
                !(lies_in(top(0xff00), u128::MAX)
                    || lies_in(top(0xfe80), top(0xfec0) - 1)
                    || lies_in(0, 0xffff_ffff_ffff)) // ::/128, ::1, ::/96, ::ffff:0:0/96
            }
        }
    }

    /// Whether it is one of IPv4; else it is one of IPv6.
    pub fn is_ipv4(&self) -> bool {
        self.address.is_ipv4()
    }

    /// First and last address as numbers; an IPv4 address uses the low 32 bits.
    pub fn bounds(&self) -> (u128, u128) {
        let first = number(self.address);
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        let host_bits = u32::from(bits - self.length);
        let host_mask = if host_bits == 128 { u128::MAX } else { (1 << host_bits) - 1 };
        (first, first | host_mask)
    }
}

/// An address as a number; an IPv4 address uses the low 32 bits.
pub fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            Ipv4Addr::from_bits(v4.to_bits() & mask).into()
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            Ipv6Addr::from_bits(v6.to_bits() & mask).into()
        }
    }
}

impl FromStr for Prefix {
    type Err = NotAPrefix;

    fn from_str(text: &str) -> Result<Self, NotAPrefix> {
        let (address, length) = text.split_once('/').ok_or(NotAPrefix::Form)?;
        if length.is_empty() || length.len() > 3 || !length.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NotAPrefix::Form);
        }
        let address = address.parse().map_err(|_| NotAPrefix::Form)?;
        let length = length.parse().unwrap_or(u8::MAX);
        Self::new(address, length)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prefixes_are_shown_as_they_are_read(address: u128, length in 0u8..=128) {
            let text = format!("{}/{length}", std::net::Ipv6Addr::from_bits(address));
            let prefix = match text.parse::<Prefix>() {
                Ok(prefix) => prefix,
                Err(NotAPrefix::HostBits(meant)) => meant,
                Err(other) => panic!("{other:?}"),
            };
            prop_assert_eq!(prefix.to_string().parse::<Prefix>(), Ok(prefix));
            let (low, high) = prefix.bounds();
            prop_assert!(low <= address && address <= high);
        }
    }
}
