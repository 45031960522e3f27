//! From results to claims, and to every derived file as bytes.

use std::collections::BTreeMap;
use std::path::Path;

use super::block::Part;
use super::build::{Build, FIGURES};
use super::chart::Charts;
use super::drawings::{Drawings, Shown, curves_that_decide};
use super::flame;
use super::html::{self, Controls, Page, Toggle};
use super::notes::Notes;
use super::sections::{Rendering, SECTIONS, Section, parts};
use super::source::{Extras, Source};
use super::terminal::{message, screen};
use super::{ReportError, chart, links, markdown, netbenches};
use fwdlab_claims::Claims;
use fwdlab_figures::{self as figure, Room};
use fwdlab_profiles::{Profiles, changes};
use fwdlab_results::{EXPERIMENT_FILE, JOURNAL_FILE, Results};

/// What the results say, checked against the trials.
///
/// # Errors
/// When a file beside the journal is damaged, or a claim does not resolve.
pub fn claims(results: &Results) -> Result<Claims, ReportError> {
    Ok(fwdlab_claims::claims(results)?)
}

/// The report for a terminal of `width` columns: verdicts, tables, doubts;
/// with ANSI colours when `colour` is set. When there can be no report, the
/// reason stands in its place.
pub fn terminal(results: &Results, width: usize, colour: bool) -> String {
    match claims(results) {
        Ok(claims) => in_short(&claims, results, |report| report.terminal(width, colour)),
        Err(error) => format!("no report: {error}\n"),
    }
}

/// The verdicts as plain text of 72 columns, for a commit message.
///
/// # Errors
/// Those of [`claims`].
pub fn commit(results: &Results) -> Result<String, ReportError> {
    Ok(in_short(&claims(results)?, results, |report| report.commit()))
}

/// The report as Markdown for a CI step summary.
///
/// # Errors
/// Those of [`claims`].
pub fn github(results: &Results) -> Result<String, ReportError> {
    Ok(in_short(&claims(results)?, results, |report| report.github()))
}

/// A rendering without notes and drawings.
fn in_short(
    claims: &Claims,
    results: &Results,
    render: impl FnOnce(&Report<'_>) -> String,
) -> String {
    // Whoever writes the report is told of profiles that cannot be read.
    let profiles = Profiles::read(&results.dir, claims).unwrap_or_default();
    let extras = Extras { changes: changes(claims, &profiles), ..Extras::default() };
    let source = Source { claims, results, extras: &extras };
    render(&Report { sections: SECTIONS, source })
}

/// Sections and what they are made from, in every rendering.
pub(super) struct Report<'a> {
    /// The sections.
    pub sections: &'a [Section],
    /// What they are made from.
    pub source: Source<'a>,
}

impl Report<'_> {
    fn parts(&self, rendering: Rendering) -> Vec<Part<'_>> {
        parts(self.sections, rendering, &self.source)
    }

    /// `README.md`.
    pub fn readme(&self) -> String {
        markdown::file(&self.parts(Rendering::Readme))
    }

    /// `index.html`.
    pub fn page(&self) -> String {
        let Source { claims, results, extras } = self.source;
        let colours = &extras.drawings.colours;
        let toggle = |name| Toggle {
            name,
            colour: colours.get(name).copied().unwrap_or(0),
            is_baseline: claims.cells.iter().any(|c| c.is_baseline && c.variant == name),
        };
        let controls = Controls {
            variants: claims.setting.variants.iter().map(|v| toggle(v.name.as_str())).collect(),
            traffics: &results.campaign.traffics,
        };
        let [header, main] = html::halves(&self.parts(Rendering::Page));
        let footer = format!(
            "Made by <code>fwdlab report</code> from trials.jsonl alone; every statement is also in \
             claims.json. Data: {}.",
            data(&results.dir)
        );
        let page = Page {
            title: &claims.title,
            header: &header,
            controls: Some(controls),
            main: &main,
            footer: Some(&footer),
        };
        page.html()
    }

    /// Plain text for a terminal of `width` columns.
    pub fn terminal(&self, width: usize, colour: bool) -> String {
        screen(&self.parts(Rendering::Terminal), width, colour)
    }

    /// Plain text for a commit message.
    pub fn commit(&self) -> String {
        message(&self.parts(Rendering::Commit))
    }

    /// Markdown for a step summary.
    pub fn github(&self) -> String {
        markdown::summary(&self.parts(Rendering::Github))
    }
}

