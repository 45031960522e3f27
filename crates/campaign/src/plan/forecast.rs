//! How many blocks an experiment needs, and how long they take, judged from
//! earlier results of the same experiment.

use fwdlab_stats::Confidence;
use fwdlab_stats::plan::{self, Asked, Forecast, Goal};
use serde::Serialize;

use super::Plan;
use super::earlier::Earlier;
use super::stop::pairings;
use crate::profiling;
use fwdlab_claims::blocks::rule;
use fwdlab_device::Repeatability;
use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_results::journal::seconds_of_stamp;
use fwdlab_results::{Calibration, Grouping, Measure, Results, Trial};

/// Chance of finding what is there.
pub const USUAL_POWER: f64 = 0.80;

/// Spread between runs of one configuration in 18,126 published forwarding
/// runs: the quartiles of the coefficient of variation. Assumed while nothing
/// is known of a machine.
const PUBLISHED_CV: [(&str, f64); 3] =
    [("a quiet machine", 0.0045), ("a usual machine", 0.0091), ("a restless machine", 0.0203)];

/// The figures whose spread that is.
const PUBLISHED: [Measure; 5] =
    [Measure::Rate, Measure::Mrr, Measure::Ndr, Measure::Pdr, Measure::Throughput];

/// Pauses between trials above this, in seconds, are interruptions; and above as many times the middle one,
/// where trials themselves take that long.
const LONGEST_PAUSE: u64 = 60;
const TIMES_THE_MIDDLE: u64 = 5;

/// What is wanted of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wanted {
    /// The difference to be found, a ratio: 0.01 is 1 %.
    pub difference: f64,
    /// The margin of equivalence, a ratio.
    pub margin: f64,
    /// The chance of finding it.
    pub power: f64,
}

/// What an experiment needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// What was wanted.
    pub wanted: Wanted,
    /// Blocks that the experiment file plans (the cap if it stops by itself).
    pub planned_blocks: u32,
    /// Whether it stops by itself.
    pub is_until_decided: bool,
    /// Trials in a block, without those of the lab's own truths.
    pub trials_per_block: usize,
    /// Trials of the lab's own truths in a block, on average.
    pub own_truths_per_block: f64,
    /// Boots before the first block, in which the device tries each variant.
    pub preflight_boots: usize,
    /// What each trial has beside its traffic, such as "a boot"; empty where that is next to nothing.
    pub beside_traffic: String,
    /// Seconds that a block takes.
    pub block_seconds: f64,
    /// Profiles that are taken after the last block, one for each variant and traffic.
    pub profiles: usize,
    /// Seconds that they take, each once.
    pub profile_seconds: f64,
    /// True when the time was measured, false when it is the traffic alone, with what a device is known to
    /// need beside it.
    pub is_time_measured: bool,
    /// One for each comparison, or for each kind of machine, or of trials, while
    /// nothing is known; none where all measures are `unknown`.
    pub rows: Vec<Need>,
    /// Measures of whose spread nothing is known without results: published runs are of rates.
    pub unknown: Vec<&'static str>,
}

/// What one comparison needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// The comparison, or what is assumed.
    pub of: String,
    /// The figure that decides; empty when assumed.
    pub metric: String,
    /// Blocks of the earlier results; 0 when assumed.
    pub pilot_blocks: usize,
    /// Standard deviation of the log differences within blocks.
    pub sd_of_difference: f64,
    /// Blocks to call the difference.
    pub difference: Forecast,
    /// Blocks to prove equivalence when there is none.
    pub equivalence: Forecast,
}

