//! The generator: writes the next frames of the plan.

use std::sync::Arc;

use fwdlab_port::{Frame, wide};
use fwdlab_wire::MacAddr;
use fwdlab_wire::ethernet::FCS_LEN;

use crate::error::TrafficError;
use crate::flows::Family;
use crate::inspect::Expected;
use crate::order::Cycle;
use crate::plan::{Stream, TrafficPlan};
use crate::prepared::Prepared;
use crate::recorded::RecordedSender;
use crate::template::{Alike, fill_pattern};

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

impl SendStream {
    fn new(stream: &Stream, plan: &TrafficPlan, seed: u64) -> Result<Self, TrafficError> {
        let lengths = stream.sizes.lengths(stream.flows.family())?;
        let weights: Vec<u32> = lengths.iter().map(|&(_, weight)| weight).collect();
        Ok(Self {
            prepared: Arc::new(Prepared::new(stream, plan)?),
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
        let mut rest = frames;
        while !rest.is_empty() {
            let count = self.write_in_turn(family, rest, headroom);
            if count == 0 {
                return self.write_each(family, rest, headroom, stamp);
            }
            rest = &mut rest[count..];
        }
    }

    /// Writes frames from the start, as long as all is simple: one size, no time stamps, flows one after the
    /// other; returns how many. Then nothing has to be looked up for a frame.
    #[inline(always)]
    fn write_in_turn(&mut self, family: Family, frames: &mut [Frame], headroom: usize) -> usize {
        let prepared = &*self.prepared;
        let Some(template) = prepared.only_template().filter(|_| !self.latency) else { return 0 };
        let (first, count) = self.flows.run(frames.len());
        let flows = first..first + count;
        // All of one length, so that no index is tested in the loops.
        let numbers = &mut self.sequence[flows.clone()];
        match prepared.lines(flows) {
            Some((lines, _)) => {
                let lines = &lines[..count];
                write_numbered(
                    (frames, headroom),
                    numbers,
                    #[inline(always)]
                    |at, frame, number| template.write(frame, family, &lines[at], number),
                );
            }
            None => {
                let mut walk = prepared.numbering.from(first as u32);
                let (mut frames, mut numbers) = (frames, numbers);
                while !numbers.is_empty() {
                    let alike = walk.alike(numbers.len());
                    let ends = walk.skip(alike);
                    let line = template.line_of(family, ends);
                    let first = Alike::new(&line, family, ends.source);
                    let (now, later) = numbers.split_at_mut(alike);
                    write_numbered(
                        (&mut *frames, headroom),
                        now,
                        #[inline(always)]
                        |at, frame, number| {
                            template.write_alike(frame, family, (&first, at as u32), number);
                        },
                    );
                    (frames, numbers) = (&mut frames[alike..], later);
                }
            }
        }
        self.bytes += (count * (template.len + FCS_LEN)) as u64;
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
