//! Where memory lies: drawn anew for each process.
//!
//! What a lookup costs depends on which lines of the caches its table, the frames and the stack share,
//! by up to a fifth. A process is dealt its pages at random; here lines within pages are dealt too, so
//! that the luck of one build or one start is not taken for a property of a variant.

use std::hint::black_box;

use fwdlab_port::{Frame, Pool};

/// Frames in front of those that are used: 33 lines each, so that their starts fall on each of the 64
/// lines of a page.
const FRAMES: u64 = 64;

/// Steps of the stack, each of a frame of [`deeper`] and its padding.
const STEPS: u64 = 64;

/// A piece of the heap in front of the tables has up to so many bytes.
const HEAP: u64 = 1 << 20;

/// A draw.
#[derive(Debug, Default)]
pub(super) struct Layout {
    frames: usize,
    steps: usize,
    /// Keeps the heap from giving its place to tables.
    _heap: Vec<u8>,
}

impl Layout {
    /// The draw of that number; without one everything begins where the system puts it.
    pub(super) fn of(seed: Option<u64>) -> Self {
        let Some(seed) = seed else { return Self::default() };
        let heap = (seed >> 16) % HEAP;
        Self {
            frames: (seed % FRAMES) as usize,
            steps: (seed >> 8 & (STEPS - 1)) as usize,
            _heap: black_box(vec![1; heap as usize]),
        }
    }

    /// Frames that a pool needs beside those in use.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// The first frames of `pool`, which are kept from use.
    pub(super) fn take(&self, pool: &Pool) -> Vec<Frame> {
        (0..self.frames).filter_map(|_| pool.take()).collect()
    }

    /// Does `work` further down the stack.
    pub(super) fn deeper(&self, work: &mut dyn FnMut()) {
        deeper(self.steps, work);
    }
}

#[inline(never)]
fn deeper(steps: usize, work: &mut dyn FnMut()) {
    let padding = black_box([0_u8; 48]);
    if steps == 0 {
        work()
    } else {
        deeper(steps - 1, work)
    }
    // Used again afterwards, it is not given away before.
    black_box(&padding);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_port::PoolConfig;

    #[test]
    fn each_draw_moves_frames_and_stack_and_gives_all_frames_back() {
        let place = |seed: Option<u64>| {
            let layout = Layout::of(seed);
            let frames = 4 + layout.frames();
            let pool = Pool::new(PoolConfig { frames, ..PoolConfig::default() }).expect("memory");
            let first = layout.take(&pool);
            assert_eq!(pool.available(), 4);
            let used = pool.take().expect("a frame");
            drop((first, used));
            assert!(pool.restore());
            let mut stack = 0;
            layout.deeper(&mut || {
                let here = black_box(0_u8);
                stack = &raw const here as usize;
            });
            (layout.frames(), stack)
        };
        assert_eq!(place(None).0, 0);
        assert_eq!(place(Some(0x0501)).0, 1);
        let [near, far] = [place(Some(0)), place(Some(0x3f3f))];
        assert_eq!((near.0, far.0), (0, 63));
        assert!(near.1 > far.1 + 63 * 48, "{near:x?} {far:x?}");
    }
}
