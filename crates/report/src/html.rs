//! `index.html`: one file that holds everything, works from disk and from a
//! CI artefact, and asks no network for anything.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value};
use serde::Serialize;

use super::chart;
use super::figure::{self, Chart};
use super::flame::Flames;
use super::ministat_block::{Block, blocks};
use super::notes::Notes;
use super::readme::{basis, warning_text};
use super::{ReportError, table, topology};
use fwdlab_claims::claim::{Cell, Claims, State};
use fwdlab_results::{Metric, Results};

const TEMPLATE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
/// The script of every page.
pub const SCRIPT: &str = include_str!("html/script.js");

/// Everything that the template asks for.
#[derive(Serialize)]
struct Page<'a> {
    title: &'a str,
    progress: String,
    css: Value,
    js: Value,
    variants: Vec<VariantBox<'a>>,
    traffics: &'a [String],
    verdicts: Vec<VerdictCard<'a>>,
    badges: Vec<BadgeItem<'a>>,
    warnings: Vec<String>,
    failures: Vec<String>,
    figures: Figures,
    tables: Vec<CellTable<'a>>,
    legend: String,
    drops: Option<Value>,
    flames: Vec<FlameItem>,
    flame_notes: Vec<String>,
    amdahl: Vec<AmdahlTable>,
    notes: Option<&'a str>,
    note_doubts: Vec<String>,
    facts: Vec<String>,
    settings: Value,
    command: &'a str,
    blocks: Vec<BlockItem>,
}

#[derive(Serialize)]
struct VariantBox<'a> {
    name: &'a str,
    colour: usize,
    is_baseline: bool,
}

#[derive(Serialize)]
struct VerdictCard<'a> {
    family: &'static str,
    traffic: &'a str,
    variant: &'a str,
    word: &'static str,
    sentence: &'a str,
    basis: Option<String>,
    doubts: Vec<String>,
}

#[derive(Serialize)]
struct BadgeItem<'a> {
    name: &'a str,
    state: State,
    word: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct Figures {
    forest: Value,
    graph: Value,
    cost: Option<Value>,
    run_order: Value,
    distribution: Value,
    topology: Value,
}

#[derive(Serialize)]
struct CellTable<'a> {
    traffic: &'a str,
    html: Value,
}

#[derive(Serialize)]
struct FlameItem {
    id: String,
    variant: String,
    traffic: String,
    title: String,
    note: String,
    file: String,
    height: usize,
    /// Opened from the start: one graph, the difference where there is one.
    open: bool,
    svg: Value,
}

#[derive(Serialize)]
struct AmdahlTable {
    variant: String,
    traffic: String,
    title: String,
    note: String,
    html: Value,
}

#[derive(Serialize)]
struct BlockItem {
    traffic: String,
    title: String,
    text: String,
    open: bool,
}

/// What the page is made from beside the claims.
pub struct Sources<'a> {
    /// The trials.
    pub results: &'a Results,
    /// The data of the figures: forwarding rates, device costs.
    pub charts: &'a [Chart; 2],
    /// Flame graphs.
    pub flames: &'a Flames,
    /// The user's words.
    pub notes: &'a Notes,
}

/// Renders the page.
///
/// # Errors
/// When a figure does not show what it says, or the template fails.
pub fn page(claims: &Claims, sources: &Sources<'_>) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page.html", TEMPLATE)?;
    let context = Value::from(Serde(data(claims, sources)?));
    Ok(environment.get_template("page.html")?.render(context)?)
}

fn data<'a>(claims: &'a Claims, sources: &Sources<'a>) -> Result<Page<'a>, ReportError> {
    let results = sources.results;
    let cells: Vec<&Cell> = claims.cells.iter().collect();
    Ok(Page {
        title: &claims.title,
        progress: claims.progress.line(&claims.setting),
        css: Value::from_safe_string(style()),
        js: Value::from_safe_string(SCRIPT.to_owned()),
        variants: variants(claims, &sources.charts[0]),
        traffics: &results.campaign.traffics,
        verdicts: claims.verdicts.iter().map(|v| verdict(v, &cells)).collect(),
        badges: claims
            .badges
            .iter()
            .map(|b| BadgeItem {
                name: b.name,
                state: b.state,
                word: b.state.word(),
                text: &b.text,
            })
            .collect(),
        warnings: claims.warnings.iter().map(warning_text).collect(),
        failures: claims
            .cells
            .iter()
            .flat_map(|c| &c.failed)
            .map(|f| format!("{}: {}", f.trial, f.reason))
            .collect(),
        figures: figures(claims, sources)?,
        tables: tables(claims, results),
        legend: table::legend(claims),
        drops: table::drops(claims).map(|t| Value::from_safe_string(t.html(1))),
        flames: flames(sources.flames),
        flame_notes: sources.flames.refusals.clone(),
        amdahl: amdahl(sources.flames),
        notes: sources.notes.text(),
        note_doubts: sources.notes.doubts(),
        facts: facts(claims),
        settings: Value::from_safe_string(table::settings(claims).html(usize::MAX)),
        command: &claims.setting.command,
        blocks: ministat(claims, results),
    })
}

