//! Makes the claims of a report from the results.

use std::collections::BTreeMap;

use super::{Cell, Claims, Failure, Progress, SCHEMA, Spread, VerdictClaim, Warning, badges};
use crate::judge::{Judgement, by_weight, judge, lost_shares};
use crate::known::Proven;
use crate::setting::Setting;
use crate::words::family;
use fwdlab_results::units;
use fwdlab_results::{Blame, FailureKind, LimitedBy, Metric, Results, Trial};
use fwdlab_stats::median;
use fwdlab_stats::validity::loss_in_bursts;

/// States what the results say.
pub fn build(results: &Results, setting: Setting) -> Claims {
    let campaign = &results.campaign;
    let mut cells = Vec::new();
    let mut verdicts = Vec::new();
    for traffic in &campaign.traffics {
        // published campaigns did not run every variant with every traffic
        let has_run = |variant: &str| {
            campaign.is_blocked() || !results.trials_of(variant, traffic).is_empty()
        };
        let ran = campaign.variants.iter().filter(|variant| has_run(variant.as_str()));
        cells.extend(ran.map(|variant| cell(results, traffic, variant)));
        let judged = judge(results, traffic, &setting).into_iter();
        let judged = judged.filter(|j| has_run(j.variant) && has_run(&campaign.baseline));
        verdicts.extend(judged.map(|j| verdict(results, traffic, j)));
    }
    let mut claims = Claims {
        schema: SCHEMA,
        title: campaign.title.clone(),
        progress: progress(results),
        proven: Proven::of(results),
        warnings: warnings(results, &setting),
        setting,
        verdicts,
        badges: Vec::new(),
        cells,
    };
    claims.badges = badges::badges(results, &claims);
    claims
}

fn progress(results: &Results) -> Progress {
    let campaign = &results.campaign;
    let blocks = results.planned_blocks();
    let planned = if !campaign.is_blocked() {
        results.trials.len()
    } else {
        blocks * campaign.variants.len() * campaign.traffics.len()
    };
    Progress {
        started: campaign.started.clone(),
        finished: results.finished.as_ref().map(|f| f.at.clone()),
        stopped: results.finished.as_ref().map(|f| f.stopped.clone()),
        planned,
        recorded: results.trials.len(),
        kept: results.trials.iter().filter(|t| t.is_ok()).count(),
        blocks,
    }
}

fn cell(results: &Results, traffic: &str, variant: &str) -> Cell {
    let trials = results.trials_of(variant, traffic);
    let (kept, failed): (Vec<&Trial>, Vec<&Trial>) = trials.iter().partition(|t| t.is_ok());
    // What was read back in FAILED trials stands for it where there are no others: it may say why.
    let mut answering = if kept.is_empty() { failed.clone() } else { kept.clone() };
    answering.retain(|trial| trial.is_ok() || !trial.measured.proof.is_empty());
    let mut limited_by = BTreeMap::new();
    for trial in &kept {
        *limited_by.entry(limit_name(trial.limited_by)).or_insert(0) += 1;
    }
    Cell {
        traffic: traffic.to_owned(),
        family: family(results, traffic),
        frame_bytes: trials.first().map(|t| t.frame_bytes),
        variant: variant.to_owned(),
        is_baseline: variant == results.campaign.baseline,
        planned: if !results.campaign.is_blocked() {
            trials.len()
        } else {
            results.planned_blocks()
        },
        kept: kept.iter().map(|t| t.id.clone()).collect(),
        failed: failed.iter().map(|t| failure(t)).collect(),
        rate: Spread::of_trials(&kept, Metric::Rate),
        whole_rate: whole_rate(&kept),
        cost: Spread::of_trials(&kept, Metric::Cost),
        own: Metric::own(kept.iter().copied()).and_then(|own| Spread::of_trials(&kept, own)),
        limited_by,
        sent: kept.iter().map(|t| t.measured.sent).sum(),
        received: kept.iter().map(|t| t.measured.received).sum(),
        drops: drops(&kept),
        proof: common_proof(&answering),
        idle_share: kept.iter().filter_map(|t| t.measured.idle_share).reduce(f64::max),
    }
}

