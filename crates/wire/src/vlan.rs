//! 802.1Q tags: the four bytes between the source address and the payload's type.
//!
//! A view starts *behind* the tag protocol identifier: two bytes of control information, two
//! bytes of the next type.

use crate::error::{Error, require};
use crate::field::{Field, read_u16, write};

/// Priority (3 bits), drop eligible (1 bit), VLAN identifier (12 bits).
pub const CONTROL: Field = 0..2;
/// Type of what follows the tag.
pub const ETHER_TYPE: Field = 2..4;
/// Bytes that one tag adds to a frame.
pub const TAG_LEN: usize = 4;
/// Largest VLAN identifier that may be used (4095 is reserved).
pub const MAX_IDENTIFIER: u16 = 4094;

/// A tag, behind its protocol identifier.
#[derive(Debug, Clone, Copy)]
pub struct Tag<T>(T);

impl<T: AsRef<[u8]>> Tag<T> {
    /// Views `buffer` as a tag.
    ///
    /// # Errors
    /// Fewer than 4 bytes.
    #[inline]
    pub fn parse(buffer: T) -> Result<Self, Error> {
        require("vlan", TAG_LEN, buffer.as_ref().len())?;
        Ok(Tag(buffer))
    }

    /// VLAN identifier, 0 (priority tag only) to 4095.
    #[inline]
    pub fn identifier(&self) -> u16 {
        read_u16(self.0.as_ref(), CONTROL) & 0x0fff
    }

    /// Priority code point, 0 to 7.
    #[inline]
    pub fn priority(&self) -> u8 {
        self.0.as_ref()[CONTROL.start] >> 5
    }

    /// Drop eligible indicator.
    #[inline]
    pub fn is_drop_eligible(&self) -> bool {
        self.0.as_ref()[CONTROL.start] & 0x10 != 0
    }

    /// Type of what follows the tag.
    #[inline]
    pub fn ether_type(&self) -> u16 {
        read_u16(self.0.as_ref(), ETHER_TYPE)
    }

    /// What follows the tag.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[TAG_LEN..]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Tag<T> {
    /// Sets all of the control information: `priority` 0 to 7, `identifier` 0 to 4095 (higher
    /// bits are ignored).
    #[inline]
    pub fn set_control(&mut self, priority: u8, is_drop_eligible: bool, identifier: u16) {
        let control =
            u16::from(priority & 7) << 13 | u16::from(is_drop_eligible) << 12 | identifier & 0x0fff;
        write(self.0.as_mut(), CONTROL, &control.to_be_bytes());
    }

    /// Sets the type of what follows.
    #[inline]
    pub fn set_ether_type(&mut self, ether_type: u16) {
        write(self.0.as_mut(), ETHER_TYPE, &ether_type.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 5] = [0xb1, 0x23, 0x08, 0x00, 0x45];

    #[test]
    fn reads_fields_from_bytes() {
        let tag = Tag::parse(&BYTES).unwrap();
        assert_eq!((tag.priority(), tag.is_drop_eligible(), tag.identifier()), (5, true, 0x123));
        assert_eq!((tag.ether_type(), tag.payload()), (0x0800, &[0x45][..]));
        assert!(Tag::parse(&BYTES[..3]).is_err());
    }

    #[test]
    fn writes_fields_into_filled_bytes() {
        let mut bytes = [0xa5; 4];
        let mut tag = Tag::parse(&mut bytes).unwrap();
        tag.set_control(5, true, 0x123);
        tag.set_ether_type(0x0800);
        assert_eq!(bytes, BYTES[..4]);
    }
}
