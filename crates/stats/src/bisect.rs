//! Which step of a chain changed a figure, when every measurement is noisy.
//!
//! A chain of states (commits, images, variants) begins with a good end and ends with a bad one.
//! Each measurement compares one state with the good end, side by side, so that a machine that
//! drifts moves both; its value is the logarithm of their ratio. [`Bisection::next`] says what to
//! measure next, or the answer. It depends on the measurements alone, so a bisection that was
//! interrupted goes on from them.
//!
//! 1. The bad end is measured first. If it is as the good one, the difference of before is gone.
//! 2. Where the change is gets a probability (Horstein 1963; Waeber, Frazier and Henderson 2013):
//!    the state that splits it in two is measured, and again where that left it unsure, until one
//!    place has 1 - `error`.
//! 3. Both sides of the place are measured until they tell whether this step explains the whole
//!    difference. If it does not, or a state fits neither level, all states are measured and every
//!    step that holds is named: several changes are an answer, and so is no single culprit.

use crate::change::{self, Settings};
use crate::dataset::median;
use crate::distribution::{normal_quantile, t_critical, t_two_sided};

/// Measurements of the bad end before anything is said, and most of them.
const ENDS: (usize, usize) = (4, 12);
/// Most measurements of the bad end where it stays open whether it differs: each look at it may err,
/// so beyond the first ones it is looked at only after as many again.
const ENDS_IN_DOUBT: usize = 48;
/// Half width of an interval around no difference that is narrow enough to call it gone, in margins.
const GONE: f64 = 2.0;
/// Measurements of each state of a scan after which it gives up.
const SCANNED: usize = 12;
/// How far noise must lie below the difference before "no culprit" is said, in standard errors.
const CLEAR: f64 = 5.0;
/// Residuals from which their median says what the noise is, and of which one may be stray.
const RESIDUALS: usize = 8;
/// By how much the spread without the farthest of so many is smaller than with it.
const WITHOUT_FARTHEST: f64 = 1.3;
/// How many times the noise that was believed is another one.
const OTHER_NOISE: f64 = 2.0;
/// Measurements of both sides of the culprit, and of every state when all are measured.
const SIDES: usize = 3;
/// Most measurements of them, while the step between them does not show.
const MOST_SIDES: usize = 24;
/// How far a step must be from none, in half widths of its 95 % interval.
const SEEN: f64 = 1.7;
/// How far a step must be from half of the difference, in the same half widths: so far is one of two
/// equal changes.
const WHOLE: f64 = 0.7;
/// Longest chain of which all states are measured.
const LONGEST_SCAN: usize = 64;
/// Measurements of the states beside a step of several.
const STEPS: usize = 7;
/// How often the answer is looked at before it holds, on average: each look may err.
const ROUNDS: f64 = 4.0;
/// How much wider the error of a median of few is than that of their mean.
const OF_MEDIAN: f64 = 1.2;
/// Weight of the prior noise, in degrees of freedom.
const PRIOR_DF: f64 = 4.0;
/// Share of the measurements that may be stray: what one of them can say is bounded.
const STRAY: f64 = 0.02;

/// What is asked of a bisection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Probability of a wrong answer that is accepted.
    pub error: f64,
    /// The smallest change that matters, as a ratio.
    pub margin: f64,
    /// Noise of one measurement that is expected before any is seen, as a ratio.
    pub prior_noise: f64,
    /// Measurements after which it gives up.
    pub most: usize,
}

impl Default for Terms {
    fn default() -> Self {
        Self { error: 0.05, margin: 0.01, prior_noise: 0.01, most: 200 }
    }
}

