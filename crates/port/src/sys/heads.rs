//! [`Heads`] and [`Tails`]: the first bytes of many frames as columns of words.

use super::frame::Frame;

/// The first 34 bytes of up to 64 frames, turned from rows into columns: word `n` of all frames lies
/// in one array, so that whatever is done to the headers afterwards is vector arithmetic. Words have
/// 32 bits, as the fields of headers need no more, and a vector has twice as many of them as of 64. They
/// begin at byte 2, so that those of an IP header are whole.
///
/// The naive form: `for frame { for word { columns[word][frame] = frame[2 + 4 * word ..][.. 4] } }`. With
/// the vectors of AVX2 eight frames are turned at once, at ten instructions a frame.
///
/// Words are loaded little-endian: the first byte on the wire is the lowest.
///
/// Plain loops over indices, here and in the router's stages: `zip`, `map` of arrays and
/// `copy_from_slice` are functions of the standard library that are not marked for inlining, so
/// that a build without link-time optimisation calls them for every word.
///
/// ```
/// use fwdlab_port::{Heads, Pool};
/// let pool = Pool::with_frames(1)?;
/// let mut frame = pool.take().expect("one frame is free");
/// frame.set_len(60);
/// frame[14..18].copy_from_slice(&[1, 0, 0, 2]);
/// let mut heads = Heads::new();
/// heads.load(&[frame]);
/// assert_eq!(heads.word::<3>()[0], 0x0200_0001);
/// assert_eq!(heads.lengths()[0], 60);
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Heads {
    columns: [Column; WORDS],
    /// Bytes 0 and 1.
    starts: Column,
    lengths: Column,
}

/// A word of each frame.
type Column = [u32; Heads::FRAMES];
/// The destination of each frame.
type Numbers = [u128; Heads::FRAMES];

/// Words of a frame that are turned, and the byte at which they begin.
const WORDS: usize = 8;
const BEGIN: usize = 2;
/// Frames that are turned at once: as many words as a vector of AVX2 has.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 8;
/// What stands for a frame with less room than a cache line: no EtherType is zero.
static NOTHING: [u8; Heads::LINE] = [0; Heads::LINE];

impl Heads {
    /// The largest number of frames.
    pub const FRAMES: usize = 64;
    /// Bytes of room that a frame must have; one with less is loaded as zeros.
    pub const LINE: usize = 64;

    /// Zeros.
    pub const fn new() -> Self {
        let zeros = [0; Self::FRAMES];
        Self { columns: [zeros; WORDS], starts: zeros, lengths: zeros }
    }

    /// Bytes `4 N + 2` to `4 N + 5` of all frames, `N` from 0 to 7.
    #[inline(always)]
    pub fn word<const N: usize>(&self) -> &[u32; Self::FRAMES] {
        const { assert!(N < WORDS) };
        &self.columns[N]
    }

    /// Bytes 0 and 1 of all frames.
    #[inline(always)]
    pub fn starts(&self) -> &[u32; Self::FRAMES] {
        &self.starts
    }

    /// The lengths of all frames, bytes.
    #[inline(always)]
    pub fn lengths(&self) -> &[u32; Self::FRAMES] {
        &self.lengths
    }

    /// Loads frames as elements 0, 1, ...; at most [`Heads::FRAMES`] of them. Elements behind them
    /// keep what they had.
    #[inline]
    pub fn load(&mut self, frames: &[Frame]) {
        self.load_and(frames, None);
    }

    /// As [`Heads::load`], and what [`Tails::load`] does, so that each frame is visited once.
    #[inline]
    pub fn load_with_tails(&mut self, frames: &[Frame], tails: &mut Tails, numbers: &mut Numbers) {
        self.load_and(frames, Some((tails, numbers)));
    }

