//! The receiver: checks every frame that arrives.

use std::ops::Range;
use std::sync::Arc;

use fwdlab_port::{Frame, wide};
use fwdlab_wire::ethernet;

use crate::checks::Checks;
use crate::error::TrafficError;
use crate::flows::Family;
use crate::inspect::{Expected, Seen, ends_of, has_valid_payload, sequence_of, stamp};
use crate::latency::Latency;
use crate::layout::{INET6_SEQUENCE_MASK, LINE, Line};
use crate::numbering::{LANES, prefetch_later};
use crate::plan::TrafficPlan;
use crate::prepared::Prepared;
use crate::recorded::RecordedReceiver;
use crate::sender::Sender;
use crate::sequence::{Arrival, FlowFaults, FlowState, Past};
use crate::template::{Template, differ};
use crate::words::{Block, Use};

/// How far ahead of the frame being checked memory is asked for the next ones: some 30 frames of
/// 3 ns cover the 100 ns that a line takes from another core.
const PREFETCH: usize = 32;

/// So few frames in turn take less by themselves.
const FEW: usize = 4;
/// Where so many come in turn, they are worked on in blocks.
const MANY: usize = 16;

/// Checks arrived frames against the plan and counts.
pub struct Receiver {
    /// Of a recording, which has checks of its own.
    recorded: Option<RecordedReceiver>,
    expected: Expected,
    streams: Vec<ReceiveStream>,
    checks: Checks,
    /// Of those of unknown flows, frames of these turned round: of the other way, which came back to their senders.
    turned: u64,
    /// Which frame of the next batch is read whole.
    turn: usize,
    latency: Option<Latency>,
}

struct ReceiveStream {
    prepared: Arc<Prepared>,
    /// Which bits of the sequence number frames carry.
    mask: u32,
    /// The next sequence number expected of each flow.
    next: Vec<u32>,
    /// The flow that comes next if all come in turn.
    guess: u32,
    block: Block,
    /// Empty until the first fault, or until numbers begin anew.
    faults: Vec<(Past, FlowFaults)>,
    received: u64,
    duplicated: u64,
}

/// Whether a frame keeps its contents when it is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// As the tester wrote it, but for the header.
    Kept,
    /// Something else: to be written anew.
    Changed,
}

impl Receiver {
    /// Prepares the checks for a plan and the sender of its frames.
    ///
    /// # Errors
    /// A field of the plan is out of range.
    pub fn new(plan: &TrafficPlan, sender: &Sender) -> Result<Self, TrafficError> {
        plan.check()?;
        let streams = plan.streams.iter().zip(sender.prepared()).map(|(stream, prepared)| {
            let mask = match prepared.family {
                Family::Inet => u32::MAX,
                Family::Inet6 => INET6_SEQUENCE_MASK,
            };
            let next = vec![0; stream.flows.count() as usize];
            let (prepared, faults) = (Arc::clone(prepared), Vec::new());
            let block = Block::new(&prepared.templates[0].arrived);
            ReceiveStream {
                prepared,
                block,
                mask,
                next,
                guess: 0,
                faults,
                received: 0,
                duplicated: 0,
            }
        });
        let recorded = plan
            .recording
            .as_ref()
            .map(|recording| RecordedReceiver::new(recording, plan.arrival_mac, plan.hops));
        Ok(Self {
            recorded,
            expected: Expected::new(plan.arrival_mac, plan.ttl, plan.hops),
            streams: streams.collect(),
            checks: Checks::default(),
            turned: 0,
            turn: 0,
            latency: plan.latency.then(Latency::new),
        })
    }