/// The median over some trials of all that came in their steady windows, in frames/s, where frames were lost in bursts.
fn whole_rate(kept: &[&Trial]) -> Option<f64> {
    let shares: Vec<_> = kept.iter().map(|trial| lost_shares(trial)).collect();
    loss_in_bursts(&shares)?;
    let of = |trial: &&Trial| {
        let steady = trial.steady_intervals();
        let seconds = steady.iter().map(|own| own.ms).sum::<f64>() / 1e3;
        let came = steady.iter().map(|own| own.rx).fold(0, u64::saturating_add);
        (seconds > 0.0).then(|| came as f64 / seconds)
    };
    let rates: Vec<f64> = kept.iter().filter_map(of).collect();
    (!rates.is_empty()).then(|| median(&rates))
}

/// What the device dropped in all trials together; nothing when one did not count it.
fn drops(trials: &[&Trial]) -> Option<BTreeMap<String, u64>> {
    let mut sums = BTreeMap::new();
    for trial in trials {
        for (reason, n) in trial.measured.drops.as_ref()?.iter().filter(|(_, n)| **n > 0) {
            *sums.entry(reason.clone()).or_insert(0) += n;
        }
    }
    Some(sums)
}

/// The name of what bounded a trial, as the journal has it.
pub(super) const fn limit_name(limit: LimitedBy) -> &'static str {
    match limit {
        LimitedBy::Device => "device",
        LimitedBy::Generator => "generator",
        LimitedBy::Load => "load",
        LimitedBy::Core => "core",
    }
}

fn failure(trial: &Trial) -> Failure {
    let reason = trial.reason.clone().unwrap_or_else(|| "no reason recorded".to_owned());
    Failure { trial: trial.id.clone(), reason }
}

/// The settings that every trial read back with the same value.
fn common_proof(trials: &[&Trial]) -> BTreeMap<String, String> {
    let Some((first, rest)) = trials.split_first() else { return BTreeMap::new() };
    let is_common = |(key, value): &(&String, &String)| {
        rest.iter().all(|t| t.measured.proof.get(*key) == Some(*value))
    };
    first.measured.proof.iter().filter(is_common).map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn verdict(results: &Results, traffic: &str, judgement: Judgement<'_>) -> VerdictClaim {
    let baseline = &results.campaign.baseline;
    let ids = judgement.sides.each_ref().map(|side| side.iter().map(|t| t.id.clone()).collect());
    let [b, v]: &[Vec<String>; 2] = &ids;
    let is_blocked = results.campaign.is_blocked();
    let pairs = || b.iter().cloned().zip(v.iter().cloned()).map(<[String; 2]>::from).collect();
    VerdictClaim {
        traffic: traffic.to_owned(),
        family: family(results, traffic),
        variant: judgement.variant.to_owned(),
        baseline: baseline.clone(),
        margin: results.campaign.margin,
        metric: judgement.metric.name(),
        tick: results.campaign.tick(),
        bounded: judgement.bounded,
        pairs: if is_blocked { pairs() } else { Vec::new() },
        runs: (!is_blocked).then(|| ids.clone()),
        findings: by_weight(judgement.findings),
        verdict: judgement.verdict,
        rate: judgement.rate,
        own: judgement.own,
        cost: judgement.cost,
        rank: judgement.rank,
        next: judgement.next,
        saved: judgement.saved,
        apart: judgement.apart,
        sentence: judgement.sentence,
    }
}

/// Doubts of single trials, the same text once with all its trials; then
/// those of the campaign.
fn warnings(results: &Results, setting: &Setting) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for trial in &results.trials {
        for text in &trial.measured.warnings {
            match found.iter_mut().find(|w| w.text == *text) {
                Some(warning) => warning.trials.push(trial.id.clone()),
                None => found.push(Warning { text: text.clone(), trials: vec![trial.id.clone()] }),
            }
        }
    }
    found.extend(failures_of_devices(results));
    let is_known = setting.is_blocked;
    // A trial that FAILED before its traffic began says nothing about cores.
    let has_run = |t: &Trial| t.is_ok() || !t.measured.intervals.is_empty();
    let is_pinned = |t: &Trial| t.measured.environment.pinned;
    let unpinned = results.trials.iter().filter(|t| is_known && has_run(t) && !is_pinned(t));
    let unpinned: Vec<String> = unpinned.map(|t| t.id.clone()).collect();
    if !unpinned.is_empty() {
        let text = "tester and device were not pinned to cores of their own".to_owned();
        found.push(Warning { text, trials: unpinned });
    }
    if setting.environment.as_ref().is_some_and(|e| e.fwdlab.profile == "debug") {
        let text = "measured with a debug build of fwdlab, whose figures mean little; \
                    build it with --release and run again";
        found.push(Warning { text: text.to_owned(), trials: Vec::new() });
    }
    found.extend(mixed(results));
    if results.is_torn {
        let text = torn(results.finished.is_some()).to_owned();
        found.push(Warning { text, trials: Vec::new() });
    }
    if results.finished.is_none() {
        let text = format!(
            "the campaign is unfinished: {} of {} trials are recorded; run the same command again to go on",
            results.trials.len(),
            results.campaign.trials.len()
        );
        found.push(Warning { text, trials: Vec::new() });
    }
    found
}

