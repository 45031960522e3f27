//! [`Heads`]: the first bytes of many frames as columns of words.

use super::frame::Frame;

/// The first 56 bytes of up to 64 frames, turned from rows into columns: word `n` of all frames lies
/// in one array, so that whatever is done to the headers afterwards is vector arithmetic.
///
/// The naive form: `for frame { for word { columns[word][frame] = frame[8 * word ..][.. 8] } }`. With
/// wide vectors eight frames are turned at once, at five instructions a frame, with those of AVX2 four,
/// at ten.
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
/// frame[8..16].copy_from_slice(&[1, 0, 0, 0, 0, 0, 0, 2]);
/// let mut heads = Heads::new();
/// heads.load(&[frame]);
/// assert_eq!(heads.word::<1>()[0], 0x0200_0000_0000_0001);
/// assert_eq!(heads.lengths()[0], 60);
/// # Ok::<(), fwdlab_port::PortError>(())
/// ```
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Heads {
    /// Words 0 to 6 of the frames; the last column is their lengths.
    columns: [[u64; Heads::FRAMES]; WORDS],
}

/// Words of a cache line.
const WORDS: usize = 8;
const LENGTHS: usize = WORDS - 1;
/// Frames that are turned at once: as many words as the widest vector has.
const LANES: usize = 8;
/// The same with the vectors of AVX2.
#[cfg(target_arch = "x86_64")]
const FOUR: usize = 4;
/// What stands for a frame with less room than a cache line: no EtherType is zero.
static NOTHING: [u8; Heads::LINE] = [0; Heads::LINE];

impl Heads {
    /// The largest number of frames.
    pub const FRAMES: usize = 64;
    /// Bytes of room that a frame must have; one with less is loaded as zeros.
    pub const LINE: usize = 64;

    /// Zeros.
    pub const fn new() -> Self {
        Self { columns: [[0; Self::FRAMES]; WORDS] }
    }

    /// Bytes `8 N` to `8 N + 7` of all frames, `N` from 0 to 6.
    #[inline(always)]
    pub fn word<const N: usize>(&self) -> &[u64; Self::FRAMES] {
        const { assert!(N < LENGTHS) };
        &self.columns[N]
    }

    /// The lengths of all frames, bytes.
    #[inline(always)]
    pub fn lengths(&self) -> &[u64; Self::FRAMES] {
        &self.columns[LENGTHS]
    }

    /// Loads frames as elements 0, 1, ...; at most [`Heads::FRAMES`] of them. Elements behind them
    /// keep what they had.
    #[inline]
    pub fn load(&mut self, frames: &[Frame]) {
        let frames = &frames[..frames.len().min(Self::FRAMES)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            unsafe { self.load_wide(frames) };
            return;
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            unsafe { self.load_by_fours(frames) };
            return;
        }
        self.load_plain(frames, 0);
    }

    /// Takes elements of another set, by their places there (modulo 64).
    #[inline(always)]
    pub fn pick(&mut self, from: &Heads, places: &[u8]) {
        let count = places.len().min(Self::FRAMES);
        for column in 0..WORDS {
            let (to, from) = (&mut self.columns[column][..count], &from.columns[column]);
            for at in 0..count {
                to[at] = from[usize::from(places[at]) % Self::FRAMES];
            }
        }
    }

    /// One frame after the other, the first of them as element `start`.
    #[inline]
    fn load_plain(&mut self, frames: &[Frame], start: usize) {
        let count = frames.len().min(Self::FRAMES.saturating_sub(start));
        for (at, frame) in frames[..count].iter().enumerate() {
            let at = (start + at) % Self::FRAMES;
            let words = line(frame).as_chunks::<8>().0;
            for (column, word) in words[..LENGTHS].iter().enumerate() {
                self.columns[column][at] = u64::from_le_bytes(*word);
            }
            self.columns[LENGTHS][at] = frame.len() as u64;
        }
    }

    /// Eight frames at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn load_wide(&mut self, frames: &[Frame]) {
        use std::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};
        let (groups, rest) = frames.as_chunks::<LANES>();
        for (group, frames) in groups.iter().enumerate() {
            let at = group * LANES;
            // SAFETY: a line has the 64 bytes that are loaded, at any alignment.
            let row =
                |lane: usize| unsafe { _mm512_loadu_si512(line(&frames[lane]).as_ptr().cast()) };
            // Not `array::from_fn`: it is compiled without the wide registers.
            let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
            let turned = transpose(rows);
            for (number, &column) in turned[..LENGTHS].iter().enumerate() {
                let place = self.columns[number][at..at + LANES].as_mut_ptr();
                // SAFETY: `place` has room for the eight words that are stored.
                unsafe { _mm512_storeu_si512(place.cast(), column) };
            }
            for (lane, frame) in frames.iter().enumerate() {
                self.columns[LENGTHS][at + lane] = frame.len() as u64;
            }
        }
        self.load_plain(rest, groups.len() * LANES);
    }

    /// Four frames at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn load_by_fours(&mut self, frames: &[Frame]) {
        use std::arch::x86_64::{_mm256_loadu_si256, _mm256_storeu_si256};
        let (groups, rest) = frames.as_chunks::<FOUR>();
        for (group, frames) in groups.iter().enumerate() {
            let at = group * FOUR;
            for half in 0..2 {
                let first = half * FOUR;
                // SAFETY: of the 64 bytes of a line 32 are loaded, from 0 or 32 on.
                let row = |lane: usize| unsafe {
                    _mm256_loadu_si256(line(&frames[lane])[8 * first..].as_ptr().cast())
                };
                let turned = transpose_four([row(0), row(1), row(2), row(3)]);
                for (i, &column) in turned[..FOUR.min(LENGTHS - first)].iter().enumerate() {
                    let place = self.columns[first + i][at..at + FOUR].as_mut_ptr();
                    // SAFETY: `place` has room for the four words that are stored.
                    unsafe { _mm256_storeu_si256(place.cast(), column) };
                }
            }
            if let Some(lengths) = self.columns[LENGTHS][at..].first_chunk_mut::<FOUR>() {
                let [a, b, c, d] = frames;
                *lengths = [a.len() as u64, b.len() as u64, c.len() as u64, d.len() as u64];
            }
        }
        self.load_plain(rest, groups.len() * FOUR);
    }
}

