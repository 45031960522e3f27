//! The ministat listings of a report: the same as `fwdlab ministat -s` prints
//! for the `.pps` files beside it.

use fwdlab_stats::ministat::{self, Dataset, Options};

use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_results::units::plain_rate;
use fwdlab_results::{Metric, Results, Tick};

/// A listing, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// What ministat prints.
    Text(String),
    /// Why it would refuse.
    Missing(String),
}

/// The listings of one traffic: forwarding rates, then the figure that decides
/// when it is another. The baseline comes first; more than seven variants make further
/// listings, each with the baseline.
pub fn listings(
    traffic: &str,
    claims: &Claims,
    results: &Results,
    decides: Option<Metric>,
) -> Vec<Listing> {
    let (baseline, others): (Vec<&Cell>, Vec<&Cell>) =
        claims.cells.iter().filter(|c| c.traffic == traffic).partition(|c| c.is_baseline);
    let mut found = Vec::new();
    let other = decides.filter(|metric| *metric != Metric::Rate);
    for metric in std::iter::once(Metric::Rate).chain(other) {
        for chunk in others.chunks(ministat::MAX_DATASETS - 1) {
            let cells: Vec<&Cell> = baseline.iter().chain(chunk).copied().collect();
            found.push(listing(&cells, results, metric));
        }
    }
    found
}

fn listing(cells: &[&Cell], results: &Results, metric: Metric) -> Listing {
    let sets: Vec<(String, Vec<f64>)> = cells
        .iter()
        .map(|c| (legend(c, (metric, results.campaign.tick())), values(c, results, metric)))
        .collect();
    if let Some((name, values)) = sets.iter().find(|(_, v)| v.len() < ministat::MIN_VALUES) {
        return Listing::Missing(format!(
            "{name} has {} of the {} values that ministat needs",
            values.len(),
            ministat::MIN_VALUES
        ));
    }
    render(&sets)
}

fn legend(cell: &Cell, (metric, tick): (Metric, Tick)) -> String {
    match metric {
        Metric::Rate if tick == Tick::Instruction => {
            format!("{}: {} frames forwarded in 10^9 instructions", cell.variant, cell.traffic)
        }
        Metric::Cost if tick == Tick::Instruction => {
            format!("{}: {} instructions per frame of the device", cell.variant, cell.traffic)
        }
        Metric::Rate => format!("{}: {} packets-per-second forwarded", cell.variant, cell.traffic),
        Metric::Cost => {
            format!("{}: {} device cost in nanoseconds per frame", cell.variant, cell.traffic)
        }
        Metric::Own(own) => {
            let unit = own.unit_in(tick);
            format!("{}: {} {} in {unit}", cell.variant, cell.traffic, own.title())
        }
    }
}

/// The figures of a cell, one a trial, in the order of the blocks, as
/// `.pps` files hold them.
pub fn values(cell: &Cell, results: &Results, metric: Metric) -> Vec<f64> {
    let trials = results.trials_of(&cell.variant, &cell.traffic);
    trials.into_iter().filter_map(|t| metric.of(t)).map(|v| rounded(v, metric)).collect()
}

fn rounded(value: f64, metric: Metric) -> f64 {
    match metric {
        Metric::Rate => plain_rate(value),
        Metric::Cost => (value * 1e3).round() / 1e3,
        Metric::Own(_) => value,
    }
}

fn render(sets: &[(String, Vec<f64>)]) -> Listing {
    let options = Options { has_separate_bars: true, ..Options::default() };
    let datasets: Result<Vec<Dataset>, _> =
        sets.iter().map(|(legend, values)| Dataset::new(legend.as_str(), values.clone())).collect();
    match datasets {
        Ok(datasets) => Listing::Text(
            String::from_utf8_lossy(&ministat::render(&datasets, &options)).into_owned(),
        ),
        Err(error) => Listing::Missing(error.to_string()),
    }
}

/// Whether ministat finds a difference between the trials of a verdict, at
/// 95 %; `None` when it would refuse them.
pub fn finds_difference(
    verdict: &VerdictClaim,
    claims: &Claims,
    results: &Results,
) -> Option<bool> {
    let metric = Metric::named(verdict.metric).unwrap_or(Metric::Rate);
    let set = |name: &str| {
        let cells = &claims.cells;
        let cell = cells.iter().find(|c| c.variant == name && c.traffic == verdict.traffic)?;
        Dataset::new(name, values(cell, results, metric)).ok()
    };
    let sets = [set(&verdict.baseline)?, set(&verdict.variant)?];
    let text = ministat::render(&sets, &Options { has_plot: false, ..Options::default() });
    Some(String::from_utf8_lossy(&text).contains("Difference at"))
}
