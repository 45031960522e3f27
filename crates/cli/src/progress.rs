//! The progress of a campaign, on stderr: trials done, what runs now, time left. A bar on a terminal,
//! elsewhere a line now and then.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use fwdlab_campaign::runner::{Observer, Upcoming};
use fwdlab_claims::decided::Open;
use fwdlab_results::{Interval, Status, Trial, units};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Where there is no terminal, a line is printed at most so often.
const PAUSE: Duration = Duration::from_secs(10);

/// Draws a bar on a terminal; elsewhere prints lines. A trial that failed is always said.
pub struct Bar {
    bar: ProgressBar,
    is_quiet: bool,
    /// The columns that the bar was made for.
    columns: usize,
    /// Profiles that are taken behind the last trial.
    profiles: usize,
    /// Lines are wanted, and when the last was printed.
    lines: Option<Instant>,
    started: Instant,
    count: Count,
    rate_pps: f64,
    /// The comparisons of which it has been said why the campaign goes on.
    open: Vec<String>,
}

impl Bar {
    /// A bar for a campaign with so many profiles behind it; nothing is drawn when `is_quiet` or stderr is not a
    /// terminal.
    pub fn new(is_quiet: bool, profiles: usize) -> Self {
        let is_drawn = !is_quiet && !crate::output::is_dumb();
        let is_seen = is_drawn && std::io::stderr().is_terminal();
        let target =
            if is_drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let columns = crate::output::width_of_stderr();
        bar.set_style(style(columns));
        let lines = (!is_quiet && !is_seen).then(Instant::now);
        Self {
            bar,
            is_quiet,
            columns,
            profiles,
            lines,
            started: Instant::now(),
            count: Count::default(),
            rate_pps: 0.0,
            open: Vec::new(),
        }
    }

    /// What matters most comes first: a narrow terminal cuts the rest.
    fn message(&mut self, what: &str) {
        let columns = crate::output::width_of_stderr();
        if columns != self.columns {
            self.columns = columns;
            self.bar.set_style(style(columns));
        }
        let left = self.time_left().map(|left| format!("{} s left  ", left.as_secs()));
        let rate = Some(self.rate_pps).filter(|rate| *rate > 0.0);
        let rate = rate.map(|rate| format!("  {}", units::rate(rate)));
        self.bar.set_message(
            [left.unwrap_or_default(), what.to_owned(), rate.unwrap_or_default(), self.then()]
                .concat(),
        );
    }

    /// What comes behind the trials, of which the time that is left says nothing.
    fn then(&self) -> String {
        match self.profiles {
            0 => String::new(),
            count => format!(", then {}", units::plural(count, "profile")),
        }
    }

    /// Says how far it is, where there is no bar.
    fn line(&mut self) {
        let is_due = |last: &Instant| self.count.is_end_news() || last.elapsed() >= PAUSE;
        let Some(last) = self.lines.filter(is_due) else {
            return;
        };
        let left = self.time_left().filter(|_| !self.count.is_end());
        let left = left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
        let seconds = self.started.elapsed().as_secs();
        fwdlab_guard::say!("{} after {seconds} s{left}{}", self.count.words(), self.then());
        self.count.ends_said = if self.count.is_end() { self.count.total } else { 0 };
        self.lines = Some(last + last.elapsed());
    }

    /// Trials still to run, times what one has taken so far.
    fn time_left(&self) -> Option<Duration> {
        let measured = u32::try_from(self.count.measured()?).ok().filter(|&n| n > 0)?;
        let left = u32::try_from(self.count.total.checked_sub(self.count.done)?).ok()?;
        Some(self.started.elapsed() / measured * left)
    }
}

