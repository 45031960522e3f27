//! The figures as elements of a page, each checked against the results.

use std::collections::BTreeMap;

use super::{ReportError, chart, topology};
use fwdlab_claims::claim::Claims;
use fwdlab_figures::{self, Canvas, Chart};
use fwdlab_results::{Metric, Results};

/// The figures of a report; empty where nothing was drawn.
#[derive(Default)]
pub struct Drawings {
    /// Effects with their intervals.
    pub forest: String,
    /// Forwarding rates.
    pub rates: String,
    /// Device costs; `None` when no trial has one.
    pub costs: Option<String>,
    /// Every trial in the order of the run.
    pub run_order: String,
    /// How the rates are spread.
    pub distribution: String,
    /// What sends frames through what.
    pub topology: String,
    /// The place of each variant's colour.
    pub colours: BTreeMap<String, usize>,
}

impl Drawings {
    /// Draws all figures from the charts of rates and costs.
    ///
    /// # Errors
    /// When a figure does not show what it says.
    pub fn draw(
        claims: &Claims,
        results: &Results,
        [rate, cost]: &[Chart; 2],
    ) -> Result<Self, ReportError> {
        let checked = |canvas: Canvas, label: &str, (id, metric): (&'static str, Metric)| {
            let svg = canvas.into_inline(label, id);
            fwdlab_figures::verify(&svg, id, (results, metric))?;
            Ok::<_, ReportError>(svg)
        };
        let forest = fwdlab_figures::forest(&chart::forest(claims, rate));
        let rates = ("figure-graph", Metric::Rate);
        let costs = ("figure-cost", Metric::Cost);
        let run_order = ("figure-run-order", Metric::Rate);
        let distribution = ("figure-distribution", Metric::Rate);
        Ok(Self {
            forest: forest.into_inline("Forest plot", "figure-forest"),
            rates: checked(fwdlab_figures::bars(rate), "Forwarding rates", rates)?,
            costs: (!cost.is_empty())
                .then(|| checked(fwdlab_figures::bars(cost), "Device costs", costs))
                .transpose()?,
            run_order: checked(
                fwdlab_figures::run_order(rate),
                "Trials in the order of the run",
                run_order,
            )?,
            distribution: checked(
                fwdlab_figures::distribution(rate),
                "Distribution of the rates",
                distribution,
            )?,
            topology: topology::topology(claims).into_inline("Topology", "figure-topology"),
            colours: rate.variants().into_iter().map(|(name, k)| (name.to_owned(), k)).collect(),
        })
    }
}
