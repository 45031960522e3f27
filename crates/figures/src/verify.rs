//! Reads a finished drawing back and compares its marks with the results.

use std::collections::BTreeMap;

use crate::FigureError;
use fwdlab_results::{Metric, Results, Trial};

/// What the elements around a mark say of it.
#[derive(Debug, Default)]
struct Around {
    traffic: Option<String>,
    variant: Option<String>,
}

/// Checks that every mark of `svg` names a trial that was kept, that it
/// stands in the elements of that trial's traffic and variant, and that no kept
/// trial with a figure is missing.
///
/// # Errors
/// [`FigureError::Wrong`] with the first disagreement.
pub fn verify(
    svg: &str,
    name: &'static str,
    (results, metric): (&Results, Metric),
) -> Result<(), FigureError> {
    verify_those(svg, name, results, &|trial| metric.of(trial).is_some())
}

/// As [`verify`], where the trials that must be shown are those of which `is_shown`.
///
/// # Errors
/// [`FigureError::Wrong`] with the first disagreement.
pub fn verify_those(
    svg: &str,
    name: &'static str,
    results: &Results,
    is_shown: &dyn Fn(&Trial) -> bool,
) -> Result<(), FigureError> {
    let wrong = |detail: String| FigureError::Wrong { name, detail };
    let trials: BTreeMap<&str, &Trial> =
        results.trials.iter().map(|t| (t.id.as_str(), t)).collect();
    let mut drawn: BTreeMap<String, usize> = BTreeMap::new();
    let mut around: Vec<Around> = Vec::new();
    for line in svg.lines() {
        if line.starts_with("<g") {
            around.push(Around {
                traffic: attribute(line, "data-traffic"),
                variant: attribute(line, "data-variant"),
            });
        } else if line.starts_with("</g>") {
            around.pop();
        } else if let Some(id) = attribute(line, "data-trial") {
            let trial = trials.get(id.as_str()).filter(|t| t.is_ok());
            let trial =
                trial.ok_or_else(|| wrong(format!("it shows {id}, which is no kept trial")))?;
            let traffic = around.iter().rev().find_map(|g| g.traffic.as_deref());
            let variant = around.iter().rev().find_map(|g| g.variant.as_deref());
            if traffic != Some(trial.traffic.as_str()) || variant != Some(trial.variant.as_str()) {
                return Err(wrong(format!(
                    "it shows {id} of {}/{} as {}/{}",
                    trial.traffic,
                    trial.variant,
                    traffic.unwrap_or("nothing"),
                    variant.unwrap_or("nothing")
                )));
            }
            *drawn.entry(id).or_insert(0) += 1;
        }
    }
    let wanted = results.trials.iter().filter(|t| is_shown(t));
    match wanted.into_iter().find(|t| drawn.get(&t.id).copied().unwrap_or(0) != 1) {
        Some(trial) => Err(wrong(format!("trial {} is not shown exactly once", trial.id))),
        None => Ok(()),
    }
}

/// The value of an attribute in a line that holds one element.
fn attribute(line: &str, name: &str) -> Option<String> {
    let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
    let end = start + line[start..].find('"')?;
    let raw = &line[start..end];
    Some(
        raw.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&"),
    )
}