    /// Checks frames that came in on the receiving port at `now` (ticks). Calls `changed` with
    /// the position of each frame whose contents are not as they were sent.
    pub fn check(&mut self, frames: &[Frame], now: u64, mut changed: impl FnMut(usize)) {
        if let Some(recorded) = &mut self.recorded {
            // Each frame is written as a whole when it is sent again.
            recorded.check(frames, now, self.latency.as_mut());
            return;
        }
        for frame in frames.iter().take(PREFETCH) {
            frame.prefetch_write();
        }
        let (mut next, mut all_are_ours) = (0, true);
        // Another place in each batch: what comes again and again may never be the first of one.
        let every = Checks::WHOLE_EVERY as usize;
        let turn = self.turn % frames.len().clamp(1, every);
        self.turn = self.turn.wrapping_add(1);
        while next < frames.len() {
            // A device that changes payloads changes more than one: from the first on, none is missed.
            let is_whole = next % every == turn || self.checks.bad_payload > 0;
            if !is_whole {
                let whole = if next < turn { 0 } else { (next - turn).next_multiple_of(every) };
                let until = frames.len().min(whole + turn);
                let right = self.take_right(frames, next..until);
                if right > 0 {
                    next += right;
                    continue;
                }
            }
            if self.check_slowly(&frames[next], is_whole) == Contents::Changed {
                all_are_ours = false;
                changed(next);
            }
            next += 1;
        }
        if self.latency.is_some() {
            self.record_latency(frames, all_are_ours, now);
        }
    }

    /// The quick way: takes frames from the start of `range` as long as they are the next of
    /// their flows and right in every byte of the first line; returns how many. What stops it
    /// needs a closer look, no more than that.
    #[inline]
    fn take_right(&mut self, frames: &[Frame], range: Range<usize>) -> usize {
        // Compiled for this processor's vectors: a line is compared at once.
        wide(
            #[inline(always)]
            || {
                let mut next = range.start;
                while next < range.end {
                    let before = next;
                    for stream in &mut self.streams {
                        next += match stream.prepared.family {
                            Family::Inet => stream.take_right::<false>(frames, next..range.end),
                            Family::Inet6 => stream.take_right::<true>(frames, next..range.end),
                        };
                    }
                    if next == before {
                        break;
                    }
                }
                next - range.start
            },
        )
    }

    /// The slow way: reads the frame field by field, believing nothing.
    #[inline(never)]
    fn check_slowly(&mut self, frame: &Frame, is_whole: bool) -> Contents {
        let Some(seen) = self.expected.inspect(frame) else {
            return self.foreign();
        };
        let known = self.streams.iter_mut().find_map(|stream| {
            let (flow, is_known) = stream.prepared.numbering.flow(seen.ends);
            (is_known && stream.prepared.family == seen.family).then_some((stream, flow))
        });
        let Some((stream, flow)) = known else {
            return self.unknown(&seen);
        };
        stream.take(flow, &seen, &mut self.checks);
        let size = stream.prepared.size_of(frame.len());
        if !seen.is_right || size.is_none() {
            self.expected.diagnose(frame, &mut self.checks);
        }
        if is_whole {
            self.checks.read_whole += 1;
        }
        // What is not read whole by turn came here for a reason, which may be its payload.
        let template = size.map(|size| &stream.prepared.templates[size]);
        let has_pattern = template.is_none_or(|own| own.has_pattern(frame, seen.family));
        if has_pattern && has_valid_payload(frame, seen.family) {
            return Contents::Kept;
        }
        self.checks.bad_payload += 1;
        Contents::Changed
    }

    #[inline(never)]
    fn record_latency(&mut self, frames: &[Frame], all_are_ours: bool, now: u64) {
        let Some(latency) = &mut self.latency else { return };
        let (streams, expected) = (&self.streams, &self.expected);
        // The usual case needs no search.
        if let ([only], true) = (&streams[..], all_are_ours)
            && let [template] = &only.prepared.templates[..]
            && template.has_stamp
        {
            let family = only.prepared.family;
            return latency.record(frames.iter().filter_map(|frame| stamp(frame, family)), now);
        }
        let stamps = frames.iter().filter_map(|frame| {
            let family = match frame.get(ethernet::ETHER_TYPE)? {
                [0x86, 0xdd] => Family::Inet6,
                _ => Family::Inet,
            };
            let stream = streams.iter().find(|stream| {
                let size = stream.prepared.size_of(frame.len());
                let has_stamp = size.is_some_and(|size| stream.prepared.templates[size].has_stamp);
                let is_ours = || {
                    let seen = expected.inspect(frame);
                    seen.is_some_and(|seen| stream.prepared.numbering.flow(seen.ends).1)
                };
                stream.prepared.family == family && has_stamp && (all_are_ours || is_ours())
            });
            stream.and_then(|stream| stamp(frame, stream.prepared.family))
        });
        latency.record(stamps, now);
    }

