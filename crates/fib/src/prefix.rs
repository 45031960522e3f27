//! Prefixes with canonical (zero) host bits, ordered by address, then length: a prefix sorts
//! before everything that it contains.

use std::fmt;
use std::str::FromStr;

use crate::family::{Address, Family};

/// A network prefix. Its host bits are always zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix<F: Family> {
    addr: F::Addr,
    len: u8,
}

/// Why a text or a pair (address, length) is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixError {
    /// The part before the slash is no address of the family.
    #[error("`{text}` is not an {family} address")]
    Address {
        /// What stood there.
        text: String,
        /// `inet` or `inet6`.
        family: &'static str,
    },
    /// The part after the slash is no number or too large.
    #[error("prefix length `{text}` is not a number from 0 to {max}")]
    Length {
        /// What stood there.
        text: String,
        /// Largest length of the family.
        max: u8,
    },
    /// Bits after the prefix length are set.
    #[error("`{text}` has host bits set, did you mean {canonical}?")]
    HostBits {
        /// What stood there.
        text: String,
        /// The same prefix with its host bits cleared.
        canonical: String,
    },
}

impl<F: Family> Prefix<F> {
    /// The default route's prefix, of length 0.
    pub const DEFAULT: Self = Self { addr: F::Addr::ZERO, len: 0 };

    /// The prefix of the first `len` bits of `addr`; host bits are cleared.
    ///
    /// # Errors
    /// [`PrefixError::Length`] when `len` is above the family's width.
    pub fn new(addr: F::Addr, len: u8) -> Result<Self, PrefixError> {
        if len > F::BITS {
            return Err(PrefixError::Length { text: len.to_string(), max: F::BITS });
        }
        Ok(Self { addr: addr & F::Addr::mask(len), len })
    }

    /// Like [`Prefix::new`], from an address of the standard library.
    ///
    /// # Errors
    /// [`PrefixError::Length`] when `len` is above the family's width.
    pub fn of(ip: F::Ip, len: u8) -> Result<Self, PrefixError> {
        Self::new(ip.into(), len)
    }

    /// Like [`Prefix::new`], with lengths above the family's width counting as a host prefix.
    #[inline]
    pub fn covering(addr: F::Addr, len: u8) -> Self {
        let len = len.min(F::BITS);
        Self { addr: addr & F::Addr::mask(len), len }
    }

    /// Of an address that has no bits set after the length.
    #[inline]
    pub(crate) fn of_masked(addr: F::Addr, len: u8) -> Self {
        debug_assert_eq!(addr & !F::Addr::mask(len), F::Addr::ZERO);
        Self { addr, len }
    }

    /// The host prefix of one address.
    pub fn host(addr: F::Addr) -> Self {
        Self { addr, len: F::BITS }
    }

    /// First address of the prefix.
    #[inline]
    pub fn addr(&self) -> F::Addr {
        self.addr
    }

    /// First address of the prefix, as the standard library has it.
    pub fn ip(&self) -> F::Ip {
        self.addr.into()
    }

    /// Last address of the prefix.
    #[inline]
    pub fn last_addr(&self) -> F::Addr {
        self.addr | !F::Addr::mask(self.len)
    }

    /// Length in bits.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a prefix is no container")]
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether `addr` lies inside.
    #[inline]
    pub fn contains(&self, addr: F::Addr) -> bool {
        (addr ^ self.addr).leading_zeros() >= u32::from(self.len)
    }

