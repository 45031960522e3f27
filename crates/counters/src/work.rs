//! What a host that does nothing else spends on frames: the time in which its processors are not idle.

use std::time::Duration;

/// A moment of a host with Linux: how long it has been up, and its processors idle, in hundredths of
/// a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    up: u64,
    idle: u64,
}

/// The moments at which a reading of the counters began and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Processors that are on.
    pub processors: u64,
    /// The first moment.
    pub first: Moment,
    /// The last.
    pub last: Moment,
}

/// What processors did between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Time of all processors together in which they were not idle.
    pub busy: Duration,
    /// Share of the time in which they were idle, 0 to 1.
    pub idle_share: f64,
}

impl Moment {
    /// Reads what stands in /proc/uptime.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(hundredths);
        Some(Self { up: words.next()??, idle: words.next()?? })
    }
}

fn hundredths(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.')?;
    let part = (part.len() == 2).then(|| part.parse::<u64>().ok())??;
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part)
}

/// From the end of one reading to the beginning of the next, without the readings themselves.
pub fn between(before: &Span, after: &Span) -> Option<Work> {
    let up = after.first.up.checked_sub(before.last.up).filter(|up| *up > 0)?;
    let idle = after.first.idle.checked_sub(before.last.idle)?;
    let whole = up.checked_mul(before.processors)?;
    let is_same = before.processors == after.processors && whole > 0;
    is_same.then(|| Work {
        busy: Duration::from_millis(whole.saturating_sub(idle).saturating_mul(10)),
        idle_share: idle.min(whole) as f64 / whole as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: &str, last: &str) -> Span {
        let moment = |text| Moment::parse(text).expect("a moment");
        Span { processors: 2, first: moment(first), last: moment(last) }
    }

    #[test]
    fn processors_worked_when_they_were_not_idle() {
        let (before, after) = (span("9.00 1.00", "10.00 2.00"), span("12.50 6.25", "13.00 7.00"));
        let work = between(&before, &after).expect("read twice");
        assert_eq!(work.busy, Duration::from_millis(750), "of 5 s, 4.25 were idle");
        assert!((work.idle_share - 0.85).abs() < 1e-9, "{work:?}");
        let more = Span { processors: 4, ..after };
        assert_eq!(between(&before, &more), None, "one was switched on");
        assert_eq!(between(&after, &before), None, "it booted");
        assert_eq!(Moment::parse("12.5 many"), None);
        assert_eq!(Moment::parse(""), None);
    }
}