impl Default for Heads {
    fn default() -> Self {
        Self::new()
    }
}

/// The first line of a frame's room.
#[inline(always)]
fn line(frame: &Frame) -> &[u8; Heads::LINE] {
    if frame.capacity() < Heads::LINE { &NOTHING } else { frame.head() }
}

/// Rows to columns. First pairs of rows are interleaved word by word, then the 128-bit parts of
/// four such pairs are sorted, in two steps.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(
    [a, b, c, d, e, f, g, h]: [std::arch::x86_64::__m512i; LANES],
) -> [std::arch::x86_64::__m512i; LANES] {
    use std::arch::x86_64::{
        __m512i, _mm512_shuffle_i64x2, _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
    };
    /// Parts 0 and 2 of both; parts 1 and 3 of both.
    const EVEN: i32 = 0x88;
    const ODD: i32 = 0xdd;
    // Of four pairs of rows with words (n, n + 2, n + 4, n + 6): the four columns.
    let sort = |p: __m512i, q: __m512i, r: __m512i, s: __m512i| {
        let (p_even, p_odd) =
            (_mm512_shuffle_i64x2::<EVEN>(p, q), _mm512_shuffle_i64x2::<ODD>(p, q));
        let (r_even, r_odd) =
            (_mm512_shuffle_i64x2::<EVEN>(r, s), _mm512_shuffle_i64x2::<ODD>(r, s));
        (
            _mm512_shuffle_i64x2::<EVEN>(p_even, r_even),
            _mm512_shuffle_i64x2::<EVEN>(p_odd, r_odd),
            _mm512_shuffle_i64x2::<ODD>(p_even, r_even),
            _mm512_shuffle_i64x2::<ODD>(p_odd, r_odd),
        )
    };
    let (zero, two, four, six) = sort(
        _mm512_unpacklo_epi64(a, b),
        _mm512_unpacklo_epi64(c, d),
        _mm512_unpacklo_epi64(e, f),
        _mm512_unpacklo_epi64(g, h),
    );
    let (one, three, five, seven) = sort(
        _mm512_unpackhi_epi64(a, b),
        _mm512_unpackhi_epi64(c, d),
        _mm512_unpackhi_epi64(e, f),
        _mm512_unpackhi_epi64(g, h),
    );
    [zero, one, two, three, four, five, six, seven]
}

/// Four rows to columns: pairs of rows are interleaved word by word, then their halves sorted.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_four(
    [a, b, c, d]: [std::arch::x86_64::__m256i; FOUR],
) -> [std::arch::x86_64::__m256i; FOUR] {
    use std::arch::x86_64::{
        _mm256_permute2x128_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
    };
    /// The lower halves of both; the upper ones.
    const LOWER: i32 = 0x20;
    const UPPER: i32 = 0x31;
    let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (even2, odd2) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<LOWER>(even, even2),
        _mm256_permute2x128_si256::<LOWER>(odd, odd2),
        _mm256_permute2x128_si256::<UPPER>(even, even2),
        _mm256_permute2x128_si256::<UPPER>(odd, odd2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, Pool, PoolConfig};

    /// Frames of random bytes, one of them with less room than a line.
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
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                let mut fours = Heads::new();
                // SAFETY: the processor has AVX2.
                unsafe { fours.load_by_fours(&batch) };
                assert_eq!(fours.columns, plain.columns, "{count} frames");
            }
            for (column, words) in heads.columns[..LENGTHS].iter().enumerate() {
                for (at, frame) in batch.iter().enumerate() {
                    let mut word = [0; 8];
                    word.copy_from_slice(&frame.head::<64>()[8 * column..8 * column + 8]);
                    assert_eq!(words[at], u64::from_le_bytes(word), "frame {at} of {count}");
                }
                assert!(words[count..].iter().all(|&word| word == 0));
            }
            assert_eq!(heads.columns[..LENGTHS], plain.columns[..LENGTHS]);
            let lengths: Vec<u64> = batch.iter().map(|frame| frame.len() as u64).collect();
            assert_eq!(heads.lengths()[..count], lengths);
            assert_eq!(plain.lengths()[..count], lengths);
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
        assert_eq!((heads.word::<1>()[2], heads.word::<1>()[3]), (0xa5a5_a5a5_a5a5_a5a5, 0));
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
