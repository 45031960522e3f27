//! The lab's own truths: comparisons whose answer is known, hidden among the trials of a campaign.
//!
//! The baseline runs once more as if it were a variant, and once more with a slowdown of known size.
//! Both are judged by the code that judges variants; what counts is whether the 95 % interval holds the
//! truth. Over all campaigns of a machine that is evidence for or against the claim that intervals do so
//! in 95 of 100, and verdicts are withheld when it is refuted ([`fwdlab_stats::coverage`]).

use std::collections::BTreeMap;

use fwdlab_stats::validity::Finding;
use fwdlab_stats::{Comparison, Confidence, Effect, coverage, model};
use serde::Serialize;

use crate::blocks::{LEAST_BLOCKS, bears};
use fwdlab_results::{Calibration, Metric, Results, Trial, Truth, TruthKind};

/// What a trial of that kind sets beside the baseline's words.
pub fn extra(calibration: &Calibration, kind: TruthKind) -> BTreeMap<String, String> {
    let word = calibration.slow_word.clone().filter(|_| kind == TruthKind::Slower);
    word.map(|word| (word, calibration.slow_ns.to_string())).into_iter().collect()
}

/// How a campaign came out against what it knows, and those before it on the same machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proven {
    /// The truths of this campaign that enough blocks tell.
    pub truths: Vec<TruthClaim>,
    /// Truths of earlier campaigns in their intervals.
    pub earlier_held: usize,
    /// All of them.
    pub earlier: usize,
    /// Evidence against "intervals hold the truth in at least 95 %", all campaigns together; the claim
    /// is given up at 20.
    pub e: f64,
}

/// One truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TruthClaim {
    /// With which traffic.
    pub traffic: String,
    /// What the baseline is compared with.
    pub kind: TruthKind,
    /// Ids of the trials compared: baseline, known.
    pub pairs: Vec<[String; 2]>,
    /// The effect that is known.
    pub truth: Effect,
    /// What the trials say.
    pub comparison: Comparison,
    /// Whether the 95 % interval holds the truth.
    pub is_held: bool,
}

impl Proven {
    /// What `results` say; `None` when they have no trials for it.
    pub fn of(results: &Results) -> Option<Self> {
        let calibration = results.campaign.calibration.as_ref()?;
        let truths: Vec<TruthClaim> = calibration
            .truths
            .iter()
            .filter_map(|truth| TruthClaim::of(truth, calibration, results))
            .collect();
        let earlier = results.finished.iter().flat_map(|end| end.earlier_truths.chars());
        let earlier: Vec<bool> = earlier.map(|held| held == '1').collect();
        let all: Vec<bool> =
            earlier.iter().copied().chain(truths.iter().map(|truth| truth.is_held)).collect();
        Some(Self {
            truths,
            earlier_held: earlier.iter().filter(|held| **held).count(),
            earlier: earlier.len(),
            e: coverage::evidence(&all),
        })
    }

    /// Truths of this campaign in their intervals.
    pub fn held(&self) -> usize {
        self.truths.iter().filter(|truth| truth.is_held).count()
    }

    /// Whether the lab is not to be believed.
    pub fn is_broken(&self) -> bool {
        self.e >= coverage::BROKEN
    }

    /// Why no verdict is given, if that is so.
    pub fn finding(&self) -> Option<Finding> {
        let (held, of) = (self.held() + self.earlier_held, self.truths.len() + self.earlier);
        self.is_broken().then_some(Finding::TruthsMissed { held, of, e: self.e })
    }
}

impl TruthClaim {
    fn of(truth: &Truth, calibration: &Calibration, results: &Results) -> Option<Self> {
        let campaign = &results.campaign;
        let own = results.known.iter().filter(|trial| {
            trial.variant == truth.kind.variant() && trial.traffic == truth.traffic && bears(trial)
        });
        let baseline = results.trials_of(&campaign.baseline, &truth.traffic);
        let pair = |known: &'_ Trial| {
            let of = |b: &&&Trial| b.block == known.block && bears(b);
            baseline.iter().find(of).map(|b| (*b).clone()).zip(Some(known.clone()))
        };
        let mut pairs: Vec<(Trial, Trial)> = own.filter_map(pair).collect();
        pairs.sort_by_key(|(b, _)| b.block);
        if pairs.len() < LEAST_BLOCKS as usize {
            return None;
        }
        let metric = match truth.kind {
            TruthKind::Same => Metric::deciding(pairs.iter().flat_map(|(b, v)| [b, v])),
            TruthKind::Slower => Metric::Cost,
        };
        let figures: Option<Vec<Vec<f64>>> =
            pairs.iter().map(|(b, v)| Some(vec![metric.of(b)?, metric.of(v)?])).collect();
        let figures = figures?;
        let gains = figures.iter().map(|row| match truth.kind {
            TruthKind::Same => 0.0,
            TruthKind::Slower => metric.direction().log_gain(row[0], row[0] + calibration.slow_ns),
        });
        let known = gains.sum::<f64>() / figures.len() as f64;
        let compared = model::compare_at(&figures, metric.direction(), Confidence::USUAL).ok()?;
        let comparison = compared.into_iter().next()?;
        let interval = comparison.interval95;
        Some(Self {
            traffic: truth.traffic.clone(),
            kind: truth.kind,
            pairs: pairs.into_iter().map(|(b, v)| [b.id, v.id]).collect(),
            truth: Effect::from_ln(known),
            is_held: interval.low.ln() <= known && known <= interval.high.ln(),
            comparison,
        })
    }
}

