//! Fields of a header: byte ranges, and reading and writing them in network byte order.
//!
//! The readers are private to the crate: views call them with offsets that `parse` has checked.

/// Where a field of more than one byte lies in its header.
pub type Field = std::ops::Range<usize>;

/// Copies a field out as an array of its width.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

#[inline]
pub(crate) fn read_u16(bytes: &[u8], field: Field) -> u16 {
    u16::from_be_bytes(array(bytes, field.start))
}

#[inline]
pub(crate) fn read_u32(bytes: &[u8], field: Field) -> u32 {
    u32::from_be_bytes(array(bytes, field.start))
}

#[inline]
pub(crate) fn read_u128(bytes: &[u8], field: Field) -> u128 {
    u128::from_be_bytes(array(bytes, field.start))
}

/// Writes `value` (network byte order already) into `field`.
#[inline]
pub(crate) fn write(bytes: &mut [u8], field: Field, value: &[u8]) {
    bytes[field].copy_from_slice(value);
}