    #[cold]
    fn foreign(&mut self) -> Contents {
        self.checks.foreign += 1;
        Contents::Changed
    }

    #[cold]
    fn unknown(&mut self, seen: &Seen) -> Contents {
        // What is no UDP frame of the right kind may well be ICMP of the device itself.
        if !seen.is_right {
            return self.foreign();
        }
        self.checks.unknown_flow += 1;
        let is_turned = |stream: &ReceiveStream| {
            let is_known = stream.prepared.numbering.flow(seen.ends.turned()).1;
            is_known && stream.prepared.family == seen.family
        };
        self.turned += u64::from(self.streams.iter().any(is_turned));
        Contents::Changed
    }

    /// Looks at a frame that came back on the sending port.
    #[cold]
    pub(crate) fn check_returned(&mut self, frame: &Frame) {
        if let Some(recorded) = &mut self.recorded {
            return recorded.check_returned(frame);
        }
        let seen = self.expected.inspect(frame);
        let is_ours = seen.is_some_and(|seen| {
            self.streams.iter().any(|stream| {
                stream.prepared.family == seen.family && stream.prepared.numbering.flow(seen.ends).1
            })
        });
        let count = u64::from(is_ours);
        self.checks.misrouted += count;
        self.checks.returned += count;
        self.checks.foreign += 1 - count;
    }

    /// Of the frames of unknown flows, those of these flows turned round.
    pub(crate) fn turned(&self) -> u64 {
        self.turned
    }

    /// Frames of test traffic received so far, duplicates included.
    pub fn received(&self) -> u64 {
        self.received_by_stream().map(|(received, _)| received).sum()
    }

    /// The same for each stream, with duplicates beside.
    pub(crate) fn received_by_stream(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recorded = self.recorded.iter().map(|own| (own.received(), own.duplicated()));
        let made = self.streams.iter().map(|stream| (stream.received, stream.duplicated));
        recorded.chain(made)
    }

    /// What the checks found.
    pub fn checks(&self) -> Checks {
        self.recorded.as_ref().map_or(self.checks, RecordedReceiver::checks)
    }

    /// How many different flows have arrived, per stream.
    pub fn flows_seen(&self) -> impl Iterator<Item = u32> + '_ {
        let seen = |stream: &ReceiveStream| {
            (0..stream.next.len()).filter(|flow| stream.state(*flow).is_seen()).count()
        };
        let recorded = self.recorded.iter().map(RecordedReceiver::flows_seen);
        recorded.chain(self.streams.iter().map(move |stream| seen(stream) as u32))
    }

    /// Faults of a flow, given how many of its frames were sent.
    pub(crate) fn faults_of(&self, stream: usize, flow: usize, sent: u32) -> FlowFaults {
        if let Some(recorded) = &self.recorded {
            return recorded.faults_of(flow, sent);
        }
        let stream = &self.streams[stream];
        let (_, faults) = stream.faults.get(flow).copied().unwrap_or_default();
        faults.at_end(&stream.state(flow), sent)
    }

    /// The latencies, if the plan asked for them.
    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.latency.as_ref()
    }
}

/// The flow that comes after one in turn.
#[inline(always)]
fn after(flow: u32, flows: usize) -> u32 {
    if flow as usize + 1 == flows { 0 } else { flow + 1 }
}

/// Takes frames of these flows, a frame each, as long as each is right and next in its flow; returns how
/// many.
#[inline(always)]
fn take_numbered(
    (frames, family): (&[Frame], Family),
    (template, lines): (&Template, &[Line]),
    (next, mask): (&mut [u32], u32),
) -> usize {
    let lines = &lines[..next.len()];
    for at in 0..next.len() {
        if let Some(ahead) = frames.get(at + PREFETCH) {
            ahead.prefetch_write();
        }
        let (frame, next) = (&frames[at], &mut next[at]);
        let head = frame.head::<LINE>();
        let is_right = frame.len() == template.len && !differ(head, &lines[at], &template.mask);
        if !(is_right && is_next(*next, sequence_of(head, family), mask)) {
            return at;
        }
        *next += 1;
    }
    next.len()
}

/// Whether this is the number expected. After the last of all numbers they begin anew, which is looked at more
/// closely.
#[inline(always)]
fn is_next(next: u32, carried: u32, mask: u32) -> bool {
    (carried ^ next) & mask == 0 && next != u32::MAX
}

