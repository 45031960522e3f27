//! Computes every claim again from the trials that it names.

use std::collections::BTreeMap;

use fwdlab_stats::unpaired;

use super::build::limit_name;
use super::{Cell, Claims, Spread, VerdictClaim};
use crate::Unresolved;
use crate::blocks::{Row, compare};
use fwdlab_results::{Metric, Results, Trial};

/// Checks every claim against the results; empty when all agree.
pub fn resolve(claims: &Claims, results: &Results) -> Vec<Unresolved> {
    let trials: BTreeMap<&str, &Trial> =
        results.trials.iter().map(|t| (t.id.as_str(), t)).collect();
    let mut found = Vec::new();
    for cell in &claims.cells {
        found.extend(resolve_cell(cell, &trials));
    }
    for traffic in &results.campaign.traffics {
        let verdicts: Vec<&VerdictClaim> =
            claims.verdicts.iter().filter(|v| v.traffic == *traffic).collect();
        if !results.campaign.is_blocked() {
            found.extend(verdicts.iter().flat_map(|v| resolve_unblocked(v, &trials)));
        } else {
            found.extend(resolve_traffic(&verdicts, &trials, results));
        }
    }
    for warning in &claims.warnings {
        for id in warning.trials.iter().filter(|id| !trials.contains_key(id.as_str())) {
            let claim = format!("warning \"{}\"", warning.text);
            found.push(Unresolved { claim, detail: format!("trial {id} does not exist") });
        }
    }
    found.extend(unaccounted(claims, results));
    found
}

/// Trials that no cell shows: none may vanish.
fn unaccounted(claims: &Claims, results: &Results) -> Vec<Unresolved> {
    let is_shown = |id: &str| {
        claims.cells.iter().any(|c| {
            c.kept.iter().any(|k| k == id) || c.failed.iter().any(|failure| failure.trial == id)
        })
    };
    let lost = results.trials.iter().filter(|t| !is_shown(&t.id));
    lost.map(|t| Unresolved {
        claim: "table".to_owned(),
        detail: format!(
            "trial {} of variant {} and traffic {} is in no row; the campaign record does not name one of them",
            t.id, t.variant, t.traffic
        ),
    })
    .collect()
}

fn resolve_cell(cell: &Cell, trials: &BTreeMap<&str, &Trial>) -> Vec<Unresolved> {
    let claim = format!("cell {}/{}", cell.traffic, cell.variant);
    let wrong = |detail: String| Unresolved { claim: claim.clone(), detail };
    let mut found = Vec::new();
    let mut kept = Vec::new();
    for id in &cell.kept {
        match labelled(id, (&cell.traffic, &cell.variant), trials) {
            Ok(trial) => kept.push(trial),
            Err(detail) => found.push(wrong(detail)),
        }
    }
    for failure in &cell.failed {
        if trials.get(failure.trial.as_str()).is_none_or(|t| t.is_ok()) {
            found.push(wrong(format!("trial {} did not fail", failure.trial)));
        }
    }
    for (metric, stated) in [(Metric::Rate, &cell.rate), (Metric::Cost, &cell.cost)] {
        let values: Vec<f64> = kept.iter().filter_map(|t| metric.of(t)).collect();
        let computed = Spread::of(&values);
        if computed != *stated {
            found.push(wrong(format!(
                "{} is stated as {stated:?}, its trials give {computed:?}",
                metric.name()
            )));
        }
    }
    let sent: Option<u64> = kept.iter().map(|t| t.measured.sent).sum();
    let sums = (sent, kept.iter().map(|t| t.measured.received).sum());
    if sums != (cell.sent, cell.received) {
        found.push(wrong(format!("frames sent and received are {sums:?}")));
    }
    for (name, n) in &cell.limited_by {
        let counted = kept.iter().filter(|t| limit_name(t.limited_by) == *name).count();
        if counted != *n {
            found.push(wrong(format!("{counted} trials are limited by {name}, not {n}")));
        }
    }
    found
}