/// A step of the chain and how much it changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The first state with the change; the one before it is without.
    pub at: usize,
    /// The ratio of their figures, less 1.
    pub ratio: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A part of the chain, from one state to another, whose ends still differ: a change besides the step that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Its good end.
    pub from: usize,
    /// Its bad end.
    pub to: usize,
    /// The ratio of their figures, less 1.
    pub ratio: f64,
    /// Its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a bisection found.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// One step explains most of the difference.
    Culprit {
        /// The step.
        step: Step,
        /// Probability that it is this one.
        probability: f64,
        /// What is left of the difference, where that is surely something: before the step, behind it, or both.
        rest: Vec<Rest>,
    },
    /// More than one step changed the figure, in order.
    Several(Vec<Step>),
    /// The ends do not differ today: the lab or the machine changed since.
    Gone {
        /// The bad end over the good one, less 1, with its 95 % interval.
        ratio: f64,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The ends do not differ, but states between them do: one change takes back another.
    Cancelled(Vec<Step>),
    /// The ends differ, but no step does by enough: a slow slide.
    NoCulprit,
    /// What was measured varies too much for any answer.
    TooNoisy {
        /// Standard deviation of one comparison, as a ratio.
        noise: f64,
    },
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Compare this state with the good end.
    Measure(usize),
    /// Stop.
    Answer(Answer),
}

/// A bisection: the values of each state so far. State 0 is the good end, which needs none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    terms: Terms,
    values: Vec<Vec<f64>>,
}

impl Bisection {
    /// A chain of `states`, both ends included; at least two.
    pub fn new(states: usize, terms: Terms) -> Self {
        Self { terms, values: vec![Vec::new(); states.max(2)] }
    }

    /// Takes a measurement: the ratio of the figure of `state` to that of the good end. What is not
    /// positive and finite is left out.
    pub fn take(&mut self, state: usize, ratio: f64) {
        let own =
            self.values.get_mut(state).filter(|_| state > 0 && ratio > 0.0 && ratio.is_finite());
        if let Some(values) = own {
            values.push(ratio.ln());
        }
    }

