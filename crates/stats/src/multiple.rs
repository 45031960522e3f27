//! Several tests at once: what each p is worth among the others.
//!
//! Six comparisons of equal things at 5 % call at least one difference in 23 % of cases, a hundred
//! nearly always. [`Kind::Holm`] keeps the chance of *any* false difference at the level asked for
//! (Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979)):
//! right for a few variants. [`Kind::FalseDiscovery`] keeps the expected *share* of false ones among
//! the differences called (Benjamini and Hochberg, "Controlling the false discovery rate", J. Roy.
//! Stat. Soc. B 57 (1995), valid for independent and positively dependent tests: Benjamini and
//! Yekutieli 2001): right for a list of many benchmarks. Intervals go with either: those of the
//! differences called have the level of their step (for the false discovery rate: Benjamini and
//! Yekutieli, "False discovery rate-adjusted multiple confidence intervals", J. Am. Stat. Assoc. 100
//! (2005)).

use serde::{Deserialize, Serialize};

/// What is kept at the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The chance of any false difference.
    Holm,
    /// The expected share of false ones among the differences called.
    FalseDiscovery,
    /// The chance of any false difference, with the same share for each: for questions that are
    /// answered one by one, such as the traffics of a campaign.
    Bonferroni,
}

/// A correction for several comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// Which one.
    pub kind: Kind,
    /// How many comparisons share the level.
    pub among: usize,
}

/// What a correction makes of one p.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The adjusted p: at most alpha exactly when the difference is called.
    pub p: f64,
    /// The chance of error left to this comparison's interval: the plain p is at most this exactly
    /// when the adjusted one is at most alpha.
    pub alpha: f64,
}

impl Correction {
    /// The correction in a few words.
    pub fn describe(&self) -> String {
        let among = self.among;
        match self.kind {
            Kind::Holm => format!("Holm's correction for {among} comparisons"),
            Kind::FalseDiscovery => {
                format!("false discovery rate over {among} comparisons (Benjamini-Hochberg)")
            }
            Kind::Bonferroni => format!("Bonferroni's correction for {among} comparisons"),
        }
    }

    /// Adjusted p and level of every comparison, in their order. `alpha` is the chance (or share) of
    /// error for all of them.
    pub fn steps(&self, p: &[f64], alpha: f64) -> Vec<Step> {
        let adjusted = match self.kind {
            Kind::Holm => holm(p),
            Kind::FalseDiscovery => benjamini_hochberg(p),
            Kind::Bonferroni => p.iter().map(|own| (own * p.len() as f64).min(1.0)).collect(),
        };
        let called = adjusted.iter().filter(|p| **p <= alpha).count();
        let count = p.len().max(1) as f64;
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
        let mut steps: Vec<Step> = adjusted.iter().map(|p| Step { p: *p, alpha }).collect();
        for (rank, i) in order.into_iter().enumerate() {
            steps[i].alpha = match self.kind {
                // the step at which Holm stops is that of all that follow
                Kind::Holm => alpha / (count - rank.min(called) as f64).max(1.0),
                Kind::FalseDiscovery => alpha * called.max(1) as f64 / count,
                Kind::Bonferroni => alpha / count,
            };
        }
        steps
    }
}

/// Holm's adjusted p, in the order of `p`: at most alpha exactly for those that his step-down
/// procedure rejects at alpha.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0f64;
    for (rank, i) in order.into_iter().enumerate() {
        largest = largest.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p (their q), in the order of `p`: at most alpha exactly for
/// those that their step-up procedure rejects at alpha.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*b].total_cmp(&p[*a]));
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest = 1.0f64;
    for (from_last, i) in order.into_iter().enumerate() {
        let rank = (p.len() - from_last) as f64;
        // a quotient of equal counts may still round
        smallest = smallest.min((p[i] * p.len() as f64 / rank).max(p[i]));
        adjusted[i] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-9, "{got} for {want}");
        }
    }

    /// Benjamini and Hochberg (1995), table of 15 p values from a study of thrombolysis: at 5 % four
    /// are rejected, by Holm three.
    const THROMBOLYSIS: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0000,
    ];

    #[test]
    fn the_published_example_rejects_four_and_three() {
        let called = |p: Vec<f64>| p.into_iter().filter(|p| *p <= 0.05).count();
        assert_eq!(called(benjamini_hochberg(&THROMBOLYSIS)), 4);
        assert_eq!(called(holm(&THROMBOLYSIS)), 3);
    }

    #[test]
    fn adjusted_p_of_a_worked_example() {
        close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(&benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]), &[0.02, 0.04, 0.04, 0.02]);
        close(&holm(&[]), &[]);
        close(&benjamini_hochberg(&[]), &[]);
    }

    proptest! {
        #[test]
        fn the_plain_p_reaches_its_step_exactly_when_the_adjusted_one_reaches_alpha(
            p in prop::collection::vec(prop_oneof![0.0..1.0f64, 0.0..0.02f64], 0..12),
            is_holm: bool,
        ) {
            let kind = if is_holm { Kind::Holm } else { Kind::FalseDiscovery };
            let steps = Correction { kind, among: p.len() }.steps(&p, 0.05);
            for (p, step) in p.iter().zip(&steps) {
                prop_assert!(step.p >= *p && step.p <= 1.0);
                prop_assert_eq!(*p <= step.alpha, step.p <= 0.05, "{} {:?}", p, step);
            }
        }
    }
}
