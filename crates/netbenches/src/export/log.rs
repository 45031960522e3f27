//! The logs of a run.
//!
//! The published scripts drop the first 15 and the last 10 text lines of a receiver log. The logs
//! written here have exactly so many lines around the steady intervals, so that the scripts keep what
//! fwdlab keeps and their median is the one in the `.pps` file. Left-out intervals of fwdlab's own
//! trials stay in `trials.jsonl`; those of imported ones are written, as many of them within the
//! dropped lines as there were in the log.

use std::path::Path;

use super::command::{self, Head};
use super::{kept, search};
use crate::pipeline::MedianRule;
use fwdlab_results::{Interval, Result, Trial};

/// Text lines that the published scripts drop at start and end.
const HEAD_LINES: usize = 15;
const TAIL_LINES: usize = 10;

/// Writes the logs of a run; returns its median, or what it searched for; `None` for a failed trial.
///
/// # Errors
/// When a log cannot be written.
pub fn write_run(
    raw: &Path,
    prefix: &str,
    trial: &Trial,
    is_imported: bool,
) -> Result<Option<f64>> {
    let place = |head: &Head| raw.join(format!("bench.{prefix}.{}.{}", trial.block, head.ending));
    let (receiver, senders) = command::heads(trial, is_imported);
    if let Some(found) = search::found(trial) {
        for head in &senders {
            kept::write(&place(head), search::log(trial, head, found).as_bytes())?;
        }
        return Ok(Some(found.number()));
    }
    let frame = Frame::of(trial);
    let written = match frame.is_whole {
        true => trial.measured.intervals.clone(),
        false => trial.steady_intervals(),
    };
    let is_usable = trial.is_ok() || frame.is_whole;
    if !is_usable || written.is_empty() {
        for head in std::iter::once(&receiver).chain(&senders) {
            let line = head.command.as_ref().map_or(String::new(), |line| format!("{line}\n"));
            kept::write(&place(head), format!("{line}{}", failure(trial)).as_bytes())?;
        }
        return Ok(None);
    }
    let log = Log { trial, written: &written, frame };
    let rx = Side { total: "Received", all: Some(trial.measured.received), share: None };
    kept::write(&place(&receiver), log.text(&receiver, &rx).as_bytes())?;
    if written.iter().all(|interval| interval.tx.is_some()) {
        let of = senders.len() as u64;
        for (index, head) in (0..).zip(&senders) {
            let tx =
                Side { total: "Sent", all: trial.measured.sent, share: Some(Share { index, of }) };
            kept::write(&place(head), log.text(head, &tx).as_bytes())?;
        }
    }
    let mut rates: Vec<u64> =
        frame.kept(&written).iter().map(|i| rate(i, i.rx)).filter(|r| *r > 0).collect();
    rates.sort_unstable();
    Ok(MedianRule::MeanOfTwo.of(&rates).filter(|_| trial.is_ok()))
}

/// The line by which a log says that its trial failed, and why.
fn failure(trial: &Trial) -> String {
    let reason = trial.reason.as_deref().unwrap_or("no steady window");
    format!("ouch, thread 0 exited with error: {}\n", command::on_one_line(reason))
}

/// The text lines around the intervals of a log.
#[derive(Clone, Copy)]
struct Frame {
    head_lines: usize,
    tail_lines: usize,
    /// Whether all intervals are written: the published scripts drop some of them, as they did from
    /// the log that was imported.
    is_whole: bool,
}

impl Frame {
    fn of(trial: &Trial) -> Self {
        let plain = Self { head_lines: HEAD_LINES, tail_lines: TAIL_LINES, is_whole: false };
        let dropped = trial.measured.proof.get("netbenches.dropped");
        let Some((head, tail)) = dropped.and_then(|text| text.split_once('+')) else {
            return plain;
        };
        match (head.parse::<usize>(), tail.parse::<usize>()) {
            (Ok(head), Ok(tail)) if head < HEAD_LINES && tail < TAIL_LINES => Self {
                head_lines: HEAD_LINES - head,
                tail_lines: TAIL_LINES - tail,
                is_whole: true,
            },
            _ => plain,
        }
    }

    /// The intervals that the published scripts keep of those that are written.
    fn kept(self, written: &[Interval]) -> &[Interval] {
        let (head, tail) = (HEAD_LINES - self.head_lines, TAIL_LINES - self.tail_lines);
        written.get(head..written.len().saturating_sub(tail)).unwrap_or_default()
    }
}