impl ReceiveStream {
    /// Takes frames from the start of `range` as long as they are of this stream, right in every
    /// way and next in their flows; returns how many.
    #[inline(always)]
    fn take_right<const INET6: bool>(&mut self, frames: &[Frame], range: Range<usize>) -> usize {
        if self.prepared.only_template().is_none() {
            let count = self.take_each::<INET6>(frames, range, false);
            self.received += count as u64;
            return count;
        }
        let mut at = range.start;
        while at < range.end {
            let before = at;
            at += self.take_in_turn::<INET6>(frames, at..range.end);
            at += self.take_each::<INET6>(frames, at..range.end, true);
            if at == before {
                break;
            }
        }
        let count = at - range.start;
        self.received += count as u64;
        count
    }

    /// The same for frames of one size, and as long as each belongs to the flow after the last one's, up to
    /// the last flow: then nothing has to be looked up for a frame.
    #[inline(always)]
    fn take_in_turn<const INET6: bool>(&mut self, frames: &[Frame], range: Range<usize>) -> usize {
        let family = if INET6 { Family::Inet6 } else { Family::Inet };
        let prepared = &*self.prepared;
        let first = self.guess as usize;
        let most = range.len().min(self.next.len() - first);
        let count = match prepared.only_lines() {
            Some((template, lines)) => take_numbered(
                (&frames[range.start..], family),
                (template, &lines.arriving[first..]),
                (&mut self.next[first..first + most], self.mask),
            ),
            None => self.take_blocks(family, &frames[range.start..], most),
        };
        let next = first + count;
        self.guess = if next == self.next.len() { 0 } else { next as u32 };
        count
    }

    /// The same where no lines are kept: worked out for many frames at once.
    #[inline(always)]
    fn take_blocks(&mut self, family: Family, frames: &[Frame], most: usize) -> usize {
        let prepared = &*self.prepared;
        let Some(template) = prepared.only_template().filter(|_| prepared.has_blocks) else {
            return 0;
        };
        // A block is worth its while where some come in turn: this one, and one that is far enough.
        let is_of = |at: usize| {
            let (ends, _) = ends_of(frames[at].head::<LINE>(), family);
            prepared.numbering.flow(ends) == (self.guess + at as u32, true)
        };
        if most < FEW || !is_of(0) || !is_of(most.min(MANY) - 1) {
            return 0;
        }
        let (mut count, block) = (0, &mut self.block);
        while count < most {
            let flow = self.guess as usize + count;
            let lanes = LANES.min(most - count);
            prefetch_later(&self.next, flow);
            let next = &mut self.next[flow..flow + lanes];
            // After the last of all numbers they begin anew, which is looked at more closely.
            if next.iter().fold(0, |most, next| (*next).max(most)) == u32::MAX {
                break;
            }
            block.set_turn(flow, next);
            block.work_out((family, Use::Judged), &prepared.numbering, lanes);
            let now = frames[count..].split_at(lanes);
            let taken = block.count_right(now, (family, &template.arrived), 0);
            next[..taken].iter_mut().for_each(|next| *next += 1);
            count += taken;
            if taken < lanes {
                break;
            }
        }
        count
    }

    /// The same for any frames; up to one that belongs to the flow after the last one's, if it is asked to.
    #[inline(always)]
    fn take_each<const INET6: bool>(
        &mut self,
        frames: &[Frame],
        range: Range<usize>,
        until_in_turn: bool,
    ) -> usize {
        let family = if INET6 { Family::Inet6 } else { Family::Inet };
        let prepared = &*self.prepared;
        // Local copies, so that the compiler knows that writing flow states does not change them.
        let (numbering, mask, flows) = (prepared.numbering, self.mask, &mut self.next[..]);
        let (mut at, mut guess) = (range.start, self.guess);
        while at < range.end {
            if let Some(ahead) = frames.get(at + PREFETCH) {
                ahead.prefetch_write();
            }
            let frame = &frames[at];
            let head = frame.head::<LINE>();
            let (ends, sequence) = ends_of(head, family);
            let Some(size) = prepared.size_of(frame.len()) else { break };
            let template = &prepared.templates[size];
            // Mostly the flow after the last one comes: one comparison says so.
            let is_guessed = prepared
                .arriving(guess, size)
                .is_some_and(|line| !differ(head, line, &template.mask));
            let flow = if is_guessed {
                guess
            } else {
                let (flow, is_known) = numbering.flow(ends);
                if !(is_known & template.is_arriving(head, family, ends)) {
                    break;
                }
                flow
            };
            let next = &mut flows[flow as usize];
            if !is_next(*next, sequence, mask) {
                break;
            }
            *next += 1;
            let before = std::mem::replace(&mut guess, after(flow, flows.len()));
            at += 1;
            if (is_guessed || flow == before) & until_in_turn {
                break;
            }
        }
        self.guess = guess;
        at - range.start
    }

