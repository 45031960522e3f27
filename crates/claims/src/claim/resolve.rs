//! Computes every claim again from the trials that it names.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_stats::multiple::Kind;
use fwdlab_stats::unpaired::Pair;
use fwdlab_stats::{Confidence, Subject};

use super::build::limit_name;
use super::{Cell, Claims, Spread, VerdictClaim};
use crate::Unresolved;
use crate::blocks::{self, Blocks, Row, compare};
use crate::known::Proven;
use crate::words::{self, Said};
use crate::{judge, runs};
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
            found.extend(resolve_unblocked(&verdicts, &trials, results));
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
    if claims.proven != Proven::of(results) {
        let detail = "they are not what their trials give".to_owned();
        found.push(Unresolved { claim: "own truths".to_owned(), detail });
    }
    found.extend(claims.verdicts.iter().filter_map(|v| resolve_sentence(v, results)));
    found.extend(unaccounted(claims, results));
    found
}

/// Checks that a sentence says what the values beside it say.
fn resolve_sentence(own: &VerdictClaim, results: &Results) -> Option<Unresolved> {
    let metric = Metric::named(own.metric)?;
    let said = Said {
        verdict: &own.verdict,
        comparison: own.comparison(),
        saved: own.saved.as_ref(),
        apart: own.apart.as_ref(),
        change: metric.words(),
    };
    let metric = words::metric(results, &own.traffic, metric);
    let subject = Subject { variant: &own.variant, baseline: &own.baseline, metric: &metric };
    let wanted = words::sentence(said, own.margin, subject);
    (own.sentence != wanted).then(|| Unresolved {
        claim: name(own),
        detail: format!("says \"{}\" where its values say \"{wanted}\"", own.sentence),
    })
}

