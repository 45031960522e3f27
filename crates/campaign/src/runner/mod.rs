//! Runs what a plan still lacks, trial after trial, each recorded before the next begins.
//!
//! The runner knows neither devices nor terminals: it asks a [`Device`] for counts, judges whether
//! they add up, writes the record, and tells an [`Observer`] how far it is.

pub(crate) mod applied;
mod end;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

pub use self::end::End;

use self::applied::Applied;
use crate::Result;
use crate::plan::{Opened, PlannedTrial};
use fwdlab_claims::comparable;
use fwdlab_claims::decided::{Look, Open};
use fwdlab_claims::settle::settle;
use fwdlab_device::{Breakdown, Device, DeviceError, Proof, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_results::Measured;
use fwdlab_results::journal::Journal;
use fwdlab_results::journal::utc_stamp;
use fwdlab_results::{Failure, Interval, LimitedBy, Status, Trial};

/// Largest share of a campaign's trials that run again: the machine may never come to rest.
const MOST_REPEATED: f64 = 1.0 / 3.0;

/// Follows a campaign, for example to draw a progress bar.
pub trait Observer {
    /// A trial begins.
    fn starts(&mut self, upcoming: &Upcoming<'_>);
    /// An interval of the running trial has ended.
    fn interval(&mut self, upcoming: &Upcoming<'_>, interval: &Interval);
    /// A trial has ended and is recorded.
    fn ends(&mut self, trial: &Trial);
    /// The campaign goes on after a block because rare runs keep a comparison open.
    fn goes_on(&mut self, _open: &Open) {}
}

/// The trial that runs now.
#[derive(Clone, Copy, Debug)]
pub struct Upcoming<'a> {
    /// Its id.
    pub id: &'a str,
    /// Trials recorded before it, those of an earlier run included.
    pub done: usize,
    /// Trials of the whole plan.
    pub total: usize,
}

/// Says after each block whether enough is known.
pub trait Stopper {
    /// Whether the campaign may stop now, and why, or why it goes on. `trials` are all recorded trials;
    /// the last block is complete.
    fn look(&mut self, trials: &[Trial]) -> Look;
}

/// Never stops before the plan's end.
impl Stopper for () {
    fn look(&mut self, _: &[Trial]) -> Look {
        Look::Open(Vec::new())
    }
}

/// What a run is given.
pub struct Runner<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Where the trials run.
    pub device: &'a mut dyn Device,
    /// Who follows.
    pub observer: &'a mut dyn Observer,
    /// Who decides to stop early.
    pub stopper: &'a mut dyn Stopper,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Runs the trials that `opened` lacks and records each. Returns early, with everything
    /// recorded so far kept, when it is told to stop.
    ///
    /// # Errors
    /// When a record cannot be written. A trial that fails is a record, not an error.
    pub fn run(mut self, mut opened: Opened) -> Result<End> {
        let earlier = opened.earlier.iter().flat_map(|earlier| earlier.every());
        let mut trials: Vec<Trial> = earlier.cloned().collect();
        trials.sort_by_key(|trial| trial.order);
        let missing: Vec<PlannedTrial> = opened.missing().into_iter().cloned().collect();
        let total = opened.plan.trials.len();
        if let Some(why) = self.settled(whole_blocks(&trials, &missing)) {
            opened.journal.finish(&why)?;
            return Ok(End::Finished);
        }
        let mut spare = (total as f64 * MOST_REPEATED) as usize;
        let mut applied = Applied::new(opened.plan.blocks_per_process, opened.earlier.as_ref());
        let turns: Vec<&[PlannedTrial]> =
            missing.chunk_by(PlannedTrial::is_compared_with).collect();
        for (index, turn) in turns.iter().enumerate() {
            let later = turns.get(index + 1..).unwrap_or_default();
            let mut run =
                Together { planned: turn, later, done: trials.len(), total, trials: Vec::new() };
            let end = self.turn(&mut run, &mut spare, (&mut opened.journal, &mut applied))?;
            trials.extend(run.trials);
            if end != End::Finished {
                return Ok(end);
            }
            let recorded = trials.iter().map(|trial| trial.block).max().unwrap_or(0);
            let is_whole = turns.get(index + 1).is_none_or(|next| next[0].block > recorded);
            if is_whole && let Some(why) = self.settled(&trials) {
                opened.journal.finish(&why)?;
                return Ok(End::Finished);
            }
        }
        opened.journal.finish("all blocks run")?;
        Ok(End::Finished)
    }

    /// Why the campaign may stop after these trials; who follows is told why it goes on.
    fn settled(&mut self, trials: &[Trial]) -> Option<String> {
        match self.stopper.look(trials) {
            Look::Settled(why) => Some(why),
            Look::Open(open) => {
                open.iter().for_each(|own| self.observer.goes_on(own));
                None
            }
        }
    }

    /// Runs the trials of one block and one traffic and records them. When others ran on the cores,
    /// or these changed their distance, trials run again until all may be compared, at most as many
    /// as the turn has and `spare` holds; where nobody measures that, each is recorded as soon as
    /// it ends.
    fn turn(
        &mut self,
        turn: &mut Together<'_>,
        spare: &mut usize,
        (journal, applied): (&mut Journal, &mut Applied),
    ) -> Result<End> {
        let mut recorded = 0;
        let mut own_spare = turn.planned.len().min(*spare);
        let mut end = End::Finished;
        let mut queue: Vec<usize> = (0..turn.planned.len()).rev().collect();
        while let Some(place) = queue.pop() {
            let upcoming = turn.upcoming(place);
            self.tell(turn.from(place, &queue));
            let trial = self.kept(&turn.planned[place], &upcoming, (journal, applied))?;
            let trial = match trial {
                Ok(trial) => trial,
                Err(stopped) => {
                    end = stopped;
                    break;
                }
            };
            if let Some(before) = turn.put(place, trial) {
                journal.append_repeated(&before)?;
            }
            if queue.is_empty()
                && own_spare > 0
                && let Some(odd) = comparable::odd_one(&turn.trials, place)
            {
                *spare -= 1;
                own_spare -= 1;
                queue.push(odd);
            }
            while let Some(trial) = turn.trials.get(recorded)
                && comparable::is_recorded_at_once(trial)
            {
                self.record(trial, journal)?;
                recorded += 1;
            }
        }
        comparable::warn(&mut turn.trials);
        for trial in &turn.trials[recorded..] {
            self.record(trial, journal)?;
        }
        Ok(end)
    }

    /// Tells a device that looks ahead which trials come.
    fn tell<'p>(&mut self, trials: impl Iterator<Item = &'p PlannedTrial>) {
        let experiment = self.experiment;
        let trials = trials.take(self.device.looks_ahead());
        let coming: Vec<_> = trials
            .map(|planned| (planned.setting(experiment), &experiment.traffics[planned.traffic]))
            .collect();
        let requests: Vec<_> = coming
            .iter()
            .map(|(variant, traffic)| Request { experiment, variant, traffic })
            .collect();
        if !requests.is_empty() {
            self.device.coming(&requests);
        }
    }

    fn record(&mut self, trial: &Trial, journal: &mut Journal) -> Result<()> {
        journal.append(trial)?;
        self.observer.ends(trial);
        Ok(())
    }

    /// Runs one trial, again when its device was lost, each attempt recorded; how the run ends, when
    /// the campaign was stopped during it.
    fn kept(
        &mut self,
        planned: &PlannedTrial,
        upcoming: &Upcoming<'_>,
        (journal, applied): (&mut Journal, &mut Applied),
    ) -> Result<std::result::Result<Trial, End>> {
        let mut attempt = 1;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Err(End::Stopped));
            }
            journal.check()?;
            self.observer.starts(upcoming);
            let mut trial = blank(self.experiment, planned);
            match self.measured(planned, upcoming, applied) {
                Ok(_) if self.stop.load(Ordering::Relaxed) => return Ok(Err(End::Stopped)),
                Err(DeviceError::Stopped) => return Ok(Err(End::Stopped)),
                Ok(measured) => {
                    applied.testbed_failures = 0;
                    let setting = planned.setting(self.experiment);
                    settle(&mut trial, measured, &setting.set);
                    return Ok(Ok(trial));
                }
                Err(error) => {
                    trial.status = Status::Failed;
                    trial.reason = Some(error.to_string());
                    trial.failure = failure(&error);
                    applied.forget();
                    if let Some(end) = applied.end_after(&error, trial.failure.as_ref()) {
                        trial.reason = Some(format!("not counted, the campaign stopped: {error}"));
                        journal.append_repeated(&trial)?;
                        return Ok(Err(end));
                    }
                    let is_lost = matches!(error, DeviceError::Lost(_));
                    if !is_lost || attempt >= self.device.attempts() {
                        return Ok(Ok(trial));
                    }
                }
            }
            let of = self.device.attempts();
            trial.reason =
                trial.reason.map(|why| format!("attempt {attempt} of {of}, tried again: {why}"));
            journal.append_repeated(&trial)?;
            attempt += 1;
        }
    }

    fn measured(
        &mut self,
        planned: &PlannedTrial,
        upcoming: &Upcoming<'_>,
        applied: &mut Applied,
    ) -> std::result::Result<Measured, DeviceError> {
        let variant = &planned.setting(self.experiment);
        let traffic = &self.experiment.traffics[planned.traffic];
        let request = Request { experiment: self.experiment, variant, traffic };
        let observer = &mut *self.observer;
        let mut watch = Watch {
            on_interval: &mut |interval: &Interval| observer.interval(upcoming, interval),
            stop: self.stop,
        };
        let process = applied.enter(self.device, planned.block)?;
        let proof =
            applied.apply(self.device, (planned.name(self.experiment), &request), &mut watch)?;
        let mut measured = self.device.trial(&request, &mut watch)?;
        measured.environment.process = process;
        proven(&mut measured, proof);
        Ok(measured)
    }
}

