//! The stages between receiving and sending: they turn a row of frames into a row of fates.
//!
//! ```text
//! load     headers into columns of words                    (touches the frames' first line)
//! sort     by family
//! check    all conditions, edits and destinations, on the columns
//! lookup   one call per family and chunk
//! rewrite  the frames that go on                            (touches them again, now in L1)
//! general  what the fast path left over
//! ```
//!
//! A chunk is small enough that its frames' first cache lines are still in L1 when `rewrite`
//! comes to them; while one chunk is worked on, the next one is prefetched, to be written: frames
//! that another core has written travel once.

use fwdlab_port::{Frame, wide};

use crate::fast::CHUNK;
use crate::fate::GENERAL;
use crate::plane::Plane;
use crate::rows::{Lazy, OfBatch, sort};

impl Plane {
    /// Decides the fate of each frame that came in on port `input`, and rewrites those that go
    /// on. At most [`Batch::CAPACITY`] frames.
    pub(crate) fn process(&mut self, input: u8, frames: &mut [Frame]) {
        let left = if self.has_fast_path {
            // What would leave through the port that it came from must go the general way.
            let facts = &mut self.ports[usize::from(input)];
            let fast_mtu = facts.fast_mtu();
            if self.has_redirects | self.has_redirects6 {
                facts.set_fast_mtu(0);
            }
            let left = wide(
                #[inline(always)]
                || self.forward(input, frames),
            );
            self.ports[usize::from(input)].set_fast_mtu(fast_mtu);
            left
        } else {
            self.fates[..frames.len()].fill(GENERAL);
            frames.len()
        };
        if left > 0 {
            self.finish(input, frames);
        }
    }

    /// Sends all frames through the stages of the fast path, a chunk at a time; returns how many
    /// it left over.
    #[inline(always)]
    fn forward(&mut self, input: u8, frames: &mut [Frame]) -> usize {
        let facts = self.ports[usize::from(input)];
        let (mac, fib) = (facts.packed_mac(), facts.fib());
        let context = OfBatch {
            mac,
            own: &self.own,
            ports: &self.ports,
            has_batches: self.has_batches,
            has_route_cache: self.has_route_cache,
        };
        let mut view = Lazy::new(&mut self.inet[usize::from(fib)]);
        let mut view6 = Lazy::new(&mut self.inet6[usize::from(fib)]);
        let (row, row6) = (&mut self.row, &mut self.row6);
        prefetch(frames, CHUNK);
        let (mut rest, mut fates, mut left) = (frames, &mut self.fates[..], 0);
        while !rest.is_empty() {
            let count = CHUNK.min(rest.len());
            let (chunk, next) = rest.split_at_mut(count);
            let (chunk_fates, next_fates) = fates.split_at_mut(count);
            prefetch(next, count);
            // Where the last chunk had IPv6, this one will.
            let has_tails = row6.len > 0;
            if has_tails {
                row6.load(&mut self.heads, chunk);
            } else {
                self.heads.load(chunk);
            }
            let heads = (&self.heads, has_tails);
            let others = sort(&self.heads, count, row, row6);
            if others > 0 {
                chunk_fates.fill(GENERAL);
                left += others;
            }
            if row.len > 0 {
                left += row.forward(&mut view, (&mut *chunk, heads), chunk_fates, &context);
            }
            if row6.len > 0 {
                left += row6.forward(&mut view6, (&mut *chunk, heads), chunk_fates, &context);
            }
            (rest, fates) = (next, next_fates);
        }
        left
    }

    /// Sends what is left through the general path, in order.
    #[cold]
    fn finish(&mut self, input: u8, frames: &mut [Frame]) {
        for (place, frame) in frames.iter_mut().enumerate() {
            if self.fates[place] == GENERAL {
                self.fates[place] = self.general(input, frame);
            }
        }
    }
}

/// Fetches the first lines of the first `count` frames, to be written.
#[inline(always)]
fn prefetch(frames: &[Frame], count: usize) {
    let (groups, rest) = frames[..count.min(frames.len())].as_chunks::<4>();
    for [a, b, c, d] in groups {
        a.prefetch_write();
        b.prefetch_write();
        c.prefetch_write();
        d.prefetch_write();
    }
    rest.iter().for_each(Frame::prefetch_write);
}