    #[inline(always)]
    fn load_and(&mut self, frames: &[Frame], tails: Option<(&mut Tails, &mut Numbers)>) {
        let frames = &frames[..frames.len().min(Self::FRAMES)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.load_by_eights(frames, tails) };
            return;
        }
        self.load_plain(frames, 0);
        if let Some((tails, numbers)) = tails {
            tails.load_plain(frames, 0, numbers);
        }
    }

    /// Takes elements of another set, by their places there (modulo 64).
    #[inline(always)]
    pub fn pick(&mut self, from: &Heads, places: &[u8]) {
        let places = &places[..places.len().min(Self::FRAMES)];
        for column in 0..WORDS {
            pick(&mut self.columns[column], &from.columns[column], places);
        }
        pick(&mut self.starts, &from.starts, places);
        pick(&mut self.lengths, &from.lengths, places);
    }

    /// One frame after the other, the first of them as element `start`.
    #[inline(never)]
    fn load_plain(&mut self, frames: &[Frame], start: usize) {
        let count = frames.len().min(Self::FRAMES.saturating_sub(start));
        for (at, frame) in frames[..count].iter().enumerate() {
            let at = (start + at) % Self::FRAMES;
            let line = line(frame);
            for (column, word) in line[BEGIN..].as_chunks::<4>().0[..WORDS].iter().enumerate() {
                self.columns[column][at] = u32::from_le_bytes(*word);
            }
            self.starts[at] = u16::from_le_bytes([line[0], line[1]]).into();
            self.lengths[at] = frame.len() as u32;
        }
    }

    /// Eight frames at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn load_by_eights(&mut self, frames: &[Frame], mut tails: Option<(&mut Tails, &mut Numbers)>) {
        use std::arch::x86_64::{_mm256_cvtepu16_epi32, _mm256_storeu_si256};
        let (groups, rest) = frames[..frames.len().min(Self::FRAMES)].as_chunks::<LANES>();
        for (group, frames) in groups.iter().enumerate() {
            let at = group * LANES;
            // SAFETY: there are at most as many groups as `FRAMES` has, so that all eight elements from
            // `at` on are there.
            let store = |column: &mut Column, words| unsafe {
                _mm256_storeu_si256(column.as_mut_ptr().add(at).cast(), words);
            };
            let Some(lengths) = lengths(frames) else {
                self.load_plain(frames, at);
                if let Some((tails, numbers)) = &mut tails {
                    tails.load_plain(frames, at, numbers);
                }
                continue;
            };
            store(&mut self.lengths, lengths);
            // SAFETY: each frame has the room of a line, which is initialised, and nobody writes to it
            // while it is borrowed.
            let (starts, first, second) = unsafe {
                (starts(frames), four_words(frames, BEGIN), four_words(frames, BEGIN + 16))
            };
            store(&mut self.starts, _mm256_cvtepu16_epi32(starts));
            for number in 0..4 {
                store(&mut self.columns[number], first[number]);
                store(&mut self.columns[number + 4], second[number]);
            }
            if let Some((tails, numbers)) = &mut tails {
                // SAFETY: as above.
                unsafe { tails.load_eight(frames, group, numbers) };
            }
        }
        if !rest.is_empty() {
            self.load_plain(rest, groups.len() * LANES);
            if let Some((tails, numbers)) = tails {
                tails.load_plain(rest, groups.len() * LANES, numbers);
            }
        }
    }
}

impl Default for Heads {
    fn default() -> Self {
        Self::new()
    }
}

/// What IPv6 frames have behind the words of [`Heads`], of as many frames.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Tails {
    sources: Column,
    destinations: Column,
}

/// Where an IPv6 frame has the last word of its source; behind it comes the destination.
const SOURCE_END: usize = 34;
const DESTINATION: usize = SOURCE_END + 4;

impl Tails {
    /// Zeros.
    pub const fn new() -> Self {
        Self { sources: [0; Heads::FRAMES], destinations: [0; Heads::FRAMES] }
    }

    /// The last words of the sources, as they lie in the frames.
    #[inline(always)]
    pub fn sources(&self) -> &[u32; Heads::FRAMES] {
        &self.sources
    }