/// Checks the verdicts of one traffic together: several variants share one
/// model over the same blocks.
fn resolve_traffic(
    verdicts: &[&VerdictClaim],
    trials: &BTreeMap<&str, &Trial>,
    results: &Results,
) -> Vec<Unresolved> {
    let mut found = Vec::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    let compared: Vec<&VerdictClaim> =
        verdicts.iter().filter(|v| !v.pairs.is_empty()).copied().collect();
    for (column, verdict) in compared.iter().enumerate() {
        let wrong = |detail| Unresolved { claim: name(verdict), detail };
        for (k, pair) in verdict.pairs.iter().enumerate() {
            match resolve_pair(verdict, pair, trials) {
                Ok((b, v)) if column == 0 => rows.push(vec![b, v]),
                Ok((b, v)) if rows.get(k).is_some_and(|r| r[0].id == b.id) => rows[k].push(v),
                Ok((b, _)) => found.push(wrong(format!(
                    "{} stands in another block than with the other variants",
                    b.id
                ))),
                Err(detail) => found.push(wrong(detail)),
            }
        }
    }
    if found.is_empty() {
        found.extend(resolve_comparisons(&compared, &rows, results));
    }
    found
}

/// Checks a verdict on runs without blocks.
fn resolve_unblocked(verdict: &VerdictClaim, trials: &BTreeMap<&str, &Trial>) -> Vec<Unresolved> {
    let wrong = |detail| Unresolved { claim: name(verdict), detail };
    let Some(runs) = &verdict.runs else {
        return vec![wrong("it names no runs".to_owned())];
    };
    let mut found = Vec::new();
    let mut rates = [Vec::new(), Vec::new()];
    for (side, variant) in [&verdict.baseline, &verdict.variant].into_iter().enumerate() {
        for id in &runs[side] {
            match labelled(id, (&verdict.traffic, variant), trials) {
                Ok(trial) => rates[side].extend(Metric::Rate.of(trial)),
                Err(detail) => found.push(wrong(detail)),
            }
        }
    }
    let direction = Metric::Rate.direction();
    let computed = unpaired::compare(&rates[0], &rates[1], direction).ok();
    let is_same = verdict.rate == computed.as_ref().map(|both| both.comparison.clone())
        && verdict.rank == computed.map(|both| both.rank);
    if found.is_empty() && !is_same {
        found.push(wrong("the comparison of rate is not what its runs give".to_owned()));
    }
    found
}

fn name(verdict: &VerdictClaim) -> String {
    format!("verdict {}/{}", verdict.traffic, verdict.variant)
}

fn resolve_pair<'a>(
    verdict: &VerdictClaim,
    [baseline, variant]: &[String; 2],
    trials: &BTreeMap<&str, &'a Trial>,
) -> Result<(&'a Trial, &'a Trial), String> {
    let b = labelled(baseline, (&verdict.traffic, &verdict.baseline), trials)?;
    let v = labelled(variant, (&verdict.traffic, &verdict.variant), trials)?;
    if b.block == v.block {
        Ok((b, v))
    } else {
        Err(format!("{} and {} are of different blocks", b.id, v.id))
    }
}

fn resolve_comparisons(
    verdicts: &[&VerdictClaim],
    rows: &[Row<'_>],
    results: &Results,
) -> Vec<Unresolved> {
    let mut found = Vec::new();
    for metric in [Metric::Rate, Metric::Cost] {
        let computed = compare(rows, verdicts.len(), metric, &results.campaign);
        for (column, verdict) in verdicts.iter().enumerate() {
            let stated = if metric == Metric::Rate { &verdict.rate } else { &verdict.cost };
            if stated.as_ref() != computed.get(column).and_then(|found| found.as_ref().ok()) {
                let what = metric.name();
                found.push(Unresolved {
                    claim: name(verdict),
                    detail: format!("the comparison of {what} is not what its trials give"),
                });
            }
        }
    }
    found
}

/// The trial of that id, if it was kept and is of that traffic and variant.
fn labelled<'a>(
    id: &str,
    (traffic, variant): (&str, &str),
    trials: &BTreeMap<&str, &'a Trial>,
) -> Result<&'a Trial, String> {
    let trial = trials.get(id).ok_or_else(|| format!("trial {id} does not exist"))?;
    if trial.variant != variant || trial.traffic != traffic {
        return Err(format!(
            "trial {id} is of {}/{}, not of {traffic}/{variant}",
            trial.traffic, trial.variant
        ));
    }
    if !trial.is_ok() {
        return Err(format!("trial {id} failed and cannot bear a figure"));
    }
    Ok(trial)
}
