//! What interfaces have sent and received since a moment, by intervals. They begin with the first frame: how
//! long a program takes to start is no part of its rate.

use std::fs;
use std::time::{Duration, Instant};

use crate::Result;
use crate::order::{Counted, Report, TrafficOrder};
use crate::wall::now_ns;

/// Whose frames begin and end the intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Those that leave.
    Sent,
    /// Those that arrive.
    Received,
}

/// Frames so far, where they are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Frames {
    sent: u64,
    received: u64,
}

/// The interfaces of an order under observation.
pub(super) struct Meter {
    files: [Option<String>; 2],
    intervals: Intervals,
}

impl Meter {
    pub(super) fn begin(order: &TrafficOrder, side: Side) -> Result<Self> {
        let file = |port: &str, name: &str| {
            let path = format!("/sys/class/net/{port}/statistics/{name}");
            (!port.is_empty()).then_some(path)
        };
        let files = [file(&order.out, "tx_packets"), file(&order.back, "rx_packets")];
        let first = read(&files)?;
        let interval = Duration::from_nanos(order.interval_ns);
        Ok(Self { files, intervals: Intervals::begin(first, (side, interval), Instant::now()) })
    }

    /// Reads the interfaces; whether any frame left or arrived since they were read last.
    pub(super) fn look(&mut self) -> Result<bool> {
        let now = read(&self.files)?;
        Ok(self.intervals.see(now, Instant::now()))
    }

    /// How long frames have been seen, once there were any.
    pub(super) fn running(&self) -> Option<Duration> {
        self.intervals.marks.first().map(|(began, _)| began.elapsed())
    }

    /// Ends the intervals with the frame that was seen last. Later ones only count.
    pub(super) fn close(&mut self) {
        self.intervals.close();
    }

    /// All that was counted.
    pub(super) fn report(self) -> Report {
        let intervals = &self.intervals;
        let (first, last) = (intervals.first, intervals.last);
        let began = intervals.marks.first().map_or(last.0, |(began, _)| *began);
        Report {
            began_ns: now_ns().saturating_sub(began.elapsed().as_nanos() as u64),
            intervals: intervals.counted(),
            sent: last.1.sent.saturating_sub(first.1.sent),
            received: last.1.received.saturating_sub(first.1.received),
            ..Report::default()
        }
    }
}

fn read(files: &[Option<String>; 2]) -> Result<Frames> {
    let count = |file: &Option<String>| {
        let Some(path) = file else { return Ok(0) };
        let text =
            fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        text.trim().parse::<u64>().map_err(|_| format!("{path} is no count: {text:?}"))
    };
    Ok(Frames { sent: count(&files[0])?, received: count(&files[1])? })
}

type Moment = (Instant, Frames);

/// Counts at moments, as intervals.
struct Intervals {
    side: Side,
    length: Duration,
    first: Moment,
    last: Moment,
    /// When a frame of the side was seen last.
    grew: Moment,
    /// Where intervals begin and end: the first is the last moment before the first frame.
    marks: Vec<Moment>,
    is_closed: bool,
}

impl Intervals {
    fn begin(first: Frames, (side, length): (Side, Duration), now: Instant) -> Self {
        let first = (now, first);
        let length = length.max(Duration::from_millis(1));
        let marks = Vec::new();
        Self { side, length, first, last: first, grew: first, marks, is_closed: false }
    }

    fn see(&mut self, frames: Frames, now: Instant) -> bool {
        let before = std::mem::replace(&mut self.last, (now, frames));
        if self.of(frames) > self.of(before.1) && !self.is_closed {
            self.grew = self.last;
            if self.marks.is_empty() {
                self.marks.push(before);
            }
        }
        let is_full = |(begin, _): &Moment| now - *begin >= self.length;
        if !self.is_closed && self.marks.last().is_some_and(is_full) {
            self.marks.push(self.last);
        }
        frames != before.1
    }

    fn of(&self, frames: Frames) -> u64 {
        match self.side {
            Side::Sent => frames.sent,
            Side::Received => frames.received,
        }
    }

    /// The last interval ends with the last frame; a short rest goes to the one before it.
    fn close(&mut self) {
        self.is_closed = true;
        if self.marks.is_empty() {
            // Nothing came at all, for so long.
            self.marks = vec![self.first, self.last];
            return;
        }
        let end = self.grew;
        self.marks.retain(|(moment, _)| *moment < end.0);
        let is_short = |(begin, _): &Moment| (end.0 - *begin) * 2 < self.length;
        if self.marks.len() > 1 && self.marks.last().is_some_and(is_short) {
            self.marks.pop();
        }
        self.marks.push(end);
    }

    fn counted(&self) -> Vec<Counted> {
        let between = |pair: &[Moment]| Counted {
            ns: (pair[1].0 - pair[0].0).as_nanos() as u64,
            sent: pair[1].1.sent.saturating_sub(pair[0].1.sent),
            received: pair[1].1.received.saturating_sub(pair[0].1.received),
        };
        self.marks.windows(2).map(between).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_millis(10);

    /// Intervals of counts that are seen one after the other, each ms.
    fn seen(side: Side, counts: &[(u64, u64)]) -> Intervals {
        let start = Instant::now();
        let frames = |(sent, received)| Frames { sent: 7 + sent, received: 9 + received };
        let mut intervals = Intervals::begin(frames((0, 0)), (side, LENGTH), start);
        for (ms, &count) in (1..).zip(counts) {
            intervals.see(frames(count), start + Duration::from_millis(ms));
        }
        intervals.close();
        intervals
    }

    fn shown(intervals: &Intervals) -> Vec<(u64, u64, u64)> {
        let each = |one: &Counted| (one.ns / 1_000_000, one.sent, one.received);
        intervals.counted().iter().map(each).collect()
    }

    #[test]
    fn a_slow_start_and_the_silence_after_the_end_are_no_part_of_the_rate() {
        let mut counts = vec![(0, 0); 30];
        counts.extend((1..=25).map(|n| (n, n - 1)));
        counts.extend([(25, 25); 30]);
        let intervals = seen(Side::Sent, &counts);
        assert_eq!(shown(&intervals), [(10, 10, 9), (10, 10, 10), (5, 5, 5)]);
        // The one who receives began a ms later.
        let intervals = seen(Side::Received, &counts);
        assert_eq!(shown(&intervals), [(10, 10, 10), (10, 10, 10), (5, 4, 5)]);
        assert_eq!(intervals.last.1, Frames { sent: 32, received: 34 });
    }

    #[test]
    fn a_short_rest_goes_to_the_interval_before_it() {
        let counts: Vec<_> = (1..=13).map(|n| (n, n)).collect();
        assert_eq!(shown(&seen(Side::Sent, &counts)), [(13, 13, 13)]);
    }

    #[test]
    fn nothing_at_all_is_one_interval_of_nothing() {
        assert_eq!(shown(&seen(Side::Received, &[(5, 0); 20])), [(20, 5, 0)]);
    }
}
