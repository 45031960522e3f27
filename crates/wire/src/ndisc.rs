//! Neighbour discovery (RFC 4861): solicitations and advertisements with their link-layer
//! address option. Router advertisements and redirects are not here.
//!
//! A view covers the whole ICMPv6 message; its checksum belongs to [`crate::icmpv6`].

use crate::MacAddr;
use crate::error::{Error, require};
use crate::field::{Field, array, read_u128, write};

/// Flags of an advertisement: router, solicited, override (high three bits).
pub const FLAGS: usize = 4;
/// The address asked for or announced.
pub const TARGET: Field = 8..24;
/// Options start here.
pub const OPTIONS: usize = 24;
/// Bytes of a message with one link-layer address option.
pub const MESSAGE_LEN: usize = 32;

/// ICMPv6 type of a neighbour solicitation.
pub const SOLICITATION: u8 = 135;
/// ICMPv6 type of a neighbour advertisement.
pub const ADVERTISEMENT: u8 = 136;
/// Option: the sender's link-layer address (in solicitations).
pub const OPTION_SOURCE_MAC: u8 = 1;
/// Option: the target's link-layer address (in advertisements).
pub const OPTION_TARGET_MAC: u8 = 2;
/// Flag: the sender is a router.
pub const FLAG_ROUTER: u8 = 0x80;
/// Flag: answers a solicitation.
pub const FLAG_SOLICITED: u8 = 0x40;
/// Flag: replaces a cached address.
pub const FLAG_OVERRIDE: u8 = 0x20;
/// Hop limit that every message must arrive with: no router has forwarded it (RFC 4861,
/// section 7.1).
pub const HOP_LIMIT: u8 = 255;

/// A solicitation or an advertisement: the whole ICMPv6 message.
#[derive(Debug, Clone, Copy)]
pub struct Message<T>(T);

impl<T: AsRef<[u8]>> Message<T> {
    /// Views `buffer` as a message.
    ///
    /// # Errors
    /// Another ICMPv6 type, a code other than 0, fewer than 24 bytes, or an option of length 0
    /// or beyond the end (RFC 4861, sections 7.1.1 and 7.1.2).
    pub fn parse(buffer: T) -> Result<Self, Error> {
        let bytes = buffer.as_ref();
        require("ndisc", OPTIONS, bytes.len())?;
        if !matches!(bytes[0], SOLICITATION | ADVERTISEMENT) {
            return Err(Error::BadField { header: "ndisc", field: "type", got: bytes[0].into() });
        }
        if bytes[1] != 0 {
            return Err(Error::BadField { header: "ndisc", field: "code", got: bytes[1].into() });
        }
        check_options(&bytes[OPTIONS..])?;
        Ok(Message(buffer))
    }

    /// [`SOLICITATION`] or [`ADVERTISEMENT`].
    #[inline]
    pub fn kind(&self) -> u8 {
        self.0.as_ref()[0]
    }

    /// Flags of an advertisement.
    #[inline]
    pub fn flags(&self) -> u8 {
        self.0.as_ref()[FLAGS]
    }

    /// The address asked for or announced, host order.
    #[inline]
    pub fn target(&self) -> u128 {
        read_u128(self.0.as_ref(), TARGET)
    }

    /// The link-layer address in the first option of type `option`, if there is one.
    pub fn link_layer_address(&self, option: u8) -> Option<MacAddr> {
        let mut rest = &self.0.as_ref()[OPTIONS..];
        while rest.len() >= 8 {
            let len = usize::from(rest[1]) * 8;
            if rest[0] == option {
                return Some(MacAddr(array(rest, 2)));
            }
            rest = rest.get(len.max(8)..)?;
        }
        None
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Message<T> {
    /// Writes a message of 32 bytes with one option into `buffer`: `kind` is [`SOLICITATION`]
    /// (with the sender's address as source option) or [`ADVERTISEMENT`] (target option). The
    /// checksum stays 0.
    ///
    /// # Errors
    /// A buffer that is not exactly 32 bytes, or another type.
    pub fn prepare(mut buffer: T, kind: u8, target: u128, mac: MacAddr) -> Result<Self, Error> {
        let bytes = buffer.as_mut();
        require("ndisc", MESSAGE_LEN, bytes.len())?;
        bytes[..MESSAGE_LEN].fill(0);
        bytes[0] = kind;
        write(bytes, TARGET, &target.to_be_bytes());
        bytes[OPTIONS] = if kind == SOLICITATION { OPTION_SOURCE_MAC } else { OPTION_TARGET_MAC };
        bytes[OPTIONS + 1] = 1;
        write(bytes, OPTIONS + 2..OPTIONS + 8, &mac.0);
        Self::parse(buffer)
    }

    /// Sets the flags of an advertisement.
    #[inline]
    pub fn set_flags(&mut self, flags: u8) {
        self.0.as_mut()[FLAGS] = flags;
    }
}

fn check_options(mut rest: &[u8]) -> Result<(), Error> {
    while let Some(&units) = rest.get(1) {
        if units == 0 {
            return Err(Error::BadField { header: "ndisc", field: "option length", got: 0 });
        }
        let len = usize::from(units) * 8;
        require("ndisc option", len, rest.len())?;
        rest = &rest[len..];
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Error::TooShort { header: "ndisc option", wanted: 8, got: rest.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);
    const ADDRESS: u128 = 0x2001_0002 << 96 | 0xcb;

    #[test]
    fn writes_and_reads_a_solicitation() {
        let mut bytes = [0xa5; 32];
        Message::prepare(&mut bytes, SOLICITATION, ADDRESS, MAC).unwrap();
        assert_eq!(bytes[..8], [135, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..], [1, 1, 2, 0, 0, 0, 0, 9]);
        let message = Message::parse(&bytes).unwrap();
        assert_eq!((message.kind(), message.target()), (SOLICITATION, ADDRESS));
        assert_eq!(message.link_layer_address(OPTION_SOURCE_MAC), Some(MAC));
        assert_eq!(message.link_layer_address(OPTION_TARGET_MAC), None);
    }

    #[test]
    fn writes_and_reads_an_advertisement() {
        let mut bytes = [0xa5; 32];
        let mut message = Message::prepare(&mut bytes, ADVERTISEMENT, ADDRESS, MAC).unwrap();
        message.set_flags(FLAG_ROUTER | FLAG_SOLICITED);
        assert_eq!(
            (message.flags(), message.link_layer_address(OPTION_TARGET_MAC)),
            (0xc0, Some(MAC))
        );
        assert_eq!((bytes[4], bytes[24]), (0xc0, OPTION_TARGET_MAC));
    }

    #[test]
    fn rfc4861_section_7_1_refuses_broken_messages() {
        let mut good = [0u8; 32];
        Message::prepare(&mut good, SOLICITATION, ADDRESS, MAC).unwrap();
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            Message::parse(bytes).is_ok()
        };
        assert!(with(0, 136) && !with(0, 134) && !with(1, 1) && !with(25, 0) && !with(25, 2));
        assert!(Message::parse(&good[..24]).is_ok());
        assert!(Message::parse(&good[..23]).is_err() && Message::parse(&good[..31]).is_err());
        assert!(Message::parse(&good[..25]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..96)) {
            if let Some(first) = bytes.first_mut() {
                *first = SOLICITATION;
            }
            if let Ok(message) = Message::parse(&bytes[..]) {
                let _ = (message.target(), message.link_layer_address(OPTION_SOURCE_MAC));
            }
        }
    }
}
