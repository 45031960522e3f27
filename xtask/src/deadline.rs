//! When a run of tests has to be at its end, where somebody waits no longer.

use std::time::{Duration, Instant};

/// Kept for the failures' second look.
const RESERVE: Duration = Duration::from_secs(90);

/// The moment up to which programs may run.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    minutes: u32,
    begin: Instant,
}

impl Deadline {
    /// So many minutes from now, less what a second look at failures takes.
    pub(crate) fn in_minutes(minutes: u32) -> Self {
        Self { minutes, begin: Instant::now() }
    }

    /// With about so many seconds left of a long run.
    #[cfg(test)]
    pub(crate) fn with_left(seconds: u64) -> Self {
        let mut end = Self::in_minutes(2);
        let gone = end.span() - Duration::from_millis(1000 * seconds + 900);
        end.begin = end.begin.checked_sub(gone).expect("the machine runs for a minute");
        end
    }

    fn span(self) -> Duration {
        Duration::from_secs(60 * u64::from(self.minutes)).saturating_sub(RESERVE)
    }

    /// What is left; nothing when the moment is over.
    pub(crate) fn left(self) -> Duration {
        self.span().saturating_sub(self.begin.elapsed())
    }

    /// Why something did not run, or not to its end.
    pub(crate) fn reason(self) -> String {
        format!("no time was left of {} minutes", self.minutes)
    }
}

/// Whole seconds that are left, at most `most`; `most` without a deadline.
pub(crate) fn seconds(deadline: Option<Deadline>, most: u32) -> u32 {
    deadline.map_or(most, |end| most.min(end.left().as_secs() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_shrinks_to_nothing() {
        let end = Deadline::in_minutes(10);
        assert!(seconds(Some(end), 1000) <= 510 && seconds(Some(end), 60) == 60);
        let over = Deadline::in_minutes(1);
        assert_eq!(seconds(Some(over), 1000), 0);
        assert_eq!(seconds(None, 1000), 1000);
        assert_eq!(end.reason(), "no time was left of 10 minutes");
    }
}