    #[inline(always)]
    fn take(&mut self, flow: u32, seen: &Seen, checks: &mut Checks) {
        self.received += 1;
        let mut state = self.state(flow as usize);
        let arrival = state.take(seen.sequence, self.mask);
        self.next[flow as usize] = state.next();
        self.guess = after(flow, self.next.len());
        // What was in order the next number alone tells, until numbers begin anew.
        if arrival != Arrival::InOrder || state.next() == 0 {
            self.keep_past(flow, (state, arrival), checks);
        }
    }

    /// Where a flow's sequence is.
    fn state(&self, flow: usize) -> FlowState {
        let past = self.faults.get(flow).map_or_else(Past::default, |(past, _)| *past);
        past.state(self.next[flow])
    }

    /// Keeps where the sequence is, and counts the fault if there is one.
    #[cold]
    fn keep_past(
        &mut self,
        flow: u32,
        (state, arrival): (FlowState, Arrival),
        checks: &mut Checks,
    ) {
        if self.faults.is_empty() {
            self.faults = vec![Default::default(); self.next.len()];
        }
        let (past, faults) = &mut self.faults[flow as usize];
        *past = state.past();
        match faults.count(arrival) {
            Arrival::Late => checks.reordered += 1,
            Arrival::Again => {
                checks.duplicated += 1;
                self.duplicated += 1;
            }
            Arrival::InOrder | Arrival::Ahead(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flows::FlowSet;
    use crate::plan::Stream;
    use fwdlab_port::{Batch, Pool};

    /// Flows whose lines are kept, and more of them, each with a frame in every turn of so many batches.
    const SETS: [(&str, &str, usize); 5] = [
        ("198.18.10.1-198.18.10.16:2000", "198.19.10.1-198.19.10.128:2000", 8),
        ("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.12.128:2000", 50),
        ("198.18.10.1-198.18.10.4:20-39", "198.19.10.1-198.19.10.128:2000", 40),
        ("[2001:2::1]-[2001:2::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::280]:2000", 50),
        // Addresses that differ in more than 48 bits.
        ("[2001:2::ffff:ffff:fff7]-[2001:2::1:0:0:a]:9", "[2001:2:1::1]-[2001:2:1::280]:9", 50),
    ];

    struct Cable {
        sender: Sender,
        receiver: Receiver,
        _pool: Pool,
        batches: Vec<Batch>,
    }

    impl Cable {
        fn new(source: &str, destination: &str, batches: usize) -> Self {
            let stream = Stream::new(FlowSet::parse(source, destination).unwrap());
            assert_eq!(stream.flows.count() as usize, batches * Batch::CAPACITY, "{source}");
            let mut plan = TrafficPlan::new(vec![stream]);
            (plan.arrival_mac, plan.hops) = (plan.device_mac, 0);
            let pool = Pool::with_frames(batches * Batch::CAPACITY).unwrap();
            let sender = Sender::new(&plan, pool.config().headroom).unwrap();
            let receiver = Receiver::new(&plan, &sender).unwrap();
            let fresh = |_| {
                let mut batch = Batch::new();
                pool.take_batch(&mut batch, Batch::CAPACITY);
                batch.iter_mut().for_each(|frame| sender.adopt(frame));
                batch
            };
            let batches = (0..batches).map(fresh).collect();
            Self { sender, receiver, _pool: pool, batches }
        }

        fn write(&mut self) {
            self.batches.iter_mut().for_each(|batch| self.sender.write(batch, 0));
        }

        fn check(&mut self) {
            self.batches.iter().for_each(|batch| self.receiver.check(batch, 0, |_| {}));
        }

        fn faults(&self) -> FlowFaults {
            let mut all = FlowFaults::default();
            for flow in 0..self.batches.len() * Batch::CAPACITY {
                let own = self.receiver.faults_of(0, flow, self.sender.sent_of(0, flow));
                all.lost += own.lost;
                all.duplicated += own.duplicated;
                all.reordered += own.reordered;
            }
            all
        }
    }

    #[test]
    fn each_fault_is_found_in_every_place_of_a_block() {
        for (source, destination, batches) in SETS {
            let mut cable = Cable::new(source, destination, batches);
            cable.write();
            cable.check();
            assert_eq!((cable.receiver.checks().faults(), cable.faults()), Default::default());
            // In each batch another frame is lost, comes twice, or has another TTL.
            cable.write();
            let (mut wrong, mut lost, mut double) = (0, 0, 0);
            for (number, batch) in cable.batches.iter_mut().enumerate() {
                let at = number * 37 % Batch::CAPACITY;
                let (before, after) = match number % 3 {
                    0 => (&batch[..at], &batch[at + 1..]),
                    1 => (&batch[..=at], &batch[at..]),
                    _ => {
                        let byte = if batch[at][12] == 8 { 22 } else { 21 };
                        batch[at][byte] ^= 4;
                        (&batch[..at], &batch[at..])
                    }
                };
                cable.receiver.check(before, 0, |_| {});
                cable.receiver.check(after, 0, |_| {});
                let count = [&mut lost, &mut double, &mut wrong];
                *count[number % 3] += 1;
            }
            let (checks, faults) = (cable.receiver.checks(), cable.faults());
            assert_eq!((checks.wrong_ttl, checks.duplicated), (wrong, double), "{source}");
            assert_eq!((u64::from(faults.lost), u64::from(faults.duplicated)), (lost, double));
            assert_eq!(faults.reordered, 0);
            // A batch comes after the next frames of its flows: each was missing, and is late.
            cable.write();
            let held = 3;
            for (number, batch) in cable.batches.iter().enumerate() {
                if number != held {
                    cable.receiver.check(batch, 0, |_| {});
                }
            }
            let late = std::mem::replace(&mut cable.batches[held], Batch::new());
            let pool = Pool::with_frames(Batch::CAPACITY).unwrap();
            pool.take_batch(&mut cable.batches[held], Batch::CAPACITY);
            cable.batches[held].iter_mut().for_each(|frame| cable.sender.adopt(frame));
            cable.write();
            cable.check();
            let missing = cable.faults().lost;
            assert_eq!(u64::from(missing), lost + Batch::CAPACITY as u64, "{source}");
            cable.receiver.check(&late, 0, |_| {});
            let reordered = cable.receiver.checks().reordered;
            assert_eq!(u64::from(cable.faults().lost), lost, "{source}");
            assert_eq!(reordered, Batch::CAPACITY as u64, "{source}");
            // What comes again is told from what was missing, as many frames later.
            cable.receiver.check(&late, 0, |_| {});
            let checks = cable.receiver.checks();
            assert_eq!(checks.duplicated, double + Batch::CAPACITY as u64, "{source}");
            assert_eq!(checks.reordered, reordered);
        }
    }

    #[test]
    fn numbers_begin_anew_after_the_last() {
        for (source, destination, batches) in SETS {
            let mut cable = Cable::new(source, destination, batches);
            cable.sender.skip_to(u32::MAX - 1);
            cable.receiver.streams[0].next.fill(u32::MAX - 1);
            for turn in 0..4 {
                cable.write();
                cable.check();
                let seen: u32 = cable.receiver.flows_seen().sum();
                assert_eq!(seen as usize, batches * Batch::CAPACITY, "{source}, {turn}");
            }
            assert_eq!(cable.receiver.checks().faults(), 0, "{source}");
            // The newest again: seen before, though its number is small.
            cable.receiver.check(&cable.batches[0], 0, |_| {});
            let checks = cable.receiver.checks();
            assert_eq!(checks.duplicated, Batch::CAPACITY as u64);
            assert_eq!(checks.faults(), checks.duplicated, "{source}");
        }
    }
}
