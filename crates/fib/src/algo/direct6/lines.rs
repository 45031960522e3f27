//! Small changes of large nodes: only the lines that a route touches.

use std::sync::atomic::Ordering::{Relaxed, Release};

use super::KEY_BITS;
use super::build::{Builder, bits_of, first_of};
use super::line;
use crate::algo::spans::{self, Span};
use crate::family::Inet6;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Bits before the key of a node below a page.
const NODE_LEN: u32 = 32;
/// The key after the one of such a node.
const NEXT_KEY: u32 = 3;

impl Builder {
    /// Replaces the lines that a route longer than /32 touches; false when its node has only one
    /// line or becomes too narrow, and is to be built anew.
    pub(super) fn write_lines(
        &mut self,
        prefix: Prefix<Inet6>,
        rib: &Rib<Inet6>,
    ) -> Result<bool, &'static str> {
        let page = self.page((prefix.addr() >> 112) as usize);
        if bits_of(page) != KEY_BITS {
            return Ok(false);
        }
        let place = (prefix.addr() >> (128 - NODE_LEN)) as usize & 0xffff;
        let node = self.entry(first_of(page) + place);
        let bits = bits_of(node);
        if bits == 0 {
            return Ok(false);
        }
        let len = u32::from(prefix.len()).min(NODE_LEN + bits) as u8;
        let within = Prefix::covering(prefix.addr(), len);
        let spans = self.spans(rib, within)?;
        let shift = 128 - NODE_LEN - bits;
        let blocks = (within.addr() >> shift) as u64..=(within.last_addr() >> shift) as u64;
        let mut result = Ok(true);
        spans::by_block(&spans, shift, blocks, |block, part| {
            if result == Ok(true) {
                result = self.write_line(node, block, part);
            }
        });
        result
    }

    /// Replaces one line of a node; false when it has too many runs.
    fn write_line(
        &mut self,
        node: u32,
        block: u64,
        spans: &[Span<u128, u32>],
    ) -> Result<bool, &'static str> {
        const FULL: &str = "table memory is full";
        let bits = bits_of(node);
        let index = block as u32 & ((1 << bits) - 1);
        let last = ((index + 1) << (KEY_BITS - bits)) - 1;
        let mut runs = self.runs(spans, NEXT_KEY - 1).map_err(|_| FULL)?;
        // What follows a run of one key may begin behind the line.
        runs.retain(|run| u32::from(run.0) <= last);
        if runs.len() > line::runs(self.is_wide) {
            self.retire_runs(&runs, NEXT_KEY);
            return Ok(false);
        }
        let line = self.line(&runs, NEXT_KEY).map_err(|_| FULL)?;
        let slot = &self.tables.records.region().halves()[first_of(node) + index as usize];
        let old = slot.load(Relaxed);
        if old != line {
            slot.store(line, Release);
            self.retire_line(old);
        }
        Ok(true)
    }
}