/// The style sheet of every page, both appearances in it.
pub fn style() -> String {
    let light = figure::properties(&figure::LIGHT);
    let dark = figure::properties(&figure::DARK);
    format!(
        ":root{{{light}--shade:#f3f5f7}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-look=light]){{{dark}--shade:#1a2129}}}}\n\
         @media screen{{:root[data-look=dark]{{{dark}--shade:#1a2129}}}}\n{STYLE}{}",
        figure::inline_sheet()
    )
}

fn variants<'a>(claims: &'a Claims, chart: &Chart) -> Vec<VariantBox<'a>> {
    let colours = chart.variants();
    let colour = |name: &str| colours.iter().find(|(n, _)| *n == name).map_or(0, |c| c.1);
    claims
        .setting
        .variants
        .iter()
        .map(|v| VariantBox {
            name: &v.name,
            colour: colour(&v.name),
            is_baseline: claims.cells.iter().any(|c| c.is_baseline && c.variant == v.name),
        })
        .collect()
}

fn verdict<'a>(
    verdict: &'a fwdlab_claims::claim::VerdictClaim,
    cells: &[&Cell],
) -> VerdictCard<'a> {
    VerdictCard {
        family: verdict.family.title(),
        traffic: &verdict.traffic,
        variant: &verdict.variant,
        word: verdict.verdict.word(),
        sentence: &verdict.sentence,
        basis: basis(verdict, cells),
        doubts: verdict
            .findings
            .iter()
            .map(|f| format!("warning: {}: {}", verdict.doubt(f), f.remedy()))
            .collect(),
    }
}

fn figures(claims: &Claims, sources: &Sources<'_>) -> Result<Figures, ReportError> {
    let ([chart, cost], results) = (sources.charts, sources.results);
    let inline = |canvas: figure::Canvas, label: &str, id: &'static str| {
        Value::from_safe_string(canvas.into_inline(label, id))
    };
    let checked = |canvas: figure::Canvas, label: &str, (id, metric): (&'static str, Metric)| {
        let svg = canvas.into_inline(label, id);
        figure::verify(&svg, id, (results, metric))?;
        Ok::<_, ReportError>(Value::from_safe_string(svg))
    };
    Ok(Figures {
        forest: inline(
            figure::forest(&chart::forest(claims, chart)),
            "Forest plot",
            "figure-forest",
        ),
        graph: checked(figure::bars(chart), "Forwarding rates", ("figure-graph", Metric::Rate))?,
        cost: (!cost.is_empty())
            .then(|| checked(figure::bars(cost), "Device costs", ("figure-cost", Metric::Cost)))
            .transpose()?,
        run_order: checked(
            figure::run_order(chart),
            "Trials in the order of the run",
            ("figure-run-order", Metric::Rate),
        )?,
        distribution: checked(
            figure::distribution(chart),
            "Distribution of the rates",
            ("figure-distribution", Metric::Rate),
        )?,
        topology: inline(topology::topology(claims), "Topology", "figure-topology"),
    })
}

fn tables<'a>(claims: &Claims, results: &'a Results) -> Vec<CellTable<'a>> {
    results
        .campaign
        .traffics
        .iter()
        .map(|traffic| {
            let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == *traffic).collect();
            let html = Value::from_safe_string(table::cells(&cells, claims).html(0));
            CellTable { traffic, html }
        })
        .collect()
}

fn flames(flames: &Flames) -> Vec<FlameItem> {
    let first = flames.graphs.iter().position(|g| g.is_difference).unwrap_or(0);
    flames
        .graphs
        .iter()
        .enumerate()
        .map(|(k, graph)| FlameItem {
            open: k == first,
            id: graph.file.replace('.', "-"),
            variant: graph.variant.clone(),
            traffic: graph.traffic.clone(),
            title: graph.title.clone(),
            note: graph.note.clone(),
            file: graph.file.clone(),
            height: graph.height,
            // The end of the script element must not come early.
            svg: Value::from_safe_string(graph.small_svg.replace("</script", "<\\/script")),
        })
        .collect()
}

fn amdahl(flames: &Flames) -> Vec<AmdahlTable> {
    flames
        .changes
        .iter()
        .map(|change| AmdahlTable {
            variant: change.variant.clone(),
            traffic: change.traffic.clone(),
            title: change.title(),
            note: change.note.clone(),
            html: Value::from_safe_string(change.table().html(usize::MAX)),
        })
        .collect()
}

fn facts(claims: &Claims) -> Vec<String> {
    let mut facts = claims.setting.lines();
    if !claims.setting.experiment_sha256.is_empty() {
        facts.push(format!("experiment.toml: SHA-256 {}", claims.setting.experiment_sha256));
    }
    facts
}

fn ministat(claims: &Claims, results: &Results) -> Vec<BlockItem> {
    let mut items = Vec::new();
    for traffic in &results.campaign.traffics {
        let with_cost = claims.verdicts.iter().any(|v| v.traffic == *traffic && v.metric == "cost");
        for block in blocks(traffic, claims, results, with_cost) {
            let text = match block {
                Block::Text(text) => text,
                Block::Missing(reason) => format!("No ministat block: {reason}"),
            };
            let what = if text.contains("device cost") { "device cost" } else { "forwarding rate" };
            items.push(BlockItem {
                traffic: traffic.clone(),
                title: format!("{traffic}: {what}"),
                text,
                open: claims.cells.len() <= 4,
            });
        }
    }
    items
}
