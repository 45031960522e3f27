//! Two series to a judgement.

use fwdlab_stats::multiple::Kind;
use fwdlab_stats::unpaired::{self, Pair, RankTest, Unpaired};
use fwdlab_stats::validity::{self, Finding, Severity};
use fwdlab_stats::{Comparison, Confidence, Error, Subject, Verdict};

use super::doubts;
use super::series::Series;
use crate::saved::Saved;
use crate::words;
use fwdlab_results::Tick;

/// What a verdict is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// The margin as a ratio.
    pub margin: f64,
    /// How sure it has to be.
    pub confidence: Confidence,
}

/// What two series say.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The comparison; absent when it cannot be computed.
    pub comparison: Option<Comparison>,
    /// The rank test beside it, without blocks.
    pub rank: Option<RankTest>,
    /// The invalidating ones first.
    pub findings: Vec<Finding>,
    /// The verdict.
    pub verdict: Verdict,
    /// It in a word that fits the figure.
    pub word: &'static str,
    /// The nanoseconds per frame of a proven difference.
    pub saved: Option<Saved>,
    /// The verdict in words.
    pub sentence: String,
}

/// Judges pairs of series, (baseline, variant), that share one level.
pub fn without_blocks(pairs: &[[&Series; 2]], kind: Kind, terms: Terms) -> Vec<Judged> {
    let values = |[baseline, variant]: &[&'_ Series; 2]| -> [Vec<f64>; 2] {
        [baseline.values.clone(), variant.values.clone()]
    };
    let values: Vec<[Vec<f64>; 2]> = pairs.iter().map(values).collect();
    let own: Vec<Pair<'_>> = values
        .iter()
        .zip(pairs)
        .map(|([baseline, variant], pair)| Pair {
            baseline,
            variant,
            direction: pair[0].direction,
            failed: pair.map(|side| side.failed.len()),
        })
        .collect();
    let all = compared(&own, kind, terms.confidence);
    let both = |result: Result<Unpaired, Error>| -> Compared {
        result.map(|b| (b.comparison.clone(), Some(b))).map_err(not_computable)
    };
    pairs.iter().zip(all).map(|(pair, result)| finish(*pair, both(result), terms)).collect()
}

/// Compares pairs that share one level, if more than one can be compared.
pub fn compared(
    pairs: &[Pair<'_>],
    kind: Kind,
    confidence: Confidence,
) -> Vec<Result<Unpaired, Error>> {
    let alone = |own: &Pair<'_>| unpaired::compare_pair(own, confidence);
    let each: Vec<Result<Unpaired, Error>> = pairs.iter().map(alone).collect();
    if each.iter().flatten().count() < 2 {
        return each;
    }
    unpaired::compare_several(pairs, confidence, kind)
}

/// A comparison, with what the rank test beside it says where there were no blocks; else why there is none.
pub type Compared = Result<(Comparison, Option<Unpaired>), Finding>;

/// What keeps figures from being compared, as a finding.
pub fn not_computable(error: Error) -> Finding {
    Finding::NotComputable { reason: error.to_string() }
}

/// The judgement on two series, (baseline, variant), that were compared.
pub fn finish([baseline, variant]: [&Series; 2], compared: Compared, terms: Terms) -> Judged {
    let mut findings = doubts::findings(baseline, variant);
    for own in baseline.doubts.iter().chain(&variant.doubts) {
        if !findings.contains(own) {
            findings.push(own.clone());
        }
    }
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
            findings.extend(
                both.as_ref().map(|both| of_comparison(&comparison, both)).into_iter().flatten(),
            );
            let names = (baseline.name.as_str(), variant.name.as_str());
            findings.extend(validity::rare_runs(&comparison, terms.margin, names));
            (Some(comparison), both.map(|both| both.rank))
        }
        Err(why) => {
            findings.push(why);
            (None, None)
        }
    };
    // stable: the order of the checks is kept within a severity
    findings.sort_by_key(|finding| finding.severity() != Severity::Invalid);
    let verdict = match &comparison {
        Some(comparison) => Verdict::judge(comparison, terms.margin, &findings),
        None => Verdict::invalid(&findings).unwrap_or(Verdict::Invalid { why: Vec::new() }),
    };
    let ns = baseline.ns_per_frame();
    let is_counted = baseline.unit == Tick::Instruction.each();
    let tick = if is_counted { Tick::Instruction } else { Tick::Nanosecond };
    let saved = ns.zip(comparison.as_ref()).and_then(|(ns, c)| Saved::of(&verdict, c, (&ns, tick)));
    let metric = if baseline.metric.is_empty() { "value" } else { &baseline.metric };
    let subject = Subject { variant: &variant.name, baseline: &baseline.name, metric };
    let change = baseline.words();
    let said = words::Said {
        verdict: &verdict,
        comparison: comparison.as_ref(),
        saved: saved.as_ref(),
        apart: None,
        change,
    };
    let sentence = words::sentence(said, terms.margin, subject);
    let word = words::word(&verdict, change);
    Judged { comparison, rank, findings, verdict, word, saved, sentence }
}

fn of_comparison(comparison: &Comparison, both: &Unpaired) -> Vec<Finding> {
    let disagree = both
        .tests_disagree()
        .then_some(Finding::TestsDisagree { welch_p: both.welch_p, rank_p: both.rank.p });
    let mut found: Vec<Finding> = disagree.into_iter().collect();
    found.push(Finding::NotBlocked);
    found.extend(validity::out_of_reach(comparison));
    found
}