    /// Measurements so far.
    pub fn count(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    /// What to measure next, or the answer.
    pub fn next(&self) -> Next {
        let last = self.values.len() - 1;
        if self.values[last].len() < ENDS.0 {
            return Next::Measure(last);
        }
        let noise = self.noise();
        let ends = self.values[last].len();
        let may_look = ends <= ENDS.1 || ends.is_multiple_of(ENDS.1);
        if self.count() >= self.terms.most {
            return self.too_noisy(&noise);
        }
        if !may_look || !self.is_apart(last, &noise) {
            let is_narrow = self.is_alike(last, &noise);
            return match () {
                () if ends < ENDS.1 || !may_look => Next::Measure(last),
                () if is_narrow => self.without_difference(&noise),
                () if ends < ENDS_IN_DOUBT => Next::Measure(last),
                () => self.too_noisy(&noise),
            };
        }
        if last == 1 {
            let p = self.p_apart(last, &noise) * ROUNDS;
            return self.check(last, (1.0 - p).max(1.0 - self.terms.error), &noise);
        }
        if self.has_third_level(&noise) {
            return self.scan(&noise);
        }
        let places = self.probabilities(&noise);
        let best = (0..places.len()).max_by(|&a, &b| places[a].total_cmp(&places[b])).unwrap_or(0);
        // half of the error is for the ends and for the check
        if places[best] < 1.0 - self.terms.error / 2.0 / ROUNDS {
            return Next::Measure(self.halfway(&places));
        }
        self.check(best + 1, places[best], &noise)
    }

    /// The noise of one measurement, from those that were repeated.
    fn noise(&self) -> Noise {
        let mut squares = PRIOR_DF * self.terms.prior_noise * self.terms.prior_noise;
        let mut df = PRIOR_DF;
        let mut all = Vec::new();
        for values in self.values.iter().filter(|values| values.len() > 1) {
            // around the median, and bounded: one stray value must not hide a change from all
            let middle = median(values);
            let far = 5.0 * self.terms.prior_noise;
            squares += values.iter().map(|v| (v - middle).abs().min(far).powi(2)).sum::<f64>();
            df += (values.len() - 1) as f64;
            all.extend(values.iter().map(|v| (v - middle).abs()));
        }
        let bounded = (squares / df).sqrt();
        // where more than a few are far, that is the noise: what is seen of it knows no bound
        let seen = spread(&mut all, df - PRIOR_DF);
        let residuals = self.residuals();
        let typical = if residuals.len() < RESIDUALS { 0.0 } else { typical(&residuals) };
        // what was believed says nothing of a noise that is another
        let is_other = seen > OTHER_NOISE * self.terms.prior_noise;
        let df = if is_other { (df - PRIOR_DF).max(1.0) } else { df };
        Noise { sd: bounded.max(seen).max(typical), df }
    }

    /// How far measurements are from the median of their state.
    fn residuals(&self) -> Vec<f64> {
        let mut residuals: Vec<f64> = Vec::new();
        for values in self.values.iter().filter(|values| values.len() > 1) {
            let middle = median(values);
            let count = values.len() as f64;
            let own = values.iter().map(|v| (v - middle).abs() * (count / (count - 1.0)).sqrt());
            // the median itself has no deviation where the count is odd
            residuals.extend(own.filter(|r| *r > 0.0 || count < 3.0));
        }
        residuals
    }

    /// The answer of which the noise is the reason: what was seen of it, also where few measurements show more than
    /// was believed of them.
    fn too_noisy(&self, noise: &Noise) -> Next {
        let residuals = self.residuals();
        let seen = if residuals.is_empty() { 0.0 } else { typical(&residuals) };
        Next::Answer(Answer::TooNoisy { noise: noise.sd.max(seen) })
    }

    /// Whether a state is as the good end, within an interval narrow enough to say so.
    fn is_alike(&self, state: usize, noise: &Noise) -> bool {
        let own = ConfidenceInterval::of(&self.values[state], &[], noise);
        own.high.max(-own.low) <= GONE * self.terms.margin
    }

    /// Whether a state differs from the good end, by enough to matter.
    fn is_apart(&self, state: usize, noise: &Noise) -> bool {
        middle(&self.values[state]).exp_m1().abs() >= self.terms.margin
            && self.p_apart(state, noise) <= self.terms.error / 5.0
    }

    /// The p of a state that is as the good end.
    fn p_apart(&self, state: usize, noise: &Noise) -> f64 {
        let values = &self.values[state];
        let error = OF_MEDIAN * noise.sd / (values.len().max(1) as f64).sqrt();
        t_two_sided(middle(values) / error, noise.df)
    }

    /// The probability that the change lies at each step; the first is that from state 0 to 1.
    fn probabilities(&self, noise: &Noise) -> Vec<f64> {
        let last = self.values.len() - 1;
        let bad = middle(&self.values[last]);
        let sd = noise.sd * (1.0 + 1.0 / self.values[last].len() as f64).sqrt();
        // of a value at either level, with a share of stray ones anywhere
        let weigh = |value: f64, level: f64| {
            let z = (value - level) / sd;
            let broad = STRAY * sd / (10.0 * sd).max(bad.abs());
            ((1.0 - STRAY) * (-0.5 * z * z).exp() + broad).ln()
        };
        let per_state: Vec<(f64, f64)> = self.values[..last]
            .iter()
            .map(|values| {
                let at = |level: f64| values.iter().map(|v| weigh(*v, level)).sum::<f64>();
                (at(0.0), at(bad))
            })
            .collect();
        let logs: Vec<f64> = (1..=last)
            .map(|first_bad| {
                let own = |(state, (good, bad)): (usize, &(f64, f64))| {
                    if state < first_bad { *good } else { *bad }
                };
                per_state.iter().enumerate().map(own).sum()
            })
            .collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|l| (l - top).exp()).sum();
        logs.iter().map(|l| (l - top).exp() / total).collect()
    }

    /// The state between the ends that splits the probability in two.
    fn halfway(&self, places: &[f64]) -> usize {
        let mut before = 0.0;
        let mut best = (f64::INFINITY, 1);
        for state in 1..self.values.len() - 1 {
            before += places[state - 1];
            let off = (before - 0.5).abs();
            if off < best.0 {
                best = (off, state);
            }
        }
        best.1
    }

