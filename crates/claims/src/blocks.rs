//! The comparisons of one traffic: every variant against the baseline over
//! the same complete blocks, so that several variants share one model. A
//! campaign that stops when decided looks at the same rows as its report.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_stats::lost::{self, Lost, Side};
use fwdlab_stats::processes::NextRun;
use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::validity::NO_FIGURE;
use fwdlab_stats::{Comparison, Confidence, Direction, Error, model, paired, shared};
use serde::Serialize;

use fwdlab_results::{Campaign, Measure, Metric, Trial};

/// Fewest blocks before the first look: fewer name no winner.
pub const LEAST_BLOCKS: u32 = 4;

/// Fewest kept trials with which a variant takes part in the common blocks; with fewer it would take
/// the others with it.
pub const LEAST_TRIALS: usize = 2;

/// Why costs are not compared.
pub const COSTS_APART: &str = "the device cost of one lies between readings of a clock, that of the other is sampled at ticks of the kernel's: \
     they are two quantities";

/// One block: the baseline's trial first, then each variant's.
pub type Row<'a> = Vec<&'a Trial>;

/// Whether the trial bears a figure: it did not fail and has a rate.
pub fn bears(trial: &Trial) -> bool {
    let has_rate = Metric::Rate.of(trial).is_some_and(|rate| rate.is_finite() && rate > 0.0);
    trial.is_ok() && has_rate
}

/// The complete blocks of one traffic.
#[derive(Debug, Clone)]
pub struct Blocks<'a> {
    /// The blocks in which the baseline and every variant that takes part kept their trial.
    pub rows: Vec<Row<'a>>,
    /// For each variant, in the order asked for, its column in the rows, or how many trials it kept
    /// where those were too few.
    pub columns: Vec<Result<usize, usize>>,
    /// For each column beside the baseline's, the blocks in which its trial or the baseline's FAILED, and not both.
    pub lost: Vec<Vec<Lost>>,
}

impl<'a> Blocks<'a> {
    /// Of `variants` beside `baseline` with one traffic, by block.
    pub fn of(trials: &'a [Trial], baseline: &str, variants: &[&str], traffic: &str) -> Self {
        // Each variant looks through these alone: campaigns have thousands of trials.
        let trials: Vec<&Trial> = trials.iter().filter(|t| t.traffic == traffic).collect();
        let kept = |variant: &str| -> Vec<&'a Trial> {
            let of = |t: &&Trial| t.variant == variant && bears(t);
            let mut found: Vec<&Trial> = trials.iter().copied().filter(of).collect();
            found.sort_by_key(|trial| trial.block);
            found
        };
        let mut beside: Vec<Vec<&Trial>> = Vec::new();
        let mut names = Vec::new();
        let columns = variants
            .iter()
            .map(|variant| {
                let own = kept(variant);
                if own.len() < LEAST_TRIALS {
                    return Err(own.len());
                }
                beside.push(own);
                names.push(*variant);
                Ok(beside.len())
            })
            .collect();
        let row = |first: &'a Trial| -> Option<Row<'a>> {
            let others = beside.iter().map(|own| {
                let at = own.partition_point(|trial| trial.block < first.block);
                own.get(at).copied().filter(|trial| trial.block == first.block)
            });
            std::iter::once(Some(first)).chain(others).collect()
        };
        let rows: Vec<Row<'a>> = kept(baseline).into_iter().filter_map(row).collect();
        let all = || trials.iter().copied();
        let lost = names.iter().map(|own| lost(&rows, all(), [baseline, own], traffic)).collect();
        Self { rows, columns, lost }
    }

    /// The trials of the baseline and of one column, block by block.
    pub fn sides(&self, column: usize) -> [Vec<&'a Trial>; 2] {
        [0, column].map(|side| self.rows.iter().map(|row| row[side]).collect())
    }
}

/// The blocks in which either the baseline or a variant FAILED with one traffic, beside the whole ones.
pub fn lost<'a>(
    rows: &[Row<'_>],
    trials: impl Iterator<Item = &'a Trial> + Clone,
    [baseline, variant]: [&str; 2],
    traffic: &str,
) -> Vec<Lost> {
    let failed = |variant: &str| -> BTreeSet<u32> {
        let of = |t: &&Trial| t.variant == variant && t.traffic == traffic && !bears(t);
        trials.clone().filter(of).map(|trial| trial.block).collect()
    };
    let (baseline, variant) = (failed(baseline), failed(variant));
    let lost = |block: &u32| {
        let side = if variant.contains(block) { Side::Variant } else { Side::Baseline };
        let after = rows.iter().filter(|row| row[0].block < *block).count();
        Lost { after, side }
    };
    baseline.symmetric_difference(&variant).map(lost).collect()
}

/// The log speed ratios of pairs of trials, one list for each process that they ran in; `None` where
/// a pair has no process or no figure. The pairs of a block that was gone on with in another process
/// count to the baseline's. Each lost block is there as the worst for its side, in the process of the whole
/// block that ran before it.
pub fn by_process(sides: [&[&Trial]; 2], lost: &[Lost], metric: Metric) -> Option<Vec<Vec<f64>>> {
    let gain = |(b, v): (&&Trial, &&Trial)| {
        Some(metric.direction().log_gain(metric.of(b)?, metric.of(v)?))
    };
    let gains: Vec<f64> = sides[0].iter().zip(sides[1]).map(gain).collect::<Option<_>>()?;
    let mut processes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for own in lost::filled(&gains, lost) {
        let process = sides[0][own.beside].measured.environment.process?;
        processes.entry(process).or_default().push(gains[own.figures_of]);
    }
    Some(processes.into_values().collect())
}