    /// The first words of the destinations, as they lie in the frames.
    #[inline(always)]
    pub fn destinations(&self) -> &[u32; Heads::FRAMES] {
        &self.destinations
    }

    /// Loads frames as [`Heads::load`] does, and their destinations as numbers.
    #[inline]
    pub fn load(&mut self, frames: &[Frame], numbers: &mut Numbers) {
        let frames = &frames[..frames.len().min(Heads::FRAMES)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.load_by_eights(frames, numbers) };
            return;
        }
        self.load_plain(frames, 0, numbers);
    }

    /// Loads one frame as element `at` (modulo 64).
    #[inline]
    pub fn load_one(&mut self, at: usize, frame: &Frame, numbers: &mut Numbers) {
        let (at, line) = (at % Heads::FRAMES, line(frame));
        let word =
            |at: usize| line[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        (self.sources[at], self.destinations[at]) = (word(SOURCE_END), word(DESTINATION));
        numbers[at] =
            line[DESTINATION..].first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
    }

    #[inline(never)]
    fn load_plain(&mut self, frames: &[Frame], start: usize, numbers: &mut Numbers) {
        for (at, frame) in frames.iter().enumerate() {
            self.load_one(start + at, frame, numbers);
        }
    }

    /// Eight frames at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn load_by_eights(&mut self, frames: &[Frame], numbers: &mut Numbers) {
        let (groups, rest) = frames[..frames.len().min(Heads::FRAMES)].as_chunks::<LANES>();
        for (group, frames) in groups.iter().enumerate() {
            let at = group * LANES;
            if lengths(frames).is_none() {
                self.load_plain(frames, at, numbers);
                continue;
            }
            // SAFETY: each frame has the room of a line.
            unsafe { self.load_eight(frames, group, numbers) };
        }
        if !rest.is_empty() {
            self.load_plain(rest, groups.len() * LANES, numbers);
        }
    }

    /// Eight frames as that group of elements (modulo the number of groups).
    ///
    /// # Safety
    /// Each frame has the room of a line.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_eight(&mut self, frames: &[Frame; LANES], group: usize, numbers: &mut Numbers) {
        use std::arch::x86_64::{
            _mm_loadu_si128, _mm_set_epi8, _mm_shuffle_epi8, _mm_storeu_si128, _mm256_storeu_si256,
        };
        let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let at = group % (Heads::FRAMES / LANES) * LANES;
        // SAFETY: the caller's; a line is initialised, and nobody writes to it while it is borrowed.
        let [sources, destinations, _, _] = unsafe { four_words(frames, SOURCE_END) };
        // SAFETY: all eight elements from `at` on are there.
        unsafe {
            _mm256_storeu_si256(self.sources.as_mut_ptr().add(at).cast(), sources);
            _mm256_storeu_si256(self.destinations.as_mut_ptr().add(at).cast(), destinations);
        }
        for (lane, frame) in frames.iter().enumerate() {
            // SAFETY: both of the above; the bytes of a number are the other way round.
            unsafe {
                let bytes = _mm_loadu_si128(frame.start().add(DESTINATION).cast());
                let place = numbers.as_mut_ptr().add(at + lane);
                _mm_storeu_si128(place.cast(), _mm_shuffle_epi8(bytes, reverse));
            }
        }
    }
}

impl Default for Tails {
    fn default() -> Self {
        Self::new()
    }
}

/// The first line of a frame's room; zeros where it has less.
#[inline(always)]
fn line(frame: &Frame) -> &[u8; Heads::LINE] {
    if frame.capacity() < Heads::LINE { &NOTHING } else { frame.head() }
}

#[inline(always)]
fn pick(to: &mut Column, from: &Column, places: &[u8]) {
    let to = &mut to[..places.len()];
    for at in 0..places.len() {
        to[at] = from[usize::from(places[at]) % Heads::FRAMES];
    }
}