    /// Whether what a state measured can be this level.
    fn fits(&self, state: usize, level: f64, noise: &Noise) -> bool {
        let bad = middle(&self.values[self.values.len() - 1]);
        // with so many states in view one may be off by chance
        let measured = self.values.iter().filter(|values| values.len() >= 2).count().max(1) as f64;
        let far = normal_quantile(1.0 - 0.01 / measured / 2.0);
        let values = &self.values[state];
        let count = values.len().max(1) as f64;
        let error = OF_MEDIAN * noise.sd * (1.0 / count + 1.0 / ENDS.0 as f64).sqrt();
        (middle(values) - level).abs() <= (far * error).max(0.15 * bad.abs())
    }

    /// Whether a state that was measured often enough is at neither end's level.
    fn has_third_level(&self, noise: &Noise) -> bool {
        let last = self.values.len() - 1;
        let bad = middle(&self.values[last]);
        let is_third = |state: usize| {
            self.values[state].len() >= SIDES
                && !self.fits(state, 0.0, noise)
                && !self.fits(state, bad, noise)
        };
        (1..last).any(is_third)
    }

    /// Whether the step to `culprit` explains the whole difference.
    fn check(&self, culprit: usize, probability: f64, noise: &Noise) -> Next {
        let last = self.values.len() - 1;
        let sides = [culprit - 1, culprit];
        let wanting = |state: &&usize| **state > 0 && self.values[**state].len() < SIDES;
        if let Some(&state) = sides.iter().find(wanting) {
            return Next::Measure(state);
        }
        let bad = middle(&self.values[last]);
        let fits = |state: usize| {
            let level = if state < culprit { 0.0 } else { bad };
            self.fits(state, level, noise)
        };
        let doubtful = (1..last).find(|&s| self.values[s].len() >= 2 && !fits(s));
        // one value that fits neither level asks for a second
        let odd = |s: &usize| self.values[*s].len() == 1 && !fits(*s);
        match ((1..last).find(odd), doubtful) {
            (Some(state), _) => Next::Measure(state),
            (None, Some(_)) => self.scan(noise),
            (None, None) => {
                let step = self.step(culprit, noise);
                let centre = step.ratio.ln_1p() * bad.signum();
                let half = (step.high.ln_1p() - step.low.ln_1p()) / 2.0;
                let is_seen = centre.abs() > SEEN * half;
                let least = centre - WHOLE * half;
                // of more than the difference another step takes some back
                let is_whole = least > bad.abs() / 2.0 && least <= bad.abs();
                let few = sides.iter().filter(|s| **s > 0 && self.values[**s].len() < MOST_SIDES);
                match few.min_by_key(|state| self.values[**state].len()) {
                    _ if is_seen && is_whole => self.with_rest(step, probability, noise),
                    // the step itself is not seen yet: ask both sides again
                    Some(&state) => Next::Measure(state),
                    None if is_seen && (centre - bad.abs()).abs() > half => self.scan(noise),
                    None if is_seen => self.with_rest(step, probability, noise),
                    None => self.too_noisy(noise),
                }
            }
        }
    }

    /// The culprit with what it leaves of the difference; where that may be something or nothing its ends are asked again.
    fn with_rest(&self, step: Step, probability: f64, noise: &Noise) -> Next {
        let last = self.values.len() - 1;
        let of = |from: usize, to: usize| self.values[from..to].concat();
        let (before, behind) = (of(1, step.at), of(step.at, last));
        let parts = [
            (0, step.at - 1, before, Vec::new()),
            (step.at, last, self.values[last].clone(), behind),
        ];
        let mut rest = Vec::new();
        for (from, to, after, before) in parts {
            if from == to {
                continue;
            }
            let own = ConfidenceInterval::of(&after, &before, noise);
            if own.ratio.abs() < self.terms.margin {
                continue;
            }
            let p = own.p(noise);
            let asked = if to == last { [last, from] } else { [to, to] };
            let few = asked.into_iter().filter(|state| self.values[*state].len() < ENDS.1);
            match few.min_by_key(|state| self.values[*state].len()) {
                _ if p <= self.terms.error / ROUNDS => {
                    rest.push(Rest { from, to, ratio: own.ratio, low: own.low, high: own.high });
                }
                Some(state) => return Next::Measure(state),
                None => {}
            }
        }
        Next::Answer(Answer::Culprit { step, probability, rest })
    }

