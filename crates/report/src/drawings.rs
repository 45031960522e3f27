//! The figures as elements of a page, each checked against the results.

use std::collections::BTreeMap;

use super::{ReportError, axis, chart, topology};
use fwdlab_claims::claim::Claims;
use fwdlab_figures::{self as figure, Canvas, Chart, Curves, Room};
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
    /// Medians over what is varied in three steps or more.
    pub curves: Option<String>,
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
        let costs = (!cost.is_empty()).then(|| bars(cost, "Device costs", "figure-cost"));
        let (forest, order) = (chart::forest(claims, rate), "Trials in the order of the run");
        let curves = curves_that_decide(claims, [rate, cost]);
        let id = "figure-run-order";
        let run_order = twice(|room| figure::run_order_in(rate, room), order, id);
        let spread = "Distribution of the rates";
        let id = "figure-distribution";
        let distribution = twice(|room| figure::distribution(rate, room), spread, id);
        let figure = |svgs, id, metric| checked(svgs, id, (results, metric));
        Ok(Self {
            forest: twice(|room| figure::forest_in(&forest, room), "Forest plot", "figure-forest")
                .concat(),
            rates: figure(
                bars(rate, "Forwarding rates", "figure-graph"),
                "figure-graph",
                Metric::Rate,
            )?,
            costs: costs.map(|svgs| figure(svgs, "figure-cost", Metric::Cost)).transpose()?,
            curves: curves.map(|curves| {
                twice(|room| figure::curves(&curves, room), "Curves", "figure-curve").concat()
            }),
            run_order: figure(run_order, "figure-run-order", Metric::Rate)?,
            distribution: figure(distribution, "figure-distribution", Metric::Rate)?,
            topology: [
                topology::topology(claims).into_inline_for(
                    Room::Page,
                    "Topology",
                    "figure-topology",
                ),
                topology::topology_in_a_column(claims).into_inline_for(
                    Room::Phone,
                    "Topology",
                    "figure-topology",
                ),
            ]
            .concat(),
            colours: rate.variants().into_iter().map(|(name, k)| (name.to_owned(), k)).collect(),
        })
    }
}

/// The curves of the figure on which verdicts rest.
pub fn curves_that_decide(claims: &Claims, [rate, cost]: [&Chart; 2]) -> Option<Curves> {
    let is_cost = claims.verdicts.iter().any(|verdict| verdict.metric == "cost");
    axis::curves(claims, if is_cost && !cost.is_empty() { cost } else { rate })
}

/// A figure for pages and for phones, of which each shows its own.
pub fn twice(draw: impl Fn(Room) -> Canvas, label: &str, id: &str) -> [String; 2] {
    [Room::Page, Room::Phone].map(|room| draw(room).into_inline_for(room, label, id))
}

/// Bars; on phones those of one traffic below those of the other.
pub fn bars(chart: &Chart, label: &str, id: &str) -> [String; 2] {
    let page = figure::bars(chart).into_inline_for(Room::Page, label, id);
    let phone = chart.traffics.iter().enumerate().map(|(k, one)| {
        let alone = Chart { traffics: vec![one.clone()], ..chart.clone() };
        let id = if k == 0 { id.to_owned() } else { format!("{id}-{k}") };
        figure::bars_in(&alone, Room::Phone).into_inline_for(Room::Phone, label, &id)
    });
    [page, phone.collect()]
}

/// Both drawings, each of which shows every trial once.
fn checked(
    svgs: [String; 2],
    name: &'static str,
    of: (&Results, Metric),
) -> Result<String, ReportError> {
    svgs.iter().try_for_each(|svg| figure::verify(svg, name, of))?;
    Ok(svgs.concat())
}
