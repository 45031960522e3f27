//! One change measured on several machines: what it does in general, and on the next machine.
//!
//! Machines differ, so each has an effect of its own around a common mean: a
//! [random effect](crate::random_effects). Where the next machine's lies is said by the prediction
//! interval of Higgins, Thompson and Spiegelhalter (J. Roy. Stat. Soc. A 172 (2009)), with k - 2
//! degrees of freedom: with few machines it is as wide as it has to be, and with two there is none.
//!
//! A machine's figure may come from a page that gives means and standard deviations only: the log ratio
//! of the means and its error by the delta method (Hedges, Gurevitch and Curtis, "The meta-analysis of
//! response ratios in experimental ecology", Ecology 80 (1999)).

use crate::Error;
use crate::comparison::{Confidence, ConfidenceInterval};
use crate::distribution::t_critical;
use crate::effect::Effect;
use crate::random_effects::{RandomEffects, same_p};

/// Machines below which nothing is said about the next one.
const LEAST_FOR_NEXT: usize = 3;

/// Runs of one side, as published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Runs {
    /// How many.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
}

/// What one machine says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The ratio of speeds.
    pub effect: Effect,
    /// Standard error of its logarithm.
    pub error: f64,
}

impl Figure {
    /// From the rates of two sides.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for a mean that is none, [`Error::NotFinite`] for a standard deviation
    /// that is none, [`Error::TooFew`] below two runs of a side.
    pub fn of_runs(baseline: Runs, variant: Runs) -> Result<Self, Error> {
        let mut square = 0.0;
        for (side, runs) in [("baseline", baseline), ("variant", variant)] {
            if !(runs.mean.is_finite() && runs.mean > 0.0) {
                return Err(Error::NotPositive { side, index: 0, value: runs.mean });
            }
            if !(runs.sd.is_finite() && runs.sd >= 0.0) {
                return Err(Error::NotFinite { index: 0, value: runs.sd });
            }
            if runs.n < 2 {
                return Err(Error::TooFew { what: "the spread of runs", got: runs.n, need: 2 });
            }
            square += (runs.sd / runs.mean).powi(2) / runs.n as f64;
        }
        Ok(Self { effect: Effect::from_ratio(variant.mean / baseline.mean), error: square.sqrt() })
    }
}

/// Several machines together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthesis {
    /// The mean effect over machines like these.
    pub estimate: Effect,
    /// Where that mean lies.
    pub interval: ConfidenceInterval,
    /// Where the effect on the next machine lies; `None` for fewer than three machines.
    pub next: Option<ConfidenceInterval>,
    /// Standard deviation between machines, of log ratios.
    pub between: f64,
    /// p of "the effect is the same on all machines".
    pub same_p: f64,
}

