//! `--fail-on`: whether verdicts let a change pass.

use std::path::Path;
use std::process::ExitCode;

use fwdlab_compare::{self as compare, Compared, Group, Judgement, Options, Series};
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Confidence, Verdict, plural};

/// The exit code of a gate that could not tell.
const UNTOLD: u8 = 4;

/// The confidence of a gate against slower variants; docs/calibration.md has its errors.
const OF_GATES: f64 = 0.999;

/// Verdicts that can fail a run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A variant is slower
    Slower,
    /// A comparison is invalid
    Invalid,
    /// A comparison is undecided
    Inconclusive,
}

impl FailOn {
    fn is_met(self, verdict: &Verdict) -> bool {
        match self {
            Self::Slower => matches!(verdict, Verdict::Slower { .. }),
            Self::Invalid => matches!(verdict, Verdict::Invalid { .. }),
            Self::Inconclusive => matches!(verdict, Verdict::Inconclusive { .. }),
        }
    }

    /// Whether a verdict leaves open whether it would be met.
    fn is_open(self, judgement: &Judgement) -> bool {
        let is_invalid = matches!(judgement.verdict, Verdict::Invalid { .. });
        let is_undecided = matches!(judgement.verdict, Verdict::Inconclusive { .. });
        match self {
            Self::Slower => is_invalid || is_undecided && !too_few(judgement).is_empty(),
            Self::Inconclusive => is_invalid,
            Self::Invalid => false,
        }
    }
}

/// A judgement with the group that it is of.
#[derive(Clone, Copy)]
struct Own<'a> {
    group: &'a Group,
    judgement: &'a Judgement,
}

impl Own<'_> {
    /// Whether both sides are the same thing under two names, of which no verdict tells anything.
    fn is_same(self) -> bool {
        let is_named = |own: &Finding| matches!(own, Finding::NothingDiffers { .. });
        self.judgement.findings.iter().any(is_named) || self.is_copy()
    }

    /// What makes "faster" a guess: where nothing says which way is better it may as well be slower.
    fn guessed(self) -> Option<&'static str> {
        let is_faster = matches!(self.judgement.verdict, Verdict::Faster { .. });
        let is_it = |own: &&Finding| matches!(own, Finding::DirectionUnsaid { .. });
        self.judgement.findings.iter().find(is_it).filter(|_| is_faster).map(Finding::remedy)
    }

    /// Whether the values of both sides are the same to the last digit, and vary: a file beside itself or
    /// its copy. Counts of instructions repeat themselves: campaigns that prove that nothing changed do.
    fn is_copy(self) -> bool {
        let [first, others @ ..] = &self.group.series[..] else { return false };
        let is_it = |own: &&Series| own.name == self.judgement.variant;
        let Some(other) = others.iter().find(is_it) else { return false };
        let varies = first.values.windows(2).any(|pair| pair[0] != pair[1]);
        let are_files = [first, other].iter().all(|own| Path::new(&own.source).is_file());
        varies && first.values == other.values && (are_files || !is_no_worse(self.judgement))
    }
}

/// Too few runs, blocks or campaigns to name a winner at the level asked for, whatever they show, or
/// none that there could be.
fn too_few(judgement: &Judgement) -> Vec<Finding> {
    let is_one = |own: &&Finding| {
        use Finding::{FewCampaigns, NothingDiffers, OutOfReach};
        matches!(own, OutOfReach { .. } | FewCampaigns { .. } | NothingDiffers { .. })
    };
    let mut found: Vec<Finding> = judgement.findings.iter().filter(is_one).cloned().collect();
    if found.is_empty() {
        let own = judgement.comparison.as_ref();
        found.extend(own.and_then(validity::out_of_reach));
    }
    found
}

/// What a gate comes to, the gravest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gated {
    /// No verdict is one of those asked for.
    Passed,
    /// A comparison could not show it, whatever was measured.
    Untold,
    /// A verdict is.
    Failed,
}

impl Gated {
    /// The exit code.
    pub fn code(self) -> ExitCode {
        match self {
            Self::Passed => ExitCode::SUCCESS,
            Self::Untold => ExitCode::from(UNTOLD),
            Self::Failed => ExitCode::FAILURE,
        }
    }
}

/// The confidence where none is asked for.
pub fn usual(fail_on: &[FailOn]) -> Confidence {
    let of_gates = Confidence::new(OF_GATES).unwrap_or_default();
    if fail_on.contains(&FailOn::Slower) { of_gates } else { Confidence::USUAL }
}

