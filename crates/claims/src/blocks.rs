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

/// Compares each of the variants, `columns` in number, with the baseline; the results are in their
/// order, each with why there is none, in words. A campaign that was to stop when decided gets
/// intervals that hold whenever one looks, any other those of a planned number of blocks.
///
/// A variant with a trial that lacks the figure is left out of the model: it takes no other with it.
pub fn compare(
    rows: &[Row<'_>],
    columns: usize,
    metric: Metric,
    campaign: &Campaign,
) -> Vec<Result<Comparison, String>> {
    let figure = |row: &Row<'_>, column: usize| {
        let trial = row.get(column)?;
        metric.of(trial).filter(|value| value.is_finite() && *value > 0.0)
    };
    let is_whole = |column: &usize| rows.iter().all(|row| figure(row, *column).is_some());
    let whole: Vec<usize> =
        (1..=columns).filter(|column| is_whole(&0) && is_whole(column)).collect();
    let table = rows.iter().map(|row| {
        std::iter::once(0).chain(whole.iter().copied()).filter_map(|c| figure(row, c)).collect()
    });
    let compared = compare_table(&table.collect::<Vec<_>>(), metric.direction(), campaign);
    let of = |column: usize| match (whole.iter().position(|c| *c == column), &compared) {
        (None, _) => Err(format!("a trial has no figure for the {}", metric.name())),
        (Some(_), Err(why)) => Err(why.clone()),
        (Some(place), Ok(all)) => Ok(all[place].clone()),
    };
    (1..=columns).map(of).collect()
}

fn compare_table(
    blocks: &[Vec<f64>],
    direction: Direction,
    campaign: &Campaign,
) -> Result<Vec<Comparison>, String> {
    if campaign.until_decided {
        until_decided(blocks, direction, campaign)
    } else {
        model::compare(blocks, direction).map_err(|e| e.to_string())
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