    /// The ends are alike: are the states between them?
    fn without_difference(&self, noise: &Noise) -> Next {
        let last = self.values.len() - 1;
        if let Some(state) = self.wanting(SIDES) {
            return Next::Measure(state);
        }
        let mut steps = self.steps(noise);
        if steps.is_empty() {
            steps = self.states_apart(noise);
        }
        if let Some(state) = self.unsure(&steps) {
            return Next::Measure(state);
        }
        if !steps.is_empty() {
            return Next::Answer(Answer::Cancelled(steps));
        }
        let step = ConfidenceInterval::of(&self.values[last], &[], noise);
        Next::Answer(Answer::Gone { ratio: step.ratio, low: step.low, high: step.high })
    }

    /// Measures all states, then names every step.
    fn scan(&self, noise: &Noise) -> Next {
        if let Some(state) = self.wanting(SIDES) {
            return Next::Measure(state);
        }
        let steps = self.steps(noise);
        if let Some(state) = self.unsure(&steps) {
            return Next::Measure(state);
        }
        // what is left between the steps must be too little to be one
        let bad = middle(&self.values[self.values.len() - 1]);
        let explained: f64 = steps.iter().map(|step| step.ratio.ln_1p()).sum();
        let error = OF_MEDIAN * noise.sd * (2.0 / SIDES as f64).sqrt();
        let is_open = (bad - explained).abs() > (2.0 * error).max(0.3 * bad.abs());
        if steps.is_empty() || is_open {
            let fewest = self.values[1..].iter().map(Vec::len).min().unwrap_or(0).max(SIDES);
            let is_clear = bad.abs() / 2.0 > CLEAR * OF_MEDIAN * noise.sd / (fewest as f64).sqrt();
            let is_part = !steps.is_empty();
            if let Some(state) = self.wanting(SCANNED).filter(|_| is_part || !is_clear) {
                return Next::Measure(state);
            }
            // what is left is more than noise: the steps are no answer
            return match steps.len() == 1 || !is_clear {
                true => self.too_noisy(noise),
                false => Next::Answer(Answer::NoCulprit),
            };
        }
        match steps.as_slice() {
            [step] => self.with_rest(*step, 1.0 - self.terms.error, noise),
            _ => Next::Answer(Answer::Several(steps)),
        }
    }

    /// A state that has too few measurements for a scan; in long chains only every so many-th is
    /// asked.
    fn wanting(&self, most: usize) -> Option<usize> {
        let stride = self.values.len().div_ceil(LONGEST_SCAN);
        let count = |state: &usize| self.values[*state].len();
        let asked = (1..self.values.len()).filter(|state| state % stride == 0);
        asked.filter(|state| count(state) < most).min_by_key(count)
    }

    /// The steps around states that differ from both ends, which are alike: a state of which the whole chain's levels
    /// show too little may be clear beside its own noise.
    fn states_apart(&self, noise: &Noise) -> Vec<Step> {
        let tries = ROUNDS * self.values.len() as f64;
        let is_apart = |state: usize| {
            self.values[state].len() >= SIDES
                && self.is_apart(state, noise)
                && self.p_apart(state, noise) * tries <= self.terms.error / 5.0
        };
        let is_apart: Vec<bool> = (0..self.values.len() - 1).map(is_apart).chain([false]).collect();
        let at = (1..is_apart.len()).filter(|&at| is_apart[at] != is_apart[at - 1]);
        at.map(|at| self.step(at, noise)).collect()
    }

    /// A state beside one of the steps that should be measured again before they are named.
    fn unsure(&self, steps: &[Step]) -> Option<usize> {
        let beside = steps.iter().flat_map(|step| [step.at - 1, step.at]);
        let few = beside.filter(|&state| state > 0 && self.values[state].len() < STEPS);
        few.min_by_key(|&state| self.values[state].len())
    }

