//! The comparisons of one traffic: every variant against the baseline over
//! the same complete blocks, so that several variants share one model.

use fwdlab_stats::sequential::{self, Rule};
use fwdlab_stats::{Comparison, Direction, model, paired};

use fwdlab_results::{Campaign, Metric, Trial};

/// Fewest blocks before the first look.
pub const LEAST_BLOCKS: u32 = 3;

/// Chance of calling any difference in a campaign where there is none.
const ALPHA: f64 = 0.05;

/// One block: the baseline's trial first, then each variant's.
pub type Row<'a> = Vec<&'a Trial>;

/// Compares each variant with the baseline; the results are in the order of
/// the columns. A campaign that was to stop when decided gets intervals that
/// hold whenever one looks, any other those of a planned number of blocks.
///
/// # Errors
/// Why there is no comparison, in words.
pub fn compare(
    rows: &[Row<'_>],
    metric: Metric,
    campaign: &Campaign,
) -> Result<Vec<Comparison>, String> {
    let direction = metric.direction();
    let blocks: Option<Vec<Vec<f64>>> =
        rows.iter().map(|row| row.iter().map(|t| metric.of(t)).collect()).collect();
    let blocks =
        blocks.ok_or_else(|| format!("a trial has no figure for the {}", metric.name()))?;
    if campaign.until_decided {
        until_decided(&blocks, direction, campaign)
    } else {
        model::compare(&blocks, direction).map_err(|e| e.to_string())
    }
}

fn until_decided(
    blocks: &[Vec<f64>],
    direction: Direction,
    campaign: &Campaign,
) -> Result<Vec<Comparison>, String> {
    let comparisons = campaign.variants.len().saturating_sub(1) * campaign.traffics.len();
    let rule = rule(campaign.margin, campaign.blocks, comparisons);
    let columns = blocks.first().map_or(1, Vec::len);
    (1..columns.max(2))
        .map(|column| {
            let pairs: Vec<paired::Block> =
                blocks.iter().map(|row| paired::Block::new(row[0], row[column])).collect();
            sequential::compare(&pairs, direction, &rule).map_err(|e| e.to_string())
        })
        .collect()
}

/// The rule by which a campaign of so many comparisons stops; the report of
/// such a campaign uses the same.
pub fn rule(margin: f64, cap: u32, comparisons: usize) -> Rule {
    Rule {
        alpha: ALPHA,
        margin,
        least_blocks: LEAST_BLOCKS as usize,
        most_blocks: cap as usize,
        comparisons,
    }
}
