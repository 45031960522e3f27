//! The physical limit: each frame's header is fetched and rewritten, without a check, a lookup, a
//! queue or a counter. No forwarder that rewrites frames in these buffers can be faster.

use std::time::Instant;

use anyhow::Result;
use fwdlab_port::{Frame, Pool};

use super::case::{Case, Contender, FamilyName, OUTPUT_MAC, ROUTER_MAC};

/// Frames ahead that are prefetched: enough to hide the second-level cache.
const AHEAD: usize = 32;
/// Bytes of a frame that are looked at: all headers.
const HEAD: usize = 56;

/// All frames of a case, in order.
pub struct Memory {
    frames: Vec<Frame>,
    is_inet: bool,
    _pool: Pool,
}

impl Memory {
    /// The case's buffers.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(case: &Case) -> Result<Self> {
        let pool = Pool::new(case.pool())?;
        let frames = (0..case.flows).filter_map(|_| pool.take()).collect();
        Ok(Self { frames, is_inet: case.family == FamilyName::Inet, _pool: pool })
    }

    fn lap(&mut self) {
        let mut macs = [0; 12];
        macs[..6].copy_from_slice(&ROUTER_MAC.0);
        macs[6..].copy_from_slice(&OUTPUT_MAC.0);
        for at in 0..self.frames.len() {
            if let Some(next) = self.frames.get(at + AHEAD) {
                next.prefetch();
            }
            let head = self.frames[at].head_mut::<HEAD>();
            head[..12].copy_from_slice(&macs);
            if self.is_inet {
                head[22] -= 1;
                let sum = one_hop_less(u16::from_be_bytes([head[24], head[25]]));
                head[24..26].copy_from_slice(&sum.to_be_bytes());
            } else {
                head[21] -= 1;
            }
        }
    }
}

/// The IPv4 checksum after the TTL, the high byte of its word, went down by one (RFC 1624); never
/// 0xffff, as no checksum that is computed from a header is.
fn one_hop_less(checksum: u16) -> u16 {
    let sum = u32::from(checksum) + 0x0100;
    (sum + u32::from(sum >= 0xffff)) as u16
}

impl Contender for Memory {
    fn name(&self) -> &str {
        "header rewrite alone"
    }

    fn origin(&self) -> &'static str {
        "fwdlab"
    }

    fn fill(&mut self, frames: &[Vec<u8>]) {
        for (slot, bytes) in self.frames.iter_mut().zip(frames) {
            slot.set_len(bytes.len());
            slot.copy_from_slice(bytes);
        }
    }

    fn laps(&mut self, laps: usize) -> u64 {
        let start = Instant::now();
        (0..laps).for_each(|_| self.lap());
        start.elapsed().as_nanos() as u64
    }

    fn frames(&mut self) -> Vec<Vec<u8>> {
        self.frames.iter().map(|frame| frame.to_vec()).collect()
    }
}

#[cfg(test)]
mod tests {
    use fwdlab_wire::ipv4;

    use super::*;

    #[test]
    fn a_checksum_with_one_hop_less_is_the_one_of_that_header() {
        let mut bytes = [0; 20];
        let mut seen = 0;
        for source in 0..=0xffff {
            let mut packet = ipv4::Packet::prepare(&mut bytes[..], 20).unwrap();
            packet.set_source(source);
            packet.set_ttl(9);
            packet.fill_checksum();
            let before = u16::from_be_bytes([bytes[10], bytes[11]]);
            let mut packet = ipv4::Packet::prepare(&mut bytes[..], 20).unwrap();
            packet.set_source(source);
            packet.set_ttl(8);
            packet.fill_checksum();
            assert_eq!(one_hop_less(before), u16::from_be_bytes([bytes[10], bytes[11]]));
            seen += usize::from(before == 0xfeff);
        }
        assert!(seen > 0, "the checksum whose sum is all ones was among them");
    }
}