/// What was compared by `options`, against what a run must not come to. Says on stderr why it does not
/// pass: stdout is a file in many jobs.
pub fn outcome(compared: &Compared, options: &Options, fail_on: &[FailOn]) -> Gated {
    let all: Vec<Own<'_>> = judgements(compared).collect();
    let is_met = |own: &Own<'_>| fail_on.iter().any(|asked| asked.is_met(&own.judgement.verdict));
    let met: Vec<&Own<'_>> = all.iter().filter(|own| is_met(own)).collect();
    if let Some(first) = met.first() {
        fwdlab_guard::say!(
            "--fail-on is met in {} of {}; the first: {}",
            met.len(),
            plural(all.len(), "comparison"),
            first.judgement.sentence
        );
        return Gated::Failed;
    }
    if let Some(lost) = compared.left_out.iter().find(|own| own.is_lost && !fail_on.is_empty()) {
        fwdlab_guard::say!("--fail-on could not tell: {lost}; measure it on both sides");
        return Gated::Untold;
    }
    let is_guessed = |own: &Own<'_>| fail_on.contains(&FailOn::Slower) && own.guessed().is_some();
    let is_open = |own: &Own<'_>| {
        !fail_on.is_empty() && own.is_same()
            || is_guessed(own)
            || fail_on.iter().any(|asked| asked.is_open(own.judgement))
    };
    if !all.iter().any(is_open) {
        return Gated::Passed;
    }
    let calmer = calmer(options);
    let calm: Vec<Own<'_>> = calmer.iter().flat_map(judgements).collect();
    let open: Vec<&Own<'_>> = (0..)
        .zip(&all)
        .filter(|(at, own)| {
            let is_calm = calm.get(*at).is_some_and(|calm| is_no_worse(calm.judgement));
            is_open(own) && (own.is_same() || is_guessed(own) || !is_calm)
        })
        .map(|(_, own)| own)
        .collect();
    let Some(first) = open.first() else { return Gated::Passed };
    fwdlab_guard::say!(
        "--fail-on could not tell in {} of {}; the first: {}",
        open.len(),
        plural(all.len(), "comparison"),
        first.judgement.sentence
    );
    if first.is_copy() {
        fwdlab_guard::say!(
            "  every value of {} is that of {}: one measurement beside itself; name what was measured after \
             the change",
            first.judgement.variant,
            first.judgement.baseline
        );
    }
    if let Some(remedy) = first.guessed() {
        fwdlab_guard::say!("  nothing says which way is better: {remedy}");
    }
    for finding in &too_few(first.judgement) {
        fwdlab_guard::say!("  {finding}: {}", finding.remedy());
    }
    Gated::Untold
}

fn judgements(compared: &Compared) -> impl Iterator<Item = Own<'_>> {
    let own = |group| move |judgement| Own { group, judgement };
    compared.groups.iter().flat_map(move |group| group.judgements.iter().map(own(group)))
}

/// The same at the usual confidence. A campaign that ran until it was decided there may be too short
/// for more, and still have shown that nothing became slower.
fn calmer(options: &Options) -> Option<Compared> {
    let is_piped = options.sources.iter().any(|path| path.as_os_str() == "-");
    if is_piped || options.confidence <= Confidence::USUAL {
        return None;
    }
    let options = Options { confidence: Confidence::USUAL, ..options.clone() };
    compare::compare(&options, &mut std::io::empty()).ok()
}

fn is_no_worse(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Equivalent | Verdict::Faster { .. })
}

/// What the verdicts of results come to at the end of their run.
///
/// # Errors
/// When the results cannot be compared.
pub fn of_results(dir: &Path, fail_on: &[FailOn]) -> anyhow::Result<Gated> {
    if fail_on.is_empty() {
        return Ok(Gated::Passed);
    }
    let options =
        Options { sources: vec![dir.to_owned()], confidence: usual(fail_on), ..Options::default() };
    let compared = compare::compare(&options, &mut std::io::empty())?;
    Ok(outcome(&compared, &options, fail_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_against_slower_variants_asks_for_more() {
        assert_eq!(usual(&[FailOn::Invalid]), Confidence::USUAL);
        assert!((usual(&[FailOn::Invalid, FailOn::Slower]).percent() - 99.9).abs() < 1e-9);
    }

    #[test]
    fn the_gravest_of_several_counts() {
        assert!(Gated::Passed < Gated::Untold && Gated::Untold < Gated::Failed);
    }
}