impl Needs {
    /// From the spread in `earlier` results, or from that of published runs on machines when there are
    /// none with two blocks ([`Needs::with_repeatability`] knows better of some devices); `calibration` is
    /// what the campaign runs to prove itself.
    pub fn of(
        experiment: &Experiment,
        earlier: Option<&Earlier>,
        wanted: Wanted,
        calibration: Option<Calibration>,
    ) -> Self {
        let plan = Plan::draw_with(experiment, (0, Grouping::Traffic), calibration);
        let planned_blocks = experiment.blocks.planned();
        let known = plan.trials.iter().filter(|trial| trial.known.is_some()).count();
        let trials_per_block = (plan.trials.len() - known) / planned_blocks.max(1) as usize;
        let own_truths_per_block = known as f64 / f64::from(planned_blocks.max(1));
        let pilot = earlier
            .and_then(Earlier::of_device)
            .map_or_else(Vec::new, |results| from_pilot(experiment, results, wanted));
        let mut measures: Vec<Measure> =
            experiment.traffics.iter().map(|own| own.measure).collect();
        measures.dedup();
        let unlike = measures.iter().filter(|own| !PUBLISHED.contains(own));
        let unlike: Vec<&str> = unlike.map(|own| own.name()).collect();
        let (rows, unknown) = match pilot.is_empty() {
            true if unlike.len() == measures.len() => (Vec::new(), unlike),
            true => (assumed(experiment, wanted, &PUBLISHED_CV), unlike),
            false => (pilot, Vec::new()),
        };
        let measured = earlier.and_then(Earlier::of_same_time).and_then(seconds_per_trial);
        let own = |place: usize| experiment.own_time(&experiment.traffics[place]).as_secs_f64();
        let all: f64 = plan.trials.iter().map(|trial| own(trial.traffic)).sum();
        let traffic = (experiment.warmup + experiment.duration).as_secs_f64()
            + all / plan.trials.len().max(1) as f64;
        let trial = measured.unwrap_or(traffic);
        let profiles = if experiment.profile { trials_per_block } else { 0 };
        Self {
            wanted,
            planned_blocks,
            is_until_decided: matches!(experiment.blocks, Blocks::UntilDecided { .. }),
            trials_per_block,
            own_truths_per_block,
            preflight_boots: 0,
            beside_traffic: String::new(),
            block_seconds: trial * (trials_per_block as f64 + own_truths_per_block),
            profiles,
            profile_seconds: profiles as f64 * (trial + more_of_a_profile(experiment)),
            is_time_measured: measured.is_some(),
            rows,
            unknown,
        }
    }

    /// With the spread that trials of a device are known to have, in place of that of published runs; one
    /// that was measured stays.
    pub fn with_repeatability(self, experiment: &Experiment, spread: &Repeatability) -> Self {
        match self.is_measured() {
            true => self,
            false => Self {
                rows: assumed(experiment, self.wanted, &spread.of),
                unknown: Vec::new(),
                ..self
            },
        }
    }

    /// With what a device needs beside the traffic: boots that try the variants, and the seconds that a trial
    /// takes at least, with what they hold; a time that was measured stays.
    pub fn on_device(self, preflight_boots: usize, trial: Option<(f64, &str)>) -> Self {
        let Some((seconds, what)) = trial else { return Self { preflight_boots, ..self } };
        let beside_traffic = what.to_owned();
        if self.is_time_measured {
            return Self { preflight_boots, beside_traffic, ..self };
        }
        let block_seconds = seconds * (self.trials_per_block as f64 + self.own_truths_per_block);
        let profile_seconds = self.profile_seconds.max(seconds * self.profiles as f64);
        Self { preflight_boots, block_seconds, profile_seconds, beside_traffic, ..self }
    }

    /// Seconds until the first block begins, for as many blocks as are planned, and for the profiles.
    pub fn planned_seconds(&self) -> f64 {
        let trials = self.trials_per_block as f64 + self.own_truths_per_block;
        let boots = self.preflight_boots as f64 * self.block_seconds / trials.max(1.0);
        boots + self.block_seconds * f64::from(self.planned_blocks) + self.profile_seconds
    }

    /// True when the figures come from results of this experiment.
    pub fn is_measured(&self) -> bool {
        self.rows.iter().any(|row| row.pilot_blocks > 0)
    }

    /// The blocks that every comparison needs for the difference, with the
    /// spread as it was seen.
    pub fn blocks(&self) -> u64 {
        self.rows.iter().map(|row| row.difference.blocks).max().unwrap_or(0)
    }
}

