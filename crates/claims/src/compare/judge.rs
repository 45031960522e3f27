//! A group to judgements.

use fwdlab_stats::validity::{self, Finding, Severity};
use fwdlab_stats::{Comparison, Subject, Verdict, model, paired, unpaired};

use super::group::Arranged;
use super::series::Series;
use super::{Group, Judgement, doubts};

/// What a verdict is judged by.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// The margin as a ratio.
    pub margin: f64,
    /// Questions that the same campaign asks: one for each traffic.
    pub questions: usize,
}

/// Judges every series of a group against the first.
pub(super) fn judge(group: Arranged, terms: Terms) -> Group {
    let judgements = match blocked(&group) {
        Some(comparisons) => group[1..]
            .iter()
            .zip(comparisons)
            .map(|(variant, comparison)| {
                finish((&group[0], variant), comparison.map(|c| (c, None)), terms)
            })
            .collect(),
        None => group[1..]
            .iter()
            .map(|variant| without_blocks((&group[0], variant), terms.margin))
            .collect(),
    };
    let first = &group[0];
    Group {
        name: first.group.clone(),
        metric: first.metric.clone(),
        unit: first.unit.clone(),
        direction: first.direction,
        judgements,
        series: group,
    }
}

/// How many of the groups are campaigns in blocks, which share the chance of a false difference.
pub(super) fn questions(groups: &[Arranged]) -> usize {
    groups.iter().filter(|group| is_blocked(group)).count()
}

fn is_blocked(group: &Arranged) -> bool {
    let source = &group[0].source;
    group.iter().all(|own| own.blocks.is_some() && own.source == *source)
}

/// The comparisons over blocks, when all series of the group come from one source with blocks.
fn blocked(group: &Arranged) -> Option<Vec<Result<Comparison, fwdlab_stats::Error>>> {
    if !is_blocked(group) {
        return None;
    }
    let direction = group[0].direction;
    let rows = complete_rows(group);
    if group.len() > 2 {
        // one model for all keeps the chance of any false difference at 5 %
        return Some(match model::compare(&rows, direction) {
            Ok(comparisons) => comparisons.into_iter().map(Ok).collect(),
            Err(error) => group[1..].iter().map(|_| Err(error.clone())).collect(),
        });
    }
    let pairs: Vec<paired::Block> =
        rows.iter().map(|row| paired::Block::new(row[0], row[1])).collect();
    Some(vec![paired::compare(&pairs, direction)])
}

/// One row per block that every series has, in the order of the series.
fn complete_rows(group: &Arranged) -> Vec<Vec<f64>> {
    let blocks = group[0].blocks.as_deref().unwrap_or_default();
    blocks
        .iter()
        .filter_map(|block| group.iter().map(|own| own.of_block(*block)).collect())
        .collect()
}

pub(super) fn without_blocks(sides: (&Series, &Series), margin: f64) -> Judgement {
    let (baseline, variant) = sides;
    let result = unpaired::compare(&baseline.values, &variant.values, baseline.direction);
    finish(
        sides,
        result.map(|both| (both.comparison.clone(), Some(both))),
        Terms { margin, questions: 1 },
    )
}

type Compared = Result<(Comparison, Option<unpaired::Unpaired>), fwdlab_stats::Error>;

fn finish((baseline, variant): (&Series, &Series), compared: Compared, terms: Terms) -> Judgement {
    let mut findings = doubts::findings(baseline, variant);
    for own in [baseline, variant] {
        findings.extend(validity::failed_trials(
            own.planned(),
            own.values.len(),
            own.failed.clone(),
        ));
        findings.extend(validity::two_clusters(&own.name, &own.values));
        findings.extend(validity::stray_runs(&own.name, &own.values));
        findings.extend(validity::drift(&own.values));
    }
    let (comparison, rank) = match compared {
        Ok((comparison, both)) => {
            if let Some(both) = &both {
                findings.extend(both.tests_disagree().then_some(Finding::TestsDisagree {
                    welch_p: both.welch_p,
                    rank_p: both.rank.p,
                }));
                findings.push(Finding::NotBlocked);
            } else {
                findings.extend(validity::one_of_several(&comparison, terms.questions));
            }
            (Some(comparison), both.map(|both| both.rank))
        }
        Err(error) => {
            findings.push(Finding::NotComputable { reason: error.to_string() });
            (None, None)
        }
    };
    // stable: the order of the checks is kept within a severity
    findings.sort_by_key(|finding| finding.severity() != Severity::Invalid);
    let verdict = match &comparison {
        Some(comparison) => Verdict::judge(comparison, terms.margin, &findings),
        None => Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: Vec::new() }),
    };
    let metric = if baseline.metric.is_empty() { "value" } else { &baseline.metric };
    let subject = Subject { variant: &variant.name, baseline: &baseline.name, metric };
    let sentence = verdict.sentence(comparison.as_ref(), terms.margin, subject);
    Judgement {
        variant: variant.name.clone(),
        baseline: baseline.name.clone(),
        comparison,
        rank,
        findings,
        verdict,
        sentence,
    }
}