/// What the next run of the experiment will show, in the state of the machine that this one had.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Next {
    /// Judged by the processes of this run.
    #[serde(flatten)]
    pub run: NextRun,
    /// Shortest and longest distance of the cores in the trials compared, as the round trip of a cache
    /// line in ns, where it was measured. A run at another distance is of another stratum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roundtrips_ns: Option<[f64; 2]>,
}

/// What the next run of the experiment will show, where this one ran in enough processes.
pub fn next_run(
    sides: [&[&Trial]; 2],
    metric: Metric,
    comparison: Option<&Comparison>,
) -> Option<Next> {
    let comparison = comparison?;
    let processes = by_process(sides, &[], metric)?;
    let run = NextRun::of(&processes, comparison.interval95, comparison.level())?;
    let roundtrip = |trial: &&Trial| {
        let found = trial.measured.environment.roundtrips_ns.iter().flatten().copied();
        let found: Vec<f64> = found.collect();
        (!found.is_empty()).then(|| fwdlab_stats::median(&found))
    };
    let found = || sides.into_iter().flatten().filter_map(roundtrip);
    let ends = found().reduce(f64::min).zip(found().reduce(f64::max));
    Some(Next { run, roundtrips_ns: ends.map(<[f64; 2]>::from) })
}

/// Compares each of the variants that take part with the baseline; the results are in their order, each
/// with why there is none, in words. The blocks that it lost count against it. A campaign that was to stop when decided gets
/// intervals that hold whenever one looks, any other those of a planned number of blocks.
///
/// A variant with a trial that lacks the figure is left out of the model: it takes no other with it.
pub fn compare(
    blocks: &Blocks<'_>,
    metric: Metric,
    campaign: &Campaign,
    confidence: Confidence,
) -> Vec<Result<Comparison, String>> {
    let (rows, columns) = (&blocks.rows, blocks.lost.len());
    let figure = |row: &Row<'_>, column: usize| {
        let trial = row.get(column)?;
        metric.of(trial).filter(|value| value.is_finite() && *value > 0.0)
    };
    let is_whole = |column: &usize| rows.iter().all(|row| figure(row, *column).is_some());
    let is_alike =
        |column: &usize| metric.is_one_quantity(rows.iter().flat_map(|row| [row[0], row[*column]]));
    let whole: Vec<usize> = (1..=columns)
        .filter(|column| is_whole(&0) && is_whole(column) && is_alike(column))
        .collect();
    let table = rows.iter().map(|row| {
        std::iter::once(0).chain(whole.iter().copied()).filter_map(|c| figure(row, c)).collect()
    });
    let compared = match whole.is_empty() {
        true => Ok(Vec::new()),
        false => {
            let lost: Vec<&[Lost]> = whole.iter().map(|c| &blocks.lost[c - 1][..]).collect();
            let table = Table { rows: table.collect(), lost, direction: metric.direction() };
            table.compare(campaign, confidence)
        }
    };
    let of = |column: usize| {
        match (whole.iter().position(|c| *c == column), &compared) {
        (None, _) if metric == Metric::Own(Measure::ByteCost) => Err(
            "in a trial a byte cost no more through the device than past it: the device spares the ends as \
             much as it costs, or the machine is not quiet enough to tell; longer trials or measure = \
             \"goodput\" may"
                .to_owned(),
        ),
        (None, _) if is_whole(&0) && is_whole(&column) => Err(COSTS_APART.to_owned()),
        (None, _) => Err(format!("a trial has no {NO_FIGURE}{}", metric.name())),
        (Some(_), Err(why)) => Err(why.clone()),
        (Some(place), Ok(all)) => Ok(all[place].clone()),
    }
    };
    (1..=columns).map(of).collect()
}

/// Figures of the baseline and of variants, one row a block, and the blocks that each variant lost.
struct Table<'a> {
    rows: Vec<Vec<f64>>,
    lost: Vec<&'a [Lost]>,
    direction: Direction,
}

impl Table<'_> {
    fn compare(
        &self,
        campaign: &Campaign,
        confidence: Confidence,
    ) -> Result<Vec<Comparison>, String> {
        let compared = if campaign.until_decided {
            let comparisons = campaign.variants.len().saturating_sub(1) * campaign.traffics.len();
            let rule = rule(campaign.margin, campaign.blocks, comparisons);
            self.until_decided(&Rule { alpha: confidence.alpha(), ..rule })
        } else {
            shared::compare(campaign.traffics.len(), confidence, |level| self.planned(level))
        };
        compared.map_err(|e| e.to_string())
    }

    fn planned(&self, level: Confidence) -> Result<Vec<Comparison>, Error> {
        let compared = model::compare_at(&self.rows, self.direction, level)?;
        let beside = |(at, own): (usize, Comparison)| {
            lost::beside(own, &self.pairs(at), self.lost[at], self.direction)
        };
        compared.into_iter().enumerate().map(beside).collect()
    }

    fn until_decided(&self, rule: &Rule) -> Result<Vec<Comparison>, Error> {
        let compare = |(at, lost): (usize, &&[Lost])| {
            sequential::compare_beside(&self.pairs(at), lost, self.direction, rule)
        };
        self.lost.iter().enumerate().map(compare).collect()
    }

    /// The baseline beside a variant, by its place.
    fn pairs(&self, at: usize) -> Vec<paired::Block> {
        self.rows.iter().map(|row| paired::Block::new(row[0], row[at + 1])).collect()
    }
}

/// The rule by which a campaign of so many comparisons stops; the report of
/// such a campaign uses the same.
pub fn rule(margin: f64, cap: u32, comparisons: usize) -> Rule {
    Rule {
        alpha: Confidence::USUAL.alpha(),
        margin,
        least_blocks: LEAST_BLOCKS as usize,
        most_blocks: cap as usize,
        comparisons,
    }
}