#[cfg(test)]
mod tests {
    use fwdlab_results::examples;

    use super::*;

    /// Eight blocks of the baseline at about 100 ns, with each truth in four of them at `same` and
    /// `slower` times that.
    fn results(same: f64, slower: f64, earlier: &str) -> Results {
        let mut campaign = examples::campaign();
        let truth = |kind| Truth { traffic: "inet".to_owned(), kind };
        campaign.calibration = Some(Calibration {
            share: 0.2,
            slow_word: Some("word".to_owned()),
            slow_ns: 5.0,
            truths: vec![truth(TruthKind::Same), truth(TruthKind::Slower)],
        });
        let trial = |block: u32, variant: &str, factor: f64| {
            let mut trial = examples::trial(0);
            let noise = [0.2, -0.3, 0.1, 0.4, -0.2, 0.0, 0.3, -0.1][block as usize - 1];
            (trial.block, trial.variant) = (block, variant.to_owned());
            trial.id = format!("b{block:02}-inet-{variant}");
            let own = if variant == "radix" { 0.0 } else { noise * 0.8 };
            let ns = (1e5 * factor * (1.0 + (noise + own) / 100.0)) as u64;
            let busy = Some(fwdlab_results::Busy { ns, frames: 1000 });
            trial.measured.busy = busy;
            for interval in &mut trial.measured.intervals {
                (interval.busy, interval.rx) = (busy, 1000);
            }
            trial.limited_by = fwdlab_results::LimitedBy::Generator;
            trial
        };
        let known = (1..=8).map(|block| match block % 2 {
            0 => trial(block, "~same", same),
            _ => trial(block, "~slower", slower),
        });
        Results {
            dir: "nowhere".into(),
            campaign,
            trials: (1..=8).map(|block| trial(block, "radix", 1.0)).collect(),
            known: known.collect(),
            sequence: Vec::new(),
            repeated: Vec::new(),
            resumed: Vec::new(),
            finished: Some(fwdlab_results::Finished {
                at: String::new(),
                stopped: String::new(),
                earlier_truths: earlier.to_owned(),
            }),
            is_torn: false,
            changed: None,
        }
    }

    #[test]
    fn truths_in_their_intervals_are_held_and_others_are_not() {
        let good = Proven::of(&results(1.0, 1.05, "1101")).expect("trials");
        assert_eq!((good.truths.len(), good.held()), (2, 2), "{good:?}");
        assert_eq!((good.earlier_held, good.earlier), (3, 4));
        assert!(good.finding().is_none() && good.e < coverage::BROKEN);
        assert_eq!(good.truths[0].pairs[0], ["b02-inet-radix", "b02-inet-~same"]);
        assert!((good.truths[1].truth.ratio() - 100.0 / 105.0).abs() < 1e-3);
        let bent = Proven::of(&results(1.1, 1.05, "")).expect("trials");
        assert_eq!(bent.held(), 1, "{bent:?}");
        assert!(bent.finding().is_none(), "one miss is no proof");
    }

    #[test]
    fn verdicts_are_withheld_when_the_machine_misses_its_truths() {
        let finding = Proven::of(&results(1.1, 1.3, "1111100")).expect("trials").finding();
        let Some(Finding::TruthsMissed { held, of, e }) = finding else { panic!("{finding:?}") };
        assert_eq!((held, of), (5, 9));
        assert!(e >= coverage::BROKEN, "{e}");
    }

    #[test]
    fn what_is_slowed_down_says_so_in_its_settings() {
        let calibration = results(1.0, 1.0, "").campaign.calibration.expect("one");
        assert!(extra(&calibration, TruthKind::Same).is_empty());
        assert_eq!(extra(&calibration, TruthKind::Slower)["word"], "5");
        let without = Calibration { slow_word: None, ..calibration };
        assert!(extra(&without, TruthKind::Slower).is_empty());
    }

    #[test]
    fn a_campaign_without_such_trials_or_with_too_few_says_nothing() {
        let mut none = results(1.0, 1.05, "");
        none.known.truncate(6);
        assert_eq!(Proven::of(&none).expect("trials").truths, []);
        none.campaign.calibration = None;
        assert_eq!(Proven::of(&none), None);
    }
}
