//! Address families: what IPv4 and IPv6 tables have in common.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};
use std::str::FromStr;

/// An address as an unsigned integer in host order: bit 0 of a prefix is the most significant bit.
pub trait Address:
    Copy
    + Ord
    + Hash
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Width of an address in bits: 32 or 128.
    const BITS: u32;
    /// The address with all bits 0.
    const ZERO: Self;
    /// The address with all bits 1.
    const MAX: Self;

    /// Number of leading zero bits (`BITS` for [`Address::ZERO`]).
    fn leading_zeros(self) -> u32;
    /// The address after this one, or `None` after [`Address::MAX`].
    fn successor(self) -> Option<Self>;
    /// The address as a 128-bit number (its value, not shifted).
    fn to_u128(self) -> u128;
    /// The low [`Address::BITS`] bits of a 128-bit number.
    fn truncate(value: u128) -> Self;

    /// Mask with the first `len` bits set; `len` above `BITS` counts as `BITS`.
    #[inline]
    fn mask(len: u8) -> Self {
        match u32::from(len) {
            0 => Self::ZERO,
            n if n >= Self::BITS => Self::MAX,
            n => Self::MAX << (Self::BITS - n),
        }
    }

    /// Bit `index`, counted from the most significant one.
    fn bit(self, index: u32) -> bool;
}

impl Address for u32 {
    const BITS: u32 = 32;
    const ZERO: Self = 0;
    const MAX: Self = u32::MAX;

    #[inline]
    fn leading_zeros(self) -> u32 {
        u32::leading_zeros(self)
    }
    #[inline]
    fn bit(self, index: u32) -> bool {
        index < Self::BITS && self >> (31 - index) & 1 == 1
    }
    #[inline]
    fn successor(self) -> Option<Self> {
        self.checked_add(1)
    }
    #[inline]
    fn to_u128(self) -> u128 {
        u128::from(self)
    }
    #[inline]
    fn truncate(value: u128) -> Self {
        value as u32
    }
}

impl Address for u128 {
    const BITS: u32 = 128;
    const ZERO: Self = 0;
    const MAX: Self = u128::MAX;

    #[inline]
    fn leading_zeros(self) -> u32 {
        u128::leading_zeros(self)
    }
    #[inline]
    fn bit(self, index: u32) -> bool {
        // A shift of 128 bits takes four times as long.
        let half = if index < 64 { (self >> 64) as u64 } else { self as u64 };
        index < Self::BITS && half >> (63 - index % 64) & 1 == 1
    }
    #[inline]
    fn successor(self) -> Option<Self> {
        self.checked_add(1)
    }
    #[inline]
    fn to_u128(self) -> u128 {
        self
    }
    #[inline]
    fn truncate(value: u128) -> Self {
        value
    }
}

/// Something that there is one of for each address family, and that differs between them: what
/// [`Family::pick`] picks from. So a family need not know what others keep for it.
pub trait PerFamily {
    /// What there is for a family.
    type Of<F: Family>;
    /// The one for IPv4.
    fn inet(self) -> Self::Of<Inet>;
    /// The one for IPv6.
    fn inet6(self) -> Self::Of<Inet6>;
    /// The one for any other family.
    fn other<F: Family>(self) -> Self::Of<F>;
}

/// An address family.
pub trait Family: Copy + Debug + Eq + Ord + Hash + Send + Sync + 'static {
    /// The address in host order.
    type Addr: Address + From<Self::Ip>;
    /// The address as the standard library has it.
    type Ip: Copy + Display + FromStr + From<Self::Addr>;
    /// Longest prefix length: 32 or 128.
    const BITS: u8;
    /// FreeBSD's name of the family: `inet` or `inet6`.
    const NAME: &'static str;

    /// What there is for this family.
    fn pick<P: PerFamily>(all: P) -> P::Of<Self> {
        all.other()
    }
    /// Reads an address in its usual text form.
    fn parse_addr(text: &str) -> Option<Self::Addr> {
        text.parse::<Self::Ip>().ok().map(Self::Addr::from)
    }
    /// Writes an address in its usual text form.
    ///
    /// # Errors
    /// Only when the formatter fails.
    fn write_addr(addr: Self::Addr, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&Self::Ip::from(addr), out)
    }
}

/// IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inet;

/// IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inet6;

impl Family for Inet {
    type Addr = u32;
    type Ip = Ipv4Addr;
    const BITS: u8 = 32;
    const NAME: &'static str = "inet";

    fn pick<P: PerFamily>(all: P) -> P::Of<Self> {
        all.inet()
    }
}

impl Family for Inet6 {
    type Addr = u128;
    type Ip = Ipv6Addr;
    const BITS: u8 = 128;
    const NAME: &'static str = "inet6";

    fn pick<P: PerFamily>(all: P) -> P::Of<Self> {
        all.inet6()
    }
}