/// Seconds by which a profiled trial is longer than others.
fn more_of_a_profile(experiment: &Experiment) -> f64 {
    profiling::LEAST_DURATION.saturating_sub(experiment.duration).as_secs_f64()
}

fn from_pilot(experiment: &Experiment, results: &Results, wanted: Wanted) -> Vec<Need> {
    let mut rows = Vec::new();
    for pairing in pairings(experiment) {
        let gains = pairing.gains(&results.trials);
        let Some(sd) = standard_deviation(&gains.values) else { continue };
        let of = format!("{}: {} against {}", pairing.traffic, pairing.variant, pairing.baseline);
        let metric = gains.metric.name().to_owned();
        let Wanted { margin, power, .. } = wanted;
        let alpha = match experiment.blocks {
            Blocks::Fixed(_) => Confidence::USUAL.alpha(),
            Blocks::UntilDecided { cap } => {
                rule(margin, cap, pairings(experiment).len()).alpha_of_rare_runs()
            }
        };
        let direction = gains.metric.direction();
        let rare = plan::blocks_of_rare_runs(&gains.blocks, direction, margin, (power, alpha));
        let pilot = Pilot { blocks: gains.values.len(), sd, rare };
        rows.push(need(experiment, of, metric, pilot, wanted));
    }
    rows
}

fn assumed(experiment: &Experiment, wanted: Wanted, spread: &[(&str, f64)]) -> Vec<Need> {
    // A difference of two runs varies by sqrt(2) times what one does.
    let row = |(name, cv): &(&str, f64)| {
        let of = format!("{name} (CV {})", percent(*cv));
        let sd = cv * std::f64::consts::SQRT_2;
        need(experiment, of, String::new(), Pilot { blocks: 0, sd, rare: 0 }, wanted)
    };
    spread.iter().map(row).collect()
}

/// What is known of a comparison before it runs.
struct Pilot {
    blocks: usize,
    /// Standard deviation of the log differences within blocks.
    sd: f64,
    /// Blocks that its rare runs ask for.
    rare: u64,
}

fn need(
    experiment: &Experiment,
    of: String,
    metric: String,
    Pilot { blocks: pilot_blocks, sd, rare }: Pilot,
    wanted: Wanted,
) -> Need {
    let Wanted { difference, margin, power } = wanted;
    let pilot = pilot_blocks.max(2);
    let blocks = |goal| match experiment.blocks {
        Blocks::Fixed(_) => {
            let (traffics, variants) =
                (experiment.traffics.len(), experiment.variants.len().saturating_sub(1));
            plan::blocks_among(goal, sd, pilot, power, Asked { traffics, variants })
        }
        Blocks::UntilDecided { cap } => {
            let rule = rule(margin, cap, pairings(experiment).len());
            plan::blocks_until_decided(goal, sd, pilot, power, &rule)
        }
    };
    Need {
        of,
        metric,
        pilot_blocks,
        sd_of_difference: sd,
        difference: blocks(Goal::Difference { size: difference }),
        equivalence: blocks(Goal::Equivalence { margin }).at_least(rare),
    }
}

fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (n - 1.0)).sqrt())
}

/// Seconds from the start of a trial to the start of the next, on average,
/// interruptions left out.
fn seconds_per_trial(results: &Results) -> Option<f64> {
    let mut trials: Vec<&Trial> = results.every().collect();
    trials.sort_by_key(|trial| trial.order);
    let starts: Vec<u64> =
        trials.iter().filter_map(|t| seconds_of_stamp(t.started.as_ref()?)).collect();
    let mut pauses: Vec<u64> =
        starts.windows(2).filter_map(|pair| pair[1].checked_sub(pair[0])).collect();
    pauses.sort_unstable();
    let middle = pauses.get(pauses.len() / 2).copied().unwrap_or(0);
    let longest = LONGEST_PAUSE.max(middle.saturating_mul(TIMES_THE_MIDDLE));
    pauses.retain(|pause| *pause <= longest);
    let total: u64 = pauses.iter().sum();
    (total > 0).then(|| total as f64 / pauses.len() as f64)
}

fn percent(ratio: f64) -> String {
    let text = format!("{:.2}", ratio * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
