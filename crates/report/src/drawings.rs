//! The figures as elements of a page, each checked against the results.

use std::collections::BTreeMap;

use super::chart::Charts;
use super::{ReportError, axis, chart, topology};
use fwdlab_claims::claim::Claims;
use fwdlab_figures::{self as figure, Canvas, Chart, Curves, Room};
use fwdlab_results::{Metric, Results, Trial};

/// The figures of a report; empty where nothing was drawn.
#[derive(Default)]
pub struct Drawings {
    /// Effects with their intervals; `None` where no comparison could be made.
    pub forest: Option<String>,
    /// Forwarding rates, and figures that measures have of their own.
    pub rates: Vec<Drawn>,
    /// Device costs; `None` when no trial has one.
    pub costs: Option<String>,
    /// Medians over what is varied in three steps or more.
    pub curves: Option<String>,
    /// Every trial in the order of the run; `None` when no trial has a figure.
    pub run_order: Option<String>,
    /// How the rates are spread; empty when no trial has one.
    pub distribution: String,
    /// What sends frames through what.
    pub topology: String,
    /// The place of each variant's colour.
    pub colours: BTreeMap<String, usize>,
}

/// Bars of one figure.
pub struct Drawn {
    /// What it shows.
    pub title: &'static str,
    /// Its file.
    pub file: String,
    /// The drawing.
    pub svg: String,
}

/// The trials that a drawing must show.
#[derive(Clone, Debug)]
pub enum Shown {
    /// Those of some traffics that have a figure.
    Those(Metric, Vec<String>),
    /// All that have the figure of their traffic.
    Figures,
}

impl Shown {
    /// Those of a chart.
    pub fn of(chart: &Chart) -> Self {
        let traffics = chart.traffics.iter().map(|one| one.traffic.clone()).collect();
        Self::Those(chart.metric, traffics)
    }

    /// Whether the drawing shows each of them once.
    ///
    /// # Errors
    /// It does not.
    pub fn verify(
        &self,
        svg: &str,
        name: &'static str,
        results: &Results,
    ) -> Result<(), ReportError> {
        let is_shown = |trial: &Trial| match self {
            Self::Those(metric, all) => all.contains(&trial.traffic) && metric.of(trial).is_some(),
            Self::Figures => chart::figure_of(results, &trial.traffic).of(trial).is_some(),
        };
        Ok(figure::verify_those(svg, name, results, &is_shown)?)
    }
}

impl Drawings {
    /// Draws all figures from the charts.
    ///
    /// # Errors
    /// When a figure does not show what it says.
    pub fn draw(claims: &Claims, results: &Results, charts: &Charts) -> Result<Self, ReportError> {
        let (rate, cost) = (&charts.order, &charts.cost);
        let costs = (!cost.is_empty()).then(|| bars(cost, "Device costs", "figure-cost"));
        let (forest, order) = (chart::forest(claims, rate), "Trials in the order of the run");
        let curves = curves_that_decide(claims, charts);
        let id = "figure-run-order";
        let drawn = rate.clone().drawn();
        let run_order = (!drawn.is_empty())
            .then(|| twice(|room| figure::run_order_in(&drawn, room), order, id))
            .map(|svgs| checked(svgs, "figure-run-order", results, &Shown::Figures));
        let spread = "Distribution of the rates";
        let each = charts.figures.iter().enumerate();
        let distribution = each.map(|(place, one)| {
            let id = numbered("figure-distribution", place);
            let svgs = twice(|room| figure::distribution(one, room), spread, &id);
            checked(svgs, "figure-distribution", results, &Shown::of(one))
        });
        let rates = charts.named().enumerate().map(|(place, (name, one))| {
            let title = match one.metric {
                Metric::Own(own) => own.title(),
                _ => "Forwarding rates",
            };
            let svgs = bars(one, title, &numbered("figure-graph", place));
            let svg = checked(svgs, "figure-graph", results, &Shown::of(one))?;
            Ok::<_, ReportError>(Drawn { title, file: name + ".svg", svg })
        });
        Ok(Self {
            forest: forest.map(|forest| {
                twice(|room| figure::forest_in(&forest, room), "Forest plot", "figure-forest")
                    .concat()
            }),
            rates: rates.collect::<Result<_, _>>()?,
            costs: costs
                .map(|svgs| checked(svgs, "figure-cost", results, &Shown::of(cost)))
                .transpose()?,
            curves: curves.map(|curves| {
                twice(|room| figure::curves(&curves, room), "Curves", "figure-curve").concat()
            }),
            run_order: run_order.transpose()?,
            distribution: distribution.collect::<Result<Vec<_>, _>>()?.concat(),
            topology: twice(|room| topology::topology(claims, room), "Topology", "figure-topology")
                .concat(),
            colours: rate.variants().into_iter().map(|(name, k)| (name.to_owned(), k)).collect(),
        })
    }
}

/// The curves of the figure on which verdicts rest.
pub fn curves_that_decide(claims: &Claims, charts: &Charts) -> Option<Curves> {
    let is_cost = claims.verdicts.iter().any(|verdict| verdict.metric == "cost");
    let is_cost = is_cost && !charts.cost.is_empty();
    axis::curves(claims, if is_cost { &charts.cost } else { &charts.base })
}

/// The name of an element of which there may be several.
fn numbered(id: &str, place: usize) -> String {
    if place == 0 { id.to_owned() } else { format!("{id}-of-{place}") }
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
    results: &Results,
    shown: &Shown,
) -> Result<String, ReportError> {
    svgs.iter().try_for_each(|svg| shown.verify(svg, name, results))?;
    Ok(svgs.concat())
}