/// One line of a terminal with so many columns: where there are few, words are worth more than a bar.
fn style(columns: usize) -> ProgressStyle {
    let template = match columns {
        ..50 => "{pos}/{len} trials  {wide_msg}",
        50..76 => "{bar:10} {pos}/{len} trials  {wide_msg}",
        _ => "{bar:24} {pos}/{len} trials  {wide_msg}",
    };
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

/// How far a campaign is. A trial that runs again is one more on both sides, so that nothing counts back.
#[derive(Default)]
struct Count {
    /// Trials recorded before this run began; nothing before its first trial.
    before: Option<usize>,
    done: usize,
    total: usize,
    again: usize,
    /// The first place in the plan at which no trial has begun.
    reached: usize,
    /// Of how many it has been said that all are done.
    ends_said: usize,
}

impl Count {
    /// Another trial begins: each that began before it has run, recorded yet or not.
    fn starts(&mut self, upcoming: &Upcoming<'_>) {
        self.before.get_or_insert(upcoming.done);
        self.again += usize::from(upcoming.done < self.reached);
        self.reached = self.reached.max(upcoming.done + 1);
        self.done = self.reached + self.again - 1;
        self.total = upcoming.total + self.again;
    }

    /// A trial is recorded, which is when none runs.
    fn ends(&mut self) {
        self.done = self.reached + self.again;
    }

    fn measured(&self) -> Option<usize> {
        self.done.checked_sub(self.before?)
    }

    fn is_end(&self) -> bool {
        self.done == self.total
    }

    /// Whether it is to be said that all are done.
    fn is_end_news(&self) -> bool {
        self.is_end() && self.ends_said != self.total
    }

    fn words(&self) -> String {
        let again = match self.again {
            0 => String::new(),
            again => format!(" ({again} again)"),
        };
        format!("{} of {} trials{again}", self.done, self.total)
    }
}

impl Observer for Bar {
    fn starts(&mut self, upcoming: &Upcoming<'_>) {
        if self.count.before.is_none() {
            self.started = Instant::now();
        }
        self.count.starts(upcoming);
        self.bar.set_length(self.count.total as u64);
        self.bar.set_position(self.count.done as u64);
        self.message(upcoming.id);
    }

    fn interval(&mut self, upcoming: &Upcoming<'_>, interval: &Interval) {
        self.rate_pps = interval.rx_pps();
        self.message(upcoming.id);
        // A search for a rate takes minutes, and some runners end a job that is silent.
        self.line();
    }

    fn ends(&mut self, trial: &Trial) {
        self.count.ends();
        self.bar.set_position(self.count.done as u64);
        self.line();
        if trial.status == Status::Failed {
            let reason = trial.reason.as_deref().unwrap_or("no reason recorded");
            self.bar.suspend(|| fwdlab_guard::say!("warning: trial {} FAILED: {reason}", trial.id));
        }
    }

    fn goes_on(&mut self, Open { subject, why }: &Open) {
        if self.is_quiet || self.open.contains(subject) {
            return;
        }
        self.open.push(subject.clone());
        self.bar.suspend(|| fwdlab_guard::say!("goes on: {subject} {why}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines came only after trials, however long one took.
    #[test]
    fn a_long_trial_is_not_silent_where_there_is_no_terminal() {
        let mut bar = Bar::new(false, 0);
        let long_ago = Instant::now().checked_sub(PAUSE);
        bar.lines = long_ago;
        let upcoming = Upcoming { id: "x", done: 0, total: 2 };
        bar.starts(&upcoming);
        assert_eq!(bar.lines, long_ago, "nothing is known yet");
        bar.interval(&upcoming, &Interval::default());
        assert_ne!(bar.lines, long_ago);
    }

    /// 48 trials, of which three run again at the end: the bar went back to 45.
    #[test]
    fn a_trial_that_runs_again_never_takes_the_count_back() {
        let mut count = Count::default();
        let mut seen = Vec::new();
        // A block of four that was resumed at its third, two of which run again before any is recorded.
        for place in [6, 7, 6, 7] {
            count.starts(&Upcoming { id: "x", done: place, total: 10 });
            seen.push(count.done);
        }
        for _ in 0..2 {
            count.ends();
            seen.push(count.done);
        }
        assert_eq!(count.words(), "10 of 12 trials (2 again)");
        for place in [8, 9, 9] {
            count.starts(&Upcoming { id: "x", done: place, total: 10 });
            seen.push(count.done);
        }
        count.ends();
        assert!(seen.is_sorted(), "{seen:?}");
        assert_eq!((count.measured(), count.is_end()), (Some(7), true));
        assert_eq!(count.words(), "13 of 13 trials (3 again)");
    }
}