/// Hangs, panics and reboots of the device are findings about a variant, also where the trial was tried
/// again and went well.
fn failures_of_devices(results: &Results) -> Vec<Warning> {
    let mut counts: BTreeMap<(&str, FailureKind), Vec<String>> = BTreeMap::new();
    for trial in results.trials.iter().chain(&results.repeated) {
        if let Some(failure) = &trial.failure
            && failure.kind.blame() == Blame::Device
        {
            let ids = counts.entry((trial.variant.as_str(), failure.kind)).or_default();
            ids.push(trial.id.clone());
        }
    }
    let warning = |((variant, kind), mut ids): ((&str, FailureKind), Vec<String>)| {
        let text =
            format!("{variant}: the device failed {}: {kind}", units::plural(ids.len(), "time"));
        // An attempt of a trial that has not ended yet has no trial to name.
        ids.retain(|id| results.trials.iter().any(|trial| trial.id == *id));
        ids.dedup();
        Warning { text, trials: ids }
    };
    counts.into_iter().map(warning).collect()
}

/// Runs that went on with the campaign on another machine, kernel or build, with their trials: those until the next
/// such record, which may be of the first machine again.
fn mixed(results: &Results) -> impl Iterator<Item = Warning> + '_ {
    let changed = results.resumed.iter().enumerate().filter(|(_, own)| !own.differences.is_empty());
    changed.map(|(place, resumed)| {
        let next = results.resumed.get(place + 1);
        let is_of_it = |started: &String| {
            *started >= resumed.at && next.is_none_or(|next| *started < next.at)
        };
        let own = results.trials.iter().filter(|trial| trial.started.as_ref().is_some_and(is_of_it));
        let text = format!(
            "the run that went on at {} was not on what the first trials ran on ({}); within a block, a comparison \
             across the two is one of machines, too",
            resumed.at,
            resumed.differences.join("; ")
        );
        Warning { text, trials: own.map(|trial| trial.id.clone()).collect() }
    })
}

/// What a last line that was cut short means. A finished campaign is not gone on with, and lacks no trial.
fn torn(is_finished: bool) -> &'static str {
    match is_finished {
        true => {
            "the last line of trials.jsonl, behind the end of the campaign, is cut short and left out: \
             no trial of the campaign is in it"
        }
        false => {
            "the last line of trials.jsonl is cut short: its trial counts as not run; \
             run the same command again to go on"
        }
    }
}