/// Puts machines together.
///
/// # Errors
/// [`Error::TooFew`] below two, [`Error::NotFinite`] for a figure that is no number.
pub fn synthesis(figures: &[Figure], confidence: Confidence) -> Result<Synthesis, Error> {
    if figures.len() < 2 {
        return Err(Error::TooFew { what: "a summary of machines", got: figures.len(), need: 2 });
    }
    let is_bad = |figure: &Figure| !(figure.effect.ln().is_finite() && figure.error.is_finite());
    if let Some(index) = figures.iter().position(is_bad) {
        return Err(Error::NotFinite { index, value: f64::NAN });
    }
    let logs: Vec<f64> = figures.iter().map(|figure| figure.effect.ln()).collect();
    let squares: Vec<f64> = figures.iter().map(|figure| figure.error.powi(2)).collect();
    let effects = RandomEffects::of(&logs, &squares);
    let t = |degrees: usize| t_critical(confidence.share(), degrees as f64);
    let around = |half: f64| ConfidenceInterval::around_ln(effects.mean, half);
    let next_error = (effects.between + effects.error.powi(2)).sqrt();
    Ok(Synthesis {
        estimate: Effect::from_ln(effects.mean),
        interval: around(t(figures.len() - 1) * effects.error),
        next: (figures.len() >= LEAST_FOR_NEXT).then(|| around(t(figures.len() - 2) * next_error)),
        between: effects.between.sqrt(),
        same_p: same_p(&logs, &squares),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_effects::tests::BCG;

    fn near(got: f64, wanted: f64, within: f64) {
        assert!((got - wanted).abs() <= within, "{got} is not {wanted}");
    }

    /// The BCG trials at Paule and Mandel's tau^2 of 0.318, by hand: weights 1 / (v + 0.318) sum to
    /// 30.59, so the mean has a standard error of 0.1808, which the factor of Hartung and Knapp (1 at
    /// this tau^2) leaves; t is 2.1788 with 12 degrees of freedom and 2.2010 with 11.
    #[test]
    fn the_bcg_trials_have_the_textbook_intervals() {
        let figure = |(ln, variance): (f64, f64)| Figure {
            effect: Effect::from_ln(ln),
            error: variance.sqrt(),
        };
        let figures: Vec<Figure> = BCG.into_iter().map(figure).collect();
        let all = synthesis(&figures, Confidence::USUAL).unwrap();
        near(all.estimate.ln(), -0.715, 0.001);
        near(all.between.powi(2), 0.3181, 0.001);
        near(all.interval.low.ln(), -0.715 - 2.1788 * 0.1808, 0.002);
        near(all.interval.high.ln(), -0.715 + 2.1788 * 0.1808, 0.002);
        let next = all.next.unwrap();
        let half = 2.2010 * (0.3181_f64 + 0.1808f64.powi(2)).sqrt();
        near(next.low.ln(), -0.715 - half, 0.003);
        near(next.high.ln(), -0.715 + half, 0.003);
        assert!(all.same_p < 1e-20);
    }

    /// ln(110 / 100), and sqrt(4 / 5 / 100^2 + 11^2 / 5 / 110^2) = sqrt(0.00008 + 0.002).
    #[test]
    fn published_means_give_the_log_ratio_and_its_error() {
        let runs = |mean, sd| Runs { n: 5, mean, sd };
        let figure = Figure::of_runs(runs(100.0, 2.0), runs(110.0, 11.0)).unwrap();
        near(figure.effect.percent(), 10.0, 1e-9);
        near(figure.error, 0.002_08f64.sqrt(), 1e-9);
    }

    #[test]
    fn two_machines_say_nothing_about_the_next() {
        let of = |percent: f64| Figure {
            effect: Effect::from_ratio(1.0 + percent / 100.0),
            error: 0.003,
        };
        let two = synthesis(&[of(17.0), of(14.0)], Confidence::USUAL).unwrap();
        assert_eq!(two.next, None);
        assert!(two.interval.low.percent() < 0.0, "t is 12.7 with one degree: {two:?}");
        let alike = synthesis(&[of(15.0); 3], Confidence::USUAL).unwrap();
        near(alike.between, 0.0, 1e-12);
        near(alike.same_p, 1.0, 1e-9);
        assert!(alike.next.unwrap().low.percent() < alike.interval.low.percent());
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        let runs = |n, mean, sd| Runs { n, mean, sd };
        let good = runs(5, 100.0, 1.0);
        for bad in
            [runs(1, 100.0, 1.0), runs(5, 0.0, 1.0), runs(5, f64::NAN, 1.0), runs(5, 1.0, -1.0)]
        {
            assert!(Figure::of_runs(good, bad).is_err(), "{bad:?}");
            assert!(Figure::of_runs(bad, good).is_err(), "{bad:?}");
        }
        let figure = Figure::of_runs(good, good).unwrap();
        assert!(synthesis(&[figure], Confidence::USUAL).is_err());
        let broken = Figure { error: f64::NAN, ..figure };
        assert!(synthesis(&[figure, broken], Confidence::USUAL).is_err());
    }
}
