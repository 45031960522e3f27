//! First lines of many frames that differ in a few words: written and compared as one vector each.

use super::frame::Frame;

/// How many frames [`Columns`] has words of.
pub const LINES: usize = 64;
/// Bytes of a line.
const LINE: usize = 64;
/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// The words in which lines differ: for each the words of all frames, as they lie in memory.
pub type Columns<const WORDS: usize> = [[u64; LINES]; WORDS];

/// Which of the eight words of a line, for each column.
pub type Places<const WORDS: usize> = [usize; WORDS];

/// Writes the first 64 bytes of frames: a line that all share, with the bits of a frame's words added. The words of
/// the first frame are those of lane `first`. The frames in `later` are asked for meanwhile.
///
/// The naive form: `for frame { *head = line; for (place, column) { head[place] |= column[frame] } }`. A line is
/// stored at once: with four stores, three of them into the line just written, a frame took 3.1 ns instead of 2.6 on a
/// processor of family 25.
///
/// # Panics
/// A frame has less room than a line, or there are more frames than lanes.
#[inline(always)]
pub fn write_lines<const WORDS: usize>(
    (frames, later): (&mut [Frame], &[Frame]),
    line: &[u8; LINE],
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) {
    assert!(first <= LINES && frames.len() <= LINES - first, "more frames than lanes");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        unsafe { write_wide((frames, later), line, (places, columns, first)) };
        return;
    }
    write_plain((frames, later), line, (places, columns, first));
}

