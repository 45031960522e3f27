//! The way of many lookups together: stages and chunks.

use super::layout::{
    CHUNK, FEW, FEW_OF_PROBES, LINE_KEY, LINE_OFFSET, MORE, PROBES, STAGE, STAGES, key, slot,
};
use super::reader::Reader;
use super::stages::{Stages, for_each_bit, for_each_lane};
use crate::algo::pending::Pending;
use crate::nexthop::NexthopId;
use crate::simd::count::Count;
use crate::simd::lanes;

impl<const WIDE: bool> Reader<'_, WIDE> {
    /// What `whole` says of [`STAGE`] addresses.
    #[inline(always)]
    pub(super) fn first_look(self, addrs: &[u128; STAGE], answers: &mut [NexthopId; STAGE]) {
        for_each_lane(|i| answers[i] = NexthopId(self.whole(addrs[i])));
    }

    /// A bit for each address for which `whole` said [`MORE`]. Of a few, answers those in gaps and
    /// fetches the pages of the others.
    #[inline(always)]
    pub(super) fn second_look<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) -> u32 {
        let more = C::high_bits(&lanes::map(answers, |answer| answer.0));
        if more.count_ones() > FEW {
            return more;
        }
        let mut rest = 0;
        for_each_bit(more, |i| match self.in_gap(answers[i].0, addrs[i]) {
            Some(nexthop) => answers[i] = NexthopId(nexthop),
            None => {
                rest |= 1 << i;
                self.entries.prefetch(self.in_page(addrs[i]));
            }
        });
        rest
    }

    /// The fixed path, one address after the other; returns the lines.
    #[inline(always)]
    pub(super) fn at_once<C: Count>(
        self,
        addrs: &[u128; STAGE],
        answers: &mut [NexthopId; STAGE],
    ) -> [u32; STAGE] {
        let mut lines = [0; STAGE];
        for_each_lane(|i| {
            lines[i] = self.line(addrs[i]);
            answers[i] = self.answer::<C>(lines[i], addrs[i]);
        });
        lines
    }

    /// The fixed path for some stages of a chunk: first to the lines of all addresses, which are fetched,
    /// then what they say, so that all wait for memory together; `at` holds the lines in the end.
    ///
    /// Without AVX-512 a walk for each level, which fetches pages and nodes ahead, too: such processors have
    /// room for fewer instructions that wait. Note: with it we tried that, too: a tenth slower
    /// where these lie in the nearest caches, and no faster where they do not.
    #[inline(always)]
    fn in_two_walks<C: Count, const STAGES: usize>(
        self,
        mut stages: Stages<'_, STAGES>,
        at: &mut [[u32; STAGE]; STAGES],
    ) {
        if C::HAS_AVX512 {
            stages.for_each(at, |addr, at, _| {
                *at = self.line(addr);
                self.records.prefetch(*at & LINE_OFFSET);
            });
        } else {
            stages.for_each(at, |addr, at, _| {
                *at = self.in_page(addr);
                self.entries.prefetch(*at);
            });
            stages.for_each(at, |addr, at, _| {
                *at = slot(self.entries.half(*at), key(addr, LINE_KEY));
                self.entries.prefetch(*at);
            });
            stages.for_each(at, |_, at, _| {
                *at = self.entries.half(*at);
                self.records.prefetch(*at & LINE_OFFSET);
            });
        }
        stages.for_each(at, |addr, at, answer| *answer = self.answer::<C>(*at, addr));
    }

    /// For each stage of a chunk, a bit for each address that `whole` does not answer; all bits when
    /// probes say that most addresses are of that kind.
    #[inline(always)]
    fn look_first<C: Count, const STAGES: usize>(
        self,
        addrs: &[[u128; STAGE]; STAGES],
        answers: &mut [[NexthopId; STAGE]; STAGES],
    ) -> [u32; STAGES] {
        let mut more = [u32::MAX; STAGES];
        let Some(probes) = addrs.first() else { return more };
        let below =
            probes.iter().step_by(STAGE / PROBES).filter(|addr| self.whole(**addr) & MORE != 0);
        if below.count() > FEW_OF_PROBES {
            return more;
        }
        // Each stage's numbers are read again by vector only after the others' have been written:
        // read at once they would wait for their way to the cache.
        for (addrs, answers) in addrs.iter().zip(answers.iter_mut()) {
            self.first_look(addrs, answers);
        }
        for ((more, addrs), answers) in more.iter_mut().zip(addrs).zip(answers.iter_mut()) {
            *more = self.second_look::<C>(addrs, answers);
        }
        more
    }

    /// Any number of stages: as many together as go into a chunk.
    #[inline(always)]
    pub(super) fn stages<C: Count, const AHEAD: bool>(
        self,
        addrs: &[[u128; STAGE]],
        answers: &mut [[NexthopId; STAGE]],
    ) {
        let (chunks, rest) = addrs.as_chunks();
        let (answers, rest_answers) = answers.as_chunks_mut();
        // Loops, not `for_each`: a closure may end up outside of the code for vector units.
        for (addrs, answers) in chunks.iter().zip(answers) {
            self.chunk::<C, AHEAD, STAGES, CHUNK>(addrs, answers);
        }
        for (addrs, answers) in rest.as_chunks().0.iter().zip(rest_answers.as_chunks_mut().0) {
            self.chunk::<C, AHEAD, 1, STAGE>(addrs, answers);
        }
    }

    /// `STAGES` times [`STAGE`] lookups, `N` in all: what is noted on the way has room for no more,
    /// since to clear it takes as long as some lookups. Random addresses mostly fall into whole /16
    /// without routes of their own: stages with a few exceptions look those up by themselves, after
    /// gaps have been asked and their pages fetched. In other stages all go the fixed path, which
    /// serves any address. What is deep there is finished together: each loop of unknown length
    /// costs a wrongly predicted branch at its end.
    #[inline(always)]
    fn chunk<C: Count, const AHEAD: bool, const STAGES: usize, const N: usize>(
        self,
        addrs: &[[u128; STAGE]; STAGES],
        answers: &mut [[NexthopId; STAGE]; STAGES],
    ) {
        let more: [u32; STAGES] = self.look_first::<C, STAGES>(addrs, answers);
        let mut lines = [[0; STAGE]; STAGES];
        let stages = addrs.iter().zip(answers.iter_mut());
        for ((lines, &more), (addrs, answers)) in lines.iter_mut().zip(&more).zip(stages) {
            if more.count_ones() <= FEW {
                for_each_bit(more, |i| answers[i] = NexthopId(self.lookup_below::<C>(addrs[i])));
            } else if !AHEAD {
                *lines = self.at_once::<C>(addrs, answers);
            }
        }
        if AHEAD {
            self.in_two_walks::<C, STAGES>(Stages { more: &more, addrs, answers }, &mut lines);
        }
        let mut deep = Pending::<N>::new();
        for (stage, lines) in lines.iter().enumerate() {
            let flagged = C::high_bits(lines);
            for_each_bit(flagged, |i| deep.push(stage * STAGE + i, lines[i], LINE_KEY, true));
        }
        let all = answers.as_flattened_mut().first_chunk_mut();
        if deep.count > 0
            && let (Some(addrs), Some(answers)) = (addrs.as_flattened().first_chunk(), all)
        {
            self.finish::<C, N>(deep, addrs, answers);
        }
    }
}
