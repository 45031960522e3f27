//! Sequence numbers of one flow: what is missing, double, or late.

/// What was wrong with a flow's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowFaults {
    /// Sequence numbers skipped and not seen later.
    pub lost: u32,
    /// Frames received again.
    pub duplicated: u32,
    /// Frames that came after a later one.
    pub reordered: u32,
}

impl FlowFaults {
    /// With what is missing at the end, of so many frames that were sent. Counts as numbers do, modulo 2^32: a frame
    /// whose number was changed on its way may have seemed far ahead.
    pub(crate) fn at_end(mut self, state: &FlowState, sent: u32) -> Self {
        self.lost = self.lost.wrapping_add(sent.wrapping_sub(state.next()));
        self
    }

    /// Notes what a frame's number said, and gives it back.
    pub(crate) fn count(&mut self, arrival: Arrival) -> Arrival {
        match arrival {
            Arrival::InOrder => {}
            Arrival::Ahead(skipped) => self.lost = self.lost.wrapping_add(skipped),
            Arrival::Late => {
                self.lost = self.lost.saturating_sub(1);
                self.reordered += 1;
            }
            Arrival::Again => self.duplicated += 1,
        }
        arrival
    }
}

/// Where a flow's sequence is. 8 bytes, so that 2000 flows stay in the first-level cache.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowState {
    /// The next number expected.
    next: u32,
    /// Bit `i`: number `next - 1 - i` has been received. Not zero once a frame has come.
    window: u32,
}

/// Where a flow's sequence was when last something was not in order: all frames since were, so that the number
/// expected now says the rest, and a flow without faults needs no more than that number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Past {
    next: u32,
    window: u32,
}

impl Past {
    /// The sequence now that the number expected is this. It must have been less than 2^32 frames.
    #[inline]
    pub(crate) fn state(self, next: u32) -> FlowState {
        let in_order = next.wrapping_sub(self.next);
        let window = match in_order {
            0 => self.window,
            1..WINDOW => self.window << in_order | ((1 << in_order) - 1),
            _ => u32::MAX,
        };
        FlowState { next, window }
    }
}

/// Numbers behind the newest that the window can tell apart.
const WINDOW: u32 = u32::BITS;

/// What a frame's number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    InOrder,
    /// So many numbers were skipped.
    Ahead(u32),
    /// Older than the newest, not seen before.
    Late,
    /// Seen before; or older than the window, which cannot be told apart from it.
    Again,
}

impl FlowState {
    /// Whether this is the number expected. `mask` says which bits of it the frame carries.
    #[inline(always)]
    pub(crate) fn is_next(&self, carried: u32, mask: u32) -> bool {
        (carried ^ self.next) & mask == 0
    }

    /// Takes the frame expected.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.window = self.window << 1 | 1;
    }

    /// Takes any frame.
    #[inline]
    pub(crate) fn take(&mut self, carried: u32, mask: u32) -> Arrival {
        if self.is_next(carried, mask) {
            self.advance();
            return Arrival::InOrder;
        }
        self.take_other(carried, mask)
    }

    #[cold]
    #[inline(never)]
    fn take_other(&mut self, carried: u32, mask: u32) -> Arrival {
        let ahead = carried.wrapping_sub(self.next) & mask;
        if ahead <= mask / 2 {
            self.next = self.next.wrapping_add(ahead + 1);
            self.window = if ahead + 1 >= WINDOW { 1 } else { self.window << (ahead + 1) | 1 };
            return Arrival::Ahead(ahead);
        }
        let behind = self.next.wrapping_sub(1).wrapping_sub(carried) & mask;
        if behind >= WINDOW {
            return Arrival::Again;
        }
        let bit = 1 << behind;
        let was_seen = self.window & bit != 0;
        self.window |= bit;
        if was_seen { Arrival::Again } else { Arrival::Late }
    }

    pub(crate) fn past(&self) -> Past {
        Past { next: self.next, window: self.window }
    }

    pub(crate) fn is_seen(&self) -> bool {
        self.window != 0
    }

    /// The number after the newest received; with `sent` it tells what is missing at the end.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: u32 = 0xf_ffff;

    fn run(numbers: &[u32]) -> Vec<Arrival> {
        let mut state = FlowState::default();
        numbers.iter().map(|&number| state.take(number, MASK)).collect()
    }

    #[test]
    fn tells_gap_late_frame_and_duplicate_apart() {
        use Arrival::*;
        assert_eq!(run(&[0, 1, 2]), [InOrder, InOrder, InOrder]);
        assert_eq!(run(&[0, 3, 1, 2, 4]), [InOrder, Ahead(2), Late, Late, InOrder]);
        assert_eq!(run(&[0, 0, 1, 1, 0]), [InOrder, Again, InOrder, Again, Again]);
        assert_eq!(run(&[5, 5, 0]), [Ahead(5), Again, Late]);
    }

    /// The sum was too large for its number, and the tester ended.
    #[test]
    fn a_number_that_was_changed_on_its_way_does_not_end_the_count() {
        for changed in [0x5500_0002, 0x7fff_ffff, 0xffff_ffff, 40] {
            let (mut state, mut faults) = (FlowState::default(), FlowFaults::default());
            for number in [0, 1, changed, 3, 4, changed, 6] {
                faults.count(state.take(number, u32::MAX));
            }
            let faults = faults.at_end(&state, 7);
            assert!(faults.lost <= 7, "{changed:x}: {faults:?}");
        }
    }

    #[test]
    fn keeps_count_over_the_wrap_of_the_flow_label() {
        let mut state = FlowState { next: MASK, window: 1 };
        assert_eq!(state.take(MASK, MASK), Arrival::InOrder);
        assert_eq!(state.take(0, MASK), Arrival::InOrder);
        assert_eq!(state.take(2, MASK), Arrival::Ahead(1));
        assert_eq!(state.take(1, MASK), Arrival::Late);
        assert_eq!(state.next(), MASK + 4);
    }

    #[test]
    fn agrees_with_a_set_of_numbers_seen() {
        let mut random = 7_u64;
        for _ in 0..200 {
            let (mut state, mut past) = (FlowState::default(), Past::default());
            let (mut seen, mut newest) = (std::collections::HashSet::new(), None);
            for step in 0..300_u32 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let number = (step + 15).saturating_sub((random >> 59) as u32);
                let expected = match (seen.insert(number), newest) {
                    (false, _) => Arrival::Again,
                    (true, None) if number == 0 => Arrival::InOrder,
                    (true, None) => Arrival::Ahead(number),
                    (true, Some(top)) if number == top + 1 => Arrival::InOrder,
                    (true, Some(top)) if number > top => Arrival::Ahead(number - top - 1),
                    (true, Some(_)) => Arrival::Late,
                };
                newest = newest.max(Some(number));
                // As it is kept between frames: in full only when something is not in order.
                let mut known = past.state(state.next());
                assert_eq!(known.take(number, MASK), expected, "number {number} in step {step}");
                if expected != Arrival::InOrder {
                    past = known.past();
                }
                assert_eq!(state.take(number, MASK), expected, "number {number} in step {step}");
                assert_eq!((state.next, state.window), (known.next, known.window));
            }
        }
    }
}