/// What the journal keeps of a failure of the machines.
fn failure(error: &DeviceError) -> Option<Failure> {
    let Breakdown { kind, remedies, console, logs } = error.fault()?.breakdown.as_deref()?.clone();
    Some(Failure { kind, at: utc_stamp(SystemTime::now()), remedies, console, logs })
}

/// Puts what the device answered when it was set up beside what it answered in the trial.
pub(crate) fn proven(measured: &mut Measured, proof: Proof) {
    for (word, value) in proof {
        measured.proof.entry(word).or_insert(value);
    }
}

/// The trials of one block and one traffic, which are compared with each other.
struct Together<'a> {
    planned: &'a [PlannedTrial],
    /// What comes after it.
    later: &'a [&'a [PlannedTrial]],
    /// Trials recorded before it.
    done: usize,
    /// Trials of the whole plan.
    total: usize,
    /// What ran so far, in planned order.
    trials: Vec<Trial>,
}

impl<'a> Together<'a> {
    fn upcoming(&self, place: usize) -> Upcoming<'a> {
        Upcoming { id: &self.planned[place].id, done: self.done + place, total: self.total }
    }

    /// The trial at this place, and those planned after it; the last of `queue` is next.
    fn from(&self, place: usize, queue: &[usize]) -> impl Iterator<Item = &'a PlannedTrial> {
        let own = std::iter::once(place).chain(queue.iter().rev().copied());
        let own = own.map(|place| &self.planned[place]);
        own.chain(self.later.iter().copied().flatten())
    }

    /// Takes a trial that ran; returns the one at its place that no longer counts, with the reason.
    fn put(&mut self, place: usize, trial: Trial) -> Option<Trial> {
        if place == self.trials.len() {
            self.trials.push(trial);
            return None;
        }
        let why = comparable::why_again(&self.trials[place], &trial);
        let mut old = std::mem::replace(&mut self.trials[place], trial);
        old.reason = Some(why);
        Some(old)
    }
}

