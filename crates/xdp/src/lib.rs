//! The XDP programs of a device in network namespaces and of its tester, assembled instruction by instruction, so
//! that neither a BPF compiler nor its output is part of the build.
//!
//! - [`tester`] writes the header of the next flow into each frame and sends it,
//! - [`device`] lets frames into the kernel's stack, or forwards them itself, or drops them,
//! - [`receiver`] counts frames, finds out their flow, checks one in some whole, and drops them.
//!
//! They share an array of numbers with fwdlab, [`Shared`]. Only one processor at a time works on
//! each of its parts, so that plain loads and stores suffice.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod device;
mod headers;
mod latency;
pub mod receiver;
pub mod tester;

pub use headers::{Headers, turn};
pub use latency::{Latencies, STAMP_BYTES};

use std::io;
use std::sync::atomic::Ordering;

use fwdlab_port::bpf::Map;

/// Places in the shared array. Each side has cache lines of its own.
pub mod word {
    /// The place in the table of headers that is sent next.
    pub const NEXT: usize = 0;
    /// Frames sent.
    pub const SENT: usize = 1;
    /// Not 0: send nothing more.
    pub const STOP: usize = 2;
    /// Times that the tester had to wait for the next burst to fall due.
    pub const WAITED: usize = 3;
    /// When the next burst falls due, in 1/256 ns.
    pub const DUE: usize = 4;
    /// Frames of the present burst that are still to be sent.
    pub const BURST_LEFT: usize = 5;
    /// Bursts sent.
    pub const BURSTS: usize = 6;
    /// Sum of the bursts' delays, in 1/256 ns.
    pub const LATE_SUM: usize = 7;
    /// The largest delay of a burst, in 1/256 ns.
    pub const LATE_MOST: usize = 8;
    /// Beats of the processor so far.
    pub const BEATS: usize = 9;
    /// The sender's turns so far.
    pub const TURNS: usize = 10;
    /// Frames that may still be sent, of a pace that is counted.
    pub const LEFT: usize = 11;
    /// Frames of a burst, which follow each other at once.
    pub const BURST: usize = 12;
    /// From one burst to the next, in 1/256 ns.
    pub const GAP: usize = 13;

    /// Test frames received.
    pub const RECEIVED: usize = 16;
    /// Frames until the next check.
    pub const COUNTDOWN: usize = 17;
    /// Frames checked.
    pub const CHECKED: usize = 18;
    /// Frames with a wrong TTL or hop limit.
    pub const BAD_TTL: usize = 19;
    /// Frames with a wrong IPv4 header checksum.
    pub const BAD_CHECKSUM: usize = 20;
    /// Frames with a wrong MAC address.
    pub const BAD_MAC: usize = 21;
    /// UDP frames that belong to no flow of the plan; part of those received.
    pub const UNKNOWN_FLOW: usize = 22;
    /// Frames of another protocol; not part of those received.
    pub const STRAYS: usize = 23;
    /// Distinct flows received.
    pub const FLOWS_SEEN: usize = 24;
    /// Marked frames with other addresses or ports than their flow's: part of those received.
    pub const TRANSLATED: usize = 25;

    /// Not 0 while the device works on frames.
    pub const IS_BUSY: usize = 32;
    /// When it began, in ns.
    pub const BUSY_SINCE: usize = 33;
    /// How long it has worked, in ns.
    pub const BUSY_NS: usize = 34;
    /// Frames sent when the present batch was full, where they are put into the stack.
    pub const HANDED: usize = 35;
    /// Frames of the present batch.
    pub const BATCH: usize = 36;
    /// Frames of those batches of which some came to the receiver: nobody knows when the work on others ended, so
    /// that their time is not in [`BUSY_NS`] either. Counted where frames are put into the stack.
    pub const BUSY_FRAMES: usize = 37;

    /// Length of the array.
    pub const COUNT: usize = 40;
}

/// Byte offset of a word, for loads and stores.
const fn at(word: usize) -> i16 {
    (word * 8) as i16
}

/// What programs and fwdlab share.
#[derive(Debug)]
pub struct Shared {
    map: Map,
    beats: Map,
}

/// The latest beats of the processor that are kept, one in each word.
const BEATS_KEPT: usize = 1 << 14;

impl Shared {
    /// All zero.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn new() -> io::Result<Self> {
        let map = Map::array("fwdlab_shared", 1, word::COUNT as u32)?;
        Ok(Self { map, beats: Map::array("fwdlab_beats", 1, BEATS_KEPT as u32)? })
    }

    /// How long each beat from the `first`th on took, in ns, as far as it is kept.
    pub fn beats(&self, first: u64) -> Vec<u32> {
        let end = self.get(word::BEATS);
        let words = self.beats.words();
        let kept = first.max(end.saturating_sub(BEATS_KEPT as u64))..end;
        kept.map(|beat| words[beat as usize % BEATS_KEPT].load(Ordering::Relaxed) as u32).collect()
    }

    /// The map itself.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The present value of a word.
    pub fn get(&self, word: usize) -> u64 {
        self.map.words()[word].load(Ordering::Acquire)
    }

    /// Sets a word.
    pub fn set(&self, word: usize, value: u64) {
        self.map.words()[word].store(value, Ordering::Release);
    }
}
