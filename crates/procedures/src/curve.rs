//! Loss against offered load: RFC 2544, section 26.3.

use fwdlab_results::{LossCurve, SearchTrial};

use crate::offer::Offers;
use crate::search::{mrr, try_load};

/// Loads from the highest to the lowest, and up again, each way in `seconds`; `shares` of the maximum
/// receive rate, in ascending order.
///
/// # Errors
/// A load could not be offered, or nothing came back.
pub fn curve<O: Offers>(
    bench: &mut O,
    shares: &[f64],
    seconds: f64,
) -> Result<LossCurve, O::Error> {
    let shortest_s = bench.shortest_s();
    let mrr_pps = mrr(bench, (seconds / 5.0).max(shortest_s))?;
    let each_s = (seconds / shares.len().max(1) as f64).max(shortest_s);
    let mut way = |shares: &mut dyn Iterator<Item = &f64>| {
        let tried: Result<Vec<SearchTrial>, O::Error> =
            shares.map(|share| try_load(bench, share * mrr_pps, each_s)).collect();
        tried
    };
    let down = way(&mut shares.iter().rev())?;
    let up = way(&mut shares.iter())?;
    Ok(LossCurve { mrr_pps, down, up })
}
