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
    /// Lines are wanted, and when the last was printed.
    lines: Option<Instant>,
    /// It has been said that all are done; those that run again say so no more.
    is_end_said: bool,
    started: Instant,
    /// Trials recorded before this run began; nothing before its first trial.
    done_before: Option<usize>,
    done: usize,
    total: usize,
    rate_pps: f64,
    /// The comparisons of which it has been said why the campaign goes on.
    open: Vec<String>,
}

impl Bar {
    /// A bar for a campaign; nothing is drawn when `is_quiet` or stderr is not a terminal.
    pub fn new(is_quiet: bool) -> Self {
        let is_drawn = !is_quiet && !crate::output::is_dumb();
        let is_seen = is_drawn && std::io::stderr().is_terminal();
        let target =
            if is_drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} trials  {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        let lines = (!is_quiet && !is_seen).then(Instant::now);
        Self {
            bar,
            is_quiet,
            lines,
            is_end_said: false,
            started: Instant::now(),
            done_before: None,
            done: 0,
            total: 1,
            rate_pps: 0.0,
            open: Vec::new(),
        }
    }

    fn message(&self, what: &str) {
        let mut text = what.to_owned();
        if self.rate_pps > 0.0 {
            text.push_str(&format!("  {}", units::rate(self.rate_pps)));
        }
        if let Some(left) = self.time_left() {
            text.push_str(&format!("  {} s left", left.as_secs()));
        }
        self.bar.set_message(text);
    }

    /// Says how far it is, where there is no bar.
    fn line(&mut self) {
        let is_last = self.done == self.total;
        let is_due = |last: &Instant| (is_last && !self.is_end_said) || last.elapsed() >= PAUSE;
        let Some(last) = self.lines.filter(is_due) else {
            return;
        };
        self.is_end_said |= is_last;
        let left = self.time_left().filter(|_| !is_last);
        let left = left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
        fwdlab_guard::say!(
            "{} of {} trials after {} s{left}",
            self.done,
            self.total,
            self.started.elapsed().as_secs()
        );
        self.lines = Some(last + last.elapsed());
    }

    /// Trials still to run, times what one has taken so far.
    fn time_left(&self) -> Option<Duration> {
        // A trial that runs again takes the count back, so that neither difference is certain.
        let measured = self.done.checked_sub(self.done_before?)?;
        let measured = u32::try_from(measured).ok().filter(|&n| n > 0)?;
        let left = u32::try_from(self.total.checked_sub(self.done)?).ok()?;
        Some(self.started.elapsed() / measured * left)
    }
}

impl Observer for Bar {
    fn starts(&mut self, upcoming: &Upcoming<'_>) {
        if self.done_before.is_none() {
            self.done_before = Some(upcoming.done);
            self.started = Instant::now();
        }
        self.done = upcoming.done;
        self.total = upcoming.total;
        self.bar.set_length(upcoming.total as u64);
        self.bar.set_position(upcoming.done as u64);
        self.message(upcoming.id);
    }

    fn interval(&mut self, upcoming: &Upcoming<'_>, interval: &Interval) {
        self.rate_pps = interval.rx_pps();
        self.message(upcoming.id);
    }

    fn ends(&mut self, trial: &Trial) {
        self.done = (self.done + 1).min(self.total);
        self.bar.set_position(self.done as u64);
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

    #[test]
    fn a_trial_that_runs_again_takes_the_count_back() {
        let mut bar = Bar::new(true);
        for done in [3, 4, 3, 5, 4, 6] {
            bar.starts(&Upcoming { id: "b01-inet-one", done, total: 6 });
            assert_eq!(bar.done_before, Some(3));
        }
        bar.starts(&Upcoming { id: "b01-inet-one", done: 2, total: 6 });
        assert_eq!(bar.time_left(), None);
    }
}
