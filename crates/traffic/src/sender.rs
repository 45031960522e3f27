//! The generator: writes the next frames of the plan.

use std::sync::Arc;

use fwdlab_port::{Frame, wide};
use fwdlab_wire::MacAddr;
use fwdlab_wire::ethernet::FCS_LEN;

use crate::error::TrafficError;
use crate::flows::Family;
use crate::inspect::Expected;
use crate::numbering::{LANES, prefetch_later};
use crate::order::Cycle;
use crate::plan::{Stream, TrafficPlan};
use crate::prepared::Prepared;
use crate::recorded::RecordedSender;
use crate::template::fill_pattern;
use crate::words::{Block, Use};

/// Writes frames of the plan's streams, each complete with headers, sequence number and
/// checksums, whatever the frame held before.
pub struct Sender {
    /// Instead of streams.
    recorded: Option<RecordedSender>,
    streams: Vec<SendStream>,
    /// Which stream comes next.
    mix: Cycle,
    /// Headroom that frames have when they leave.
    headroom: usize,
    longest: usize,
}

/// How far ahead of the frame being written memory is asked for the next ones: enough for the
/// second-level cache; frames that have just been checked are nearer.
const PREFETCH: usize = 8;

struct SendStream {
    prepared: Arc<Prepared>,
    flows: Cycle,
    sizes: Cycle,
    /// The next sequence number of each flow.
    sequence: Vec<u32>,
    sent: u64,
    bytes: u64,
    latency: bool,
    /// Whether frames that are not in turn, or have no lines, are worked out for many at once.
    works_in_blocks: bool,
    block: Block,
}

impl Sender {
    /// Prepares the templates of a plan.
    ///
    /// # Errors
    /// A field of the plan is out of range, or latency is asked for and no frame has room for a
    /// time stamp.
    pub fn new(plan: &TrafficPlan, headroom: usize) -> Result<Self, TrafficError> {
        plan.check()?;
        let weights: Vec<u32> = plan.streams.iter().map(|stream| stream.weight).collect();
        let streams =
            plan.streams.iter().enumerate().map(|(at, stream)| {
                SendStream::new(stream, plan, plan.seed.wrapping_add(at as u64))
            });
        let recorded = plan.recording.as_ref().map(|recording| {
            RecordedSender::new(recording, [plan.source_mac, plan.device_mac], plan.latency)
        });
        Ok(Self {
            recorded,
            streams: streams.collect::<Result<_, _>>()?,
            mix: Cycle::of_weights(&weights),
            headroom,
            longest: plan.longest()?,
        })
    }

    /// Makes a frame fresh from the pool, or one that came back changed, ready for use.
    pub fn adopt(&self, frame: &mut Frame) {
        self.realign(frame);
        if self.recorded.is_none() {
            fill_pattern(frame, self.longest);
        }
    }

    /// Writes the next frames of the plan into all of `frames`. `stamp` is the present time in
    /// ticks, for latency.
    pub fn write(&mut self, frames: &mut [Frame], stamp: u64) {
        if let Some(recorded) = &mut self.recorded {
            frames.iter_mut().for_each(|frame| realign(frame, self.headroom));
            return recorded.write(frames, stamp);
        }
        // Compiled for this processor's vectors: a line is copied at once.
        wide(
            #[inline(always)]
            || {
                if let [only] = &mut self.streams[..] {
                    only.write(frames, stamp, self.headroom);
                    return;
                }
                for frame in frames {
                    let stream = self.mix.next() as usize;
                    self.streams[stream].write(std::slice::from_mut(frame), stamp, self.headroom);
                }
            },
        );
    }

    /// What the streams' frames look like, for the receiver.
    pub(crate) fn prepared(&self) -> impl Iterator<Item = &Arc<Prepared>> {
        self.streams.iter().map(|stream| &stream.prepared)
    }

    /// Takes back frames that were written last but never left: they do not count as sent.
    #[cold]
    pub(crate) fn retract(&mut self, frames: &[Frame]) {
        if let Some(recorded) = &mut self.recorded {
            return recorded.retract(frames.len());
        }
        let reader = Expected::new(MacAddr::ZERO, 0, 0);
        for frame in frames {
            let Some(seen) = reader.inspect(frame) else { continue };
            for stream in
                self.streams.iter_mut().filter(|stream| stream.prepared.family == seen.family)
            {
                let (flow, is_known) = stream.prepared.numbering.flow(seen.ends);
                if is_known {
                    stream.sequence[flow as usize] -= 1;
                    stream.sent -= 1;
                    stream.bytes -= (frame.len() + FCS_LEN) as u64;
                }
            }
        }
    }