/// The record of a trial from what was counted, judged as those of a campaign are.
pub(crate) fn judged(experiment: &Experiment, planned: &PlannedTrial, measured: Measured) -> Trial {
    let mut trial = blank(experiment, planned);
    settle(&mut trial, measured, &experiment.variants[planned.variant].set);
    trial
}

/// The recorded trials, if they are whole blocks; otherwise none, because a decision is only taken
/// there. (Trials that are to run again are missing from blocks long past.)
fn whole_blocks<'a>(trials: &'a [Trial], missing: &[PlannedTrial]) -> &'a [Trial] {
    let is_within_block = match (trials.last(), missing.first()) {
        (Some(last), Some(next)) => next.block <= last.block,
        _ => false,
    };
    if is_within_block { &[] } else { trials }
}

/// The record of a trial before it ran.
fn blank(experiment: &Experiment, planned: &PlannedTrial) -> Trial {
    let traffic = &experiment.traffics[planned.traffic];
    Trial {
        id: planned.id.clone(),
        block: planned.block,
        order: planned.order,
        variant: planned.name(experiment).to_owned(),
        traffic: traffic.name.clone(),
        family: traffic.family,
        measure: experiment.own_measure(traffic),
        status: Status::Ok,
        reason: None,
        started: Some(utc_stamp(SystemTime::now())),
        frame_bytes: traffic.frame_bytes,
        flows_planned: Some(traffic.flows()),
        load: traffic.load.to_string(),
        offered_pps_asked: traffic.offered_pps(),
        interval_ms: experiment.interval.as_secs_f64() * 1e3,
        limited_by: LimitedBy::Device,
        failure: None,
        steady: None,
        rate_pps: None,
        measured: Measured::default(),
    }
}