/// The lengths of eight frames, in order; `None` if one of them has less room than a line.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn lengths([a, b, c, d, e, f, g, h]: &[Frame; LANES]) -> Option<std::arch::x86_64::__m256i> {
    use std::arch::x86_64::{
        _mm_castpd_ps, _mm_loadh_pd, _mm_loadl_pd, _mm_setzero_pd, _mm_shuffle_ps,
        _mm256_and_si256, _mm256_castps_si256, _mm256_cmpgt_epi32, _mm256_movemask_epi8,
        _mm256_set_m128, _mm256_set1_epi32, _mm256_srli_epi32,
    };
    // SAFETY: eight bytes can be read where `extent` says.
    let two = |one: &Frame, other: &Frame| unsafe {
        let low = _mm_loadl_pd(_mm_setzero_pd(), one.extent().cast());
        _mm_castpd_ps(_mm_loadh_pd(low, other.extent().cast()))
    };
    // The lower halves of these.
    let four = |ab, cd| _mm_shuffle_ps::<0x88>(ab, cd);
    let (low, high) = (four(two(a, b), two(c, d)), four(two(e, f), two(g, h)));
    let both = _mm256_castps_si256(_mm256_set_m128(high, low));
    let rooms = _mm256_srli_epi32::<16>(both);
    let is_short = _mm256_cmpgt_epi32(_mm256_set1_epi32(Heads::LINE as i32), rooms);
    let lengths = _mm256_and_si256(both, _mm256_set1_epi32(0xffff));
    (_mm256_movemask_epi8(is_short) == 0).then_some(lengths)
}

/// Bytes 0 and 1 of eight frames.
///
/// # Safety
/// Each frame has the room of a line.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn starts(frames: &[Frame; LANES]) -> std::arch::x86_64::__m128i {
    use std::arch::x86_64::_mm_set_epi16;
    // SAFETY: the caller's.
    let start = |lane: usize| unsafe { frames[lane].start().cast::<i16>().read_unaligned() };
    let [a, b, c, d] = [start(0), start(1), start(2), start(3)];
    _mm_set_epi16(start(7), start(6), start(5), start(4), d, c, b, a)
}

/// Four words of eight frames, from a byte on, in columns.
///
/// # Safety
/// Each frame can be read for 16 bytes from that byte on.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn four_words(frames: &[Frame; LANES], from: usize) -> [std::arch::x86_64::__m256i; 4] {
    use std::arch::x86_64::{_mm_loadu_si128, _mm256_castsi128_si256, _mm256_inserti128_si256};
    // SAFETY: the caller's, at any alignment.
    let row = |lane: usize| unsafe { _mm_loadu_si128(frames[lane].start().add(from).cast()) };
    let pair = |lane: usize| {
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(row(lane)), row(lane + 4))
    };
    // Not `array::map`: it is compiled without the wide registers.
    transpose([pair(0), pair(1), pair(2), pair(3)])
}