    /// Frames sent per stream.
    pub fn sent(&self) -> impl Iterator<Item = u64> + '_ {
        let recorded = self.recorded.iter().map(RecordedSender::sent);
        recorded.chain(self.streams.iter().map(|stream| stream.sent))
    }

    /// Bytes sent, with FCS.
    pub fn bytes(&self) -> u64 {
        let recorded = self.recorded.iter().map(RecordedSender::bytes);
        recorded.chain(self.streams.iter().map(|stream| stream.bytes)).sum()
    }

    /// The next sequence number of a flow, that is how many frames of it were sent.
    pub(crate) fn sent_of(&self, stream: usize, flow: usize) -> u32 {
        match &self.recorded {
            Some(recorded) => recorded.sent_of(flow),
            None => self.streams[stream].sequence[flow],
        }
    }

    /// Goes on with this number in all flows.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, number: u32) {
        self.streams.iter_mut().for_each(|stream| stream.sequence.fill(number));
    }

    /// How many different flows have been sent, per stream.
    pub(crate) fn distinct_flows(&self) -> impl Iterator<Item = u32> + '_ {
        let recorded = self.recorded.iter().map(RecordedSender::distinct_flows);
        let sent = |stream: &SendStream| stream.sequence.iter().filter(|&&next| next != 0).count();
        recorded.chain(self.streams.iter().map(move |stream| sent(stream) as u32))
    }

    /// A device may have pushed or pulled headers: start at the usual place again.
    #[inline(always)]
    fn realign(&self, frame: &mut Frame) {
        realign(frame, self.headroom);
    }
}

#[inline(always)]
fn realign(frame: &mut Frame, headroom: usize) {
    if frame.headroom() != headroom {
        realign_cold(frame, headroom);
    }
}

#[cold]
fn realign_cold(frame: &mut Frame, headroom: usize) {
    let now = frame.headroom();
    if now > headroom {
        frame.push_front(now - headroom);
    } else {
        frame.set_len(frame.capacity());
        frame.pull_front(headroom - now);
    }
}

/// Writes as many frames as there are numbers, and counts those up.
#[inline(always)]
fn write_numbered(
    (frames, headroom): (&mut [Frame], usize),
    numbers: &mut [u32],
    mut write: impl FnMut(usize, &mut Frame, u32),
) {
    for at in 0..numbers.len() {
        if let Some(ahead) = frames.get(at + PREFETCH) {
            ahead.prefetch_write();
        }
        let frame = &mut frames[at];
        realign(frame, headroom);
        write(at, frame, numbers[at]);
        numbers[at] = numbers[at].wrapping_add(1);
    }
}

/// So few frames take less by themselves.
const FEW: usize = 4;

impl SendStream {
    fn new(stream: &Stream, plan: &TrafficPlan, seed: u64) -> Result<Self, TrafficError> {
        let lengths = stream.sizes.lengths(stream.flows.family())?;
        let weights: Vec<u32> = lengths.iter().map(|&(_, weight)| weight).collect();
        let prepared = Arc::new(Prepared::new(stream, plan)?);
        Ok(Self {
            block: Block::new(&prepared.templates[0].sent),
            // Of several sizes, lines that are kept take less.
            works_in_blocks: prepared.has_blocks
                && (prepared.templates.len() == 1 || !prepared.has_lines()),
            prepared,
            flows: Cycle::of_flows(stream.order, stream.flows.count(), seed),
            sizes: Cycle::of_weights(&weights),
            sequence: vec![0; stream.flows.count() as usize],
            sent: 0,
            bytes: 0,
            latency: plan.latency,
        })
    }

    #[inline(always)]
    fn write(&mut self, frames: &mut [Frame], stamp: u64, headroom: usize) {
        self.sent += frames.len() as u64;
        match self.prepared.family {
            Family::Inet => self.write_all(Family::Inet, frames, headroom, stamp),
            Family::Inet6 => self.write_all(Family::Inet6, frames, headroom, stamp),
        }
    }

    /// The family is a constant in each copy of this function.
    #[inline(always)]
    fn write_all(&mut self, family: Family, frames: &mut [Frame], headroom: usize, stamp: u64) {
        let mut from = 0;
        while from < frames.len() {
            let left = frames.len() - from;
            if left < FEW || !self.works_in_blocks {
                return self.write_each(family, &mut frames[from..], headroom, stamp);
            }
            from += match self.write_in_turn(family, &mut frames[from..], headroom) {
                0 => self.write_block(family, (frames, from), headroom, stamp),
                count => count,
            };
        }
    }