/// Links to the data beside a page, as HTML.
fn data(dir: &Path) -> String {
    const WRITTEN: [&str; 3] = ["README.md", "claims.json", "gnuplot.data"];
    let kept = [JOURNAL_FILE, EXPERIMENT_FILE, "environment.json"];
    let kept = kept.into_iter().filter(|name| dir.join(name).is_file());
    let link = |name| format!("<a href=\"{name}\">{name}</a>");
    kept.chain(WRITTEN).map(link).collect::<Vec<_>>().join(", ")
}

/// Every file that a build derives, by its name in the results directory.
pub(super) fn files(
    results: &Results,
    claims: &Claims,
    build: Build,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    // Drawing takes longest: what is refused is refused before.
    let extras = extras(results, claims, build)?;
    let charts = Charts::of(claims, results);
    let mut files = figures(claims, &charts, results, build)?;
    let source = Source { claims, results, extras: &extras };
    let report = Report { sections: SECTIONS, source };
    files.insert("README.md".to_owned(), report.readme().into_bytes());
    files.insert("index.html".to_owned(), report.page().into_bytes());
    for graph in &extras.flames.graphs {
        files.insert(graph.file.clone(), graph.svg.clone().into_bytes());
    }
    files.insert("gnuplot.data".to_owned(), netbenches::gnuplot(claims).into_bytes());
    for (name, text) in netbenches::pps_files(claims, results) {
        files.insert(name, text.into_bytes());
    }
    files.insert("claims.json".to_owned(), json(claims)?.into_bytes());
    links::check(&files, &results.dir)?;
    Ok(files)
}

/// What a report holds beside the claims.
///
/// # Errors
/// When a file beside the journal cannot be read, or a figure does not show what it says.
pub(super) fn extras(
    results: &Results,
    claims: &Claims,
    build: Build,
) -> Result<Extras, ReportError> {
    let dir = &results.dir;
    let notes = Notes::read(dir, claims)?;
    let profiles = Profiles::read(dir, claims)?;
    let changes = changes(claims, &profiles);
    let flames = flame::flames(&profiles, &changes, build)?;
    let drawings = Drawings::draw(claims, results, &Charts::of(claims, results))?;
    Ok(Extras { notes, changes, flames, drawings })
}

/// The figures as SVG and PNG, each checked against the results.
fn figures(
    claims: &Claims,
    charts: &Charts,
    results: &Results,
    build: Build,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    let [_, costs, plot, order, curve] = FIGURES;
    let cost = &charts.cost;
    let forest = chart::forest(claims, &charts.order);
    let forest = forest.map(|forest| (plot.to_owned(), figure::forest(&forest), None));
    let all = charts.order.clone().drawn();
    let all = (!all.is_empty())
        .then(|| (order.to_owned(), figure::run_order(&all), Some(Shown::Figures)));
    let curves = curves_that_decide(claims, charts);
    let curves = curves.map(|curves| (curve.to_owned(), figure::curves(&curves, Room::Page), None));
    let costs =
        (!cost.is_empty()).then(|| (costs.to_owned(), figure::bars(cost), Some(Shown::of(cost))));
    let bars = charts.named().map(|(name, one)| (name, figure::bars(one), Some(Shown::of(one))));
    let mut files = BTreeMap::new();
    for (name, canvas, shown) in bars.chain(costs).chain(forest).chain(all).chain(curves) {
        let svg = canvas.into_document(&claims.title, &figure::sheet(&figure::LIGHT));
        if let Some(shown) = shown {
            shown.verify(&svg, "a figure", results)?;
        }
        if build.draws_pictures {
            let png = figure::png(&svg, "a figure")?;
            files.extend(png.map(|png| (format!("{name}.png"), png)));
        }
        files.insert(format!("{name}.svg"), svg.into_bytes());
    }
    Ok(files)
}

/// The claims as JSON, one member a line.
pub fn json(claims: &Claims) -> Result<String, ReportError> {
    let encode = |source| fwdlab_results::Error::Encode { what: "the claims", source };
    let mut text = serde_json::to_string_pretty(claims).map_err(encode)?;
    text.push('\n');
    Ok(fwdlab_guard::words::in_json(&text).into_owned())
}