/// Sender or receiver.
struct Side {
    total: &'static str,
    /// Frames of the whole trial, where they were counted.
    all: Option<u64>,
    /// The sender's part of what was sent; `None` for the receiver.
    share: Option<Share>,
}

/// One of several senders. Results hold what all sent together: each gets its share.
#[derive(Clone, Copy)]
struct Share {
    index: u64,
    of: u64,
}

impl Share {
    fn part(self, frames: u64) -> u64 {
        let of = self.of.max(1);
        frames / of + u64::from(self.index < frames % of)
    }
}

impl Side {
    fn frames(&self, interval: &Interval) -> u64 {
        match self.share {
            None => interval.rx,
            Some(share) => share.part(interval.tx.unwrap_or(0)),
        }
    }
}

/// What is written of a trial.
struct Log<'t> {
    trial: &'t Trial,
    written: &'t [Interval],
    frame: Frame,
}

impl Log<'_> {
    /// A log of pkt-gen's newer format.
    fn text(&self, head: &Head, side: &Side) -> String {
        let Self { trial, written, frame } = self;
        let first = head.command.as_deref().unwrap_or("000.000000 main [0] no command is known");
        let mut text = format!("{first}\n");
        let load = &command::on_one_line(&trial.load);
        let notes = [
            match trial.flows_planned {
                Some(flows) => format!("load {load}, {flows} flows planned"),
                None => format!("load {load}"),
            },
            format!("{} of {} intervals follow", written.len(), trial.measured.intervals.len()),
        ];
        for line in 1..frame.head_lines {
            let note =
                notes.get(line - 1).map_or("published scripts drop 15 lines here", String::as_str);
            text.push_str(&format!("000.000000 main [0] {note}\n"));
        }
        let left_out = if frame.is_whole { 0 } else { trimmed_head(trial) };
        let mut at_us: u64 = trial.measured.intervals.iter().take(left_out).map(length_us).sum();
        for interval in *written {
            at_us = at_us.saturating_add(length_us(interval));
            text.push_str(&self.reading(head, interval, side.frames(interval), at_us));
        }
        self.close(&mut text, side);
        text
    }

    fn reading(&self, head: &Head, interval: &Interval, frames: u64, at_us: u64) -> String {
        let pps = rate(interval, frames);
        let bits = u64::from(self.trial.frame_bytes.saturating_sub(4)) * 8;
        format!(
            "{:03}.{:06} main_thread [{}] {pps} pps ({frames} pkts {} bps in {} usec) 0.00 avg_batch 0 min_space\n",
            at_us / 1_000_000 % 1000,
            at_us % 1_000_000,
            head.build,
            pps.saturating_mul(bits),
            length_us(interval)
        )
    }

    /// The lines behind the intervals: what came in all, or why the trial failed.
    fn close(&self, text: &mut String, side: &Side) {
        let Self { trial, written, frame } = self;
        let counted = written.iter().map(|i| side.frames(i)).fold(0, u64::saturating_add);
        let all = side.all.filter(|_| frame.is_whole);
        let frames = all.map_or(counted, |all| side.share.map_or(all, |share| share.part(all)));
        let len = u64::from(trial.frame_bytes.saturating_sub(4));
        let us: u64 = written.iter().map(length_us).fold(0, u64::saturating_add);
        let total = format!(
            "{} {frames} packets {} bytes {} events {len} bytes each in {:.2} seconds.\n",
            side.total,
            frames.saturating_mul(len),
            written.len(),
            us as f64 / 1e6
        );
        let mut lines = vec![total];
        if !trial.is_ok() {
            lines.insert(0, failure(trial));
        }
        lines.truncate(frame.tail_lines);
        for _ in lines.len()..frame.tail_lines {
            lines.push("000.000000 main [0] published scripts drop 10 lines here\n".to_owned());
        }
        text.extend(lines);
    }
}

fn trimmed_head(trial: &Trial) -> usize {
    trial.steady.as_ref().map_or(0, |steady| steady.trimmed_head)
}

/// Length of an interval in microseconds, which is what pkt-gen prints; never 0.
fn length_us(interval: &Interval) -> u64 {
    ((interval.ms * 1000.0).round() as u64).clamp(1, 3_600_000_000)
}

/// Frames/s of an interval as a whole number, which is what pkt-gen prints.
fn rate(interval: &Interval, frames: u64) -> u64 {
    let rate = frames as f64 * 1000.0 / interval.ms;
    if rate.is_finite() { rate.round() as u64 } else { 0 }
}
