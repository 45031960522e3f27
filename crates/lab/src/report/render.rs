//! From results to claims, and to every derived file as bytes.

use std::collections::BTreeMap;

use super::claim::{self, Claims};
use super::figure::{self, Chart};
use super::notes::Notes;
use super::setting::Setting;
use super::{ReportError, chart, netbenches, readme};
use crate::results::Results;

/// What the results say, checked against the trials.
///
/// # Errors
/// When a file beside the journal is damaged, or a claim does not resolve.
pub fn claims(results: &Results) -> Result<Claims, ReportError> {
    let claims = claim::build(results, Setting::read(results)?);
    let wrong = claim::resolve(&claims, results);
    if wrong.is_empty() { Ok(claims) } else { Err(ReportError::Contradiction(wrong)) }
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

/// Every derived file by its name in the results directory.
pub(super) fn files(
    results: &Results,
    claims: &Claims,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    let notes = Notes::read(&results.dir)?;
    let chart = chart::chart(claims, results);
    let mut files = figures(claims, &chart, results)?;
    files.insert("README.md".to_owned(), readme::readme(claims, results, &notes).into_bytes());
    files.insert("gnuplot.data".to_owned(), netbenches::gnuplot(claims).into_bytes());
    for (name, text) in netbenches::pps_files(claims, results) {
        files.insert(name, text.into_bytes());
    }
    files.insert("claims.json".to_owned(), json(claims)?.into_bytes());
    Ok(files)
}

/// The figures as SVG and PNG, each checked against the results.
fn figures(
    claims: &Claims,
    chart: &Chart,
    results: &Results,
) -> Result<BTreeMap<String, Vec<u8>>, ReportError> {
    let forest = figure::forest(&chart::forest(claims, chart));
    let drawn = [
        ("graph", figure::bars(chart), true),
        ("forest", forest, false),
        ("run-order", figure::run_order(chart), true),
    ];
    let mut files = BTreeMap::new();
    for (name, canvas, has_trials) in drawn {
        let svg = canvas.into_document(&claims.title, &figure::sheet(&figure::LIGHT));
        if has_trials {
            figure::verify(&svg, name, results)?;
        }
        files.insert(format!("{name}.png"), figure::png(&svg, name)?);
        files.insert(format!("{name}.svg"), svg.into_bytes());
    }
    Ok(files)
}

/// The claims as JSON, one member a line.
pub fn json(claims: &Claims) -> Result<String, ReportError> {
    let encode = |source| crate::Error::Encode { what: "the claims", source };
    let mut text = serde_json::to_string_pretty(claims).map_err(encode)?;
    text.push('\n');
    Ok(text)
}