/// Rows to columns: pairs of rows are interleaved word by word, then pairs of those by pairs of words.
/// Each vector holds words of two rows, which stay in their halves.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn transpose([a, b, c, d]: [std::arch::x86_64::__m256i; 4]) -> [std::arch::x86_64::__m256i; 4] {
    use std::arch::x86_64::{
        _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    };
    let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (low2, high2) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(low, low2),
        _mm256_unpackhi_epi64(low, low2),
        _mm256_unpacklo_epi64(high, high2),
        _mm256_unpackhi_epi64(high, high2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Pool, PoolConfig};

    /// Frames of random bytes.
    fn frames(count: usize) -> (Pool, Batch) {
        let pool = Pool::new(PoolConfig { frames: 64, ..PoolConfig::default() }).unwrap();
        let mut batch = Batch::new();
        pool.take_batch(&mut batch, count);
        let mut random = 7_u64;
        for (at, frame) in batch.iter_mut().enumerate() {
            frame.set_len(60 + at);
            for byte in frame.iter_mut() {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = (random >> 56) as u8;
            }
        }
        (pool, batch)
    }

    #[test]
    fn columns_are_the_words_of_the_frames_however_many_there_are() {
        for count in 0..=64 {
            let (_pool, batch) = frames(count);
            let (mut heads, mut plain) = (Heads::new(), Heads::new());
            heads.load(&batch);
            plain.load_plain(&batch, 0);
            for (column, words) in heads.columns.iter().enumerate() {
                for (at, frame) in batch.iter().enumerate() {
                    let mut word = [0; 4];
                    word.copy_from_slice(&frame.head::<64>()[4 * column + 2..4 * column + 6]);
                    assert_eq!(words[at], u32::from_le_bytes(word), "frame {at} of {count}");
                }
                assert!(words[count..].iter().all(|&word| word == 0));
            }
            assert_eq!((heads.columns, heads.starts), (plain.columns, plain.starts));
            for (at, frame) in batch.iter().enumerate() {
                let start = u16::from_le_bytes([frame[0], frame[1]]);
                assert_eq!(heads.starts()[at], u32::from(start));
            }
            let lengths: Vec<u32> = batch.iter().map(|frame| frame.len() as u32).collect();
            assert_eq!(heads.lengths()[..count], lengths);
            assert_eq!(plain.lengths()[..count], lengths);
        }
    }

    #[test]
    fn tails_are_the_words_behind_and_the_destinations() {
        for count in 0..=64 {
            let (_pool, batch) = frames(count);
            let (mut tails, mut numbers) = (Tails::new(), [0; 64]);
            tails.load(&batch, &mut numbers);
            let (mut heads, mut together, mut same) = (Heads::new(), Tails::new(), [0; 64]);
            heads.load_with_tails(&batch, &mut together, &mut same);
            assert_eq!(
                (&tails.sources, &tails.destinations, &numbers),
                (&together.sources, &together.destinations, &same)
            );
            for (at, frame) in batch.iter().enumerate() {
                let head = frame.head::<64>();
                assert_eq!(tails.sources()[at].to_le_bytes(), head[34..38]);
                assert_eq!(tails.destinations()[at].to_le_bytes(), head[38..42]);
                assert_eq!(numbers[at].to_be_bytes(), head[38..54], "frame {at} of {count}");
            }
            assert!(numbers[count..].iter().all(|&number| number == 0));
        }
    }

    #[test]
    fn a_frame_without_room_for_a_line_is_loaded_as_zeros() {
        let pool =
            Pool::new(PoolConfig { frames: 8, capacity: 64, headroom: 0, spread: false }).unwrap();
        let mut batch = Batch::new();
        pool.take_batch(&mut batch, 8);
        for frame in batch.iter_mut() {
            frame.set_len(60);
            frame.fill(0xa5);
        }
        assert!(batch[3].pull_front(4));
        let mut heads = Heads::new();
        heads.load(&batch);
        assert_eq!((heads.word::<1>()[2], heads.word::<1>()[3]), (0xa5a5_a5a5, 0));
        let (mut tails, mut numbers) = (Tails::new(), [1; 64]);
        tails.load(&batch, &mut numbers);
        assert_eq!((tails.sources()[2], tails.sources()[3]), (0xa5a5_a5a5, 0));
        assert_eq!((numbers[3], numbers[8]), (0, 1));
    }

    #[test]
    fn picked_elements_come_with_all_their_words() {
        let (_pool, batch) = frames(64);
        let (mut heads, mut picked) = (Heads::new(), Heads::new());
        heads.load(&batch);
        picked.pick(&heads, &[63, 0, 17]);
        for (at, place) in [63, 0, 17].into_iter().enumerate() {
            assert_eq!(picked.word::<0>()[at], heads.word::<0>()[place]);
            assert_eq!(picked.lengths()[at], heads.lengths()[place]);
        }
    }
}
