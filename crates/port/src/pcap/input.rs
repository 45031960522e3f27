//! What both formats of captures have in common.

use std::io::{self, Read};

use crate::error::PortError;

pub(super) const LINKTYPE_ETHERNET: u32 = 1;
/// Longest packet that is believed; a larger number means a broken file.
pub(super) const MAX_PACKET: usize = 262_144;

/// A packet as the file describes it; its bytes are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Described {
    pub(super) time_ns: u64,
    /// Bytes that it had when it was captured.
    pub(super) original_len: usize,
}

pub(super) fn check_link_type(link_type: u32) -> Result<(), PortError> {
    match link_type {
        LINKTYPE_ETHERNET => Ok(()),
        got => Err(PortError::CaptureFormat { field: "link type", got }),
    }
}

/// Fills `bytes`, which belong to packet `number`, or to the head of the file if that is 0.
pub(super) fn fill(input: &mut impl Read, bytes: &mut [u8], number: u64) -> Result<(), PortError> {
    input.read_exact(bytes).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => PortError::CaptureCut { packet: number },
        _ => PortError::Capture { packet: number, source },
    })
}

/// As [`fill`]; false when the file ends before the first byte.
pub(super) fn fill_or_end(
    input: &mut impl Read,
    bytes: &mut [u8],
    number: u64,
) -> Result<bool, PortError> {
    loop {
        match input.read(bytes) {
            Ok(0) => return Ok(false),
            Ok(count) => return fill(input, &mut bytes[count..], number).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(PortError::Capture { packet: number, source }),
        }
    }
}