/// How many frames from the start have this length, and first lines with the words of their lanes, in all bits that the
/// mask has.
///
/// # Panics
/// A frame has less room than a line, or there are more frames than lanes.
#[inline(always)]
pub fn count_alike<const WORDS: usize>(
    (frames, later): (&[Frame], &[Frame]),
    (line, mask, len): (&[u8; LINE], &[u8; LINE], usize),
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) -> usize {
    assert!(first <= LINES && frames.len() <= LINES - first, "more frames than lanes");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F.
        return unsafe { count_wide((frames, later), (line, mask, len), (places, columns, first)) };
    }
    count_plain((frames, later), (line, mask, len), (places, columns, first))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn write_wide<const WORDS: usize>(
    (frames, later): (&mut [Frame], &[Frame]),
    line: &[u8; LINE],
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) {
    use std::arch::x86_64::_mm512_storeu_si512;
    let (line, masks) = (load(line), std::array::from_fn(|at| mask_of(places[at])));
    for (at, frame) in frames.iter_mut().enumerate() {
        if let Some(ahead) = later.get(at) {
            ahead.prefetch_write();
        }
        let whole = with_words(line, (masks, columns, first + at));
        let head = frame.head_mut::<LINE>();
        // SAFETY: the array has as many bytes as the vector.
        unsafe { _mm512_storeu_si512(head.as_mut_ptr().cast(), whole) };
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn count_wide<const WORDS: usize>(
    (frames, later): (&[Frame], &[Frame]),
    (line, mask, len): (&[u8; LINE], &[u8; LINE], usize),
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) -> usize {
    use std::arch::x86_64::{_mm512_test_epi64_mask, _mm512_xor_si512};
    let (line, mask, masks) =
        (load(line), load(mask), std::array::from_fn(|at| mask_of(places[at])));
    for (at, frame) in frames.iter().enumerate() {
        if let Some(ahead) = later.get(at) {
            ahead.prefetch_write();
        }
        let whole = with_words(line, (masks, columns, first + at));
        let differences = _mm512_xor_si512(whole, load(frame.head()));
        if _mm512_test_epi64_mask(differences, mask) != 0 || frame.len() != len {
            return at;
        }
    }
    frames.len()
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn load(line: &[u8; LINE]) -> std::arch::x86_64::__m512i {
    // SAFETY: the array has as many bytes as the vector.
    unsafe { std::arch::x86_64::_mm512_loadu_si512(line.as_ptr().cast()) }
}

/// The mask of a word, in a register: one that the compiler knows it would make anew for each frame.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn mask_of(place: usize) -> u8 {
    let mask: u8;
    // SAFETY: the instruction is of AVX-512F, and touches no more than both registers.
    unsafe {
        std::arch::asm!(
            "kmovw {mask}, {bits:e}",
            mask = out(kreg) mask,
            bits = in(reg) 1_u32 << (place % WORD),
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    mask
}

/// The line with the words of a lane. Each goes to its place by one instruction, which the compiler does not
/// find: it moves words by three or four.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn with_words<const WORDS: usize>(
    line: std::arch::x86_64::__m512i,
    (masks, columns, lane): ([u8; WORDS], &Columns<WORDS>, usize),
) -> std::arch::x86_64::__m512i {
    let mut whole = line;
    // Counted, here and below: builds of parts leave `zip` and `map` of arrays as calls.
    for at in 0..WORDS {
        let (mask, column) = (masks[at], &columns[at]);
        // SAFETY: a word of the column is read, and the instruction is of AVX-512F.
        unsafe {
            std::arch::asm!(
                "vporq {whole}{{{mask}}}, {whole}, qword ptr [{column} + 8 * {lane}]{{1to8}}",
                whole = inout(zmm_reg) whole,
                mask = in(kreg) mask,
                column = in(reg) column.as_ptr(),
                lane = in(reg) lane % LINES,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
    }
    whole
}

#[inline(always)]
fn write_plain<const WORDS: usize>(
    (frames, later): (&mut [Frame], &[Frame]),
    line: &[u8; LINE],
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) {
    let mut shared = [0; WORDS];
    for at in 0..WORDS {
        shared[at] = word(line, places[at]);
    }
    for (at, frame) in frames.iter_mut().enumerate() {
        if let Some(ahead) = later.get(at) {
            ahead.prefetch_write();
        }
        let head = frame.head_mut::<LINE>();
        *head = *line;
        for own in 0..WORDS {
            let word = shared[own] | columns[own][(first + at) % LINES];
            if let Some(bytes) = head[places[own] * WORD..].first_chunk_mut() {
                *bytes = word.to_ne_bytes();
            }
        }
    }
}

#[inline(always)]
fn count_plain<const WORDS: usize>(
    (frames, later): (&[Frame], &[Frame]),
    (line, mask, len): (&[u8; LINE], &[u8; LINE], usize),
    (places, columns, first): (Places<WORDS>, &Columns<WORDS>, usize),
) -> usize {
    for (at, frame) in frames.iter().enumerate() {
        if let Some(ahead) = later.get(at) {
            ahead.prefetch_write();
        }
        let head = frame.head::<LINE>();
        // What the words change is added to the differences of the rest.
        let mut own = [0; LINE / WORD];
        for word in 0..WORDS {
            own[places[word] % (LINE / WORD)] = columns[word][(first + at) % LINES];
        }
        let mut differences = 0;
        for (place, own) in own.iter().enumerate() {
            let whole = word(line, place) | own;
            differences |= (word(head, place) ^ whole) & word(mask, place);
        }
        if differences != 0 || frame.len() != len {
            return at;
        }
    }
    frames.len()
}

#[inline(always)]
fn word(line: &[u8; LINE], place: usize) -> u64 {
    line[place * WORD..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// Asks the processor to fetch what these numbers lie in, to be changed soon.
#[inline(always)]
pub fn prefetch_numbers(numbers: &[u32]) {
    #[cfg(not(target_arch = "x86_64"))]
    let _ = numbers;
    #[cfg(target_arch = "x86_64")]
    for line in numbers.chunks(LINE / size_of::<u32>()) {
        // SAFETY: as in `Frame::prefetch_write`.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags, readonly));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pool;

    const PLACES: Places<3> = [1, 4, 7];

    /// The line of a lane as the naive form makes it.
    fn whole(line: &[u8; LINE], columns: &Columns<3>, lane: usize) -> [u8; LINE] {
        let mut whole = *line;
        for (place, column) in PLACES.iter().zip(columns) {
            for (byte, own) in whole[place * WORD..].iter_mut().zip(column[lane].to_ne_bytes()) {
                *byte |= own;
            }
        }
        whole
    }

    fn columns() -> Columns<3> {
        let of = |column: u64, lane| {
            ((column << 32) | (lane as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        std::array::from_fn(|column| std::array::from_fn(|lane| of(column as u64, lane)))
    }

    #[test]
    fn lines_are_written_and_compared_as_the_naive_form_says_with_and_without_vectors() {
        let pool = Pool::with_frames(LINES).unwrap();
        let mut batch = crate::Batch::new();
        pool.take_batch(&mut batch, LINES);
        let (columns, line) = (columns(), std::array::from_fn(|at| at as u8 & 0x55));
        let (mut mask, len) = ([0xff; LINE], 60);
        mask[3] = 0xf0;
        for count in (0..=LINES).step_by(3) {
            for first in [0, 1, LINES - count] {
                let first = first.min(LINES - count);
                let of = (PLACES, &columns, first);
                for is_wide in [false, true] {
                    for frame in batch.iter_mut() {
                        frame.set_len(len);
                        frame.head_mut::<LINE>().fill(0xa5);
                    }
                    let (now, later) = batch.split_at_mut(count);
                    match is_wide {
                        true => write_lines((now, later), &line, of),
                        false => write_plain((now, later), &line, of),
                    }
                    for (at, frame) in now.iter().enumerate() {
                        assert_eq!(*frame.head(), whole(&line, &columns, first + at), "{at}");
                    }
                    assert!(later.iter().all(|frame| *frame.head() == [0xa5; LINE]));
                }
                let frames = batch.split_at(count);
                let counts = |frames| {
                    let all = (&line, &mask, len);
                    (count_alike(frames, all, of), count_plain(frames, all, of))
                };
                assert_eq!(counts(frames), (count, count));
            }
        }
    }

    #[test]
    fn what_differs_in_a_bit_of_the_mask_or_in_length_is_not_alike() {
        let pool = Pool::with_frames(8).unwrap();
        let mut batch = crate::Batch::new();
        pool.take_batch(&mut batch, 8);
        let (columns, line, len) = (columns(), [0x11; LINE], 62);
        let mut mask = [0xff; LINE];
        (mask[0], mask[9], mask[63]) = (0, 0x0f, 0);
        for frame in batch.iter_mut() {
            frame.set_len(len);
        }
        let of = (PLACES, &columns, 5);
        write_lines((&mut batch[..], &[]), &line, of);
        let count = |batch: &crate::Batch| {
            let (frames, all) = ((&batch[..], &[][..]), (&line, &mask, len));
            let count = count_alike(frames, all, of);
            assert_eq!(count, count_plain(frames, all, of));
            count
        };
        for bit in 0..LINE * 8 {
            for lane in [0, 6, 7] {
                let flip = |batch: &mut crate::Batch| {
                    batch[lane].head_mut::<LINE>()[bit / 8] ^= 1 << (bit % 8);
                };
                flip(&mut batch);
                let is_seen = mask[bit / 8] >> (bit % 8) & 1 != 0;
                assert_eq!(count(&batch), if is_seen { lane } else { 8 }, "bit {bit} of {lane}");
                flip(&mut batch);
            }
        }
        batch[3].set_len(len + 1);
        assert_eq!(count(&batch), 3);
    }
}
