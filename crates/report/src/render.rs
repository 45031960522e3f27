//! From results to claims, and to every derived file as bytes.

use std::collections::BTreeMap;

use super::figure::{self, Chart};
use super::flame;
use super::notes::Notes;
use super::profile::Profiles;
use super::{ReportError, chain, chart, html, links, netbenches, readme, summary};
use fwdlab_claims::Claims;
use fwdlab_results::{Metric, Results};

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
        Ok(claims) => super::terminal::terminal(&claims, width, colour),
        Err(error) => format!("no report: {error}\n"),
    }
}

/// The verdicts as plain text of 72 columns, for a commit message.
///
/// # Errors
/// Those of [`claims`].
pub fn commit(results: &Results) -> Result<String, ReportError> {
    Ok(summary::commit(&claims(results)?))
}

/// The report as Markdown for a CI step summary.
///
/// # Errors
/// Those of [`claims`].
pub fn github(results: &Results) -> Result<String, ReportError> {
    Ok(summary::github(&claims(results)?, results))
}

/// Every derived file by its name in the results directory.
pub(super) fn files(
    results: &Results,
    claims: &Claims,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    let dir = &results.dir;
    let notes = Notes::read(dir, claims)?;
    let flames = flame::flames(claims, &Profiles::read(dir, &claims.cells)?)?;
    let charts = [Metric::Rate, Metric::Cost].map(|m| chart::chart(claims, results, m));
    let sources = html::Sources { results, charts: &charts, flames: &flames, notes: &notes };
    let mut files = figures(claims, &charts, results)?;
    let text = readme::readme(claims, results, &readme::Extras { notes: &notes, flames: &flames });
    files.insert("README.md".to_owned(), text.into_bytes());
    files.insert("index.html".to_owned(), html::page(claims, &sources)?.into_bytes());
    for graph in &flames.graphs {
        files.insert(graph.file.clone(), graph.svg.clone().into_bytes());
    }
    files.insert("gnuplot.data".to_owned(), netbenches::gnuplot(claims).into_bytes());
    for (name, text) in netbenches::pps_files(claims, results) {
        files.insert(name, text.into_bytes());
    }
    chain::close(&mut files, &claims.setting);
    files.insert("claims.json".to_owned(), json(claims)?.into_bytes());
    links::check(&files, dir)?;
    Ok(files)
}

/// The figures as SVG and PNG, each checked against the results.
fn figures(
    claims: &Claims,
    [rate, cost]: &[Chart; 2],
    results: &Results,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    let forest = figure::forest(&chart::forest(claims, rate));
    let drawn = [
        ("graph", figure::bars(rate), Some(Metric::Rate)),
        ("cost", figure::bars(cost), Some(Metric::Cost)),
        ("forest", forest, None),
        ("run-order", figure::run_order(rate), Some(Metric::Rate)),
    ];
    let mut files = BTreeMap::new();
    for (name, canvas, trials_of) in drawn {
        if trials_of == Some(Metric::Cost) && cost.is_empty() {
            continue;
        }
        let svg = canvas.into_document(&claims.title, &figure::sheet(&figure::LIGHT));
        if let Some(metric) = trials_of {
            figure::verify(&svg, name, (results, metric))?;
        }
        files.insert(format!("{name}.png"), figure::png(&svg, name)?);
        files.insert(format!("{name}.svg"), svg.into_bytes());
    }
    Ok(files)
}

/// The claims as JSON, one member a line.
pub fn json(claims: &Claims) -> Result<String, ReportError> {
    let encode = |source| fwdlab_results::Error::Encode { what: "the claims", source };
    let mut text = serde_json::to_string_pretty(claims).map_err(encode)?;
    text.push('\n');
    Ok(text)
}