    /// Writes frames from the start as long as all is simple: one size, no time stamps, flows one after the
    /// other whose lines are kept; returns how many. Then nothing has to be looked up or worked out.
    #[inline(always)]
    fn write_in_turn(&mut self, family: Family, frames: &mut [Frame], headroom: usize) -> usize {
        let prepared = &*self.prepared;
        let Some((template, all)) = prepared.only_lines().filter(|_| !self.latency) else {
            return 0;
        };
        let (first, count) = self.flows.run(frames.len());
        let flows = first..first + count;
        // All of one length, so that no index is tested in the loop.
        let (numbers, lines) = (&mut self.sequence[flows.clone()], &all.sent[flows]);
        let lines = &lines[..numbers.len()];
        write_numbered(
            (frames, headroom),
            numbers,
            #[inline(always)]
            |at, frame, number| template.write(frame, family, &lines[at], number),
        );
        self.bytes += (count * (template.len + FCS_LEN)) as u64;
        count
    }

    /// Writes as many frames as a block has lanes, or what is left of them, or of the flows in turn; returns
    /// how many.
    #[inline(always)]
    fn write_block(
        &mut self,
        family: Family,
        (frames, from): (&mut [Frame], usize),
        headroom: usize,
        stamp: u64,
    ) -> usize {
        let count = self.draw((frames.len() - from).min(LANES));
        let (prepared, block, frames) = (&*self.prepared, &mut self.block, &mut frames[from..]);
        let (now, later) = frames.split_at_mut(count);
        let prepare = |frame: &mut Frame| realign(frame, headroom);
        match &prepared.templates[..] {
            [only] => {
                block.work_out((family, Use::Sent), &prepared.numbering, count);
                block.write((now, later), (family, &only.sent), 0, prepare);
                self.bytes += (count * (only.len + FCS_LEN)) as u64;
            }
            several => {
                let mut sizes = [0; LANES];
                for (lane, size) in sizes[..count].iter_mut().enumerate() {
                    *size = self.sizes.next() as usize;
                    block.share(lane, &several[*size].sent);
                    self.bytes += (several[*size].len + FCS_LEN) as u64;
                }
                block.work_out((family, Use::Sent), &prepared.numbering, count);
                for (lane, size) in sizes[..count].iter().enumerate() {
                    let frame =
                        (&mut now[lane..lane + 1], later.get(lane..lane + 1).unwrap_or(&[]));
                    block.write(frame, (family, &several[*size].sent), lane, prepare);
                }
            }
        }
        if self.latency {
            for frame in &mut frames[..count] {
                let size = prepared.size_of(frame.len()).unwrap_or(0);
                prepared.templates[size].write_stamp(frame, family, stamp);
            }
        }
        count
    }

    /// Gives the block the next flows, at most so many, and the next number of each; returns how many.
    #[inline(always)]
    fn draw(&mut self, most: usize) -> usize {
        let (first, count) = self.flows.run(most);
        let block = &mut self.block;
        if count == 0 {
            for lane in 0..most {
                let flow = self.flows.next();
                let next = &mut self.sequence[flow as usize];
                block.set(lane, flow, *next);
                *next = next.wrapping_add(1);
            }
            return most;
        }
        prefetch_later(&self.sequence, first);
        let next = &mut self.sequence[first..first + count];
        block.set_turn(first, next);
        next.iter_mut().for_each(|next| *next = next.wrapping_add(1));
        count
    }

    #[inline(always)]
    fn write_each(&mut self, family: Family, frames: &mut [Frame], headroom: usize, stamp: u64) {
        let prepared = &*self.prepared;
        let is_one_size = prepared.templates.len() == 1;
        let mut bytes = 0;
        for at in 0..frames.len() {
            if let Some(ahead) = frames.get(at + PREFETCH) {
                ahead.prefetch_write();
            }
            let frame = &mut frames[at];
            realign(frame, headroom);
            let flow = self.flows.next();
            let size = if is_one_size { 0 } else { self.sizes.next() as usize };
            let next = &mut self.sequence[flow as usize];
            let sequence = *next;
            *next = sequence.wrapping_add(1);
            let template = &prepared.templates[size];
            prepared.write(frame, family, (flow, size), sequence);
            if self.latency {
                template.write_stamp(frame, family, stamp);
            }
            bytes += template.len + FCS_LEN;
        }
        self.bytes += bytes as u64;
    }
}