/// Trials that no cell shows: none may vanish.
fn unaccounted(claims: &Claims, results: &Results) -> Vec<Unresolved> {
    let kept = claims.cells.iter().flat_map(|cell| cell.kept.iter().map(String::as_str));
    let failed = claims.cells.iter().flat_map(|cell| &cell.failed);
    let shown: BTreeSet<&str> = kept.chain(failed.map(|failure| failure.trial.as_str())).collect();
    let lost = results.trials.iter().filter(|trial| !shown.contains(trial.id.as_str()));
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
    let own = Metric::own(kept.iter().copied()).map(|own| (own, &cell.own));
    let stated = [(Metric::Rate, &cell.rate), (Metric::Cost, &cell.cost)].into_iter().chain(own);
    for (metric, stated) in stated {
        let computed = Spread::of_trials(&kept, metric);
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

/// Checks the verdicts of one traffic on runs without blocks: several variants share one level.
fn resolve_unblocked(
    verdicts: &[&VerdictClaim],
    trials: &BTreeMap<&str, &Trial>,
    results: &Results,
) -> Vec<Unresolved> {
    let mut found = Vec::new();
    let mut all = Vec::new();
    for verdict in verdicts {
        let wrong = |detail| Unresolved { claim: name(verdict), detail };
        let Some(runs) = &verdict.runs else {
            found.push(wrong("it names no runs".to_owned()));
            continue;
        };
        let mut sides = [Vec::new(), Vec::new()];
        for (side, variant) in [&verdict.baseline, &verdict.variant].into_iter().enumerate() {
            for id in &runs[side] {
                match labelled(id, (&verdict.traffic, variant), trials) {
                    Ok(trial) => sides[side].push(trial),
                    Err(detail) => found.push(wrong(detail)),
                }
            }
        }
        all.push(sides);
    }
    if found.is_empty() {
        let failed = |own: &&VerdictClaim| -> [usize; 2] {
            [&own.baseline, &own.variant].map(|variant| {
                let own = results.trials_of(variant, &own.traffic);
                own.into_iter().filter(|trial| !trial.is_ok()).count()
            })
        };
        let failed: Vec<[usize; 2]> = verdicts.iter().map(failed).collect();
        found.extend(resolve_runs(verdicts, &all, &failed));
    }
    found
}

/// Checks the comparisons and nanoseconds of verdicts whose runs, of baseline and variant, are known, and how
/// many of either FAILED.
fn resolve_runs(
    verdicts: &[&VerdictClaim],
    all: &[[Vec<&Trial>; 2]],
    failed: &[[usize; 2]],
) -> Vec<Unresolved> {
    let rates = |side: &Vec<&Trial>| -> Vec<f64> {
        side.iter().filter_map(|trial| Metric::Rate.of(trial)).collect()
    };
    let rates: Vec<[Vec<f64>; 2]> = all.iter().map(|sides| sides.each_ref().map(rates)).collect();
    let direction = Metric::Rate.direction();
    let pairs: Vec<Pair<'_>> = rates
        .iter()
        .zip(failed)
        .map(|([baseline, variant], failed)| Pair { baseline, variant, direction, failed: *failed })
        .collect();
    let computed = runs::compared(&pairs, Kind::Holm, Confidence::USUAL);
    let mut found = Vec::new();
    for ((verdict, computed), sides) in verdicts.iter().zip(computed).zip(all) {
        let computed = computed.ok();
        let is_same = verdict.rate == computed.as_ref().map(|both| both.comparison.clone())
            && verdict.rank == computed.map(|both| both.rank);
        if !is_same {
            let detail = "the comparison of rate is not what its runs give".to_owned();
            found.push(Unresolved { claim: name(verdict), detail });
        }
        found.extend(resolve_saved(verdict, &sides[0]));
    }
    found
}

/// Checks the nanoseconds of a verdict, and its difference in its unit, against the baseline's trials.
fn resolve_saved(verdict: &VerdictClaim, baseline: &[&Trial]) -> Option<Unresolved> {
    let metric = Metric::named(verdict.metric)?;
    let by = (metric, verdict.tick);
    let saved = |comparison| judge::saved(&verdict.verdict, comparison, baseline, by);
    let is_saved = verdict.saved == verdict.comparison().and_then(saved);
    // Without blocks no figure is a measure's own.
    let apart = |comparison| judge::apart(comparison, baseline, metric);
    let is_apart = verdict.apart == verdict.comparison().and_then(apart);
    let what = if is_saved { "difference in its unit is" } else { "nanoseconds saved are" };
    (!is_saved || !is_apart).then(|| Unresolved {
        claim: name(verdict),
        detail: format!("the {what} not what its trials give"),
    })
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
    let own = Metric::own(rows.iter().flatten().copied());
    let lost = |own: &&VerdictClaim| {
        blocks::lost(rows, results.trials.iter(), [&own.baseline, &own.variant], &own.traffic)
    };
    let blocks = Blocks {
        rows: rows.to_vec(),
        columns: (1..=verdicts.len()).map(Ok).collect(),
        lost: verdicts.iter().map(lost).collect(),
    };
    for metric in [Metric::Rate, Metric::Cost].into_iter().chain(own) {
        let computed = compare(&blocks, metric, &results.campaign, Confidence::USUAL);
        for (column, verdict) in verdicts.iter().enumerate() {
            let stated = match metric {
                Metric::Rate => &verdict.rate,
                Metric::Cost => &verdict.cost,
                Metric::Own(_) => &verdict.own,
            };
            if stated.as_ref() != computed.get(column).and_then(|found| found.as_ref().ok()) {
                let what = metric.name();
                found.push(Unresolved {
                    claim: name(verdict),
                    detail: format!("the comparison of {what} is not what its trials give"),
                });
            }
        }
    }
    let baseline: Vec<&Trial> = rows.iter().map(|row| row[0]).collect();
    for (column, verdict) in verdicts.iter().enumerate() {
        let Some(metric) = Metric::named(verdict.metric) else { continue };
        let variant: Vec<&Trial> = rows.iter().map(|row| row[column + 1]).collect();
        if verdict.next != blocks::next_run([&baseline, &variant], metric, verdict.comparison()) {
            let detail = "what the next run will show is not what its trials give".to_owned();
            found.push(Unresolved { claim: name(verdict), detail });
        }
    }
    found.extend(verdicts.iter().filter_map(|verdict| resolve_saved(verdict, &baseline)));
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
