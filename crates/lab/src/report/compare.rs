//! The comparisons of one traffic: every variant against the baseline over
//! the same complete blocks, so that several variants share one model.

use fwdlab_stats::{Comparison, Direction, model, paired, sequential};

use crate::plan;
use crate::results::{Campaign, Metric, Trial};

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
    let direction = match metric {
        Metric::Rate => Direction::HigherIsBetter,
        Metric::Cost => Direction::LowerIsBetter,
    };
    let blocks: Option<Vec<Vec<f64>>> =
        rows.iter().map(|row| row.iter().map(|t| metric.of(t)).collect()).collect();
    let blocks =
        blocks.ok_or_else(|| format!("a trial has no figure for the {}", metric.name()))?;
    if campaign.until_decided {
        sequential(&blocks, direction, campaign)
    } else {
        model::compare(&blocks, direction).map_err(|e| e.to_string())
    }
}

fn sequential(
    blocks: &[Vec<f64>],
    direction: Direction,
    campaign: &Campaign,
) -> Result<Vec<Comparison>, String> {
    let comparisons = campaign.variants.len().saturating_sub(1) * campaign.traffics.len();
    let rule = plan::rule(campaign.margin, campaign.blocks, comparisons);
    let columns = blocks.first().map_or(1, Vec::len);
    (1..columns.max(2))
        .map(|column| {
            let pairs: Vec<paired::Block> =
                blocks.iter().map(|row| paired::Block::new(row[0], row[column])).collect();
            sequential::compare(&pairs, direction, &rule).map_err(|e| e.to_string())
        })
        .collect()
}
