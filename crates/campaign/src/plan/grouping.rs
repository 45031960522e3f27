//! Which trials of a block follow each other.

use std::time::Duration;

use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_results::environment::Environment;
use fwdlab_results::{About, Calibration, Grouping, TestbedMark, Truth, TruthKind};

/// What the device asks of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// What it is, for the campaign's record.
    pub about: About,
    /// How long it takes to go from one variant to another.
    pub switch_cost: Duration,
    /// Whether it lives in the memory of a process, so that a fresh one is another draw.
    pub lives_in_process: bool,
    /// Share of the trials by which the lab proves itself.
    pub calibrate: f64,
    /// The control word that slows the device down.
    pub slow_word: Option<&'static str>,
    /// The machines that it stands on, where a file names them.
    pub testbed: Option<TestbedMark>,
    /// On what it runs, for the record beside the journal; its seed is that of the plan.
    pub environment: Option<Environment>,
}

/// Blocks of each truth, at least: from these on a winner can be named.
const LEAST_BLOCKS: usize = 4;

/// Most blocks of a campaign that stops when it is decided which count for the number of its truths.
const SOON: u32 = 8;

/// The injected slowdown, ns a frame: a twentieth of what the fastest devices take.
const SLOW_NS: f64 = 1.0;

impl Terms {
    /// Of a device that asks for nothing special, in a campaign that does not prove itself.
    pub fn of(about: About) -> Self {
        Self {
            about,
            switch_cost: Duration::ZERO,
            lives_in_process: false,
            calibrate: 0.0,
            slow_word: None,
            testbed: None,
            environment: None,
        }
    }

    /// Trials that are compared stand next to each other, as long as setting a variant up takes less
    /// time than a trial. Where it takes longer, as a reboot does, each block sets every variant up
    /// once, in random order, and sends all traffics, in random order again.
    pub fn grouping(&self, experiment: &Experiment) -> Grouping {
        let trial = experiment.warmup + experiment.duration;
        if self.switch_cost > trial { Grouping::Variant } else { Grouping::Traffic }
    }

    /// What a campaign runs to prove itself: nothing when it has too few blocks for one truth.
    pub fn calibration(&self, experiment: &Experiment) -> Option<Calibration> {
        own_truths(experiment, self.calibrate, self.slow_word)
    }

    /// Why it proves less of itself than it was asked to, where it does.
    pub fn unproven(&self, experiment: &Experiment) -> Option<String> {
        unproven(experiment, self.calibrate, self.slow_word)
    }

    /// So many blocks run in each process; `None` when all run in this one.
    pub fn blocks_per_process(&self, experiment: &Experiment) -> Option<u32> {
        let blocks = experiment.blocks_per_process;
        (self.lives_in_process && blocks > 0).then_some(blocks)
    }
}

/// What a campaign of `experiment` runs to prove itself with that share of its trials, on a device that
/// this word slows down.
pub fn own_truths(
    experiment: &Experiment,
    share: f64,
    slow_word: Option<&str>,
) -> Option<Calibration> {
    let traffics = &experiment.traffics;
    let (blocks, trials) = (blocks(experiment), trials(experiment, share));
    let slow_word = slow_word.filter(|word| why_no_slowdown(experiment, word).is_none());
    let kinds = match slow_word {
        Some(_) => &[TruthKind::Same, TruthKind::Slower][..],
        None => &[TruthKind::Same],
    };
    let truth = |at: usize| {
        let kind = kinds[at % kinds.len()];
        // Each kind begins with another traffic.
        let traffic = &traffics[(at / kinds.len() + at) % traffics.len()];
        Truth { traffic: traffic.name.clone(), kind }
    };
    let is_enough = blocks as usize >= LEAST_BLOCKS;
    let count = if is_enough { (trials / LEAST_BLOCKS).min(kinds.len()) } else { 0 };
    (count > 0).then(|| Calibration {
        share,
        slow_word: slow_word.map(str::to_owned),
        slow_ns: SLOW_NS,
        truths: (0..count).map(truth).collect(),
    })
}

/// Blocks that count for the number of truths.
fn blocks(experiment: &Experiment) -> u32 {
    match experiment.blocks {
        Blocks::Fixed(blocks) => blocks,
        Blocks::UntilDecided { cap } => cap.min(SOON),
    }
}

/// Trials that a campaign has for its truths.
fn trials(experiment: &Experiment, share: f64) -> usize {
    let in_block = experiment.traffics.len() * experiment.variants.len();
    (f64::from(blocks(experiment)) * in_block as f64 * share / (1.0 - share)) as usize
}

/// Why this word slows nothing down by a known size here, where that is so.
fn why_no_slowdown(experiment: &Experiment, word: &str) -> Option<String> {
    if experiment.variants.iter().any(|own| own.set.contains_key(word)) {
        return Some(format!("variants set {word} themselves"));
    }
    let is_searched = experiment.traffics.iter().any(|own| own.measure.loss_ratio().is_some());
    is_searched.then(|| "rates are searched for".to_owned())
}

/// Why a campaign of `experiment` proves less of itself with that share of its trials than the baseline
/// beside itself and a slowdown of known size; nothing where it proves both, or was asked for none.
pub fn unproven(experiment: &Experiment, share: f64, slow_word: Option<&str>) -> Option<String> {
    if share <= 0.0 {
        return None;
    }
    let (blocks, trials) = (blocks(experiment) as usize, trials(experiment, share));
    if blocks < LEAST_BLOCKS {
        return Some(format!(
            "none in this campaign: it has {}, and a truth takes {LEAST_BLOCKS}",
            fwdlab_results::units::plural(blocks, "block")
        ));
    }
    let percent = share * 100.0;
    if trials < LEAST_BLOCKS {
        return Some(format!(
            "none in this campaign: {percent:.0} % of its trials are {trials}, and a truth takes \
             {LEAST_BLOCKS}; run more blocks or raise calibrate"
        ));
    }
    let why = match slow_word {
        None => "nothing slows this device down by a size that is known".to_owned(),
        Some(word) => match why_no_slowdown(experiment, word) {
            Some(why) => why,
            None if trials < 2 * LEAST_BLOCKS => format!(
                "{percent:.0} % of its trials are {trials}, and a second truth takes {LEAST_BLOCKS} more"
            ),
            None => return None,
        },
    };
    Some(format!("only the baseline beside itself: {why}"))
}
