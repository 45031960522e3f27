//! The message that both versions of ICMP have: type, code, checksum, 32 bits of the type's own, data.

use std::marker::PhantomData;

use crate::checksum;
use crate::error::{Error, require};
use crate::field::{Field, read_u16, read_u32, write};

/// Type of message.
pub const TYPE: usize = 0;
/// Code within the type.
pub const CODE: usize = 1;
/// Checksum over the whole message, in ICMPv6 after a pseudo header.
pub const CHECKSUM: Field = 2..4;
/// The type's own 32 bits: identifier and sequence, pointer, gateway, MTU, ND flags.
pub const REST: Field = 4..8;
/// Bytes before the data.
pub const HEADER_LEN: usize = 8;

/// An ICMP message of a version.
#[derive(Debug, Clone, Copy)]
pub struct Message<T, V>(T, PhantomData<V>);

impl<T: AsRef<[u8]>, V> Message<T, V> {
    /// Views `buffer` as a message of `protocol`.
    #[inline]
    pub(crate) fn of(protocol: &'static str, buffer: T) -> Result<Self, Error> {
        require(protocol, HEADER_LEN, buffer.as_ref().len())?;
        Ok(Self(buffer, PhantomData))
    }

    /// Type of message.
    #[inline]
    pub fn kind(&self) -> u8 {
        self.0.as_ref()[TYPE]
    }

    /// Code within the type.
    #[inline]
    pub fn code(&self) -> u8 {
        self.0.as_ref()[CODE]
    }

    /// The stored checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        read_u16(self.0.as_ref(), CHECKSUM)
    }

    /// The type's own 32 bits.
    #[inline]
    pub fn rest(&self) -> u32 {
        read_u32(self.0.as_ref(), REST)
    }

    /// What follows the 8 bytes.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[HEADER_LEN..]
    }

    /// The checksum of the bytes as they stand, after a pseudo header.
    #[inline]
    pub(crate) fn computed(&self, pseudo: u64) -> u16 {
        checksum::finish(pseudo + checksum::sum(self.0.as_ref()))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>, V> Message<T, V> {
    /// Sets type and code.
    #[inline]
    pub fn set_kind(&mut self, kind: u8, code: u8) {
        self.0.as_mut()[..2].copy_from_slice(&[kind, code]);
    }

    /// Sets the type's own 32 bits.
    #[inline]
    pub fn set_rest(&mut self, rest: u32) {
        write(self.0.as_mut(), REST, &rest.to_be_bytes());
    }

    /// Computes and stores the checksum, after a pseudo header.
    #[inline]
    pub(crate) fn fill(&mut self, pseudo: u64) {
        write(self.0.as_mut(), CHECKSUM, &[0, 0]);
        let computed = self.computed(pseudo);
        write(self.0.as_mut(), CHECKSUM, &computed.to_be_bytes());
    }

    /// What follows the 8 bytes.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.0.as_mut()[HEADER_LEN..]
    }
}
