//! The frames of a traffic: their headers in the order of sending.

use std::io;
use std::sync::atomic::Ordering;

use fwdlab_port::bpf::Map;
use fwdlab_traffic::{Carried, FlowSet, FrameOf, Order, flow_frame, header_len};
use fwdlab_wire::ethernet;

/// Bytes of a header in the table.
const HEADER_ROOM: usize = 64;

/// The same seed in every trial: variants are compared with the same order of flows.
const SEED: u64 = 1;

/// Headers of a traffic in a map.
#[derive(Debug)]
pub struct Headers {
    /// [`HEADER_ROOM`] bytes in each element.
    pub map: Map,
    /// Elements.
    pub entries: u32,
    /// Bytes of a header that are used.
    pub length: usize,
    /// The first frame as a whole, without FCS.
    pub frame: Vec<u8>,
}

impl Headers {
    /// Makes the headers; `frame_bytes` counts the FCS.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn new(flows: &FlowSet, order: Order, frame_bytes: u16) -> io::Result<Self> {
        let turn: Vec<_> =
            turn(flows, order).iter().map(|&flow| FrameOf { flow, number: 0 }).collect();
        Self::of_turn(flows, &turn, frame_bytes, (0, Carried::Datagram { has_mark: false }))
    }

    /// As [`Headers::new`], of these frames one after the other, to a port of the device.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn of_turn(
        flows: &FlowSet,
        turn: &[FrameOf],
        frame_bytes: u16,
        (port, carried): (usize, Carried<'_>),
    ) -> io::Result<Self> {
        let entries = turn.len() as u32;
        let length = header_len(flows, carried);
        let words = HEADER_ROOM.max(length).div_ceil(8);
        let map = Map::array("fwdlab_headers", entries, words as u32)?;
        let mut first = Vec::new();
        let too_short = || io::Error::other("a frame too short for its headers");
        for (&flow, element) in turn.iter().zip(map.words().chunks_exact(words)) {
            let whole = usize::from(frame_bytes) - ethernet::FCS_LEN;
            let frame = flow_frame(flows, flow, whole, (port, carried)).ok_or_else(too_short)?;
            let mut header = vec![0; words * 8];
            header[..length].copy_from_slice(&frame[..length]);
            for (word, bytes) in element.iter().zip(header.as_chunks::<8>().0) {
                word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
            if first.is_empty() {
                first = frame;
            }
        }
        Ok(Self { map, entries, length, frame: first })
    }
}

/// The numbers of a traffic's flows in the order of sending.
pub fn turn(flows: &FlowSet, order: Order) -> Vec<u32> {
    order.turn(flows.count(), SEED)
}