    /// Every step that holds, from the levels of all measured states.
    fn steps(&self, noise: &Noise) -> Vec<Step> {
        let measured: Vec<usize> =
            (0..self.values.len()).filter(|&s| s == 0 || self.values[s].len() >= SIDES).collect();
        let levels: Vec<f64> = measured.iter().map(|&s| middle(&self.values[s]).exp()).collect();
        // the good end is in every measurement: its own noise is that of all
        let counts = measured.iter().map(|&s| self.values[s].len());
        let fewest = counts.filter(|count| *count > 0).min().unwrap_or(SIDES);
        let own = OF_MEDIAN * noise.sd / (fewest as f64).sqrt();
        let settings = Settings {
            alpha: self.terms.error / 5.0,
            is_watched: false,
            margin: self.terms.margin,
            prior_noise: own,
        };
        let found = changes_of(&levels, own, &settings);
        found.into_iter().filter_map(|at| Some(self.step(*measured.get(at)?, noise))).collect()
    }

    fn step(&self, at: usize, noise: &Noise) -> Step {
        let own = ConfidenceInterval::of(&self.values[at], &self.values[at - 1], noise);
        Step { at, ratio: own.ratio, low: own.low, high: own.high }
    }
}

/// Places where the levels change. Unlike in a history of days a single state may be a level of its
/// own: it was measured again and again.
fn changes_of(levels: &[f64], own: f64, settings: &Settings) -> Vec<usize> {
    let mut doubled: Vec<f64> = Vec::with_capacity(levels.len() * 3);
    for level in levels {
        doubled.extend([*level; 3]);
    }
    let settings = Settings { prior_noise: own * 3f64.sqrt(), ..*settings };
    // a state was measured again and again: one is enough for a level
    let told = change::steps(&doubled, own * 3f64.sqrt(), &settings);
    let mut found = [told.changes, told.doubtful].concat();
    found.sort_by_key(|change| change.at);
    found.iter().map(|change| change.at / 3).collect()
}

/// The standard deviation of which these are the deviations, but for the farthest.
fn typical(residuals: &[f64]) -> f64 {
    1.4826 * median(residuals)
}

/// The standard deviation of which these are the deviations from medians, with so many degrees of freedom.
/// Few count whole: a stray one among four cannot be told from a machine that others have. Of more, one
/// in [`RESIDUALS`] is left out.
fn spread(deviations: &mut [f64], df: f64) -> f64 {
    deviations.sort_by(f64::total_cmp);
    let stray = deviations.len() / RESIDUALS;
    let kept = &deviations[..deviations.len() - stray];
    let df = df - stray as f64;
    let squares: f64 = kept.iter().map(|deviation| deviation * deviation).sum();
    match df > 0.0 {
        true => (squares / df).sqrt() * if stray > 0 { WITHOUT_FARTHEST } else { 1.0 },
        false => 0.0,
    }
}

struct Noise {
    sd: f64,
    df: f64,
}

struct ConfidenceInterval {
    ratio: f64,
    low: f64,
    high: f64,
    /// Standard error of the ratio's logarithm.
    error: f64,
}

impl ConfidenceInterval {
    /// Of `after` over `before`; no values are those of the good end.
    fn of(after: &[f64], before: &[f64], noise: &Noise) -> Self {
        let share =
            |values: &[f64]| if values.is_empty() { 0.0 } else { 1.0 / values.len() as f64 };
        let size = middle(after) - middle(before);
        let error = OF_MEDIAN * noise.sd * (share(after) + share(before)).sqrt();
        let half = t_critical(0.95, noise.df) * error;
        let [ratio, low, high] = [size, size - half, size + half].map(f64::exp_m1);
        Self { ratio, low, high, error }
    }

    /// The p of no difference.
    fn p(&self, noise: &Noise) -> f64 {
        t_two_sided(self.ratio.ln_1p() / self.error, noise.df)
    }
}

/// The middle: the median of fewer than five, else the mean without the lowest and the highest, so
/// that one stray value moves neither; 0 of none.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        1..5 => median(&sorted),
        count => sorted[1..count - 1].iter().sum::<f64>() / (count - 2) as f64,
    }
}

#[cfg(test)]
mod tests;