    /// Whether `other` is this prefix or lies inside it.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        other.len >= self.len && self.contains(other.addr)
    }

    /// The prefix one bit shorter that contains this one, or `None` for the default.
    pub fn parent(&self) -> Option<Self> {
        self.len.checked_sub(1).map(|len| Self::covering(self.addr, len))
    }

    /// Number of leading bits that both prefixes have in common (at most the shorter length).
    #[inline]
    pub fn common_len(&self, other: &Self) -> u8 {
        let same = (self.addr ^ other.addr).leading_zeros() as u8;
        same.min(self.len).min(other.len)
    }

    /// Reads `addr/len` or a bare host address; host bits set after the length are cleared.
    ///
    /// # Errors
    /// [`PrefixError::Address`] or [`PrefixError::Length`].
    pub fn parse_lenient(text: &str) -> Result<Self, PrefixError> {
        let (addr, len) = match text.split_once('/') {
            Some((addr, len)) => (addr, Some(len)),
            None => (text, None),
        };
        let parsed = F::parse_addr(addr)
            .ok_or_else(|| PrefixError::Address { text: addr.to_owned(), family: F::NAME })?;
        let Some(len) = len else { return Ok(Self::host(parsed)) };
        let digits = len.bytes().all(|b| b.is_ascii_digit());
        match len.parse::<u8>() {
            Ok(number) if digits && number <= F::BITS => Ok(Self::covering(parsed, number)),
            _ => Err(PrefixError::Length { text: len.to_owned(), max: F::BITS }),
        }
    }
}

impl<F: Family> FromStr for Prefix<F> {
    type Err = PrefixError;

    /// Reads `addr/len` or a bare host address; set host bits are an error.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let prefix = Self::parse_lenient(text)?;
        let addr = text.split('/').next().and_then(F::parse_addr);
        if addr != Some(prefix.addr) {
            let canonical = prefix.to_string();
            return Err(PrefixError::HostBits { text: text.to_owned(), canonical });
        }
        Ok(prefix)
    }
}

impl<F: Family> fmt::Display for Prefix<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        F::write_addr(self.addr, out)?;
        write!(out, "/{}", self.len)
    }
}

impl<F: Family> fmt::Debug for Prefix<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Inet, Inet6};

    #[test]
    fn reads_and_writes_prefixes_of_both_families() {
        for text in ["0.0.0.0/0", "198.18.0.0/16", "192.0.2.1/32"] {
            assert_eq!(text.parse::<Prefix<Inet>>().unwrap().to_string(), text);
        }
        for text in ["::/0", "2001:2::/48", "::1/128"] {
            assert_eq!(text.parse::<Prefix<Inet6>>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.1".parse::<Prefix<Inet>>().unwrap().len(), 32);
    }

    #[test]
    fn rejects_what_is_no_prefix_and_names_the_canonical_form() {
        for text in
            ["", "/", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/+8", "1.2.3/8", "::/0", "1.2.3.4/8/8"]
        {
            assert!(text.parse::<Prefix<Inet>>().is_err(), "{text}");
        }
        let error = "198.18.0.203/16".parse::<Prefix<Inet>>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`198.18.0.203/16` has host bits set, did you mean 198.18.0.0/16?"
        );
    }

    #[test]
    fn clears_host_bits_at_both_edges() {
        assert_eq!(Prefix::<Inet>::new(u32::MAX, 0).unwrap(), Prefix::DEFAULT);
        assert_eq!(Prefix::<Inet>::new(u32::MAX, 1).unwrap().addr(), 1 << 31);
        assert_eq!(Prefix::<Inet6>::new(u128::MAX, 127).unwrap().addr(), u128::MAX - 1);
        assert!(Prefix::<Inet>::new(0, 33).is_err());
        assert_eq!(Prefix::<Inet>::DEFAULT.last_addr(), u32::MAX);
    }

    #[test]
    fn a_prefix_sorts_before_what_it_contains() {
        let outer: Prefix<Inet> = "10.0.0.0/8".parse().unwrap();
        let inner: Prefix<Inet> = "10.0.0.0/9".parse().unwrap();
        assert!(outer < inner && outer.covers(&inner) && !inner.covers(&outer));
        assert_eq!(outer.common_len(&inner), 8);
        assert_eq!(inner.parent(), Some(outer));
    }
}
